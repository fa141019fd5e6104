"""`ContextCompressor`: the built-in engine. Five phases, in the order in which `compress` reads."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Unpack, cast

from abridged.budget import Budget, Settings, SettingsArguments
from abridged.conversation.measure import TokenLedger, message_tokens, text_chars, weight
from abridged.conversation.text import Message
from abridged.conversation.tokens import Counter, default_counter
from abridged.digests import DIGESTS, DigestRegistry
from abridged.engine import ContextEngine
from abridged.errors import InvalidMessages
from abridged.guard import Guard
from abridged.meter import Meter
from abridged.phases.assemble import assemble
from abridged.phases.boundaries import BoundarySettings, Plan, cut_result, plan_boundaries
from abridged.phases.prune import PruneSettings, prune
from abridged.phases.repair import repair
from abridged.phases.summarize import SummaryInput, frame_tokens, summarize_offline
from abridged.report import CompressionReport, SectionSize
from abridged.summary.redact import Redactor, redact
from abridged.summary.template import find_summary, frame


class ContextCompressor(ContextEngine):
    """Keeps head and tail, prunes old tool results, and replaces the middle by a structured summary.

    `context_length`: the model's window in tokens. `max_output_tokens`: what of it is reserved for the answer.
    `counter`: text -> tokens. `clock`: seconds of wall clock. `redactor`: text -> text without secrets. `digests`: one
    line per tool result. Every number of `Settings` is a keyword argument. Raises `ConfigError`.
    """

    def __init__(
        self,
        context_length: int = 128_000,
        *,
        max_output_tokens: int | None = None,
        counter: Counter | None = None,
        clock: Callable[[], float] | None = None,
        redactor: Redactor | None = None,
        digests: DigestRegistry | None = None,
        **settings: Unpack[SettingsArguments],
    ) -> None:
        self.settings = Settings(**settings)
        self._counter = counter or default_counter()
        self._redactor = redactor or redact
        self._digests = digests or DIGESTS
        self._clock = clock or time.time
        self._max_output_tokens = max_output_tokens
        self._guard = Guard(self.settings, self._clock)
        self._set_budget(Budget.derive(self.settings, context_length, max_output_tokens))
        self.on_session_reset()

    @property
    def name(self) -> str:
        return "compressor"

    # -- window and usage ------------------------------------------------------------------------------------------------

    def update_model(self, model: str, context_length: int, **kwargs: Any) -> None:
        """Another model: every budget is derived anew; what was learned about the old one's counting is forgotten.

        `max_output_tokens` may come along; one from before is lowered where the new window is too small for it.
        Raises `ConfigError` and changes nothing for sizes that cannot be.
        """
        asked = kwargs.get("max_output_tokens", self._max_output_tokens)
        lowered = asked if "max_output_tokens" in kwargs or not asked else min(asked, context_length // 2)
        self._set_budget(Budget.derive(self.settings, context_length, lowered))
        self._max_output_tokens = asked
        self._meter.calibration.reset()

    def _set_budget(self, budget: Budget) -> None:
        self.budget = budget
        self.context_length = budget.context_length
        self.threshold_tokens = budget.threshold_tokens

    def on_session_reset(self) -> None:
        super().on_session_reset()
        self.report = CompressionReport()
        self._guard.reset()
        self._meter = Meter()
        self._tokens = TokenLedger(self._counter)
        self._prompt_before = 0

    def update_from_response(self, usage: dict[str, Any]) -> None:
        """What the provider counted. It corrects the estimate, and it judges the last compression (spec: T4b, T5b)."""
        prompt = int(usage.get("prompt_tokens") or 0)
        if prompt <= 0:
            return
        self.last_prompt_tokens = prompt
        self.last_completion_tokens = int(usage.get("completion_tokens") or 0)
        self.last_total_tokens = int(usage.get("total_tokens") or prompt + self.last_completion_tokens)
        if self._meter.report(prompt):
            self._guard.correct(self._prompt_before, prompt)

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        tokens = prompt_tokens or self.last_prompt_tokens
        return tokens >= self.threshold_tokens and self._guard.judge(tokens, self.budget.usable_tokens).allowed

    def should_compress_preflight(self, messages: list[Message]) -> bool:
        """Reported tokens plus an estimate of what came after them (spec: T5, T5b)."""
        estimate = self._tokens.total(_checked(messages))
        tokens = self._meter.tokens(estimate)
        self._meter.expect(estimate)
        return tokens >= self._meter.due(self.threshold_tokens) and self.should_compress(tokens)

    def estimate(self, messages: list[Message]) -> int:
        """Tokens of `messages`, corrected by what the provider reported for this model. Raises `InvalidMessages`."""
        return self._meter.calibration.apply(self._tokens.total(_checked(messages)))

    # -- the five phases -------------------------------------------------------------------------------------------------

    def compress(
        self,
        messages: list[Message],
        current_tokens: int | None = None,
        *,
        focus_topic: str | None = None,
        force: bool = False,
        memory_context: str | None = None,
    ) -> list[Message]:
        """The compressed conversation; what was done stands in `report`. `messages` stays as it is.

        `current_tokens`: the provider's count of `messages`, where known. `focus_topic`: what to keep in most detail.
        `force`: a user asked for it; neither held back nor counted by the guard. Raises `InvalidMessages` for what is no list.
        """
        started = time.perf_counter()
        _checked(messages)
        report = self.report = CompressionReport(forced=force, focus_topic=focus_topic, messages_before=len(messages))
        sound = repair(messages)
        report.repaired = _repairs(sound)
        counts = TokenLedger(self._counter)
        report.tokens_before = counts.total(sound.messages)
        compressed = self._phases(sound.messages, sound.sources, counts, report)
        if compressed is None:
            result, report.tokens_after = sound.messages, report.tokens_before
        else:
            result, report.compressed = compressed, True
            self.compression_count += 1
        report.messages_after = len(result)
        self._after(report, current_tokens, force=force)
        report.seconds = time.perf_counter() - started
        return list(result) if compressed is not None or sound.changed else list(messages)

    def _phases(
        self, messages: list[Message], sources: list[int], counts: TokenLedger, report: CompressionReport
    ) -> list[Message] | None:
        """The new list, or `None` where nothing was gained; the reason is in the report."""
        conversation = _without_summaries(messages, sources)
        light = self._prune(conversation.messages, report)
        plan = self._plan(light, bool(conversation.previous), report)
        kept = {place: light[place] for place in plan.kept}
        kept |= {place: cut_result(light[place], self.settings.tail_result_chars) for place in plan.cut}
        lightened = [place for place, message in kept.items() if message is not conversation.messages[place]]
        if plan.head_end == len(light) or not (plan.middle or len(conversation.previous) > 1 or lightened):
            report.reason = "nothing to compress: head and tail hold everything"
            return None
        if not plan.middle and not conversation.previous:
            return self._smaller(list(kept.values()), messages, report)
        original = conversation.messages
        given = SummaryInput(
            original, conversation.sources, plan.middle,
            kept=list(kept.values()),
            lightened=lightened,
            previous=conversation.previous,
        )  # fmt: skip
        head = [kept[place] for place in range(plan.head_end)]
        tail = [kept[place] for place in plan.kept[plan.head_end :]]
        summary = self._summarize(given, report)
        return self._smaller(repair(assemble(head, summary, tail)).messages, messages, report)

    def _smaller(self, result: list[Message], given: list[Message], report: CompressionReport) -> list[Message] | None:
        """The result where it is smaller than what was given (spec: P3.10)."""
        report.tokens_after = sum(message_tokens(message, self._counter) for message in result)
        if report.tokens_after < report.tokens_before and text_chars(result) < text_chars(given):
            return result
        report.reason = f"not smaller: {report.tokens_before:,} -> {report.tokens_after:,} tokens"
        report.summary_writer, report.sections, report.summary_tokens = "nobody", [], 0
        return None

    def _prune(self, messages: list[Message], report: CompressionReport) -> list[Message]:
        settings = self.settings
        pruned = prune(
            messages,
            PruneSettings(
                self.budget.tail_tokens, settings.protect_last_n, settings.protect_first_n,
                settings.prune_min_chars, settings.prune_argument_chars,
            ),
            self._digests,
        )  # fmt: skip
        report.duplicates, report.digests = pruned.duplicates, pruned.digests
        report.arguments, report.pictures = pruned.arguments, pruned.pictures
        return pruned.messages

    def _plan(self, light: list[Message], compacted_before: bool, report: CompressionReport) -> Plan:
        settings, ceiling = self.settings, self.budget.tail_ceiling
        plan = plan_boundaries(
            light,
            BoundarySettings(
                settings.protect_first_n, settings.protect_last_n, ceiling, ceiling, settings.tail_result_chars,
                compacted_before,
            ),
            lambda message: max(weight(message), message_tokens(message, self._counter)),
        )  # fmt: skip
        report.head_messages, report.middle_messages = plan.head_end, len(plan.middle)
        report.tail_messages = len(light) - plan.tail_start
        report.anchored_user, report.cut_results = plan.anchor is not None, len(plan.cut)
        return plan

    def _summarize(self, given: SummaryInput, report: CompressionReport) -> str:
        counter = self._counter
        replaced = sum(message_tokens(given.conversation[place], counter) for place in given.middle)
        # An earlier summary stands for what it replaced: its tokens count as the share that the budget gave it.
        stood_for = int(sum(map(counter, given.previous)) / self.settings.summary_ratio)
        report.summary_budget = self.budget.summary_tokens(replaced + stood_for, self.settings.summary_ratio)
        extract = summarize_offline(
            given, max(40, report.summary_budget - frame_tokens(counter)), counter, self._redactor, report.focus_topic
        )
        summary = frame(extract.document.render())
        report.summary_writer, report.summary_tokens = "offline", counter(summary)
        report.facts_found, report.facts_kept = extract.facts_found, extract.facts_kept
        report.lines_left_out = extract.lines_left_out
        report.sections = [
            SectionSize(title, len(items), counter(extract.document.section_text(title)))
            for title, items in extract.document.sections.items()
        ]
        return summary

    def _after(self, report: CompressionReport, current_tokens: int | None, *, force: bool) -> None:
        prompt = current_tokens or (0 if self._meter.compressed else self.last_prompt_tokens)
        self._guard.record(report.tokens_before, report.tokens_after, forced=force, prompt_tokens=prompt)
        if report.compressed:
            self._prompt_before = prompt
            self._meter.expect(report.tokens_after, compressed=True)


def _checked(messages: Any) -> list[Message]:
    """The messages that are some; odd content is fine, anything but a list is not."""
    if not isinstance(messages, list):
        raise InvalidMessages(f"expected a list of messages, got {type(messages).__name__}")
    entries = cast("list[Any]", messages)
    return [message for message in entries if isinstance(message, dict)]


@dataclass(slots=True)
class _Conversation:
    """The messages without the summaries in them."""

    messages: list[Message]
    sources: list[int]
    previous: list[str]


def _without_summaries(messages: list[Message], sources: list[int]) -> _Conversation:
    found = _Conversation([], [], [])
    for message, source in zip(messages, sources, strict=True):
        summary = find_summary(message)
        if summary:
            found.previous.append(summary.body)
            if summary.rest is None:
                continue
            message = summary.rest
        found.messages.append(message)
        found.sources.append(source)
    return found


def _repairs(fixed: Any) -> dict[str, int]:
    kinds = ("dropped", "stubbed", "moved", "relabelled", "discarded")
    return {kind: count for kind in kinds if (count := getattr(fixed, kind))}


def compress(
    messages: list[Message],
    context_length: int = 128_000,
    *,
    focus_topic: str | None = None,
    force: bool = False,
    max_output_tokens: int | None = None,
    counter: Counter | None = None,
    **settings: Unpack[SettingsArguments],
) -> tuple[list[Message], CompressionReport]:
    """One compression in one call: the messages, and what was done to them.

    Messages that fit (their estimate is below the threshold of the window) come back as they are, unless `force`.
    Raises `ConfigError` for a setting out of range, `InvalidMessages` for what is no list of messages.
    """
    engine = ContextCompressor(context_length, max_output_tokens=max_output_tokens, counter=counter, **settings)
    tokens = engine.estimate(messages)
    if tokens < engine.threshold_tokens and not force:
        return list(messages), CompressionReport(
            reason=f"fits: {tokens:,} tokens, below the threshold of {engine.threshold_tokens:,}",
            tokens_before=tokens, tokens_after=tokens, messages_before=len(messages), messages_after=len(messages),
        )  # fmt: skip
    return engine.compress(messages, focus_topic=focus_topic, force=force), engine.report
