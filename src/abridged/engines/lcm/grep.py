"""Finding messages by words or by a pattern, the newest first, grouped by the leaf that summarises them.

Words are asked of the archive's index. A pattern is tried on one message after the other, for a bounded time; where it
ran out the answer says how to go on.
"""

import json
import re
import sqlite3
import time
from collections.abc import Iterator

from abridged.archive.nodes import UNDER, Node, Nodes
from abridged.archive.words import query_for
from abridged.conversation.measure import replayed_text
from abridged.conversation.text import Message, one_line
from abridged.engines.lcm.patterns import SECONDS, Pattern, Refused, pattern_of
from abridged.engines.recall import MOST_CHARACTERS, RECORD, Answer, number

HITS, MOST_HITS = 20, 200
LONGEST_QUERY = 2_000
AROUND = 160
"""Characters on each side of what was found."""
_SAID = "FROM messages JOIN contents ON contents.id = messages.content"
Row = tuple[int, str]


class Grep:
    """Over one session."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes

    def answer(self, arguments: Answer) -> Answer:
        query = arguments.get("query")
        if not isinstance(query, str) or not query.strip():
            return {"error": "query: words or a pattern are wanted"}
        query = clean(query)
        node = self._node(arguments.get("node_id"))
        if node is None:
            return {"error": "node_id: there is no such block"}
        limit = number(arguments.get("limit"), HITS, 1, MOST_HITS)
        offset = number(arguments.get("offset"), 0, 0, 1 << 40)
        if arguments.get("mode") == "regex":
            return self._by_pattern(query, node, limit, offset)
        return self._by_words(query, node, limit, offset)

    def _node(self, given: object) -> int | None:
        """Its number, 0 where none is asked for, `None` where there is none."""
        if given is None or given == "":
            return 0
        node = node_of(self._nodes, given)
        return node.number if node else None

    # -- words -------------------------------------------------------------------------------------------------------

    def _by_words(self, query: str, node: int, limit: int, offset: int) -> Answer:
        asked = query_for(query)
        if not asked:
            return self._grouped([], 0, more=False)
        inside, where = (UNDER + " ", " AND messages.place IN (SELECT place FROM inside)") if node else ("", "")
        with self._nodes.archive.look() as look:
            rows: list[Row] = look.execute(
                f"{inside}SELECT messages.place, contents.json FROM words CROSS JOIN messages"
                " ON messages.content = words.rowid JOIN contents ON contents.id = words.rowid"
                f" WHERE words MATCH :asked AND messages.session = :session{where}"
                " ORDER BY words.rowid DESC LIMIT :limit OFFSET :offset",
                {"asked": asked, "session": self._nodes.session, "node": node, "limit": limit + 1, "offset": offset},
            ).fetchall()
        first = query.strip('" ').split()[0].strip('"')
        hits: list[tuple[int, Message, str]] = []
        for place, text in rows[:limit]:
            message: Message = json.loads(text)
            hits.append((place, message, _around(replayed_text(message), first)))
        return self._grouped(hits, offset, more=len(rows) > limit)

    # -- patterns ----------------------------------------------------------------------------------------------------

    def _by_pattern(self, query: str, node: int, limit: int, offset: int) -> Answer:
        """`offset` counts messages that were looked at, from the newest back: so it goes on where the time ran out."""
        try:
            pattern = pattern_of(query)
        except Refused as why:
            return {"error": f"pattern: {why}"}
        hits: list[tuple[int, Message, str]] = []
        end = time.monotonic() + SECONDS
        looked = offset
        for place, text in self._backwards(pattern, node, offset):
            if len(hits) == limit or time.monotonic() > end:
                return self._grouped(hits, looked, more=True, counted=True)
            looked += 1
            message: Message = json.loads(text)
            line = pattern.search(replayed_text(message), end)
            if line is not None:
                hits.append((place, message, one_line(line, 2 * AROUND)))
        return self._grouped(hits, looked, more=False, counted=True)

    def _backwards(self, pattern: Pattern, node: int, offset: int) -> Iterator[Row]:
        """Messages that may match, the newest first, in portions: the archive is free in between."""
        inside, where = (UNDER + " ", " AND messages.place IN (SELECT place FROM inside)") if node else ("", "")
        likely = " AND instr(lower(contents.json), :literal)" if pattern.literal else ""
        before = 1 << 62
        while True:
            with self._nodes.archive.look() as look:
                rows = self._portion(look, f"{inside}SELECT messages.place, contents.json {_SAID} WHERE"
                                     f" messages.session = :session AND messages.place < :before{where}{likely}"
                                     " ORDER BY messages.place DESC LIMIT 200 OFFSET :offset",
                                     {"session": self._nodes.session, "before": before, "node": node,
                                      "literal": pattern.literal, "offset": offset})  # fmt: skip
            if not rows:
                return
            yield from rows
            before, offset = rows[-1][0], 0

    def _portion(self, look: sqlite3.Connection, query: str, values: dict[str, object]) -> list[Row]:
        return look.execute(query, values).fetchall()

    # -- the answer --------------------------------------------------------------------------------------------------

    def _grouped(
        self, hits: list[tuple[int, Message, str]], start: int, *, more: bool, counted: bool = False
    ) -> Answer:
        """By leaf, the one with the newest hit first. `start`: the offset of the first hit; where `counted`, that
        behind the last one."""
        groups: dict[int | None, list[Answer]] = {}
        room = MOST_CHARACTERS - 1_000
        shown = 0
        for place, message, text in hits:
            entry = {"place": place, "role": message.get("role"), "text": text}
            room -= len(json.dumps(entry, default=str)) + 60
            if room < 0:
                break
            groups.setdefault(self._nodes.leaf_of(place), []).append(entry)
            shown += 1
        found = [{"node_id": f"n{leaf}" if leaf else None, "hits": entries} for leaf, entries in groups.items()]
        goes_on: Answer = {}
        if counted and shown < len(hits):
            goes_on = {"truncated": True, "hint": "more hits than fit an answer: ask for fewer at once"}
        elif more or shown < len(hits):
            goes_on = {"truncated": True, "next_offset": start if counted else start + shown}
        return {"what": RECORD, "count": shown, "groups": found, **goes_on}


def _around(text: str, word: str) -> str:
    """The text around a word, where it is found as it is; else its beginning."""
    at = max(0, text.lower().find(word.lower()))
    return one_line(text[max(0, at - AROUND) : at + AROUND], 2 * AROUND)


def node_of(nodes: Nodes, given: object) -> Node | None:
    """The node of that id, as a model writes it: n3, 3, "node 3"."""
    text = str(given) if isinstance(given, str | int) and not isinstance(given, bool) else ""
    found = re.fullmatch(r"\s*\[?(?:node[ _]*)?n?(\d{1,12})\]?\s*", text, re.IGNORECASE | re.ASCII)
    return nodes.get(int(found[1])) if found else None


def clean(query: str) -> str:
    """A query without what SQLite cannot be asked."""
    return query[:LONGEST_QUERY].replace("\0", " ").encode("utf-8", "replace").decode()
