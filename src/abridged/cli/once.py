"""One compression of one conversation, by whatever engine the settings name. An engine that fails is an error."""

from collections.abc import Generator
from contextlib import contextmanager

from abridged.conversation.measure import message_tokens
from abridged.conversation.text import Message
from abridged.conversation.tokens import default_counter
from abridged.engine import ContextEngine
from abridged.engines.compressor import ContextCompressor
from abridged.errors import AbridgedError, told
from abridged.report import CompressionReport
from abridged.session import ContextSession


def compress_once(
    engine: ContextEngine, messages: list[Message], topic: str | None = None, *, force: bool = False
) -> tuple[list[Message], CompressionReport]:
    """The messages, and what was done to them; those that fit come back as they are, unless `force`.

    Raises `AbridgedError` for an engine that fails.
    """
    with _blamed(engine.name):
        tokens = _tokens(engine, messages)
        if tokens < engine.threshold_tokens and not force:
            return messages, CompressionReport.fits(tokens, engine.threshold_tokens, len(messages))
        session = ContextSession.start(engine=engine, background=False)
        result = session.compress(messages, topic)
        if session.engine_fault:
            raise AbridgedError(f"{session.engine_fault}; nothing was written")
        if messages and not result:
            raise AbridgedError(f"engine {engine.name}: left nothing of the conversation; nothing was written")
        report = _report(engine, messages, result, tokens)
    report.forced = force
    return result, report


@contextmanager
def _blamed(name: str) -> Generator[None]:
    """What the session does not catch is the engine's as well."""
    try:
        yield
    except AbridgedError:
        raise
    except (Exception, SystemExit) as error:
        raise AbridgedError(f"engine {name}: {told(error)}; nothing was written") from error


def _report(engine: ContextEngine, messages: list[Message], result: list[Message], tokens: int) -> CompressionReport:
    """The engine's own, where it makes one."""
    own = getattr(engine, "report", None)
    if isinstance(own, CompressionReport):
        return own
    return CompressionReport(
        compressed=result is not messages, reason="" if result is not messages else "the engine changed nothing",
        tokens_before=tokens, tokens_after=_tokens(engine, result),
        messages_before=len(messages), messages_after=len(result),
    )  # fmt: skip


def _tokens(engine: ContextEngine, messages: list[Message]) -> int:
    """By the engine's own measure, where it is one that is known."""
    if isinstance(engine, ContextCompressor):
        return engine.estimate(messages)
    return sum(message_tokens(message, default_counter()) for message in messages)
