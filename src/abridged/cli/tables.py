"""What the command line shows to people. It fits 80 columns, and a foreign text never leaves its place in the line."""

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from abridged.cli.inspection import Inspection, Segment, Turn
from abridged.report import CompressionReport

SHOWN = 5
"""Rows of a list of the largest."""
_BAR = 16

_EMPTY_SECTION_TOKENS = 5
"""A section with nothing in it still says so."""


def console_for(*, stderr: bool) -> Console:
    """A console that reads no markup in what it prints: most of it was written by others."""
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def line(text: str, style: str = "") -> Text:
    """A foreign text as one harmless line, cut with an ellipsis where its place ends."""
    shown = "".join(character if character.isprintable() else "�" for character in " ".join(text.split()))
    return Text(shown, style=style, no_wrap=True, overflow="ellipsis")


def _table(*columns: str) -> Table:
    """Numbers to the right (a column marked `>`), texts to the left."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for column in columns:
        table.add_column(column.removeprefix(">"), justify="right" if column.startswith(">") else "left")
    return table


def _titled(title: str, table: Table, notes: Iterable[str] = ()) -> RenderableType:
    """A table under its title; title and notes may be wider than the table."""
    return Group(Text(title, style="bold"), table, *(Text(note, style="dim") for note in notes))


def _facts(rows: Iterable[tuple[str, RenderableType]]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for name, value in rows:
        table.add_row(name, value)
    return table


def _share(part: int, whole: int) -> str:
    if not whole:
        return "–"
    percent = round(100 * part / whole)
    return "<1 %" if part and not percent else f"{percent} %"


def _bar(part: int, whole: int) -> Text:
    return Text("━" * (max(1, round(_BAR * part / whole)) if whole and part else 0), style="cyan")


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _span(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first}–{last}"


def _places(indexes: Sequence[int], most: int = 4) -> str:
    return ", ".join([*map(str, indexes[:most]), *(["…"] if len(indexes) > most else [])])


def _opening(name: str) -> Text:
    """Which file is spoken of: its name, as its folder is known to who typed it."""
    return Text.assemble(line(PurePath(name).name or name, "bold"), ": ")


# -- compress --------------------------------------------------------------------------------------------------------


def report_parts(name: str, report: CompressionReport, threshold: int, notes: Sequence[str]) -> list[RenderableType]:
    """A compression's report for people; `threshold` in tokens, `notes` on where it comes from."""
    if not report.compressed:
        return [_untouched(name, report)]
    saved = f"{report.saved_percent:.0f} % saved"
    parts: list[RenderableType] = [
        _opening(name).append(saved, "bold green").append(f" in {report.seconds:.2f} s"),
        "",
        _before_and_after(report),
        "",
        _facts(_what_was_done(report)),
    ]
    if report.sections:
        parts += ["", _sections(report)]
    if report.tokens_after >= threshold:
        still = f"still at or above the threshold of {threshold:,} tokens: keep less with --protect-last"
        parts += ["", Text(still, style="yellow")]
    return parts + [Text(f"note: {note}", style="dim") for note in notes]


def _untouched(name: str, report: CompressionReport) -> Text:
    text = _opening(name)
    if not report.reason.startswith("fits"):
        return text.append(f"not compressed: {report.reason}{_repairs(report, '; repaired: ')}")
    return text.append(f"{report.reason}. It comes out unchanged; --force compresses it all the same.")


def _before_and_after(report: CompressionReport) -> Table:
    table = _table("", ">before", ">after", ">change")
    for name, before, after in (
        ("tokens", report.tokens_before, report.tokens_after),
        ("messages", report.messages_before, report.messages_after),
    ):
        table.add_row(name, f"{before:,}", f"{after:,}", f"{after - before:+,}".replace("-", "−"))
    return table


def _what_was_done(report: CompressionReport) -> Iterable[tuple[str, RenderableType]]:
    kept = f"{report.head_messages:,} at the front, {report.tail_messages:,} at the end"
    if report.anchored_user:
        kept += ", and the newest request"
    yield "kept", kept
    yield "summarised", _count(report.middle_messages, "message")
    pruned = [
        _count(report.digests, "result") + " to one line" if report.digests else "",
        _count(report.duplicates, "duplicate") if report.duplicates else "",
        _count(report.arguments, "long argument") + " cut" if report.arguments else "",
        _count(report.pictures, "picture") if report.pictures else "",
        _count(report.cut_results, "long result") + " cut at the end" if report.cut_results else "",
    ]
    yield "pruned", ", ".join(filter(None, pruned)) or "nothing"
    if report.summary_writer == "nobody":
        yield "summary", "none: nothing had to be summarised"
    else:
        yield from _what_was_written(report)
    yield "repaired", _repairs(report) or "nothing"


def _what_was_written(report: CompressionReport) -> Iterable[tuple[str, RenderableType]]:
    writer = {"offline": "by rule, without a model", "model": "by a model", "marker": "nobody: a marker stands for it"}
    written = writer.get(report.summary_writer, report.summary_writer)
    yield "summary", f"{report.summary_tokens:,} of {report.summary_budget:,} tokens, written {written}"
    for attempt in report.attempts:
        if attempt.outcome != "ok":
            yield "attempt", line(f"{attempt.who}: {attempt.outcome} {attempt.detail}", "yellow")
    if report.focus_topic:
        yield "focus", line(report.focus_topic)
    yield "names", f"{report.facts_kept:,} of {report.facts_found:,} files, ids and values are still named"
    if report.lines_left_out:
        yield "left out", _count(report.lines_left_out, "event") + " that did not fit the summary"


_REPAIRS = {
    "dropped": ("result without a call dropped", "results without a call dropped"),
    "stubbed": ("missing result marked", "missing results marked"),
    "moved": ("result moved behind its call", "results moved behind their calls"),
    "relabelled": ("id set", "ids set"),
    "discarded": ("entry that is no message discarded", "entries that are no messages discarded"),
}


def _repairs(report: CompressionReport, before: str = "") -> str:
    said = [_count(count, *_REPAIRS.get(kind, (kind, kind))) for kind, count in report.repaired.items()]
    return before + ", ".join(said) if said else ""


def _sections(report: CompressionReport) -> RenderableType:
    full = [section for section in report.sections if section.items or section.tokens > _EMPTY_SECTION_TOKENS]
    table = _table("section", ">items", ">tokens", "")
    largest = max((section.tokens for section in full), default=0)
    for section in full:
        items = f"{section.items:,}" if section.items else "names"
        table.add_row(section.title, items, f"{section.tokens:,}", _bar(section.tokens, largest))
    empty = [section.title for section in report.sections if section not in full]
    return _titled("Summary", table, ["empty: " + ", ".join(empty)] if empty else [])


# -- inspect ---------------------------------------------------------------------------------------------------------


def inspection_parts(name: str, found: Inspection) -> list[RenderableType]:
    """An inspection for people: the sentence first, then what takes the room, then what is wrong."""
    parts: list[RenderableType] = [_headline(name, found)]
    for shown in (_outlook, _roles, _turns, _tools, _results, _duplicates, _faults):
        part = shown(found)
        if part:
            parts += ["", part]
    return parts


def _headline(name: str, found: Inspection) -> RenderableType:
    over = found.tokens >= found.threshold_tokens
    text = _opening(name).append(f"{_count(found.messages, 'message')}, ").append(f"{found.tokens:,} tokens", "bold")
    text.append(f" = {_share(found.tokens, found.context_length)} of a window of {found.context_length:,}; ")
    verdict = "reaches" if over else "stays below"
    text.append(f"{verdict} the threshold of {found.threshold_tokens:,}", "yellow" if over else "green").append(".")
    text.append(f"\n{_count(sum(turn.number > 0 for turn in found.turns), 'turn')}; ")
    held = sum(group.tokens for group in found.groups)
    groups = f"{_count(len(found.groups), 'tool group')} with {held:,} tokens ({_share(held, found.tokens)})."
    text.append(groups if found.groups else "no tool calls.")
    if found.summaries:
        text.append(f"\nCompressed before: a summary stands in message {_places(found.summaries)}.")
    return text


_TREATMENT = {
    "head": "kept", "earlier summary": "carried on in the new summary", "middle": "becomes a summary",
    "newest request": "kept, behind the summary", "tail": "kept, old results pruned",
}  # fmt: skip


def _outlook(found: Inspection) -> RenderableType:
    outlook = found.outlook
    when = "A compression now" if found.tokens >= found.threshold_tokens else "Not due; forced, a compression"
    if outlook.compressed:
        saved = _share(found.tokens - outlook.tokens_after, found.tokens)
        title = f"{when} would make {found.tokens:,} → {outlook.tokens_after:,} tokens, {saved} saved"
    else:
        title = f"{when} would do nothing: {outlook.reason}"

    def becomes(segment: Segment) -> str:
        made = f" of {outlook.summary_tokens:,} tokens" if segment.name == "middle" else ""
        return _TREATMENT[segment.name] + made if outlook.compressed else "stays"

    table = _table("part", ">range", ">messages", ">tokens", "what becomes of it")
    for part in outlook.segments:
        span = _span(part.first, part.last)
        table.add_row(part.name, span, f"{part.messages:,}", f"{part.tokens:,}", becomes(part))
    return _titled(title, table, [f"note: {note}" for note in found.notes])


def _roles(found: Inspection) -> RenderableType | None:
    table = _table("role", ">messages", ">tokens", ">share", "")
    for role in found.roles:
        share, bar = _share(role.tokens, found.tokens), _bar(role.tokens, found.tokens)
        table.add_row(line(role.role), f"{role.messages:,}", f"{role.tokens:,}", share, bar)
    return _titled("Who speaks", table) if found.roles else None


def _of(title: str, everything: Sequence[object]) -> str:
    return f"{title} ({SHOWN} of {len(everything):,})" if len(everything) > SHOWN else title


def _turns(found: Inspection) -> RenderableType | None:
    table = _table(">tokens", ">share", ">range", "request")
    for turn in sorted(found.turns, key=lambda turn: -turn.tokens)[:SHOWN]:
        request = line(turn.request) if turn.number else line("(before the first request)", "dim")
        table.add_row(f"{turn.tokens:,}", _share(turn.tokens, found.tokens), _span(turn.first, turn.last), request)
    return _titled(_of("Largest turns", found.turns), table) if found.turns else None


def _tools(found: Inspection) -> RenderableType | None:
    table = _table(">tokens", ">share", ">calls", "tool")
    for tool in found.tools[:SHOWN]:
        table.add_row(f"{tool.tokens:,}", _share(tool.tokens, found.tokens), f"{tool.calls:,}", line(tool.tool))
    return _titled(_of("Tools by the size of their results", found.tools), table) if found.tools else None


def _results(found: Inspection) -> RenderableType | None:
    table = _table(">tokens", ">share", ">message", "answers")
    for result in found.largest_results[:SHOWN]:
        call = line(result.digest if result.call is not None else f"no call: {result.digest}")
        table.add_row(f"{result.tokens:,}", _share(result.tokens, found.tokens), f"{result.message}", call)
    return _titled("Largest results", table) if found.largest_results else None


def _duplicates(found: Inspection) -> RenderableType | None:
    table = _table(">wasted", "messages", "answers")
    for same in found.duplicates[:SHOWN]:
        table.add_row(f"{same.tokens_wasted:,}", _places([*same.older, same.newest]), line(same.digest))
    wasted = sum(same.tokens_wasted for same in found.duplicates)
    more = len(found.duplicates) - SHOWN
    notes = [f"and {_count(more, 'other')}"] if more > 0 else []
    return _titled(f"Same result again: {wasted:,} tokens wasted", table, notes) if found.duplicates else None


def _faults(found: Inspection) -> RenderableType:
    if not found.faults:
        return Text("No fault of structure found.", style="green")
    table = _table(">times", "what", "messages")
    for fault in found.faults:
        table.add_row(f"{len(fault.messages):,}", fault.meaning, _places(fault.messages))
    return _titled("Faults of structure", table)


def as_text(console: Console, parts: Iterable[Any]) -> str:
    """The parts as the console would print them, for one write."""
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    return "\n".join(row.rstrip() for row in captured.get().split("\n"))  # cells are padded to their column
