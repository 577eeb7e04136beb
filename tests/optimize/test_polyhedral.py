"""Gain utilities: both solvers, the pricing of guesses, and what happens when they fail."""

import math
import time
from fractions import Fraction

import numpy as np
import pytest
from cone_lp import violation
from hypothesis import given
from hypothesis import strategies as st
from strategies import balls, random_ball

import mechdesign as md
from mechdesign.optimize import polyhedral
from mechdesign.optimize.effective_epsilon import effective_exp_epsilon
from mechdesign.optimize.polyhedral import Polytope
from mechdesign.optimize.pricing import gain_duals, price_by_guess
from mechdesign.optimize.pricing.l1_ball_duals import ball_duals
from mechdesign.optimize.pricing.listing import reduced_costs
from mechdesign.optimize.rays import Rays
from mechdesign.uncertainty import LowerLimits, RelativeBall
from mechdesign.uncertainty.base import NO_FLOOR, Floor

AGREE = 1e-9


def random_hull(rng, size, priors):
    weights = rng.integers(1, 200, (priors, size)).tolist()
    return md.ConvexHull([[Fraction(w, sum(row)) for w in row] for row in weights])


def random_sets(rng, size):
    """Every kind of set: known, small, wide, any prior, as printed, symbols without mass, hulls."""
    counts = (1 + rng.integers(0, 200, size)).tolist()
    unseen = [0, *counts[1:]]
    for radius in ("0", "0.01", "0.4", "1.3", "2"):
        for within_simplex in (True, False):
            yield md.L1Ball.from_counts(counts, radius=radius, within_simplex=within_simplex)
            if radius != "0":
                yield md.L1Ball.from_counts(unseen, radius=radius, within_simplex=within_simplex)
    yield random_hull(rng, size, 1)
    yield random_hull(rng, size, 4)


def random_utilities(rng, size):
    yield md.HammingAccuracy()
    for number in (1, 2, 3 * size):
        yield md.ExpectedGain(rng.standard_normal((number, size)).round(3).tolist())
    yield md.ExpectedGain((1000 + rng.random((4, size)).round(3)).tolist())
    yield md.ExpectedDistortion(np.abs(np.subtract.outer(np.arange(size), np.arange(size))).tolist())


@pytest.mark.parametrize(
    "radius",
    [
        pytest.param("0", id="known", marks=pytest.mark.slow),
        pytest.param(None, id="delta", marks=pytest.mark.slow),
        pytest.param("2", id="ldp", marks=pytest.mark.slow),
    ],
)
def test_two_hundred_symbols_are_certified(radius):
    counts = np.random.default_rng(0).integers(10, 2000, 200).tolist()
    known = md.L1Ball.from_counts(counts, radius=radius, delta="1e-9" if radius is None else None)
    design = md.design(md.DesignProblem(known, 1, md.HammingAccuracy()))
    assert design.certified
    assert design.gap <= 1e-8 * design.value
    assert md.verify(design.mechanism).optimal


@pytest.mark.slow
@pytest.mark.parametrize("large", [0, 10**6], ids=["interior-point", "simplex"])
def test_every_set_and_every_gain_is_certified_by_either_solver(large, monkeypatch):
    monkeypatch.setattr(polyhedral, "_LARGE", large)
    rng = np.random.default_rng(1)
    for known in random_sets(rng, 5):
        for utility in random_utilities(rng, 5):
            design = md.design(md.DesignProblem(known, str(rng.choice(["0.01", "0.5", "3"])), utility))
            assert design.certified, design
            assert design.gap >= 0
            md.verify(design.mechanism)


def test_the_solvers_agree():
    rng = np.random.default_rng(2)
    for known in random_sets(rng, 6):
        linear = rng.random((4, 6)) * known.prior
        linear /= linear.max()
        exp_epsilon = float(rng.choice([1.05, 2.0, 30.0]))
        reached = []
        for large in (0, 10**6):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(polyhedral, "_LARGE", large)
                matrix, multipliers, *_ = polyhedral._solve(Polytope(known, exp_epsilon, len(linear)), linear, None)
            reached += [(linear.T * matrix).sum(), multipliers.sum()]
            assert violation(Polytope(known, exp_epsilon, 4), matrix) <= 10 * AGREE
        np.testing.assert_allclose(reached, reached[0], atol=10 * AGREE)


def test_guesses_that_gain_alike_need_no_program():
    design = md.design(md.DesignProblem(md.L1Ball(["0.5", "0.3", "0.2"]), 1, md.ExpectedGain([[1, 2, 3]] * 2)))
    assert design.certified
    assert design.mechanism.matrix.shape == (3, 1)


def failing(*solvers):
    """Return a stand-in for cvxpy's solve in which some solvers fail."""
    import cvxpy as cp

    honest = cp.Problem.solve

    def solve(self, *, solver, **options):
        if solver in solvers:
            raise cp.SolverError("no basis")
        return honest(self, solver=solver, **options)

    return solve


@pytest.mark.parametrize("solver", ["HIGHS", "CLARABEL"])
def test_one_solver_takes_over_where_the_other_fails(solver, monkeypatch):
    problem = md.DesignProblem(random_ball(np.random.default_rng(4), 6, "0.05"), 1, md.HammingAccuracy())
    value = md.design(problem).value
    monkeypatch.setattr("cvxpy.Problem.solve", failing(solver))
    for large in (0, 10**6):
        monkeypatch.setattr(polyhedral, "_LARGE", large)
        design = md.design(problem)
        assert design.certified
        np.testing.assert_allclose(design.value, value, atol=10 * AGREE)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "exp_epsilon", [1.0001, 7.0, *(pytest.param(e, marks=pytest.mark.slow) for e in (1.5, 50.0, 1e9))]
)
def test_the_proposal_for_a_ball_is_that_of_the_linear_program(exp_epsilon):
    rng = np.random.default_rng(5)
    for _ in range(2):
        for known in random_sets(rng, int(rng.integers(2, 8))):
            if not isinstance(known, md.L1Ball):
                continue
            a = rng.standard_normal(known.size) * known.prior ** rng.integers(0, 2)
            a /= np.abs(a).max()
            levels, weights, priors = ball_duals(known, exp_epsilon, a[None])
            member = known.member_near(priors[0])
            np.testing.assert_allclose(member, priors[0], atol=1e-11)
            fast = gain_duals._proved_level(a, known.prior, float(weights[0]), member, exp_epsilon)
            try:
                slow = gain_duals._proved_level(
                    a, known.prior, *gain_duals.MemberProgram.of(known, exp_epsilon).proposed(a), exp_epsilon
                )
            except md.SolverError:
                continue
            # The solver is off by its tolerance over the least mass, and e times it for symbols without mass.
            assert fast <= slow + AGREE * max(1, abs(slow), exp_epsilon / 50)
            if exp_epsilon <= 50 and 0 not in known.center:
                np.testing.assert_allclose(fast, slow, rtol=AGREE, atol=20 * AGREE)
                np.testing.assert_allclose(levels[0], fast, rtol=AGREE, atol=AGREE)


@given(balls(least=4), st.sampled_from(["0.02", "0.5", "2", "9"]), st.booleans(), st.integers(0, 2**32))
def test_garbage_proposals_bound_the_optimum_all_the_same(ball, epsilon, within_simplex, seed):
    rng = np.random.default_rng(seed)
    known = md.L1Ball(ball.center, ball.radius, within_simplex=within_simplex)
    utility = md.HammingAccuracy()
    problem = md.DesignProblem(ball, epsilon, utility)
    exp_epsilon = effective_exp_epsilon(problem)
    multipliers = rng.standard_normal(ball.size) * 0.3
    columns = [np.ones((ball.size, 1))]
    if within_simplex:
        columns += [found for found, _ in reduced_costs(Rays(ball, exp_epsilon), utility, multipliers)]
    greatest = max(float((utility.mu(c, ball.prior) - multipliers @ c).max()) for c in columns if c.size)

    def garbage(set_, exp_epsilon, linear):
        weights = rng.choice([0.0, -1.0, 1e-9, 0.7, 1e6, 1e300, np.inf, np.nan], len(linear))
        priors = rng.standard_normal(linear.shape) * rng.choice([0.1, 1.0, 1e10])
        priors[0, 0] = np.nan
        return np.zeros(len(linear)), weights, priors

    with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
        patch.setattr(gain_duals, "ball_duals", garbage)
        poor = price_by_guess(known, exp_epsilon, utility, multipliers).upper
    assert poor >= greatest - 1e-14
    assert poor >= price_by_guess(known, exp_epsilon, utility, multipliers).upper * (1 - 1e-9) - 1e-9


@pytest.mark.parametrize("floor", [NO_FLOOR, Floor(Fraction(1, 9))])
def test_the_rows_of_a_set_are_made_once_for_all_guesses(floor, monkeypatch):
    """Half of the time of designs for explained variance went into making them again for each prediction."""
    made = []
    rows = md.ConvexHull.support_rows
    monkeypatch.setattr(md.ConvexHull, "support_rows", lambda self: made.append(self) or rows(self))
    hull = random_hull(np.random.default_rng(6), 5, 3)
    price = price_by_guess(hull, 2.0, md.HammingAccuracy(), np.zeros(5), floor=floor)
    assert price.columns == 5
    assert 1 <= len(made) <= 2


@pytest.mark.parametrize("in_time", [True, False])
def test_symbols_that_were_never_seen_are_priced_at_any_epsilon_and_without_time(in_time):
    """The center has no mass there: as a known prior it is refused, which ended designs that ran out of time."""
    known = RelativeBall.from_counts({"a": 50, "b": 30, "c": 15, "d": 0, "e": 0}, "0.01", epsilon="25")
    multipliers, deadline = known.prior + 0.01, None if in_time else time.monotonic() - 1
    for epsilon in (10, 25, 50):
        upper = price_by_guess(known, math.exp(epsilon), md.HammingAccuracy(), multipliers, deadline=deadline).upper
        assert upper == pytest.approx(-0.01 / (50 / 95), rel=1e-9)  # of the column of the first symbol alone


def test_garbage_proposals_for_a_hull_bound_the_optimum_all_the_same(monkeypatch):
    rng = np.random.default_rng(6)
    hull = random_hull(rng, 5, 3)
    problem = md.DesignProblem(hull, 1, md.HammingAccuracy())
    design = md.design(problem)
    for y in (0.0, 0.3, 5.0, math.nan, math.inf):
        poor = lambda *given, y=y: (y, hull.member_near(rng.random(5)))  # noqa: E731
        monkeypatch.setattr(gain_duals.MemberProgram, "proposed", poor)
        assert md.optimize.certify(problem, design.certificate.multipliers).upper_bound >= design.value


@pytest.mark.slow
def test_the_bound_is_never_below_what_a_mechanism_reaches():
    rng = np.random.default_rng(7)
    for known in random_sets(rng, 5):
        for utility in random_utilities(rng, 5):
            problem = md.DesignProblem(known, "0.7", utility)
            solved = md.design(problem)
            for scale in (0.0, 1e-6, 0.1):
                multipliers = solved.certificate.multipliers + scale * rng.standard_normal(5)
                assert md.optimize.certify(problem, multipliers).upper_bound >= solved.value - 1e-12 * abs(solved.value)


# Deadlines


def anywhere(rng, size):
    """A set of each kind of prices: an l1 ball, a lower probability, a hull, a secret."""
    counts = (1 + rng.integers(0, 200, size)).tolist()
    P = [Fraction(count, sum(counts)) for count in counts]
    yield md.L1Ball.from_counts(counts, radius="0.1")
    yield LowerLimits([str(p * Fraction(9, 10)) for p in P], center=[str(p) for p in P])
    yield random_hull(rng, size, 3)
    yield md.SecretPromise([counts, [count + 5 for count in counts[::-1]]], known=True)


@pytest.mark.sampled
@pytest.mark.parametrize("which", range(4))
def test_past_the_deadline_there_is_a_mechanism_and_a_bound_for_it(which):
    rng = np.random.default_rng(which)
    known = list(anywhere(rng, 30))[which]
    problem = md.DesignProblem(known, 1, md.HammingAccuracy())
    best, found = md.design(problem), md.design(problem, time_limit=0)
    assert found.stopped == "time limit"
    assert 0 < found.value <= best.value <= best.bound <= found.bound * (1 + 1e-12)
    assert md.verify(found.mechanism).certificate.upper_bound <= found.bound


def test_where_there_is_time_for_some_guesses_these_are_the_likeliest(monkeypatch):
    counts = [300, 200, 100, 50, *[1] * 16]
    known, asked = md.L1Ball.from_counts(counts, radius="0.02"), []
    plain = polyhedral._solve
    monkeypatch.setattr(polyhedral, "_FEWEST_GUESSES", 4)
    monkeypatch.setattr(polyhedral, "_solve", lambda *given: asked.append(given[0].outputs) or plain(*given[:2], None))
    few = md.design(md.DesignProblem(known, 1, md.HammingAccuracy()), time_limit=0)
    best = md.design(md.DesignProblem(known, 1, md.HammingAccuracy()))
    assert asked == [4, 20]
    assert few.value == pytest.approx(best.value, rel=0.05)
    assert few.value > known.prior.max() * 1.3  # the constant mechanism has the greatest probability


def test_multipliers_of_the_program_prove_prices_without_others(monkeypatch):
    monkeypatch.setattr(gain_duals, "_FOR_PROPOSALS", 600)  # seconds, of a machine that is busy
    rng = np.random.default_rng(3)
    for known in list(anywhere(rng, 8))[1:3]:
        utility = md.HammingAccuracy()
        solution, proposals = polyhedral.solve_polyhedral(known, 2.0, utility, lambda _: None)
        exact, proposed, without = (
            price_by_guess(known, 2.0, utility, solution.multipliers, **options).upper
            for options in ({}, {"proposals": proposals, "deadline": time.monotonic()}, {"deadline": 0.0})
        )
        assert proposed == pytest.approx(exact, abs=1e-8)
        assert exact <= without + 1e-9
        as_known = price_by_guess(md.L1Ball(known.center, 0), 2.0, utility, solution.multipliers).upper
        assert without == pytest.approx(as_known, abs=1e-9)
