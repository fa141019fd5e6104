"""Phase 3: the summary of what leaves the conversation. By rule, from the original messages (spec: P3.8, P3.9)."""

from dataclasses import dataclass, field

from abridged.conversation.measure import replayed_text
from abridged.conversation.roles import is_real_user, newest_user
from abridged.conversation.text import Message, content_text
from abridged.conversation.tokens import Counter
from abridged.summary.document import SummaryDocument, parse
from abridged.summary.extract import Extract, ExtractRequest, extract
from abridged.summary.identifiers import names_in
from abridged.summary.ledger import read_ledger
from abridged.summary.redact import Redactor
from abridged.summary.template import END_MARKER, PREFIX

TASK_CHARS = 1_000
"""The most of a request that is quoted; the request itself stands verbatim in the tail."""
GOAL_CHARS = 600


@dataclass(slots=True)
class SummaryInput:
    """What phase 3 is given. `conversation` is everything, original and without earlier summaries."""

    conversation: list[Message]
    sources: list[int]
    """For each message its index in the list that came in."""
    middle: list[int]
    """Places in `conversation` that are summarised."""
    kept: list[Message] = field(default_factory=list[Message])
    """Head and tail as they will stand."""
    lightened: list[int] = field(default_factory=list[int])
    """Places in `conversation` that are kept without a part of their text: pruned or cut."""
    previous: list[str] = field(default_factory=list[str])
    """Bodies of the summaries that were found, oldest first."""


def previous_document(bodies: list[str]) -> SummaryDocument:
    """The earlier summaries as one document, the newest one's items last."""
    merged = SummaryDocument()
    for body in bodies:
        document = parse(body)
        for title, items in document.sections.items():
            merged.sections[title] += items
        for label, names in document.index.items():
            merged.index[label] = list(dict.fromkeys([*merged.index.get(label, []), *names]))
    return merged


def frame_tokens(counter: Counter) -> int:
    """What prefix and marker take out of a summary's budget."""
    return counter(PREFIX) + counter(END_MARKER) + 4


def summarize_offline(
    given: SummaryInput, budget: int, counter: Counter, redactor: Redactor, focus_topic: str | None = None
) -> Extract:
    """A document of at most `budget` tokens (frame not counted), written by rule."""
    messages = [given.conversation[place] for place in given.middle]
    ledger = read_ledger(
        messages,
        [given.sources[place] for place in given.middle],
        redactor,
        [(given.conversation[place], given.sources[place]) for place in given.lightened],
    )
    previous = previous_document([redactor(body) for body in given.previous])
    kept: set[str] = set()
    for message in given.kept:
        kept |= names_in(replayed_text(message))
    newest, first = newest_user(given.conversation), _first_user(given.conversation)
    return extract(
        ExtractRequest(
            ledger=ledger,
            budget=budget,
            counter=counter,
            active_task=_request(given, newest, redactor, TASK_CHARS),
            goal=_request(given, first, redactor, GOAL_CHARS) if first != newest else None,
            previous=previous,
            kept_names=frozenset(kept),
            focus_topic=redactor(focus_topic) if focus_topic else None,
            length=len(given.conversation),
        )
    )


def _request(given: SummaryInput, place: int | None, redactor: Redactor, limit: int) -> tuple[str, int] | None:
    if place is None:
        return None
    text = redactor(content_text(given.conversation[place].get("content")).strip())
    return (text if len(text) <= limit else text[:limit].rstrip() + "…", given.sources[place])


def _first_user(messages: list[Message]) -> int | None:
    return next((place for place, message in enumerate(messages) if is_real_user(message)), None)
