"""Telling hypotheses about the population apart: the gain, numbers of reports, and the largest contraction."""

from itertools import combinations
from math import exp, inf

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


@pytest.mark.parametrize("epsilon", [0.2, 0.5, 0.6, 0.9, 1.3])
def test_with_a_known_prior_two_symbols_are_told_apart_for_sure_if_both_fit_into_sets_that_are_likely_enough(epsilon):
    """Reports S and its complement keep the promise if both have probability at least exp(-epsilon), and only then."""
    P = np.array([float(p) for p in KNOWN.center])
    sets = [list(S) for size in (1, 2, 3) for S in combinations(range(4), size)]
    for_sure = any(min(P[S].sum(), 1 - P[S].sum()) >= exp(-epsilon) for S in sets)
    assert (largest_contraction(KNOWN, epsilon).value > 1 - 1e-9) == for_sure


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


def test_bad_hypotheses_are_refused():
    with raises("out-of-range", "probability 0 at the centre"):
        distinguishing_gain(["0.5", "0.5"], ["1", "0"], md.L1Ball(["1", "0"], "0.1"))
    with raises("wrong-size"):
        distinguishing_gain(["0.5", "0.5"], FIRST, KNOWN)
    with raises("out-of-range", "error is 1"):
        reports_to_tell(np.eye(2), [1, 0], [0, 1], 1)
    with raises("wrong-size"):
        reports_to_tell(np.eye(2), [1, 0, 0], [0, 1, 0], 0.5)
