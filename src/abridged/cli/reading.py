"""Reading a conversation from a file, and keeping what is needed to write it back in the same shape.

Nothing is guessed: what is no conversation is one `InputError` that says where the fault stands and what was expected.
Odd content inside a message is none of this module's business.
"""

import json
import sys
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import Any, Literal, cast

from abridged.conversation.text import Message
from abridged.errors import AbridgedError

Shape = Literal["list", "object", "lines"]
"""A JSON list of messages, an object with `messages` among its keys, or one message a line."""

STDIN = "-"

_PIECE = 1 << 20
"""Bytes."""
_BOM = b"\xef\xbb\xbf"
_EXPECTED = 'a list of messages, an object with "messages", or one message a line'


class InputError(AbridgedError):
    """The input is no conversation: its text says where and what, and reads well behind `abridged: `."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages, and the file that they stood in."""

    name: str
    """How people call it: the path, or "standard input"."""
    raw: bytes
    """The file as it was."""
    messages: list[Message]
    shape: Shape
    document: dict[str, Any] = field(default_factory=dict[str, Any])
    """The object around the messages, where there is one, in the order of its keys."""

    @property
    def one_line(self) -> bool:
        """Whether the file was all in one line."""
        return b"\n" not in self.raw.strip()


def read_bytes(source: str) -> bytes:
    """The bytes of a file, or of standard input where `source` is `-`. Raises `InputError`."""
    if source == STDIN:
        # Piece by piece: a single read to the end does not notice an interruption that comes between two of its own.
        stream = cast("BufferedReader", sys.stdin.buffer)
        return b"".join(iter(lambda: stream.read1(_PIECE), b""))
    try:
        return Path(source).read_bytes()
    except IsADirectoryError:
        raise InputError(f"{source}: is a directory, not a file") from None
    except FileNotFoundError:
        raise InputError(f"{source}: no such file") from None
    except (OSError, ValueError) as fault:
        raise InputError(f"{source}: cannot be read: {reason(fault)}") from None


def reason(fault: Exception) -> str:
    """What the operating system says, without its number and the path that stands before it anyway."""
    said = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
    return said[:1].lower() + said[1:]


def parse_conversation(raw: bytes, source: str) -> Conversation:
    """Read a file's bytes; `source` names it. Raises `InputError`."""
    name = "standard input" if source == STDIN else source
    text = _decode(raw, name)
    if not text.strip():
        raise InputError(f"{name}: is empty; expected {_EXPECTED}")
    try:
        value = _load(text)
    except json.JSONDecodeError as fault:
        if not _first_line_is_object(text):
            raise InputError(f"{name}: not JSON: {fault.msg} at line {fault.lineno}, column {fault.colno}") from None
        return Conversation(name, raw, _parse_lines(text, name), "lines")
    except ValueError as fault:
        raise InputError(f"{name}: not JSON that can be read: {reason(fault)}") from None
    return _from_value(value, raw, name)


def _from_value(value: object, raw: bytes, name: str) -> Conversation:
    if isinstance(value, list):
        return Conversation(name, raw, _checked(cast("list[object]", value), name), "list")
    if not isinstance(value, dict):
        raise InputError(f"{name}: expected {_EXPECTED}; found {_kind(value)}")
    document = cast("dict[str, Any]", value)
    if "messages" in document:
        entries = document["messages"]
        if not isinstance(entries, list):
            raise InputError(f'{name}: expected a list under "messages"; found {_kind(entries)}')
        return Conversation(name, raw, _checked(cast("list[object]", entries), name), "object", document)
    if "role" in document:  # one line of JSON lines
        return Conversation(name, raw, [document], "lines")
    keys = ", ".join(list(document)[:8]) or "none"
    raise InputError(f"{name}: expected {_EXPECTED}; found an object with other keys: {keys}")


def _decode(raw: bytes, name: str) -> str:
    body = raw.removeprefix(_BOM)
    try:
        return body.decode()
    except UnicodeDecodeError as fault:
        line = body.count(b"\n", 0, fault.start) + 1
        column = fault.start - body.rfind(b"\n", 0, fault.start)
        byte = body[fault.start]
        raise InputError(f"{name}: not UTF-8: byte 0x{byte:02x} at line {line}, byte {column}") from None


def _load(text: str) -> object:
    """Parsed JSON. Raises `JSONDecodeError`, or another `ValueError` for what is JSON but cannot be held."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _first_line_is_object(text: str) -> bool:
    """Whether a file that is no JSON value as a whole is meant as JSON lines."""
    try:
        return isinstance(_load(text.lstrip().split("\n", 1)[0]), dict)
    except ValueError:
        return False


def _parse_lines(text: str, name: str) -> list[Message]:
    """One message a line; blank lines do not count. Lines end at line feeds alone: JSON text may hold other breaks."""
    entries: list[object] = []
    numbers: list[int] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            entries.append(_load(line))
        except json.JSONDecodeError as fault:
            raise InputError(f"{name}: line {number} is not JSON: {fault.msg} at column {fault.colno}") from None
        except ValueError as fault:
            raise InputError(f"{name}: line {number} is not JSON that can be read: {reason(fault)}") from None
        numbers.append(number)
    return _checked(entries, name, numbers)


def _checked(entries: list[object], name: str, lines: list[int] | None = None) -> list[Message]:
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict):
            where = f"line {lines[index]}" if lines else f"message {index} (the first is 0)"
            raise InputError(f"{name}: {where} is {_kind(entry)}, not an object")
    messages = cast("list[Message]", entries)
    if messages and not any("role" in message for message in messages):
        raise InputError(f'{name}: not messages: none of the {len(messages)} objects has a "role"')
    return messages


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a truth value"
    kinds: dict[type, str] = {str: "a string", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return kinds[type(value)]
