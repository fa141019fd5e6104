"""The smallest engine that is of use: the system prompt, the first request, and the newest whole turns.

Copy the folder `window` to `.abridged/plugins/context_engine/` and set `context.engine: window`.
"""

from typing import Any

from abridged import ContextEngine

Message = dict[str, Any]


class Window(ContextEngine):
    """Keeps `turns` turns; a turn begins with what a user says, so calls and their results stay together."""

    name = "window"

    def __init__(self, context_length: int = 128_000, turns: int = 10) -> None:
        self.context_length = context_length
        self.threshold_tokens = context_length // 2
        self.turns = turns

    def update_from_response(self, usage: dict[str, Any]) -> None:
        self.last_prompt_tokens = usage["prompt_tokens"]

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        return (prompt_tokens or self.last_prompt_tokens) >= self.threshold_tokens

    def compress(self, messages: list[Message], current_tokens: int | None = None, **_: Any) -> list[Message]:
        begins = [place for place, message in enumerate(messages) if message["role"] == "user"]
        if len(begins) <= self.turns + 1:
            return messages
        self.compression_count += 1
        return messages[: begins[0] + 1] + messages[begins[-self.turns] :]
