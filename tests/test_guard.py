"""When not to compress: weak runs and frequent runs stop the next one, and no stop lasts for ever."""

import json
import logging
from pathlib import Path

import pytest

from abridged import ContextCompressor
from abridged.budget import Settings
from abridged.guard import Guard

USABLE = 128_000
CASE = Path(__file__).parents[2] / "shared/field/cases/11-anti-thrash-expires-and-has-frequency.json"


class Clock:
    """A clock that stands until it is told to go."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def guard(**settings: float) -> tuple[Guard, Clock]:
    clock = Clock()
    return Guard(Settings(**settings), clock), clock  # type: ignore[arg-type]


def weak(guard: Guard, times: int = 1, tokens: int = 70_000) -> None:
    for _ in range(times):
        guard.record(tokens, int(tokens * 0.95), forced=False)


def allowed(guard: Guard, tokens: int = 70_000) -> bool:
    return guard.judge(tokens, USABLE).allowed


def test_two_weak_runs_in_a_row_stop_the_third():
    # spec: T4
    subject, _ = guard()
    assert allowed(subject)
    weak(subject)
    assert allowed(subject)
    weak(subject)
    assert not allowed(subject)


def test_the_warning_suggests_a_new_session(caplog: pytest.LogCaptureFixture):
    # spec: T4
    subject, _ = guard()
    weak(subject, 2)
    with caplog.at_level(logging.WARNING):
        verdict = subject.judge(70_000, USABLE)
        subject.judge(70_000, USABLE)
    assert "/new" in verdict.reason
    assert [record.levelname for record in caplog.records] == ["WARNING"]  # once, not per turn
    assert "/new" in caplog.text


@pytest.mark.parametrize(("after", "effective"), [(63_000, True), (63_001, False), (70_000, False), (80_000, False)])
def test_ten_per_cent_is_effective(after: int, effective: bool):
    # spec: T4
    subject, _ = guard()
    weak(subject)
    subject.record(70_000, after, forced=False)
    assert allowed(subject) is effective
    assert subject.ineffective == (0 if effective else 2)


def test_an_effective_run_resets_the_count():
    # spec: T4
    subject, _ = guard()
    weak(subject)
    subject.record(70_000, 30_000, forced=False)
    weak(subject)
    assert allowed(subject)


def test_forced_runs_neither_count_nor_reset():
    # spec: T4, T4b
    subject, _ = guard()
    for _ in range(20):
        subject.record(70_000, 70_000, forced=True)
    assert allowed(subject)
    weak(subject, 2)
    subject.record(70_000, 10_000, forced=True)
    assert not allowed(subject)


def test_a_stop_ends_by_the_clock():
    # spec: T4b
    subject, clock = guard(ineffective_expiry=600)
    weak(subject, 2)
    clock.now += 599
    assert not allowed(subject)
    clock.now += 1
    assert allowed(subject)


def test_a_stop_ends_by_growth():
    # spec: T4b
    subject, _ = guard(ineffective_growth=0.2)
    weak(subject, 2, tokens=70_000)
    assert not allowed(subject, 84_000)
    assert allowed(subject, 84_001)


def test_no_stop_holds_when_the_window_is_nearly_full():
    # spec: T4b
    subject, _ = guard()
    weak(subject, 2, tokens=118_000)
    assert allowed(subject, 120_000)


def test_frequency_stops_effective_runs_too():
    # spec: T4b
    subject, clock = guard(frequency_limit=6, frequency_window=600)
    for _ in range(6):
        assert allowed(subject)
        subject.record(70_000, 30_000, forced=False)
        clock.now += 50
    verdict = subject.judge(70_000, USABLE)
    assert not verdict.allowed
    assert "/new" in verdict.reason
    clock.now += 300  # the first of the six is 600 seconds old
    assert allowed(subject)


def test_the_providers_count_decides():
    # spec: T4b
    subject, _ = guard()
    weak(subject, 2)
    subject.correct(70_000, 30_000)
    assert subject.ineffective == 0
    assert allowed(subject)
    subject.record(70_000, 30_000, forced=False)
    subject.correct(70_000, 69_000)
    assert subject.ineffective == 1


def test_a_run_that_the_provider_calls_weak_is_the_second_weak_one():
    # spec: T4, T4b: estimated effective, reported weak, twice in a row
    subject, _ = guard()
    weak(subject)
    subject.record(70_000, 30_000, forced=False)
    subject.correct(70_000, 69_000)
    assert not allowed(subject)


def test_a_forced_run_is_not_corrected():
    # spec: T4b
    subject, _ = guard()
    weak(subject)
    subject.record(70_000, 69_000, forced=True)
    subject.correct(70_000, 69_000)
    assert subject.ineffective == 1


def test_one_correction_for_each_run():
    # spec: T4b
    subject, _ = guard()
    subject.record(70_000, 30_000, forced=False)
    for _ in range(3):
        subject.correct(70_000, 69_000)
    assert subject.ineffective == 1


def test_new_clears_everything():
    # spec: T4b
    subject, _ = guard(frequency_limit=2)
    weak(subject, 2)
    assert not allowed(subject)
    subject.reset()
    assert subject.ineffective == 0
    assert allowed(subject)


def test_limits_are_settings():
    # spec: C, T4
    subject, _ = guard(ineffective_limit=1, ineffective_percent=50)
    subject.record(70_000, 40_000, forced=False)
    assert not allowed(subject)


def test_the_story_of_the_field_case():
    # spec: T4, T4b
    if not CASE.exists():
        pytest.skip("the field cases are not beside this checkout")
    config = json.loads(CASE.read_text(encoding="utf-8"))["config"]
    clock = Clock()
    start = clock.now
    engine = ContextCompressor(
        config["context_length"], threshold_percent=config["threshold_percent"], minimum_context_length=0, clock=clock
    )
    subject = Guard(engine.settings, clock)
    blocked = 0
    for event in config["events"]:
        for turn in range(event.get("repeat", 1)):
            clock.now = start + event["t"] + turn * event.get("every_seconds", 0)
            tokens = event.get("prompt_tokens", 0)
            if event["do"] == "auto":
                verdict = subject.judge(tokens, engine.budget.usable_tokens)
                if "saved_percent" not in event:
                    assert verdict.allowed is event["want"].startswith("allowed"), event
                elif verdict.allowed:
                    subject.record(tokens, int(tokens * (1 - event["saved_percent"] / 100)), forced=False)
                blocked += "repeat" in event and not verdict.allowed
            elif event["do"] == "manual":
                before = subject.ineffective
                subject.record(tokens, tokens, forced=True)
                assert subject.ineffective == before
            elif event["do"] == "/new":
                subject.reset()
                assert subject.ineffective == 0
    assert blocked >= 1  # twelve effective runs in ten minutes are noticed
