"""One of our engines as a context engine of the host.

The engine itself is made when the host first tells the model, the archive opened when a session first needs it; until
then nothing is opened and nothing can fail, so that a host may make, copy and throw away as many as it likes. Nothing
that it calls raises: a fault is logged, shown in the status, and the conversation goes on.
"""

import importlib
import json
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from abridged.conversation.text import Message
from abridged.engine import ContextEngine
from abridged.engines.compressor import ContextCompressor
from abridged.errors import AbridgedError
from abridged.hermes.exchange import Exchange
from abridged.hermes.home import named_in_host, our_config
from abridged.hermes.record import Record
from abridged.plugins import DEFAULT_ENGINE
from abridged.report import CompressionReport
from abridged.setup import archive_from, engine_from

logger = logging.getLogger(__name__)

WAITING_SECONDS = 60.0
"""How long no compression is tried after one that waits for its summariser, while there is room."""
PRESSURE = 0.85
"""From this share of the window on none is put off."""
SLACK_TOKENS = 4_096
"""By so much may the host's rough count grow after a compression before it is believed again."""


def _host_class() -> type[ContextEngine]:
    """The host's base class: it asks for it. Our own where there is no host."""
    try:
        return importlib.import_module("agent.context_engine").ContextEngine
    except Exception:
        return ContextEngine


if TYPE_CHECKING:
    _Base = ContextEngine
else:
    _Base = _host_class()


class HermesEngine(_Base):
    """Wraps the engine of that name. `home`: the host's folder; `config`: a configuration file of ours to read.

    The host reads and writes its numbers directly, so they are plain attributes, brought up to date after every call.
    """

    threshold_percent: float = 0.5
    """Share of the window at which a compression is really due."""
    protect_first_n: int = 3
    protect_last_n: int = 20
    emit_automatic_compaction_status: bool = True
    awaiting_real_usage_after_compression: bool = False
    """Written by the host after a compression, until a provider has counted."""
    last_compression_rough_tokens: int = 0
    """Written by the host: its estimate of what a compression left."""
    last_real_prompt_tokens: int = 0
    """What a provider counted last."""
    _last_compression_made_progress: bool = False
    _last_compress_aborted: bool = False
    _last_summary_fallback_used: bool = False
    _last_summary_error: str | None = None
    _last_summary_dropped_count: int = 0

    def __init__(
        self, engine: str = DEFAULT_ENGINE, *, home: str | Path | None = None, config: str | Path | None = None
    ) -> None:
        self.engine_name = engine
        self.model_thresholds: dict[str, Any] = {}
        """Assigned by newer hosts; our thresholds are in our own configuration."""
        self.fault = ""
        """What is wrong with the configuration or the engine; "" = nothing."""
        self.last_noop_reason = ""
        """Why the last compression changed nothing."""
        self._home, self._config_file = home, config
        self._lock = threading.RLock()
        self._inner: ContextEngine | None = None
        self._model = ""
        self._session = ""
        self._begun = ""
        self._tools_asked = False
        self._waits_until = 0.0
        self._rough = self._rough_when_real = 0
        self._record = Record(self._open_archive)

    @property
    def name(self) -> str:
        return named_in_host(self.engine_name)

    def __deepcopy__(self, memo: dict[int, Any]) -> "HermesEngine":
        """A new one, nothing opened: every agent has its own."""
        return self.clone_for_agent()

    def clone_for_agent(self) -> "HermesEngine":
        return type(self)(self.engine_name, home=self._home, config=self._config_file)

    def is_available(self) -> bool:
        return True

    # -- model and configuration ---------------------------------------------------------------------

    def update_model(self, model: str = "", context_length: int = 0, **kwargs: Any) -> None:
        """The window in tokens; what else a host tells is of no use here. Never raises."""
        with self._lock:
            self._model = model or self._model
            try:
                if self._inner is None:
                    self.context_length = context_length
                    self._made()
                else:
                    self._inner.update_model(self._model, context_length)
            except Exception as error:
                self._faulty(f"a window of {context_length:,} tokens is not possible: {error}")
                self.context_length = context_length
                self.threshold_tokens = context_length // 2
                return
            self._show()

    def _made(self) -> ContextEngine:
        """Our engine, made now where it was not."""
        if self._inner is None:
            window = self.context_length or 128_000
            try:
                options = {"context.engine": self.engine_name, "model.context_length": window}
                config = our_config(self._home, self._config_file, options)
                self._inner = engine_from(config, self._model or None)
                settings = config.settings(self._model or None)
                self.protect_first_n, self.protect_last_n = settings.protect_first_n, settings.protect_last_n
            except Exception as error:
                self._faulty(f"{error}; the built-in engine with its own settings takes its place")
                self._inner = ContextCompressor(window)
            self._show()
        return self._inner

    def _open_archive(self) -> Any:
        return archive_from(our_config(self._home, self._config_file))

    def _faulty(self, text: str) -> None:
        self.fault = text
        logger.error("abridged: %s", text)

    def _show(self) -> None:
        """What the host reads."""
        inner = self._made()
        self.context_length, self.threshold_tokens = inner.context_length, inner.threshold_tokens
        self.compression_count = inner.compression_count
        if self.context_length > 0:
            self.threshold_percent = self.threshold_tokens / self.context_length

    # -- sessions ------------------------------------------------------------------------------------

    def bind_session_state(self, session_db: Any = None, session_id: str = "") -> None:
        """The host's own store is no concern of ours; its session is."""
        with self._lock:
            self._session = session_id or self._session

    def on_session_start(self, session_id: str, **kwargs: Any) -> None:
        """A new session, one that goes on, or one that a compression has just gone through: the id tells."""
        with self._lock:
            old = str(kwargs.get("old_session_id") or self._session)
            self._session = session_id or self._session
            if kwargs.get("boundary_reason") == "compression":
                self._record.begin(self._session, self.engine_name, continues=old)
                self._begun = self._session
                return
            if self._begun and self._begun != self._session:
                self._leave()
            self._begun = ""
            self._ready()

    def _ready(self) -> ContextEngine:
        """The engine, in the session that the host is in."""
        inner = self._made()
        if self._session and self._begun != self._session:
            self._begun = self._session
            state = self._record.begin(self._session, self.engine_name)
            inner.on_session_start(self._record.session or self._session, archive=self._record.archive)
            if state:
                inner.import_state(state)
            if self._tools_asked:
                inner.get_tool_schemas()
            self._show()
        return inner

    def on_session_end(self, session_id: str, messages: list[Message] | None = None) -> None:
        """Said at every compression too, and by agents that only looked on: what is new is archived, and no more.

        The session counts as ended until something is said in it again.
        """
        if not messages:
            return
        with self._lock, suppress(AbridgedError):
            self._session = self._session or session_id
            self._ready()
            self._record.take(messages, session_id)
            self._record.end(session_id)

    def on_session_reset(self) -> None:
        with self._lock:
            self._leave()
            self.last_prompt_tokens = self.last_completion_tokens = self.last_total_tokens = 0
            self.last_real_prompt_tokens = self._rough = self._rough_when_real = 0
            self.last_compression_rough_tokens, self.awaiting_real_usage_after_compression = 0, False
            self._waits_until, self._begun = 0.0, ""
            self._forget_last()
            self._made().on_session_reset()
            self._show()

    def _leave(self) -> None:
        """The session is over for the engine."""
        if self._begun:
            self._made().on_session_end(self._record.session or self._begun, [])

    def carry_over_new_session_context(self, old_session_id: str, new_session_id: str) -> None:
        """What an engine takes along into a new conversation is its own affair."""
        self._asked_of_engine("carry_over_new_session_context", old_session_id, new_session_id)

    def on_turn_complete(self, messages: list[Message], usage: dict[str, Any] | None = None, **kwargs: Any) -> None:
        """A turn ended: what is new in it is archived."""
        with self._lock:
            self._ready()
            self._record.take(messages)
            self._asked_of_engine("on_turn_complete", messages, usage=usage, **kwargs)

    # -- when ----------------------------------------------------------------------------------------

    def update_from_response(self, usage: dict[str, Any]) -> None:
        """What the provider counted; {} where it did not."""
        prompt = int(usage.get("prompt_tokens") or 0)
        if prompt <= 0:
            return
        with self._lock:
            self._made().update_from_response(usage)
            self.last_prompt_tokens = self.last_real_prompt_tokens = prompt
            self.last_completion_tokens = int(usage.get("completion_tokens") or 0)
            self.last_total_tokens = int(usage.get("total_tokens") or prompt + self.last_completion_tokens)
            self.awaiting_real_usage_after_compression = False
            self._rough_when_real = self._rough

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        """`prompt_tokens`: counted by a provider or a host's rough estimate; defaults to the last count."""
        tokens = prompt_tokens or self.last_prompt_tokens
        if tokens <= 0:
            return False
        with self._lock:
            inner = self._made()
            if self.threshold_tokens > 0:
                inner.threshold_tokens = self.threshold_tokens  # a host may have lowered it
            return inner.should_compress(tokens)

    def should_compress_info(self, prompt_tokens: int | None = None) -> tuple[bool, str]:
        """The same with the reason."""
        due = self.should_compress(prompt_tokens)
        tokens = prompt_tokens or max(0, self.last_prompt_tokens)
        if due:
            return True, f"{tokens:,} tokens, threshold {self.threshold_tokens:,}"
        if tokens < self.threshold_tokens:
            return False, f"{tokens:,} tokens, below the threshold of {self.threshold_tokens:,}"
        return False, "held back: the last compressions saved little or came too often"

    def should_compress_preflight(self, messages: list[Message]) -> bool:
        with self._lock:
            return self._made().should_compress_preflight(Exchange(messages).messages)

    def should_defer_preflight_to_real_usage(self, rough_tokens: int) -> bool:
        """Whether the host's rough count says too much: a provider has counted, or will, and it grew little since."""
        self._rough = rough_tokens
        if rough_tokens < self.threshold_tokens:
            return False
        if self.awaiting_real_usage_after_compression:
            left = self.last_compression_rough_tokens
            return self._last_compression_made_progress and left > 0 and rough_tokens - left <= SLACK_TOKENS
        if not 0 < self.last_real_prompt_tokens < self.threshold_tokens or self._rough_when_real <= 0:
            return False
        return self.last_real_prompt_tokens + max(0, rough_tokens - self._rough_when_real) < self.threshold_tokens

    def get_active_compression_failure_cooldown(self, refresh: bool = False) -> dict[str, Any] | None:
        """While a compression waits for its summariser, and there is room to wait."""
        remaining = self._waits_until - time.monotonic()
        if remaining <= 0 or self.last_prompt_tokens >= PRESSURE * self.context_length:
            return None
        return {"remaining_seconds": remaining, "error": self._last_summary_error}

    def has_content_to_compress(self, messages: list[Message]) -> bool:
        """Whether anything stands between the head and the newest message."""
        return len(messages) > self.protect_first_n + 1

    # -- what ----------------------------------------------------------------------------------------

    def compress(
        self,
        messages: list[Message],
        current_tokens: int | None = None,
        *,
        focus_topic: str | None = None,
        force: bool = False,
        memory_context: str | None = None,
    ) -> list[Message]:
        """The compressed conversation, in copies; equal to what was given where nothing was gained. Never raises."""
        with self._lock:
            self._forget_last()
            exchange = Exchange(messages)
            try:
                inner = self._ready()
                self._record.take(messages)
                result = inner.compress(
                    exchange.messages, current_tokens, focus_topic=focus_topic, force=force,
                    memory_context=memory_context or None,
                )  # fmt: skip
                out = exchange.back(result)
            except Exception as error:  # a conversation must not die of its engine
                logger.exception("abridged: %s could not compress", self.engine_name)
                self._last_summary_error = f"{type(error).__name__}: {error}"
                self._last_compress_aborted = True
                return [dict(message) for message in messages]
            report = getattr(inner, "report", None)
            if not self._judge(report if isinstance(report, CompressionReport) else None, result, exchange.messages):
                return [dict(message) for message in messages]
            self._record.compacted(messages, out, _facts(report), inner.export_state())
            self._last_summary_error = self._last_summary_error or self.fault or None  # which the host shows
            self._show()
            return out

    def _forget_last(self) -> None:
        self._last_compression_made_progress = self._last_compress_aborted = self._last_summary_fallback_used = False
        self._last_summary_error, self._last_summary_dropped_count, self.last_noop_reason = None, 0, ""

    def _judge(self, report: CompressionReport | None, result: list[Message], given: list[Message]) -> bool:
        """Whether anything was gained; what the host shows of it."""
        if report is None:
            self._last_compression_made_progress = result != given
            self.last_noop_reason = "" if result != given else "the engine changed nothing"
            return result != given
        failed = next((one for one in reversed(report.attempts) if one.outcome != "ok"), None)
        if not report.compressed:
            self.last_noop_reason = report.reason
            self._last_compress_aborted = report.kept_all
            if report.kept_all:
                self._last_summary_error = report.reason
                self._waits_until = time.monotonic() + WAITING_SECONDS
            logger.info("abridged: nothing was compressed: %s", report.reason)
            return False
        self._waits_until = 0.0
        self._last_compression_made_progress = True
        written = report.summary_writer
        if failed is not None and written != "model":
            self._last_summary_fallback_used = True
            self._last_summary_error = f"{failed.who}: {failed.outcome} {failed.detail}".strip()
        if written == "marker":
            self._last_summary_fallback_used, self._last_summary_dropped_count = True, report.middle_messages
        return True

    def prune_tool_results_only(
        self, messages: list[Message], current_tokens: int | None = None
    ) -> tuple[list[Message], int]:
        """Pruning is a part of a compression here."""
        return messages, 0

    def pending_compression_operation(self, messages: list[Message]) -> str | None:
        return None

    def select_context(self, request_messages: list[Message], **kwargs: Any) -> list[Message] | None:
        """What an engine would send instead; `None` = what there is."""
        return self._asked_of_engine("select_context", request_messages, **kwargs)

    def get_automatic_compaction_status_message(self, phase: str, default_message: str, **kwargs: Any) -> str:
        return default_message

    def _asked_of_engine(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """What only some of our engines can do."""
        method = cast("Callable[..., Any] | None", getattr(self._made(), name, None))
        if method is None:
            return None
        try:
            return method(*args, **kwargs)
        except Exception:
            logger.exception("abridged: %s of %s failed", name, self.engine_name)
            return None

    # -- tools and status ----------------------------------------------------------------------------

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        with self._lock:
            self._tools_asked = True
            return self._ready().get_tool_schemas()

    def handle_tool_call(self, name: str, args: dict[str, Any], **kwargs: Any) -> str:
        """`messages`: the conversation as it is now; what is new in it can be found at once."""
        try:
            with self._lock:
                inner = self._ready()
                messages = kwargs.get("messages")
                if isinstance(messages, list):
                    self._record.take(cast("list[Message]", messages))
                return inner.handle_tool_call(name, args)
        except Exception as error:
            logger.exception("abridged: the tool %s failed", name)
            return json.dumps({"error": f"{type(error).__name__}: {error}"})

    def get_status(self) -> dict[str, Any]:
        prompt = max(0, self.last_prompt_tokens)
        return {
            "engine": self.name,
            "last_prompt_tokens": prompt,
            "threshold_tokens": self.threshold_tokens,
            "context_length": self.context_length,
            "usage_percent": min(100, 100 * prompt / self.context_length) if self.context_length else 0,
            "compression_count": self.compression_count,
            "session": self._record.session,
            "archive": self._record.archive.path if self._record.archive else None,
            "fault": self.fault or self._record.fault,
            "last_noop_reason": self.last_noop_reason,
        }


def _facts(report: object) -> dict[str, Any]:
    return report.to_dict() if isinstance(report, CompressionReport) else {"compressed": True}
