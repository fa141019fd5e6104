"""What stands in a conversation and what a compression would make of it: the same plain values for people and JSON.

Tokens are the estimate that decides a compression. The outlook is no model of the engine: it is the engine's own report
of a compression whose result is thrown away. Indexes count messages from 0; ranges include both ends.
"""

from collections import Counter as Tally
from collections import defaultdict
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Unpack

from abridged.budget import Budget, Settings, SettingsArguments
from abridged.cli.faults import Fault, find_faults
from abridged.conversation.measure import message_tokens
from abridged.conversation.pairing import Pairing, pair
from abridged.conversation.roles import is_real_user, is_tool_result, newest_user
from abridged.conversation.text import Message, content_text, one_line
from abridged.conversation.tokens import Counter, default_counter
from abridged.digests import DIGESTS
from abridged.engines.compressor import compress
from abridged.phases.repair import repair
from abridged.summary.template import find_summary

LARGEST = 10
"""How many of the largest results are listed."""
REQUEST_CHARS = 200


@dataclass(frozen=True, slots=True)
class RoleShare:
    """All messages of one role."""

    role: str
    messages: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Turn:
    """A user's message and all that follows it; number 0 is what stands before the first."""

    number: int
    first: int
    last: int
    groups: int
    """Assistant messages with calls, each with its results."""
    tokens: int
    request: str


@dataclass(frozen=True, slots=True)
class ToolGroup:
    """An assistant message with calls, and their results."""

    message: int
    tools: tuple[str, ...]
    results: tuple[int, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class ToolUse:
    """All calls of one tool; the tokens are those of its results."""

    tool: str
    calls: int
    tokens: int


@dataclass(frozen=True, slots=True)
class ResultSize:
    """One tool result."""

    message: int
    call: int | None
    """Index of the message whose call it answers."""
    tokens: int
    characters: int
    digest: str
    """The line that stands for it once it is pruned."""


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Results with the same content."""

    newest: int
    older: tuple[int, ...]
    tokens_wasted: int
    """Tokens of the older ones."""
    digest: str


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the conversation that a compression treats alike. The sizes are those before it."""

    name: str
    first: int
    last: int
    messages: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a compression of this conversation would do now."""

    segments: tuple[Segment, ...]
    compressed: bool
    reason: str
    """Why not, where it would do nothing."""
    messages_after: int
    tokens_after: int
    summary_tokens: int


@dataclass(frozen=True, slots=True)
class Inspection:
    """Everything that `abridged inspect` knows about a conversation."""

    messages: int
    tokens: int
    context_length: int
    threshold_tokens: int
    notes: tuple[str, ...]
    """Why the threshold is not the share of the window that was asked for."""
    roles: tuple[RoleShare, ...]
    turns: tuple[Turn, ...]
    groups: tuple[ToolGroup, ...]
    tools: tuple[ToolUse, ...]
    largest_results: tuple[ResultSize, ...]
    duplicates: tuple[Duplicate, ...]
    summaries: tuple[int, ...]
    """Messages that carry the summary of an earlier compression."""
    faults: tuple[Fault, ...]
    outlook: Outlook

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return asdict(self)


def inspect_conversation(
    messages: list[Message],
    context_length: int = 128_000,
    *,
    max_output_tokens: int | None = None,
    counter: Counter | None = None,
    **settings: Unpack[SettingsArguments],
) -> Inspection:
    """Look at `messages` as a compression with these settings would. Raises `ConfigError`."""
    chosen = Settings(**settings)
    budget = Budget.derive(chosen, context_length, max_output_tokens)
    counter = counter or default_counter()
    tokens = [message_tokens(message, counter) for message in messages]
    pairing = pair(messages)
    turns = _turns(messages, pairing, tokens)
    return Inspection(
        messages=len(messages),
        tokens=sum(tokens),
        context_length=context_length,
        threshold_tokens=budget.threshold_tokens,
        notes=budget.notes,
        roles=_roles(messages, tokens),
        turns=turns,
        groups=_groups(pairing, tokens),
        tools=_tools(pairing, tokens),
        largest_results=_largest_results(messages, pairing, tokens),
        duplicates=_duplicates(messages, pairing, tokens, chosen.prune_min_chars),
        summaries=tuple(index for index, message in enumerate(messages) if find_summary(message)),
        faults=tuple(find_faults(messages)),
        outlook=_outlook(messages, tokens, context_length, max_output_tokens, counter, settings),
    )


def _roles(messages: list[Message], tokens: list[int]) -> tuple[RoleShare, ...]:
    names = [str(message.get("role", "(none)")) for message in messages]
    counts, weights = Tally(names), Tally[str]()
    for name, weight in zip(names, tokens, strict=True):
        weights[name] += weight
    return tuple(RoleShare(name, counts[name], weight) for name, weight in weights.most_common())


def _turns(messages: list[Message], pairing: Pairing, tokens: list[int]) -> tuple[Turn, ...]:
    starts = [index for index, message in enumerate(messages) if is_real_user(message)]
    edges = [0, *starts, len(messages)]
    return tuple(
        Turn(
            number,
            first,
            end - 1,
            sum(first <= index < end for index in pairing.calls),
            sum(tokens[first:end]),
            one_line(content_text(messages[first].get("content")), REQUEST_CHARS) if number else "",
        )
        for number, (first, end) in enumerate(pairwise(edges))
        if end > first
    )


def _groups(pairing: Pairing, tokens: list[int]) -> tuple[ToolGroup, ...]:
    groups: list[ToolGroup] = []
    for index, calls in pairing.calls.items():
        keys = [(index, call.position) for call in calls]
        results = tuple(pairing.result_of[key] for key in keys if key in pairing.result_of)
        weight = tokens[index] + sum(tokens[result] for result in results)
        groups.append(ToolGroup(index, tuple(call.name for call in calls), results, weight))
    return tuple(groups)


def _tools(pairing: Pairing, tokens: list[int]) -> tuple[ToolUse, ...]:
    calls, weights = Tally[str](), Tally[str]()
    for index, made in pairing.calls.items():
        for call in made:
            name = call.name or "(none)"
            calls[name] += 1
            result = pairing.result_of.get((index, call.position))
            weights[name] += tokens[result] if result is not None else 0
    return tuple(ToolUse(name, calls[name], weight) for name, weight in weights.most_common())


def _digest(messages: list[Message], pairing: Pairing, index: int) -> str:
    message, call = messages[index], pairing.call(index)
    name = call.name if call else str(message.get("name") or "")
    return DIGESTS.digest(name, call.parsed() if call else None, content_text(message.get("content")))


def _largest_results(messages: list[Message], pairing: Pairing, tokens: list[int]) -> tuple[ResultSize, ...]:
    results = (index for index, message in enumerate(messages) if is_tool_result(message))
    largest = sorted(results, key=lambda index: -tokens[index])[:LARGEST]
    return tuple(
        ResultSize(
            index,
            pairing.call_of[index][0] if index in pairing.call_of else None,
            tokens[index],
            len(content_text(messages[index].get("content"))),
            _digest(messages, pairing, index),
        )
        for index in largest
    )


def _duplicates(messages: list[Message], pairing: Pairing, tokens: list[int], min_chars: int) -> tuple[Duplicate, ...]:
    """The results that pruning would leave once, by its own rule (spec: P1.2), the greatest waste first."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for index, message in enumerate(messages):
        content = message.get("content")
        if is_tool_result(message) and isinstance(content, str) and len(content) >= min_chars:
            places[content].append(index)
    found = (
        Duplicate(same[-1], tuple(same[:-1]), sum(tokens[i] for i in same[:-1]), _digest(messages, pairing, same[-1]))
        for same in places.values()
        if len(same) > 1
    )
    return tuple(sorted(found, key=lambda duplicate: -duplicate.tokens_wasted))


def _outlook(
    messages: list[Message],
    tokens: list[int],
    context_length: int,
    max_output_tokens: int | None,
    counter: Counter,
    settings: SettingsArguments,
) -> Outlook:
    """A compression for the sake of its report: it counts head and tail among what is no earlier summary."""
    _, report = compress(
        messages, context_length, force=True, max_output_tokens=max_output_tokens, counter=counter, **settings
    )
    sound = repair(messages)
    conversation: list[Message] = []
    sources: list[int] = []
    summaries: list[int] = []
    for message, source in zip(sound.messages, sound.sources, strict=True):
        summary = find_summary(message)
        if summary and summary.rest is None:
            summaries.append(source)
        else:
            conversation.append(message)
            sources.append(source)
    tail_start = len(conversation) - report.tail_messages
    anchor = newest_user(conversation) if report.anchored_user else None
    middle = [place for place in range(report.head_messages, tail_start) if place != anchor]
    parts = {
        "head": sources[: report.head_messages],
        "earlier summary": summaries,
        "middle": [sources[place] for place in middle],
        "newest request": [] if anchor is None else [sources[anchor]],
        "tail": sources[tail_start:],
    }
    return Outlook(
        tuple(segment for name, places in parts.items() if (segment := _segment(name, places, tokens))),
        report.compressed,
        report.reason,
        report.messages_after,
        report.tokens_after,
        report.summary_tokens,
    )


def _segment(name: str, places: list[int], tokens: list[int]) -> Segment | None:
    real = [place for place in places if place >= 0]  # a placeholder for a missing result came from nowhere
    if not real:
        return None
    return Segment(name, min(real), max(real), len(real), sum(tokens[place] for place in real))
