"""Numbers as text: what is rounded up is not below the number, to the last digit shown."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechdesign.display.numbers import down, near, text_above, text_below, text_near, up

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SCALED = st.builds(lambda x, e: x * Fraction(10) ** e, st.fractions(), st.integers(-400, 400))
NUMBERS = FLOATS | SCALED
DIGITS = st.integers(1, 15)


def exactly(value):
    """A float is the decimal that it prints."""
    return value if isinstance(value, Fraction) else Fraction(repr(value))


def of_people(text):
    mantissa, _, exponent = text.replace(",", "").partition(" × 10^")
    return Fraction(Decimal(mantissa)) * Fraction(10) ** int(exponent or 0)


@given(NUMBERS, DIGITS)
def test_a_number_lies_between_what_is_shown_below_and_above_it(value, digits):
    for below, above, read in ((text_below, text_above, lambda text: Fraction(Decimal(text))), (down, up, of_people)):
        least, greatest = read(below(value, digits)), read(above(value, digits))
        assert least <= exactly(value) <= greatest
        assert greatest - least <= abs(exactly(value)) * Fraction(10) ** (1 - digits)  # a unit of the last digit


@given(FLOATS.filter(lambda x: x == 0 or abs(x) > 1e-300), DIGITS)
def test_the_nearest_is_what_a_float_prints_but_for_ties(value, digits):
    shown = Fraction(text_near(value, digits))
    assert abs(shown - exactly(value)) <= abs(Fraction(f"{value:.{digits}g}") - exactly(value))


@given(NUMBERS, DIGITS)
def test_the_nearest_is_one_of_the_two(value, digits):
    assert text_near(value, digits) in {text_below(value, digits), text_above(value, digits)}
    assert near(value, digits) in {down(value, digits), up(value, digits)}


@pytest.mark.parametrize("shown", [text_above, text_below, text_near])
def test_what_is_not_finite_is_said_in_words(shown):
    assert [shown(x, 3) for x in (math.inf, -math.inf, math.nan)] == ["infinite", "-infinite", "not a number"]
