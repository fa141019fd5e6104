"""What every compression keeps to, whatever came in: the invariants of a conversation that an API accepts.

The tests with `wild_conversations` take anything that a log can hold; those with `tidy_conversations` ask for more,
because a careful host may.
"""

import copy
from itertools import takewhile
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.properties import strategies as given_by
from tests.properties import validator
from tests.properties.validator import Message

from abridged import ContextCompressor
from abridged.phases.repair import repair
from abridged.testing import EchoSummarizer, FailingSummarizer, HallucinatingSummarizer, ScriptedSummarizer

Options = dict[str, Any]


def compressed_and_checked(engine: ContextCompressor, messages: list[Any]) -> list[Message]:
    """Compress once; every single-pass invariant is checked on the way.

    What is compared with is the repaired input: an invalid input that cannot be made smaller comes back with stubs, and
    so with more tokens than it had; a valid one never grows.
    """
    before = copy.deepcopy(messages)
    result = engine.compress(messages)
    report = engine.report
    assert messages == before, "the input was changed"  # spec: P1.1
    paired = repair(messages).messages
    validator.check_pairs(paired)  # spec: P5.1, P5.2
    validator.check_pairs(result)  # spec: P5.3
    if not report.compressed:
        assert report.reason  # spec: F2b
        assert len(result) == len(paired)
        assert all(ours is theirs or ours == theirs for ours, theirs in zip(result, paired, strict=True))  # spec: P2.6
        return result
    assert engine.estimate(result) < engine.estimate(paired)  # spec: P3.10
    assert report.tokens_after == engine.estimate(result)  # spec: F2
    validator.check_request(result, paired)  # spec: P2.5
    validator.check_kept(result, paired)  # spec: P4.1
    if report.summary_writer == "nobody":  # pruning and cutting alone were enough, nothing was replaced
        assert len(result) == len(paired)
        assert not validator.summary_places(result)
    else:
        # The newest request may be set before a message of a host in the user's role: see the case below.
        validator.check_shape(result, paired, may_touch=int(report.anchored_user))  # spec: P4.2, P4.3, P4.3b
        validator.check_prefix(result, paired)  # spec: P4.1
    return result


@given(given_by.tidy_conversations(), given_by.settings_of_engines)
def test_a_tidy_conversation_stays_one(messages: list[Message], options: Options) -> None:
    compressed_and_checked(ContextCompressor(**options), messages)


@given(given_by.wild_conversations(), given_by.settings_of_engines)
def test_anything_becomes_valid_and_smaller_or_stays(messages: list[Any], options: Options) -> None:
    engine = ContextCompressor(**options)
    compressed_and_checked(engine, messages)
    event("compressed" if engine.report.compressed else engine.report.reason.partition(":")[0])


WRITERS = {
    "useless": lambda: ScriptedSummarizer(["## Goal\n- Keep fixing tickets.\n\n## Blocked\n- None."]),
    "lying": HallucinatingSummarizer,
    "repeating": EchoSummarizer,
    "narrow": lambda: EchoSummarizer(context_length=2_000),
    "without a network": lambda: FailingSummarizer("network"),
    "too slow": lambda: FailingSummarizer("timeout"),
}


@given(given_by.wild_conversations(), given_by.settings_of_engines, st.sampled_from(sorted(WRITERS)))
def test_whoever_writes_the_conversation_stays_valid(messages: list[Any], options: Options, writer: str) -> None:
    engine = ContextCompressor(**options, summarizer=WRITERS[writer]())
    compressed_and_checked(engine, messages)
    event(f"{writer}: {engine.report.summary_writer}")


def test_most_examples_are_compressed() -> None:
    """Otherwise the tests above would prove little."""
    seen: list[bool] = []

    @settings(max_examples=150, database=None, derandomize=True, deadline=None)
    @given(given_by.wild_conversations(), given_by.settings_of_engines)
    def count(messages: list[Any], options: Options) -> None:
        engine = ContextCompressor(**options)
        engine.compress(messages)
        seen.append(engine.report.compressed)

    count()
    assert sum(seen) > 0.6 * len(seen)


@given(
    given_by.wild_conversations(),
    st.lists(given_by.wild_additions, min_size=1, max_size=4),
    given_by.settings_of_engines,
    st.booleans(),
)
@settings(max_examples=settings.default.max_examples // 2 if settings.default else 150)
def test_every_further_pass_is_as_valid(
    messages: list[Any], additions: list[list[Any]], options: Options, restarted: bool
) -> None:
    """Two to five passes with new turns between; with `restarted` each by an engine that knows nothing (spec: P3.1)."""
    engine = ContextCompressor(**options)
    messages = compressed_and_checked(engine, messages)
    compacted = engine.report.summary_writer != "nobody"
    for added in additions:
        if restarted:
            engine = ContextCompressor(**options)
        before = [*messages, *added]
        messages = compressed_and_checked(engine, before)
        # A summary that the host brought in stays beside ours as long as nothing can be made smaller.
        stacked = len(validator.summary_places(before)) > 1 and not engine.report.compressed
        if compacted and not stacked and not validator.summary_places(added):
            assert len(validator.summary_places(messages)) == 1  # spec: P4.3b
            leading = list(takewhile(validator.is_system, before))
            assert messages[: len(leading)] == leading, "the noted system prompt changed"  # spec: T8
        compacted = compacted or engine.report.summary_writer != "nobody"


@given(given_by.wild_conversations(), given_by.settings_of_engines)
def test_a_second_pass_at_once_changes_nothing_that_matters(messages: list[Any], options: Options) -> None:
    """What was just compressed is still valid, and no larger, after another pass (spec: P4.3b)."""
    engine = ContextCompressor(**options)
    once = engine.compress(messages)
    tokens = engine.estimate(once)
    twice = compressed_and_checked(engine, once)
    assert engine.estimate(twice) <= tokens


@given(given_by.wild_conversations(), given_by.settings_of_engines)
def test_the_same_input_gives_the_same_output(messages: list[Any], options: Options) -> None:
    assert ContextCompressor(**options).compress(messages) == ContextCompressor(**options).compress(messages)


@given(given_by.wild_conversations())
def test_repair_is_idempotent_and_valid(messages: list[Any]) -> None:
    # spec: P5.1, P5.2, P5.2b, P5.3
    once = repair(messages)
    validator.check_pairs(once.messages)
    again = repair(once.messages)
    assert not again.changed
    assert all(ours is theirs for ours, theirs in zip(again.messages, once.messages, strict=True))


@given(given_by.tidy_conversations())
def test_repair_leaves_a_sound_conversation_alone(messages: list[Message]) -> None:
    # spec: P5.3
    assert not repair(messages).changed
