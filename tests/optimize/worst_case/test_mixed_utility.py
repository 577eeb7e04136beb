"""Bounds of a utility averaged over priors, against exact columns near the ones that are given."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

import mechdesign as md
from mechdesign.optimize.worst_case.least_certificate import MixedUtility


def exact_information(column, prior):
    """``sum Q_i v_i log(v_i / <Q, v>)`` of rationals, in ball arithmetic."""
    q = sum(p * x for p, x in zip(prior, column, strict=True))
    terms = [p * x for p, x in zip(prior, column, strict=True)]
    ratios = [x / q if q else 0 for x in column]
    total = arb(0)
    for term, ratio in zip(terms, ratios, strict=True):
        if term:
            total += arb(fmpq(term.numerator, term.denominator)) * arb(fmpq(ratio.numerator, ratio.denominator)).log()
    return total


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 1e-16, 1e-9, 1e-3, 0.2]))
def test_the_bound_holds_for_every_column_within_the_slack(seed, size):
    rng = np.random.default_rng(seed)
    N, K = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    numbers = rng.integers(0, 9, (K, N))
    numbers[np.arange(K), rng.integers(0, N, K)] += 1
    priors = [[Fraction(int(n), int(row.sum())) for n in row] for row in numbers]
    weights = rng.dirichlet(np.ones(K))
    mixed = MixedUtility(md.MutualInformation(), np.array([[float(q) for q in Q] for Q in priors]), weights)
    column = rng.random(N) * (rng.random(N) < 0.7)
    slack = size * rng.random(N)
    upper = mixed.mu_up(column[:, None], np.ones(N) / N, slack[:, None])[0]
    for _ in range(4):
        share = [Fraction(float(x)) for x in rng.choice([-1.0, 1.0, rng.random()], N)]
        moved = [
            max(Fraction(0), Fraction(float(x)) + s * Fraction(float(off)))
            for x, s, off in zip(column, share, slack, strict=True)
        ]
        total = arb(0)
        for weight, Q in zip(weights.tolist(), priors, strict=True):
            total += arb(fmpq(*Fraction(weight).as_integer_ratio())) * exact_information(moved, Q)
        assert float(total.upper()) <= upper
    if size == 0:
        assert mixed.mu(column[:, None], np.ones(N) / N)[0] == pytest.approx(upper, abs=1e-13)
        assert upper <= mixed.mu(column[:, None], np.ones(N) / N)[0] + 1e-12


def test_a_slack_as_large_as_the_column_falls_back_on_full_disclosure():
    mixed = MixedUtility(md.MutualInformation(), np.array([[0.5, 0.5]]), np.ones(1))
    assert mixed.mu_up(np.array([[0.5], [0.0]]), np.ones(2) / 2, 0.5)[0] == pytest.approx(0.75 * np.log(2), abs=1e-12)
    assert mixed.disclosure() == pytest.approx(np.log(2), abs=1e-12)
    assert mixed.disclosure() >= np.log(2)


def test_the_gradient_is_the_average_of_gradients():
    priors = np.array([[0.5, 0.5], [0.8, 0.2]])
    mixed = MixedUtility(md.ChiSquare(), priors, np.array([0.25, 0.75]))
    v = np.array([1.5, 0.5])
    assert mixed.gradient(v, [0.5, 0.5]) @ v == pytest.approx(mixed.mu(v[:, None], [0.5, 0.5])[0], abs=1e-12)
