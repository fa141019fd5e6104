"""`ContextCompressor`, the built-in engine: what a host sees of a compression. The phases are in `compression`."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack, cast

from abridged.budget import Budget, Settings, SettingsArguments
from abridged.conversation.measure import TokenMemo
from abridged.conversation.text import Message
from abridged.conversation.tokens import Counter, default_counter
from abridged.digests import DIGESTS, DigestRegistry
from abridged.engine import ContextEngine
from abridged.engines.compression import Compression, NoteMaker
from abridged.errors import InvalidMessages
from abridged.guard import Guard
from abridged.meter import Meter
from abridged.phases.write import Progress
from abridged.report import CompressionReport
from abridged.summarizers import AnySummarizer, CancelToken, Ladder, SummaryRequest, SummaryResult, as_summarizer
from abridged.summarizers.answer import usable
from abridged.summary.redact import Redactor, redact

if TYPE_CHECKING:
    from abridged.engines.recall import RecallTools


class ContextCompressor(ContextEngine):
    """Keeps head and tail, prunes old tool results, and replaces the middle by a structured summary.

    `context_length`: the model's window in tokens. `max_output_tokens`: what of it is reserved for the answer.
    `summarizer`: who writes summaries, `None` = by rule, offline; `fallback_summarizer`: who is asked when it cannot.
    `counter`: text -> tokens. `clock`: seconds of wall clock. `redactor`: text -> text without secrets. `digests`: one
    line per tool result. `progress`: told, before each request to a summariser, which part of how many it is. Every
    number of `Settings` is a keyword argument. `recall`: whether a host with an archive is offered tools to read back
    what was replaced. Raises `ConfigError`.
    """

    def __init__(
        self,
        context_length: int = 128_000,
        *,
        max_output_tokens: int | None = None,
        summarizer: AnySummarizer | None = None,
        fallback_summarizer: AnySummarizer | None = None,
        counter: Counter | None = None,
        clock: Callable[[], float] | None = None,
        redactor: Redactor | None = None,
        digests: DigestRegistry | None = None,
        progress: Progress | None = None,
        recall: bool = True,
        **settings: Unpack[SettingsArguments],
    ) -> None:
        self.settings = Settings(**settings)
        self._recalls = recall
        self._counter = counter or default_counter()
        self._redactor = redactor or redact
        self._digests = digests or DIGESTS
        self._progress = progress
        self._max_output_tokens = max_output_tokens
        seconds = clock or time.time
        self._guard = Guard(self.settings, seconds)
        rungs = [as_summarizer(given) for given in (summarizer, fallback_summarizer) if given is not None]
        self._ladder = Ladder(rungs, self._checked_answer, self.settings, seconds)
        self._set_budget(Budget.derive(self.settings, context_length, max_output_tokens))
        self.on_session_reset()

    @property
    def name(self) -> str:
        return "compressor"

    # -- window and session ------------------------------------------------------------------------

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

    def on_session_start(self, session_id: str, **kwargs: Any) -> None:
        """`archive`: where what is said is kept, where it is."""
        self.on_session_reset()
        archive = kwargs.get("archive")
        if archive is not None and self._recalls:
            from abridged.engines.recall import RecallTools  # it needs SQLite, and who has no archive does not

            self._recall = RecallTools(archive, session_id)

    def on_session_reset(self) -> None:
        super().on_session_reset()
        self.report = CompressionReport()
        self._guard.reset()
        self._ladder.reset()
        self._meter = Meter()
        self._recall: RecallTools | None = None
        self._note: NoteMaker | None = None
        self._tokens = TokenMemo(self._counter)
        self._prompt_before = 0

    # -- when --------------------------------------------------------------------------------------

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
        estimate = self._tokens.total(a_list(messages))
        tokens = self._meter.tokens(estimate)
        self._meter.expect(estimate)
        return tokens >= self._meter.due(self.threshold_tokens) and self.should_compress(tokens)

    def estimate(self, messages: list[Message]) -> int:
        """Tokens of `messages`, corrected by what the provider reported for this model. Raises `InvalidMessages`."""
        return self._meter.calibration.apply(self._tokens.total(a_list(messages)))

    # -- what --------------------------------------------------------------------------------------

    def compress(
        self,
        messages: list[Message],
        current_tokens: int | None = None,
        *,
        focus_topic: str | None = None,
        force: bool = False,
        memory_context: str | None = None,
        cancel: CancelToken | None = None,
    ) -> list[Message]:
        """The compressed conversation; what was done stands in `report`. `messages` stays as it is.

        `current_tokens`: the provider's count of `messages`, where known. `focus_topic`: what to keep in most detail.
        `force`: a user asked for it: nothing holds it back, and the guard does not count it. `memory_context`: what a
        host wants to see in the summary, word for word. `cancel`: once cancelled, the messages come back as they are.
        Raises `InvalidMessages` for what is no list; odd content never raises.
        """
        started = time.perf_counter()
        a_list(messages)
        report = self.report = CompressionReport(forced=force, focus_topic=focus_topic, messages_before=len(messages))
        tokens = current_tokens or (0 if self._ladder.empty else self.estimate(messages))
        compression = self._compression(self._tokens, tokens, cancel, memory_context)
        result = compression.run(messages, report)
        self._account(report, current_tokens)
        report.seconds = time.perf_counter() - started
        return result

    # -- reading back --------------------------------------------------------------------------------

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """Tools that read back what was replaced. From when on a host asks for them every summary names them."""
        if self._recall is None:
            return []
        from abridged.engines.recall import NOTE

        self._note = lambda request, kept, room: NOTE
        return self._recall.schemas()

    def handle_tool_call(self, name: str, args: dict[str, Any], **kwargs: Any) -> str:
        answer = self._recall.handle(name, args) if self._recall else None
        return super().handle_tool_call(name, args, **kwargs) if answer is None else answer

    # -- ahead of time -------------------------------------------------------------------------------

    def prepare(self, messages: list[Message], *, cancel: CancelToken | None = None) -> "Prepared":
        """A compression of `messages` that nothing knows of yet; may run in another thread, beside all else."""
        given = list(messages)
        report = CompressionReport(messages_before=len(given))
        tokens = TokenMemo(self._counter)
        started = time.perf_counter()
        result = self._compression(tokens, tokens.total(a_list(given)), cancel).run(given, report)
        report.seconds = time.perf_counter() - started
        return Prepared(given, result, report)

    def adopt(self, prepared: "Prepared", messages: list[Message]) -> list[Message] | None:
        """What was prepared, and all that came after it; `None` where it is of another conversation, or saves nothing.

        Counts as a compression at this moment.
        """
        known = len(prepared.messages)
        if not prepared.report.compressed or messages[:known] != prepared.messages:
            return None
        new = messages[known:]
        report = self.report = prepared.report
        more = sum(map(self._tokens, new))
        report.tokens_before, report.tokens_after = report.tokens_before + more, report.tokens_after + more
        report.messages_before, report.messages_after = len(messages), report.messages_after + len(new)
        self._account(report, None)
        return [*prepared.result, *new]

    def export_state(self) -> dict[str, Any]:
        return {
            "guard": self._guard.export_state(),
            "ladder": self._ladder.export_state(),
            "compression_count": self.compression_count,
        }

    def import_state(self, state: dict[str, Any]) -> None:
        self._guard.import_state(state.get("guard") or {})
        self._ladder.import_state(state.get("ladder") or {})
        self.compression_count = int(state.get("compression_count") or 0)

    def _compression(
        self, memo: TokenMemo, tokens: int, cancel: CancelToken | None, keep: str | None = None
    ) -> Compression:
        return Compression(
            self.settings, self.budget, memo, self._redactor, self._digests, self._ladder, tokens,
            cancel or CancelToken(), self._progress, keep, self._note,
        )  # fmt: skip

    async def acompress(
        self,
        messages: list[Message],
        current_tokens: int | None = None,
        *,
        focus_topic: str | None = None,
        force: bool = False,
        memory_context: str | None = None,
    ) -> list[Message]:
        """`compress` for an async caller: the loop goes on meanwhile, and a cancelled task leaves all as it was."""
        import asyncio  # 30 ms that whoever calls this has spent, and nobody else need spend

        cancel = CancelToken()
        work = partial(
            self.compress, messages, current_tokens, focus_topic=focus_topic, force=force,
            memory_context=memory_context, cancel=cancel,
        )  # fmt: skip
        try:
            return await asyncio.to_thread(work)
        finally:
            cancel.cancel()

    def _account(self, report: CompressionReport, current_tokens: int | None) -> None:
        """What the guard and the meter have to know of it; one that waits for its summariser is no try."""
        if report.kept_all:
            return
        prompt = current_tokens or (0 if self._meter.compressed else self.last_prompt_tokens)
        self._guard.record(report.tokens_before, report.tokens_after, forced=report.forced, prompt_tokens=prompt)
        if report.compressed:
            self.compression_count += 1
            self._prompt_before = prompt
            self._meter.expect(report.tokens_after, compressed=True)

    def _checked_answer(self, answer: SummaryResult, request: SummaryRequest) -> str:
        return usable(answer, request.source_tokens, self._counter)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A compression made ahead of time."""

    messages: list[Message]
    """Of what; the same objects."""
    result: list[Message]
    report: CompressionReport


def compress(
    messages: list[Message],
    context_length: int = 128_000,
    *,
    focus_topic: str | None = None,
    force: bool = False,
    max_output_tokens: int | None = None,
    summarizer: AnySummarizer | None = None,
    fallback_summarizer: AnySummarizer | None = None,
    counter: Counter | None = None,
    progress: Progress | None = None,
    **settings: Unpack[SettingsArguments],
) -> tuple[list[Message], CompressionReport]:
    """One compression in one call: the messages, and what was done to them.

    Messages that fit (their estimate is below the threshold of the window) come back as they are, unless `force`.
    There is no second call that a failed summariser could be waited for: then the summary is written by rule.
    Raises `ConfigError` for a setting out of range, `InvalidMessages` for what is no list of messages.
    """
    engine = ContextCompressor(
        context_length, max_output_tokens=max_output_tokens, summarizer=summarizer,
        fallback_summarizer=fallback_summarizer, counter=counter, progress=progress, **settings,
    )  # fmt: skip
    tokens = engine.estimate(messages)
    if tokens < engine.threshold_tokens and not force:
        return list(messages), CompressionReport.fits(tokens, engine.threshold_tokens, len(messages))
    result = engine.compress(messages, focus_topic=focus_topic, force=True)
    engine.report.forced = force
    return result, engine.report


def a_list(messages: Any) -> list[Message]:
    """The messages, where they are a list; odd entries are fine."""
    if not isinstance(messages, list):
        raise InvalidMessages(f"expected a list of messages, got {type(messages).__name__}")
    return cast("list[Message]", messages)
