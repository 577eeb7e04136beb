"""Rays found by cutting a cube: against the lists of kinds, of hulls and of pairs, and against linear programs."""

from __future__ import annotations

import contextlib
import itertools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from cone_lp import greatest_by_lp
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import raises
from repetitions import examples

import mechdesign as md
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize import cut_rays
from mechdesign.optimize.cut_rays import CutRays
from mechdesign.optimize.double_description import in_floats
from mechdesign.optimize.estimation.listed import ListedForms
from mechdesign.optimize.hull_rays import HullRays
from mechdesign.optimize.lower_rays import LowerRays
from mechdesign.optimize.pricing import check_listable, pricing_for
from mechdesign.optimize.rays import Rays
from mechdesign.uncertainty import Box, LowerLimits

SMOKES = md.L1Ball(["0.75", "0.25"], "0.1", ["no", "yes"])
AGE = md.L1Ball(["0.5", "0.3", "0.2"], "0.3", ["low", "mid", "high"])
HULL = md.ConvexHull([["0.5", "0.3", "0.2"], ["0.2", "0.2", "0.6"], ["0.1", "0.9", "0"]], labels=["a", "b", "c"])
LIMITS = LowerLimits(["0.3", "0.2", "0.1", "0.05"], center=["0.4", "0.3", "0.2", "0.1"])
BOX = Box(["0.4", "0.2", "0.05"], ["0.6", "0.4", "0.3"], center=["0.5", "0.3", "0.2"])
PRODUCTS = {
    "2 x 2": md.ProductSet(SMOKES, SMOKES),
    "3 x 2": md.ProductSet(AGE, SMOKES),
    "hull x 2": md.ProductSet(HULL, SMOKES),
    "2 x known": md.ProductSet(SMOKES, md.L1Ball(["0.5", "0.3", "0.2"])),
}


@pytest.mark.combined
@pytest.mark.parametrize(
    ("known", "listed"),
    [
        (AGE, Rays),
        (md.L1Ball.from_counts([5, 3, 2, 1, 4], known=True), Rays),
        (md.L1Ball.from_counts([5, 3, 0, 2], radius="0.2"), Rays),
        (md.L1Ball(["0.5", "0.3", "0.2"], 2), Rays),
        (HULL, HullRays),
        (LIMITS, LowerRays),
        (BOX, LowerRays),
    ],
    ids=repr,
)
@pytest.mark.parametrize("e", [1.05, 2.0, 7.5])
def test_prices_are_those_of_the_list_of_the_set(known, listed, e):
    rng = np.random.default_rng(1)
    rays, cut = ListedForms(listed(known, e)), ListedForms(CutRays(known, e))
    for _ in range(20):
        A, lam = rng.normal(size=(known.size, known.size)), rng.normal(size=known.size)
        form = QuadraticForm.of_matrix(A @ A.T)
        # What a list holds beyond the rays is in the cone, and a convex form is greatest at a ray.
        assert cut.price(form, lam).upper == pytest.approx(rays.price(form, lam).upper, rel=1e-9, abs=1e-9)


MANY_CORNERS = md.ProductSet(SMOKES, md.L1Ball.from_counts([1000] * 4, radius="0.05"))  # 288 that matter


@pytest.mark.combined
@pytest.mark.parametrize(
    ("known", "e"),
    [*itertools.product(PRODUCTS.values(), [1.2, 2.7]), pytest.param(MANY_CORNERS, 1.001, marks=pytest.mark.slow)],
)
def test_linear_functions_of_products_are_greatest_at_a_ray(known, e):
    rng = np.random.default_rng(2)
    columns = np.hstack(list(CutRays(known, e).of_kinds("V")))
    np.testing.assert_allclose(known.prior @ columns, 1, rtol=1e-12)
    assert (columns.max(axis=0) <= e * known.support(columns) * (1 + 1e-12)).all()
    for _ in range(8):
        a = rng.normal(size=known.size)
        assert (a @ columns).max() == pytest.approx(greatest_by_lp(known, e, a), rel=1e-7, abs=1e-7)


@settings(max_examples=examples(25), deadline=None)
@given(st.integers(2, 4), st.integers(1, 5), st.floats(1.01, 20), st.integers(0, 10**6))
def test_hulls_have_the_rays_that_all_systems_have(N, count, e, seed):
    rng = np.random.default_rng(seed)
    priors = [[Fraction(int(x), int(row.sum())) for x in row] for row in rng.integers(1, 9, (count, N))]
    hull = md.ConvexHull(priors)
    found = {tuple(v) for v in (CutRays(hull, e)._columns.T).round(9).tolist()}
    listed = HullRays(hull, e)
    expected = np.hstack(list(listed.of_kinds(listed.kinds)))
    assert {tuple(v) for v in (expected / expected.max(axis=0)).T.round(9).tolist()} <= found


@pytest.mark.sampled
@pytest.mark.parametrize("name", PRODUCTS)
def test_designs_for_products_are_certified_and_kept(name, tmp_path):
    known = PRODUCTS[name]
    problem = md.DesignProblem(known, 1, md.EstimationError())
    found = md.design(problem)
    assert found.certified
    # Product mechanisms that share the budget have the guarantee.
    halves = [md.design(md.DesignProblem(one, "0.5")).mechanism for one in (known.first, known.second)]
    shared = halves[0].product(halves[1])
    assert problem.utility.value(shared.matrix, known.prior) >= found.lower_bound
    found.mechanism.save(tmp_path / "m.json")
    again = md.verify(md.Mechanism.load(tmp_path / "m.json"))
    assert again.certificate.lower_bound >= found.lower_bound
    # Every prior of the product is within this ball's reach: LDP has no less error, the known prior no more.
    local, certain = (
        md.design(md.DesignProblem(md.L1Ball(known.center, radius), 1, md.EstimationError())) for radius in (2, 0)
    )
    assert certain.lower_bound <= found.value
    assert found.lower_bound <= local.value


def test_a_product_of_known_priors_is_the_joint_prior():
    known = md.ProductSet(md.L1Ball(["0.7", "0.3"]), md.L1Ball(["0.5", "0.3", "0.2"]))
    joint, pairs = (
        md.design(md.DesignProblem(one, 1, md.EstimationError())) for one in (md.L1Ball(known.center), known)
    )
    assert pairs.value == pytest.approx(joint.value, rel=2e-6)


@pytest.mark.slow
def test_three_attributes_of_two_levels_are_listed():
    known = md.ProductSet(SMOKES, PRODUCTS["2 x 2"], "|")
    assert md.design(md.DesignProblem(known, 1, md.EstimationError())).certified


CENTER = tuple(Fraction(k, 10) for k in (4, 3, 3))


@dataclass
class _Round:
    """A disc of priors of three symbols, by as many of its corners as are asked for."""

    size: int = 3

    def exact_worst_mean(self, column):
        # The mean of a column over a disc around the center: every direction has a corner of its own.
        mean = Fraction(sum(column), 3)
        away = [x - mean for x in column]
        length = Fraction(float(sum(x * x for x in away)) ** 0.5) or Fraction(1)
        prior = tuple(p - x / length / 10 for p, x in zip(CENTER, away, strict=True))
        return sum(q * x for q, x in zip(prior, column, strict=True)), prior


def test_sets_with_too_many_corners_are_refused(monkeypatch):
    monkeypatch.setattr(cut_rays, "_MOST_WALLS", 192)
    with raises("no-method", "_Round", "of 3", "more than 186 corners that matter"):
        CutRays(_Round(), 2.0).count("V")
    monkeypatch.setattr(cut_rays, "_MOST_VERTICES", 25)
    with raises("no-method", "ProductSet", "of 4", "more than 25 extreme rays"):
        check_listable(PRODUCTS["2 x 2"], 2.0)


@pytest.mark.parametrize("utility", [md.EstimationError(), md.ChiSquare()])
def test_rays_are_cut_once_where_they_are_too_many(monkeypatch, utility):
    monkeypatch.setattr(cut_rays, "_MOST_VERTICES", 25)
    cut, began = cut_rays._Cutting.vertices, []
    monkeypatch.setattr(cut_rays._Cutting, "vertices", lambda self: began.append(1) or cut(self))
    with contextlib.suppress(md.LimitError):
        md.design(md.DesignProblem(PRODUCTS["2 x 2"], 1, utility))
    assert len(began) == 1


def test_nine_symbols_are_refused():
    with raises("no-method", match="a ProductSet of more than 8 categories, and this one has 9; use an L1Ball"):
        md.design(md.DesignProblem(md.ProductSet(AGE, AGE), 1, md.EstimationError()))


def test_information_of_more_than_four_symbols_is_priced_without_the_list():
    for known in PRODUCTS.values():
        method = "every extreme ray" if known.size <= 4 else "branch and bound over boxes"
        assert pricing_for(known, 2.0, md.MutualInformation()).method == method


def test_four_symbols_are_certified_where_boxes_around_kinks_do_not_close():
    known = md.ProductSet(md.L1Ball(["0.8", "0.2"]), md.L1Ball(["0.6", "0.4"]))
    solved = md.design(md.DesignProblem(known, "log(25/12)", md.TotalVariation()))
    assert solved.certified
    assert solved.value == pytest.approx(0.4992, abs=1e-9)


def test_few_symbols_with_too_many_rays_are_priced_by_boxes(monkeypatch):
    monkeypatch.setattr(cut_rays, "_MOST_VERTICES", 25)
    assert pricing_for(PRODUCTS["2 x 2"], 2.0, md.MutualInformation()).method == "branch and bound over boxes"


def test_all_walls_of_a_vertex_are_known():
    """Every vertex is in as many walls as it has entries at least, and these determine it."""
    cutting = cut_rays._Cutting(PRODUCTS["3 x 2"], Fraction(2))
    points = cutting.vertices()
    N = 6
    assert len(set(points)) == len(points)
    for point, walls in zip(points, cutting.walls, strict=True):
        assert np.bitwise_count(walls).sum() >= N
        for i in range(N):
            assert bool(int(walls[0]) >> i & 1) == (point[i] == point[-1])
            assert bool(int(walls[0]) >> N + i & 1) == (point[i] == 0)
    for one, other in itertools.combinations(cutting.walls[:100], 2):
        assert ((one & other) != one).any()


@pytest.mark.parametrize("e", [1.1, 3.3])
def test_rays_are_within_the_errors_that_are_stated(e):
    """Of vertices in rationals, over their mean in rationals; some are off by rounding, none by more."""
    known = PRODUCTS["3 x 2"]
    exact = [
        [Fraction(x) / sum(p * y for p, y in zip(known.center, point, strict=False)) for x in point[:-1]]
        for point in cut_rays._Cutting(known, Fraction(e)).vertices()
        if max(point[:-1]) == point[-1]
    ]
    ((columns, errors),) = CutRays(known, e).with_errors("V")
    off = 0
    for column, error, ray in zip(columns.T, errors.T, exact, strict=True):
        for x, most, true in zip(column.tolist(), error.tolist(), ray, strict=True):
            assert abs(Fraction(x) - true) <= Fraction(most) <= Fraction(1e-13) * true
            off += Fraction(x) != true
    assert off > 0


@pytest.mark.parametrize("scale", [1, 10**400])
def test_sides_of_a_half_space_are_exact_where_floats_cannot_tell(scale):
    cutting = cut_rays._Cutting(AGE, Fraction(2))
    cutting.points = [(2**70 + apart, 2**70, 5, 2**71) for apart in (-1, 0, 1, -(2**40), 2**40)]
    cutting.floats = np.array([in_floats(point) for point in cutting.points])
    assert cutting.signs([scale, -scale, 0, 0]).tolist() == [-1, 0, 1, -1, 1]
