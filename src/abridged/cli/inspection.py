"""What stands in a conversation and what a compression would make of it: the same plain values for people and JSON.

Tokens are the estimate that decides a compression. Indexes count messages from 0; ranges include both ends.
"""

from collections import Counter as Tally
from collections import defaultdict
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Unpack

from abridged.budget import Budget, Settings, SettingsArguments
from abridged.cli.faults import Fault, find_faults
from abridged.cli.outlook import Outlook, look_ahead
from abridged.conversation.measure import message_tokens
from abridged.conversation.pairing import Pairing, pair
from abridged.conversation.roles import is_real_user, is_tool_result
from abridged.conversation.text import Message, content_text, one_line
from abridged.conversation.tokens import Counter, default_counter
from abridged.digests import DIGESTS
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
        outlook=look_ahead(messages, tokens, context_length, max_output_tokens, counter, settings),
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
