"""What every pass of `lcm` keeps to, whatever came in: valid, smaller, inside the budget, all originals at hand."""

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties import strategies as given_by
from tests.properties import validator
from tests.properties.validator import Message

from abridged.engines.lcm import LosslessEngine
from abridged.phases.repair import repair
from abridged.summary.template import own_words
from abridged.testing import EchoSummarizer, FailingSummarizer, HallucinatingSummarizer

PROFILE = settings(max_examples=100, deadline=None, derandomize=True)
WINDOWS = st.sampled_from([2_000, 4_000, 16_000])


def passed(engine: LosslessEngine, messages: list[Any]) -> list[Message]:
    """One pass, checked."""
    before = copy.deepcopy(messages)
    result = engine.compress(messages)
    assert messages == before, "the input was changed"
    paired = repair(messages).messages
    validator.check_pairs(result)
    if not engine.report.compressed:
        assert engine.report.reason
        assert result == paired
        return result
    assert engine.estimate(result) < engine.estimate(paired)
    assert engine.report.tokens_after == engine.estimate(result)
    assert len(validator.summary_places(result)) <= 1
    if "externalised" not in json.dumps(result):
        validator.check_request(result, paired)
    return result


@PROFILE
@given(given_by.tidy_conversations(), WINDOWS)
def test_a_tidy_conversation_stays_one(messages: list[Message], window: int) -> None:
    engine = LosslessEngine(window, minimum_context_length=0)
    result = passed(engine, messages)
    if engine.report.compressed and validator.summary_places(result):
        paired = repair(messages).messages
        validator.check_shape(result, paired, may_touch=int(engine.report.anchored_user))
        validator.check_prefix(result, paired)
    fits = engine.report.compressed and not engine.report.reason
    assert engine.estimate(result) <= engine.budget.usable_tokens or not fits


@PROFILE
@given(given_by.wild_conversations(), WINDOWS)
def test_anything_becomes_valid_and_smaller_or_stays(messages: list[Any], window: int) -> None:
    passed(LosslessEngine(window, minimum_context_length=0), messages)


@PROFILE
@given(given_by.wild_conversations(), st.sampled_from([EchoSummarizer, FailingSummarizer, HallucinatingSummarizer]))
def test_whoever_writes(messages: list[Any], writer: Any) -> None:
    passed(LosslessEngine(4_000, minimum_context_length=0, summarizer=writer()), messages)


@PROFILE
@given(given_by.wild_conversations(), given_by.wild_conversations())
def test_what_was_said_is_at_hand_after_every_pass(first: list[Any], second: list[Any]) -> None:
    engine = LosslessEngine(2_000, minimum_context_length=0)
    messages = passed(engine, first)
    passed(engine, [*messages, *second])
    nodes = engine._nodes  # pyright: ignore
    assert nodes is not None
    said = [json.dumps(message, default=str) for message in nodes.archive.transcript(nodes.session)]
    for given_list in (first, second):
        for message in given_list[validator_front(given_list) :]:
            own = own_words(message) if isinstance(message, dict) else None
            if own is not None and own.get("role") not in ("system", "developer"):
                assert any(_same(json.loads(one), own) for one in said), own
    assert nodes.faults() == []


def validator_front(messages: list[Any]) -> int:
    return next((n for n, one in enumerate(messages) if not validator.is_system(one)), len(messages))


def _same(one: Message, two: Message) -> bool:
    """Whether two say the same; blanks at the ends make no difference."""
    return validator.text_of(one.get("content")).strip() == validator.text_of(two.get("content")).strip()
