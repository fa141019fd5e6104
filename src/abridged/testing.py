"""Fakes for tests of code that uses this library: a scripted summariser, a clock, and messages in few words."""

import json
from collections.abc import Sequence
from typing import Any

from abridged.summarizers import SummaryRequest, SummaryResult

Message = dict[str, Any]


class ScriptedSummarizer:
    """Answers with the given replies in turn, the last one for ever. An exception among them is raised."""

    def __init__(self, replies: Sequence[str | SummaryResult | Exception | None], name: str = "scripted") -> None:
        self.name = name
        self.requests: list[SummaryRequest] = []
        self._replies = list(replies)

    def summarize(self, request: SummaryRequest) -> SummaryResult:
        reply = self._replies[min(len(self.requests), len(self._replies) - 1)]
        self.requests.append(request)
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, SummaryResult) else SummaryResult(reply)


class EchoSummarizer:
    """Answers with its prompt under two headings: what is in the prompt shows up in the summary."""

    name = "echo"

    def summarize(self, request: SummaryRequest) -> SummaryResult:
        return SummaryResult(f"## Goal\necho\n\n## Critical Context\n{request.prompt}")


class FakeClock:
    """Seconds that pass only when told to."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


def user(text: Any) -> Message:
    return {"role": "user", "content": text}


def assistant(text: str | None, *calls: Message) -> Message:
    return {"role": "assistant", "content": text, **({"tool_calls": list(calls)} if calls else {})}


def call(call_id: str, name: str, /, **arguments: Any) -> Message:
    """A tool call for `assistant(...)`."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def result(call_id: str, content: Any) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": content}
