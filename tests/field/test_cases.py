"""The shared cases, each as it was reported (see `source` in the case)."""

import copy
import json
from typing import Any

import pytest
from tests.field.cases import engine_for, load, said, summaries
from tests.properties import validator

from abridged.conversation.tokens import estimate_tokens
from abridged.guard import Guard
from abridged.phases.prune import DUPLICATE, PruneSettings, prune
from abridged.phases.repair import STUB, repair
from abridged.summary.template import frame
from abridged.testing import FakeClock

Message = dict[str, Any]


def compressed(case: dict[str, Any], **more: Any) -> tuple[list[Message], Any]:
    """Compress a case's messages; whatever it is about, the result is valid and the input untouched."""
    given = copy.deepcopy(case["messages"])
    engine = engine_for(case, **more)
    result = engine.compress(given)
    assert given == case["messages"]
    validator.check_pairs(result)
    return result, engine


def test_01_a_parallel_batch_stays_whole():
    # langchain-ai/langchain#34282
    case = load("01")
    result, _ = compressed(case)
    kept = [m for m in result if m["role"] == "tool"]
    assert len(kept) in (0, 10)
    assert case["messages"][-1] in result or case["messages"][-1]["content"] in said(result)


def test_02_a_call_answers_to_all_its_ids():
    # NousResearch/hermes-agent#58287, #55845, #63000
    case = load("02")
    fixed = repair(case["messages"])
    assert (fixed.dropped, fixed.stubbed, len(fixed.messages)) == (0, 0, len(case["messages"]))
    result, _ = compressed(case)
    assert STUB not in said(result)


@pytest.mark.parametrize("own_marker", [True, False])
def test_05_a_banner_is_no_request(own_marker: bool):
    # NousResearch/hermes-agent#56165
    case = load("05")
    if own_marker:
        for message in case["messages"]:
            if str(message["content"]).startswith("[CONTEXT"):
                message["content"] = frame(message["content"].split("\n", 1)[1])
    result, _ = compressed(case)
    assert any(
        "release notes for 2.5, in three bullets" in validator.own_text(m) for m in result if m["role"] == "user"
    )
    assert len(summaries(result)) == 1
    active = summaries(result)[0].split("## Goal")[0]
    assert "translate" not in active.split("## Active Task")[1]


def test_06_arguments_stay_json():
    # NousResearch/hermes-agent#12259
    case = load("06")
    before = copy.deepcopy(case["messages"])
    light = prune(case["messages"], PruneSettings(protect_tail_tokens=1, protect_last_n=1)).messages
    assert case["messages"] == before
    old, new = case["messages"][2]["tool_calls"], light[2]["tool_calls"]
    assert new[2] == old[2]  # free text stays
    for place in (0, 1, 3):
        was, now = (json.loads(entry[place]["function"]["arguments"]) for entry in (old, new))
        assert type(was) is type(now)
        assert validator.lighter_call(new[place], old[place])


def test_07_odd_arguments_crash_nothing():
    # NousResearch/hermes-agent#58317
    case = load("07")
    light = prune(case["messages"], PruneSettings(protect_tail_tokens=1, protect_last_n=1)).messages
    lines = [m["content"] for m in light if m["role"] == "tool"]
    assert len(lines) == 9
    assert all("\n" not in line and len(line) <= 300 for line in lines[:-1])
    compressed(case)


def test_09_an_empty_answer_is_no_summary():
    # NousResearch/hermes-agent#94606
    case = load("09")
    engine = engine_for(case)
    for _ in range(4):
        result = engine.compress(case["messages"], force=True)
        assert engine.report.summary_writer == "offline"
        assert [attempt.outcome for attempt in engine.report.attempts] in (["empty"], ["network"])
        assert all(f"Question {n}" in said(result) for n in (0, 7))
    engine.compress(case["messages"])
    assert engine.report.attempts[0].outcome == "skipped"
    engine.on_session_reset()
    engine.compress(case["messages"])
    assert engine.report.attempts[0].outcome != "skipped"


def test_10_a_summary_larger_than_its_source_is_thrown_away():
    # google-gemini/gemini-cli#7047
    case = load("10")
    result, engine = compressed(case)
    assert result == case["messages"] or engine.report.tokens_after < engine.report.tokens_before
    assert "padding:" not in said(summaries(result))


def test_11_the_guard_expires_and_knows_frequency():
    # NousResearch/hermes-agent#14694; the restart needs a store and is not part of this
    case = load("11")
    clock = FakeClock(0.0)
    engine = engine_for(case, clock=clock)
    guard = Guard(engine.settings, clock)
    usable = case["config"]["context_length"]
    for event in case["config"]["events"]:
        clock.now = float(event.get("t", clock.now))
        tokens, want = event.get("prompt_tokens", 0), event.get("want", "")
        if "repeat" in event:
            held_back = 0
            for _ in range(event["repeat"]):
                if not guard.judge(tokens, usable).allowed:
                    held_back += 1
                else:
                    guard.record(tokens, tokens * (100 - event["saved_percent"]) // 100, forced=False)
                clock.advance(event["every_seconds"])
            assert held_back
        elif event.get("do") == "/new":
            guard.reset()
            assert guard.ineffective == 0
        elif event.get("do") == "manual":
            before = guard.ineffective
            guard.record(tokens, tokens, forced=True)
            assert guard.ineffective == before
        elif event.get("do") == "auto":
            assert guard.judge(tokens, usable).allowed == (want != "blocked")
            if "saved_percent" in event:
                guard.record(tokens, tokens * (100 - event["saved_percent"]) // 100, forced=False)


def test_12_wide_scripts_are_counted_in_their_band():
    # NousResearch/hermes-agent#69302, #104835
    messages = load("12")["messages"]
    per_char = [estimate_tokens(m["content"]) / len(m["content"]) for m in messages]
    assert all(0.5 <= share <= 1.1 for share in per_char[1:4])
    assert 0.18 <= per_char[4] <= 0.3
    assert per_char[5] >= 0.8  # a variation selector is a character too
    assert per_char[4] < per_char[6] < per_char[1]


def test_14_secrets_do_not_enter_the_summary():
    # NousResearch/hermes-agent#13228
    case = load("14")
    config = case["config"]
    messages = case["messages"]
    earlier = {"role": "user", "content": frame(config["previous_summary"])}
    engine = engine_for(case)
    result = engine.compress([messages[0], earlier, *messages[1:]], focus_topic=config["focus_topic"], force=True)
    for text in summaries(result):
        assert not [secret for secret in config["planted"] if secret in text]
    assert engine.report.compressed


def test_15_a_running_tool_is_left_alone():
    # NousResearch/hermes-agent#79278
    case = load("15")
    engine = engine_for(case)
    result = engine.compress(case["messages"])
    assert result[-2:] == case["messages"][-2:]
    assert engine.report.compressed


def test_16_half_a_character_hashes():
    # cyborg-garden/hermes-agent-mt#76
    case = load("16")
    light = prune(case["messages"], PruneSettings(protect_tail_tokens=1, protect_last_n=1)).messages
    assert [m["content"] for m in light if m["role"] == "tool"].count(DUPLICATE) == 1
    result, _ = compressed(case)
    json.dumps(result).encode("utf-8")


@pytest.mark.parametrize("own_marker", [True, False])
def test_18_stacked_summaries_become_one(own_marker: bool):
    # NousResearch/hermes-agent#69297
    case = load("18")
    if own_marker:
        for message in case["messages"]:
            if str(message["content"]).startswith("[CONTEXT"):
                message["content"] = frame(message["content"].split("\n", 1)[1])
    result, _ = compressed(case)
    assert len(summaries(result)) == 1
    assert case["messages"][1] not in result
    assert "fix the typo in README" in said(result[-1:])


def test_19_a_refusal_is_no_summary():
    # NousResearch/hermes-agent#118363
    case = load("19")
    result, engine = compressed(case)
    assert engine.report.attempts[0].outcome == "refusal"
    assert "I am not able to write this" not in said(summaries(result))
