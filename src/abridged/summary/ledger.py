"""The ledger: what happened, and what was named, read from the original messages without a model (spec: P3.9).

*Lines* say what happened: requests, constraints, actions with their outcome, decisions, files, errors. *Facts* are the
names and values that occurred, with who used them. A line is a candidate; what a summary has room for is chosen
elsewhere.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import cast

from abridged.conversation.calls import ToolCall, parse_arguments, tool_calls
from abridged.conversation.pairing import pair
from abridged.conversation.roles import is_real_user, is_system, is_tool_result
from abridged.conversation.text import Message, content_text, one_line
from abridged.digests.actions import Action, action_of_call
from abridged.digests.reading import Call
from abridged.summary.evidence import evidence, output_of
from abridged.summary.identifiers import kind_of, labels_in, names_in, names_of, shape_of, words_of
from abridged.summary.language import clauses, constraint_strength, is_decision, is_question, sentences
from abridged.summary.redact import Redactor, may_hold_secret, redact

_LABEL = re.compile(r"[A-Za-z_][\w.-]{0,39}")
_CHANGE_FOLDER = re.compile(r"^(?:cd [^&;]+(?:&&|;)\s*)+")
_COMMAND_END = re.compile(r"\s*(?:&&|\|\||[;|\n])\s*")
_TEST_RUN = re.compile(
    r"\b(?:(?:py|c|n|j)test|unittest|tox|nox|jest|vitest|mocha|rspec|phpunit|(?:go|cargo|npm|yarn|pnpm|dotnet|mvn|gradlew?|make|mix|swift)"
    r"(?: \S+)? (?:\S*test\S*|check)|bats|ava)\b"
)
ASKED = "User: “"
"""Opens a line of the user's own words."""
REQUEST_CHARS = 400
SENTENCE_CHARS = 240
TARGET_CHARS = 160


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


@dataclass(slots=True)
class Fact:
    """A name or value, and how it was used."""

    label: str
    """The JSON key it stood under, else its kind."""
    user: int = 0
    argument: int = 0
    assistant: int = 0
    result: int = 0
    carried: float = 0.0
    """Its standing in the previous summary: 1 = first, 0 = not there."""
    last: int = 0
    """Index of the newest message that names it."""
    crowd: int = 0
    """How many names of its shape stood in the one result that has the fewest: a row of a listing says little."""


@dataclass(slots=True)
class Ledger:
    """Everything that a range of messages holds."""

    lines: list[Line] = field(default_factory=list[Line])
    facts: dict[str, Fact] = field(default_factory=dict[str, Fact])
    succeeded: set[str] = field(default_factory=set[str])
    """Keys of actions that ended well after they had failed, or at all: an earlier error of theirs is resolved."""
    acted: bool = False
    """Whether the assistant did or said anything."""

    def add(self, section: str, text: str, index: int, rank: float, key: str = "") -> None:
        self.lines.append(Line(section, text, (index,), rank, key))


def read_ledger(
    messages: list[Message],
    sources: list[int],
    redactor: Redactor,
    lightened: list[tuple[Message, int]] | None = None,
) -> Ledger:
    """The ledger of `messages`, whole tool groups; `sources[i]` is the index that message i had in the conversation.

    `lightened`: messages that stay, but lost a part of their text (and their index). Of them only the facts are read.
    """
    ledger = Ledger()
    reader = _Reader(ledger, messages, sources, redactor)
    for place, message in enumerate(messages):
        if is_tool_result(message):
            reader.result(place)
        elif message.get("role") == "user":
            reader.user(place)
        elif is_system(message):
            reader.rules(place)
        else:
            reader.assistant(place)
    reader.finish()
    for message, index in lightened or ():
        reader.facts_of(message, index)
    return ledger


class _Reader:
    """One walk over the messages; what outlives a message is kept here until the end."""

    def __init__(self, ledger: Ledger, messages: list[Message], sources: list[int], redactor: Redactor) -> None:
        self.ledger = ledger
        self.redactor = redactor
        self.messages = messages
        self.sources = sources
        self.pairing = pair(messages)
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
        self._facts(names, text, "user", index)
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
        self.ledger.add("Completed Actions", f"{ASKED}{ask}”", index, _request_rank(ask, len(text)))

    def rules(self, place: int) -> None:
        text, names = self._text(self.messages[place])
        self._constraints(sentences(text), self.sources[place], short=len(text) <= 600)
        self._facts(names, text, "user", self.sources[place])

    def assistant(self, place: int) -> None:
        message, index = self.messages[place], self.sources[place]
        self.ledger.acted = True
        text, names = self._text(message)
        calls = tool_calls(message)
        self._facts(names, text, "assistant", index)
        for call in calls:
            self._arguments(call, index)
        parts = sentences(text) if text else []
        decisions = [part for part in parts if is_decision(part)][:3]
        for part in decisions:
            self.ledger.add("Key Decisions", one_line(part, SENTENCE_CHARS), index, 1.5)
        if parts:
            self.reply = (_opening(parts), index)
            rank = (0.2 if calls else 0.6) * min(1.0, len(text) / 60)
            if not decisions or _opening(parts) != one_line(decisions[0], SENTENCE_CHARS):
                self.ledger.add("Completed Actions", f"Assistant: {_opening(parts)}", index, rank)

    def result(self, place: int) -> None:
        message, index = self.messages[place], self.sources[place]
        text, names = self._text(message)
        self._facts(names, text, "result", index)
        self._crowds(names)
        made = self.pairing.call(place)
        arguments = self._given(made) if made else None
        call = Call.read(made.name if made else message.get("name"), arguments, text)
        action = action_of_call(call)
        found = evidence(call, action)
        what = _what(call, action, arguments)
        outcome = _outcome(action, found, call)
        self.ledger.add("Completed Actions", what + outcome, index, _action_rank(action))
        self._track(action, call, what, found, index)

    def facts_of(self, message: Message, index: int) -> None:
        """The names in a message, whoever wrote it."""
        text, names = self._text(message)
        self._facts(names, text, "result" if is_tool_result(message) else "assistant", index)
        self._crowds(names)
        for call in tool_calls(message):
            self._arguments(call, index)

    def _text(self, message: Message) -> tuple[str, dict[str, None]]:
        """The text of a message without secrets, and the names in it: nothing is read from any other text."""
        text = content_text(message.get("content"))
        words = words_of(text)
        clean = self._clean(text, words)
        return clean, names_of(words if clean is text else words_of(clean))

    def _clean(self, text: str, words: Iterable[str]) -> str:
        if self.redactor is redact and not may_hold_secret(words):
            return text
        return self.redactor(text)

    def _given(self, call: ToolCall) -> object:
        """The arguments of a call, parsed, without secrets."""
        text = call.arguments_text
        clean = self._clean(text, text.split())
        if clean == text:
            return call.parsed()
        parsed = parse_arguments(clean)
        return clean if parsed is None else parsed

    # -- what outlives a message -------------------------------------------------------------------------------------

    def _constraints(self, parts: list[str], index: int, *, short: bool) -> None:
        for part in (clause for sentence in parts for clause in clauses(sentence)):
            strength = constraint_strength(part)
            if strength:
                text = one_line(part, 300)
                self.ledger.add(
                    "Constraints & Preferences", text, index, strength * (1.0 if short else 0.5), normal(text)
                )

    def _facts(self, names: Iterable[str], text: str, who: str, index: int) -> None:
        facts = self.ledger.facts
        labels: dict[str, str] | None = None
        for name in names:
            fact = facts.get(name)
            if fact is None:
                labels = labels_in(text) if labels is None else labels
                fact = facts[name] = Fact(labels.get(name) or kind_of(name) or "name")
            setattr(fact, who, getattr(fact, who) + 1)
            fact.last = index

    def _crowds(self, names: Iterable[str]) -> None:
        shapes = Counter(map(shape_of, names))
        facts = self.ledger.facts
        for name in names:
            fact, crowd = facts[name], shapes[shape_of(name)]
            fact.crowd = min(fact.crowd, crowd) if fact.crowd else crowd

    def _arguments(self, call: ToolCall, index: int) -> None:
        texts: list[str] = []
        labels: dict[str, str] = {}
        given = self._given(call)
        _leaves(given if given is not None else self.redactor(call.arguments_text), "", texts, labels)
        names: dict[str, None] = {}
        for text in texts:
            names |= names_in(text)
        facts = self.ledger.facts
        for name in names:
            fact = facts.get(name)
            if fact is None:
                fact = facts[name] = Fact(labels.get(name) or kind_of(name) or "name")
            fact.argument += 1
            fact.last = index

    def _track(self, action: Action, call: Call, what: str, found: str, index: int) -> None:
        key = work_in(what)
        if action.failed:
            self.blocked[key] = Line("Blocked", f"{what} → {found or 'failed'}", (index,), 1.0, key)
        elif action.failed is False or action.exit_code == 0:
            self.blocked.pop(key, None)
            self.ledger.succeeded.add(key)
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

    def _close_question(self) -> None:
        if self.question:
            ask, index = self.question
            if self.reply and self.reply[1] > index:
                answered = f"{one_line(ask, 200)} → {self.reply[0]}"
                self.ledger.lines.append(Line("Resolved Questions", answered, (index, self.reply[1]), 0.9))
            else:
                self.ledger.add("Pending User Asks", ask, index, 1.0)
        self.question = None

    def finish(self) -> None:
        """The lines that only the whole range can tell."""
        self._close_question()
        self.ledger.lines += self.blocked.values()
        for path, state in self.files.items():
            self.ledger.add(
                "Relevant Files", f"{path} — {state.text()}", state.last, 1.0 if state.written else 0.3, path
            )
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


def _request_rank(ask: str, chars: int) -> float:
    """A request in a few sentences is worth most; a word of assent and a pasted page say less."""
    if chars > REQUEST_CHARS:
        return 1.5
    return 3.0 if len(ask) >= 40 else 3.0 * len(ask) / 40


def normal(text: str) -> str:
    """A form in which two wordings of the same thing are equal."""
    return " ".join(text.casefold().split()).strip(" .。!！,，;；:：\"'“”`*-")


def _opening(parts: list[str]) -> str:
    """The first sentence that is more than a word of courtesy, with the next one where it is short."""
    first = parts[0] if len(parts[0]) >= 40 or len(parts) == 1 else f"{parts[0]} {parts[1]}"
    return one_line(first, SENTENCE_CHARS)


def _what(call: Call, action: Action, arguments: object) -> str:
    """Who did what: the tool and its target, or its arguments where it has none."""
    name = call.name or "tool"
    if action.target:
        target = one_line(action.target, TARGET_CHARS)
        return f"{name}: `{target}`" if action.kind == "run" else f"{name}: {target}"
    if isinstance(arguments, dict) and arguments:
        pairs = (f"{key}={one_line(str(value), 80)}" for key, value in cast("dict[str, object]", arguments).items())
        return f"{name}: {one_line(', '.join(pairs), TARGET_CHARS)}"
    return name


def _outcome(action: Action, found: str, call: Call) -> str:
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


def _action_rank(action: Action) -> float:
    if action.failed:
        return 0.9
    return {"write": 1.0, "run": 0.7, "other": 0.7, "fetch": 0.5, "plan": 0.2, "search": 0.3, "read": 0.2}[action.kind]


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
