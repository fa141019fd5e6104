"""`patch`: one text of a file for another; all else, encoding and line ends included, stays as it is."""

import asyncio
import difflib

from abridged.chat.tools.files import difference, encoded, refuse_stand_ins
from abridged.chat.tools.text import START_BYTES, Encoding, encoding_of, kind_of
from abridged.chat.tools.tool import Arguments, Tool, argument, parameters
from abridged.chat.tools.workspace import ToolError, Workspace


async def _patch(workspace: Workspace, arguments: Arguments) -> str:
    return await asyncio.to_thread(_patched, workspace, arguments)


def _patched(workspace: Workspace, arguments: Arguments) -> str:
    path = argument(arguments, "path", str)
    before, after, encoding, count = _change(workspace, arguments)
    written = workspace.write(path, encoded(after, encoding, path))
    where = f"{count} places" if count > 1 else f"line {_first_changed(before, after)}"
    return f"changed {workspace.name(written)}: {where}"


def _preview(workspace: Workspace, arguments: Arguments) -> str:
    before, after, _, _ = _change(workspace, arguments)
    return difference(workspace.name(workspace.path(argument(arguments, "path", str))), before, after)


def _change(workspace: Workspace, arguments: Arguments) -> tuple[str, str, Encoding, int]:
    """The text before and after, how it is encoded, and how often it was replaced."""
    path = argument(arguments, "path", str)
    old, new = argument(arguments, "old", str), argument(arguments, "new", str, "")
    everywhere = argument(arguments, "all", bool, False)
    if "new" not in arguments:
        raise ToolError("new is missing: a text is wanted, an empty one to take something out")
    if not old:
        raise ToolError("old is empty: give the text that is to be replaced; write_file makes a new file")
    if old == new:
        raise ToolError("old and new are the same")
    refuse_stand_ins(new)
    data = workspace.read(path)
    encoding = encoding_of(data[:START_BYTES])
    if encoding is None:
        raise ToolError(f"{path}: a {kind_of(data)}, no text")
    before = encoding.decode(data)
    if encoding.encode(before) != data:
        raise ToolError(f"{path}: its bytes are not all {encoding.name}; use a command for it")
    if "\r\n" in before and "\r\n" not in old:
        old, new = old.replace("\n", "\r\n"), new.replace("\r\n", "\n").replace("\n", "\r\n")
    count = before.count(old)
    if count == 0:
        raise ToolError(f"{path}: old is not in it, letter for letter{_nearest(before, old)}")
    if count > 1 and not everywhere:
        raise ToolError(f"{path}: old is in it {count} times; give more of what stands around it, or all=true")
    return before, before.replace(old, new), encoding, count


def _nearest(text: str, old: str) -> str:
    wanted = next((line for line in old.splitlines() if line.strip()), "")
    lines = text.splitlines()[:20_000]
    near = difflib.get_close_matches(wanted, lines, 1, 0.6) if len(wanted) < 1_000 else []
    return f"; line {lines.index(near[0]) + 1} is nearest: {near[0][:200]!r}" if near else "; read the file again"


def _first_changed(before: str, after: str) -> int:
    place = next(
        (n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    return before.count("\n", 0, place) + 1


PATCH = Tool(
    "patch",
    "Replace a text in a file by another. The text must stand in the file exactly once, unless all is true.",
    parameters(
        {
            "path": ("string", "The file, relative to this folder"),
            "old": ("string", "The text to replace, letter for letter"),
            "new": ("string", "What stands there afterwards"),
        },
        {"all": ("boolean", "Replace it everywhere")},
    ),
    _patch,
    _preview,
)
