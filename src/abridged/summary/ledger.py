"""The ledger: what happened, and what was named, read from the original messages without a model (spec: P3.9).

*Lines* say what happened: requests, constraints, actions with their outcome, decisions, files, errors. *Facts* are the
names and values that occurred, with who used them. A line is a candidate; what a summary has room for is chosen
elsewhere.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import cast

from abridged.conversation.calls import ToolCall, parse_arguments
from abridged.conversation.pairing import Pairing
from abridged.conversation.roles import is_real_user, is_system, is_tool_result
from abridged.conversation.text import Message, content_text, one_line
from abridged.digests.actions import Action, action_of_call
from abridged.digests.reading import Call
from abridged.summary.evidence import evidence, output_of
from abridged.summary.facts import Facts
from abridged.summary.language import clauses, constraint_strength, is_decision, is_question, sentences
from abridged.summary.lines import (
    ASKED,
    REQUEST_CHARS,
    SENTENCE_CHARS,
    Line,
    action_rank,
    normal,
    opening,
    outcome_of,
    request_rank,
    what_of,
    work_in,
)  # fmt: skip
from abridged.summary.redact import Redactor, redact
from abridged.summary.words import names_in, read

_LABEL = re.compile(r"[A-Za-z_][\w.-]{0,39}")
_TEST_RUN = re.compile(
    r"\b(?:(?:py|c|n|j)test|unittest|tox|nox|jest|vitest|mocha|rspec|phpunit|(?:go|cargo|npm|yarn|pnpm|dotnet|mvn|gradlew?|make|mix|swift)"
    r"(?: \S+)? (?:\S*test\S*|check)|bats|ava)\b"
)


@dataclass(slots=True)
class Ledger:
    """Everything that a range of messages holds."""

    lines: list[Line] = field(default_factory=list[Line])
    facts: Facts = field(default_factory=Facts)
    succeeded: set[str] = field(default_factory=set[str])
    """Keys of actions that ended well after they had failed, or at all: an earlier error of theirs is resolved."""
    failing: dict[str, str] = field(default_factory=dict[str, str])
    """Keys of actions whose last run failed -> what it put out."""
    acted: bool = False
    """Whether the assistant did or said anything."""

    def add(
        self, section: str, text: str, index: int, rank: float, key: str = "", names: Iterable[str] | None = None
    ) -> None:
        """`names`: those in the text, where they are known: a line that is a whole message has the message's."""
        found = tuple(names_in(text) if names is None else names)
        self.lines.append(Line(section, text, (index,), rank, key, names=found))


def read_ledger(
    messages: list[Message],
    places: Iterable[int],
    lightened: Iterable[int],
    tail: Iterable[int],
    sources: list[int],
    pairing: Pairing,
    redactor: Redactor,
    *,
    thorough: bool = True,
) -> Ledger:
    """The ledger of the messages at `places`, whole tool groups of a conversation.

    `lightened`: places of messages that stay, but lost a part of their text; of them only the facts are read. `tail`:
    places of what stays behind them: what failed may have succeeded there since.
    `sources[i]` is the index that message i had when it came in. `thorough`: read the tail although nothing in the
    middle waits for it: what a model writes is compared with all that ended.
    """
    ledger = Ledger()
    reader = _Reader(ledger, messages, sources, pairing, redactor)
    for place in places:
        message = messages[place]
        if is_tool_result(message):
            reader.result(place)
        elif message.get("role") == "user":
            reader.user(place)
        elif is_system(message):
            reader.rules(place)
        else:
            reader.assistant(place)
    for place in tail if thorough or reader.waits else ():
        if is_tool_result(messages[place]):
            reader.outcome(place)
    reader.finish()
    for place in lightened:
        reader.facts_of(place)
    return ledger


class _Reader:
    """One walk over the messages; what outlives a message is kept here until the end."""

    def __init__(
        self,
        ledger: Ledger,
        messages: list[Message],
        sources: list[int],
        pairing: Pairing,
        redactor: Redactor,
    ) -> None:
        self.ledger = ledger
        self.redactor = redactor
        self.messages = messages
        self.sources = sources
        self.pairing = pairing
        self.given: dict[str, object] = {}
        """Arguments of the calls of the last group: their text -> parsed, without secrets."""
        self.question: tuple[str, int] | None = None
        self.reply: tuple[str, int] | None = None
        self.blocked: dict[str, Line] = {}
        self.files: dict[str, _FileState] = {}
        self.state: dict[str, tuple[str, int]] = {}
        self.plan: tuple[list[tuple[str, str]], int] | None = None

    # -- who speaks ------------------------------------------------------------------------------------------------

    def user(self, place: int) -> None:
        message, index = self.messages[place], self.sources[place]
        text, names = self._text(message)
        self.ledger.facts.note(names, "user", index, text)
        if not is_real_user(message):
            return
        self._close_question()
        parts = sentences(text)
        self._constraints(parts, index, short=len(text) <= 600)
        ask = one_line(text, REQUEST_CHARS)
        if not ask:
            return
        if is_question(text[-200:]) or (parts and is_question(parts[0])):
            self.question = (ask, index)
        whole = names if ask == text else None
        self.ledger.add("Completed Actions", f"{ASKED}{ask}”", index, request_rank(ask, len(text)), names=whole)

    def rules(self, place: int) -> None:
        text, names = self._text(self.messages[place])
        self._constraints(sentences(text), self.sources[place], short=len(text) <= 600)
        self.ledger.facts.note(names, "user", self.sources[place], text)

    def assistant(self, place: int) -> None:
        message, index = self.messages[place], self.sources[place]
        self.ledger.acted = True
        text, names = self._text(message)
        calls = self.pairing.calls.get(place, ())
        self.ledger.facts.note(names, "assistant", index, text)
        if calls:
            self.given.clear()
        for call in calls:
            self._arguments(call, index)
        parts = sentences(text) if text else []
        decisions = [part for part in parts if is_decision(part)][:3]
        for part in decisions:
            decision = one_line(part, SENTENCE_CHARS)
            self.ledger.add("Key Decisions", decision, index, 1.5, names=names if decision == text else None)
        if parts:
            said = opening(parts)
            self.reply = (said, index)
            rank = (0.2 if calls else 0.6) * min(1.0, len(text) / 60)
            if not decisions or said != one_line(decisions[0], SENTENCE_CHARS):
                whole = names if said == text else None
                self.ledger.add("Completed Actions", f"Assistant: {said}", index, rank, names=whole)

    def result(self, place: int) -> None:
        message, index = self.messages[place], self.sources[place]
        text, names = self._text(message)
        self.ledger.facts.note(names, "result", index, text)
        self.ledger.facts.note_crowd(names)
        call, arguments = self._call(place, text)
        action = action_of_call(call)
        found = evidence(call, action)
        what = what_of(call, action, arguments)
        outcome = outcome_of(action, found, call)
        self.ledger.add("Completed Actions", what + outcome, index, action_rank(action))
        if self._ended(action, call, what):
            key = work_in(what)
            self.blocked[key] = Line("Blocked", f"{what} → {found or 'failed'}", (index,), 1.0, key)
        self._track(action, call, found, index)

    @property
    def waits(self) -> bool:
        """Whether something here may be settled by what comes later."""
        return bool(self.blocked or self.state)

    def outcome(self, place: int) -> None:
        """How a call of the tail ended: its result is there to be read, but it may settle what is told here."""
        call, arguments = self._call(place, content_text(self.messages[place].get("content")))
        action = action_of_call(call)
        self._ended(action, call, what_of(call, action, arguments))
        if action.kind == "run":
            self._note_state(action, self.redactor(evidence(call, action)), self.sources[place])

    def _call(self, place: int, text: str) -> tuple[Call, object]:
        """The call that a result answers, with the result's text, and its arguments."""
        made = self.pairing.call(place)
        arguments = self._given(made) if made else None
        return Call.read(made.name if made else self.messages[place].get("name"), arguments, text), arguments

    def facts_of(self, place: int) -> None:
        """The names in a message, whoever wrote it."""
        message, index = self.messages[place], self.sources[place]
        text, names = self._text(message)
        self.ledger.facts.note(names, "result" if is_tool_result(message) else "assistant", index, text)
        self.ledger.facts.note_crowd(names)
        for call in self.pairing.calls.get(place, ()):
            self._arguments(call, index)

    def _text(self, message: Message) -> tuple[str, dict[str, str]]:
        """The text of a message without secrets, and the names in it: nothing is read from any other text."""
        text = content_text(message.get("content"))
        names, suspicious = read(text)
        clean = self._clean(text, suspicious=suspicious)
        return clean, names if clean is text else names_in(clean)

    def _clean(self, text: str, *, suspicious: bool) -> str:
        if self.redactor is redact and not suspicious:
            return text
        return self.redactor(text)

    def _given(self, call: ToolCall) -> object:
        """The arguments of a call, parsed, without secrets. Its result asks once more: those of a group are kept."""
        text = call.arguments_text
        if text not in self.given:
            clean = self._clean(text, suspicious=read(text)[1])
            parsed = call.parsed() if clean == text else parse_arguments(clean)
            self.given[text] = clean if parsed is None and clean != text else parsed
        return self.given[text]

    # -- what outlives a message -------------------------------------------------------------------------------------

    def _constraints(self, parts: list[str], index: int, *, short: bool) -> None:
        for part in (clause for sentence in parts for clause in clauses(sentence)):
            strength = constraint_strength(part)
            if strength:
                text = one_line(part, 300)
                self.ledger.add(
                    "Constraints & Preferences", text, index, strength * (1.0 if short else 0.5), normal(text)
                )

    def _arguments(self, call: ToolCall, index: int) -> None:
        texts: list[str] = []
        labels: dict[str, str] = {}
        given = self._given(call)
        _leaves(given if given is not None else self.redactor(call.arguments_text), "", texts, labels)
        names: dict[str, str] = {}
        for text in texts:
            names |= names_in(text)
        self.ledger.facts.note(names, "argument", index, "", labels)

    def _ended(self, action: Action, call: Call, what: str) -> bool:
        """Keeps how a piece of work ended last. Returns whether it failed."""
        key, ledger = work_in(what), self.ledger
        if action.failed:
            ledger.succeeded.discard(key)
            ledger.failing[key] = output_of(call)
        elif action.failed is False or action.exit_code == 0:
            self.blocked.pop(key, None)
            ledger.failing.pop(key, None)
            ledger.succeeded.add(key)
        return bool(action.failed)

    def _track(self, action: Action, call: Call, found: str, index: int) -> None:
        if action.kind in ("read", "write"):
            for path in (action.target, *action.others):
                if path:
                    self.files.setdefault(path, _FileState()).note(action, index)
        elif action.kind == "run":
            self._note_state(action, found, index)
        elif action.kind == "plan":
            self.plan = (_plan_entries(call), index)

    def _note_state(self, action: Action, found: str, index: int) -> None:
        command = action.target
        for part in command.replace("&&", ";").split(";"):
            words = part.split()
            if words[:1] == ["cd"] and len(words) == 2:
                self.state["working directory"] = (words[1], index)
            elif words[:2] in (["git", "checkout"], ["git", "switch"]) and len(words) > 2:
                self.state["branch"] = (words[-1], index)
        if _TEST_RUN.search(command):
            ended = "" if action.exit_code is None else f" → exit {action.exit_code}"
            self.state["last test run"] = (f"`{one_line(command, 100)}`{ended}{', ' + found if found else ''}", index)

    def _close_question(self, *, at_end: bool = False) -> None:
        """The question before this has its answer, or none; at the end of the range the answer may still follow."""
        if self.question:
            ask, index = self.question
            if self.reply and self.reply[1] > index:
                answered = f"{one_line(ask, 200)} → {self.reply[0]}"
                self.ledger.lines.append(Line("Resolved Questions", answered, (index, self.reply[1]), 0.9))
            elif not at_end:
                self.ledger.add("Pending User Asks", ask, index, 1.0)
        self.question = None

    def finish(self) -> None:
        """The lines that only the whole range can tell."""
        self._close_question(at_end=True)
        self.ledger.lines += self.blocked.values()
        for path, state in self.files.items():
            text, rank = f"{path} — {state.text()}", 1.0 if state.written else 0.3
            names = (path,) if path in self.ledger.facts else None
            self.ledger.lines.append(Line("Relevant Files", text, (state.last,), rank, path, names=names))
        for label, (text, index) in self.state.items():
            self.ledger.add("Active State", f"{label}: {text}", index, 1.0, label)
        if self.plan:
            entries, index = self.plan
            for status, text in entries:
                section = {"in_progress": "In Progress", "completed": ""}.get(status, "Remaining Work")
                if section:
                    self.ledger.add(section, one_line(text, SENTENCE_CHARS), index, 1.0, normal(text))
        elif self.reply:
            self.ledger.add("In Progress", self.reply[0], self.reply[1], 0.5)


@dataclass(slots=True)
class _FileState:
    read: int = 0
    written: int = 0
    last: int = 0
    failed: bool = False

    def note(self, action: Action, index: int) -> None:
        if action.kind == "write":
            self.written += 1
            self.failed = bool(action.failed)
        else:
            self.read += 1
        self.last = index

    def text(self) -> str:
        counts = (("written", self.written), ("read", self.read))
        done = [f"{word} {count}×" if count > 1 else word for word, count in counts if count]
        return ", ".join(done) + (", last write failed" if self.failed else "")


def _plan_entries(call: Call) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for entry in call.objects("todos", "plan", "items"):
        text = next(
            (str(entry[key]) for key in ("content", "step", "text", "title", "description") if entry.get(key)), ""
        )
        if text:
            found.append((str(entry.get("status") or "pending"), text))
    return found


def _leaves(value: object, key: str, texts: list[str], labels: dict[str, str]) -> None:
    """The strings and numbers in parsed arguments, and the key of each that is a single word."""
    if isinstance(value, dict):
        for inner_key, inner in cast("dict[str, object]", value).items():
            texts.append(inner_key)
            _leaves(inner, inner_key, texts, labels)
    elif isinstance(value, list):
        for inner in cast("list[object]", value):
            _leaves(inner, key, texts, labels)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        text = str(value)
        texts.append(text)
        if len(text) <= 80 and " " not in text and _LABEL.fullmatch(key):
            labels[text] = key
