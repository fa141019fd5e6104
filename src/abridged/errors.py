"""The exceptions of the library. All derive from `AbridgedError`.

AbridgedError
├── ConfigError        a parameter out of its range: names the parameter, the value and the range
├── InvalidMessages    the input is no list of messages: names the index and the reason
├── EngineNotFound     no engine has that name: names it and those that there are
├── EngineLoadError    an engine is there and broken: names it and the cause
├── SummarizerError    a summariser failed: `kind` says how; never escapes `compress`
└── ArchiveError       the archive cannot be read or written: names the file and the cause
    └── SessionBusy    another process or thread is at work on the same session
"""

from reprlib import Repr
from typing import Literal, get_args

FailureKind = Literal[
    "no_provider", "auth", "not_found", "timeout", "rate_limit", "overflow", "network",
    "empty", "refusal", "truncated", "malformed", "inflated", "cancelled", "other",
]  # fmt: skip
FAILURE_KINDS: frozenset[str] = frozenset(get_args(FailureKind))


_REPR = Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = 80


def shown(value: object) -> str:
    """A foreign value as one short line, whatever it is."""
    try:
        return _REPR.repr(value)
    except Exception:  # a number of very many digits, among others
        return f"this {type(value).__name__}"


def told(error: BaseException) -> str:
    """A foreign exception in one line: its kind and what it says; some cannot even say it."""
    try:
        said = one_line(str(error))
    except Exception:
        said = ""
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def one_line(text: str) -> str:
    """A foreign text without its line breaks, and without what would move a cursor."""
    line = " ".join(filter(None, map(str.strip, text.splitlines())))
    return "".join(character if character.isprintable() else "�" for character in line)


class AbridgedError(Exception):
    """Base of every error that this library raises on purpose."""


class ConfigError(AbridgedError, ValueError):
    """A parameter has a value outside its range."""

    def __init__(self, parameter: str, value: object, allowed: str) -> None:
        super().__init__(f"{parameter}={shown(value)} is out of range: {allowed}")
        self.parameter, self.value, self.allowed = parameter, value, allowed


class SettingsError(ConfigError):
    """A setting in a file or in the environment is wrong: where it stands, its key ("" = the file itself), and what."""

    def __init__(self, where: str, key: str, problem: str, value: object = None) -> None:
        super().__init__(key, value, problem)
        self.args = (one_line(": ".join(part for part in (where, key, problem) if part)),)


class InvalidMessages(AbridgedError, ValueError):
    """The input is not a list of messages. Odd content inside a message is never this error."""

    def __init__(self, reason: str, index: int | None = None) -> None:
        super().__init__(reason if index is None else f"message {index}: {reason}")
        self.reason, self.index = reason, index


class SummarizerError(AbridgedError):
    """A summariser could not write a usable summary."""

    def __init__(self, kind: FailureKind, detail: str = "") -> None:
        super().__init__(f"{kind}: {detail}" if detail else kind)
        self.kind: FailureKind = kind
        self.detail = detail


class ArchiveError(AbridgedError):
    """The archive cannot be opened, read or written."""

    def __init__(self, path: str, cause: str) -> None:
        super().__init__(f"archive {path}: {cause}")
        self.path, self.cause = path, cause


class SessionBusy(ArchiveError):
    """Somebody else works on the session right now, or has changed it meanwhile."""


class EngineNotFound(AbridgedError):
    """No engine has that name."""

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(f"there is no engine {name!r}; there are: {', '.join(dict.fromkeys(known))}")
        self.name, self.known = name, known


class EngineLoadError(AbridgedError):
    """An engine is there and cannot be used."""

    def __init__(self, name: str, cause: str) -> None:
        super().__init__(f"engine {name!r}: {one_line(cause)}")
        self.name, self.cause = name, cause
