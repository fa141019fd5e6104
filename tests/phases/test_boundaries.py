"""Phase 2: head, middle and tail. No tool group is split, no newest request lost, no tail endless."""

from typing import Any

import pytest

from abridged.conversation.measure import weight
from abridged.phases.boundaries import BoundarySettings, Plan, cut_result, plan_boundaries

Message = dict[str, Any]
SYSTEM: Message = {"role": "system", "content": "rules"}


def user(text: str = "please") -> Message:
    return {"role": "user", "content": text}


def said(text: str = "done") -> Message:
    return {"role": "assistant", "content": text}


def group(name: str, results: int = 1, chars: int = 390, answered: int | None = None) -> list[Message]:
    entries = [
        {"id": f"{name}{n}", "type": "function", "function": {"name": "t", "arguments": "{}"}} for n in range(results)
    ]
    shown = range(results if answered is None else answered)
    return [
        {"role": "assistant", "content": "", "tool_calls": entries},
        *({"role": "tool", "tool_call_id": f"{name}{n}", "content": "x" * chars} for n in shown),
    ]


def plan(messages: list[Message], **settings: Any) -> Plan:
    return plan_boundaries(messages, BoundarySettings(**settings))


def whole(messages: list[Message], found: Plan) -> bool:
    """No cut of the plan stands before a tool result."""
    cuts = [cut for cut in (found.head_end, found.tail_start) if cut < len(messages)]
    return all(messages[cut]["role"] != "tool" for cut in cuts)


def turns(count: int, chars: int = 390) -> list[Message]:
    made = [(user if n % 2 == 0 else said)("x" * chars) for n in range(count)]
    return [*made, user("the newest request")]


# -- P2.1, P2.7: the head --------------------------------------------------------------------------


@pytest.mark.parametrize("first", [1, 2, 3, 5])
def test_the_head_is_the_first_n_messages(first: int):
    # spec: P2.1
    found = plan([SYSTEM, *turns(30)], protect_first_n=first, tail_ceiling=500, protect_last_n=1)
    assert found.head_end == first
    assert found.middle[0] == first


def test_the_head_is_three_messages_by_default():
    # spec: P2.1, C
    assert plan([SYSTEM, *turns(30)], tail_ceiling=500, protect_last_n=1).head_end == 3


def test_after_the_first_time_the_head_is_the_system_prompt():
    # spec: P2.7
    messages = [SYSTEM, {"role": "developer", "content": "more rules"}, *turns(30)]
    again = plan(messages, tail_ceiling=500, protect_last_n=1, settled=2)
    assert again.head_end == 2
    assert 2 in again.middle


def test_the_system_prompt_stays_even_with_no_protected_head():
    # spec: P2.7
    assert plan([SYSTEM, *turns(30)], protect_first_n=0, tail_ceiling=500, protect_last_n=1).head_end == 1


# -- P2.2: the tail by weight ----------------------------------------------------------------------


def test_the_weight_of_a_message():
    # spec: P2.2
    assert weight(user("x" * 399)) == 99 + 10
    assert weight(user("")) == 10
    assert weight({"role": "assistant", "content": None}) == 10
    assert weight({"role": "user", "content": "汉" * 8}) == 12


@pytest.mark.parametrize(("ceiling", "kept"), [(35, 1), (120, 1), (121, 2), (227, 2), (228, 3), (335, 4)])
def test_the_tail_reaches_up_to_its_ceiling(ceiling: int, kept: int):
    # spec: P2.2: the request weighs 14, each other message 107
    messages = [SYSTEM, *turns(30)]
    found = plan(messages, tail_ceiling=ceiling, protect_last_n=1)
    assert weight(messages[-1]) == 14
    assert len(messages) - found.tail_start == kept
    assert found.anchor is None


def test_the_default_ceiling_is_that_of_128k():
    # spec: P2.2
    assert BoundarySettings().tail_ceiling == int(12_800 * 1.5)


# -- P2.3, P2.4: tool groups stay whole ------------------------------------------------------------


def test_a_middle_never_starts_on_a_result():
    # spec: P2.3
    messages = [SYSTEM, user(), *group("a", 4), *turns(20)]
    found = plan(messages, protect_first_n=3, tail_ceiling=400, protect_last_n=1)
    assert found.head_end == 7
    assert messages[found.middle[0]]["role"] == "user"


@pytest.mark.parametrize("ceiling", range(30, 1_500, 45))
def test_a_group_is_never_split(ceiling: int):
    # spec: P2.4
    messages = [SYSTEM, user(), *group("a", 3), *group("b", 1), *group("c", 5), user("newest"), *group("d", 2), said()]
    found = plan(messages, tail_ceiling=ceiling, protect_last_n=1)
    assert whole(messages, found)


@pytest.mark.parametrize("last_n", range(1, 12))
def test_keeping_n_messages_does_not_split_a_group(last_n: int):
    # spec: P2.4
    messages = [SYSTEM, user(), *turns(6), *group("a", 10, 40)]
    found = plan(messages, protect_first_n=1, protect_last_n=last_n, tail_ceiling=300)
    assert whole(messages, found)
    assert found.tail_start <= messages.index(messages[-11])


# -- P2.5: the newest request ----------------------------------------------------------------------


def test_the_newest_request_is_in_the_tail():
    # spec: P2.5
    messages = [SYSTEM, *turns(20), said(), *group("a")]
    found = plan(messages, tail_ceiling=600, protect_last_n=1)
    assert found.tail_start <= 21
    assert found.anchor is None


def test_a_long_run_after_the_request_does_not_freeze_the_session():
    # spec: P2.5b
    run = [message for n in range(50) for message in group(f"g{n}_")]
    messages = [SYSTEM, *turns(4), *run]
    found = plan(messages, tail_ceiling=1_000, protect_last_n=1)
    assert found.anchor == 5
    assert 5 not in found.middle
    assert found.middle[-1] > 80
    assert sum(map(weight, messages[found.tail_start :])) <= 1_000
    assert whole(messages, found)


NOT_A_REQUEST = [
    "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted",
    "[CONTEXT SUMMARY]: earlier work",
    "HEARTBEAT",
    "[heartbeat] 12:00",
    "[System message: the tool list changed]",
    "<system-reminder>stay on topic</system-reminder>",
    "/compress auth",
    "/new",
    "/status",
    "",
    "   \n",
]


@pytest.mark.parametrize("text", NOT_A_REQUEST)
def test_what_a_host_puts_in_the_users_place_is_no_request(text: str):
    # spec: P2.5b
    run = [message for n in range(30) for message in group(f"g{n}_")]
    messages = [SYSTEM, user("first"), said(), user("fix the parser"), *run, user(text), said()]
    assert plan(messages, tail_ceiling=500, protect_last_n=1).anchor == 3


@pytest.mark.parametrize(
    "text", ["/etc/hosts is wrong", "/help/index.html is missing", "heartbeats fail in prod", "继续"]
)
def test_a_request_that_resembles_one_is_a_request(text: str):
    # spec: P2.5b
    run = [message for n in range(30) for message in group(f"g{n}_")]
    messages = [SYSTEM, user("first"), said(), user("fix the parser"), said(), user(text), *run]
    assert plan(messages, tail_ceiling=500, protect_last_n=1).anchor == 5


def test_pictures_alone_are_a_request():
    # spec: P2.5b
    run = [message for n in range(30) for message in group(f"g{n}_")]
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]}
    messages = [SYSTEM, user("first"), said(), user("fix"), said(), picture, *run]
    assert plan(messages, tail_ceiling=500, protect_last_n=1).anchor == 5


# -- P2.5c: running calls --------------------------------------------------------------------------


@pytest.mark.parametrize("answered", [0, 1, 2])
@pytest.mark.parametrize("ceiling", [1, 50, 5_000])
def test_a_running_group_is_in_the_tail_and_untouched(answered: int, ceiling: int):
    # spec: P2.5c
    messages = [SYSTEM, *turns(10), *group("live", 3, chars=60_000, answered=answered)]
    found = plan(messages, tail_ceiling=ceiling, protect_last_n=1)
    assert found.tail_start <= 12
    assert not found.cut


def test_a_running_group_is_never_part_of_the_head():
    # spec: P2.5c
    messages = [SYSTEM, user(), *group("live", 2, answered=1)]
    found = plan(messages, protect_first_n=3)
    assert found.head_end <= 2
    assert found.middle == []


# -- P2.5d: the tail is bounded --------------------------------------------------------------------


def test_the_floor_holds_only_while_it_fits():
    # spec: P2.5d
    messages = [SYSTEM, *turns(40, chars=3_990)]  # 1,007 each
    found = plan(messages, protect_last_n=20, tail_ceiling=5_100)
    assert len(messages) - found.tail_start == 6
    assert found.middle


def test_one_oversized_result_is_cut():
    # spec: P2.5d
    messages = [SYSTEM, *turns(10), *group("a", 1, chars=400_000), said()]
    found = plan(messages, protect_last_n=20, tail_ceiling=4_000, cut_chars=8_000)
    assert found.cut == {13}
    assert found.tail_start <= 12


def test_an_oversized_result_outside_the_floor_is_summarised():
    # spec: P2.5d
    messages = [SYSTEM, *turns(4), *group("a", 1, chars=400_000), *turns(6, chars=39)]
    found = plan(messages, protect_last_n=3, tail_ceiling=4_000, cut_chars=8_000)
    assert not found.cut
    assert found.tail_start > 7


def test_a_batch_that_is_too_large_as_a_whole():
    # spec: P2.5d
    messages = [SYSTEM, *turns(10), *group("a", 12, chars=32_000), said()]
    found = plan(messages, protect_last_n=20, tail_ceiling=30_000, cut_chars=8_000)
    assert found.cut == set(range(13, 25))


def test_a_cut_result_keeps_both_ends_and_says_so():
    # spec: P2.5d
    text = "START" + "x" * 50_000 + "END"
    shorter = cut_result({"role": "tool", "tool_call_id": "a", "content": text, "extra": 1}, 1_000)
    assert shorter["content"].startswith("START")
    assert shorter["content"].endswith("END")
    assert "49,008 characters" in shorter["content"]
    assert len(shorter["content"]) < 1_300
    assert (shorter["tool_call_id"], shorter["extra"]) == ("a", 1)


# -- P2.6: nothing to compress ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "messages", [[], [SYSTEM], [user()], [SYSTEM, user()], [SYSTEM, user(), said(), user()], group("a")]
)
def test_short_lists_have_no_middle(messages: list[Message]):
    # spec: P2.6
    found = plan(messages)
    assert found.middle == []
    assert found.head_end <= found.tail_start <= len(messages)


def test_every_message_is_in_exactly_one_place():
    # spec: P2.1
    messages = [SYSTEM, *turns(5), *[m for n in range(20) for m in group(f"g{n}_", 2)]]
    found = plan(messages, tail_ceiling=900, protect_last_n=2)
    head, tail = list(range(found.head_end)), list(range(found.tail_start, len(messages)))
    anchored = [] if found.anchor is None else [found.anchor]
    assert sorted([*head, *found.middle, *anchored, *tail]) == list(range(len(messages)))
