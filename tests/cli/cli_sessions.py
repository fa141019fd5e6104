"""Small conversations for the command line, and a way to run it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SESSION = ROOT / "examples" / "session.json"
COMMAND = (sys.executable, "-c", "import sys; from abridged.cli import main; sys.exit(main())")


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def call(number: str, name: str = "terminal", arguments: Any = '{"command": "make"}') -> dict[str, Any]:
    entry = {"id": number, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [entry]}


def result(number: str, text: Any = "done") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": number, "content": text}


def long_session(turns: int = 40) -> list[dict[str, Any]]:
    """A conversation of about 200 tokens a turn."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
    for turn in range(turns):
        messages += [
            user(f"Please build target number {turn}."),
            call(f"c{turn}", arguments=json.dumps({"command": f"make target{turn}"})),
            result(f"c{turn}", f"target{turn}: compiled\n" * 30),
            assistant(f"Target {turn} is built."),
        ]
    return messages


def run(*arguments: str | Path, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """One real process."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], input=stdin, capture_output=True, check=False, timeout=60,
        env={**os.environ, "COLUMNS": "80", **environment},
    )  # fmt: skip
