"""Does redaction take away what is no secret? Real identifiers of recorded sessions, each in the line where it stands.

    python -m bench.false_positives [--names 10000] [--limit 0.5] [--examples 20]

An identifier counts as changed when `redact` leaves fewer of it in its line. Where the sessions hold fewer than asked
for, more lines in which they stand count. Real secrets count, too: look at the examples. Ends with 1 above the limit,
and with 2 where there are too few for a verdict.
"""

import argparse
import sys
from collections.abc import Iterator
from typing import NamedTuple

from abridged.summary.redact import redact
from abridged.summary.words import names_in
from bench.real_sessions import SHARED, sessions, text_of


class Found(NamedTuple):
    """An identifier, and a line in which it stands."""

    name: str
    line: str
    session: str


def identifiers() -> Iterator[Found]:
    """Every distinct identifier once, session by session in turn: none fills the list alone. Then their other lines."""
    seen: set[str] = set()
    known: set[str] = set()
    again: list[Found] = []
    waiting = [_lines(name, messages) for name, messages in sessions()]
    while waiting:
        for lines in list(waiting):
            pair = next(lines, None)
            if pair is None:
                waiting.remove(lines)
                continue
            session, line = pair
            if line in known:
                continue
            known.add(line)
            for name in names_in(line):
                if name not in line:  # behind an escape
                    continue
                if name in seen:
                    again.append(Found(name, line, session))
                else:
                    seen.add(name)
                    yield Found(name, line, session)
    yield from again


def _lines(session: str, messages: list[dict]) -> Iterator[tuple[str, str]]:
    for message in messages:
        for line in text_of(message).splitlines():
            yield session, line


def changed(found: Found, lines: dict[str, str]) -> bool:
    """Whether redaction took the identifier away. `lines`: lines that were redacted before, and what became of them."""
    if found.line not in lines:
        lines[found.line] = redact(found.line)
    after = lines[found.line]
    return after is not found.line and after.count(found.name) < found.line.count(found.name)


def _excerpt(found: Found, around: int = 60) -> str:
    at = found.line.index(found.name)
    return found.line[max(0, at - around) : at + len(found.name) + around].strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", type=int, default=10_000, help="how many distinct identifiers")
    parser.add_argument("--limit", type=float, default=0.5, help="percent that may change")
    parser.add_argument("--examples", type=int, default=20)
    given = parser.parse_args()
    if not SHARED.is_dir():
        print("no verdict: the recorded sessions are not here (../shared/data/sessions, or ABRIDGED_SESSIONS)")
        return 2
    lines: dict[str, str] = {}
    asked = 0
    distinct: set[str] = set()
    taken: list[Found] = []
    for found in identifiers():
        if asked == given.names:
            break
        asked += 1
        distinct.add(found.name)
        if changed(found, lines):
            taken.append(found)
    share = 100 * len(taken) / asked
    print(f"{len(taken)} of {asked:,} identifiers changed: {share:.2f} % (at most {given.limit} %)", end="; ")
    print(f"{len(distinct):,} of them are distinct, in {len(lines):,} lines")
    for found in taken[: given.examples]:
        print(f"  {found.session}: {found.name!r} in: {_excerpt(found)!r}")
    if asked < given.names:
        print(f"too few identifiers for a verdict: {asked:,} of {given.names:,}")
        return 2
    return int(share > given.limit)


if __name__ == "__main__":
    sys.exit(main())
