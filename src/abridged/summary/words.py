"""What the words of a text tell: the names in it, and whether it may hold a secret.

Words repeat. Most tell nothing: they are remembered as dull and passed over; what the others told is kept for a while.
"""

from functools import lru_cache
from itertools import filterfalse

from abridged.summary.identifiers import names_in_word
from abridged.summary.redact import NO_HINT, hint_of, is_suspicious

_LONGEST_KEPT = 200
"""Characters; a longer word hardly comes twice."""
_MOST_DULL = 32_768
"""Words; then all are forgotten."""

_dull: set[str] = set()


def read(text: str) -> tuple[dict[str, str], bool]:
    """All names in a text in their order, with their kinds; and whether `redact` could change the text."""
    names: dict[str, str] = {}
    hints = NO_HINT
    for word in filterfalse(_dull.__contains__, text.split()):
        found, hint = _told_by(word) if len(word) <= _LONGEST_KEPT else _told_by.__wrapped__(word)
        hints |= hint
        for name, kind in found:
            names[name] = kind
    return names, is_suspicious(hints)


def names_in(text: str) -> dict[str, str]:
    """All names in a text and their kinds, in their order."""
    return read(text)[0]


@lru_cache(maxsize=4_096)
def _told_by(word: str) -> tuple[tuple[tuple[str, str], ...], int]:
    """The names in a word with their kinds, and what it hints at."""
    names, hint = names_in_word(word), hint_of(word)
    if not names and not hint and len(word) <= _LONGEST_KEPT:
        if len(_dull) >= _MOST_DULL:
            _dull.clear()
        _dull.add(word)
    return names, hint
