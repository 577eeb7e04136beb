"""Prices of separable forms without a list of rays, held against all rays."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from exact_rays import rays_of_ball
from refusals import raises

import mechdesign as md
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.estimation.caps import best_caps, greatest_entries, multipliers_of_caps
from mechdesign.optimize.estimation.counted import CountedSymbols, Found
from mechdesign.optimize.estimation.listed import ListedForms
from mechdesign.optimize.estimation.separable import SeparablePricing
from mechdesign.optimize.estimation.solver import certify_error
from mechdesign.optimize.estimation.three_levels import ThreeLevels
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.optimize.rays import Rays

RADII = (0, 0.02, 0.1, 0.3, 0.7, 1.2, 2.0)


def instance(seed, *, most=6, radii=RADII, signs=True, common=True, rounded=True):
    """Return a random ball, exp(epsilon), form and multipliers."""
    rng = np.random.default_rng(seed)
    N, radius = int(rng.integers(2, most + 1)), rng.choice(radii)
    counts = rng.integers(0 if rng.random() < 0.3 and radius > 0 else 1, rng.choice([4, 30, 200]), N)
    counts[0] += 1
    if rounded and rng.random() < 0.2:
        P = rng.dirichlet(np.full(N, 0.7)) + 1e-6
        ball = md.L1Ball((P / P.sum()).tolist(), str(radius))
    else:
        ball = md.L1Ball.from_counts(counts.tolist(), radius=str(radius))
    e = float(np.exp(rng.choice([0.05, 0.3, 1.0, 2.0, 3.0])))
    d = rng.exponential(size=N)
    if signs and rng.random() < 0.2:
        d[rng.integers(N)] *= -0.5
    lam = d * (np.minimum(e, 1 / np.maximum(ball.prior, 1e-9)) - 2) + rng.normal(size=N) * 0.2 * rng.choice([0, 1, 3])
    B = -rng.random() if common and rng.random() < 0.5 else 0.0
    return ball, e, QuadraticForm(d, B), lam


def greatest(ball, e, form, lam):
    rays = np.hstack([np.ones((ball.size, 1)), *Rays(ball, e).of_kinds("ABCD")])
    return float((form.values(rays - 1) - lam @ rays).max())


def size_of(form, lam):
    return float(np.abs(form.diagonal).sum() + np.abs(lam).sum() + abs(form.common) * lam.size**2)


@pytest.mark.slow
@pytest.mark.parametrize("block", [0, 1, *(pytest.param(k, marks=pytest.mark.slow) for k in range(2, 15))])
def test_no_ray_is_above_the_bound(block):
    """300 small instances: zero masses, known priors, balls and local differential privacy."""
    for seed in range(20 * block, 20 * block + 20):
        ball, e, form, lam = instance(seed)
        price = SeparablePricing(ball, e).price(form, lam, 20)
        true = greatest(ball, e, form, lam)
        assert price.upper >= true - 1e-13 * size_of(form, lam), seed
        if price.best.size:
            reached = float((form.values(price.best - 1) - lam @ price.best).max())
            assert reached <= price.upper + 1e-12 * size_of(form, lam)
            np.testing.assert_allclose(ball.prior @ price.best, 1, atol=1e-9)
            assert (price.best >= 0).all()
            assert (price.best.max(axis=0) <= e * ball.support(price.best) + 1e-8).all()


@pytest.mark.parametrize("seed", range(40))
def test_no_ray_is_above_the_bound_in_rationals(seed):
    ball, e, form, lam = instance(1000 + seed, most=4)
    exact_e = Fraction(e)
    upper = Fraction(SeparablePricing(ball, e).price(form, lam).upper)
    d, B, multipliers = [Fraction(x) for x in form.diagonal], Fraction(form.common), [Fraction(x) for x in lam]
    for v in rays_of_ball(ball.center, ball.radius, exact_e):
        value = sum(x * (y - 1) ** 2 - z * y for x, y, z in zip(d, v, multipliers, strict=True))
        assert value + B * (sum(v) - len(v)) ** 2 <= upper


@pytest.mark.parametrize("seed", range(60))
def test_kinds_a_b_and_d_are_exact(seed):
    """Of known priors and of all priors there are no rays of kind C, and with counts the tables are exact."""
    ball, e, form, lam = instance(2000 + seed, radii=(0, 2.0), signs=False, common=False, rounded=False)
    assert SeparablePricing(ball, e).price(form, lam).upper <= greatest(ball, e, form, lam) + 1e-9 * size_of(form, lam)


@pytest.mark.parametrize("seed", range(30))
def test_a_common_number_costs_little_for_local_privacy(seed):
    ball, e, form, lam = instance(3000 + seed, radii=(2.0,), signs=False)
    price = SeparablePricing(ball, e).price(form, lam)
    assert price.upper <= greatest(ball, e, form, lam) + 1e-3 * size_of(form, lam)


@pytest.mark.parametrize("seed", range(20))
def test_kind_c_is_nearly_exact(seed):
    ball, e, form, lam = instance(4000 + seed, most=5, radii=(0.02, 0.1), signs=False, common=False, rounded=False)
    assert SeparablePricing(ball, e).price(form, lam).upper <= greatest(ball, e, form, lam) + 1e-4 * size_of(form, lam)


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(12))
def test_kind_c_is_exact_where_one_symbol_has_most_of_the_mass(seed):
    """S' is that symbol and few others: a multiplier for the middle of a rectangle is far off elsewhere."""
    rng = np.random.default_rng(seed)
    counts = [3000, *sorted(rng.integers(1, 40, size=8).tolist(), reverse=True)]
    ball, e = md.L1Ball.from_counts(counts, radius="0.034"), float(np.e)
    d = np.concatenate([[-60.0], 0.47 + 0.05 * rng.random(8)])
    form, lam = QuadraticForm(d), np.concatenate([[18.0], 0.3 + 0.05 * rng.random(8)])
    found = Found(form, lam)
    ThreeLevels(CountedSymbols.of(ball), L1Cone.of(ball, e)).price(form, lam, found, 3e7, 0.0)
    rays = np.hstack(list(Rays(ball, e).of_kinds("C")))
    true = float((form.values(rays - 1) - lam @ rays).max())
    assert -1e-12 * size_of(form, lam) <= found.upper - true <= 1e-6 * size_of(form, lam)


def even_form(ball, seed):
    """Return a form and multipliers for which all sets of one mass have about the same value."""
    rng = np.random.default_rng(seed)
    N, P = ball.size, ball.prior
    d = 0.3 + 0.05 * rng.random(N) + P
    return QuadraticForm(d), d * (1 / 0.42 - 2) + 0.4 * P * (1 + 0.002 * rng.random(N))


@pytest.mark.parametrize("seed", range(3))
def test_kind_c_has_a_multiplier_at_each_corner(seed):
    """With one for a whole rectangle the bound of some seventy cases is .22 above the rays."""
    ball, e = md.L1Ball.from_counts([3000 // i for i in range(1, 12)], radius="0.1"), float(np.e)
    form, lam = even_form(ball, seed)
    found = Found(form, lam)
    ThreeLevels(CountedSymbols.of(ball), L1Cone.of(ball, e)).price(form, lam, found, 1e6, 0.0)
    rays = np.hstack(list(Rays(ball, e).of_kinds("C")))
    assert 0 <= found.upper - float((form.values(rays - 1) - lam @ rays).max()) <= 0.02


@pytest.mark.parametrize("seed", range(2))
def test_rectangles_are_divided_before_symbols_that_others_can_replace(seed):
    """Of forty symbols any can be taken in part without much loss: with symbols first the bound stays .02 too high."""
    ball, e = md.L1Ball.from_counts([2000 // i for i in range(1, 41)], radius="0.05"), float(np.e)
    form, lam = even_form(ball, seed)
    found = Found(form, lam)
    ThreeLevels(CountedSymbols.of(ball), L1Cone.of(ball, e)).price(form, lam, found, 1e7, 0.0)
    assert 0 <= found.upper - found.reached <= 1e-9


@pytest.mark.parametrize(
    ("kind", "options"),
    [("one_between.OneBetween", {"radius": 0}), ("three_levels.ThreeLevels", {"radius": "0.3"})],
)
def test_a_kind_that_is_overlooked_is_caught(monkeypatch, kind, options):
    """The bound of a pricing without one kind is too high, and `verify` refuses it."""
    monkeypatch.setattr("mechdesign.optimize.estimation.solver._LISTED", 3)
    monkeypatch.setattr(f"mechdesign.optimize.estimation.{kind}.price", lambda *_arguments: None)
    ball = md.L1Ball.from_counts([500, 300, 120, 60, 20], **options)
    broken = md.design(md.DesignProblem(ball, 1, md.EstimationError())).mechanism
    monkeypatch.undo()
    with raises("optimality-false"):
        md.verify(broken)


def test_each_kind_is_needed():
    """Where only one kind has the greatest value, the bound covers it: the four lists give four maxima."""
    found = set()
    for seed in range(400):
        ball, e, form, lam = instance(seed, most=5, radii=(0.1, 0.3), signs=False, common=False)
        kinds = {}
        for kind in "ABCD":
            rays = np.hstack([np.empty((ball.size, 0)), *Rays(ball, e).of_kinds(kind)])
            kinds[kind] = float((form.values(rays - 1) - lam @ rays).max(initial=-np.inf))
        order = sorted(kinds, key=kinds.__getitem__)
        if kinds[order[-1]] > kinds[order[-2]] + 1e-3 and order[-1] not in found:
            assert SeparablePricing(ball, e).price(form, lam).upper >= kinds[order[-1]] - 1e-12
            found.add(order[-1])
    assert found == set("ABCD")


def test_forms_that_are_not_covered_have_no_bound():
    pricing = SeparablePricing(md.L1Ball.from_counts([3, 2, 1], known=True), 2.0)
    assert pricing.price(QuadraticForm(np.ones(3), 1.0), np.zeros(3)).upper == np.inf
    assert pricing.price(QuadraticForm.of_matrix(np.eye(3)), np.zeros(3)).upper == np.inf


def test_the_price_is_the_same_every_time():
    ball, e, form, lam = instance(7)
    first, second = (SeparablePricing(ball, e).price(form, lam).upper for _ in range(2))
    assert first == second


@pytest.mark.parametrize("numbers", [[1, 2, 3], [0.1, 0.2, 0.3, 0.4], [1e-7, 0.4, 0.6 - 1e-7], ["1/3", "1/7", "11/21"]])
def test_weights_of_sets_tell_their_masses(numbers):
    ball = md.L1Ball.from_counts(numbers, known=True) if isinstance(numbers[0], int) else md.L1Ball(numbers)
    symbols = CountedSymbols.of(ball)
    for size in range(ball.size + 1):
        for chosen in combinations(range(ball.size), size):
            mass = sum((ball.center[i] for i in chosen), Fraction(0))
            weight = sum(symbols.weights[i] for i in chosen)
            assert abs(mass - Fraction(weight, symbols.total)) <= Fraction(symbols.off)


def test_totals_that_are_too_large_are_rounded():
    symbols = CountedSymbols.of(md.L1Ball.from_counts([10**8, 3 * 10**7 + 1, 17], known=True))
    assert 0 < symbols.off < 1e-5
    assert symbols.total < 10**6


@pytest.mark.slow
@pytest.mark.parametrize("near", [None, 0.5])
@pytest.mark.parametrize("seed", range(60))
def test_coarse_weights_and_coarse_cases_still_bound_every_ray(seed, near, monkeypatch):
    """Weights in steps of a 40th, and rectangles that are not divided far: what is left out must be added."""
    monkeypatch.setattr("mechdesign.optimize.estimation.counted._MOST_TOTAL", 40)
    ball, e, form, lam = instance(5000 + seed)
    price = SeparablePricing(ball, e).price(form, lam, near=near)
    assert price.upper >= greatest(ball, e, form, lam) - 1e-13 * size_of(form, lam)


@pytest.mark.parametrize("seed", range(60))
def test_kind_c_is_bounded_by_its_first_rectangles(seed):
    """With no work allowed, the bound is that of a rectangle as wide as kind C, by interpolation of its corners."""
    ball, e, form, lam = instance(6000 + seed, radii=(0.1, 0.3, 0.7), common=False)
    cone = L1Cone.of(ball, e)
    rays = np.hstack([np.empty((ball.size, 0)), *Rays(ball, e).of_kinds("C")])
    for work in (0.0, 1e6):
        found = Found(form, lam)
        ThreeLevels(CountedSymbols.of(ball), cone).price(form, lam, found, work, 0.0)
        true = float((form.values(rays - 1) - lam @ rays).max(initial=-np.inf))
        assert max(found.upper, found.reached) >= true - 1e-13 * size_of(form, lam)


def test_kappas_that_cancel_leave_their_rounding_errors():
    """A large common number, and a column whose sum is N exactly, between tables with kappas of both signs."""
    counts, d = [7, 7, 6, 4, 6], np.array([0.74246004, 0.20264626, 0.21028707, 0.23319752, 0.00564004])
    lam = -np.array([0.66437484, 0.18133377, 0.18817099, 0.20867193, 0.00504687])
    ball = md.L1Ball.from_counts(counts, radius="2e-9")
    e = float(np.exp(0.1))
    for common in -np.logspace(0, 9, 19):
        form = QuadraticForm(d, common)
        upper = Fraction(SeparablePricing(ball, e).price(form, lam).upper)
        for v in rays_of_ball(ball.center, ball.radius, Fraction(e)):
            value = sum(Fraction(x) * (y - 1) ** 2 - Fraction(z) * y for x, y, z in zip(d, v, lam, strict=True))
            assert value + Fraction(common) * (sum(v) - len(v)) ** 2 <= upper


# Counts, t, exp(epsilon), d, lambda, and the greatest total of weights that are not rounded.
KIND_C_INSTANCES = {
    "b is convex between the ends of a rectangle": (
        ([40, 30, 3], 0.1, 7.38905609893065, [0.318, 0, 0], [6.443579, -1.949775, -14.041416], None),
        ([59, 9, 55, 31], 0.5, 20.085536923187668, [0, 0, 0, 0], [-0.000712, 0.919135, 0.187621, 0.442435], None),
    ),
    "a concave form is above the interpolation of its ends": (
        ([51, 14, 53, 50], 0.5, 20.085536923187668, [0, 0, -12.535, -48.06], [0.2988, -0.1008, 0.2115, -0.3487], None),
        ([34, 43, 47, 25], 0.3, 7.38905609893065, [-20.2174, 0, 0, 0], [1.3464, 0.2088, 1.349, -1.0084], None),
    ),
    "rounded weights move the values": (
        ([44, 1, 15], 0.1, 7.38905609893065, [1.5978, 2.3671, 0], [0.4232, 0.3089, 0.6314], 40),
        ([52, 3, 27, 10], 0.3, 20.085536923187668, [0.79, 0.81, 0.58, 0.7], [-0.25, -0.33, -0.28, 0.17], 20),
    ),
}


@pytest.mark.parametrize("why", KIND_C_INSTANCES)
def test_each_term_of_the_bound_of_kind_c_is_needed(why, monkeypatch):
    for counts, t, e, d, lam, most in KIND_C_INSTANCES[why]:
        if most is not None:
            monkeypatch.setattr("mechdesign.optimize.estimation.counted._MOST_TOTAL", most)
        ball, form = md.L1Ball.from_counts(counts, radius=str(2 * t)), QuadraticForm(np.array(d, dtype=float))
        rays = np.hstack(list(Rays(ball, e).of_kinds("C")))
        true = float((form.values(rays - 1) - np.array(lam) @ rays).max())
        for work in (0.0, 1e5, 1e6):
            found = Found(form, np.array(lam))
            ThreeLevels(CountedSymbols.of(ball), L1Cone.of(ball, e)).price(form, np.array(lam), found, work, 0.0)
            assert found.upper >= true - 1e-12


def test_sets_may_be_lighter_than_their_rounded_weights(monkeypatch):
    monkeypatch.setattr("mechdesign.optimize.estimation.counted._MOST_TOTAL", 20)
    ball, e, form, lam = (
        md.L1Ball.from_counts([47, 38], radius=1),
        1.3498588,
        QuadraticForm(np.zeros(2)),
        [0.32, -0.545],
    )
    price = SeparablePricing(ball, e).price(form, np.array(lam))
    assert price.upper >= greatest(ball, e, form, np.array(lam)) - 1e-12


@pytest.mark.parametrize("more", [(4, 16, 64), ()])
def test_a_bound_that_is_wanted_is_worth_more_work(more, monkeypatch):
    """The bound of a file holds though the usual work of this version proves less, and stays below that of all rays."""
    ball = md.L1Ball.from_counts([40, 20, 13, 10, 8, 6, 5, 5], radius="0.1")
    problem = md.DesignProblem(ball, 1, md.EstimationError())
    limits = greatest_entries(ball.prior, np.e)
    form = QuadraticForm(best_caps(ball.prior, limits, np.eye(8)))
    lam = multipliers_of_caps(form.diagonal, limits)
    pricing = SeparablePricing(ball, np.e)
    stored = certify_error(problem, form, lam, pricing).lower_bound
    monkeypatch.setattr("mechdesign.optimize.estimation.separable._ENTRIES", 3e4)
    monkeypatch.setattr("mechdesign.optimize.estimation.solver._MORE_WORK", more)
    usual = certify_error(problem, form, lam, pricing).lower_bound
    wanted = certify_error(problem, form, lam, pricing, wanted=stored).lower_bound
    assert usual < stored
    assert wanted >= stored if more else wanted == usual
    listed = certify_error(problem, form, lam, ListedForms(Rays(ball, np.e))).lower_bound
    assert max(stored, wanted) <= listed * (1 + 1e-12)
    assert certify_error(problem, form, lam, pricing, wanted=stored, deadline=0.0).lower_bound <= usual
