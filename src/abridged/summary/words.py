"""What the words of a text tell: the names in it, and whether it may hold a secret.

Words repeat. Most tell nothing: they are remembered as dull and passed over; what the others told is kept for a while.
"""

from functools import lru_cache
from itertools import chain, filterfalse

from abridged.summary.identifiers import names_in_word
from abridged.summary.redact import hint_of, is_suspicious

_LONGEST_KEPT = 200
"""Characters; a longer word hardly comes twice."""
_MOST_DULL = 32_768
"""Words; then all are forgotten."""

_ONE_NAME = 3
"""Entries of what a word with one name tells."""

_dull: set[str] = set()


def read(text: str) -> tuple[dict[str, str], bool]:
    """All names in a text in their order, with their kinds; and whether `redact` could change the text."""
    names: dict[str, str] = {}
    hints: set[str] = set()
    for word in filterfalse(_dull.__contains__, text.split()):
        told = _told_by(word) if len(word) <= _LONGEST_KEPT else _told_by.__wrapped__(word)
        if told[0]:
            hints.add(told[0])
        if len(told) == _ONE_NAME:
            names[told[1]] = told[2]
        else:
            names.update(zip(told[1::2], told[2::2], strict=True))
    return names, is_suspicious(hints)


def names_in(text: str) -> dict[str, str]:
    """All names in a text and their kinds, in their order."""
    return read(text)[0]


@lru_cache(maxsize=4_096)
def _told_by(word: str) -> tuple[str, ...]:
    """What a word hints at, then its names, each followed by its kind: thousands are kept, so they are kept flat."""
    names, hint = names_in_word(word), hint_of(word)
    if not names and not hint and len(word) <= _LONGEST_KEPT:
        if len(_dull) >= _MOST_DULL:
            _dull.clear()
        _dull.add(word)
    return hint, *chain.from_iterable(names)
