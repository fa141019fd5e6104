"""The recorded sessions that the benchmarks run on: our own, and the shared ones where they lie beside the project."""

import json
import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("ABRIDGED_SESSIONS", ROOT.parent / "shared" / "data" / "sessions"))

Messages = list[dict]


def sessions(minimum_tokens: int = 0) -> Iterator[tuple[str, Messages]]:
    """Name and messages of each session of at least so many tokens (characters / 4)."""
    paths = [ROOT / "examples" / "session.json", *sorted(SHARED.rglob("*.json"))]
    for path in paths:
        messages = json.loads(path.read_text())["messages"]
        if rough_tokens(messages) >= minimum_tokens:
            yield path.stem, messages


def text_of(message: dict) -> str:
    """Content and calls as one text."""
    content = message.get("content")
    if isinstance(content, list):
        content = "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
    calls = message.get("tool_calls") or []
    return "\n".join(
        [content or "", *(f"{call['function']['name']} {call['function']['arguments'] or ''}" for call in calls)]
    )


def all_text(messages: Messages) -> str:
    return "\n".join(map(text_of, messages))


def rough_tokens(messages: Messages) -> int:
    return sum(len(text_of(message)) for message in messages) // 4


def parts(messages: Messages, shares: list[float]) -> list[Messages]:
    """The session cut at these shares of its messages, never between a call and its results."""
    cuts = []
    for share in shares:
        cut = int(len(messages) * share)
        while cut < len(messages) and messages[cut]["role"] == "tool":
            cut += 1
        cuts.append(cut)
    edges = [0, *cuts, len(messages)]
    return [messages[a:b] for a, b in pairwise(edges)]
