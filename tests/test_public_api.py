"""The public names: flat, sorted, and pinned here. Everything else may move."""

import abridged

EXPORTS = [
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


def test_exports_are_pinned_and_sorted():
    assert abridged.__all__ == EXPORTS == sorted(EXPORTS)


def test_exports_are_there_and_documented():
    for name in EXPORTS:
        assert getattr(abridged, name).__doc__, name


def test_every_error_is_the_librarys():
    errors = [getattr(abridged, name) for name in EXPORTS if isinstance(getattr(abridged, name), type)]
    errors = [error for error in errors if issubclass(error, Exception)]
    assert len(errors) == 4
    assert all(issubclass(error, abridged.AbridgedError) for error in errors)
    assert all(issubclass(error, ValueError) for error in (abridged.ConfigError, abridged.InvalidMessages))
