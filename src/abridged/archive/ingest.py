"""Archive what is new of a session, and only that, from the messages as somebody holds them.

Whoever holds them may hold them from the start, after a compaction with its summary in it, resumed from a store of his
own, or as they were some time ago; several may do so at once. So there is no cursor. A message is known by what it
says (`mark`), and a list by the views that the session has had: all that was said, and after each compaction what was
left of it and all that came since. A list goes on from one of them, or it is a part of one: then nothing is new.
"""

import contextlib
import hashlib
import json
import re
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from abridged.archive.store import Archive
from abridged.conversation.calls import tool_calls
from abridged.conversation.roles import is_system
from abridged.conversation.text import Message, as_json, content_text, pictures
from abridged.errors import SessionBusy
from abridged.summary.template import find_summary

Mark = bytes
"""What a message says, as a hash. That of a summary tells views apart, and is never archived."""

_LOOP_GUARD = re.compile(r"\n\n\[Tool loop (?:warning|hard stop): .*\]\s*\Z", re.DOTALL)
"""What a host adds to a result when it sees a call again: no word of the tool."""
_TASK_LIST = "[Your active task list was preserved across context compression]"
"""Opens the list of tasks that a host puts in after every compaction; nobody says it."""
_SUMMARY = b"S"
_TRIALS = 10
"""Of two who compress at the same moment the second looks again."""


def is_task_list(message: Message) -> bool:
    """Whether a host put this in after a compaction: it is made anew each time."""
    if message.get("role") != "user":
        return False
    return bool(message.get("_todo_snapshot_synthetic")) or content_text(message.get("content")).startswith(_TASK_LIST)


def as_said(message: Message) -> Message:
    """The message without what its holder noted on it: `timestamp`, and keys that begin with an underscore."""
    if "timestamp" not in message and not any(key.startswith("_") for key in message):
        return message
    return {key: value for key, value in message.items() if key != "timestamp" and not key.startswith("_")}


def mark(message: Message) -> Mark:
    """Who says what, calls what, answers what. Blanks at the ends and what a holder notes make no difference."""
    sent = message.get("api_content")  # what was sent, where a host keeps a shorter text for its own display
    content = sent if isinstance(sent, str) else message.get("content")
    text = content_text(content).strip()
    if message.get("role") == "tool":
        text = _LOOP_GUARD.sub("", text)
    said = [
        str(message.get("role")), text, str(message.get("tool_call_id") or ""),
        [[*call.raw_ids[:1], call.name, call.arguments_text] for call in tool_calls(message)],
        [] if isinstance(content, str) else [as_json(picture) for picture in pictures(content)],
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(said, default=str).encode()).digest()[:16]


@dataclass(frozen=True, slots=True)
class Held:
    """Messages that somebody holds, taken apart."""

    marks: list[Mark]
    said: list[Message | None]
    """For each mark the message as it is archived; `None` for a summary."""
    origin: list[int]
    """For each mark the index of its message."""

    @classmethod
    def of(cls, messages: Sequence[Message]) -> "Held":
        """System prompts and task lists are left out; a summary that stands before a message's text is two."""
        held = cls([], [], [])
        for index, message in enumerate(messages):
            if is_system(message) or is_task_list(message):
                continue
            summary = find_summary(message)
            if summary:
                held.marks.append(
                    _SUMMARY + hashlib.sha256(summary.body.strip().encode(errors="replace")).digest()[:16]
                )
                held.said.append(None)
                held.origin.append(index)
            own = summary.rest if summary else message
            if own is not None:
                said = as_said(own)
                held.marks.append(mark(said))
                held.said.append(said)
                held.origin.append(index)
        return held


@dataclass(frozen=True, slots=True)
class View:
    """What a session looked like after a compaction."""

    after: list[Mark]
    place: int
    """Where in the session what came since begins."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How a held list goes on from what is known."""

    new: list[int]
    """Indexes of the list."""
    number: int
    """Of the compaction whose view it goes on from; 0 = from the beginning."""
    unheard: int | None = None
    """Where in that view begins what the list has not heard of; `None` = it has heard all."""


class Ingest:
    """Of one session. Several may be at work on it, in this process or another: each looks before it writes."""

    def __init__(self, archive: Archive, session: str) -> None:
        self.archive = archive
        self.session = session
        self._said: list[Mark] = []
        self._views: list[View] = []
        self._known: set[Mark] = set()

    def take(self, messages: Sequence[Message]) -> int:
        """Archive what is new. Returns how many messages that were. Raises `ArchiveError`; then nothing was."""
        held = Held.of(messages)
        fits: list[Fit] = []
        self.archive.append_chosen(self.session, lambda look: self._choose(look, held, fits))
        return len(fits[0].new)

    def compacted(
        self,
        before: Sequence[Message],
        after: Sequence[Message],
        report: Mapping[str, Any],
        state: dict[str, Any] | None = None,
    ) -> int:
        """Archive what is new in `before` and that it became `after`; the compaction's number, as `Archive.compact`.

        What `before` has not heard of was not replaced: it stands behind both.
        """
        for trial in range(_TRIALS, 0, -1):
            self.take(before)
            with self.archive.look() as look:
                self._look(look)
            rest = self._unheard_messages(self._fit(Held.of(before)))
            with contextlib.suppress(*([SessionBusy] if trial > 1 else [])):  # somebody else was between the two
                return self.archive.compact(
                    self.session, [*map(as_said, before), *rest], [*map(as_said, after), *rest], dict(report),
                    follows=len(self._views), state=state,
                )  # fmt: skip
        raise AssertionError

    def _unheard_messages(self, fit: Fit) -> list[Message]:
        if fit.unheard is None:
            return []
        after = self.archive.compacted(self.session, fit.number) if fit.number else []
        place = self._views[fit.number - 1].place if fit.number else 0
        view = [*after, *self.archive.transcript(self.session, place)]
        origin = Held.of(view).origin
        return view[origin[fit.unheard] :]

    def _choose(self, look: sqlite3.Connection, held: Held, fits: list[Fit]) -> list[Message]:
        self._look(look)
        fits.append(self._fit(held))
        return [said for index in fits[0].new if (said := held.said[index]) is not None]

    def _look(self, look: sqlite3.Connection) -> None:
        """What the archive knows by now; only what came since the last look is read."""
        (count,) = look.execute("SELECT count(*) FROM messages WHERE session = ?", (self.session,)).fetchone()
        (number,) = look.execute("SELECT count(*) FROM compactions WHERE session = ?", (self.session,)).fetchone()
        if count < len(self._said) or number < len(self._views):  # the session was forgotten and begun anew
            self._said, self._views, self._known = [], [], set()
        rows = look.execute(
            "SELECT json FROM messages JOIN contents ON contents.id = content"
            " WHERE session = ? AND place >= ? ORDER BY place",
            (self.session, len(self._said)),
        )
        for (text,) in rows:
            self._said.append(mark(json.loads(text)))
            self._known.add(self._said[-1])
        places = look.execute(
            "SELECT number, place FROM compactions WHERE session = ? AND number > ? ORDER BY number",
            (self.session, len(self._views)),
        ).fetchall()
        for at, place in places:
            after = Held.of(self.archive.compacted(self.session, at)).marks
            self._views.append(View(after, place))
            self._known.update(after)

    def _fit(self, held: Held) -> Fit:
        """Go on from the view with which the list has most in common; of two the newer one, of these a whole one."""
        best: tuple[tuple[int, bool], int, list[Mark]] = ((-1, False), 0, [])
        for number in range(len(self._views), -1, -1):
            view = self._views[number - 1] if number else View([], 0)
            marks = [*view.after, *self._said[view.place :]]
            common = _common(marks, held.marks)
            rank = (common, common == len(marks))
            if rank > best[0]:
                best = rank, number, marks
        (common, whole), number, marks = best
        if whole:
            return Fit(list(range(common, len(held.marks))), number)
        if common == len(held.marks):
            return Fit([], number, common)
        return Fit(self._unsaid(held.marks, marks, common), number)

    def _unsaid(self, held: list[Mark], marks: list[Mark], common: int) -> list[int]:
        """Of a list that somebody changed in the middle: what the session never said."""
        rest, known = held[common:], marks[common:]
        blocks = SequenceMatcher(None, known, rest, autojunk=False).get_matching_blocks()
        matched = {block.b + n for block in blocks for n in range(block.size)}
        goes_on = max((block.b + block.size for block in blocks if block.size), default=0)
        reaches_end = any(block.size and block.a + block.size == len(known) for block in blocks)
        left = Counter(known)
        left.subtract(Counter(rest[place] for place in matched))
        new: list[int] = []
        for place, one in enumerate(rest):
            if place in matched:
                continue
            behind = reaches_end and place >= goes_on
            if left[one] > 0 and not behind:
                left[one] -= 1
            elif behind or one not in self._known:
                new.append(common + place)
        return new


def _common(one: Sequence[Mark], two: Sequence[Mark]) -> int:
    """How many marks two lists begin with in common."""
    count = 0
    for mine, theirs in zip(one, two, strict=False):
        if mine != theirs:
            break
        count += 1
    return count
