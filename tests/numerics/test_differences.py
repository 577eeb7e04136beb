"""Differences of rational products in floats, against the rational numbers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import raises

import mechdesign as md
from mechdesign.numerics.differences import Differences

scales = st.integers(-300, 300).map(lambda k: Fraction(10) ** k)
numbers = st.builds(lambda n, d, s: Fraction(n, d) * s, st.integers(-(10**6), 10**6), st.integers(1, 99), scales)


@given(st.lists(st.tuples(numbers, numbers, numbers, st.integers(0, 3)), min_size=1, max_size=5))
def test_every_difference_is_correct_to_its_own_last_digits(cases):
    """With y unrelated to x g, its float, or that and a little."""
    x, gains, y = [], [], []
    for factor, gain, other, kind in cases:
        rounded = Fraction(float(gain)) * factor
        x.append(factor)
        gains.append(gain)
        y.append([other, rounded, gain * factor, rounded * (1 + Fraction(1, 2**60))][kind])
    floats = np.array([float(gain) for gain in gains])
    d, power = Differences(x, y).scaled(floats, gains.__getitem__)
    exact = [a * g - b for a, g, b in zip(x, gains, y, strict=True)]
    assert np.abs(d).max() == 0 or 0.5 <= np.abs(d).max() < 1
    for found, wanted in zip(d.tolist(), exact, strict=True):
        error = abs(Fraction(found) * Fraction(2) ** power - wanted)
        assert error <= 13 * Fraction(1, 2**52) * abs(wanted) + Fraction(2) ** (power - 1074)


class Doubles(md.utility.PolyhedralUtility):
    """Gains that exist as floats alone."""

    name = "doubles"

    def gains(self, size):
        return 0.1 * np.arange(2 * size, dtype=float).reshape(2, size)

    @property
    def unit(self):
        return "1"


def test_gains_of_a_user_that_are_floats_are_taken_at_their_word():
    exact = Doubles().exact_gains(3)
    assert exact(1, 2) == Fraction(0.1 * 5)
    ball = md.L1Ball(["0.5", "0.25", "0.25"])
    solved = md.design(md.DesignProblem(ball, 1, Doubles()))
    assert solved.value == float(Fraction(0.1 * 3) / 2 + Fraction(0.1 * 4) / 4 + Fraction(0.1 * 5) / 4)
    assert solved.certified


def test_guesses_that_floats_do_not_tell_apart_are_compared_exactly():
    """Beside the best guess at each symbol they all fall short by 1/2 and a digit beyond floats."""
    steps = [Fraction(k, 10**30) for k in (3, 9, 1)]
    gain = md.ExpectedGain([[1, -9], [-9, 1], *([step, 0] for step in steps)])
    assert gain.value(np.ones((2, 1)), [Fraction(1, 2)] * 2) == 4.5e-30


@pytest.mark.parametrize("entry", [np.nan, np.inf])
def test_a_value_of_what_is_no_number_is_refused(entry):
    with raises("not-a-number"):
        md.HammingAccuracy().value([[entry], [1.0]], [0.5, 0.5])
