"""The list of rays of a lower probability against vertices in rationals that follow from the sets' definitions."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from lower_sets import instances, row_of, rows_of, some_prior
from refusals import raises
from tolerances import ALGEBRA, CERTIFIED

import mechdesign as md
from mechdesign.optimize.lower_rays import LowerRays
from mechdesign.optimize.pricing import check_listable, price_by_listing, pricing_for
from mechdesign.optimize.pricing.branch_and_bound import price_by_boxes
from mechdesign.optimize.pricing.listing import lower_probability_of
from mechdesign.optimize.pricing.pairs_both_sides import TwoSidedPairPricing
from mechdesign.optimize.pricing.pairs_of_pieces import PiecePricing
from mechdesign.optimize.pricing.pairs_of_sets import PairPricing
from mechdesign.optimize.rays import Rays
from mechdesign.uncertainty import Box, EventSet, LowerLimits, RelativeBall
from mechdesign.uncertainty.base import Floor


def solved(rows):
    matrix = fmpq_mat([[fmpq(x.numerator, x.denominator) for x in row] for row, _ in rows])
    if matrix.det() == 0:
        return None
    sides = [[fmpq(side.numerator, side.denominator)] for _, side in rows]
    return tuple(Fraction(int(x.p), int(x.q)) for x in matrix.solve(fmpq_mat(sides)).entries())


def vertices_of(known):
    """All vertices of the set."""
    whole, rows, found = ([Fraction(1)] * known.size, Fraction(1)), rows_of(known), set()
    for chosen in combinations(rows, known.size - 1):
        Q = solved([whole, *chosen])
        if Q is not None and all(sum(a * q for a, q in zip(row, Q, strict=True)) >= side for row, side in rows):
            found.add(Q)
    return found


def exact_rays(known, e):
    """All rays, with greatest entry 1."""
    N, priors = known.size, vertices_of(known)
    rows = [(list(Q), 1 / e) for Q in priors]
    rows += [(row_of([i], N), Fraction(value)) for i in range(N) for value in (0, 1)]
    found = set()
    for chosen in combinations(rows, N):
        x = solved(chosen)
        if x is None or x in found or max(x) != 1 or min(x) < 0:
            continue
        slack = min(sum(q * v for q, v in zip(Q, x, strict=True)) for Q in priors) - 1 / e
        if slack == 0 or (slack > 0 and sum(x) == 1):
            found.add(x)
    return found


@pytest.mark.parametrize(
    ("count", "size", "seed"),
    [(60, 2, 0), (25, 3, 1), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((240, 3, 1), (30, 4, 2)))],
)
def test_the_list_is_that_of_all_rays_in_rationals(count, size, seed):
    kinds = set()
    for known, e in instances(count, size, seed):
        rays = LowerRays(known, float(e))
        exact = np.array(sorted(exact_rays(known, e)), dtype=float).reshape(-1, size)
        listed = [columns / columns.max(axis=0) for columns in rays.of_kinds(rays.kinds)]
        columns = np.hstack([np.empty((size, 0)), *listed]).T
        kinds |= {kind for kind in rays.kinds if rays.count(kind)}
        assert len(columns) == len(exact) == rays.count(rays.kinds), (known, e)
        for ray in exact:
            assert np.abs(columns - ray).max(axis=1).min() <= ALGEBRA, (known, e, ray)
    assert kinds == ({"I", "P"} if size == 2 else {"I", "E", "P"})


def test_the_support_function_is_that_of_all_vertices():
    rng = np.random.default_rng(4)
    for known, _ in instances(120, 3, 3):
        vertices = vertices_of(known)
        assert all(known.contains(Q) for Q in vertices)
        for column in rng.integers(0, 9, (6, 3)).tolist():
            least = min(sum(q * v for q, v in zip(Q, column, strict=True)) for Q in vertices)
            assert known.exact_support(column) == least
            assert known.support(np.array([column]).T)[0] == pytest.approx(float(least), abs=ALGEBRA)
            assert known.exact_worst_mean(column)[1] in vertices


def test_every_f_is_supermodular():
    for known, _ in instances(150, 4, 5):
        values, common = known.of_every_set()
        assert (values[0], values[-1]) == (0, common)
        for S in range(16):
            assert Fraction(values[S], common) == known.least_mass([i for i in range(4) if S >> i & 1])
            for T in range(16):
                assert values[S] + values[T] <= values[S | T] + values[S & T]


def test_pairs_that_are_decomposable_change_no_bound(monkeypatch):
    rng = np.random.default_rng(6)
    for known, e in instances(20, 4, 6):
        multipliers = rng.normal(size=4) * known.prior
        short = price_by_listing(LowerRays(known, float(e)), md.MutualInformation(), multipliers)
        with monkeypatch.context() as patched:
            patched.setattr("mechdesign.optimize.lower_rays._MOST_DECOMPOSED", 0)
            whole = price_by_listing(LowerRays(known, float(e)), md.MutualInformation(), multipliers)
        assert whole.columns >= short.columns
        assert whole.upper == pytest.approx(short.upper, abs=1e-12)


def test_an_l1_ball_has_the_rays_of_its_own_list():
    for size, radius in ((3, "0.3"), (4, "0.16"), (5, "0.5")):
        P = some_prior(np.random.default_rng(size), size, zeros=False)
        ball, pieces = md.L1Ball(P, radius), RelativeBall(P, 1, Fraction(radius) / 2)
        lists = []
        for rays in (Rays(ball, 2.5), LowerRays(pieces, 2.5)):
            columns = np.hstack(list(rays.of_kinds(rays.kinds)))
            lists.append({tuple(v) for v in (columns / columns.max(axis=0)).T.round(9) + 0.0})
        # That list may hold columns that are not rays.
        assert lists[1] <= lists[0]


@pytest.mark.combined
@pytest.mark.parametrize(
    "utility", [md.MutualInformation(), md.ChiSquare(), md.SquaredHellinger(), md.TotalVariation()]
)
@pytest.mark.parametrize("size", [4, 9])
def test_pricing_over_pairs_is_pricing_over_the_list(utility, size):
    rng = np.random.default_rng(size)
    for known, e in instances(4, size, size)[:4] if size < 5 else [(events(size), 2.5), (box(size), 3.0)]:
        for _ in range(3):
            multipliers = rng.normal(size=size) * known.prior
            listed = price_by_listing(check_listable(known, float(e)), utility, multipliers)
            priced = PairPricing(known, float(e), utility).price(multipliers)
            assert listed.upper - 1e-13 <= priced.upper <= listed.upper + 1e-9
            reached = utility.mu(priced.best, known.prior) - multipliers @ priced.best
            assert reached.max() == pytest.approx(priced.upper, abs=1e-9)


@pytest.mark.parametrize("lower", [["0.5", "0.2", "0.1"], ["0.3", "0.2", "0.1"]], ids=["a symbol", "a tie"])
def test_pricing_over_pairs_has_the_rays_of_one_set(lower):
    """At exp(epsilon) = 3 and 2 the best column is that of one symbol, and of two whose g is 0."""
    known = LowerLimits(lower, center=["0.55", "0.3", "0.15"])
    e, chosen = (3.0, [0]) if lower[0] == "0.5" else (2.0, [0, 1])
    multipliers = np.where(np.isin(range(3), chosen), -1.0, 5.0)
    price = PairPricing(known, e, md.MutualInformation()).price(multipliers)
    column = np.isin(range(3), chosen) / known.prior[chosen].sum()
    reached = md.MutualInformation().mu(column[:, None], known.prior)[0] - multipliers @ column
    assert reached <= price.upper <= reached + 1e-9


def events(size):
    return EventSet.from_counts(range(2, 2 + size), "0.01")


def box(size):
    return Box.from_counts(range(2, 2 + size), "0.01")


def test_eleven_symbols_are_designed_alike_by_pairs_by_the_list_and_by_boxes(monkeypatch):
    for known in (events(11), LowerLimits.from_counts(range(20, 31), "0.01")):
        problem = md.DesignProblem(known, "0.9")
        paired = md.design(problem, tol=1e-7)
        assert "every pair of sets" in paired.method
        monkeypatch.setattr("mechdesign.optimize.pricing.choice._LISTED_PAIRS", 12)
        listed = md.design(problem, tol=1e-7)
        assert "all extreme rays" in listed.method
        monkeypatch.undo()
        assert paired.certified
        assert listed.certified
        assert paired.value == pytest.approx(listed.value, rel=2e-7)


def test_more_symbols_than_pairs_can_be_priced_for_are_priced_by_pieces():
    known = LowerLimits.from_counts(range(200, 217), "0.01")
    assert isinstance(pricing_for(known, 1.1, md.MutualInformation()), PiecePricing)
    with raises("no-method", "17", "1.3e+08"):
        check_listable(known, 1.1)


@pytest.mark.slow
def test_a_search_over_boxes_is_pricing_over_the_list():
    rng = np.random.default_rng(8)
    for known in (events(5), box(5), LowerLimits.from_counts(range(20, 25), "0.01")):
        multipliers = rng.normal(size=5) * 0.1 * known.prior
        listed = price_by_listing(check_listable(known, 2.0), md.MutualInformation(), multipliers).upper
        searched = price_by_boxes(known, 2.0, md.MutualInformation(), multipliers, target=listed + 1e-6, most_nodes=400)
        assert listed - 1e-12 <= searched.upper <= listed + 1e-2
        reached = md.MutualInformation().mu(searched.best, known.prior) - multipliers @ searched.best
        assert reached.max() == pytest.approx(listed, abs=1e-7)


def test_the_theorem_bounds_a_solver_that_knows_no_ray():
    """Total variation as a gain: one linear program over support rows against the list."""
    for known, _ in instances(12, 3, 11):
        gains = md.ExpectedGain(np.eye(3))
        designed = md.design(md.DesignProblem(known, "log(2)", gains))
        rays = check_listable(known, 2.0)
        columns = np.hstack([np.ones((3, 1)), *rays.of_kinds(rays.kinds)])
        assert designed.certified
        listed = greatest_over(columns, gains, known.prior)
        assert designed.value == pytest.approx(listed, abs=CERTIFIED)


def greatest_over(columns, utility, prior):
    from scipy.optimize import linprog

    solution = linprog(-utility.mu(columns, prior), A_eq=columns, b_eq=np.ones(len(columns)), bounds=(0, None))
    return -solution.fun


@pytest.mark.combined
@pytest.mark.parametrize("size", [3, 6, 9])
@pytest.mark.parametrize("floor", [Floor(Fraction(1, 2)), Floor(Fraction(1, 10)), Floor(Fraction(9, 10))])
def test_pricing_over_pairs_for_both_sides_is_pricing_over_the_list(size, floor):
    rng = np.random.default_rng(size)
    for known in (md.L1Ball.from_counts(range(2, 2 + size), delta="0.01"), box(size), events(size)):
        lower = lower_probability_of(known)
        for utility in (md.MutualInformation(), md.TotalVariation(), md.SquaredHellinger()):
            multipliers = rng.normal(size=size) * known.prior
            listed = price_by_listing(check_listable(known, 2.5, floor), utility, multipliers)
            priced = TwoSidedPairPricing(lower, 2.5, utility, floor).price(multipliers)
            assert listed.upper - 1e-13 <= priced.upper <= listed.upper + 1e-9
            reached = utility.mu(priced.best, known.prior) - multipliers @ priced.best
            assert reached.max() == pytest.approx(priced.upper, abs=1e-9)


def test_thirteen_symbols_are_designed_for_both_sides():
    """Merging symbols of equal rows keeps the promise, so that the design for twelve symbols is not better."""
    counts = [300, 200, 150, 120, 100, 90, 80, 70, 60, 50, 40, 30]
    ball = md.L1Ball.from_counts([*counts[:-1], 20, 10], radius="0.05")
    merged = md.L1Ball.from_counts(counts, radius="0.05")
    finer, coarser = (md.design(md.DesignProblem(known, 1, lower=1), tol=1e-4) for known in (ball, merged))
    assert "for both sides" in finer.method
    assert finer.certified
    assert finer.bound >= coarser.value
    assert md.verify(finer.mechanism).proof.lower_leakage <= 1
    assert finer.bound <= md.design(md.DesignProblem(md.L1Ball(ball.center), 1, lower=1)).bound
