"""The end of a search: few columns with the best weights, against bounds, all columns, and steps without time."""

import itertools
import math
import time
from pathlib import Path

import numpy as np
import pytest

import mechdesign as md
from mechdesign.errors import SolverError
from mechdesign.optimize.estimation import column_search, generation, lean_columns
from mechdesign.optimize.estimation.column_search import ColumnSearch
from mechdesign.optimize.estimation.interior_point import solve
from mechdesign.optimize.estimation.lean_columns import lean, seconds_to_weigh
from mechdesign.optimize.estimation.spare_outputs import most_needed

PROBLEMS = Path(__file__).parents[3] / "problems"
N = 20
BALL = md.L1Ball.from_counts([1_000 // k for k in range(1, N + 1)], known=True)


def rounds(count):
    """The mechanism after some rounds of a search."""
    search = ColumnSearch(BALL, math.e, np.eye(N), np.random.default_rng(0))
    return min(itertools.islice(search.multiplied(None), count), key=lambda held: held.value)


@pytest.fixture(scope="module")
def found():
    return rounds(6)


def check(best):
    np.testing.assert_allclose(best.columns @ best.weights, 1, atol=1e-11)
    assert (best.weights > 0).all()
    J = (best.columns * best.weights) @ best.columns.T
    assert best.value == pytest.approx(np.trace(np.linalg.inv(J)) - BALL.prior @ BALL.prior, rel=1e-9)


def test_the_best_weights_of_few_columns_are_no_worse_than_those_of_all_columns(found):
    lines = []
    best = lean(found, np.eye(N), BALL.prior, math.inf, None, lines.append)
    check(best)
    assert lines == ["computing the best weights of 262 columns"]
    assert best.weights.size <= most_needed(N) < found.weights.size
    assert best.value <= found.value
    again = solve(best.columns, BALL.prior, np.eye(N), 1e-9, best.weights).value
    assert again == pytest.approx(best.value, rel=2e-6)


@pytest.mark.parametrize(("seconds", "left"), [(0.0, 1_000), (math.inf, 0)])
def test_without_time_no_more_columns_stay_than_are_ever_needed(found, seconds, left, monkeypatch):
    monkeypatch.setattr(lean_columns, "solve", None)  # which is not called
    best = lean(found, np.eye(N), BALL.prior, seconds, time.monotonic() + left)
    check(best)
    assert best.weights.size <= most_needed(N)
    assert best.value < 1.02 * found.value
    steps = [0] if left == 0 else [0, 30]  # and 300 where there is time
    program, most = column_search.ErrorOfColumns(np.eye(N)), most_needed(N)
    fewer = [program.cut(found, most, steps=number).value for number in steps]
    assert best.value < min(fewer) if left else best.value == pytest.approx(fewer[0], rel=1e-9)


def test_interior_points_that_fail_leave_the_columns_of_steps(found, monkeypatch):
    def failing(*_arguments, **_options):
        raise SolverError.not_converged("never")

    monkeypatch.setattr(lean_columns, "solve", failing)
    best = lean(found, np.eye(N), BALL.prior, math.inf, None)
    check(best)
    assert best.weights.size <= most_needed(N)


def test_a_column_of_no_weight_is_left_out(found):
    weights = found.weights.copy()
    weights[np.argsort(weights)[: weights.size // 2]] = 1e-14
    lighter = column_search.ErrorOfColumns(np.eye(N)).reweighted(found.columns, weights, 0)
    best = lean(lighter, np.eye(N), BALL.prior, 0.0, None)
    check(best)
    assert (best.weights * best.columns.max(axis=0)).min() > 9e-10
    assert (weights * found.columns.max(axis=0)).min() < 1e-12


def test_more_symbols_take_longer_and_more_than_100_are_never_weighed():
    times = [seconds_to_weigh(size) for size in range(2, 103)]
    assert times == sorted(times)
    assert math.isfinite(times[98]), "100 symbols"
    assert math.isinf(times[99]), "101 symbols"


def test_rounds_that_gain_little_take_more_steps_and_move_less_weight(monkeypatch):
    """The weights that new columns begin with, and the numbers of steps; a hundred columns a symbol stay."""
    steps, shares, sizes = [], [], []
    real = column_search.ErrorOfColumns.reweighted

    def observed(self, columns, weights, number, deadline=None):
        steps.append(number)
        shares.append(weights[weights == weights[-1]].sum() / weights.sum())  # new columns stand last
        sizes.append(weights.size)
        return real(self, columns, weights, number, deadline)

    monkeypatch.setattr(column_search.ErrorOfColumns, "reweighted", observed)
    finer = rounds(12)
    assert steps[:2] == [10, 10]
    assert steps == sorted(steps)
    assert steps[-1] == 100
    assert 0.05 < shares[1] <= 0.1 + 1e-9  # copies of columns held are held already
    assert shares[-1] <= 0.01 + 1e-9
    assert max(sizes[1:]) <= 110 * N < sizes[0]
    monkeypatch.setattr(column_search, "_LEAST_NEW", column_search._NEW)
    monkeypatch.setattr(column_search, "_MOST_STEPS", 10)
    bound = md.estimation_bound(BALL, 1)
    assert finer.value < rounds(12).value
    assert finer.value >= bound


@pytest.mark.parametrize(("bound", "waits"), [(0.9995, True), (0.99, False)])
def test_the_best_weights_are_worth_any_wait_where_the_gap_is_small(found, bound, waits, monkeypatch):
    given = []

    def observed(held, workload, prior, seconds, *rest):
        given.append(seconds)
        return lean(held, workload, prior, seconds, *rest)

    monkeypatch.setattr(generation, "lean", observed)
    value = lean(found, np.eye(N), BALL.prior, math.inf, None).value
    goal = generation.Goal(bound * value, 1e-6)
    generation.generate(BALL, math.e, np.eye(N), np.random.default_rng(0), goal=goal)
    assert [math.isinf(seconds) for seconds in given] == [waits]


@pytest.mark.parametrize(("seconds", "kept"), [(1_000, True), (0.5, False)])
def test_time_is_kept_for_the_best_weights_where_they_take_a_part_of_it(seconds, kept, monkeypatch):
    stops = []

    def observed(values, goal, deadline, window):
        stops.append(deadline)
        return ""

    monkeypatch.setattr(generation, "_why_stop", observed)
    monkeypatch.setattr(generation, "seconds_to_weigh", lambda _size: 100.0)
    monkeypatch.setattr(generation, "_TO_CUT", 0.0)
    deadline = time.monotonic() + seconds
    generation.generate(BALL, math.e, np.eye(N), np.random.default_rng(0), deadline=deadline)
    assert stops == [pytest.approx(deadline - 100 * kept)]


@pytest.mark.parametrize("counts", [[1_000 // k for k in range(1, 21)], [3**k for k in range(17)]])
def test_an_error_for_a_known_prior_is_certified_to_the_sixth_digit(counts):
    design = md.design(md.DesignProblem(md.L1Ball.from_counts(counts, known=True), 1, md.EstimationError()))
    assert design.value - design.bound <= 1e-6 * design.value
    assert design.mechanism.matrix.shape[1] <= most_needed(len(counts))


@pytest.mark.slow
def test_an_error_for_94_known_categories_is_within_a_ten_thousandth_of_its_bound():
    """The hours of the Adult data."""
    problem = md.read_problem(str(PROBLEMS / "adult-hours-per-week-known.toml")).problem
    design = md.design(md.DesignProblem(problem.uncertainty, 1, md.EstimationError()), time_limit=60)
    assert design.value - design.bound <= 1e-4 * design.value
    assert design.value == pytest.approx(58.477, abs=0.003)
