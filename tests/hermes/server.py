"""The strict model behind the real host: the host also asks without streaming, for titles and the like."""

import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from typing import Any

from tests.chat.server import Handler, Message, Model, Piece, called, newest_word, spoken


class HostModel(Model):
    """Works `calls` steps on one request, then says so; `sizes` are those of streamed requests."""

    def __init__(self, window: int = 64_000, calls: int = 40, lines: int = 420) -> None:
        super().__init__(window, calls)
        self.lines = lines
        self.asides = 0

    def on_work(self, rest: str) -> Iterator[Piece]:
        if self.worked == self.calls:
            return spoken(f"All {self.worked} parts were looked at.")
        self.worked += 1
        n = self.worked
        return called("terminal", {"command": f"echo part {n}; seq {n} {n + self.lines}; echo verdict V-{n}-{n * 7}"})

    def pieces(self, messages: list[Message]) -> Iterator[Piece]:
        """`more` is `work` that goes on after an earlier request was done."""
        if newest_word(messages) == "more" and messages[-1]["role"] == "user":
            self.calls += self.calls
        return self.on_work("") if newest_word(messages) in ("work", "more") else super().pieces(messages)


class HostHandler(Handler):
    model: HostModel  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        if self.path.endswith("/chat/completions"):
            super().do_POST()
        else:  # the host tries what sort of server this is
            self.rfile.read(int(self.headers["content-length"]))
            self.refuse(404, "not found")

    def stream(self, body: dict[str, Any], tokens: int) -> None:
        if body.get("stream"):
            super().stream(body, tokens)
            return
        self.model.asides += 1
        said: Message = {"role": "assistant", "content": "A short title"}
        usage = {"prompt_tokens": tokens, "completion_tokens": 4, "total_tokens": tokens + 4}
        choice = {"index": 0, "message": said, "finish_reason": "stop"}
        answer = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        self.send_json(200, {**answer, "usage": usage})


def serve(model: HostModel) -> ThreadingHTTPServer:
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("ForOneHost", (HostHandler,), {"model": model}))
    server.daemon_threads = True
    model.server = server
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    return server
