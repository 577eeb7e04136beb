"""Levels of gains: what floats claim, held against the inequality of the lemma in rational numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechdesign.optimize.pricing.levels import affordable, level_above_all, level_of

UNIT = Fraction(2) ** -52


def is_proved(r, a, P, Q, y, e):
    """Whether ``sum_i max(0, a_i + y Q_i - r P_i) <= y / e`` with errors of a and Q as great as they may be."""
    y, r = Fraction(y), Fraction(r)
    terms = (
        Fraction(a_i) + 13 * UNIT * abs(Fraction(a_i)) + y * (Fraction(q) + Fraction("1e-15")) - r * Fraction(p)
        for a_i, p, q in zip(a.tolist(), P.tolist(), Q.tolist(), strict=True)
    )
    return sum(max(Fraction(0), term) for term in terms) <= y / Fraction(e)


@given(
    seed=st.integers(0, 10**6),
    unseen=st.integers(0, 2),
    exponent=st.sampled_from([0.1, 1, 10, 25, 30]),
    y=st.sampled_from([0.0, 1e-12, 0.3, 7.0]),
)
def test_levels_hold_in_rational_numbers(seed, unseen, exponent, y):
    rng, e = np.random.default_rng(seed), math.exp(exponent)
    P = np.concatenate([rng.dirichlet(np.full(3, 0.3)), np.zeros(unseen)])
    Q = 0.9 * P + 0.1 * np.append(np.zeros(3), rng.random(unseen)) * rng.integers(2)
    a = rng.standard_normal(P.size) * np.exp(rng.uniform(-20, 0, P.size))
    a[3:] = -np.abs(a[3:]) if rng.integers(2) else 0.0
    r = level_above_all(a, P, Q, y, e)
    least = max(y, 16 * a.size * e * 1e-300)  # which it takes in place of 0
    assert r == math.inf or is_proved(r, a, P, Q, least, e)
    y, Q = affordable(a, P, Q, y, e)
    r = level_of(a, P, Q, y, e)
    assert r == math.inf or is_proved(r, a, P, Q, y, e)


@pytest.mark.parametrize("epsilon", [1, 25, 30])
def test_a_symbol_that_was_never_seen_costs_nothing_where_its_multiplier_pays_for_it(epsilon):
    a, P = np.array([-0.02, -0.5, -1e-12]), np.array([0.5, 0.5, 0.0])
    assert level_above_all(a, P, P, 0.0, math.exp(epsilon)) == pytest.approx(-0.04, rel=1e-12)
