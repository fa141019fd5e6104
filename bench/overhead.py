"""What a session costs each turn: the check before a request and the decision after it, however long the conversation.

    python -m bench.overhead [--messages 1000 10000 100000]

Medians over 50 turns that add two messages each, with and without an archive. The window is so large that nothing is
ever compressed.
"""

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median

from abridged import ContextCompressor, ContextSession
from abridged.testing import assistant, call, result
from bench.planted import conversation

TURNS = 50


def run(count: int, archive: str | None) -> tuple[float, float]:
    """Milliseconds of `before_request`, and of `after_response` with `after_turn`."""
    messages = conversation(count // 4, seed=3)
    session = ContextSession.start("s", engine=ContextCompressor(1_000_000_000), archive=archive)
    messages = session.after_turn(session.before_request(messages))
    before: list[float] = []
    after: list[float] = []
    for number in range(TURNS):
        started = time.perf_counter()
        messages = session.before_request(messages)
        before.append(time.perf_counter() - started)
        messages = [
            *messages,
            assistant("Next.", call(f"n{number}", "check", part=number)),
            result(f"n{number}", "fine " * 80),
        ]
        started = time.perf_counter()
        session.after_response({"prompt_tokens": 1_000})
        messages = session.after_turn(messages)
        after.append(time.perf_counter() - started)
    return 1_000 * median(before), 1_000 * median(after)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    given = parser.parse_args()
    print(f"{'messages':>9} {'archive':>8} {'before ms':>10} {'after ms':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for count in given.messages:
            for archive in (None, str(Path(folder) / f"{count}.db")):
                before, after = run(count, archive)
                print(f"{count:9,} {'file' if archive else 'none':>8} {before:10.3f} {after:9.3f}")


if __name__ == "__main__":
    main()
