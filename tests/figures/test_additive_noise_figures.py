import itertools
import math

import numpy as np
import pytest
from chi_square import p_value
from refusals import raises
from scipy import special, stats
from tolerances import ALGEBRA

import mechdesign as md
from figures import figure_4, figure_5, figure_6a, figure_6b, figure_7
from figures.lib import binary_laplace, gaussian_curves
from mechdesign.additive_noise import laplace_epsilon, laplace_threshold_information, pldp_delta_exact

DELTA_2 = 1e-6
SIGNIFICANCE = 1e-3  # every generator here is seeded
LINES = {figure_6a: 1.5, figure_6b: 2.0, figure_7: 1.5}


@pytest.fixture(scope="module")
def four():
    return figure_4.compute(quick=True)


@pytest.fixture(scope="module")
def five():
    return figure_5.compute(quick=True)


@pytest.fixture(scope="module")
def curves():
    return {figure: figure.compute(quick=True) for figure in LINES}


# Figures 4 and 5.


def select(table, **wanted):
    return [row for row in table if all(row[key] == value for key, value in wanted.items())]


def test_the_features_have_the_counts_of_all_records():
    assert binary_laplace.two_counts("income") == (11687, 37155)
    assert binary_laplace.two_counts("sex") == (16192, 32650)


def test_a_problem_without_two_counts_is_refused():
    with raises("input", "race", "has 5"):
        binary_laplace.two_counts("race")


def test_drawing_without_replacement_is_shuffling():
    # All arrangements of 3 + 5 records: the share of those with k of the first value among the first 4.
    records = [1] * 3 + [0] * 5
    shuffles = list(itertools.permutations(records, 4))
    exact = [sum(sum(part) == k for part in shuffles) / len(shuffles) for k in range(4)]
    drawn = binary_laplace.first_records((3, 5), 4, 100_000, np.random.default_rng(1))
    assert p_value(np.bincount(drawn, minlength=4), exact) > SIGNIFICANCE


def test_binomial_flips_are_those_of_laplace_noise_and_a_threshold():
    # The experiment of ED Section VI-C1 record by record: noise is drawn, its sum with the record compared with 0.
    rng, scale = np.random.default_rng(2), 1.3
    records = np.repeat([-1, 1], [12, 18])
    reports = np.where(records + rng.laplace(scale=scale, size=(100_000, 30)) < 0, -1, 1)
    differ = reports != records
    flip = binary_laplace.flip_probability(scale)
    for group, size in ((differ[:, :12], 12), (differ[:, 12:], 18)):
        # Rare numbers of flips are put together.
        counts = np.bincount(np.minimum(group.sum(axis=1), 8), minlength=9)
        expected = [*stats.binom.pmf(range(8), size, flip), stats.binom.sf(7, size, flip)]
        assert p_value(counts, expected) > SIGNIFICANCE
    assert binary_laplace.flip_probability(0.0) == 0


def test_the_empirical_information_is_that_of_equation_67_with_m_for_n():
    rng = np.random.default_rng(3)
    records, reports = rng.integers(0, 2, size=(2, 50))
    m, literal = records.size, 0.0
    for x, y in itertools.product((0, 1), repeat=2):
        both = np.sum((records == x) & (reports == y))
        literal += both / m * math.log(m * both / (np.sum(records == x) * np.sum(reports == y)))
    first = np.sum(records == 0)
    table = binary_laplace.joint(
        m, first, np.sum((records == 0) & (reports == 1)), np.sum((records == 1) & (reports == 0))
    )
    assert binary_laplace.information(table) == pytest.approx(literal, abs=ALGEBRA)
    prior = table.sum(axis=1)
    value = md.MutualInformation().value(table / prior[:, None], prior)
    assert binary_laplace.information(table) == pytest.approx(value, abs=ALGEBRA)


def test_the_mean_of_the_simulation_is_the_expectation_over_both_binomials():
    m, first, epsilon = 60, 15, "1"
    outcome = binary_laplace.simulate(np.full(20_000, first), m, epsilon, "0", np.random.default_rng(4))
    assert outcome["scale"] == 2
    flip = math.exp(-1 / 2) / 2
    i, j = np.arange(first + 1)[:, None], np.arange(m - first + 1)[None, :]
    weights = stats.binom.pmf(i, first, flip) * stats.binom.pmf(j, m - first, flip)
    values = binary_laplace.information(binary_laplace.joint(m, np.full(weights.shape, first), i + 0 * j, j + 0 * i))
    mean = np.sum(weights * values)
    assert abs(outcome["empirical_information"] - mean) < 4 * outcome["standard_error"]
    deviation = math.sqrt(np.sum(weights * (values - mean) ** 2) / 20_000)
    assert outcome["standard_error"] == pytest.approx(deviation, rel=0.03)
    # The estimate is biased upwards by about 1 / (2 m); the information of the mechanism is not.
    assert outcome["information"] == pytest.approx(laplace_threshold_information(2, 0.25), abs=ALGEBRA)
    assert mean - outcome["information"] == pytest.approx(1 / (2 * m), rel=0.2)


def test_scales_reach_epsilon_and_no_less():
    first, m, delta = np.array([900, 2_000, 2_500, 3_100]), 5_000, "1e-9"
    radius = md.weissman_radius(m, 2, delta)
    for count, scale in zip(first.tolist(), binary_laplace.scales(first, m, "0.6", delta), strict=True):
        p_min = min(count, m - count) / m
        assert laplace_epsilon(scale, p_min, radius) == pytest.approx(0.6, rel=1e-9)
    # log(1 / 0.5) < 0.8 < log(1 / 0.18): the balanced estimate needs no noise at all.
    found = binary_laplace.scales(np.array([900, 2_500]), m, "0.8", delta)
    assert found[0] > 0
    assert found[1] == 0


def test_pml_tells_more_than_ldp_for_every_m_and_epsilon(four):
    pml, ldp = select(four, mechanism="PML"), select(four, mechanism="LDP")
    assert len(pml) == len(ldp) == 2 * 2 * 4
    for ours, theirs in zip(pml, ldp, strict=True):
        assert [ours[key] for key in ("feature", "samples", "epsilon")] == [
            theirs[key] for key in ("feature", "samples", "epsilon")
        ]
        assert theirs["scale"] == pytest.approx(2 / theirs["epsilon"], rel=ALGEBRA)
        assert ours["scale"] < theirs["scale"]
        assert ours["information"] > theirs["information"]
        assert ours["empirical_information"] > theirs["empirical_information"]


def test_utility_rises_with_the_number_of_samples(four):
    for row in select(four, mechanism="PML", samples=1_000):
        (more,) = select(four, mechanism="PML", samples=48_842, feature=row["feature"], epsilon=row["epsilon"])
        assert more["information"] > row["information"]
        if row["epsilon"] > 0.2:  # at 0.2 the gain is no larger than the bias of 1/(2 m)
            assert more["empirical_information"] > row["empirical_information"]


def test_with_all_records_the_gain_is_that_of_the_closed_forms(four):
    # With m = 48,842 the estimate is no longer random.
    for feature in binary_laplace.FEATURES:
        rarer, other = binary_laplace.two_counts(feature)
        p, t = rarer / (rarer + other), math.sqrt(2 * math.log(2e9) / 48_842) / 2
        for row in select(four, feature=feature, samples=48_842, mechanism="PML"):
            rest = math.exp(-row["epsilon"]) - (p - t)
            if rest <= 0:
                assert row["scale"] == 0
                assert row["information"] == pytest.approx(binary_laplace.entropy(feature), abs=ALGEBRA)
                assert row["empirical_information"] == row["information"]
            else:
                scale = 2 / math.log((1 - p + t) / rest)
                assert row["scale"] == pytest.approx(scale, rel=1e-9)
                assert row["information"] == pytest.approx(laplace_threshold_information(scale, p), rel=1e-8)
                bias = 1 / (2 * 48_842)
                assert abs(row["empirical_information"] - row["information"] - bias) < 5 * row["standard_error"]
    assert select(four, feature="sex", samples=48_842, mechanism="PML", scale=0.0)


def test_delta_zero_is_ldp_and_a_smaller_delta_costs_utility(five):
    assert len(five) == 2 * 3 * len(figure_5.DELTAS)
    for feature, samples in itertools.product(binary_laplace.FEATURES, (100, 2_000, 48_842)):
        rows = select(five, feature=feature, samples=samples)
        assert [row["delta"] for row in rows] == list(figure_5.DELTAS)
        assert rows[-1]["scale"] == pytest.approx(2 / math.log(2), rel=ALGEBRA)
        utilities = [row["information"] for row in rows]
        assert utilities == sorted(utilities, reverse=True)
        if samples > 100:
            assert len(set(utilities)) == len(utilities)
            empirical = [row["empirical_information"] for row in rows]
            assert empirical == sorted(empirical, reverse=True)
    for feature, delta in itertools.product(binary_laplace.FEATURES, figure_5.DELTAS[:-1]):
        utilities = [row["information"] for row in select(five, feature=feature, delta=delta)]
        assert utilities == sorted(utilities)


def test_the_same_table_is_made_again(five):
    assert figure_5.compute(quick=True) == five


def test_the_pictures_of_the_laplace_mechanism(four, five):
    picture = figure_4.draw(four)
    assert [axis.get_title() for axis in picture.axes] == ["income", "sex"]
    assert {axis.get_yscale() for axis in picture.axes} == {"log"}
    labels = [text.get_text() for text in picture.axes[0].get_legend().get_texts()]
    assert labels == ["PML, $m$ = 48,842", "PML, $m$ = 1,000", "LDP"]
    picture = figure_5.draw(five)
    assert {axis.get_xscale() for axis in picture.axes} == {"log"}
    assert len(picture.axes[0].get_legend().get_texts()) == len(figure_5.DELTAS)


# Figures 6a, 6b and 7.


def lines(table):
    return [select(table, samples=samples) for samples in gaussian_curves.SAMPLES]


def at_stars(rows):
    """Map the epsilon* of the grid that all curves share to delta*."""
    return {round(row["epsilon_star"], 6): row["delta_star"] for row in rows if row["grid"]}


def probability(epsilon, sigma, q):
    """Return the probability of leaking more than epsilon for priors q of X = 1, by ED eq. (62)."""
    total = np.zeros_like(q)
    for p in (q, 1 - q):
        gap = math.exp(-epsilon) - p
        with np.errstate(divide="ignore"):
            y = np.where(gap > 0, sigma**2 / 2 * np.log((1 - p) / np.where(gap > 0, gap, 1.0)), np.inf)
        total += p * stats.norm.sf((y - 1) / sigma) + (1 - p) * stats.norm.sf((y + 1) / sigma)
    return total


@pytest.mark.sampled
@pytest.mark.parametrize("figure", LINES)
def test_delta_1_is_what_a_grid_search_over_the_ball_finds(curves, figure):
    p = 0.3 if figure is figure_7 else 0.5
    for row in curves[figure]:
        if row["curve"] == gaussian_curves.PLDP:
            continue
        half = math.sqrt(2 * math.log(2 / DELTA_2) / row["samples"]) / 2
        assert row["radius"] == pytest.approx(2 * half, rel=ALGEBRA)
        q = np.linspace(max(0.0, p - half), min(1.0, p + half), 4_001)
        found = probability(row["epsilon"], LINES[figure], q).max()
        assert found * (1 - 1e-9) <= row["delta_1"] <= found * (1 + 1e-4) + 1e-300


@pytest.mark.parametrize("figure", LINES)
def test_the_pairs_are_those_of_equations_64_and_65(curves, figure):
    stars = np.geomspace(*gaussian_curves.RANGE, 13)
    for rows in lines(curves[figure]):
        for row in rows:
            assert row["delta_star"] == pytest.approx(1 - (1 - row["delta_1"]) * (1 - DELTA_2), abs=ALGEBRA)
            assert row["delta_star"] >= DELTA_2
            lost = row["radius"] / 2 * math.exp(row["epsilon"])
            if lost < 1:
                star = row["epsilon"] - math.log1p(-lost)
                assert row["epsilon_star"] == pytest.approx(star, rel=1e-9)
            else:
                assert row["epsilon_star"] == math.inf
            assert row["epsilon"] < row["epsilon_star"]
        grid = [row["epsilon_star"] for row in rows if row["grid"]]
        np.testing.assert_allclose(grid, stars[len(stars) - len(grid) :], rtol=1e-9)
        deltas = [row["delta_star"] for row in sorted(rows, key=lambda row: row["epsilon"])]
        assert deltas == sorted(deltas, reverse=True)


@pytest.mark.parametrize("figure", LINES)
def test_more_samples_leave_a_smaller_delta(curves, figure):
    for fewer, more in itertools.pairwise(at_stars(rows) for rows in lines(curves[figure])):
        assert fewer.keys() <= more.keys()
        for star, delta in fewer.items():
            # Equal only where both are delta_2, which no delta* is below, or 1.
            assert more[star] < delta or more[star] == delta == pytest.approx(DELTA_2, rel=1e-9)


@pytest.mark.parametrize("figure", LINES)
def test_delta_2_is_reached_for_all_m_but_100(curves, figure):
    few, *others = lines(curves[figure])
    for rows in others:
        assert min(row["delta_star"] for row in rows if row["epsilon_star"] < 10) == pytest.approx(DELTA_2, rel=1e-9)
    # As printed m = 100 stays far above. The pair with epsilon itself comes down as well.
    assert min(row["delta_star"] for row in few if row["epsilon_star"] < math.inf) > 1_000 * DELTA_2
    assert min(row["delta_star"] for row in few) < 1.1 * DELTA_2


@pytest.mark.parametrize("figure", LINES)
def test_pldp_is_equation_70_and_needs_a_larger_epsilon(curves, figure):
    sigma = LINES[figure]
    pldp = select(curves[figure], curve=gaussian_curves.PLDP)
    for row in pldp:
        star, delta = row["epsilon_star"], row["delta_star"]
        if delta < 1:
            f = special.erfcinv(delta)
            assert math.sqrt(2) * (f + math.sqrt(f**2 + star)) / star == pytest.approx(sigma, rel=1e-9)
        exact = pldp_delta_exact(star, sigma)
        assert exact <= delta <= 2 * exact
    theirs = at_stars(pldp)
    for rows in lines(curves[figure])[1:]:
        for star, delta in at_stars(rows).items():
            # Nothing is below delta_2, and pLDP has no second source of failure.
            assert delta < theirs[star] or theirs[star] < DELTA_2


def test_more_noise_leaves_a_smaller_delta(curves):
    for less, more in zip(lines(curves[figure_6a]), lines(curves[figure_6b]), strict=True):
        less_noise, more_noise = at_stars(less), at_stars(more)
        assert less_noise.keys() == more_noise.keys()
        for star, delta in less_noise.items():
            assert more_noise[star] <= delta


def test_a_skewed_estimate_gains_less_over_pldp_where_delta_is_small(curves):
    theirs = at_stars(select(curves[figure_6a], curve=gaussian_curves.PLDP))
    assert theirs == at_stars(select(curves[figure_7], curve=gaussian_curves.PLDP))
    for even, skewed in list(zip(lines(curves[figure_6a]), lines(curves[figure_7]), strict=True))[1:]:
        even_deltas, skewed_deltas = at_stars(even), at_stars(skewed)
        gains = {
            star: [math.log(theirs[star] / deltas[star]) for deltas in (even_deltas, skewed_deltas)]
            for star in even_deltas
        }
        compared = [pair for star, pair in gains.items() if star > 0.8]
        assert all(skewed_gain <= even_gain for even_gain, skewed_gain in compared)
        assert any(skewed_gain < even_gain - 1 for even_gain, skewed_gain in compared)
        # delta_2 is reached at a larger epsilon*.
        reached = [
            min(row["epsilon_star"] for row in rows if row["delta_star"] < 2 * DELTA_2) for rows in (even, skewed)
        ]
        assert reached[0] < reached[1]
        # Not everywhere: where delta* is large, a skewed estimate gains more.
        assert any(skewed_gain > even_gain for star, (even_gain, skewed_gain) in gains.items() if star < 0.8)


@pytest.mark.parametrize("figure", LINES)
def test_the_pictures_of_the_gaussian_mechanism(curves, figure):
    picture = figure.draw(curves[figure])
    (axis,) = picture.axes
    assert axis.get_yscale() == "log"
    labels = [text.get_text() for text in axis.get_legend().get_texts()]
    assert labels[:5] == [*(f"PML, $m$ = {samples:,}" for samples in gaussian_curves.SAMPLES), "pLDP, eq. (70)"]
