"""The system prompt: what the agent is, the project's rules, and what the user pinned, word for word.

It is no part of the history, so no compression ever touches it; it is written anew only when a rule or a pin changes,
so that its bytes stay the same between two requests.
"""

from pathlib import Path

from abridged.conversation.roles import is_system
from abridged.conversation.text import Message, content_text
from abridged.phases.assemble import with_note
from abridged.summary.template import NOTE_PATTERN

RULES = "AGENTS.md"
MOST_CHARACTERS = 60_000
"""Of all rules together; a file beyond it is named in `faults` and left out."""
_BASE = """You are an agent in a terminal. You work in the folder {folder}.
Look at files and run commands before you say what is so; change little at a time and check what you changed.
Paths are relative to that folder, and nothing outside it can be read or written by the file tools.
When the work is done, say shortly what you did and what is left.
The older part of a long conversation may be replaced by a summary: where it leaves something open, look again."""


class Instructions:
    """For one folder. `pins`: texts of the user that stand in every prompt."""

    def __init__(self, folder: Path, pins: list[str] | None = None) -> None:
        self.folder = folder
        self.pins = pins if pins is not None else []
        self.faults: list[str] = []
        """Rules that could not be used, and why."""
        self._seen: dict[Path, tuple[int, int]] | None = None
        self._rules = ""

    @property
    def rule_files(self) -> list[Path]:
        """From the repository's folder down to this one."""
        folders = [self.folder, *self.folder.parents]
        top = next((n for n, folder in enumerate(folders) if (folder / ".git").exists()), 0)
        return [folder / RULES for folder in reversed(folders[: top + 1]) if (folder / RULES).is_file()]

    def text(self) -> str:
        """The whole system prompt as it is now."""
        parts = [_BASE.format(folder=self.folder), self._read_rules()]
        if self.pins:
            parts.append("# The user wants you to keep in mind, always\n\n" + "\n\n".join(self.pins))
        return "\n\n".join(part for part in parts if part)

    def applied(self, messages: list[Message]) -> list[Message]:
        """The messages with this system prompt in front; the same list where it is there already."""
        first = messages[0] if messages and is_system(messages[0]) else None
        stands = content_text(first.get("content")) if first else ""
        text = self.text()
        if first and NOTE_PATTERN.sub("", stands).rstrip() == text.rstrip():
            return messages
        new: Message = {"role": "system", "content": text}
        return [with_note(new) if NOTE_PATTERN.search(stands) else new, *messages[1 if first else 0 :]]

    def _read_rules(self) -> str:
        """The rules, read again where a file has changed."""
        files = self.rule_files
        seen = {file: (file.stat().st_mtime_ns, file.stat().st_size) for file in files}
        if seen != self._seen:
            self._seen, self.faults = seen, []
            self._rules = "\n\n".join(filter(None, map(self._read, files)))
        return self._rules

    def _read(self, file: Path) -> str:
        try:
            text = file.read_text(encoding="utf-8", errors="replace").strip()
        except OSError as error:
            self.faults.append(f"{file}: {error.strerror}")
            return ""
        if len(text) > MOST_CHARACTERS:
            self.faults.append(f"{file}: {len(text):,} characters, more than {MOST_CHARACTERS:,}: left out")
            return ""
        shown = file.name if file.parent == self.folder else file
        return f"# Rules of this project ({shown})\n\n{text}" if text else ""
