"""What a compression did. Every compression leaves one of these, also the one that did nothing (spec: F2, F2b)."""

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Writer = Literal["offline", "model", "marker", "nobody"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try to have a summary written."""

    who: str
    """The summariser's name."""
    outcome: str
    """"ok", or the kind of failure (see `SummarizerError`)."""
    detail: str = ""
    requests: int = 0
    """Requests that it took: long conversations are summarised in parts."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    """What the provider counted, where it says."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Removed:
    """What was taken out of a model's text, and why."""

    text: str
    why: str


@dataclass(frozen=True, slots=True)
class SectionSize:
    """One section of the summary."""

    title: str
    items: int
    tokens: int


@dataclass(frozen=True, slots=True)
class ReportedItem:
    """One item of the summary."""

    section: str
    text: str
    sources: tuple[int, ...]
    """Indexes of messages in the list that came in."""
    origin: str
    """`rule`, `model`, or `earlier` for what came from an earlier summary."""


@dataclass(slots=True)
class CompressionReport:
    """Sizes before and after, what each phase did, and why nothing was done when nothing was done."""

    compressed: bool = False
    reason: str = ""
    """Why nothing was done; "" where something was."""
    forced: bool = False
    focus_topic: str | None = None

    tokens_before: int = 0
    tokens_after: int = 0
    messages_before: int = 0
    messages_after: int = 0

    duplicates: int = 0
    digests: int = 0
    arguments: int = 0
    pictures: int = 0

    head_messages: int = 0
    middle_messages: int = 0
    tail_messages: int = 0
    anchored_user: bool = False
    """The newest user message was taken out of the middle to stand after the summary."""
    cut_results: int = 0
    """Oversized results in the tail that were cut to their two ends."""

    summary_writer: Writer = "nobody"
    prompt_version: str = ""
    """Which wording of the prompt the model was asked with; "" where none wrote."""
    summary_tokens: int = 0
    summary_budget: int = 0
    sections: list[SectionSize] = field(default_factory=list[SectionSize])
    items: list[ReportedItem] = field(default_factory=list[ReportedItem])
    """What the summary says, item by item, with the messages that each tells of."""
    facts_found: int = 0
    """Identifiers found in what was replaced."""
    facts_kept: int = 0
    """Those of them that the summary still names."""
    lines_left_out: int = 0
    """Events that did not fit the summary."""
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    kept_all: bool = False
    """Nothing was replaced because the summariser failed in a way that ends by itself, and there was room to wait."""
    added: int = 0
    """Items by rule that a model's text did not have."""
    removed: list[Removed] = field(default_factory=list[Removed])
    """What a model wrote and nobody said."""

    repaired: dict[str, int] = field(default_factory=dict[str, int])
    """What was mended in the structure, by kind; only kinds that occurred."""
    seconds: float = 0.0

    @classmethod
    def fits(cls, tokens: int, threshold: int, messages: int) -> "CompressionReport":
        """Of a conversation that needs no compression."""
        return cls(
            reason=f"fits: {tokens:,} tokens, below the threshold of {threshold:,}",
            tokens_before=tokens, tokens_after=tokens, messages_before=messages, messages_after=messages,
        )  # fmt: skip

    @property
    def saved_tokens(self) -> int:
        return self.tokens_before - self.tokens_after

    @property
    def saved_percent(self) -> float:
        """The saving in per cent of the tokens before (spec: F2)."""
        return 100.0 * self.saved_tokens / self.tokens_before if self.tokens_before else 0.0

    def to_dict(self, *, explain: bool = False) -> dict[str, Any]:
        """The report as plain values, for JSON. `explain`: with the summary's items and their sources."""
        values = {**asdict(self), "saved_tokens": self.saved_tokens, "saved_percent": round(self.saved_percent, 2)}
        if not explain:
            del values["items"]
        return values
