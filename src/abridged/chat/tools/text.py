"""Bytes of a file as text, and back: the encoding, its mark and the line ends stay what they were."""

import codecs
import re
from dataclasses import dataclass

START_BYTES = 65_536
"""So much of a file tells what it is."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = bytes(set(range(32)) - set(b"\a\b\t\n\f\r\x1b"))
_MOST_CONTROLS = 0.05
"""The share of bytes that no text has from which on something is no text."""
_LINE_END = re.compile(r"\r\n|\r|\n")
_KINDS = {
    b"\x89PNG": "PNG picture", b"\xff\xd8\xff": "JPEG picture", b"GIF8": "GIF picture", b"%PDF": "PDF document",
    b"PK\x03\x04": "zip archive", b"\x1f\x8b": "gzip archive", b"\x7fELF": "program", b"SQLite format 3": "database",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a text is written in a file."""

    name: str
    mark: bytes = b""

    def decode(self, data: bytes, errors: str = "replace") -> str:
        """Raises `UnicodeDecodeError` where `errors` is "strict" and not all of it is in this encoding."""
        return data.removeprefix(self.mark).decode(self.name, errors)

    def encode(self, text: str) -> bytes:
        """Raises `UnicodeEncodeError` for what the encoding does not have."""
        return self.mark + text.encode(self.name)

    @property
    def note(self) -> str:
        """What is to be said of it; "" for the usual one."""
        return "" if self.name == "utf-8" else f"[encoded in {self.name}]"


def encoding_of(start: bytes) -> Encoding | None:
    """From the first `START_BYTES` of a file; `None` where they are no text."""
    for mark, name in _MARKS:
        if start.startswith(mark) and _reads_as(name, start.removeprefix(mark), final=len(start) < START_BYTES):
            return Encoding(name, mark)
    controls = len(start) - len(start.translate(None, _CONTROLS))
    if b"\0" in start or controls > _MOST_CONTROLS * len(start) or start.startswith(tuple(_KINDS)):
        return None
    final = len(start) < START_BYTES
    return Encoding(next((name for name in ("utf-8", "cp1252") if _reads_as(name, start, final=final)), "latin-1"))


def _reads_as(name: str, start: bytes, *, final: bool) -> bool:
    try:
        codecs.getincrementaldecoder(name)().decode(start, final=final)
    except UnicodeDecodeError:
        return False
    return True


def lines_of(text: str) -> list[str]:
    """Its lines as they are counted when a file is read: other characters that could end one do not."""
    lines = _LINE_END.split(text)
    return lines if lines[-1] else lines[:-1]


def kind_of(start: bytes) -> str:
    """What a file that is no text seems to be."""
    return next((kind for mark, kind in _KINDS.items() if start.startswith(mark)), "binary file")
