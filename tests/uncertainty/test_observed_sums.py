"""A radius by limits at the sums of the observed counts: which sums, that it is enough, and how much is gained."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import raises
from repetitions import examples

import mechdesign as md
from mechdesign.uncertainty import Evidence, clopper_pearson_radius, observed_radius, refined_radius
from mechdesign.uncertainty.binomial_limits import event_level, is_limit, lower_limit
from mechdesign.uncertainty.binomial_tail import exact_worst_tail, log_tail, log_worst_tail
from mechdesign.uncertainty.bounds_of_counts import checked_bound_of_counts, observed_radius_exact
from mechdesign.uncertainty.observed_sums import LISTED, ObservedSums
from mechdesign.uncertainty.radii import checked_bound, radius_exact

COUNTS = st.lists(st.integers(0, 40), min_size=2, max_size=6).filter(any)


def sums_of(counts):
    """Return the counts of all sets of categories that are neither empty nor everything."""
    sizes = range(1, len(counts))
    return {sum(chosen) for size in sizes for chosen in itertools.combinations(counts, size)}


@given(COUNTS, st.integers(0, 240), st.integers(0, 9))
def test_the_sums_are_those_of_all_sets(counts, low, more):
    sums, found = sums_of(counts), ObservedSums.of(counts)
    assert {k for k in range(1, sum(counts) + 1) if k in found} == sums - {0}
    high = low + more
    beside = {max((k for k in sums | {0} if k < low), default=None), min((k for k in sums if k > high), default=None)}
    assert {*found.around(low, high)} - {0} == ({k for k in sums if low <= k <= high} | beside) - {None, 0}


@given(st.lists(st.integers(0, 9), min_size=LISTED + 1, max_size=LISTED + 4).filter(any))
@settings(max_examples=examples(20))
def test_beyond_sixteen_categories_no_sum_is_missed(counts):
    found = ObservedSums.of(counts)
    reached = 1
    for count in counts:
        reached |= reached << count
    proper = {k for k in range(1, sum(counts) + (0 in counts)) if reached >> k & 1}
    assert all(k in found for k in proper)
    assert all(
        k in {*found.around(low, low + 3)} for low in range(0, sum(counts), 7) for k in proper & {*range(low, low + 4)}
    )


def test_beyond_sixteen_categories_the_numbers_beside_a_range_are_the_nearest():
    found = ObservedSums.of([1000] * 16 + [7, 5, 3])
    numbers = [k for k in range(found.last + 1) if k in found]
    for low in range(900, 3200, 3):
        for high in (low, low + 5):
            below, above = max(k for k in numbers if k < low), min(k for k in numbers if k > high)
            assert {*found.around(low, high)} == {below, above, *(k for k in numbers if low <= k <= high)}


def test_sums_near_the_greatest_tail_prove_nothing_below_the_least_excess():
    """F at 4,990 and 5,010 of 10,000 is about what it is between them, and no side of the maximum is known."""
    excess = Fraction(1, 1000)
    assert log_worst_tail(10_000, excess, ObservedSums.of([5_010, 4_990])) is None
    assert log_worst_tail(10_000, Fraction(1, 10_000), ObservedSums.of([9_999, 1])) is None  # below 2/n
    far = ObservedSums.of([9_990, 10])
    tails = [log_tail(10_000, k, arb(k) / 10_000 - arb(1) / 1000) for k in (9_990,)]
    assert log_worst_tail(10_000, excess, far).overlaps(tails[0])  # 10 of 10,000 have excess 0 at most


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("counts", "delta"),
    [
        ((200, 57), "1e-9"),  # from 257 samples on only the sums near the maximum are looked at
        ((200, 56), "1e-9"),
        ((41762, 4685, 1519, 470, 406), "1e-9"),
        ((999_999, 1), "1e-9"),  # limits a thousand times nearer than at a half
        ((10**9 - 5, 5), "0.5"),
        ((9_999, 1), "1e-6"),
        ((10**12, 0, 0), "1e-9"),
        ((60_000, 30, 20, 10), "0.01"),
        ((7, 5, 0), "0.2"),
        ((3, 2, 2, 1), "0.5"),
        ((37155, 11687), "1e-3"),
        pytest.param((5000, 3000, 900, 800, 200, 60, 20), "1e-6", marks=pytest.mark.slow),
        pytest.param((500, 300, 90, 80, 20, 6, 2), "1e-6", marks=pytest.mark.slow),
        ((60, 30, 9, 8, 2), "1e-6"),
    ],
)
def test_the_radius_is_twice_the_greatest_distance_from_a_limit(counts, delta):
    n, level = sum(counts), event_level(Fraction(delta), len(counts))
    expected = 2 * max(Fraction(k, n) - lower_limit(n, k, level) for k in sums_of(counts))
    found = observed_radius_exact(counts, Fraction(delta))
    assert abs(found - expected) < Fraction(1, 10**12)
    assert all(is_limit(n, k, Fraction(k, n) - found / 2, level) for k in sums_of(counts))


@given(COUNTS, st.sampled_from(["1e-9", "0.01", "0.3"]), st.randoms(use_true_random=False))
@settings(max_examples=examples(60))
def test_the_radius_is_never_larger_and_does_not_depend_on_the_order(counts, delta, random):
    found = observed_radius_exact(tuple(counts), Fraction(delta))
    assert 0 < found <= radius_exact(sum(counts), len(counts), delta)
    assert observed_radius_exact(tuple(random.sample(counts, len(counts))), Fraction(delta)) == found
    assert observed_radius_exact(tuple(counts), Fraction(delta) / 2) >= found


def test_where_every_number_is_a_sum_it_is_the_radius_for_any_counts():
    counts = (1, 2, 4, 8, 16, 32, 64, 128, 256)
    assert observed_radius_exact(counts, Fraction(1, 1000)) == radius_exact(sum(counts), 9, "1e-3")


def test_what_is_gained_where_one_category_has_most():
    """Adult's races and native countries: sums near a half, where limits are widest, do not occur."""
    race = [41762, 4685, 1519, 470, 406]
    found, any_counts = observed_radius(race, 1e-9), clopper_pearson_radius(sum(race), 5, 1e-9)
    assert found / any_counts == pytest.approx(0.7184, abs=1e-4)
    assert found < refined_radius(race, 1e-9) < any_counts


def counts_of(samples, categories):
    """Yield all tables of counts."""
    for bars in itertools.combinations(range(samples + categories - 1), categories - 1):
        ends = (-1, *bars, samples + categories - 1)
        yield tuple(b - a - 1 for a, b in itertools.pairwise(ends))


@pytest.mark.parametrize(
    ("categories", "samples", "delta"), [(2, 30, "0.2"), (2, 9, "0.9"), (3, 12, "0.3"), (4, 7, "0.6")]
)
def test_coverage_by_all_tables_of_counts(categories, samples, delta):
    """The probability that the true prior is outside, at priors on the edge of a ball, where it is greatest."""
    tables = list(counts_of(samples, categories))
    radius = {table: float(observed_radius_exact(tuple(sorted(table)), Fraction(delta))) for table in tables}
    shares = np.array(tables) / samples
    ways = [math.factorial(samples) / math.prod(map(math.factorial, table)) for table in tables]
    radii = np.array([radius[table] for table in tables])
    worst, rng = 0.0, np.random.default_rng(5)
    for _ in range(300):
        place = rng.integers(len(tables))
        move = np.zeros(categories)
        move[rng.permutation(categories)[:2]] = 0.5, -0.5
        prior = shares[place] + move * radii[place] * (1 + 1e-9)
        if (prior < 0).any():
            prior = rng.dirichlet(np.full(categories, 0.5))
        outside = np.abs(shares - prior).sum(axis=1) > radii
        worst = max(worst, float(np.dot(np.array(ways)[outside], np.prod(prior ** np.array(tables)[outside], axis=1))))
    assert 0 < worst <= float(Fraction(delta))


def test_a_radius_below_what_the_counts_need_is_a_false_claim():
    counts, needed = (41762, 4685), observed_radius_exact((41762, 4685), Fraction(1, 1000))
    center = [Fraction(count, sum(counts)) for count in counts]
    evidence = Evidence(counts, sum(counts), Fraction(1, 1000))
    assert md.L1Ball(center, needed, evidence=evidence) == md.L1Ball.from_counts(counts, delta="1e-3", radius=None)
    with raises("evidence-contradicts", "below"):
        md.L1Ball(center, needed - Fraction(1, 10**15), evidence=evidence)


def test_the_sums_belong_to_counts_that_were_observed():
    assert checked_bound_of_counts("observed-sums") == checked_bound_of_counts(None) == "observed-sums"
    with raises("unknown-choice", "is a bound of counts"):
        checked_bound("observed-sums")
    with raises("unknown-choice", "is a bound of counts"):
        md.L1Ball.from_probabilities([0.5, 0.5], samples=10, delta=0.1, bound="observed-sums")
    with raises("evidence-contradicts", "observed-sums, which takes observed counts"):
        Evidence((1, 1), 2, Fraction(1, 10), asserted=True)
    with raises("unknown-choice", "observed-sums, clopper-pearson, weissman"):
        md.L1Ball.from_counts([1, 1], delta=0.1, bound="x")


@pytest.mark.parametrize("counts", [(1, 0), (2, 1), (5, 0), (7, 3, 2), (40, 9, 1)])
def test_a_tail_that_is_exactly_its_level_is_decided(counts):
    """No ball tells that two numbers are equal; the tail in rationals is summed here from its definition."""
    n, excess = sum(counts), Fraction(1, 2)

    def tail(k):
        q = Fraction(k, n) - excess
        return sum(math.comb(n, j) * q**j * (1 - q) ** (n - j) for j in range(k, n + 1))

    worst = max(tail(k) for k in sums_of(counts) | ({n} if 0 in counts else set()) if k > n * excess)
    assert exact_worst_tail(n, excess, ObservedSums.of(counts)) == worst
    delta = worst * (2 ** len(counts) - 2)
    assert observed_radius_exact(counts, delta) == 1
    assert observed_radius_exact(counts, delta * (1 - Fraction(1, 10**20))) == 1 + Fraction(1, 10**15)


def test_counts_1_and_0_and_an_even_chance_have_radius_three_halves():
    assert observed_radius_exact((1, 0), Fraction(1, 2)) == radius_exact(1, 2, "1/2") == Fraction(3, 2)
    assert md.L1Ball(["1", "0"], "3/2", evidence=Evidence((1, 0), 1, Fraction(1, 2))).radius == Fraction(3, 2)
