"""A compression's report for people: how much it saved, what was done, what the summary holds."""

from collections.abc import Iterable, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from abridged.cli.tables import bar, count, facts, line, opening, places, table_of, titled
from abridged.report import CompressionReport

_EMPTY_SECTION_TOKENS = 5
"""A section with nothing in it still says so."""


def report_parts(name: str, report: CompressionReport, threshold: int, notes: Sequence[str]) -> list[RenderableType]:
    """A compression's report for people; `threshold` in tokens, `notes` on where it comes from."""
    if not report.compressed:
        return [_untouched(name, report)]
    saved = f"{report.saved_percent:.0f} % saved"
    parts: list[RenderableType] = [
        opening(name).append(saved, "bold green").append(f" in {report.seconds:.2f} s"),
        "",
        _before_and_after(report),
        "",
        facts(_what_was_done(report)),
    ]
    if report.sections:
        parts += ["", _sections(report)]
    if report.tokens_after >= threshold:
        still = f"still at or above the threshold of {threshold:,} tokens: keep less with --protect-last"
        parts += ["", Text(still, style="yellow")]
    return parts + [Text(f"note: {note}", style="dim") for note in notes]


def _untouched(name: str, report: CompressionReport) -> Text:
    text = opening(name)
    if not report.reason.startswith("fits"):
        return text.append(f"not compressed: {report.reason}{_repairs(report, '; repaired: ')}")
    return text.append(f"{report.reason}. It comes out unchanged; --force compresses it all the same.")


def _before_and_after(report: CompressionReport) -> Table:
    table = table_of("", ">before", ">after", ">change")
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
    if report.middle_messages:
        yield "summarised", count(report.middle_messages, "message")
    pruned = [
        count(report.digests, "result") + " to one line" if report.digests else "",
        count(report.duplicates, "duplicate") if report.duplicates else "",
        count(report.arguments, "long argument") + " cut" if report.arguments else "",
        count(report.pictures, "picture") if report.pictures else "",
        count(report.cut_results, "long result") + " cut at the end" if report.cut_results else "",
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
    if report.summary_writer == "model":
        yield (
            "checked",
            (
                f"{count(len(report.removed), 'statement')} that no message bears out taken out, "
                f"{count(report.added, 'item')} added by rule"
            ),
        )
    if report.focus_topic:
        yield "focus", line(report.focus_topic)
    yield "names", f"{report.facts_kept:,} of {report.facts_found:,} files, ids and values are still named"
    if report.lines_left_out:
        yield "left out", count(report.lines_left_out, "event") + " that did not fit the summary"


def explanation(report: CompressionReport) -> list[RenderableType]:
    """Every item of the summary, who wrote it, and the messages that it tells of."""
    table = table_of("item", "by", ">messages")
    section = ""
    for item in report.items:
        if item.section != section:
            section = item.section
            table.add_row(Text(section, style="bold"), "", "")
        table.add_row(line(f"  {item.text}"), item.origin, places(item.sources))
    parts: list[RenderableType] = ["", titled("What each item tells of", table)] if report.items else []
    if report.removed:
        taken = table_of("taken out of the model's text", "because it")
        for entry in report.removed:
            taken.add_row(line(entry.text), line(entry.why))
        parts += ["", titled("What nobody said", taken)]
    return parts


_REPAIRS = {
    "dropped": ("result without a call dropped", "results without a call dropped"),
    "stubbed": ("missing result marked", "missing results marked"),
    "moved": ("result moved behind its call", "results moved behind their calls"),
    "relabelled": ("id set", "ids set"),
    "discarded": ("entry that is no message discarded", "entries that are no messages discarded"),
}


def _repairs(report: CompressionReport, before: str = "") -> str:
    said = [count(times, *_REPAIRS.get(kind, (kind, kind))) for kind, times in report.repaired.items()]
    return before + ", ".join(said) if said else ""


def _sections(report: CompressionReport) -> RenderableType:
    full = [section for section in report.sections if section.items or section.tokens > _EMPTY_SECTION_TOKENS]
    table = table_of("section", ">items", ">tokens", "")
    largest = max((section.tokens for section in full), default=0)
    for section in full:
        items = f"{section.items:,}" if section.items else "names"
        table.add_row(section.title, items, f"{section.tokens:,}", bar(section.tokens, largest))
    empty = [section.title for section in report.sections if section not in full]
    return titled("Summary", table, ["empty: " + ", ".join(empty)] if empty else [])
