"""How an event reads as one line of a summary, and what a line is worth by itself."""

import re
from dataclasses import dataclass
from typing import Literal, cast

from abridged.conversation.text import one_line
from abridged.digests.actions import Action
from abridged.digests.reading import Call
from abridged.summary.evidence import output_of

ASKED = "User: “"
"""Opens a line of the user's own words."""
REQUEST_CHARS = 400
SENTENCE_CHARS = 240
TARGET_CHARS = 160
_CHANGE_FOLDER = re.compile(r"^(?:cd [^&;]+(?:&&|;)\s*)+")
_COMMAND_END = re.compile(r"\s*(?:&&|\|\||[;|\n])\s*")


Origin = Literal["rule", "model", "earlier"]
"""Who wrote a line: code, from the messages; a model; an earlier summary."""


@dataclass(slots=True)
class Line:
    """A candidate for the summary."""

    section: str
    text: str
    sources: tuple[int, ...]
    rank: float
    """What the line is worth beside the facts in it."""
    key: str = ""
    """Of two lines of one section and key the later one stands."""
    order: int = 0
    """Its place among the candidates, in the order of events."""
    names: tuple[str, ...] | None = None
    """The names in it, once somebody asked."""
    origin: Origin = "rule"


def work_in(what: str) -> str:
    """What a line of an action is about, so that its success ends an earlier failure: a tool's file, or a program.

    Read from the line itself, since a line of an earlier summary has nothing else.
    """
    tool, _, target = what.split(" → ")[0].partition(": ")
    command = re.fullmatch(r"`(.*?)`?", target)
    if not command:
        return normal(f"{tool} {target}")
    first = _COMMAND_END.split(_CHANGE_FOLDER.sub("", command[1].strip()))[0].split()
    return normal(" ".join(first[: 3 if first[1:2] == ["-m"] else 2]))


def request_rank(ask: str, chars: int) -> float:
    """A request in a few sentences is worth most; a word of assent and a pasted page say less."""
    if chars > REQUEST_CHARS:
        return 1.5
    return 3.0 if len(ask) >= 40 else 3.0 * len(ask) / 40


def normal(text: str) -> str:
    """A form in which two wordings of the same thing are equal."""
    return " ".join(text.casefold().split()).strip(" .。!！,，;；:：\"'“”`*-")


def opening(parts: list[str]) -> str:
    """The first sentence that is more than a word of courtesy, with the next one where it is short."""
    first = parts[0] if len(parts[0]) >= 40 or len(parts) == 1 else f"{parts[0]} {parts[1]}"
    return one_line(first, SENTENCE_CHARS)


def what_of(call: Call, action: Action, arguments: object) -> str:
    """Who did what: the tool and its target, or its arguments where it has none."""
    name = call.name or "tool"
    if action.target:
        target = one_line(action.target, TARGET_CHARS)
        return f"{name}: `{target}`" if action.kind == "run" else f"{name}: {target}"
    if isinstance(arguments, dict) and arguments:
        pairs = (f"{key}={one_line(str(value), 80)}" for key, value in cast("dict[str, object]", arguments).items())
        return f"{name}: {one_line(', '.join(pairs), TARGET_CHARS)}"
    return name


def outcome_of(action: Action, found: str, call: Call) -> str:
    parts: list[str] = []
    if action.exit_code is not None:
        parts.append(f"exit {action.exit_code}")
    elif action.failed:
        parts.append("failed")
    if found:
        parts.append(found)
    elif action.kind == "read" and not action.failed:
        parts.append(f"{output_of(call).count(chr(10)) + 1} lines")
    elif action.kind == "search" and not action.failed:
        parts.append(f"{call.matches} matches")
    return f" → {', '.join(parts)}" if parts else ""


def action_rank(action: Action) -> float:
    if action.failed:
        return 0.9
    return {"write": 1.0, "run": 0.7, "other": 0.7, "fetch": 0.5, "plan": 0.2, "search": 0.3, "read": 0.2}[action.kind]
