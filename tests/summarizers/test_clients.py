"""The clients of real models against a server on loopback: what is sent, what comes back, and every way to fail."""

import logging
import socket
import threading
import time
from typing import Any

import pytest
from tests.properties.validator import check_pairs
from tests.summarizers.http_server import Reply, completion, message, serving

from abridged import ContextCompressor
from abridged.errors import ConfigError, SummarizerError
from abridged.summarizers import CancelToken, SummaryRequest
from abridged.summarizers.anthropic import AnthropicSummarizer
from abridged.summarizers.by_name import summarizer_for
from abridged.summarizers.ladder import answer_of
from abridged.summarizers.litellm import LiteLLMSummarizer
from abridged.summarizers.openai import OpenAISummarizer
from abridged.testing import assistant, call, result, user

KEY = "sk-" + "Inv3nted" * 4
GOOD = "## Goal\n- Build the parts\n\n## Completed Actions\n1. Built part 3 with make"


def request(timeout: float = 10.0, cancel: CancelToken | None = None) -> SummaryRequest:
    return SummaryRequest("You write.", "<<<TURNS x>>>", 2_000, 9_000, timeout, cancel or CancelToken())


def openai_at(url: str) -> OpenAISummarizer:
    return OpenAISummarizer("m", base_url=f"{url}/v1", api_key=KEY)


def anthropic_at(url: str) -> AnthropicSummarizer:
    return AnthropicSummarizer("m", base_url=url, api_key=KEY)


CLIENTS = pytest.mark.parametrize("client_at", [openai_at, anthropic_at])


def good_for(client_at: Any) -> dict[str, Any]:
    return completion(GOOD) if client_at is openai_at else message({"type": "text", "text": GOOD})


def error_body(text: str) -> dict[str, Any]:
    return {"type": "error", "error": {"message": text, "type": "invalid_request_error", "code": None}}


def test_what_openai_is_sent():
    with serving(Reply(body=completion(GOOD))) as server:
        answer = openai_at(server.url).summarize(request())
    (seen,) = server.seen
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.body == {
        "model": "m",
        "messages": [{"role": "system", "content": "You write."}, {"role": "user", "content": "<<<TURNS x>>>"}],
    }
    assert (answer.text, answer.finish_reason) == (GOOD, "stop")
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (321, 45)


def test_what_anthropic_is_sent():
    blocks = [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": GOOD}]
    with serving(Reply(body=message(*blocks))) as server:
        answer = anthropic_at(server.url).summarize(request())
    (seen,) = server.seen
    assert seen.path == "/v1/messages"
    assert KEY in str(seen.headers)
    assert seen.body == {
        "model": "m",
        "system": "You write.",
        "messages": [{"role": "user", "content": "<<<TURNS x>>>"}],
        "max_tokens": 8_192,
    }
    assert (answer.text, answer.reasoning) == (GOOD, "hm")
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (321, 45)


def test_a_smaller_cap_on_the_output_is_taken():
    refused = Reply(400, error_body("max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens"))
    with serving(refused, Reply(body=message({"type": "text", "text": GOOD}))) as server:
        assert anthropic_at(server.url).summarize(request()).text == GOOD
    assert [seen.body["max_tokens"] for seen in server.seen] == [8_192, 4_096]


@pytest.mark.parametrize(
    ("body", "text", "finish", "reasoning"),
    [
        (completion(None, reasoning_content="I think"), None, "stop", "I think"),
        (completion("half", "length"), "half", "length", None),
        ({**completion(GOOD), "choices": []}, None, None, None),
        ({**completion(GOOD), "usage": None}, GOOD, "stop", None),
    ],
)
def test_odd_answers(body: Any, text: str | None, finish: str | None, reasoning: str | None):
    with serving(Reply(body=body)) as server:
        answer = openai_at(server.url).summarize(request())
    assert (answer.text, answer.finish_reason, answer.reasoning) == (text, finish, reasoning)


def test_a_cut_answer_of_anthropic_is_called_so():
    with serving(Reply(body=message({"type": "text", "text": "half"}, stop_reason="max_tokens"))) as server:
        assert anthropic_at(server.url).summarize(request()).finish_reason == "length"


FAILURES = [
    (Reply(401, error_body(f"Incorrect API key provided: {KEY}")), "auth"),
    (Reply(403, error_body("not for you")), "auth"),
    (Reply(404, error_body("The model `m` does not exist")), "not_found"),
    (Reply(429, error_body("Rate limit reached: too many tokens per minute")), "rate_limit"),
    (Reply(429, error_body("You exceeded your current quota")), "rate_limit"),
    (Reply(402, error_body("Insufficient credits")), "rate_limit"),
    (Reply(400, error_body("This model's maximum context length is 8192 tokens")), "overflow"),
    (Reply(400, error_body("prompt is too long: 210000 tokens > 200000 maximum")), "overflow"),
    (Reply(500, error_body("context size has been exceeded")), "overflow"),
    (Reply(413, error_body("request too large")), "overflow"),
    (Reply(400, error_body("temperature is not supported")), "other"),
    (Reply(503, error_body("no such model here")), "not_found"),
    (Reply(502, "<html>bad gateway</html>"), "network"),
    (Reply(500, error_body("oops")), "network"),
    (Reply(body=completion(GOOD), drop=True), "network"),
]


@CLIENTS
@pytest.mark.parametrize(("reply", "kind"), FAILURES)
def test_every_failure_has_its_kind(client_at: Any, reply: Reply, kind: str, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO)
    with serving(reply) as server, pytest.raises(SummarizerError) as caught:
        answer_of(client_at(server.url), request())
    assert caught.value.kind == kind
    assert len(server.seen) == 1, "asked again behind the ladder's back"
    assert KEY not in f"{caught.value}{caught.value.detail}{caplog.text}{client_at(server.url)!r}"


@CLIENTS
def test_nobody_listens(client_at: Any):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(SummarizerError) as caught:
            answer_of(client_at(url), request())
    assert caught.value.kind == "network"


@CLIENTS
def test_a_slow_server_is_a_time_out(client_at: Any):
    started = time.monotonic()
    with serving(Reply(body=good_for(client_at), delay=20)) as server:
        with pytest.raises(SummarizerError) as caught:
            answer_of(client_at(server.url), request(timeout=0.3))
        assert time.monotonic() - started < 5
    assert caught.value.kind == "timeout"


@CLIENTS
def test_a_cancelled_request_is_left(client_at: Any):
    cancel = CancelToken()
    with serving(Reply(body=good_for(client_at), delay=20)) as server:
        threading.Timer(0.3, cancel.cancel).start()
        started = time.monotonic()
        with pytest.raises(SummarizerError) as caught:
            answer_of(client_at(server.url), request(timeout=30, cancel=cancel))
        assert time.monotonic() - started < 5
    assert caught.value.kind == "cancelled"


def session(turns: int = 60) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = [{"role": "system", "content": "You are careful."}, user("Build the parts.")]
    for n in range(turns):
        made += [
            assistant(None, call(f"c{n}", "terminal", command=f"make part{n}")),
            result(f"c{n}", f"built {n} " * 60),
            user(f"Now part {n + 1}."),
        ]
    return made


@CLIENTS
@pytest.mark.parametrize("fails", [False, True])
def test_through_the_whole_engine(client_at: Any, fails: bool):
    good = Reply(body=good_for(client_at))
    with serving(Reply(502, "<html>") if fails else good) as server:
        engine = ContextCompressor(16_000, minimum_context_length=0, protect_last_n=4, summarizer=client_at(server.url))
        out = engine.compress(session(), force=True)
    check_pairs(out)
    assert engine.report.summary_writer == ("offline" if fails else "model")
    if not fails:
        assert engine.report.attempts[0].prompt_tokens == 321 * len(server.seen)
        assert "Built part 3 with make" in str(out)


def test_a_key_is_read_where_it_belongs(monkeypatch: pytest.MonkeyPatch):
    for name in ("OPENAI_API_KEY", "OPENROUTER_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    for model, url, variable in (
        ("gpt-4o-mini", None, "OPENAI_API_KEY"),
        ("x/y", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        ("claude-x", None, "ANTHROPIC_API_KEY"),
        ("m", "https://models.example.org/v1", "OPENAI_API_KEY"),
    ):
        with pytest.raises(ConfigError, match=variable):
            summarizer_for(model, base_url=url)
    assert isinstance(summarizer_for("m", base_url="http://localhost:11434/v1"), OpenAISummarizer)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    claude = summarizer_for("anthropic/claude-x")
    assert isinstance(claude, AnthropicSummarizer)
    assert claude.model == "claude-x"
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(SummarizerError, match="set OPENAI_API_KEY"):
        OpenAISummarizer("m").summarize(request())


def test_a_missing_client_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("abridged.summarizers.by_name.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'abridged\[openai\]'"):
        summarizer_for("gpt-4o-mini")


def test_litellm_where_it_is_installed(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("litellm", reason="litellm is large and not installed for the tests")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(Reply(body=completion(GOOD))) as server:
        answer = LiteLLMSummarizer("openai/m", base_url=f"{server.url}/v1").summarize(request(timeout=60))
    assert answer.text == GOOD
    assert set(server.seen[0].body) == {"model", "messages"}
