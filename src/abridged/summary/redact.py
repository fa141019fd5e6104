r"""Secrets leave a text before it becomes part of a summary.

A value goes for its shape (a vendor's prefix, a web token, a private key) or for its name (what is called a key, token
or password); the name stays. Hashes, paths, numbers, code and prose stay. Redacting twice is redacting once, and the
work grows with the length of the text alone (spec: P3.12).
"""

from collections.abc import Callable
from functools import cache
from types import ModuleType

Redactor = Callable[[str], str]
"""Text in, the same text without secrets out."""

MASK = "[redacted]"


def redact(text: str) -> str:
    """The text with every secret's value replaced by `MASK`; never raises (spec: P3.12)."""
    for _ in range(4):  # one round finds all; but what a mask shortens may come into the reach of a pattern
        before, text = text, _redacted(text)
        if text == before:
            break
    return text


NO_HINT, _NAME, _ASSIGNS, _LOOK = "", "name", "assigns", "look"


def is_suspicious(hints: set[str]) -> bool:
    """Whether `redact` could change a text whose words gave these hints.

    A plain "token" or "key" is no reason to look unless something is assigned.
    """
    return bool(hints) and (_LOOK in hints or (_NAME in hints and _ASSIGNS in hints))


def hint_of(word: str) -> str:
    """Whether a piece of a text between white space may be a part of what `redact` replaces, and which."""
    table = _table()
    low = word.lower()
    bare = low.strip(".,;!?()\"'`*")
    if bare in ("token", "tokens", "secret", "secrets", "key", "keys", "credential", "credentials"):
        return _NAME if low.endswith(bare, 0, len(low.rstrip(".,;!?"))) else _LOOK
    if low in table.FIRST_WORDS or low.startswith("key"):
        return _LOOK
    at = 0
    while sign := table.SIGNS.search(low, at):
        rule, at = table.RULE_TOLD_BY[sign[0]], sign.start() + 1
        if not rule.in_one_word or rule.pattern.match(word, sign.start()):
            return _LOOK
    if low[:1] in ("=", ":", "：", "＝", "|") or low.strip("\"'`*") in ("is", "value:", "value="):
        return _ASSIGNS
    return NO_HINT


def _redacted(text: str) -> str:
    table = _table()
    lowered = text.replace("İ", "I").lower()  # the one letter that would change the length
    parts: list[str] = []
    done = at = 0
    beginnings = table.BEGINNINGS_ESCAPED if "\\u" in text else table.BEGINNINGS
    while begin := beginnings.search(lowered, at):
        rule, at = table.RULE_AT[begin[0]], begin.start() + 1
        if (
            rule is table.BY_NAME
            and table.PROSE.match(lowered, begin.end())
            and lowered[begin.start() - 1 : begin.start()] in (" ", "\n")
        ):
            continue
        match = rule.pattern.match(text, begin.start())
        if match is None:
            continue
        start, end = match.span("value")
        if rule.is_secret(match):
            parts += text[done:start], MASK
            done = at = end
        else:  # a harmless value may hold a secret; a harmless shape holds none
            at = end if start == begin.start() else start
    return "".join(parts) + text[done:] if parts else text


@cache
def _table() -> ModuleType:
    """Its patterns take longer to build than all the rest of the library takes to load."""
    from abridged.summary import secrets

    return secrets
