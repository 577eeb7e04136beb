"""Pricing by subset-sum tables against rays in exact arithmetic, the list of rays, and brute force over weights."""

import math
import warnings
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from refusals import raises
from repetitions import examples
from strategies import F_INFORMATIONS, balls, random_ball
from tolerances import ALGEBRA

import mechdesign as md
from mechdesign.numerics.cheapest_sets import CheapestSets, ItemGroup
from mechdesign.optimize.pricing import by_counts, price_by_listing, three_values
from mechdesign.optimize.pricing.by_counts import CountPricing
from mechdesign.optimize.pricing.listing import reduced_costs
from mechdesign.optimize.pricing.three_value_cases import price_three_values
from mechdesign.optimize.pricing.two_valued import CountedCone
from mechdesign.optimize.rays import Rays

EXACT = 1e-9  # of the multipliers' sizes plus 1: what a thorough bound may add to the truth

KINK = md.FInformation(lambda u: np.maximum(np.abs(u - 1.5) - 0.5, 0.0), name="kink")
UTILITIES = (*F_INFORMATIONS, KINK)
F_IN_DECIMALS = {
    "mutual-information": lambda u: u * u.ln() if u else Decimal(0),
    "chi-square": lambda u: (u - 1) ** 2,
    "total-variation": lambda u: abs(u - 1) / 2,
    "squared-hellinger": lambda u: (1 - u.sqrt()) ** 2,
    "kink": lambda u: max(abs(u - Decimal("1.5")) - Decimal("0.5"), Decimal(0)),
}

exps = st.sampled_from([1 + 2.0**-52, 1 + 1e-7, 1.001, 1.125, 1.5, 2.0, math.e, 4.0, 40.0, 1e3, 1e6, 1e9])
moderate_exps = st.sampled_from([1.001, 1.125, 1.5, 2.0, math.e, 4.0, 40.0])


@st.composite
def multipliers(draw, size):
    """Zeros, whole numbers, proportional to nothing, and of any size."""
    seed = draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    return draw(
        st.sampled_from(
            [
                np.zeros(size),
                rng.integers(-2, 3, size).astype(float),
                rng.standard_normal(size) * 0.3,
                rng.standard_normal(size) * 10.0 ** rng.uniform(-6, 6),
                np.where(rng.random(size) < 0.5, 5.0, -0.1) * rng.random(size),
            ]
        )
    )


@st.composite
def priced(draw, least=2, most=5, among=exps):
    ball = draw(balls(least, most))
    if draw(st.integers(0, 4)) == 0:
        ball = ball.as_printed()
    return ball, draw(among), draw(st.sampled_from(UTILITIES)), draw(multipliers(ball.size))


def exact_rays(ball, e):
    """Return all rays of kinds A to D, and the constant column, in rationals with ``<P, v> = 1``."""
    N, P, t = ball.size, ball.center, ball.half_radius
    c, everything = e / (1 + t * e), (1 << ball.size) - 1
    mass = [sum((P[i] for i in range(N) if S >> i & 1), Fraction(0)) for S in range(1 << N)]
    found = [(Fraction(1),) * N]

    def with_values(S, on, off, f=None, between=None):
        found.append(tuple(on if S >> i & 1 else between if i == f else off for i in range(N)))

    if not (ball.within_simplex and t >= 1):
        for S in range(1, everything):
            if c * mass[S] <= 1:
                with_values(S, c, (1 - c * mass[S]) / (1 - mass[S] + t))
        for S in range(1 << N):
            for f in range(N):
                if not S >> f & 1 and P[f] > 0 and 0 <= 1 - c * mass[S] <= c * P[f]:
                    with_values(S, c, Fraction(0), f, (1 - c * mass[S]) / P[f])
    if ball.within_simplex and t > 0:
        for S in range(1, everything):
            if mass[S] <= t:
                with_values(S, e, Fraction(1))
        for T in range(1 << N):
            S = T
            while S and t < 1 and mass[T] - t >= 1 / e:
                if mass[S] <= t:
                    g = e * (mass[T] - t)
                    found.append(tuple(g if S >> i & 1 else Fraction(T >> i & 1) for i in range(N)))
                S = (S - 1) & T
    scaled = ((v, sum(p * x for p, x in zip(P, v, strict=True))) for v in set(found))
    return [tuple(x / q for x in v) for v, q in scaled if q > 0]


def averaged(ball, multipliers):
    """Return multipliers in rationals, averaged over symbols of equal probability."""
    groups = {}
    for p, multiplier in zip(ball.center, multipliers, strict=True):
        groups.setdefault(p, []).append(Fraction(float(multiplier)))
    return [sum(groups[p]) / len(groups[p]) for p in ball.center]


def exact_reduced_cost(ball, e, utility, multipliers):
    """Return the greatest reduced cost to 40 digits."""
    f, lam = F_IN_DECIMALS[utility.name], averaged(ball, multipliers)

    def decimal(x):
        return Decimal(x.numerator) / Decimal(x.denominator)

    with localcontext(prec=40):
        return max(
            sum((decimal(p) * f(decimal(x)) for p, x in zip(ball.center, v, strict=True) if p > 0), Decimal(0))
            - decimal(sum(m * x for m, x in zip(lam, v, strict=True)))
            for v in exact_rays(ball, Fraction(e))
        )


def size_of(multipliers):
    return 1 + float(np.abs(multipliers).sum())


UNSEEN = md.L1Ball.from_counts([1, 1, 0], radius=1)  # c < 1 at e = 1.5: all seen symbols may have it
TIED = md.L1Ball.from_counts([1, 16, 4], radius="5/21")  # e (b - t) = 1 for whole weights at e = 2


@pytest.mark.slow
@settings(max_examples=examples(250))
@given(priced())
@example((UNSEEN, 1.5, md.MutualInformation(), np.array([0.0, 0.0, 1.0])))
@example((UNSEEN, 1.5, md.TotalVariation(), np.array([0.0, 0.0, 7.0])))
@example((TIED, 2.0, md.ChiSquare(), np.array([0.1, -0.2, 0.3])))
@example((md.L1Ball.from_counts([7, 1000], radius="1.9").as_printed(), 1 + 2.0**-52, KINK, np.array([-0.5, -0.1])))
def test_no_ray_has_a_greater_reduced_cost_than_the_bound(case):
    ball, e, utility, lam = case
    pricing = CountPricing(ball, e, utility)
    thorough, quick = (pricing.price(lam, thorough=flag).upper for flag in (True, False))
    exact = exact_reduced_cost(ball, e, utility, lam)
    assert Decimal(thorough) >= exact
    assert Decimal(quick) >= exact
    assert quick >= thorough - ALGEBRA * size_of(lam)


@given(priced(among=moderate_exps))
@example((UNSEEN, 1.5, md.MutualInformation(), np.array([0.0, 0.0, 1.0])))
def test_the_bound_is_the_greatest_reduced_cost(case):
    ball, e, utility, lam = case
    exact = exact_reduced_cost(ball, e, utility, lam)
    assert CountPricing(ball, e, utility).price(lam).upper - float(exact) <= EXACT * size_of(lam)


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(priced(3, 6, among=moderate_exps))
def test_large_tables_are_left_out_where_they_cannot_raise_the_bound(case):
    """Tables of single symbols are filled for every one where they are small, and otherwise as long as they matter."""
    ball, e, utility, lam = case
    every, some = [], []
    fill = by_counts.leave_one_out
    bounds = []
    for small, filled in ((math.inf, every), (0, some)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(by_counts, "_SMALL_TABLES", small)
            patch.setattr(by_counts, "leave_one_out", lambda *a, filled=filled: counted(fill(*a), filled))
            bounds.append(CountPricing(ball, e, utility).price(lam).upper)
    assert bounds[0] == bounds[1]
    assert {k for k, _ in some} <= {k for k, _ in every}


def counted(tables, filled):
    for found in tables:
        filled.append(found)
        yield found


@pytest.mark.parametrize("radius", ["0", "0.05"])
def test_the_first_table_of_a_symbol_makes_the_others_needless_at_proportional_multipliers(radius, monkeypatch):
    pricing = CountPricing(md.L1Ball.from_counts(range(1, 61), radius=radius), math.e, md.MutualInformation())
    fill, numbers = by_counts.leave_one_out, []
    for small in (0, math.inf):
        filled = []
        monkeypatch.setattr(by_counts, "_SMALL_TABLES", small)
        monkeypatch.setattr(by_counts, "leave_one_out", lambda *a, filled=filled: counted(fill(*a), filled))
        pricing.price(pricing.ball.prior)
        numbers.append(len(filled))
    assert numbers[0] == 1
    assert numbers[1] > 30


@settings(max_examples=examples(60))
@given(priced(6, 9, moderate_exps))
def test_tables_price_like_the_list_of_rays(case):
    ball, e, utility, lam = case
    rays, bound = Rays(ball, e), CountPricing(ball, e, utility).price(lam).upper
    means = np.array([float(x) for x in averaged(ball, lam)])
    found = [costs.max() for _, costs in reduced_costs(rays, utility, means)]
    np.testing.assert_allclose(bound, max([*found, -math.fsum(lam)]), rtol=0, atol=EXACT * size_of(lam))
    # Averages are never worse than the multipliers themselves.
    assert bound <= max(price_by_listing(rays, utility, lam).upper, -math.fsum(lam)) + EXACT * size_of(lam)


# Symbols of equal count, in parts


def one_by_one(sets, items, weight, cost):
    """Add items that are alike each for itself."""
    for item in items:
        sets.add(item, weight, cost)


@st.composite
def many_alike(draw, most):
    """Balls with few counts that many symbols have, and unseen symbols; multipliers of equal counts may be equal."""
    kinds = draw(st.integers(1, 4))
    numbers = draw(st.lists(st.integers(1 + (kinds == 1), most // kinds), min_size=kinds, max_size=kinds))
    radius = draw(st.sampled_from(["0", "0.01", "0.1", "0.4", "0.9", "1.7", "2"]))
    found = draw(st.lists(st.sampled_from([0 if radius != "0" else 5, 1, 2, 3, 7, 20]), min_size=kinds, max_size=kinds))
    found[0] = max(found[0], 1)
    counts = [count for count, number in zip(found, numbers, strict=True) for _ in range(number)]
    ball = md.L1Ball.from_counts(counts, radius=radius)
    if draw(st.integers(0, 4)) == 0:
        ball = ball.as_printed()
    lam = draw(multipliers(kinds))[np.repeat(np.arange(kinds), numbers)] * draw(st.sampled_from([1.0, 0.1]))
    if draw(st.booleans()):
        lam = lam + draw(multipliers(ball.size))
    return ball, draw(moderate_exps), draw(st.sampled_from(UTILITIES)), lam


@pytest.mark.slow
@settings(max_examples=examples(200))
@given(many_alike(24))
def test_symbols_in_parts_are_priced_like_symbols_one_by_one(case):
    """Two ways to one bound, which rounds less often in parts."""
    ball, e, utility, lam = case
    pricing = CountPricing(ball, e, utility)
    for thorough in (True, False):
        price = pricing.price(lam, thorough=thorough)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(CheapestSets, "add_equal", one_by_one)
            other = pricing.price(lam, thorough=thorough)
        np.testing.assert_allclose(price.upper, other.upper, rtol=0, atol=ALGEBRA * size_of(lam))


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(many_alike(6))
def test_symbols_in_parts_are_priced_exactly(case):
    ball, e, utility, lam = case
    exact, bound = exact_reduced_cost(ball, e, utility, lam), CountPricing(ball, e, utility).price(lam).upper
    assert 0 <= Decimal(bound) - exact <= EXACT * size_of(lam)


def test_a_thousand_equal_counts_fill_no_more_tables_than_ten_counts():
    fine = CountPricing(md.L1Ball.from_counts([50] * 1000, radius="0.1"), 2.0, md.MutualInformation())
    other = CountPricing(md.L1Ball.from_counts([*range(1, 10), 49_955], radius="0.1"), 2.0, md.MutualInformation())
    assert fine.entries < other.entries


@given(priced(2, 9))
def test_the_columns_found_lie_in_the_cone(case):
    ball, e, utility, lam = case
    best = CountPricing(ball, e, utility).price(lam).best
    assert best.shape[0] == ball.size
    assert best.shape[1] > 0
    assert (best >= 0).all()
    np.testing.assert_allclose(ball.prior @ best, 1, rtol=1e-9)
    # Rounding in h is multiplied by e.
    room = 1e-9 * np.maximum(best.max(axis=0), 1) + 1e-14 * e
    assert (best.max(axis=0) <= e * ball.support(best) + room).all()


def test_symbols_of_equal_count_may_have_their_multipliers_averaged():
    ball = md.L1Ball.from_counts([5, 2, 5, 0, 2, 5, 0], radius="0.3")
    lam = np.array([1.0, 2.0, -4.0, 3.0, 0.5, 0.0, 1.0])
    means = np.array([-1.0, 1.25, -1.0, 2.0, 1.25, -1.0, 2.0])
    pricing = CountPricing(ball, 2.0, md.ChiSquare())
    assert pricing.price(lam).upper == pricing.price(means).upper


@pytest.mark.parametrize("radius", ["0", "0.3", "1.9", "2"])
@pytest.mark.parametrize(
    "lam", [[1e300, -1e300, 1e300, 0], [-0.8e308, 0.9e308, 0, 1], [0.8e308, -0.9e308, 0, 1], [-1.7e308, 0, 0, 0]]
)
def test_huge_multipliers_prove_little_but_nothing_false(radius, lam):
    ball, lam = md.L1Ball.from_counts([5, 3, 2, 1], radius=radius), np.array(lam)
    with np.errstate(over="ignore", invalid="ignore"):
        price = CountPricing(ball, 5.0, md.MutualInformation()).price(lam)
    assert Decimal(price.upper) >= exact_reduced_cost(ball, 5.0, md.MutualInformation(), lam)


@pytest.mark.parametrize("lam", [[math.inf, 0, 0], [0, math.nan, 0], [1.7e308, -1.7e308, 0]])
def test_multipliers_beyond_floats_have_no_bound(lam):
    pricing = CountPricing(md.L1Ball.from_counts([5, 3, 2], known=True), 2.0, md.MutualInformation())
    with np.errstate(over="ignore"):
        assert pricing.price(np.array(lam)).upper == math.inf


def test_ties_between_weights_and_the_border_of_kind_c_are_priced_without_warnings():
    """``e (b - t)`` is 1 for a weight that some sets have and others have not."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(1, 21):
            t = Fraction(k, 21) - Fraction(1, 2)
            if 0 < t < 1:
                ball = md.L1Ball.from_counts([1, 16, 4], radius=2 * t)
                assert math.isfinite(CountPricing(ball, 2.0, md.ChiSquare()).price(np.array([0.1, -0.2, 0.3])).upper)


@pytest.mark.parametrize("total", [10**5, 10**6])
def test_a_symbol_seen_once_among_very_many(total):
    ball = md.L1Ball.from_counts([1, 3, 40, total], radius="0.001")
    for lam in (np.zeros(4), np.array([1e-4, -1e-4, 0.01, 1.0])):
        exact = exact_reduced_cost(ball, 1.5, md.MutualInformation(), lam)
        assert 0 <= Decimal(CountPricing(ball, 1.5, md.MutualInformation()).price(lam).upper) - exact <= EXACT


def test_a_large_epsilon_loses_no_digits_that_matter():
    """Where symbols without mass may have the greatest value, which is then about exp(epsilon)."""
    ball = md.L1Ball.from_counts([5, 3, 2, 1, 0], radius="0.3")
    lam = np.array([0.1, 0.2, -0.3, 0.5, 0.2])
    for e in (1e2, 1e3, 1e4):
        exact = exact_reduced_cost(ball, e, md.MutualInformation(), lam)
        assert 0 <= Decimal(CountPricing(ball, e, md.MutualInformation()).price(lam).upper) - exact <= e * 1e-12


# Kind C by blocks of weights


def three_values_case(rng, utility):
    """Return kind C with random tables, for which no sets need exist."""
    total = int(rng.integers(20, 400))
    t, e = float(rng.choice([0.01, 0.1, 0.3, 0.6, 1 / total])), float(rng.choice([1.2, 2.0, math.e, 10.0, 100.0]))
    rays = three_values.ThreeValues(CountedCone(np.ones(1), t, e, total=total), utility)

    def table(missing):
        sets = CheapestSets(total)
        walk = rng.standard_normal(total + 1).cumsum() * rng.choice([0.01, 0.1, 1.0])
        sets.best = np.where(rng.random(total + 1) < missing, np.inf, walk)
        return sets

    return rays, three_values.AllowedSets(*(table(rng.choice([0.0, 0.5, 0.9])) for _ in range(3)))


def brute_force(rays, sets):
    """Return the reduced cost that the tables allow for every pair of weights, by the formulas of kind C."""
    total, t, e, f = rays.cone.total, rays.cone.t, rays.cone.e, rays.utility.f
    inner, outer = np.arange(rays.heaviest_inner + 1)[:, None], np.arange(rays.lightest_outer, total + 1)[None, :]
    a, b = inner / total, outer / total
    g = np.maximum(e * (b - t), 1.0)
    q = b + (g - 1) * a
    rest = np.where(outer >= inner, sets.rest.best[np.maximum(outer - inner, 0)], np.inf)
    of_inner, of_outer = sets.inner.best[inner], sets.outer.best[outer]
    missing = np.isinf(of_inner) | np.isinf(of_outer) | np.isinf(rest)
    of_inner = np.where(np.isinf(of_inner), 0.0, of_inner)
    costs = np.maximum(of_outer + (g - 1) * of_inner, rest + g * of_inner)
    utility = a * f(g / q) + (b - a) * f(1 / q) + (1 - b) * f(np.zeros(1))
    return np.where(missing, -np.inf, utility - np.where(missing, 0.0, costs) / q)


@pytest.mark.sampled
@pytest.mark.parametrize("most_blocks", [4, 64, 4096])
def test_the_peak_of_all_blocks_is_that_of_all_pairs_of_weights(most_blocks, monkeypatch):
    monkeypatch.setattr(three_values, "_MOST_BLOCKS", most_blocks)
    rng, seen = np.random.default_rng(most_blocks), 0
    for k in range(60):
        rays, sets = three_values_case(rng, UTILITIES[k % 5])
        peak = rays.peak(sets, np.array([1.0, -1.0]), -np.inf)
        expected = brute_force(rays, sets).max(initial=-np.inf)
        if peak is None:
            assert expected == -np.inf
            continue
        seen += 1
        assert expected <= peak.upper <= expected + EXACT
        weights = peak.inner, peak.outer - rays.lightest_outer
        np.testing.assert_allclose(brute_force(rays, sets)[weights], expected, rtol=0, atol=EXACT)
        assert rays.peak(sets, np.array([1.0, -1.0]), peak.upper) is None
    assert seen > 20


@pytest.mark.parametrize("width", [2, 8, 64])
def test_the_bound_of_a_block_is_at_least_that_of_each_pair_within(width):
    rng = np.random.default_rng(width)
    for k in range(60):
        rays, sets = three_values_case(rng, UTILITIES[k % 5])
        pairs = brute_force(rays, sets)
        if pairs.size == 0:
            continue
        costs = three_values._Costs(
            sets.inner.best[: rays.heaviest_inner + 1],
            sets.outer.best[rays.lightest_outer :],
            sets.rest.best,
            rays.lightest_outer,
        )
        a, b = (np.arange(-(-n // width)) for n in pairs.shape)
        blocks = three_values._Blocks(np.repeat(a, b.size), np.tile(b, a.size), width)
        bounds = rays._bounds(blocks, costs, np.array([1.0, -1.0])).reshape(a.size, b.size)
        spread = np.repeat(np.repeat(bounds, width, axis=0), width, axis=1)[: pairs.shape[0], : pairs.shape[1]]
        assert (spread >= pairs).all()


# Seven symbols for which sets of the two best tables do not fit together.
CONFLICTS = md.L1Ball.from_counts([3, 5, 7, 11, 13, 17, 19], radius="0.6")


def test_cases_that_are_cut_short_still_give_a_bound(monkeypatch):
    """The greatest bound of an open case holds for all columns of kind C, however few cases are looked at."""
    rng, weaker, looked_at = np.random.default_rng(5), 0, []
    cases = price_three_values

    def counting(*arguments, **options):
        covered = cases(*arguments, **options)
        looked_at.append(covered.looked_at)
        return covered

    monkeypatch.setattr(by_counts, "price_three_values", counting)
    for _ in range(40):
        lam = rng.standard_normal(7) * CONFLICTS.prior
        pricing = CountPricing(CONFLICTS, 3.0, md.SquaredHellinger())
        truth = pricing.price(lam).upper
        with monkeypatch.context() as patch:
            patch.setattr(by_counts, "_MOST_CASES", 1)
            cut = pricing.price(lam).upper
        assert cut >= truth - ALGEBRA
        weaker += cut > truth + EXACT
    assert max(looked_at) > 1
    assert weaker > 0


# A pricing that is wrong is found out


def loses_a_symbol(group, sets, leave_out=0):
    """Add all items of a group but those with the last name."""
    for item in group.items[leave_out:]:
        if item != 4:
            sets.add(item, group.weight, group.cost)


@pytest.mark.parametrize("radius", ["0", "0.05", "0.7", "2"])
def test_tables_that_lose_a_symbol_give_a_bound_that_verification_refuses(radius, monkeypatch):
    monkeypatch.setattr("mechdesign.optimize.pricing.choice._LISTED_AT_ONCE", 0)
    problem = md.DesignProblem(random_ball(np.random.default_rng(7), 5, radius), 1)
    honest = md.design(problem)
    assert md.verify(honest.mechanism).optimal
    multipliers = honest.certificate.multipliers - [0, 0, 0, 0, 0.2]
    with monkeypatch.context() as patch:
        patch.setattr(ItemGroup, "add_to", loses_a_symbol)
        false = md.optimize.certify(problem, multipliers)
    true = md.optimize.certify(problem, multipliers)
    assert false.method == true.method == CountPricing.method
    assert false.upper_bound < true.upper_bound
    claim = replace(honest.mechanism.optimality, bound=false.upper_bound, multipliers=tuple(multipliers))
    with raises("optimality-false"):
        md.verify(replace(honest.mechanism, optimality=claim))


def test_a_table_that_forgets_the_largest_weights_falls_below_the_truth():
    """The comparison with exact rays fails where it should."""
    ball, e, lam = md.L1Ball.from_counts([4, 3, 2, 1], known=True), 1.5, np.array([-0.3, 0.1, -0.2, 0.1])
    pricing = CountPricing(ball, e, md.MutualInformation())
    exact = exact_reduced_cost(ball, e, md.MutualInformation(), lam)
    assert Decimal(pricing.price(lam).upper) >= exact
    for kind in (*pricing._two_values, *pricing._between):
        kind.utility[-3:] = -1.0
    assert Decimal(pricing.price(lam).upper) < exact


def test_tables_are_refused_where_the_total_is_too_large():
    fine = md.L1Ball.from_counts(range(1, 41), radius="0.1")
    assert CountPricing(fine, 2.0, md.MutualInformation()).affordable
    for weight in (10**8, 10**12):
        heavy = md.L1Ball.from_counts([*range(1, 40), weight], radius="0.1")
        assert not CountPricing(heavy, 2.0, md.MutualInformation()).affordable
