"""Phase 3: the summary of what leaves the conversation.

What code can know, code writes: the ledger is read from the original messages, whoever writes (spec: P3.8, P3.9).
Without a model it is the summary. With one, the model's items, checked against the record, are candidates before all
others; the rules, errors, files and names that they leave out are added, and the newest request is always the
conversation's own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from abridged.budget import Settings
from abridged.conversation.measure import replayed_text
from abridged.conversation.pairing import Pairing
from abridged.conversation.roles import is_real_user, newest_user
from abridged.conversation.text import Message, content_text, one_line
from abridged.conversation.tokens import Counter
from abridged.digests import DIGESTS, DigestRegistry
from abridged.report import Removed
from abridged.summarizers import Ask, CancelToken, SummaryRequest
from abridged.summary.candidates import ExtractRequest
from abridged.summary.document import SummaryDocument, parse
from abridged.summary.extract import Extract, extract
from abridged.summary.ledger import read_ledger
from abridged.summary.prompt import instructions, record
from abridged.summary.redact import Redactor, redact
from abridged.summary.template import END_MARKER, PREFIX
from abridged.summary.transcript import Shown, packed
from abridged.summary.words import names_in

TASK_CHARS = 1_000
"""The most of a request that is quoted; the request itself stands verbatim in the tail."""
GOAL_CHARS = 600
NEWEST_REQUESTS = 3
"""So many of the user's last requests say what matters where nobody named a topic."""
WINDOW_SHARE = 0.80
"""What of a summariser's window is used: its tokenizer may count more than ours."""
ANSWER_SHARE = 0.25
"""The most of its window that is left for the answer."""

Progress = Callable[[int, int], None]
"""Called before each request: which part of how many."""


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

    def ask(self, window: int, ask: Ask, cancel: CancelToken, progress: Progress | None = None) -> str:
        """The text of a model with a window of so many tokens: part by part, each the update of the one before.

        (spec: P3.1, P3.11)
        """
        counter, settings = self.tools.counter, self.tools.settings
        budget = min(self.request.budget, int(window * ANSWER_SHARE / 2))
        frame = counter(instructions()) + counter(self._record("", "", budget)) + 2 * budget
        room = max(200, int(window * WINDOW_SHARE) - frame)
        so_far = _fitting("\n\n".join(self.previous), room // 2, counter)
        shown = Shown(settings, self.tools.redactor, self.tools.digests, self.request.ledger.facts)
        turns = shown.turns(self.given.conversation, self.given.middle, self.given.pairing)
        several = sum(map(counter, turns)) + 2 * len(turns) > room - counter(so_far)
        parts = packed(turns, max(200, room - (max(counter(so_far), budget) if several else counter(so_far))), counter)
        too_long: list[str] = []
        for number, part in enumerate(parts, start=1):
            cancel.raise_if_cancelled()
            if progress:
                progress(number, len(parts))
            earlier = _fitting(so_far, max(200, room - counter(part)), counter)
            if earlier != so_far:
                too_long.append(so_far)  # the next request has no room for all of it, but nothing is thrown away
            text = self._record(part, earlier, budget)
            source = counter(part) + counter(earlier)
            so_far = ask(SummaryRequest(instructions(), text, budget, source, settings.summary_timeout, cancel))
        return "\n\n".join([*too_long, so_far])

    def _record(self, turns: str, previous: str, budget: int) -> str:
        newest = () if self.topic else self._newest()
        return record(turns, budget_tokens=budget, previous=previous, focus_topic=self.topic, newest=newest)

    def _newest(self) -> Sequence[str]:
        """The user's last requests, oldest first."""
        texts: list[str] = []
        for message in reversed(self.given.conversation):
            if len(texts) == NEWEST_REQUESTS:
                break
            if is_real_user(message):
                texts.append(one_line(self.tools.redactor(content_text(message.get("content"))), TASK_CHARS // 2))
        return texts[::-1]


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


def _fitting(text: str, room: int, counter: Counter) -> str:
    """A text cut at its end to so many tokens: what an earlier summary ends on, its names, code carries over."""
    while text and (tokens := counter(text)) > room:
        text = text[: min(len(text) - 1, len(text) * room // tokens)]
    return text


def _quoted(given: SummaryInput, place: int | None, redactor: Redactor, limit: int) -> tuple[str, int] | None:
    if place is None:
        return None
    text = redactor(content_text(given.conversation[place].get("content")).strip())
    return (text if len(text) <= limit else text[:limit].rstrip() + "…", given.sources[place])
