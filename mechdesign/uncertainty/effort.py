"""What the exact proof of one output costs over a set, known before the proof begins."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

_DIGITS_OF_A_STEP = 50  # by which a factor may be longer for as much time again


@dataclass(frozen=True)
class Effort:
    """The cost of one `exact_support`.

    Attributes
    ----------
    digits : int
        About how many digits the denominator of the result has.
    steps : int
        Multiplications of short integers, about 50 ns each. Reducing a fraction grows with the square of its digits.
    """

    digits: int
    steps: int


def effort_of(priors: Iterable[Iterable[Fraction]], size: int, radius: Fraction = Fraction(0)) -> Effort:
    """Return the effort of means of a column under some priors, after sorting it if mass is moved.

    Parameters
    ----------
    priors : iterable of iterables of Fraction
        The rationals that a column is multiplied by, one iterable a mean.
    size : int
        Number N of symbols.
    radius : Fraction
        Above 0 where the column is sorted to find from where mass is moved.

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
