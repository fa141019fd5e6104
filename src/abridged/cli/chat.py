"""`abridged chat`: options and settings for the agent in the terminal."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from abridged.archive import Archive
from abridged.config import Config, load
from abridged.errors import SettingsError

EXTRA = ("openai", "prompt_toolkit", "psutil")


def chat_here(
    prompt: Annotated[str | None, typer.Argument(metavar="[PROMPT]", help="What you say first.")] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="Who answers; else as set.")] = None,
    base_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="An OpenAI-compatible server, such as http://localhost:11434/v1."),
    ] = None,
    context_length: Annotated[int | None, typer.Option(metavar="TOKENS", help="The model's window.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the last session of this folder.")] = False,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="Go on with this one; its first characters are enough.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Write and run without asking.")] = False,
    no_tools: Annotated[bool, typer.Option("--no-tools", help="Words only.")] = False,
    config: Annotated[str | None, typer.Option("--config", metavar="FILE", help="Settings from here.")] = None,
) -> None:
    """Talk to a model that works in this folder, as long as you like: the conversation is kept inside its window.

    It can read, write and run; before it writes or runs anything you are asked. Rules in AGENTS.md and what you /pin
    stand in every prompt. All is archived; /help inside lists what you can type. The key is read from the environment
    (OPENAI_API_KEY, OPENROUTER_API_KEY); a server on this machine needs none.
    """
    _check_extra()
    from abridged.chat.start import Wishes, chat, session_to_resume

    given = {"model.name": model, "model.base_url": base_url, "model.context_length": context_length}
    settings = load(config, options=given)
    name = settings.get("model.name")
    if not name:
        raise SettingsError("nobody to talk to", "", "--model NAME, or model.name in .abridged/config.yaml")
    wanted = None
    if resume or session:
        with Archive(settings.archive_path) as archive:
            wanted = session_to_resume(archive, Path(), session)
    wishes = Wishes(
        name,
        settings.server("model.base_url", name),
        first=prompt,
        session=wanted,
        allow_all=yes or not _asks(settings, name),
        with_tools=not no_tools and settings.get("chat.tools", name),
    )
    raise typer.Exit(chat(settings, wishes))


def _asks(settings: Config, model: str) -> bool:
    """Whether the user is asked before a tool acts; a file that came with a clone cannot say no to that."""
    if settings.get("chat.ask", model) or not settings.is_brought_along("chat.ask", model):
        return bool(settings.get("chat.ask", model))
    said = f"abridged: {settings.file}: chat.ask: false is not followed: --yes, or your own settings, say so"
    print(said, file=sys.stderr)
    return True


def _check_extra() -> None:
    from importlib.util import find_spec

    missing = [name for name in EXTRA if find_spec(name) is None]
    if missing:
        raise SettingsError("abridged chat", "", f"needs {', '.join(missing)}: pip install 'abridged[chat]'")
