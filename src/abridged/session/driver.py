"""One driver for every host: when to look, when to compress, what to keep, and what to do when a request was too long.

A host gives its messages and goes on with those that come back. Everything that was said is first in the archive; a
session that was killed goes on where it was. The engine is known by its contract alone (spec: E4, T4b-T8, F3).
"""

import asyncio
import inspect
import logging
import threading
import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, cast

from abridged.archive import Archive
from abridged.archive.owner import owner_name
from abridged.conversation.text import Message
from abridged.engine import ContextEngine
from abridged.errors import ArchiveError, SessionBusy
from abridged.overflow import overflow_of
from abridged.report import CompressionReport
from abridged.session.background import Background, Preparing
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
    ) -> None:
        self.id = session_id
        self.engine = engine
        self.archive = archive
        self.archive_fault = ""
        """Why nothing is archived any more; "" = all is well."""
        self.engine_fault = ""
        """How the engine failed when it last compressed; "" = it did not."""
        self.on_compaction = on_compaction
        self.before_compaction = before_compaction
        self.automatic = automatic
        self._live: Messages = []
        self._number = 0
        self._recoveries = 0
        self._state: dict[str, Any] = {}
        self._owner = owner_name()
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
        fault = ""
        if isinstance(archive, str):
            try:
                archive = Archive(archive)
            except ArchiveError as error:
                archive, fault = None, str(error)
                logger.error("nothing is archived: %s", error)
        session = cls(session_id or uuid.uuid4().hex, engine, archive, **options)
        session.archive_fault = fault
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
        self.engine.on_session_start(self.id)
        with self._archiving() as archive:
            if archive and archive.start(self.id, engine=self.engine.name):
                self._live, self._number = archive.live(self.id)
                self._state = archive.state(self.id)
                self.engine.import_state(self._state)

    @property
    def messages(self) -> Messages:
        """The conversation as it stands; a new list."""
        return list(self._live)

    def reset(self) -> None:
        """The user starts anew (`/new`): the session ends, and another one begins with nothing of it."""
        with self._lock:
            self.close(self._live)
            self.engine.on_session_reset()
            self.id = uuid.uuid4().hex
            self._live, self._number, self._recoveries, self._state = [], 0, 0, {}
            self._begin()

    def close(self, messages: Messages | None = None) -> None:
        """The session truly ends. Safe to call twice."""
        with self._lock:
            if self._background:
                self._background.drop()
            if messages is not None:
                self._sync(messages)
            self.engine.on_session_end(self.id, self._live)
            with self._archiving() as archive:
                if archive:
                    self._save_state(archive)
                    archive.end(self.id)

    def suspend(self) -> None:
        """Leave the memory without ending: `resume` goes on from here."""
        with self._lock:
            if self._background:
                self._background.drop()
            with self._archiving() as archive:
                if archive:
                    self._save_state(archive)

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
            self._sync(messages)
            if self.automatic and self.engine.should_compress_preflight(messages):
                return self._due(messages, cancel)
            return messages

    def after_response(self, usage: dict[str, Any]) -> None:
        """The provider answered and counted."""
        with self._lock:
            self._recoveries = 0
            self.engine.update_from_response(usage)

    def after_turn(self, messages: Messages, *, cancel: CancelToken | None = None) -> Messages:
        """What to go on with after an answer, or after its tools ran."""
        with self._lock:
            self._sync(messages)
            if self.automatic and self.engine.should_compress():
                messages = self._due(messages, cancel)
            elif (
                self.automatic
                and self._background
                and self.engine.last_prompt_tokens >= SOFT_SHARE * self.engine.threshold_tokens
            ):
                self._background.start(messages)
            with self._archiving() as archive:
                if archive:
                    self._save_state(archive)
            return messages

    def compress(
        self, messages: Messages | None = None, topic: str | None = None, *, cancel: CancelToken | None = None
    ) -> Messages:
        """The user asks for it: at once, whatever guards say."""
        with self._lock:
            if self._background:
                self._background.drop()
            if messages is not None:
                self._sync(messages)
            given = self.messages if messages is None else messages
            return self._compact(given, cancel, topic=topic, force=True)

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
            self._sync(messages)
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
        try:
            with self._archiving() as archive:
                if archive:
                    archive.lease(self.id, self._owner)
            result = self._compressed(messages, wishes)
            if not changed(messages, result) or _is_cancelled(cancel):
                return messages
            return self._commit(messages, result, self._report())
        except SessionBusy as busy:
            logger.info("%s", busy)
            return self._reload(messages)
        finally:
            with self._archiving() as archive:
                if archive:
                    archive.release(self.id, self._owner)

    def _compressed(self, messages: Messages, wishes: dict[str, Any]) -> Messages:
        """What the engine makes of it; an engine that fails has made nothing, and the conversation goes on."""
        try:
            result: object = self.engine.compress(messages, **_understood(self.engine.compress, wishes))
        except Exception as error:
            self.engine_fault = f"engine {self.engine.name}: {type(error).__name__}: {error}"
            logger.exception("%s", self.engine_fault)
            return messages
        entries = cast("list[object]", result) if isinstance(result, list) else None
        if entries is None or not all(isinstance(entry, dict) for entry in entries):
            self.engine_fault = f"engine {self.engine.name}: gave something that is no list of messages"
            logger.error("%s", self.engine_fault)
            return messages
        self.engine_fault = ""
        return cast("Messages", entries)

    def _asked(self, messages: Messages) -> "bool | str | None":
        return self.before_compaction(messages) if self.before_compaction else None

    def _report(self) -> dict[str, Any]:
        report = getattr(self.engine, "report", None)
        return report.to_dict() if isinstance(report, CompressionReport) else {}

    def _commit(self, before: Messages, after: Messages, report: dict[str, Any]) -> Messages:
        """All of it or nothing; somebody else's commit is taken over instead."""
        try:
            with self._archiving() as archive:
                if archive:
                    self._state = self.engine.export_state()
                    self._number = archive.compact(
                        self.id, before, after, report, follows=self._number, state=self._state
                    )
        except SessionBusy as busy:
            logger.info("%s", busy)
            return self._reload(before)
        self._live = list(after)
        if self.on_compaction:
            self.on_compaction(before, after, getattr(self.engine, "report", None))
        return after

    def _reload(self, messages: Messages) -> Messages:
        """What somebody else made of this session, where he committed something; else the messages as they are."""
        with self._archiving() as archive:
            if archive:
                live, number = archive.live(self.id)
                if number > self._number:
                    self._live, self._number = live, number
                    return list(live)
        return messages

    def _learn(self, window: int | None, messages: Messages) -> None:
        """The window that an error names; where it names none, one that is smaller than what was too long."""
        if window is None:
            window = int(UNSTATED_WINDOW * self._tokens(messages))
        if window and window < self.engine.context_length:
            self.engine.update_model("", window)

    def _tokens(self, messages: Messages) -> int:
        """What the messages take, as far as anybody knows."""
        estimate = getattr(self.engine, "estimate", None)
        return max(estimate(messages) if estimate else 0, self.engine.last_prompt_tokens)

    def _usable_tokens(self) -> int:
        """The window without what is reserved for the answer, where the engine tells."""
        return int(getattr(getattr(self.engine, "budget", None), "usable_tokens", self.engine.context_length))

    # -- archiving -------------------------------------------------------------------------------------------------

    def _sync(self, messages: Messages) -> None:
        """Archive what is new; a history that the host has changed is noted as that."""
        known = len(self._live)
        if known and (len(messages) < known or messages[known - 1] is not self._live[-1]):
            known = _common(self._live, messages)
            if known < len(self._live):
                self._commit(self._live, messages[:known], {"reason": "the host changed the history"})
        new = messages[known:]
        if not new:
            return
        with self._archiving() as archive:
            if archive:
                archive.append(self.id, new)
        self._live += new

    def _save_state(self, archive: Archive) -> None:
        state = self.engine.export_state()
        if state != self._state:
            archive.save_state(self.id, state)
            self._state = state

    @contextmanager
    def _archiving(self) -> Generator[Archive | None]:
        """A block that uses the archive, where there is one. A fault of it ends the archiving, not the conversation."""
        try:
            yield None if self.archive_fault else self.archive
        except SessionBusy:
            raise
        except ArchiveError as error:
            self.archive_fault = str(error)
            logger.error("nothing is archived any more: %s", error)


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


def _common(one: Messages, two: Messages) -> int:
    """How many messages two conversations begin with in common."""
    count = 0
    for mine, theirs in zip(one, two, strict=False):
        if mine is not theirs and mine != theirs:
            break
        count += 1
    return count
