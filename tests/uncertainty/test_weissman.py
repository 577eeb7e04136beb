"""The bound of Weissman et al., against 60 digits and, with phi of the true prior, the exact law of counts."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws_of_counts import PRIORS, distance, outcomes
from refusals import raises

import mechdesign as md
from mechdesign.uncertainty import radii, refined_radius, weissman_radius
from mechdesign.uncertainty.balance import Kappa, kappa

failure_probability, required_samples, weissman_radius_exact = (
    partial(call, bound="weissman") for call in (radii.failure_probability, radii.required_samples, radii.radius_exact)
)


def decimal_radius(samples, categories, delta):
    """ED eq. (37) in 60-digit decimal arithmetic, with 2^N - 2 as an integer."""
    with localcontext() as context:
        context.prec = 60
        logs = Decimal(2**categories - 2).ln() - Decimal(delta).ln()
        return (2 * logs / samples).sqrt()


@given(st.integers(1, 10**9), st.integers(2, 300), st.sampled_from(["1e-12", "1e-9", "0.05", "0.5", "0.999"]))
def test_radius_is_the_formula_rounded_up_by_less_than_its_step(samples, categories, delta):
    radius = weissman_radius_exact(samples, categories, delta)
    exact = decimal_radius(samples, categories, delta)
    if exact >= 2:
        assert radius == 2
    else:
        assert Fraction(exact) <= radius <= Fraction(exact) + Fraction(11, 10**16)
    assert md.weissman_radius(samples, categories, delta) >= radius


def test_binary_radius_is_ed_equation_45():
    assert md.weissman_radius(1000, 2, 1e-6) == pytest.approx(math.sqrt(2 * math.log(2 / 1e-6) / 1000), rel=1e-14)


def test_five_thousand_categories_do_not_overflow():
    radius = md.weissman_radius(10**6, 5000, 1e-9)
    assert radius == pytest.approx(math.sqrt(2e-6 * (5000 * math.log(2) - math.log(1e-9))), rel=1e-14)
    assert failure_probability(10**6, 5000, radius) <= 1.000001e-9
    assert required_samples(5000, 1e-9, Fraction(radius)) == 10**6


def test_delta_zero_and_few_samples_give_the_whole_simplex():
    assert md.weissman_radius(10, 3, 0) == 2.0
    assert md.weissman_radius(1, 10, 1e-9) == 2.0


@given(st.integers(2, 10**8), st.integers(2, 500), st.sampled_from(["1e-9", "1e-3", "0.4"]))
def test_three_functions_invert_each_other(samples, categories, delta):
    radius = weissman_radius_exact(samples, categories, delta)
    if radius < 2:
        assert failure_probability(samples, categories, radius) == pytest.approx(float(delta), rel=1e-5)
        assert failure_probability(samples, categories, radius) <= float(delta) * (1 + 1e-15)
        assert abs(required_samples(categories, delta, radius) - samples) <= 1e-5 * samples + 1
        assert required_samples(categories, delta, radius) <= samples


def test_failure_probability_is_a_probability():
    assert failure_probability(5, 10, 0) == 1.0
    assert failure_probability(5, 10, 2) == 0.0


def test_least_number_of_samples_is_least():
    needed = required_samples(16, "1e-9", "0.05")
    assert weissman_radius_exact(needed, 16, "1e-9") <= Fraction("0.05") < weissman_radius_exact(needed - 1, 16, "1e-9")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((0, 3, 0.1), "not-a-whole-number"),
        ((2.5, 3, 0.1), "not-a-whole-number"),
        ((True, 3, 0.1), "not-a-whole-number"),
        ((10, 1, 0.1), "not-a-whole-number"),
        ((10, 3, 1), "delta-out-of-range"),
        ((10, 3, -0.1), "delta-out-of-range"),
        ((10, 3, math.nan), "not-a-number"),
    ],
)
def test_bad_arguments_are_named(arguments, code):
    with raises(code):
        md.weissman_radius(*arguments)


def test_no_number_of_samples_is_enough_for_certainty():
    with raises("not-enough-samples"):
        required_samples(3, 0, 0.1)


def test_more_samples_than_files_can_hold_are_refused():
    assert md.weissman_radius(10**15, 3, 0.1) > 0
    with raises("not-a-whole-number", "1000000000000001"):
        md.weissman_radius(10**15 + 1, 3, 0.1)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("samples", [1, 5, 18])
def test_the_exact_tail_never_exceeds_equation_17(prior, samples):
    law = [(distance(counts, prior), probability) for counts, probability in outcomes(prior, samples)]
    assert sum(probability for _, probability in law) == 1
    for radius in sorted({far for far, _ in law} - {Fraction(0)}):
        tail = sum(probability for far, probability in law if far >= radius)
        if radius < 2:  # beyond it, nothing lies outside the ball
            bound = failure_probability(samples, len(prior), radius, prior)
            assert tail <= bound <= failure_probability(samples, len(prior), radius)


@pytest.mark.combined
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("delta", ["0.5", "0.05", "0.001"])
def test_a_refined_radius_holds_the_prior_as_often_as_delta_says(prior, delta):
    outside = Fraction(0)
    for counts, probability in outcomes(prior, 18):
        radius = refined_radius(counts, delta)
        assert radius <= weissman_radius(18, len(prior), delta)
        if distance(counts, prior) > radius:
            outside += probability
    assert outside <= Fraction(delta)


def test_a_simulated_tail_stays_below_the_bound():
    rng = np.random.default_rng(20250301)
    prior, samples, trials = np.array([0.85, 0.08, 0.04, 0.03]), 400, 20_000
    far = np.abs(rng.multinomial(samples, prior, size=trials) / samples - prior).sum(axis=1)
    for radius in ("0.12", "0.14", "0.16"):
        bound = failure_probability(samples, 4, radius, prior.tolist())
        assert (far >= float(radius)).mean() <= bound < failure_probability(samples, 4, radius)


@given(st.sampled_from(PRIORS), st.integers(1, 10**15), st.sampled_from(["1e-300", "1e-9", "0.3"]))
def test_equation_20_rounded_up(prior, samples, delta):
    N = len(prior)
    with mpmath.workdps(60):
        mass = mpmath.mpf(kappa(prior).value.numerator) / kappa(prior).value.denominator
        phi = 2 if mass == 0.5 else mpmath.log((1 - mass) / mass) / (1 - 2 * mass)
        exact = 2 * mpmath.sqrt((mpmath.log(2**N - 2) - mpmath.log(mpmath.mpf(delta))) / (samples * phi))
        found = weissman_radius_exact(samples, N, delta, prior)
        stated = mpmath.mpf(found.numerator) / found.denominator
        assert stated == 2 if exact >= 2 else exact <= stated <= exact + 1.1e-15


def test_radius_samples_and_failure_invert_each_other_with_a_prior():
    prior = [0.9, 0.06, 0.04]
    radius = weissman_radius_exact(5000, 3, "1e-9", prior)
    assert required_samples(3, "1e-9", radius, prior) == 5000
    assert failure_probability(5000, 3, radius, prior) == pytest.approx(1e-9, rel=1e-9)
    assert required_samples(3, "1e-9", radius) > 5000


def test_a_prior_that_is_certain_is_estimated_without_error():
    certain = [1, 0]
    assert weissman_radius(10, 2, 1e-9, certain) == 0
    assert failure_probability(10, 2, 0.1, certain) == 0
    assert failure_probability(10, 2, 0, certain) == 1
    assert required_samples(2, 1e-9, 0.1, certain) == 1
    assert weissman_radius(10, 2, 0, certain) == 2


def test_a_bound_of_kappa_serves_as_a_prior():
    assert weissman_radius(100, 3, 0.1, Kappa(Fraction(1, 2), exact=False)) == weissman_radius(100, 3, 0.1)
    near = kappa([0.9, 0.06, 0.04]).within("0.1")
    assert weissman_radius(100, 3, 0.1, [0.9, 0.06, 0.04]) < weissman_radius(100, 3, 0.1, near)


def test_a_refined_radius_is_a_fixed_point():
    counts = [900, 60, 40]
    radius = Fraction(refined_radius(counts, "1e-9"))
    again = weissman_radius_exact(1000, 3, "1e-9", kappa([0.9, 0.06, 0.04]).within(radius))
    assert abs(again - radius) <= Fraction(2, 10**15)
    assert refined_radius({"a": 500, "b": 500}, 0.01) == weissman_radius(1000, 2, 0.01)
    assert refined_radius([5, 5], 0) == 2


def test_a_prior_of_another_length_is_refused():
    with raises("wrong-size", "has 2", "accepted: 3"):
        weissman_radius(10, 3, 0.1, [0.5, 0.5])


def test_probabilities_below_all_floats_stay_above_zero():
    # The exponential has 10^14 binary places.
    assert failure_probability(10**15, 16, 1) == 5e-324
    assert failure_probability(10**15, 16, "1.999999", [0.9, *["1/150"] * 15]) == 5e-324


def test_too_many_samples_and_categories_are_refused():
    with raises("not-enough-samples", "about 4.", "e+41"):
        required_samples(3, 1e-9, "1e-20")
    with raises("not-a-whole-number", "1000000000000001"):
        weissman_radius(10, 10**15 + 1, 0.1)
    assert weissman_radius(10, 10**15, 0.1) == 2
