"""Who speaks. A user message counts as real only when a person wrote it for the assistant to act on."""

import re

from abridged.conversation.text import Message, content_text, pictures

SYSTEM_ROLES = frozenset({"system", "developer"})

# What hosts put into the user's place: banners of a compaction, heartbeats, reminders, commands to the host itself.
_SYNTHETIC = re.compile(
    r"\s*(?:\[CONTEXT (?:COMPACTION|SUMMARY)\b|\[?heartbeat\b[\]:]?\s*(?:$|\W)|\[system[ _-](?:message|event|note)\b|"
    r"<(?:system-reminder|command-name|command-message|local-command-stdout)>|"
    r"/(?:compress|compact|new|reset|clear|help|status|model|history|recall|exit|quit|undo-compression|pin)\b(?!/))",
    re.IGNORECASE,
)


def is_system(message: Message) -> bool:
    role = message.get("role")
    return isinstance(role, str) and role in SYSTEM_ROLES


def is_tool_result(message: Message) -> bool:
    return message.get("role") == "tool"


def is_real_user(message: Message) -> bool:
    """Whether a person said this: role user, some content, and no banner, heartbeat or command (spec: P2.5b)."""
    if message.get("role") != "user" or _flagged_synthetic(message):
        return False
    content = message.get("content")
    text = content_text(content)
    if not text.strip():
        return any(True for _ in pictures(content))  # a picture alone is a request too
    return not _SYNTHETIC.match(text)


def newest_user(messages: list[Message]) -> int | None:
    """The index of the newest real user message; of the newest user-role message where none is real; else `None`."""
    fallback = None
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].get("role") == "user":
            if is_real_user(messages[index]):
                return index
            fallback = index if fallback is None else fallback
    return fallback


def leading_system(messages: list[Message]) -> int:
    """How many messages at the front are the system prompt."""
    count = 0
    while count < len(messages) and is_system(messages[count]):
        count += 1
    return count


def _flagged_synthetic(message: Message) -> bool:
    return any(key.startswith("_") and key.endswith("synthetic") and value for key, value in message.items())
