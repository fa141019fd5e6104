"""Faults that users of engines of this kind reported, as the smallest cases: none of them may be ours."""

import json
from typing import Any

import pytest
from tests.properties.validator import check_pairs, summary_places

from abridged import ContextSession
from abridged.archive import Archive
from abridged.archive.nodes import Nodes
from abridged.engines.lcm import LosslessEngine
from abridged.plugins import engine_named, engines
from abridged.testing import assistant, call, result, user

Message = dict[str, Any]


def work(count: int, words: str = "a line of output\n" * 60, first: int = 0) -> list[Message]:
    return [
        message
        for n in range(first, first + count)
        for message in (assistant(f"Step {n}.", call(f"c{n}", "run", part=n)), result(f"c{n}", f"{n} {words}"))
    ]


def lcm(window: int = 16_000) -> LosslessEngine:
    return LosslessEngine(window, minimum_context_length=0)


def said(engine: LosslessEngine) -> int:
    return json.loads(engine.handle_tool_call("lcm_status", {}))["messages"]


def test_it_is_found_by_its_name_and_takes_every_setting():
    assert [plugin.source for plugin in engines() if plugin.name == "lcm"] == ["built in"]
    made = engine_named("lcm", context_length=32_000, max_output_tokens=2_000, recall=False, threshold_percent=0.6)
    assert isinstance(made, LosslessEngine) and made.name == "lcm"
    assert made.settings.threshold_percent == 0.6 and made.get_tool_schemas() == []


def test_a_list_that_is_sent_again_is_archived_once():
    # After a compaction, a resume, a replay: content decides, not a cursor.
    engine = lcm()
    messages = [user("Go."), *work(40), user("And now?")]
    shorter = engine.compress(messages)
    for again in (messages, shorter, messages[:20], shorter, [{**one, "timestamp": 1.0} for one in messages]):
        engine.compress(again)
        assert said(engine) == len(messages)
    engine.compress([*shorter, assistant("Done."), user("And now?")])
    assert said(engine) == len(messages) + 2


def test_few_long_messages_are_no_deadlock():
    # A tail of so many messages, each of them huge, left nothing to compact.
    engine = lcm()
    messages = [user("Go."), *work(10, "word of a long result\n" * 4_000)]
    shorter = engine.compress(messages)
    assert engine.report.tokens_before > 150_000
    assert engine.report.tokens_after <= engine.threshold_tokens
    check_pairs(shorter)


@pytest.mark.parametrize(
    "word", ["请检查第三个模块的配置文件，然后运行测试。", "モジュールを確認してください。", "😀🚀", "Проверь модуль. "]
)
def test_the_budget_holds_in_every_script(word: str):
    engine = lcm()
    messages = [user("Go."), *work(30, word * 60), user("Now?")]
    engine.compress(messages)
    assert engine.report.compressed
    assert engine.report.tokens_after <= engine.threshold_tokens


def test_reasoning_fields_stay_as_they_are():
    engine = lcm()
    tail = [{**assistant("Look.", call("x", "run")), "reasoning_content": "I think.", "reasoning_details": [{"a": 1}]},
            result("x", "ok"), user("Go on.")]  # fmt: skip
    shorter = engine.compress([user("Go."), *work(40), *tail])
    assert shorter[-3:] == tail


def test_a_later_word_of_the_user_ends_an_older_task():
    engine = lcm()
    messages = [
        user("Migrate the ledger."),
        *work(30),
        user("Stop, never mind the ledger. Write the report."),
        *work(30),
    ]
    shorter = engine.compress(messages)
    text = json.dumps(shorter[summary_places(shorter)[0]])
    assert "## Active Task\\n- Stop, never mind the ledger. Write the report." in text
    real = [one for one in shorter if one["role"] == "user"]
    assert len(real) == 1 or real[-1]["content"] == "Stop, never mind the ledger. Write the report."


def test_an_orphan_result_and_an_open_call_are_mended():
    engine = lcm()
    shorter = engine.compress(
        [user("Go."), result("lost", "x"), assistant("", call("open", "run")), user("What?"), *work(40), user("So?")]
    )
    check_pairs(shorter)
    again = engine.compress([*shorter, result("lost", "y"), *work(40, first=50), user("And?")])
    check_pairs(again)


def test_a_session_that_is_undone_or_rotated_finds_its_nodes():
    archive = Archive()
    one = ContextSession.start("s", engine=lcm(), archive=archive, background=False)
    messages = [user("Go."), *work(40), user("And now?")]
    one.compress(messages)
    count = len(Nodes(archive, "s").all())
    undone = one.undo_compression()
    assert undone == messages
    shorter = one.compress()
    assert len(Nodes(archive, "s").all()) == count
    # Another session gets the compacted list: its summary is of nodes that it does not have.
    other = ContextSession.start("t", engine=lcm(), archive=archive, background=False)
    longer = [*shorter, *work(40, first=100), user("Where are we?")]
    carried = other.compress(longer)
    assert len(summary_places(carried)) == 1
    assert Nodes(archive, "t").faults() == [] and len(Nodes(archive, "t").all()) > 0
    assert Nodes(archive, "t").leaf_of(0) is not None


def test_the_front_stays_the_same_while_nothing_is_compressed_anew():
    # A cache of the provider lives on it: no block changes as long as no new one is made.
    engine = lcm()
    shorter = engine.compress([user("Go."), *work(40), user("And now?")])
    grown = [*shorter, assistant("Fine."), user("Next.")]
    assert engine.compress(grown) == grown
    later = engine.compress([*grown, *work(20, first=200), user("So?")])
    first = later[summary_places(later)[0]]["content"]
    blocks = [line for line in shorter[summary_places(shorter)[0]]["content"].split("\n") if line.startswith("[n")]
    assert sum(line in first for line in blocks) >= len(blocks) // 2
