import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mechdesign as md
from mechdesign.uncertainty.concentration import failure_probability, required_samples, weissman_radius_exact


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
    ("arguments", "message"),
    [
        ((0, 3, 0.1), "number of samples is 0; accepted: a whole number, at least 1"),
        ((2.5, 3, 0.1), "number of samples is 2.5"),
        ((True, 3, 0.1), "number of samples is True"),
        ((10, 1, 0.1), "number of categories is 1; accepted: a whole number, at least 2"),
        ((10, 3, 1), r"delta is 1; accepted: a probability of failure in \[0, 1\)"),
        ((10, 3, -0.1), "delta is -0.1"),
        ((10, 3, math.nan), "delta is 'nan'"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(md.InputError, match=message):
        md.weissman_radius(*arguments)


def test_no_number_of_samples_is_enough_for_certainty():
    with pytest.raises(md.InputError, match="no number of samples is enough"):
        required_samples(3, 0, 0.1)


def test_more_samples_than_files_can_hold_are_refused():
    assert md.weissman_radius(10**15, 3, 0.1) > 0
    with pytest.raises(md.InputError, match=r"number of samples is 1000000000000001; accepted: .* to 10\^15"):
        md.weissman_radius(10**15 + 1, 3, 0.1)
