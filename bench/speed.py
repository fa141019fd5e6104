"""What a compression costs on planted conversations: growth, the multiple of one `json.dumps`, and extra memory.

    python -m bench.speed [--turns 400 800] [--runs 7] [--filler dense] [--strict]

Times are seconds of the process's own CPU, so that what else runs on the machine counts little; medians, garbage
collected before each run and the collector left on. Growth is measured on conversations never seen before: the
library remembers words, and a second look at the same text is cheaper. The multiples name both.
"""

import argparse
import gc
import json
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import count
from multiprocessing import get_context
from statistics import median
from time import process_time

from abridged import ContextCompressor
from abridged.budget import Budget, Settings
from abridged.phases.assemble import assemble
from abridged.phases.boundaries import BoundarySettings, plan_boundaries
from abridged.phases.prune import PruneSettings, prune
from abridged.phases.repair import repair
from abridged.summary.template import frame
from abridged.testing import Message
from bench.planted import FILLERS, conversation

WINDOW = 128_000
"""Tokens."""
TURNS = (100, 200, 400, 800, 1_600, 3_200, 6_400)
STEADY_FROM = 400
"""From so many turns on the time per turn is to be constant."""
CASE = 200
"""Turns of the conversation that is compared with `json.dumps`."""
MEMORY_TURNS = (CASE, 1_600)
LEAST_RUNS = 7
"""A multiple is never the median of fewer."""

SPREAD_GOAL = 0.20
"""The slowest time per turn may be this much above the fastest."""
OFFLINE_GOAL = 25.0
"""A whole compression with the offline summary, as a multiple of one `json.dumps`."""
PHASES_GOAL = 5.0
"""Phases 1, 2, 4 and 5 alone."""
MEMORY_GOAL = 2.0
"""Peak of what is allocated meanwhile, as a multiple of the conversation."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One row of the goals."""

    what: str
    figure: float
    goal: float
    unit: str

    def __str__(self) -> str:
        word = "holds" if self.holds else "falls short"
        return f"{word:12} {self.what}: {self.figure:.2f}{self.unit} (goal: at most {self.goal:.0f}{self.unit})"

    @property
    def holds(self) -> bool:
        return self.figure <= self.goal


def whole(messages: list[Message]) -> list[Message]:
    """One compression by a new engine: no count is left from an earlier one."""
    return ContextCompressor(WINDOW).compress(messages)


SUMMARY = frame("## Active Task\nContinue with the newest ticket.")


def phases_alone(messages: list[Message]) -> list[Message]:
    """Phases 1, 2, 4 and 5 with the default sizes and a fixed text for the summary."""
    budget, settings = Budget.derive(Settings(), WINDOW), Settings()
    light = prune(
        messages, PruneSettings(budget.tail_tokens, settings.protect_last_n, settings.protect_first_n)
    ).messages
    plan = plan_boundaries(light, BoundarySettings(tail_ceiling=budget.tail_ceiling, head_ceiling=budget.tail_ceiling))
    kept = [light[place] for place in plan.kept]
    return repair(assemble(kept[: plan.head_end], SUMMARY, kept[plan.head_end :])).messages


def seconds(action: Callable[[list[Message]], object], messages: list[Message]) -> float:
    gc.collect()
    start = process_time()
    action(messages)
    return process_time() - start


def growth(sizes: list[int], runs: int, filler: str) -> dict[int, tuple[float, float]]:
    """Turns -> milliseconds per turn of a compression, and of one `json.dumps`: what leaves the caches slows both.

    Each run has conversations of its own, and the sizes alternate; one seed would give all sizes the same beginning.
    """
    taken: dict[int, list[tuple[float, float]]] = {turns: [] for turns in sizes}
    for seed in range(1, runs + 1):
        for turns in sizes:
            messages = conversation(turns, filler=filler, seed=seed * 100_000 + turns)
            taken[turns].append((seconds(whole, messages), seconds(json.dumps, messages)))
    return {
        turns: (1_000 * median(one for one, _ in times) / turns, 1_000 * median(two for _, two in times) / turns)
        for turns, times in taken.items()
    }


@dataclass(frozen=True, slots=True)
class Multiples:
    """One case beside `json.dumps` of the same conversation."""

    dumps_ms: float
    phases: float
    again: float
    """The same conversation, seen before."""
    new: float
    """A conversation of the same size, never seen."""


def multiples(runs: int, filler: str) -> Multiples:
    """Medians of runs in turn: what slows the machine for a moment slows all of them."""
    same = conversation(CASE, filler=filler)
    fresh = (conversation(CASE, filler=filler, seed=seed) for seed in count(1_000))
    for action in (json.dumps, phases_alone, whole):
        seconds(action, same)
    rounds = [
        (seconds(json.dumps, same), seconds(phases_alone, same), seconds(whole, same), seconds(whole, next(fresh)))
        for _ in range(runs)
    ]
    dumps, phases, again, new = map(median, zip(*rounds, strict=True))
    return Multiples(dumps * 1_000, phases / dumps, again / dumps, new / dumps)


def memory(turns: int, filler: str) -> tuple[int, int]:
    """Bytes of a conversation, and the most that one compression of it allocates beside it. For a new process."""
    # What is made once per process is no cost of a conversation.
    ContextCompressor(4_000, minimum_context_length=0).compress(conversation(20, filler=filler, seed=99), force=True)
    gc.collect()
    tracemalloc.start()
    messages = conversation(turns, filler=filler)
    gc.collect()
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    whole(messages)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return size, peak - size


def print_growth(per_turn: dict[int, tuple[float, float]], filler: str) -> None:
    print(f"{'turns':>8} {'messages':>9} {'ms':>9} {'ms per turn':>12} {'json.dumps':>11}   ({filler} results)")
    for turns, (ms, dumps) in per_turn.items():
        print(f"{turns:8,} {4 * turns + 1:9,} {ms * turns:9.1f} {ms:12.3f} {dumps:11.4f}")


def print_multiples(cases: dict[str, Multiples]) -> None:
    print(f"\n{CASE} turns as multiples of one json.dumps:")
    print(f"{'results':>8} {'dumps ms':>9} {'phases alone':>13} {'compress':>9} {'compress, never seen':>21}")
    for filler, case in cases.items():
        print(f"{filler:>8} {case.dumps_ms:9.2f} {case.phases:12.1f}x {case.again:8.1f}x {case.new:20.1f}x")


def print_memory() -> dict[str, float]:
    """Filler -> the largest multiple of the conversation."""
    print(f"\n{'results':>8} {'turns':>6} {'conversation':>13} {'extra memory':>13} {'multiple':>9}")
    largest = dict.fromkeys(FILLERS, 0.0)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as fresh_process:
        for filler in FILLERS:
            for turns in MEMORY_TURNS:
                size, more = fresh_process.submit(memory, turns, filler).result()
                largest[filler] = max(largest[filler], more / size)
                print(f"{filler:>8} {turns:6,} {size / 1e6:10.2f} MB {more / 1e6:10.2f} MB {more / size:8.2f}x")
    return largest


def verdicts(sizes: list[int], runs: int, filler: str) -> Iterator[Verdict]:
    """Measures, prints the tables, and judges what was measured with `filler`."""
    per_turn = growth(sizes, runs, filler)
    print_growth(per_turn, filler)
    cases = {kind: multiples(max(runs, LEAST_RUNS), kind) for kind in FILLERS}
    print_multiples(cases)
    largest = print_memory()
    print(f"\nWith {filler} results:")
    steady = [ms for turns, (ms, _) in per_turn.items() if turns >= STEADY_FROM]
    if len(steady) > 1:
        spread = max(steady) / min(steady) - 1
        yield Verdict(f"time per turn from {STEADY_FROM} turns on varies by", 100 * spread, 100 * SPREAD_GOAL, " %")
    yield Verdict("compression with the offline summary", cases[filler].again, OFFLINE_GOAL, " x json.dumps")
    yield Verdict("phases 1, 2, 4, 5 alone", cases[filler].phases, PHASES_GOAL, " x json.dumps")
    yield Verdict("extra memory", largest[filler], MEMORY_GOAL, " x the conversation")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, nargs="+", default=TURNS)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--filler", choices=FILLERS, default="plain", help="what fills the tool results")
    parser.add_argument("--strict", action="store_true", help="exit code 1 where a goal is missed")
    given = parser.parse_args()
    rows = list(verdicts(sorted(set(given.turns)), max(1, given.runs), given.filler))
    print(*rows, sep="\n")
    if given.strict and not all(row.holds for row in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
