"""A compression made ahead of time, beside the loop of the host: taken whole, between two turns, or never (T7)."""

import logging
import threading
from typing import Any, Protocol, runtime_checkable

from abridged.conversation.text import Message
from abridged.summarizers import CancelToken

logger = logging.getLogger(__name__)

Messages = list[Message]


@runtime_checkable
class Preparing(Protocol):
    """An engine that can compress ahead of time."""

    def prepare(self, messages: Messages, *, cancel: CancelToken | None = None) -> Any: ...

    def adopt(self, prepared: Any, messages: Messages) -> Messages | None: ...


class Background:
    """At most one preparation at a time, in a thread; a result is taken whole, between two turns, or never."""

    def __init__(self, engine: Preparing) -> None:
        self._engine = engine
        self._job: Job | None = None

    @property
    def running(self) -> bool:
        return self._job is not None and not self._job.done.is_set()

    def start(self, messages: Messages) -> None:
        if self._job is None:
            self._job = Job(self._engine, list(messages))

    def take(self, messages: Messages) -> Any:
        """What is ready for these messages; `None` where nothing is. A stale result is thrown away."""
        job = self._job
        if job is None or not job.done.is_set():
            return None
        self._job = None
        fits = job.result is not None and messages[: len(job.messages)] == job.messages
        return job.result if fits else None

    def drop(self) -> None:
        """Cancel what runs; what it says later is never heard."""
        if self._job is not None:
            self._job.cancel.cancel()
            self._job = None


class Job:
    def __init__(self, engine: Preparing, messages: Messages) -> None:
        self.messages = messages
        self.cancel = CancelToken()
        self.done = threading.Event()
        self.result: Any = None
        self._engine = engine
        threading.Thread(target=self._run, name="abridged-preparation", daemon=True).start()

    def _run(self) -> None:
        try:
            self.result = self._engine.prepare(self.messages, cancel=self.cancel)
        except Exception:
            logger.exception("a compression could not be prepared")
        finally:
            self.done.set()
