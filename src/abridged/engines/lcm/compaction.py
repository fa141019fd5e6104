"""One pass, from messages to messages: choose what stays, make nodes of what leaves, put the newest nodes before it.

Every node is committed before anything leaves the list, so that a pass that stops half-way has lost nothing and the
next one goes on. The result is valid, smaller and inside its room, or it is what came in and the report says why.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from abridged.archive.nodes import Node, Nodes
from abridged.budget import Budget, Settings
from abridged.conversation.measure import TokenMemo, weight
from abridged.conversation.roles import is_system, leading_system, newest_user
from abridged.conversation.text import Message, content_text
from abridged.engines.lcm.fitting import Kept
from abridged.engines.lcm.growth import NODES_SHARE, Growth
from abridged.engines.lcm.places import Placed, Places
from abridged.engines.lcm.rendering import body
from abridged.phases.assemble import assemble
from abridged.phases.boundaries import BoundarySettings, Plan, plan_boundaries
from abridged.phases.repair import Repair, repair
from abridged.report import CompressionReport
from abridged.summary.previous import Conversation, without_summaries
from abridged.summary.redact import Redactor
from abridged.summary.template import frame

TASK_CHARS = 1_000
MOST_SYSTEM = 16
"""Messages that a system prompt may be of."""
KEEP_SHARE = 0.25
"""Of the room, the most for what a host wants to see word for word."""
SAFE_SHARE = 0.95
"""Of the usable window, for a conversation that does not fit under the threshold."""


@dataclass(slots=True)
class Pass:
    """What a pass needs. `scale`: real tokens per estimated one, where a provider counted more."""

    settings: Settings
    budget: Budget
    tokens: TokenMemo
    redactor: Redactor
    nodes: Nodes
    places: Places
    growth: Growth
    scale: float = 1.0
    note: str = ""
    keep: list[str] = field(default_factory=list[str])

    def run(self, messages: list[Message], report: CompressionReport) -> list[Message]:
        """The new list; `messages` stays as it is. Raises `ArchiveError`: then the list is still the old one."""
        sound = repair(messages)
        report.repaired = sound.kinds
        report.tokens_before = self.tokens.total(sound.messages)
        result = self._made(messages, sound, report)
        report.compressed = result is not None
        if result is None:
            result, report.tokens_after = (sound.messages if sound.changed else messages), report.tokens_before
        report.messages_after = len(result)
        return list(result)

    def _made(self, messages: list[Message], sound: Repair, report: CompressionReport) -> list[Message] | None:
        placed = self.places.find(messages)
        talk = without_summaries(sound.messages, sound.sources)
        bound = int(self.budget.threshold_tokens / self.scale)
        plan = self._plan(talk, report)
        kept = Kept.of(talk, plan, placed.at, self.tokens, self.budget.result_chars(self.settings))
        least = self.tokens.counter(frame(body("x" * 200, (), (), (), {}), self.note)) + 120
        if not kept.fit(bound - least):
            bound = int(self.budget.usable_tokens * SAFE_SHARE / self.scale)
            kept.fit(bound - least)
        report.cut_results = len(kept.changed)
        leaving = self._leaving(placed, kept)
        report.head_messages, report.tail_messages = len(kept.front), len(kept.tail)
        report.middle_messages = len(talk.messages) - len(kept.front) - len(kept.tail)
        rewritten = self.growth.retry()
        self.growth.leaves(leaving)
        if self.growth.writer.cancel.cancelled:
            report.kept_all, report.reason = True, "nothing was lost: cancelled"
            return None
        taken_over = placed.summaries or placed.history or len(talk.previous) > 1
        if not (report.middle_messages or kept.changed or taken_over or rewritten):
            report.reason = "nothing to compress: the tail holds everything"
            return None
        summary = self._summary(talk, set(kept.places), bound - kept.tokens, report)
        result = kept.front + kept.tail
        if summary:
            result = repair(assemble(kept.front, summary, kept.tail)).messages
        return self._smaller(result, sound.messages, bound, report)

    # -- what stays --------------------------------------------------------------------------------------------------

    def _plan(self, talk: Conversation, report: CompressionReport) -> Plan:
        """The system prompt, and a tail that is bounded in tokens; no message is kept for standing in front."""
        ceiling = int(self.budget.tail_ceiling / self.scale)
        settings = BoundarySettings(
            0, self.settings.protect_last_n, ceiling, ceiling, self.budget.result_chars(self.settings), settled=0
        )
        plan = plan_boundaries(talk.messages, settings, lambda one: max(weight(one), self.tokens(one)))
        report.anchored_user = plan.anchor is not None
        return plan

    def _leaving(self, placed: Placed, kept: Kept) -> list[int]:
        """Places of what leaves and is in no node yet, in their order."""
        stay = set(kept.places)
        leaving = {*placed.at.values(), *placed.summaries}
        if placed.history and placed.at:
            system = leading_system(self.nodes.archive.transcript(self.nodes.session, 0, MOST_SYSTEM))
            leaving |= set(range(system, max(placed.at.values())))
        covered = self.nodes.covered()
        return sorted(place for place in leaving - stay if place not in covered)

    # -- the summary -------------------------------------------------------------------------------------------------

    def _summary(self, talk: Conversation, stay: set[int], room: int, report: CompressionReport) -> str:
        """The framed summary, inside the room; "" where there is nothing to say."""
        counter = self.tokens.counter
        report.summary_budget = max(0, min(room, int(self.budget.threshold_tokens * NODES_SHARE / self.scale)))
        shown = [node for node in self.nodes.roots() if self._stands_for_more(node, stay)]
        if not shown:
            return ""
        newest = newest_user(talk.messages)
        asked = content_text(talk.messages[newest].get("content")).strip() if newest is not None else ""
        task = self.redactor(asked[: 4 * TASK_CHARS])[: max(80, min(TASK_CHARS, report.summary_budget // 2))]
        keep = self._kept_words(int(report.summary_budget * KEEP_SHARE), counter)
        dropped: list[Node] = []
        while True:
            children = {node.number: [one.number for one in self.nodes.children(node.number)] for node in shown}
            text = frame(body(task, keep, shown, dropped, children), self.note)
            report.summary_tokens = counter(text)
            if report.summary_tokens + 8 <= report.summary_budget or not (shown or keep):
                break
            if shown and self.growth.condense(shown):
                continue
            if shown:
                dropped.append(shown.pop(0))
            else:
                keep.pop()
        self._describe(shown, report)
        return text

    def _stands_for_more(self, node: Node, stay: set[int]) -> bool:
        """Whether a node is of anything that does not stand in the list anyway."""
        ends_stay = node.first in stay and node.last in stay
        return not ends_stay or not stay.issuperset(self.nodes.places(node.number))

    def _kept_words(self, room: int, counter: Callable[[str], int]) -> list[str]:
        kept: list[str] = []
        for text in reversed(self.keep):
            room -= counter(text) + 3
            if room < 0:
                break
            kept.insert(0, text)
        return kept

    def _describe(self, shown: list[Node], report: CompressionReport) -> None:
        report.summary_writer = "model" if any(node.level < 3 for node in shown) else "offline"

    def _smaller(
        self, result: list[Message], given: list[Message], bound: int, report: CompressionReport
    ) -> list[Message] | None:
        report.tokens_after = sum(map(self.tokens, result))
        if report.tokens_after < report.tokens_before:
            if report.tokens_after > bound:
                system = sum(self.tokens(one) for one in result if is_system(one))
                report.reason = f"more than {bound:,} tokens: the system prompt alone takes {system:,}"
            return result
        report.reason = f"not smaller: {report.tokens_before:,} -> {report.tokens_after:,} tokens"
        report.summary_writer, report.summary_tokens = "nobody", 0
        return None
