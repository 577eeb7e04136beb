"""Whether reports can come from a mechanism: the level of the test, its power, and what it cannot tell."""

import itertools

import numpy as np
import pytest
from matrices import mechanism_of, randomized_response, table
from scipy.stats import chi2, multinomial, poisson

import mechdesign as md
from mechdesign.deploy.fit import (
    IMPOSSIBLE,
    Fit,
    cell_moments,
    fit_of_groups,
    fits_of,
    greatest_tail,
    maximum_frequencies,
)
from mechdesign.deploy.likelihood import maximum_likelihood


def subset_selection(size, chosen, epsilon):
    sets = list(itertools.combinations(range(size), chosen))
    matrix = np.array([[np.exp(epsilon) if i in s else 1.0 for s in sets] for i in range(size)])
    return matrix / matrix.sum(axis=1, keepdims=True)


def fit(matrix, counts):
    counts = np.asarray(counts, dtype=float)
    return fits_of(matrix, counts[None], maximum_likelihood(matrix, counts).frequencies[None])[0]


LEVELS = {
    "inside": ([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]], [0.5, 0.5]),
    "at a corner": ([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]], [1.0, 0.0]),
    "many outputs, some without records": (subset_selection(6, 3, 1.0), [0.5, 0.3, 0.2, 0.0, 0.0, 0.0]),
    "outputs that hardly occur": (
        np.random.default_rng(1).dirichlet(np.r_[np.ones(5) * 5, np.ones(25) * 0.02], 5),
        [0.2] * 5,
    ),
    "one output that hardly ever comes": ([[0.42, 0.58 - 8e-8, 8e-8], [1 - 2e-7, 0.0, 2e-7]], [0.7, 0.3]),
    "some that come once in a thousand": (
        [[0.6, 0.3, 0.0985, 1e-3, 5e-4], [0.1, 0.3, 0.5985, 5e-4, 1e-3]],
        [0.7, 0.3],
    ),
    "as many outputs as inputs": (randomized_response(4, np.e), [0.97, 0.01, 0.01, 0.01]),
}


FEW_AND_MANY = [10, 100, 20_000]
# A third of the kinds, each once, with other numbers.
QUICK = set(zip(list(LEVELS)[::3], itertools.cycle(FEW_AND_MANY)))


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "reports"),
    [
        pytest.param(*case, marks=[] if case in QUICK else [pytest.mark.slow])
        for case in itertools.product(LEVELS, FEW_AND_MANY)
    ],
)
def test_p_is_uniform_or_greater(name, reports):
    matrix, theta = map(np.array, LEVELS[name])
    rng, law, runs = np.random.default_rng(reports), theta @ matrix, 200
    found = [fit(matrix, counts) for counts in rng.multinomial(reports, law / law.sum(), size=runs)]
    p = np.array([1.0 if each.p is None else each.p for each in found])
    assert not any(each.impossible for each in found)
    for level in (0.5, 0.1, 0.01):
        assert (p <= level).mean() <= level + 3.5 * np.sqrt(level * (1 - level) / runs)


def test_p_of_many_reports_inside_is_that_of_chi_square():
    matrix = subset_selection(4, 2, 1.0)
    counts = np.array([1_000_000, 1_001_000, 999_000, 1_000_500, 1_000_000, 999_500])
    found = fit(matrix, counts)
    assert found.degrees == 6 - 4
    assert found.p == pytest.approx(chi2.sf(found.deviance, 2), rel=1e-3)


def test_reports_of_another_mechanism_are_impossible():
    rng = np.random.default_rng(0)
    made_by, used = (rng.dirichlet(np.ones(78), size=12) for _ in range(2))
    theta = rng.dirichlet(np.ones(12))
    counts = rng.multinomial(20_000, theta @ made_by)
    assert fit(used, counts).degrees >= 66
    assert fit(used, counts).impossible
    right = fit(made_by, counts)
    assert not right.impossible
    assert right.p > 0.001


def test_the_same_design_at_another_epsilon_is_seen():
    theta = np.array([0.4, 0.2, 0.1, 0.1, 0.1, 0.1])
    counts = 100_000 * theta @ subset_selection(6, 3, 2.0)
    assert fit(subset_selection(6, 3, 0.5), counts.round()).impossible
    assert not fit(subset_selection(6, 3, 2.0), counts.round()).impossible


def test_without_degrees_of_freedom_reports_inside_cannot_tell():
    matrix = randomized_response(3, np.e)
    inside = fit(matrix, [400, 300, 300])
    assert (inside.degrees, inside.p, inside.impossible) == (0, None, False)


def test_without_degrees_of_freedom_reports_far_outside_are_impossible():
    # No mixture of the rows has an output more often than 0.576.
    assert fit(randomized_response(3, np.e), [900, 50, 50]).impossible


def test_an_output_that_does_not_come_tells_nothing_if_it_hardly_ever_comes():
    matrix = np.array([[0.42, 0.58 - 8e-8, 8e-8], [1 - 2e-7, 0.0, 2e-7]])
    assert fit(matrix, [600, 400, 0]).p is None
    assert fit(matrix, [600, 399, 1]).p < 1e-3
    often = np.array([[0.42, 0.58 - 5e-6, 5e-6], [1 - 5e-6, 0.0, 5e-6]])
    assert fit(often, [600, 400, 0]).p is None
    assert fit(np.array([[0.42, 0.5799, 1e-4], [0.9999, 0.0, 1e-4]]), [600, 400, 0]).p == pytest.approx(0.9999**1000)


@pytest.mark.slow
def test_p_of_many_groups_with_an_output_that_hardly_ever_comes_is_uniform_or_greater():
    matrix, rng = np.array([[0.6, 0.299, 0.1, 1e-3], [0.1, 0.299, 0.6, 1e-3]]), np.random.default_rng(3)
    law = matrix.mean(axis=0)
    p = np.array(
        [
            Fit.together(fit(matrix, counts) for counts in rng.multinomial(60, law / law.sum(), size=30)).p
            for _ in range(60)
        ]
    )
    assert (p <= 0.1).mean() <= 0.1 + 3.5 * np.sqrt(0.1 * 0.9 / len(p))


def test_a_small_p_that_is_not_proof_is_doubtful():
    matrix = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]])
    found = [fit(matrix, [middle // 2, 1000 - middle, middle // 2]) for middle in (700, 640, 500)]
    assert [each.doubtful for each in found] == [False, True, False]
    assert [each.impossible for each in found] == [False, False, True]


def test_moments_of_a_cell_are_those_of_poisson():
    for m in (1e-5, 0.3, 4.2, 80.0):
        x = np.arange(400)
        part = 2 * (np.where(x > 0, x * np.log(np.maximum(x, 1) / m), 0.0) - x + m)
        mean = poisson.pmf(x, m) @ part
        variance = poisson.pmf(x, m) @ (part - mean) ** 2
        assert np.allclose(np.ravel(cell_moments(np.array([m]))), [mean, variance], rtol=2e-3)


def test_the_bound_for_any_number_of_reports_holds():
    law = np.array([0.9, 0.09, 0.01])
    for reports in (1, 5, 20):
        tables = np.array([(a, b, reports - a - b) for a in range(reports + 1) for b in range(reports + 1 - a)])
        chances = multinomial.pmf(tables, reports, law)
        with np.errstate(divide="ignore", invalid="ignore"):
            deviances = 2 * np.nansum(tables * np.log(tables / (reports * law)), axis=1)
        for value in deviances:
            assert chances[deviances >= value - 1e-9].sum() <= greatest_tail(value, 2) * (1 + 1e-9)


def test_a_p_below_one_in_a_million_is_never_from_an_approximation():
    # Three reports of one output: their chance is 0.008, and a gamma variable would say 5e-5.
    found = fit(np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]]), [0, 3, 0])
    assert found.p >= IMPOSSIBLE
    assert greatest_tail(found.deviance, found.free) > IMPOSSIBLE


def test_groups_are_tested_together():
    matrix = np.array([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]])
    counts = np.array([40, 55, 40])
    reports = np.repeat(["y0", "y1", "y2"], counts).tolist() * 40
    by = np.repeat(np.arange(40), counts.sum())
    found = md.estimate_frequencies(reports, mechanism_of(matrix), by=by)
    assert not any(estimate.fit.impossible for _, estimate in found)
    assert found.fit.impossible
    assert found.fit.degrees == 40
    assert "reports that this mechanism did not make" in repr(found)
    assert "these are not reports of this mechanism" in found._repr_html_()


def test_estimates_say_that_reports_are_of_another_mechanism():
    mechanism = mechanism_of(randomized_response(3, np.e))
    found = md.estimate_frequencies(table([900, 50, 50]), mechanism)
    assert "reports that this mechanism did not make" in repr(found)
    assert "these are not reports of this mechanism" in found._repr_html_()
    assert "did not make" not in repr(md.estimate_frequencies(table([400, 300, 300]), mechanism))


PRIOR = np.array([0.5, 0.3, 0.15, 0.05])


@pytest.fixture(scope="module")
def informative():
    """The most informative mechanism of four categories: a single report is often explained by one category alone."""
    ball = md.L1Ball.from_counts([500, 300, 150, 50], delta="1e-6")
    return md.design(md.DesignProblem(ball, 1, md.MutualInformation())).mechanism.matrix


def of_groups(matrix, tables):
    return fit_of_groups(matrix, tables, fits_of(matrix, tables, maximum_frequencies(matrix, tables)))


@pytest.mark.parametrize("reports", [1, 2, 3, 20])
def test_many_groups_of_few_reports_are_not_doubted(informative, reports):
    """Added up group by group, errors of their means are: 1e-6 for single reports."""
    tables = np.random.default_rng(reports).multinomial(reports, PRIOR @ informative, size=3_000 // reports)
    assert of_groups(informative, tables.astype(float)).p > 0.01


def test_many_groups_of_few_reports_of_another_mechanism_are_found(informative):
    law = np.roll(PRIOR, 2) @ np.roll(informative, 1, axis=1)
    tables = np.random.default_rng(0).multinomial(2, law, size=3_000)
    assert of_groups(informative, tables.astype(float)).impossible


def test_small_groups_join_and_great_ones_stay_alone(informative):
    """Two groups that only their mean explains: told apart if they are great enough."""
    both = np.array([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    great = of_groups(informative, 1_000 * both)
    assert great.deviance == pytest.approx(
        sum(found.deviance for found in fits_of(informative, 1_000 * both, maximum_frequencies(informative, both)))
    )
    joined = of_groups(informative, 40 * both)
    together = 40 * both.sum(axis=0, keepdims=True)
    assert joined == fits_of(informative, together, maximum_frequencies(informative, together))[0]


def test_p_is_not_below_the_chance_of_a_handful_of_reports(informative):
    """The chance of these very counts, by the law of greatest likelihood, from a peer."""
    for counts in itertools.product(range(3), repeat=4):
        if sum(counts):
            found = fit(informative, np.array(counts))
            law = maximum_likelihood(informative, np.array(counts, dtype=float)).frequencies @ informative
            assert found.p is None or found.p >= multinomial(sum(counts), law).pmf(counts) * (1 - 1e-6)
