"""A command is bounded in time and in output, and leaves nothing running; real processes."""

import asyncio
import itertools
import os
import sys
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.chat.tools.running import BY_NAME, end_all, preview, running, use

from abridged.chat.tools import Workspace
from abridged.chat.tools.terminal import plain

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="written for a POSIX shell")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="orphans have a keeper on Linux")
_numbers = itertools.count(1)


@pytest.fixture
def mark() -> Iterator[str]:
    """A number of seconds that no other process sleeps; who sleeps it after a test that failed is ended."""
    made = f"5{os.getpid()}.{next(_numbers):03d}"
    yield made
    end_all(made)


@pytest.fixture(autouse=True)
def little_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("abridged.chat.tools.process.GRACE_SECONDS", 0.3)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo hello", "hello\n[exit code: 0]"),
        ("echo out; echo err >&2; exit 3", "out\nerr\n[exit code: 3]"),
        ("pwd | xargs basename", "project\n[exit code: 0]"),
        ("true", "[exit code: 0]"),
        ("cat", "[exit code: 0]"),
        ("read -r line; echo got $line", "got\n[exit code: 0]"),
        ("kill -9 $$", "[exit code: -9]"),
        ("no_such_command_at_all 2>/dev/null", "[exit code: 127]"),
        ("printf 'caf\\351'", "caf\ufffd\n[exit code: 0]"),
        ("echo ' M one'", " M one\n[exit code: 0]"),
        (f"[ $PPID != {os.getpid()} ] && kill -9 $PPID; sleep 0.3; echo no", "[exit code: -9]"),
        ("trap 'echo hit' TERM; kill 0; exit 4", "hit\n[exit code: 4]"),
        ("yes | head -1", "y\n[exit code: 0]"),
        ("[[ a == a ]] && echo yes", "yes\n[exit code: 0]"),
        ("sh -c 'echo no > /dev/tty' 2>/dev/null; echo $?", "1\n[exit code: 0]"),
    ],
)
def test_what_a_command_gives(command: str, said: str, tmp_path: Path):
    folder = tmp_path / "project"
    folder.mkdir()
    assert use(folder, "terminal", command=command).replace("2\n[exit code: 0]", "1\n[exit code: 0]") == said


@pytest.mark.parametrize(
    "command",
    [
        "sleep {mark}",
        "trap '' TERM INT HUP; sleep {mark}",
        "trap '' TERM; while true; do sleep {mark}; done",
        "sleep {mark} & wait",
    ],
)
def test_a_command_that_never_ends(command: str, mark: str, tmp_path: Path):
    started = time.monotonic()
    said = use(tmp_path, "terminal", command=f"echo begun; {command.format(mark=mark)}", timeout=1)
    assert said == "begun\n[timed out after 1 s]"
    assert time.monotonic() - started < 8
    assert running(mark) == []


@pytest.mark.parametrize(
    "command",
    [
        "sleep {mark} &",
        "nohup sleep {mark} > /dev/null 2>&1 &",
        "setsid sleep {mark} &",
        "setsid sleep {mark} < /dev/null > /dev/null 2>&1 &",
        "(setsid sh -c 'sleep {mark} & sleep {mark}' &)",
        "setsid sh -c 'trap \"\" TERM HUP; sleep {mark}; sleep {mark}' &",
        pytest.param("env -i setsid sleep {mark} &", marks=LINUX),
        pytest.param("(env -i setsid sh -c 'sleep {mark} & sleep {mark}' > /dev/null 2>&1 &)", marks=LINUX),
    ],
)
def test_what_is_left_in_the_background_is_ended(command: str, mark: str, tmp_path: Path):
    started = time.monotonic()
    said = use(tmp_path, "terminal", command=f"{command.format(mark=mark)}\necho begun; sleep 0.1")
    assert said == "begun\n[exit code: 0]"
    assert time.monotonic() - started < 8
    assert running(mark) == []


def test_what_multiplies_is_ended(mark: str, tmp_path: Path):
    more = f"trap '' TERM; for n in $(seq 300); do (setsid sleep {mark} &); sleep 0.01; done"
    assert use(tmp_path, "terminal", command=f"{more}; sleep {mark}", timeout=1) == "[timed out after 1 s]"
    assert running(mark) == []


@pytest.mark.parametrize("delay", [0.0, 0.03])
def test_a_task_that_is_cancelled_at_once_and_again(delay: float, mark: str, tmp_path: Path):
    async def run() -> None:
        command = f"trap '' TERM; setsid sleep {mark} & sleep {mark}; sleep {mark}"
        work = asyncio.create_task(BY_NAME["terminal"].run(Workspace(tmp_path), {"command": command}))
        await asyncio.sleep(delay)
        for _ in range(3):
            work.cancel()
            await asyncio.sleep(0.01)
        with pytest.raises(asyncio.CancelledError):
            await work
        assert running(mark) == []

    asyncio.run(run())
    assert running(mark) == []


def test_a_cancelled_task_leaves_nothing(mark: str, tmp_path: Path):
    async def run() -> None:
        work = asyncio.create_task(
            BY_NAME["terminal"].run(Workspace(tmp_path), {"command": f"setsid sleep {mark} & sleep {mark}"})
        )
        for _ in range(200):
            await asyncio.sleep(0.05)
            if len(running(f"sleep {mark}")) >= 2:
                break
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(run())
    assert running(mark) == []


def test_a_hundred_megabytes_take_no_room(tmp_path: Path):
    tracemalloc.start()
    said = use(tmp_path, "terminal", command="echo first; yes 'a line of words' | head -c 100000000; echo; echo last")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert said.startswith("first\n")
    assert said.endswith("last\n[exit code: 0]")
    assert "bytes left out ...]" in said
    assert len(said) < 31_000
    assert peak < 5_000_000


def test_output_without_end_is_ended(tmp_path: Path):
    started = time.monotonic()
    said = use(tmp_path, "terminal", command="yes", timeout=60)
    assert "it wrote more than" in said or "timed out" in said
    assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("10 %\r50 %\r100 %\ndone", "100 %\ndone"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b(B\x1b[mtext", "text"),
        ("\x1b]0;without end\ntext", "\ntext"),
        ("nul\0 bell\a \x9b31mred", "nul bell red"),
        ("N\bNA\bAME", "NAME"),
    ],
)
def test_colours_and_progress(text: str, shown: str):
    assert plain(text) == shown


def test_what_is_hidden_stays_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_KEY", "a-very-secret-value")
    place = Workspace(tmp_path, {"MY_KEY": "a-very-secret-value"})
    assert use(place, "terminal", command="echo [$MY_KEY]") == "[]\n[exit code: 0]"
    assert use(place, "terminal", command="echo a-very-secret-value") == "[REDACTED]\n[exit code: 0]"
    (tmp_path / ".env").write_text("KEY=a-very-secret-value\n")
    assert use(place, "read_file", path=".env") == "KEY=[REDACTED]"
    assert "a-very-secret" not in use(place, "search_files", pattern="KEY")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [({}, "command is missing"), ({"command": " "}, "a command is wanted"), ({"command": 3}, "a text is wanted"),
     ({"command": "true", "timeout": "soon"}, "a whole number is wanted"), ({"command": "a\0b"}, "cannot be run")],
)  # fmt: skip
def test_wrong_arguments(arguments: dict[str, object], said: str, tmp_path: Path):
    assert said in use(tmp_path, "terminal", **arguments)


def test_a_time_as_text_will_do(tmp_path: Path):
    assert use(tmp_path, "terminal", command="echo hi", timeout="5") == "hi\n[exit code: 0]"


def test_the_user_sees_the_command(tmp_path: Path):
    assert preview(tmp_path, "terminal", command="make all", timeout=600) == "$ make all   (up to 600 s)"
