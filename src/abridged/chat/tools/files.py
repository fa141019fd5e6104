"""`read_file` and `write_file`. A file of any size is read without ever being held whole."""

import asyncio
import io
import os
from itertools import islice

from abridged.chat.tools.changes import beginning, difference, refuse_stand_ins
from abridged.chat.tools.text import START_BYTES, Encoding, encoding_of, kind_of, lines_of
from abridged.chat.tools.tool import Arguments, argument, parameters, tool
from abridged.chat.tools.workspace import MOST_READ, REDACTED, ToolError, Workspace

LINES = 2_000
"""Lines that are shown at once."""
CHARACTERS = 29_000
"""Of a file that are shown at once; what is said of it has room beside them."""
LINE_CHARACTERS = 2_000
"""Of a line that are shown."""
CHUNK_CHARACTERS = 262_144
"""That are passed by at once."""
ENTRIES = 500
"""Names of a folder that are listed."""


async def _read_file(workspace: Workspace, arguments: Arguments) -> str:
    path = argument(arguments, "path", str)
    first = max(1, argument(arguments, "offset", int, 1))
    count = max(1, min(argument(arguments, "limit", int, LINES), LINES))
    return await asyncio.to_thread(_read, workspace, path, first, count)


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
    number, begun = _skip(text, first - 1)
    lines, size, cut, more = list[str](), 0, 0, False
    while piece := _piece(begun, text, LINE_CHARACTERS + 1):
        number += 1
        line = piece.rstrip("\n")
        while piece and not piece.endswith("\n"):  # the rest of a long line is passed by
            piece = _piece(begun, text, CHUNK_CHARACTERS)
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
    elif first > 1:
        notes.append(f"[lines {first}-{number}, the last ones]")
    if encoding.name == "utf-8" and any("\ufffd" in line for line in lines):
        notes.append("[\ufffd stands for bytes that are no utf-8]")
    if cut:
        notes.append(f"[{cut} lines were longer than {LINE_CHARACTERS:,} characters]")
    return "\n".join([*lines, *notes])


def _skip(text: io.TextIOWrapper, count: int) -> tuple[int, io.StringIO]:
    """Pass so many lines by; how many there were, and what was read behind them.

    In large pieces: a thread that reads line by line hardly lets any other one run.
    """
    passed, chunk = 0, ""
    while passed < count:
        behind = chunk
        chunk = text.read(CHUNK_CHARACTERS)
        if not chunk:
            return passed + (behind != "" and not behind.endswith("\n")), io.StringIO()
        ends = chunk.count("\n")
        if passed + ends >= count:
            return count, io.StringIO(chunk.split("\n", count - passed)[-1])
        passed += ends
    return passed, io.StringIO()


def _piece(begun: io.StringIO, text: io.TextIOWrapper, most: int) -> str:
    """A line or, of a longer one, so many characters; "" at the end."""
    piece = begun.readline(most)
    return piece if piece.endswith("\n") or len(piece) == most else piece + text.readline(most - len(piece))


def _listed(workspace: Workspace, path: str) -> str:
    with os.scandir(workspace.path(path)) as found:
        names = [one.name + ("/" if one.is_dir(follow_symlinks=False) else "") for one in islice(found, ENTRIES + 1)]
    more = [f"[more than {ENTRIES} entries]"] if len(names) > ENTRIES else []
    return "\n".join([*sorted(names[:ENTRIES]), *more]) or "[the folder is empty]"


async def _write_file(workspace: Workspace, arguments: Arguments) -> str:
    path, content = _to_write(arguments)
    return await asyncio.to_thread(_write, workspace, path, content)


def _write(workspace: Workspace, path: str, content: str) -> str:
    real = workspace.path(path)
    new = not real.exists()
    data = encoded(content, Encoding("utf-8"), path)
    if REDACTED in content and not new:
        _keep_secrets(workspace, path, content)
    workspace.write(path, data)
    did = "created" if new else "wrote over"
    return f"{did} {workspace.name(real)}: {len(lines_of(content))} lines, {len(data):,} bytes"


def _keep_secrets(workspace: Workspace, path: str, content: str) -> None:
    """Raises `ToolError` where what stands for a hidden value would be written over it."""
    before = workspace.read(path).decode("utf-8", "replace")
    if workspace.holds_secret(before) and content.count(REDACTED) > before.count(REDACTED):
        raise ToolError(f"{path}: {REDACTED} stands for a value that is not shown, and would replace it; use patch")


def _preview(workspace: Workspace, arguments: Arguments) -> str:
    path, content = _to_write(arguments)
    real = workspace.path(path)
    if not real.exists():
        return f"new file {workspace.name(real)}\n" + beginning([f"+{line}" for line in lines_of(content)])
    if real.is_file() and real.stat().st_size > MOST_READ:
        return f"write over {workspace.name(real)}, {real.stat().st_size:,} bytes"
    data = workspace.read(path)
    encoding = encoding_of(data[:START_BYTES])
    if encoding is None:
        return f"write over {workspace.name(real)}, a {kind_of(data)}"
    return difference(workspace.name(real), encoding.decode(data), content)


def _to_write(arguments: Arguments) -> tuple[str, str]:
    path, content = argument(arguments, "path", str), argument(arguments, "content", str)
    refuse_stand_ins(content)
    return path, content


def encoded(content: str, encoding: Encoding, path: str) -> bytes:
    """The bytes of a text. Raises `ToolError` for characters that the encoding does not have."""
    try:
        return encoding.encode(content)
    except UnicodeEncodeError as error:
        bad = content[error.start : error.start + 1]
        raise ToolError(f"{path}: {encoding.name} cannot write {bad!a}") from error


READ_FILE = tool(
    "read_file",
    "Show a text file, or the names in a folder. Long files are shown in parts.",
    parameters(
        {"path": ("string", "The file, relative to this folder")},
        {"offset": ("integer", "The first line, from 1 on"), "limit": ("integer", f"How many lines, {LINES} at most")},
    ),
    _read_file,
)
WRITE_FILE = tool(
    "write_file",
    "Write a whole file in UTF-8, new or over an old one; missing folders are made. To change a part, use patch.",
    parameters({"path": ("string", "The file, relative to this folder"), "content": ("string", "All of its text")}),
    _write_file,
    _preview,
)
