"""What a tool is: a name, what it takes, what it does; and, where it changes anything, what it would do."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from abridged.chat.tools.workspace import ToolError, Workspace

Arguments = dict[str, Any]
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
