"""Compress the recorded session as a user would, and look at what the model would read afterwards.

make demo
"""

import json
import sys
import tempfile
from pathlib import Path

from abridged.cli import main

SESSION = Path(__file__).with_name("session.json")
WINDOW = 64_000


def demo() -> int:
    print(f"A recorded session of an agent (see examples/README.md) in a window of {WINDOW:,} tokens:\n")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "compressed.json"
        code = main(["compress", str(SESSION), "-o", str(out), "--context-length", str(WINDOW)])
        if code:
            return code
        messages = json.loads(out.read_text())["messages"]
    summary = next(m["content"] for m in messages if "[CONTEXT COMPACTION" in str(m["content"]))
    print("\nThe summary that stands in place of the middle:\n")
    for line in summary.split("\n"):
        print("   ", line if len(line) <= 400 else f"{line[:400]}… ({len(line):,} characters)")
    return 0


if __name__ == "__main__":
    sys.exit(demo())
