"""Keep a long-running agent inside its context window, and lose nothing."""

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

from abridged.digests import digest_for
from abridged.engine import ContextEngine
from abridged.engines.compressor import ContextCompressor, compress
from abridged.errors import AbridgedError, ConfigError, InvalidMessages, SummarizerError
from abridged.report import CompressionReport

if TYPE_CHECKING:
    from abridged.session import ContextSession, SessionPool

__all__ = [
    "AbridgedError",
    "CompressionReport",
    "ConfigError",
    "ContextCompressor",
    "ContextEngine",
    "ContextSession",
    "InvalidMessages",
    "SessionPool",
    "SummarizerError",
    "compress",
    "digest_for",
]

# A library says nothing unless the program that uses it wants to hear it; the report says the same in any case.
logging.getLogger("abridged").addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:
    """The drivers need SQLite, which who compresses once need not load."""
    if name in ("ContextSession", "SessionPool"):
        return getattr(import_module("abridged.session"), name)
    raise AttributeError(f"module 'abridged' has no attribute {name!r}")
