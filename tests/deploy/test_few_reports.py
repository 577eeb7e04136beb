"""Intervals from few reports hold the truth as often as they say: every table of counts is added."""

from itertools import product

import numpy as np
import pytest
from matrices import mechanism_of

from benchmarks.few_reports import THREE, TWO, least_coverage
from mechdesign.deploy import confidence_limits
from mechdesign.deploy.estimation import TARGETS


def coverage(matrix, reports, of, confidence=0.95, random=20):
    return least_coverage(mechanism_of(matrix), reports, of, confidence, random)


@pytest.mark.combined
@pytest.mark.parametrize(
    ("name", "reports"), [("rare errors", 10), ("rare errors", 50), ("epsilon 4", 10), ("epsilon 4", 30)]
)
@pytest.mark.parametrize("of", TARGETS)
def test_the_lattice_of_counts_does_not_lower_the_coverage(name, reports, of):
    assert coverage(TWO[name], reports, of) >= 0.95


@pytest.mark.combined
@pytest.mark.parametrize(("name", "of"), list(product(TWO, TARGETS)))
def test_two_outputs(name, of):
    for reports, confidence in ((1, 0.95), (2, 0.95), (7, 0.999), (12, 0.95)):
        assert coverage(TWO[name], reports, of, confidence) >= confidence


@pytest.mark.combined
@pytest.mark.parametrize(("name", "of"), list(product(THREE, TARGETS)))
def test_three_outputs(name, of):
    for reports, confidence in ((1, 0.95), (5, 0.999), (8, 0.95)):
        assert coverage(THREE[name], reports, of, confidence, random=10) >= confidence


def test_without_half_a_report_the_population_is_missed_too_often(monkeypatch):
    monkeypatch.setattr(
        confidence_limits,
        "half_a_report_towards",
        lambda u, fractions, _: np.broadcast_to(fractions[..., None], u.shape),
    )
    monkeypatch.setattr(confidence_limits, "greatest_likely_mean", lambda seen, _: seen.top - seen.span)
    assert coverage(TWO["rare errors"], 10, "population") < 0.9


def test_moments_of_rare_errors_alone_miss_the_records_too_often(monkeypatch):
    nothing = np.array([[[2.0]], [[-2.0]]])
    monkeypatch.setattr(confidence_limits, "exponential_limits", lambda *_: nothing)
    assert coverage(TWO["rare errors"], 5, "records", 0.999) < 0.99


def test_noise_of_other_records_that_is_taken_for_too_small_misses_too_often(monkeypatch):
    known = confidence_limits.other_records
    monkeypatch.setattr(confidence_limits, "other_records", lambda *given: known(*given[:3], 0 * given[3], given[4]))
    assert coverage(THREE["unequal noise"], 12, "records", 0.999) < 0.99


@pytest.mark.slow
@pytest.mark.parametrize(("name", "of"), list(product(TWO, TARGETS)))
def test_two_outputs_and_up_to_200_reports(name, of):
    for reports in (*range(1, 41), 60, 84, 100, 148, 169, 176, 200):  # the least coverage is at 169 and 176
        assert coverage(TWO[name], reports, of) >= 0.95, reports


@pytest.mark.slow
@pytest.mark.parametrize(("name", "of"), list(product(THREE, TARGETS)))
def test_three_outputs_and_few_reports(name, of):
    for reports in (20, 30, 40):
        assert coverage(THREE[name], reports, of) >= 0.95, reports
