"""The conversation as a summariser reads it: labelled plain text, made from the originals (spec: P3.5, P3.8).

A long tool result is its digest, its two ends, and the lines between them that matter: errors, and what was named
elsewhere. A line that imitates a label or a heading is marked as quoted: nobody speaks out of a tool's output.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from abridged.budget import Settings
from abridged.conversation.calls import ToolCall, parse_arguments
from abridged.conversation.pairing import Pairing
from abridged.conversation.roles import is_tool_result
from abridged.conversation.text import Message, content_text
from abridged.conversation.tokens import Counter
from abridged.digests import DigestRegistry
from abridged.summary.evidence import speaks_of_error
from abridged.summary.facts import Facts
from abridged.summary.redact import Redactor
from abridged.summary.words import names_in

_IMITATION = re.compile(
    r"^(?=[ \t]*(?:\[[A-Z][A-Z _]{2,20}\b[^\]\n]{0,80}\]|#{1,6}[ \t]|<<<|\[Tool calls:))", re.MULTILINE
)
LINE_CHARS = 200
"""A longer line between the ends of a long result is looked at piece by piece."""
_LINE_BREAK = re.compile(r"\n|\\n")
"""In JSON a line break is two characters."""
NOTE_CHARS = 100
"""Room for the note on what is left out."""
_ERROR_WORTH = 3.0


@dataclass(frozen=True, slots=True)
class Shown:
    """How messages are turned into text."""

    settings: Settings
    redactor: Redactor
    digests: DigestRegistry
    facts: Facts

    def turns(self, messages: list[Message], places: Iterable[int], pairing: Pairing) -> list[str]:
        """One text for each tool group or single message, in their order."""
        turns: list[str] = []
        for place in places:
            message = messages[place]
            if is_tool_result(message):
                text = self._result(message, pairing.call(place))
                if turns:
                    turns[-1] += f"\n\n{text}"
                    continue
            else:
                text = self._said(message, pairing.calls.get(place, ()))
            turns.append(text)
        return turns

    def _said(self, message: Message, calls: Sequence[ToolCall]) -> str:
        label = re.sub(r"[^A-Z_]", "", str(message.get("role")).upper()) or "UNKNOWN"
        text = self._clipped(self.redactor(content_text(message.get("content"))))
        lines = [f"[{label}]: {quoted(text)}"]
        if calls:
            lines += ["[Tool calls:", *map(self._call, calls), "]"]
        return "\n".join(lines)

    def _call(self, call: ToolCall) -> str:
        arguments, settings = self.redactor(call.arguments_text), self.settings
        if len(arguments) > settings.arguments_max:
            arguments = arguments[: settings.arguments_head] + "..."
        return f"  {call.name}({arguments})"

    def _result(self, message: Message, call: ToolCall | None) -> str:
        text = self.redactor(content_text(message.get("content")))
        label = f"[TOOL RESULT {message.get('tool_call_id', '?')}]"
        if len(text) <= self.settings.content_max:
            return f"{label}: {quoted(text)}"
        name = call.name if call else str(message.get("name") or "")
        given = parse_arguments(self.redactor(call.arguments_text)) if call else None
        digest = self.redactor(self.digests.digest(name, given, text))
        return f"{label}: {digest}\n{quoted(self._clipped(text))}"

    def _clipped(self, text: str) -> str:
        """A text over the limit keeps its head and its tail, and of what is between them the lines that matter."""
        settings = self.settings
        if len(text) <= settings.content_max:
            return text
        end = len(text) - settings.content_tail
        between = text[settings.content_head : end]
        room = settings.content_max - settings.content_head - settings.content_tail - NOTE_CHARS
        telling = telling_lines(between, room, self._worth)
        note = f"\n[… {len(between):,} characters left out{'; lines from there that matter:' if telling else ''} …]\n"
        return "".join((text[: settings.content_head], note, "".join(f"{line}\n" for line in telling), text[end:]))

    def _worth(self, line: str) -> float:
        worth = _ERROR_WORTH if speaks_of_error(line) else 0.0
        for name in names_in(line):
            fact = self.facts.get(name)
            if fact is None:
                continue
            worth += 2.0 if fact.user or fact.argument or fact.assistant else 0.5 if fact.crowd < 2 else 0.1
        return worth


def telling_lines(text: str, room: int, worth: Callable[[str], float]) -> list[str]:
    """The lines worth most per character, in their order, in at most `room` characters."""
    lines = [piece.strip() for line in _LINE_BREAK.split(text) for piece in _pieces(line)]
    values = {place: value for place, line in enumerate(lines) if line and (value := worth(line)) > 0}
    chosen: list[int] = []
    for place in sorted(values, key=lambda place: (-values[place] / (len(lines[place]) + 20), place)):
        cost = len(lines[place]) + 1
        if cost <= room:
            chosen.append(place)
            room -= cost
    return [lines[place] for place in sorted(chosen)]


def _pieces(line: str) -> Iterator[str]:
    """A line in pieces of at most `LINE_CHARS`, divided at blanks where there are some."""
    start = 0
    while len(line) - start > LINE_CHARS:
        end = line.rfind(" ", start + LINE_CHARS // 2, start + LINE_CHARS) + 1 or start + LINE_CHARS
        yield line[start:end]
        start = end
    yield line[start:]


def quoted(text: str) -> str:
    """The text with a mark before each line that looks like a label or a heading of ours."""
    return _IMITATION.sub("> ", text) if "[" in text or "#" in text or "<<<" in text else text


def packed(turns: Sequence[str], room: int, counter: Counter) -> list[str]:
    """The turns joined to as few parts as possible, none over `room` tokens; a turn that is longer is divided."""
    parts: list[str] = []
    held: list[str] = []
    used = 0
    for piece in (piece for turn in turns for piece in _divided(turn, room, counter)):
        cost = counter(piece) + 2
        if held and used + cost > room:
            parts.append("\n\n".join(held))
            held, used = [], 0
        held.append(piece)
        used += cost
    return [*parts, "\n\n".join(held)] if held else parts


def _divided(text: str, room: int, counter: Counter) -> list[str]:
    """Pieces of at most `room` tokens, at line breaks where there are some."""
    tokens = counter(text) + 2
    if tokens <= room or len(text) < 2:
        return [text]
    middle = len(text) // 2
    at = text.rfind("\n", len(text) // 4, middle) + 1 or middle
    return [*_divided(text[:at], room, counter), *_divided(text[at:], room, counter)]
