"""Keep a long-running agent inside its context window, and lose nothing."""

from abridged.engine import ContextEngine
from abridged.engines.compressor import ContextCompressor
from abridged.report import CompressionReport

__all__ = ["CompressionReport", "ContextCompressor", "ContextEngine"]
