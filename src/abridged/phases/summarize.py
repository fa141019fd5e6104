"""Phase 3: the summary of what leaves the conversation.

What code can know, code writes: the ledger is read from the original messages, whoever writes (spec: P3.8, P3.9).
Without a model it is the summary. With one, the model's items, checked against the record, are candidates before all
others; the rules, errors, files and names that they leave out are added, and the newest request is always the
conversation's own.
"""

from dataclasses import dataclass, field

from abridged.budget import Settings
from abridged.conversation.measure import replayed_text
from abridged.conversation.pairing import Pairing
from abridged.conversation.roles import is_real_user, newest_user
from abridged.conversation.text import Message, content_text
from abridged.conversation.tokens import Counter
from abridged.digests import DIGESTS, DigestRegistry
from abridged.report import Removed
from abridged.summary.candidates import ExtractRequest
from abridged.summary.document import SummaryDocument, parse
from abridged.summary.extract import Extract, extract
from abridged.summary.ledger import read_ledger
from abridged.summary.redact import Redactor, redact
from abridged.summary.template import END_MARKER, PREFIX
from abridged.summary.words import names_in

TASK_CHARS = 1_000
"""The most of a request that is quoted; the request itself stands verbatim in the tail."""
GOAL_CHARS = 600


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
    tail: list[int] = field(default_factory=list[int])
    """Places in `conversation` that stay behind the summary."""
    previous: list[str] = field(default_factory=list[str])
    """Bodies of the summaries that were found, oldest first."""
    focus_topic: str | None = None
    keep: str | None = None
    """What a host wants to see in the summary, word for word."""


@dataclass(slots=True)
class Tools:
    """What it works with."""

    counter: Counter
    settings: Settings = field(default_factory=Settings)
    redactor: Redactor = redact
    digests: DigestRegistry = DIGESTS


@dataclass(slots=True)
class Handover:
    """What is known about the turns that leave, before anybody writes."""

    given: SummaryInput
    tools: Tools
    request: ExtractRequest
    previous: list[str]
    """Bodies of the earlier summaries, without secrets."""
    topic: str | None

    def by_rule(self) -> Extract:
        """The document without a model, of at most the budget (spec: F1, P3.1-P3.4)."""
        return extract(self.request)

    def by_model(self, text: str) -> tuple[Extract, list[Removed]]:
        """A model's text as a document, checked and completed; and what was taken out of it (spec: P3.9)."""
        from abridged.summary.ground import Record, ground  # who has no model need not load it

        said = Record(self.given.conversation, self.given.previous, self.given.focus_topic)
        grounded = ground(parse(self.tools.redactor(text)), said, self.request.ledger)
        self.request.written = grounded.document
        return extract(self.request), grounded.removed


def prepare(given: SummaryInput, budget: int, tools: Tools, *, for_a_model: bool) -> Handover:
    """Reads the ledger. `budget`: tokens of the document, its frame not counted."""
    redactor = tools.redactor
    previous = [redactor(body) for body in given.previous]
    topic = redactor(given.focus_topic) if given.focus_topic else None
    conversation = given.conversation
    ledger = read_ledger(
        conversation, given.middle, given.lightened, given.tail, given.sources, given.pairing, redactor,
        thorough=for_a_model,
    )  # fmt: skip
    kept: set[str] = set()
    for message in given.kept:
        kept.update(names_in(replayed_text(message)))
    newest = newest_user(conversation)
    first = next((place for place, message in enumerate(conversation) if is_real_user(message)), None)
    request = ExtractRequest(
        ledger=ledger,
        budget=budget,
        counter=tools.counter,
        active_task=_quoted(given, newest, redactor, TASK_CHARS),
        goal=_quoted(given, first, redactor, GOAL_CHARS) if first != newest else None,
        previous=joined(previous),
        kept_names=frozenset(kept),
        focus_topic=topic,
        keep=redactor(given.keep.strip()) if given.keep else "",
        length=len(conversation),
    )
    return Handover(given, tools, request, previous, topic)


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


def _quoted(given: SummaryInput, place: int | None, redactor: Redactor, limit: int) -> tuple[str, int] | None:
    if place is None:
        return None
    text = redactor(content_text(given.conversation[place].get("content")).strip())
    return (text if len(text) <= limit else text[:limit].rstrip() + "…", given.sources[place])
