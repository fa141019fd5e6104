"""Somebody who looks on and remembers, and a conversation to look on: real server, real session, real tools."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.chat.server import Model, serve

from abridged import ContextCompressor, ContextEngine, ContextSession
from abridged.archive import Archive
from abridged.chat.agent import Agent
from abridged.chat.commands import Desk
from abridged.chat.instructions import Instructions
from abridged.chat.loop import Conversation
from abridged.chat.model import OpenAIChat
from abridged.chat.tools import TOOLS, Workspace
from abridged.chat.view import Question, Tone, Verdict
from abridged.config import Config, load


class Onlooker:
    """A view. `answers`: what it says to the questions, in order; then no more."""

    def __init__(self, *answers: Verdict) -> None:
        self.answers = list(answers)
        self.heard = ""
        self.calls: list[str] = []
        self.results: list[str] = []
        self.words: list[tuple[Tone, str]] = []
        self.works: list[str] = []
        self.questions: list[Question] = []
        self.on_text: Callable[[str], None] | None = None
        self.on_call: Callable[[], None] | None = None

    def text(self, piece: str) -> None:
        self.heard += piece
        if self.on_text:
            self.on_text(piece)

    def end_text(self) -> None:
        pass

    def call(self, line: str) -> None:
        self.calls.append(line)
        if self.on_call:
            self.on_call()

    def result(self, text: str) -> None:
        self.results.append(text)

    def say(self, text: str, tone: Tone = "notice") -> None:
        self.words.append((tone, text))

    def doing(self, what: str) -> None:
        self.works.append(what)

    async def ask(self, question: Question) -> Verdict:
        self.questions.append(question)
        return self.answers.pop(0)

    @property
    def said(self) -> str:
        return "\n".join(text for _, text in self.words)


class Room:
    """Everything that a conversation needs. `play` runs one line after the other, as a pipe would."""

    def __init__(
        self,
        folder: Path,
        model: Model,
        url: str,
        *answers: Verdict,
        engine: ContextEngine | None = None,
        yes: bool = True,
        config: Config | None = None,
        **options: Any,
    ) -> None:
        self.server = model
        self.view = Onlooker(*answers)
        self.archive: Archive | None = options.pop("archive", None) or Archive()
        engine = engine or ContextCompressor(model.window, minimum_context_length=0)
        session = ContextSession.start("s", engine=engine, archive=self.archive, **options)
        self.model = OpenAIChat("small", url, retries=0)
        pins = list(session.notes.get("pins") or [])
        self.agent = Agent(
            session, self.model, self.view, Instructions(folder, pins), Workspace(folder), TOOLS, allow_all=yes
        )
        self.desk = Desk(self.agent, config or load(folder=folder, environment={}))
        self.conversation = Conversation(self.desk)

    def play(self, *lines: str, during: Callable[["Room"], Any] | None = None) -> "Room":
        """`during`: awaited beside the lines."""

        async def run() -> None:
            self.conversation = Conversation(self.desk)
            worker = asyncio.create_task(self.conversation.work())
            beside = asyncio.create_task(during(self)) if during else None
            for line in lines:
                await self.conversation.hear(line)
                await asyncio.wait_for(self.conversation.rest(), 60)
            if beside:
                await beside
            worker.cancel()
            await self.agent.model.close()

        asyncio.run(run())
        return self

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.agent.messages


@contextmanager
def served(model: Model, port: int = 0) -> Iterator[str]:
    server = serve(model, port)
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
