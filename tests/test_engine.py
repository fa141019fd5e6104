"""The contract between host and engine: names, defaults, and what a third engine needs to write."""

import inspect
import json
from typing import Any

import pytest

from abridged import ContextEngine


class Smallest(ContextEngine):
    """Nothing but what the contract demands."""

    @property
    def name(self) -> str:
        return "smallest"

    def update_from_response(self, usage: dict[str, Any]) -> None:
        self.last_prompt_tokens = usage.get("prompt_tokens", 0)

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        return False

    def compress(self, messages: list[dict[str, Any]], current_tokens: int | None = None, **kwargs: Any):
        return list(messages)


COUNTERS = ("last_prompt_tokens", "last_completion_tokens", "last_total_tokens", "compression_count")
STATE = (*COUNTERS, "threshold_tokens", "context_length")


def test_an_engine_must_say_who_it_is_and_do_three_things():
    # spec: E1
    assert ContextEngine.__abstractmethods__ == {"name", "update_from_response", "should_compress", "compress"}
    with pytest.raises(TypeError):
        ContextEngine()  # type: ignore[abstract]
    assert isinstance(inspect.getattr_static(ContextEngine, "name"), property)


@pytest.mark.parametrize("missing", ["name", "update_from_response", "should_compress", "compress"])
def test_each_abstract_member_is_needed(missing: str):
    # spec: E1
    members = {key: value for key, value in vars(Smallest).items() if key != missing}
    with pytest.raises(TypeError, match=missing):
        type("Partial", (ContextEngine,), {k: v for k, v in members.items() if not k.startswith("__")})()


def test_signatures_that_a_host_calls():
    # spec: E1
    decide = inspect.signature(ContextEngine.should_compress).parameters
    assert list(decide) == ["self", "prompt_tokens"]
    assert decide["prompt_tokens"].default is None
    run = inspect.signature(ContextEngine.compress).parameters
    assert list(run)[:3] == ["self", "messages", "current_tokens"]
    assert run["current_tokens"].default is None
    assert all(parameter.default is not inspect.Parameter.empty for parameter in list(run.values())[2:])
    for optional in ("focus_topic", "force", "memory_context"):
        assert run[optional].kind is inspect.Parameter.KEYWORD_ONLY


def test_state_is_there_before_the_first_response():
    # spec: E2
    engine = Smallest()
    assert {key: getattr(engine, key) for key in STATE} == dict.fromkeys(STATE, 0)


def test_a_host_may_write_state_and_attributes_of_its_own():
    # spec: E2
    engine = Smallest()
    engine.last_prompt_tokens = -1
    engine.anything_else = True  # type: ignore[attr-defined]
    assert engine.last_prompt_tokens == -1
    assert Smallest().last_prompt_tokens == 0


def test_optional_members_are_harmless():
    # spec: E3
    engine = Smallest()
    assert engine.should_compress_preflight([{"role": "user", "content": "x" * 10**6}]) is False
    assert engine.on_session_start("s1", platform="cli", model="m", anything=1) is None
    assert engine.on_session_end("s1", []) is None
    assert engine.get_tool_schemas() == []


def test_an_unknown_tool_is_a_json_error():
    # spec: E3
    answer = json.loads(Smallest().handle_tool_call("no_such_tool", {"a": 1}, messages=[]))
    assert "no_such_tool" in answer["error"]


def test_reset_zeroes_the_counters_and_keeps_the_window():
    # spec: E3
    engine = Smallest()
    for number, key in enumerate(STATE, start=1):
        setattr(engine, key, number)
    engine.on_session_reset()
    assert {key: getattr(engine, key) for key in COUNTERS} == dict.fromkeys(COUNTERS, 0)
    assert (engine.threshold_tokens, engine.context_length) == (5, 6)


def test_status_shows_the_state():
    # spec: E3
    engine = Smallest()
    engine.update_from_response({"prompt_tokens": 7})
    status = engine.get_status()
    assert status["engine"] == "smallest"
    assert {key: status[key] for key in STATE} == {key: getattr(engine, key) for key in STATE}
    assert status["last_prompt_tokens"] == 7
    json.dumps(status)


def test_update_model_takes_the_window_and_whatever_else_a_host_passes():
    # spec: E3
    engine = Smallest()
    engine.update_model("m", 32_000, base_url="", api_key="", provider="p")
    assert engine.context_length == 32_000
    engine.update_model(model="m", context_length=8_000)
    assert engine.context_length == 8_000
