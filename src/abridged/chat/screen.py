"""A terminal: what was said scrolls away above, the line for input stays at the bottom, the status line below it.

The input line is always there; only its meaning changes: while a question is open it answers that.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from textwrap import indent
from typing import Any

from prompt_toolkit import PromptSession, print_formatted_text
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.shortcuts import CompleteStyle
from prompt_toolkit.styles import Style

from abridged.chat.view import Question, Tone, Verdict
from abridged.chat.words import printable, wrapped

STYLE = Style.from_dict(
    {
        "prompt": "bold ansicyan",
        "question": "bold ansiyellow",
        "user": "bold",
        "call": "ansiblue",
        "result": "ansibrightblack",
        "notice": "ansigreen",
        "fault": "ansired",
        "bottom-toolbar": "noreverse ansibrightblack",
    }
)
LIVE_CHARACTERS = 2_000
"""Of an unfinished line of the answer, that much is shown."""
REFRESH_SECONDS = 0.5
ALLOW = "allow? › "
"""Short: a line that has to wrap leaves no room in a narrow terminal."""


class Screen:
    """`status`: the status line. `commands`: what Tab completes behind a slash. `interrupt`: Ctrl-C; whether it had
    anything to break off."""

    def __init__(self, status: Callable[[], str], commands: list[str], interrupt: Callable[[], bool]) -> None:
        self._status = status
        self._interrupt = interrupt
        self._doing, self._since = "", 0.0
        self._live = ""
        self._out: list[tuple[str, str]] = []
        self._question: asyncio.Future[Verdict] | None = None
        self._set_aside = ""
        self.history = InMemoryHistory()
        self._prompt: PromptSession[str] = PromptSession(
            self._message, bottom_toolbar=self._toolbar, history=self.history, style=STYLE, multiline=True,
            key_bindings=self._keys(), completer=_Commands(commands), complete_while_typing=False,
            complete_style=CompleteStyle.READLINE_LIKE, reserve_space_for_menu=0, refresh_interval=REFRESH_SECONDS,
            erase_when_done=True,
        )  # fmt: skip

    async def lines(self) -> AsyncIterator[str]:
        """What the user types, line by line, until Ctrl-D; answers to questions are not among it."""
        while True:
            try:
                line = await self._prompt.prompt_async()
            except EOFError:
                return
            line = line.strip()
            if self._question is not None and not self._question.done() and not line.startswith("/"):
                self._print("class:question", f"{ALLOW}{line}")
                self._answer(line)
            elif line:
                self._print("class:user", f"› {line}")
                yield line

    # -- what the view is told -----------------------------------------------------------------------------------

    def text(self, piece: str) -> None:
        whole, newline, self._live = (self._live + printable(piece)).rpartition("\n")
        if newline:
            self._print("", whole)
        self._redraw()

    def end_text(self) -> None:
        if self._live:
            self._print("", self._live)
            self._live = ""

    def call(self, line: str) -> None:
        self._print("class:call", f"● {line}")

    def result(self, text: str) -> None:
        self._print("class:result", indent(text, "  "))

    def say(self, text: str, tone: Tone = "notice") -> None:
        self.end_text()
        self._print("" if tone == "plain" else f"class:{tone}", text if tone == "plain" else wrapped(text))

    def doing(self, what: str) -> None:
        if what != self._doing:
            self._doing, self._since = what, time.monotonic()
            self._redraw()

    async def ask(self, question: Question) -> Verdict:
        self._print("", question.preview)
        self.say(f"y = yes, a = always for {question.tool} until /new, n or a reason = no")
        buffer = self._prompt.default_buffer
        self._set_aside, buffer.text = buffer.text, ""
        self._question = asyncio.get_running_loop().create_future()
        self._redraw()
        try:
            return await self._question
        finally:
            self._question = None
            buffer.text = self._set_aside
            buffer.cursor_position = len(buffer.text)
            self._redraw()

    def _answer(self, line: str) -> None:
        assert self._question is not None
        word = line.lower()
        if word in ("y", "yes", "a", "always"):
            self._question.set_result(Verdict(True, always=word.startswith("a")))
        elif word in ("n", "no"):
            self._question.set_result(Verdict(False))
        elif word:
            self._question.set_result(Verdict(False, reason=line))

    # -- what stands at the bottom ---------------------------------------------------------------------------------

    def _message(self) -> FormattedText:
        live = [("", self._live[-LIVE_CHARACTERS:] + "\n")] if self._live else []
        if self._question is not None:
            return FormattedText([*live, ("class:question", ALLOW)])
        return FormattedText([*live, ("class:prompt", "› ")])

    def _toolbar(self) -> FormattedText:
        doing = f"{self._doing} {time.monotonic() - self._since:.0f} s · " if self._doing else ""
        return FormattedText([("class:notice", doing), ("", self._status())])

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("enter")
        def _send(event: KeyPressEvent) -> None:
            event.current_buffer.validate_and_handle()

        @keys.add("escape", "enter")
        def _newline(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @keys.add("c-c")
        @keys.add("<sigint>")
        def _stop(event: KeyPressEvent) -> None:
            if self._interrupt():
                return
            if event.current_buffer.text:
                event.current_buffer.reset()
            else:
                self.say("nothing is going on; Ctrl-D or /exit leaves")

        return keys

    # -- writing -----------------------------------------------------------------------------------------------------

    def _print(self, style: str, text: str) -> None:
        """Lines for the part that scrolls; what comes in one round of the loop is written at once."""
        if not self._out:
            asyncio.get_running_loop().call_soon(self._flush)
        self._out.append((style, printable(text) + "\n"))

    def _flush(self) -> None:
        lines, self._out = self._out, []
        print_formatted_text(FormattedText(lines), style=STYLE, end="")

    def _redraw(self) -> None:
        self._prompt.app.invalidate()


class _Commands(Completer):
    def __init__(self, names: list[str]) -> None:
        self._names = names

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Any:
        text = document.text
        if text.startswith("/") and " " not in text:
            for name in self._names:
                if name.startswith(text[1:]):
                    yield Completion(name, start_position=1 - len(text))
