"""A server on loopback that answers as it is told: whole, late, wrong, or not at all."""

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """What one request gets."""

    status: int = 200
    body: Any = None
    """Sent as JSON; a string as it is."""
    delay: float = 0.0
    """Seconds before anything is sent; ends early when the server stops."""
    drop: bool = False
    """Close the connection in the middle of the answer."""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Seen:
    """What one request was."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class ScriptedServer:
    """Gives the replies in turn, the last one for ever."""

    def __init__(self, replies: list[Reply]) -> None:
        self.seen: list[Seen] = []
        self.stopping = threading.Event()
        self._replies = replies
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                body = json.loads(self.rfile.read(length) or b"{}")
                reply = owner._replies[min(len(owner.seen), len(owner._replies) - 1)]
                owner.seen.append(Seen(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                owner.stopping.wait(reply.delay)
                data = (reply.body if isinstance(reply.body, str) else json.dumps(reply.body)).encode()
                with contextlib.suppress(OSError):
                    self.send_response(reply.status)
                    kind = "text/html" if isinstance(reply.body, str) else "application/json"
                    for name, value in {
                        "content-type": kind,
                        "content-length": str(len(data)),
                        **reply.headers,
                    }.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(data[: len(data) // 2] if reply.drop else data)
                if reply.drop:
                    self.close_connection = True
                    self.connection.close()

            def log_message(self, *args: Any) -> None:
                pass

        return Handler

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


@contextlib.contextmanager
def serving(*replies: Reply) -> Iterator[ScriptedServer]:
    server = ScriptedServer(list(replies))
    server.start()
    try:
        yield server
    finally:
        server.stop()


def completion(text: str | None, finish_reason: str = "stop", **message: Any) -> dict[str, Any]:
    """A chat completion as OpenAI's API writes it."""
    return {
        "id": "c1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [
            {"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", "content": text, **message}}
        ],
        "usage": {"prompt_tokens": 321, "completion_tokens": 45, "total_tokens": 366},
    }  # fmt: skip


def message(*blocks: dict[str, Any], stop_reason: str = "end_turn") -> dict[str, Any]:
    """A message as Anthropic's API writes it."""
    return {
        "id": "m1", "type": "message", "role": "assistant", "model": "m", "content": list(blocks),
        "stop_reason": stop_reason, "stop_sequence": None, "usage": {"input_tokens": 321, "output_tokens": 45},
    }  # fmt: skip
