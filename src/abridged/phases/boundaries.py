"""Phase 2: what stays and what is summarised. The answer is a `Plan`; nothing is built here.

The list is cut between tool groups (an assistant message and its results), never inside one: that is both alignments of
the specification (P2.3, P2.4) at once. The tail is bounded in tokens whatever its message count (P2.5d), and the newest
user message stays even where the run after it does not fit (P2.5, P2.5b).
"""

from collections.abc import Callable
from dataclasses import dataclass

from abridged.conversation.calls import tool_calls
from abridged.conversation.measure import weight
from abridged.conversation.pairing import live_group
from abridged.conversation.roles import is_tool_result, leading_system, newest_user
from abridged.conversation.text import Message, content_text


@dataclass(frozen=True, slots=True)
class BoundarySettings:
    """How much of both ends stays."""

    protect_first_n: int = 3
    """Messages of the head, the system prompt counted in (spec: P2.1)."""
    protect_last_n: int = 20
    """Messages of the tail, as far as they fit its ceiling (spec: P2.5d)."""
    tail_ceiling: int = 19_200
    """The most that the tail may weigh: 1.5 x the tail budget (spec: P2.2)."""
    head_ceiling: int = 19_200
    """The most that the head behind the system prompt may weigh."""
    cut_chars: int = 8_000
    """An oversized result in the tail keeps this many characters, two thirds from its front (spec: P2.5d)."""
    settled: int | None = None
    """Messages that stood before the last summary; `None` = there was none. They were a head once: now their content
    lives in the summary, and the system prompt alone stays before it (spec: P2.7)."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Head = [0, head_end), tail = [tail_start, n); the rest is the middle, but for `anchor`."""

    head_end: int
    tail_start: int
    length: int
    """Messages in all."""
    anchor: int | None = None
    """The newest user message, where it would have been left in the middle: it stands right after the summary."""
    cut: frozenset[int] = frozenset()
    """Results in the tail that are cut to their two ends."""
    anchor_first: bool = False
    """The tail opens with a user's message (a heartbeat, say): then the anchor stands before the summary."""

    @property
    def middle(self) -> list[int]:
        """Indexes of what is summarised."""
        return [index for index in range(self.head_end, self.tail_start) if index != self.anchor]

    @property
    def front(self) -> list[int]:
        """Indexes of what stands before the summary."""
        return [*range(self.head_end), *([self.anchor] if self.anchor is not None and self.anchor_first else [])]

    @property
    def kept(self) -> list[int]:
        """Indexes of what stays: head, anchor, tail."""
        anchor = [] if self.anchor is None else [self.anchor]
        return [*range(self.head_end), *anchor, *range(self.tail_start, self.length)]


Weigh = Callable[[Message], int]


def plan_boundaries(messages: list[Message], settings: BoundarySettings, weigh: Weigh = weight) -> Plan:
    """Choose head, middle and tail of repaired `messages` (spec: P2.1-P2.7). `Plan.middle` may be empty (P2.6)."""
    head_end = _head_end(messages, settings, weigh)
    tail_start, cut = _tail(messages, head_end, settings, weigh)
    user = newest_user(messages)
    anchor = user if user is not None and head_end <= user < tail_start else None
    crowded = anchor is not None and _is_user(messages, tail_start) and not _is_user(messages, head_end - 1)
    return Plan(head_end, tail_start, len(messages), anchor, cut, crowded)


def _is_user(messages: list[Message], index: int) -> bool:
    return 0 <= index < len(messages) and messages[index].get("role") == "user"


def _head_end(messages: list[Message], settings: BoundarySettings, weigh: Weigh) -> int:
    """The head is kept the first time only, whole groups, and only while it opens with the user and is no monster."""
    system = leading_system(messages)
    if settings.settled is not None or system >= len(messages) or messages[system].get("role") != "user":
        return system
    end = max(system, min(settings.protect_first_n, len(messages)))
    while end < len(messages) and is_tool_result(messages[end]):
        end += 1  # spec: P2.3
    live = live_group(messages)
    if live is not None and end > live:
        end = live
    while end > system and sum(map(weigh, messages[system:end])) > settings.head_ceiling:
        end = _group_start(messages, end - 1)
    return end


def _tail(
    messages: list[Message], head_end: int, settings: BoundarySettings, weigh: Weigh
) -> tuple[int, frozenset[int]]:
    """Walk back group by group up to the ceiling (spec: P2.2). The newest group is kept, a running one untouched.

    Inside the last `protect_last_n` messages a group that does not fit is taken with its results cut, if that fits.
    """
    live = live_group(messages)
    cut: set[int] = set()
    start, accumulated = len(messages), 0
    floor = max(head_end, settings.settled or 0)
    while start > floor:
        group = _group_start(messages, start - 1)
        weights = [weigh(message) for message in messages[group:start]]
        newest = start == len(messages)
        if accumulated + sum(weights) > settings.tail_ceiling and group != live:
            protected = newest or len(messages) - start < settings.protect_last_n
            shorter = _cut_results(messages, group, start, weights, settings) if protected else frozenset[int]()
            if not newest and (not shorter or accumulated + sum(weights) > settings.tail_ceiling):
                break
            cut |= shorter
        accumulated += sum(weights)
        start = max(group, floor)
    return start, frozenset(cut)


def _cut_results(
    messages: list[Message], start: int, end: int, weights: list[int], settings: BoundarySettings
) -> frozenset[int]:
    """The results of a group that are longer than the cut; `weights` is lowered to what they weigh when cut."""
    found: set[int] = set()
    for index in range(start, end):
        chars = len(content_text(messages[index].get("content"))) if is_tool_result(messages[index]) else 0
        if chars > settings.cut_chars:
            found.add(index)
            weights[index - start] = max(0, weights[index - start] * settings.cut_chars // chars) + 40
    return frozenset(found)


def _group_start(messages: list[Message], index: int) -> int:
    """The first index of the group that `index` belongs to."""
    start = index
    while start > 0 and is_tool_result(messages[start]):
        start -= 1
    return start if start == index or tool_calls(messages[start]) else index


def cut_result(message: Message, chars: int) -> Message:
    """A result cut to head and tail, with a note of what is missing (spec: P2.5d)."""
    text = content_text(message.get("content"))
    front = chars * 2 // 3
    back = chars - front
    missing = len(text) - front - back
    note = (
        f"\n[… {missing:,} characters of this result were removed to save context; run the tool again to see them …]\n"
    )
    return {**message, "content": text[:front] + note + text[len(text) - back :]}
