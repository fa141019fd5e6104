"""Phase 3 with a summariser: what a model writes is checked, completed by code, and never fatal."""

from typing import Any

import pytest

from abridged import ContextCompressor, SummarizerError
from abridged.summarizers import SummaryResult
from abridged.summary.template import frame
from abridged.testing import EchoSummarizer, FakeClock, ScriptedSummarizer, assistant, call, result, user

Message = dict[str, Any]
WINDOW = 200_000
SYSTEM = {"role": "system", "content": "You are careful."}
GOOD = (
    "## Active Task\n- something invented\n\n## Goal\n- Build the lantern\n\n"
    "## Completed Actions\n1. Built all parts with make, every one with exit 0\n\n## Blocked\n- none"
)


def session(turns: int = 60) -> list[Message]:
    made: list[Message] = [
        SYSTEM,
        user("Help me build the lantern."),
        assistant("ok"),
        user("Never touch the billing schema."),
    ]
    for n in range(turns):
        made += [
            assistant(None, call(f"c{n}", "terminal", command=f"make part{n}")),
            result(f"c{n}", "built " * 100),
            assistant(f"Part {n} is built."),
            user(f"Now part {n + 1}."),
        ]
    return made


def engine(*replies: Any, **more: Any) -> ContextCompressor:
    return ContextCompressor(
        16_000,
        minimum_context_length=0,
        protect_last_n=4,
        summarizer=ScriptedSummarizer(replies, context_length=WINDOW),
        **more,
    )


def summary_of(messages: list[Message]) -> str:
    return next(str(m["content"]) for m in messages if "[CONTEXT COMPACTION" in str(m["content"]))


def test_a_good_answer_is_the_summary():
    # spec: P3.2
    compressor = engine(GOOD)
    text = summary_of(compressor.compress(session()))
    assert (compressor.report.summary_writer, compressor.report.prompt_version) == ("model", "v1")
    assert "Built all parts with make" in text
    assert "- Build the lantern" in text
    assert compressor.report.summary_tokens <= compressor.report.summary_budget


def test_the_active_task_is_the_conversations_own():
    # spec: P3.9
    text = summary_of(engine(GOOD).compress(session()))
    assert "something invented" not in text
    assert "Now part 60." in text.split("## Goal")[0]


def test_a_rule_that_the_model_forgot_is_there():
    # spec: P3.9
    text = summary_of(engine(GOOD).compress(session()))
    assert "Never touch the billing schema." in text


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("", "empty"),
        (None, "empty"),
        ("  \n ", "empty"),
        ("<think>hmm</think>", "empty"),
        ("I cannot help with that.", "refusal"),
        (SummaryResult(GOOD, "length"), "truncated"),
        ('## Goal\n- x\n## Blocked\n<tool_call>{"name": "ls"}</tool_call>', "malformed"),
        ("## Goal\n- " + "pad " * 60_000 + "\n## Blocked\n- y", "inflated"),
        (SummarizerError("rate_limit", "slow down"), "rate_limit"),
        (TimeoutError("late"), "timeout"),
        (ConnectionError("gone"), "network"),
        (RuntimeError("no provider configured"), "no_provider"),
        (ValueError("odd"), "other"),
    ],
)
def test_what_is_no_summary_is_a_failed_attempt(reply: Any, outcome: str):
    # spec: P3.7, P3.10, F1
    compressor = engine(reply)
    text = summary_of(compressor.compress(session(), force=True))
    assert [attempt.outcome for attempt in compressor.report.attempts] == [outcome]
    assert compressor.report.summary_writer == "offline"
    assert "make part3" in text


def test_the_earlier_summary_is_brought_up_to_date():
    # spec: P3.1
    writer = ScriptedSummarizer([GOOD], context_length=WINDOW)
    compressor = ContextCompressor(16_000, minimum_context_length=0, protect_last_n=4, summarizer=writer)
    once = compressor.compress(session())
    compressor.compress([*once, *session()[3:]])
    first, second = writer.requests
    assert "EARLIER CHECKPOINT" not in first.prompt
    assert "EARLIER CHECKPOINT" in second.prompt
    assert "Built all parts with make" in second.prompt


def test_the_focus_topic_reaches_the_prompt():
    # spec: P3.6
    writer = ScriptedSummarizer([GOOD], context_length=WINDOW)
    ContextCompressor(16_000, minimum_context_length=0, protect_last_n=4, summarizer=writer).compress(
        session(), focus_topic="the billing schema"
    )
    assert "the billing schema" in writer.requests[0].prompt.split("<<<TOPIC")[1]


def test_secrets_reach_neither_prompt_nor_summary():
    # spec: P3.12
    secrets = ["qq9FAKEaaaabbbbccccdddd", "pw-FAKE-5f5f5f5f", "zz-old-FAKE-111122223333", "hunter-FAKE-77"]
    leak = [
        assistant(None, call("s", "terminal", command=f"export LANTERN_API_KEY={secrets[0]}")),
        result("s", f"DB_PASSWORD={secrets[1]}"),
    ]
    messages = session()
    earlier = user(frame(f"## Critical Context\n- DEMO_TOKEN={secrets[2]}"))
    compressor = ContextCompressor(
        16_000, minimum_context_length=0, protect_last_n=4, summarizer=EchoSummarizer(WINDOW), summary_ratio=0.9,
        summary_window_share=0.5,
    )  # fmt: skip
    given = [SYSTEM, earlier, *messages[1:6], *leak, *messages[6:]]
    text = summary_of(compressor.compress(given, focus_topic=f"login with password={secrets[3]}"))
    assert not [secret for secret in secrets if secret in text]


def test_a_missing_summary_model_gives_way_for_good():
    # spec: P3.7
    class NotFound(Exception):
        status_code = 404

    own, main = ScriptedSummarizer([NotFound("no such model")], "own"), ScriptedSummarizer([GOOD], "main", WINDOW)
    compressor = ContextCompressor(
        16_000, minimum_context_length=0, protect_last_n=4, summarizer=own, fallback_summarizer=main
    )
    once = compressor.compress(session(), focus_topic="billing")
    assert [(a.who, a.outcome) for a in compressor.report.attempts] == [("own", "not_found"), ("main", "ok")]
    assert "<<<TOPIC" in main.requests[0].record
    assert "billing" in main.requests[0].record.split("<<<TOPIC")[1]
    compressor.compress([*once, *session()[3:]])
    assert (len(own.requests), len(main.requests)) == (1, 2)


@pytest.mark.parametrize(("failure", "seconds"), [(RuntimeError("none"), 600), (TimeoutError("late"), 60)])
def test_a_failure_is_not_repeated_at_once(failure: Exception, seconds: int):
    # spec: P3.7, C
    clock = FakeClock()
    compressor = engine(failure, clock=clock)
    messages = session()

    def outcome(**more: Any) -> str:
        compressor.compress(messages, **more)
        return compressor.report.attempts[0].outcome

    first = outcome()
    assert outcome() == "skipped"
    assert outcome(force=True) == first  # a user who asks does not wait
    clock.advance(seconds - 1)
    assert outcome() == "skipped"
    clock.advance(2)
    assert outcome() == first
    compressor.on_session_reset()
    assert outcome() == first


def test_without_a_model_nobody_is_asked():
    # spec: F1
    compressor = ContextCompressor(16_000, minimum_context_length=0, protect_last_n=4)
    compressor.compress(session())
    assert compressor.report.attempts == []


def test_any_function_will_do():
    def writer(prompt: str) -> str:
        assert "Write the checkpoint" in prompt
        return GOOD

    compressor = ContextCompressor(16_000, minimum_context_length=0, protect_last_n=4, summarizer=writer)
    compressor.compress(session())
    assert (compressor.report.summary_writer, compressor.report.attempts[0].who) == ("model", "writer")
    with pytest.raises(TypeError):
        ContextCompressor(16_000, summarizer="gpt")  # type: ignore[arg-type]
