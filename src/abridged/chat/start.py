"""From settings and wishes to a conversation: session, model, tools, and whoever looks on."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from abridged.archive import Archive
from abridged.chat.agent import Agent
from abridged.chat.commands import COMMANDS, Desk
from abridged.chat.instructions import Instructions
from abridged.chat.loop import Conversation, converse
from abridged.chat.model import OpenAIChat
from abridged.chat.plain import PlainView, standard_input
from abridged.chat.tools import TOOLS, Workspace
from abridged.chat.view import View
from abridged.chat.words import status_line
from abridged.config import DEFAULT, Config
from abridged.conversation.text import content_text
from abridged.errors import ArchiveError
from abridged.setup import session_from
from abridged.summary.template import own_words

WINDOW = "model.context_length"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user wants this time, beyond the configuration."""

    model: str
    base_url: str | None = None
    folder: Path = Path()
    first: str | None = None
    """What the user says before anything is typed."""
    session: str | None = None
    """The session to go on with; `None` = a new one."""
    allow_all: bool = False
    with_tools: bool = True


def chat(config: Config, wishes: Wishes) -> int:
    """Talk until the user leaves; the exit code. Raises `AbridgedError` for what cannot begin."""
    model = OpenAIChat(
        wishes.model, wishes.base_url, max_output_tokens=config.get("model.max_output_tokens", wishes.model)
    )
    return asyncio.run(_chat(config, wishes, model))


async def _chat(config: Config, wishes: Wishes, model: OpenAIChat) -> int:
    if wishes.base_url and config.value(WINDOW, wishes.model).origin == DEFAULT:
        window = await model.window()
        config = config.told(WINDOW, window, wishes.base_url, wishes.model) if window else config
    at_a_terminal = sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
    return await (_at_a_terminal if at_a_terminal else _from_a_pipe)(config, wishes, model)


async def _at_a_terminal(config: Config, wishes: Wishes, model: OpenAIChat) -> int:
    from abridged.chat.screen import Screen  # a terminal's libraries are for who has one

    screen = Screen(lambda: status_line(agent), list(COMMANDS), lambda: conversation.interrupt())
    agent = _agent(config, wishes, model, screen)
    conversation = Conversation(Desk(agent, config))
    for message in map(own_words, agent.messages):
        if message and message.get("role") == "user":
            screen.history.append_string(content_text(message.get("content")))
    screen.say(_greeting(agent, resumed=bool(agent.messages)))
    with _warnings_shown(screen.say):
        await converse(conversation, screen.lines(), wishes.first)
        if agent.messages and agent.session.archive and not agent.session.archive_fault:
            screen.say("`abridged chat --resume` goes on from here")
            await asyncio.sleep(0)  # it is written in the next round of the loop
    return 0


async def _from_a_pipe(config: Config, wishes: Wishes, model: OpenAIChat) -> int:
    view = PlainView()
    agent = _agent(config, wishes, model, view)
    conversation = Conversation(Desk(agent, config))
    if sys.stdin.isatty():  # a terminal that shows lines and no more: Ctrl-C ends the turn, or else the program
        view.say("each line is a turn; /help lists what you can do")
        loop, me = asyncio.get_running_loop(), asyncio.current_task()
        loop.add_signal_handler(signal.SIGINT, lambda: conversation.interrupt() or (me and me.cancel()))
    with _warnings_shown(view.say):
        await converse(conversation, standard_input(), wishes.first, one_by_one=True)
    return 1 if conversation.failed else 0


def _agent(config: Config, wishes: Wishes, model: OpenAIChat, view: View) -> Agent:
    session = session_from(
        config, wishes.session, model=wishes.model, progress=lambda part, parts: agent.progress(part, parts)
    )
    folder = wishes.folder.resolve()
    instructions = Instructions(folder, list(session.notes.get("pins") or []))
    workspace = Workspace(folder, {model.variable: model.key})
    tools = TOOLS if wishes.with_tools else None
    agent = Agent(session, model, view, instructions, workspace, tools, allow_all=wishes.allow_all)
    if session.archive_fault:
        view.say(f"nothing is archived: {session.archive_fault}", "fault")
    return agent


def session_to_resume(archive: Archive, folder: Path, wanted: str | None = None) -> str:
    """The id of the session that `wanted` begins, or else of the last one in this folder. Raises `ArchiveError`."""
    if wanted:
        return archive.session_like(wanted).id
    here = str(folder.resolve())
    found = next((one.id for one in archive.sessions() if one.messages and one.notes.get("folder") == here), None)
    if found is None:
        raise ArchiveError(archive.path, f"no session of {here} yet: `abridged chat` begins one")
    return found


def _greeting(agent: Agent, *, resumed: bool) -> str:
    begun = f"session {agent.session.id[:8]}, {len(agent.messages)} messages" if resumed else "a new conversation"
    rules = [f"rules from {file}" for file in agent.instructions.rule_files]
    window = f"window of {agent.session.engine.context_length:,} tokens"
    lines = [f"{agent.model.name}, {window}, in {agent.workspace.root}", begun, *rules, "/help lists what you can do"]
    return "\n".join(lines)


@contextmanager
def _warnings_shown(say: Callable[[str], None]) -> Generator[None]:
    """What the library warns of is shown to the user, in this thread."""
    loop = asyncio.get_running_loop()

    class Shown(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            loop.call_soon_threadsafe(say, record.getMessage())

    handler, logger = Shown(logging.WARNING), logging.getLogger("abridged")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
