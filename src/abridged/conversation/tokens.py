"""How many tokens a text is: a byte-class estimate, or a real tokenizer where one is at hand.

The estimate never raises, needs no vocabulary, is 0 only for the empty text, and grows with the text: two halves count
what the whole counts, up to a small constant. It reads the *shape* of a text: every character becomes one letter that
names its class, and the tokens are a weighted count of short patterns in that string of letters. Estimates and usage
that a provider reported are two numbers: `Calibration` scales the first by what was learned from the second, and
nothing here ever turns one into the other (spec: T5b).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from operator import mul
from typing import cast

Counter = Callable[[str], int]
"""Text in, tokens out."""

_CONTINUATION = bytes(range(0x80, 0xC0))
"""UTF-8 continuation bytes; without them one byte is one character."""


def _classes() -> bytes:
    table = bytearray(b"." * 256)  # punctuation and control characters, unless something below says otherwise
    for first, last, name in (
        ("a", "z", "a"),
        ("A", "Z", "A"),
        ("0", "9", "0"),
        (" ", " ", " "),
        ("\t", "\t", " "),
        ("\n", "\n", "\n"),
        ("\r", "\r", "\n"),
        ("\xc0", "\xff", "o"),  # from here on lead bytes: Greek, Arabic, Hebrew and what has no class of its own
        ("\xc2", "\xc2", "s"),  # signs: middle dot, no-break space
        ("\xc3", "\xc8", "l"),  # Latin letters with accents
        ("\xd0", "\xd1", "y"),  # Cyrillic
        ("\xe0", "\xe0", "i"),  # Indic, Thai
        ("\xe2", "\xe2", "s"),  # signs: dashes, quotes, arrows, boxes
        ("\xe3", "\xe3", "k"),  # kana and CJK punctuation
        ("\xe4", "\xe9", "h"),  # Han
        ("\xea", "\xed", "g"),  # Hangul
        ("\xef", "\xef", "s"),  # full-width forms, variation selectors
        ("\xf0", "\xff", "e"),  # emoji
    ):
        table[ord(first) : ord(last) + 1] = name.encode() * (ord(last) + 1 - ord(first))
    return bytes(table)


_CLASSES = _classes()

# Weights by least relative error against o200k counts of 25 kinds of text. A run pattern with a negative weight says
# that the characters of a run share tokens; an edge says that a token begins or ends there. "3" is three digits, which
# are always one token, so that "3", "0" and "00" together count the digit groups.
_ASCII: dict[bytes, float] = {
    b"a": 0.50,
    b"aa": -0.80,
    b"a\n": 1.12,
    b"aA": 2.24,
    b"aAa": -2.23,
    b"A": 0.19,
    b"\nA": 1.21,
    b"3": 1.21,
    b"0": 1.85,
    b"00": -2.39,
    b".": 0.77,
    b"...": -1.10,
    b"." * 8: -3.03,
    b".. ": -0.51,
    b" ": 0.42,
    b" " * 2: 0.76,
    b" " * 4: -1.98,
    b" " * 6: -1.63,
}
_BEYOND_ASCII: dict[bytes, float] = {
    b"h": 0.69,
    b" h": 1.17,
    b"k": 0.70,
    b"g": 0.63,
    b"e": 2.15,
    b"l": 1.09,
    b"y": 0.27,
    b"oo": 0.80,
    b"iii": 1.34,
    b"s": 0.73,
    b"ssss": -2.65,
}
_ASCII_WEIGHTS = tuple(_ASCII.values())
_ALL_WEIGHTS = (*_ASCII.values(), *_BEYOND_ASCII.values())


def estimate_tokens(text: str) -> int:
    """Estimated tokens of `text` in a modern vocabulary (o200k); lone surrogates are counted, not refused (spec: T5).

    Within 10 % on average over prose, code, JSON, logs, CJK, base64 and identifiers. Reads low on long runs of mixed
    punctuation and on random lower-case letters.
    """
    if not text:
        return 0
    shape = text.encode("utf-8", "surrogatepass").translate(_CLASSES, _CONTINUATION).replace(b"000", b"3")
    if text.isascii():
        return max(1, round(sum(map(mul, _ascii_counts(shape), _ASCII_WEIGHTS))))
    counts = (*_ascii_counts(shape), *map(shape.count, _BEYOND_ASCII))
    return max(1, round(sum(map(mul, counts, _ALL_WEIGHTS))))


def _ascii_counts(shape: bytes) -> tuple[int, ...]:
    """How often each pattern of `_ASCII` occurs, in its order.

    A shape is mostly small letters and blanks. What is left without them is short and is counted quickly, and a pattern
    of which a part does not occur is not sought.
    """
    count = shape.count
    rest = shape.translate(None, b"a ")
    small, capital, digits, dots = count(b"a"), rest.count(b"A"), rest.count(b"0"), rest.count(b".")
    line = b"\n" in rest
    small_capital, hump, line_capital = _capital_edges(shape, capital, line=line) if capital else (0, 0, 0)
    three_dots = count(b"...") if dots > 2 else 0
    two_blanks = count(b"  ")
    return (
        small,
        count(b"aa"),
        count(b"a\n") if line else 0,
        small_capital,
        hump,
        capital,
        line_capital,
        rest.count(b"3"),
        digits,
        count(b"00") if digits > 1 else 0,
        dots,
        three_dots,
        count(b"." * 8) if three_dots > 1 else 0,
        count(b".. ") if dots > 1 else 0,
        len(shape) - len(rest) - small,
        two_blanks,
        count(b" " * 4) if two_blanks > 1 else 0,
        count(b" " * 6) if two_blanks > 2 else 0,
    )


def _capital_edges(shape: bytes, capitals: int, *, line: bool) -> tuple[int, int, int]:
    """How often `aA`, `aAa` and `\\nA` occur. Few capitals are looked at one by one: three times as fast as a count."""
    count = shape.count
    if capitals > len(shape) >> 7:
        edges = count(b"aA")
        return edges, count(b"aAa") if edges else 0, count(b"\nA") if line else 0
    edges = humps = lines = 0
    at = free = -1
    for _ in range(capitals):
        at = shape.find(b"A", at + 1)
        before = shape[at - 1 : at]
        if before == b"a":
            edges += 1
            if at > free and shape[at + 1 : at + 2] == b"a":
                humps += 1
                free = at + 2  # the next pattern begins behind this one
        elif before == b"\n":
            lines += 1
    return edges, humps, lines


@cache
def default_counter() -> Counter:
    """The best counter at hand: exact o200k counts where the extra `tokenizer` is installed, else `estimate_tokens`.

    Loaded at the first call and kept; nothing is ever downloaded. The counter never raises: lone surrogates are
    replaced, and a text on which the tokenizer fails is estimated.
    """
    try:
        batch_count = cast("Callable[[list[str], str], list[int]]", import_module("toktok").batch_count)
        batch_count(["load the vocabulary now"], "o200k_base")
    except Exception:  # an optional package may fail in any way; the estimate needs nothing
        return estimate_tokens

    def count_tokens(text: str) -> int:
        whole = text if text.isascii() else text.encode("utf-8", "replace").decode()
        try:
            return batch_count([whole], "o200k_base")[0]
        except Exception:
            return estimate_tokens(text)

    return count_tokens


@dataclass(slots=True)
class Calibration:
    """What a provider's usage taught about our estimates for one model: a ratio, reported / estimated (spec: T5b)."""

    lowest: float = 0.5
    """The ratio never falls below this."""
    highest: float = 3.0
    """The ratio never rises above this."""
    smallest_sample: int = 1_000
    """Tokens; below it, fixed overhead of a request outweighs what the ratio is about."""
    learning_rate: float = 0.3
    """Share of the newest sample in the ratio, 0 to 1; the first sample counts in full."""
    _learned: float | None = field(default=None, init=False)

    @property
    def ratio(self) -> float:
        """Reported / estimated, smoothed; 1.0 until something was observed."""
        return 1.0 if self._learned is None else self._learned

    def observe(self, estimated: int, reported: int) -> None:
        """Take note that what we estimated at `estimated` tokens was reported as `reported` prompt tokens."""
        if min(estimated, reported) < max(1, self.smallest_sample):
            return
        sample = min(max(reported / estimated, self.lowest), self.highest)
        self._learned = (
            sample if self._learned is None else self._learned + self.learning_rate * (sample - self._learned)
        )

    def apply(self, tokens: int) -> int:
        """An estimate in tokens, scaled by the ratio. Reported usage needs no scaling and must not be passed."""
        return round(tokens * self.ratio)

    def reset(self) -> None:
        """Forget everything: another model, another tokenizer."""
        self._learned = None
