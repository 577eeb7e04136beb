"""The side of a guarantee that bounds lifts from below, in exact arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises
from strategies import balls, random_mechanism

import mechdesign as md

PRIOR = md.L1Ball(["0.4", "0.3", "0.2", "0.1"], "0.16")


def integers(rng, size, outputs=3, bits=20):
    numerators = np.floor(random_mechanism(rng, size, outputs) * 2**bits).astype(np.int64)
    numerators[:, 0] += 2**bits - numerators.sum(axis=1)
    return numerators[:, numerators.any(axis=0)]


def test_a_guarantee_is_two_sided_only_where_it_says_so():
    numerators = np.array([[4, 0], [1, 3]])
    plain = md.mechanism.prove(numerators, 2, md.Guarantee("log(4)", md.L1Ball(["0.5", "0.5"])))
    assert plain.holds
    assert (plain.least_lifts, plain.lift_floor, plain.lower_leakage) == ((), 0, None)
    both = md.mechanism.prove(numerators, 2, md.Guarantee("log(4)", md.L1Ball(["0.5", "0.5"]), lower=700))
    assert both.least_lifts == (Fraction(2, 5), 0)
    assert (both.violated, both.violated_above, both.violated_below) == ((1,), (), (1,))
    assert both.lower_leakage == math.inf


@given(balls(), st.integers(0, 2**32))
def test_the_least_lift_is_that_of_brute_force_over_priors(ball, seed):
    """No member of the ball gives less, and the member that is worst for `max v - v` attains it."""
    rng = np.random.default_rng(seed)
    numerators = integers(rng, ball.size)
    proof = md.mechanism.prove(numerators, 20, md.Guarantee(1, ball, lower=1))
    for column, lift in zip(numerators.T.tolist(), proof.least_lifts, strict=True):
        complement = [max(column) - entry for entry in column]
        worst = ball.exact_worst_mean(complement)[1]
        assert lift == Fraction(min(column)) / sum(q * v for q, v in zip(worst, column, strict=True))
        others = [ball.center, *(ball.exact_worst_mean(rng.integers(0, 9, ball.size).tolist())[1] for _ in range(8))]
        for other in others:
            assert all(v >= lift * sum(q * w for q, w in zip(other, column, strict=True)) for v in column)


def test_the_trap_a_bound_by_the_least_mean_is_not_enough():
    """A column whose least entry keeps the promise at the prior of the least mean, and breaks it at another one."""
    numerators = np.array([[24, 8], [24, 8], [24, 8], [12, 20]])
    column = numerators[:, 0].tolist()
    least = Fraction(min(column)) / PRIOR.exact_support(column)
    floor = PRIOR.exact_least_lift(column)
    assert floor < least
    between = f"log({2 / (floor + least)})"
    assert md.mechanism.prove(numerators, 5, md.Guarantee(9, PRIOR, lower=between)).violated_below == (0,)
    known = md.L1Ball(PRIOR.exact_worst_mean(column)[1])
    assert md.mechanism.prove(numerators, 5, md.Guarantee(9, known, lower=between)).holds


@pytest.mark.parametrize("bits", [5, 30, 48])
def test_one_unit_in_the_last_place_is_seen(bits):
    """At the uniform prior the columns (3, 1) / 4 have a least lift of exactly 1/2."""
    quarter = 2 ** (bits - 2)
    exact = np.array([[3 * quarter, quarter], [quarter, 3 * quarter]])
    promise = md.Guarantee("log(2)", md.L1Ball(["0.5", "0.5"]), lower="log(2)")
    assert md.Mechanism(exact, bits, promise).proof.least_lifts == (Fraction(1, 2), Fraction(1, 2))
    off = exact + np.array([[0, 0], [-1, 1]])
    assert md.mechanism.prove(off, bits, promise).violated_below == (0, 1)
    with raises("guarantee-false", "and 1 more lower the probability"):
        md.Mechanism(off, bits, promise)


def test_a_decimal_lower_is_rounded_to_the_strict_side():
    """exp(-lower) is replaced by a rational that is not below it, which 200 bits confirm."""
    from flint import arb, ctx, fmpq

    for text in ("1", "0.5", "1e-9", "3.7", "20"):
        floor = md.Guarantee(1, PRIOR, lower=text).least_lift
        with ctx.workprec(300):
            exponent = Fraction(text)
            true = (-arb(fmpq(exponent.numerator, exponent.denominator))).exp()
            assert arb(fmpq(floor.numerator, floor.denominator)) >= true
            assert arb(fmpq(floor.numerator, floor.denominator)) < true * (1 + arb(2) ** -120)


@given(balls(), st.integers(0, 2**32))
def test_two_sides_imply_local_differential_privacy_and_are_implied_by_it(ball, seed):
    """(eps2, eps1) over any set implies (eps1 + eps2)-LDP, and eps-LDP implies (eps, eps) over every set."""
    numerators = integers(np.random.default_rng(seed), ball.size)
    if (numerators == 0).any():
        return
    proof = md.mechanism.prove(numerators, 20, md.Guarantee(1, ball, lower=1))
    anything = md.L1Ball(ball.center, 2)
    ldp = md.mechanism.prove(numerators, 20, md.Guarantee(1, anything, lower=1))
    for above, below, local in zip(proof.ratios, proof.least_lifts, ldp.ratios, strict=True):
        assert local <= above / below
        assert above <= local
        assert below >= 1 / local
    assert all(lift == 1 / ratio for lift, ratio in zip(ldp.least_lifts, ldp.ratios, strict=True))


def test_both_sides_are_told_where_both_are_broken():
    numerators = np.array([[30, 2], [2, 30]])
    with raises("guarantee-false") as refused:
        md.Mechanism(numerators, 5, md.Guarantee("0.1", md.L1Ball(["0.5", "0.5"]), lower="0.2"), ["y1", "y2"])
    assert str(refused.value) == (
        "the guarantee is false: output 'y1' and 1 more leak up to 0.628608659 nats, above epsilon = 0.1; "
        "output 'y1' and 1 more lower the probability of a category by up to 2.07944154 nats, above lower = 0.2"
    )


def test_one_output_that_breaks_both_sides_leaks_and_lowers():
    with raises("guarantee-false") as refused:
        md.Mechanism(
            np.array([[31, 1], [30, 2]]), 5, md.Guarantee("0.2", md.L1Ball(["0.5", "0.5"]), lower="0.2"), ["y1", "y2"]
        )
    assert str(refused.value) == (
        "the guarantee is false: output 'y2' leaks up to 0.287682072 nats, above epsilon = 0.2; "
        "output 'y2' lowers the probability of a category by up to 0.405465108 nats, above lower = 0.2"
    )


@pytest.mark.parametrize("lower", [-1, "log(1/2)", "much", 701, float("nan"), float("inf"), True, [1]])
def test_a_lower_that_is_not_a_parameter_is_refused_by_its_name(lower):
    with pytest.raises(md.InputError, match="lower"):
        md.Guarantee(1, PRIOR, lower=lower)


def test_a_guarantee_with_a_lower_side_is_another_one():
    assert md.Guarantee(1, PRIOR) == md.Guarantee(1, PRIOR, lower=None)
    assert md.Guarantee(1, PRIOR) != md.Guarantee(1, PRIOR, lower=1)
    assert md.Guarantee(1, PRIOR, lower=1) != md.Guarantee(1, PRIOR, lower=2)
    assert md.Guarantee(1, PRIOR, lower=1).lower.text == "1"
