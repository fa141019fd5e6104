"""Keep a long-running agent inside its context window, and lose nothing."""

import logging

from abridged.digests import digest_for
from abridged.engine import ContextEngine
from abridged.engines.compressor import ContextCompressor, compress
from abridged.errors import AbridgedError, ConfigError, InvalidMessages, SummarizerError
from abridged.report import CompressionReport

__all__ = [
    "AbridgedError",
    "CompressionReport",
    "ConfigError",
    "ContextCompressor",
    "ContextEngine",
    "InvalidMessages",
    "SummarizerError",
    "compress",
    "digest_for",
]

# A library says nothing unless the program that uses it wants to hear it; the report says the same in any case.
logging.getLogger("abridged").addHandler(logging.NullHandler())
