"""Five compressions in a row, new turns between: one summary in its budget, and what pass 1 kept is still there.

    python -m bench.passes [--window 32000] [--writer useless]

Of each real session over 20,000 tokens half is compressed, then the rest comes in four parts. `refs` are the
identifiers of the first half that the agent used later and that the first pass kept.
"""

import argparse
import re

from abridged import ContextCompressor
from bench.real_sessions import Messages, all_text, parts, sessions
from bench.writers import WRITERS

OPENING = "[CONTEXT COMPACTION"
_IDENTIFIER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./:-]{4,80}")


def identifiers(text: str) -> set[str]:
    found = {name.strip("./:-") for name in _IDENTIFIER.findall(text)}
    return {name for name in found if len(name) >= 5 and re.search(r"[\d/_.]", name)}


def used_later(messages: Messages) -> set[str]:
    """What the agent names itself: in its calls, and in its texts where it makes none."""
    calls = [call["function"]["arguments"] or "" for m in messages for call in m.get("tool_calls") or []]
    texts = calls or [str(m["content"]) for m in messages if m["role"] == "assistant"]
    return identifiers("\n".join(texts))


def run(messages: Messages, window: int, writer: str = "none") -> tuple[list[tuple[int, int, int]], int, int]:
    """For each pass (summaries, summary tokens, budget); refs after pass 1 and how many of them after pass 5."""
    first, *more = parts(messages, [0.5, 0.625, 0.75, 0.875])
    engine = ContextCompressor(window, summarizer=WRITERS[writer]())
    kept: Messages = []
    sizes: list[tuple[int, int, int]] = []
    refs: set[str] = set()
    for new in [first, *more]:
        kept = engine.compress([*kept, *new], force=True)
        summaries = sum(OPENING in str(message.get("content")) for message in kept)
        sizes.append((summaries, engine.report.summary_tokens, engine.report.summary_budget))
        if not refs:
            text = all_text(kept)
            refs = {name for name in used_later(messages[len(first) :]) & identifiers(all_text(first)) if name in text}
    text = all_text(kept)
    return sizes, len(refs), sum(name in text for name in refs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--window", type=int, default=32_000)
    parser.add_argument("--writer", choices=WRITERS, default="none", help="who writes the summaries")
    given = parser.parse_args()
    total = kept = 0
    for name, messages in sessions(20_000):
        sizes, refs, alive = run(messages, given.window, given.writer)
        total, kept = total + refs, kept + alive
        one = all(count == 1 for count, _, _ in sizes)
        inside = all(tokens <= budget for _, tokens, budget in sizes)
        passes = " ".join(f"{tokens}/{budget}" for _, tokens, budget in sizes)
        print(f"{name:32} one summary {one} | inside budget {inside} | summary {passes} | refs {alive} of {refs}")
    print(
        f"passes window {given.window} writer {given.writer} | "
        f"refs of pass 1 after pass 5: {kept / max(1, total):.1%} of {total}"
    )


if __name__ == "__main__":
    main()
