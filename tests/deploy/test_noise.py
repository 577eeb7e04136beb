"""Limits of frequencies among the records: moments, the ends of [0, 1], skewness, and coverage counted in full."""

from itertools import product

import numpy as np
import pytest
from matrices import mechanism_of, randomized_response
from numpy.testing import assert_allclose
from scipy.stats import binom, norm

from mechdesign.deploy.estimation import Estimation
from mechdesign.deploy.linear import LinearEstimator
from mechdesign.deploy.record_limits import Noise, exponential_limits, other_records

Z = norm.isf(0.025)


def functionals_at(matrix, theta):
    return LinearEstimator.efficient_at(matrix, np.eye(len(matrix)), theta @ matrix).functionals(np.eye(len(matrix)))


def noise_of(matrix, u, theta):
    """Noise where the other records have the frequencies theta."""
    return Noise.of(matrix, u, other_records(matrix, u, theta, np.zeros(len(theta)), np.full(len(theta), True)))


def constant(variance, third):
    """Noise that is the same for all records."""
    return Noise(np.array([[0.0], [variance], [third]]), np.array([[1.0], [variance], [third]]))


def limits_of(noise, estimate, reports, z=Z, *, bounded=False):
    lower, upper = noise.limits(np.array([estimate]), reports, np.array([z]), np.array([bounded]))
    return float(lower[0]), float(upper[0])


# Moments


def test_moments_are_those_of_all_pairs_of_record_and_output():
    rng = np.random.default_rng(3)
    matrix, theta = rng.dirichlet(np.ones(7), size=4), rng.dirichlet(np.ones(4))
    u = functionals_at(matrix, theta)
    noise = noise_of(matrix, u, theta)
    for i in range(4):
        for found, records in ((noise.own, [i]), (noise.others, [x for x in range(4) if x != i])):
            errors = {(x, y): u[y, i] - (x == i) for x, y in product(records, range(7))}
            weights = {(x, y): theta[x] * matrix[x, y] / theta[records].sum() for x, y in errors}
            assert_allclose(found[0][i], float(records == [i]), atol=1e-9)
            assert_allclose(found[1][i], sum(weights[k] * errors[k] ** 2 for k in errors), rtol=1e-8)
            assert_allclose(found[2][i], sum(weights[k] * errors[k] ** 3 for k in errors), rtol=1e-6, atol=1e-9)


def test_moments_of_many_frequencies_at_once_are_those_of_each():
    rng = np.random.default_rng(4)
    matrix, thetas = rng.dirichlet(np.ones(5), size=3), rng.dirichlet(np.ones(3), size=6)
    u = functionals_at(matrix, np.full(3, 1 / 3))
    reach, known = np.zeros(3), np.full(3, True)
    found = Noise.of(matrix, u, np.stack([other_records(matrix, u, theta, reach, known) for theta in thetas]))
    z, bounded = np.full(3, Z), np.full(3, True)
    lower, upper = found.limits(thetas, 50, z, bounded)
    for k, theta in enumerate(thetas):
        alone = noise_of(matrix, u, theta)
        assert_allclose(found.others[:, k], alone.others, rtol=1e-12)
        assert_allclose([lower[k], upper[k]], alone.limits(theta, 50, z, bounded), atol=1e-12)


def test_categories_of_equal_noise_count_as_one_however_numbers_are_rounded():
    """The first category is reported as it is. So the last three are too few together by as much as the second is."""
    matrix = np.block([[np.ones((1, 1)), np.zeros((1, 4))], [np.zeros((4, 1)), randomized_response(4, 3.0)]])
    theta, reach = np.array([0.4, 0.3, 0.1, 0.15, 0.05]), 0.02
    u = functionals_at(matrix, theta)
    error = reach * np.sqrt((matrix @ u**2 - (matrix @ u) ** 2)[:, 1].max())
    rng = np.random.default_rng(5)
    for _ in range(20):
        rounded = u * (1 + 1e-14 * rng.standard_normal(u.shape))
        shares = other_records(matrix, rounded, theta, np.full(5, reach), np.full(5, True))
        assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)
        assert_allclose(shares[1], np.array([0.4 - error, 0, *(1 + error / 0.3) * theta[2:]]) / 0.7, rtol=1e-9)


def test_a_category_that_is_reported_as_it_is_is_known():
    matrix = np.block([[np.ones((1, 1)), np.zeros((1, 2))], [np.zeros((2, 1)), randomized_response(2, 3.0)]])
    estimation = Estimation(mechanism_of(matrix), "maximum-likelihood", "records", 0.95)
    for n, known in product((7, 1000, 10**6), (1, 2, 3, 6)):
        interval = estimation.of_counts([known, (n - known) // 2, n - known - (n - known) // 2]).intervals[0]
        assert interval[0] <= known / n <= interval[1] <= interval[0] + 1e-11


def test_rounding_errors_are_not_noise_and_do_not_exclude_what_is_known():
    matrix = np.block([[np.ones((1, 1)), np.zeros((1, 2))], [np.zeros((2, 1)), randomized_response(2, 3.0)]])
    exact = np.linalg.inv(matrix)
    noise = noise_of(matrix, exact + 1e-16 * np.array([[0, 0, 0], [1, 0, 0], [-1, 0, 0]]), np.full(3, 1 / 3))
    assert noise.others[1:, 0].tolist() == noise.own[1:, 0].tolist() == [0, 0]
    assert (noise.own[1, 1:] > 0.1).all()
    lower, upper = limits_of(constant(0.0, 0.0), 0.409 + 1e-14, 1000)
    assert lower <= 0.409 <= upper <= lower + 1e-11


# The ends of [0, 1]


@pytest.mark.parametrize("bounded", [False, True])
def test_limits_hold_where_an_output_that_reveals_a_rare_category_was_not_seen(bounded):
    # Half of the records in the rare category are revealed; seven of them hide with probability 1/128.
    matrix = randomized_response(2, 1e12) @ np.array([[1.0, 0.0], [0.5, 0.5]])
    noise = noise_of(matrix, functionals_at(matrix, np.array([0.999, 0.001])), np.array([1.0, 1e-9]))
    _, upper = noise.limits(np.array([1.0, 0.0]), 1000, np.full(2, 2.5758), np.full(2, bounded))
    assert 6 / 1000 < upper[1] < 10 / 1000


@pytest.mark.parametrize("estimate", [-3.0, -1.0, 0.0, 0.5, 1.5, 1.8, 2.2, 3.0, 5.0])
def test_limits_at_an_end_are_those_of_feldman_and_cousins(estimate):
    """The limits are means at which all outcomes of greater likelihood ratio have probability 0.95, added on a grid."""
    reports, deviation = 10**6, 1e-3
    noise, outcomes = constant((deviation**2) * reports, 0.0), np.linspace(-12, 14, 26_001)
    lower, upper = limits_of(noise, estimate * deviation, reports, bounded=True)
    mirrored = limits_of(noise, 1 - estimate * deviation, reports, bounded=True)
    assert_allclose(mirrored, [1 - upper, 1 - lower], atol=1e-12)

    def ratio(outcome, mean):
        return norm.logpdf(outcome - mean) - norm.logpdf(outcome - np.maximum(outcome, 0))

    for limit in (lower, upper):
        mean = limit / deviation
        likelier = ratio(outcomes, mean) >= ratio(estimate, mean)
        held = norm.pdf(outcomes[likelier] - mean).sum() * (outcomes[1] - outcomes[0])
        if limit == 0:
            assert held <= 0.95 + 1e-3  # a mean at the end is held
        else:
            assert_allclose(held, 0.95, atol=1e-3)
    if estimate >= 4:
        assert_allclose([lower, upper], deviation * (estimate + np.array([-Z, Z])), rtol=1e-9)


def test_limits_without_ends_are_normal_ones_cut():
    noise = constant(1.0, 0.0)
    assert_allclose(limits_of(noise, 0.5, 100), [0.5 - Z / 10, 0.5 + Z / 10], rtol=1e-12)
    assert_allclose(limits_of(noise, 0.1, 100), [0, 0.1 + Z / 10], rtol=1e-12)
    assert_allclose(limits_of(noise, -0.3, 100), [0, 0], atol=1e-12)


def test_simultaneous_intervals_hold_the_single_ones_far_outside_of_the_simplex():
    estimation = Estimation(mechanism_of(randomized_response(3, 1.5)), "least-squares", "records", 0.95)
    found = estimation.of_counts([600, 400, 0])
    assert found.frequencies.min() < -1
    assert found.intervals[2, 1] > 0  # never a point
    assert (found.simultaneous_intervals[:, 0] <= found.intervals[:, 0]).all()
    assert (found.simultaneous_intervals[:, 1] >= found.intervals[:, 1]).all()


# Skewness


@pytest.mark.parametrize("sign", [-1, 1])
def test_the_skewness_moves_both_limits_as_cornish_and_fisher_say(sign):
    variance, third, reports, z = 0.5, sign * 0.4, 10**6, 3.0
    lower, upper = limits_of(constant(variance, third), 0.5, reports, z)
    deviation = np.sqrt(variance / reports)
    moved = third / variance**1.5 / np.sqrt(reports) * (z**2 - 1) / 6
    assert_allclose((np.array([lower, upper]) - 0.5) / deviation, np.array([-z, z]) - moved, atol=2e-6)


def test_the_variance_is_that_at_the_limit():
    noise = Noise(np.array([[0.0], [1.0], [0.0]]), np.array([[1.0], [4.0], [0.0]]))
    for limit in limits_of(noise, 0.3, 400):
        assert_allclose((limit - 0.3) ** 2, Z**2 * (1 + 3 * limit) / 400, rtol=1e-9)


def test_the_share_of_a_sum_that_is_not_a_category_is_where_it_lies_between_its_means():
    """The mean of u is 0.2 for the other records and 0.8 for its own, so a mean of 0.5 is that of half of them."""
    noise = Noise(others=np.array([[0.2], [1.0], [0.0]]), own=np.array([[0.8], [4.0], [0.0]]))
    limits = np.array(noise.limits(np.array([0.5]), 400, np.array([1.96]), np.array([False]))).ravel()
    part = (limits - 0.2) / 0.6
    variance = (1 - part) * 1.0 + part * 4.0
    assert_allclose(np.abs(limits - 0.5), 1.96 * np.sqrt(variance / 400), rtol=1e-9)


@pytest.mark.parametrize(("probability", "z"), [(0.02, 3.0), (0.05, 2.5)])
def test_a_skewed_sum_is_missed_about_equally_often_on_both_sides(probability, z):
    """The estimate errs by a share of successes; both ways of missing are counted over the binomial distribution."""
    reports = 400
    variance = probability * (1 - probability)
    noise = constant(variance, variance * (1 - 2 * probability))
    counts = np.arange(reports + 1)
    chances = binom.pmf(counts, reports, probability)
    lower, upper = noise.limits(0.5 + counts / reports - probability, reports, np.array([z]), np.array([False]))
    point = chances[(np.abs(lower - 0.5) < 1.5 / reports) | (np.abs(upper - 0.5) < 1.5 / reports)].max()
    for missed in (lower > 0.5, upper < 0.5):
        assert abs(chances[missed].sum() - norm.sf(z)) <= point
    plain = chances[counts / reports - probability > z * np.sqrt(variance / reports)].sum()
    assert plain > 1.2 * norm.sf(z)
    assert chances[lower > 0.5].sum() < plain


def test_errors_too_rare_to_happen_leave_the_truth_inside():
    # An event is expected 1/10,000 times, and did not happen: the estimate is lower by its expectation.
    probability, reports = 1e-7, 1000
    lower, upper = limits_of(constant(probability, probability), 0.5 - probability, reports)
    assert lower < 0.5 < upper


def test_limits_are_around_all_shares_that_are_kept():
    # Records of the category add little noise, others very much, so that the estimate says nothing about small shares.
    noise = Noise(np.array([[0.0], [4210.0], [115000.0]]), np.array([[1.0], [0.7], [30.0]]))
    assert limits_of(noise, 11.0, 100) == (0.0, 1.0)


# Coverage


def coverage_of(matrix, reports, records, confidence=0.95):
    """The probability that the interval of the second category holds its frequency, all samples counted."""
    estimation = Estimation(mechanism_of(matrix), "maximum-likelihood", "records", confidence)
    chances = np.convolve(
        binom.pmf(np.arange(records + 1), records, matrix[1, 1]),
        binom.pmf(np.arange(reports - records + 1), reports - records, matrix[0, 1]),
    )

    def first(too_high):
        """Return the least count of which the limits are too high."""
        low, high = 0, reports + 1
        while low < high:
            middle = (low + high) // 2
            limits = estimation.of_counts([reports - middle, middle]).intervals[1]
            low, high = (low, middle) if too_high(*limits) else (middle + 1, high)
        return low

    truth = records / reports
    return chances[first(lambda _, upper: upper >= truth) : first(lambda lower, _: lower > truth)].sum()


@pytest.mark.combined
@pytest.mark.parametrize("matrix", [[[0.75, 0.25], [0.25, 0.75]], [[0.97, 0.03], [0.5, 0.5]]])
@pytest.mark.parametrize("records", [0, 40])
def test_coverage_given_the_records_is_the_stated_one(matrix, records):
    # One count more or less on each side changes it by about 0.003 and 0.008 here.
    assert abs(coverage_of(np.array(matrix), 2000, records) - 0.95) <= 0.01


def limits_tilt_by_tilt(own, others, u, estimates, reports, z):
    """Return the limits that `exponential_limits` returns, each tilt summed over all outputs."""
    span, sides = np.ptp(u, axis=0), np.array([1.0, -1.0])[:, None]
    nearer, allowed = sides * estimates - 0.5 * span / reports, z**2 / (2 * reports)

    def limits(tilts):
        powers = np.expm1((sides * tilts / span)[..., None] * u.T)
        mine, rest = (np.log1p((law * powers).sum(axis=-1)) for law in (own, others))
        rise = sides * (mine - rest)
        return np.where(
            rise > 1e-13, (tilts / span * nearer - rest - allowed) / np.where(rise > 1e-13, rise, 1), -np.inf
        )

    coarse = np.geomspace(0.3 * np.sqrt(2 * allowed), np.full(allowed.shape, 30.0), 28)
    best = limits(coarse).argmax(axis=0)[None]
    ends = [np.take_along_axis(coarse, np.clip(best + step, 0, 27), axis=0)[0] for step in (-1, 1)]
    least, greatest = (others * u.T).sum(axis=-1), (own * u.T).sum(axis=-1)
    return least + sides * limits(np.geomspace(*ends, 20)).max(axis=0) * (greatest - least)


@pytest.mark.parametrize("reports", [3, 40, 5_000, 10**7])
@pytest.mark.parametrize("outputs", [2, 3, 20])
def test_series_of_moments_give_the_limits_of_all_outputs(outputs, reports):
    """Small tilts are summed by a series, great ones output by output: the limits are the same."""
    rng = np.random.default_rng(reports + outputs)
    u = rng.normal(size=(outputs, 6)) * 10.0 ** rng.uniform(-3, 3, size=6)
    laws = 0.9 * rng.dirichlet(np.ones(outputs), size=(2, 6)) + 0.1 / outputs
    means = np.sort(np.einsum("lkj,jk->lk", laws, u), axis=0)
    order = np.argsort(np.einsum("lkj,jk->lk", laws, u), axis=0)
    others, own = (np.take_along_axis(laws, order[[k]][..., None], axis=0)[0] for k in (0, 1))
    u, means = u - means[0], means - means[0]  # as where the frequency is estimated without bias
    estimates, z = rng.uniform(means[0], means[1]), rng.uniform(0.01, 6, size=(2, 6))
    found = np.array(exponential_limits(own, others, u, estimates, reports, z))
    wanted = limits_tilt_by_tilt(own, others, u, estimates, reports, z)
    assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(u).max())
