"""`abridged config` and `abridged engines`: what is in force, where it came from, and who can do the work."""

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from abridged.budget import Budget
from abridged.cli.reading import reason
from abridged.cli.tables import as_text, console_for, line, table_of
from abridged.cli.writing import OutputError, encode, render_report, write_file, write_stream
from abridged.config import DEFAULT, FOLDER, NAME, Config, load, template
from abridged.plugins import DEFAULT_ENGINE
from abridged.setup import engines_and_faults

config_app = typer.Typer(no_args_is_help=True, help="See and begin the configuration.")

ConfigFile = Annotated[
    str | None, typer.Option("--config", metavar="FILE", help=f"Else {FOLDER}/{NAME} here, else the user's own.")
]
AsJson = Annotated[bool, typer.Option("--json", help="As one JSON object.")]


@config_app.command("show")
def show(
    config: ConfigFile = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="As it is for this model.")] = None,
    as_json: AsJson = False,
) -> None:
    """Every setting in force and where it came from, and every size that follows, with the reason where it differs."""
    found = load(config)
    chosen = model or found.get("model.name")
    values = {key: found.value(key, chosen) for key in found.values}
    sizes = found.budget(chosen)
    table = table_of("setting", ">value", "from")
    for key, value in values.items():
        style = "" if value.origin == DEFAULT else "bold"
        table.add_row(
            line(key, style), line(_shown(value.value)), line(_origin(found, value.origin), "" if style else "dim")
        )
    rows = _sizes(found, sizes, chosen)
    in_force = table_of("in force", ">asked", ">tokens", "")
    for name, asked, tokens, says in rows:
        differs = "yellow" if asked not in (None, tokens) else ""
        in_force.add_row(
            line(name), "" if asked is None else f"{asked:,}", Text(f"{tokens:,}", style=differs), line(says, "dim")
        )
    parts: list[Any] = [Text(f"file: {found.file or 'none'}"), Text(f"model: {chosen or 'none'}"), "", table]
    parts += ["", in_force, *(Text(f"note: {note}", style="yellow") for note in sizes.notes)]
    if found.models:
        parts += ["", Text(f"models with settings of their own: {', '.join(found.models)}")]
    facts = {
        "file": str(found.file) if found.file else None,
        "model": chosen,
        "settings": {key: {"value": value.value, "origin": value.origin} for key, value in values.items()},
        "in_force": {**{name: tokens for name, _, tokens, _ in rows}, "notes": sizes.notes},
        "asked": {name: asked for name, asked, _, _ in rows if asked is not None},
        "models": {name: dict(different) for name, different in found.models.items()},
    }
    write_stream(render_report(facts) if as_json else encode(as_text(console_for(stderr=False), parts)))


def _sizes(config: Config, budget: Budget, model: str | None) -> list[tuple[str, int | None, int, str]]:
    """What follows from the window: a name, the tokens that were asked for, those in force, and what it means.

    What nobody asks for, because it follows from the others, has `None`; the budget's notes say why two differ.
    """
    settings = config.settings(model)
    threshold = int(budget.context_length * settings.threshold_percent)
    return [
        ("window", None, budget.context_length, "all that the model takes, the answer included"),
        ("usable", None, budget.usable_tokens, "without what is reserved for the answer"),
        ("threshold", threshold, budget.threshold_tokens, "a compression fires from here on"),
        ("tail", None, budget.tail_tokens, "kept of the newest messages, word for word"),
        ("tail_most", None, budget.tail_ceiling, "how far it may go where a turn would be cut"),
        ("summary_least", settings.min_summary_tokens, budget.min_summary_tokens, "the smallest summary budget"),
        ("summary_most", settings.summary_tokens_ceiling, budget.max_summary_tokens,
         f"the largest; at most {settings.summary_window_share:.3g} of the window"),
    ]  # fmt: skip


def _origin(config: Config, origin: str) -> str:
    """The same without the folder of the file."""
    return origin.replace(str(config.file), config.file.name) if config.file else origin


@config_app.command("init")
def init(
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Write a commented file to begin with, in this project's folder."""
    path = Path(FOLDER) / NAME
    if path.exists() and not force:
        raise OutputError(f"{path}: is there already; --force writes over it")
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as fault:
        raise OutputError(f"{path.parent}: cannot be made a folder: {reason(fault)}") from None
    write_file(path, encode(template()))
    write_stream(encode(f"wrote {path}\n"))


def list_engines(config: ConfigFile = None, as_json: AsJson = False) -> None:
    """All engines that can be had, and what is wrong with each: it is loaded, and made as the settings say."""
    found = load(config)
    wanted = found.get("context.engine", found.get("model.name")).strip() or DEFAULT_ENGINE
    with redirect_stdout(sys.stderr):  # what a plugin prints is no part of the list
        checked = engines_and_faults(found)
    rows = [
        {"name": one.name, "source": one.source, "description": one.description, "fault": fault,
         "chosen": one.name == wanted}
        for one, fault in checked
    ]  # fmt: skip
    table = table_of("", "engine", "from", "health", "what it does")
    for row in rows:
        health = line(str(row["fault"]), "red") if row["fault"] else Text("loads")
        mark = "→" if row["chosen"] else ""
        name, source, says = (line(str(row[key])) for key in ("name", "source", "description"))
        table.add_row(mark, name, source, health, says)
    write_stream(render_report({"engines": rows}) if as_json else encode(as_text(console_for(stderr=False), [table])))


def _shown(value: object) -> str:
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)
