"""`terminal`: a command in the folder."""

import re
import shutil

from abridged.chat.tools.process import run
from abridged.chat.tools.tool import Arguments, argument, parameters, tool
from abridged.chat.tools.workspace import ToolError, Workspace

SECONDS, MOST_SECONDS = 120, 1_800
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|\x1b(?:\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[PX^_][^\x1b\n]*\x1b\\|[()*+#%].|[@-Z\\-_])"
)
_STRUCK_OVER = re.compile(r"[^\n\x08]\x08")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""All but tab, line feed and carriage return: no model reads them, and some servers refuse them."""


async def _terminal(workspace: Workspace, arguments: Arguments) -> str:
    command, seconds = _asked(arguments)
    shell = shutil.which("bash") or "/bin/sh"
    try:
        done = await run([shell, "-c", command], workspace.root, workspace.environment, seconds)
    except (OSError, ValueError) as error:
        raise ToolError(f"it cannot be run: {error}") from error
    output = plain(done.output).rstrip()
    left = f"[{done.left} processes that it started could not be ended]" if done.left else ""
    ending = f"[{done.ended}]" if done.ended else f"[exit code: {done.exit_code}]"
    return "\n".join(filter(None, (output, left, ending)))


def _asked(arguments: Arguments) -> tuple[str, int]:
    command = argument(arguments, "command", str)
    if not command.strip():
        raise ToolError("command: a command is wanted")
    return command, max(1, min(argument(arguments, "timeout", int, SECONDS), MOST_SECONDS))


def _preview(workspace: Workspace, arguments: Arguments) -> str:
    command, seconds = _asked(arguments)
    return f"$ {command}" + (f"   (up to {seconds} s)" if seconds != SECONDS else "")


def plain(text: str) -> str:
    """What a command wrote as text: no colours, and of a line that was written over and over its last state."""
    text = _STRUCK_OVER.sub("", _ESCAPES.sub("", text))
    if "\r" in text:
        text = "\n".join(_last_state(line) for line in text.split("\n"))
    return _CONTROLS.sub("", text)


def _last_state(line: str) -> str:
    return next((part for part in reversed(line.split("\r")) if part), "")


TERMINAL = tool(
    "terminal",
    "Run a shell command in this folder. Output and errors come together; long output loses its middle. There is no "
    "input, and what the command leaves running is ended with it.",
    parameters(
        {"command": ("string", "The command")},
        {"timeout": ("integer", f"Seconds it may take, {SECONDS} unless said, {MOST_SECONDS} at most")},
    ),
    _terminal,
    _preview,
)
