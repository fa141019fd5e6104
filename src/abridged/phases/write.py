"""Phase 3, the part of a model: the turns that leave, shown in as many requests as its window takes.

Each request brings the answer of the one before up to date, so that any history has a summary and no request is longer
than the window (spec: P3.1, P3.11).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from abridged.conversation.roles import is_real_user
from abridged.conversation.text import content_text, one_line
from abridged.conversation.tokens import Counter
from abridged.phases.summarize import Handover
from abridged.summarizers import Ask, CancelToken, SummaryRequest
from abridged.summary.prompt import instructions, record
from abridged.summary.transcript import Shown, packed

NEWEST_REQUESTS = 3
"""So many of the user's last requests say what matters where nobody named a topic."""
REQUEST_CHARS = 500
"""Of each of them."""
WINDOW_SHARE = 0.80
"""What of a summariser's window is used: its tokenizer may count more than ours."""
ANSWER_SHARE = 0.25
"""The most of its window that is left for the answer."""
LEAST_ROOM = 200
"""Tokens of a part, however small the window."""

Progress = Callable[[int, int], None]
"""Called before each request: which part of how many."""


@dataclass(slots=True)
class PartByPart:
    """One summary by one model."""

    handover: Handover
    cancel: CancelToken
    progress: Progress | None = None

    def __call__(self, window: int, ask: Ask) -> str:
        """The text of a model with a window of so many tokens. Raises what `ask` raises."""
        tools, counter = self.handover.tools, self.handover.tools.counter
        budget = min(self.handover.request.budget, int(window * ANSWER_SHARE / 2))
        frame = counter(instructions()) + counter(self._record("", "", budget)) + 2 * budget
        room = max(LEAST_ROOM, int(window * WINDOW_SHARE) - frame)
        so_far = fitting("\n\n".join(self.handover.previous), room // 2, counter)
        parts = self._parts(room, so_far, budget)
        too_long: list[str] = []
        for number, part in enumerate(parts, start=1):
            self.cancel.raise_if_cancelled()
            if self.progress:
                self.progress(number, len(parts))
            earlier = fitting(so_far, max(LEAST_ROOM, room - counter(part)), counter)
            if earlier != so_far:
                too_long.append(so_far)  # the next request has no room for all of it, but nothing is thrown away
            source = counter(part) + counter(earlier)
            text = self._record(part, earlier, budget)
            timeout = tools.settings.summary_timeout
            so_far = ask(SummaryRequest(instructions(), text, budget, source, timeout, self.cancel))
        return "\n\n".join([*too_long, so_far])

    def _parts(self, room: int, so_far: str, budget: int) -> list[str]:
        """The turns in parts that leave room for what was written before."""
        tools, given = self.handover.tools, self.handover.given
        shown = Shown(tools.settings, tools.redactor, tools.digests, self.handover.request.ledger.facts)
        turns = shown.turns(given.conversation, given.middle, given.pairing)
        earlier = tools.counter(so_far)
        if sum(map(tools.counter, turns)) + 2 * len(turns) > room - earlier:  # more than one: each answer comes along
            earlier = max(earlier, budget)
        return packed(turns, max(LEAST_ROOM, room - earlier), tools.counter)

    def _record(self, turns: str, previous: str, budget: int) -> str:
        topic = self.handover.topic
        newest = () if topic else self._newest()
        return record(turns, budget_tokens=budget, previous=previous, focus_topic=topic, newest=newest)

    def _newest(self) -> Sequence[str]:
        """The user's last requests, oldest first."""
        texts: list[str] = []
        for message in reversed(self.handover.given.conversation):
            if len(texts) == NEWEST_REQUESTS:
                break
            if is_real_user(message):
                text = self.handover.tools.redactor(content_text(message.get("content")))
                texts.append(one_line(text, REQUEST_CHARS))
        return texts[::-1]


def fitting(text: str, room: int, counter: Counter) -> str:
    """A text cut at its end to so many tokens: what an earlier summary ends on, its names, code carries over."""
    while text and (tokens := counter(text)) > room:
        text = text[: min(len(text) - 1, len(text) * room // tokens)]
    return text
