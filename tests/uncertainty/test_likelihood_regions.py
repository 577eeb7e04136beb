"""Why likelihood regions are no sets here: the limits of all events are sharper than any that is proved to hold.

A likelihood region is ``{ Q : KL(p || Q) <= r }`` around the frequencies p of m samples. The sharpest bound known to us
of the probability that the true prior lies outside is ``(e m r / k)^k exp(-m r)`` for ``k = N - 1 <= m r`` (Agrawal,
2020).
"""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import brentq

import mechdesign as md
from mechdesign.uncertainty import EventSet
from mechdesign.uncertainty.binomial_limits import event_level, lower_limit


def proved_radius(size, samples, delta):
    """The radius r at which Agrawal's bound is delta."""
    k = size - 1
    return brentq(lambda x: k * math.log(math.e * x / k) - x - math.log(delta), k, 1e6, xtol=1e-13) / samples


def least_probability(p, radius):
    """The least q with ``KL(p || q) <= radius`` of two values: that of an event over a likelihood region."""

    def excess(q):
        rest = 0.0 if p == 1 else (1 - p) * math.log((1 - p) / (1 - q))
        return p * math.log(p / q) + rest - radius

    return brentq(excess, 1e-300, p, xtol=1e-16, rtol=1e-14)


@pytest.mark.parametrize("delta", [0.3, 0.05, 1e-3, 1e-9, 1e-30])
def test_the_exponent_of_a_region_is_above_that_of_all_events(delta):
    # k (1 + log(x / k)) >= k is at least log(2^(k + 1) - 2), for x >= k.
    for size in (*range(2, 40), 100, 1000):
        exponent = proved_radius(size, 1, delta)
        assert exponent - math.log(1 / delta) >= math.log(2) + math.log1p(-(2.0 ** (1 - size))) + (size - 1) * math.log(
            2
        )


@pytest.mark.parametrize(("size", "samples"), [(2, 40), (3, 180), (5, 1000), (16, 48_842)])
@pytest.mark.parametrize("delta", ["1e-3", "1e-9"])
def test_the_limit_of_every_event_is_above_that_of_a_region(size, samples, delta):
    radius, level = proved_radius(size, samples, float(delta)), event_level(Fraction(delta), size)
    for count in sorted({1, samples // 50 + 1, samples // 7, samples // 3, samples // 2, samples - 1, samples}):
        # Limits are multiples of 1e-15, rounded down.
        assert float(lower_limit(samples, count, level)) >= least_probability(count / samples, radius) - 1e-14


def members(counts, radius):
    """Members of a likelihood region, as rationals: the one of least probability of each event."""
    total = sum(counts)
    for chosen in product((False, True), repeat=len(counts)):
        if not 0 < sum(chosen) < len(counts):
            continue
        p = sum(count for count, held in zip(counts, chosen, strict=True) if held) / total
        q = Fraction(least_probability(p, radius * (1 - 1e-9))).limit_denominator(10**9)
        inside = sum(count for count, held in zip(counts, chosen, strict=True) if held)
        yield [
            Fraction(count, inside) * q if held else Fraction(count, total - inside) * (1 - q)
            for count, held in zip(counts, chosen, strict=True)
        ]


@pytest.mark.combined
@pytest.mark.parametrize("epsilon", ["0.5", "1", "2"])
@pytest.mark.parametrize(
    "counts", [(26, 14), (90, 60, 30), (812, 150, 38), pytest.param((300, 120, 60, 20), marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("utility", [md.MutualInformation(), md.HammingAccuracy()], ids=lambda u: u.name)
def test_designs_for_the_limits_of_events_are_at_least_as_good(counts, epsilon, utility):
    """A few members make a smaller set than the region, so that their certified bound is one for the region."""
    delta, total = "1e-9", sum(counts)
    region = list(members(counts, proved_radius(len(counts), total, float(delta))))
    for Q in region:
        terms = [c / total * math.log(c / total / q) for c, q in zip(counts, Q, strict=True)]
        assert math.fsum(terms) <= proved_radius(len(counts), total, float(delta))
    center = [Fraction(count, total) for count in counts]
    hull = md.ConvexHull([center, *region], [1, *np.zeros(len(region), dtype=int).tolist()])
    bound = md.design(md.DesignProblem(hull, epsilon, utility)).upper_bound
    labels = [f"x{i}" for i in range(len(counts))]
    known = EventSet.from_counts(dict(zip(labels, counts, strict=True)), delta=delta)
    assert md.design(md.DesignProblem(known, epsilon, utility)).value >= bound - 1e-9
