"""Column generation against lists of rays, staircase mechanisms and closed forms; and how it stops early."""

import functools
import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from refusals import raises
from scipy.optimize import linprog
from strategies import F_INFORMATIONS, is_closed
from tolerances import CERTIFIED

import mechdesign as md
from mechdesign.numerics.linear_program import ProgramSolution
from mechdesign.optimize.closed_form import randomized_response
from mechdesign.optimize.column_generation import ColumnGeneration
from mechdesign.optimize.master import Master
from mechdesign.optimize.pricing import ListedPricing, check_listable
from mechdesign.optimize.pricing.by_counts import CountPricing

RADII = ("0", "0.01", "0.05", "0.2", "0.5", "1", "1.6", "2")
EPSILONS = ("0.02", "0.1", "0.5", "1", "log(2)", "2", "4")
SHAPES = ("any", "ties", "zeros", "dominant", "uniform")


@pytest.fixture
def by_tables(monkeypatch):
    """Generate columns by tables for problems of any size, also those that would be listed or have a closed form."""
    monkeypatch.setattr("mechdesign.optimize.pricing.choice._LISTED_AT_ONCE", 0)
    monkeypatch.setattr("mechdesign.optimize.every_method.closed_forms", lambda _: [])


def random_counts(rng, size, shape):
    """Return counts of a shape."""
    drawn = 1 + rng.integers(0, 300, size)
    if shape == "ties":
        drawn = np.repeat(drawn, 3)[:size]
    if shape == "zeros":
        drawn[rng.permutation(size)[: 1 + size // 3]] = 0
    if shape == "dominant":
        drawn[0] = 100 * drawn.sum()
    if shape == "uniform":
        drawn[:] = drawn[0]
    return drawn.tolist()


def random_problem(rng, size, radius, utility, shape):
    found = random_counts(rng, size, shape)
    if radius == "0":
        found = [max(count, 1) for count in found]
    ball = md.L1Ball.from_counts(found, radius=radius)
    return md.DesignProblem(ball, str(rng.choice(EPSILONS)), utility)


def listed(problem, tol=1e-9):
    """Return the design by listing all rays."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mechdesign.optimize.pricing.choice._LISTED_AT_ONCE", 24)
        found = md.design(problem, tol=tol)
    assert found.method == "linear program over all extreme rays"
    return found


@pytest.mark.combined
@pytest.mark.parametrize("rounds", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("utility", F_INFORMATIONS, ids=lambda u: u.name)
def test_tables_and_lists_have_the_same_optimum(utility, shape, rounds, by_tables):
    """Eight problems each and round, 320 in two rounds: every radius, 3 to 8 symbols, in two rounds to 9."""
    # Integers cost squared Hellinger more, because its slope at zero is infinite.
    loss = 1e-6 if utility == md.SquaredHellinger() else CERTIFIED
    rng = np.random.default_rng([F_INFORMATIONS.index(utility), SHAPES.index(shape)])
    for radius in RADII * rounds:
        problem = random_problem(rng, int(rng.integers(3, 9 if rounds == 1 else 10)), radius, utility, shape)
        tables, rays = md.design(problem, tol=1e-9), listed(problem)
        assert tables.method == f"column generation, priced by {CountPricing.method}"
        np.testing.assert_allclose(tables.value, rays.value, rtol=0, atol=loss)
        np.testing.assert_allclose(tables.upper_bound, rays.upper_bound, rtol=0, atol=CERTIFIED)
        assert tables.upper_bound >= rays.value
        assert rays.upper_bound >= tables.value
        assert 0 <= tables.gap <= loss
        assert tables.mechanism.proof.holds
        assert tables.stopped == ""


@pytest.mark.sampled
@pytest.mark.parametrize("radius", ["0.01", "0.3", "1", "2"])
def test_balls_as_printed_have_the_same_optimum(radius, by_tables):
    rng = np.random.default_rng(8)
    for utility in F_INFORMATIONS[:3]:
        ball = md.L1Ball.from_counts(random_counts(rng, 6, "any"), radius=radius, within_simplex=False)
        problem = md.DesignProblem(ball, 1, utility)
        tables, rays = md.design(problem, tol=1e-9), listed(problem)
        np.testing.assert_allclose(tables.value, rays.value, rtol=0, atol=CERTIFIED)
        assert tables.upper_bound >= rays.value


@pytest.mark.combined
@pytest.mark.parametrize("epsilon", ["0.01", "6", "9", "12", "40", "300"])
@pytest.mark.parametrize("radius", ["0", "0.4", "2"])
def test_small_and_large_epsilons_are_certified(epsilon, radius, by_tables):
    """With a radius beyond twice the least probability nothing but exp(epsilon) bounds the columns."""
    problem = md.DesignProblem(md.L1Ball.from_counts([40, 25, 9, 4, 1, 1], radius=radius), epsilon)
    tables = md.design(problem)
    assert tables.certified
    np.testing.assert_allclose(tables.value, listed(problem, 1e-6).value, rtol=2e-6, atol=CERTIFIED)


# Local differential privacy


TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def staircase_optimum(P, epsilon, utility):
    """Return the optimum over all 2^N - 2 columns of two values (Kairouz, Oh and Viswanath)."""
    high = np.array(list(product([0, 1], repeat=P.size)))[1:-1].T
    columns = 1 + (math.exp(epsilon) - 1) * high
    solved = linprog(-utility.mu(columns, P), A_eq=columns, b_eq=np.ones(P.size), options=TIGHT)
    assert solved.status == 0
    return -solved.fun


@pytest.mark.combined
@pytest.mark.parametrize("utility", F_INFORMATIONS, ids=lambda u: u.name)
@pytest.mark.parametrize("size", [6, 10, 12])
def test_with_any_prior_the_optimum_is_that_of_all_staircase_columns(size, utility, by_tables):
    rng = np.random.default_rng(size)
    for epsilon, shape in ((0.3, "any"), (1.0, "ties"), (2.5, "zeros")):
        ball = md.L1Ball.from_counts(random_counts(rng, size, shape), radius=2)
        found = md.design(md.DesignProblem(ball, epsilon, utility), tol=1e-9)
        expected = staircase_optimum(ball.prior, epsilon, utility)
        np.testing.assert_allclose(found.value, expected, rtol=0, atol=CERTIFIED)
        assert found.upper_bound >= expected - 1e-12


@pytest.mark.parametrize("size", [4, 8, 14])
def test_binary_and_k_ary_randomized_response_are_optimal_at_the_ends(size, by_tables):
    """Of a uniform prior, for mutual information: binary for small epsilon, k-ary for large."""
    for epsilon, solve in ((0.1, randomized_response.solve_binary), (6, randomized_response.solve)):
        problem = md.DesignProblem(md.L1Ball.from_counts([1] * size, radius=2), epsilon)
        form = solve(problem)
        expected = problem.utility.value(form.matrix, problem.uncertainty.prior)
        found = md.design(problem, tol=1e-9)
        np.testing.assert_allclose(found.value, expected, rtol=0, atol=CERTIFIED)
        assert found.upper_bound >= expected


# Symmetries


@pytest.mark.sampled
@pytest.mark.parametrize("utility", F_INFORMATIONS, ids=lambda u: u.name)
def test_names_and_order_of_symbols_change_nothing(utility, by_tables):
    rng = np.random.default_rng(12)
    for radius in ("0", "0.1", "0.8"):
        found = random_counts(rng, 9, "ties")
        order = rng.permutation(9).tolist()
        labelled = {f"a{k}": count for k, count in enumerate(found)}
        renamed = {f"b{k}": found[k] for k in order}
        values = [
            md.design(md.DesignProblem(md.L1Ball.from_counts(counts, radius=radius), 1, utility), tol=1e-9)
            for counts in (labelled, renamed)
        ]
        np.testing.assert_allclose(values[0].value, values[1].value, rtol=0, atol=10 * CERTIFIED)
        assert values[0].upper_bound >= values[1].value
        assert values[1].upper_bound >= values[0].value


@pytest.mark.parametrize("shape", ["ties", "uniform", "zeros"])
def test_a_mechanism_from_folded_symbols_has_at_most_as_many_outputs_as_symbols(shape, by_tables):
    rng = np.random.default_rng(3)
    for radius in ("0.02", "0.5"):
        ball = md.L1Ball.from_counts(random_counts(rng, 9, shape), radius=radius)
        assert md.design(md.DesignProblem(ball, 1)).mechanism.matrix.shape[1] <= 9


# More symbols than can be listed


@pytest.mark.combined
@pytest.mark.parametrize("utility", F_INFORMATIONS, ids=lambda u: u.name)
@pytest.mark.parametrize(
    ("size", "radius"),
    [(30, "0"), (30, "0.05"), *(pytest.param(50, radius, marks=pytest.mark.slow) for radius in ("0", "0.02"))],
)
def test_thirty_and_fifty_symbols_are_certified(size, radius, utility):
    """Counts are 1 plus uniform integers below 200 from the generator with seed `size`."""
    found = (1 + np.random.default_rng(size).integers(0, 200, size)).tolist()
    problem = md.DesignProblem(md.L1Ball.from_counts(found, radius=radius), 1, utility)
    solved = md.design(problem)
    assert is_closed(solved) or (utility == md.SquaredHellinger() and solved.gap <= 2e-6)
    assert solved.mechanism.proof.holds
    assert solved.closed_form is None or solved.closed_form.value <= solved.upper_bound


def test_the_bound_of_thirty_symbols_is_confirmed_from_the_file(tmp_path):
    found = (1 + np.random.default_rng(30).integers(0, 200, 30)).tolist()
    solved = md.design(md.DesignProblem(md.L1Ball.from_counts(found, radius="0.05"), 1))
    solved.mechanism.save(tmp_path / "m.json")
    verified = md.verify(md.Mechanism.load(tmp_path / "m.json"))
    assert verified.optimal
    assert verified.certificate.method == CountPricing.method


# Stopping early

EARLY = md.DesignProblem(
    md.L1Ball.from_counts((1 + np.random.default_rng(20).integers(0, 200, 20)).tolist(), radius="0.05"), 1
)


@functools.cache
def optimum():
    return md.design(EARLY)


def assert_a_true_but_open_result(found):
    assert not found.certified
    assert found.gap > found.tol * found.value
    assert 0 <= found.value <= optimum().upper_bound
    assert found.upper_bound >= optimum().value
    assert found.mechanism.proof.holds
    verified = md.verify(found.mechanism)
    assert verified.certificate.upper_bound <= found.upper_bound
    assert not verified.optimal


def test_without_time_the_first_mechanism_comes_with_its_true_gap():
    found = md.design(EARLY, time_limit=0)
    assert found.stopped == "time limit"
    assert_a_true_but_open_result(found)
    assert optimum().stopped == ""
    assert optimum().certified


def test_enough_time_changes_nothing():
    found = md.design(EARLY, time_limit=3600)
    assert found.certified
    assert found.stopped == ""


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_an_interrupt_in_the_middle_of_pricing_leaves_a_proved_mechanism(after, monkeypatch):
    price, calls = CountPricing.price, []

    def interrupted(self, multipliers, *, thorough=True, deadline=None):
        calls.append(multipliers)
        if len(calls) == after + 1:
            raise KeyboardInterrupt
        return price(self, multipliers, thorough=thorough, deadline=deadline)

    monkeypatch.setattr(CountPricing, "price", interrupted)
    found = md.design(EARLY)
    assert found.stopped == "interrupted"
    assert_a_true_but_open_result(found)


@pytest.mark.parametrize("after", [1, 2, 3])
def test_an_interrupt_in_the_middle_of_a_linear_program_leaves_a_proved_mechanism(after, monkeypatch):
    solve, calls = Master.solve, []

    def interrupted(self):
        calls.append(self)
        if len(calls) == after + 1:
            raise KeyboardInterrupt
        solve(self)

    monkeypatch.setattr(Master, "solve", interrupted)
    found = md.design(EARLY)
    assert found.stopped == "interrupted"
    assert_a_true_but_open_result(found)


def test_columns_that_were_added_but_never_solved_do_not_disturb_the_last_solution(monkeypatch):
    """An interrupt may come between the list of columns and the program that is to hold them."""
    add, calls = Master.add, []

    def interrupted(self, columns, gains):
        calls.append(columns)
        if len(calls) == 4:
            raise KeyboardInterrupt
        add(self, columns, gains)

    monkeypatch.setattr(Master, "add", interrupted)
    found = md.design(EARLY)
    assert found.stopped == "interrupted"
    assert_a_true_but_open_result(found)


def test_a_linear_program_that_fails_is_an_error_and_no_mechanism(monkeypatch):
    monkeypatch.setattr(ProgramSolution, "optimal", False)
    with raises("solver-failed"):
        md.design(EARLY)


def test_a_primal_simplex_that_is_led_astray_is_followed_by_a_dual_one(monkeypatch):
    optimal, told = ProgramSolution.optimal.fget, []

    def at_the_second_try(self):
        told.append(self)
        return len(told) % 2 == 0 and optimal(self)

    monkeypatch.setattr(ProgramSolution, "optimal", property(at_the_second_try))
    found = md.design(EARLY)
    assert found.certified
    np.testing.assert_allclose(found.value, optimum().value, rtol=1e-6)


def test_a_false_optimum_is_seen_by_the_bound(monkeypatch):
    """A pricing that finds no columns ends the search at once, but its bound tells the truth."""
    price = CountPricing.price

    def finds_no_columns(self, multipliers, *, thorough=True, deadline=None):
        return replace(price(self, multipliers, thorough=thorough, deadline=deadline), best=np.empty((20, 0)))

    monkeypatch.setattr(CountPricing, "price", finds_no_columns)
    found = md.design(EARLY)
    assert found.stopped == "stalled"
    assert_a_true_but_open_result(found)


def test_progress_tells_of_columns_value_and_gap():
    told = []
    md.design(EARLY, progress=told.append)
    assert any(line.startswith("column generation: ") and "gap" in line for line in told)


@pytest.mark.parametrize("radius", ["0", "0.05", "2"])
def test_a_list_of_rays_is_a_pricing_that_column_generation_can_use(radius):
    problem = md.DesignProblem(md.L1Ball.from_counts([50, 30, 15, 4, 1], radius=radius), 1)
    pricing = ListedPricing(check_listable(problem.uncertainty, math.e), problem.utility)
    solution = ColumnGeneration(problem, pricing, lambda step: None).solve(1e-9, None)
    bound = md.optimize.certify(problem, solution.multipliers, pricing).upper_bound
    assert 0 <= bound - problem.utility.value(solution.matrix, problem.uncertainty.prior) <= CERTIFIED
    costs = problem.utility.mu(pricing.guess(np.zeros(5)), problem.uncertainty.prior)
    assert costs.max() == pytest.approx(pricing.price(pricing.centers()[0]).upper)


def test_a_program_over_rays_that_runs_out_of_rounds_ends_with_its_true_gap(monkeypatch):
    problem = md.DesignProblem(md.ConvexHull([["0.5", "0.3", "0.2"], ["0.2", "0.3", "0.5"]]), 1)
    whole = md.design(problem)
    monkeypatch.setattr("mechdesign.optimize.column_generation._MOST_ROUNDS", 1)
    ended = md.design(problem)
    assert ended.stopped == "stalled"
    assert ended.value <= whole.value + 1e-9 <= ended.bound + 2e-9
    assert md.verify(ended.mechanism).proof.holds
