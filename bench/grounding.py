"""How much of what is true grounding takes out of a summary: the price of letting nothing invented through.

    python -m bench.grounding [--minimum 8000]

A summariser that tells each turn of the real sessions in the turn's own words, so that every statement is true; labels
and calls that it copied from the record are not counted.
"""

import argparse
from collections import Counter

from abridged import ContextCompressor
from bench.real_sessions import sessions
from bench.writers import GoodSummarizer

LABEL = "a label of the record"


class Counting(GoodSummarizer):
    """Counts what it says."""

    said = 0

    def summarize(self, request):
        answer = super().summarize(request)
        self.said += sum(line.startswith("- ") for line in (answer.text or "").splitlines())
        return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minimum", type=int, default=8_000, help="tokens of the smallest session")
    parser.add_argument("--examples", type=int, default=8)
    given = parser.parse_args()
    said, why, examples = 0, Counter[str](), list[str]()
    for _, messages in sessions(given.minimum):
        writer = Counting()
        engine = ContextCompressor(
            16_000, minimum_context_length=0, summarizer=writer, summary_ratio=0.5, summary_window_share=0.3
        )
        engine.compress(messages, force=True)
        removed = [entry for entry in engine.report.removed if entry.why != LABEL]
        said += writer.said
        why.update(entry.why for entry in removed)
        examples += [f"{entry.why}: {entry.text}" for entry in removed]
    for example in examples[: given.examples]:
        print(f"  {example}")
    gone = sum(why.values())
    print(f"grounding: {gone} of {said:,} true statements taken out ({gone / max(1, said):.2%}) | {dict(why)}")


if __name__ == "__main__":
    main()
