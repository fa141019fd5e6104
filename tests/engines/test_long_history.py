"""A history far larger than the summary model's window is summarised part by part (spec: P3.11)."""

import random
import re
from typing import Any

from tests.properties.validator import check_pairs

from abridged import ContextCompressor
from abridged.conversation.tokens import default_counter
from abridged.testing import EchoSummarizer, ScriptedSummarizer, assistant, call, result, user

Message = dict[str, Any]
WINDOW = 128_000
WORDS = "anchor basket bridge candle carton chart clerk copper corner crane depot drawer engine filter".split()  # noqa: SIM905
GOOD = "## Goal\n- Go through the tickets\n\n## Completed Actions\n1. Went through T-100 with check_ticket"


def history(tokens: int) -> list[Message]:
    """Tool groups of about 600 tokens, each with a ticket of its own, and one result that alone is 150,000 tokens."""
    dice = random.Random(3)
    made: list[Message] = [
        {"role": "system", "content": "Be careful."},
        user("Go through the tickets. Never close T-1."),
    ]
    for n in range(tokens // 620):
        made += [
            assistant(f"Now ticket T-{100 + n}.", call(f"c{n}", "check_ticket", ticket=f"T-{100 + n}")),
            result(f"c{n}", " ".join(dice.choices(WORDS, k=500)) + f" verdict V-{100 + n}"),
        ]
    made[9] = result("c3", "\n".join(" ".join(dice.choices(WORDS, k=12)) for _ in range(12_000)))
    return [*made, user("And the last one?")]


def test_no_request_is_above_the_window_and_every_turn_is_shown():
    count = default_counter()
    messages = history(600_000)
    echo = EchoSummarizer(WINDOW)
    engine = ContextCompressor(1_000_000, summarizer=echo, threshold_percent=0.05, minimum_context_length=0)
    out = engine.compress(messages, force=True)
    report = engine.report
    assert report.tokens_before > 600_000
    assert len(echo.requests) > 4
    assert max(count(request.prompt) for request in echo.requests) < WINDOW * 0.9
    shown = "".join(request.record for request in echo.requests)
    middle = messages[report.head_messages :][: report.middle_messages]
    tickets = {ticket for message in middle for ticket in re.findall(r"T-\d+", str(message))}
    assert len(tickets) > 800
    assert not tickets - set(re.findall(r"T-\d+", shown))
    assert report.summary_writer == "model"
    assert report.summary_tokens <= report.summary_budget
    check_pairs(out)
    assert "Never close T-1." in str(out)


def test_each_part_updates_the_one_before():
    own = ScriptedSummarizer([f"{GOOD}\n2. Part {n} was read" for n in range(99)], "own", 32_000)
    engine = ContextCompressor(40_000, summarizer=own, minimum_context_length=0)
    engine.compress(history(130_000), force=True)
    assert len(own.requests) > 3
    assert "EARLIER CHECKPOINT" not in own.requests[0].record
    assert all("EARLIER CHECKPOINT" in request.record for request in own.requests[1:])
    count = default_counter()
    assert max(count(request.prompt) for request in own.requests) < 32_000
