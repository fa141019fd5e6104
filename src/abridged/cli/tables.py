"""The pieces that are shown to people: they fit 80 columns, and a foreign text never leaves its place in the line."""

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

_BAR = 16


def console_for(*, stderr: bool) -> Console:
    """A console that reads no markup in what it prints: most of it was written by others."""
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def line(text: str, style: str = "") -> Text:
    """A foreign text as one harmless line, cut with an ellipsis where its place ends."""
    shown = "".join(character if character.isprintable() else "�" for character in " ".join(text.split()))
    return Text(shown, style=style, no_wrap=True, overflow="ellipsis")


def table_of(*columns: str) -> Table:
    """Numbers to the right (a column marked `>`), texts to the left."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for column in columns:
        table.add_column(column.removeprefix(">"), justify="right" if column.startswith(">") else "left")
    return table


def titled(title: str, table: Table, notes: Iterable[str] = ()) -> RenderableType:
    """A table under its title; title and notes may be wider than the table."""
    return Group(Text(title, style="bold"), table, *(Text(note, style="dim") for note in notes))


def facts(rows: Iterable[tuple[str, RenderableType]]) -> Table:
    """Named facts, one a row."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, value in rows:
        table.add_row(name, value)
    return table


def share(part: int, whole: int) -> str:
    """A part in per cent; what is there is never 0."""
    if not whole:
        return "–"
    percent = round(100 * part / whole)
    return "<1 %" if part and not percent else f"{percent} %"


def bar(part: int, whole: int) -> Text:
    """A part as a stroke; what is there is never invisible."""
    return Text("━" * (max(1, round(_BAR * part / whole)) if whole and part else 0), style="cyan")


def count(number: int, one: str, many: str | None = None) -> str:
    """A number and its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def span(first: int, last: int) -> str:
    """A range of message indexes."""
    return f"{first}" if first == last else f"{first}–{last}"


def places(indexes: Sequence[int], most: int = 4) -> str:
    """The first few of some message indexes."""
    return ", ".join([*map(str, indexes[:most]), *(["…"] if len(indexes) > most else [])])


def opening(name: str) -> Text:
    """Which file is spoken of: its name, as its folder is known to who typed it."""
    return Text.assemble(line(PurePath(name).name or name, "bold"), ": ")


def as_text(console: Console, parts: Iterable[Any]) -> str:
    """The parts as the console would print them, for one write."""
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    return "\n".join(row.rstrip() for row in captured.get().split("\n"))  # cells are padded to their column
