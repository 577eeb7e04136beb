"""Columns that are greatest in linear functions, held against all extreme rays."""

import math
from fractions import Fraction

import numpy as np
import pytest

import mechdesign as md
from mechdesign.optimize.estimation.linear_oracle import LinearOracle
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.optimize.rays import Rays

RADII = [Fraction(0), Fraction(1, 50), Fraction(1, 5), Fraction(3, 5), Fraction(3, 2), Fraction(2)]


def functions(rng, prior, count):
    """Normal ratios to P, some of them rounded so that symbols tie."""
    ratios = rng.standard_normal((prior.size, count))
    ratios[:, ::3] = np.round(ratios[:, ::3])
    return ratios * np.where(prior > 0, prior, rng.choice([-1.0, 1.0]))[:, None]


@pytest.mark.combined
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("within_simplex", [True, False])
def test_no_ray_is_greater(seed, within_simplex):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 9))
    ball = md.L1Ball.from_counts(
        rng.integers(1, 40, size).tolist(), radius=RADII[seed % 6], within_simplex=within_simplex
    )
    e = math.exp([0.1, 1.0, 2.5][seed % 3])
    g = functions(rng, ball.prior, 200)
    columns = LinearOracle(L1Cone.of(ball, e)).best(g)
    rays = np.hstack([np.ones((size, 1)), *Rays(ball, e).of_kinds("ABCD")])
    np.testing.assert_allclose((g * columns).sum(axis=0), (g.T @ rays).max(axis=1), atol=1e-12 * size)


@pytest.mark.parametrize("count", [1, 200, 201, 401])
def test_each_function_has_its_column_however_many_there_are(count):
    """Functions are taken in blocks of 200."""
    rng, ball = np.random.default_rng(count), md.L1Ball.from_counts([9, 5, 3, 2, 1], radius=Fraction(1, 5))
    oracle, g = LinearOracle(L1Cone.of(ball, math.e)), functions(rng, ball.prior, count)
    alone = np.hstack([oracle.best(g[:, k : k + 1]) for k in range(count)])
    np.testing.assert_allclose(oracle.best(g), alone, atol=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_columns_are_private_and_scaled(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(30, 60))
    counts = rng.integers(1, 400, size)
    counts[0] = [1, 20_000][seed % 2]
    ball = md.L1Ball.from_counts(counts.tolist(), radius=RADII[seed % 6])
    e = math.exp([0.1, 1.0, 2.5][seed % 3])
    columns = LinearOracle(L1Cone.of(ball, e)).best(functions(rng, ball.prior, 300))
    np.testing.assert_allclose(ball.prior @ columns, 1, rtol=1e-12)
    assert (columns >= 0).all()
    assert (columns.max(axis=0) <= e * ball.support(columns) * (1 + 1e-11)).all()


def test_every_kind_is_found():
    """Among many functions each kind of ray is the greatest for some."""
    ball = md.L1Ball.from_counts([40, 30, 15, 9, 4, 2], radius=Fraction(1, 5))
    cone = L1Cone.of(ball, math.e)
    rng = np.random.default_rng(0)
    columns = LinearOracle(cone).best(functions(rng, ball.prior, 3000))
    for kind in "ABCD":
        rays = np.hstack(list(Rays(ball, math.e).of_kinds(kind)))
        near = np.abs(columns[:, :, None] - rays[:, None, :]).max(axis=0).min(axis=1)
        assert (near < 1e-9).any(), kind


def test_symbols_of_probability_0():
    ball = md.L1Ball([0.5, 0.3, 0.2, 0, 0], 0.3)
    rng = np.random.default_rng(0)
    columns = LinearOracle(L1Cone.of(ball, math.e)).best(rng.standard_normal((5, 200)))
    assert (columns.max(axis=0) <= math.e * ball.support(columns) * (1 + 1e-11)).all()
    assert np.ptp(columns[3]) > 1
    assert np.ptp(columns[3] - columns[4]) > 1
