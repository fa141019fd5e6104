"""The conversation as a summariser reads it: labelled plain text, long messages cut to their two ends (spec: P3.5)."""

from abridged.budget import Settings
from abridged.conversation.calls import tool_calls
from abridged.conversation.roles import is_tool_result
from abridged.conversation.text import Message, content_text
from abridged.summary.redact import Redactor


def transcript(messages: list[Message], settings: Settings, redactor: Redactor) -> str:
    """Every message under its label, without secrets; characters as the settings say."""
    return "\n\n".join(_entry(message, settings, redactor) for message in messages)


def _entry(message: Message, settings: Settings, redactor: Redactor) -> str:
    text = clipped(redactor(content_text(message.get("content"))), settings)
    if is_tool_result(message):
        return f"[TOOL RESULT {message.get('tool_call_id', '?')}]: {text}"
    label = str(message.get("role") or "unknown").upper()
    lines = [f"[{label}]: {text}"]
    calls = tool_calls(message)
    if calls:
        lines.append("[Tool calls:")
        for call in calls:
            arguments = redactor(call.arguments_text)
            if len(arguments) > settings.arguments_max:
                arguments = arguments[: settings.arguments_head] + "..."
            lines.append(f"  {call.name}({arguments})")
        lines.append("]")
    return "\n".join(lines)


def clipped(text: str, settings: Settings) -> str:
    """A text over the limit keeps its head and its tail."""
    if len(text) <= settings.content_max:
        return text
    missing = len(text) - settings.content_head - settings.content_tail
    return f"{text[: settings.content_head]}\n[… {missing:,} characters left out …]\n{text[-settings.content_tail :]}"
