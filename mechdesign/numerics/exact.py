"""Numbers as exact rationals, and transcendental functions of them with a stated direction of rounding.

A decimal is the fraction its text says. ``exp(epsilon)`` and logarithms come from ball arithmetic
(Arb, through python-flint), of which the safe end is kept. Floats that leave this module for display
are rounded outward.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq, fmpz
from numpy.typing import NDArray

from mechdesign.errors import InputError, shorten

_BITS = 128
_LONGEST_TEXT = 2_000
_LARGEST_EXPONENT = 400
_LARGEST_EPSILON = 700  # exp(700) is still a float
_PLACES = 12  # of a decimal that covers a logarithm
_MOST_DIGITS = 900  # of a common denominator; a ratio of two such numbers is still a text that files hold
_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_RATIO = re.compile(r"[+-]?[0-9]+/[0-9]+")
_LOG = re.compile(r"log\(\s*([^()]+?)\s*\)")


def rational(value: object, name: str) -> Fraction:
    """Return a number as the exact fraction that it states.

    Parameters
    ----------
    value : int, Fraction, Decimal, float, numpy number or str
        A string is a decimal (``"1e-9"``) or a ratio of integers (``"9/8"``); a float is the decimal
        that ``repr`` prints.
    name : str
        What the value is, for the message.

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
        raise InputError(f"{name} is {value}, a truth value; give a number")
    if isinstance(value, int | np.integer):
        return Fraction(int(value))
    if isinstance(value, float | np.floating):
        text = repr(float(value))
    elif isinstance(value, Decimal):
        text = str(value)
    elif isinstance(value, str):
        text = value.strip()
    else:
        raise InputError(f"{name} is {shorten(value)}; give a number, or a decimal as text")
    return _rational_text(text, name)


def _rational_text(text: str, name: str) -> Fraction:
    if len(text) > _LONGEST_TEXT:
        raise InputError(f"{name} is a text of {len(text)} characters; give at most {_LONGEST_TEXT}")
    if _RATIO.fullmatch(text):
        numerator, denominator = text.split("/")
        if int(denominator) == 0:
            raise InputError(f"{name} is {shorten(text)}, which divides by zero; give a finite number")
        return Fraction(int(numerator), int(denominator))
    match = _DECIMAL.fullmatch(text)
    if match is None:
        raise InputError(f'{name} is {shorten(text)}; give a finite decimal such as 0.5, "1e-9" or "9/8"')
    exponent = int((match.group(3) or "e0")[1:])
    if abs(exponent) > _LARGEST_EXPONENT:
        raise InputError(f"{name} is {shorten(text)}; give an exponent between -400 and 400")
    return Fraction(*Decimal(text).as_integer_ratio())  # exact, and in a third of the time of Fraction(text)


def _ball(x: Fraction) -> Any:
    return arb(fmpq(fmpz(x.numerator), fmpz(x.denominator)))


def lower(ball: Any) -> Fraction:
    """Return the lower end of an Arb ball, exactly."""
    mantissa, exponent = ball.lower().man_exp()
    return int(mantissa) * Fraction(2) ** int(exponent)


def upper(ball: Any) -> Fraction:
    """Return the upper end of an Arb ball, exactly."""
    mantissa, exponent = ball.upper().man_exp()
    return int(mantissa) * Fraction(2) ** int(exponent)


_ARB = threading.RLock()  # python-flint has one precision for the whole process


@contextmanager
def working_precision() -> Iterator[None]:
    """Compute with 128 bits in Arb, one thread at a time."""
    with _ARB, ctx.workprec(_BITS):
        yield


def arb_of(x: Fraction | int) -> Any:
    """Return a rational as an Arb ball at the working precision."""
    return _ball(Fraction(x))


def over_common_denominator(fractions: Iterable[Fraction]) -> tuple[list[int], int]:
    """Return integers and the least common denominator that they stand over.

    Examples
    --------
    >>> over_common_denominator([Fraction(1, 2), Fraction(1, 3)])
    ([3, 2], 6)
    """
    exact = list(fractions)
    common = math.lcm(*(x.denominator for x in exact))
    return [x.numerator * (common // x.denominator) for x in exact], common


def check_common_denominator(denominators: Iterable[int], name: str, digits: int = _MOST_DIGITS) -> None:
    """Check that a least common multiple has so few digits that sums over it are quick.

    That of denominators without a common factor is their product: without a bound a file of some megabytes could ask
    for integers of millions of digits.

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
            raise InputError(
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


def rounded_text(x: Fraction) -> str:
    """Return a fraction to 12 digits, for messages; floats would overflow at 1e309."""
    return f"{Decimal(x.numerator) / Decimal(x.denominator):.12g}"


def short_text(x: Fraction) -> str:
    """Return a fraction as a short decimal where that is exact, and as a ratio elsewhere.

    Examples
    --------
    >>> short_text(Fraction(1, 10**9)), short_text(Fraction(1, 3))
    ('1e-09', '1/3')
    """
    decimal = repr(float(x))
    return decimal if Fraction(decimal) == x else str(x)


def _plain_text(x: Fraction) -> str:
    return str(x) if x.denominator == 1 else short_text(x)


def log_up(ratio: Fraction) -> float:
    """Return a float that is not below ``log(ratio)``, and next to it.

    Examples
    --------
    >>> log_up(Fraction(1)), log_up(Fraction(9, 8))
    (0.0, 0.11778303565638346)
    """
    if ratio == 1:
        return 0.0
    with working_precision():
        return float_up(upper(_ball(ratio).log()))


def xlogx(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``x log x`` elementwise, with ``0 log 0 = 0``.

    Examples
    --------
    >>> xlogx(np.array([0.0, 1.0]))
    array([0., 0.])
    """
    return x * np.log(np.where(x > 0, x, 1.0))


@dataclass(frozen=True)
class Epsilon:
    """A privacy parameter in nats: a decimal, or the logarithm of a rational.

    Use `Epsilon.of` to make one.

    Attributes
    ----------
    text : str
        As it stands in files: ``"1"``, ``"0.25"``, ``"log(9/8)"``.
    exponent : Fraction or None
        epsilon itself, when it is a decimal.
    power : Fraction or None
        exp(epsilon) itself, when epsilon is the logarithm of a rational.

    Examples
    --------
    >>> Epsilon.of("log(9/8)").exp_down
    Fraction(9, 8)
    >>> float(Epsilon.of(1).exp_down) == math.e
    True
    """

    text: str = field(compare=False)
    exponent: Fraction | None
    power: Fraction | None

    @classmethod
    def of(cls, value: object) -> Epsilon:
        """Return epsilon from a number, a decimal as text, or ``"log(RATIONAL)"``.

        Raises
        ------
        InputError
            If it is negative, not finite, above 700, or not a number.
        """
        if isinstance(value, Epsilon):
            return value
        match = _LOG.fullmatch(value.strip()) if isinstance(value, str) else None
        if match is not None:
            power = rational(match.group(1), "the argument of log in epsilon")
            if power < 1:
                raise InputError(f"epsilon is {shorten(value)}, which is negative; accepted: log(r) with r >= 1")
            if power > Fraction(10) ** 304:
                raise InputError(f"epsilon is {shorten(value)}; accepted: at most {_LARGEST_EPSILON}")
            return cls(f"log({match.group(1)})", None, power)
        if isinstance(value, str) and not value.strip()[:1].isdigit() and value.strip()[:1] not in {"+", "-", "."}:
            raise InputError(f'epsilon is {shorten(value)}; accepted: a finite decimal such as 0.5, or "log(9/8)"')
        exponent = rational(value, "epsilon")
        if not 0 <= exponent <= _LARGEST_EPSILON:
            raise InputError(f"epsilon is {shorten(value)}; accepted: a number from 0 to {_LARGEST_EPSILON}")
        if isinstance(value, str):
            text = value.strip()
        else:
            text = repr(float(value)) if isinstance(value, float | np.floating) else str(value)
        return cls(text, exponent, None)

    @cached_property
    def exp_down(self) -> Fraction:
        """A rational that is proven not to exceed exp(epsilon), and is equal to it where that is rational."""
        if self.power is not None:
            return self.power
        if not self.exponent:
            return Fraction(1)
        with working_precision():
            return max(Fraction(1), lower(_ball(self.exponent).exp()))

    @cached_property
    def exp_up(self) -> Fraction:
        """A rational that is proven not to be below exp(epsilon), and is equal to it where that is rational."""
        if self.power is not None or not self.exponent:
            return self.exp_down
        with working_precision():
            return upper(_ball(self.exponent).exp())

    @classmethod
    def covering(cls, ratio: Fraction) -> Epsilon:
        """Return the least decimal of 12 places whose `exp_down` is not below a ratio: its logarithm, rounded up.

        Parameters
        ----------
        ratio : Fraction
            At least 1.

        Raises
        ------
        InputError
            If its logarithm is above 700.

        Examples
        --------
        >>> Epsilon.covering(Fraction(9, 4)).text
        '0.810930216217'
        """
        with working_precision():
            units = math.floor(upper(_ball(ratio).log()) * 10**_PLACES)
        # Rounded up by trying: what counts is the rational that proofs compare with.
        while (found := cls.of(_plain_text(Fraction(units, 10**_PLACES)))).exp_down < ratio:
            units += 1
        return found

    def __add__(self, other: Epsilon) -> Epsilon:
        """Return the budget of two releases that compose by addition, exactly.

        Two decimals give their decimal sum, two logarithms the logarithm of the product. A decimal beside a
        logarithm gives the logarithm of the product of both `exp_down`, which is never above the true sum.

        Raises
        ------
        InputError
            If the sum is above 700, or its text longer than a file may hold.

        Examples
        --------
        >>> (Epsilon.of("0.1") + Epsilon.of("0.2")).text, (Epsilon.of("log(9/8)") + Epsilon.of("log(4)")).text
        ('0.3', 'log(9/2)')
        """
        if not isinstance(other, Epsilon):
            return NotImplemented
        if self.exponent is not None and other.exponent is not None:
            return Epsilon.of(_plain_text(self.exponent + other.exponent))
        return Epsilon.of(f"log({self.exp_down * other.exp_down})")

    def __float__(self) -> float:
        if self.exponent is not None:
            return float(self.exponent)
        return math.log(self.exp_down)

    def __str__(self) -> str:
        return self.text
