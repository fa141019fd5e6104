"""A model that works through a long task, behind an OpenAI-compatible server that is as strict as the strictest.

    python -m tests.session.agent_server CALLS [--window TOKENS]

Prints its address. It asks for one tool call after another and ends with a word on the rules that it was given. What is
wrong with a request is refused with the words of a real provider, and kept under /faults.
"""

import argparse
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from abridged.conversation.measure import message_tokens
from abridged.conversation.tokens import estimate_tokens

ALLOWED = {"role", "content", "tool_calls", "tool_call_id", "name", "refusal"}


def faults_of(messages: list[dict[str, Any]]) -> list[str]:
    """What an API would refuse: keys of one's own, roles, JSON that is none, calls and results that do not belong."""
    found: list[str] = []
    waiting: list[str] = []
    for place, message in enumerate(messages):
        found += [f"{place}: key {key}" for key in message if key not in ALLOWED]
        role = message.get("role")
        if role not in ("system", "user", "assistant", "tool"):
            found.append(f"{place}: role {role}")
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                found.append(f"{place}: a result of no call")
            else:
                waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            found.append(f"{place}: {waiting} without a result")
            waiting = []
        for call in message.get("tool_calls") or []:
            waiting.append(call["id"])
            try:
                json.loads(call["function"]["arguments"])
            except ValueError:
                found.append(f"{place}: arguments are no JSON")
        if role == "assistant" and not message.get("content") and not message.get("tool_calls"):
            found.append(f"{place}: an empty answer")
    found += [f"{waiting} without a result"] if waiting else []
    spoken = [message["role"] for message in messages if message.get("role") != "system"]
    if spoken[:1] != ["user"]:
        found.append("the first to speak is no user")
    return found


class Agent:
    """What the server remembers."""

    def __init__(self, calls: int, window: int) -> None:
        self.calls, self.window = calls, window
        self.asked = 0
        self.sizes: list[int] = []
        self.prompts: list[list[dict[str, Any]]] = []
        self.faults: list[str] = []
        self.refused = 0
        self.lock = threading.Lock()

    def answer(self, messages: list[dict[str, Any]]) -> tuple[int, dict[str, Any]]:
        with self.lock:
            tokens = sum(message_tokens(message, estimate_tokens) for message in messages)
            self.faults += faults_of(messages)
            if tokens > self.window:
                self.refused += 1
                limit = f"This model's maximum context length is {self.window} tokens."
                text = f"{limit} However, your messages resulted in {tokens} tokens."
                return 400, {"error": {"message": text, "code": "context_length_exceeded"}}
            self.sizes.append(tokens)
            self.prompts.append(messages)
            self.asked += 1
            n = self.asked
            if n <= self.calls:
                command = f"echo part {n}; seq {n} {n + 420}; echo verdict V-{n}-{n * 7}"
                made = {
                    "id": f"call_{n}",
                    "type": "function",
                    "function": {"name": "shell", "arguments": json.dumps({"command": command})},
                }
                said = {"role": "assistant", "content": f"Step {n}: I look at part {n}.", "tool_calls": [made]}
            else:
                said = {"role": "assistant", "content": "All parts were looked at."}
            usage = {"prompt_tokens": tokens, "completion_tokens": 40, "total_tokens": tokens + 40}
            return 200, {"choices": [{"index": 0, "message": said, "finish_reason": "stop"}], "usage": usage}


def serve(agent: Agent) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            self._send(*agent.answer(body["messages"]))

        def do_GET(self) -> None:
            last = agent.prompts[-1] if agent.prompts else []
            self._send(200, {"faults": agent.faults, "sizes": agent.sizes, "refused": agent.refused, "last": last})

        def _send(self, status: int, body: dict[str, Any]) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    return server


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("calls", type=int)
    parser.add_argument("--window", type=int, default=64_000)
    given = parser.parse_args()
    server = serve(Agent(given.calls, given.window))
    print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
