"""What stays of a conversation, made to fit: long results first, then the oldest turns, then whatever is longest.

The newest request is touched last of all. What is made shorter stands for a place of the archive; the rest is passed
through as it is.
"""

from dataclasses import dataclass, field

from abridged.conversation.measure import TokenMemo
from abridged.conversation.roles import is_system, is_tool_result, newest_user
from abridged.conversation.text import Message
from abridged.engines.lcm.exploring import shrinkable, stand_in
from abridged.phases.boundaries import Plan
from abridged.summary.previous import Conversation

SIZES = (8_000, 2_000, 500, 120)
"""Characters of a stand-in: the first that is shorter than what stands there is taken."""
LONG = 400
"""Tokens from which on a message is made shorter before a turn leaves."""


@dataclass(slots=True)
class Kept:
    """Head and tail."""

    talk: Conversation
    front: list[Message]
    tail: list[Message]
    measure: TokenMemo
    place: dict[int, int]
    """Identity of an original -> its place."""
    newest: Message | None
    sizes: dict[int, int] = field(default_factory=dict[int, int])
    """Identity of what stands -> which of `SIZES` it has."""
    originals: dict[int, Message] = field(default_factory=dict[int, Message])
    """Identity of what stands -> what it stands for."""

    @classmethod
    def of(cls, talk: Conversation, plan: Plan, at: dict[int, int], measure: TokenMemo, chars: int) -> "Kept":
        """As planned; results that the plan wants cut are stand-ins of about so many characters."""
        place = {
            id(message): at[source]
            for message, source in zip(talk.messages, talk.sources, strict=True) if source in at
        }  # fmt: skip
        newest = newest_user(talk.messages)
        front = [talk.messages[n] for n in plan.front]
        tail = [talk.messages[n] for n in plan.kept[len(front) :]]
        kept = cls(talk, front, tail, measure, place, None if newest is None else talk.messages[newest])
        for n in plan.cut:
            kept.shrink(talk.messages[n], chars)
        return kept

    @property
    def tokens(self) -> int:
        return sum(map(self.measure, self.front)) + sum(map(self.measure, self.tail))

    @property
    def changed(self) -> list[Message]:
        """What no longer stands as it was."""
        return [one for one in (*self.front, *self.tail) if id(one) in self.originals]

    @property
    def places(self) -> list[int]:
        """Of all that stays, also of what was made shorter."""
        originals = (self.originals.get(id(one), one) for one in (*self.front, *self.tail))
        return [self.place[id(one)] for one in originals if id(one) in self.place]

    def fit(self, room: int) -> bool:
        """Make it at most so many tokens; whether that could be done."""
        while self.tokens > room:
            longest = self._longest(spare_newest=True, least=LONG)
            if longest is not None:
                self._one_size_less(longest)
            elif not self._drop_oldest():
                longest = self._longest(spare_newest=False, least=0)
                if longest is None:
                    return False
                self._one_size_less(longest)
        return True

    def _longest(self, *, spare_newest: bool, least: int) -> Message | None:
        """The longest message that may be made shorter."""
        able = [
            one for one in (*self.front, *self.tail)
            if not is_system(one) and self.sizes.get(id(one), -1) < len(SIZES) - 1 and shrinkable(one)
            and id(self.originals.get(id(one), one)) in self.place and self.measure(one) > least
            and not (spare_newest and self.originals.get(id(one), one) is self.newest)
        ]  # fmt: skip
        return max(able, key=self.measure, default=None)

    def _one_size_less(self, message: Message) -> None:
        size = self.sizes.get(id(message), -1) + 1
        self.shrink(message, SIZES[size], size)

    def shrink(self, message: Message, chars: int, size: int = 0) -> None:
        """Put a stand-in where the message stands; one that is no shorter only counts as tried."""
        original = self.originals.get(id(message), message)
        if id(original) not in self.place:
            return
        light = stand_in(original, self.place[id(original)], self.measure(original), chars)
        self.sizes[id(message)] = size
        if self.measure(light) >= self.measure(message):
            return
        self.sizes[id(light)], self.originals[id(light)] = size, original
        for messages in (self.front, self.tail):
            messages[:] = [light if one is message else one for one in messages]

    def _drop_oldest(self) -> bool:
        """Let the oldest group of the tail go, but for the newest one and the newest request; whether one could."""
        starts = [n for n, one in enumerate(self.tail) if not is_tool_result(one)]
        for start, end in zip(starts, [*starts[1:], len(self.tail)], strict=True):
            group = self.tail[start:end]
            if end == len(self.tail) or any(self.originals.get(id(one), one) is self.newest for one in group):
                continue
            del self.tail[start:end]
            return True
        return False
