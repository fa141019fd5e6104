"""The contract between a host and whatever keeps its conversation small (spec: E1-E4).

The lifecycle, in this order: made and registered -> `on_session_start` -> `update_from_response` after every response
-> `should_compress` after every iteration -> `compress` when it says so -> `on_session_end` when the session truly
ends.
"""

import json
from abc import ABC, abstractmethod
from typing import Any

Message = dict[str, Any]


class ContextEngine(ABC):
    """Base class of every engine. Hosts read the attributes directly, so they are plain attributes (spec: E2)."""

    last_prompt_tokens: int = 0
    """Prompt tokens of the last response, as the provider counted them; 0 before the first."""
    last_completion_tokens: int = 0
    last_total_tokens: int = 0
    threshold_tokens: int = 0
    """Prompt tokens at which a compression is due."""
    context_length: int = 0
    """The model's window in tokens."""
    compression_count: int = 0
    """Compressions of this session."""

    @property
    @abstractmethod
    def name(self) -> str:
        """A short identifier, for example "compressor"."""

    @abstractmethod
    def update_from_response(self, usage: dict[str, Any]) -> None:
        """Take the provider's usage of one response: `prompt_tokens`, `completion_tokens`, `total_tokens`."""

    @abstractmethod
    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        """Whether a compression is due; `prompt_tokens` defaults to what the provider reported last."""

    @abstractmethod
    def compress(
        self,
        messages: list[Message],
        current_tokens: int | None = None,
        *,
        focus_topic: str | None = None,
        force: bool = False,
        memory_context: str | None = None,
    ) -> list[Message]:
        """The compressed conversation. `messages` stays as it is; an engine may ignore the keyword arguments."""

    def should_compress_preflight(self, messages: list[Message]) -> bool:
        """A cheap check before a request is sent (spec: T5). Never, unless an engine knows better."""
        return False

    def on_session_start(self, session_id: str, **kwargs: Any) -> None:  # noqa: B027
        """A conversation begins, or is resumed."""

    def on_session_end(self, session_id: str, messages: list[Message]) -> None:  # noqa: B027
        """A conversation truly ended: exit, reset, time-out. Never called per turn."""

    def on_session_reset(self) -> None:
        """Start anew: all that E2 counts is zero again."""
        self.last_prompt_tokens = 0
        self.last_completion_tokens = 0
        self.last_total_tokens = 0
        self.compression_count = 0

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """The tools that this engine offers to the model."""
        return []

    def handle_tool_call(self, name: str, args: dict[str, Any], **kwargs: Any) -> str:
        """Run one of the engine's tools; a JSON string, also for an unknown one."""
        return json.dumps({"error": f"unknown tool: {name}"})

    def get_status(self) -> dict[str, Any]:
        """What a status line shows."""
        return {
            "engine": self.name,
            "context_length": self.context_length,
            "threshold_tokens": self.threshold_tokens,
            "last_prompt_tokens": self.last_prompt_tokens,
            "last_completion_tokens": self.last_completion_tokens,
            "last_total_tokens": self.last_total_tokens,
            "compression_count": self.compression_count,
        }

    def export_state(self) -> dict[str, Any]:
        """What the engine has to know after a restart, as plain JSON values; nothing, unless it says so (spec: T4b)."""
        return {}

    def import_state(self, state: dict[str, Any]) -> None:  # noqa: B027
        """Take what `export_state` gave, of this version or an older one; what is not understood is left alone."""

    def update_model(self, model: str, context_length: int, **kwargs: Any) -> None:
        """The model changed: recompute the threshold and every budget that follows from the window."""
        self.context_length = context_length
