"""The list of rays of a two-sided promise against all rays in integers, which follow from the sets' definitions."""

from fractions import Fraction

import numpy as np
import pytest
from double_description import extreme_rays
from lower_sets import instances, vertices_of

import mechdesign as md
from mechdesign.optimize.cut_rays import CutRays
from mechdesign.optimize.lower_rays import LowerRays, TwoSidedRays
from mechdesign.uncertainty import LowerLimits, RelativeBall
from mechdesign.uncertainty.base import Floor

BOTH = [(Fraction(9, 8), Fraction(3, 4)), (Fraction(2), Fraction(1, 2)), (Fraction(2), Fraction(1, 4))]
BOTH += [(Fraction(5, 2), Fraction(1, 10)), (Fraction(3, 2), Fraction(2, 3)), (Fraction(4), Fraction(1, 100))]


def below(known, floor):
    """The priors that a promise from below is about: the vertices of the set, or of the whole simplex."""
    return np.eye(known.size, dtype=int).tolist() if floor.for_everyone else vertices_of(known)


def two_sided_rows(known, b, floor):
    """``max v <= b <Q, v>`` for every vertex Q of the set, and ``min v >= a <R, v>`` for the priors R of the floor."""
    for i in range(known.size):
        for Q in vertices_of(known):
            yield [b * q - (i == j) for j, q in enumerate(Q)]
        for R in below(known, floor):
            yield [(i == j) - floor.least_lift * q for j, q in enumerate(R)]


def check_kept(columns, known, b, floor):
    Q, R = (
        np.array([[float(q) for q in prior] for prior in priors])
        for priors in (vertices_of(known), below(known, floor))
    )
    assert (columns.max(axis=0) <= float(b) * (Q @ columns) + 1e-12).all()
    assert (columns.min(axis=0) >= float(floor.least_lift) * (R @ columns) - 1e-12).all()


def listed(rays):
    columns = np.hstack(list(rays.of_kinds(rays.kinds)))
    return columns / columns.max(axis=0)


def distinct(columns):
    return np.unique(np.round(columns, 9), axis=1)


def lacks(columns, wanted):
    """The greatest distance of a wanted column from the list."""
    return max(float(np.abs(columns - column[:, None]).max(axis=0).min()) for column in wanted.T)


def test_the_helper_lists_the_rays_that_the_one_sided_list_has():
    for known, e in instances(30, 4, 1):
        rows = [[e * q - (i == j) for j, q in enumerate(Q)] for Q in vertices_of(known) for i in range(4)]
        wanted = np.array([[x / max(ray) for x in ray] for ray in extreme_rays(rows, 4)]).T
        rays = LowerRays(known, float(e))
        assert rays.count(rays.kinds) == wanted.shape[1]
        assert lacks(listed(rays), wanted) < 1e-12


def both(count, size, seed):
    rng = np.random.default_rng(seed)
    for known, _ in instances(count, size, seed):
        b, a = BOTH[rng.integers(len(BOTH))]
        for everyone in (False, True):
            yield known, b, Floor(a, for_everyone=everyone)


def check_list(count, size, seed):
    """Every exact ray is in the list, and every listed column keeps both sides, for every vertex of their priors."""
    for known, b, floor in both(count, size, seed):
        exact = extreme_rays(two_sided_rows(known, b, floor), size)
        wanted = np.array([[x / max(ray) for x in ray] for ray in exact]).T
        columns = listed(TwoSidedRays(known, float(b), floor))
        assert lacks(columns, wanted) < 1e-12, (known, b, floor)
        check_kept(columns, known, b, floor)


def test_the_list_holds_every_ray_and_no_column_outside_the_cone():
    check_list(25, 3, 2)
    check_list(6, 4, 3)


@pytest.mark.parametrize("radius", ["0.2", "0.35"])
def test_a_wide_ball_with_a_cap_has_rays_with_several_symbols_between(radius):
    """Above sets lighter than the radius f does not add up, so that pairs of any difference are needed."""
    known, b, floor = RelativeBall(["0.4", "0.3", "0.2", "0.1"], 1, radius), Fraction(3), Floor(Fraction(1, 8), True)
    exact = extreme_rays(two_sided_rows(known, b, floor), 4)
    wanted = np.array([[x / max(ray) for x in ray] for ray in exact]).T
    columns = listed(TwoSidedRays(known, float(b), floor))
    assert lacks(columns, wanted) < 1e-12
    check_kept(columns, known, b, floor)
    between = [sum(min(ray) < x < max(ray) for x in ray) for ray in exact]
    assert max(between) >= 2


@pytest.mark.slow
def test_the_list_on_hundreds_of_instances():
    check_list(100, 2, 4)
    check_list(300, 3, 5)
    check_list(150, 4, 6)
    check_list(12, 5, 7)


def test_cutting_finds_every_ray_of_a_hull():
    rng = np.random.default_rng(9)
    for place in range(12):
        priors = [[Fraction(int(x), int(row.sum())) for x in row] for row in 1 + rng.integers(0, 9, (4, 4))]
        b, a = BOTH[rng.integers(len(BOTH))]
        R = np.eye(4, dtype=int).tolist() if place % 2 else priors
        rows = [[b * q - (i == j) for j, q in enumerate(Q)] for Q in priors for i in range(4)]
        rows += [[(i == j) - a * q for j, q in enumerate(Q)] for Q in R for i in range(4)]
        wanted = np.array([[x / max(ray) for x in ray] for ray in extreme_rays(rows, 4)]).T
        columns = listed(CutRays(md.ConvexHull(priors), float(b), Floor(a, for_everyone=place % 2 == 1)))
        assert lacks(columns, wanted) < 1e-12
        Q, R = np.array(priors, dtype=float), np.array(R, dtype=float)
        assert (columns.max(axis=0) <= float(b) * (Q @ columns) + 1e-12).all()
        assert (columns.min(axis=0) >= float(a) * (R @ columns) - 1e-12).all()


def test_cutting_finds_columns_of_the_list_only():
    for known, b, floor in both(20, 3, 10):
        cut = listed(CutRays(known, float(b), floor))
        assert lacks(listed(TwoSidedRays(known, float(b), floor)), cut) < 1e-12


def test_for_lower_limits_one_symbol_is_between():
    """Where f is additive, extreme columns of three values have one symbol between the two others."""
    limits = LowerLimits(["0.3", "0.2", "0.1", "0.05"], center=["0.4", "0.3", "0.2", "0.1"])
    for ray in extreme_rays(two_sided_rows(limits, Fraction(2), Floor(Fraction(1, 2))), 4):
        between = [x for x in ray if min(ray) < x < max(ray)]
        assert len(between) <= 1


def test_errors_of_entries_cover_those_of_exact_columns():
    """The same list with f, x and F in rationals, entry by entry."""
    for known, b, floor in both(12, 4, 8):
        rays = TwoSidedRays(known, float(b), floor)
        for kind in "TP":
            for columns, errors in rays.with_errors(kind):
                for column, error in zip(columns.T, errors.T, strict=True):
                    exact = exact_column(known, b, floor, column)
                    for x, y, allowed in zip(column.tolist(), exact, error.tolist(), strict=True):
                        assert abs(Fraction(x) - y) <= Fraction(allowed)


def exact_column(known, b, floor, column):
    """The column with the same sets, from the two conditions in rationals, scaled to ``<P, v> = 1``."""
    levels = sorted(set(np.round(column, 10).tolist()), reverse=True)
    places, a = [levels.index(x) for x in np.round(column, 10).tolist()], floor.least_lift
    f = [known.least_mass([i for i, place in enumerate(places) if place <= level]) for level in range(len(levels) - 1)]
    F = (
        [1] * (len(levels) - 1)
        if floor.for_everyone
        else [
            1 - known.least_mass([i for i, place in enumerate(places) if place > level])
            for level in range(len(levels) - 1)
        ]
    )
    if len(levels) == 2:
        m = max((1 / b - f[0]) / (1 - f[0]), a * F[0] / (1 - a + a * F[0]))
        values = [Fraction(1), m]
    else:
        # d1 (1 - f1) + d2 (1 - f2) = 1 - 1/b and d1 (1 - a + a F1) + d2 (1 - a + a F2) = 1 - a, by Cramer's rule.
        p, q, r, s = 1 - f[0], 1 - f[1], 1 - a + a * F[0], 1 - a + a * F[1]
        d1 = ((1 - 1 / b) * s - q * (1 - a)) / (p * s - q * r)
        d2 = (p * (1 - a) - (1 - 1 / b) * r) / (p * s - q * r)
        assert d1 > 0
        assert d2 > 0
        values = [Fraction(1), 1 - d1, 1 - d1 - d2]
    v = [values[place] for place in places]
    mass = sum(p * x for p, x in zip(known.center, v, strict=True))
    return [x / mass for x in v]


def test_without_a_promise_from_below_it_becomes_the_one_sided_list():
    """At a = 1e-12 the one-sided rays are there to 1e-10."""
    ball = RelativeBall(["0.4", "0.3", "0.2", "0.1"], 1, "0.08")
    assert lacks(listed(TwoSidedRays(ball, 2.0, Floor(Fraction(1, 10**12)))), listed(LowerRays(ball, 2.0))) < 1e-10


@pytest.mark.parametrize("exp_epsilon", [1 + 1e-9, 1e300])
@pytest.mark.parametrize("least_lift", [Fraction(1, 10**290), Fraction(10**12 - 1, 10**12)])
def test_parameters_at_their_ends_give_numbers(exp_epsilon, least_lift):
    ball = RelativeBall(["0.4", "0.3", "0.2", "0.1"], 1, "0.08")
    rays = TwoSidedRays(ball, exp_epsilon, Floor(least_lift))
    for columns, errors in rays.with_errors(rays.kinds):
        assert np.isfinite(columns).all()
        assert (columns >= 0).all()
        assert (errors <= 1e-12 + 1e-12 * columns).all()
    assert md.L1Ball(ball.center).size == 4
