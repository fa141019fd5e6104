"""Phase 3: the summary of what leaves the conversation.

What code can know, code writes: the ledger is read from the original messages, whoever writes (spec: P3.8, P3.9).
Without a model it is the summary. With one, the model's items are candidates before all others, and what they leave out
of the ledger's rules, errors, files and names is added; the newest request is always the conversation's own.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from abridged.budget import Settings
from abridged.conversation.measure import replayed_text
from abridged.conversation.pairing import Pairing
from abridged.conversation.roles import is_real_user, newest_user
from abridged.conversation.text import Message, content_text
from abridged.conversation.tokens import Counter
from abridged.summary.candidates import ExtractRequest
from abridged.summary.document import SummaryDocument, parse
from abridged.summary.extract import Extract, extract
from abridged.summary.ledger import read_ledger
from abridged.summary.prompt import build_prompt
from abridged.summary.redact import Redactor
from abridged.summary.template import END_MARKER, PREFIX
from abridged.summary.transcript import transcript
from abridged.summary.words import names_in

TASK_CHARS = 1_000
"""The most of a request that is quoted; the request itself stands verbatim in the tail."""
GOAL_CHARS = 600

Write = Callable[[str], str | None]
"""A prompt in, a checked summary out; `None` where nobody could write one."""


@dataclass(slots=True)
class SummaryInput:
    """What phase 3 is given. `conversation` is everything, original and without earlier summaries."""

    conversation: list[Message]
    sources: list[int]
    """For each message its index in the list that came in."""
    pairing: Pairing
    """Which result of `conversation` answers which call."""
    middle: list[int]
    """Places in `conversation` that are summarised."""
    kept: list[Message] = field(default_factory=list[Message])
    """Head and tail as they will stand."""
    lightened: list[int] = field(default_factory=list[int])
    """Places in `conversation` that are kept without a part of their text: pruned or cut."""
    previous: list[str] = field(default_factory=list[str])
    """Bodies of the summaries that were found, oldest first."""
    focus_topic: str | None = None


def summarize(
    given: SummaryInput,
    budget: int,
    counter: Counter,
    redactor: Redactor,
    settings: Settings,
    write: Write | None = None,
) -> tuple[Extract, bool]:
    """A document of at most `budget` tokens (frame not counted), and whether a model wrote it (spec: P3.1-P3.12)."""
    previous = [redactor(body) for body in given.previous]
    topic = redactor(given.focus_topic) if given.focus_topic else None
    text: str | None = None
    if write:
        middle = [given.conversation[place] for place in given.middle]
        history = transcript(middle, settings, redactor)
        prompt = build_prompt(history, budget_tokens=budget, previous="\n\n".join(previous), focus_topic=topic)
        text = write(prompt)
    request = _request(given, budget, counter, redactor, topic)
    request.previous = joined(previous)
    if text is not None:
        request.written = parse(redactor(text))
    return extract(request), text is not None


def joined(bodies: list[str]) -> SummaryDocument:
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


def _request(
    given: SummaryInput, budget: int, counter: Counter, redactor: Redactor, topic: str | None
) -> ExtractRequest:
    conversation = given.conversation
    ledger = read_ledger(conversation, given.middle, given.lightened, given.sources, given.pairing, redactor)
    kept: set[str] = set()
    for message in given.kept:
        kept.update(names_in(replayed_text(message)))
    newest = newest_user(conversation)
    first = next((place for place, message in enumerate(conversation) if is_real_user(message)), None)
    return ExtractRequest(
        ledger=ledger,
        budget=budget,
        counter=counter,
        active_task=_quoted(given, newest, redactor, TASK_CHARS),
        goal=_quoted(given, first, redactor, GOAL_CHARS) if first != newest else None,
        kept_names=frozenset(kept),
        focus_topic=topic,
        length=len(conversation),
    )


def _quoted(given: SummaryInput, place: int | None, redactor: Redactor, limit: int) -> tuple[str, int] | None:
    if place is None:
        return None
    text = redactor(content_text(given.conversation[place].get("content")).strip())
    return (text if len(text) <= limit else text[:limit].rstrip() + "…", given.sources[place])
