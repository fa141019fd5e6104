"""What a session has said, in memory and in the archive: both always tell the same.

A fault of the archive ends the archiving, not the conversation. The system prompt at the front is no history: a host
may write it anew whenever it likes, and nothing is said again for that.
"""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from abridged.archive import Archive
from abridged.archive.owner import owner_name
from abridged.archive.store import as_text
from abridged.conversation.roles import leading_system
from abridged.conversation.text import Message
from abridged.errors import ArchiveError, SessionBusy

logger = logging.getLogger(__name__)

Messages = list[Message]


class History:
    """One session's. `archive`: where it is kept, `None` = in memory alone; `fault`: why, where that is no wish."""

    def __init__(self, session_id: str, archive: Archive | None, fault: str = "") -> None:
        self.session_id = session_id
        self.archive = archive
        self.fault = fault
        """Why nothing is archived any more; "" = all is well."""
        self.live: Messages = []
        """The conversation as it stands."""
        self._number = 0
        self._saved: dict[str, Any] = {}
        self._owner = owner_name()

    def open(self, engine: str) -> dict[str, Any] | None:
        """Begin, or go on where it stood; the state that was saved, `None` for a new session."""
        with self._archiving() as archive:
            if archive and archive.start(self.session_id, engine=engine):
                self.live, self._number = archive.live(self.session_id)
                self._saved = archive.state(self.session_id)
                return self._saved
        return None

    def end(self) -> None:
        """The session truly ended."""
        with self._archiving() as archive:
            if archive:
                archive.end(self.session_id)

    def save(self, state: dict[str, Any]) -> None:
        """What has to be known after a restart; written where it changed."""
        with self._archiving() as archive:
            if archive and state != self._saved:
                archive.save_state(self.session_id, state)
                self._saved = state

    def sync(self, messages: Messages) -> None:
        """Archive what is new; a history that the host has changed is noted as that."""
        known = len(self.live)
        if known and not _goes_on(self.live, messages):
            front = leading_system(messages)
            self.live = [*messages[:front], *self.live[leading_system(self.live) :]]
            known = len(self.live)
            if _common(self.live, messages) < known:
                self._rewritten(messages)
                return
        new = messages[known:]
        if not new:
            return
        with self._archiving() as archive:
            if archive:
                archive.append(self.session_id, new)
        self.live += new

    def _rewritten(self, messages: Messages) -> None:
        """The host took something out, or put something else in its place; what was said before is not said again."""
        said = {as_text(message) for message in self.live}
        unsaid = [message for message in messages if as_text(message) not in said]
        self.commit(self.live, messages, {"reason": "the host changed the history"}, unsaid=unsaid)

    def commit(
        self,
        before: Messages,
        after: Messages,
        report: dict[str, Any],
        *,
        state: dict[str, Any] | None = None,
        unsaid: Messages | None = None,
    ) -> bool:
        """All of it or nothing. `False` where somebody else committed something before: see `reload`."""
        try:
            with self._archiving() as archive:
                if archive:
                    self._number = archive.compact(
                        self.session_id, before, after, report, follows=self._number, state=state, unsaid=unsaid or ()
                    )
                    self._saved = self._saved if state is None else state
        except SessionBusy as busy:
            logger.info("%s", busy)
            return False
        self.live = list(after)
        return True

    def reload(self, messages: Messages) -> Messages:
        """What somebody else made of this session, where he committed something; else the messages as they are."""
        with self._archiving() as archive:
            if archive:
                live, number = archive.live(self.session_id)
                if number > self._number:
                    self.live, self._number = live, number
                    return list(live)
        return messages

    def undone(self) -> tuple[Messages, int] | None:
        """The conversation as if the last compression had not been, all that came after it included, and its number.

        `None` where there is none, or where the history was changed since.
        """
        with self._archiving() as archive:
            if archive is None:
                return None
            records = archive.compactions(self.session_id)
            gone = {record.report.get("undone") for record in records}
            undoable = [one.number for one in records if one.report.get("compressed") and one.number not in gone]
            if not undoable:
                return None
            after = archive.compacted(self.session_id, undoable[-1])
            spoken, compacted = self.live[leading_system(self.live) :], after[leading_system(after) :]
            if spoken[: len(compacted)] != compacted:
                return None
            before = archive.restore(self.session_id, undoable[-1])
            return [*before, *spoken[len(compacted) :]], undoable[-1]
        return None

    @contextmanager
    def alone(self) -> Generator[bool]:
        """A block in which nobody else compresses this session; `False` where somebody else does."""
        try:
            with self._archiving() as archive:
                if archive:
                    archive.lease(self.session_id, self._owner)
        except SessionBusy as busy:
            logger.info("%s", busy)
            yield False
            return
        try:
            yield True
        finally:
            with self._archiving() as archive:
                if archive:
                    archive.release(self.session_id, self._owner)

    @contextmanager
    def _archiving(self) -> Generator[Archive | None]:
        """A block that uses the archive, where there is one. A fault of it ends the archiving, not the conversation."""
        try:
            yield None if self.fault else self.archive
        except SessionBusy:
            raise
        except ArchiveError as error:
            self.fault = str(error)
            logger.error("nothing is archived any more: %s", error)


def _goes_on(live: Messages, messages: Messages) -> bool:
    """Whether messages begin with what is known; its two ends tell."""
    known = len(live)
    if len(messages) < known or messages[known - 1] is not live[-1]:
        return False
    return messages[0] is live[0] or messages[0] == live[0]


def _common(one: Messages, two: Messages) -> int:
    """How many messages two conversations begin with in common."""
    count = 0
    for mine, theirs in zip(one, two, strict=False):
        if mine is not theirs and mine != theirs:
            break
        count += 1
    return count
