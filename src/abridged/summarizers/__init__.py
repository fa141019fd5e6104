"""Who writes summaries: one protocol with one method, and the ladder that climbs down when somebody cannot."""

from abridged.summarizers.ladder import Ladder
from abridged.summarizers.protocol import Summarizer, SummaryRequest, SummaryResult, as_summarizer

__all__ = ["Ladder", "Summarizer", "SummaryRequest", "SummaryResult", "as_summarizer"]
