"""From a window to every size: the table of parameters, their ranges, and what is asked against what takes effect."""

from dataclasses import fields

import pytest

from abridged import ConfigError, ContextCompressor
from abridged.budget import MINIMUM_CONTEXT_LENGTH, Budget, Settings

# spec: C
DEFAULTS = {
    "threshold_percent": 0.50,
    "minimum_context_length": 64_000,
    "protect_first_n": 3,
    "protect_last_n": 20,
    "summary_target_ratio": 0.20,
    "tail_ceiling_ratio": 1.5,
    "min_summary_tokens": 2_000,
    "summary_ratio": 0.20,
    "summary_window_share": 0.05,
    "summary_tokens_ceiling": 12_000,
    "content_max": 6_000,
    "content_head": 4_000,
    "content_tail": 1_500,
    "arguments_max": 1_500,
    "arguments_head": 1_200,
    "prune_min_chars": 200,
    "prune_argument_chars": 200,
    "summary_failure_cooldown": 600,
    "transient_failure_cooldown": 60,
    "ineffective_percent": 10,
    "ineffective_limit": 2,
}

# spec: T1, T2: window, reserved output -> threshold. 64,000 and 65,536 are small windows too: a floor of 98-100 % of
# the window never fires.
THRESHOLDS = [
    (4_000, None, 3_400),
    (8_000, None, 6_800),
    (32_000, None, 27_200),
    (64_000, None, 54_400),
    (65_536, None, 55_705),
    (100_000, None, 64_000),
    (128_000, None, 64_000),
    (200_000, None, 100_000),
    (1_000_000, None, 500_000),
    (4_000, 1_000, 2_550),
    (8_000, 2_000, 5_100),
    (32_000, 8_000, 20_400),
    (64_000, 16_000, 40_800),
    (65_536, 4_096, 52_224),
    (128_000, 16_000, 64_000),
    (128_000, 64_000, 54_400),
    (128_000, 100_000, 23_800),
    (200_000, 64_000, 100_000),
    (200_000, 120_000, 68_000),
    (1_000_000, 128_000, 500_000),
]
WINDOWS = [4_000, 8_000, 32_000, 64_000, 65_536, 128_000, 200_000, 1_000_000]


def test_defaults_are_the_tables():
    # spec: C
    settings = Settings()
    assert {name: getattr(settings, name) for name in DEFAULTS} == DEFAULTS
    assert MINIMUM_CONTEXT_LENGTH == 64_000


@pytest.mark.parametrize(("window", "output", "threshold"), THRESHOLDS)
def test_threshold(window: int, output: int | None, threshold: int):
    # spec: T1, T2
    budget = Budget.derive(Settings(), window, output)
    assert budget.threshold_tokens == threshold
    assert budget.usable_tokens == window - (output or 0)
    assert budget.threshold_tokens < budget.usable_tokens
    assert ContextCompressor(window, max_output_tokens=output).threshold_tokens == threshold


def test_threshold_with_a_share_of_its_own():
    # spec: T1
    assert Budget.derive(Settings(threshold_percent=0.75), 200_000).threshold_tokens == 150_000
    assert Budget.derive(Settings(threshold_percent=0.10), 200_000).threshold_tokens == 64_000
    assert Budget.derive(Settings(threshold_percent=0.10, minimum_context_length=0), 200_000).threshold_tokens == 20_000
    assert Budget.derive(Settings(threshold_percent=1.0), 200_000).threshold_tokens == 190_000


def test_an_absolute_cap():
    # spec: T1, C
    budget = Budget.derive(Settings(threshold_ceiling=50_000), 128_000)
    assert budget.threshold_tokens == 50_000
    assert any("threshold_ceiling" in note for note in budget.notes)
    assert Budget.derive(Settings(threshold_ceiling=90_000), 128_000).notes == ()


@pytest.mark.parametrize("output", [63_000, 60_000])
def test_a_window_made_small_by_its_output_is_a_small_window(output: int):
    # spec: T2
    budget = Budget.derive(Settings(), 128_000, output)
    assert budget.threshold_tokens <= budget.usable_tokens * 0.85


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("share", [0.0, 0.25])
def test_tail_and_summary_follow_from_the_window(window: int, share: float):
    # spec: P2.2, P3.4
    budget = Budget.derive(Settings(), window, int(window * share))
    assert budget.tail_tokens == int(budget.threshold_tokens * 0.20)
    assert budget.tail_ceiling == int(budget.tail_tokens * 1.5)
    assert budget.max_summary_tokens == min(int(window * 0.05), 12_000)
    assert budget.tail_ceiling + budget.min_summary_tokens < budget.threshold_tokens


def test_the_sources_own_figures_for_128k():
    # spec: P2.2, P3.4
    budget = Budget.derive(Settings(), 128_000)
    assert (budget.tail_tokens, budget.tail_ceiling) == (12_800, 19_200)
    assert (budget.min_summary_tokens, budget.max_summary_tokens) == (2_000, 6_400)


@pytest.mark.parametrize(
    ("window", "content", "tokens"),
    [
        (128_000, 0, 2_000),
        (128_000, 9_999, 2_000),
        (128_000, 10_005, 2_001),
        (128_000, 30_000, 6_000),
        (128_000, 32_000, 6_400),
        (128_000, 10**6, 6_400),
        (200_000, 10**6, 10_000),
        (1_000_000, 10**6, 12_000),
        (32_000, 20_000, 2_000),  # the ceiling of a small window (1,600) is below the floor: the floor wins
    ],
)
def test_summary_budget(window: int, content: int, tokens: int):
    # spec: P3.4
    settings = Settings()
    assert Budget.derive(settings, window).summary_tokens(content, settings.summary_ratio) == tokens


def test_what_was_asked_and_what_takes_effect():
    # spec: C (the effective value is shown with the requested one and the reason)
    notes = Budget.derive(Settings(), 8_000).notes
    assert any("4000" in note and "6800" in note and "threshold" in note and "85 %" in note for note in notes)
    assert any("min_summary_tokens" in note and "2000" in note for note in notes)
    assert Budget.derive(Settings(), 128_000).notes == ()
    reserved = Budget.derive(Settings(), 128_000, 100_000).notes
    assert any("23800" in note for note in reserved)
    floor = Budget.derive(Settings(threshold_percent=0.10), 200_000).notes
    assert any("20000" in note and "64000" in note for note in floor)


OUT_OF_RANGE = [
    ("threshold_percent", 0),
    ("threshold_percent", 1.01),
    ("threshold_percent", float("nan")),
    ("threshold_percent", float("inf")),
    ("threshold_percent", "0.5"),
    ("threshold_percent", None),
    ("threshold_percent", True),
    ("threshold_ceiling", 0),
    ("summary_target_ratio", 0),
    ("summary_target_ratio", 1),
    ("tail_ceiling_ratio", 0.5),
    ("protect_first_n", -1),
    ("protect_last_n", 0),
    ("min_summary_tokens", 0),
    ("summary_ratio", 0),
    ("summary_ratio", 1),
    ("summary_window_share", 0.9),
    ("summary_tokens_ceiling", 0),
    ("content_head", 6_001),
    ("arguments_head", 1_501),
    ("content_max", -1),
    ("prune_min_chars", 0),
    ("prune_argument_chars", 0),
    ("tail_result_chars", 10),
    ("summary_failure_cooldown", -1),
    ("transient_failure_cooldown", -0.1),
    ("ineffective_percent", 101),
    ("ineffective_limit", 0),
    ("frequency_limit", 0),
    ("frequency_window", -1),
    ("minimum_context_length", -1),
]


@pytest.mark.parametrize(("name", "value"), OUT_OF_RANGE)
def test_out_of_range_names_parameter_value_and_range(name: str, value: object):
    # spec: C
    for make in (Settings, ContextCompressor):
        with pytest.raises(ConfigError) as caught:
            make(**{name: value})
        error = caught.value
        assert (error.parameter, error.allowed != "") == (name, True)
        assert error.value is value
        assert name in str(error)
        assert repr(value) in str(error)
        assert isinstance(error, ValueError)


def test_every_parameter_has_a_range_that_can_be_left():
    # spec: C
    names = {entry.name for entry in fields(Settings)}
    for name in names:
        with pytest.raises(ConfigError):
            Settings(**{name: -1})
    assert set(DEFAULTS) <= names


WHOLE = ["protect_first_n", "protect_last_n", "min_summary_tokens", "content_head", "prune_min_chars"]


@pytest.mark.parametrize("name", WHOLE)
def test_a_count_is_a_whole_number(name: str):
    # spec: C
    with pytest.raises(ConfigError):
        Settings(**{name: getattr(Settings(), name) + 0.5})


def test_infinity_is_no_count():
    # spec: C
    with pytest.raises(ConfigError):
        Settings(protect_last_n=float("inf"))  # type: ignore[arg-type]


@pytest.mark.parametrize("window", [0, -1])
def test_a_window_has_tokens(window: int):
    # spec: C
    with pytest.raises(ConfigError, match="context_length"):
        Budget.derive(Settings(), window)


@pytest.mark.parametrize("output", [-1, 8_000, 9_000])
def test_the_output_leaves_room_for_input(output: int):
    # spec: C, T2
    with pytest.raises(ConfigError, match="max_output_tokens"):
        Budget.derive(Settings(), 8_000, output)


def test_a_value_given_to_the_constructor_takes_effect():
    # spec: C
    engine = ContextCompressor(200_000, threshold_percent=0.8, summary_target_ratio=0.1, summary_tokens_ceiling=3_000)
    assert engine.threshold_tokens == 160_000
    assert engine.budget.tail_tokens == 16_000
    assert engine.budget.max_summary_tokens == 3_000
    with pytest.raises(TypeError):
        ContextCompressor(200_000, treshold_percent=0.8)  # type: ignore[call-arg]
