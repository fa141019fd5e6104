"""Summarisers of every sort for the benchmarks: none, a good one, a useless one, a lying one, one that repeats."""

import re
from collections.abc import Callable

from abridged.conversation.text import one_line
from abridged.conversation.tokens import estimate_tokens
from abridged.summarizers import Summarizer, SummaryRequest, SummaryResult
from abridged.testing import EchoSummarizer, HallucinatingSummarizer, ScriptedSummarizer

USELESS = "## Goal\n- Keep fixing tickets.\n\n## Remaining Work\n- Keep fixing tickets."
"""What a model writes that has understood nothing."""
_ENTRY = re.compile(r"^\[(USER|ASSISTANT|TOOL RESULT)[^\]]*\]: ?", re.MULTILINE)
_FENCED = re.compile(r"^<<<([A-Z ]+) ([0-9a-f]{12})\n(.*?)\n\1 \2>>>$", re.MULTILINE | re.DOTALL)
_LINE_CHARS = 160


class GoodSummarizer:
    """Takes over the earlier checkpoint and tells each new turn in one line, the newest first, inside its budget."""

    name = "good"

    def summarize(self, request: SummaryRequest) -> SummaryResult:
        fences = _FENCED.findall(request.record)
        earlier = "".join(text for label, _, text in fences if label == "EARLIER CHECKPOINT")
        turns = "".join(text for label, _, text in fences if label.endswith("TURNS"))
        pieces = _ENTRY.split(turns)
        said = [
            f"{who.title()}: {one_line(text, _LINE_CHARS)}"
            for who, text in zip(pieces[1::2], pieces[2::2], strict=True)
        ]
        room = max(200, request.budget_tokens - estimate_tokens(earlier))
        chosen: list[str] = []
        for line in reversed(said):
            room -= estimate_tokens(line) + 2
            if room < 0:
                break
            chosen.append(line)
        items = "\n".join(f"- {line}" for line in reversed(chosen))
        return SummaryResult(f"{earlier}\n\n## Completed Actions\n{items}\n\n## Goal\n")


WRITERS: dict[str, Callable[[], Summarizer | None]] = {
    "none": lambda: None,
    "good": GoodSummarizer,
    "useless": lambda: ScriptedSummarizer([USELESS]),
    "hallucinating": HallucinatingSummarizer,
    "echo": EchoSummarizer,
}
