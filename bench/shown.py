"""How much of a conversation a summariser is shown: the most that a perfect one could keep.

    python -m bench.shown [--turns 200] [--chars 2400 20000] [--window 128000]

Planted facts of five kinds (../shared/bench/fidelity.py) and a summariser that only listens. Printed per length of the
tool results: the share of the facts of each kind that stood in what it was shown, the requests, and the largest one.
"""

import argparse
import importlib.util
import sys
from types import ModuleType

from abridged import ContextCompressor
from abridged.conversation.tokens import default_counter
from abridged.testing import EchoSummarizer
from bench.real_sessions import ROOT


def yardsticks() -> ModuleType:
    """The shared yardsticks, which lie beside the project; leaves with a word where they do not."""
    path = ROOT.parent / "shared" / "bench" / "fidelity.py"
    spec = importlib.util.spec_from_file_location("fidelity", path)
    if not path.exists() or spec is None or spec.loader is None:
        sys.exit(f"{path.name} does not lie beside the project: nothing to measure")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--chars", type=int, nargs="+", default=[2_400, 20_000])
    parser.add_argument("--window", type=int, default=128_000, help="tokens of the summary model's window")
    given = parser.parse_args()
    fidelity, count = yardsticks(), default_counter()
    for chars in given.chars:
        messages, facts = fidelity.planted(given.turns, tool_chars=chars)
        echo = EchoSummarizer(given.window)
        engine = ContextCompressor(128_000, summarizer=echo)
        engine.compress(messages, force=True)
        middle = messages[engine.report.head_messages :][: engine.report.middle_messages]
        left = [fact for fact in facts if any(fact[0] in str(message) for message in middle)]
        shown = "\n".join(request.record for request in echo.requests)
        shares = {
            kind: sum(fact[place] in shown for fact in left) / len(left) for place, kind in enumerate(fidelity.KINDS)
        }
        largest = max(count(request.prompt) for request in echo.requests)
        print(
            f"results of {chars:,} characters: {len(left)} turns replaced, {len(echo.requests)} requests, "
            f"largest {largest:,} tokens | " + " | ".join(f"{kind} {share:.3f}" for kind, share in shares.items())
        )


if __name__ == "__main__":
    main()
