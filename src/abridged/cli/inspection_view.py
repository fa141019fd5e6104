"""An inspection for people: what fills the conversation, what a compression would do, what is wrong."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from abridged.cli.inspection import Inspection
from abridged.cli.outlook import Segment
from abridged.cli.tables import bar, count, line, opening, places, share, span, table_of, titled

SHOWN = 5
"""Rows of a list of the largest."""


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
    text = opening(name).append(f"{count(found.messages, 'message')}, ").append(f"{found.tokens:,} tokens", "bold")
    text.append(f" = {share(found.tokens, found.context_length)} of a window of {found.context_length:,}; ")
    verdict = "reaches" if over else "stays below"
    text.append(f"{verdict} the threshold of {found.threshold_tokens:,}", "yellow" if over else "green").append(".")
    text.append(f"\n{count(sum(turn.number > 0 for turn in found.turns), 'turn')}; ")
    held = sum(group.tokens for group in found.groups)
    groups = f"{count(len(found.groups), 'tool group')} with {held:,} tokens ({share(held, found.tokens)})."
    text.append(groups if found.groups else "no tool calls.")
    if found.summaries:
        text.append(f"\nCompressed before: a summary stands in message {places(found.summaries)}.")
    return text


_TREATMENT = {
    "head": "kept", "earlier summary": "carried on in the new summary", "middle": "becomes a summary",
    "newest request": "kept, behind the summary", "tail": "kept, old results pruned",
}  # fmt: skip


def _outlook(found: Inspection) -> RenderableType:
    outlook = found.outlook
    when = "A compression now" if found.tokens >= found.threshold_tokens else "Not due; forced, a compression"
    if outlook.compressed:
        saved = share(found.tokens - outlook.tokens_after, found.tokens)
        title = f"{when} would make {found.tokens:,} → {outlook.tokens_after:,} tokens, {saved} saved"
    else:
        title = f"{when} would do nothing: {outlook.reason}"

    def becomes(segment: Segment) -> str:
        made = f" of {outlook.summary_tokens:,} tokens" if segment.name == "middle" else ""
        return _TREATMENT[segment.name] + made if outlook.compressed else "stays"

    table = table_of("part", ">range", ">messages", ">tokens", "what becomes of it")
    for part in outlook.segments:
        where = span(part.first, part.last)
        table.add_row(part.name, where, f"{part.messages:,}", f"{part.tokens:,}", becomes(part))
    return titled(title, table, [f"note: {note}" for note in found.notes])


def _roles(found: Inspection) -> RenderableType | None:
    table = table_of("role", ">messages", ">tokens", ">share", "")
    for role in found.roles:
        part = share(role.tokens, found.tokens)
        table.add_row(line(role.role), f"{role.messages:,}", f"{role.tokens:,}", part, bar(role.tokens, found.tokens))
    return titled("Who speaks", table) if found.roles else None


def _of(title: str, everything: Sequence[object]) -> str:
    return f"{title} ({SHOWN} of {len(everything):,})" if len(everything) > SHOWN else title


def _turns(found: Inspection) -> RenderableType | None:
    table = table_of(">tokens", ">share", ">range", "request")
    for turn in sorted(found.turns, key=lambda turn: -turn.tokens)[:SHOWN]:
        request = line(turn.request) if turn.number else line("(before the first request)", "dim")
        table.add_row(f"{turn.tokens:,}", share(turn.tokens, found.tokens), span(turn.first, turn.last), request)
    return titled(_of("Largest turns", found.turns), table) if found.turns else None


def _tools(found: Inspection) -> RenderableType | None:
    table = table_of(">tokens", ">share", ">calls", "tool")
    for tool in found.tools[:SHOWN]:
        table.add_row(f"{tool.tokens:,}", share(tool.tokens, found.tokens), f"{tool.calls:,}", line(tool.tool))
    return titled(_of("Tools by the size of their results", found.tools), table) if found.tools else None


def _results(found: Inspection) -> RenderableType | None:
    table = table_of(">tokens", ">share", ">message", "answers")
    for result in found.largest_results[:SHOWN]:
        call = line(result.digest if result.call is not None else f"no call: {result.digest}")
        table.add_row(f"{result.tokens:,}", share(result.tokens, found.tokens), f"{result.message}", call)
    return titled("Largest results", table) if found.largest_results else None


def _duplicates(found: Inspection) -> RenderableType | None:
    table = table_of(">wasted", "messages", "answers")
    for same in found.duplicates[:SHOWN]:
        table.add_row(f"{same.tokens_wasted:,}", places([*same.older, same.newest]), line(same.digest))
    wasted = sum(same.tokens_wasted for same in found.duplicates)
    more = len(found.duplicates) - SHOWN
    notes = [f"and {count(more, 'other')}"] if more > 0 else []
    return titled(f"Same result again: {wasted:,} tokens wasted", table, notes) if found.duplicates else None


def _faults(found: Inspection) -> RenderableType:
    if not found.faults:
        return Text("No fault of structure found.", style="green")
    table = table_of(">times", "what", "messages")
    for fault in found.faults:
        table.add_row(f"{len(fault.messages):,}", fault.meaning, places(fault.messages))
    return titled("Faults of structure", table)
