"""Weights that take multiplicative steps and columns that are exchanged, against closed forms and interior points."""

import itertools
import math
import time
from fractions import Fraction

import numpy as np
import pytest
from clocks import Clock
from refusals import raises

import mechdesign as md
from mechdesign.optimize.estimation import few_outputs, weighted_columns
from mechdesign.optimize.estimation.column_search import ColumnSearch
from mechdesign.optimize.estimation.generation import generate
from mechdesign.optimize.estimation.interior_point import solve
from mechdesign.optimize.estimation.weighted_columns import ErrorOfColumns, moved, orthogonal_gaussians
from mechdesign.uncertainty.base import NO_FLOOR, Floor
from mechdesign.utility.query_variances import variances_of_matrix


def search_for(ball, e, W):
    return ColumnSearch(ball, e, W, np.random.default_rng(0))


def check(ball, found, W):
    """Columns and weights are a mechanism of the error told, in the cone of the ball."""
    matrix = found.columns * found.weights
    assert matrix.min() >= 0
    assert found.weights.min() > 0
    np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-11)
    np.testing.assert_allclose(ball.prior @ found.columns, 1, atol=1e-11)
    np.testing.assert_allclose(variances_of_matrix(matrix, ball.prior, W).sum(), found.value, rtol=1e-9)


@pytest.mark.parametrize(("radius", "cap"), [(0, None), ("1/10", None), ("1/10", 1.2)])
def test_rounds_lower_the_error_of_a_true_mechanism(radius, cap):
    """Weights by interior points gain less than .4 %, and a search of columns by them finds nothing better by 1 %."""
    ball = md.L1Ball.from_counts([300 // (k + 1) + 3 for k in range(30)], radius=radius)
    floor = Floor(Fraction(math.exp(-cap)), for_everyone=True) if cap else NO_FLOOR
    W, values = np.eye(30), []
    search = ColumnSearch(ball, math.e, W, np.random.default_rng(0), floor)
    for found in itertools.islice(search.multiplied(None), 10):
        values.append(found.value)
        check(ball, found, W)
        if cap:
            assert (found.columns.min(axis=0) >= math.exp(-cap) * found.columns.max(axis=0) * (1 - 1e-10)).all()
    assert values[-1] == min(values) < 0.99 * values[0]
    columns, _ = found.heaviest(1_500)
    best = solve(columns, ball.prior, W, 1e-6).value
    assert 0.996 * found.value <= best <= found.value * (1 + 1e-2)
    by_points = generate(ball, math.e, W, np.random.default_rng(0), floor=floor).value
    assert found.value <= 1.01 * by_points


def test_steps_come_to_the_weights_of_interior_points():
    ball, W = md.L1Ball.from_counts([300 // (k + 1) + 3 for k in range(12)], radius="1/10"), np.eye(12)
    columns = search_for(ball, math.e, W).first()
    even = np.full(columns.shape[1], 1 / columns.shape[1])
    best = solve(columns, ball.prior, W, 1e-8)
    errors = [
        ErrorOfColumns(W).reweighted(columns, best.weights * 0.9 + 0.1 * even, steps).value for steps in (5, 50, 500)
    ]
    assert best.value * (1 - 1e-7) <= errors[2] <= errors[1] <= errors[0]
    assert errors[2] <= best.value * (1 + 1e-4)


def test_a_step_that_is_too_long_is_halved(monkeypatch):
    """With a cap of 1.2, steps of the usual power left rows off, and errors told were too small."""
    ball, W = md.L1Ball.from_counts([300 // (k + 1) + 3 for k in range(30)], radius="1/10"), np.eye(30)
    search = ColumnSearch(ball, math.e, W, np.random.default_rng(0), Floor(Fraction(3, 10), for_everyone=True))
    monkeypatch.setattr("mechdesign.optimize.estimation.weighted_columns._POWER", 64.0)
    values = []
    for found in itertools.islice(search.multiplied(None), 3):
        check(ball, found, W)
        values.append(found.value)
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("late", [False, True])
def test_few_columns_are_kept(late):
    """After the deadline too, with fewer steps."""
    ball, W = md.L1Ball.from_counts([300 // (k + 1) + 3 for k in range(30)], radius="1/10"), np.eye(30)
    found = next(itertools.islice(search_for(ball, math.e, W).multiplied(None), 4, None))
    kept = ErrorOfColumns(W).cut(found, 465, time.monotonic() if late else None)
    check(ball, kept, W)
    assert kept.weights.size == 465 < found.weights.size
    assert kept.value <= 1.01 * found.value


def test_columns_that_are_all_needed_are_kept():
    """Three columns make no mechanism of four symbols that differ."""
    columns = 4 * np.eye(4)
    found = ErrorOfColumns(np.eye(4)).evaluated(columns, np.full(4, 1 / 4))
    assert ErrorOfColumns(np.eye(4)).cut(found, 3).weights.size == 4


def test_the_same_columns_in_another_order_of_symbols_get_the_same_weights():
    ball = md.L1Ball.from_counts([300 // (k + 1) + 3 for k in range(30)], radius="1/10")
    columns, order = search_for(ball, math.e, np.eye(30)).first(), np.random.default_rng(5).permutation(30)
    even, program = np.full(columns.shape[1], 1 / columns.shape[1]), ErrorOfColumns(np.eye(30))
    one, other = (program.reweighted(given, even, 20) for given in (columns, columns[order]))
    assert one.value == pytest.approx(other.value, rel=1e-9)
    np.testing.assert_allclose(one.weights, other.weights, rtol=1e-5, atol=1e-12)


def test_no_step_begins_after_the_deadline():
    ball = md.L1Ball.from_counts([300 // (k + 1) + 3 for k in range(30)], radius="1/10")
    columns, program = search_for(ball, math.e, np.eye(30)).first(), ErrorOfColumns(np.eye(30))
    even = np.full(columns.shape[1], 1 / columns.shape[1])
    late = program.reweighted(columns, even, 20, deadline=time.monotonic())
    np.testing.assert_array_equal(late.weights, program.reweighted(columns, even, 0).weights)


def test_a_search_for_few_outputs_begins_with_few_columns(monkeypatch):
    monkeypatch.setattr(weighted_columns, "_MOST_WEIGHED", 150)
    ball, W, begun = md.L1Ball.from_counts([60 // (k + 1) + 2 for k in range(12)], radius="1/10"), np.eye(12), []
    monkeypatch.setattr(few_outputs, "solve", lambda held, *given: begun.append(held.shape[1]) or solve(held, *given))
    found = next(search_for(ball, math.e, W).multiplied(None))
    few = few_outputs.with_few_outputs(
        found.columns * found.weights, 30, ball.prior, W, lambda _point, _wanted: np.empty((12, 0))
    )
    assert max(begun) == 120 < found.weights.size
    assert few.shape[1] <= 30
    np.testing.assert_allclose(few.sum(axis=1), 1, atol=1e-11)
    assert variances_of_matrix(few, ball.prior, W).sum() <= 1.2 * found.value


def test_relabelled_symbols_come_to_about_the_same_error():
    counts, order = [300 // (k + 1) + 3 for k in range(30)], np.random.default_rng(5).permutation(30)
    errors = []
    for given in (counts, [counts[k] for k in order]):
        rounds = search_for(md.L1Ball.from_counts(given, radius="1/10"), math.e, np.eye(30)).multiplied(None)
        errors.append(next(itertools.islice(rounds, 9, None)).value)
    assert errors[0] == pytest.approx(errors[1], rel=1e-3)


@pytest.mark.parametrize("epsilon", [0.001, 10])
def test_copies_are_one_column(epsilon):
    """At both ends of epsilon all columns are sets of one symbol; 4,758 with copies could not be cut to 1,891."""
    ball, W = md.L1Ball.from_counts([3000 // (k + 1) + 3 for k in range(61)], known=True), np.eye(61)
    found = next(itertools.islice(search_for(ball, math.exp(epsilon), W).multiplied(None), 1, None))
    check(ball, found, W)
    assert found.weights.size == np.unique(found.columns.round(9), axis=1).shape[1] == 61


def test_columns_that_are_merged_keep_their_order_and_rows():
    columns, weights = np.array([[2.0, 0.0, 2.0, 1.0], [0.0, 2.0, 0.0, 1.0]]), np.array([0.2, 0.4, 0.2, 0.2])
    merged, together = search_for(md.L1Ball([0.5, 0.5]), 2.0, np.eye(2))._merged(columns, weights)
    np.testing.assert_array_equal(merged, [[2.0, 0.0, 1.0], [0.0, 2.0, 1.0]])
    np.testing.assert_allclose(together, [0.4, 0.4, 0.2])


def test_a_dominant_symbol_leaves_a_mechanism():
    """Even weights are far from rows of sum 1, which take more repairs than usual."""
    ball, W = md.L1Ball.from_counts([59_940] + [1] * 60, known=True), np.eye(61)
    found = next(search_for(ball, math.exp(5), W).multiplied(None))
    check(ball, found, W)


@pytest.mark.parametrize("within_simplex", [True, False])
@pytest.mark.parametrize("most", [0, 40])
def test_no_mechanism_leaves_the_cone_of_priors_with_entries_below_0(within_simplex, most, monkeypatch):
    """Sets as in subset selection are private for priors alone: a bound of 3.2 stood above a value of .93."""
    counts = [3_000 // (k + 1) + 3 for k in range(50)] + [0] * 11
    ball, e = md.L1Ball.from_counts(counts, delta="1e-9", within_simplex=within_simplex), math.exp(10)
    monkeypatch.setattr(time, "monotonic", Clock())
    found = generate(ball, e, np.eye(61), np.random.default_rng(0), deadline=time.monotonic() + most)
    greatest = found.matrix.max(axis=0)  # 22,026 times as great as the least mean, which is a sum of such numbers
    assert (greatest <= e * (ball.support(found.matrix) + 1e-12 * greatest)).all()
    assert search_for(ball, e, np.eye(61)).at_once() is None or within_simplex


def test_symbols_of_equal_mass_come_near_the_closed_form():
    """200 equal symbols at exp(epsilon) = 4 have the least error ``199^2 / (200 * 3)``."""
    ball, W, optimum = md.L1Ball.from_counts([5] * 200, known=True), np.eye(200), 199**2 / 600
    found = next(itertools.islice(search_for(ball, 4.0, W).multiplied(None), 2, None))
    check(ball, found, W)
    assert optimum <= found.value <= 1.02 * optimum


def test_columns_that_miss_a_symbol_give_no_mechanism():
    """No weights give a row sum of 1 where all columns are 0."""
    columns = np.array([[2.0, 2.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    with raises("solver-failed"):
        ErrorOfColumns(np.eye(3)).reweighted(columns, np.full(3, 1 / 3), 5)


def test_columns_that_leave_a_direction_out_are_refused():
    columns = np.array([[2.0, 0.5], [0.0, 1.5], [0.0, 1.5]])
    with raises("solver-failed"):
        ErrorOfColumns(np.eye(3)).reweighted(columns, np.array([1 / 3, 2 / 3]), 5)


@pytest.mark.parametrize(
    ("counts", "radius", "workload", "multiplied"),
    [
        ([1] * 61, 0, np.eye(61), True),
        ([1] * 17, 0, np.eye(17), True),
        ([1] * 61, 2, np.eye(61), False),
        ([1] * 61, 0, np.tril(np.ones((61, 61)))[:-1], True),
        ([1] * 61, 0, np.eye(61)[:40], False),
    ],
)
def test_weights_take_multiplicative_steps_where_all_directions_are_asked_for(counts, radius, workload, multiplied):
    lines = []
    ball = md.L1Ball.from_counts(counts, radius=radius)
    found = generate(
        ball, math.e, workload, np.random.default_rng(0), deadline=time.monotonic() + 1.5, progress=lines.append
    )
    last = "computing the best weights"
    assert all(line.startswith(("search round", last) if multiplied else "interior point") for line in lines)
    assert lines or found.stopped == "time limit"
    np.testing.assert_allclose(found.matrix.sum(axis=1), 1, atol=1e-11)


def test_an_interruption_leaves_the_best_mechanism():
    ball = md.L1Ball.from_counts([300 // (k + 1) + 3 for k in range(70)], radius="1/10")

    def interrupt(line):
        if line.startswith("search round 3"):
            raise KeyboardInterrupt

    found = generate(ball, math.e, np.eye(70), np.random.default_rng(0), progress=interrupt)
    assert (found.stopped, found.rounds) == ("interrupted", 3)
    np.testing.assert_allclose(found.matrix.sum(axis=1), 1, atol=1e-11)
    np.testing.assert_allclose(variances_of_matrix(found.matrix, ball.prior, np.eye(70)).sum(), found.value, rtol=1e-9)


def test_groups_of_vectors_have_their_covariance():
    root = np.random.default_rng(1).standard_normal((4, 4))
    drawn = orthogonal_gaussians(root @ root.T, 3, np.random.default_rng(2))
    assert drawn.shape == (4, 12)
    for group in np.split(drawn, 3, axis=1):
        np.testing.assert_allclose(group @ group.T / 4, root @ root.T, atol=1e-10)


@pytest.mark.slow
def test_a_design_of_many_categories_is_bounded_from_both_sides():
    """Beyond 150 categories forms are functions of the mass: both sides are close."""
    problem = md.DesignProblem(md.L1Ball.from_counts([1] * 160, known=True), "log(4)", md.EstimationError())
    design = md.design(problem)
    optimum = 159**2 / (160 * 3)
    assert design.certificate.lower_bound <= optimum * (1 + 1e-9)
    assert design.certificate.lower_bound >= 0.999 * optimum
    assert optimum * (1 - 1e-9) <= design.value <= 1.01 * optimum


@pytest.mark.parametrize("fixed", [0, 40])
def test_a_sweep_of_weighted_columns_lowers_the_error(fixed):
    """From weights by interior points on; the first columns stay, and rows sum to 1."""
    ball, W = md.L1Ball.from_counts([300 // (k + 1) + 3 for k in range(30)], radius="1/10"), np.eye(30)
    search = search_for(ball, float(np.e), W)
    columns = search.first()
    point = solve(columns, ball.prior, W, 1e-3)
    weights = point.weights
    others, repaired = moved(columns, weights, W, search._oracle, np.random.default_rng(0), None, fixed)
    np.testing.assert_array_equal(others[:, :fixed], columns[:, :fixed])
    assert (others != columns).any()
    np.testing.assert_allclose(others @ repaired, 1, atol=1e-11)
    errors = [variances_of_matrix(A, ball.prior, W).sum() for A in (columns * weights, others * repaired)]
    assert errors[1] < 0.999 * errors[0]


def test_columns_without_all_directions_stay():
    columns, weights = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]), np.array([0.5, 0.5])
    oracle = search_for(md.L1Ball([0.5, 0.25, 0.25]), 2.0, np.eye(3))._oracle
    found = moved(columns, weights, np.eye(3), oracle, np.random.default_rng(0), None)
    assert found == (columns, weights)
