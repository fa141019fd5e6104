"""Originals, letter for letter, in answers of a bounded size.

The messages are one text: each as a line of JSON, in their order. An offset is a place in that text. What is whole is
handed back as the message itself; one that does not fit an answer comes in parts of its line.
"""

import json

from abridged.archive.nodes import Nodes
from abridged.conversation.text import Message
from abridged.conversation.tokens import Counter
from abridged.engines.recall import MOST_CHARACTERS, Answer
from abridged.phases.write import fitting

ROOM = MOST_CHARACTERS - 1_000
"""Characters of an answer for the messages, as they are escaped."""


class Originals:
    """Of one session."""

    def __init__(self, nodes: Nodes, counter: Counter) -> None:
        self._nodes = nodes
        self._counter = counter

    def part(self, places: list[int], offset: int, max_tokens: int) -> Answer:
        """From that offset on: `messages`, or a `part` of one; `next_offset` where there is more."""
        whole: list[Answer] = []
        room, tokens = ROOM, max_tokens
        start = 0
        for place, message in self._messages(places):
            line = line_of(message)
            end = start + len(line) + 1
            if end <= offset:
                start = end
                continue
            size, cost = len(json.dumps(message, default=str)) + 60, self._counter(line)
            if offset > start or (not whole and (size > room or cost > tokens)):
                return self._piece(place, line, start, max(0, offset - start), max_tokens)
            if size > room or cost > tokens:
                return {"messages": whole, "truncated": True, "next_offset": start}
            whole.append({"place": place, "message": message})
            room, tokens, start, offset = room - size, tokens - cost, end, end
        return {"messages": whole}

    def _piece(self, place: int, line: str, start: int, at: int, max_tokens: int) -> Answer:
        """A part of a line; it ends where the message ends, or says where to go on."""
        piece = fitting(line[at : at + ROOM], max_tokens, self._counter) or line[at : at + 1]
        while len(json.dumps(piece)) > ROOM and len(piece) > 1:
            piece = piece[: len(piece) // 2]
        end = at + len(piece)
        head: Answer = {"of_place": place, "characters": len(line), "from": at, "part": piece}
        # Behind the last part stands the line's end: where nothing follows, the next answer is empty.
        return {**head, "truncated": True, "next_offset": start + end + (end == len(line))}

    def _messages(self, places: list[int]) -> list[tuple[int, Message]]:
        if not places:
            return []
        first = places[0]
        said = self._nodes.archive.transcript(self._nodes.session, first, places[-1] + 1)
        return [(place, said[place - first]) for place in places]


def line_of(message: Message) -> str:
    """A message as one line of JSON; read back it is the message."""
    return json.dumps(message, ensure_ascii=False, default=str)
