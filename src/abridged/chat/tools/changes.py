"""What would change in a file, for a person; and what must never be written into one.

Both take a bounded time whatever the files are.
"""

import difflib
import re

from abridged.chat.tools.text import lines_of
from abridged.chat.tools.workspace import ToolError
from abridged.phases.prune import DUPLICATE, PICTURE, TRUNCATED
from abridged.phases.repair import STUB
from abridged.summary.template import END_MARKER, PREFIX, SYSTEM_NOTE

PREVIEW_LINES = 40
LINE_CHARACTERS = 200
MOST_COMPARED = 2_000
"""Lines that differ and are compared with each other; of more only the beginning is shown."""
_AROUND = 2
_QUOTES = ("'", '"', "`")
_STAND_INS = (DUPLICATE, STUB, PICTURE, END_MARKER, PREFIX.partition("]")[0] + "]", SYSTEM_NOTE)
"""What stands for something that left the conversation, and is nobody's text."""
_CUT = re.compile(re.escape(TRUNCATED) + r"[ \t]*$", re.MULTILINE)
_HUNK = re.compile(r"@@ -(\d+)")


def refuse_stand_ins(content: str, before: str = "") -> None:
    """Raises `ToolError` for text that stands in a conversation for something that left it.

    Quoted, as in a program that knows of it, it may be written; so may what is in `before`, which it replaces.
    """
    for marker in _STAND_INS:
        if _unquoted(marker, content) and marker not in before:
            raise ToolError(f"{marker!r} stands for what was cut from this conversation: read the file again")
    if _CUT.search(content) and not _CUT.search(before):
        raise ToolError(f"{TRUNCATED!r} at the end of a line stands for what was cut: read the file again")


def _unquoted(marker: str, content: str) -> bool:
    place = content.find(marker)
    while place >= 0:
        if not content.startswith(_QUOTES, place - 1) or not place:
            return True
        place = content.find(marker, place + 1)
    return False


def difference(name: str, before: str, after: str) -> str:
    """A unified diff, as much as anybody reads."""
    old, new = lines_of(before), lines_of(after)
    if old == new:
        return f"{name}: " + ("nothing would change" if before == after else "only ends of lines would change")
    first = _alike(old, new)
    last = _alike(old[first:][::-1], new[first:][::-1])
    start = max(0, first - _AROUND)
    old, new = old[start : len(old) - max(0, last - _AROUND)], new[start : len(new) - max(0, last - _AROUND)]
    if len(old) + len(new) > MOST_COMPARED:
        half = PREVIEW_LINES // 2 - 2
        taken, given = (beginning([sign + line for line in lines], half) for sign, lines in (("-", old), ("+", new)))
        return f"{name}\n@@ from line {start + 1} on: {len(old)} lines become {len(new)} @@\n{taken}\n{given}"
    lines = difflib.unified_diff(old, new, name, name, lineterm="", n=_AROUND)
    return beginning([_HUNK.sub(lambda found: f"@@ -{int(found[1]) + start}", line, 1) for line in lines])


def _alike(one: list[str], other: list[str]) -> int:
    """How many lines they have in common before the first that differs."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(one), len(other)))


def beginning(lines: list[str], most: int = PREVIEW_LINES) -> str:
    """The first lines, and how many more there are."""
    more = [f"… {len(lines) - most} more lines"] if len(lines) > most else []
    return "\n".join([*(line[:LINE_CHARACTERS] for line in lines[:most]), *more])
