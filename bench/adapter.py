"""The engine as the fidelity yardsticks want it: `FACTORY() -> fn(messages, budget_tokens) -> messages`.

The yardsticks count characters / 4 for every system alike, so the engine is given that counter here. A budget is for
the whole result: what the system prompt leaves of it is divided between the tail and the summary, and what the tail,
which ends at a message, does not use goes to the summary. `None` means default settings in a 128,000 window.
"""

from collections.abc import Callable

from abridged import ContextCompressor
from abridged.conversation.measure import message_tokens
from abridged.conversation.roles import leading_system
from abridged.summarizers import Summarizer
from bench.real_sessions import Messages, rough_tokens
from bench.writers import WRITERS

TAIL_SHARE = 0.25
"""What of a budget is meant for the newest messages; the summary has the rest."""
SMALLEST = 1_300
"""Tokens below which thirteen sections and a tail have no room, whatever is asked."""


def quarter(text: str) -> int:
    return (len(text) + 3) // 4


Run = Callable[[Messages, int | None], Messages]


def compressor() -> Run:
    """By rule, without a model."""
    return _run(None)


def useless() -> Run:
    """With a model whose summary says nothing: what code adds is all there is."""
    return _run(WRITERS["useless"]())


def hallucinating() -> Run:
    """With a model that writes of things that never were."""
    return _run(WRITERS["hallucinating"]())


def _run(summarizer: Summarizer | None) -> Run:
    def run(messages: Messages, budget: int | None) -> Messages:
        if budget is None:
            return ContextCompressor(128_000, counter=quarter, summarizer=summarizer).compress(messages)
        system = sum(message_tokens(message, quarter) for message in messages[: leading_system(messages)])
        room = max(SMALLEST, budget - system)
        tail = int(room * TAIL_SHARE)
        result = _sized(tail, room - tail, summarizer).compress(messages)
        unused = min(budget, room + system) - rough_tokens(result)
        return _sized(tail, room - tail + unused, summarizer).compress(messages) if unused > 0 else result

    return run


def _sized(tail: int, summary: int, summarizer: Summarizer | None) -> ContextCompressor:
    """An engine whose tail and summary have these sizes in tokens, whatever the session."""
    threshold = 4 * (tail + summary)
    return ContextCompressor(
        threshold * 2,
        counter=quarter,
        minimum_context_length=0,
        threshold_percent=0.5,
        protect_first_n=1,
        protect_last_n=1,
        summary_target_ratio=tail / threshold,
        tail_ceiling_ratio=1.0,
        min_summary_tokens=summary,
        summary_ratio=0.9,
        summary_window_share=0.5,
        summary_tokens_ceiling=summary,
        tail_result_chars=max(200, tail * 2),
        summarizer=summarizer,
    )
