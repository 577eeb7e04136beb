"""New counters of the discrete correlated histogram: all releases of neighbours, enumerated.

Noise is in steps of 1/2. Of the counters that a user changes, shared ones are above 0 without the user too; new ones
are 0 without and 1 with, and show where their noise is above 2 tau.
"""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from tolerances import ALGEBRA

from mechdesign.histogram.discrete import ANALYSES, discrete_delta
from mechdesign.histogram.discrete_noise import correlation

GAUSSIAN = [(sigma, threshold) for sigma in (0.5, 0.9, 1.4) for threshold in (0, 1, 3, 6)]
EPSILONS = [0.0, 0.3, 1.0, 2.5, 5.0]


def discrete_gaussian(variance, most):
    x = np.arange(-most, most + 1)
    weights = np.exp(-(x**2) / (2 * variance))
    return dict(zip(x.tolist(), weights / weights.sum(), strict=True))


def releases(own, common, shared, new, threshold):
    """Probabilities of the noises of the shared counters: all, and those with which no new counter shows."""
    hidden = {c: sum(p for z, p in own.items() if c + z <= threshold) ** new for c in common}
    every, silent = {}, {}
    for c, noises in product(common, product(own, repeat=shared)):
        probability = common[c] * math.prod(own[z] for z in noises)
        x = tuple(c + z for z in noises)
        every[x] = every.get(x, 0) + probability
        silent[x] = silent.get(x, 0) + probability * hidden[c]
    return every, silent


def moved(probabilities, added):
    return {tuple(x + d for x, d in zip(key, added, strict=True)): p for key, p in probabilities.items()}


def excess(first, second, factor):
    return sum(max(0, p - factor * second.get(key, 0)) for key, p in first.items())


def deltas(own, common, added, new, threshold, factors):
    """For each factor both exact deltas (the user appears, vanishes), those of shared counters, P(a new one shows)."""
    every, silent = releases(own, common, len(added), new, threshold)
    later, later_silent = moved(every, added), moved(silent, added)
    shows = 1 - sum(silent.values())
    for factor in factors:
        exact = shows + excess(later_silent, every, factor), excess(every, later_silent, factor)
        yield exact, (excess(later, every, factor), excess(every, later, factor)), shows


def gaussian_noises(k, sigma, most):
    return discrete_gaussian(4 * sigma**2, most), discrete_gaussian(4 * sigma**2 / float(correlation(k)), most)


@pytest.mark.combined
@pytest.mark.parametrize(("sigma", "threshold"), GAUSSIAN)
@pytest.mark.parametrize(("added", "new"), [((2,), 1), ((2,), 2), ((0,), 1), ((2, 2), 1), ((2, 0), 1)])
def test_their_probability_is_added_without_a_factor(added, new, sigma, threshold):
    k = len(added) + new
    own, common = gaussian_noises(k, sigma, 24 if len(added) == 1 else 10)
    found = deltas(own, common, added, new, threshold, map(math.exp, EPSILONS))
    for epsilon, (exact, shared, shows) in zip(EPSILONS, found, strict=True):
        assert exact[0] <= shared[0] + shows + ALGEBRA
        assert exact[1] <= shared[1] + shows + ALGEBRA
        for analysis in ANALYSES:
            assert max(exact) <= discrete_delta(k, sigma, Fraction(threshold, 2), epsilon, analysis) + ALGEBRA


@pytest.mark.parametrize("new", [1, 2, 3])
def test_more_noise_on_the_shared_counters_makes_new_ones_likelier(new):
    own, common = gaussian_noises(2 + new, 0.7, 9)
    every, silent = releases(own, common, 2, new, 2)
    likely = {x: 1 - silent[x] / every[x] for x in every if max(map(abs, x)) <= 6}
    steps = [(x, (x[0] + 1, x[1])) for x in likely] + [(x, (x[0], x[1] + 1)) for x in likely]
    rises = [likely[after] - likely[before] for before, after in steps if after in likely]
    assert len(rises) == 2 * 13 * 12
    assert min(rises) >= -ALGEBRA
    assert max(rises) > 0.05


def test_without_log_concave_noise_the_sum_is_false():
    own = {-1: Fraction(3, 8), 2: Fraction(5, 8)}
    common = {-1: Fraction(9, 10), 0: Fraction(1, 10)}
    ((exact, shared, shows),) = deltas(own, common, (2,), 1, 1, [15])
    assert shows == Fraction(1, 16)
    assert exact[1] == shared[1] + Fraction(9, 16) * Fraction(5, 8)
    assert exact[1] > shared[1] + shows
    assert exact[1] <= shared[1] + 15 * shows
