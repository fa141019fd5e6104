"""Tools as the agent uses them."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from abridged.chat.tools import TOOLS, ToolError, Workspace

BY_NAME = {tool.name: tool for tool in TOOLS}


def use(workspace: Workspace | Path, name: str, **arguments: Any) -> str:
    """What a tool gives; `error: …` where it refuses, in the preview or when it runs."""
    place = workspace if isinstance(workspace, Workspace) else Workspace(workspace)
    tool = BY_NAME[name]
    try:
        if tool.preview:
            tool.preview(place, arguments)
        return asyncio.run(tool.run(place, arguments))
    except ToolError as error:
        return f"error: {error}"


def preview(folder: Path, name: str, **arguments: Any) -> str:
    show = BY_NAME[name].preview
    assert show is not None
    return show(Workspace(folder), arguments)


def running(mark: str) -> list[str]:
    """The command lines of all processes that hold a mark."""
    return [line for _, line in _marked(mark)]


def end_all(mark: str) -> None:
    for one, _ in _marked(mark):
        with suppress(psutil.Error):
            one.kill()


def _marked(mark: str) -> list[tuple[psutil.Process, str]]:
    found: list[tuple[psutil.Process, str]] = []
    for one in psutil.process_iter(["cmdline", "status"]):
        line = " ".join(one.info["cmdline"] or [])
        if mark in line and one.info["status"] != psutil.STATUS_ZOMBIE:
            found.append((one, line))
    return found
