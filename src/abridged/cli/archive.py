"""`abridged archive`: look at what was archived, find it, and get it back."""

import json
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from abridged.archive import Archive
from abridged.cli.tables import as_text, console_for, count, facts, line, table_of, titled
from abridged.cli.waiting import waiting
from abridged.cli.writing import check_target, encode, render_report, write_file, write_stream
from abridged.config import load
from abridged.conversation.measure import replayed_text
from abridged.conversation.text import Message, one_line
from abridged.errors import ArchiveError

DAY = 86_400.0

archive_app = typer.Typer(no_args_is_help=True, help="Look at what was archived, find it, and get it back.")

Db = Annotated[
    str | None, typer.Option("--archive", metavar="FILE", help="The archive; else archive.path of the settings.")
]
AsJson = Annotated[bool, typer.Option("--json", help="As one JSON object.")]
Session = Annotated[str, typer.Argument(metavar="SESSION", help="The session's id, or how it begins.")]
Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="OUT", help="Where it goes; else standard output.")
]


def opened(path: str | None) -> Archive:
    """The archive that is meant; a file that is not there is not made. Raises `ArchiveError`, `ConfigError`."""
    place = load(options={"archive.path": path}).archive_path
    if not place.exists():
        raise ArchiveError(str(place), "there is no such file; name one with --archive or archive.path in the settings")
    return Archive(place)


@archive_app.command("ls")
def ls(archive: Db = None, as_json: AsJson = False) -> None:
    """All sessions, the newest first."""
    with opened(archive) as store:
        infos = store.sessions()
    rows = [
        {
            "session": info.id, "started": info.started, "last": info.last, "ended": info.ended,
            "engine": info.engine, "messages": info.messages, "compactions": info.compactions,
        }
        for info in infos
    ]  # fmt: skip
    table = table_of("session", "last", "engine", ">messages", ">compactions", "")
    for info in infos:
        numbers = (f"{info.messages:,}", f"{info.compactions:,}")
        table.add_row(line(info.id), _when(info.last), info.engine, *numbers, "ended" if info.ended else "open")
    _out({"sessions": rows}, [table if infos else Text("no sessions")], as_json)


@archive_app.command("show")
def show(session: Session, archive: Db = None, as_json: AsJson = False) -> None:
    """One session: its compactions, and the conversation as it stands."""
    with opened(archive) as store:
        info = store.session_like(session)
        compactions = store.compactions(info.id)
        live, _ = store.live(info.id)
    rows = [
        {
            "number": one.number,
            "at": one.at,
            "before": one.messages_before,
            "after": one.messages_after,
            "report": one.report,
        }
        for one in compactions
    ]
    table = table_of(">no.", "when", ">before", ">after", ">saved", "written by")
    for one in compactions:
        saved = one.report.get("saved_percent")
        writer = one.report.get("summary_writer") or one.report.get("reason") or ""
        sizes = (f"{one.messages_before:,}", f"{one.messages_after:,}", "" if saved is None else f"{saved:.0f} %")
        table.add_row(f"{one.number}", _when(one.at), *sizes, line(str(writer)))
    parts: list[RenderableType] = [
        facts(
            (
                ("session", line(info.id)),
                ("started", _when(info.started)),
                ("said", count(info.messages, "message")),
                ("now", count(len(live), "message")),
            )
        )
    ]
    parts += ["", titled("Compactions", table)] if compactions else []
    parts += ["", titled("The conversation as it stands", _messages(enumerate(live)))]
    _out({"session": info.id, "compactions": rows, "messages": live}, parts, as_json)


@archive_app.command("search")
def search(
    words: Annotated[list[str], typer.Argument(metavar="WORDS…", help='All of them; "in quotes" is a phrase.')],
    session: Annotated[str | None, typer.Option(metavar="SESSION", help="In this session alone.")] = None,
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="So many at most.")] = 20,
    archive: Db = None,
    as_json: AsJson = False,
) -> None:
    """Messages that hold all of the words, in all sessions. Exit code 1 where there is none."""
    with opened(archive) as store:
        where = store.session_like(session).id if session else None
        hits = store.search(" ".join(words), session=where, limit=limit)
    rows = [{"session": hit.session, "place": hit.place, "message": hit.message} for hit in hits]
    table = table_of("session", ">place", "who", "message")
    for hit in hits:
        table.add_row(line(hit.session), f"{hit.place:,}", line(hit.role), line(_around(hit.message, words)))
    _out({"hits": rows}, [table if hits else Text("nothing found")], as_json)
    if not hits:
        raise typer.Exit(1)


@archive_app.command("restore")
def restore(
    session: Session,
    number: Annotated[int, typer.Argument(metavar="N", help="Before compaction N.")],
    output: Output = None,
    archive: Db = None,
) -> None:
    """The conversation as it was before compaction N, letter for letter, as a JSON list."""
    with opened(archive) as store:
        _give(store.restore(store.session_like(session).id, number), output)


@archive_app.command("export")
def export(session: Session, output: Output = None, archive: Db = None) -> None:
    """All that a session ever said, without summaries, as a JSON list."""
    with opened(archive) as store:
        _give(store.transcript(store.session_like(session).id), output)


@archive_app.command("vacuum")
def vacuum(
    days: Annotated[
        float | None, typer.Option(metavar="DAYS", min=0, help="Forget sessions that ended longer ago.")
    ] = None,
    archive: Db = None,
    as_json: AsJson = False,
) -> None:
    """Give the room back that nothing uses; with --days forget old sessions. Nothing is forgotten unless asked."""
    with opened(archive) as store, waiting("Making room …"):
        before = store.stats()["bytes"]
        gone = store.vacuum(ended_before=None if days is None else time.time() - days * DAY)
        after = store.stats()["bytes"]
    said = f"{count(gone, 'session')} forgotten, {before / 1e6:,.1f} MB before, {after / 1e6:,.1f} MB after"
    _out({"sessions_forgotten": gone, "bytes_before": before, "bytes_after": after}, [Text(said)], as_json)


@archive_app.command("stats")
def stats(archive: Db = None, as_json: AsJson = False) -> None:
    """How much there is."""
    with opened(archive) as store:
        values = {"file": store.path, **store.stats()}
    shown = {**values, "bytes": f"{values['bytes']:,}"}
    _out(values, [facts((name, line(str(value))) for name, value in shown.items())], as_json)


def _give(messages: list[Message], output: str | None) -> None:
    data = encode(json.dumps(messages, ensure_ascii=False, indent=1) + "\n")
    if output in (None, "-"):
        write_stream(data)
        return
    target = Path(str(output))
    check_target(target)
    write_file(target, data)


def _messages(messages: Iterable[tuple[int, Message]]) -> Table:
    table = table_of(">no.", "who", "message")
    for place, message in messages:
        table.add_row(f"{place:,}", line(str(message.get("role"))), line(one_line(replayed_text(message), 400)))
    return table


def _around(message: Message, words: Sequence[str]) -> str:
    """The text of a message from a little before the first word that was asked for."""
    text = one_line(replayed_text(message), 20_000)
    places = [at for word in words if (at := text.lower().find(word.strip('"').lower())) >= 0]
    start = max(0, min(places, default=0) - 30)
    return ("…" if start else "") + text[start : start + 400]


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M")


def _out(values: dict[str, Any], parts: Sequence[RenderableType], as_json: bool) -> None:
    data = render_report(values) if as_json else encode(as_text(console_for(stderr=False), parts))
    write_stream(data)
