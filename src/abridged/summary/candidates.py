"""What a summary could say: lines of the ledger, of the previous summary, and of a model, side by side.

Of two lines about the same thing the newer one stands; what became stale is left out.
"""

import re
from dataclasses import dataclass, field, replace

from abridged.conversation.tokens import Counter
from abridged.summary.document import SummaryDocument
from abridged.summary.language import constraint_strength
from abridged.summary.ledger import Ledger
from abridged.summary.lines import ASKED, Line, normal, work_in
from abridged.summary.template import SECTIONS

_REPLACED = frozenset({"Active Task", "In Progress"})
"""Sections in which the previous summary's items are stale once something happened."""
_PREVIOUS_RANK = {"Completed Actions": 0.5, "Key Decisions": 1.5, "Resolved Questions": 0.6}
_LEFT_OUT = re.compile(r"^\(… (\d[\d,]*) earlier steps are not listed\)$")
PREFERENCE = 0.7
"""From this strength on a rule that a summary carried once is carried on before what is newer and as weak."""
CARRIED_RULE = 0.85
KEPT_RANK = 50.0
"""What a host wants kept comes before all that has no section of its own."""
WRITTEN_RANK = 6.0
"""What a model's own item is worth beside the names in it."""
_VERBATIM = frozenset({"Constraints & Preferences", "Blocked"})
"""Sections in which the messages' own words come before a model's."""
BEHIND_RULES = 0.9
"""What its items are worth there."""


@dataclass(slots=True)
class ExtractRequest:
    """What a summary is made of."""

    ledger: Ledger
    """What is replaced."""
    budget: int
    """Tokens for the body."""
    counter: Counter
    active_task: tuple[str, int] | None = None
    """The newest real user request of the whole conversation and its index."""
    goal: tuple[str, int] | None = None
    """The first one."""
    previous: SummaryDocument = field(default_factory=SummaryDocument)
    written: SummaryDocument | None = None
    """What a model wrote of the same turns, with the previous summary before it."""
    kept_names: frozenset[str] = frozenset()
    """Names that stand in the head or the tail: they need no room."""
    focus_topic: str | None = None
    keep: str = ""
    """What a host wants kept, word for word."""
    length: int = 1
    """Messages in the conversation."""


def candidates(request: ExtractRequest) -> tuple[list[Line], int]:
    """All lines in the order of events, and how many steps the previous summary had left out."""
    previous, skipped = _previous_lines(request)
    written = _written_lines(request.written) if request.written else []
    lines: dict[tuple[str, str], Line] = {}
    if request.active_task:
        text, index = request.active_task
        lines["Active Task", "task"] = Line("Active Task", text, (index,), 1.0)
    if request.goal and not request.previous.sections["Goal"] and not any(w.section == "Goal" for w in written):
        text, index = request.goal
        lines["Goal", "goal"] = Line("Goal", text, (index,), 1.0)
    if request.keep:
        lines["Critical Context", "kept"] = Line("Critical Context", request.keep, (), KEPT_RANK)
    for line in (*previous, *written, *request.ledger.lines):
        key = (line.section, line.key or normal(line.text))
        older = lines.pop(key, None)
        if older and older.origin == "model" and line.section == "Relevant Files":
            line = replace(older, text=f"{older.text} ({line.text.rpartition(' — ')[2]})", sources=line.sources)
        if older and older.rank > line.rank:
            line.rank = older.rank
        lines[key] = line
    for order, line in enumerate(lines.values()):
        line.order = order
    return list(lines.values()), skipped


def _previous_lines(request: ExtractRequest) -> tuple[list[Line], int]:
    """The previous summary's items as candidates again, stale ones left out; and how many steps it had left out."""
    lines: list[Line] = []
    skipped = 0
    ledger = request.ledger
    for section in SECTIONS:
        if section in _REPLACED and ledger.acted:
            continue
        asked = section == "Pending User Asks" and ledger.acted  # whoever acted has seen it: a step like others now
        for item in request.previous.sections[section]:
            left_out = _LEFT_OUT.match(item.text)
            if left_out:
                skipped += int(left_out[1].replace(",", ""))
                continue
            key = _key(section, item.text)
            if section == "Blocked" and key in ledger.succeeded:
                continue
            if asked:
                lines.append(Line("Completed Actions", f"{ASKED}{item.text}”", (), 0.8, origin="earlier"))
            else:
                rank = _previous_rank(section, item.text)
                lines.append(Line(section, item.text, (), rank, key, origin="earlier"))
    return lines, skipped


def _written_lines(document: SummaryDocument) -> list[Line]:
    """A model's items come before all others; only the active task is not its own (spec: P3.9)."""
    return [
        Line(section, item.text, item.sources, _written_rank(section), _key(section, item.text), origin="model")
        for section in SECTIONS
        if section != "Active Task"
        for item in document.sections[section]
    ]


def _written_rank(section: str) -> float:
    return BEHIND_RULES if section in _VERBATIM else WRITTEN_RANK


def _previous_rank(section: str, text: str) -> float:
    if section == "Constraints & Preferences":
        strength = constraint_strength(text)
        return max(strength, CARRIED_RULE) if strength >= PREFERENCE else strength or 0.4
    if section == "Relevant Files":
        return 1.0 if "written" in text else 0.3
    return _PREVIOUS_RANK.get(section, 0.8)


def _key(section: str, text: str) -> str:
    if section == "Blocked":
        return work_in(text)
    if section == "Relevant Files":
        return text.split(" — ")[0].strip("`* ")
    if section == "Active State" and ": " in text:
        return text.split(": ")[0]
    return normal(text)
