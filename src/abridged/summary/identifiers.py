"""Names and values that a later step may need letter for letter: paths, ids, codes, numbers, flags.

A word of prose is none of these. Each has a *kind*, and in JSON its key says more than its kind.
"""

import re
from itertools import pairwise
from sys import intern

MAX_CHARS = 160
"""Longer tokens are data, not names."""

_TOKEN = re.compile(
    r"[a-z][a-z0-9+]*://[^\s\"'<>|\\^`{}]+|(?:--)?[A-Za-z0-9_~/$@.](?:[A-Za-z0-9_./:@#$%+~\\-]|[㐀-鿿]+(?=[_./-]\w))*"
)
_TRAILING = "./:,;#$%+~\\-@"
_LINE_NUMBER = re.compile(
    r"^\d+[:-](?=[A-Za-z_./])|(?<=\.\w):\d+(?::\d+)?$|(?<=\.\w\w):\d+(?::\d+)?$|(?<=\.\w\w\w):\d+(?::\d+)?$"
)
"""What search tools put before a line, and what names a line in a file: the name is the same without."""
_ESCAPE = re.compile(r"\\[nrt\"'\\]")
_DRIVE = re.compile(r"\b[A-Za-z]:\\")
_LABELLED = re.compile(r'"([A-Za-z_][\w.-]{0,39})"\s*:\s*(?:"([^"\s\\]{3,120})"|(-?\d[\d.]{2,}))')

_KIND = re.compile(
    "|".join(
        f"(?P<{kind}>{pattern})"
        for kind, pattern in (
            ("url", r"[a-z][a-z0-9+]*://.+"),
            ("email", r"[\w.+-]+@[\w-]+\.[\w.-]+"),
            ("flag", r"--[A-Za-z].+"),
            ("date", r"\d{4}-\d{2}-\d{2}\S*"),
            ("time", r"\d{1,2}:\d{2}(?::\d{2})?\S*"),
            ("version", r"v?\d+\.\d+\.\d[\w.+-]*"),
            ("hash", r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}"),
            ("number", r"[+-]?\$?\d[\d.,:/%-]*[a-zA-Z%]{0,2}"),
            (
                "path",
                r"(?:[~.$]{0,2}/|[\w.@~$+-]+/)[\w.@~$+/:#-]*"
                r"|[\w@~$+-]+(?:\.[\w-]+)*\.[A-Za-z][A-Za-z0-9]{0,4}(?::\d+)?",
            ),
            ("code", r"[A-Z][A-Z0-9]*(?:[-_#:][A-Z0-9]*\d\w*)+|[A-Z]{2,}\d+\w*"),
            ("id", r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z]).+"),
            ("symbol", r".*[A-Za-z]_.*|_.*|.*[a-z][A-Z].*|[A-Za-z_][\w]*(?:(?:\.|::)[A-Za-z_]\w*)+"),
        )
    )
)
"""The kinds of a name, the first that fits."""
_PLAIN = re.compile(
    r"[A-Za-z]{1,12}/[A-Za-z]{1,12}"  # and/or
    r"|[a-z]+\.[A-Z][a-z]+|(?:[A-Za-z]\.)+[A-Za-z]?"  # end.Start, e.g
    r"|(?:19|20)\d\d|\d{1,4}(?:st|nd|rd|th|s)"  # years, ordinals
)
"""What looks like a name and is prose."""


def kind_of(token: str) -> str | None:
    """The kind of one token, or `None` where it is a word of prose or too common to name anything."""
    if len(token) < 4 or len(token) > MAX_CHARS:
        return None
    if token.isalpha():
        if token.isupper() and token.isascii():
            return None
        return "symbol" if any(a.islower() and b.isupper() for a, b in pairwise(token)) else None
    if _PLAIN.fullmatch(token):
        return None
    kind = _KIND.fullmatch(token)
    return kind.lastgroup if kind else None


_SHAPE = ((re.compile(r"[a-z]+"), "a"), (re.compile(r"[A-Z]+"), "A"), (re.compile(r"\d+"), "0"))


def shape_of(name: str) -> str:
    """The form of a name, letters and digits folded: `HAT083` and `HAT271` have one shape, `user_42` another."""
    for pattern, sign in _SHAPE:
        name = pattern.sub(sign, name)
    return intern(name)  # many names, few shapes


def names_in_word(word: str) -> tuple[tuple[str, str], ...]:
    """The names in one piece of a text between white space, and their kinds."""
    if word.isalpha() and word.islower():
        return ()
    found: list[tuple[str, str]] = []
    if "\\" in word and not _DRIVE.search(word):
        word = _ESCAPE.sub(" ", word)
    for token in _TOKEN.findall(word):
        name = _LINE_NUMBER.sub("", token.rstrip(_TRAILING))
        kind = kind_of(name)
        if kind:
            found.append((word if name == word else name, kind))  # one string for both: these are kept
    return tuple(found)


def labels_in(text: str) -> dict[str, str]:
    """Value -> JSON key, for the values in a JSON text that are one token each."""
    if '":' not in text and '" :' not in text:
        return {}
    return {word or number: key for key, word, number in _LABELLED.findall(text)}
