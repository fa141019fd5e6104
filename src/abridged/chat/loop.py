"""One conversation at a terminal or from a pipe: lines in, turns and commands one after the other.

Ctrl-C ends what runs, never the session; whatever way it ends, the session is closed and nothing is left running.
"""

import asyncio
import logging
import signal
from collections.abc import AsyncIterator
from contextlib import suppress

from abridged.chat.commands import Desk, Leave, command_in, run_command, unknown
from abridged.chat.model import ModelError


class Conversation:
    """What is to be done, in order. `desk`: agent and configuration."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.failed = False
        """The last turn got no answer."""
        self._waiting: asyncio.Queue[str] = asyncio.Queue()
        self._running: asyncio.Task[None] | None = None
        self._beside: set[asyncio.Task[None]] = set()

    @property
    def is_busy(self) -> bool:
        return self._running is not None and not self._running.done()

    def interrupt(self) -> bool:
        """Break off what runs; whether anything did. What waits comes next."""
        if self._running is None or not self.is_busy:
            return False
        self._running.cancel()
        return True

    def drop(self) -> None:
        """Break off what runs, and forget what waits."""
        while not self._waiting.empty():
            self._waiting.get_nowait()
            self._waiting.task_done()
        self.interrupt()

    async def hear(self, line: str) -> None:
        """One line of the user. Raises `Leave`."""
        called = command_in(line)
        found, argument = called or (None, "")
        if called and found is None:
            self.desk.agent.view.say(unknown(argument), "fault")
        elif found and found.name == "exit":
            raise Leave
        elif found and found.at_once:
            task = asyncio.create_task(run_command(self.desk, found, argument))
            self._beside.add(task)
            task.add_done_callback(self._beside.discard)
        else:
            if self.is_busy:
                self.desk.agent.view.say("comes next, when this is done")
            await self._waiting.put(line)

    async def work(self) -> None:
        """Do what was heard, one after the other, for ever."""
        while True:
            line = await self._waiting.get()
            self._running = asyncio.create_task(self._do(line))
            with suppress(asyncio.CancelledError):
                await self._running
            self._waiting.task_done()

    async def rest(self) -> None:
        """Until nothing is left to do."""
        await self._waiting.join()
        await asyncio.gather(*self._beside)

    async def _do(self, line: str) -> None:
        agent, called = self.desk.agent, command_in(line)
        self.failed = False
        try:
            if called and called[0]:
                await run_command(self.desk, called[0], called[1])
            else:
                await agent.turn(line)
        except ModelError as error:
            self.failed = True
            agent.view.say(f"{error}\n/retry asks again", "fault")
        except asyncio.CancelledError:
            agent.view.say("interrupted")
            raise
        except Exception as error:  # a fault of the program ends the turn, not the session
            self.failed = True
            logging.getLogger(__name__).debug("a turn failed", exc_info=True)
            agent.view.say(f"this went wrong: {type(error).__name__}: {error}", "fault")


async def converse(
    conversation: Conversation, lines: AsyncIterator[str], first: str | None = None, *, one_by_one: bool = False
) -> None:
    """Until the lines end or the user leaves. `one_by_one`: a line is heard when all before it is done."""
    agent = conversation.desk.agent
    worker = asyncio.create_task(conversation.work())
    reader = asyncio.create_task(_read(conversation, lines, first, one_by_one))
    loop = asyncio.get_running_loop()
    for name in ("SIGTERM", "SIGHUP"):
        with suppress(NotImplementedError, AttributeError):
            loop.add_signal_handler(getattr(signal, name), reader.cancel)
    try:
        with suppress(Leave, asyncio.CancelledError):
            await reader
    finally:
        conversation.drop()
        with suppress(asyncio.CancelledError):
            await conversation.rest()
        worker.cancel()
        agent.session.close(agent.messages)


async def _read(conversation: Conversation, lines: AsyncIterator[str], first: str | None, one_by_one: bool) -> None:
    if first:
        await conversation.hear(first)
    async for line in lines:
        if one_by_one:
            await conversation.rest()
        await conversation.hear(line)
    if one_by_one:
        await conversation.rest()
