"""`abridged chat` with a real model in a small window: ten turns, streamed, and a server that dies in between.

The model is tiny; what it says is of no interest. What is asserted is that every request was taken, that compressions
happen, and that the session is the same before and after.
"""

import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.chat.terminal import Terminal, terminal

from abridged.archive import Archive

pytestmark = pytest.mark.slow
WINDOW = 4_096
STORIES = [
    "Tell me of a lantern that stands on a hill, and of the keeper who lights it every evening. " * 16,
    "Tell me of a river with three bridges, and of the boat that passes under all of them at night. " * 16,
]


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def turn(one: Terminal, n: int) -> None:
    """Say something, and wait until the answer is complete."""
    one.say(f"{n}. {STORIES[n % 2]}")
    end = time.monotonic() + 120
    begun = False
    while time.monotonic() < end:
        one.read(0.3)
        busy = any("waiting for the model" in row or "answering" in row for row in one.rows()[-2:])
        begun = begun or busy
        if begun and not busy:
            return
    raise AssertionError("\n".join(one.rows()))


def test_ten_turns_and_a_server_that_dies(own_model: Callable[..., Any], port: int, tmp_path: Path):
    folder = tmp_path / "project"
    folder.mkdir()
    more = ("--context", str(WINDOW), "--port", str(port), "--free")
    settings = {
        "ABRIDGED_MODEL__CONTEXT_LENGTH": str(WINDOW),
        "ABRIDGED_MODEL__MAX_OUTPUT_TOKENS": "80",
        "ABRIDGED_ARCHIVE__PATH": str(tmp_path / "a.db"),
    }
    options = ["--model", "smollm2", "--base-url", f"http://127.0.0.1:{port}/v1", "--no-tools"]
    with terminal(options, folder, **settings) as one:
        one.wait("/help lists")
        with own_model(*more) as (_, server):
            for n in range(6):
                turn(one, n)
            server.kill()
            server.wait()
            one.say("Are you there?")
            one.wait("is the server running", 60)
        with own_model(*more):
            for n in range(6, 11):
                turn(one, n)
            one.say("/status")
            one.wait("compressions +[1-9]")
            text = one.text()
        assert "answers 4" not in text
        assert "went wrong" not in text
        one.say("/exit")
        assert one.end() == 0
    with Archive(tmp_path / "a.db") as archive:
        (info,) = archive.sessions()
        said = archive.transcript(info.id)
        assert [message["role"] for message in said].count("user") == 12
        assert len([one for one in archive.compactions(info.id) if one.report.get("compressed")]) >= 1
        assert archive.live(info.id)[0][-1]["role"] == "assistant"
