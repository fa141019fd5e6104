"""What the host's plugin loader calls: cheap, repeatable, and silent where another engine is wanted."""

import importlib
import logging
from pathlib import Path
from typing import Any

from abridged.errors import AbridgedError
from abridged.hermes.home import chosen_engine, host_config, host_home, named_by_us, our_config
from abridged.plugins import DEFAULT_ENGINE, engines

logger = logging.getLogger(__name__)

COMMAND = "abridged"


def register(collector: Any) -> None:
    """Hand the host the engine that its configuration names, where it is one of ours."""
    chosen = chosen_engine(host_config(host_home()))
    if not is_ours(chosen):
        return
    from abridged.hermes.engine import HermesEngine

    collector.register_context_engine(HermesEngine(named_by_us(chosen)))
    _register_command(collector)


def is_ours(host_name: str) -> bool:
    """Whether what the host's configuration names is one of our engines."""
    wanted = named_by_us(host_name)
    if not host_name or host_name == DEFAULT_ENGINE:
        return False
    return wanted == DEFAULT_ENGINE or wanted in {engine.name for engine in engines(_folders())}


def _folders() -> tuple[Path, ...]:
    try:
        return our_config().folders
    except AbridgedError as error:
        logger.error("abridged: %s", error)
        return ()


def _register_command(collector: Any) -> None:
    """Once for a process: a second time the host would warn of it, with every agent."""
    try:
        commands = importlib.import_module("hermes_cli.plugins").get_plugin_manager()._plugin_commands
        if COMMAND in commands:
            return
    except Exception:  # another version of the host keeps them elsewhere
        logger.debug("the host's commands cannot be seen", exc_info=True)
    method = getattr(collector, "register_command", None)
    if method is not None:
        try:
            method(COMMAND, _status, description="What keeps this conversation small, and what is archived")
        except Exception:
            logger.debug("the command could not be registered", exc_info=True)


def _status(arguments: str = "") -> str:
    """The newest sessions of the archive, for whoever types the command."""
    from abridged.setup import archive_from

    try:
        with archive_from(our_config()) as archive:
            rows = [
                f"{info.id}  {info.engine}  {info.messages} messages, {info.compactions} compressions"
                for info in archive.sessions()[:5]
            ]
            return "\n".join([f"archive: {archive.path}", *(rows or ["nothing is archived yet"])])
    except AbridgedError as error:
        return str(error)
