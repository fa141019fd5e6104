"""The archive: what leaves a context is first in here, and comes back letter for letter (spec: F3).

One transaction per change, none open between calls; any number of threads and processes may use one file. A compaction
carries the number that it follows: of two that follow the same one the second is refused.
"""

import contextlib
import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from abridged.archive.owner import is_gone
from abridged.archive.schema import migrate
from abridged.archive.words import query_for, searched_text
from abridged.conversation.text import Message
from abridged.errors import ArchiveError, SessionBusy

MEMORY = ":memory:"
BUSY_SECONDS = 20.0
"""How long a change waits for others'."""
LEASE_SECONDS = 300.0
"""How long a session belongs to who compresses it, when he is never heard of again."""
_NO_END = 1 << 62
_CHUNK = 500
"""Contents read by one statement."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """One session."""

    id: str
    started: float
    last: float
    """Seconds since the epoch."""
    ended: float | None
    engine: str
    messages: int
    compactions: int
    state: dict[str, Any]
    """What its engine and its guard want to know after a restart."""

    @property
    def notes(self) -> dict[str, Any]:
        """What its host noted."""
        return dict(self.state.get("host") or {})


@dataclass(frozen=True, slots=True)
class Compaction:
    """One compaction of a session."""

    session: str
    number: int
    """From 1 on."""
    at: float
    messages_before: int
    messages_after: int
    report: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Hit:
    """One message that was found."""

    session: str
    place: int
    role: str
    message: Message


class Archive:
    """One file, made where it is not there; `:memory:` for none. Safe from several threads.

    `retention_days`: sessions that ended longer ago are forgotten when another one ends; `None` = nothing is, ever.
    Raises `ArchiveError` where the file cannot be opened, is no archive, or was written by a newer version.
    """

    def __init__(self, path: str | Path = MEMORY, *, retention_days: float | None = None) -> None:
        self.path = str(path)
        self.retention_days = retention_days
        self._lock = threading.RLock()
        with self._explained():
            if self.path != MEMORY:
                Path(self.path).expanduser().parent.mkdir(parents=True, exist_ok=True)
                self.path = str(Path(self.path).expanduser())
            self._connection = sqlite3.connect(
                self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            for setting in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON", "cache_size = -16000"):
                self._connection.execute(f"PRAGMA {setting}")
            migrate(self._connection)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def __enter__(self) -> "Archive":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- sessions --------------------------------------------------------------------------------------------------

    def start(self, session: str, *, engine: str = "", parent: str | None = None) -> bool:
        """Make a session, or go on with it. Returns whether it was there."""
        now = time.time()
        with self.change() as change:
            there = change.execute("SELECT 1 FROM sessions WHERE id = ?", (session,)).fetchone() is not None
            change.execute(
                "INSERT INTO sessions (id, started, last, engine, parent) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (id) DO UPDATE SET last = excluded.last, engine = excluded.engine, ended = NULL",
                (session, now, now, engine, parent),
            )
        return there

    def end(self, session: str) -> None:
        """The session truly ended."""
        now = time.time()
        with self.change() as change:
            change.execute("UPDATE sessions SET ended = ?, owner = NULL WHERE id = ?", (now, session))
            if self.retention_days is not None:
                change.execute("DELETE FROM sessions WHERE ended < ?", (now - self.retention_days * 86_400,))

    def sessions(self) -> list[SessionInfo]:
        """All sessions, the newest first."""
        return self._infos("ORDER BY last DESC, id", ())

    def _infos(self, which: str, values: tuple[str, ...]) -> list[SessionInfo]:
        with self.look() as look:
            rows = look.execute(
                "SELECT id, started, last, ended, engine, state,"
                " (SELECT count(*) FROM messages WHERE session = id),"
                " (SELECT count(*) FROM compactions WHERE session = id) FROM sessions " + which,
                values,
            ).fetchall()
        return [
            SessionInfo(id_, started, last, ended, engine, messages, compactions, json.loads(state))
            for id_, started, last, ended, engine, state, messages, compactions in rows
        ]

    def session(self, session: str) -> SessionInfo | None:
        """One session; `None` where there is none of that name."""
        found = self._infos("WHERE id = ?", (session,))
        return found[0] if found else None

    def session_like(self, beginning: str) -> SessionInfo:
        """The session of that id, or the only one whose id begins like it. Raises `ArchiveError`."""
        infos = self.sessions()
        found = [info for info in infos if info.id == beginning]
        found = found or [info for info in infos if info.id.startswith(beginning)]
        if len(found) == 1:
            return found[0]
        if found:
            raise ArchiveError(self.path, f"{beginning} may be {', '.join(info.id for info in found[:5])}")
        raise ArchiveError(self.path, f"there is no session {beginning}; `abridged archive ls` shows all")

    def state(self, session: str) -> dict[str, Any]:
        """What was saved by `save_state`; {} where nothing was."""
        with self.look() as look:
            row = look.execute("SELECT state FROM sessions WHERE id = ?", (session,)).fetchone()
        return json.loads(row[0]) if row else {}

    def save_state(self, session: str, state: dict[str, Any]) -> None:
        with self.change() as change:
            change.execute("UPDATE sessions SET state = ? WHERE id = ?", (json.dumps(state, default=str), session))

    # -- messages --------------------------------------------------------------------------------------------------

    def append(self, session: str, messages: Sequence[Message]) -> int:
        """What a session said, after all that it said before. Returns how many messages it has said now."""
        with self.change() as change:
            return self._append(change, session, messages)

    def append_chosen(self, session: str, choose: Callable[[sqlite3.Connection], Sequence[Message]]) -> int:
        """The same for who has to look first; nobody writes between the look and the writing."""
        with self.change() as change:
            return self._append(change, session, choose(change))

    def _append(self, change: sqlite3.Connection, session: str, messages: Sequence[Message]) -> int:
        place = self._said(change, session)
        now = time.time()
        rows = [(session, place + n, id_, now) for n, id_ in enumerate(self._ids(change, messages))]
        change.executemany("INSERT INTO messages (session, place, content, at) VALUES (?, ?, ?, ?)", rows)
        if rows:
            change.execute("UPDATE sessions SET last = ?, ended = NULL WHERE id = ?", (now, session))
        return place + len(rows)

    def _said(self, look: sqlite3.Connection, session: str) -> int:
        (place,) = look.execute("SELECT max(place) FROM messages WHERE session = ?", (session,)).fetchone()
        return 0 if place is None else place + 1

    def _ids(self, change: sqlite3.Connection, messages: Iterable[Message]) -> list[int]:
        """The contents of messages, made where they are new."""
        ids: list[int] = []
        for message in messages:
            text = as_text(message)
            mark = hashlib.sha256(text.encode()).digest()[:16]
            row = change.execute("SELECT id FROM contents WHERE hash = ?", (mark,)).fetchone()
            if row is None:
                row = change.execute(
                    "INSERT INTO contents (hash, json) VALUES (?, ?) RETURNING id", (mark, text)
                ).fetchone()
                change.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (row[0], searched_text(message)))
            ids.append(int(row[0]))
        return ids

    def transcript(self, session: str, first: int = 0, end: int | None = None) -> list[Message]:
        """All that a session ever said, from place `first` on and before place `end`, without summaries."""
        with self.look() as look:
            rows = look.execute(
                "SELECT json FROM messages JOIN contents ON contents.id = content"
                " WHERE session = ? AND place >= ? AND place < ? ORDER BY place",
                (session, first, _NO_END if end is None else end),
            ).fetchall()
        return [json.loads(text) for (text,) in rows]

    def live(self, session: str) -> tuple[list[Message], int]:
        """The conversation as it goes on, summary included, and the number of the last compaction (0 = none)."""
        with self.look() as look:
            row = look.execute(
                "SELECT number, place, after FROM compactions WHERE session = ? ORDER BY number DESC LIMIT 1",
                (session,),
            ).fetchone()
            number, place, after = row or (0, 0, "[]")
            return [*self._contents(look, json.loads(after)), *self.transcript(session, place)], number

    def _contents(self, look: sqlite3.Connection, ids: Sequence[int]) -> list[Message]:
        texts: dict[int, str] = {}
        wanted = list(dict.fromkeys(ids))
        for start in range(0, len(wanted), _CHUNK):
            chunk = wanted[start : start + _CHUNK]
            marks = ",".join("?" * len(chunk))
            texts |= dict(look.execute(f"SELECT id, json FROM contents WHERE id IN ({marks})", chunk).fetchall())
        return [json.loads(texts[id_]) for id_ in ids]

    # -- compactions -------------------------------------------------------------------------------------------------

    def compact(
        self,
        session: str,
        before: Sequence[Message],
        after: Sequence[Message],
        report: dict[str, Any],
        *,
        follows: int,
        unsaid: Sequence[Message] = (),
        state: dict[str, Any] | None = None,
    ) -> int:
        """Commit a compaction, all of it or nothing. Returns its number.

        `follows`: the number of the compaction that `before` came from; `SessionBusy` where there is a later one.
        `unsaid`: messages of `before` that were not appended yet. `state`: saved along.
        """
        now = time.time()
        with self.change() as change:
            (number,) = change.execute(
                "SELECT coalesce(max(number), 0) FROM compactions WHERE session = ?", (session,)
            ).fetchone()
            if number != follows:
                raise SessionBusy(self.path, f"session {session} was compacted by somebody else meanwhile")
            place = self._append(change, session, unsaid)
            row = (
                session, number + 1, now, place,
                json.dumps(self._ids(change, before)), json.dumps(self._ids(change, after)), json.dumps(report),
            )  # fmt: skip
            change.execute("INSERT INTO compactions VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            if state is not None:
                change.execute("UPDATE sessions SET state = ? WHERE id = ?", (json.dumps(state, default=str), session))
        return number + 1

    def compactions(self, session: str) -> list[Compaction]:
        """The compactions of a session, the first one first."""
        with self.look() as look:
            rows = look.execute(
                "SELECT number, at, json_array_length(before), json_array_length(after), report"
                " FROM compactions WHERE session = ? ORDER BY number",
                (session,),
            ).fetchall()
        return [
            Compaction(session, number, at, before, after, json.loads(report))
            for number, at, before, after, report in rows
        ]

    def restore(self, session: str, number: int) -> list[Message]:
        """The conversation as it was before compaction `number`. Raises `ArchiveError` where there is none."""
        return self._side("before", session, number)

    def compacted(self, session: str, number: int) -> list[Message]:
        """What compaction `number` made of it. Raises `ArchiveError` where there is none."""
        return self._side("after", session, number)

    def _side(self, column: str, session: str, number: int) -> list[Message]:
        with self.look() as look:
            row = look.execute(
                f"SELECT {column} FROM compactions WHERE session = ? AND number = ?", (session, number)
            ).fetchone()
            if row is None:
                raise ArchiveError(self.path, f"session {session} has no compaction {number}")
            return self._contents(look, json.loads(row[0]))

    # -- one at a time -----------------------------------------------------------------------------------------------

    def lease(self, session: str, owner: str, seconds: float = LEASE_SECONDS) -> None:
        """Take a session for oneself; `owner` is best made by `owner_name`. Raises `SessionBusy` while another has it.

        What a process held that is no longer there is free.
        """
        now = time.time()
        with self.change() as change:
            row = change.execute("SELECT owner, owned_until FROM sessions WHERE id = ?", (session,)).fetchone()
            held, until = row or (None, 0.0)
            if held not in (None, owner) and (until or 0.0) >= now and not is_gone(str(held)):
                raise SessionBusy(self.path, f"session {session} is being compressed by somebody else")
            change.execute(
                "UPDATE sessions SET owner = ?, owned_until = ? WHERE id = ?", (owner, now + seconds, session)
            )

    def release(self, session: str, owner: str) -> None:
        with self.change() as change:
            change.execute("UPDATE sessions SET owner = NULL WHERE id = ? AND owner = ?", (session, owner))

    # -- finding -----------------------------------------------------------------------------------------------------

    def search(self, query: str, *, session: str | None = None, limit: int = 20) -> list[Hit]:
        """Messages that hold all words of the query, the best first; "in quotes" is a phrase."""
        asked = query_for(query)
        if not asked:
            return []
        best = "(SELECT rowid AS id, rank FROM words WHERE words MATCH :asked ORDER BY rank LIMIT :limit)"
        inside = "(SELECT rowid AS id, rank FROM words WHERE words MATCH :asked)"
        where = "" if session is None else "WHERE messages.session = :session"
        with self.look() as look:
            rows = look.execute(
                f"SELECT messages.session, messages.place, contents.json FROM {best if session is None else inside}"
                " AS found JOIN contents ON contents.id = found.id JOIN messages ON messages.content = found.id"
                f" {where} ORDER BY found.rank, messages.session, messages.place LIMIT :limit",
                {"asked": asked, "limit": limit, "session": session},
            ).fetchall()
        hits: list[Hit] = []
        for found_in, place, text in rows:
            message = cast("Message", json.loads(text))
            hits.append(Hit(found_in, place, str(message.get("role") or ""), message))
        return hits

    # -- keeping house -----------------------------------------------------------------------------------------------

    def stats(self) -> dict[str, int]:
        """Rows and bytes."""
        with self.look() as look:
            counts = {
                table: look.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                for table in ("sessions", "messages", "contents", "compactions")
            }
            pages, size = (look.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
        return {**counts, "bytes": pages * size}

    def vacuum(self, *, ended_before: float | None = None) -> int:
        """Forget sessions that ended before that time (seconds since the epoch), give room back; returns how many."""
        with self.change() as change:
            gone = 0
            if ended_before is not None:
                gone = change.execute("DELETE FROM sessions WHERE ended < ?", (ended_before,)).rowcount
            self._forget_unused(change)
        with self._lock, self._explained():
            self._connection.execute("VACUUM")
        return gone

    def _forget_unused(self, change: sqlite3.Connection) -> None:
        """Contents that no message and no compaction has any more; passages are found anew when somebody asks."""
        change.execute("CREATE TEMP TABLE used AS SELECT DISTINCT content AS id FROM messages")
        for column in ("before", "after"):
            change.execute(f"INSERT INTO used SELECT value FROM compactions, json_each({column})")
        unused = change.execute("SELECT id, json FROM contents WHERE id NOT IN (SELECT id FROM used)").fetchall()
        for id_, text in unused:
            change.execute(
                "INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)", (id_, searched_text(json.loads(text)))
            )
        change.executemany("DELETE FROM contents WHERE id = ?", [(id_,) for id_, _ in unused])
        change.execute("DROP TABLE used")
        change.execute("DELETE FROM passages")
        for table in ("passage_words", "passage_names"):
            change.execute(f"INSERT INTO {table} ({table}) VALUES ('delete-all')")
        change.execute("UPDATE sessions SET indexed = 0")

    # -- transactions ------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def change(self) -> Generator[sqlite3.Connection]:
        """One transaction that writes; all of it, or nothing."""
        with self._lock, self._explained():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def look(self) -> Generator[sqlite3.Connection]:
        with self._lock, self._explained():
            yield self._connection

    @contextlib.contextmanager
    def _explained(self) -> Generator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise ArchiveError(self.path, str(error)) from error
        except OSError as error:
            raise ArchiveError(self.path, error.strerror or str(error)) from error


def as_text(message: Message) -> str:
    """A message as JSON that gives it back letter for letter, its keys in their order, half characters as escapes."""
    return json.dumps(message, separators=(",", ":"), default=str)
