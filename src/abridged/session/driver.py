"""One driver for every host: when to look, when to compress, what to keep, and what to do when a request was too long.

A host gives its messages and goes on with those that come back. Everything that was said is first in the archive; a
session that was killed goes on where it was. The engine is known by its contract alone (spec: E4, T4b-T8, F3).
"""

import asyncio
import copy
import inspect
import logging
import threading
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from abridged.archive import Archive
from abridged.conversation.text import Message
from abridged.engine import ContextEngine
from abridged.errors import ArchiveError
from abridged.overflow import overflow_of
from abridged.report import CompressionReport
from abridged.session.background import Background, Preparing
from abridged.session.history import History
from abridged.session.recovery import Recovery, changed, without_old_pictures
from abridged.summarizers import CancelToken

logger = logging.getLogger(__name__)

SOFT_SHARE = 0.80
"""From this share of the threshold on a compression is prepared in the background (spec: T7)."""
PRESSURE = 0.90
"""From this share of the usable window on one that is on its way is not waited for: it is made at once."""
MOST_RECOVERIES = 3
"""Tries to make one request fit (spec: T6)."""
UNSTATED_WINDOW = 0.9
"""The share of a request that was too long that surely fits, where the error names no window."""

Messages = list[Message]
OnCompaction = Callable[[Messages, Messages, Any], None]
"""Told (before, after, report) once a compaction is committed."""
BeforeCompaction = Callable[[Messages], "bool | str | None"]
"""Asked before one: `False` = not now; a text = keep this word for word; anything else = go on."""


class ContextSession:
    """One conversation. Made by `start`; `resume` is `start` for one that has to be there.

    `archive`: where everything is kept, `None` = nowhere; a fault of it is logged, shown in `archive_fault`, and the
    conversation goes on in memory. `background`: whether to prepare compressions ahead of time, where the engine can.
    `automatic`: `False` = nothing is compressed unless `compress` is called, not even after an overflow.
    `archive_fault`: why there is no archive, where that is no wish.
    """

    def __init__(
        self,
        session_id: str,
        engine: ContextEngine,
        archive: Archive | None = None,
        *,
        on_compaction: OnCompaction | None = None,
        before_compaction: BeforeCompaction | None = None,
        background: bool = True,
        automatic: bool = True,
        archive_fault: str = "",
    ) -> None:
        self.engine = engine
        self.engine_fault = ""
        """How the engine last failed; "" = it did not, or has compressed since."""
        self.notes: dict[str, Any] = {}
        """What the host wants to find again when the session is resumed: plain JSON values, saved along."""
        self.on_compaction = on_compaction
        self.before_compaction = before_compaction
        self.automatic = automatic
        self._history = History(session_id, archive, archive_fault)
        self._recoveries = 0
        self._counted = False
        self._held_until = 0
        self._lock = threading.RLock()
        self._background = Background(engine) if background and isinstance(engine, Preparing) else None

    # -- the life of a session -------------------------------------------------------------------------------------

    @classmethod
    def start(
        cls,
        session_id: str | None = None,
        *,
        engine: ContextEngine,
        archive: Archive | str | None = None,
        **options: Any,
    ) -> "ContextSession":
        """A new session, or the one of that name with all that it knew. `messages` are where it stands.

        `archive` as a path: where it cannot be opened, `archive_fault` says why and nothing is archived.
        """
        if isinstance(archive, str):
            try:
                archive = Archive(archive)
            except ArchiveError as error:
                archive, options["archive_fault"] = None, str(error)
                logger.error("nothing is archived: %s", error)
        session = cls(session_id or uuid.uuid4().hex, engine, archive, **options)
        session._begin()
        return session

    @classmethod
    def resume(
        cls, session_id: str, *, engine: ContextEngine, archive: Archive | str, **options: Any
    ) -> "ContextSession":
        """The session of that name. Raises `ArchiveError` where there is none."""
        given = Archive(archive) if isinstance(archive, str) else archive
        if given.session(session_id) is None:
            raise ArchiveError(given.path, f"there is no session {session_id}")
        return cls.start(session_id, engine=engine, archive=given, **options)

    def _begin(self) -> None:
        start = self.engine.on_session_start
        self._from_engine(partial(start, self.id, **_understood(start, {"archive": self.archive})))
        state = self._history.open(self.engine.name)
        if state is not None:
            self._from_engine(self.engine.import_state, state)
            self.notes = dict(state.get("host") or {})

    @property
    def id(self) -> str:
        return self._history.session_id

    @property
    def archive(self) -> Archive | None:
        return self._history.archive

    @property
    def archive_fault(self) -> str:
        """Why nothing is archived any more; "" = all is well."""
        return self._history.fault

    @property
    def messages(self) -> Messages:
        """The conversation as it stands; a new list."""
        return list(self._history.live)

    @property
    def tokens(self) -> int:
        """What the conversation takes now: as the provider counted it or, since it was compressed, as estimated."""
        if self._counted:
            return self.engine.last_prompt_tokens + self.engine.last_completion_tokens
        estimate = getattr(self.engine, "estimate", None)
        return estimate(self._history.live) if estimate else 0

    def reset(self) -> None:
        """The user starts anew (`/new`): the session ends, and another one begins with nothing of it."""
        with self._lock:
            self.close()
            self._from_engine(self.engine.on_session_reset)
            self._history = History(uuid.uuid4().hex, self.archive, self.archive_fault)
            self.notes, self._recoveries, self._counted, self._held_until = {}, 0, False, 0
            self._begin()

    def close(self, messages: Messages | None = None) -> None:
        """The session truly ends. Safe to call twice."""
        with self._lock:
            if self._background:
                self._background.drop()
            if messages is not None:
                self._history.sync(messages)
            self._from_engine(self.engine.on_session_end, self.id, self._history.live)
            self._history.save(self._state())
            self._history.end()

    def suspend(self) -> None:
        """Leave the memory without ending: `resume` goes on from here."""
        with self._lock:
            if self._background:
                self._background.drop()
            self._history.save(self._state())

    def record(self, messages: Messages | None = None) -> None:
        """Archive what was said and what is noted, and nothing else: for a turn that was broken off."""
        with self._lock:
            if messages is not None:
                self._history.sync(messages)
            self._history.save(self._state())

    def _state(self) -> dict[str, Any]:
        state = cast("dict[str, Any]", self._from_engine(self.engine.export_state) or {})
        return {**state, **({"host": copy.deepcopy(self.notes)} if self.notes else {})}

    def switch_model(self, model: str, context_length: int, **more: Any) -> None:
        """Another model from here on."""
        with self._lock:
            if self._background:
                self._background.drop()
            self.engine.update_model(model, context_length, **more)

    # -- every turn ------------------------------------------------------------------------------------------------

    def before_request(self, messages: Messages, *, cancel: CancelToken | None = None) -> Messages:
        """What to send: the messages, or a compressed conversation where an estimate says that they are too long.

        Here and below: once `cancel` is cancelled, nothing is compressed and nothing is committed.
        """
        with self._lock:
            self._history.sync(messages)
            # Asked in any case: the engine measures what is sent.
            due = self._from_engine(self.engine.should_compress_preflight, messages)
            if due and self._is_watching(messages):
                return self._due(messages, cancel)
            return messages

    def request_view(self, messages: Messages) -> Messages:
        """What to send of the messages that `before_request` gave, where the engine makes each request its own.

        It is for that request alone: the conversation stays as it is. Most engines send it as it is.
        """
        select = getattr(self.engine, "select_context", None)
        if select is None:
            return messages
        with self._lock:
            view: object = self._from_engine(partial(select, messages))
        return cast("Messages", view) if isinstance(view, list) else messages

    def after_response(self, usage: dict[str, Any]) -> None:
        """The provider answered and counted."""
        with self._lock:
            self._recoveries = 0
            self._from_engine(self.engine.update_from_response, usage)
            self._counted = self._counted or bool(usage.get("prompt_tokens"))

    def after_turn(self, messages: Messages, *, cancel: CancelToken | None = None) -> Messages:
        """What to go on with after an answer, or after its tools ran."""
        with self._lock:
            self._history.sync(messages)
            if self._is_watching(messages):
                if self._from_engine(self.engine.should_compress):
                    messages = self._due(messages, cancel)
                elif self._background and self.engine.last_prompt_tokens >= SOFT_SHARE * self.engine.threshold_tokens:
                    self._background.start(messages)
            self._history.save(self._state())
            return messages

    def _is_watching(self, messages: Messages) -> bool:
        """Whether anything may be compressed by itself; one that was undone is not made again at once."""
        return self.automatic and not (self._held_until and self._tokens(messages) < self._held_until)

    def compress(
        self, messages: Messages | None = None, topic: str | None = None, *, cancel: CancelToken | None = None
    ) -> Messages:
        """The user asks for it: at once, whatever guards say."""
        with self._lock:
            if self._background:
                self._background.drop()
            if messages is not None:
                self._history.sync(messages)
            given = self.messages if messages is None else messages
            return self._compact(given, cancel, topic=topic, force=True)

    def undo_compression(self) -> Messages | None:
        """The conversation as if the last compression had not been; `None` where there is none, or no archive.

        Nothing is compressed by itself from then on until the window is nearly full.
        """
        with self._lock:
            if self._background:
                self._background.drop()
            found = self._history.undone()
            if found is None:
                return None
            messages, number = found
            report = {"undone": number, "reason": f"compression {number} undone by the user"}
            if not self._history.commit(self._history.live, messages, report):
                return self._history.reload(messages)
            self._counted = False
            self._held_until = int(PRESSURE * self._usable_tokens())
            return self.messages

    def recover(self, error: object, messages: Messages, *, cancel: CancelToken | None = None) -> Recovery:
        """What to do after a failed request (spec: T6): at most three tries a turn, never in a loop."""
        with self._lock:
            found = overflow_of(error)
            if found is None:
                return Recovery("not an overflow", messages)
            if not self.automatic:
                return Recovery("give up", messages, "too long, and compression is switched off: compress it by hand")
            self._recoveries += 1
            if self._recoveries > MOST_RECOVERIES:
                return Recovery("give up", messages, f"still too long after {MOST_RECOVERIES} compressions")
            self._history.sync(messages)
            if found.kind == "payload":
                lighter = without_old_pictures(messages)
                if lighter is not messages:
                    report = {"reason": "old pictures removed: the request was too large"}
                    return Recovery("retry", self._commit(messages, lighter, report), "old pictures removed")
            else:
                self._learn(found.window, messages)
            shorter = self._compact(messages, cancel, force=True)
            if shorter is messages:
                return Recovery("give up", messages, "nothing is left that could be made shorter; start a new session")
            return Recovery("retry", shorter, f"compressed, try {self._recoveries} of {MOST_RECOVERIES}")

    # -- for an event loop -----------------------------------------------------------------------------------------

    async def abefore_request(self, messages: Messages) -> Messages:
        """Like `before_request`; here and below: a task that is cancelled leaves all as it was."""
        return await _in_a_thread(self.before_request, messages)

    async def aafter_turn(self, messages: Messages) -> Messages:
        return await _in_a_thread(self.after_turn, messages)

    async def acompress(self, messages: Messages | None = None, topic: str | None = None) -> Messages:
        return await _in_a_thread(self.compress, messages, topic)

    async def arecover(self, error: object, messages: Messages) -> Recovery:
        return await _in_a_thread(self.recover, error, messages)

    # -- compressing -----------------------------------------------------------------------------------------------

    def _due(self, messages: Messages, cancel: CancelToken | None) -> Messages:
        """A compression is due: one that is ready, or one that is on its way while there is room, or one now."""
        if self._background:
            prepared = self._background.take(messages)
            if prepared is not None:
                return self._publish(messages, prepared, cancel)
            if self._background.running and self._tokens(messages) < PRESSURE * self._usable_tokens():
                return messages
            self._background.drop()
        return self._compact(messages, cancel)

    def _publish(self, messages: Messages, prepared: Any, cancel: CancelToken | None) -> Messages:
        word = self._asked(messages)
        if word is False or _is_cancelled(cancel):
            return messages
        assert isinstance(self.engine, Preparing)
        # A word to be kept came too late for what was prepared.
        result = None if isinstance(word, str) else self.engine.adopt(prepared, messages)
        if result is None:
            return self._compact_with(word, messages, cancel)
        return self._commit(messages, result, self._report())

    def _compact(
        self, messages: Messages, cancel: CancelToken | None, *, topic: str | None = None, force: bool = False
    ) -> Messages:
        word = self._asked(messages)
        if word is False and not force:
            return messages
        return self._compact_with(word, messages, cancel, topic=topic, force=force)

    def _compact_with(
        self,
        word: "bool | str | None",
        messages: Messages,
        cancel: CancelToken | None,
        *,
        topic: str | None = None,
        force: bool = False,
    ) -> Messages:
        """A compression now. `word`: what the host answered when it was asked."""
        wishes: dict[str, Any] = {
            "focus_topic": topic,
            "force": force,
            "memory_context": word if isinstance(word, str) else None,
            "cancel": cancel,
        }
        with self._history.alone() as free:
            if not free:
                return self._history.reload(messages)
            result = self._compressed(messages, wishes)
            if not changed(messages, result) or _is_cancelled(cancel):
                return messages
            return self._commit(messages, result, self._report())

    def _compressed(self, messages: Messages, wishes: dict[str, Any]) -> Messages:
        """What the engine makes of it; an engine that fails has made nothing, and the conversation goes on."""
        compress = self.engine.compress
        self.engine_fault = ""
        result: object = self._from_engine(partial(compress, messages, **_understood(compress, wishes)))
        if self.engine_fault:
            return messages
        entries = cast("list[object]", result) if isinstance(result, list) else None
        if entries is None or (messages and not entries) or not all(isinstance(entry, dict) for entry in entries):
            self._engine_failed("gave something that is no list of messages")
            return messages
        return cast("Messages", entries)

    def _from_engine(self, method: Callable[..., Any], *arguments: Any) -> Any:
        """What the engine says; where it fails it said nothing, and the conversation goes on."""
        try:
            return method(*arguments)
        except (Exception, SystemExit) as error:
            self._engine_failed(f"{type(error).__name__}: {error}")
            return None

    def _engine_failed(self, how: str) -> None:
        fault = f"engine {self.engine.name}: {how}"
        if fault != self.engine_fault:
            logger.error("%s", fault, exc_info=True)
        self.engine_fault = fault

    def _asked(self, messages: Messages) -> "bool | str | None":
        return self.before_compaction(messages) if self.before_compaction else None

    def _report(self) -> dict[str, Any]:
        report = getattr(self.engine, "report", None)
        return report.to_dict() if isinstance(report, CompressionReport) else {}

    def _commit(self, before: Messages, after: Messages, report: dict[str, Any]) -> Messages:
        """All of it or nothing; somebody else's commit is taken over instead."""
        if not self._history.commit(before, after, report, state=self._state()):
            return self._history.reload(before)
        self._counted, self._held_until = False, 0
        if self.on_compaction:
            self.on_compaction(before, after, getattr(self.engine, "report", None))
        return after

    def _learn(self, window: int | None, messages: Messages) -> None:
        """The window that an error names; where it names none, one that is smaller than what was too long."""
        if window is None:
            window = int(UNSTATED_WINDOW * self._tokens(messages))
        if window and window < self.engine.context_length:
            self._from_engine(self.engine.update_model, "", window)

    def _tokens(self, messages: Messages) -> int:
        """What the messages take, as far as anybody knows."""
        estimate = getattr(self.engine, "estimate", None)
        return max(estimate(messages) if estimate else 0, self.engine.last_prompt_tokens)

    def _usable_tokens(self) -> int:
        """The window without what is reserved for the answer, where the engine tells."""
        return int(getattr(getattr(self.engine, "budget", None), "usable_tokens", self.engine.context_length))


def _is_cancelled(cancel: CancelToken | None) -> bool:
    return cancel is not None and cancel.cancelled


async def _in_a_thread(method: Callable[..., Any], *arguments: Any) -> Any:
    cancel = CancelToken()
    try:
        return await asyncio.to_thread(method, *arguments, cancel=cancel)
    finally:
        cancel.cancel()


def _understood(function: Callable[..., Any], wishes: dict[str, Any]) -> dict[str, Any]:
    """Those of the keyword arguments that an engine takes; engines of older hosts take fewer."""
    parameters = inspect.signature(function).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return wishes
    return {name: value for name, value in wishes.items() if name in parameters}
