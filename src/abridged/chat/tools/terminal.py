"""`terminal`: a command in the folder."""

import re
import shutil

from abridged.chat.tools.process import run
from abridged.chat.tools.tool import Arguments, Tool, argument, parameters
from abridged.chat.tools.workspace import ToolError, Workspace

SECONDS, MOST_SECONDS = 120, 1_800
_CONTROL = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*\x1b\\|[()*+#%].|[@-Z\\-_])"
)


async def _terminal(workspace: Workspace, arguments: Arguments) -> str:
    command, seconds = _asked(arguments)
    shell = shutil.which("bash") or "/bin/sh"
    try:
        done = await run([shell, "-c", command], workspace.root, workspace.environment, seconds)
    except (OSError, ValueError) as error:
        raise ToolError(f"it cannot be run: {error}") from error
    ending = f"ended: {done.ended}" if done.ended else f"exit code: {done.exit_code}"
    return workspace.clean(f"{plain(done.output).rstrip()}\n[{ending}]".lstrip())


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
    text = _CONTROL.sub("", text)
    if "\r" not in text:
        return text
    return "\n".join(_last_state(line) for line in text.split("\n"))


def _last_state(line: str) -> str:
    return next((part for part in reversed(line.split("\r")) if part), "")


TERMINAL = Tool(
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
