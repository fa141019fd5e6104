"""Fakes for tests of code that uses this library: summarisers of every sort, a clock, and messages in few words."""

import itertools
import json
import re
from collections.abc import Sequence
from typing import Any

from abridged.errors import FailureKind, SummarizerError
from abridged.summarizers import SummaryRequest, SummaryResult

Message = dict[str, Any]
_LABEL = re.compile(r"\[(?:USER|ASSISTANT|SYSTEM|TOOL RESULT [^\]\n]*)\]:? ?")


class ScriptedSummarizer:
    """Answers with the given replies in turn, the last one for ever. An exception among them is raised."""

    def __init__(
        self,
        replies: Sequence[str | SummaryResult | Exception | None],
        name: str = "scripted",
        context_length: int | None = None,
    ) -> None:
        self.name = name
        self.context_length = context_length
        self.requests: list[SummaryRequest] = []
        self._replies = list(replies)

    def summarize(self, request: SummaryRequest) -> SummaryResult:
        reply = self._replies[min(len(self.requests), len(self._replies) - 1)]
        self.requests.append(request)
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, SummaryResult) else SummaryResult(reply)


class FailingSummarizer(ScriptedSummarizer):
    """Fails every time, in one way (see `SummarizerError`)."""

    def __init__(self, kind: FailureKind = "network", detail: str = "as asked", name: str = "failing") -> None:
        super().__init__([SummarizerError(kind, detail)], name)


class SlowSummarizer:
    """Answers after so many seconds, or not at all once it is cancelled."""

    def __init__(self, seconds: float, reply: str, name: str = "slow") -> None:
        self.name = name
        self.seconds = seconds
        self.finished = 0
        self.cancelled = 0
        self._reply = reply

    def summarize(self, request: SummaryRequest) -> SummaryResult:
        if request.cancel.wait(self.seconds):
            self.cancelled += 1
            request.cancel.raise_if_cancelled()
        self.finished += 1
        return SummaryResult(self._reply)


class EchoSummarizer:
    """Answers with all turns that it was shown, under two headings: what was shown stands in the answer."""

    name = "echo"

    def __init__(self, context_length: int | None = None) -> None:
        self.context_length = context_length
        self.requests: list[SummaryRequest] = []

    def summarize(self, request: SummaryRequest) -> SummaryResult:
        self.requests.append(request)
        turns = request.record.rpartition("TURNS ")[0].split("\n", 1)[-1]
        items = _LABEL.sub("- ", turns)  # shorter than what it was shown, or it were no summary
        return SummaryResult(f"## Goal\n## Critical Context\n{items}")


class HallucinatingSummarizer:
    """Writes a summary in good form about things that never were: files, tickets, wishes, successes, quotes.

    `inventions` are added under the sections that they name; each answer numbers its inventions anew.
    """

    name = "hallucinating"

    def __init__(self, inventions: Sequence[tuple[str, str]] = (), context_length: int | None = None) -> None:
        self.context_length = context_length
        self.requests: list[SummaryRequest] = []
        self._more = list(inventions)
        self._numbers = itertools.count(7_000)

    def summarize(self, request: SummaryRequest) -> SummaryResult:
        self.requests.append(request)
        n = next(self._numbers)
        items = [
            ("Active Task", f"Migrate the ledger of shop {n} to Cassandra"),
            ("Goal", f"Replace the whole scheduler with phantom_engine_{n}"),
            ("Constraints & Preferences", f"The user insists on Haskell for module ghost_{n}"),
            ("Completed Actions", f"Wrote src/phantom/ghost_{n}.rs and closed GHOST-{n}"),
            ("Completed Actions", "All tests pass"),
            ("Key Decisions", f"The user said “drop table ghosts_{n} tonight”, which was agreed"),
            ("Pending User Asks", f"User asked for a dark mode of the zebra page {n}"),
            ("Relevant Files", f"src/phantom/ghost_{n}.rs — rewritten"),
            ("Remaining Work", f"Deploy phantom-{n} to production"),
            ("Critical Context", f"The timeout was raised to {n} ms, deploy key id ghost-{n}-key"),
            *self._more,
        ]
        titles = dict.fromkeys(title for title, _ in items)
        return SummaryResult(
            "\n\n".join(
                f"## {title}\n" + "\n".join(f"- {text}" for where, text in items if where == title) for title in titles
            )
        )


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
