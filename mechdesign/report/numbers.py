"""Numbers as people read them: rounded to the side on which the sentence stays true."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

_PLAIN = range(-5, 7)  # decimal exponents that are written out
_DIGITS = 4


def _rounded(mode: str) -> Callable[[float | Fraction, int], str]:
    def text(value: float | Fraction, digits: int = _DIGITS) -> str:
        if not math.isfinite(value):
            return "infinite"
        exact = Fraction(value)
        found = Context(prec=digits, rounding=mode).divide(Decimal(exact.numerator), Decimal(exact.denominator))
        if found == 0:
            return "0"
        if found.adjusted() not in _PLAIN:
            return f"{found.normalize():e}".replace("e", " × 10^").replace("^+", "^")
        whole = found.quantize(Decimal(1)) if found == found.to_integral_value() else found.normalize()
        return f"{whole:,f}"

    return text


_up, _down, _near = (_rounded(mode) for mode in (ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN))


def up(value: float | Fraction, digits: int = _DIGITS) -> str:
    """Return a number rounded up, for what is at most this.

    Examples
    --------
    >>> up(2.718281828), up(Fraction(1, 3), 2), up(48842.0), up(1e-9)
    ('2.719', '0.34', '48,850', '1 × 10^-9')
    """
    return _up(value, digits)


def down(value: float | Fraction, digits: int = _DIGITS) -> str:
    """Return a number rounded down, for what is at least this.

    Examples
    --------
    >>> down(0.36787944)
    '0.3678'
    """
    return _down(value, digits)


def near(value: float | Fraction, digits: int = _DIGITS) -> str:
    """Return a number rounded to the nearest.

    Examples
    --------
    >>> near(0.951430177), near(0.0)
    ('0.9514', '0')
    """
    return _near(value, digits)


def percent(probability: float | Fraction) -> str:
    """Return a probability in per cent; 0 and 100 only where it is that.

    Examples
    --------
    >>> percent(0.25), percent(0.999999), percent(1e-9), percent(0)
    ('25 %', 'over 99.9 %', 'under 0.1 %', '0 %')
    """
    if probability in {0, 1}:
        return f"{100 * int(probability)} %"
    if probability < 0.001:
        return "under 0.1 %"
    return "over 99.9 %" if probability > 0.999 else f"{near(100 * probability, 3)} %"


def one_in(probability: Fraction) -> str:
    """Return a probability above 0 as 1 in a number of cases, rounded up.

    Examples
    --------
    >>> one_in(Fraction(1, 10**9)), one_in(Fraction(2, 7))
    ('1 in 1,000,000,000', '1 in 3')
    """
    return f"1 in {math.floor(1 / probability):,}"


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "value"), counted(1200, "value"), counted(2, "person", "people")
    ('1 value', '1,200 values', '2 people')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
