"""A model that streams, behind an OpenAI-compatible server that is as strict as the strictest.

    python -m tests.chat.server [--window TOKENS] [--calls N] [--key KEY]

Prints its address. What the user says decides what it does:

    work    asks for one tool call after another, CALLS times, and ends with a word
    run X   asks for `terminal` with the command X, and repeats what came of it
    write X asks to write a file X, notes.txt where none is named
    read X  asks to read a file X
    call X Y asks for a tool X with the arguments Y, JSON or not
    slow    streams a word every tenth of a second, for a minute
    die     breaks the connection off in the middle of an answer
    gone    breaks it off before the first word
    nothing answers nothing
    escape  answers with control characters

Anything else is repeated. Requests, faults and models are kept, and shown under GET /.
"""

import argparse
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.session.agent_server import faults_of

from abridged.conversation.measure import message_tokens
from abridged.conversation.text import content_text
from abridged.conversation.tokens import estimate_tokens
from abridged.summary.template import own_words

Message = dict[str, Any]
Piece = dict[str, Any]


class Model:
    """What it remembers."""

    def __init__(self, window: int = 64_000, calls: int = 120, key: str = "") -> None:
        self.window, self.calls, self.key = window, calls, key
        self.listed: list[dict[str, Any]] = [{"id": "small"}, {"id": "large"}]
        self.server: ThreadingHTTPServer | None = None
        self.pause = 0.0
        self.worked = 0
        self.refused = 0
        self.prompts: list[list[Message]] = []
        self.sizes: list[int] = []
        self.models: list[str] = []
        self.tools: list[str] = []
        self.faults: list[str] = []

    def tokens(self, body: dict[str, Any]) -> int:
        messages = sum(message_tokens(message, estimate_tokens) for message in body["messages"])
        return messages + estimate_tokens(json.dumps(body.get("tools") or []))

    def take(self, body: dict[str, Any]) -> int:
        """Note a request; its tokens."""
        messages = body["messages"]
        self.faults += faults_of(messages)
        self.prompts.append(messages)
        self.models.append(body["model"])
        self.tools = [tool["function"]["name"] for tool in body.get("tools") or []]
        self.sizes.append(self.tokens(body))
        return self.sizes[-1]

    def refusal(self, body: dict[str, Any]) -> tuple[int, str] | None:
        """Status and words of an error, where the request is not answered."""
        return None

    def pieces(self, messages: list[Message]) -> Iterator[Piece]:
        """The deltas of an answer."""
        asked, last = newest_word(messages), messages[-1]
        word, _, rest = asked.partition(" ")
        answer = getattr(self, f"on_{word}", None)
        if last["role"] == "tool" and word != "work":
            return spoken(f"It gave: {content_text(last.get('content'))[:600]}")
        return answer(rest) if answer else spoken(f"You said: {asked}")

    def on_work(self, rest: str) -> Iterator[Piece]:
        if self.worked == self.calls:
            yield from spoken(f"All {self.worked} parts were looked at.")
            return
        self.worked += 1
        n = self.worked
        yield from spoken(f"Step {n}: I look at part {n}.\n")
        yield from called("terminal", {"command": f"echo part {n}; seq {n} {n + 420}; echo verdict V-{n}-{n * 7}"})

    def on_run(self, rest: str) -> Iterator[Piece]:
        return called("terminal", {"command": rest})

    def on_write(self, rest: str) -> Iterator[Piece]:
        return called("write_file", {"path": rest or "notes.txt", "content": "one\ntwo\n"})

    def on_read(self, rest: str) -> Iterator[Piece]:
        return called("read_file", {"path": rest})

    def on_call(self, rest: str) -> Iterator[Piece]:
        name, _, arguments = rest.partition(" ")
        return called(name, arguments)

    def on_slow(self, rest: str) -> Iterator[Piece]:
        for n in range(600):
            time.sleep(0.1)
            yield {"content": f"word{n} " + ("\n" if n % 10 == 9 else "")}

    def on_die(self, rest: str) -> Iterator[Piece]:
        yield {"content": "The first half of"}
        raise ConnectionAbortedError

    def on_gone(self, rest: str) -> Iterator[Piece]:
        yield from ()
        raise ConnectionAbortedError

    def on_nothing(self, rest: str) -> Iterator[Piece]:
        yield {"content": ""}

    def on_escape(self, rest: str) -> Iterator[Piece]:
        yield {"content": "before \x1b[2J\x1b]0;title\x07\x9b31m after"}


def newest_word(messages: list[Message]) -> str:
    """What the user said last; a summary is no word of the user."""
    for message in reversed(messages):
        own = own_words(message)
        if own and own.get("role") == "user":
            return content_text(own.get("content")).strip()
    return ""


def spoken(text: str) -> Iterator[Piece]:
    for start in range(0, len(text), 7):
        yield {"content": text[start : start + 7]}


def called(name: str, arguments: dict[str, Any] | str) -> Iterator[Piece]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    first = {"index": 0, "id": f"call_{time.monotonic_ns()}", "type": "function"}
    yield {"tool_calls": [{**first, "function": {"name": name, "arguments": ""}}]}
    for start in range(0, len(text), 40):
        yield {"tool_calls": [{"index": 0, "function": {"arguments": text[start : start + 40]}}]}


class Handler(BaseHTTPRequestHandler):
    model: Model

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.model.key and self.headers.get("authorization") != f"Bearer {self.model.key}":
            self.refuse(401, "Incorrect API key provided", "invalid_api_key")
            return
        refused = self.model.refusal(body)
        if refused:
            self.refuse(*refused)
            return
        tokens = self.model.take(body)
        if tokens > self.model.window:
            self.model.refused += 1
            text = f"This model's maximum context length is {self.model.window} tokens, yours has {tokens}."
            self.refuse(400, text, "context_length_exceeded")
            return
        if not body.get("stream"):
            self.write_summary(tokens)
            return
        self.stream(body, tokens)

    def write_summary(self, tokens: int) -> None:
        """What whoever writes summaries asks for: no stream, and it takes a while."""
        time.sleep(self.model.pause)
        text = "## Goal\n- Look at all parts\n\n## Completed Actions\n1. Looked at part 3"
        said = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": tokens, "completion_tokens": 40, "total_tokens": tokens + 40}
        head = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
        self.send_json(200, {**head, "choices": [said], "usage": usage})

    def stream(self, body: dict[str, Any], tokens: int) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        calls = False
        try:
            for piece in self.model.pieces(body["messages"]):
                calls = calls or "tool_calls" in piece
                self.event([{"index": 0, "delta": piece, "finish_reason": None}])
        except ConnectionError:  # scripted, or the reader is gone
            self.close_connection = True
            return
        self.event([{"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"}])
        self.event([], {"prompt_tokens": tokens, "completion_tokens": 40, "total_tokens": tokens + 40})
        self.wfile.write(b"data: [DONE]\n\n")

    def event(self, choices: list[dict[str, Any]], usage: dict[str, int] | None = None) -> None:
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}
        data = json.dumps({**chunk, **({"usage": usage} if usage else {})})
        self.wfile.write(f"data: {data}\n\n".encode())
        self.wfile.flush()

    def do_GET(self) -> None:
        if self.path.endswith("/models"):
            usual = {"object": "model", "created": 1, "owned_by": "us"}
            self.send_json(200, {"object": "list", "data": [{**usual, **one} for one in self.model.listed]})
            return
        names = ("faults", "sizes", "models", "tools", "refused", "prompts")
        self.send_json(200, {name: getattr(self.model, name) for name in names})

    def refuse(self, status: int, text: str, code: str = "") -> None:
        self.send_json(status, {"error": {"message": text, "code": code}})

    def send_json(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        pass


def serve(model: Model, port: int = 0) -> ThreadingHTTPServer:
    server = ThreadingHTTPServer(("127.0.0.1", port), type("ForOneModel", (Handler,), {"model": model}))
    server.daemon_threads = True
    model.server = server
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    return server


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--window", type=int, default=64_000)
    parser.add_argument("--calls", type=int, default=120)
    parser.add_argument("--key", default="")
    parser.add_argument("--port", type=int, default=0)
    given = parser.parse_args()
    server = serve(Model(given.window, given.calls, given.key), given.port)
    print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
