"""The list of a hull's rays against enumerations and linear programs that know nothing of it."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from cone_lp import greatest_by_lp
from flint import fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import raises
from repetitions import examples
from scipy.spatial import HalfspaceIntersection
from strategies import F_INFORMATIONS, counts, hulls, random_hull
from tolerances import ALGEBRA, CERTIFIED, SOLVER

import mechdesign as md
from mechdesign.optimize.column_generation import solve_ray_lp
from mechdesign.optimize.hull_rays import HullRays, essential_priors
from mechdesign.optimize.pricing import check_listable, price_by_listing
from mechdesign.optimize.rays import Rays

exps = st.sampled_from([1 + 1e-9, 1.001, 1.125, 1.5, 2.0, math.e, 5.0, 40.0, 1e9])


def listed(rays):
    return np.hstack([np.empty((rays.prior.size, 0)), *rays.of_kinds(rays.kinds)])


def to_greatest_one(columns):
    return columns / columns.max(axis=0)


def exact_vertices(hull, e):
    """All vertices with greatest entry 1 that may be rays, from every N rows of the polytope in rationals."""
    N = hull.size
    rows = [([fmpq(q.numerator, q.denominator) for q in Q], fmpq(e.denominator, e.numerator)) for Q in hull.priors]
    bounds = [([fmpq(int(i == k)) for i in range(N)], fmpq(value)) for k in range(N) for value in (0, 1)]
    found = set()
    for chosen in combinations(rows + bounds, N):
        matrix = fmpq_mat([row for row, _ in chosen])
        if matrix.det() == 0:
            continue
        x = matrix.solve(fmpq_mat(N, 1, [side for _, side in chosen])).entries()
        inside = all(0 <= value <= 1 for value in x) and max(x) == 1
        slacks = [sum((q * v for q, v in zip(Q, x, strict=True)), fmpq(0)) - side for Q, side in rows]
        # Where no row is tight the cone is the orthant.
        if inside and min(slacks) >= 0 and (min(slacks) == 0 or sum(x) == 1):
            found.add(tuple(Fraction(int(v.p), int(v.q)) for v in x))
    return found


@given(hulls(), exps)
def test_every_listed_column_is_in_the_cone(hull, exp_epsilon):
    rays = HullRays(hull, exp_epsilon)
    for columns, errors in rays.with_errors(rays.kinds):
        np.testing.assert_allclose(hull.prior @ columns, 1, atol=ALGEBRA)
        assert columns.min(initial=0) >= 0
        slack = exp_epsilon * hull.support(columns) - columns.max(axis=0)
        # An error in an entry enters h with its probability, and the maximum as it is.
        allowed = (1 + exp_epsilon) * errors.max(axis=0) + 1e-14 * columns.max(axis=0)
        assert (slack >= -allowed).all()
        assert (errors.max(axis=0) <= 1e-8 * columns.max(axis=0)).all()


@given(hulls(most=4, priors=3), st.sampled_from([1.125, 1.5, 2.0, math.e, 40.0]))
def test_the_list_is_that_of_all_vertices_in_rationals(hull, exp_epsilon):
    exact = exact_vertices(hull, Fraction(exp_epsilon))
    columns = to_greatest_one(listed(HullRays(hull, exp_epsilon))).T
    for vertex in exact:
        assert np.abs(columns - [float(x) for x in vertex]).max(axis=1).min() <= ALGEBRA, vertex
    for column in columns:
        assert min(np.abs(column - [float(x) for x in vertex]).max() for vertex in exact) <= 1e-9, column


def test_the_list_is_that_of_qhull():
    rng = np.random.default_rng(5)
    for size, priors, e in ((3, 2, 2.0), (4, 3, 1.5), (5, 4, math.e), (6, 3, 2.5), (5, 8, 1.7)):
        hull = random_hull(rng, size, priors)
        Q = np.array([[float(q) for q in prior] for prior in hull.priors])
        sides = np.r_[np.full(priors, 1 / e), np.zeros(size), np.full(size, -1.0)]
        halfspaces = np.c_[-np.r_[Q, np.eye(size), -np.eye(size)], sides]
        found = HalfspaceIntersection(halfspaces, np.full(size, (1 + 1 / e) / 2)).intersections
        tight = ((Q @ found.T).min(axis=0) < 1 / e + 1e-9) | (found.sum(axis=1) < 1 + 1e-9)
        found = {tuple(x) for x in found[tight & (found.max(axis=1) > 1 - 1e-9)].round(7) + 0.0}
        assert {tuple(x) for x in to_greatest_one(listed(HullRays(hull, e))).T.round(7) + 0.0} == found


@pytest.mark.slow
@given(hulls(), exps, st.integers(0, 2**32))
def test_the_list_holds_a_maximiser_of_every_linear_function(hull, exp_epsilon, seed):
    rng = np.random.default_rng(seed)
    exp_epsilon = min(exp_epsilon, 40.0)  # of what a linear program can be asked
    columns = listed(HullRays(hull, exp_epsilon))
    for _ in range(3):
        a = rng.standard_normal(hull.size) * hull.prior
        np.testing.assert_allclose((a @ columns).max(), greatest_by_lp(hull, exp_epsilon, a), atol=SOLVER)


@settings(max_examples=examples(30))
@given(counts(zeros=False), st.sampled_from([1.01, 1.5, math.e, 9.0]))
def test_a_hull_of_one_prior_is_a_known_prior(row, exp_epsilon):
    P = [Fraction(n, sum(row)) for n in row]
    of_ball = listed(Rays(md.L1Ball(P), exp_epsilon)).T
    of_hull = listed(HullRays(md.ConvexHull([P]), exp_epsilon)).T
    for column in of_ball:
        assert np.abs(of_hull - column).max(axis=1).min() <= 1e-11 * column.max()
    solved = [
        md.design(md.DesignProblem(md.L1Ball(P), f"{math.log(exp_epsilon):.6f}")).value,
        solve_ray_lp(
            HullRays(md.ConvexHull([P]), math.exp(float(f"{math.log(exp_epsilon):.6f}"))),
            md.MutualInformation(),
            lambda step: None,
        ).multipliers.sum(),
    ]
    np.testing.assert_allclose(*solved, atol=CERTIFIED)


def test_a_hull_of_all_certain_priors_is_local_differential_privacy():
    of_hull = to_greatest_one(listed(HullRays(md.ConvexHull(np.eye(4, dtype=int).tolist()), 2.5)))
    of_ball = to_greatest_one(listed(Rays(md.L1Ball([Fraction(1, 4)] * 4, 2), 2.5)))
    # The ones belong to both cones, but are a ray of none.
    assert {tuple(v) for v in of_hull.T.round(12)} - {(1.0,) * 4} == {tuple(v) for v in of_ball.T.round(12)}


def test_a_hull_of_the_vertices_of_a_ball_is_that_ball():
    P, t = [Fraction(4, 10), Fraction(3, 10), Fraction(2, 10), Fraction(1, 10)], Fraction(1, 20)
    moved = [[p - t * (i == k) + t * (i == m) for i, p in enumerate(P)] for k in range(4) for m in range(4) if k != m]
    ball, hull = md.L1Ball(P, 2 * t), md.ConvexHull(moved, [Fraction(1, 12)] * 12)
    of_ball, of_hull = (to_greatest_one(listed(rays)).T for rays in (Rays(ball, 2.0), HullRays(hull, 2.0)))
    for column in of_ball:
        assert np.abs(of_hull - column).max(axis=1).min() <= 1e-12


@given(hulls(priors=3), st.permutations(range(4)))
def test_redundant_priors_change_nothing(hull, order):
    kept = essential_priors(hull.priors)
    assert set(kept) <= set(hull.priors)
    inner = [tuple(sum(column, Fraction(0)) / len(kept) for column in zip(*kept, strict=True))]
    again = essential_priors([*kept, *inner, *kept])
    assert set(again) == set(kept)
    if len(kept) > 1:
        # Each of them is needed: without it the hull is smaller.
        assert all(not md.ConvexHull([q for q in kept if q != Q]).contains(Q) for Q in kept if positive(kept, Q))


def positive(kept, without):
    """Whether the other priors are a hull of their own: every symbol has mass under one of them."""
    return all(any(Q[i] > 0 for Q in kept if without != Q) for i in range(len(without)))


def test_entries_are_as_exact_as_they_say():
    """Nearly equal priors and a symbol of probability 1e-13: the columns again in rationals."""
    tiny = Fraction(1, 10**13)
    rows = [
        [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5) - tiny, tiny],
        [Fraction(1, 2) - 3 * tiny, Fraction(3, 10) + tiny, Fraction(1, 5) + tiny, tiny],
        [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2) - tiny / 7, tiny / 7],
    ]
    hull = md.ConvexHull(rows)
    for exp_epsilon in (1.5, 2.0, 2.5, 1e12, 3e13):
        exact = exact_vertices(hull, Fraction(exp_epsilon))
        exact = [[x / sum(p * y for p, y in zip(hull.center, v, strict=True)) for x in v] for v in exact]
        rays = HullRays(hull, exp_epsilon)
        chunks = list(rays.with_errors(rays.kinds))
        columns, errors = (np.hstack(parts).T for parts in zip(*chunks, strict=True))
        for vertex in exact:
            near = [
                all(abs(Fraction(x) - y) <= Fraction(d) for x, y, d in zip(v, vertex, allowed, strict=True))
                for v, allowed in zip(columns.tolist(), errors.tolist(), strict=True)
            ]
            assert any(near), vertex


class MissesRays(HullRays):
    """A list of rays with one kind lost."""

    lost = ""

    def with_errors(self, kinds):
        return super().with_errors(kinds.replace(self.lost, ""))


@pytest.mark.parametrize(
    ("kind", "exp_epsilon"),
    [("0", 4.0), ("1", 2.0), *(pytest.param(kind, 2.0, marks=pytest.mark.slow) for kind in "23")],
)
def test_rays_that_are_lost_give_a_bound_that_the_whole_list_refutes(kind, exp_epsilon, monkeypatch):
    """Guards the tests of completeness: without any kind they would fail."""
    hull = md.ConvexHull([[Fraction(3 + 7 * (i == k) + 9 * (i == 3), 31) for i in range(5)] for k in range(3)])
    whole, short = HullRays(hull, exp_epsilon), MissesRays(hull, exp_epsilon)
    monkeypatch.setattr(MissesRays, "lost", kind)
    rng = np.random.default_rng(3)
    linear = [rng.standard_normal(5) * hull.prior for _ in range(60)]
    missed = [greatest_by_lp(hull, exp_epsilon, a) - (a @ listed(short)).max() for a in linear]
    assert max(missed) > 1e-4
    # So great that mu does not decide.
    false = [price_by_listing(short, md.ChiSquare(), -100 * a).upper for a in linear]
    true = [price_by_listing(whole, md.ChiSquare(), -100 * a).upper for a in linear]
    assert min(np.subtract(false, true)) < -1e-4


@given(hulls(most=4), st.sampled_from([1.05, 1.5, math.e]), st.sampled_from(F_INFORMATIONS), st.integers(0, 2**32))
def test_any_dual_vector_bounds_the_linear_program(hull, exp_epsilon, utility, seed):
    rays = check_listable(hull, exp_epsilon)
    solution = solve_ray_lp(rays, utility, lambda step: None)
    np.testing.assert_allclose(solution.matrix.sum(axis=1), 1, atol=1e-9)
    value = utility.value(solution.matrix, hull.prior)
    rng = np.random.default_rng(seed)
    for scale in (0.0, 0.1):
        multipliers = solution.multipliers + scale * rng.standard_normal(hull.size)
        bound = multipliers.sum() + price_by_listing(rays, utility, multipliers).upper
        assert bound >= value - 1e-12
        assert scale > 0 or bound <= value + CERTIFIED


def test_chunks_and_batches_do_not_change_the_list(monkeypatch):
    hull = random_hull(np.random.default_rng(8), 6, 3)
    whole = listed(HullRays(hull, 2.5))
    monkeypatch.setattr("mechdesign.optimize.hull_rays._CHUNK", 5)
    monkeypatch.setattr("mechdesign.optimize.hull_rays._MOST_AT_ONCE", 40)
    pieces = HullRays(hull, 2.5)
    assert max(columns.shape[1] for columns in pieces.of_kinds(pieces.kinds)) <= 5
    assert {tuple(v) for v in whole.T.round(12)} == {tuple(v) for v in listed(pieces).T.round(12)}


@pytest.mark.parametrize("priors", [2, 3])
def test_twelve_symbols_are_certified(priors):
    hull = random_hull(np.random.default_rng(12), 12, priors)
    rays = check_listable(hull, math.e)
    solution = solve_ray_lp(rays, md.MutualInformation(), lambda step: None)
    bound = solution.multipliers.sum() + price_by_listing(rays, md.MutualInformation(), solution.multipliers).upper
    value = md.MutualInformation().value(solution.matrix, hull.prior)
    assert 0.5 < value <= bound <= value + CERTIFIED


def test_lists_too_long_are_refused_by_their_count(monkeypatch):
    rng = np.random.default_rng(0)
    with raises("no-method", "2^30"):
        check_listable(random_hull(rng, 30, 2), math.e)
    with raises("no-method", "12", "and 20", "2.3e+08"):
        check_listable(random_hull(rng, 12, 20), math.e)
    few = random_hull(rng, 5, 2)
    monkeypatch.setattr("mechdesign.optimize.hull_rays.MOST_LISTED_VERTICES", 20)
    with raises("no-method", "5", "and 2", "than 20"):
        check_listable(few, 2.0)


def test_many_priors_on_a_line_are_two():
    ends = [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)], [Fraction(1, 5), Fraction(1, 5), Fraction(3, 5)]
    line = [[(k * a + (19 - k) * b) / 19 for a, b in zip(*ends, strict=True)] for k in range(20)]
    assert check_listable(md.ConvexHull(line), 2.0).kinds == "012"
