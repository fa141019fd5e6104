"""The archive under load: how fast it takes messages in, how fast it finds them, and many writers of one file.

python -m bench.archive [--messages 100000] [--compactions 1000]
"""

import argparse
import json
import random
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

from abridged.archive import Archive
from abridged.errors import SessionBusy
from abridged.testing import user
from bench.planted import conversation

SESSIONS = 10
PROCESSES = 2


def ingest_and_search(path: Path, count: int) -> None:
    messages = conversation(count // 4, seed=5)
    with Archive(path) as archive:
        archive.start("s")
        started = time.perf_counter()
        for at in range(0, len(messages), 4):  # a turn at a time, as a session does
            archive.append("s", messages[at : at + 4])
        spent = time.perf_counter() - started
        print(f"ingest: {len(messages):,} messages, {len(messages) / spent:,.0f} a second, turn by turn")
        dice = random.Random(1)
        taken: list[float] = []
        for _ in range(300):
            n = dice.randrange(count // 4)
            query = dice.choice((f"WH-{10_000 + 7 * n}", f"E{n}", f"k{n}", "harbour truck refund", '"paper transit"'))
            started = time.perf_counter()
            archive.search(query)
            taken.append(time.perf_counter() - started)
        taken.sort()
        print(f"search: median {1_000 * taken[150]:.2f} ms, p95 {1_000 * taken[285]:.1f} ms")
        archive.compact("s", messages, messages[-50:], {}, follows=0)
    started = time.perf_counter()
    with Archive(path) as archive:
        live, _ = archive.live("s")
    print(f"restart: {1_000 * (time.perf_counter() - started):.1f} ms for {len(live)} live messages of {count:,}")


def write(path: str, process: int, compactions: int) -> None:
    """All processes work on the same sessions; who comes second takes over what the first one made and goes on."""
    with Archive(path) as archive:
        for n in range(compactions):
            name = f"s{n % SESSIONS}"
            archive.start(name)
            new = [user(f"process {process}, message {n}.{k} " + "words of a turn " * 20) for k in range(4)]
            archive.append(name, new)
            while True:
                live, last = archive.live(name)
                try:
                    archive.compact(name, live, [user(f"summary {n} of {process}"), new[-1]], {"n": n}, follows=last)
                    break
                except SessionBusy:
                    continue


def contention(path: Path, compactions: int) -> None:
    Archive(path).close()
    each = compactions // PROCESSES
    started = time.perf_counter()
    workers = [get_context("spawn").Process(target=write, args=(str(path), n, each)) for n in range(PROCESSES)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(600)
    spent = time.perf_counter() - started
    with Archive(path) as archive:
        stats = archive.stats()
        lineages = [[c.number for c in archive.compactions(info.id)] for info in archive.sessions()]
        one = all(numbers == list(range(1, len(numbers) + 1)) for numbers in lineages)
        said = [json.dumps(m) for info in archive.sessions() for m in archive.transcript(info.id)]
    print(
        f"contention: {PROCESSES} processes on the same {SESSIONS} sessions, {stats['compactions']:,} compactions in "
        f"{spent:.1f} s | exit codes {[worker.exitcode for worker in workers]} | one lineage each {one} | "
        f"rows {stats['messages']:,}, distinct {len(set(said)):,}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--compactions", type=int, default=1_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ingest_and_search(Path(folder) / "one.db", given.messages)
        contention(Path(folder) / "many.db", given.compactions)


if __name__ == "__main__":
    main()
