"""The rounding terms of bounds on estimation errors, each against exact numbers."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

import mechdesign as md
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.estimation.caps import greatest_entries, price_in_box
from mechdesign.optimize.estimation.form_certificate import (
    eigenvalues_down,
    lower_bound,
    product_in_floats,
    root_trace_down,
)


def fractions(array):
    return [[Fraction(x) for x in row] for row in np.atleast_2d(array).tolist()]


def product(A, B):
    return [
        [sum((x * y for x, y in zip(row, column, strict=True)), Fraction(0)) for column in zip(*B, strict=True)]
        for row in A
    ]


def exact_form(form, prior, workload):
    """``F Theta F'`` with ``F = W (I - P 1')`` in rationals, for the rationals that the floats are."""
    P, W = [Fraction(p) for p in prior.tolist()], fractions(workload)
    F = [[w - sum((v * p for v, p in zip(row, P, strict=True)), Fraction(0)) for w in row] for row in W]
    return product(product(F, fractions(form.dense())), [list(column) for column in zip(*F, strict=True)])


def exact_eigenvalues(matrix):
    with mpmath.workdps(60):
        exact = mpmath.matrix([[mpmath.mpf(x.numerator) / x.denominator for x in row] for row in matrix])
        return sorted(mpmath.eigsy(exact, eigvals_only=True))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("separable", [True, False])
def test_the_error_of_products_is_counted(seed, separable):
    rng = np.random.default_rng(seed)
    N = 5
    prior = rng.dirichlet(np.ones(N))
    A = rng.normal(size=(N, N))
    form = QuadraticForm(rng.normal(size=N), common=-0.3) if separable else QuadraticForm.of_matrix(A @ A.T)
    W = rng.normal(size=(3, N)) + 1e6  # the offset cancels, and its rounding error does not
    whole, error = product_in_floats(form, prior, W)
    exact = exact_form(form, prior, W)
    off = [
        Fraction(x) - y
        for row, other in zip(whole.tolist(), exact, strict=True)
        for x, y in zip(row, other, strict=True)
    ]
    norm = float(sum(x * x for x in off)) ** 0.5
    assert 0 < norm <= error


@pytest.mark.parametrize("seed", range(6))
def test_eigenvalues_are_rounded_down(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(12, 12))
    matrix = A + A.T
    exact = exact_eigenvalues(fractions(matrix))
    below = np.sort(eigenvalues_down(matrix, 0.0))
    assert all(mpmath.mpf(x) <= y for x, y in zip(below.tolist(), exact, strict=True))
    assert np.sort(eigenvalues_down(matrix, 0.125)) == pytest.approx(below - 0.125)


def test_forms_that_are_not_convex_are_lifted_until_they_are():
    rng = np.random.default_rng(5)
    for _ in range(40):
        N = int(rng.integers(2, 7))
        prior = rng.dirichlet(np.ones(N))
        form = QuadraticForm(rng.normal(size=N), common=float(rng.normal()))
        _, eta = root_trace_down(form, prior, np.eye(N))
        lifted = QuadraticForm(form.diagonal + eta, common=form.common)
        least = exact_eigenvalues(exact_form(lifted, prior, np.eye(N)))[0]
        assert least >= -1e-15
        if exact_eigenvalues(exact_form(form, prior, np.eye(N)))[0] < -1e-9:
            assert eta > 0


def test_the_quotient_is_rounded_down():
    rng = np.random.default_rng(1)
    for _ in range(200):
        root, total = (float(x) for x in np.exp(rng.normal(size=2)))
        assert Fraction(lower_bound(root, total)) <= Fraction(root) ** 2 / Fraction(total)


def test_greatest_entries_are_rounded_up():
    rng = np.random.default_rng(2)
    prior = rng.dirichlet(np.ones(200))
    for entry, p in zip(greatest_entries(prior, 1e9).tolist(), prior.tolist(), strict=True):
        assert Fraction(entry) >= 1 / Fraction(p)


def test_prices_in_a_box_are_rounded_up():
    rng = np.random.default_rng(3)
    for _ in range(60):
        N = int(rng.integers(1, 5))
        d, lam, limits = rng.normal(size=N), 10 * rng.normal(size=N), 1 + rng.random(N)
        exact = Fraction(0)
        for a, b, u in zip(d.tolist(), lam.tolist(), limits.tolist(), strict=True):
            D, L, U = Fraction(a), Fraction(b), Fraction(u)
            ends = [Fraction(0), U] + ([min(max(1 + L / (2 * D), Fraction(0)), U)] if D < 0 else [])
            exact += max(D * (v - 1) ** 2 - L * v for v in ends)
        assert Fraction(price_in_box(QuadraticForm(d), lam, limits).upper) >= exact


def test_the_bound_without_a_design_takes_exp_epsilon_rounded_up():
    """Where all mechanisms attain it, the bound may not be above the value in exact arithmetic."""
    for N, d in ((4, 2), (6, 3), (9, 3), (10, 5)):
        exact = Fraction((N - 1) ** 2, N) / (Fraction(N, d) - 1)
        assert Fraction(md.estimation_bound([Fraction(1, N)] * N, f"log({N}/{d})")) <= exact


@pytest.mark.parametrize("spoil", ["values", "vectors"])
def test_a_poor_decomposition_proves_nothing_false(monkeypatch, spoil):
    rng = np.random.default_rng(8)
    A = rng.normal(size=(6, 6))
    matrix, eigh = A + A.T, np.linalg.eigh
    exact = exact_eigenvalues(fractions(matrix))

    def poor(given):
        values, vectors = eigh(given)
        return (
            (values + 0.1, vectors) if spoil == "values" else (values, vectors + 0.05 * rng.normal(size=vectors.shape))
        )

    monkeypatch.setattr(np.linalg, "eigh", poor)
    below = np.sort(eigenvalues_down(matrix, 0.0))
    assert all(mpmath.mpf(x) <= y for x, y in zip(below.tolist(), exact, strict=True))
