"""Columns with a cap as images of columns without one: the theorem in rationals, prices beside lists, many symbols."""

import time
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from clocks import limit_work
from double_description import extreme_rays
from lower_sets import vertices_of
from tolerances import CERTIFIED

import mechdesign as md
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.capped_cone import raised_power, with_least
from mechdesign.optimize.capped_rays import CappedRays
from mechdesign.optimize.closed_form import closed_forms
from mechdesign.optimize.cut_rays import CutRays
from mechdesign.optimize.estimation import count_tables, one_between
from mechdesign.optimize.estimation.linear_oracle import LinearOracle
from mechdesign.optimize.estimation.listed import ListedForms
from mechdesign.optimize.estimation.separable import SeparablePricing
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.optimize.lower_rays import TwoSidedRays
from mechdesign.optimize.pricing.by_counts import CountPricing
from mechdesign.optimize.pricing.listing import ListedPricing, check_listable
from mechdesign.optimize.rays import Rays
from mechdesign.uncertainty import RelativeBall
from mechdesign.uncertainty.base import Floor

FALLING = [1_000 // (i + 1) + 1 for i in range(24)]
UTILITIES = [md.MutualInformation(), md.ChiSquare(), md.TotalVariation(), md.SquaredHellinger()]


def hull_of(rng, N):
    counts = rng.integers(0, 6, (3, N)) + np.eye(3, N, dtype=int)
    return [[Fraction(int(n), int(row.sum())) for n in row] for row in counts]


def rays_above(priors, b, N):
    """All extreme rays of ``0 <= max v <= b <Q, v>``."""
    rows = [[b * q - (i == j) for j, q in enumerate(Q)] for Q in priors for i in range(N)]
    rows += [[int(i == j) for j in range(N)] for i in range(N)]
    return extreme_rays(rows, N)


def two_sided(ball, e, floor):
    """A list from the lower probability of the ball, with its own proof."""
    return TwoSidedRays(RelativeBall(ball.center, 1, ball.half_radius), e, floor)


def rays_with_cap(priors, b, least):
    """All extreme rays of ``max v <= b <Q, v>`` and ``min v >= a max v``, shape (N, k)."""
    N, b = len(priors[0]), Fraction(b)
    rows = [[b * q - (i == j) for j, q in enumerate(Q)] for Q in priors for i in range(N)]
    rows += [[(j == i) - least * (j == k) for j in range(N)] for i in range(N) for k in range(N) if i != k]
    return np.array([[float(x) for x in ray] for ray in extreme_rays(rows, N)]).T


def scaled(ray):
    return tuple(Fraction(x) / max(ray) for x in ray)


def test_extreme_rays_with_a_cap_are_images_in_rationals():
    """Of extreme rays for b', or of sets; and every such image is in the cone."""
    rng = np.random.default_rng(5)
    of_sets = others = 0
    for _ in range(60):
        N = int(rng.integers(2, 5))
        priors = hull_of(rng, N)
        b, c = Fraction(int(rng.integers(3, 7)), 2), Fraction(int(rng.integers(8, 14)), 2)
        a = 1 / c
        raised = (1 - a) / (1 / b - a)
        before = {scaled(ray) for ray in rays_above(priors, raised, N)}
        rows = [[b * q - (i == j) for j, q in enumerate(Q)] for Q in priors for i in range(N)]
        rows += [[c * (j == k) - (j == i) for j in range(N)] for i in range(N) for k in range(N) if i != k]
        for v in map(scaled, extreme_rays(rows, N)):
            u = tuple((x - a) / (1 - a) for x in v)
            assert max(u) == 1
            assert u in before or set(u) <= {0, 1}
            of_sets, others = of_sets + (u not in before), others + (u in before)
        for u in before:
            v = [(1 - a) * x + a for x in u]
            assert min(v) >= a
            assert all(max(v) <= b * sum(q * x for q, x in zip(Q, v, strict=True)) for Q in priors)
    assert of_sets > 20
    assert others > 100


def test_images_of_a_mechanism_are_a_mechanism_with_the_cap():
    known = md.L1Ball.from_counts([7, 5, 3, 1], radius="0.1")
    power, least = raised_power(float(np.exp(1)), Floor(1 / md.Epsilon.of(2).exp_down, for_everyone=True))
    before = md.design(md.DesignProblem(known, float(np.log(power)) - 1e-9)).mechanism.matrix
    masses = known.prior @ before
    columns = with_least(before / masses, known.prior, least)
    made = columns * np.linalg.lstsq(columns, np.ones(4), rcond=None)[0]
    assert made.sum(axis=1) == pytest.approx(1, abs=CERTIFIED)
    assert (known.excess(made, np.exp(1)) <= 1e-12).all()
    assert (made.max(axis=0) <= np.exp(2) * made.min(axis=0) * (1 + 1e-9)).all()


@pytest.mark.combined
@pytest.mark.parametrize("utility", UTILITIES, ids=lambda utility: utility.name)
@pytest.mark.parametrize("radius", [0, "0.03", "0.5"])
def test_tables_price_as_lists_do(utility, radius):
    """At any multipliers the bound is that of the list, from above."""
    rng = np.random.default_rng(8)
    for counts in (FALLING[:7], [9, 7, 7, 5, 3, 3, 1], [100, 1, 1, 1, 1]):
        ball = md.L1Ball.from_counts(counts, radius=radius)
        for e, least in ((2.0, Fraction(1, 8)), (1.5, Fraction(3, 5)), (4.0, Fraction(1, 5))):
            floor = Floor(least, for_everyone=True)
            tables = CountPricing(ball, e, utility, floor)
            listed = ListedPricing(two_sided(ball, e, floor), utility)
            for scale in (0.1, 1.0):
                lam = scale * ball.prior * rng.normal(1, 1, ball.size)
                lam = np.array([lam[[j for j in range(ball.size) if counts[j] == n]].mean() for n in counts])
                found, exact = tables.price(lam), listed.price(lam).upper
                assert exact - 1e-11 <= found.upper <= exact + 1e-9
                columns = found.best
                assert (ball.excess(columns, e) <= 1e-9).all()
                assert (columns.min(axis=0) >= float(least) * columns.max(axis=0) * (1 - 1e-9)).all()


@pytest.mark.combined
@pytest.mark.parametrize("utility", UTILITIES[:2], ids=lambda utility: utility.name)
@pytest.mark.parametrize(("size", "radius"), [(6, 0), (5, "0.1"), pytest.param(6, "0.1", marks=pytest.mark.slow)])
def test_tables_and_boxes_reach_the_optimum_of_the_list(utility, size, radius):
    ball = md.L1Ball.from_counts(FALLING[:size], radius=radius)
    problem = md.DesignProblem(ball, 1, utility, cap=2)
    found = {name: md.design(problem, method=name) for name in ("extreme-rays", "count-tables", "boxes")}
    assert all(design.certified and md.verify(design.mechanism).optimal for design in found.values())
    values = [design.value for design in found.values()]
    assert values == pytest.approx([values[0]] * 3, abs=2 * CERTIFIED)


def test_lists_of_images_have_the_rays_of_lists_by_other_proofs():
    """Of cut cubes for hulls; and of lower probabilities for balls."""
    rng = np.random.default_rng(11)
    hulls = [md.ConvexHull(hull_of(rng, N)) for N in (3, 4, 5)]
    balls = [md.L1Ball.from_counts([4, 3, 2, 1][:N], radius=radius) for N in (3, 4) for radius in (0, "0.1", "0.7")]
    for known in (*hulls, *balls):
        for e, least in ((1.5, Fraction(1, 2)), (2.0, Fraction(1, 9))):
            floor = Floor(least, for_everyone=True)
            images = check_listable(known, e, floor)
            found = np.hstack(list(images.of_kinds(images.kinds)))
            other = CutRays(known, e, floor) if known.ball is None else two_sided(known, e, floor)
            for direction in rng.standard_normal((40, known.size)):
                best = max(float((direction @ columns).max()) for columns in other.of_kinds(other.kinds))
                assert float((direction @ found).max()) == pytest.approx(best, abs=1e-9)
            assert (known.excess(found, e) <= 1e-9).all()
            assert (found.min(axis=0) >= float(least) * found.max(axis=0) * (1 - 1e-9)).all()


def test_errors_of_images_cover_those_of_entries():
    """A column in rationals, whose floats are off by known errors, has an image within the errors of the image."""
    rng = np.random.default_rng(12)
    ball = md.L1Ball(["0.4", "0.3", "0.2", "0.1"])
    for _ in range(50):
        exact = [Fraction(int(x), 97) for x in rng.integers(0, 90, 4)]
        exact = [x / sum(p * x for p, x in zip(ball.center, exact, strict=True)) for x in exact]
        size = float(rng.choice([1e-16, 1e-9, 1e-3]))
        columns = np.array([[float(x) + size * rng.uniform(-1, 1)] for x in exact])
        rays = CappedRays(ball, None, 3.0, 0.25)
        images, errors = rays._images(columns, np.full((4, 1), size + 1e-15))
        scale = Fraction(3, 4) + max(exact) / 4
        for x, image, error in zip(exact, images[:, 0], errors[:, 0], strict=True):
            true = (Fraction(3, 4) * x + max(exact) / 4) / scale
            assert abs(Fraction(float(image)) - true) <= Fraction(float(error))


@pytest.mark.slow
def test_a_hull_has_one_optimum_by_its_list_and_by_boxes(monkeypatch):
    limit_work(monkeypatch)
    hull = md.ConvexHull(hull_of(np.random.default_rng(2), 9))
    problem = md.DesignProblem(hull, 1, cap=2)
    found, listed = md.design(problem, method="boxes", time_limit=60), md.design(problem)
    assert "boxes" in found.method
    assert 0 <= found.gap < 1e-6
    assert listed.value == pytest.approx(found.value, abs=2 * CERTIFIED)
    assert found.value < md.design(md.DesignProblem(hull, 1)).upper_bound
    assert md.verify(found.mechanism).certificate.upper_bound <= found.mechanism.optimality.bound


def test_a_hull_of_ten_symbols_is_designed_for_every_objective():
    hull = md.ConvexHull(hull_of(np.random.default_rng(3), 10))
    for utility in (md.MutualInformation(), md.EstimationError(), md.WorstCaseUtility(md.MutualInformation())):
        found = md.design(md.DesignProblem(hull, 1, utility, cap=2))
        assert found.certified
        assert md.verify(found.mechanism).optimal


@pytest.mark.parametrize("radius", [0, pytest.param("0.02", marks=pytest.mark.slow)])
def test_many_symbols_are_certified_and_grow_with_the_cap(radius, monkeypatch):
    limit_work(monkeypatch)
    ball = md.L1Ball.from_counts(FALLING, radius=radius)
    found = [md.design(md.DesignProblem(ball, 1, cap=cap), time_limit=20) for cap in (1, "1.2", 3, 30)]
    assert all(design.certified for design in found)
    values = [design.value for design in found]
    assert all(one < other + CERTIFIED for one, other in pairwise(values))
    plain = md.design(md.DesignProblem(ball, 1)).value
    assert values[-1] == pytest.approx(plain, abs=2 * CERTIFIED)
    assert values[0] == pytest.approx(md.design(md.DesignProblem(md.L1Ball(ball.center, 2), 1)).value, abs=CERTIFIED)


def test_a_product_with_a_cap_ends_in_time():
    product = md.ProductSet(
        md.L1Ball.from_counts([3, 2, 1], radius="0.1"), md.L1Ball.from_counts([4, 2, 1], radius="0.1")
    )
    before = time.process_time()
    found = md.design(md.DesignProblem(product, 1, cap=2), time_limit=1e-6)
    assert time.process_time() - before < 10
    assert found.value <= found.upper_bound < np.inf
    assert md.verify(found.mechanism).proof.holds


# Estimation errors


def random_forms(rng, ball, times):
    for _ in range(times):
        d, lam = rng.exponential(1, ball.size), ball.prior * rng.normal(1, 3, ball.size)
        yield QuadraticForm(d), lam
        yield QuadraticForm(d - 0.3, -float(rng.exponential(0.3))), lam


@pytest.mark.parametrize("radius", [0, *(pytest.param(radius, marks=pytest.mark.slow) for radius in ("0.05", "0.5"))])
def test_prices_of_forms_are_above_those_of_lists_and_near_them(radius):
    """Columns split into extreme rays of the ball, and into those of the wider cone for P alone: either list proves."""
    rng = np.random.default_rng(4)
    near = 0
    for counts in ([7, 5, 3, 1], [9, 7, 7, 5, 3, 3], [100, 1, 1, 1]):
        ball = md.L1Ball.from_counts(counts, radius=radius)
        corners, alone = vertices_of(RelativeBall(ball.center, 1, ball.half_radius)), [ball.center]
        for e, least in ((2.0, Fraction(1, 4)), (1.5, Fraction(3, 5)), (2.7, Fraction(1, 20))):
            floor = Floor(least, for_everyone=True)
            tables, every = SeparablePricing(ball, e, floor), [rays_with_cap(V, e, least) for V in (corners, alone)]
            for form, lam in random_forms(rng, ball, 3):
                found = tables.price(form, lam, 20)
                exact = min(
                    (form.values(v - 1) - lam @ v).max() for v in (rays / (ball.prior @ rays) for rays in every)
                )
                assert found.upper >= exact - 1e-9
                near += found.upper <= exact + 1e-3 * (abs(exact) + abs(lam).sum())
                assert (ball.excess(found.best, e) <= 1e-9).all()
                assert (found.best.min(axis=0) >= float(least) * found.best.max(axis=0) * (1 - 1e-9)).all()
    assert near == 54 if radius == 0 else near >= 45  # of 54, half of them with a common number


@pytest.mark.sampled
@pytest.mark.parametrize("overlooked", ["", "tables by size"])
def test_forms_with_a_common_number_have_exact_prices_at_a_known_prior(overlooked, monkeypatch):
    """Kappas alone leave prices above the greatest of all rays; tables by weight and size do not."""
    if overlooked:
        monkeypatch.setattr(count_tables, "_ENTRIES", 0)
        monkeypatch.setattr(one_between, "_ENTRIES", 0)
    rng, exact = np.random.default_rng(12), []
    for counts in ([7, 5, 3, 1], [9, 7, 7, 5, 3, 3], [31, 17, 13, 11, 7, 5, 3, 2]):
        ball = md.L1Ball.from_counts(counts, known=True)
        for e, least in ((2.7, Fraction(1, 4)), (1.5, Fraction(3, 5)), (2.7, Fraction(1, 20))):
            floor = Floor(least, for_everyone=True)
            power, a = raised_power(e, floor)  # rays alone: other columns may be above them, as forms are not convex
            tables = SeparablePricing(ball, e, floor)
            listed = ListedForms(CappedRays(ball, Rays(ball, power), power, a))
            for form, lam in random_forms(rng, ball, 4):
                found, greatest = tables.price(form, lam).upper, listed.price(form, lam).upper
                size = abs(form.diagonal).sum() * 9 + abs(form.common) * 81 + abs(lam).sum() * 3
                assert found >= greatest - 1e-11 * size
                exact.append(found <= greatest + 1e-5 * size)
    assert all(exact) != bool(overlooked)


@pytest.mark.slow
def test_the_cone_of_the_prior_alone_bounds_errors_of_a_ball():
    """Near epsilon its bound is the better one; the optimum of the ball by its list is above all of them."""
    ball = md.L1Ball.from_counts(FALLING[:7], radius="0.05")
    for cap, closer in (("1.1", True), ("3", False)):
        problem = md.DesignProblem(ball, 1, md.EstimationError(), cap=cap)
        known = problem.over(md.L1Ball(ball.center))
        optimum, of_prior = (md.design(one, method="error-extreme-rays") for one in (problem, known))
        assert of_prior.lower_bound <= optimum.value
        found = md.design(problem, method="error-columns", tol=1e-3)
        assert found.lower_bound <= optimum.value
        assert (of_prior.lower_bound > 0.99 * optimum.value) == closer
        assert found.lower_bound > 0.98 * optimum.value
        proved = md.verify(found.mechanism)
        assert proved.certificate.lower_bound >= found.mechanism.optimality.bound


@pytest.mark.parametrize("size", [7, pytest.param(9, marks=pytest.mark.slow)])
def test_errors_fall_with_the_cap_from_those_of_local_privacy(size):
    known = md.L1Ball.from_counts(FALLING[:size], known=True)
    everyone = md.L1Ball(known.center, 2)
    last = np.inf
    for cap in ("1.001", "1.5", "4"):
        problem = md.DesignProblem(known, 1, md.EstimationError(), cap=cap)
        optimum = md.design(problem, method="error-extreme-rays")
        found = md.design(problem, method="error-columns", tol=1e-3)
        local = md.design(md.DesignProblem(everyone, cap, md.EstimationError()))
        assert local.certified
        assert local.lower_bound <= optimum.value <= last * (1 + 1e-5)
        assert 0.97 * optimum.value < found.lower_bound <= optimum.value
        if cap == "1.001":
            assert optimum.value == pytest.approx(local.value, rel=0.01)
        last = optimum.value
    same = md.design(md.DesignProblem(known, 1, md.EstimationError(), cap=1))
    assert same.value == pytest.approx(md.design(md.DesignProblem(everyone, 1, md.EstimationError())).value, rel=1e-5)


@pytest.mark.parametrize(
    ("cap", "least", "most"),
    [("1.5", 14.245, 14.357), ("2", 8.879, 8.955), ("3", 6.188, 6.270), (None, 5.259, 5.261)],
)
def test_noise_of_labels_of_occupation(cap, least, most):
    """Between the bounds and the mechanisms of another program, which walked over all rays in floats."""
    counts = [4140, 4099, 4066, 3770, 3650, 3295, 2002, 1597, 1370, 994, 928, 649]
    known = md.L1Ball.from_counts(counts, known=True)
    found = md.design(md.DesignProblem(known, 1, md.EstimationError(), cap=cap), tol=1e-4)
    noise = known.prior @ known.prior - 1
    assert found.certified
    assert least <= found.bound + noise <= found.value + noise <= most


def test_linear_functions_are_greatest_at_columns_with_the_cap():
    """The oracle finds no less than the best of all rays, but for kinds C and D."""
    rng = np.random.default_rng(6)
    for radius in (0, "0.02", "0.3"):
        ball = md.L1Ball.from_counts([9, 7, 7, 5, 3, 3, 1], radius=radius)
        floor = Floor(Fraction(1, 8), for_everyone=True)
        rays = np.hstack(list(two_sided(ball, 2.0, floor).of_kinds("CTP")))
        functions = rng.standard_normal((ball.size, 200)) * ball.prior[:, None]
        columns = LinearOracle(L1Cone.of(ball, 2.0, floor)).best(functions)
        reached, best = (functions * columns).sum(axis=0), (functions.T @ rays).max(axis=1)
        assert (reached <= best + 1e-9).all()
        assert reached == pytest.approx(best, abs=1e-9) if radius == 0 else (reached >= best - 0.05).all()
        assert (ball.excess(columns, 2.0) <= 1e-9).all()


@pytest.mark.parametrize("radius", [0, pytest.param("0.05", marks=pytest.mark.slow)])
def test_errors_of_many_symbols_have_a_bound_below_and_near(radius, monkeypatch):
    """The list of twelve symbols has the optimum; twenty have none, and a bound within the tolerance."""
    limit_work(monkeypatch)
    few = md.DesignProblem(md.L1Ball.from_counts(FALLING[:12], radius=radius), 1, md.EstimationError(), cap=3)
    listed, searched = (md.design(few, method=name) for name in ("error-extreme-rays", "error-columns"))
    assert searched.lower_bound <= listed.value
    assert listed.value * (1 - 1e-4) <= searched.value <= listed.value * 1.002
    many = few.over(md.L1Ball.from_counts(FALLING[:20], radius=radius))
    found = md.design(many, time_limit=20)
    assert 0 < found.gap < 0.03 * found.value
    assert found.certified
    proved = md.verify(found.mechanism)
    assert proved.certificate.lower_bound >= found.mechanism.optimality.bound
    assert max(found.mechanism.proof.least_lifts) < 1


# A uniform prior


@pytest.mark.parametrize("utility", [md.MutualInformation(), md.TotalVariation()], ids=lambda utility: utility.name)
def test_shifts_of_one_column_are_optimal_at_a_uniform_estimate(utility):
    for N, radius, epsilon, cap in (
        (3, 0, 1, 2),
        (5, 0, "1/2", 1),
        (7, "0.1", 1, "3/2"),
        (6, "0.6", 1, 3),
        (4, 0, 1, 30),
    ):
        problem = md.DesignProblem(md.L1Ball([Fraction(1, N)] * N, radius), epsilon, utility, cap=cap)
        (form,) = closed_forms(problem)
        assert form.optimal
        assert (problem.uncertainty.excess(form.matrix, float(problem.epsilon.exp_down)) <= 1e-12).all()
        assert (form.matrix.max(axis=0) <= np.exp(float(problem.cap)) * form.matrix.min(axis=0) + 1e-12).all()
        found = md.design(problem, method="extreme-rays")
        assert form.value_for(problem) == pytest.approx(found.value, abs=CERTIFIED)
        assert found.closed_form.theorem == form.theorem


def test_two_shapes_are_left_at_a_uniform_known_prior():
    """The formulas of the theorem, by hand; each of both shapes is best somewhere."""
    best_shapes = set()
    for N, epsilon, cap in (
        (5, 1.0, 3.0),
        (6, 1.0, 1.2),
        (9, 0.5, 2.0),
        (9, 0.25, 0.3),
        (10, 1.0, 9.0),
        (4, 1.0, 1.0 + 1e-6),
    ):
        e, top = np.exp(epsilon), np.exp(cap)
        a = 1 / top
        p = (1 / e - a) / (1 - a)
        k = int(np.floor(N * p))
        shapes = [np.array([e] * k + [N - k * e - (N - k - 1) * a * e] + [a * e] * (N - k - 1))]
        for k in range(int(np.ceil(N * p)), N):
            shapes.append(np.array([top] * k + [1.0] * (N - k)) / (1 + (top - 1) * k / N))
        values = md.MutualInformation().mu(np.array(shapes).T, np.full(N, 1 / N))
        best_shapes.add(int(np.argmax(values)) > 0)
        known = md.L1Ball([Fraction(1, N)] * N)
        found = md.design(md.DesignProblem(known, epsilon, cap=cap))
        assert found.value == pytest.approx(values.max(), abs=CERTIFIED)
    assert best_shapes == {False, True}


@pytest.mark.slow
def test_no_random_mechanism_with_the_cap_passes_a_bound(monkeypatch):
    """Images of random mechanisms for b', which are all mechanisms with the cap, over a ball that no list serves."""
    limit_work(monkeypatch)
    rng = np.random.default_rng(9)
    ball = md.L1Ball.from_counts(FALLING[:20], radius="0.05")
    problem = md.DesignProblem(ball, 1, cap=2)
    power, least = raised_power(float(np.exp(1)), problem.sides.floor_down)
    most = md.design(problem).upper_bound
    error = md.design(problem.with_utility(md.EstimationError()), time_limit=20).lower_bound
    information, fewest = [], []
    for _ in range(10_000):
        matrix = rng.dirichlet(np.full(rng.integers(2, 25), rng.choice([0.05, 0.3, 2.0])), ball.size)
        mean = ball.prior @ matrix
        # The least share of the constant column with which each column keeps the promise for b'.
        lacking = matrix.max(axis=0) - power * ball.support(matrix)
        share = float(np.clip(lacking / (lacking + (power - 1) * mean), 0, 1).max())
        columns = with_least(((1 - share) * matrix + share * mean) / mean, ball.prior, least)
        scales = mean * (1 - least + least * ((1 - share) * matrix.max(axis=0) + share * mean) / mean)
        made = columns * scales / scales.sum()
        assert np.abs(made.sum(axis=1) - 1).max() < 1e-9
        assert (made.max(axis=0) <= np.exp(2) * made.min(axis=0) * (1 + 1e-9)).all()
        information.append(md.MutualInformation().value(made, ball.center))
        fewest.append(md.EstimationError().value(made, ball.center))
    assert max(information) <= most
    assert min(fewest) >= error
    assert max(information) > most / 10
