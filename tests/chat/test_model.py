"""Streamed answers of servers of every kind, and what is said when there is none: over real HTTP."""

import asyncio
import json
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.chat.server import Model, serve

from abridged.chat.model import NO_ANSWER, Answer, ModelError, OpenAIChat
from abridged.errors import SettingsError
from abridged.overflow import overflow_of

Deltas = list[dict[str, Any]]
Start = Callable[[Model], str]


class Scripted(Model):
    """Says these deltas, whatever is asked."""

    def __init__(self, deltas: Deltas, **more: Any) -> None:
        super().__init__(**more)
        self.deltas = deltas

    def pieces(self, messages: Any) -> Iterator[dict[str, Any]]:
        yield from self.deltas


@pytest.fixture
def start() -> Iterator[Start]:
    servers: list[Any] = []

    def begin(model: Model) -> str:
        servers.append(serve(model))
        return f"http://127.0.0.1:{servers[-1].server_address[1]}/v1"

    yield begin
    for server in servers:
        server.shutdown()
        server.server_close()


def ask(url: str, text: str = "Hello", heard: list[str] | None = None) -> Answer:
    async def run() -> Answer:
        model = OpenAIChat("m", url, retries=0)
        try:
            return await model.answer([{"role": "user", "content": text}], [], (heard or []).append)
        finally:
            await model.close()

    return asyncio.run(run())


def test_words_as_they_come(start: Start):
    heard: list[str] = []
    model = OpenAIChat("m", start(Model()))

    async def run() -> Answer:
        try:
            return await model.answer([{"role": "user", "content": "Hello there"}], [], heard.append)
        finally:
            await model.close()

    answer = asyncio.run(run())
    assert answer.message == {"role": "assistant", "content": "You said: Hello there"}
    assert "".join(heard) == "You said: Hello there"
    assert len(heard) > 1
    assert answer.usage["prompt_tokens"] > 0
    assert not answer.cut_off


def piece(index: int | None, id_: str | None = None, name: str | None = None, arguments: str = "") -> dict[str, Any]:
    given = {"index": index, "id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"tool_calls": [{key: value for key, value in given.items() if value is not None}]}


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        pytest.param(
            [piece(0, "a", "read_file", '{"path"'), piece(0, None, None, ': "x"}'), piece(1, "b", "ls", "{}")],
            [("a", "read_file", {"path": "x"}), ("b", "ls", {})], id="as-openai-does",
        ),
        pytest.param(
            [piece(0, "a", "ls", "{}"), piece(0, "b", "ls", '{"path": "y"}')],
            [("a", "ls", {}), ("b", "ls", {"path": "y"})], id="every-index-is-0",
        ),
        pytest.param(
            [piece(None, "a", "ls", '{"path"'), piece(None, None, None, ': "x"}'), piece(None, "b", "ls", "{}")],
            [("a", "ls", {"path": "x"}), ("b", "ls", {})], id="no-index",
        ),
        pytest.param(
            [piece(0, "a", "ls", '{"path"'), piece(0, "a", "ls", ': "x"}')],
            [("a", "ls", {"path": "x"})], id="id-and-name-in-every-piece",
        ),
        pytest.param([piece(0, "a", "ls", "")], [("a", "ls", {})], id="no-arguments"),
        pytest.param([piece(0, "a", "ls", '{"path": "x')], [("a", "ls", {"invalid_json": '{"path": "x'})], id="cut"),
    ],
)  # fmt: skip
def test_calls_of_every_kind_of_server(deltas: Deltas, calls: list[Any], start: Start):
    answer = ask(start(Scripted(deltas)))
    made = [
        (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in answer.message["tool_calls"]
    ]
    assert made == calls


def test_a_call_without_an_id_gets_one(start: Start):
    (call,) = ask(start(Scripted([piece(0, None, "ls", "{}")]))).message["tool_calls"]
    assert call["id"].startswith("call_")


@pytest.mark.parametrize("deltas", [[], [{"content": ""}], [{"content": " \n"}], [{"role": "assistant"}]])
def test_no_word_at_all_is_a_message_all_the_same(deltas: Deltas, start: Start):
    assert ask(start(Scripted(deltas))).message == {"role": "assistant", "content": NO_ANSWER}


class OldServer(Model):
    """Knows no stream_options."""

    def refusal(self, body: dict[str, Any]) -> tuple[int, str] | None:
        return (400, "unknown field stream_options") if "stream_options" in body else None


class Refusing(Model):
    def __init__(self, status: int, text: str) -> None:
        super().__init__()
        self.status, self.said = status, text

    def refusal(self, body: dict[str, Any]) -> tuple[int, str] | None:
        return self.status, self.said


def test_a_server_that_does_not_count(start: Start):
    assert ask(start(OldServer())).message["content"] == "You said: Hello"


@pytest.mark.parametrize(
    ("status", "said", "advice"),
    [
        (401, "Incorrect API key provided: sk-proj-abcdefghijklmnopqrstuvwxyz123456", "set OPENAI_API_KEY"),
        (403, "not for you", "set OPENAI_API_KEY"),
        (404, "model m not found", "no model m"),
        (400, "temperature must be a number", "answers 400: "),
        (500, "we are sorry", "answers 500: "),
    ],
)
def test_what_is_wrong_is_one_line_that_says_what_to_do(status: int, said: str, advice: str, start: Start):
    with pytest.raises(ModelError) as caught:
        ask(start(Refusing(status, said)))
    assert advice in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "sk-proj-abc" not in str(caught.value)
    assert caught.value.status_code == status


def test_a_request_that_is_too_long_is_known_as_that(start: Start):
    with pytest.raises(ModelError) as caught:
        ask(start(Model(window=2_000)), "word " * 3_000)
    found = overflow_of(caught.value)
    assert found is not None
    assert found.window == 2_000


def test_nobody_there():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(ModelError, match=r"cannot reach .* is the server running"):
        ask(f"http://127.0.0.1:{port}/v1")


@pytest.mark.parametrize("url", ["localhost:9/v1", "not a url", "127.0.0.1:1234"])
def test_an_address_without_its_beginning(url: str):
    with pytest.raises(SettingsError, match="http:// or https:// has to stand before it"):
        OpenAIChat("m", url)


@pytest.mark.parametrize("url", ["http://", "http://no-such-host.invalid/v1"])
def test_an_address_that_is_none(url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    with pytest.raises(ModelError) as caught:
        ask(url)
    assert "--base-url" in str(caught.value)


def test_a_connection_that_is_lost_in_the_middle(start: Start):
    heard: list[str] = []
    answer = ask(start(Model()), "die", heard)
    assert answer.message["content"] == "The first half of"
    assert "without a word" in answer.cut_off


def test_a_connection_that_is_lost_at_once(start: Start):
    with pytest.raises(ModelError, match="lost"):
        ask(start(Model()), "gone")


def test_a_key_is_needed_for_a_server_elsewhere(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(SettingsError, match="OPENAI_API_KEY"):
        OpenAIChat("gpt-9")


@pytest.mark.parametrize(
    ("listed", "window"),
    [
        ([{"id": "m", "max_model_len": 32_768}], 32_768),
        ([{"id": "m", "context_length": 8_000}, {"id": "n", "context_length": 9_000}], 8_000),
        ([{"id": "/path/to/m.gguf", "meta": {"n_ctx": 4_096, "n_ctx_train": 8_192}}], 4_096),
        ([{"id": "n", "context_length": 9_000}, {"id": "o", "context_length": 9_000}], None),
        ([{"id": "m"}], None),
        ([{"id": "m", "context_length": "many"}], None),
        ([], None),
    ],
)
def test_a_window_that_the_server_tells(listed: list[dict[str, Any]], window: int | None, start: Start):
    server = Model()
    server.listed = listed

    async def run() -> int | None:
        model = OpenAIChat("m", start(server))
        try:
            return await model.window()
        finally:
            await model.close()

    assert asyncio.run(run()) == window


def test_the_models_of_a_server(start: Start):
    async def run() -> list[str]:
        model = OpenAIChat("m", start(Model()))
        try:
            return await model.names()
        finally:
            await model.close()

    assert asyncio.run(run()) == ["large", "small"]
