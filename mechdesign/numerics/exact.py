"""Numbers as exact rationals, and as balls around them.

A decimal is the fraction that its text states. Logarithms are computed in ball arithmetic (Arb, through python-flint);
the safe end of the ball is kept. Floats that leave this module for display are rounded outward.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq, fmpz
from numpy.typing import NDArray

from mechdesign.errors import InputError, shorten

_BITS = 128
_ROOT_BITS = 64  # of a root that is not rational
_LONGEST_TEXT = 2_000
_LARGEST_EXPONENT = 400
_MOST_DIGITS = 900  # of a common denominator; a ratio of two such numbers is still short enough for files
_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_RATIO = re.compile(r"[+-]?[0-9]+/[0-9]+")


def rational(value: object, name: str) -> Fraction:
    """Return a number as the exact fraction that it states.

    Parameters
    ----------
    value : int, Fraction, Decimal, float, numpy number or str
        A string is a decimal (``"1e-9"``) or a ratio of integers (``"9/8"``); a float is the decimal
        that ``repr`` prints.
    name : str
        The name of the value, for the message.

    Raises
    ------
    InputError
        If the value is not a finite number.

    Examples
    --------
    >>> rational(0.1, "delta"), rational("9/8", "ratio")
    (Fraction(1, 10), Fraction(9, 8))
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, bool | np.bool_):
        raise InputError.not_a_number(f"{name} is {value}, a truth value; give a number")
    if isinstance(value, int | np.integer):
        return Fraction(int(value))
    if isinstance(value, float | np.floating):
        text = repr(float(value))
    elif isinstance(value, Decimal):
        text = str(value)
    elif isinstance(value, str):
        text = value.strip()
    else:
        raise InputError.not_a_number(f"{name} is {shorten(value)}; give a number, or a decimal as text")
    return _rational_text(text, name)


def _rational_text(text: str, name: str) -> Fraction:
    if len(text) > _LONGEST_TEXT:
        raise InputError.too_many_digits(f"{name} is a text of {len(text)} characters; give at most {_LONGEST_TEXT}")
    if _RATIO.fullmatch(text):
        numerator, denominator = text.split("/")
        if int(denominator) == 0:
            raise InputError.not_a_number(f"{name} is {shorten(text)}, which divides by zero; give a finite number")
        return Fraction(int(numerator), int(denominator))
    match = _DECIMAL.fullmatch(text)
    if match is None:
        raise InputError.not_a_number(f'{name} is {shorten(text)}; give a finite decimal such as 0.5, "1e-9" or "9/8"')
    exponent = int((match.group(3) or "e0")[1:])
    if abs(exponent) > _LARGEST_EXPONENT:
        raise InputError.too_many_digits(f"{name} is {shorten(text)}; give an exponent between -400 and 400")
    return Fraction(*Decimal(text).as_integer_ratio())  # exact, and in a third of the time of Fraction(text)


def lower(ball: Any) -> Fraction:
    """Return the lower end of an Arb ball, exactly."""
    return _dyadic(*ball.lower().man_exp())


def upper(ball: Any) -> Fraction:
    """Return the upper end of an Arb ball, exactly."""
    return _dyadic(*ball.upper().man_exp())


def _dyadic(mantissa: Any, exponent: Any) -> Fraction:
    whole, power = int(mantissa), int(exponent)
    return Fraction(whole << power) if power >= 0 else Fraction(whole, 1 << -power)


_ARB = threading.RLock()  # python-flint has one precision for the whole process


@contextmanager
def working_precision(bits: int = _BITS) -> Iterator[None]:
    """Compute with 128 bits in Arb, or as many as are given, one thread at a time."""
    with _ARB, ctx.workprec(bits):
        yield


def arb_of(x: Fraction | int) -> Any:
    """Return a rational as an Arb ball at the working precision."""
    return arb(fmpq(fmpz(x.numerator), fmpz(x.denominator)))


def over_common_denominator(fractions: Iterable[Fraction]) -> tuple[list[int], int]:
    """Return the integer numerators of fractions over their least common denominator, and that denominator.

    Examples
    --------
    >>> over_common_denominator([Fraction(1, 2), Fraction(1, 3)])
    ([3, 2], 6)
    """
    exact = list(fractions)
    common = math.lcm(*(x.denominator for x in exact))
    return [x.numerator * (common // x.denominator) for x in exact], common


def check_common_denominator(denominators: Iterable[int], name: str, digits: int = _MOST_DIGITS) -> None:
    """Check that the least common multiple of denominators has so few digits that sums over it are quick.

    Denominators without a common factor have their product as least common multiple: without a bound, a file of some
    megabytes could lead to integers of millions of digits.

    Raises
    ------
    InputError
        If it has more digits.

    Examples
    --------
    >>> check_common_denominator([2, 3], "the prior")
    """
    common, most = 1, 10**digits
    for denominator in denominators:
        common = math.lcm(common, denominator)
        if common >= most:
            raise InputError.too_many_digits(
                f"the common denominator of {name} has more than {digits} digits; give decimals, or ratios over "
                "one denominator"
            )


def float_up(x: Fraction) -> float:
    """Return the least float that is not below ``x``.

    Examples
    --------
    >>> float_up(Fraction(1, 10)) >= Fraction(1, 10), float_up(Fraction(1, 2))
    (True, 0.5)
    """
    nearest = float(x)
    return nearest if nearest >= x else math.nextafter(nearest, math.inf)


def printed_up(x: Fraction) -> float:
    """Return the float nearest to ``x`` if the decimal that it prints is not below ``x``, and the next one otherwise.

    Examples
    --------
    >>> printed_up(Fraction(1, 10**6)), float_up(Fraction(1, 10**6)), printed_up(Fraction(1, 3))
    (1e-06, 1.0000000000000002e-06, 0.33333333333333337)
    """
    nearest = float(x)
    return nearest if Fraction(str(nearest)) >= x else math.nextafter(nearest, math.inf)


def float_down(x: Fraction) -> float:
    """Return the greatest float that is not above ``x``.

    Examples
    --------
    >>> float_down(Fraction(1, 10)) <= Fraction(1, 10), float_down(Fraction(1, 2))
    (True, 0.5)
    """
    return -float_up(-x)


def short_text(x: Fraction) -> str:
    """Return a fraction as a short decimal if that is exact, and as a ratio otherwise.

    Examples
    --------
    >>> short_text(Fraction(1, 10**9)), short_text(Fraction(1, 3))
    ('1e-09', '1/3')
    """
    decimal = repr(float(x))
    return decimal if Fraction(decimal) == x else str(x)


def plain_text(x: Fraction) -> str:
    """Return a number as files show it: a whole number without a point, others as `short_text` has them."""
    return str(x) if x.denominator == 1 else short_text(x)


def log_up(ratio: Fraction) -> float:
    """Return the float next above ``log(ratio)``, or equal to it.

    Examples
    --------
    >>> log_up(Fraction(1)), log_up(Fraction(9, 8))
    (0.0, 0.11778303565638346)
    """
    if ratio == 1:
        return 0.0
    with working_precision():
        return float_up(upper(arb_of(ratio).log()))


def root_down(x: Fraction, degree: int) -> Fraction:
    """Return a root of a number of at least 1, rounded down to a multiple of 2^-64; exactly where it is rational.

    Examples
    --------
    >>> root_down(Fraction(9, 4), 2), root_down(Fraction(2), 2) ** 2 < 2
    (Fraction(3, 2), True)
    """
    exact = Fraction(_whole_root(x.numerator, degree), _whole_root(x.denominator, degree))
    if exact**degree == x:
        return exact
    return Fraction(_whole_root((x.numerator << _ROOT_BITS * degree) // x.denominator, degree), 1 << _ROOT_BITS)


def _whole_root(n: int, degree: int) -> int:
    return int(fmpz(n).root(degree))


def xlogx(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``x log x`` elementwise, with ``0 log 0 = 0``.

    Examples
    --------
    >>> xlogx(np.array([0.0, 1.0]))
    array([0., 0.])
    """
    return x * np.log(np.where(x > 0, x, 1.0))
