"""Numbers as text, rounded to the side on which the sentence stays true.

`text_above`, `text_below` and `text_near` write what a program reads as well, such as ``1e-09``; `up`, `down` and
`near` what is for people alone, such as ``1 × 10^-9``. A float counts as the decimal that it prints.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

_PLAIN = range(-5, 7)  # decimal exponents that are written out for people
_DIGITS = 4


def text_above(value: float | Fraction, digits: int) -> str:
    """Return a number with up to 15 digits, rounded up; ``infinite`` for infinity.

    Examples
    --------
    >>> text_above(1.0000001, 4), text_above(0.1, 12), text_above(float("inf"), 4)
    ('1.001', '0.1', 'infinite')
    """
    return _text(value, digits, ROUND_CEILING)


def text_below(value: float | Fraction, digits: int) -> str:
    """Return a number as `text_above` does, rounded down.

    Examples
    --------
    >>> text_below(1.0009999, 4), text_below(-1.0001, 4)
    ('1', '-1.001')
    """
    return _text(value, digits, ROUND_FLOOR)


def text_near(value: float | Fraction, digits: int = 12) -> str:
    """Return a number as `text_above` does, rounded to the nearest.

    Examples
    --------
    >>> text_near(Fraction(1, 3)), text_near(Fraction(10) ** 400, 4)
    ('0.333333333333', '1e+400')
    """
    return _text(value, digits, ROUND_HALF_EVEN)


def _text(value: float | Fraction, digits: int, rounding: str) -> str:
    found = _rounded(value, digits, rounding)
    if found is None:
        return {math.inf: "infinite", -math.inf: "-infinite"}.get(float(value), "not a number")
    number = float(found)
    lost = math.isinf(number) or (not number and found)
    return f"{found.normalize():e}" if lost else f"{number:.{digits}g}"


def _rounded(value: float | Fraction, digits: int, rounding: str) -> Decimal | None:
    """Return a number to some digits; None where it is not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    exact = value if isinstance(value, Fraction) else Fraction(repr(float(value)))
    return Context(prec=digits, rounding=rounding).divide(Decimal(exact.numerator), Decimal(exact.denominator))


def up(value: float | Fraction, digits: int = _DIGITS) -> str:
    """Return a number rounded up, for what is at most this.

    Examples
    --------
    >>> up(2.718281828), up(Fraction(1, 3), 2), up(48842.0), up(1e-9)
    ('2.719', '0.34', '48,850', '1 × 10^-9')
    """
    return _for_people(value, digits, ROUND_CEILING)


def down(value: float | Fraction, digits: int = _DIGITS, *, zeros: bool = False) -> str:
    """Return a number rounded down, for what is at least this; perhaps with the zeros at its end.

    Examples
    --------
    >>> down(0.36787944), down(5.2), down(5.2, 3, zeros=True)
    ('0.3678', '5.2', '5.20')
    """
    return _for_people(value, digits, ROUND_FLOOR, zeros=zeros)


def near(value: float | Fraction, digits: int = _DIGITS, *, zeros: bool = False) -> str:
    """Return a number rounded to the nearest; perhaps with the zeros at its end, as numbers in a column have them.

    Examples
    --------
    >>> near(0.951430177), near(0.0), near(0.0339, zeros=True)
    ('0.9514', '0', '0.03390')
    """
    return _for_people(value, digits, ROUND_HALF_EVEN, zeros=zeros)


def _for_people(value: float | Fraction, digits: int, rounding: str, *, zeros: bool = False) -> str:
    found = _rounded(value, digits, rounding)
    if found is None:
        return "infinite"
    if found.adjusted() not in _PLAIN:
        return f"{found.normalize():e}".replace("e", " × 10^").replace("^+", "^")
    return f"{found.quantize(Decimal((0, (1,), found.adjusted() + 1 - digits))) if zeros else found.normalize():,f}"


def outward(value: float, digits: int, lower: bool) -> str:  # noqa: FBT001 - a filter of templates
    """Return a bound rounded away from what it bounds.

    Examples
    --------
    >>> outward(0.12345, 3, False), outward(0.12345, 3, True)
    ('0.124', '0.123')
    """
    return (down if lower else up)(value, digits)


def percent(probability: float | Fraction) -> str:
    """Return a probability in per cent; 0 and 100 only where it is that.

    Examples
    --------
    >>> percent(0.25), percent(0.027), percent(0.999999), percent(1e-9), percent(0)
    ('25.0 %', '2.70 %', 'over 99.9 %', 'under 0.01 %', '0 %')
    """
    if probability in {0, 1}:
        return f"{100 * int(probability)} %"
    if probability < 1e-4:
        return "under 0.01 %"
    if probability > 0.999:
        return "over 99.9 %"
    return f"{100 * float(probability):.{1 if probability >= 0.0999 else 2}f} %"


def points(margin: float) -> str:
    """Return half the width of an interval in percentage points, rounded up.

    Examples
    --------
    >>> points(0.0196), points(0.00062), points(0.03), points(2.0), points(math.inf)
    ('± 2.0', '± 0.062', '± 3.0', 'over ± 100', 'unknown')
    """
    if math.isinf(margin):
        return "unknown"
    if margin >= 1:
        return "over ± 100"
    shown = Context(prec=2, rounding=ROUND_CEILING).create_decimal_from_float(round(100 * margin, 9))
    return f"± {shown.quantize(Decimal(1).scaleb(min(0, shown.adjusted() - 1))):f}"


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
