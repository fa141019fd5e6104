"""Summaries of a session as a graph: leaves of messages, condensed nodes of nodes (schema version 3).

The links are rows with foreign keys. A message is in at most one leaf, a node in at most one other, and a node never
says more than what it stands for. So a node is a fact about what was said: whoever made it, ahead of time or at the
same time as somebody else, it is made once and stands for good.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from abridged.archive.store import Archive

LEAF, CONDENSED = "leaf", "condensed"
_COLUMNS = "number, kind, depth, level, fallback, text, tokens, source_tokens, first, last, earliest, latest"

UNDER = (
    "WITH RECURSIVE under (node) AS (VALUES (:node) UNION SELECT child FROM under CROSS JOIN node_children"
    " ON session = :session AND parent = under.node),"
    " inside (place) AS (SELECT place FROM under CROSS JOIN node_messages"
    " ON session = :session AND node_messages.node = under.node)"
)
"""The messages under a node, as a table `inside` for a query."""


@dataclass(frozen=True, slots=True)
class Text:
    """What a node says, and how it came about."""

    text: str
    tokens: int
    source_tokens: int
    """Of what it stands for; always more."""
    level: int
    """1 = in detail by a model, 2 = briefly by a model, 3 = by rule, 4 = cut."""
    fallback: bool = False
    """Whether a model should have written it and could not."""


@dataclass(frozen=True, slots=True)
class Node:
    """One summary."""

    number: int
    """In its session, from 1 on."""
    kind: str
    depth: int
    """0 = of messages; else one more than the deepest of its children."""
    level: int
    fallback: bool
    text: str
    tokens: int
    source_tokens: int
    first: int
    last: int
    """The places of the first and the last message that it stands for."""
    earliest: float
    latest: float
    """When they were archived, in seconds since the epoch."""

    @property
    def name(self) -> str:
        """As models and users write it."""
        return f"n{self.number}"


class Nodes:
    """Of one session. Safe from several threads and processes."""

    def __init__(self, archive: Archive, session: str) -> None:
        self.archive = archive
        self.session = session

    # -- looking -----------------------------------------------------------------------------------------------------

    def all(self) -> list[Node]:
        """Every node, in the order in which they were made."""
        return self._where("1 = 1 ORDER BY number")

    def roots(self) -> list[Node]:
        """The nodes that no other one stands for, in the order of what they summarise."""
        return self._where(
            "NOT EXISTS (SELECT 1 FROM node_children AS link WHERE link.session = nodes.session"
            " AND link.child = nodes.number) ORDER BY first, number"
        )

    def get(self, number: int) -> Node | None:
        found = self._where("number = ?", number)
        return found[0] if found else None

    def children(self, number: int) -> list[Node]:
        return self._where(
            "number IN (SELECT child FROM node_children WHERE session = nodes.session AND parent = ?)"
            " ORDER BY first, number", number,
        )  # fmt: skip

    def parent(self, number: int) -> int | None:
        with self.archive.look() as look:
            row = look.execute(
                "SELECT parent FROM node_children WHERE session = ? AND child = ?", (self.session, number)
            ).fetchone()
        return row[0] if row else None

    def places(self, number: int) -> list[int]:
        """Every message that a node stands for, through all depths."""
        with self.archive.look() as look:
            rows = look.execute(
                f"{UNDER} SELECT place FROM inside ORDER BY place", {"node": number, "session": self.session}
            ).fetchall()
        return [place for (place,) in rows]

    def covered(self) -> dict[int, int]:
        """Place -> the leaf that it is in; places without one are missing."""
        with self.archive.look() as look:
            rows = look.execute("SELECT place, node FROM node_messages WHERE session = ?", (self.session,)).fetchall()
        return dict(rows)

    def leaf_of(self, place: int) -> int | None:
        with self.archive.look() as look:
            row = look.execute(
                "SELECT node FROM node_messages WHERE session = ? AND place = ?", (self.session, place)
            ).fetchone()
        return row[0] if row else None

    def _where(self, condition: str, *values: Any) -> list[Node]:
        with self.archive.look() as look:
            rows = look.execute(
                f"SELECT {_COLUMNS} FROM nodes WHERE session = ? AND {condition}", (self.session, *values)
            ).fetchall()
        return [Node(row[0], row[1], row[2], row[3], bool(row[4]), *row[5:]) for row in rows]

    # -- making ------------------------------------------------------------------------------------------------------

    def add_leaf(self, text: Text, places: Sequence[int]) -> int | None:
        """A leaf of the messages at these places; its number, `None` where one of them is in a leaf already."""
        first, last = min(places), max(places)
        with self.archive.change() as change:
            taken = change.execute(
                "SELECT place FROM node_messages WHERE session = ? AND place BETWEEN ? AND ?",
                (self.session, first, last),
            ).fetchall()
            if not {place for (place,) in taken}.isdisjoint(places):
                return None
            earliest, latest = change.execute(
                "SELECT min(at), max(at) FROM messages WHERE session = ? AND place IN (?, ?)",
                (self.session, first, last),
            ).fetchone()
            number = self._insert(change, LEAF, 0, text, (first, last, earliest, latest))
            rows = [(self.session, place, number) for place in places]
            change.executemany("INSERT INTO node_messages (session, place, node) VALUES (?, ?, ?)", rows)
        return number

    def add_condensed(self, text: Text, children: Sequence[Node]) -> int | None:
        """A node of nodes; its number, `None` where one of them has a parent already or says something else by now."""
        numbers = [child.number for child in children]
        with self.archive.change() as change:
            for child in children:
                free = change.execute(
                    "SELECT text = ? FROM nodes WHERE session = ? AND number = ? AND NOT EXISTS (SELECT 1 FROM"
                    " node_children AS link WHERE link.session = nodes.session AND link.child = nodes.number)",
                    (child.text, self.session, child.number),
                ).fetchone()
                if not free or not free[0]:
                    return None
            span = (
                min(child.first for child in children), max(child.last for child in children),
                min(child.earliest for child in children), max(child.latest for child in children),
            )  # fmt: skip
            number = self._insert(change, CONDENSED, 1 + max(child.depth for child in children), text, span)
            rows = [(self.session, child, number) for child in numbers]
            change.executemany("INSERT INTO node_children (session, child, parent) VALUES (?, ?, ?)", rows)
        return number

    def rewrite(self, number: int, text: Text) -> None:
        """Another text for a node whose text was a fallback; any other stays as it is."""
        with self.archive.change() as change:
            change.execute(
                "UPDATE nodes SET text = ?, tokens = ?, source_tokens = ?, level = ?, fallback = ?"
                " WHERE session = ? AND number = ? AND fallback",
                (text.text, text.tokens, text.source_tokens, text.level, text.fallback, self.session, number),
            )

    def _insert(
        self, change: sqlite3.Connection, kind: str, depth: int, text: Text, span: tuple[int, int, float, float]
    ) -> int:
        (number,) = change.execute(
            "SELECT coalesce(max(number), 0) + 1 FROM nodes WHERE session = ?", (self.session,)
        ).fetchone()
        change.execute(
            f"INSERT INTO nodes (session, {_COLUMNS}) VALUES ({', '.join('?' * 13)})",
            (
                self.session, number, kind, depth, text.level, text.fallback, text.text, text.tokens,
                text.source_tokens, *span,
            ),
        )  # fmt: skip
        return int(number)

    # -- is all well -------------------------------------------------------------------------------------------------

    def faults(self) -> list[str]:
        """What is wrong with the graph, in words; nothing, unless somebody else wrote into the file."""
        found: list[str] = []
        with self.archive.look() as look:
            for table in ("node_messages", "node_children", "nodes"):
                for broken in look.execute(f"PRAGMA foreign_key_check({table})").fetchall():
                    found.append(f"{table}: a row refers to {broken[2]} that is not there")
            empty = look.execute(
                "SELECT number FROM nodes WHERE session = ?1"
                " AND NOT EXISTS (SELECT 1 FROM node_messages WHERE session = ?1 AND node = number)"
                " AND NOT EXISTS (SELECT 1 FROM node_children WHERE session = ?1 AND parent = number)",
                (self.session,),
            ).fetchall()
        return found + [f"n{number} stands for nothing" for (number,) in empty]
