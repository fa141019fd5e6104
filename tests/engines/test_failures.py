"""Every fault of a summariser, at every rung, below and above the window: the conversation stays whole and says why.

Kind G of the field reports: a failed summary that costs a conversation its middle (spec: P3.7, P3.10, F1).
"""

import asyncio
import threading
import time
from typing import Any

import pytest
from tests.properties.validator import check_pairs

from abridged import ContextCompressor, SummarizerError
from abridged.errors import FAILURE_KINDS
from abridged.summarizers import SummaryResult
from abridged.testing import (
    FailingSummarizer,
    FakeClock,
    ScriptedSummarizer,
    SlowSummarizer,
    assistant,
    call,
    result,
    user,
)

Message = dict[str, Any]
GOOD = "## Goal\n- Build the parts\n\n## Completed Actions\n1. Built part 3 with make"
LONG = 200_000


class Status(Exception):
    def __init__(self, status_code: int, text: str = "no") -> None:
        super().__init__(text)
        self.status_code = status_code


FAULTS: dict[str, tuple[Any, str]] = {
    "nothing": (None, "empty"),
    "empty": ("", "empty"),
    "blank": (" \n\t ", "empty"),
    "only thoughts": ("<think>first I</think>", "empty"),
    "thoughts without an end": ("<think>first I", "empty"),
    "a reasoning field alone": (SummaryResult("", reasoning="Let me think about it."), "empty"),
    "a refusal": ("I am sorry, I cannot do that.", "refusal"),
    "a chat answer": ("Sure! The next step is to run make.", "refusal"),
    "an error text": ("Error code: 500 - internal server error", "refusal"),
    "cut off": (SummaryResult(GOOD, "length"), "truncated"),
    "cut off, anthropic": (SummaryResult(GOOD, "max_tokens"), "truncated"),
    "tool syntax": (GOOD + '\n<tool_call>{"name": "ls"}</tool_call>', "malformed"),
    "longer than its source": (GOOD + "\n- pad" * 60_000, "inflated"),
    "wrong key": (Status(401), "auth"),
    "forbidden": (Status(403), "auth"),
    "quota": (Status(429, "insufficient_quota"), "rate_limit"),
    "too many requests": (Status(429, "slow down"), "rate_limit"),
    "unknown model": (Status(404, "model not found"), "not_found"),
    "unavailable": (Status(503), "not_found"),
    "bad gateway": (Status(502, "<html>"), "network"),
    "too long": (Status(400, "maximum context length is 8192 tokens"), "overflow"),
    "dropped": (ConnectionError("reset by peer"), "network"),
    "timed out": (TimeoutError("read timed out"), "timeout"),
    "no provider": (RuntimeError("no provider configured"), "no_provider"),
    "anything": (ValueError("surprise"), "other"),
    "leaves the program": (SystemExit(3), "other"),
}
KEPT = {"auth", "rate_limit", "network"}


def session(turns: int = 60) -> list[Message]:
    made: list[Message] = [{"role": "system", "content": "You are careful."}, user("Build the parts.")]
    for n in range(turns):
        made += [
            assistant(None, call(f"c{n}", "terminal", command=f"make part{n}")),
            result(f"c{n}", f"built {n} " * 60),
            assistant(f"Part {n} is built."),
            user(f"Now part {n + 1}."),
        ]
    return made


def engine(*rungs: Any, **more: Any) -> ContextCompressor:
    fallback = {"fallback_summarizer": rungs[1]} if len(rungs) > 1 else {}
    return ContextCompressor(
        16_000, minimum_context_length=0, protect_last_n=4, summarizer=rungs[0], clock=FakeClock(), **fallback, **more
    )


def writer(reply: Any, name: str = "own") -> ScriptedSummarizer:
    return ScriptedSummarizer([reply], name, LONG)


@pytest.mark.parametrize("place", ["below", "above"])
@pytest.mark.parametrize("second", ["none", "good", "the same"])
@pytest.mark.parametrize("fault", FAULTS)
def test_no_message_is_lost_without_a_word(fault: str, second: str, place: str):
    reply, kind = FAULTS[fault]
    rungs = [writer(reply)]
    if second != "none":
        rungs.append(writer(GOOD if second == "good" else reply, "main"))
    compressor, messages = engine(*rungs), session()
    out = compressor.compress(messages, current_tokens=8_500 if place == "below" else 15_900)
    report = compressor.report
    check_pairs(out)
    outcomes = [(attempt.who, attempt.outcome) for attempt in report.attempts]
    assert outcomes[0] == ("own", kind)
    if second == "good":
        assert outcomes[1] == ("main", "ok")
        assert report.summary_writer == "model"
    elif place == "below" and kind in KEPT:
        assert out == messages
        assert report.kept_all
        assert kind in report.reason
    else:
        assert report.summary_writer == "offline"
        assert "make part3" in str(out)
    assert len(report.attempts) == len(rungs)
    assert out == messages or report.middle_messages > 0


@pytest.mark.parametrize("kind", sorted(FAILURE_KINDS))
def test_a_forced_run_waits_for_nobody(kind: Any):
    compressor, messages = engine(FailingSummarizer(kind)), session()
    out = compressor.compress(messages, current_tokens=8_500, force=True)
    if kind == "cancelled":
        assert out == messages
    else:
        assert compressor.report.summary_writer == "offline"


def test_waiting_is_no_strike():
    compressor, messages = engine(FailingSummarizer("auth")), session()
    for _ in range(5):
        assert compressor.compress(messages, current_tokens=8_500) == messages
    assert compressor.should_compress(8_500)
    assert [attempt.outcome for attempt in compressor.report.attempts] == ["skipped"]
    assert compressor.report.kept_all


def test_a_request_that_is_too_long_is_made_shorter():
    class Narrow(ScriptedSummarizer):
        def summarize(self, request: Any) -> SummaryResult:
            answer = super().summarize(request)
            if len(request.prompt) > 14_000:
                raise Status(400, "this model's maximum context length is 4096 tokens")
            return answer

    narrow = Narrow([GOOD], "narrow", 16_000)
    compressor = engine(narrow)
    messages = session()
    check_pairs(compressor.compress(messages, force=True))
    report = compressor.report
    assert report.summary_writer == "model"
    shown = "".join(request.record for request in narrow.requests if len(request.prompt) <= 14_000)
    middle = messages[report.head_messages :][: report.middle_messages]
    said = [message["content"] for message in middle if message["role"] == "user"]
    assert len(said) > 20
    assert [text for text in said if f"[USER]: {text}" not in shown] == []


def test_thoughts_that_are_a_summary_will_do():
    compressor = engine(writer(SummaryResult("", reasoning=GOOD)))
    compressor.compress(session())
    assert compressor.report.summary_writer == "model"


def test_a_summariser_that_hangs_is_left():
    slow = SlowSummarizer(30, GOOD)
    compressor = engine(slow, summary_timeout=0.05)
    started = time.monotonic()
    out = compressor.compress(session(), force=True)
    assert time.monotonic() - started < 10
    check_pairs(out)
    assert [attempt.outcome for attempt in compressor.report.attempts] == ["timeout"]
    assert compressor.report.summary_writer == "offline"
    until = time.monotonic() + 5
    while not slow.cancelled and time.monotonic() < until:
        time.sleep(0.01)
    assert (slow.cancelled, slow.finished) == (1, 0)


def test_time_outs_in_a_row_wait_longer():
    clock = FakeClock()
    compressor = ContextCompressor(
        16_000, minimum_context_length=0, protect_last_n=4, summarizer=FailingSummarizer("timeout"), clock=clock
    )
    waits: list[float] = []
    for _ in range(4):
        compressor.compress(session())
        assert compressor.report.attempts[0].outcome == "timeout"
        waits.append(compressor._ladder.cooldown_seconds)
        clock.advance(waits[-1])
    assert waits == [60, 120, 240, 480]


def test_a_cancelled_run_changes_nothing():
    slow = SlowSummarizer(30, GOOD)
    compressor, messages = engine(slow), session()
    before = compressor.compression_count

    async def cancelled() -> None:
        task = asyncio.create_task(compressor.acompress(messages, 15_900, force=True))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert compressor.compression_count == before
    assert (slow.cancelled, slow.finished) == (1, 0)


def test_the_loop_goes_on_while_a_summary_is_written():
    compressor, messages = engine(SlowSummarizer(0.3, GOOD)), session()
    ticks = 0

    async def both() -> list[Message]:
        nonlocal ticks
        task = asyncio.create_task(compressor.acompress(messages))
        while not task.done():
            await asyncio.sleep(0.01)
            ticks += 1
        return await task

    check_pairs(asyncio.run(both()))
    assert compressor.report.summary_writer == "model"
    assert ticks > 5


def test_progress_is_told_part_by_part():
    told: list[tuple[int, int]] = []
    own = ScriptedSummarizer([GOOD], "own", 6_000)
    compressor = engine(own, progress=lambda part, parts: told.append((part, parts)))
    compressor.compress(session(), force=True)
    assert told == [(n, len(told)) for n in range(1, len(told) + 1)]
    assert len(told) == len(own.requests) > 2
    assert compressor.report.attempts[0].requests == len(told)


def test_a_summariser_may_use_what_its_thread_was_given():
    seen: list[str] = []

    def writes(prompt: str) -> str:
        seen.append(threading.current_thread().name)
        return GOOD

    engine(writes).compress(session())
    assert set(seen) == {"abridged-writes"}


def test_errors_never_enter_the_history():
    compressor = engine(writer(SummarizerError("other", "SECRET-TRACE-77")))
    assert "SECRET-TRACE-77" not in str(compressor.compress(session(), force=True))
