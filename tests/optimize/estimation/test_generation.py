"""Mechanisms found by generated columns: private, near the best by all rays, and the same in each run."""

import math
import re
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
from clocks import Clock
from threadpoolctl import threadpool_limits

import mechdesign as md
from mechdesign.errors import SolverError
from mechdesign.optimize.estimation import generation
from mechdesign.optimize.estimation.caps import estimation_bound
from mechdesign.optimize.estimation.column_search import ColumnSearch
from mechdesign.optimize.estimation.generation import Goal, generate, solve_generated
from mechdesign.optimize.estimation.interior_point import solve
from mechdesign.optimize.estimation.separable import SeparablePricing
from mechdesign.optimize.rays import Rays
from mechdesign.uncertainty.base import Floor

PROBLEMS = Path(__file__).parents[3] / "problems"

# The least errors by all rays at epsilon 1; the radius is that of delta = 1e-9.
REFERENCES = [
    ("relationship", "known", 3.00680154, 2e-3),
    ("relationship", "pml", 3.20837010, 2e-3),
    ("relationship", "ldp", 15.25993074, 2e-3),
    ("workclass", "known", 6.01233327, 1e-5),
    ("workclass", "pml", 6.42609648, 2e-3),
    ("workclass", "ldp", 23.82070963, 2e-3),
    ("occupation", "known", 7.90536109, 2e-3),
    ("occupation", "ldp", 47.73033696, 1e-3),
    ("education", "known", 9.32970308, 5e-4),
    ("education", "pml", 10.0606, 5e-4),
    ("education", "ldp", 50.12463696, 1e-3),
]


def ball_of(column, promise):
    ball = md.read_problem(str(PROBLEMS / f"adult-{column}.toml")).problem.uncertainty
    counts = dict(zip(ball.labels, ball.evidence.counts, strict=True))
    how = {"known": {"known": True}, "pml": {"delta": "1e-9", "bound": "weissman"}, "ldp": {"radius": 2}}[promise]
    return md.L1Ball.from_counts(counts, **how)


def check(ball, e, found, workload):
    """The matrix is a private mechanism of the value given."""
    np.testing.assert_allclose(found.matrix.sum(axis=1), 1, atol=1e-12)
    assert (found.matrix >= 0).all()
    assert (found.matrix.max(axis=0) <= e * ball.support(found.matrix) * (1 + 1e-10)).all()
    J = (found.matrix / (ball.prior @ found.matrix)) @ found.matrix.T
    images = np.linalg.pinv(J, rcond=1e-10, hermitian=True) @ workload.T
    np.testing.assert_allclose(J @ images, workload.T, atol=1e-6)
    error = np.trace(workload @ images) - np.sum((workload @ ball.prior) ** 2)
    # Where the workload has low rank, a part of a full one is added, of at most the tolerance of coarse weights.
    assert found.value == pytest.approx(error, rel=1e-4)


@pytest.mark.sampled
@pytest.mark.parametrize(("column", "promise", "value", "near"), REFERENCES)
def test_near_the_best_by_all_rays(column, promise, value, near):
    ball = ball_of(column, promise)
    found = generate(ball, math.e, np.eye(ball.size), np.random.default_rng(0))
    check(ball, math.e, found, np.eye(ball.size))
    assert value * (1 - 1e-5) <= found.value <= value * (1 + near)


@pytest.mark.sampled
@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(k, marks=pytest.mark.slow) for k in range(12, 24))])
def test_random_problems(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 8))
    radius = [Fraction(0), Fraction(1, 20), Fraction(3, 5), Fraction(3, 2), Fraction(2), Fraction(1, 5)][seed % 6]
    ball = md.L1Ball.from_counts(rng.integers(1, 60, size).tolist(), radius=radius, within_simplex=seed % 4 != 1)
    e = math.exp([0.2, 1.0, 2.0, 4.0][seed // 6])
    workload = [np.eye(size), np.tril(np.ones((size, size)))[:-1], rng.standard_normal((size, size))][seed % 3]
    found = generate(ball, e, workload, np.random.default_rng(1))
    check(ball, e, found, workload)
    rays = np.hstack(list(Rays(ball, e).of_kinds("ABCD")))
    least = solve(rays, ball.prior, workload, 1e-9).value
    assert least * (1 - 1e-5) <= found.value <= least * 1.02


@pytest.mark.slow
def test_forty_two_symbols_within_a_promille_of_the_bound():
    ball = ball_of("native-country", "known")
    bound = estimation_bound(ball, 1)
    found = generate(ball, math.e, np.eye(42), np.random.default_rng(0), goal=Goal(bound, 1e-3))
    check(ball, math.e, found, np.eye(42))
    assert found.stopped == ""
    assert bound <= found.value <= bound / (1 - 1e-3)


def test_the_same_seed_gives_the_same_mechanism():
    ball = ball_of("workclass", "pml")
    one, two = (generate(ball, math.e, np.eye(9), np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(one.matrix, two.matrix)
    np.testing.assert_array_equal(one.multipliers, two.multipliers)
    other = generate(ball, math.e, np.eye(9), np.random.default_rng(8))
    assert other.value == pytest.approx(one.value, rel=5e-3)


@pytest.mark.parametrize(("late", "stopped"), [(True, "time limit"), (False, "solver failed")])
def test_an_interior_point_that_stops_before_its_last_step_was_out_of_time(monkeypatch, late, stopped):
    """It raises where its next step would pass the deadline, which has not come yet."""
    real, calls = generation.solve, []

    def solve(*arguments, **options):
        calls.append(1)
        if len(calls) == 1:
            return real(*arguments, **options)
        time.sleep(max(deadline - 0.05 - time.monotonic(), 0) if late else 0)
        raise SolverError.not_converged("in time")

    monkeypatch.setattr(generation, "solve", solve)
    deadline = time.monotonic() + (1 if late else 1_000)
    found = generate(ball_of("workclass", "ldp"), math.e, np.eye(9), np.random.default_rng(0), deadline=deadline)
    assert found.stopped == stopped


def test_a_prefix_of_its_reports_and_a_time_limit():
    ball = ball_of("native-country", "ldp")
    lines = []
    start, before = time.monotonic(), time.process_time()
    assert scipy.linalg  # whose threads are limited too
    with threadpool_limits(1):  # threads of BLAS wait for each other where other processes run
        found = generate(ball, math.e, np.eye(42), np.random.default_rng(0), deadline=start + 1, progress=lines.append)
    assert time.process_time() - before < 20  # about 1 s on an idle machine
    assert found.stopped == "time limit"
    assert [line.split(":")[0] for line in lines] == [f"interior point {k + 1}" for k in range(found.rounds)]
    check(ball, math.e, found, np.eye(42))


def test_an_interruption_leaves_the_last_mechanism():
    ball = ball_of("education", "ldp")

    def interrupt(line):
        if line.startswith("interior point 3"):
            raise KeyboardInterrupt

    found = generate(ball, math.e, np.eye(16), np.random.default_rng(0), progress=interrupt)
    assert (found.stopped, found.rounds) == ("interrupted", 3)
    check(ball, math.e, found, np.eye(16))


def test_a_solver_that_fails_leaves_the_last_mechanism(monkeypatch):
    ball = ball_of("education", "ldp")
    calls = []

    def failing(*args, **options):
        calls.append(args)
        if len(calls) > 3:
            raise SolverError("no convergence")
        return solve(*args, **options)

    monkeypatch.setattr(generation, "solve", failing)
    found = generate(ball, math.e, np.eye(16), np.random.default_rng(0))
    assert (found.stopped, found.rounds) == ("solver failed", 3)
    check(ball, math.e, found, np.eye(16))


def test_no_more_columns_are_held_than_allowed(monkeypatch):
    ball = ball_of("education", "ldp")
    free = generate(ball, math.e, np.eye(16), np.random.default_rng(0))
    monkeypatch.setattr(generation, "_MOST_HELD", 120)
    lines = []
    found = generate(ball, math.e, np.eye(16), np.random.default_rng(0), progress=lines.append)
    check(ball, math.e, found, np.eye(16))
    assert max(int(line.split()[3]) for line in lines[1:]) <= 120
    assert free.value < found.value < 1.1 * free.value


@pytest.mark.slow
def test_symbols_of_probability_0():
    counts = [0, *range(1, 18), 0]
    ball = md.L1Ball.from_counts(counts, radius=Fraction(1, 20))
    found = generate(ball, math.e, np.eye(19), np.random.default_rng(0))
    check(ball, math.e, found, np.eye(19))


@pytest.mark.slow
def test_one_query():
    ball = ball_of("occupation", "known")
    query = np.zeros((1, 15))
    query[0, :3] = 1
    found = generate(ball, math.e, query, np.random.default_rng(0))
    check(ball, math.e, found, query)
    assert found.value < 0.2 * generate(ball, math.e, np.eye(15), np.random.default_rng(0)).value


def test_reports_say_when_the_mechanism_is_certified_and_that_an_interrupt_keeps_it():
    ball, lines, asked = ball_of("education", "pml"), [], []
    least = 0.99 * generate(ball, math.e, np.eye(16), np.random.default_rng(0)).value

    def bounded(columns, error):
        asked.append((columns.shape, error))
        return least

    goal = Goal(0.5 * least, 1e-5, closed=0.03, bounded=bounded)
    found = generate(ball, math.e, np.eye(16), np.random.default_rng(0), goal=goal, progress=lines.append)
    assert found.stopped == "stalled"  # the search goes on while it gains
    assert len(asked) == 1
    assert asked[0][0][0] == 16
    assert lines.pop().startswith("computing the best weights of")
    gaps = [float(re.search(r"(?:gap|within) (\S+) %", line)[1]) for line in lines]
    assert gaps == sorted(gaps, reverse=True)
    last = float(re.search(r"error (\S+)", lines[-1])[1].rstrip(","))
    assert 0.999 * last < found.value <= last  # which the best weights of few columns lower at the end
    certified = [line.startswith("improving until rounds gain little, Ctrl-C keeps it: certified") for line in lines]
    assert certified == [gap <= 3 for gap in gaps]
    assert certified[-1]
    assert not certified[0]


def test_reports_say_how_long_a_certified_mechanism_is_improved():
    ball, lines = ball_of("education", "pml"), []
    deadline = time.monotonic() + 999
    goal = Goal(1.0, closed=0.99)
    generate(ball, math.e, np.eye(16), np.random.default_rng(0), goal=goal, deadline=deadline, progress=lines.append)
    assert re.match(r"improving for at most 9\d\d s more, Ctrl-C keeps it: certified within ", lines[0])


def test_the_time_of_a_bound_does_not_count_as_that_of_a_round(monkeypatch):
    """A search of 42 countries under LDP took its second round for too long to be followed by a third."""
    clock = Clock(1e-6)

    def bounded(_columns, _error):
        clock.now += 100
        return 1.0

    monkeypatch.setattr(time, "monotonic", clock)
    goal, deadline = Goal(bounded=bounded), clock() + 150
    found = generate(
        ball_of("education", "ldp"), math.e, np.eye(16), np.random.default_rng(0), goal=goal, deadline=deadline
    )
    assert clock() > deadline - 50
    assert found.stopped == "stalled"


def test_with_a_cap_gradients_at_random_points_lead_to_better_columns(monkeypatch):
    ball = md.L1Ball.from_counts([1_000 // i + 1 for i in range(1, 49)], known=True)
    e, least, N = math.e, math.exp(-1.5), ball.size
    floor = Floor(Fraction(least), for_everyone=True)
    monkeypatch.setattr(generation, "_MOST_ROUNDS", 6)

    def found():
        return generate(ball, e, np.eye(N), np.random.default_rng(0), floor=floor)

    with threadpool_limits(1):
        better = found()
        monkeypatch.setattr(ColumnSearch, "gradients", lambda _self, active, *_: active[:, :0])
        usual = found()
    check(ball, e, better, np.eye(N))
    assert (better.matrix.min(axis=0) >= least * better.matrix.max(axis=0) * (1 - 1e-10)).all()
    assert better.value < 0.998 * usual.value


@pytest.mark.parametrize("level", ["20", "30"])
def test_fewer_columns_than_blocks_of_a_sweep_are_moved(level):
    """One category has nearly all the mass: few columns have weight beside those that stay."""
    ball = md.L1Ball.from_counts([10**7] + [1] * 60, radius=2)
    design = md.design(md.DesignProblem(ball, level, md.EstimationError()), time_limit=1)
    assert design.bound <= design.value <= 1.05 * design.bound


@pytest.mark.parametrize("heaviest", [1, 10**6])
@pytest.mark.parametrize("exp_epsilon", [1.5, 12.0, 1e6])
def test_no_search_begins_worse_than_randomized_response(heaviest, exp_epsilon):
    """Sets of two categories and more are better for equal masses, single ones where one category has nearly all."""
    ball = md.L1Ball.from_counts([heaviest] + [1] * 39, known=True)
    search = ColumnSearch(ball, exp_epsilon, np.eye(40), np.random.default_rng(0))
    response = np.ones((40, 40)) + (exp_epsilon - 1) * np.eye(40)
    error = md.EstimationError().value(response / response[0].sum(), ball.center)
    assert search.at_once().value <= error * (1 + 1e-9)


@pytest.mark.parametrize("unit", [2.0**-30, 2.0**30])
def test_the_unit_of_queries_changes_no_design(unit):
    ball = md.L1Ball.from_counts([9990] + [16] * 20, known=True)
    W = np.random.default_rng(0).standard_normal((3, 21))
    pricing = SeparablePricing(ball, math.e)
    designs = [solve_generated(pricing, W * each, 1e-3, None, lambda _line: None)[0].matrix for each in (1.0, unit)]
    np.testing.assert_array_equal(*designs)
