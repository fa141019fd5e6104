"""`read_file` and `write_file`. A file of any size is read without ever being held whole."""

import asyncio
import difflib
import io
import os
from itertools import islice

from abridged.chat.tools.text import START_BYTES, Encoding, encoding_of, kind_of
from abridged.chat.tools.tool import Arguments, Tool, argument, parameters
from abridged.chat.tools.workspace import ToolError, Workspace
from abridged.phases.prune import DUPLICATE, PICTURE
from abridged.phases.repair import STUB
from abridged.summary.template import END_MARKER

LINES = 2_000
"""Lines that are shown at once."""
CHARACTERS = 30_000
"""Of a file that are shown at once."""
LINE_CHARACTERS = 2_000
"""Of a line that are shown."""
PREVIEW_LINES = 40
ENTRIES = 500
"""Names of a folder that are listed."""
_STAND_INS = frozenset({DUPLICATE, STUB, PICTURE, END_MARKER})
"""What stands for something that left the conversation, and is nobody's text."""


async def _read_file(workspace: Workspace, arguments: Arguments) -> str:
    path = argument(arguments, "path", str)
    first = max(1, argument(arguments, "offset", int, 1))
    count = max(1, min(argument(arguments, "limit", int, LINES), LINES))
    return workspace.clean(await asyncio.to_thread(_read, workspace, path, first, count))


def _read(workspace: Workspace, path: str, first: int, count: int) -> str:
    if workspace.path(path).is_dir():
        return _listed(workspace, path)
    with os.fdopen(workspace.open(path), "rb") as file:
        start = file.read(START_BYTES)
        encoding = encoding_of(start)
        if encoding is None:
            return f"[{kind_of(start)}, {os.fstat(file.fileno()).st_size:,} bytes: not shown]"
        file.seek(len(encoding.mark))
        with io.TextIOWrapper(file, encoding.name, "replace", newline=None) as text:
            return _part(text, encoding, first, count)


def _part(text: io.TextIOWrapper, encoding: Encoding, first: int, count: int) -> str:
    """Lines from `first` on, as many as may be shown, and how to go on."""
    lines, size, number, cut, more = list[str](), 0, 0, 0, False
    while piece := text.readline(LINE_CHARACTERS + 1):
        number += 1
        line = piece.rstrip("\n")
        while piece and not piece.endswith("\n"):  # the rest of a long line is passed by
            piece = text.readline(1_000_000)
        if number < first:
            continue
        if len(lines) == count or size + len(line) > CHARACTERS:
            more = True
            break
        cut += len(line) > LINE_CHARACTERS
        lines.append(line if len(line) <= LINE_CHARACTERS else f"{line[:LINE_CHARACTERS]} [... cut]")
        size += len(lines[-1]) + 1
    notes = [encoding.note] if encoding.note else []
    if not lines:
        notes.append(f"[the file has {number} lines]" if number else "[the file is empty]")
    elif more:
        notes.append(f"[lines {first}-{first + len(lines) - 1}; more from offset={first + len(lines)} on]")
    if cut:
        notes.append(f"[{cut} lines were longer than {LINE_CHARACTERS:,} characters]")
    return "\n".join([*lines, *notes])


def _listed(workspace: Workspace, path: str) -> str:
    try:
        with os.scandir(workspace.path(path)) as found:
            names = [one.name + ("/" if one.is_dir() else "") for one in islice(found, ENTRIES + 1)]
    except OSError as error:
        raise ToolError(f"{path}: {error.strerror}") from error
    more = [f"[more than {ENTRIES} entries]"] if len(names) > ENTRIES else []
    return "\n".join([*sorted(names[:ENTRIES]), *more]) or "[the folder is empty]"


async def _write_file(workspace: Workspace, arguments: Arguments) -> str:
    path, content = _to_write(arguments)
    return await asyncio.to_thread(_write, workspace, path, content)


def _write(workspace: Workspace, path: str, content: str) -> str:
    new = not workspace.path(path).exists()
    data = encoded(content, Encoding("utf-8"), path)
    written = workspace.write(path, data)
    did = "created" if new else "wrote over"
    return f"{did} {workspace.name(written)}: {len(content.splitlines())} lines, {len(data):,} bytes"


def _preview(workspace: Workspace, arguments: Arguments) -> str:
    path, content = _to_write(arguments)
    real = workspace.path(path)
    if not real.exists():
        return f"new file {workspace.name(real)}\n" + shortened([f"+{line}" for line in content.splitlines()])
    start = workspace.read(path)
    encoding = encoding_of(start[:START_BYTES])
    if encoding is None:
        return f"write over {workspace.name(real)}, a {kind_of(start)}"
    return difference(workspace.name(real), encoding.decode(start), content)


def _to_write(arguments: Arguments) -> tuple[str, str]:
    path, content = argument(arguments, "path", str), argument(arguments, "content", str, "")
    if "content" not in arguments:
        raise ToolError("content is missing: a text is wanted")
    refuse_stand_ins(content)
    return path, content


def refuse_stand_ins(content: str) -> None:
    """Raises `ToolError` where a line is what stands in a conversation for something that left it."""
    for line in map(str.strip, content.splitlines()):
        if line in _STAND_INS:
            raise ToolError(f"{line!r} stands for what was cut from this conversation: read the file again")


def encoded(content: str, encoding: Encoding, path: str) -> bytes:
    """The bytes of a text. Raises `ToolError` for characters that the encoding does not have."""
    try:
        return encoding.encode(content)
    except UnicodeEncodeError as error:
        bad = content[error.start : error.start + 1]
        raise ToolError(f"{path}: {encoding.name} cannot write {bad!a}") from error


def difference(name: str, before: str, after: str) -> str:
    """What would change, for a person."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), name, name, lineterm="", n=2)
    return shortened(list(lines)) or f"{name}: nothing would change"


def shortened(lines: list[str]) -> str:
    more = [f"… {len(lines) - PREVIEW_LINES} more lines"] if len(lines) > PREVIEW_LINES else []
    return "\n".join([*(line[:200] for line in lines[:PREVIEW_LINES]), *more])


READ_FILE = Tool(
    "read_file",
    "Show a text file, or the names in a folder. Long files are shown in parts.",
    parameters(
        {"path": ("string", "The file, relative to this folder")},
        {"offset": ("integer", "The first line, from 1 on"), "limit": ("integer", f"How many lines, {LINES} at most")},
    ),
    _read_file,
)
WRITE_FILE = Tool(
    "write_file",
    "Write a whole file in UTF-8, new or over an old one; missing folders are made. To change a part, use patch.",
    parameters({"path": ("string", "The file, relative to this folder"), "content": ("string", "All of its text")}),
    _write_file,
    _preview,
)
