"""The driver of a whole conversation on any engine, and many of them at once."""

from abridged.session.driver import ContextSession
from abridged.session.pool import SessionPool
from abridged.session.recovery import Recovery

__all__ = ["ContextSession", "Recovery", "SessionPool"]
