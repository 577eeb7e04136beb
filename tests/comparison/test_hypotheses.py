"""Telling hypotheses about the population apart: the gain, numbers of reports, and the largest contraction."""

from fractions import Fraction
from itertools import combinations
from math import exp, inf

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from scipy.stats import binom

import mechdesign as md
from mechdesign.comparison import largest_contraction, reports_to_tell
from mechdesign.utility import distinguishing_gain

KNOWN = md.L1Ball(["0.4", "0.3", "0.2", "0.1"])
FIRST, SECOND = ["0.4", "0.3", "0.2", "0.1"], ["0.1", "0.2", "0.3", "0.4"]


@given(seed=st.integers(0, 10**6), size=st.integers(2, 6), outputs=st.integers(1, 6))
def test_the_gain_is_the_total_variation_of_reports(seed, size, outputs):
    rng = np.random.default_rng(seed)
    K, P = rng.dirichlet(np.ones(outputs), size), rng.dirichlet(np.ones(size))
    P0, P1 = (rng.multinomial(100, P) / 100 for _ in range(2))
    value = distinguishing_gain(P0, P1, md.L1Ball(P.tolist())).value(K, P)
    assert value == pytest.approx(np.abs((P0 - P1) @ K).sum() / 2, abs=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize("epsilon", [0.5, 1, 2])
def test_under_local_differential_privacy_the_best_test_has_its_closed_form(epsilon):
    everybody = md.L1Ball(KNOWN.center, 2)
    found = md.design(md.DesignProblem(everybody, epsilon, distinguishing_gain(FIRST, SECOND, everybody)))
    factor = (exp(epsilon) - 1) / (exp(epsilon) + 1)
    assert found.value == pytest.approx(0.4 * factor, rel=1e-9)
    assert largest_contraction(everybody, epsilon).bound == pytest.approx(factor, rel=1e-9)


def test_what_is_told_is_at_most_the_contraction():
    rng = np.random.default_rng(1)
    ball = md.L1Ball(KNOWN.center, "0.1")
    most = largest_contraction(ball, "0.4")
    assert most.value == pytest.approx(most.bound, rel=1e-9)
    assert most.value < 1
    for _ in range(20):
        P0, P1 = rng.dirichlet(np.ones(4), 2).tolist()
        found = md.design(md.DesignProblem(ball, "0.4", distinguishing_gain(P0, P1, ball)))
        assert found.value <= most.bound * np.abs(np.subtract(P0, P1)).sum() / 2 + 1e-9


@pytest.mark.sampled
@pytest.mark.parametrize("epsilon", [0.2, 0.5, 0.6, 0.9, 1.3])
def test_with_a_known_prior_two_symbols_are_told_apart_for_sure_if_both_fit_into_sets_that_are_likely_enough(epsilon):
    """Reports S and its complement keep the promise if both have probability at least exp(-epsilon), and only then."""
    P = np.array([float(p) for p in KNOWN.center])
    sets = [list(S) for size in (1, 2, 3) for S in combinations(range(4), size)]
    for_sure = any(min(P[S].sum(), 1 - P[S].sum()) >= exp(-epsilon) for S in sets)
    found = largest_contraction(KNOWN, epsilon)
    assert (found.value > 1 - 1e-9) == for_sure
    assert found.value <= found.bound <= 1


@pytest.mark.parametrize(("p0", "p1"), [(0.5, 0.7), (0.1, 0.3), (0, 0.2), (0.01, 0.99)])
def test_numbers_of_reports_hold_by_the_exact_error_of_the_best_test(p0, p1):
    found = reports_to_tell(np.eye(2), [p0, 1 - p0], [p1, 1 - p1], 0.1)

    def errors(n):
        k = np.arange(n + 1)
        return np.minimum(binom.pmf(k, n, p0), binom.pmf(k, n, p1)).sum()

    assert errors(found.sufficient) <= 0.1
    assert found.necessary == 1 or errors(found.necessary - 1) > 0.1
    assert 1 <= found.necessary <= found.sufficient


def test_reports_that_tell_nothing_or_everything():
    assert reports_to_tell(np.ones((2, 1)), [0.9, 0.1], [0.1, 0.9], 0.1).sufficient == inf
    assert reports_to_tell(np.eye(2), [1, 0], [0, 1], 0.1).sufficient == 1


@pytest.mark.parametrize("apart", [1e-2, 1e-6, 1e-9, 1e-14, 1e-150])
def test_hypotheses_near_each_other_take_as_many_reports_as_in_many_digits(apart):
    """For p = 1/2 +- d the best exponent is 1/2, and the affinity is ``sqrt(1 - 4 d^2)``."""
    half, d, error = Fraction(1, 2), Fraction(str(apart)) / 2, "0.1"
    found = reports_to_tell(np.eye(2), [half + d, half - d], [half - d, half + d], 0.1)
    with mpmath.workdps(700):
        affinity = mpmath.sqrt(1 - 4 * mpmath.mpf(d.numerator) ** 2 / d.denominator**2)
        least = mpmath.log(1 - (1 - mpmath.mpf(error)) ** 2) / (2 * mpmath.log(affinity))
        most = mpmath.log(mpmath.mpf(error)) / mpmath.log(affinity)
        assert 0 <= found.necessary - least < max(1, 1e-15 * least)
        assert 0 <= found.sufficient - most < max(1.001, 1e-15 * most)


@given(seed=st.integers(0, 10**6), apart=st.sampled_from([1, 1e-3, 1e-8, 1e-12]))
def test_the_number_that_is_sufficient_is_by_the_best_exponent(seed, apart):
    rng = np.random.default_rng(seed)
    p0, towards = rng.dirichlet(np.ones(3), 2)
    p1 = [Fraction(a) + Fraction(apart) * (Fraction(b) - Fraction(a)) for a, b in zip(p0, towards, strict=True)]
    p0 = [Fraction(a) for a in p0]
    p1, p0 = ([p / sum(law) for p in law] for law in (p1, p0))
    found = reports_to_tell(np.eye(3), p0, p1, 0.1)
    with mpmath.workdps(60):
        logs = [[mpmath.log(mpmath.mpf(p.numerator) / p.denominator) for p in law] for law in (p0, p1)]
        exponents = [mpmath.mpf(k) / 200 for k in range(1, 200)]
        affinities = [sum(mpmath.exp(s * a + (1 - s) * b) for a, b in zip(*logs, strict=True)) for s in exponents]
        best = mpmath.log(mpmath.mpf("0.1")) / mpmath.log(min(affinities))
    assert found.sufficient <= best * (1 + 1e-9) + 1
    assert found.sufficient >= best * (1 - 1e-3)


def test_bad_hypotheses_are_refused():
    with raises("out-of-range", "probability 0 at the centre"):
        distinguishing_gain(["0.5", "0.5"], ["1", "0"], md.L1Ball(["1", "0"], "0.1"))
    with raises("wrong-size"):
        distinguishing_gain(["0.5", "0.5"], FIRST, KNOWN)
    with raises("out-of-range", "error is 1"):
        reports_to_tell(np.eye(2), [1, 0], [0, 1], 1)
    with raises("wrong-size"):
        reports_to_tell(np.eye(2), [1, 0, 0], [0, 1, 0], 0.5)
    with raises("not-probabilities"):
        reports_to_tell(np.full((2, 2), np.nan), [1, 0], [0, 1], 0.5)
    with raises("wrong-sum"):
        reports_to_tell([[1, 0], [1, 1]], [1, 0], [0, 1], 0.5)
    with raises("not-a-number", "error is None"):
        reports_to_tell(np.eye(2), [1, 0], [0, 1], None)
    with raises("wrong-type", "the second hypothesis is None"):
        reports_to_tell(np.eye(2), [1, 0], None, 0.5)


@pytest.mark.parametrize("given", [["0.5", "0.5"], None, KNOWN.center])
def test_what_is_not_a_set_is_refused(given):
    with raises("wrong-type", "give a set of priors"):
        distinguishing_gain(["0.5", "0.5"], ["0.4", "0.6"], given)
    with raises("wrong-type", "give a set of priors"):
        largest_contraction(given, 1)
