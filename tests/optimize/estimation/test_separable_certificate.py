"""Certificates of separable forms for many symbols, against optima over all rays and against each other."""

import math
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repetitions import examples
from scipy.optimize import linprog

import mechdesign as md
from mechdesign.optimize.estimation.caps import best_caps, bound_of_caps
from mechdesign.optimize.estimation.form_certificate import lower_bound, root_trace_down, total_up
from mechdesign.optimize.estimation.listed import ListedForms, solve_listed
from mechdesign.optimize.estimation.separable import SeparablePricing
from mechdesign.optimize.estimation.separable_certificate import (
    _HELD,
    _PATIENCE,
    _PATIENCE_ENOUGH,
    _RISE,
    _families,
    _kept,
    certificate_for_many,
    keep_bounded,
    spanning,
)
from mechdesign.optimize.estimation.separable_dual import RestrictedDual
from mechdesign.optimize.rays import Rays

PROBLEMS = Path(__file__).parents[3] / "problems"
DIGITS = 1e-5  # bounds are told to six digits


def ball_of(name, **options):
    given = md.read_problem(PROBLEMS / f"adult-{name}.toml").problem.uncertainty
    return md.L1Ball.from_counts(given.evidence.counts, **options)


def told_to(bounds):
    """A callback that appends the lower bound of each round."""
    return lambda line: bounds.append(float(line.split()[4][:-1]))


def certified(ball, epsilon=1.0, workload=None, begin=None, deadline=None, **options):
    pricing = SeparablePricing(ball, float(np.exp(epsilon)))
    W = np.eye(ball.size) if workload is None else workload
    begin = np.empty((ball.size, 0)) if begin is None else begin
    return certificate_for_many(pricing, W, begin, deadline, **options)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "options", "least", "optimum"),
    [
        ("workclass", {"radius": 0}, 6.0123, 6.01233327),
        ("workclass", {"delta": "1e-9", "bound": "weissman"}, 6.40, 6.42609648),
        ("relationship", {"radius": 0}, 2.9657, 3.00680154),
        ("relationship", {"delta": "1e-9", "bound": "weissman"}, 3.17, 3.20837010),
        ("occupation", {"radius": 0}, 7.8797, 7.90536109),
        ("education", {"radius": 0}, 9.3127, 9.32970308),
        pytest.param("education", {"delta": "1e-9", "bound": "weissman"}, 10.0546, 10.05671, marks=pytest.mark.slow),
    ],
)
def test_reference_values_from_below(name, options, least, optimum):
    """The last column is the optimum over all rays; for education with a ball, that of separable forms."""
    found = certified(ball_of(name, **options))
    assert least <= found.lower_bound <= optimum
    assert found.lower_bound <= found.limit * (1 + 1e-6)


@pytest.mark.parametrize(
    ("name", "options", "close"),
    [
        ("native-country", {"radius": 0}, 1e-3),
        pytest.param("native-country", {"radius": 2}, 1e-2, marks=pytest.mark.slow),
        pytest.param("native-country", {"delta": "1e-9", "bound": "weissman"}, 1.5e-2, marks=pytest.mark.slow),
    ],
)
def test_many_symbols_come_close_to_what_separable_forms_can_prove(name, options, close):
    found = certified(ball_of(name, **options), close=close)
    assert found.lower_bound >= (1 - close) * found.limit


def test_the_bound_follows_from_the_stored_numbers():
    ball, e = ball_of("occupation", delta="1e-9"), float(np.exp(1.0))
    found = certified(ball, close=1e-2)
    again = SeparablePricing(ball, e)
    price = again.price(found.form, found.multipliers)
    root, eta = root_trace_down(found.form, ball.prior, np.eye(ball.size))
    assert found.lower_bound == lower_bound(root, total_up(found.multipliers, price.upper, eta, again.limits))


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(12))
def test_never_above_the_optimum_over_all_rays(seed):
    rng = np.random.default_rng(seed)
    N = int(rng.integers(3, 6))
    ball = md.L1Ball.from_counts((rng.integers(1, 40, N)).tolist(), radius=str(rng.choice([0, 0.05, 0.2, 2.0])))
    W = np.eye(N) if seed % 2 else np.tril(np.ones((N, N)))[:-1]
    pricing = SeparablePricing(ball, 2.0)
    found = certificate_for_many(pricing, W, np.empty((N, 0)), None)
    solution, _ = solve_listed(ListedForms(Rays(ball, 2.0)), W, pricing.limits, 1e-6, None, lambda _: None)
    J = solution.matrix @ (solution.matrix / (ball.prior @ solution.matrix)).T
    error = float(np.trace(W @ np.linalg.pinv(J) @ W.T) - ((W @ ball.prior) ** 2).sum())
    assert 0.5 * error < found.lower_bound <= error * (1 + 1e-9)


def test_symbols_without_mass_are_covered():
    ball = md.L1Ball.from_counts([50, 30, 20, 0], radius="0.1")
    found = certified(ball)
    assert 0 < found.lower_bound < np.inf


def test_a_search_goes_on_from_a_known_certificate():
    ball = ball_of("occupation", delta="1e-9")
    first = certified(ball, close=1e-3)
    assert certified(ball, begin=first, deadline=0.0).lower_bound >= first.lower_bound
    again = certified(ball, begin=first, close=1e-3)
    assert again.lower_bound >= first.lower_bound
    assert again.rounds < first.rounds / 2


@pytest.mark.parametrize(("epsilon", "cap"), [("0.01", None), ("0.01", "1.5"), ("0.001", "0.002")])
def test_a_small_epsilon_has_a_bound_of_the_order_of_the_error(epsilon, cap):
    """Columns differ little from 1, so that caps of entries say nothing: they are a tenth of it or less."""
    ball = md.L1Ball.from_counts([2000 // k for k in range(1, 31)], delta="1e-9")
    problem = md.DesignProblem(ball, epsilon, md.EstimationError(), cap=cap)
    pricing = SeparablePricing(ball, math.exp(float(epsilon)), problem.sides.floor_down)
    found = certificate_for_many(pricing, np.eye(30), np.empty((30, 0)), None)
    design = md.design(problem, time_limit=3)
    assert 0.8 * design.value <= found.lower_bound <= design.value
    assert bound_of_caps(best_caps(ball.prior, pricing.limits, np.eye(30)), ball.prior, pricing.limits, np.eye(30)) < (
        0.1 * found.lower_bound
    )


def test_numbers_too_far_apart_for_floats_leave_the_bound_of_the_caps():
    ball = md.L1Ball.from_counts([1] * 61, known=True)
    W = np.diag(10.0 ** np.linspace(-3, 3, 61))
    problem = md.DesignProblem(ball, 1, md.EstimationError(W.tolist()))
    design = md.design(problem, time_limit=1)
    caps = certified(ball, workload=W, deadline=time.monotonic()).lower_bound
    assert 0 < caps * (1 - 1e-9) <= design.bound <= design.value <= 1.1 * design.bound


def test_queries_whose_answer_is_known_have_no_error():
    ball = md.L1Ball.from_counts([5, 3, 2], known=True)
    assert certified(ball, workload=np.ones((1, 3))).lower_bound <= 1e-12


def test_a_deadline_ends_the_search_with_a_bound_that_holds():
    ball = ball_of("education", delta="1e-9")
    pricing = SeparablePricing(ball, float(np.exp(1.0)))
    lines = []
    now = time.monotonic()
    found = certificate_for_many(pricing, np.eye(16), np.empty((16, 0)), now, lines.append)
    assert lines == []
    assert found.rounds == 0
    assert 9.3 < found.lower_bound <= 10.05671


def test_the_restricted_dual_satisfies_its_conditions_and_weighs_a_mechanism():
    ball = md.L1Ball.from_counts([5, 4, 3, 2], radius=2)
    held = np.hstack(list(Rays(ball, 2.5).of_kinds("D")))
    dual = RestrictedDual(ball.prior, np.eye(4), with_common=True)
    point = dual.solve(held, dual.joined(np.ones(4), 0.0, np.zeros(4)), 1e-7, room=1.0)
    assert point.converged
    assert point.form.common < 0
    assert (point.form.values(held - 1) <= point.multipliers @ held + 1e-9).all()
    np.testing.assert_allclose(held @ point.weights, 1, atol=1e-3)
    assert point.value <= point.limit <= point.value * (1 + 1e-6)
    pricing = ListedForms(Rays(ball, 2.5))
    assert pricing.price(point.form, point.multipliers).upper <= 1e-6 * point.value


@pytest.mark.slow
@pytest.mark.parametrize("radius", ["0.1", "2"])
def test_the_search_ends_where_the_bound_no_longer_rises(radius):
    """Some bounds stay below their limit for ever; a bound that is enough already gets less patience."""
    ball = md.L1Ball.from_counts([round(20_000 / k) for k in range(1, 21)], radius=radius)
    rounds = {}
    for enough in (0.0, np.inf):
        pricing = SeparablePricing(ball, float(np.exp(1.0)))
        bounds = []
        found = certificate_for_many(
            pricing,
            np.eye(20),
            np.empty((20, 0)),
            None,
            told_to(bounds),
            enough=enough,
        )
        rounds[enough] = found.rounds
        last = _PATIENCE_ENOUGH if enough == 0 else _PATIENCE
        assert found.rounds < 40
        assert found.lower_bound > 0
        assert found.lower_bound >= (1 - 3e-4) * found.limit or bounds[-1] <= bounds[-1 - last] * (1 + _RISE) * (
            1 + DIGITS
        )
    assert rounds[0.0] <= rounds[np.inf]


@pytest.mark.slow
def test_a_limit_below_the_bound_does_not_end_the_search(monkeypatch):
    """The restricted dual knows its limit up to its residuals. Without a limit a search ends where it gains little."""
    pricing = SeparablePricing(ball_of("occupation", radius=2), float(np.exp(1.0)))
    solve, limits, bounds = RestrictedDual.solve, [], []

    def too_low(self, *arguments):
        point = solve(self, *arguments)
        limits.append(0.8 * point.limit)
        return replace(point, limit=limits[-1])

    monkeypatch.setattr(RestrictedDual, "solve", too_low)
    certificate_for_many(pricing, np.eye(15), np.empty((15, 0)), None, told_to(bounds))
    assert len(bounds) > _PATIENCE
    assert min(limits) < bounds[-1] <= bounds[-1 - _PATIENCE] * (1 + _RISE) * (1 + DIGITS)


LARGE_EPSILON = [2710, 2437, 2651, 3270, 2824, 3352, 2380, 3156, 2219, 3417, 2387, 3275, 3068, 3502, 3263, 2770, 3329]


def test_a_design_at_a_large_epsilon_is_certified():
    ball = md.L1Ball.from_counts(LARGE_EPSILON, delta="1e-9")
    design = md.design(md.DesignProblem(ball, 4, md.EstimationError()))
    assert design.certified
    # Each report may be the symbol itself: the error is that of the sample.
    assert design.value == pytest.approx(1 - float((ball.prior**2).sum()), rel=1e-6)


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("counts", "epsilon", "options"),
    [
        (LARGE_EPSILON, 4.0, {"delta": "1e-9"}),
        pytest.param([*LARGE_EPSILON, 900, 450, 225, 110], 5.0, {"delta": "1e-9"}, marks=pytest.mark.slow),
        (LARGE_EPSILON, 3.0, {"radius": "0"}),
        ([2**k for k in range(17)], 6.0, {"radius": "2"}),
    ],
)
def test_rounds_from_poor_columns_end_with_a_bound_at_every_epsilon(counts, epsilon, options, monkeypatch):
    """No columns of a mechanism are given: the columns that are held must keep the restricted dual bounded."""
    solve, weighed = RestrictedDual.solve, []

    def observed(self, columns, *arguments):
        point = solve(self, columns, *arguments)
        weighed.append((point.converged, np.linalg.matrix_rank(columns)))
        assert np.isfinite(point.parameters).all()
        return point

    monkeypatch.setattr(RestrictedDual, "solve", observed)
    ball = md.L1Ball.from_counts(counts, **options)
    found = certified(ball, epsilon)
    assert 0 < found.lower_bound <= found.limit * (1 + 1e-6)
    assert {rank for _, rank in weighed} == {ball.size}
    assert sum(converged for converged, _ in weighed) >= 0.5 * len(weighed)


def test_spanning_columns_sum_to_ones_with_positive_weights_and_span_all_directions():
    rng = np.random.default_rng(3)
    rays = np.hstack(list(Rays(md.L1Ball.from_counts([6, 5, 4, 3, 2], radius="0.2"), 3.0).of_kinds("ABCD")))
    columns = np.hstack([np.ones((5, 1)), rays[:, rng.permutation(rays.shape[1])]])
    found = spanning(columns)
    assert set(map(tuple, found.T)) <= set(map(tuple, columns.T))
    assert np.linalg.matrix_rank(found) == 5
    assert found.shape[1] <= 5 * 5
    assert least_weight(found) > 1e-6


def least_weight(columns):
    """Return the greatest least weight with which columns give the sum (1,...,1)."""
    N, k = columns.shape
    found = linprog(
        [0.0] * k + [-1.0],
        A_ub=np.hstack([-np.eye(k), np.ones((k, 1))]),
        b_ub=np.zeros(k),
        A_eq=np.hstack([columns, np.zeros((N, 1))]),
        b_eq=np.ones(N),
    )
    return found.x[-1] if found.status == 0 else -1.0


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(2, 6), st.integers(1, 14), st.integers(0, 10**6))
def test_columns_that_are_said_to_keep_the_dual_bounded_do(N, k, seed):
    rng = np.random.default_rng(seed)
    columns, weights = rng.exponential(size=(N, k)) ** 2, rng.exponential(size=k) ** 3
    columns /= np.maximum((columns @ weights)[:, None] * rng.normal(1, 0.1, (N, 1)), 1e-3)
    if keep_bounded(columns, weights):
        assert np.linalg.matrix_rank(columns) == N
        assert least_weight(columns) > 0


def test_columns_that_miss_a_direction_do_not_keep_the_dual_bounded():
    unit = 4 * np.eye(4)
    assert keep_bounded(unit, np.full(4, 0.25))
    assert not keep_bounded(unit[:, :3], np.full(3, 0.25))
    assert not keep_bounded(np.array([[1.0, 2.0, 1.0], [0.0, 2.0, 1.0]]), np.array([0.1, 0.3, 0.3]))


def test_a_restricted_dual_without_a_greatest_value_ends():
    """Unit vectors but one: the objective rises without end, until numbers leave the range of floats."""
    dual = RestrictedDual(np.full(4, 0.25), np.eye(4), with_common=False)
    held = 4 * np.eye(4)[:, :3]
    point = dual.solve(held, dual.joined(np.ones(4), 0.0, np.zeros(4)), 1e-9, room=1.0)
    assert not point.converged
    assert np.isfinite(point.parameters).all()
    assert (point.form.values(held - 1) <= point.multipliers @ held).all()


def test_no_step_is_taken_after_the_deadline():
    dual = RestrictedDual(np.full(4, 0.25), np.eye(4), with_common=False)
    start = dual.joined(np.ones(4), 0.0, np.zeros(4))
    point = dual.solve(4 * np.eye(4), start, 1e-9, room=1.0, deadline=time.monotonic())
    assert not point.converged
    np.testing.assert_array_equal(point.form.diagonal, 1.0)


def test_a_bound_next_to_the_error_of_a_known_mechanism_ends_the_search():
    ball = md.L1Ball.from_counts(LARGE_EPSILON, delta="1e-9")
    found = certified(ball, 4.0, error=1 - float((ball.prior**2).sum()))
    assert found.rounds == 0
    assert found.lower_bound >= (1 - 3e-4) * found.limit


def test_columns_for_boundedness_take_no_room_where_others_do_as_well():
    """The heaviest columns are all that is held; where they miss a direction, columns of the first round join them."""
    rng, N, count = np.random.default_rng(0), 4, 4 * _HELD
    first = 4 * np.eye(N)
    heavy = rng.uniform(0.5, 1.5, (N, count))
    heavy /= heavy.mean(axis=0)
    flat = heavy.copy()
    flat[1] = flat[0]
    dual = RestrictedDual(np.full(N, 1 / N), np.eye(N), with_common=False)
    for held, joined in ((heavy, np.empty((N, 0))), (flat, spanning(first))):
        weights = np.append(np.full(count, 1 / count), np.zeros(N))
        kept = _kept(dual, np.hstack([held, first]), weights, first)
        np.testing.assert_array_equal(kept, np.hstack([joined, held]))


@pytest.mark.parametrize("radius", [0, *(pytest.param(radius, marks=pytest.mark.slow) for radius in ("1/10", 2))])
def test_forms_of_few_families_lose_little(radius, monkeypatch):
    """With d and lambda as functions of the mass the bound is at most the bound without, and nearly as good."""
    ball = md.L1Ball.from_counts([400 // (k + 1) + 3 for k in range(24)], radius=radius)
    free = certified(ball)
    monkeypatch.setattr("mechdesign.optimize.estimation.separable_certificate._EACH_ITSELF", 20)
    monkeypatch.setattr("mechdesign.optimize.estimation.separable_certificate._KNOTS", 12)
    few = certified(ball)
    assert 0.995 * free.limit <= few.lower_bound <= free.limit * (1 + 1e-4)


def test_families_hold_what_the_search_begins_with():
    """P and the multipliers of the caps are sums of the families, which are orthonormal and fewer than the symbols."""
    prior = np.array([300.0 / k for k in range(1, 201)])
    prior /= prior.sum()
    diagonal, limits = np.linspace(1, 2, 200), np.minimum(np.e, 1 / prior)
    families = _families(prior, diagonal, limits)
    np.testing.assert_allclose(families.T @ families, np.eye(families.shape[1]), atol=1e-12)
    assert families.shape[1] < 50
    for vector in (prior, diagonal, diagonal * (limits - 2)):
        np.testing.assert_allclose(families @ (families.T @ vector), vector, atol=1e-7)
