"""Regular expressions that cannot hang: those that could are refused, and what one is tried on is kept short.

The time of a match grows with a power of the line's length that the pattern's repeats set, so a line is cut where that
would be too much. Repeats of repeats and of choices, which may take for ever, are refused.
"""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

MOST_CHARACTERS, MOST_REPEATS, MOST_CHOICES = 200, 3, 8
STEPS = 20_000_000
"""Of one line, at most."""
LONGEST_LINE = 4_000
SECONDS = 2.0
"""For one search; the lines that are left are not looked at, and the answer says so."""


class Refused(ValueError):
    """A pattern that is not tried; the text says why."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern that may be tried."""

    regex: "re.Pattern[str]"
    longest: int
    """Characters of a line that are looked at at once."""
    literal: str
    """A text that every match has, in lower case; "" where none is known."""

    def search(self, text: str, end: float) -> str | None:
        """The line in which it matches first; `None` for none, or where the time (monotonic) is over."""
        for piece in self._pieces(text):
            if self.regex.search(piece):
                return piece
            if time.monotonic() > end:
                return None
        return None

    def _pieces(self, text: str) -> Iterator[str]:
        """Lines; longer ones in parts that overlap by a half."""
        for line in text.split("\n"):
            if len(line) <= self.longest:
                yield line
                continue
            for start in range(0, len(line) - self.longest // 2, max(1, self.longest // 2)):
                yield line[start : start + self.longest]


def pattern_of(text: str) -> Pattern:
    """Raises `Refused`."""
    if not text or len(text) > MOST_CHARACTERS:
        raise Refused(f"a pattern of 1 to {MOST_CHARACTERS} characters is wanted")
    repeats, choices = _measure(text)
    if repeats > MOST_REPEATS or choices > MOST_CHOICES:
        raise Refused(f"at most {MOST_REPEATS} of * + {{}}, and {MOST_CHOICES} of ? and |, are tried")
    try:
        regex = re.compile(text, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError) as error:
        raise Refused(str(error)) from error
    steps = STEPS / 2**choices
    return Pattern(regex, max(20, min(LONGEST_LINE, int(steps ** (1 / (repeats + 1))))), _literal(text))


def _measure(text: str) -> tuple[int, int]:
    """Repeats, and choices, of a pattern. Raises `Refused` for what may take for ever."""
    repeats = choices = 0
    groups: list[bool] = []  # for each open group, whether it has a repeat or a choice in it
    closed = False  # whether what stands before is a group that has
    place = 0
    while place < len(text):
        sign = text[place]
        if sign == "\\":
            if text[place + 1 : place + 2].isdigit():
                raise Refused("a reference to a group is not tried")
            place, closed = place + 2, False
            continue
        if sign == "[":
            place, closed = _behind_class(text, place), False
            continue
        if sign == "(":
            if text[place + 1 : place + 2] == "?" and text[place + 2 : place + 3] != ":":
                raise Refused("of (?…) only (?:…) is tried")
            groups.append(False)
            place += 3 if text[place + 1 : place + 2] == "?" else 1
            closed = False
            continue
        if sign == ")":
            closed = groups.pop() if groups else False
            if closed and groups:
                groups[-1] = True
        elif sign in "*+?{|":
            lazy = sign == "?" and text[place - 1 : place] in ("*", "+", "?", "}")
            if sign in "*+{" and closed:
                raise Refused("a repeat of what has a repeat or a choice in it is not tried")
            repeats += sign in "*+{"
            choices += sign in "?|" and not lazy and bool(groups or sign == "?")
            if groups:
                groups[-1] = True
        else:
            closed = False
        place += 1
    return repeats, choices


def _behind_class(text: str, place: int) -> int:
    place += 2 if text[place + 1 : place + 2] == "^" else 1
    place += text[place : place + 1] == "]"
    while place < len(text) and text[place] != "]":
        place += 2 if text[place] == "\\" else 1
    return place + 1


def _literal(text: str) -> str:
    """The longest run of plain characters that every match has, as far as that is easy to see."""
    if "|" in text or "(" in text or "[" in text:
        return ""
    plain = re.sub(r"\\.[*?]?|.[*?]|.\{[^}]*\}|[].^$+*?{}\"]", "\0", text)
    longest = max(plain.split("\0"), key=len)
    return longest.lower() if len(longest) > 2 and longest.isascii() and longest.isprintable() else ""
