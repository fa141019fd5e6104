"""What the host's sessions say, in our archive: opened when it is first needed, and one session for one conversation.

A host may go on with a conversation under a new id after a compaction; here it stays the session that it was, so that
its rows are found whole under either id. A fault of the archive ends no conversation: after a while it is tried again,
and what is new by then is archived then.
"""

import logging
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from abridged.archive import Archive
from abridged.archive.ingest import Ingest
from abridged.conversation.text import Message
from abridged.errors import AbridgedError, SessionBusy

logger = logging.getLogger(__name__)
_T = TypeVar("_T")

RETRY_SECONDS = 60.0
"""How long an archive with a fault is left alone."""
_CONTINUES = "continues"
"""In what is noted of a session: the session that it is the same conversation as."""


class Record:
    """Of one engine. `opener`: makes the archive; `None` = nothing is kept."""

    def __init__(self, opener: Callable[[], Archive] | None) -> None:
        self._opener = opener
        self._ingest: Ingest | None = None
        self.archive: Archive | None = None
        self.session = ""
        """The session in our archive; "" before one began."""
        self.fault = ""
        """Why nothing is archived; "" = all is well."""
        self._retry_at = 0.0

    def begin(self, session: str, engine: str, *, continues: str = "") -> dict[str, Any]:
        """Go to a session, a new one or one that is there; the state that was saved of it.

        `continues`: the session that this is the same conversation as, under an id of its own.
        """
        return self._try(lambda archive: self._begin(archive, session, engine, continues)) or {}

    def _begin(self, archive: Archive, session: str, engine: str, continues: str) -> dict[str, Any]:
        if continues and continues != session and archive.session(session) is None:
            root = self._root(archive, continues)
            archive.start(session, engine=engine, parent=root)
            archive.save_state(session, {"host": {_CONTINUES: root}})
        self.session = self._root(archive, session)
        archive.start(self.session, engine=engine)
        if self._ingest is None or self._ingest.session != self.session:
            self._ingest = Ingest(archive, self.session)
        return archive.state(self.session)

    def _root(self, archive: Archive, session: str) -> str:
        info = archive.session(session)
        return str(info.notes.get(_CONTINUES) or session) if info else session

    def take(self, messages: Sequence[Message], session: str = "") -> None:
        """Archive what is new of the messages of a session: of this one, unless another one is named."""
        self._try(lambda archive: self._ingest_of(archive, session).take(messages))

    def _ingest_of(self, archive: Archive, session: str) -> Ingest:
        root = self._root(archive, session) if session else self.session
        if self._ingest is not None and root == self.session:
            return self._ingest
        archive.start(root)
        return Ingest(archive, root)

    def compacted(
        self, before: Sequence[Message], after: Sequence[Message], report: dict[str, Any], state: dict[str, Any]
    ) -> None:
        """Archive what a compaction made of the session."""
        ingest = self._ingest
        if ingest is not None:
            self._try(lambda _: ingest.compacted(before, after, report, state))

    def end(self, session: str) -> None:
        """A session ended, until something is said in it again."""
        self._try(lambda archive: archive.end(self._root(archive, session)))

    def close(self) -> None:
        if self.archive is not None:
            self.archive.close()
        self.archive, self._ingest = None, None

    def _try(self, work: Callable[[Archive], _T]) -> _T | None:
        if self._opener is None or time.monotonic() < self._retry_at:
            return None
        try:
            if self.archive is None:
                self.archive = self._opener()
            done = work(self.archive)
            self.fault = ""
            return done
        except SessionBusy as busy:
            logger.info("%s", busy)
        except AbridgedError as error:
            self.fault = str(error)
            self._retry_at = time.monotonic() + RETRY_SECONDS
            logger.error("nothing is archived for %.0f seconds: %s", RETRY_SECONDS, error)
        return None
