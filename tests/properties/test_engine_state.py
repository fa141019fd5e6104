"""An engine's state: a reset is a new engine, and every size follows from the window."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties import strategies as given_by

from abridged import ContextCompressor
from abridged.budget import Budget, Settings
from abridged.testing import FakeClock

Options = dict[str, Any]
usages = st.fixed_dictionaries(
    {"prompt_tokens": st.sampled_from([0, 900, 5_000, 90_000]), "completion_tokens": st.integers(0, 500)}
)


def observed(engine: ContextCompressor, messages: list[Any]) -> list[object]:
    """What a host can learn of an engine, asked the same way each time."""
    return [
        engine.get_status(),
        [engine.should_compress(tokens) for tokens in (0, 1_000, engine.threshold_tokens, engine.context_length)],
        engine.estimate(messages),
        engine.should_compress_preflight(messages),
        engine.compress(messages),
        engine.report.to_dict() | {"seconds": 0},
    ]


@given(
    given_by.wild_conversations(),
    given_by.wild_conversations(),
    given_by.settings_of_engines,
    st.lists(usages, max_size=3),
)
def test_after_a_reset_an_engine_is_as_new(
    used: list[Any], messages: list[Any], options: Options, reported: list[dict[str, Any]]
) -> None:
    # spec: E3, T4b
    engine = ContextCompressor(clock=FakeClock(), **options)
    for usage in reported:
        engine.should_compress_preflight(used)
        engine.update_from_response(usage)
        engine.compress(used)
    engine.on_session_reset()
    assert observed(engine, messages) == observed(ContextCompressor(clock=FakeClock(), **options), messages)


WINDOWS = (8_000, 32_000, 64_000, 65_536, 128_000, 1_000_000)


@pytest.mark.parametrize("window", WINDOWS)
@given(percent=st.floats(0.05, 1.0), output=st.one_of(st.none(), st.integers(0, 7_000)), start=st.sampled_from(WINDOWS))
def test_every_size_follows_from_the_window(window: int, percent: float, output: int | None, start: int) -> None:
    """Whichever model came before (spec: E3, T1, T2)."""
    engine = ContextCompressor(start, threshold_percent=percent, max_output_tokens=output)
    engine.update_model("another", window, max_output_tokens=output)
    budget = engine.budget
    assert budget == Budget.derive(Settings(threshold_percent=percent), window, output)
    assert engine.context_length == window == budget.context_length
    assert engine.threshold_tokens == budget.threshold_tokens
    assert 0 < budget.threshold_tokens < budget.usable_tokens <= window
    assert 0 < budget.tail_tokens <= budget.tail_ceiling < budget.threshold_tokens
    assert 0 < budget.summary_tokens(10**9, 0.2) <= max(budget.max_summary_tokens, budget.min_summary_tokens)
    assert budget.min_summary_tokens + budget.tail_ceiling < budget.threshold_tokens


@given(given_by.wild_conversations(), given_by.settings_of_engines)
def test_the_estimate_is_never_negative_and_adds_up(messages: list[Any], options: Options) -> None:
    # spec: T5
    engine = ContextCompressor(**options)
    whole = engine.estimate(messages)
    parts = [engine.estimate([message]) for message in messages]
    assert whole == sum(parts)
    assert all(part > 0 for part, message in zip(parts, messages, strict=True) if isinstance(message, dict))
