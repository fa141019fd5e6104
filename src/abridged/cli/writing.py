"""Writing a conversation: whole or not at all, in the shape in which it came, and valid JSON whatever is in it.

Lone surrogates cannot be UTF-8; they leave as the `\\ud8xx` escapes as which they came in.
"""

import json
import os
import secrets
import shutil
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from abridged.cli.reading import Conversation, reason
from abridged.conversation.text import Message
from abridged.errors import AbridgedError


class OutputError(AbridgedError):
    """The output cannot be written: its text says where and why, and reads well behind `abridged: `."""


class ReaderGone(AbridgedError):
    """Who read our output has stopped reading: nothing more to say, and nobody to say it to."""


def render(conversation: Conversation, messages: list[Message]) -> bytes:
    """`messages` in the shape of the file that they came from: one message a line, or all in one line as there."""
    rows = [_json(message) for message in messages]
    if conversation.shape == "lines":
        return encode("".join(f"{row}\n" for row in rows))
    within, between = ("", ", ") if conversation.one_line else ("\n", ",\n")
    listed = f"[{within}{between.join(rows)}{within}]" if rows else "[]"
    if conversation.shape == "object":
        pairs = (
            f"{_json(key)}: {listed if key == 'messages' else _json(value)}"
            for key, value in conversation.document.items()
        )
        listed = f"{{{between.join(pairs)}}}"
    return encode(listed + "\n")


def render_report(report: dict[str, Any]) -> bytes:
    """A report as one JSON object, readable."""
    return encode(json.dumps(report, ensure_ascii=False, indent=2) + "\n")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def encode(text: str, encoding: str = "utf-8") -> bytes:
    """The text as bytes; what the encoding cannot hold becomes a `\\uXXXX` escape, in JSON the same character."""
    return text.encode(encoding, "backslashreplace")


def check_target(path: Path) -> None:
    """Say before any work is done that nothing can be written there. Raises `OutputError`."""
    if path.is_dir():
        raise OutputError(f"{path}: is a directory; name a file")
    parent = path.resolve().parent
    if not parent.is_dir():
        raise OutputError(f"{path}: there is no folder {parent}")
    if not os.access(path if path.exists() else parent, os.W_OK):
        raise OutputError(f"{path}: no permission to write there")


def write_file(path: Path, data: bytes) -> None:
    """Put `data` in the file's place in one step; permissions and a link to it stay. Raises `OutputError`.

    A device or a pipe cannot be replaced: it is written to as it is.
    """
    real = path.resolve()
    try:
        if real.exists() and not real.is_file():
            real.write_bytes(data)
        else:
            _replace(real, data)
    except BrokenPipeError:
        raise ReaderGone from None
    except OSError as fault:
        raise OutputError(f"{path}: cannot be written: {reason(fault)}") from None


def _replace(path: Path, data: bytes) -> None:
    beside = path.with_name(f".abridged-{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            shutil.copymode(path, beside)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def write_stream(data: bytes, stream: Any = None) -> None:
    """Write to standard output (or another text stream) past its encoding. Raises `ReaderGone`, `OutputError`."""
    stream = stream or sys.stdout
    try:
        stream.flush()
        stream.buffer.write(data)
        stream.buffer.flush()
    except BrokenPipeError:
        # What is still buffered would fail once more when the interpreter ends: let it go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise ReaderGone from None
    except OSError as fault:
        raise OutputError(f"standard output: cannot be written: {reason(fault)}") from None
