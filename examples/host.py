"""An agent's whole loop on `ContextSession`: an OpenAI-compatible server, two tools, an archive that survives a crash.

python examples/host.py http://localhost:11434/v1 MODEL "the task" [archive.db]
"""

import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from abridged import ContextCompressor, ContextSession

TOOLS = [
    {"type": "function", "function": {"name": name, "description": what, "parameters": {
        "type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}}}
    for name, what, argument in (("shell", "Run a command", "command"), ("read_file", "Read a file", "path"))
]  # fmt: skip


def ask(url: str, model: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    body = json.dumps({"model": model, "messages": messages, "tools": TOOLS}).encode()
    request = urllib.request.Request(f"{url}/chat/completions", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=300) as answer:
        return json.load(answer)


def run(call: dict[str, Any]) -> str:
    arguments = json.loads(call["function"]["arguments"])
    if call["function"]["name"] == "read_file":
        return Path(arguments["path"]).read_text(errors="replace")
    done = subprocess.run(arguments["command"], shell=True, capture_output=True, text=True, timeout=120)
    return f"{done.stdout}{done.stderr}\n[exit code: {done.returncode}]"


def work(session: ContextSession, url: str, model: str, task: str) -> str:
    messages = [
        *(session.messages or [{"role": "system", "content": "You are careful."}]),
        {"role": "user", "content": task},
    ]
    while True:
        messages = session.before_request(messages)
        try:
            answer = ask(url, model, messages)
        except urllib.error.HTTPError as error:
            recovery = session.recover({"status": error.code, "error": error.read().decode()}, messages)
            if recovery.action != "retry":
                raise
            messages = recovery.messages
            continue
        session.after_response(answer["usage"])
        said = answer["choices"][0]["message"]
        messages = [*messages, said]
        calls = said.get("tool_calls") or []
        messages += [{"role": "tool", "tool_call_id": call["id"], "content": run(call)} for call in calls]
        messages = session.after_turn(messages)
        if not calls:
            return str(said["content"])


if __name__ == "__main__":
    url, model, task, *rest = sys.argv[1:]
    session = ContextSession.start("host", engine=ContextCompressor(64_000), archive=rest[0] if rest else None)
    print(work(session, url, model, task))
    session.close()
