import decimal
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mechdesign import Epsilon, InputError
from mechdesign.numerics.exact import (
    arb_of,
    float_up,
    log_up,
    lower,
    over_common_denominator,
    rational,
    short_text,
    upper,
    working_precision,
    xlogx,
)

SIXTY_DIGITS = decimal.Context(prec=60, Emax=10**6, Emin=-(10**6))
HALF_UNIT = Fraction(1, 10**58)  # relative, more than what sixty digits lose

finite_floats = st.floats(allow_nan=False, allow_infinity=False)
integers = st.integers(-(10**40), 10**40)
fractions = st.builds(Fraction, integers, st.integers(1, 10**40)) | finite_floats.map(Fraction)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, Fraction(0)),
        (-3, Fraction(-3)),
        (10**400, Fraction(10**400)),
        (Fraction(2, 3), Fraction(2, 3)),
        (0.1, Fraction(1, 10)),
        (1e-9, Fraction(1, 10**9)),
        (-0.0, Fraction(0)),
        (5e-324, Fraction(5, 10**324)),
        (1.7976931348623157e308, Fraction("1.7976931348623157e308")),
        (Decimal("0.10"), Fraction(1, 10)),
        (Decimal("1E+2"), Fraction(100)),
        (Decimal("-1e-400"), Fraction(-1, 10**400)),
        ("0.1", Fraction(1, 10)),
        (" 9/8\n", Fraction(9, 8)),
        ("-3/6", Fraction(-1, 2)),
        ("0/5", Fraction(0)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("+7", Fraction(7)),
        ("-1.5E3", Fraction(-1500)),
        ("1e400", Fraction(10**400)),
        (np.int64(4), Fraction(4)),
        (np.uint8(200), Fraction(200)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.5), Fraction(1, 2)),
    ],
)
def test_a_number_is_the_fraction_that_it_states(value, expected):
    assert rational(value, "x") == expected
    assert type(rational(value, "x")) is Fraction


@pytest.mark.parametrize(
    ("value", "part"),
    [
        (True, "a truth value"),
        (False, "a truth value"),
        (np.True_, "a truth value"),
        (math.nan, "'nan'"),
        (math.inf, "'inf'"),
        (-math.inf, "'-inf'"),
        (np.float64("nan"), "'nan'"),
        (np.float32("inf"), "'inf'"),
        (Decimal("NaN"), "'NaN'"),
        (Decimal("sNaN"), "'sNaN'"),
        (Decimal("Infinity"), "'Infinity'"),
        ("nan", "'nan'"),
        ("inf", "'inf'"),
        ("-Infinity", "'-Infinity'"),
        ("1/0", "divides by zero"),
        ("0/0", "divides by zero"),
        ("1/-2", "'1/-2'"),
        ("1.5/2", "'1.5/2'"),
        ("1/2/3", "'1/2/3'"),
        ("1e401", "exponent between"),
        ("1e-401", "exponent between"),
        ("1e9999", "exponent between"),
        ("1e10000", "'1e10000'"),
        ("1e999999999999", "'1e999999999999'"),
        (Decimal("1E+401"), "exponent between"),
        (Decimal("1E-99999"), "'1E-99999'"),
        ("", "''"),
        ("  ", "''"),
        (".", "'.'"),
        ("e5", "'e5'"),
        ("1e", "'1e'"),
        ("--1", "'--1'"),
        ("1 2", "'1 2'"),
        ("1,5", "'1,5'"),
        ("1_000", "'1_000'"),
        ("0x10", "'0x10'"),
        ("half", "'half'"),
        pytest.param("1" * 2_001, "2001 characters", id="2001 characters"),
        (None, "None"),
        ([1], "[1]"),
        (b"1", "b'1'"),
        (1j, "1j"),
        (np.array(1.0), "array(1.)"),
    ],
)
def test_what_is_no_finite_number_is_refused_by_name(value, part):
    with pytest.raises(InputError) as caught:
        rational(value, "the price")
    message = str(caught.value)
    assert message.startswith("the price is ")
    assert part in message
    assert "\n" not in message
    assert len(message) < 250


@given(finite_floats)
def test_a_float_is_the_decimal_that_repr_prints(x):
    assert rational(x, "x") == Fraction(repr(x)) == Fraction(Decimal(repr(x)))
    assert float(rational(x, "x")) == x


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30))
def test_a_decimal_is_the_same_as_its_text(x):
    assert rational(x, "x") == rational(str(x), "x") == Fraction(x)


@pytest.mark.parametrize(
    ("value", "text", "exponent"),
    [
        (1, "1", Fraction(1)),
        (0, "0", Fraction(0)),
        (0.1, "0.1", Fraction(1, 10)),
        ("0.10", "0.10", Fraction(1, 10)),
        (" 1e-9 ", "1e-9", Fraction(1, 10**9)),
        ("7/4", "7/4", Fraction(7, 4)),
        (Decimal("0.25"), "0.25", Fraction(1, 4)),
        (Fraction(1, 3), "1/3", Fraction(1, 3)),
        (np.float64(0.5), "0.5", Fraction(1, 2)),
        (np.int64(2), "2", Fraction(2)),
        (700, "700", Fraction(700)),
        ("700.0", "700.0", Fraction(700)),
    ],
)
def test_epsilon_keeps_its_text_and_its_exact_value(value, text, exponent):
    epsilon = Epsilon.of(value)
    assert (epsilon.text, epsilon.exponent, epsilon.power) == (text, exponent, None)
    assert str(epsilon) == text
    assert float(epsilon) == float(exponent)
    assert Epsilon.of(epsilon) is epsilon


@pytest.mark.parametrize("value", [0.1, np.float64(0.1), np.float32(0.1), np.float16(0.3), Fraction(1, 7), "log(1.10)"])
def test_the_text_of_epsilon_states_the_very_same_epsilon(value):
    epsilon = Epsilon.of(value)
    assert Epsilon.of(epsilon.text) == epsilon


@pytest.mark.parametrize(
    ("value", "text", "power"),
    [
        ("log(9/8)", "log(9/8)", Fraction(9, 8)),
        (" log( 9/8 ) ", "log(9/8)", Fraction(9, 8)),
        ("log(1.5)", "log(1.5)", Fraction(3, 2)),
        ("log(3)", "log(3)", Fraction(3)),
        ("log(1)", "log(1)", Fraction(1)),
        ("log(1e304)", "log(1e304)", Fraction(10**304)),
    ],
)
def test_the_logarithm_of_a_rational_has_an_exact_exponential(value, text, power):
    epsilon = Epsilon.of(value)
    assert (epsilon.text, epsilon.exponent, epsilon.power) == (text, None, power)
    assert epsilon.exp_down == power
    np.testing.assert_allclose(float(epsilon), math.log(power), rtol=1e-15)


@pytest.mark.parametrize(
    ("value", "part"),
    [
        (-1, "0 to 700"),
        ("-1e-9", "0 to 700"),
        (700.5, "0 to 700"),
        ("701", "0 to 700"),
        ("1e400", "0 to 700"),
        pytest.param(10**5_000, "0 to 700", id="5001 digits"),
        (math.nan, "finite"),
        (math.inf, "finite"),
        ("nan", "finite"),
        (True, "truth value"),
        (None, "None"),
        ("one", "'one'"),
        ("", "''"),
        ("log(7/8)", "negative"),
        ("log(0)", "negative"),
        ("log(-2)", "negative"),
        ("log(1/0)", "divides by zero"),
        ("log(1e305)", "at most 700"),
        ("log(inf)", "argument of log"),
        ("log(two)", "argument of log"),
        ("log()", "'log()'"),
        ("log(2", "'log(2'"),
        ("log(log(9))", "'log(log(9))'"),
        ("ln(2)", "'ln(2)'"),
        ("log(2) + 1", "'log(2) + 1'"),
    ],
)
def test_an_epsilon_that_is_none_is_refused(value, part):
    with pytest.raises(InputError, match="epsilon is ") as caught:
        Epsilon.of(value)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_at_epsilon_zero_the_exponential_is_one():
    assert Epsilon.of(0).exp_down == Epsilon.of("0e5").exp_down == Epsilon.of("log(1)").exp_down == 1


@given(st.decimals(min_value=0, max_value=700, places=12) | st.decimals(min_value=0, max_value=1, places=40))
@example(Decimal(1))
@example(Decimal(700))
@example(Decimal("1e-30"))
def test_exp_down_is_a_lower_bound_and_next_to_the_exponential(exponent):
    bound = Epsilon.of(str(exponent)).exp_down
    exponential = Fraction(SIXTY_DIGITS.exp(exponent))
    assert bound <= exponential * (1 + HALF_UNIT)
    assert bound >= exponential * (1 - Fraction(1, 10**30))


@pytest.mark.parametrize("text", ["1e-20", "1e-37", "1e-39", "1e-60", "1e-400"])
def test_however_small_epsilon_is_the_constant_mechanism_keeps_it(text):
    assert 1 <= Epsilon.of(text).exp_down <= 1 + 2 * Fraction(text)


def test_exp_down_rounds_down_where_rounding_to_nearest_goes_up():
    above = [k for k in range(1, 40) if Fraction(float(Epsilon.of(k).exp_down)) > Fraction(SIXTY_DIGITS.exp(k))]
    assert above  # as floats half of these would promise too much
    assert all(Epsilon.of(k).exp_down < Fraction(SIXTY_DIGITS.exp(k)) for k in above)


@given(fractions)
@example(Fraction(1, 10))
@example(Fraction(1, 10**400))
@example(Fraction(-1, 10**400))
def test_float_up_is_the_least_float_not_below(x):
    above = float_up(x)
    assert Fraction(above) >= x
    below = math.nextafter(above, -math.inf)
    assert math.isinf(below) or Fraction(below) < x


@given(finite_floats)
def test_a_float_is_its_own_rounding(x):
    assert float_up(Fraction(x)) == x


@given(st.integers(1, 10**12), st.integers(1, 10**12))
@example(10**12 + 1, 10**12)
@example(1, 1)
def test_log_up_is_next_to_the_logarithm_and_not_below(numerator, denominator):
    ratio = Fraction(numerator, denominator)
    logarithm = Fraction(SIXTY_DIGITS.ln(SIXTY_DIGITS.divide(Decimal(numerator), Decimal(denominator))))
    slack = Fraction(1, 10**45)  # sixty digits less those lost by a ratio near 1
    found = log_up(ratio)
    assert Fraction(found) >= logarithm - slack
    assert Fraction(math.nextafter(found, -math.inf)) <= logarithm + slack


@given(st.integers(1, 10**60), st.integers(1, 10**60))
def test_log_up_is_never_below_however_near_to_one(numerator, denominator):
    context = decimal.Context(prec=200)
    logarithm = Fraction(context.ln(context.divide(Decimal(numerator), Decimal(denominator))))
    assert Fraction(log_up(Fraction(numerator, denominator))) >= logarithm - Fraction(1, 10**130)


@given(fractions)
def test_the_ends_of_a_ball_enclose_its_rational(x):
    with working_precision():
        ball = arb_of(x)
        low, high = lower(ball), upper(ball)
    assert low <= x <= high
    assert high - low <= abs(x) / 2**120


@given(st.fractions(min_value=0, max_value=1) | st.floats(0, 1).map(lambda x: Fraction(repr(x))))
@example(Fraction(1, 10**9))
@example(Fraction(1, 10**400))
@example(Fraction(1, 3))
def test_a_short_text_is_exact(x):
    assert rational(short_text(x), "x") == x


def test_a_short_text_is_short_where_a_decimal_is():
    assert short_text(Fraction(1, 10**9)) == "1e-09"
    assert short_text(Fraction(1, 4)) == "0.25"
    assert short_text(Fraction(2, 3)) == "2/3"


def test_x_log_x_is_zero_at_zero_and_at_one():
    assert_array_equal(xlogx(np.array([0.0, 1.0, -0.0])), [0.0, 0.0, 0.0])


@given(st.floats(5e-324, 1e300))
def test_x_log_x_elsewhere_is_what_it_says(x):
    np.testing.assert_allclose(xlogx(np.array([[x]])), [[x * math.log(x)]], rtol=1e-14, atol=1e-300)


@given(st.lists(st.fractions(), max_size=6))
def test_a_common_denominator_is_the_least_one(given_fractions):
    numerators, common = over_common_denominator(iter(given_fractions))
    assert [Fraction(n, common) for n in numerators] == given_fractions
    assert common == math.lcm(*(x.denominator for x in given_fractions))
    assert math.gcd(common, *numerators) == 1
