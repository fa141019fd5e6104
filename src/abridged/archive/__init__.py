"""Everything that was ever said, in one SQLite file: messages by content, compactions, what a session's guard knows."""

from abridged.archive.store import Archive, Compaction, Hit, SessionInfo

__all__ = ["Archive", "Compaction", "Hit", "SessionInfo"]
