"""One compression of one conversation, by whatever engine the settings name."""

from abridged.conversation.measure import message_tokens
from abridged.conversation.text import Message
from abridged.conversation.tokens import default_counter
from abridged.engine import ContextEngine
from abridged.errors import AbridgedError
from abridged.report import CompressionReport
from abridged.session import ContextSession


def compress_once(
    engine: ContextEngine, messages: list[Message], topic: str | None = None, *, force: bool = False
) -> tuple[list[Message], CompressionReport]:
    """The messages, and what was done to them; those that fit come back as they are, unless `force`.

    Raises `AbridgedError` for an engine that fails.
    """
    tokens = _tokens(engine, messages)
    if tokens < engine.threshold_tokens and not force:
        return messages, CompressionReport.fits(tokens, engine.threshold_tokens, len(messages))
    session = ContextSession.start(engine=engine, background=False)
    result = session.compress(messages, topic)
    if session.engine_fault:
        raise AbridgedError(f"{session.engine_fault}; nothing was written")
    report = getattr(engine, "report", None)
    if not isinstance(report, CompressionReport):
        report = CompressionReport(
            compressed=result is not messages, reason="" if result is not messages else "the engine changed nothing",
            tokens_before=tokens, tokens_after=_tokens(engine, result),
            messages_before=len(messages), messages_after=len(result),
        )  # fmt: skip
    report.forced = force
    return result, report


def _tokens(engine: ContextEngine, messages: list[Message]) -> int:
    estimate = getattr(engine, "estimate", None)
    return estimate(messages) if estimate else sum(message_tokens(message, default_counter()) for message in messages)
