"""Who writes summaries: one protocol with one method, clients of models, and the ladder that climbs down."""

from abridged.summarizers.ladder import KEEPS_ALL, Ask, Ladder
from abridged.summarizers.protocol import (
    AnySummarizer,
    CancelToken,
    Summarizer,
    SummaryRequest,
    SummaryResult,
    Usage,
    as_summarizer,
)

__all__ = [
    "KEEPS_ALL", "AnySummarizer", "Ask", "CancelToken", "Ladder", "Summarizer", "SummaryRequest", "SummaryResult",
    "Usage", "as_summarizer",
]  # fmt: skip
