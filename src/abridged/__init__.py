"""Keep a long-running agent inside its context window, and lose nothing."""

import logging
from typing import TYPE_CHECKING, Any

from abridged.digests import digest_for
from abridged.engine import ContextEngine
from abridged.engines.compressor import ContextCompressor, compress
from abridged.errors import AbridgedError, ConfigError, InvalidMessages, SummarizerError
from abridged.report import CompressionReport

if TYPE_CHECKING:
    from abridged.session import ContextSession

__all__ = [
    "AbridgedError",
    "CompressionReport",
    "ConfigError",
    "ContextCompressor",
    "ContextEngine",
    "ContextSession",
    "InvalidMessages",
    "SummarizerError",
    "compress",
    "digest_for",
]

# A library says nothing unless the program that uses it wants to hear it; the report says the same in any case.
logging.getLogger("abridged").addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:
    """The driver needs SQLite, which who compresses once need not load."""
    if name == "ContextSession":
        from abridged.session import ContextSession

        return ContextSession
    raise AttributeError(f"module 'abridged' has no attribute {name!r}")
