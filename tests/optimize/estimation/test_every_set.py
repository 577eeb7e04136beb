"""Quadratic forms over every set of symbols, against rational arithmetic and lists of rays."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import raises
from repetitions import examples
from scipy.optimize import nnls

import mechdesign as md
from mechdesign.comparison.rivals import Rivals
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.estimation import every_set
from mechdesign.optimize.estimation.every_set import EverySet
from mechdesign.optimize.estimation.listed import ListedForms
from mechdesign.optimize.estimation.solver import certify_error, error_tolerance, form_pricing
from mechdesign.optimize.rays import Rays


def greatest_in_rationals(prior, e, form, lam):
    """Return the greatest reduced cost of any set, for these floats as exact numbers but a prior of sum 1."""
    N = len(prior)
    theta = [[Fraction(x) for x in row] for row in form.dense().tolist()]
    values = []
    for mask in range(1 << N):
        v = [Fraction(e) if mask >> i & 1 else Fraction(1) for i in range(N)]
        mass = sum((p * x for p, x in zip(prior, v, strict=True)), Fraction(0))
        x = [entry / mass - 1 for entry in v]
        square = sum((x[i] * theta[i][j] * x[j] for i in range(N) for j in range(N)), Fraction(0))
        values.append(square - sum(Fraction(y) * (d + 1) for y, d in zip(lam, x, strict=True)))
    return max(values)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.integers(0, 10**9), min_size=1, max_size=6).filter(any),
    st.sampled_from([1 + 1e-9, 1.1, 2.7, 1e9]),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_prices_are_just_above_those_in_rationals(counts, e, separable, seed):
    rng = np.random.default_rng(seed)
    N = len(counts)
    prior = [Fraction(n, sum(counts)) for n in counts]
    A = rng.normal(size=(N, N)) * 10.0 ** rng.integers(-3, 4, (N, 1))
    form = QuadraticForm(A.diagonal(), float(A[0, 0])) if separable else QuadraticForm.of_matrix(A + A.T)
    lam = rng.normal(size=N)
    floats = np.array([float(p) for p in prior])
    price = EverySet(floats, e).price(form, lam)
    exact = greatest_in_rationals(prior, e, form, lam.tolist())
    assert Fraction(price.upper) >= exact
    most = 1 / floats.max() if e > 1 / floats.max() else e
    size = np.abs(form.dense()).sum() * max(most - 1, 1e9 * (e - 1)) ** 2 + np.abs(lam).sum() * max(most, e)
    assert price.upper - float(exact) <= 1e-12 * size
    assert price.columns == 2**N


@pytest.mark.parametrize("at_once", [1, 8, every_set._AT_ONCE])
def test_the_best_sets_are_those_of_a_list(monkeypatch, at_once):
    """However many sets are looked at together."""
    monkeypatch.setattr(every_set, "_AT_ONCE", at_once)
    rng = np.random.default_rng(0)
    rays = Rays(md.L1Ball.from_counts([5, 3, 2, 1, 1, 7, 4], radius=2), 2.7)
    columns = np.hstack(list(rays.of_kinds("D")))
    for _ in range(10):
        A, lam = rng.normal(size=(7, 7)), rng.normal(size=7)
        form = QuadraticForm.of_matrix(A + A.T)
        price = EverySet(rays.prior, 2.7).price(form, lam, 12)
        costs = np.sort(form.values(columns - 1) - lam @ columns)[::-1]
        found = form.values(price.best - 1) - lam @ price.best
        constant = -lam.sum()  # the empty set and all symbols, which a list leaves out
        np.testing.assert_allclose(found, np.sort(np.append(costs, [constant, constant]))[::-1][:12], rtol=1e-10)
        np.testing.assert_allclose(rays.prior @ price.best, 1, rtol=1e-12)
        listed = ListedForms(rays).price(form, lam).upper
        assert price.upper == pytest.approx(max(listed, constant), rel=1e-12)


def test_first_columns_form_a_mechanism_and_differ():
    columns = EverySet(np.array([0.6, 0.2, 0.1, 0.1]), 2.0).first()
    assert nnls(columns, np.ones(4))[1] < 1e-9
    assert np.unique(columns.round(9), axis=1).shape == columns.shape
    assert columns.shape[1] >= 12


@pytest.mark.parametrize("N", [17, pytest.param(20, marks=pytest.mark.slow)])
def test_optima_of_more_symbols_than_a_list_holds_are_certified(N):
    """A skewed prior, whose error separable forms certify to some per cent only."""
    counts = [1 + 4000 // (k * k) for k in range(1, N + 1)]
    problem = md.DesignProblem(md.L1Ball.from_counts(counts, radius=2), 1, md.EstimationError())
    began = time.process_time()
    found = md.design(problem)
    assert time.process_time() - began < 60
    assert found.tol == 1e-4
    assert found.certified
    assert found.certificate.method == "every set of categories"
    assert found.lower_bound <= found.value
    # Randomized response and subset selection have the guarantee as well.
    assert found.lower_bound < Rivals(problem).subset_selection().value
    assert md.verify(found.mechanism).certificate.lower_bound >= found.lower_bound


@pytest.mark.slow
@pytest.mark.parametrize("N", [17, 18, 19, 20, 22])
def test_uniform_priors_have_the_error_of_subset_selection(N):
    found = md.design(md.DesignProblem(md.L1Ball.from_counts([1] * N, radius=2), 1, md.EstimationError()))
    assert found.certified
    assert found.closed_form.value == pytest.approx(found.value, rel=1e-4)
    assert found.lower_bound <= found.closed_form.value * (1 + 1e-12)


def test_larger_alphabets_and_smaller_sets_are_priced_otherwise():
    local = {N: md.L1Ball.from_counts([1] * N, radius=2) for N in (24, 25)}
    made = {N: form_pricing(md.DesignProblem(ball, 1, md.EstimationError())) for N, ball in local.items()}
    assert isinstance(made[24], EverySet)
    assert not isinstance(made[25], EverySet)
    assert [error_tolerance(ball) for ball in local.values()] == [1e-4, 0.03]
    smaller = md.DesignProblem(md.L1Ball.from_counts([1] * 17, radius="1.99"), 1, md.EstimationError())
    assert not isinstance(form_pricing(smaller), EverySet)


def test_products_of_sets_of_all_priors_are_local_differential_privacy():
    pairs = md.ProductSet(md.L1Ball([0.75, 0.25], 2), md.L1Ball([0.5, 0.3, 0.2], 2))
    found = md.design(md.DesignProblem(pairs, 1, md.EstimationError()))
    joint = md.design(md.DesignProblem(md.L1Ball(pairs.center, 2), 1, md.EstimationError()))
    assert found.certified
    assert found.value == pytest.approx(joint.value, rel=2e-6)


def test_sets_that_are_overlooked_are_caught(monkeypatch):
    """A pricing that overlooks sets proves a bound that `verify` refuses."""
    problem = md.DesignProblem(md.L1Ball.from_counts([5, 3, 2, 1], radius=2), 1, md.EstimationError())
    whole = every_set._Halves.bounds
    monkeypatch.setattr(every_set._Halves, "bounds", lambda self: ((first, u[:6]) for first, u in whole(self)))
    broken = md.design(problem).mechanism
    monkeypatch.undo()
    with raises("optimality-false"):
        md.verify(broken)


def test_numbers_beyond_floats_prove_nothing():
    problem = md.DesignProblem(md.L1Ball.from_counts([5, 3, 2, 1], radius=2), 1, md.EstimationError())
    found = certify_error(problem, QuadraticForm(np.full(4, 1e-300)), np.full(4, 1e300))
    assert found.lower_bound >= 0
    assert EverySet(problem.uncertainty.prior, 1e9).price(QuadraticForm(np.ones(4)), np.full(4, 1e308)).upper == np.inf
