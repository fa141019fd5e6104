"""One smallest example of each kind of fault that was reported of systems like this one; each names its report."""

import json
from typing import Any

import pytest
from tests.field.cases import said, summaries
from tests.properties import validator

from abridged import ContextCompressor
from abridged.conversation.measure import message_tokens
from abridged.conversation.tokens import estimate_tokens
from abridged.phases.boundaries import BoundarySettings, plan_boundaries
from abridged.phases.prune import PruneSettings, prune
from abridged.phases.repair import STUB, repair
from abridged.summary.template import SYSTEM_NOTE, frame
from abridged.testing import ScriptedSummarizer, assistant, call, result, user

Message = dict[str, Any]
OLD = PruneSettings(protect_tail_tokens=1, protect_last_n=1)
SYSTEM = {"role": "system", "content": "You are careful."}


def small(**more: Any) -> ContextCompressor:
    return ContextCompressor(16_000, **{"minimum_context_length": 0, "protect_last_n": 4, **more})


def work(turns: int, chars: int = 2_000, start: int = 0) -> list[Message]:
    """Turns of a request, a command with its output, and an answer."""
    made: list[Message] = []
    for n in range(start, start + turns):
        output = f"line {n}: " + "some output of a build " * (chars // 23)
        made += [
            user(f"Please build part {n} of the lantern."),
            assistant(None, call(f"c{n}", "terminal", command=f"make part{n}")),
            result(f"c{n}", json.dumps({"exit_code": 0, "output": output})),
            assistant(f"Part {n} is built."),
        ]
    return made


# -- A: tool pairs -------------------------------------------------------------------------------------------


def test_a3_ids_used_again_are_two_calls():
    # NousResearch/hermes-agent#70734, #88324: llama.cpp names each round's call alike
    rounds = [assistant(None, call("tool:0", "ls")), result("tool:0", "one")] * 2
    fixed = repair([user("go"), *rounds[:2], assistant(None, call("tool:0", "ls")), result("tool:0", "two")])
    assert [m["content"] for m in fixed.messages if m["role"] == "tool"] == ["one", "two"]


def test_a4_a_replayed_result_is_dropped():
    # NousResearch/hermes-agent#60398: the other side of a3
    fixed = repair([user("go"), assistant(None, call("x", "ls")), result("x", "one"), result("x", "one"), user("?")])
    assert (fixed.dropped, fixed.stubbed) == (1, 0)


def test_a7_an_open_call_is_left_alone():
    # NousResearch/hermes-agent#79278, #7255
    open_call = assistant("Creating.", call("x1", "create"), call("x2", "list"))
    light = small().compress([SYSTEM, *work(20), user("go"), open_call, result("x1", "created")])
    assert light[-2:] == [open_call, result("x1", "created")]


def test_a15_an_old_unanswered_call_does_not_stop_everything():
    # google/adk-python#7236
    engine = small()
    light = engine.compress([SYSTEM, user("go"), assistant(None, call("dead", "ls")), *work(20)])
    assert engine.report.compressed
    validator.check_pairs(light)


def test_a16_no_stub_where_the_real_result_exists():
    # Martian-Engineering/lossless-claw#992
    late = [user("go"), assistant(None, call("a", "ls")), user("hurry"), result("a", "real"), user("?")]
    assert STUB not in said(repair(late).messages)


# -- B: the list's shape -------------------------------------------------------------------------------------


def test_b1_a_user_is_left_after_many_passes():
    # NousResearch/hermes-agent#59122, #55677
    engine, light = small(), [SYSTEM, user("Build all parts."), *work(10)[1:]]
    for n in range(3):
        light = engine.compress([*light, *[m for m in work(12, start=20 * n) if m["role"] != "user"]], force=True)
        assert any(m["role"] == "user" for m in light)
        assert light[1]["role"] == "user"


def test_b2_the_list_never_ends_on_the_summary():
    # aaif-goose/goose#12164, vercel/eve#80
    light = small(protect_last_n=1, summary_target_ratio=0.01).compress([SYSTEM, *work(20)])
    assert not str(light[-1]["content"]).startswith("[CONTEXT COMPACTION") or light[-1]["role"] == "user"


def test_b7_the_fresh_question_stands_apart_from_the_summary():
    # NousResearch/hermes-agent#11330
    light = small(protect_first_n=1, summary_target_ratio=0.01, protect_last_n=1).compress(
        [SYSTEM, *work(20), user("And the lamp?")]
    )
    own = light[-1]["content"].split("---")[-1].strip()
    assert own == "And the lamp?"


def test_b12_an_older_wording_of_the_note_is_replaced():
    # NousResearch/hermes-agent#100219
    old = "[Note: Some earlier conversation turns have been compacted. Carry on.]"
    light = small().compress([{"role": "system", "content": f"Rules.\n\n{old}"}, *work(20)])
    assert light[0]["content"] == f"Rules.\n\n{SYSTEM_NOTE}"


# -- C: the newest request -----------------------------------------------------------------------------------


def test_c1_the_newest_request_is_never_summarised_away():
    # NousResearch/hermes-agent#11052, #10969
    task = user("Now translate the manual.")
    tools = [m for m in work(30) if m["role"] != "user" and not (m["role"] == "assistant" and m["content"])]
    light = small().compress([SYSTEM, *work(3), task, *tools])
    assert task in light or task["content"] in light[1]["content"].split("---")[-1]


def test_c4_a_head_that_covers_all_is_no_crash():
    # NousResearch/hermes-agent#75604
    messages = [SYSTEM, user("hi"), assistant(None, call("a", "ls")), result("a", "x")]
    assert small(protect_first_n=20).compress(messages) == messages


def test_c12_a_tail_without_a_user_gets_the_newest_one():
    # EKKOLearnAI/hermes-studio#2187
    summary = user(frame("## Goal\n- old things"))
    tools = [m for m in work(20) if m["role"] != "user"]
    light = small().compress([SYSTEM, summary, user("Fix the lamp."), *tools], force=True)
    assert any("Fix the lamp." in validator.own_text(m) for m in light if m["role"] == "user")


# -- D: a tail too large -------------------------------------------------------------------------------------


def test_d1_megabytes_in_the_protected_tail_do_shrink():
    # NousResearch/hermes-agent#61932, #69830
    big = [m for n in range(7) for m in (assistant(None, call(f"b{n}", "cat")), result(f"b{n}", f"{n} " * 25_000))]
    engine = small(protect_last_n=20)
    light = engine.compress([SYSTEM, user("go"), *big])
    assert engine.report.tokens_after < engine.threshold_tokens
    validator.check_pairs(light)


def test_d2_a_long_run_without_users_shrinks_and_keeps_its_request():
    # NousResearch/hermes-agent#105663, #79717; the other side of c1
    run = [m for n in range(100) for m in (assistant(None, call(f"r{n}", "ls")), result(f"r{n}", "out " * 300))]
    engine = small()
    light = engine.compress([SYSTEM, user("Do it all."), *run])
    assert engine.report.tokens_after < engine.threshold_tokens
    assert "Do it all." in said(light)


def test_d8_the_cut_is_before_an_oversized_group():
    # NousResearch/hermes-agent#67108
    giant = [assistant(None, call("g", "cat")), result("g", "x " * 60_000)]
    messages = [user("a"), *giant, assistant("read"), user("next")]
    plan = plan_boundaries(messages, BoundarySettings(protect_first_n=0, protect_last_n=1, tail_ceiling=500))
    assert plan.tail_start == 3


# -- E: old tasks ---------------------------------------------------------------------------------------------


def test_e4_the_last_request_stands_once_in_the_summary():
    # NousResearch/hermes-agent#49307
    light = small().compress([SYSTEM, *work(20), user("Paint the lamp red.")])
    assert summaries(light)[0].split("---")[0].count("Paint the lamp red.") <= 1


def test_e6_first_requests_are_not_immortal():
    # NousResearch/hermes-agent#11996, #50001: also in a process that knows nothing of the passes before
    first = user("Rename the package.")
    light = [SYSTEM, first, assistant("Renamed."), *work(15)]
    for n in range(2):
        light = small().compress([*light, *work(15, start=20 * (n + 1))])
    assert first not in light


def test_e9_a_command_that_ran_is_recorded_with_its_result():
    # openai/codex#42695
    light = small().compress([SYSTEM, user("hi"), assistant("ok"), *work(20)])
    assert "`make part3` → exit 0" in summaries(light)[0]


# -- F: rules and skills ---------------------------------------------------------------------------------------


def test_f1_rules_of_the_first_message_survive():
    # anthropics/claude-code#4017, #19471
    light = [SYSTEM, user("Project rules: never push to main. Always write tests."), assistant("Noted."), *work(15)]
    for n in range(3):
        light = small().compress([*light, *work(15, start=20 * (n + 1))])
    text = said(light)
    assert "never push to main." in text
    assert "Always write tests." in text


def test_f2_a_pruned_skill_says_how_to_get_it_back():
    # anthropics/claude-code#13919, NousResearch/hermes-agent#32106
    skill = [
        user("go"),
        assistant(None, call("s", "skill_view", name="pdf")),
        result("s", "How to. " * 1_500),
        user("?"),
    ]
    line = prune(skill, OLD).messages[2]["content"]
    assert "body removed" in line
    assert "skill_view" in line


# -- H, I: thrash and growth -----------------------------------------------------------------------------------


def test_h2_the_estimate_after_a_pass_fires_nothing():
    # NousResearch/hermes-agent#27566: schemas make the provider's count far larger than the estimate
    engine = small()
    engine.update_from_response({"prompt_tokens": 9_000})
    light = engine.compress([SYSTEM, *work(20)])
    assert not engine.should_compress_preflight(light)


def test_h5_a_stop_ends_when_the_conversation_grows():
    # NousResearch/hermes-agent#14694, #71003
    engine = ContextCompressor(128_000)
    for _ in range(2):
        engine.compress([user("x" * 400)], 70_000)
    assert not engine.should_compress(70_000)
    assert engine.should_compress(90_000)


def test_h7_forced_runs_are_no_strikes():
    # NousResearch/hermes-agent#42048
    engine = ContextCompressor(128_000)
    for _ in range(3):
        engine.compress([user("hi")], force=True)
    assert engine.should_compress(70_000)


def test_i1_a_long_summary_of_a_short_middle_is_refused():
    # google-gemini/gemini-cli#7047, RooCodeInc/Roo-Code#4061
    engine = small(summarizer=ScriptedSummarizer(["## Goal\n- " + "padding " * 9_000 + "\n\n## Blocked\n- none"]))
    light = engine.compress([SYSTEM, *work(20)])
    assert engine.report.attempts[0].outcome == "inflated"
    assert engine.report.tokens_after < engine.report.tokens_before
    assert "padding" not in said(light)


# -- J, K, L, M: counting and odd content -------------------------------------------------------------------------


def test_j3_a_picture_costs_neither_nothing_nor_its_bytes():
    # NousResearch/hermes-agent#70328
    shown = user([{"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 400_000}}])
    assert 500 < message_tokens(shown, estimate_tokens) < 4_000


def test_j6_replayed_reasoning_counts():
    # NousResearch/hermes-agent#80246
    thought = {"role": "assistant", "content": "ok", "reasoning_content": "because of this " * 2_000}
    assert message_tokens(thought, estimate_tokens) > 4_000


def test_j10_a_window_of_the_floor_fires_in_time():
    # NousResearch/hermes-agent#14690, #57275
    assert ContextCompressor(64_000).threshold_tokens == 54_400
    assert ContextCompressor(65_536).threshold_tokens < 0.86 * 65_536


@pytest.mark.parametrize("content", [None, 7, {"a": 1}, [None], [{"type": "odd"}], ["text"], True])
def test_k1_content_of_any_type(content: object):
    # NousResearch/hermes-agent#211, #66717
    small().compress([SYSTEM, user(content), assistant(None), *work(15), user("ok")], force=True)


def test_k4_strings_among_the_messages():
    # NousResearch/hermes-agent#15795
    light = small().compress([SYSTEM, "what is this", *work(20)])  # type: ignore[list-item]
    assert all(isinstance(message, dict) for message in light)


def test_l1_long_arguments_stay_json():
    # NousResearch/hermes-agent#13574, #11762
    wrote = assistant(None, call("w", "write_file", path="a.md", content='"quotes" and \\ and 中文 ' * 60))
    light = prune([user("go"), wrote, result("w", "ok"), user("?")], OLD).messages
    arguments = json.loads(light[1]["tool_calls"][0]["function"]["arguments"])
    assert arguments["path"] == "a.md"
    assert arguments["content"].endswith("...[truncated]")


def test_m2_half_a_surrogate_hashes():
    # cyborg-garden/hermes-agent-mt#76
    odd = "\ud835 lamp " * 60
    twice = [m for n in "ab" for m in (assistant(None, call(n, "fetch")), result(n, odd))]
    assert prune([user("go"), *twice, user("?")]).duplicates == 1


# -- N: secrets ------------------------------------------------------------------------------------------------------


def test_n1_keys_in_results_and_arguments_stay_out():
    # NousResearch/hermes-agent#13228, #12734
    key = "qq9FAKEaaaabbbbccccdddd"
    leak = [
        user("show"),
        assistant(None, call("s", "terminal", command=f"export LANTERN_API_KEY={key}")),
        result("s", f"LANTERN_API_KEY={key}\nPORT=8443"),
    ]
    light = small().compress([SYSTEM, user("hi"), assistant("ok"), *leak, *work(20)])
    assert key not in said(light)


# -- T, Y: other windows, pruning ----------------------------------------------------------------------------


def test_t3_what_was_asked_for_survives_a_model_change():
    # NousResearch/hermes-agent#92738
    engine = ContextCompressor(128_000, summary_target_ratio=0.10, threshold_percent=0.75)
    engine.update_model("other", 200_000)
    assert (engine.threshold_tokens, engine.budget.tail_tokens) == (150_000, 15_000)


def test_t6_room_for_the_answer_is_kept():
    # NousResearch/hermes-agent#50402, #70241
    engine = ContextCompressor(128_000, max_output_tokens=8_000)
    engine.update_model("other", 128_000, max_output_tokens=100_000)
    assert engine.threshold_tokens < 28_000


def test_y1_short_results_are_left_alone():
    # headroomlabs-ai/headroom#3590
    listing = "\n".join(f"f{n}.py" for n in range(20))
    messages = [user("go"), assistant(None, call("l", "terminal", command="ls")), result("l", listing), user("?")]
    assert prune(messages, OLD).messages == messages


def test_y3_the_error_line_of_a_long_log_survives():
    # anomalyco/opencode#32189
    log = json.dumps({"exit_code": 1, "output": "ok\n" * 900 + "E   KeyError: 'lamp-17'\n1 failed"})
    failed = [
        user("test"),
        assistant(None, call("t", "terminal", command="pytest")),
        result("t", log),
        assistant("Red."),
    ]
    light = small().compress([SYSTEM, user("hi"), assistant("ok"), *failed, *work(20)])
    assert "KeyError: 'lamp-17'" in summaries(light)[0]


def test_y4_pruning_twice_is_pruning_once():
    # nesquena/hermes-webui#5667
    once = prune(work(6), OLD).messages
    assert prune(once, OLD).messages == once
