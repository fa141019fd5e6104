"""How long an agent's loop stands still for a compaction whose summariser takes five seconds.

    python -m bench.stall [--seconds 5] [--turns 160]

One host loop with background preparation and one without; each turn takes a while, as models and tools do. Printed
is the longest time that one call of the session took, and how many compactions there were.
"""

import argparse
import time

from abridged import ContextCompressor, ContextSession
from abridged.testing import SlowSummarizer, assistant, call, result, user

GOOD = "## Goal\n- Go through the parts\n\n## Completed Actions\n1. Went through part 3 with read_part"


def run(seconds: float, turns: int, *, background: bool) -> tuple[float, int, str]:
    """The longest call in seconds, compactions, and who wrote the last summary."""
    engine = ContextCompressor(
        40_000, minimum_context_length=0, summarizer=SlowSummarizer(seconds, GOOD), frequency_limit=1_000
    )
    session = ContextSession.start("stall", engine=engine, archive=":memory:", background=background)
    messages = [{"role": "system", "content": "Be careful."}, user("Go through the parts.")]
    longest = 0.0
    for number in range(turns):
        started = time.perf_counter()
        messages = session.before_request(messages)
        longest = max(longest, time.perf_counter() - started)
        session.after_response({"prompt_tokens": engine.estimate(messages)})
        text = f"part {number} has value V-{number}\n" + f"row {number} of the listing, all is well\n" * 60
        messages = [
            *messages,
            assistant(f"Part {number}.", call(f"c{number}", "read_part", part=number)),
            result(f"c{number}", text),
        ]
        started = time.perf_counter()
        messages = session.after_turn(messages)
        longest = max(longest, time.perf_counter() - started)
        time.sleep(seconds / 10)  # the model answers, tools run
    return longest, engine.compression_count, engine.report.summary_writer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0, help="what the summariser takes")
    parser.add_argument("--turns", type=int, default=160)
    given = parser.parse_args()
    for background in (True, False):
        longest, compactions, writer = run(given.seconds, given.turns, background=background)
        how = "prepared in the background" if background else "made when it is due"
        print(f"{how}: longest call {1000 * longest:.1f} ms, {compactions} compactions, written by {writer}")


if __name__ == "__main__":
    main()
