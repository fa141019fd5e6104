"""Phase 5: each call has exactly one result right behind it, whatever came in."""

import copy
from typing import Any

import pytest

from abridged.phases.repair import STUB, repair

Message = dict[str, Any]


def call(*ids: str | None, **more: Any) -> Message:
    entries = [
        {**({} if i is None else {"id": i}), "type": "function", "function": {"name": "t", "arguments": "{}"}, **more}
        for i in ids
    ]
    return {"role": "assistant", "content": "", "tool_calls": entries}


def result(call_id: Any, content: str = "") -> Message:
    made: Message = {"role": "tool", "content": content or f"result of {call_id}"}
    return made if call_id is None else {**made, "tool_call_id": call_id}


USER: Message = {"role": "user", "content": "go on"}
SAID: Message = {"role": "assistant", "content": "done"}


def shape(messages: list[Message]) -> list[tuple[str, Any]]:
    return [(m["role"], m.get("tool_call_id") or m["content"]) for m in messages if m["role"] == "tool"]


def untouched(messages: list[Message]) -> bool:
    fixed = repair(messages)
    same = len(fixed.messages) == len(messages)
    return same and not fixed.changed and all(a is b for a, b in zip(fixed.messages, messages, strict=True))


# -- P5.1 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("orphan", [result("gone"), result(None), result(7), result({"odd": 1}), result("")])
def test_a_result_without_its_call_is_dropped(orphan: Message):
    # spec: P5.1
    fixed = repair([orphan, USER, call("a"), result("a"), USER, orphan])
    assert [m["role"] for m in fixed.messages] == ["user", "assistant", "tool", "user"]
    assert fixed.dropped == 2
    assert fixed.sources == [1, 2, 3, 4]


def test_what_is_in_order_passes_untouched():
    # spec: P5.3
    assert untouched([])
    assert untouched([USER, call("a", "b"), result("a"), result("b"), SAID, USER, call("c"), result("c")])
    assert untouched([USER, call("a", "b"), result("b"), result("a"), SAID])  # any order of results will do


# -- P5.2 ------------------------------------------------------------------------------------------


def test_a_call_without_its_result_gets_a_stub():
    # spec: P5.2
    fixed = repair([USER, call("a"), USER])
    assert fixed.messages[2] == {
        "role": "tool",
        "tool_call_id": "a",
        "content": "[Result from earlier conversation — see context summary above]",
    }
    assert fixed.messages[2]["content"] == STUB
    assert (fixed.stubbed, fixed.sources) == (1, [0, 1, -1, 2])


def test_each_missing_result_of_a_batch():
    # spec: P5.2
    fixed = repair([USER, call("a", "b", "c"), result("b"), SAID])
    assert sorted(m["tool_call_id"] for m in fixed.messages[2:5]) == ["a", "b", "c"]
    assert {m["tool_call_id"]: m["content"] for m in fixed.messages[2:5]} == {
        "a": STUB, "b": "result of b", "c": STUB,
    }  # fmt: skip
    assert fixed.messages[5] is SAID


def test_the_input_is_not_changed():
    # spec: P5.3
    messages = [USER, call("a", None), result("b"), result(" a "), USER]
    before = copy.deepcopy(messages)
    assert repair(messages).changed
    assert messages == before


# -- P5.2b: pairing by the call that is still open -------------------------------------------------


def test_reused_ids():
    # spec: P5.2b
    assert untouched([USER, call("t:0"), result("t:0", "one"), call("t:0"), result("t:0", "two"), SAID])


def test_a_replayed_result_is_dropped():
    # spec: P5.2b
    fixed = repair([USER, call("a"), result("a", "first"), result("a", "again"), SAID])
    assert shape(fixed.messages) == [("tool", "a")]
    assert fixed.messages[2]["content"] == "first"
    assert fixed.dropped == 1


def test_the_same_id_twice_in_one_batch():
    # spec: P5.2b
    assert untouched([USER, call("a", "a"), result("a", "one"), result("a", "two"), SAID])


@pytest.mark.parametrize("named", ["fc_7", "call_7"])
def test_two_ids_on_one_call(named: str):
    # spec: P5.2b
    made = call("fc_7", call_id="call_7")
    fixed = repair([USER, made, result(named, "the result"), SAID])
    assert (fixed.dropped, fixed.stubbed) == (0, 0)
    assert fixed.messages[2]["content"] == "the result"
    assert fixed.messages[2]["tool_call_id"] in ("fc_7", "call_7")


@pytest.mark.parametrize(
    ("made", "named"),
    [
        ("call_9|fc_9", "call_9"),
        ("call_9|fc_9", "fc_9"),
        ("call_9", "call_9|fc_9"),
        ("f:24", " f:24"),
        (" f:24 ", "f:24"),
    ],
)
def test_ids_that_read_differently(made: str, named: str):
    # spec: P5.2b
    fixed = repair([USER, call(made), result(named, "the result"), SAID])
    assert (fixed.dropped, fixed.stubbed) == (0, 0)
    assert fixed.messages[2]["content"] == "the result"
    assert fixed.messages[2]["tool_call_id"] == fixed.messages[1]["tool_calls"][0]["id"]


def test_calls_without_ids():
    # spec: P5.2b
    fixed = repair([USER, call(None, None), result(None, "one"), result(None, "two"), SAID])
    ids = [entry["id"] for entry in fixed.messages[1]["tool_calls"]]
    assert len(set(ids)) == 2
    assert [(m["tool_call_id"], m["content"]) for m in fixed.messages[2:4]] == [(ids[0], "one"), (ids[1], "two")]
    assert fixed.dropped == 0


def test_a_made_up_id_is_nobody_elses():
    # spec: P5.2b
    fixed = repair([USER, call(None), result(None, "x"), call("call_1_0"), result("call_1_0", "y"), SAID])
    assert [m["content"] for m in fixed.messages if m["role"] == "tool"] == ["x", "y"]
    again = repair(fixed.messages)
    assert not again.changed


def test_a_late_result_moves_to_its_call():
    # spec: P5.2b
    fixed = repair([USER, call("a"), USER, result("a"), SAID])
    assert [m["role"] for m in fixed.messages] == ["user", "assistant", "tool", "user", "assistant"]
    assert fixed.messages[2]["content"] == "result of a"
    assert (fixed.moved, fixed.stubbed, fixed.dropped) == (1, 0, 0)


def test_a_result_before_its_call_answers_nothing():
    # spec: P5.2b
    fixed = repair([USER, result("a", "early"), call("a"), result("a", "right"), SAID])
    assert [m["content"] for m in fixed.messages if m["role"] == "tool"] == ["right"]


# -- P2.5c, P5.3 -----------------------------------------------------------------------------------


@pytest.mark.parametrize("answered", [[], ["a"], ["a", "b"]])
def test_a_running_group_is_neither_stubbed_nor_dropped(answered: list[str]):
    # spec: P2.5c
    assert untouched([USER, call("a", "b", "c"), *map(result, answered)])


def test_a_call_that_was_left_behind_counts_as_closed():
    # spec: P2.5c, P5.2
    fixed = repair([USER, call("a"), USER, SAID, call("b")])
    assert fixed.stubbed == 1
    assert fixed.messages[-1]["tool_calls"][0]["id"] == "b"


ODD: list[Any] = [
    "a bare string",
    None,
    7,
    [],
    {},
    {"role": None},
    {"role": "narrator", "content": 3.5},
    {"role": "assistant", "tool_calls": "none"},
    {"role": "assistant", "tool_calls": [None, "x", 5]},
    {"role": "assistant", "tool_calls": [{"id": 5, "function": None}]},
    {"role": "assistant", "tool_calls": {"id": "a"}},
    {"role": "tool", "tool_call_id": ["a"], "content": {"x": 1}},
    {"role": "user", "content": {"text": "\ud83d"}},
]


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_nothing_that_comes_in_raises(odd: Any):
    # spec: P5.3
    fixed = repair([USER, odd, call("a"), result("a"), odd, USER])
    assert all(isinstance(message, dict) for message in fixed.messages)
    assert not repair(fixed.messages).changed


def test_repairing_twice_is_repairing_once():
    # spec: P5.3
    mess = [result("z"), USER, call("a", None, "a"), result("a"), USER, result("a"), result(None), call("b"), SAID]
    once = repair(mess)
    assert once.changed
    assert not repair(once.messages).changed


def test_entries_that_are_no_messages_are_counted():
    # spec: P5.3, F2b
    fixed = repair(["x", USER, None, SAID])
    assert (fixed.discarded, fixed.sources) == (2, [1, 3])
