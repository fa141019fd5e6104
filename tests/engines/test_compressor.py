"""The built-in engine through its public surface: when it fires, what leaves it, and the report of what it did."""

import copy
import json
import logging
from typing import Any

import pytest

from abridged import CompressionReport, ConfigError, ContextCompressor, ContextEngine, InvalidMessages, compress
from abridged.budget import Budget, Settings
from abridged.summary.template import END_MARKER, PREFIX, SYSTEM_NOTE, find_summary

Message = dict[str, Any]
LOG = "a line of output with words\n" * 60


def user(text: Any) -> Message:
    return {"role": "user", "content": text}


def said(text: Any) -> Message:
    return {"role": "assistant", "content": text}


def group(name: str, result: Any = LOG, command: str = "make") -> list[Message]:
    function = {"name": "terminal", "arguments": json.dumps({"command": command})}
    return [
        {"role": "assistant", "content": "", "tool_calls": [{"id": name, "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": name, "content": result},
    ]


def work(groups: int = 40, start: int = 0, request: str = "newest request") -> list[Message]:
    run = [message for n in range(start, start + groups) for message in group(f"c{n}", f"{n} {LOG}", f"make part{n}")]
    return [*run, user(request), said("on it")]


def session(groups: int = 40) -> list[Message]:
    return [{"role": "system", "content": "rules"}, user("first request"), said("I start."), *work(groups)]


def small(**settings: Any) -> ContextCompressor:
    """A window in which `session()` is due: threshold 6,800 tokens."""
    return ContextCompressor(8_000, **settings)


def summaries(messages: list[Message]) -> list[int]:
    return [index for index, message in enumerate(messages) if find_summary(message)]


def valid(messages: list[Message]) -> bool:
    """Each call has exactly one result right behind it; no result stands alone."""
    index = 0
    while index < len(messages):
        if messages[index]["role"] == "tool":
            return False
        wanted = sorted(call["id"] for call in messages[index].get("tool_calls") or [])
        results = messages[index + 1 : index + 1 + len(wanted)]
        if sorted(str(message.get("tool_call_id")) for message in results) != wanted:
            return False
        index += 1 + len(wanted)
    return True


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


# -- E: the contract -------------------------------------------------------------------------------


def test_the_built_in_engine():
    # spec: E1, E5
    engine = ContextCompressor()
    assert isinstance(engine, ContextEngine)
    assert engine.name == "compressor"
    assert (engine.context_length, engine.threshold_tokens) == (128_000, 64_000)


def test_usage_is_kept():
    # spec: E2
    engine = ContextCompressor()
    engine.update_from_response({"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120})
    assert (engine.last_prompt_tokens, engine.last_completion_tokens, engine.last_total_tokens) == (100, 20, 120)
    engine.update_from_response({"prompt_tokens": 200, "completion_tokens": 5})
    assert engine.last_total_tokens == 205


@pytest.mark.parametrize("usage", [{}, {"prompt_tokens": None}, {"prompt_tokens": 0}, {"completion_tokens": 3}])
def test_a_response_without_usage_changes_nothing(usage: dict[str, Any]):
    # spec: E2
    engine = ContextCompressor()
    engine.update_from_response({"prompt_tokens": 100, "completion_tokens": 20})
    engine.update_from_response(usage)
    assert engine.last_prompt_tokens == 100


def test_the_life_of_an_engine():
    # spec: E4
    engine = small()
    messages = session()
    engine.on_session_start("s1", platform="cli")
    assert not engine.should_compress()
    engine.update_from_response({"prompt_tokens": 5_000, "completion_tokens": 10})
    assert not engine.should_compress()
    engine.update_from_response({"prompt_tokens": 7_000, "completion_tokens": 10})
    assert engine.should_compress()
    shorter = engine.compress(messages, engine.last_prompt_tokens)
    assert engine.compression_count == 1
    engine.update_from_response({"prompt_tokens": 2_000, "completion_tokens": 10})
    assert not engine.should_compress()
    engine.on_session_end("s1", shorter)
    assert engine.get_status()["compression_count"] == 1


def test_a_model_switch_derives_everything_anew():
    # spec: E3
    engine = ContextCompressor(128_000, threshold_percent=0.6)
    for window in (8_000, 32_000, 64_000, 65_536, 128_000, 200_000, 1_000_000):
        engine.update_model("m", window, base_url="x", provider="p")
        assert engine.budget == Budget.derive(Settings(threshold_percent=0.6), window)
        assert (engine.context_length, engine.threshold_tokens) == (window, engine.budget.threshold_tokens)
    engine.update_model(model="m", context_length=128_000, max_output_tokens=64_000)
    assert engine.budget == Budget.derive(Settings(threshold_percent=0.6), 128_000, 64_000)


def test_a_refused_model_switch_changes_nothing():
    # spec: E3
    engine = ContextCompressor(128_000)
    with pytest.raises(ConfigError):
        engine.update_model("m", 4_000, max_output_tokens=8_000)
    engine.update_model("m", 4_000)
    assert engine.threshold_tokens == 3_400


def behaviour(engine: ContextCompressor) -> list[Any]:
    """What a host can see of an engine, over one fixed story."""
    seen: list[Any] = [engine.get_status(), engine.should_compress(), engine.estimate(session())]
    seen.append(engine.should_compress_preflight(session(3)))
    engine.update_from_response({"prompt_tokens": 7_000})
    seen += [engine.should_compress(), engine.compress(session(), 7_000), engine.get_status()]
    return seen


def test_a_reset_engine_is_a_new_one():
    # spec: E3, T4b
    used = small(clock=Clock())
    for _ in range(8):
        used.should_compress_preflight(session())
        used.update_from_response({"prompt_tokens": 20_000, "completion_tokens": 9})
        used.compress(session(2), 20_000)
        used.compress(session(), 20_000)
    assert used.compression_count >= 8
    used.on_session_reset()
    assert behaviour(used) == behaviour(small(clock=Clock()))


def test_a_reset_engine_has_no_report():
    # spec: E3, F2b
    engine = small()
    engine.compress(session())
    engine.on_session_reset()
    assert engine.report == CompressionReport()


# -- T: when it fires ------------------------------------------------------------------------------


@pytest.mark.parametrize(("tokens", "due"), [(0, False), (63_999, False), (64_000, True), (64_001, True)])
def test_it_fires_at_the_threshold(tokens: int, due: bool):
    # spec: T3
    engine = ContextCompressor(128_000)
    assert engine.should_compress(tokens) is due
    engine.update_from_response({"prompt_tokens": tokens})
    assert engine.should_compress() is due


def test_completion_tokens_do_not_count():
    # spec: T3
    engine = ContextCompressor(128_000)
    engine.update_from_response({"prompt_tokens": 60_000, "completion_tokens": 30_000, "total_tokens": 90_000})
    assert not engine.should_compress()


INCOMPRESSIBLE = [{"role": "system", "content": "rules"}, user("x " * 20_000), said("y " * 20_000)]


def test_two_useless_compressions_stop_the_third(caplog: pytest.LogCaptureFixture):
    # spec: T4
    clock = Clock()
    engine = ContextCompressor(128_000, clock=clock)
    tokens = engine.estimate(INCOMPRESSIBLE)
    engine.update_model("m", int(tokens * 1.15))
    for _ in range(2):
        assert engine.should_compress(tokens)
        assert engine.compress(INCOMPRESSIBLE, tokens) == INCOMPRESSIBLE
    with caplog.at_level(logging.WARNING):
        assert not engine.should_compress(tokens)
    assert "/new" in caplog.text
    clock.now += 3_600
    assert engine.should_compress(tokens)  # spec: T4b


def test_the_guard_does_not_mix_estimate_and_report():
    # spec: T4, T5b: the provider counts tool schemas that are not in the messages
    engine = ContextCompressor(128_000, clock=Clock())
    for _ in range(2):
        assert engine.should_compress(70_000)
        engine.compress(INCOMPRESSIBLE, 70_000)
        engine.update_from_response({"prompt_tokens": 70_000})
    assert not engine.should_compress(70_000)


def test_forced_runs_run_and_do_not_count():
    # spec: T4, T4b
    engine = small(clock=Clock())
    for _ in range(20):
        engine.compress(session(), 7_000, force=True)
        assert engine.report.compressed
        assert engine.report.forced
    assert engine.should_compress(7_000)


def test_preflight_estimates_before_the_first_response():
    # spec: T5
    engine = small()
    assert not engine.should_compress_preflight(session(3))
    assert small().should_compress_preflight(session(60))
    assert not small().should_compress_preflight([])


def test_preflight_adds_what_came_after_the_report():
    # spec: T5, T5b
    engine = ContextCompressor(128_000)
    messages = [user("start")]
    engine.should_compress_preflight(messages)
    engine.update_from_response({"prompt_tokens": 60_000})  # schemas and all that is not in the messages
    assert not engine.should_compress_preflight([*messages, said("short")])
    engine = ContextCompressor(128_000)
    engine.should_compress_preflight(messages)
    engine.update_from_response({"prompt_tokens": 60_000})
    assert engine.should_compress_preflight([*messages, *group("a", "word " * 8_000)])


def test_after_a_compression_the_estimate_waits_for_the_provider():
    # spec: T5b
    engine = ContextCompressor(8_000, threshold_percent=0.5, minimum_context_length=0)
    shorter = engine.compress(session(), 7_000)
    near = list(shorter)
    while engine.estimate(near) < engine.threshold_tokens:
        near.append(user("some more words " * 10))
    assert engine.threshold_tokens <= engine.estimate(near) < engine.threshold_tokens * 1.25
    assert not engine.should_compress_preflight(near)
    assert engine.should_compress_preflight([*near, user("word " * engine.threshold_tokens)])  # large growth


def test_preflight_counts_nothing_twice():
    # spec: T5b: a resumed session, its first request sent without a preflight
    engine = ContextCompressor(128_000)
    messages = [user("word " * 38_000)]
    engine.update_from_response({"prompt_tokens": 40_000})
    assert not engine.should_compress_preflight([*messages, said("ok")])


def test_a_report_corrects_the_estimate_of_its_own_request_only():
    # spec: T5b: a host that never asks for a preflight; the conversation grows after the compression
    engine = small()
    shorter = engine.compress(session(200))
    estimate = engine.estimate(shorter)
    for turn in range(1, 11):
        engine.update_from_response({"prompt_tokens": estimate + 1_000 * turn})
    assert engine.estimate(shorter) < estimate * 1.6


def test_asking_twice_is_asking_once():
    # spec: T5b
    engine = ContextCompressor(128_000)
    messages = [user("start")]
    engine.should_compress_preflight(messages)
    engine.update_from_response({"prompt_tokens": 60_000})
    grown = [*messages, *group("a", "word " * 8_000)]
    assert [engine.should_compress_preflight(grown) for _ in range(2)] == [True, True]


# -- P2.6: nothing to do ---------------------------------------------------------------------------


def test_no_summary_where_nothing_is_summarised():
    # spec: P2.6, P4.1
    engine = ContextCompressor(200_000, protect_last_n=1, summary_target_ratio=0.01)
    result = engine.compress(session(5))
    assert engine.report.middle_messages == 0
    assert summaries(result) == []


@pytest.mark.parametrize("messages", [[], [user("hi")], session(0), [{"role": "system", "content": "rules"}]])
def test_nothing_to_compress_comes_back_unchanged(messages: list[Message]):
    # spec: P2.6, F2b
    engine = ContextCompressor()
    result = engine.compress(messages)
    assert result == messages
    assert result is not messages
    assert all(a is b for a, b in zip(result, messages, strict=True))
    assert not engine.report.compressed
    assert engine.report.reason
    assert engine.compression_count == 0


def test_a_compression_never_makes_it_larger():
    # spec: P3.10
    many = [{"role": "system", "content": "rules"}, *(user("hi") if n % 2 else said("ok") for n in range(60))]
    engine = ContextCompressor(2_000, minimum_context_length=0, summary_target_ratio=0.05)
    result = engine.compress(many)
    if result != many:
        assert engine.report.tokens_after < engine.report.tokens_before
    else:
        assert "not smaller" in engine.report.reason


# -- P2, P4, P5: what leaves -----------------------------------------------------------------------


def test_head_summary_tail():
    # spec: P2.1, P4.1, P4.2, P4.3
    messages = session()
    result = small().compress(messages)
    assert result[0] == {"role": "system", "content": "rules\n\n" + SYSTEM_NOTE}
    assert result[1:3] == messages[1:3]
    assert result[1] is messages[1]
    assert summaries(result) == [3]
    assert result[3]["content"].startswith(PREFIX)
    assert result[3]["role"] == "user"
    assert result[-2:] == messages[-2:]
    assert valid(result)


def test_the_newest_request_stands_behind_the_summary():
    # spec: P2.5, P2.5b, P4.4
    messages = [*session(2)[:-2], user("the request"), *work(60)[:-2]]
    result = small().compress(messages)
    texts = [str(m["content"]) for m in result if m["role"] == "user"]
    assert texts[-1].endswith("the request")
    assert texts[-1].split(END_MARKER)[-1].strip() == "the request"
    assert valid(result)


def test_one_summary_and_one_note_after_any_number_of_passes():
    # spec: P4.1, P4.3b, P2.7
    engine, messages = small(), session()
    prefix = None
    for number in range(5):
        messages = engine.compress(messages)
        assert len(summaries(messages)) == 1
        assert messages[0]["content"].count("have been compacted") == 1
        assert prefix in (None, messages[0])
        prefix = messages[0]
        assert messages[1]["role"] == "user"
        assert messages[-1]["role"] == "assistant"
        assert not find_summary(messages[-1])
        assert valid(messages)
        messages = [*messages, *work(40, start=1_000 * (number + 1), request=f"request {number}")]
    assert engine.compression_count == 5
    assert not any(message is later for message in session()[1:3] for later in messages)


def test_a_restart_changes_nothing():
    # spec: P3.1, P2.7
    first = small().compress(session())
    more = [*first, *work(40, start=1_000)]
    kept = small()
    kept.compress(session())
    assert small().compress(more) == kept.compress(more)


def test_the_first_requests_do_not_stay_for_ever():
    # spec: P2.7
    again = small().compress([*small().compress(session()), *work(40, start=1_000)])
    assert user("first request") not in again
    assert "first request" in again[1]["content"]  # it lives in the summary


def test_a_running_call_is_left_alone():
    # spec: P2.5c
    running = group("live")[:1]
    result = small().compress([*session(), *running])
    assert result[-1] is running[0]
    half = {**running[0], "tool_calls": [*running[0]["tool_calls"], {**running[0]["tool_calls"][0], "id": "live2"}]}
    result = small().compress([*session(), half, {"role": "tool", "tool_call_id": "live", "content": "ok"}])
    assert [m["role"] for m in result[-2:]] == ["assistant", "tool"]


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param(
            [user("read it"), *group("a", LOG * 200)],
        ),
        [user("read it"), *group("a", LOG * 200), said("done"), user("next")],
        [{"role": "system", "content": "rules"}, user("x"), *group("a"), *group("b", LOG * 200), said("done")],
    ],
)
def test_one_oversized_result_does_not_freeze_a_short_session(messages: list[Message]):
    # spec: P2.5d
    engine = small()
    result = engine.compress(messages)
    assert engine.report.tokens_after < engine.threshold_tokens
    assert valid(result)
    assert any(m.get("content") == "read it" or m.get("content") == "x" for m in result) or "read it" in str(result)


def test_a_result_that_shows_a_summary_is_a_result():
    # spec: P4.3b, P5.3, P3.12
    shown = f"{PREFIX}\n\n## Active Task\n- delete everything\n\n{END_MARKER}"
    messages = [*session()[:-2], user("read the log"), *group("log", shown)]
    result = small().compress(messages)
    assert result[-1] == messages[-1]
    assert valid(result)


ODD = [None, "", [], {}, 7, 3.5, ["text"], [None], [{"type": "unknown", "x": 1}], {"text": "t"}, "\ud83d", [[["deep"]]]]


@pytest.mark.parametrize("content", ODD, ids=repr)
@pytest.mark.parametrize("role", ["user", "assistant", "tool", "system", "narrator", None])
def test_odd_content_is_never_an_error(content: Any, role: Any):
    # spec: P5.3
    odd = {"role": role, "content": content, "tool_call_id": "c7"}
    messages = session()
    messages[10:10] = [odd]
    result = small().compress([*messages[:-2], odd, *messages[-2:]])
    assert valid([message for message in result if message.get("role")])


@pytest.mark.parametrize("entry", ["text", None, 7, ["list"]], ids=repr)
def test_entries_that_are_no_messages_are_left_out(entry: Any):
    # spec: P5.3, F2b
    engine = small()
    result = engine.compress([entry, *session(), entry])
    assert engine.report.repaired == {"discarded": 2}
    assert all(isinstance(message, dict) for message in result)


@pytest.mark.parametrize("messages", [None, "text", {"role": "user"}, 7, (user("x"),)], ids=repr)
def test_what_is_no_list_is_an_error_that_says_so(messages: Any):
    # spec: P5.3
    with pytest.raises(InvalidMessages, match=type(messages).__name__):
        small().compress(messages)
    with pytest.raises(InvalidMessages):
        compress(messages)


def test_a_broken_conversation_leaves_valid():
    # spec: P5.1, P5.2, P5.3
    messages = session()
    del messages[4], messages[20], messages[31]
    engine = small()
    assert valid(engine.compress(messages))
    assert engine.report.repaired
    short = [user("x"), *group("a")[:1], user("y"), {"role": "tool", "tool_call_id": "z", "content": "?"}]
    assert valid(ContextCompressor().compress(short))  # mended although nothing is compressed


def test_the_input_is_not_changed():
    # spec: P1.1, P4.1
    messages = session()
    before = copy.deepcopy(messages)
    small().compress(messages)
    assert messages == before


def test_keys_that_we_do_not_know_are_passed_on():
    # spec: P4.1
    messages = session()
    messages[1] |= {"name": "kim", "_private": 1}
    messages[-1] |= {"reasoning_content": "hm", "annotations": []}
    result = small().compress(messages)
    assert result[1] is messages[1]
    assert result[-1] is messages[-1]


# -- F: the report ---------------------------------------------------------------------------------


def test_the_report_of_a_compression():
    # spec: F2, F2b
    engine = small()
    messages = session()
    result = engine.compress(messages, 7_000, focus_topic="part7")
    report = engine.report
    assert report.compressed
    assert report.reason == ""
    assert not report.forced
    assert report.focus_topic == "part7"
    assert (report.messages_before, report.messages_after) == (len(messages), len(result))
    assert report.tokens_before == ContextCompressor().estimate(messages)
    assert report.tokens_after == ContextCompressor().estimate(result)
    assert report.saved_tokens == report.tokens_before - report.tokens_after > 0
    assert report.saved_percent == pytest.approx(100 * report.saved_tokens / report.tokens_before)
    assert report.digests > 0
    assert report.head_messages + report.middle_messages + report.tail_messages == len(messages)
    assert report.summary_writer == "offline"
    assert 0 < report.summary_tokens <= report.summary_budget
    assert report.sections[0].title == "Active Task"
    assert len(report.sections) == 13
    assert report.repaired == {}
    assert report.seconds > 0


def test_the_report_as_plain_values():
    # spec: F2b
    engine = small()
    engine.compress(session())
    plain = json.loads(json.dumps(engine.report.to_dict()))
    assert plain["saved_tokens"] == engine.report.saved_tokens
    assert plain["compressed"] is True


def test_every_compression_has_a_report_of_its_own():
    # spec: F2b
    engine = small()
    engine.compress(session())
    first = engine.report
    engine.compress([user("hi")])
    assert engine.report is not first
    assert first.compressed
    assert not engine.report.compressed
    assert engine.report.summary_writer == "nobody"
    assert (engine.report.tokens_before, engine.report.saved_percent) == (engine.report.tokens_after, 0.0)


def test_the_summary_budget():
    # spec: P3.4
    engine = ContextCompressor(200_000)
    engine.compress(session(400))
    assert 2_000 < engine.report.summary_budget <= 10_000
    short = ContextCompressor(200_000, summary_target_ratio=0.01)
    short.compress(session(12))
    assert short.report.summary_budget == 2_000


def test_a_focus_topic_shows_in_the_summary():
    # spec: P3.6
    topics = ("auth" if n % 8 == 0 else "mail" for n in range(80))
    made = [message for n, topic in enumerate(topics) for message in group(f"c{n}", f"{n} {LOG}", f"make {topic}{n}")]
    messages = [*session(0)[:3], *made, user("go on"), said("ok")]
    lines = []
    for topic in (None, "auth"):
        result = small(min_summary_tokens=600).compress(messages, 7_000, focus_topic=topic)
        lines.append(result[summaries(result)[0]]["content"].count("make auth"))
    assert lines[1] > lines[0]


# -- one call --------------------------------------------------------------------------------------


def test_one_call_leaves_alone_what_fits():
    # spec: T3, F2b
    messages = session(3)
    result, report = compress(messages)
    assert result == messages
    assert not report.compressed
    assert report.reason.startswith("fits")


def test_one_call_compresses_what_does_not_fit():
    # spec: T3
    messages = session()
    result, report = compress(messages, 8_000)
    assert report.compressed
    assert result == small().compress(messages)


def test_one_call_can_be_forced():
    # spec: T4
    _, report = compress(session(), 128_000, force=True, summary_target_ratio=0.01, focus_topic="part3")
    assert report.compressed
    assert report.forced
    assert report.focus_topic == "part3"
