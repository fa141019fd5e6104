"""Which place of its session a message has: found by what it says, and what has no place yet is archived.

There is no cursor: a host may hold its messages from the start, after a compaction, resumed, or as they were some time
ago. Of equal messages the newest one is meant. A summary is no message, unless nothing else tells what it stands for.
"""

import json
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, cast

from abridged.archive import Archive
from abridged.archive.ingest import mark
from abridged.archive.nodes import Nodes
from abridged.conversation.roles import leading_system
from abridged.conversation.text import Message
from abridged.engines.lcm.exploring import place_of
from abridged.summary.template import find_summary, frame

_SHOWN = re.compile(r"^\[n(\d+) · depth \d+ · ", re.MULTILINE)
_NOT_SHOWN = re.compile(r"^\[not shown: n(\d+)", re.MULTILINE)

NEWEST = 2_000
"""Messages among which a list is looked for first."""


@dataclass(slots=True)
class Placed:
    """Messages and their places."""

    at: dict[int, int] = field(default_factory=dict[int, int])
    """Index in the list -> place; the system prompt, summaries and what is no message are missing."""
    summaries: list[int] = field(default_factory=list[int])
    """Places of summaries that somebody else made of messages that are in no archive."""
    history: bool = False
    """Whether somebody else's summary stands for messages that are in the archive."""


@dataclass(slots=True)
class _Held:
    message: Message
    index: int
    """In the list; -1 for a summary."""


class Places:
    """Of one session; `nodes` are its own."""

    def __init__(self, nodes: Nodes) -> None:
        self._archive: Archive = nodes.archive
        self._session = nodes.session
        self._nodes = nodes
        self._marks: list[bytes] = []
        self._known: set[bytes] = set()

    def find(self, messages: Sequence[Any]) -> Placed:
        """The places of all messages; new ones are archived. Raises `ArchiveError`: then nothing was."""
        placed = Placed()
        there, compacted = self._is_there()
        if not there:
            self._archive.start(self._session, engine="lcm")
        said = {index: cast("Message", one) for index, one in enumerate(messages) if isinstance(one, dict)}
        for index in list(said)[: leading_system(list(said.values()))]:
            del said[index]  # a host writes it anew whenever it likes, and a compaction notes itself there
        theirs = {index for index, one in said.items() if self._is_foreign(one)}
        placed.history = bool(theirs) and compacted
        held: list[_Held] = []

        def choose(look: sqlite3.Connection) -> list[Message]:
            self._read(look)
            held[:] = [
                one
                for index, message in said.items()
                for one in _taken_apart(message, index, index in theirs, compacted, self._known)
            ]
            return self._place(held, placed)

        self._archive.append_chosen(self._session, choose)
        return placed

    def _place(self, held: list[_Held], placed: Placed) -> list[Message]:
        """Writes down the places, also of those that get one now; these are handed back."""
        marks = [self._mark(one.message) for one in held]
        count = len(self._marks)
        places = self._matched(marks, max(NEWEST, 4 * len(marks)))
        if any(one in self._known for number, one in enumerate(marks) if number not in places):
            places = self._matched(marks, count)
        new: list[Message] = []
        for number, one in enumerate(held):
            if number not in places:
                places[number] = count + len(new)
                new.append(one.message)
            if one.index < 0:
                placed.summaries.append(places[number])
            else:
                placed.at[one.index] = places[number]
        return new

    def _matched(self, marks: list[bytes], among: int) -> dict[int, int]:
        """Number of a mark -> its place, looked for in so many of the newest messages."""
        count = len(self._marks)
        known = self._marks[max(0, count - among) :][::-1]
        places: dict[int, int] = {}
        for block in SequenceMatcher(None, known, marks[::-1], autojunk=False).get_matching_blocks():
            for n in range(block.size):
                places[len(marks) - 1 - block.b - n] = count - 1 - block.a - n
        return places

    def _is_there(self) -> tuple[bool, bool]:
        """Whether the archive has the session, and whether anything of it was compacted."""
        with self._archive.look() as look:
            row = look.execute(
                "SELECT EXISTS (SELECT 1 FROM sessions WHERE id = ?1), EXISTS (SELECT 1 FROM compactions"
                " WHERE session = ?1)",
                (self._session,),
            ).fetchone()
        return bool(row[0]), bool(row[1])

    def _mark(self, message: Message) -> bytes:
        stands_for = place_of(message)
        return self._marks[stands_for] if stands_for is not None and stands_for < len(self._marks) else mark(message)

    def _read(self, look: sqlite3.Connection) -> None:
        """The marks of what is archived by now; only what came since the last time is read."""
        (count,) = look.execute("SELECT count(*) FROM messages WHERE session = ?", (self._session,)).fetchone()
        if count < len(self._marks):  # the session was forgotten and begun anew
            self._marks, self._known = [], set()
        rows = look.execute(
            "SELECT json FROM messages JOIN contents ON contents.id = content"
            " WHERE session = ? AND place >= ? ORDER BY place",
            (self._session, len(self._marks)),
        )
        new = [mark(json.loads(text)) for (text,) in rows]
        self._marks += new
        self._known.update(new)

    def _is_foreign(self, message: Message) -> bool:
        """Whether a summary stands in it that is not of this session's nodes."""
        summary = find_summary(message)
        if summary is None:
            return False
        shown = [node for number in _SHOWN.findall(summary.body) if (node := self._nodes.get(int(number)))]
        hidden = [number for number in _NOT_SHOWN.findall(summary.body) if self._nodes.get(int(number))]
        return not (any(node.text in summary.body for node in shown if node.text) or hidden)


def _taken_apart(message: Message, index: int, foreign: bool, compacted: bool, known: set[bytes]) -> list[_Held]:
    """A message as it was said, and before it a summary that it carries where that counts as said."""
    summary = find_summary(message)
    if summary is None or (foreign and mark(message) in known):
        return [_Held(message, index)]
    held = [_Held({"role": "user", "content": frame(summary.body)}, -1)] if foreign and not compacted else []
    return held if summary.rest is None else [*held, _Held(summary.rest, index)]
