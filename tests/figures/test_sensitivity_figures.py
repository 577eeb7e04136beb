import math
from fractions import Fraction

import numpy as np
import pytest
from refusals import raises

import mechdesign as md
from figures import figure_2a, figure_2b
from figures.lib import figure_2
from mechdesign.optimize.closed_form import high_privacy
from mechdesign.optimize.closed_form.form import fractions
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.pml import epsilon_min, leakage, output_sensitivity, sensitivity_bound_any_region

FIGURES = [figure_2a, figure_2b]


def prior(figure):
    return np.array([float(p) for p in figure.PRIOR])


def written_bound(figure, distances):
    # ED eq. (32), in floats: Example 1 is in the first privacy region, the 2-singular mechanism is not.
    e = {"log(9/8)": 9 / 8, "log(5)": 5.0}[figure.EPSILON]
    slope = (e - 1) / float(min(figure.PRIOR)) if figure is figure_2a else e
    return -np.log(1 - np.asarray(distances) / 2 * slope)


def curve(table, name):
    rows = [row for row in table if row["curve"] == name]
    return np.array([[row["distance"], row["divergence"]] for row in rows]).T


@pytest.mark.parametrize("figure", FIGURES)
def test_every_output_leaks_epsilon_under_the_prior(figure):
    np.testing.assert_allclose(figure.MECHANISM.sum(axis=1), 1, atol=1e-15)
    epsilon = {"log(9/8)": math.log(9 / 8), "log(5)": math.log(5)}[figure.EPSILON]
    np.testing.assert_allclose(leakage(figure.MECHANISM, prior(figure)), epsilon, atol=1e-14)


def test_example_1_is_the_extremal_mechanism_of_the_first_region():
    given = L1Cone(fractions(figure_2a.PRIOR), Fraction(0), Fraction(9, 8))
    np.testing.assert_allclose(high_privacy.mechanism(given).astype(float), figure_2a.MECHANISM, atol=1e-15)
    value = md.MutualInformation().value(figure_2a.MECHANISM, prior(figure_2a))
    assert value == pytest.approx(0.0268223106269, abs=5e-14)


def test_the_2_singular_mechanism_is_one_and_optimal():
    assert set(figure_2b.MECHANISM.ravel()) == {0, 0.5}
    for axis in (0, 1):
        assert ((figure_2b.MECHANISM > 0).sum(axis=axis) == 2).all()
    # No mechanism that is epsilon-PML at P has more information than epsilon.
    value = md.MutualInformation().value(figure_2b.MECHANISM, prior(figure_2b))
    assert value == pytest.approx(math.log(5), abs=1e-14)


@pytest.mark.parametrize("figure", FIGURES)
def test_random_priors_are_priors_at_their_distances(figure):
    P, furthest = prior(figure), float(figure.FURTHEST)
    generator = np.random.default_rng(1)
    distances = generator.uniform(0, furthest, 10_000)
    Q = figure_2.random_priors(P, distances, generator)
    assert (Q >= 0).all()
    np.testing.assert_allclose(Q.sum(axis=1), 1, atol=1e-14)
    np.testing.assert_allclose(np.abs(Q - P).sum(axis=1), distances, atol=1e-14)
    values = figure_2.divergence(figure.MECHANISM, P, Q)
    bound = written_bound(figure, distances)
    assert (values <= bound + 1e-12).all()
    # Some of them come close, at small and at large distances alike.
    for low, high in ((0, furthest / 2), (furthest / 2, furthest)):
        here = (low < distances) & (distances <= high)
        assert (values / bound)[here].max() > 0.97
    # Every output leaks epsilon at P, so the leakage grows by the same (ED eq. 28 to 30).
    growth = epsilon_min(figure.MECHANISM, Q) - epsilon_min(figure.MECHANISM, P)
    np.testing.assert_allclose(growth, values, atol=1e-12)
    for distance, value in zip(distances[:100].tolist(), values[:100], strict=True):
        ball = md.L1Ball(figure.PRIOR, distance)
        assert value <= output_sensitivity(figure.MECHANISM, figure.PRIOR, ball).value + 1e-12


def test_a_distance_beyond_the_furthest_prior_is_refused():
    generator = np.random.default_rng(1)
    with raises("input", "is 1.6", "below 1.6"):
        figure_2.random_priors(prior(figure_2a), np.array([0.1, 1.6]), generator)


@pytest.mark.parametrize("figure", FIGURES)
def test_no_point_above_the_bound_and_the_supremum_attains_it(figure):
    table = figure.compute(quick=True)
    distances, values = curve(table, figure_2.RANDOM)
    assert distances.size == 500
    assert set(np.digitize(distances, np.linspace(0, float(figure.FURTHEST), 21))) == set(range(1, 21))
    # Either number is rounded to five decimals.
    assert (values <= written_bound(figure, distances + 5e-6) + 5e-6).all()
    radii, bound = curve(table, figure_2.BOUND)
    np.testing.assert_allclose(bound, written_bound(figure, radii), atol=1e-12)
    same, supremum = curve(table, figure_2.SUPREMUM)
    assert (same == radii).all()
    inside = radii < float(2 * min(figure.PRIOR))
    assert inside.sum() >= 40
    np.testing.assert_allclose(supremum[inside], bound[inside], atol=1e-12)
    # Where the theorem is not stated the bound holds for these mechanisms all the same, and is attained.
    np.testing.assert_allclose(supremum[~inside], bound[~inside], atol=1e-12)


def test_a_mechanism_that_is_not_extremal_stays_below():
    half = (figure_2a.MECHANISM + prior(figure_2a) @ figure_2a.MECHANISM) / 2
    table = figure_2.table(half, figure_2a.PRIOR, figure_2a.EPSILON, figure_2a.FURTHEST, 10)
    gap = curve(table, figure_2.BOUND)[1] - curve(table, figure_2.SUPREMUM)[1]
    assert gap[0] == pytest.approx(0, abs=1e-15)
    assert (np.diff(gap) > 1e-4).all()


def test_in_the_first_region_the_bound_for_any_region_is_weaker():
    radii, bound = curve(figure_2a.compute(quick=True), figure_2.BOUND)
    for radius, value in zip(radii[1:].tolist(), bound[1:], strict=True):
        assert value < sensitivity_bound_any_region("log(9/8)", radius)


def test_with_both_symbols_of_an_output_gone_the_supremum_is_infinite():
    ball = md.L1Ball(figure_2b.PRIOR, "0.4")
    assert math.isinf(output_sensitivity(figure_2b.MECHANISM, figure_2b.PRIOR, ball).value)
    assert math.isinf(sensitivity_bound_any_region("log(5)", "0.4"))


@pytest.mark.parametrize("figure", FIGURES)
def test_nothing_is_cut_off(figure):
    table = figure.compute(quick=True)
    axis = figure.draw(table).axes[0]
    assert axis.get_xlim() == (0, float(figure.FURTHEST))
    assert axis.get_ylim()[0] == 0
    assert axis.get_ylim()[1] >= max(row["divergence"] for row in table)
    assert len(axis.get_legend().get_texts()) == 3
    assert "nats" in axis.get_ylabel()
