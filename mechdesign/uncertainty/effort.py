"""What the exact proof of one output costs over a set, estimated before the proof begins."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

_DIGITS_OF_A_STEP = 50  # digits of a factor that take as much time as one more step


@dataclass(frozen=True)
class Effort:
    """The cost of one `exact_support`.

    Attributes
    ----------
    digits : int
        About how many digits the denominator of the result has.
    steps : int
        Multiplications of short integers, about 50 ns each. The time to reduce a fraction grows with the square of its
        digits.
    """

    digits: int
    steps: int


def effort_of(priors: Iterable[Iterable[Fraction]], size: int, radius: Fraction = Fraction(0)) -> Effort:
    """Return the effort of the means of a column under some priors, and of sorting the column if mass is moved.

    Parameters
    ----------
    priors : iterable of iterables of Fraction
        The rationals that a column is multiplied by, one iterable for each mean.
    size : int
        Number N of symbols.
    radius : Fraction
        If it is above 0, the column is sorted to find the symbols from which mass is moved.

    Examples
    --------
    >>> effort_of([[Fraction(1, 2), Fraction(1, 2)]], 2)
    Effort(digits=0, steps=2)
    """
    own = [math.lcm(*(q.denominator for q in prior)) for prior in priors]
    digits = _digits(math.lcm(*own) * radius.denominator)
    sorting = 4 if radius > 0 else 0
    each = sum(1 + sorting + _digits(common) // _DIGITS_OF_A_STEP for common in own)
    return Effort(digits, size * each + digits**2 // 1500)


def _digits(number: int) -> int:
    return int(number.bit_length() * math.log10(2))
