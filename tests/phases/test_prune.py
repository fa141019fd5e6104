"""Phase 1: duplicates, digests, arguments, pictures; nothing that came in is changed."""

import copy
import json
from typing import Any

import pytest

from abridged.phases.prune import DUPLICATE, PruneSettings, prune, prune_boundary

Message = dict[str, Any]
LOG = "line of output\n" * 40


def user(text: str = "go on") -> Message:
    return {"role": "user", "content": text}


def calls(*made: tuple[str, str, Any]) -> Message:
    entries = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in made]
    return {"role": "assistant", "content": None, "tool_calls": entries}


def tool(call_id: str, content: Any) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def pair(
    number: int, content: Any, name: str = "terminal", arguments: Any = '{"command": "npm test"}'
) -> list[Message]:
    return [calls((f"c{number}", name, arguments)), tool(f"c{number}", content)]


ALL_OLD = PruneSettings(protect_tail_tokens=1, protect_last_n=1)
NONE_OLD = PruneSettings(protect_tail_tokens=10**9)


def arguments_after(arguments: Any) -> Any:
    found = prune([calls(("a", "write_file", arguments)), tool("a", "ok"), user()], ALL_OLD)
    return found.messages[0]["tool_calls"][0]["function"]["arguments"]


# -- P1.1: order, count, no mutation ---------------------------------------------------------------


def test_the_light_copy_has_the_same_messages_at_the_same_places():
    # spec: P1.1
    messages = [user(), *pair(1, LOG), *pair(2, LOG + "more"), user()]
    pruned = prune(messages, ALL_OLD)
    assert [m["role"] for m in pruned.messages] == [m["role"] for m in messages]
    assert pruned.count == pruned.digests == 2
    assert pruned.messages[0] is messages[0]
    assert pruned.messages[5] is messages[5]


def test_the_input_is_not_changed():
    # spec: P1.1
    picture = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]
    long = json.dumps({"path": "a", "content": "x" * 900})
    messages = [*pair(1, LOG, "write_file", long), *pair(2, LOG), *pair(3, picture), user()]
    before = copy.deepcopy(messages)
    assert prune(messages, ALL_OLD).count == 4
    assert messages == before


def test_duplicates_go_before_digests():
    # spec: P1.1: what is marked as a duplicate is not digested afterwards
    pruned = prune([*pair(1, LOG), *pair(2, LOG), user()], ALL_OLD)
    assert pruned.messages[1]["content"] == DUPLICATE
    assert pruned.messages[3]["content"].startswith("[terminal] ran `npm test`")
    assert (pruned.duplicates, pruned.digests, pruned.count) == (1, 1, 2)


def test_nothing_to_prune():
    # spec: P1.1
    assert prune([]).messages == []
    assert prune([user()], ALL_OLD).count == 0


# -- P1.2: duplicates ------------------------------------------------------------------------------


def test_the_newest_copy_stays_whole():
    # spec: P1.2
    messages = [*pair(1, LOG), *pair(2, LOG), *pair(3, LOG), user()]
    pruned = prune(messages, NONE_OLD)
    assert [pruned.messages[i]["content"] for i in (1, 3, 5)] == [DUPLICATE, DUPLICATE, LOG]
    assert DUPLICATE == "[Duplicate tool output — same content as a more recent call]"
    assert pruned.messages[1]["tool_call_id"] == "c1"
    assert pruned.messages[5] is messages[5]


def test_duplicates_are_found_inside_the_protected_tail():
    # spec: P1.2
    pruned = prune([*pair(1, LOG), *pair(2, LOG)], NONE_OLD)
    assert pruned.boundary == 0
    assert pruned.duplicates == 1


@pytest.mark.parametrize(("chars", "found"), [(199, 0), (200, 1)])
def test_short_results_are_no_duplicates(chars: int, found: int):
    # spec: P1.2
    assert prune([*pair(1, "x" * chars), *pair(2, "x" * chars)], NONE_OLD).duplicates == found


def test_list_content_is_no_duplicate():
    # spec: P1.2
    content = [{"type": "text", "text": LOG}]
    assert prune([*pair(1, content), *pair(2, copy.deepcopy(content))], NONE_OLD).duplicates == 0


def test_only_tool_results_are_duplicates():
    # spec: P1.2
    assert prune([user(LOG), user(LOG), {"role": "assistant", "content": LOG}], NONE_OLD).count == 0


def test_a_lone_surrogate_is_content_like_any_other():
    # spec: P1.2
    odd = "\ud83d" + LOG
    assert prune([*pair(1, odd), *pair(2, odd)], NONE_OLD).duplicates == 1


def test_a_json_array_on_one_line_is_a_result():
    # spec: P1.2, P1.3
    array = "[" + "1, " * 70 + "1]"
    assert prune([*pair(1, array), *pair(2, array)], NONE_OLD).duplicates == 1


# -- P1.3: digests (each tool's own line is proved in tests/digests) -------------------------------


def test_an_old_result_becomes_the_line_of_its_tool():
    # spec: P1.3
    output = json.dumps({"output": "\n".join(["line"] * 47) + " " * 200, "exit_code": 0})
    assert prune([*pair(1, output), user()], ALL_OLD).messages[1]["content"] == (
        "[terminal] ran `npm test` -> exit 0, 47 lines output"
    )


def test_any_other_tool_has_the_generic_line():
    # spec: P1.3
    found = prune([*pair(1, "y" * 500, "my_tool", '{"a": "1", "b": 2}'), user()], ALL_OLD)
    assert found.messages[1]["content"] == "[my_tool] a=1 b=2 (500 chars result)"


def test_a_result_in_the_protected_tail_stays_whole():
    # spec: P1.3, P1.5
    messages = [*pair(1, LOG), *pair(2, LOG + "2"), user()]
    pruned = prune(messages, PruneSettings(protect_tail_tokens=1, protect_last_n=3))
    assert pruned.boundary == 2
    assert pruned.messages[1]["content"].startswith("[terminal]")
    assert pruned.messages[3] is messages[3]


@pytest.mark.parametrize("arguments", ["[1, 2]", "null", "7", "{broken", "", None, 7, ["a"], {"command": {"x": 1}}])
def test_odd_arguments_never_stop_a_digest(arguments: Any):
    # spec: P1.3b
    line = prune([*pair(1, LOG, "terminal", arguments), user()], ALL_OLD).messages[1]["content"]
    assert line.startswith("[terminal]")
    assert len(line) < len(LOG)


# -- P1.4: arguments -------------------------------------------------------------------------------


def test_long_strings_are_cut_at_any_depth():
    # spec: P1.4
    value = {
        "path": "a.py",
        "content": "x" * 500,
        "deep": [{"k": ["y" * 201, "z" * 200]}],
        "n": 1,
        "b": True,
        "e": None,
    }
    assert json.loads(arguments_after(json.dumps(value))) == {
        **value,
        "content": "x" * 200 + "...[truncated]",
        "deep": [{"k": ["y" * 200 + "...[truncated]", "z" * 200]}],
    }


def test_arguments_that_are_already_an_object_are_cut_too():
    # spec: P1.4
    assert arguments_after({"content": "x" * 500}) == {"content": "x" * 200 + "...[truncated]"}


@pytest.mark.parametrize("arguments", ["{broken " + "x" * 500, "x" * 500, '{"a": "' + "x" * 500])
def test_what_is_not_json_is_left_alone(arguments: str):
    # spec: P1.4
    assert arguments_after(arguments) == arguments


def test_short_arguments_keep_their_very_bytes():
    # spec: P1.4
    spaced = '{ "a" :  1 }'
    messages = [calls(("a", "t", spaced)), tool("a", "ok"), user()]
    assert prune(messages, ALL_OLD).messages[0] is messages[0]
    many = json.dumps({f"key{n}": n for n in range(80)})
    assert arguments_after(many) == many


def test_chinese_is_cut_by_character_and_stays_readable():
    # spec: P1.4
    assert arguments_after(json.dumps({"a": "汉" * 300}, ensure_ascii=False)) == (
        '{"a": "' + "汉" * 200 + '...[truncated]"}'
    )


def test_each_call_of_a_batch():
    # spec: P1.4
    long = json.dumps({"a": "x" * 300})
    batch = calls(("a", "t", long), ("b", "t", "{broken" + "x" * 300), ("c", "t", long))
    pruned = prune([batch, tool("a", "1"), tool("b", "2"), tool("c", "3"), user()], ALL_OLD)
    kept = [entry["function"]["arguments"] for entry in pruned.messages[0]["tool_calls"]]
    assert [len(text) for text in kept] == [223, 307, 223]
    assert pruned.arguments == 2


def test_arguments_in_the_tail_stay():
    # spec: P1.4
    messages = [calls(("a", "t", json.dumps({"a": "x" * 300}))), tool("a", "ok"), user()]
    assert prune(messages, NONE_OLD).messages[0] is messages[0]


def test_arguments_of_a_running_call_stay():
    # spec: P2.5c
    messages = [user(), calls(("a", "t", json.dumps({"a": "x" * 300})))]
    assert prune([*messages], PruneSettings(protect_tail_tokens=0, protect_last_n=0)).messages[1] is messages[1]


def no_constant(name: str) -> None:
    raise ValueError(name)


def test_a_number_too_large_for_a_float_stays_json():
    # spec: P1.4 (the result is always valid JSON)
    json.loads(arguments_after('{"n": 1e999, "s": "' + "x" * 300 + '"}'), parse_constant=no_constant)


def test_an_escaped_surrogate_stays_escaped():
    # spec: P1.4, P5.3
    arguments_after('{"s": "\\ud83d' + "x" * 300 + '"}').encode("utf-8")


def test_very_deep_arguments_never_raise():
    # spec: P1.4, P5.3
    arguments_after("[" * 600 + '"' + "x" * 300 + '"' + "]" * 600)


# -- P1.4b: idempotent, pictures -------------------------------------------------------------------


def test_pruning_twice_is_pruning_once():
    # spec: P1.4b
    long = json.dumps({"path": "a", "content": "x" * 900, "old": "y" * 207})
    picture = [{"type": "text", "text": "see"}, {"type": "image", "source": {"data": "AAAA"}}]
    messages = [*pair(1, LOG, "write_file", long), *pair(2, LOG), *pair(3, LOG + "3"), *pair(4, picture), user()]
    for settings in (ALL_OLD, NONE_OLD, PruneSettings(100, 2)):
        once = prune(messages, settings)
        twice = prune(once.messages, settings)
        assert twice.messages == once.messages
        assert twice.count == 0


def test_short_results_stay():
    # spec: P1.4b
    messages = [*pair(1, "x" * 199), user()]
    assert prune(messages, ALL_OLD).messages[1] is messages[1]


PICTURES = [
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
    {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
    {"inline_data": {"mime_type": "image/png", "data": "AAAA"}},
]


@pytest.mark.parametrize("part", PICTURES)
def test_old_pictures_become_words(part: Message):
    # spec: P1.4b
    text = {"type": "text", "text": "the login page"}
    nested = {"type": "tool_result", "tool_use_id": "t", "content": [part]}
    messages = [{"role": "user", "content": [text, part]}, *pair(1, [part]), user("x"), user("y")]
    messages.append({"role": "user", "content": [nested]})
    messages.append(user())
    pruned = prune(messages, ALL_OLD)
    assert pruned.pictures == 3
    assert "AAAA" not in json.dumps(pruned.messages)
    assert pruned.messages[0]["content"][0] is text
    assert pruned.messages[0]["content"][1]["type"] == "text"
    assert "picture" in pruned.messages[0]["content"][1]["text"]
    assert prune(messages, NONE_OLD).messages[0] is messages[0]


# -- P1.5: the boundary ----------------------------------------------------------------------------


def words(chars: int, count: int) -> list[Message]:
    return [user("x" * chars) for _ in range(count)]


def test_the_boundary_by_tokens():
    # spec: P1.5: each message weighs 390 // 4 + 10 = 107; the one that passes the budget is protected
    messages = words(390, 10)
    assert prune_boundary(messages, PruneSettings(protect_tail_tokens=321, protect_last_n=1)) == 6
    assert prune_boundary(messages, PruneSettings(protect_tail_tokens=320, protect_last_n=1)) == 7
    assert prune_boundary(messages, PruneSettings(protect_tail_tokens=1070, protect_last_n=1)) == 0


@pytest.mark.parametrize("floor", [1, 4, 9])
def test_never_fewer_than_the_floor(floor: int):
    # spec: P1.5
    messages = words(4_000, 10)
    assert len(messages) - prune_boundary(messages, PruneSettings(1, floor)) == floor
    assert prune_boundary(words(4_000, floor), PruneSettings(1, floor)) == 0


def test_the_defaults_are_those_of_128k():
    # spec: P1.5, C
    assert PruneSettings().protect_tail_tokens == 12_800
    assert PruneSettings().protect_last_n == 20
