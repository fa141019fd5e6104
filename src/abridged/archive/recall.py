"""Finding again what was said: passages of a session by their words, by the names in them, and by how long ago it was.

A question need not have the words of the answer: any of its words may fit, and a name weighs more than a word. The
index is caught up when somebody asks, so that archiving stays cheap; it can be thrown away and is made anew.
"""

import json
import math
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from abridged.archive.store import Archive
from abridged.archive.words import spaced
from abridged.conversation.measure import replayed_text
from abridged.conversation.pairing import pair
from abridged.conversation.text import Message, one_line
from abridged.summary.identifiers import names_in_word

PASSAGE_CHARS = 1_000
"""A passage is as many whole lines as fit, or a part of a longer one."""
OVERLAP_CHARS = 150
"""What two parts of one line have in common, so that nothing is cut in two."""
HEADER_CHARS = 200
MOST_CHARS = 1_000_000
"""Of one message; what lies beyond is data that nobody asks for by a word."""
CANDIDATES = 200
"""Passages that each way of looking may propose."""
COMMON = 5_000
"""A word in more passages than this is everywhere."""
COMMON_WEIGHT, STEM, LOOKED_INTO = 1.0, 6, 60
"""What such a word adds, by its first letters, in so many of the passages that others proposed."""
MOST_TERMS = 40
"""Words of a question that are looked for."""
AROUND_CHARS = 200
"""What is shown before and behind a passage."""
OF_ONE_MESSAGE = 2
"""Passages of one message that are shown."""
LOOK_BACK = 64
"""Messages before the first new one in which its call may stand."""

NAME_WEIGHT = 1.5
"""What a name counts beside its words."""
RECENCY_SHARE = 0.1
"""So much more the newest passage of a session weighs than the oldest: a tie-break, never a filter."""

_NO_END = 1 << 62
_STOP = frozenset(
    (  # noqa: SIM905
        "a an and any are as at be been by can could did do does for from had has have how i in is it its me my of on "
        "or our said say says tell that the their them then there these they this to was we were what when where "
        "which who why will with would you your"
    ).split()
)


@dataclass(frozen=True, slots=True)
class Found:
    """A passage."""

    session: str
    place: int
    """The message: how many the session had said before it."""
    role: str
    header: str
    """Of a tool's result, the call; else ""."""
    text: str
    score: float
    at: float
    """Seconds since the epoch."""


class Recall:
    """Over one archive. Safe from several threads and processes."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def find(
        self, question: str, session: str, *, limit: int = 5, roles: Sequence[str] = (), before: int | None = None
    ) -> list[Found]:
        """The passages that answer best, the best one first.

        `roles`: only of these. `before`: only of messages in front of that place.
        """
        self._catch_up(session)
        with self._archive.look() as look:
            scores = _scores(look, session, question, before)
            found = _shown(look, session, scores)
            return list(islice((one for one in found if not roles or one.role in roles), limit))

    def _catch_up(self, session: str) -> None:
        """Index what was said since the last time; in parts, so that nobody waits for long."""
        while True:
            with self._archive.look() as look:
                row = look.execute("SELECT indexed FROM sessions WHERE id = ?", (session,)).fetchone()
            first = row[0] if row else 0
            messages = self._archive.transcript(session, max(0, first - LOOK_BACK), first + 2_000)
            if len(messages) <= min(first, LOOK_BACK):
                return
            with self._archive.change() as change:
                (now,) = change.execute("SELECT indexed FROM sessions WHERE id = ?", (session,)).fetchone()
                if now == first:  # nobody else did it meanwhile
                    _index(change, session, messages, max(0, first - LOOK_BACK), first)


def _index(change: sqlite3.Connection, session: str, messages: list[Message], offset: int, first: int) -> None:
    """The messages from place `first` on; `messages` begin at place `offset`."""
    pairing = pair(messages)
    for index in range(first - offset, len(messages)):
        call = pairing.call(index)
        header = one_line(f"{call.name} {call.arguments_text}", HEADER_CHARS) if call else ""
        text = replayed_text(messages[index])[:MOST_CHARS].encode("utf-8", "replace").decode()
        for start, end in passages(text):
            (id_,) = change.execute(
                "INSERT INTO passages (session, place, start, length, header) VALUES (?, ?, ?, ?, ?) RETURNING id",
                (session, offset + index, start, end - start, header),
            ).fetchone()
            part = f"{header}\n{text[start:end]}"
            change.execute("INSERT INTO passage_words (rowid, text) VALUES (?, ?)", (id_, spaced(part)))
            names = names_in(part)
            if names:
                change.execute("INSERT INTO passage_names (rowid, text) VALUES (?, ?)", (id_, " ".join(names)))
    change.execute("UPDATE sessions SET indexed = ? WHERE id = ?", (offset + len(messages), session))


def passages(text: str) -> Iterator[tuple[int, int]]:
    """Where the passages of a text begin and end."""
    start = 0
    while start < len(text):
        end = min(start + PASSAGE_CHARS, len(text))
        if end == len(text):
            yield start, end
            return
        cut = text.rfind("\n", start + PASSAGE_CHARS // 3, end)
        if cut > 0:
            yield start, cut
            start = cut + 1
            continue
        cut = max(text.rfind(" ", end - OVERLAP_CHARS, end), text.rfind(",", end - OVERLAP_CHARS, end))
        end = cut + 1 if cut > 0 else end
        yield start, end
        start = end - OVERLAP_CHARS


def names_in(text: str) -> list[str]:
    """The names in a text, each once."""
    return list(dict.fromkeys(name for word in text.split() for name, _ in names_in_word(word)))


# -- looking -------------------------------------------------------------------------------------------------------


def _scores(look: sqlite3.Connection, session: str, question: str, before: int | None) -> dict[int, float]:
    """Passage -> score: how well its words fit, and how rare the names are that it has."""
    end = _NO_END if before is None else before
    scores: defaultdict[int, float] = defaultdict(float, _by_words(look, _terms(question), session, end))
    (count,) = look.execute("SELECT count(*) FROM passages WHERE session = ?", (session,)).fetchone()
    for name in _names(question):
        holding = _matching(look, "passage_names", name, session, end)
        if len(holding) < CANDIDATES:  # a name that is everywhere says nothing
            for id_ in holding:
                scores[id_] += NAME_WEIGHT * math.log(1 + count / len(holding))
    return scores


def _by_words(look: sqlite3.Connection, terms: list[str], session: str, end: int) -> dict[int, float]:
    """Passages with any of the words. To rank by a word that is everywhere takes long and tells little: such words
    propose only where there is no rarer one, the newest passages with all of them, and else only add their part."""
    common = [term for term in terms if _is_common(look, term)]
    rare = [term for term in terms if term not in common]
    if rare or not common:
        found = _matching(look, "passage_words", " OR ".join(rare), session, end)
    else:
        ids = _newest(look, " AND ".join(common), session, end) or _newest(look, " OR ".join(common), session, end)
        found = dict.fromkeys(ids, 0.0)
    if common:
        best = sorted(found, key=found.__getitem__, reverse=True)[:LOOKED_INTO]
        for id_, text in _texts(look, best):
            found[id_] += COMMON_WEIGHT * sum(term.strip('"')[:STEM] in text for term in common)
    return found


def _is_common(look: sqlite3.Connection, term: str) -> bool:
    query = "SELECT count(*) FROM (SELECT 1 FROM passage_words WHERE passage_words MATCH ? LIMIT ?)"
    (count,) = look.execute(query, (term, COMMON + 1)).fetchone()
    return count > COMMON


def _matching(look: sqlite3.Connection, table: str, query: str, session: str, end: int) -> dict[int, float]:
    """The passages that fit best, and how well."""
    if not query:
        return {}
    rows = look.execute(
        f"SELECT passages.id, -rank FROM {table} CROSS JOIN passages ON passages.id = {table}.rowid"
        f" WHERE {table} MATCH ? AND passages.session = ? AND passages.place < ? ORDER BY rank LIMIT ?",
        (query, session, end, CANDIDATES),
    )
    return dict(rows.fetchall())


def _newest(look: sqlite3.Connection, query: str, session: str, end: int) -> list[int]:
    rows = look.execute(
        "SELECT passages.id FROM passage_words CROSS JOIN passages ON passages.id = passage_words.rowid"
        " WHERE passage_words MATCH ? AND passages.session = ? AND passages.place < ?"
        " ORDER BY passage_words.rowid DESC LIMIT ?",
        (query, session, end, CANDIDATES),
    )
    return [id_ for (id_,) in rows.fetchall()]


def _texts(look: sqlite3.Connection, ids: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Passages in lower case, as they are looked into."""
    marks = ",".join("?" * len(ids))
    rows = look.execute(
        "SELECT passages.id, start, length, header, json FROM passages JOIN messages ON"
        " messages.session = passages.session AND messages.place = passages.place JOIN contents ON"
        f" contents.id = content WHERE passages.id IN ({marks})",
        tuple(ids),
    )
    for id_, start, length, header, text in rows.fetchall():
        whole = replayed_text(json.loads(text))
        yield id_, spaced(f"{header} {whole[start : start + length]}").lower()


def _terms(question: str) -> list[str]:
    """The words as queries; what stands in quotes is a phrase."""
    terms = [" ".join(re.findall(r"\w+", spaced(phrase))) for phrase in re.findall(r'"([^"]+)"', question)]
    words = dict.fromkeys(re.findall(r"[^\W_]+", spaced(question).lower()))
    terms += [word for word in words if word not in _STOP]
    return [f'"{term}"' for term in terms if term][:MOST_TERMS]


def _names(question: str) -> list[str]:
    """Each name as a query; it may be a part of a longer one."""
    return ['"' + name.replace('"', '""') + '"' for name in names_in(question) if len(name) >= 3][:MOST_TERMS]


def _shown(look: sqlite3.Connection, session: str, scores: dict[int, float]) -> Iterator[Found]:
    """The passages themselves, the best one first; of each message its best two."""
    if not scores:
        return
    marks = ",".join("?" * len(scores))
    rows = look.execute(
        f"SELECT id, place, start, length, header FROM passages WHERE id IN ({marks})", tuple(scores)
    ).fetchall()
    newest = max(place for _, place, _, _, _ in rows) or 1
    ranked = sorted(rows, key=lambda row: (-scores[row[0]] * (1 + RECENCY_SHARE * row[1] / newest), -row[1]))
    shown: Counter[int] = Counter()
    for id_, place, start, length, header in ranked:
        shown[place] += 1
        if shown[place] > OF_ONE_MESSAGE:
            continue
        text, at = look.execute(
            "SELECT json, at FROM messages JOIN contents ON contents.id = content WHERE session = ? AND place = ?",
            (session, place),
        ).fetchone()
        message: Message = json.loads(text)
        whole = replayed_text(message).encode("utf-8", "replace").decode()
        around = whole[max(0, start - AROUND_CHARS) : start + length + AROUND_CHARS]
        yield Found(session, place, str(message.get("role") or ""), header, around, scores[id_], at)
