"""What a tool is: a name, what it takes, what it does; and, where it changes anything, what it would do.

Whatever leaves a tool made by `tool`, a result, a preview or a refusal, is bounded, holds nothing that is hidden, and
can be encoded. Whatever goes wrong with a file is a `ToolError`.
"""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from abridged.chat.tools.workspace import ToolError, Workspace

Arguments = dict[str, Any]
CHARACTERS = 30_000
"""Of what a tool gives, at most."""
_T = TypeVar("_T", str, int, bool)
_WORDS: dict[type, str] = {str: "a text", int: "a whole number", bool: "true or false"}


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool."""

    name: str
    description: str
    """For the model."""
    parameters: dict[str, Any]
    """The JSON schema of its arguments."""
    run: Callable[[Workspace, Arguments], Awaitable[str]]
    """Do it; text for the model. Raises `ToolError` for what is refused or cannot be."""
    preview: Callable[[Workspace, Arguments], str] | None = None
    """What the user is shown before it runs; `None` = it is harmless, and nobody is asked. Raises `ToolError`."""

    @property
    def schema(self) -> dict[str, Any]:
        """As the API wants it."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}


def tool(
    name: str,
    description: str,
    takes: dict[str, Any],
    run: Callable[[Workspace, Arguments], Awaitable[str]],
    preview: Callable[[Workspace, Arguments], str] | None = None,
) -> Tool:
    """A tool that takes the arguments of the schema `takes` and no others, and keeps what this module promises."""

    async def run_it(workspace: Workspace, arguments: Arguments) -> str:
        with _refusing(workspace, takes, arguments):
            return _fit(workspace, await run(workspace, arguments))

    def preview_it(workspace: Workspace, arguments: Arguments) -> str:
        assert preview is not None
        with _refusing(workspace, takes, arguments):
            return _fit(workspace, preview(workspace, arguments))

    return Tool(name, description, takes, run_it, preview_it if preview else None)


@contextmanager
def _refusing(workspace: Workspace, takes: dict[str, Any], arguments: Arguments) -> Generator[None]:
    try:
        unknown = next((str(name) for name in arguments if name not in takes["properties"]), None)
        if unknown is not None:
            raise ToolError(f"{unknown[:100]} is no argument; there are: {', '.join(takes['properties'])}")
        yield
    except ToolError as error:
        raise ToolError(_fit(workspace, str(error))) from error
    except OSError as error:
        given = str(arguments.get("path", "."))[:120]
        raise ToolError(_fit(workspace, f"{given}: {error.strerror or error}")) from error


def _fit(workspace: Workspace, text: str) -> str:
    text = workspace.clean(text)
    if len(text) <= CHARACTERS:
        return text
    half = CHARACTERS // 2 - 50
    return f"{text[:half]}\n[... {len(text) - 2 * half:,} characters left out ...]\n{text[-half:]}"


def parameters(required: dict[str, tuple[str, str]], optional: dict[str, tuple[str, str]] | None = None) -> Arguments:
    """A schema from names, JSON types and words."""
    given = {**required, **(optional or {})}
    properties = {name: {"type": kind, "description": says} for name, (kind, says) in given.items()}
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def argument(arguments: Arguments, name: str, kind: type[_T], default: _T | None = None) -> _T:
    """One argument; numbers and truth values may come as text. Raises `ToolError` that says what is wanted."""
    value = arguments.get(name)
    if value is None:
        if default is None:
            raise ToolError(f"{name} is missing: {_WORDS[kind]} is wanted")
        return default
    if kind is int and isinstance(value, str | float) and not isinstance(value, bool):
        value = _number(value)
    if kind is bool and isinstance(value, str) and value.lower() in ("true", "false"):
        value = value.lower() == "true"
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ToolError(f"{name}: {_WORDS[kind]} is wanted")
    return cast("_T", value)


def _number(value: str | float) -> object:
    try:
        return int(value) if float(value) == int(float(value)) else value
    except (ValueError, OverflowError):
        return value
