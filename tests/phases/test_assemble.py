"""Phase 4: head, summary, tail; one note in the system prompt; no two neighbours of one role."""

import copy
from itertools import pairwise
from typing import Any

import pytest

from abridged.phases.assemble import assemble
from abridged.summary.template import END_MARKER, PREFIX, SYSTEM_NOTE, find_summary, frame

Message = dict[str, Any]
SUMMARY = frame("## Active Task\n- the task")
SYSTEM: Message = {"role": "system", "content": "rules"}
CALL: Message = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "t", "arguments": "{}"}}],
}


def message(role: str) -> Message:
    if role == "tool":
        return {"role": "tool", "tool_call_id": "a", "content": "result"}
    if role == "call":
        return CALL
    return {"role": role, "content": f"text of {role}"}


def listed(*roles: str) -> list[Message]:
    return [message(role) for role in roles]


def summary_place(messages: list[Message]) -> int:
    places = [index for index, entry in enumerate(messages) if find_summary(entry)]
    assert len(places) == 1
    return places[0]


# -- P4.1 ------------------------------------------------------------------------------------------


def test_head_then_summary_then_tail():
    # spec: P4.1
    head, tail = [SYSTEM, *listed("user", "call", "tool")], listed("assistant", "user")
    built = assemble(head, SUMMARY, tail)
    assert built[1:4] == head[1:]
    assert built[4] == {"role": "user", "content": SUMMARY}
    assert built[5:] == tail
    assert all(a is b for a, b in zip(built[1:4] + built[5:], head[1:] + tail, strict=True))


def test_the_system_prompt_gets_the_note():
    # spec: P4.1
    noted = assemble([SYSTEM], SUMMARY, listed("assistant"))[0]
    assert noted == {"role": "system", "content": "rules\n\n" + SYSTEM_NOTE}


def test_the_note_comes_once():
    # spec: P4.1
    once = assemble([SYSTEM], SUMMARY, listed("assistant"))
    twice = assemble(once[:1], SUMMARY, listed("assistant"))
    assert twice[0]["content"] == once[0]["content"]
    assert twice[0]["content"].count("have been compacted") == 1


def test_the_note_in_list_content():
    # spec: P4.1
    parts = [{"type": "text", "text": "rules", "cache_control": {"type": "ephemeral"}}]
    noted = assemble([{"role": "system", "content": parts}], SUMMARY, listed("user"))[0]
    assert noted["content"] == [*parts, {"type": "text", "text": SYSTEM_NOTE}]
    assert assemble([noted], SUMMARY, listed("user"))[0] == noted


def test_only_a_system_prompt_gets_the_note():
    # spec: P4.1
    built = assemble(listed("user", "assistant"), SUMMARY, listed("user", "assistant"))
    assert SYSTEM_NOTE not in str(built)


def test_what_was_given_stays_as_it_was():
    # spec: P4.1
    head, tail = [SYSTEM, *listed("user", "assistant")], listed("user", "assistant")
    before = copy.deepcopy((head, tail))
    assemble(head, SUMMARY, tail)
    assert (head, tail) == before


# -- P4.2, P4.3, P4.4 ------------------------------------------------------------------------------

# spec: P4.3: the head's last, the tail's first -> the summary's role, or merged into the tail's first
ROLES = [
    ("assistant", "assistant", "user"),
    ("tool", "assistant", "user"),
    ("tool", "call", "user"),
    ("tool", "user", "assistant"),  # flipped
    ("assistant", "user", "merged"),  # the flip collides with the head
    ("user", "user", "assistant"),
    ("user", "assistant", "merged"),
    ("user", "call", "merged"),
    ("system", "assistant", "user"),  # spec: P4.3b
    ("system", "call", "user"),
    ("system", "user", "merged"),
    ("developer", "assistant", "user"),
    ("", "assistant", "user"),
    ("", "user", "merged"),
]


@pytest.mark.parametrize(("before", "after", "role"), ROLES)
def test_role(before: str, after: str, role: str):
    # spec: P4.3, P4.3b
    head = {
        "": [],
        "system": [SYSTEM],
        "user": [SYSTEM, message("user")],
        "assistant": [SYSTEM, *listed("user", "assistant")],
        "tool": [SYSTEM, *listed("user", "call", "tool")],
        "developer": [SYSTEM, message("developer")],
    }[before]
    tail = [message(after), *(listed("tool", "assistant") if after == "call" else listed("tool")[:0])]
    built = assemble(head, SUMMARY, tail)
    place = summary_place(built)
    assert place == len(head)
    if role == "merged":
        assert len(built) == len(head) + len(tail)
        assert built[place]["role"] == tail[0]["role"]
    else:
        assert built[place] == {"role": role, "content": SUMMARY}
    first = next(entry for entry in built if entry["role"] not in ("system", "developer"))
    assert first["role"] == "user"
    plain = [entry["role"] for entry in built if entry["role"] not in ("system", "developer")]
    assert all(a != b for a, b in pairwise(plain))


@pytest.mark.parametrize("before", ["system", "user", "assistant", "tool"])
@pytest.mark.parametrize("after", ["user", "assistant"])
def test_what_holds_whatever_stands_beside_it(before: str, after: str):
    # spec: P4.2, P4.3b
    built = assemble([SYSTEM, message(before)] if before != "system" else [SYSTEM], SUMMARY, [message(after)])
    place = summary_place(built)
    assert built[place]["content"].startswith(PREFIX)
    assert built[place]["role"] != "system"
    assert not built[-1]["content"].endswith(END_MARKER)  # never ends on the summary
    assert any(entry["role"] == "user" for entry in built)


def test_a_merged_summary_stands_before_the_messages_own_text():
    # spec: P4.4
    first = {"role": "user", "content": "fix the parser", "name": "kim"}
    merged = assemble([SYSTEM], SUMMARY, [first])[1]
    assert merged == {"role": "user", "content": f"{SUMMARY}\n\nfix the parser", "name": "kim"}
    assert merged["content"].split(END_MARKER)[1].strip() == "fix the parser"


def test_merged_into_list_content():
    # spec: P4.4
    parts = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]
    merged = assemble([SYSTEM], SUMMARY, [{"role": "user", "content": parts}])[1]
    assert merged["content"] == [{"type": "text", "text": SUMMARY}, *parts]


def test_merged_into_a_message_with_calls():
    # spec: P4.4, P5.3
    merged = assemble([SYSTEM, message("user")], SUMMARY, [CALL, message("tool")])[2]
    assert merged["tool_calls"] is CALL["tool_calls"]
    assert merged["content"].startswith(SUMMARY)
    found = find_summary(merged)
    assert found
    assert found.rest
    assert found.rest["tool_calls"] is CALL["tool_calls"]
