"""`abridged chat` in a real pseudo-terminal, and the screen that a person would see."""

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pexpect
import pyte
from tests.cli.cli_sessions import COMMAND

ROWS, COLUMNS = 40, 110
SECONDS = 30.0
"""How long anything is waited for."""


class Terminal:
    """A program in a terminal of 110 x 40."""

    def __init__(self, arguments: list[str], folder: Path, **environment: str) -> None:
        variables = {"PATH": os.environ["PATH"], "HOME": str(folder.parent), "TERM": "xterm-256color", **environment}
        self.screen = pyte.HistoryScreen(COLUMNS, ROWS, history=20_000, ratio=0.9)
        self._gone: list[str] = []
        self._stream = pyte.ByteStream(self.screen)
        self.process: Any = pexpect.spawn(
            COMMAND[0], [*COMMAND[1:], "chat", *arguments], cwd=str(folder), env=variables,
            dimensions=(ROWS, COLUMNS), timeout=SECONDS,
        )  # fmt: skip

    def type(self, text: str) -> None:
        self.process.send(text)

    def say(self, line: str) -> None:
        self.type(line + "\r")

    def read(self, seconds: float = 0.05) -> None:
        """Take in what the program writes for so long."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                data = self.process.read_nonblocking(65_536, timeout=left)
            except pexpect.TIMEOUT:
                return
            except pexpect.EOF:
                return
            self._answer_questions(data)
            self._stream.feed(data)

    def _answer_questions(self, data: bytes) -> None:
        """A terminal says where its cursor is when it is asked."""
        for _ in range(data.count(b"\x1b[6n")):
            self.process.send(f"\x1b[{self.screen.cursor.y + 1};{self.screen.cursor.x + 1}R")

    def rows(self) -> list[str]:
        """What is on the screen now."""
        return [row.rstrip() for row in self.screen.display]

    def text(self) -> str:
        """All that scrolled away, and what is on the screen."""
        for line in islice(self.screen.history.top, len(self._gone), None):
            self._gone.append("".join(line[x].data for x in range(COLUMNS)).rstrip())
        return "\n".join([*self._gone, *self.rows()])

    def wait(self, pattern: str, seconds: float = SECONDS, *, times: int = 1) -> str:
        """Until it stands somewhere, so many times; all text."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read()
            text = self.text()
            if len(re.findall(pattern, text)) >= times:
                return text
            if not self.process.isalive():
                break
        raise AssertionError(f"not seen: {pattern}\n" + "\n".join(self.rows()))

    def end(self) -> int:
        """Until the program has ended; its exit code."""
        end = time.monotonic() + SECONDS
        while self.process.isalive() and time.monotonic() < end:
            self.read()
        self.read()
        assert not self.process.isalive(), "\n".join(self.rows())
        return int(self.process.exitstatus if self.process.exitstatus is not None else -self.process.signalstatus)


@contextmanager
def terminal(arguments: list[str], folder: Path, **environment: str) -> Iterator[Terminal]:
    folder.mkdir(parents=True, exist_ok=True)
    one = Terminal(arguments, folder, **environment)
    try:
        yield one
    finally:
        one.process.close(force=True)
