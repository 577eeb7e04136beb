"""The least errors of all mechanisms: against eigenvalues, closed forms, other mechanisms and certified designs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mechdesign as md
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.optimize.estimation.caps import estimation_bound
from mechdesign.windows import bound
from mechdesign.windows.bound import error_bound, string_bounds
from tests.windows.worlds import COUNTS


def binned(P, epsilon="1"):
    return bound._Bins.of(P, bound._room(P, Epsilon.of(epsilon), None))  # what only this test may ask for


@given(st.integers(2, 12), st.integers(0, 10**6))
def test_the_root_of_the_trace_is_just_below_that_of_eigenvalues(size, seed):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(size, 0.5)) + 1e-6
    P = np.sort(P / P.sum())
    bins = binned(P)
    d = rng.uniform(0, 1, len(bins.number)) ** 3 + 1e-6
    T = np.eye(size) - np.outer(P, np.ones(size))
    values = np.linalg.eigvalsh((T * np.repeat(d, bins.number.astype(int))) @ T.T)
    root = np.sqrt(np.maximum(values[1:], 0)).sum()  # the least one, of the ones, is 0
    found, slope = bins._root(d, *bound._FINAL)
    assert root * (1 - 2e-7) < found <= root + 1e-12
    assert slope @ d == pytest.approx(found / 2, rel=1e-6)  # tr M^(1/2) has the degree 1/2 in d
    steps = 1e-5 * d
    for at in range(min(3, len(d))):
        moved = steps * (np.arange(len(d)) == at)
        change = bins._root(d + moved, *bound._FINAL)[0] - bins._root(d - moved, *bound._FINAL)[0]
        assert change / 2 / steps[at] == pytest.approx(slope[at], rel=1e-3, abs=1e-6 * found)


@pytest.mark.combined
@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
@pytest.mark.parametrize("size", [10, 60])
def test_it_is_the_bound_of_caps_that_eigenvalues_give(epsilon, size):
    P = 1 / np.arange(1, size + 1.0)
    P /= P.sum()
    wanted = estimation_bound(P, epsilon)
    assert wanted * (1 - 2e-5) < error_bound(P, Epsilon.of(epsilon)) < wanted * (1 + 1e-9)


@pytest.mark.parametrize("size", [2, 1000, 10**6])
def test_equal_shares_have_the_closed_form(size):
    found = error_bound(np.full(size, 1 / size), Epsilon.of("log(3/2)"))
    wanted = (size - 1) ** 2 / size / min(0.5, size - 1)
    assert wanted * (1 - 1e-6) < found <= wanted


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
def test_all_strings_together_cost_at_least_what_each_one_costs(epsilon):
    P = np.append(1 / np.arange(1, 20_001.0) ** 1.2, 0)
    P /= P.sum()
    assert error_bound(P, Epsilon.of(epsilon)) > string_bounds(P, Epsilon.of(epsilon)).sum()


def test_one_string_costs_nothing_and_a_cap_costs_more():
    assert error_bound(np.array([1.0]), Epsilon.of(1)) == 0
    P, epsilon = np.array([0.5, 0.3, 0.2]), Epsilon.of(1)
    assert error_bound(P, epsilon, Epsilon.of(2)) == pytest.approx(error_bound(P, epsilon) / (1 - np.exp(-2)), rel=1e-6)


@given(st.integers(2, 6), st.integers(2, 8), st.integers(0, 10**6))
def test_no_random_mechanism_beats_the_bounds(size, outputs, seed):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(size))
    K = rng.dirichlet(np.ones(outputs) * rng.choice([0.1, 1, 10]), size)
    epsilon = Epsilon.of(repr(float(np.ceil(md.epsilon_min(K, P) * 1e6) / 1e6 + 1e-6)))
    ratio = float((K.max(axis=0) / np.maximum(K.min(axis=0), 1e-300)).max())
    cap = None if ratio > 1e9 else Epsilon.of(repr(float(np.log(ratio)) + 1e-6))
    lifts = K / (P @ K)
    J = (lifts * (P @ K)) @ lifts.T
    if np.linalg.cond(J) > 1e9:
        return
    covariance = np.linalg.inv(J) - np.outer(P, P)
    assert np.trace(covariance) >= error_bound(P, epsilon, cap) * (1 - 1e-6)
    assert (np.diag(covariance) >= string_bounds(P, epsilon, cap) * (1 - 1e-6)).all()


@pytest.mark.slow
def test_the_certified_optimum_is_above_the_bound():
    P = np.array(list(COUNTS.values())) / sum(COUNTS.values())
    ball = md.L1Ball.from_counts(COUNTS, known=True)
    best = md.design(md.DesignProblem(ball, 1, md.EstimationError()))
    assert 0.98 * best.bound < error_bound(P, Epsilon.of(1)) <= best.value
