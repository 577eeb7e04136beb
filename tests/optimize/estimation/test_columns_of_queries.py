"""Fewer outputs than categories for few queries: columns in their span, and integers that stay there."""

from __future__ import annotations

import itertools
import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import raises
from repetitions import examples

import mechdesign as md
from mechdesign.mechanism import Guarantee
from mechdesign.mechanism.rounding_in_span import integers_in_span
from mechdesign.optimize.column_cone import ColumnCone
from mechdesign.optimize.estimation.column_search import ColumnSearch
from mechdesign.optimize.estimation.columns_of_queries import mechanism_of_queries
from mechdesign.optimize.estimation.interior_point import solve
from mechdesign.uncertainty.base import NO_FLOOR
from tests.helpers.exact_errors import exact_error

MANY = [7 + 5 * (i * i % 17) for i in range(61)]


def _farthest(center, half, e, x):
    """The greatest t with which 1 + t x keeps e at every prior that moves half of the radius from one to another."""
    t = -1 / min(x)
    for i, j in itertools.permutations(range(len(x)), 2):
        mean = sum(p * value for p, value in zip(center, x, strict=True)) + half * (x[i] - x[j])
        slopes = [value - e * mean for value in x]
        t = min([t, *((e - 1) / slope for slope in slopes if slope > 0)])
    return t


def test_one_query_and_two_outputs_have_a_closed_form():
    """Columns 1 + t x and 1 - u x, with x the query less its mean, answer it with variance 1 / (t u)."""
    ball = md.L1Ball.from_counts(MANY, radius="0.004")  # nowhere below the simplex
    design = md.design(md.DesignProblem(ball, 1, md.EstimationError([list(range(61))])), outputs=2, time_limit=1)
    P = [float(p) for p in ball.center]
    x = [i - sum(p * k for k, p in enumerate(P)) for i in range(61)]
    t, u = (_farthest(P, 0.002, math.e, [sign * value for value in x]) for sign in (1, -1))
    assert design.mechanism.numerators.shape == (61, 2)
    assert design.value == pytest.approx(1 / (t * u), rel=1e-6)
    error = exact_error(design.mechanism.numerators.tolist(), ball.center, [[Fraction(i) for i in range(61)]])
    assert design.value == pytest.approx(float(error), rel=1e-9)
    md.verify(design.mechanism)


@pytest.mark.parametrize("sides", [{}, {"cap": 2}], ids=["above", "cap"])
@pytest.mark.parametrize("radius", ["0.05", "2"], ids=["ball", "ldp"])
def test_three_queries_of_many_categories_are_answered_by_four_outputs(sides, radius):
    queries = np.random.default_rng(1).integers(-3, 4, (3, 61)).tolist()
    problem = md.DesignProblem(md.L1Ball.from_counts(MANY, radius=radius), 1, md.EstimationError(queries), **sides)
    design = md.design(problem, outputs=4, time_limit=2)
    numerators = design.mechanism.numerators
    assert numerators.shape[1] <= 4
    error = exact_error(numerators.tolist(), problem.uncertainty.center, queries)
    assert design.value == pytest.approx(float(error), rel=1e-9)
    assert design.bound <= design.value < 30 * design.unrestricted_value
    md.verify(design.mechanism)


def test_queries_without_a_common_unit_need_as_many_outputs_as_categories():
    queries = np.random.default_rng(1).random((3, 61)).tolist()
    problem = md.DesignProblem(md.L1Ball.from_counts(MANY, radius="0.05"), 1, md.EstimationError(queries))
    with raises("design-not-identifiable", "outputs = 4", "61 or more, or queries in whole multiples of one number"):
        md.design(problem, outputs=4, time_limit=1)


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([20, 32, 48]), st.sampled_from(["0.1", "1", "4"]))
def test_whole_numbers_stay_in_the_span_and_keep_the_promise(seed, bits, epsilon):
    rng = np.random.default_rng(seed)
    N, count = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    queries = rng.integers(-4, 5, (count, N)) / 8.0
    ball = md.L1Ball.from_counts(rng.integers(1, 50, N).tolist(), radius="0.2")
    guarantee = Guarantee(epsilon, ball)
    cone = ColumnCone(ball, math.exp(float(epsilon)), NO_FLOOR)
    if np.ptp(queries, axis=1).max() == 0:
        return
    matrix = mechanism_of_queries(cone, queries, rng)
    kept = np.sort(rng.permutation(matrix.shape[1] // 2)[:3])  # some pairs of opposite directions
    pairs = matrix[:, np.append(kept, kept + matrix.shape[1] // 2)]
    pairs /= pairs[0].sum()
    np.testing.assert_allclose(pairs.sum(axis=1), 1, rtol=1e-9)
    found = integers_in_span(pairs, queries, bits, guarantee)
    assert found is not None
    assert (found.sum(axis=1) == 2**bits).all()
    assert all(guarantee.is_kept_by(column) for column in found.T.tolist())
    # Coefficients round to units, and a light column is mixed with a constant one by units over its room.
    units = 2.0**10 * (1 + 4 / (float(guarantee.room) * (ball.prior @ pairs).min()))
    assert np.abs(found / 2.0**bits - pairs).max() < units / 2.0**bits
    # The span of the columns is that of (1,...,1) and the queries: no column adds to its rank, in fractions.
    assert _rank(np.vstack([np.ones((1, N)), queries])) == _rank(np.vstack([np.ones((1, N)), queries, found.T]))


def _rank(rows):
    """The rank of a matrix, by elimination in fractions."""
    left, rank = [[Fraction(x) for x in row] for row in rows.tolist()], 0
    while left:
        row = left.pop()
        at = next((k for k, x in enumerate(row) if x), None)
        if at is not None:
            rank += 1
            left = [[x - other[at] / row[at] * y for x, y in zip(other, row, strict=True)] for other in left]
    return rank


def test_a_matrix_outside_of_the_span_and_entries_too_large_are_not_rounded():
    guarantee = Guarantee(1, md.L1Ball(["1/4", "1/4", "1/2"], "0.1"))
    matrix = np.array([[0.41, 0.59], [0.5, 0.5], [0.59, 0.41]])
    assert integers_in_span(matrix, np.array([[0.0, 1.0, 2.0]]), 48, guarantee) is not None
    assert integers_in_span(matrix, np.array([[0.0, 1.0, 3.0]]), 48, guarantee) is None
    assert integers_in_span(matrix, np.array([[0.1, 0.2, 0.3]]), 48, guarantee) is None  # 0.1 + 0.3 is not 2 times 0.2


def test_a_column_that_breaks_the_promise_is_mixed_with_a_constant_one():
    ball, queries = md.L1Ball(["1/4", "1/4", "1/2"], "0.1"), np.array([[0.0, 1.0, 2.0]])
    guarantee = Guarantee("0.1", ball)
    matrix = mechanism_of_queries(ColumnCone(ball, math.exp(0.1), NO_FLOOR), queries, np.random.default_rng(0))
    beyond = matrix + 1e-6 * (matrix - ball.prior @ matrix)
    rounded = np.rint(beyond * 2.0**48).astype(np.int64)
    assert not all(guarantee.is_kept_by(column) for column in rounded.T.tolist())
    found = integers_in_span(beyond, queries, 48, guarantee)
    assert found is not None
    assert all(guarantee.is_kept_by(column) for column in found.T.tolist())
    assert np.abs(found / 2.0**48 - matrix).max() < 1e-5


def test_columns_to_try_end_at_the_deadline():
    ball = md.L1Ball.from_counts([1] * 61, radius="0.1")
    search = ColumnSearch(ball, math.e, np.eye(61), np.random.default_rng(0))
    response = np.eye(61) + 1 / 61
    point = solve(response, ball.prior, np.eye(61), 1e-3, np.full(61, 0.5 / 61))
    assert search.to_try(point, 2_000, deadline=time.monotonic()).shape == (61, 0)
    assert search.to_try(point, 50).shape[1] > 0
