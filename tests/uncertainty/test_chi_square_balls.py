"""Why chi-square balls are no sets here, and regions of exact tests neither.

The balls are ``{ Q : sum (Q_i - p_i)^2 / d_i <= r }`` around the frequencies p of n samples, with d = p or d = Q.
A region of an exact test holds the priors under which the tables of counts that are as unlikely as the observed one
have a probability above delta.
"""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import gammaln, ndtri_exp
from scipy.stats import chi2
from tolerances import ALGEBRA

import mechdesign as md
from mechdesign.uncertainty import EventSet


@pytest.mark.parametrize(("samples", "delta"), [(1, "0.1"), (7, "0.01"), (40, "1e-6"), (48_842, "1e-9")])
def test_every_radius_for_all_priors_is_about_1_over_delta(samples, delta):
    delta = Fraction(delta)
    q = delta / samples * (1 + delta)  # a category of this probability is seen with more than delta
    assert samples * q - samples * (samples - 1) / Fraction(2) * q**2 > delta
    distance = (Fraction(1, samples) - q) ** 2 / (q * (1 - q))  # of one sample; of more it is greater
    assert samples * distance > 1 / delta - 4
    if samples == 48_842:
        p, r = 0.9, float(distance)  # the least q with (p - q)^2 <= r q (1 - q)
        least = (2 * p + r - math.sqrt((2 * p + r) ** 2 - 4 * (1 + r) * p * p)) / (2 * (1 + r))
        assert least == pytest.approx(3.96e-5, abs=1e-7)


def test_the_other_ball_has_no_radius_for_all_priors():
    # A category that was not seen has probability 0 in every ball, although it is unseen with more than delta.
    delta, samples = Fraction(1, 1000), 40
    q = Fraction(15, 100)
    assert (1 - q) ** samples > delta


@pytest.mark.parametrize(("delta", "last"), [(1e-3, 115), (1e-9, 426)])
def test_for_many_samples_limits_of_all_events_are_sharper(delta, last):
    for size in range(3, last + 20):
        log_level = math.log(delta) - size * math.log(2) - math.log1p(-(2.0 ** (1 - size)))
        assert (-ndtri_exp(log_level) < math.sqrt(chi2.isf(delta, size - 1))) == (size <= last)


def nearest_to_the_border(p, v, radius):
    """The least mean over the ball with Q in the denominators: ``Q_i`` in proportion to ``p_i / sqrt(v_i + c)``."""
    v = (np.asarray(v, float) - np.min(v)) / np.ptp(v)

    def prior(log_c):
        weights = p / np.sqrt(v + math.exp(log_c))
        return weights / weights.sum()

    return prior(brentq(lambda c: (p**2 / prior(c)).sum() - 1 - radius, -60, 60))


def exactly(priors):
    for prior in priors:
        found = [Fraction(round(float(q) * 10**9), 10**9) for q in prior]
        found[int(np.argmax(prior))] += 1 - sum(found)
        yield found


def most(counts, members, epsilon, utility):
    """A bound on all designs for a region that holds the members: a smaller set allows more."""
    center = [Fraction(count, sum(counts)) for count in counts]
    hull = md.ConvexHull([center, *exactly(members)], [1, *np.zeros(len(members), dtype=int).tolist()])
    return md.design(md.DesignProblem(hull, epsilon, utility)).upper_bound


def best_of_events(counts, delta, epsilon, utility):
    labels = [f"x{i}" for i in range(len(counts))]
    known = EventSet.from_counts(dict(zip(labels, counts, strict=True)), delta=delta)
    return md.design(md.DesignProblem(known, epsilon, utility)).value


@pytest.mark.sampled
@pytest.mark.parametrize(("epsilon", "expected"), [("1", 0.163339), ("2", 0.407681)])
def test_the_radius_of_infinitely_many_samples_gives_races_no_more(epsilon, expected):
    counts = (41_762, 4_685, 1_519, 470, 406)
    p = np.array(counts) / sum(counts)
    radius = chi2.isf(1e-9, 4) / sum(counts) * (1 - 1e-7)
    events = [event for event in product((0, 1), repeat=5) if 0 < sum(event) < 5]
    members = [nearest_to_the_border(p, event, radius) for event in events]
    assert all(((p - q) ** 2 / q).sum() <= radius * (1 + ALGEBRA) for q in members)
    bound = most(counts, members, epsilon, md.MutualInformation())
    assert bound == pytest.approx(expected, abs=1e-6)
    assert best_of_events(counts, "1e-9", epsilon, md.MutualInformation()) > bound


class ExactTest:
    """The test of a prior that orders tables of three counts by their probability."""

    def __init__(self, counts):
        n = sum(counts)
        self.counts = np.array(counts)
        self.tables = np.array([(a, b, n - a - b) for a in range(n + 1) for b in range(n + 1 - a)])
        self.ways = gammaln(n + 1) - gammaln(self.tables + 1).sum(axis=1)

    def level(self, prior):
        """Return the probability of all tables that are no likelier than the observed one."""
        logs = self.ways + self.tables @ np.log(prior)
        observed = gammaln(self.counts.sum() + 1) - gammaln(self.counts + 1).sum() + self.counts @ np.log(prior)
        return float(np.exp(logs[logs <= observed + 1e-12]).sum())

    def members(self, delta, directions):
        """Return priors near the border of the region, all within it."""
        p = self.counts / self.counts.sum()
        for angle in 2 * np.pi * np.arange(directions) / directions:
            z = np.sqrt(p) * (
                math.cos(angle) * np.array([1, -1, 0]) / 2**0.5 + math.sin(angle) * np.array([1, 1, -2]) / 6**0.5
            )
            z = z - p * z.sum()
            low, high = 0.0, (1 - 1e-9) * min(-p[z < 0] / z[z < 0])
            for _ in range(26):
                middle = (low + high) / 2
                low, high = (middle, high) if self.level(p + middle * z) > delta else (low, middle)
            yield p + low * z


@pytest.mark.parametrize(
    ("counts", "delta", "events", "region"),
    [
        ((26, 10, 4), "1e-3", 0.602247, 0.647447),
        pytest.param((90, 60, 30), "1e-9", 0.816946, 0.843196, marks=pytest.mark.slow),
    ],
)
def test_exact_tests_could_be_worth_more_for_few_samples(counts, delta, events, region):
    members = list(ExactTest(counts).members(float(delta), 48))
    assert best_of_events(counts, delta, "2", md.MutualInformation()) == pytest.approx(events, abs=1e-6)
    assert most(counts, members, "2", md.MutualInformation()) == pytest.approx(region, abs=1e-5)


def test_the_region_of_an_exact_test_holds_the_prior_as_often_as_it_says():
    prior, delta = np.array([0.5, 0.3, 0.2]), 0.05
    test = ExactTest((4, 3, 2))
    chances = np.exp(test.ways + test.tables @ np.log(prior))
    outside = sum(
        chance for table, chance in zip(test.tables, chances, strict=True) if ExactTest(table).level(prior) <= delta
    )
    assert 0 < outside <= delta
