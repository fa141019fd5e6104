"""Phase 1: prune old tool results. No model is asked, nothing that came in is changed, and pruning twice is once.

Order: index calls -> boundary -> duplicates -> digests -> arguments (spec: P1.1). Duplicates go everywhere; digests,
arguments and pictures only before the boundary. What was removed says so.
"""

import json
import re
from dataclasses import dataclass, field
from typing import cast

from abridged.conversation.calls import ToolCall, tool_calls
from abridged.conversation.measure import weight
from abridged.conversation.pairing import Pairing, live_group, pair
from abridged.conversation.roles import is_tool_result, newest_user
from abridged.conversation.text import MAX_DEPTH, Message, as_fields, as_list, content_text, is_picture
from abridged.digests import DIGESTS, DigestRegistry
from abridged.digests.wording import LINE_CHARS

DUPLICATE = "[Duplicate tool output — same content as a more recent call]"
"""Stands for an older copy of a result (spec: P1.2)."""
TRUNCATED = "...[truncated]"
"""Ends a string in the arguments that was cut (spec: P1.4)."""
_MARKER = re.compile(r"\[(?:[\w.:/@-]+\] |Duplicate tool output)")
PICTURE = "[picture removed to save context]"
"""Stands for an old picture (spec: P1.4b)."""


@dataclass(frozen=True, slots=True)
class PruneSettings:
    """What counts as old and as long."""

    protect_tail_tokens: int = 12_800
    """How much at the end is left alone, in boundary weight (spec: P1.5)."""
    protect_last_n: int = 20
    """The fewest messages at the end that are left alone."""
    protect_first_n: int = 0
    """Messages at the front that are left alone: the head is kept verbatim (spec: P2.1)."""
    min_chars: int = 200
    """Results below this many characters are left alone (spec: P1.2, P1.4b)."""
    argument_chars: int = 200
    """Strings in arguments are cut to this many characters (spec: P1.4)."""


@dataclass(slots=True)
class Pruned:
    """The light copy, and what was done to it."""

    messages: list[Message] = field(default_factory=list[Message])
    boundary: int = 0
    """Index of the first protected message."""
    duplicates: int = 0
    digests: int = 0
    arguments: int = 0
    pictures: int = 0

    @property
    def count(self) -> int:
        """How many places were pruned."""
        return self.duplicates + self.digests + self.arguments + self.pictures


def prune(
    messages: list[Message],
    settings: PruneSettings | None = None,
    digests: DigestRegistry = DIGESTS,
    pairing: Pairing | None = None,
) -> Pruned:
    """A light copy of `messages`, message by message; kept ones are the same objects (spec: P1.1-P1.5).

    `pairing`: which result answers which call, where that is known already.
    """
    settings = settings or PruneSettings()
    pruned = Pruned(list(messages), prune_boundary(messages, settings))
    pairing = pairing or pair(messages)
    live, request = live_group(messages), newest_user(messages)
    _drop_duplicates(pruned, settings)
    for index in range(settings.protect_first_n, pruned.boundary):
        message = pruned.messages[index]
        if is_tool_result(message):
            _digest_result(pruned, index, pairing.call(index), settings, digests)
        elif index != live and message.get("tool_calls"):
            _shorten_arguments(pruned, index, settings)
        if index != request and not isinstance(message.get("content"), str | None):
            _drop_pictures(pruned, index)
    return pruned


def prune_boundary(messages: list[Message], settings: PruneSettings) -> int:
    """The first protected index: from the end, the token budget and never fewer than n messages (spec: P1.5)."""
    accumulated = 0
    for index in range(len(messages) - 1, -1, -1):
        accumulated += weight(messages[index])
        if accumulated > settings.protect_tail_tokens and len(messages) - index >= settings.protect_last_n:
            return index
    return 0


def _drop_duplicates(pruned: Pruned, settings: PruneSettings) -> None:
    """From the newest back, so that the newest copy stays whole (spec: P1.2)."""
    seen: set[str] = set()
    for index in range(len(pruned.messages) - 1, -1, -1):
        message = pruned.messages[index]
        content = message.get("content")
        if not is_tool_result(message) or not isinstance(content, str):
            continue
        if len(content) < settings.min_chars or _is_marker(content):
            continue
        if content not in seen:  # the text itself: exact, and it is in memory anyway
            seen.add(content)
        elif index >= settings.protect_first_n:
            pruned.messages[index] = {**message, "content": DUPLICATE}
            pruned.duplicates += 1


def _digest_result(
    pruned: Pruned, index: int, call: ToolCall | None, settings: PruneSettings, digests: DigestRegistry
) -> None:
    """One informative line instead of a long result (spec: P1.3)."""
    message = pruned.messages[index]
    text = content_text(message.get("content"))
    if len(text.replace(PICTURE, "")) < settings.min_chars or _is_marker(text):
        return
    line = digests.digest(call.name if call else str(message.get("name") or ""), call.parsed() if call else None, text)
    if len(line) < len(text):
        pruned.messages[index] = {**message, "content": line}
        pruned.digests += 1


def _shorten_arguments(pruned: Pruned, index: int, settings: PruneSettings) -> None:
    """Long strings in the arguments, at any depth; what is not JSON stays as it is (spec: P1.4)."""
    message = pruned.messages[index]
    entries = list(message["tool_calls"])
    shortened = False
    for call in tool_calls(message):
        if len(call.arguments_text) <= settings.argument_chars:
            continue
        arguments = _shorter(call, settings.argument_chars)
        if arguments is None:
            continue
        entry = entries[call.position]
        nested = isinstance(entry.get("function"), dict)
        entries[call.position] = (
            {**entry, "function": {**entry["function"], "arguments": arguments}}
            if nested
            else {**entry, "arguments": arguments}
        )
        pruned.arguments += 1
        shortened = True
    if shortened:
        pruned.messages[index] = {**message, "tool_calls": entries}


def _shorter(call: ToolCall, limit: int) -> object | None:
    """The arguments with long strings cut, in the form in which they came; `None` where nothing is to be cut."""
    value = call.parsed()
    try:
        light = _shrink(value, limit)
        if light == value:
            return None
        if not isinstance(call.arguments, str):
            return light
        text = json.dumps(light, ensure_ascii=False, allow_nan=False)
        # Half a character can stand in JSON as an escape only.
        return text if text.isascii() or _encodes(text) else json.dumps(light, allow_nan=False)
    except (ValueError, RecursionError):
        return None


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shrink(value: object, limit: int) -> object:
    """Cutting a string that was cut before gives the same string, so this is idempotent."""
    if isinstance(value, str):
        return value if len(value) <= limit else value[:limit] + TRUNCATED
    if isinstance(value, dict):
        return {key: _shrink(inner, limit) for key, inner in cast("dict[str, object]", value).items()}
    if isinstance(value, list):
        return [_shrink(inner, limit) for inner in cast("list[object]", value)]
    return value


def _is_marker(text: str) -> bool:
    """Whether a result is already one of our lines (or as short as one): it is not pruned again (spec: P1.4b)."""
    return len(text) <= LINE_CHARS and bool(_MARKER.match(text)) and "\n" not in text


def _drop_pictures(pruned: Pruned, index: int) -> None:
    """Old pictures, wherever they stand in the content (spec: P1.4b)."""
    message = pruned.messages[index]
    content, count = without_pictures(message.get("content"))
    if count:
        pruned.messages[index] = {**message, "content": content}
        pruned.pictures += count


def without_pictures(content: object, depth: int = MAX_DEPTH) -> tuple[object, int]:
    """The content with a text part in place of each picture, and how many there were."""
    given = as_list(content)
    if given is None or not depth:
        return content, 0
    parts: list[object] = []
    count = 0
    for part in given:
        fields = as_fields(part)
        if is_picture(part):
            parts.append({"type": "text", "text": PICTURE})
            count += 1
        elif fields and isinstance(fields.get("content"), list):
            inner, inside = without_pictures(fields["content"], depth - 1)
            parts.append({**fields, "content": inner} if inside else part)
            count += inside
        else:
            parts.append(part)
    return parts, count
