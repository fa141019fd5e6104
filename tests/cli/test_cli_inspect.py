"""`abridged inspect`: what fills a conversation, what a compression would do, and what is wrong with it."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.cli_sessions import ROOT, SESSION, assistant, call, long_session, result, user

from abridged import compress
from abridged.cli import main
from abridged.cli.faults import KINDS, find_faults
from abridged.cli.inspection import inspect_conversation

SESSIONS = sorted((ROOT / ".." / "shared" / "data" / "sessions").rglob("*.json"))

PRIVATE = {"role": "user", "content": "a", "_mark": 1}
SYSTEM = {"role": "system", "content": "s"}
TEXT_CALLS = {"role": "assistant", "content": "a", "tool_calls": "none"}
SUMMARY = user("[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns\n\n## Goal\n- x")

FAULTY: list[tuple[str, list[dict[str, Any]], tuple[int, ...]]] = [
    ("orphan_result", [user("a"), result("x"), assistant("b")], (1,)),
    ("replayed_result", [user("a"), call("x"), result("x"), result("x")], (3,)),
    ("unanswered_call", [user("a"), call("x"), user("b")], (1,)),
    ("running_call", [user("a"), call("x")], (1,)),
    ("result_elsewhere", [user("a"), call("x"), user("b"), result("x")], (3,)),
    ("result_without_id", [user("a"), call("x"), {"role": "tool", "content": "r"}], (2,)),
    ("result_id_differs", [user("a"), call("x|y"), result("y")], (2,)),
    ("call_without_id", [user("a"), call(" "), result("x")], (1,)),
    ("call_without_name", [user("a"), call("x", name=None), result("x")], (1,)),  # type: ignore[arg-type]
    ("reused_call_id", [user("a"), call("x"), result("x"), call("x"), result("x")], (3,)),
    ("arguments_not_json", [user("a"), call("x", arguments="{oops"), result("x")], (1,)),
    ("malformed_calls", [user("a"), TEXT_CALLS], (1,)),
    ("unknown_role", [user("a"), {"role": "function", "content": "x"}], (1,)),
    ("empty_message", [user("a"), assistant(" ")], (1,)),
    ("odd_content", [user("a"), assistant(5)], (1,)),
    ("broken_text", [user("a"), assistant("\ud800")], (1,)),
    ("private_key", [PRIVATE, assistant("b")], (0,)),
    ("late_system", [user("a"), SYSTEM, assistant("b")], (1,)),
    ("same_neighbours", [user("a"), user("b"), assistant("c"), assistant("d")], (1, 3)),
    ("no_user_first", [SYSTEM, assistant("a"), user("b")], (1,)),
    ("several_summaries", [SUMMARY, assistant("a"), SUMMARY], (0, 2)),
]


@pytest.mark.parametrize(("kind", "messages", "places"), FAULTY, ids=[kind for kind, _, _ in FAULTY])
def test_each_fault_is_found_where_it_is(kind: str, messages: list[dict[str, Any]], places: tuple[int, ...]) -> None:
    # spec: P5.1, P5.2, P5.2b
    found = {fault.kind: fault.messages for fault in find_faults(messages)}
    assert found == {kind: places}


def test_every_kind_of_fault_has_its_example() -> None:
    assert {kind for kind, _, _ in FAULTY} == set(KINDS)


def test_a_sound_conversation_has_no_fault() -> None:
    sound = [*long_session(3), user([{"type": "image_url", "image_url": {"url": "data:,x"}}]), assistant("I see.")]
    assert find_faults(sound) == []
    assert find_faults([]) == []


def test_null_arguments_are_json() -> None:
    assert find_faults([user("a"), call("x", arguments="null"), result("x")]) == []


def test_totals_turns_and_groups() -> None:
    found = inspect_conversation(long_session(3))
    assert (found.messages, len(found.groups)) == (13, 3)
    assert {role.role: role.messages for role in found.roles} == {"system": 1, "user": 3, "assistant": 6, "tool": 3}
    assert found.tokens == sum(role.tokens for role in found.roles) == sum(turn.tokens for turn in found.turns)
    assert [(turn.number, turn.first, turn.last, turn.groups) for turn in found.turns] == [
        (0, 0, 0, 0), (1, 1, 4, 1), (2, 5, 8, 1), (3, 9, 12, 1),
    ]  # fmt: skip
    assert found.turns[3].request == "Please build target number 2."
    assert [(tool.tool, tool.calls) for tool in found.tools] == [("terminal", 3)]


def test_results_and_duplicates_name_the_call_that_they_answer() -> None:
    # spec: P1.2, P1.3
    same = "the same line\n" * 40
    messages = [
        user("a"), call("1"), result("1", same), call("2"), result("2", same), call("3"), result("3", "x\n" * 900),
        call("4"), result("4", "short"), call("5"), result("5", "short"),
    ]  # fmt: skip
    found = inspect_conversation(messages)
    largest = found.largest_results[0]
    assert (largest.message, largest.call) == (6, 5)
    assert "`make`" in largest.digest
    (duplicate,) = found.duplicates
    assert (duplicate.older, duplicate.newest) == ((2,), 4)
    assert duplicate.tokens_wasted == next(s.tokens for s in found.largest_results if s.message == 2)


def test_the_outlook_is_what_a_compression_does() -> None:
    # spec: P2.1, P2.2
    messages = long_session()
    found = inspect_conversation(messages, 4_000)
    after, report = compress(messages, 4_000)
    parts = {part.name: part for part in found.outlook.segments}
    assert found.tokens >= found.threshold_tokens
    assert (found.outlook.messages_after, found.outlook.compressed) == (len(after), True)
    assert found.outlook.tokens_after == report.tokens_after
    assert (parts["head"].first, parts["tail"].last) == (0, len(messages) - 1)
    assert parts["head"].last + 1 == parts["middle"].first
    assert sum(part.messages for part in parts.values()) == len(messages)
    assert sum(part.tokens for part in parts.values()) == found.tokens
    assert after[-parts["tail"].messages :][-1] is messages[-1]


def test_an_earlier_summary_is_seen() -> None:
    # spec: P3.1
    after, _ = compress(long_session(), 4_000)
    found = inspect_conversation(after, 4_000)
    assert len(found.summaries) == 1


def test_a_long_run_keeps_the_newest_request_as_a_part_of_its_own() -> None:
    # spec: P2.5, P2.5b
    messages = [*long_session(4), user("Now do everything.")]
    for number in range(60):
        messages += [
            call(f"n{number}", arguments=f'{{"command": "make all{number}"}}'),
            result(f"n{number}", f"{number} ok\n" * 40),
        ]
    parts = {part.name: part for part in inspect_conversation(messages, 4_000).outlook.segments}
    assert parts["newest request"].first == 17
    assert sum(part.messages for part in parts.values()) == len(messages)


@pytest.mark.skipif(not SESSIONS, reason="the real sessions are not beside this checkout")
def test_real_sessions_add_up() -> None:
    for path in SESSIONS:
        messages = json.loads(path.read_text(encoding="utf-8"))["messages"]
        if len(messages) > 500:
            continue
        found = inspect_conversation(messages, 16_000)
        assert sum(role.tokens for role in found.roles) == found.tokens
        assert sum(turn.tokens for turn in found.turns) == found.tokens
        assert sum(part.messages for part in found.outlook.segments) == len(messages)


# -- what is shown ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [80, 120])
def test_the_tables_fit_the_terminal(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert main(["inspect", str(SESSION)]) == 0
    shown = capsys.readouterr().out
    for said in ("session.json: 240 messages", "reaches the threshold of 64,000", "A compression now", "Who speaks",
                 "Largest turns (5 of 13)", "Tools by the size", "Largest results", "Same result again",
                 "No fault of structure"):  # fmt: skip
        assert said in shown
    assert max(map(len, shown.splitlines())) <= columns


def test_json_is_the_same_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    messages = [*long_session(3), result("gone")]
    file = tmp_path / "in.json"
    file.write_text(json.dumps(messages))
    assert main(["inspect", str(file), "--json", "--context-length", "32000"]) == 0
    shown = json.loads(capsys.readouterr().out)
    same = json.loads(json.dumps(inspect_conversation(messages, 32_000).to_dict()))
    assert shown == {"file": str(file), "engine": "compressor", "chosen_engine": "compressor", **same}


def test_foreign_text_cannot_move_the_cursor_or_style_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "in.json"
    hostile = "\x1b[2J\x9b1m [bold]not bold[/bold] :smile: \r\n\ud800 \u202e"
    name = {"id": "1", "function": {"name": "\x1b]0;title\x07[red]", "arguments": "{}"}}
    messages = [user(hostile), {"role": "assistant", "tool_calls": [name]}, result("1", hostile * 9)]
    file.write_text(json.dumps(messages))
    assert main(["inspect", str(file)]) == 0
    shown = capsys.readouterr().out
    assert not set("\x1b\x9b\x07\r\u202e") & set(shown)
    assert "[bold]not bold[/bold] :smile:" in shown
