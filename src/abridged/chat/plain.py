"""For pipes: lines come in, the model's words go to standard output, all else to standard error. Nobody is asked."""

import asyncio
import sys
import threading
from collections.abc import AsyncIterator
from textwrap import indent

from abridged.chat.view import Question, Tone, Verdict
from abridged.chat.words import printable


class PlainView:
    """A view without a terminal."""

    def __init__(self) -> None:
        self._open = False

    def text(self, piece: str) -> None:
        shown = printable(piece)
        sys.stdout.write(shown)
        sys.stdout.flush()
        self._open = not shown.endswith("\n") if shown else self._open

    def end_text(self) -> None:
        if self._open:
            sys.stdout.write("\n")
            sys.stdout.flush()
            self._open = False

    def call(self, line: str) -> None:
        self.say(f"● {line}")

    def result(self, text: str) -> None:
        self.say(indent(text, "  "))

    def say(self, text: str, tone: Tone = "notice") -> None:
        self.end_text()
        print(printable(text), file=sys.stderr, flush=True)

    def doing(self, what: str) -> None:
        pass

    async def ask(self, question: Question) -> Verdict:
        return Verdict(False, reason="there is nobody to ask; --yes would allow it")


async def standard_input() -> AsyncIterator[str]:
    """The lines of standard input. A thread of its own reads them, so that nobody has to wait for the next one."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str | None] = asyncio.Queue()

    def read() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(lines.put_nowait, line)
        loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, name="standard-input", daemon=True).start()
    while (line := await lines.get()) is not None:
        if line.strip():
            yield line.strip()
