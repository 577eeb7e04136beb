"""The bound from the greatest entries of columns: reference values, and never above what some mechanism attains."""

import math
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from refusals import raises

import mechdesign as md
from mechdesign.errors import InputError
from mechdesign.optimize.estimation.caps import best_caps, bound_of_caps, estimation_bound, greatest_entries
from mechdesign.optimize.estimation.interior_point import solve
from mechdesign.optimize.rays import Rays

PROBLEMS = Path(__file__).parents[3] / "problems"

REFERENCES = [
    ("relationship", "0.1", "48.4549"),
    ("relationship", "1", "2.965780"),
    ("relationship", "2", "1.0179"),
    ("workclass", "0.1", "98.2295"),
    ("workclass", "1", "6.01233327"),
    ("workclass", "2", "1.6170"),
    ("occupation", "0.1", "128.7401"),
    ("occupation", "1", "7.879799"),
    ("occupation", "2", "2.1192"),
    ("education", "0.1", "152.1519"),
    ("education", "1", "9.312763"),
    ("education", "2", "2.6695"),
]


def estimate(column):
    known = md.read_problem(str(PROBLEMS / f"adult-{column}.toml")).problem.uncertainty
    return md.L1Ball(known.center, 0)


@pytest.mark.parametrize(("column", "epsilon", "value"), REFERENCES)
def test_reference_values(column, epsilon, value):
    places = len(value.split(".")[1])
    found = estimation_bound(estimate(column), epsilon)
    # The ascent ends within 1e-7 of the greatest bound, from below.
    assert found == pytest.approx(float(value), abs=0.5000001 * 10**-places + 1e-7 * found)


@pytest.mark.parametrize("size", [2, 3, 10, 42])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_uniform_prior_is_in_closed_form(size, epsilon):
    e = min(math.exp(float(epsilon)), size)
    prior = [Fraction(1, size)] * size
    found = estimation_bound(prior, epsilon)
    assert found == pytest.approx((size - 1) ** 2 / (size * (e - 1)), rel=1e-12)
    assert found <= (size - 1) ** 2 / (size * (e - 1)) * (1 + 1e-15)


def test_the_closed_form_for_equal_d():
    P = np.array([0.5, 0.2, 0.1, 0.1, 0.06, 0.04])
    u = greatest_entries(P, 3.0)
    closed = (P.size - 2 + math.sqrt(P.size * (P @ P))) ** 2 / (np.minimum(3.0, 1 / P) - 1).sum()
    assert bound_of_caps(np.ones(6), P, u, np.eye(6)) == pytest.approx(closed, rel=1e-12)
    best = bound_of_caps(best_caps(P, u, np.eye(6)), P, u, np.eye(6))
    assert closed < best <= estimation_bound(P.tolist(), "log(3)")


@pytest.mark.parametrize("seed", range(30))
def test_never_above_the_best_mechanism(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 7))
    weights = rng.integers(1, 30, size)
    radius = [0, Fraction(1, 20), Fraction(1, 2), 2][seed % 4]
    epsilon = ["0.1", "1", "2.5"][seed % 3]
    ball = md.L1Ball.from_counts(weights.tolist(), radius=radius)
    workload = [np.eye(size), np.tril(np.ones((size, size)))[:-1], rng.standard_normal((2 * size, size))][seed % 3]
    rays = np.hstack(list(Rays(ball, math.exp(float(epsilon))).of_kinds("ABCD")))
    least = solve(rays, ball.prior, workload, 1e-9).value
    assert 0 < estimation_bound(ball, epsilon, workload) <= least * (1 + 1e-9)


def test_no_d_is_better():
    rng = np.random.default_rng(1)
    P = rng.dirichlet(np.ones(8))
    u = greatest_entries(P, math.e)
    d = best_caps(P, u, np.eye(8))
    best = bound_of_caps(d, P, u, np.eye(8))
    for _ in range(200):
        other = d * np.exp(rng.normal(0, 10.0 ** rng.uniform(-3, 1), 8)) + rng.random() * 1e-3 * d.max()
        assert bound_of_caps(other, P, u, np.eye(8)) <= best * (1 + 2e-7)


def test_ten_thousand_symbols_take_a_second():
    counts = [10**6 // k for k in range(1, 10_001)]
    ball = md.L1Ball.from_counts(counts, known=True)
    start = time.process_time()
    found = estimation_bound(ball, 1)
    assert time.process_time() - start < 5  # 0.1 s on an idle machine
    P = ball.prior
    closed = (P.size - 2 + math.sqrt(P.size * (P @ P))) ** 2 / (np.minimum(math.e, 1 / P) - 1).sum()
    assert found == pytest.approx(closed, rel=1e-12)


def test_sets_and_labels():
    table = {"a": 0.5, "b": 0.3, "c": 0.2}
    plain = estimation_bound(list(table.values()), 1)
    assert estimation_bound(table, 1) == plain
    assert estimation_bound(md.L1Ball(table, 0.3), 1) == plain
    hull = md.ConvexHull([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    assert estimation_bound(hull, 1) == estimation_bound(hull.center, 1)


def test_a_symbol_of_probability_0():
    ball = md.L1Ball([0.5, 0.5, 0], 0.4)
    found = estimation_bound(ball, 1)
    rays = np.hstack(list(Rays(ball, math.e).of_kinds("ABCD")))
    whole = solve(rays / (ball.prior @ rays), ball.prior, np.eye(3), 1e-9).value
    assert 0 < found <= whole


def test_epsilon_0_leaves_the_constant_mechanism():
    assert estimation_bound([0.5, 0.5], 0) == math.inf


def test_more_queries_than_symbols_count_as_their_gram_matrix():
    prior = [0.5, 0.25, 0.125, 0.125]
    twice = np.vstack([np.eye(4), np.eye(4)])
    assert estimation_bound(prior, 1, twice) == pytest.approx(2 * estimation_bound(prior, 1), rel=1e-6)


def test_a_workload_that_asks_nothing_has_no_error():
    assert estimation_bound([0.5, 0.25, 0.25], 1, np.ones((1, 3))) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("workload", [np.eye(3), [1.0, 2.0], [[np.nan, 1.0]], np.ones((0, 2)), "prefix"])
def test_a_workload_of_another_shape_is_refused(workload):
    with pytest.raises(InputError):
        estimation_bound([0.5, 0.5], 1, workload)


def test_a_workload_on_too_many_symbols_is_refused():
    with raises("too-much-work", "1500"):
        estimation_bound([Fraction(1, 2000)] * 2000, 1, np.ones((1, 2000)))


def test_a_prior_that_is_not_one_is_refused():
    with raises("wrong-sum"):
        estimation_bound([0.5, 0.6], 1)
