"""What an agent tells whoever looks on. A screen, a pipe or a test stands behind it; the agent knows no terminal."""

from dataclasses import dataclass
from typing import Literal, Protocol

Tone = Literal["plain", "notice", "fault"]


@dataclass(frozen=True, slots=True)
class Question:
    """Whether a tool may run."""

    tool: str
    preview: str
    """What it would do."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the user answered."""

    allowed: bool
    always: bool = False
    """Also every further call of this tool, until a new conversation begins."""
    reason: str = ""
    """Why not, for the model; "" = no reason was given."""


class View(Protocol):
    """All of it is called in the event loop's thread."""

    def text(self, piece: str) -> None:
        """The model's words, as they come."""
        ...

    def end_text(self) -> None:
        """The answer is complete, or broken off."""
        ...

    def call(self, line: str) -> None:
        """A tool runs."""
        ...

    def result(self, text: str) -> None:
        """What came of it."""
        ...

    def say(self, text: str, tone: Tone = "notice") -> None:
        """A word of the program itself."""
        ...

    def doing(self, what: str) -> None:
        """What is going on; "" = nothing."""
        ...

    async def ask(self, question: Question) -> Verdict:
        """Ask the user."""
        ...
