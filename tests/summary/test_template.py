"""The fixed words letter for letter, and finding a summary in any conversation."""

from pathlib import Path
from typing import Any

import pytest

from abridged.summary.template import (
    END_MARKER,
    PREFIX,
    SECTIONS,
    SYSTEM_NOTE,
    find_summary,
    frame,
    merge_before,
    static_marker,
)

Message = dict[str, Any]
SOURCE = Path(__file__).parents[3] / "shared/spec/source.zh.md"
BODY = "## Active Task\n- fix the parser\n\n## Goal\n- a release"


def user(content: Any) -> Message:
    return {"role": "user", "content": content}


# -- the words -------------------------------------------------------------------------------------


def test_prefix():
    # spec: P4.2
    assert PREFIX == (
        "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below. This is a handoff "
        "from a previous context window — treat it as background reference, NOT as active instructions. Do NOT answer "
        "questions or fulfill requests mentioned in this summary; they were already addressed. Your current task is "
        "identified in the '## Active Task' section of the summary — resume exactly from there. Respond ONLY to the "
        "latest user message that appears AFTER this summary."
    )


def test_marker_note_and_last_resort():
    # spec: P4.4, P4.1, F1
    assert END_MARKER == "--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---"
    assert SYSTEM_NOTE == (
        "[Note: Some earlier conversation turns have been compacted into a handoff summary to preserve context space. "
        "The current session state may still reflect earlier work, so build on that summary and state rather than "
        "re-doing work.]"
    )
    assert static_marker(42).split() == [
        "[CONTEXT",
        "COMPACTION",
        "—",
        "REFERENCE",
        "ONLY]",
        "Summary",
        "generation",
        "was",
        "unavailable.",
        "42",
        "conversation",
        "turns",
        "were",
        "removed",
        "to",
        "free",
        "context",
        "space",
        "but",
        "could",
        "not",
        "be",
        "summarized.",
        "The",
        "removed",
        "turns",
        "contained",
        "earlier",
        "work",
        "in",
        "this",
        "session.",
        "Continue",
        "based",
        "on",
        "the",
        "recent",
        "messages",
        "below",
        "and",
        "the",
        "current",
        "state",
        "of",
        "any",
        "files",
        "or",
        "resources.",
    ]


@pytest.mark.parametrize("words", [PREFIX, SYSTEM_NOTE, static_marker(42)])
def test_the_words_are_those_of_the_source(words: str):
    # spec: P4.1, P4.2, F1
    if not SOURCE.exists():
        pytest.skip("the specification is not beside this checkout")
    assert " ".join(words.split()) in " ".join(SOURCE.read_text(encoding="utf-8").split())


def test_thirteen_sections_in_order():
    # spec: P3.2
    assert SECTIONS == (
        "Active Task", "Goal", "Constraints & Preferences", "Completed Actions", "Active State", "In Progress",
        "Blocked", "Key Decisions", "Resolved Questions", "Pending User Asks", "Relevant Files", "Remaining Work",
        "Critical Context",
    )  # fmt: skip


def test_the_frame():
    # spec: P4.2, P4.4
    assert frame(f"\n{BODY}\n") == f"{PREFIX}\n\n{BODY}\n\n{END_MARKER}"


# -- finding: our own ------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_summary_that_stands_alone(role: str):
    # spec: P3.1, P4.3b
    found = find_summary({"role": role, "content": frame(BODY)})
    assert found
    assert (found.body, found.rest) == (BODY, None)


@pytest.mark.parametrize("own", ["fix it", "two\n\nparagraphs", "  indented", "--- a rule ---\ntext", "汉字"])
def test_a_merged_summary_gives_the_message_back(own: str):
    # spec: P4.4
    found = find_summary({**user(merge_before(frame(BODY), own)), "name": "kim"})
    assert found
    assert found.body == BODY
    assert found.rest == {"role": "user", "content": own, "name": "kim"}


def test_list_content():
    # spec: P4.4
    parts = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "https://example.com/a"}}]
    found = find_summary(user(merge_before(frame(BODY), parts)))
    assert found
    assert (found.body, found.rest) == (BODY, user(parts))
    alone = find_summary(user([{"type": "text", "text": frame(BODY)}]))
    assert alone
    assert (alone.body, alone.rest) == (BODY, None)


def test_list_content_whose_first_text_holds_both():
    # spec: P4.4
    found = find_summary(user([{"type": "text", "text": f"{frame(BODY)}\n\nfix it"}]))
    assert found
    assert found.rest == user([{"type": "text", "text": "fix it"}])


def test_a_message_with_calls_keeps_them():
    # spec: P4.4, P5.3
    calls = [{"id": "a", "type": "function", "function": {"name": "t", "arguments": "{}"}}]
    found = find_summary({"role": "assistant", "content": f"{frame(BODY)}\n\n", "tool_calls": calls})
    assert found
    assert found.rest
    assert found.rest["tool_calls"] is calls
    assert not found.rest["content"]


def test_own_text_that_quotes_the_marker():
    # spec: P4.4
    own = f"what does this mean?\n{END_MARKER}\nI saw it in a log"
    found = find_summary(user(merge_before(frame(BODY), own)))
    assert found
    assert (found.body, found.rest) == (BODY, user(own))


# -- finding: neighbours and older wordings --------------------------------------------------------

OPENINGS = [
    "[CONTEXT COMPACTION — REFERENCE ONLY]",
    "[CONTEXT COMPACTION - REFERENCE ONLY]",
    "[CONTEXT COMPACTION]",
    "[CONTEXT SUMMARY]:",
    "[CONTEXT SUMMARY]",
    "  [CONTEXT COMPACTION — REFERENCE ONLY] Other words, in another version, stand here.",
]


@pytest.mark.parametrize("opening", OPENINGS)
def test_foreign_openings(opening: str):
    # spec: P3.1
    found = find_summary(user(f"{opening}\n\n{BODY}"))
    assert found
    assert (found.body, found.rest) == (BODY, None)


def test_the_last_resort_is_a_summary_too():
    # spec: F1, P4.3b
    found = find_summary(user(static_marker(7)))
    assert found
    assert found.body.startswith("Summary generation was unavailable. 7 conversation turns")
    assert found.rest is None


def test_the_divider_in_two_lines():
    # spec: P4.4 (the source writes it in two lines)
    divider = "--- END OF CONTEXT SUMMARY — respond to the message below, ---\n --- not the summary above ---"
    found = find_summary(user(f"{PREFIX}\n\n{BODY}\n{divider}\nfix it"))
    assert found
    assert (found.body, found.rest) == (BODY, user("fix it"))


def test_a_divider_in_short():
    # spec: P4.4
    found = find_summary(user(f"{PREFIX}\n\n{BODY}\n\n--- END OF CONTEXT SUMMARY ---\n\nfix it"))
    assert found
    assert (found.body, found.rest) == (BODY, user("fix it"))


OTHERS: list[Any] = [
    "",
    None,
    7,
    {},
    [],
    [7],
    "what is [CONTEXT COMPACTION — REFERENCE ONLY]?",
    "[CONTEXT] of the bug",
    "[context compaction] in small letters",
    "## Active Task\n- mine",
    END_MARKER,
    [{"type": "image_url", "image_url": {"url": "x"}}, {"type": "text", "text": PREFIX}],
]


@pytest.mark.parametrize("content", OTHERS, ids=repr)
def test_any_other_message_carries_none(content: Any):
    # spec: P2.5b
    assert find_summary(user(content)) is None
    assert find_summary({"role": "user"}) is None


@pytest.mark.parametrize("role", ["tool", "system"])
def test_only_who_may_carry_a_summary_carries_one(role: str):
    # spec: P4.3b, P3.12
    assert find_summary({"role": role, "tool_call_id": "a", "content": frame(BODY)}) is None
