"""What a host may do to a context engine of ours, call by call; the real host is in `test_host`."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from abridged.archive import Archive
from abridged.engine import ContextEngine
from abridged.hermes import register
from abridged.hermes.engine import HermesEngine
from abridged.hermes.exchange import HOST_PREFIX
from abridged.summary.template import find_summary, frame, merge_before

Message = dict[str, Any]
WINDOW = 64_000


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "abridged").mkdir()
    ours(tmp_path)
    return tmp_path


def ours(home: Path, **sections: Any) -> None:
    archive = {"archive": {"path": str(home / "archive.db")}}
    (home / "abridged" / "config.yaml").write_text(json.dumps({**archive, **sections}))


def archived(home: Path, session: str = "s") -> list[Message]:
    with Archive(home / "archive.db") as archive:
        return archive.transcript(session)


@pytest.fixture
def engine(home: Path) -> Iterator[HermesEngine]:
    made = agent("s")
    yield made
    made._record.close()


def agent(session: str, engine: str = "compressor") -> HermesEngine:
    """As a host makes one."""
    made = HermesEngine(engine).clone_for_agent()
    made.update_model(
        model="m", context_length=WINDOW, base_url="http://x", api_key=lambda: "k", provider="p", api_mode=""
    )
    made.bind_session_state(session_db=object(), session_id=session)
    made.get_tool_schemas()
    made.on_session_start(
        session, hermes_home="x", platform="cli", model="m", context_length=WINDOW, conversation_id=None
    )
    return made


def seen(step: int, lines: int) -> str:
    return "".join(f"value {step}.{line} of {request_word(step * line)}\n" for line in range(lines))


def request_word(number: int) -> str:
    return "".join(chr(97 + (number * factor) % 26) for factor in (3, 5, 7, 11))


def work(steps: int, request: str = "work", lines: int = 300) -> list[Message]:
    """As a host holds it: its own notes on every message."""
    made: list[Message] = [{"role": "user", "content": request, "timestamp": 1.0, "_db_persisted": True}]
    for n in range(steps):
        function = {"name": "terminal", "arguments": json.dumps({"command": f"seq {n}"})}
        call = {"id": f"{request}-{n}", "type": "function", "function": function}
        made += [
            {
                "role": "assistant",
                "content": seen(n, lines // 6),
                "tool_calls": [call],
                "finish_reason": "tool_calls",
                "reasoning": "r",
            },
            {
                "role": "tool",
                "tool_call_id": call["id"],
                "tool_name": "terminal",
                "content": f"{n}: " + "line\n" * lines,
            },
        ]
        made[-2]["_db_persisted"] = made[-1]["_db_persisted"] = True
    return made


def as_sent(messages: list[Message]) -> list[Message]:
    """Two messages of the user in a row are one, as a host sends them and, after a resume, has them."""
    made: list[Message] = []
    for message in messages:
        if made and made[-1]["role"] == message["role"] == "user" and "_todo_snapshot_synthetic" not in message:
            content = made[-1]["content"] + "\n\n" + message["content"]
            made[-1] = {"role": "user", "content": content, "timestamp": 2.0}
        else:
            made.append(message)
    return made


def test_nothing_is_opened_before_a_session_needs_it(home: Path) -> None:
    made = HermesEngine()
    for one in (made, copy.deepcopy(made), made.clone_for_agent()):
        one.update_model(model="m", context_length=WINDOW)
        assert (one.name, one.is_available(), one.context_length) == ("abridged", True, WINDOW)
    assert not (home / "archive.db").exists()


def test_a_copy_shares_nothing(engine: HermesEngine) -> None:
    engine.update_from_response({"prompt_tokens": 5_000})
    other = copy.deepcopy(engine)
    other.update_model(model="small", context_length=20_000)
    assert (engine.context_length, engine.last_prompt_tokens) == (WINDOW, 5_000)
    assert (other.context_length, other.last_prompt_tokens, other._session) == (20_000, 0, "")


class Collector:
    def __init__(self) -> None:
        self.engines: list[HermesEngine] = []
        self.commands: list[str] = []

    def register_context_engine(self, engine: HermesEngine) -> None:
        self.engines.append(engine)

    def register_command(self, name: str, handler: Any, description: str = "", args_hint: str = "") -> None:
        self.commands.append(handler(""))


@pytest.mark.parametrize(
    ("config", "names"),
    [
        ("context: {engine: abridged}", ["abridged"]),
        ("context: {engine: rag}", ["rag"]),
        ("context: {engine: compressor}", []),
        ("context: {engine: somebody-elses}", []),
        ("context: []", []),
        ("a: [", []),
        ("", []),
    ],
)
def test_only_the_engine_that_the_host_wants_is_registered(home: Path, config: str, names: list[str]) -> None:
    (home / "config.yaml").write_text(config)
    collector = Collector()
    register(collector)
    register(collector)
    assert [engine.name for engine in collector.engines] == names * 2
    assert all("archive" in said for said in collector.commands)


@pytest.mark.parametrize("window", [0, -1, 1, 7_000, 10**9])
def test_no_window_raises(home: Path, window: int) -> None:
    made = HermesEngine()
    made.update_model(model="m", context_length=window, api_key=None)
    made.update_model(model="m", context_length=window)
    made.update_model(model="m", context_length=WINDOW)
    assert made.should_compress(WINDOW)


def test_a_compression(engine: HermesEngine, home: Path) -> None:
    messages = work(80)
    before = copy.deepcopy(messages)
    result = engine.compress(
        messages, current_tokens=60_000, focus_topic="seq 3", force=True, memory_context="the note"
    )
    assert messages == before, "neither the list nor a message in it is changed"
    assert not {id(message) for message in result} & {id(message) for message in messages}
    assert not [message for message in result if "_db_persisted" in message]
    (summary,) = [message for message in result if message.get("_compressed_summary")]
    assert summary["content"].startswith(HOST_PREFIX)
    assert "work" in [message["content"] for message in result if message["role"] == "user"]
    assert [message["reasoning"] for message in result if "tool_calls" in message][-1] == "r"
    assert (engine._last_compression_made_progress, engine._last_compress_aborted, engine.compression_count) == (
        True,
        False,
        1,
    )
    assert (engine._last_summary_error, engine._last_summary_fallback_used) == (None, False)
    assert len(archived(home)) == 161
    with Archive(home / "archive.db") as archive:
        assert len(archive.restore("s", 1)) == 161


def test_nothing_to_compress_gives_back_an_equal_list(engine: HermesEngine) -> None:
    messages = work(1, lines=1)
    result = engine.compress(messages, 100, force=True)
    assert result == messages
    assert result[0] is not messages[0]
    assert not engine._last_compression_made_progress
    assert engine.last_noop_reason
    assert engine.get_status()["last_noop_reason"] == engine.last_noop_reason


def test_again_and_again_with_what_a_host_adds(engine: HermesEngine, home: Path) -> None:
    """The task list it puts in, the session's end that is none, the summary that it merges with the request."""
    live, said = work(60), 121
    for n in range(4):
        live = engine.compress(live, 60_000)
        live.append({"role": "user", "content": "- [ ] a task", "_todo_snapshot_synthetic": True})
        engine.on_session_end("s", live)
        engine.on_session_start("s", boundary_reason="compression", old_session_id="s", platform="cli")
        engine.last_prompt_tokens, engine.awaiting_real_usage_after_compression = -1, True
        engine.some_new_attribute = n  # type: ignore[attr-defined]  # a host writes what it likes
        assert not engine.should_compress()
        engine.update_from_response({})
        assert engine.awaiting_real_usage_after_compression
        engine.update_from_response({"prompt_tokens": 20_000, "completion_tokens": 5, "cache_read_tokens": 7})
        assert (engine.last_prompt_tokens, engine.awaiting_real_usage_after_compression) == (20_000, False)
        assert sum(find_summary(message) is not None for message in live) == 1
        live = [*as_sent(live), *work(40, f"more {n}")[1 if n % 2 else 0 :]]
        said += 80 + (n + 1) % 2
    engine.on_session_end("s", live)
    engine.on_session_end("s", [])
    rows = [json.dumps(message) for message in archived(home)]
    assert (len(rows), len(set(rows))) == (said, said)
    assert engine.compression_count == 4


def test_a_request_that_was_merged_with_a_summary_stays_the_users(engine: HermesEngine) -> None:
    merged = {
        "role": "user",
        "content": merge_before(frame("## Goal\n- old"), "the new request"),
        "_compressed_summary": True,
    }
    result = engine.compress([merged, *work(60)[1:]], 60_000)
    assert {"role": "user", "content": "the new request"} in result
    assert sum(bool(message.get("_compressed_summary")) for message in result) == 1


class Forgetful(ContextEngine):
    """Throws away all but the last message, and fails when it is told to."""

    name = "forgetful"  # type: ignore[assignment]
    context_length, threshold_tokens = WINDOW, 1_000

    def update_from_response(self, usage: dict[str, Any]) -> None: ...

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        return True

    def compress(self, messages: list[Message], current_tokens: int | None = None, **kwargs: Any) -> list[Message]:
        if kwargs["force"]:
            raise RuntimeError("no")
        return messages[-1:]

    def handle_tool_call(self, name: str, args: dict[str, Any], **kwargs: Any) -> str:
        raise RuntimeError("no")


def test_whatever_an_engine_does_the_request_stays_and_nothing_raises(engine: HermesEngine) -> None:
    engine._inner = Forgetful()
    messages = work(5)
    assert [message["role"] for message in engine.compress(messages)] == ["user", "tool"]
    assert engine.compress(messages, force=True) == messages
    assert engine._last_compress_aborted
    assert engine._last_summary_error == "RuntimeError: no"
    assert json.loads(engine.handle_tool_call("x", {})) == {"error": "RuntimeError: no"}


def test_an_archive_that_cannot_be_opened_ends_no_conversation(home: Path) -> None:
    (home / "archive.db").mkdir()
    made = agent("s")
    assert len(made.compress(work(80), 60_000)) < 161
    assert "archive.db" in made.get_status()["fault"]


def test_a_new_session_counts_from_zero_and_an_old_one_goes_on(engine: HermesEngine, home: Path) -> None:
    live = engine.compress(work(80), 60_000)
    engine.on_session_end("s", live)
    engine.on_session_reset()
    engine.on_session_start("t", old_session_id="s", carry_over_context=True, platform="cli")
    engine.carry_over_new_session_context("s", "t")
    assert engine.compression_count == 0
    engine.on_turn_complete(work(1), usage=None, turn_id="1", interrupted=False)
    assert len(archived(home, "t")) == 3
    other = agent("s")
    assert other.compression_count == 1
    other.on_session_end("s", live)
    assert len(archived(home)) == 161
    other._record.close()


def test_a_session_under_a_new_id_is_the_same_one(engine: HermesEngine, home: Path) -> None:
    live = engine.compress(work(80), 60_000)
    engine.on_session_start("s2", boundary_reason="compression", old_session_id="s", platform="cli")
    engine.on_session_start("s3", boundary_reason="compression", old_session_id="s2", platform="cli")
    other = agent("s3")
    other.on_turn_complete([*live, *work(1, "more")])
    assert (len(archived(home)), archived(home, "s2"), archived(home, "s3")) == (164, [], [])
    other._record.close()


def test_tools_see_what_was_said_a_moment_ago(engine: HermesEngine) -> None:
    names = [schema["name"] for schema in engine.get_tool_schemas()]
    assert names == ["recall_search", "recall_get"]
    live = [*work(2), {"role": "user", "content": "the password rule is ZX-81"}]
    found = json.loads(engine.handle_tool_call("recall_search", {"query": "ZX-81"}, messages=live))
    assert "ZX-81" in json.dumps(found)
    assert "error" in json.loads(engine.handle_tool_call("unknown", {}, messages=live))


def test_a_rough_count_waits_for_a_real_one(engine: HermesEngine) -> None:
    threshold = engine.threshold_tokens
    assert not engine.should_defer_preflight_to_real_usage(threshold + 1), "nothing real is known yet"
    engine.update_from_response({"prompt_tokens": threshold - 9_000})
    assert engine.should_defer_preflight_to_real_usage(threshold + 5_000)
    assert not engine.should_defer_preflight_to_real_usage(threshold + 12_000)
    engine.threshold_tokens = 10_000  # a host may lower it
    assert engine.should_compress(11_000)
    assert engine.should_compress_info(11_000)[0]
    assert "below" in engine.should_compress_info(9_000)[1]


def test_what_newer_hosts_ask(engine: HermesEngine) -> None:
    messages = work(2)
    assert (
        engine.select_context(messages, conversation_messages=messages, incoming_message=None, budget_tokens=1) is None
    )
    assert engine.prune_tool_results_only(messages, 5) == (messages, 0)
    assert engine.pending_compression_operation(messages) is None
    assert engine.get_active_compression_failure_cooldown(refresh=True) is None
    assert engine.get_automatic_compaction_status_message("start", "words", tokens=1) == "words"
    assert (engine.has_content_to_compress(messages), engine.has_content_to_compress(messages[:2])) == (True, False)
    assert abs(engine.threshold_percent * WINDOW - engine.threshold_tokens) < 1


def test_a_summariser_that_fails_for_a_moment_keeps_everything_and_says_so(home: Path) -> None:
    ours(home, summarizer={"model": "gpt-x", "base_url": "http://127.0.0.1:9/v1"})
    made = agent("s")
    messages = work(60)
    result = made.compress(messages, 40_000)
    assert result == messages
    assert made._last_compress_aborted
    assert made._last_summary_error
    cooldown = made.get_active_compression_failure_cooldown()
    assert cooldown
    assert cooldown["remaining_seconds"] > 0
    assert len(made.compress(messages, 40_000, force=True)) < len(messages)
    assert made._last_summary_fallback_used
    made._record.close()
