"""`LosslessEngine`, the engine `lcm`: everything that was said stays in the archive, and summaries are nodes over it.

When a compression is due and how large everything is, is the built-in engine's business; what is made is a pass
(`compaction`). Nodes are facts about the archive, so one prepared ahead of time changes nothing until it is adopted.
"""

import contextlib
import logging
import time
from typing import Any, cast

from abridged.archive import Archive
from abridged.archive.nodes import Nodes
from abridged.conversation.measure import TokenMemo
from abridged.conversation.text import Message
from abridged.engines.compressor import ContextCompressor, Prepared, a_list
from abridged.engines.lcm.compaction import Pass
from abridged.engines.lcm.growth import Growth
from abridged.engines.lcm.places import Places
from abridged.engines.lcm.rendering import TOOLS_NOTE
from abridged.engines.lcm.tools import LcmTools
from abridged.engines.lcm.writing import BRIEFLY, Writer
from abridged.engines.recall import Answer
from abridged.errors import ArchiveError, SessionBusy, SummarizerError
from abridged.phases.summarize import Tools
from abridged.report import CompressionReport
from abridged.summarizers import CancelToken, SummaryRequest, SummaryResult
from abridged.summarizers.answer import without_reasoning

logger = logging.getLogger(__name__)

MOST_KEPT = 5
"""Words that a host wants to see in every summary: so many of the newest."""
_PASSING = ("locked", "busy")
"""What a fault of an archive says that is over soon."""


class LosslessEngine(ContextCompressor):
    """All keyword arguments as `ContextCompressor`. `recall`: whether its tools are offered.

    Without an archive of the host's it keeps one in memory, as long as it lives. (spec: E6, F3)
    """

    @property
    def name(self) -> str:
        return "lcm"

    # -- session -----------------------------------------------------------------------------------------------------

    def on_session_start(self, session_id: str, **kwargs: Any) -> None:
        """`archive`: where what is said is kept; without one the engine keeps it in memory."""
        self.on_session_reset()
        self._bind(kwargs.get("archive"), session_id)

    def on_session_reset(self) -> None:
        super().on_session_reset()
        own: Archive | None = getattr(self, "_own", None)
        if own is not None:
            with contextlib.suppress(ArchiveError):
                own.close()
        self._own: Archive | None = None
        self._nodes: Nodes | None = None
        self._session = ""
        self._keep: list[str] = []
        self._offered = False
        self._noop = ""

    def _bind(self, archive: Archive | None, session: str) -> None:
        if archive is None:
            archive = self._own = Archive()
        self._session = session or "own"
        self._nodes = Nodes(archive, self._session)
        self._places = Places(self._nodes)
        self._tools = LcmTools(self._nodes, self._status, self._counter)

    def _bound(self) -> Nodes:
        if self._nodes is None:
            self._bind(None, self._session)
        assert self._nodes is not None
        return self._nodes

    # -- compressing -------------------------------------------------------------------------------------------------

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
        """The system prompt, one summary of all that left, the newest turns; what was done stands in `report`.

        Arguments as `ContextCompressor.compress`; `memory_context` stands in later summaries, too. Where the archive
        fails the messages come back as they are. Raises `InvalidMessages` for what is no list.
        """
        given = a_list(messages)
        report = self.report = CompressionReport(forced=force, focus_topic=focus_topic, messages_before=len(given))
        if memory_context and memory_context.strip():
            kept = self._redactor(memory_context.strip())
            self._keep = [*(text for text in self._keep if text != kept), kept][-MOST_KEPT:]
        result = self._pass(given, report, self._tokens, cancel)
        self._account(report, current_tokens)
        self._noop = report.reason if not report.compressed else ""
        return result

    def prepare(self, messages: list[Message], *, cancel: CancelToken | None = None) -> Prepared:
        """A compression of `messages` that nothing in a context knows of yet; its nodes are made for good."""
        given = list(a_list(messages))
        report = CompressionReport(messages_before=len(given))
        return Prepared(given, self._pass(given, report, TokenMemo(self._counter), cancel), report)

    def _pass(
        self, messages: list[Message], report: CompressionReport, tokens: TokenMemo, cancel: CancelToken | None
    ) -> list[Message]:
        started = time.perf_counter()
        try:
            result = self._run(messages, report, tokens, cancel)
        except ArchiveError as error:
            logger.error("nothing was compressed: %s", error)
            if isinstance(error, SessionBusy) or any(word in str(error) for word in _PASSING) or self._own:
                report.reason = f"nothing was lost: the archive failed ({error})"
                report.tokens_before = report.tokens_after = tokens.total(messages)
                report.messages_after, result = len(messages), messages
            else:  # a broken file would never let anything be compressed again
                self._bind(None, self._session)
                result = self._run(messages, report, tokens, cancel)
        report.seconds = time.perf_counter() - started
        return result

    def _run(
        self, messages: list[Message], report: CompressionReport, tokens: TokenMemo, cancel: CancelToken | None
    ) -> list[Message]:
        nodes = self._bound()
        writer = Writer(
            Tools(self._counter, self.settings, self._redactor, self._digests), self._ladder,
            self.budget.context_length, cancel or CancelToken(), self._progress, report,
        )  # fmt: skip
        scale = max(1.0, self._meter.calibration.apply(100_000) / 100_000)
        growth = Growth(nodes, writer, self.settings, self.budget, tokens, scale)
        return Pass(
            self.settings, self.budget, tokens, self._redactor, nodes, self._places, growth, scale,
            TOOLS_NOTE if self._offered else "", list(self._keep),
        ).run(messages, report)  # fmt: skip

    def _checked_answer(self, answer: SummaryResult, request: SummaryRequest) -> str:
        """A detailed answer has the shape of a summary; a brief one is any text that is shorter."""
        if request.instructions != BRIEFLY:
            return super()._checked_answer(answer, request)
        if answer.finish_reason in ("length", "max_tokens"):
            raise SummarizerError("truncated", "the answer was cut off")
        text = without_reasoning(answer.text or "")
        if not text:
            raise SummarizerError("empty", "no text in the answer")
        if self._counter(text) >= request.source_tokens:
            raise SummarizerError("inflated", "longer than what it is of")
        return text

    # -- state -------------------------------------------------------------------------------------------------------

    def export_state(self) -> dict[str, Any]:
        return {**super().export_state(), "lcm": {"keep": list(self._keep)}}

    def import_state(self, state: dict[str, Any]) -> None:
        super().import_state(state)
        own: object = state.get("lcm")
        keep = cast("dict[str, object]", own).get("keep") if isinstance(own, dict) else None
        if isinstance(keep, list):
            self._keep = [text for text in cast("list[object]", keep) if isinstance(text, str)][-MOST_KEPT:]

    # -- tools -------------------------------------------------------------------------------------------------------

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """The tools, where they are wanted. From when on a host asks for them every summary names them."""
        if not self._recalls:
            return []
        self._bound()
        self._offered = True
        return self._tools.schemas()

    def handle_tool_call(self, name: str, args: dict[str, Any], **kwargs: Any) -> str:
        self._bound()
        answer = self._tools.handle(name, args)
        return super().handle_tool_call(name, args, **kwargs) if answer is None else answer

    def _status(self) -> Answer:
        failure = next((one for one in reversed(self.report.attempts) if one.outcome != "ok"), None)
        return {
            **self.get_status(),
            "session": self._session,
            "archive": "in memory" if self._own else self._bound().archive.path,
            "last_noop_reason": self._noop,
            "last_failure": f"{failure.who}: {failure.outcome} {failure.detail}".strip() if failure else "",
            "summariser": "none: by rule" if self._ladder.empty else "a model",
        }
