"""How fast the tools of `lcm` answer, and how long a pass takes, over a long session.

    python -m bench.lcm [messages]

The archive is filled with recorded turns, each made different by a number, and compacted as a host would: in parts. The
times are of single calls, in milliseconds.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from abridged.archive import Archive
from abridged.engines.lcm import LosslessEngine
from bench.real_sessions import Messages, sessions

MESSAGES = 100_000
PORTION = 2_000
CALLS = 200
QUERIES = [
    "stock order",
    "reservation",
    "pytest failed",
    "shop/orders.py",
    "total price tax",
    "turn_4711",
    "the",
    "Done",
]
PATTERNS = [r"turn_4\d11\b", r"reserv\w+ \d+", r"error: .*", r"LMP-0000\d"]


def turns(count: int) -> Messages:
    """So many messages of recorded sessions, each with a name of its own; whole tool groups."""
    pool = [message for _, messages in sessions() for message in messages if message["role"] != "system"]
    made: Messages = []
    while len(made) < count:
        n = len(made)
        message = pool[n % len(pool)]
        text = message.get("content")
        made.append({**message, "content": f"{text} turn_{n}" if isinstance(text, str) else text})
    return made


def times(call: Callable[[int], object], count: int) -> str:
    took: list[float] = []
    for n in range(count):
        started = time.perf_counter()
        call(n)
        took.append(1_000 * (time.perf_counter() - started))
    took.sort()
    return f"median {took[len(took) // 2]:8.1f}  p95 {took[int(len(took) * 0.95)]:8.1f}  most {took[-1]:8.1f} ms"


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else MESSAGES
    with tempfile.TemporaryDirectory() as folder, Archive(Path(folder) / "lcm.db") as archive:
        engine = LosslessEngine(128_000)
        archive.start("s")
        engine.on_session_start("s", archive=archive)
        messages: Messages = [{"role": "system", "content": "You are careful."}]
        archive.append("s", messages)
        passes: list[float] = []
        said = turns(count)
        for first in range(0, count, PORTION):
            new = said[first : first + PORTION]
            archive.append("s", new)
            messages = [*messages, *new]
            started = time.perf_counter()
            messages = engine.compress(messages)
            passes.append(time.perf_counter() - started)
        status = json.loads(engine.handle_tool_call("lcm_status", {}))
        print(f"{status['messages']:,} messages, {status['nodes']} nodes {status['nodes_by_depth']}, "
              f"{archive.stats()['bytes'] / 1e6:.0f} MB")  # fmt: skip
        print(f"a pass over {PORTION} new messages: the first {passes[0]:.2f} s, the last {passes[-1]:.2f} s, "
              f"the slowest {max(passes):.2f} s")  # fmt: skip

        def ask(name: str, **arguments: object) -> object:
            return engine.handle_tool_call(name, arguments)

        print("grep, text:    ", times(lambda n: ask("lcm_grep", query=QUERIES[n % len(QUERIES)]), CALLS))
        for query in QUERIES:
            print(f"  {query:14}", times(lambda _, query=query: ask("lcm_grep", query=query), 20))
        for pattern in PATTERNS:
            print(f"  {pattern:14}", times(lambda _, pattern=pattern: ask("lcm_grep", query=pattern, mode="regex"), 5))
        print("expand a leaf: ", times(lambda n: ask("lcm_expand", node_id=f"n{1 + n}"), CALLS))
        print("describe:      ", times(lambda n: ask("lcm_describe", node_id=f"n{1 + n}"), CALLS))
        started = time.perf_counter()
        ask("lcm_recall", query="which order was reserved")
        print(f"recall, the first time (indexes all): {time.perf_counter() - started:.1f} s; then ",
              times(lambda n: ask("lcm_recall", query=f"what was turn_{n * 37}"), 20))  # fmt: skip
        again = LosslessEngine(128_000)
        again.on_session_start("s", archive=archive)
        started = time.perf_counter()
        again.compress(messages)
        print(f"the first pass of a new engine on the same archive: {time.perf_counter() - started:.2f} s")


if __name__ == "__main__":
    main()
