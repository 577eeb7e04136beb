import numpy as np
import pytest
from matrices import circulant, mechanism_of, randomized_response, table
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal, norm

import mechdesign as md
from mechdesign.deploy.confidence_limits import error_of_one_group, errors_of_each

COUNTS = [500, 300, 200]


def error_of_each(correlations, size, error):
    return float(errors_of_each(correlations[None], size, error)[0])


def missed(correlations, each, draws=100_000):
    """The probability that one of several normal variables misses, by simulation."""
    rng = np.random.default_rng(1)
    z = multivariate_normal(cov=correlations, allow_singular=True).rvs(draws, random_state=rng)
    return (np.abs(z).max(axis=1) > norm.isf(each / 2)).mean()


def of_a_multinomial(p):
    root = np.sqrt(np.outer(p / (1 - p), p / (1 - p)))
    return np.where(np.eye(len(p)) > 0, 1.0, -root)


@pytest.mark.parametrize(
    "correlations",
    [
        of_a_multinomial(np.array([0.5, 0.3, 0.2])),
        of_a_multinomial(np.array([0.9, 0.05, 0.03, 0.02])),
        of_a_multinomial(np.full(16, 1 / 16)),
        0.6 * np.ones((5, 5)) + 0.4 * np.eye(5),
    ],
    ids=["three", "one dominant", "uniform", "alike"],
)
@pytest.mark.parametrize("error", [0.05, 0.3])
def test_the_bound_holds_and_is_no_worse_than_independence(correlations, error):
    size = len(correlations)
    each = error_of_each(correlations, size, error)
    assert error / size <= each <= error
    assert missed(correlations, each) <= error + 0.004  # three times the deviation of the simulation
    assert each >= -np.expm1(np.log1p(-error) / size) * (1 - 1e-9)


def test_a_multinomial_is_met_within_half_a_per_cent():
    for p in ([0.5, 0.5], [0.4, 0.35, 0.25], np.full(16, 1 / 16)):
        correlations = of_a_multinomial(np.array(p))
        assert missed(correlations, error_of_each(correlations, len(p), 0.05)) >= 0.045


def test_what_is_not_known_takes_a_full_share():
    assert error_of_each(np.zeros((0, 0)), 4, 0.05) == pytest.approx(0.0125)
    assert error_of_each(np.eye(1), 2, 0.05) == pytest.approx(0.025)
    assert error_of_each(np.zeros((0, 0)), 0, 0.05) == error_of_each(np.eye(1), 1, 0.05) == 0.05
    # For an error near 1 the tree takes all: no interval may miss more often than some interval.
    assert error_of_each(np.ones((3, 3)), 3, 0.9) == 0.9


def test_groups_share_the_error_as_independent_ones():
    assert (1 - error_of_one_group(0.05, 7)) ** 7 == pytest.approx(0.95, abs=1e-14)
    assert error_of_one_group(1e-12, 10) == pytest.approx(1e-13, rel=1e-6)


def test_two_categories_need_no_correction():
    found = md.estimate_frequencies({"y0": 600, "y1": 400}, mechanism_of(randomized_response(2, 3.0)))
    assert_allclose(found.simultaneous_intervals, found.intervals, atol=1e-9)
    assert found.family == 2


@pytest.mark.parametrize("of", ["population", "records"])
@pytest.mark.parametrize("matrix", [randomized_response(3, 4.0), circulant(3, 2), np.ones((3, 1))])
def test_simultaneous_intervals_hold_the_single_ones(matrix, of):
    counts = COUNTS[: matrix.shape[1]]
    found = md.estimate_frequencies(table(counts), mechanism_of(matrix), of=of)
    assert (found.simultaneous_intervals[:, 0] <= found.intervals[:, 0]).all()
    assert (found.simultaneous_intervals[:, 1] >= found.intervals[:, 1]).all()
    assert (found.simultaneous_intervals[:, 0] >= 0).all()
    if of == "population" and found.identifiable.all():
        half = np.ptp(found.simultaneous_intervals, axis=1) / np.ptp(found.intervals, axis=1)
        assert_allclose(half, norm.isf(0.05 / 6) / norm.isf(0.025), rtol=0.03)  # little less than Bonferroni's


def test_categories_that_cannot_be_told_apart_take_their_share():
    mechanism = mechanism_of(randomized_response(3, 8.0)[[0, 1, 2, 2]])
    found = md.estimate_frequencies(table([5000, 3000, 2000]), mechanism)
    # Two are known, and to the intervals of the other two Bonferroni's correction applies.
    half = np.ptp(found.simultaneous_intervals[:2], axis=1) / np.ptp(found.intervals[:2], axis=1)
    assert (half > norm.isf(0.05 / 7) / norm.isf(0.025)).all()
    assert (half < norm.isf(0.05 / 8) / norm.isf(0.025) + 0.01).all()


def test_what_is_known_exactly_takes_no_share():
    mechanism = mechanism_of(
        np.block([[np.ones((1, 1)), np.zeros((1, 2))], [np.zeros((2, 1)), randomized_response(2, 3)]])
    )
    found = md.estimate_frequencies(table(COUNTS), mechanism, of="records")
    # The first is counted, and the other two miss together: a single interval of 95 %.
    assert_allclose(found.simultaneous_intervals, found.intervals, atol=1e-6)
    assert_allclose(found.intervals[0], 0.5, atol=1e-6)


def test_all_groups_at_once():
    mechanism = mechanism_of(randomized_response(3, 4.0))
    reports = np.repeat([0, 1, 2], COUNTS).tolist()
    alone = md.estimate_frequencies(reports, mechanism)
    found = md.estimate_frequencies(reports * 2, mechanism, by=["a"] * 1000 + ["b"] * 1000)
    assert found.family == 6
    for _, estimate in found:
        assert_allclose(estimate.intervals, alone.intervals, atol=1e-12)
        assert (np.ptp(estimate.simultaneous_intervals, axis=1) > np.ptp(alone.simultaneous_intervals, axis=1)).all()
    ratio = np.ptp(found["a"].simultaneous_intervals, axis=1) / np.ptp(alone.intervals, axis=1)
    assert_allclose(ratio, norm.isf(0.05 / 12) / norm.isf(0.025), rtol=0.03)


@pytest.mark.parametrize("confidence", [5e-324, 1e-17, 0.3, 1 - 2**-53])
def test_every_confidence(confidence):
    mechanism = mechanism_of(randomized_response(3, 4.0))
    found = md.estimate_frequencies([0, 1, 2, 2], mechanism, by=["a", "b", "a", "b"], confidence=confidence)
    for _, estimate in found:
        assert np.isfinite(estimate.simultaneous_intervals).all()
        assert (estimate.simultaneous_intervals[:, 0] <= estimate.intervals[:, 0] + 1e-12).all()
