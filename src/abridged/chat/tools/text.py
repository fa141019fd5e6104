"""Bytes of a file as text, and back: the encoding, its mark and the line ends stay what they were."""

import codecs
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
_KINDS = {
    b"\x89PNG": "PNG picture", b"\xff\xd8\xff": "JPEG picture", b"GIF8": "GIF picture", b"%PDF": "PDF document",
    b"PK\x03\x04": "zip archive", b"\x1f\x8b": "gzip archive", b"\x7fELF": "program", b"SQLite format 3": "database",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a text is written in a file."""

    name: str
    mark: bytes = b""

    def decode(self, data: bytes) -> str:
        return data.removeprefix(self.mark).decode(self.name, "replace")

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
        if start.startswith(mark):
            return Encoding(name, mark)
    if b"\0" in start or start.startswith(tuple(_KINDS)):
        return None
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start, final=len(start) < START_BYTES)
    except UnicodeDecodeError:
        return Encoding("cp1252") if _reads_as_cp1252(start) else Encoding("latin-1")
    return Encoding("utf-8")


def _reads_as_cp1252(start: bytes) -> bool:
    try:
        start.decode("cp1252")
    except UnicodeDecodeError:
        return False
    return True


def kind_of(start: bytes) -> str:
    """What a file that is no text seems to be."""
    return next((kind for mark, kind in _KINDS.items() if start.startswith(mark)), "binary file")
