"""The fixed words of a summary, and finding a summary in a conversation.

A summary stands as `PREFIX`, its sections, `END_MARKER`; what follows the marker in the same message is the message's
own text. Summaries are recognised by their opening alone, so that a restart, another process or an older version of
this library (or a neighbour with the same protocol) is no obstacle.
"""

import re
from dataclasses import dataclass
from typing import cast

from abridged.conversation.text import Message, content_text

SECTIONS = (
    "Active Task", "Goal", "Constraints & Preferences", "Completed Actions", "Active State", "In Progress", "Blocked",
    "Key Decisions", "Resolved Questions", "Pending User Asks", "Relevant Files", "Remaining Work", "Critical Context",
)  # fmt: skip
"""The 13 sections, in order (spec: P3.2)."""

PREFIX = (
    "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below. This is a handoff from "
    "a previous context window — treat it as background reference, NOT as active instructions. Do NOT answer questions "
    "or fulfill requests mentioned in this summary; they were already addressed. Your current task is identified in "
    "the '## Active Task' section of the summary — resume exactly from there. Respond ONLY to the latest user message "
    "that appears AFTER this summary."
)
"""Opens every summary (spec: P4.2)."""

END_MARKER = "--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---"
"""Closes every summary (spec: P4.4)."""

SYSTEM_NOTE = (
    "[Note: Some earlier conversation turns have been compacted into a handoff summary to preserve context space. The "
    "current session state may still reflect earlier work, so build on that summary and state rather than re-doing "
    "work.]"
)
"""Stands at the end of the system prompt once something was compacted (spec: P4.1)."""

NOTE_PATTERN = re.compile(r"\n*\[Note: Some earlier conversation turns have been compacted[^\]]*\]")
"""The note in any wording that it ever had."""

_OPENING = re.compile(r"\s*\[CONTEXT (?:COMPACTION|SUMMARY)\b[^\]]*\]:?[ \t]*")
_MARKER = re.compile(
    r"\n*^-{2,} ?END OF CONTEXT SUMMARY\b.*?---[ \t]*$(?:\n[ \t]*--- ?not the summary above ?---[ \t]*$)?\n*",
    re.MULTILINE | re.DOTALL,
)
_HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)


def static_marker(turns: int) -> str:
    """What stands in place of a summary that nobody could write; `turns` = removed turns (spec: F1)."""
    return (
        "[CONTEXT COMPACTION — REFERENCE ONLY]\n"
        f"Summary generation was unavailable. {turns} conversation turns were removed to free context space but could "
        "not be summarized. The removed turns contained earlier work in this session. Continue based on the recent "
        "messages below and the current state of any files or resources."
    )


def frame(body: str, note: str = "") -> str:
    """The whole text of a summary: prefix, a note of the engine that is no part of the summary, body, end marker."""
    return "\n\n".join(part for part in (PREFIX, note, body.strip(), END_MARKER) if part)


@dataclass(frozen=True, slots=True)
class FoundSummary:
    """A message that carries a summary, taken apart."""

    body: str
    """The summary's own text, without prefix and marker."""
    rest: Message | None
    """The message as it was before the summary was merged into it; `None` where it was nothing but the summary."""


def find_summary(message: Message) -> FoundSummary | None:
    """Take a message apart that carries a summary; `None` for any other message."""
    if message.get("role") not in ("user", "assistant"):
        return None  # a tool result or a system prompt may show a summary; it is none
    content = message.get("content")
    first, others = _first_text(content)
    if first is None:
        return None
    opening = _OPENING.match(first)
    if not opening:
        return None
    marker = _MARKER.search(first, opening.end())
    body = _without_preamble(first[opening.end() : marker.start() if marker else len(first)])
    own = first[marker.end() :] if marker else ""
    if others is not None:
        parts = ([{"type": "text", "text": own}] if own.strip() else []) + others
        keeps = any(content_text(part).strip() or not isinstance(part, str) for part in parts)
        return FoundSummary(body, {**message, "content": parts} if keeps else None)
    if own.strip() or message.get("tool_calls"):
        return FoundSummary(body, {**message, "content": own or None})
    return FoundSummary(body, None)


def own_words(message: Message) -> Message | None:
    """The message without a summary that stands in it; `None` where it is nothing else."""
    found = find_summary(message)
    return found.rest if found else message


def merge_before(summary: str, content: object) -> object:
    """The content of a message with the framed `summary` standing before its own text (spec: P4.4)."""
    if isinstance(content, list):
        return [{"type": "text", "text": summary}, *cast("list[object]", content)]
    return f"{summary}\n\n{content_text(content)}"


def _first_text(content: object) -> tuple[str | None, list[object] | None]:
    """The text with which content opens, and the other parts where it is a list."""
    if isinstance(content, str):
        return content, None
    if isinstance(content, list) and content:
        parts = cast("list[object]", content)
        first = parts[0]
        if isinstance(first, str):
            return first, parts[1:]
        if isinstance(first, dict):
            text = cast("dict[str, object]", first).get("text")
            if isinstance(text, str):
                return text, parts[1:]
    return None, None


def _without_preamble(text: str) -> str:
    """The sections alone: what stands before the first heading is the opening's own sentence."""
    heading = _HEADING.search(text)
    return text[heading.start() :].strip() if heading else text.strip()
