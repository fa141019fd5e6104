"""`abridged config` and `abridged engines`: what is in force, where it came from, and who can do the work."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from abridged.budget import Budget
from abridged.cli.tables import as_text, console_for, line, table_of
from abridged.cli.writing import OutputError, encode, render_report, write_file, write_stream
from abridged.config import DEFAULT, FOLDER, NAME, load, template
from abridged.errors import AbridgedError
from abridged.plugins import EnginePlugin, engines

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
            line(key, style), line(_shown(value.value)), line(Path(value.origin).name, "" if style else "dim")
        )
    rows = _sizes(sizes)
    in_force = table_of("in force", ">tokens", "")
    for name, tokens, says in rows:
        in_force.add_row(line(name), f"{tokens:,}", line(says, "dim"))
    parts: list[Any] = [Text(f"file: {found.file or 'none'}"), Text(f"model: {chosen or 'none'}"), "", table]
    parts += ["", in_force, *(Text(f"note: {note}", style="yellow") for note in sizes.notes)]
    if found.models:
        parts += ["", Text(f"models with settings of their own: {', '.join(found.models)}")]
    facts = {
        "file": str(found.file) if found.file else None,
        "model": chosen,
        "settings": {key: {"value": value.value, "origin": value.origin} for key, value in values.items()},
        "in_force": {**{name: tokens for name, tokens, _ in rows}, "notes": sizes.notes},
        "models": {name: dict(different) for name, different in found.models.items()},
    }
    write_stream(render_report(facts) if as_json else encode(as_text(console_for(stderr=False), parts)))


def _sizes(budget: Budget) -> list[tuple[str, int, str]]:
    """What follows from the window: a name, tokens, and what it means."""
    return [
        ("window", budget.context_length, "all that the model takes, the answer included"),
        ("usable", budget.usable_tokens, "without what is reserved for the answer"),
        ("threshold", budget.threshold_tokens, "a compression fires from here on"),
        ("tail", budget.tail_tokens, "kept of the newest messages, word for word"),
        ("tail_most", budget.tail_ceiling, "how far it may go where a turn would be cut"),
        ("summary_least", budget.min_summary_tokens, "the smallest summary budget"),
        ("summary_most", budget.max_summary_tokens, "the largest"),
    ]


@config_app.command("init")
def init(
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Write a commented file to begin with, in this project's folder."""
    path = Path(FOLDER) / NAME
    if path.exists() and not force:
        raise OutputError(f"{path}: is there already; --force writes over it")
    path.parent.mkdir(exist_ok=True)
    write_file(path, encode(template()))
    write_stream(encode(f"wrote {path}\n"))


def list_engines(config: ConfigFile = None, as_json: AsJson = False) -> None:
    """All engines that can be had, and whether they load."""
    found = load(config)
    rows = [
        {"name": one.name, "source": one.source, "description": one.description, "fault": _fault(one), "chosen": False}
        for one in engines(found.folders)
    ]
    for row in rows:
        row["chosen"] = row["name"] == found.get("context.engine")
    table = table_of("", "engine", "from", "health", "what it does")
    for row in rows:
        health = line(str(row["fault"]), "red") if row["fault"] else Text("loads")
        mark = "→" if row["chosen"] else ""
        name, source, says = (line(str(row[key])) for key in ("name", "source", "description"))
        table.add_row(mark, name, source, health, says)
    write_stream(render_report({"engines": rows}) if as_json else encode(as_text(console_for(stderr=False), [table])))


def _fault(plugin: EnginePlugin) -> str:
    try:
        plugin.load()
    except AbridgedError as error:
        return str(error)
    return ""


def _shown(value: object) -> str:
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)
