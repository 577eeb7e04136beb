"""Weights that are multiplied, against interior points, closed forms and errors computed from the matrix alone."""

import time

import numpy as np
import pytest

import mechdesign as md
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.deadline import Deadline
from mechdesign.optimize.estimation import generation, multiplicative
from mechdesign.optimize.estimation.column_search import ColumnSearch
from mechdesign.optimize.estimation.exchange import ErrorOfColumns
from mechdesign.optimize.estimation.interior_point import full_weights, solve
from mechdesign.optimize.estimation.multiplicative import lightened, multiplied, of_heaviest, sweeps, whole
from mechdesign.optimize.estimation.solver import form_pricing
from mechdesign.utility.query_variances import variances_of_matrix

LIKE_ZIPF = [300 // (k + 1) + 3 for k in range(30)]


def columns_of(ball, e=float(np.e)):
    search = ColumnSearch(ball, e, np.eye(ball.size), np.random.default_rng(0))
    return search, search.first()


def even(program, columns):
    return whole(program, columns, np.full(columns.shape[1], 1 / columns.shape[1]))


def error_of(found, prior):
    """Return ``tr J^-1 - P'P`` of the matrix, by another factorisation than the search takes."""
    matrix = found.columns * found.weights
    half = np.linalg.qr((matrix / np.sqrt(prior @ matrix)).T, mode="r")
    return float(np.sum(np.linalg.inv(half) ** 2) - prior @ prior)


@pytest.mark.parametrize("radius", [0, "1/10", 2])
def test_weights_become_those_of_interior_points(radius, monkeypatch):
    """Both ways weigh the same columns of 12 categories, and the multipliers prove the error of both."""
    monkeypatch.setattr(multiplicative, "_STALLED", 1e-9)
    ball = md.L1Ball.from_counts([60 // (k + 1) + 2 for k in range(12)], radius=radius)
    _, columns = columns_of(ball)
    program = ErrorOfColumns(np.eye(12))
    best = solve(columns, ball.prior, np.eye(12), 1e-9)
    found = multiplied(program, even(program, columns), 20_000)
    assert best.value * (1 - 1e-8) <= found.value <= best.value * (1 + 2e-5)
    raised = (found.costs - found.multipliers @ found.columns).max()
    assert found.multipliers.sum() + max(raised, 0) >= best.value * (1 - 1e-8)
    np.testing.assert_allclose(found.columns @ found.weights, 1, atol=1e-6)


@pytest.mark.parametrize("steps", [3, 10])
def test_no_step_raises_the_error(steps):
    ball = md.L1Ball.from_counts(LIKE_ZIPF, radius="1/10")
    _, columns = columns_of(ball)
    program = ErrorOfColumns(np.eye(30))
    start = even(program, columns)
    values = [start.value, multiplied(program, start, steps).value, multiplied(program, start, 2 * steps).value]
    assert values[0] > values[1] > values[2]


@pytest.mark.parametrize("workload", ["frequencies", "cumulative"])
def test_a_mechanism_of_fewer_columns_is_whole(workload):
    """Its rows sum to 1, its error is that of its matrix, and weights by interior points gain less than 1 %."""
    ball = md.L1Ball.from_counts(LIKE_ZIPF, radius="1/10")
    _, columns = columns_of(ball)
    W = np.eye(30) if workload == "frequencies" else np.tril(np.ones((30, 30)))
    program = ErrorOfColumns(W)
    fewer = lightened(program, even(program, columns), 120)
    better = multiplied(program, fewer, 1_000)
    found = whole(program, better.columns, better.weights)
    assert found.weights.size == 120
    assert found.weights.min() > 0
    np.testing.assert_allclose(found.columns @ found.weights, 1, atol=1e-12)
    matrix = found.columns * found.weights
    np.testing.assert_allclose(variances_of_matrix(matrix, ball.prior, W).sum(), found.value, rtol=1e-9)
    if workload == "frequencies":
        np.testing.assert_allclose(error_of(found, ball.prior), found.value, rtol=1e-9)
    assert 0.99 * found.value <= solve(found.columns, ball.prior, W, 1e-6).value <= found.value * (1 + 1e-6)


def test_categories_in_another_order_get_the_same_weights():
    """The same columns with their entries in another order have the same error and weights, up to rounding."""
    ball = md.L1Ball.from_counts(LIKE_ZIPF, radius="1/10")
    _, columns = columns_of(ball)
    program, order = ErrorOfColumns(np.eye(30)), np.random.default_rng(3).permutation(30)
    one, other = (multiplied(program, even(program, entries), 5) for entries in (columns, columns[order]))
    np.testing.assert_allclose(one.value, other.value, rtol=1e-9)
    np.testing.assert_allclose(one.weights, other.weights, rtol=1e-6, atol=1e-12)


def groups_of(search, count, size=30):
    rng = np.random.default_rng(5)
    return (
        search._oracle.best(rng.standard_normal((size, size)) * search._oracle.masses[:, None]) for _ in range(count)
    )


def test_the_error_never_rises_from_sweep_to_sweep():
    ball = md.L1Ball.from_counts(LIKE_ZIPF, radius="1/10")
    search, _ = columns_of(ball)
    values = []
    for found in sweeps(groups_of(search, 30), np.eye(30), search._oracle, np.random.default_rng(0), None, most=360):
        values.append(found.value)
        assert found.weights.size <= 360
        assert found.off <= 1e-12
        np.testing.assert_allclose(error_of(found, ball.prior), found.value, rtol=1e-9)
        if len(values) == 6:
            break
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0.97 * values[0]


def test_a_deadline_that_has_come_leaves_the_first_mechanism():
    """Nothing more is drawn, multiplied or exchanged, and no mechanism has more columns than it may."""
    ball = md.L1Ball.from_counts(LIKE_ZIPF, radius="1/10")
    search, _ = columns_of(ball)
    groups = groups_of(search, 30)
    found = list(sweeps(groups, np.eye(30), search._oracle, np.random.default_rng(0), time.monotonic() - 1, most=360))
    assert 1 <= len(found) <= 2
    assert len({one.value for one in found}) == 1
    assert len(list(groups)) == 30 - 5  # a first mechanism takes two fifths of 360 columns: five groups of 30
    program = ErrorOfColumns(np.eye(30))
    at = found[0]
    assert multiplied(program, at, 10, time.monotonic() - 1) is at
    assert lightened(program, at, 120, time.monotonic() - 1).weights.size == 120


def test_a_deadline_ends_sweeps(monkeypatch):
    """The clock stands still but for steps, which take a second each: none begins that would pass the deadline."""
    now, steps = [100.0], []
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    evaluated = ErrorOfColumns.evaluated

    def slow(self, columns, weights):
        now[0] += 1.0
        steps.append(now[0])
        return evaluated(self, columns, weights)

    monkeypatch.setattr(ErrorOfColumns, "evaluated", slow)
    ball = md.L1Ball.from_counts(LIKE_ZIPF, radius="1/10")
    _, columns = columns_of(ball)
    program = ErrorOfColumns(np.eye(30))
    start = even(program, columns)
    multiplied(program, start, 1_000, Deadline(now[0] + 5.5))
    assert len(steps) == 1 + 5


def test_steps_that_fail_leave_the_mechanism(monkeypatch):
    """Directions that are lost to rounding end the steps, not the design."""
    ball = md.L1Ball.from_counts(LIKE_ZIPF, radius="1/10")
    _, columns = columns_of(ball)
    program = ErrorOfColumns(np.eye(30))
    start = even(program, columns)

    def singular(*_):
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr(ErrorOfColumns, "evaluated", singular)
    assert multiplied(program, start, 10) is start
    assert whole(program, columns, start.weights) is None
    assert lightened(program, start, 120) is None


def test_columns_that_are_no_mechanism_are_not_dropped():
    """Of unit vectors none can leave."""
    program = ErrorOfColumns(np.eye(3))
    start = even(program, 3 * np.eye(3))
    assert lightened(program, start, 2) is None


def test_a_search_for_few_outputs_begins_with_the_heaviest(monkeypatch):
    monkeypatch.setattr(multiplicative, "_WEIGHABLE", 150)
    ball = md.L1Ball.from_counts([60 // (k + 1) + 2 for k in range(12)], radius="1/10")
    _, columns = columns_of(ball)
    matrix = columns * full_weights(columns, np.full(columns.shape[1], 1 / columns.shape[1]))
    assert matrix.shape[1] > 150
    before = variances_of_matrix(matrix, ball.prior, np.eye(12)).sum()
    for most, left in ((12, 120), (130, 130)):
        fewer = of_heaviest(matrix, ball.prior, np.eye(12), most)
        assert fewer.shape[1] == left
        np.testing.assert_allclose(fewer.sum(axis=1), 1, atol=1e-11)
        assert variances_of_matrix(fewer, ball.prior, np.eye(12)).sum() < before
    assert of_heaviest(matrix, ball.prior, np.eye(12), matrix.shape[1]) is matrix


def test_what_is_told_of_sweeps_is_the_least_error(monkeypatch):
    """Generated mechanisms beyond 150 categories: here beyond 20, with few columns."""
    monkeypatch.setattr(generation, "_MULTIPLIED", 20)
    monkeypatch.setattr("mechdesign.optimize.estimation.column_search.MOST_COLUMNS", 360)
    ball, lines = md.L1Ball.from_counts(LIKE_ZIPF, radius="1/10"), []
    found = generation.generate(ball, float(np.e), np.eye(30), np.random.default_rng(0), progress=lines.append)
    told = [float(line.split("error ")[1].split(",")[0]) for line in lines]
    assert told == sorted(told, reverse=True)
    assert found.value == pytest.approx(told[-1], rel=1e-8)
    np.testing.assert_allclose(found.matrix.sum(axis=1), 1, atol=1e-11)
    assert found.matrix.shape[1] <= 360
    assert found.value == pytest.approx(variances_of_matrix(found.matrix, ball.prior, np.eye(30)).sum(), rel=1e-9)
    problem = md.DesignProblem(ball, 1, md.EstimationError())
    columns = found.matrix / (ball.prior @ found.matrix)
    assert form_pricing(problem).price(QuadraticForm(np.ones(30)), np.zeros(30)).upper >= ((columns - 1) ** 2).sum(
        axis=0
    ).max() * (1 - 1e-9)
