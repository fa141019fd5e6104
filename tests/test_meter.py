"""How full the window is, from reports and estimates."""

from abridged.meter import Meter


def test_before_any_report_the_estimate_stands():
    # spec: T5b
    assert Meter().tokens(5_000) == 5_000


def test_growth_since_the_report_is_added():
    # spec: T5b
    meter = Meter()
    meter.expect(10_000)
    meter.report(12_000)
    assert meter.tokens(10_000) == 12_000
    assert meter.tokens(11_000) == 12_000 + 1_200  # what was learned from the pair scales the growth


def test_a_report_without_a_known_request_is_not_added_to():
    # spec: T5b
    meter = Meter()
    meter.report(40_000)
    assert meter.tokens(38_000) == 40_000
    assert meter.tokens(45_000) == 45_000


def test_after_a_compression_the_old_report_is_of_the_past():
    # spec: T5b
    meter = Meter()
    meter.expect(10_000)
    meter.report(10_000)
    meter.expect(2_000, compressed=True)
    assert meter.tokens(2_000) == 2_000
    assert meter.due(1_000) == 1_250
    assert meter.report(2_100)
    assert meter.due(1_000) == 1_000
    assert not meter.report(2_200)
