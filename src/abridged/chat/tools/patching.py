"""`patch`: one text of a file for another; all else, encoding and line ends included, stays as it is."""

import asyncio
import difflib
import time

from abridged.chat.tools.changes import difference, refuse_stand_ins
from abridged.chat.tools.files import encoded
from abridged.chat.tools.text import START_BYTES, Encoding, encoding_of, kind_of, lines_of
from abridged.chat.tools.tool import Arguments, argument, parameters, tool
from abridged.chat.tools.workspace import ToolError, Workspace

NEAREST_SECONDS = 1.0
"""For the line that was perhaps meant."""
_NEAR = 0.6


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
    old, new = argument(arguments, "old", str), argument(arguments, "new", str)
    everywhere = argument(arguments, "all", bool, False)
    if not old:
        raise ToolError("old is empty: give the text that is to be replaced; write_file makes a new file")
    if old == new:
        raise ToolError("old and new are the same")
    refuse_stand_ins(new, old)
    data = workspace.read(path)
    encoding = encoding_of(data[:START_BYTES])
    if encoding is None:
        raise ToolError(f"{path}: a {kind_of(data)}, no text")
    try:
        before = encoding.decode(data, "strict")
    except UnicodeDecodeError as error:
        raise ToolError(f"{path}: its bytes are not all {encoding.name}; use a command for it") from error
    old, new = _with_line_ends(before, old, new)
    count = before.count(old)
    if count == 0:
        raise ToolError(f"{path}: old is not in it, letter for letter{_nearest(before, old)}")
    if count > 1 and not everywhere:
        raise ToolError(f"{path}: old is in it {count} times; give more of what stands around it, or all=true")
    return before, before.replace(old, new), encoding, count


def _with_line_ends(text: str, old: str, new: str) -> tuple[str, str]:
    """Both with the line ends of the text, where it has them at that place: a model writes a line feed alone."""
    end = "\r\n" if "\r\n" in text else "\r" if "\r" in text and "\n" not in text else "\n"
    fitting = old.replace("\r\n", "\n").replace("\n", end)
    return (fitting, new.replace("\r\n", "\n").replace("\n", end)) if fitting in text else (old, new)


def _nearest(text: str, old: str) -> str:
    """Which line was perhaps meant, if one is found in time."""
    wanted = next((line for line in lines_of(old) if line.strip()), "")[:1_000]
    compare = difflib.SequenceMatcher(a="", b=wanted)
    best, place, near = _NEAR, 0, ""
    end = time.monotonic() + NEAREST_SECONDS
    for number, line in enumerate(lines_of(text), 1):
        if time.monotonic() > end:
            break
        compare.set_seq1(line[:2_000])
        if min(compare.real_quick_ratio(), compare.quick_ratio()) > best and (ratio := compare.ratio()) > best:
            best, place, near = ratio, number, line
    return f"; line {place} is nearest: {near[:200]!r}" if place else "; read the file again"


def _first_changed(before: str, after: str) -> int:
    place = next(
        (n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    return before.count("\n", 0, place) + 1


PATCH = tool(
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
