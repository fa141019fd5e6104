"""The tools that a model is offered, and what each of its calls gives: ours, and those of the engine.

A call always gives a text: a refusal and a failure are results like any other, and the model hears of them.
"""

import asyncio
import json
from typing import Any, cast

from abridged.chat.tools import Tool, ToolError, Workspace
from abridged.chat.view import Question, View
from abridged.conversation.text import Message
from abridged.conversation.tokens import estimate_tokens
from abridged.engine import ContextEngine

MOST_CHARACTERS, WINDOW_SHARE, LEAST_TOKENS = 30_000, 0.25, 500
"""Of one result: so many characters, and no more than that share of the window."""
FIRST_LINES, LAST_LINES = 3, 2
"""Of a result, what the user sees at once."""
LINE = 160
"""Characters of a line that the user sees."""


class Toolbox:
    """`tools`: ours; `None` = none at all, not even the engine's. `allow_all`: nobody is asked before something is
    written or run."""

    def __init__(
        self,
        engine: ContextEngine,
        view: View,
        workspace: Workspace,
        tools: tuple[Tool, ...] | None,
        *,
        allow_all: bool,
    ) -> None:
        self._engine = engine
        self._view = view
        self._workspace = workspace
        self._tools = {tool.name: tool for tool in tools or ()}
        self._has_any = tools is not None
        self._allow_all = allow_all
        self._allowed: set[str] = set()

    def ask_again(self) -> None:
        """What was always allowed is asked for again."""
        self._allowed.clear()

    def schemas(self) -> list[dict[str, Any]]:
        """All of them, as the API wants them."""
        return [*(tool.schema for tool in self._tools.values()), *self._engine_tools().values()]

    async def result(self, call: dict[str, Any], messages: list[Message]) -> str:
        """What a call gives, as text for the model; `messages` are the conversation so far."""
        name, arguments = str(call["function"]["name"]), _parsed(call["function"]["arguments"])
        self._view.call(_in_one_line(name, arguments or {}))
        self._view.doing(f"running {name}")
        text = self._shortened(await self._run(name, arguments, messages))
        self._view.result(_in_a_few_lines(text))
        return text

    async def _run(self, name: str, arguments: dict[str, Any] | None, messages: list[Message]) -> str:
        if arguments is None:
            return "error: the arguments were no JSON object; call the tool again with valid JSON"
        tool = self._tools.get(name)
        try:
            if tool is not None:
                return await self._refusal(tool, arguments) or await tool.run(self._workspace, arguments)
            if name in self._engine_tools():
                handle = self._engine.handle_tool_call
                return str(await asyncio.to_thread(handle, name, arguments, messages=messages))
        except ToolError as error:
            return f"error: {error}"
        except (Exception, SystemExit) as error:  # of an engine, which may be anybody's
            return json.dumps({"error": f"{name} failed: {type(error).__name__}: {error}"})
        names = ", ".join([*self._tools, *self._engine_tools()])
        return f"error: there is no tool {name}; there are: {names or 'none'}"

    async def _refusal(self, tool: Tool, arguments: dict[str, Any]) -> str:
        """Why the user does not want it; "" = it may run."""
        if tool.preview is None:
            return ""
        preview = await asyncio.to_thread(tool.preview, self._workspace, arguments)
        if self._allow_all or tool.name in self._allowed:
            return ""
        self._view.doing("")
        verdict = await self._view.ask(Question(tool.name, preview))
        if verdict.always:
            self._allowed.add(tool.name)
        if verdict.allowed:
            self._view.doing(f"running {tool.name}")
            return ""
        return "error: the user refused this" + (f": {verdict.reason}" if verdict.reason else "")

    def _engine_tools(self) -> dict[str, dict[str, Any]]:
        """Those of the engine by name; a name that one of ours has is ours."""
        if not self._has_any:
            return {}
        try:
            given = list(self._engine.get_tool_schemas())
            functions = [cast("dict[str, Any]", one.get("function", one)) for one in given]
            named = {str(function["name"]): function for function in functions}
        except Exception as error:  # a plugin's code: whatever it gives, the conversation goes on without
            self._view.say(f"engine {self._engine.name}: its tools cannot be had: {error}", "fault")
            return {}
        named = {name: function for name, function in named.items() if name not in self._tools}
        return {name: {"type": "function", "function": function} for name, function in named.items()}

    def _shortened(self, text: str) -> str:
        """The two ends of what is too much at once."""
        room = max(LEAST_TOKENS, int(WINDOW_SHARE * self._engine.context_length))
        most = min(MOST_CHARACTERS, len(text) * room // max(1, estimate_tokens(text)))
        if len(text) <= most:
            return text
        return f"{text[: most // 2]}\n[... {len(text) - most:,} characters left out ...]\n{text[-most // 2 :]}"


def _parsed(arguments: str) -> dict[str, Any] | None:
    """The arguments, where they are a JSON object."""
    try:
        given: object = json.loads(arguments)
    except ValueError:
        return None
    if not isinstance(given, dict) or "invalid_json" in given:
        return None
    return cast("dict[str, Any]", given)


def _in_one_line(name: str, arguments: dict[str, Any]) -> str:
    words = [str(value) if len(arguments) == 1 else f"{key}={value}" for key, value in arguments.items()]
    return _cut(" ".join(" ".join([name, *words]).split()))


def _in_a_few_lines(text: str) -> str:
    """How it begins and how it ends."""
    lines = [_cut(line) for line in text.strip().splitlines()]
    if len(lines) > FIRST_LINES + LAST_LINES + 1:
        left_out = len(lines) - FIRST_LINES - LAST_LINES
        lines = [*lines[:FIRST_LINES], f"… {left_out:,} more lines", *lines[-LAST_LINES:]]
    return "\n".join(lines)


def _cut(line: str) -> str:
    return line if len(line) <= LINE else f"{line[: LINE - 1]}…"
