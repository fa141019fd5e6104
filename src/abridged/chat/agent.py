"""The loop of the agent: a request, an answer, its tools, the next request, until the model has nothing more to call.

Whatever breaks a turn off, the conversation stays whole: each call has its result, everything that was said is in the
archive, and the next word of the user goes on from there.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

from abridged.chat.instructions import Instructions
from abridged.chat.model import NO_ANSWER, ChatModel, ModelError
from abridged.chat.toolbox import Toolbox
from abridged.chat.tools import Tool, Workspace
from abridged.chat.view import View
from abridged.conversation.roles import is_system
from abridged.conversation.text import Message, content_text
from abridged.report import CompressionReport
from abridged.session import ContextSession

MOST_REQUESTS = 1_000
"""Requests of one turn; beyond it the user is asked to say a word."""
BROKEN_OFF = "(the user interrupted here)"
NOT_ANSWERED = "(no answer came)"
NO_RESULT = "[no result: the turn was interrupted]"

Messages = list[Message]


class Agent:
    """One conversation with tools. `allow_all`: nobody is asked before something is written or run."""

    def __init__(
        self,
        session: ContextSession,
        model: ChatModel,
        view: View,
        instructions: Instructions,
        workspace: Workspace,
        tools: tuple[Tool, ...] | None = None,
        *,
        allow_all: bool = False,
    ) -> None:
        self.session = session
        self.model = model
        self.view = view
        self.instructions = instructions
        self.workspace = workspace
        self.messages: Messages = session.messages
        self.used_tokens = 0
        """What the conversation takes now."""
        self.saved_tokens = 0
        """What all compressions of this session took out."""
        self._measure(anew=True)
        self._toolbox = Toolbox(session.engine, view, workspace, tools, allow_all=allow_all)
        self._heard = ""
        self._compressing = False
        session.notes["folder"] = str(workspace.root)
        session.on_compaction = self._compacted
        session.before_compaction = self._compacting

    # -- a turn ----------------------------------------------------------------------------------------------------

    async def turn(self, text: str | None = None) -> None:
        """The user says something, or (`None`) wants an answer to what was said last.

        Raises `ModelError` where no answer came; cancelling the task breaks the turn off.
        """
        if text is not None:
            self._close_open_turn(NOT_ANSWERED)
            self.messages.append({"role": "user", "content": text})
        elif self.is_unanswered and self.messages[-1].get("role") == "assistant":
            self.messages.pop()
        try:
            for _ in range(MOST_REQUESTS):
                if not await self._step():
                    return
            self.view.say(f"{MOST_REQUESTS} requests without a word from you: say how to go on")
        except asyncio.CancelledError:
            self._break_off()
            raise
        finally:
            self.view.end_text()
            self.view.doing("")
            await asyncio.to_thread(self.session.record, self.messages)

    @property
    def is_unanswered(self) -> bool:
        """Whether the last word waits for an answer: there is none, or one that was broken off or empty."""
        last: Message = self.messages[-1] if self.messages else {}
        if last.get("role") in ("user", "tool"):
            return True
        text = content_text(last.get("content"))
        return last.get("role") == "assistant" and text.endswith((NO_ANSWER, BROKEN_OFF, NOT_ANSWERED))

    async def _step(self) -> bool:
        """One request and the tools that it calls; whether there were any."""
        self.messages = self.instructions.applied(self.messages)
        async with self._watching():
            self.messages = list(await self.session.abefore_request(self.messages))
        message, cut_off = await self._answer()
        self.messages.append(message)
        calls = calls_of(message)
        for call in calls:
            content = await self._toolbox.result(call, self.messages)
            self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
        if message.get("content") == NO_ANSWER:
            self.view.say("the model gave no answer; /retry asks again")
        if cut_off:
            self.view.say(f"the answer may be cut off: {cut_off}")
        async with self._watching():
            self.messages = list(await self.session.aafter_turn(self.messages))
        return bool(calls)

    async def _answer(self) -> tuple[Message, str]:
        """The model's next message. A request that was too long is made shorter and sent again."""
        while True:
            self._heard = ""
            self.view.doing("waiting for the model")
            try:
                request = await asyncio.to_thread(self.session.request_view, self.messages)
                answer = await self.model.answer(request, self._toolbox.schemas(), self._hear)
            except ModelError as error:
                self.view.end_text()
                await self._recover(error)
                continue
            self.view.end_text()
            self._heard = ""
            self.session.after_response(cast("dict[str, Any]", answer.usage))
            self._measure()
            return answer.message, answer.cut_off

    def _hear(self, piece: str) -> None:
        if not self._heard:
            self.view.doing("answering")
        self._heard += piece
        self.view.text(piece)

    async def _recover(self, error: ModelError) -> None:
        """Go on with a shorter conversation; raises the error where that does not help."""
        async with self._watching():
            recovery = await self.session.arecover(error, self.messages)
        if recovery.action == "give up":
            raise ModelError(f"{error} ({recovery.reason})", error.status_code) from error
        if recovery.action != "retry":
            raise error
        self.view.say(f"the request was too long for the model: {recovery.reason}")
        self.messages = list(recovery.messages)

    def _close_open_turn(self, why: str) -> None:
        """A turn that was left open gets an end, so that roles alternate and every call has its result."""
        last = max((n for n, one in enumerate(self.messages) if one.get("role") == "assistant"), default=0)
        answered = {message.get("tool_call_id") for message in self.messages[last + 1 :]}
        for call in calls_of(self.messages[last]) if self.messages else []:
            if call["id"] not in answered:
                self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": NO_RESULT})
        if self.messages and not is_system(self.messages[-1]) and self.messages[-1].get("role") != "assistant":
            self.messages.append({"role": "assistant", "content": why})

    def _break_off(self) -> None:
        """What was heard so far stays."""
        if self._heard:
            self.messages.append({"role": "assistant", "content": f"{self._heard}\n\n{BROKEN_OFF}"})
            self._heard = ""
        self._close_open_turn(BROKEN_OFF)

    # -- compression -------------------------------------------------------------------------------------------------

    async def compress(self, topic: str | None = None) -> None:
        """At the user's wish, at once."""
        before = self.messages
        async with self._watching():
            self.messages = list(await self.session.acompress(self.messages, topic))
        if self.session.engine_fault:
            self.view.say(f"nothing was compressed: {self.session.engine_fault}", "fault")
        elif len(self.messages) == len(before) and self.messages == before:
            reason = getattr(getattr(self.session.engine, "report", None), "reason", "")
            self.view.say(f"nothing was compressed: {reason or 'there is nothing to gain'}")

    async def undo_compression(self) -> bool:
        """The last compression is taken back; whether there was one."""
        await asyncio.to_thread(self.session.record, self.messages)
        messages = self.session.undo_compression()
        if messages is not None:
            self.messages = messages
            self._measure(anew=True)
        return messages is not None

    async def restart(self, *, keep_pins: bool) -> None:
        """A new conversation; the old one stays in the archive."""
        await asyncio.to_thread(self.session.record, self.messages)
        self.session.reset()
        self.messages = []
        self._toolbox.ask_again()
        self._measure(anew=True)
        if not keep_pins:
            self.instructions.pins.clear()
        self.session.notes["folder"] = str(self.workspace.root)
        await self.keep_pins()

    async def keep_pins(self) -> None:
        """The pins are the session's: they are there again when it is resumed."""
        self.session.notes["pins"] = list(self.instructions.pins)
        await asyncio.to_thread(self.session.record)  # which may have to wait for a compression

    def _measure(self, *, anew: bool = False) -> None:
        """How full the window is; `anew`: also what was saved, from the records of this session."""
        self.used_tokens = self.session.tokens
        if anew:
            archive = None if self.session.archive_fault else self.session.archive
            records = archive.compactions(self.session.id) if archive else []
            gone = {record.report.get("undone") for record in records}
            saved = (int(one.report.get("saved_tokens") or 0) for one in records if one.number not in gone)
            self.saved_tokens = sum(saved)

    @asynccontextmanager
    async def _watching(self) -> AsyncGenerator[None]:
        """A block in which the session may compress, in another thread: its word comes into this one."""
        self._loop = asyncio.get_running_loop()
        fault = self.session.archive_fault, self.session.engine_fault
        try:
            yield
        finally:
            if self._compressing:
                self._compressing = False
                self.view.doing("")
            self._measure()
            if self.session.archive_fault != fault[0]:
                self.view.say(f"nothing is archived any more: {self.session.archive_fault}", "fault")
            if self.session.engine_fault and self.session.engine_fault != fault[1]:
                self.view.say(f"the conversation stays as it is: {self.session.engine_fault}", "fault")

    def _in_the_loop(self, function: Callable[..., None], *arguments: Any) -> None:
        self._loop.call_soon_threadsafe(function, *arguments)

    def _compacting(self, messages: Messages) -> None:
        self._compressing = True
        self._in_the_loop(self.view.doing, "compressing")

    def progress(self, part: int, parts: int) -> None:
        """A summariser is asked for a part; for the engine's `progress`."""
        if self._compressing:  # one that is prepared in the background disturbs nobody
            self._in_the_loop(self.view.doing, f"compressing: summary, part {part} of {parts}")

    def _compacted(self, before: Messages, after: Messages, report: Any) -> None:
        line = f"compressed: {len(before)} → {len(after)} messages"
        if isinstance(report, CompressionReport):
            self.saved_tokens += report.saved_tokens
            line = (
                f"compressed: {report.tokens_before:,} → {report.tokens_after:,} tokens "
                f"({report.saved_percent:.0f} % saved, {report.seconds:.1f} s, "
                f"summary {_WRITERS[report.summary_writer]}); /undo-compression takes it back"
            )
        self._in_the_loop(self.view.say, line)


_WRITERS = {"model": "by a model", "offline": "by rule", "marker": "missing", "nobody": "not needed"}


def calls_of(message: Message) -> list[dict[str, Any]]:
    """The tools that an assistant's message calls."""
    return cast("list[dict[str, Any]]", message.get("tool_calls") or [])
