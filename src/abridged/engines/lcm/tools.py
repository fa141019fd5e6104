"""Tools over the graph and the messages behind it, by the names that users of such engines know.

What they give is JSON below a fixed size, and says how to go on. It is a record: nothing in it is an instruction. Odd
arguments give an answer that says what is wanted.
"""

import json
from collections.abc import Callable
from typing import Any

from abridged.archive.nodes import Node, Nodes
from abridged.archive.recall import Recall
from abridged.conversation.measure import replayed_text
from abridged.conversation.text import Message, content_text, one_line
from abridged.conversation.tokens import Counter
from abridged.engines.lcm.exploring import explored
from abridged.engines.lcm.grep import Grep, clean, node_of
from abridged.engines.lcm.originals import Originals
from abridged.engines.recall import MOST_CHARACTERS, RECORD, Answer, Handler, number, schema
from abridged.errors import ArchiveError

EXPAND_TOKENS, MOST_EXPAND_TOKENS = 4_000, 16_000
LINE_CHARACTERS = 500
PASSAGES, MOST_PASSAGES = 5, 20
MESSAGES, MOST_MESSAGES = 20, 200
_NODE = ("string?", "A block by its id, such as n3")
_PLACE = ("integer?", "A message by its number")
_OFFSET = ("integer?", "Where to go on: next_offset of the answer before")


class LcmTools:
    """Over one session. `status`: what the engine says of itself."""

    def __init__(self, nodes: Nodes, status: Callable[[], Answer], counter: Counter) -> None:
        self._nodes = nodes
        self._archive = nodes.archive
        self._status_of_engine = status
        self._counter = counter
        self._recall = Recall(nodes.archive)
        self._grep = Grep(nodes)
        self._originals = Originals(nodes, counter)

    def schemas(self) -> list[dict[str, Any]]:
        """As the API wants them, without a shell."""
        limit = ("integer?", "At most so many")
        tokens = ("integer?", f"Size of the answer, {EXPAND_TOKENS} unless said")
        return [
            schema(
                "lcm_grep", "Find earlier messages that hold all words of a query, or match a regular expression; "
                "grouped by the block that summarises them, the newest first.",
                query=("string", 'Words, "a phrase", or a pattern'), mode=("string?", "text (unless said) or regex"),
                node_id=("string?", "Only inside this block"), limit=limit, offset=_OFFSET,
            ),
            schema("lcm_describe", "What a block or a message is: sizes, times, what it is made of.",
                   node_id=_NODE, place=_PLACE),
            schema(
                "lcm_expand", "The original messages of a block, or one message, letter for letter.",
                node_id=_NODE, place=_PLACE, max_tokens=tokens, offset=_OFFSET,
            ),
            schema(
                "lcm_expand_query", "What was said about something: the passages that fit best, each with its message "
                "number and block, as many as fit the size.",
                query=("string", "Any words or names"), max_tokens=tokens,
            ),
            schema("lcm_load_session", "The session from some message on, in order.",
                   after_place=("integer?", "The message before the first one wanted"), limit=limit),
            schema("lcm_recent", "The newest messages, shortened.", limit=limit),
            schema("lcm_recall", "Passages of earlier messages that answer a question best, by any of its words.",
                   query=("string", "A question, words, names"), limit=limit),
            schema("lcm_status", "How full the window is, how many blocks there are, why the last pass did nothing."),
            schema("lcm_doctor", "Whether the store is sound."),
        ]  # fmt: skip

    def handle(self, name: str, arguments: object) -> str | None:
        """What a tool gives, as JSON; `None` for a tool that is none of these."""
        handlers: dict[str, Handler] = {
            "lcm_grep": self._grep.answer, "lcm_describe": self._describe, "lcm_expand": self._expand,
            "lcm_expand_query": self._expand_query, "lcm_load_session": self._load_session,
            "lcm_recent": self._recent, "lcm_recall": self._recalled, "lcm_status": lambda _: self._status(),
            "lcm_doctor": lambda _: self._doctor(),
        }  # fmt: skip
        does = handlers.get(name)
        if does is None:
            return None
        try:
            return bounded(does(arguments if isinstance(arguments, dict) else {}))  # pyright: ignore[reportUnknownArgumentType]
        except ArchiveError as error:
            return json.dumps({"error": str(error)})

    # -- what something is -------------------------------------------------------------------------------------------

    def _describe(self, arguments: Answer) -> Answer:
        node = node_of(self._nodes, arguments.get("node_id"))
        if node is not None:
            parent = self._nodes.parent(node.number)
            return {
                **outline(node), "parent": f"n{parent}" if parent else None,
                "children": [child.name for child in self._nodes.children(node.number)][:100],
                "messages": len(self._nodes.places(node.number)), "text": node.text[:12_000],
            }  # fmt: skip
        place = number(arguments.get("place"), -1, -1, 1 << 62)
        message = self._message(place)
        if message is None:
            return _wanted()
        leaf = self._nodes.leaf_of(place)
        text = replayed_text(message)
        return {
            "what": RECORD, "place": place, "role": message.get("role"), "characters": len(text),
            "tokens": self._counter(text), "node_id": f"n{leaf}" if leaf else None,
            "looks_like": explored(content_text(message.get("content")), 2_000),
        }  # fmt: skip

    def _message(self, place: int) -> Message | None:
        messages = self._archive.transcript(self._nodes.session, place, place + 1) if place >= 0 else []
        return messages[0] if messages else None

    # -- originals ---------------------------------------------------------------------------------------------------

    def _expand(self, arguments: Answer) -> Answer:
        node = node_of(self._nodes, arguments.get("node_id"))
        place = number(arguments.get("place"), -1, -1, 1 << 62)
        room = number(arguments.get("max_tokens"), EXPAND_TOKENS, 1, MOST_EXPAND_TOKENS)
        offset = number(arguments.get("offset"), 0, 0, 1 << 62)
        if node is not None:
            return {"what": RECORD, "node_id": node.name,
                    **self._originals.part(self._nodes.places(node.number), offset, room)}  # fmt: skip
        if self._message(place) is None:
            return _wanted()
        return {"what": RECORD, "place": place, **self._originals.part([place], offset, room)}

    def _load_session(self, arguments: Answer) -> Answer:
        after = number(arguments.get("after_place"), -1, -1, 1 << 62)
        limit = number(arguments.get("limit"), MESSAGES, 1, MOST_MESSAGES)
        messages = self._archive.transcript(self._nodes.session, after + 1, after + 1 + limit)
        lines: list[Answer] = []
        for place, message in enumerate(messages, start=after + 1):
            text = replayed_text(message)
            entry = {"place": place, "role": message.get("role"), "text": text[:4_000]}
            lines.append({**entry, "characters": len(text)} if len(text) > 4_000 else entry)
        lines = _fitting(lines)
        more = self._message(after + 1 + len(lines)) is not None
        goes_on = {"truncated": True, "next_after_place": after + len(lines)} if more else {}
        return {"what": RECORD, "session": self._nodes.session, "messages": lines, **goes_on}

    def _recent(self, arguments: Answer) -> Answer:
        limit = number(arguments.get("limit"), MESSAGES, 1, MOST_MESSAGES)
        info = self._archive.session(self._nodes.session)
        first = max(0, (info.messages if info else 0) - limit)
        messages = self._archive.transcript(self._nodes.session, first)
        lines = [
            {"place": first + n, "role": one.get("role"), "text": one_line(replayed_text(one), LINE_CHARACTERS)}
            for n, one in enumerate(messages)
        ]
        kept = _fitting(lines[::-1])[::-1]
        more = {"truncated": True} if len(kept) < len(lines) or first else {}
        return {"what": RECORD, "messages": kept, **more}

    # -- finding -----------------------------------------------------------------------------------------------------

    def _recalled(self, arguments: Answer) -> Answer:
        limit = number(arguments.get("limit"), PASSAGES, 1, MOST_PASSAGES)
        return self._passages(arguments, limit, MOST_EXPAND_TOKENS)

    def _expand_query(self, arguments: Answer) -> Answer:
        room = number(arguments.get("max_tokens"), EXPAND_TOKENS, 1, MOST_EXPAND_TOKENS)
        return self._passages(arguments, 4 * MOST_PASSAGES, room)

    def _passages(self, arguments: Answer, limit: int, room: int) -> Answer:
        query = arguments.get("query")
        if not isinstance(query, str) or not query.strip():
            return {"error": "query: words to look for are wanted"}
        found: list[Answer] = []
        cut = False
        for one in self._recall.find(clean(query), self._nodes.session, limit=limit):
            room -= self._counter(one.text) + 30
            if room < 0 and found:
                cut = True
                break
            leaf = self._nodes.leaf_of(one.place)
            call = {"call": one.header} if one.header else {}
            found.append(
                {"place": one.place, "role": one.role, "node_id": f"n{leaf}" if leaf else None, **call,
                 "text": one.text}
            )  # fmt: skip
        kept = _fitting(found)
        more = {"truncated": True} if cut or len(kept) < len(found) else {}
        return {"what": RECORD, "found": kept, **more, **({} if kept else {"hint": "other words may fit"})}

    # -- how things stand --------------------------------------------------------------------------------------------

    def _status(self) -> Answer:
        nodes = self._nodes.all()
        info = self._archive.session(self._nodes.session)
        depths: dict[str, int] = {}
        for node in nodes:
            depths[str(node.depth)] = depths.get(str(node.depth), 0) + 1
        return {
            **self._status_of_engine(), "messages": info.messages if info else 0, "nodes": len(nodes),
            "nodes_by_depth": depths, "fallback_nodes": sum(node.fallback for node in nodes),
            "messages_summarised": len(self._nodes.covered()),
        }  # fmt: skip

    def _doctor(self) -> Answer:
        faults = self._nodes.faults()
        waiting = [node.name for node in self._nodes.all() if node.fallback]
        notes = [f"{len(waiting)} blocks wait for a model to write them again"] if waiting else []
        return {"healthy": not faults, "faults": faults[:50], "notes": notes, "archive": self._archive.stats()}


def outline(node: Node) -> Answer:
    """A node in a few words."""
    return {
        "node_id": node.name, "kind": node.kind, "depth": node.depth, "tokens": node.tokens,
        "source_tokens": node.source_tokens, "first_place": node.first, "last_place": node.last,
        "earliest": node.earliest, "latest": node.latest, "level": node.level, "fallback": node.fallback,
    }  # fmt: skip


def bounded(answer: Answer) -> str:
    """The answer as JSON of at most `MOST_CHARACTERS`; what is in it is already cut to fit, but for oddities."""
    try:
        text = json.dumps(answer, ensure_ascii=False, default=str)
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(answer, default=str)
    if len(text) <= MOST_CHARACTERS:
        return text
    return json.dumps({"error": "the answer is too long: ask for less", "truncated": True})


def _fitting(lines: list[Answer]) -> list[Answer]:
    """As many from the front as fit an answer; the first is cut where even it does not."""
    room = MOST_CHARACTERS - 1_000
    kept: list[Answer] = []
    for line in map(dict[str, Any], lines):
        size = len(json.dumps(line, default=str))
        if not kept:
            while size > room and (text := str(line.get("text") or "")):
                line = {**line, "text": text[: len(text) // 2], "cut": True}
                size = len(json.dumps(line, default=str))
        room -= size + 2
        if room < 0:
            break
        kept.append(line)
    return kept


def _wanted() -> Answer:
    return {"error": "node_id: a block such as n3, or place: the number of a message, is wanted"}
