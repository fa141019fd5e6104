"""One compression, from messages to messages: the five phases in reading order.

Pairs are repaired on the way in as well, so that every phase sees whole tool groups. What comes out is smaller and
valid, or it is what came in and the report says why.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from abridged.budget import Budget, Settings
from abridged.conversation.measure import TokenMemo, text_chars, weight
from abridged.conversation.pairing import Pairing, pair
from abridged.conversation.roles import newest_user
from abridged.conversation.text import Message, content_text
from abridged.digests import DigestRegistry
from abridged.guard import PRESSURE
from abridged.phases.assemble import assemble
from abridged.phases.boundaries import BoundarySettings, Plan, cut_result, plan_boundaries
from abridged.phases.prune import PruneSettings, prune
from abridged.phases.repair import Repair, repair
from abridged.phases.summarize import Handover, SummaryInput, Tools, frame_tokens, prepare
from abridged.phases.write import PartByPart, Progress
from abridged.report import Attempt, CompressionReport, ReportedItem, SectionSize
from abridged.summarizers import KEEPS_ALL, CancelToken, Ladder
from abridged.summary.extract import Extract
from abridged.summary.previous import Conversation, without_summaries
from abridged.summary.prompt import PROMPT_VERSION
from abridged.summary.redact import Redactor
from abridged.summary.template import frame, static_marker

NoteMaker = Callable[[str, list[Message], int], str]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Compression:
    """Everything that a compression needs and that outlives it."""

    settings: Settings
    budget: Budget
    tokens: TokenMemo
    redactor: Redactor
    digests: DigestRegistry
    ladder: Ladder
    prompt_tokens: int = 0
    """What the conversation takes now, as far as known."""
    cancel: CancelToken = field(default_factory=CancelToken)
    progress: Progress | None = None
    keep: str | None = None
    """What a host wants to see in the summary, word for word."""
    note: NoteMaker | None = None
    """Writes what stands before the summary, and is no part of it: from the newest request and the messages that stay
    and the room in tokens."""

    def run(self, messages: list[Message], report: CompressionReport) -> list[Message]:
        """The new list; `messages` stays as it is. What was done is written into `report`."""
        sound = repair(messages)
        report.repaired = sound.kinds
        report.tokens_before = self.tokens.total(sound.messages)
        result = self._phases(sound, report)
        report.compressed = result is not None
        if result is None:
            result, report.tokens_after = (sound.messages if sound.changed else messages), report.tokens_before
        report.messages_after = len(result)
        return list(result)

    def _phases(self, sound: Repair, report: CompressionReport) -> list[Message] | None:
        """The new list, or `None` where nothing was gained; the reason is in the report."""
        conversation = without_summaries(sound.messages, sound.sources)
        whole = not sound.changed and len(conversation.messages) == len(sound.messages)
        pairing = sound.pairing if whole else pair(conversation.messages)
        light = self._prune(conversation, pairing, report)  # phase 1
        plan = self._plan(light, conversation, report)  # phase 2
        kept = {place: light[place] for place in plan.kept}
        kept |= {place: cut_result(light[place], self.budget.result_chars(self.settings)) for place in plan.cut}
        lightened = [place for place, message in kept.items() if message is not conversation.messages[place]]
        if plan.head_end == len(light) or not (plan.middle or len(conversation.previous) > 1 or lightened):
            report.reason = "nothing to compress: head and tail hold everything"
            return None
        if not plan.middle and not conversation.previous:
            return self._smaller(list(kept.values()), sound.messages, report)
        summary = self._summarize(
            SummaryInput(
                conversation.messages, conversation.sources, pairing, plan.middle, list(kept.values()), lightened,
                [place for place in plan.kept if place >= plan.tail_start], conversation.previous, report.focus_topic,
                self.keep,
            ),
            report,
        )  # fmt: skip  # phase 3
        if summary is None:
            return None
        head = [kept[place] for place in plan.front]
        tail = [kept[place] for place in plan.kept[len(head) :]]
        result = repair(assemble(head, summary, tail)).messages  # phases 4 and 5
        return self._smaller(result, sound.messages, report)

    def _prune(self, conversation: Conversation, pairing: Pairing, report: CompressionReport) -> list[Message]:
        settings = self.settings
        pruned = prune(
            conversation.messages,
            PruneSettings(
                self.budget.tail_tokens, settings.protect_last_n, settings.protect_first_n,
                settings.prune_min_chars, settings.prune_argument_chars,
            ),
            self.digests,
            pairing,
        )  # fmt: skip
        report.duplicates, report.digests = pruned.duplicates, pruned.digests
        report.arguments, report.pictures = pruned.arguments, pruned.pictures
        return pruned.messages

    def _plan(self, light: list[Message], conversation: Conversation, report: CompressionReport) -> Plan:
        settings, ceiling = self.settings, self.budget.tail_ceiling
        plan = plan_boundaries(
            light,
            BoundarySettings(
                settings.protect_first_n, settings.protect_last_n, ceiling, ceiling,
                self.budget.result_chars(settings), conversation.settled,
            ),
            # The specification's weight, and never less than the tokens: characters / 4 is far too low for some.
            lambda message: max(weight(message), self.tokens(message)),
        )  # fmt: skip
        report.head_messages, report.middle_messages = plan.head_end, len(plan.middle)
        report.tail_messages = len(light) - plan.tail_start
        report.anchored_user, report.cut_results = plan.anchor is not None, len(plan.cut)
        return plan

    def _summarize(self, given: SummaryInput, report: CompressionReport) -> str | None:
        """The framed summary; `None` where nothing should be lost for a failure that ends by itself (spec: P3.7, F1).

        By rule where no model writes; a bare marker where even that fails.
        """
        replaced = sum(self.tokens(given.conversation[place]) for place in given.middle)
        # An earlier summary stands for what it replaced: its tokens count as the share that the budget gave it.
        earlier = sum(map(self.tokens.counter, given.previous))
        ratio = self.settings.summary_ratio
        report.summary_budget = self.budget.summary_tokens(replaced + int(earlier / ratio), ratio)
        try:
            note = self._noted(given, report.summary_budget)
            framing = frame_tokens(self.tokens.counter) + self.tokens.counter(note)
            room = max(40, report.summary_budget - framing)
            tools = Tools(self.tokens.counter, self.settings, self.redactor, self.digests)
            handover = prepare(given, room, tools, for_a_model=not self.ladder.empty)
            text = self._written(handover, report)
            if text is None and self._keeps_all(report):
                return None
            extract, report.removed = (handover.by_rule(), []) if text is None else handover.by_model(text)
        except Exception as error:  # the last resort: a session must not die of a summary
            logger.exception("the summary could not be written by rule")
            report.attempts.append(Attempt("offline", "other", f"{type(error).__name__}: {error}"))
            report.summary_writer = "marker"
            return static_marker(len(given.middle))
        report.summary_writer = "offline" if text is None else "model"
        report.prompt_version = "" if text is None else PROMPT_VERSION
        self._describe(extract, report)
        report.summary_tokens = extract.tokens + framing
        return frame(extract.document.render(), note)

    def _noted(self, given: SummaryInput, room: int) -> str:
        if self.note is None:
            return ""
        newest = newest_user(given.conversation)
        request = content_text(given.conversation[newest].get("content")) if newest is not None else ""
        return self.note(request, given.kept, room)

    def _written(self, handover: Handover, report: CompressionReport) -> str | None:
        """A model's text that passed every check; `None` where there is no model or none could write."""
        if self.ladder.empty:
            return None

        task = PartByPart(handover, self.cancel, self.progress)
        return self.ladder.write(task, self.budget.context_length, report.attempts, self.cancel, force=report.forced)

    def _keeps_all(self, report: CompressionReport) -> bool:
        """Whether to wait for a summariser that failed rather than lose the turns' own words, and can."""
        failure = self.ladder.last_failure
        if failure is None or failure not in KEEPS_ALL:
            return False
        room = self.prompt_tokens < self.budget.usable_tokens * PRESSURE
        if failure != "cancelled" and (report.forced or not room):
            return False
        report.kept_all = True
        report.reason = f"nothing was lost: the summariser failed ({failure}); " + (
            f"{self.prompt_tokens:,} of {self.budget.usable_tokens:,} tokens are used" if room else "cancelled"
        )
        return True

    def _describe(self, extract: Extract, report: CompressionReport) -> None:
        report.facts_found, report.facts_kept = extract.facts_found, extract.facts_kept
        report.lines_left_out = extract.lines_left_out
        report.added = extract.added
        report.items = [
            ReportedItem(title, item.text, item.sources, item.origin)
            for title, items in extract.document.sections.items()
            for item in items
        ]
        document = extract.document
        report.sections = [
            SectionSize(title, len(items), self.tokens.counter(document.section_text(title)))
            for title, items in document.sections.items()
        ]

    def _smaller(self, result: list[Message], given: list[Message], report: CompressionReport) -> list[Message] | None:
        """The result where it is smaller than what was given (spec: P3.10)."""
        report.tokens_after = sum(map(self.tokens, result))
        saved = report.tokens_before - report.tokens_after
        if saved > report.tokens_before // 10 or (saved > 0 and text_chars(result) < text_chars(given)):
            return result
        report.reason = f"not smaller: {report.tokens_before:,} -> {report.tokens_after:,} tokens"
        report.summary_writer, report.sections, report.summary_tokens = "nobody", [], 0
        return None
