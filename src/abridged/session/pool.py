"""Many sessions at once, for hosts that serve many people: found by id, ended when nobody comes back (spec: E4)."""

import threading
import time
from collections.abc import Callable
from typing import Any

from abridged.archive import Archive
from abridged.engine import ContextEngine
from abridged.session.driver import ContextSession

IDLE_SECONDS = 1_800.0
MOST_SESSIONS = 1_000


class SessionPool:
    """Sessions of one archive. Safe from several threads and tasks.

    `make_engine`: a new engine for each session. `idle_seconds`: after so long without a word a session ends as it
    would at a user's wish. `most`: when there are more, those that were quiet longest leave the memory; with an archive
    they go on where they were when they are asked for again. `clock`: seconds that never go back.
    """

    def __init__(
        self,
        make_engine: Callable[[], ContextEngine],
        archive: Archive | str | None = None,
        *,
        idle_seconds: float = IDLE_SECONDS,
        most: int = MOST_SESSIONS,
        clock: Callable[[], float] = time.monotonic,
        **options: Any,
    ) -> None:
        self._make_engine = make_engine
        self._archive = Archive(archive) if isinstance(archive, str) else archive
        self._idle_seconds = idle_seconds
        self._most = most
        self._clock = clock
        self._options = options
        self._lock = threading.Lock()
        self._sessions: dict[str, ContextSession] = {}
        self._used: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def get(self, session_id: str) -> ContextSession:
        """The session of that id: the one in memory, the one in the archive, or a new one."""
        with self._lock:
            leaving = self._idle()
            session = self._sessions.pop(session_id, None)
            if session is None:
                session = ContextSession.start(
                    session_id, engine=self._make_engine(), archive=self._archive, **self._options
                )
            self._sessions[session_id] = session  # the dict's order is by use
            self._used[session_id] = self._clock()
            while len(self._sessions) > self._most:
                oldest = next(iter(self._sessions))
                self._used.pop(oldest)
                leaving.append((self._sessions.pop(oldest), self._archive is None))
        for quiet, ends in leaving:
            quiet.close() if ends else quiet.suspend()
        return session

    def end(self, session_id: str) -> None:
        """The session truly ends, at a user's wish. Nothing happens where there is none."""
        with self._lock:
            session = self._sessions.pop(session_id, None)
            self._used.pop(session_id, None)
        if session:
            session.close()

    def end_idle(self) -> int:
        """End what nobody came back to; returns how many. `get` does it as well; for a host's own timer."""
        with self._lock:
            leaving = self._idle()
        for session, _ in leaving:
            session.close()
        return len(leaving)

    def close(self) -> None:
        """All of them end."""
        with self._lock:
            leaving, self._sessions, self._used = list(self._sessions.values()), {}, {}
        for session in leaving:
            session.close()

    def _idle(self) -> list[tuple[ContextSession, bool]]:
        limit = self._clock() - self._idle_seconds
        names = [name for name, used in self._used.items() if used < limit]
        for name in names:
            self._used.pop(name)
        return [(self._sessions.pop(name), True) for name in names]
