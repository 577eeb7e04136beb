"""The discrete Gaussian distribution over the integers: rigorous tables, and exact samples.

``N_Z(0, v)`` gives the integer x the probability ``exp(-x^2 / (2 v)) / Z`` (Canonne, Kamath and Steinke, *The discrete
Gaussian for differential privacy*, J. Privacy and Confidentiality 12, 2022). The variance parameter v is a rational.

Weights ``exp(-m^2 / (2 v))`` are whole numbers over a power of two, twice: rounded down all the way, and rounded up
all the way. The ratio of neighbouring weights is ``exp(-(2 m + 1) / (2 v))``, and the ratio of neighbouring ratios the
constant ``exp(-1 / v)``: from bounds of the two exponentials (Arb) every step is a product of non-negative integers
whose low bits are dropped, or dropped and one added. So the true weight is always between the two. As the ratios
fall, a geometric series bounds all weights beyond the table.

Samples are inverses of the cumulative distribution, with the digits of a uniform number drawn only as they are needed.
No float takes part, the tails are not cut, and what is drawn has the distribution above exactly; `discrete_gaussian`
says why.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from flint import ctx
from numpy.typing import NDArray

from mechdesign.display.numbers import text_near
from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.mechanism.sampler import RandomBytes, random_bytes
from mechdesign.numerics.exact import arb_of, lower, rational, upper, working_precision

Integers = NDArray[np.int64]

_WORD = 64  # bits of the uniform number that are drawn first
_GUARD = 64  # further places of the weights, beyond what rounding in every step can use up
_MOST_ENTRIES = 1 << 20
_MOST_SAMPLES = 10**9  # 8 gigabytes of digits
_SLACK = 8  # the weights left out are below 2^-(bits + 8)


@dataclass(frozen=True)
class SamplerWeights:
    """Bounds of ``exp(-m^2 / (2 v))`` for m = 0, 1, ..., M, as integers over ``2^places``.

    Attributes
    ----------
    places : int
    low, high : list of int
        Never above, and never below, ``2^places exp(-m^2 / (2 v))``.
    rest : int
        Never below ``2^places`` times the sum of the weights of all m > M.
    """

    places: int
    low: list[int]
    high: list[int]
    rest: int

    @cached_property
    def total_low(self) -> int:
        """A lower bound of ``2^places Z``, where Z is the sum over all integers."""
        return 2 * sum(self.low) - self.low[0]

    @cached_property
    def total_high(self) -> int:
        """An upper bound of ``2^places Z``."""
        return 2 * (sum(self.high) + self.rest) - self.high[0]


def checked_variance(value: object) -> Fraction:
    """Return the variance parameter of a discrete Gaussian: a rational above 0."""
    variance = rational(value, "the variance")
    if variance <= 0:
        raise InputError.out_of_range(f"the variance is {shorten(value)}; accepted: a number above 0")
    return variance


def check_table_size(variance: Fraction, bits: int) -> None:
    """Check that a table of weights down to ``2^-bits`` is affordable.

    Raises
    ------
    LimitError
        If it would have more than 2^20 entries.
    """
    if _entries_squared(variance, bits) > _MOST_ENTRIES**2:
        most = math.isqrt(_MOST_ENTRIES**2 // math.ceil(_entries_squared(Fraction(1), bits + 40)))
        raise LimitError.too_much_work(
            f"a discrete Gaussian of variance {text_near(variance)} needs a table of more than {_MOST_ENTRIES} "
            f"entries; accepted: a standard deviation up to about {most}, so ask for a larger epsilon or delta"
        )


def _entries_squared(variance: Fraction, bits: int) -> Fraction:
    """Return about the square of the least M with ``sum over m > M of exp(-m^2 / (2 v)) < 2^-bits``, or more."""
    whole_bits = bits + _SLACK + max(math.ceil(variance).bit_length(), 1)
    return 2 * variance * whole_bits * Fraction(7, 10)  # 7/10 > log 2


def gaussian_weights(variance: Fraction, bits: int) -> SamplerWeights:
    """Return bounds of the weights of ``N_Z(0, variance)``, up to where all others sum to less than ``2^-bits``.

    Parameters
    ----------
    variance : Fraction
        Above 0.
    bits : int
        The bounds of a probability differ by less than ``2^-bits`` as well.

    Examples
    --------
    >>> weights = gaussian_weights(Fraction(1), bits=20)
    >>> [round(low / 2**weights.places, 6) for low in weights.low[:3]]
    [1.0, 0.606531, 0.135335]
    """
    # Every step adds less than one unit in the last place to a ratio, and by its ratio to a weight: the errors of M
    # weights sum to less than M^3 units.
    places = bits + _GUARD + 3 * (1 + math.isqrt(math.ceil(_entries_squared(variance, bits))).bit_length())
    one = 1 << places
    ratio_low, ratio_high = _scaled_exponential(1 / (2 * variance), places)
    factor_low, factor_high = _scaled_exponential(1 / variance, places)
    low, high = [one], [one]
    while True:
        next_low = low[-1] * ratio_low >> places
        next_high = (high[-1] * ratio_high >> places) + 1
        ratio_low = ratio_low * factor_low >> places
        ratio_high = (ratio_high * factor_high >> places) + 1
        # The weights from here on sum to at most next / (1 - ratio).
        if next_high << (bits + _SLACK) < one - ratio_high:
            return SamplerWeights(places, low, high, (next_high << places) // (one - ratio_high) + 1)
        low.append(next_low)
        high.append(next_high)


def _scaled_exponential(x: Fraction, places: int) -> tuple[int, int]:
    """Return integers around ``2^places exp(-x)`` for x > 0."""
    if x > places:  # exp(-x) < 2^-x; its exponent may be too large to write down
        return 0, 1
    with working_precision(), ctx.workprec(places + 32):
        scaled: Any = (-arb_of(x)).exp() * arb_of(1 << places)
        return math.floor(lower(scaled)), math.ceil(upper(scaled))


@dataclass(frozen=True)
class _Cumulative:
    """Integers around ``2^bits P(|X| <= m)`` for m = 0, ..., M."""

    low: list[int]
    high: list[int]

    @classmethod
    def of(cls, variance: Fraction, bits: int) -> _Cumulative:
        """Return the sums from both sides: of the least weights over the greatest total, and the other way round."""
        weights = gaussian_weights(variance, bits)
        total_low, total_high = weights.total_low, weights.total_high
        below = accumulate((2 * w for w in weights.low[1:]), initial=weights.low[0])
        above = accumulate((2 * w for w in weights.high[1:]), initial=weights.high[0])
        return cls(
            low=[(c << bits) // total_high for c in below],
            high=[min((c << bits) // total_low + 1, 1 << bits) for c in above],
        )

    def decided(self, digits: int) -> int | None:
        """Return the m to which every uniform number with these first binary digits belongs, or None."""
        m = bisect_right(self.high, digits)
        return m if m < len(self.low) and digits < self.low[m] else None


def discrete_gaussian(variance: object, size: int, rng: np.random.Generator | None = None) -> Integers:
    """Draw exact samples of ``N_Z(0, variance)``.

    The magnitude is ``|X| = min {m : U < P(|X| <= m)}`` for a uniform U in [0, 1), the sign a fair bit. The binary
    digits of U are independent fair bits, of which 64 are drawn first. They leave an interval for U. Where the bounds
    of ``P(|X| <= m - 1)`` and ``P(|X| <= m)`` prove that the whole interval belongs to one m, the digits to come cannot
    change it, so it is returned. Elsewhere (beyond the table, or within its rounding of a step: about one draw in
    2^42 or fewer) more digits follow, and a table with as many places, until it is proved. The two ends of an interval
    that shrinks to U are on one side of every step, unless U is a step, which has probability 0. So the result is that
    of all the digits of U.

    Parameters
    ----------
    variance : number or str
        The parameter v, a decimal or a ratio above 0; of a float the decimal that it prints.
    size : int
        How many samples to draw.
    rng : numpy.random.Generator, optional
        For experiments. Without it the operating system's secure randomness is used.

    Returns
    -------
    int array, shape (size,)

    Raises
    ------
    InputError
        For a variance that is not above 0, or a size below 0.
    LimitError
        For a standard deviation above about 80,000, whose table would not fit.

    Examples
    --------
    >>> discrete_gaussian("25/2", 8, np.random.default_rng(1))
    array([ 2,  7, -1,  7, -1,  2, -5,  2])
    """
    return draw_discrete_gaussian(checked_variance(variance), size, random_bytes(rng))


def draw_discrete_gaussian(variance: Fraction, size: int, source: RandomBytes) -> Integers:
    """Draw as `discrete_gaussian` does, from a source of random bytes.

    Examples
    --------
    >>> import os
    >>> draw_discrete_gaussian(Fraction(2), 3, os.urandom).shape
    (3,)
    """
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or not 0 <= size <= _MOST_SAMPLES:
        raise InputError.not_a_whole_number(
            f"the size is {shorten(size)}; accepted: a whole number from 0 to {_MOST_SAMPLES}"
        )
    check_table_size(variance, _WORD)
    return _drawn(variance, int(size), source, _WORD)


def _drawn(variance: Fraction, size: int, source: RandomBytes, bits: int) -> Integers:
    """Return samples of which ``bits`` digits are looked up at once: 8, 16, 32 or 64."""
    digits = np.frombuffer(source(size * (bits // 8)), dtype=f"<u{bits // 8}")
    magnitudes, open_cases = _looked_up(_Cumulative.of(variance, bits), digits)
    pending = {int(i): int(digits[i]) for i in open_cases}
    drawn = bits
    while pending:
        pending = {i: (d << bits) | int.from_bytes(source(bits // 8), "little") for i, d in pending.items()}
        drawn += bits
        table = _Cumulative.of(variance, drawn)
        answers = {i: table.decided(d) for i, d in pending.items()}
        for i, m in answers.items():
            if m is not None:
                magnitudes[i] = m
        pending = {i: d for i, d in pending.items() if answers[i] is None}
    signs = np.unpackbits(np.frombuffer(source((size + 7) // 8), dtype=np.uint8), count=size)
    return np.where(signs == 1, -magnitudes, magnitudes)


def _looked_up(table: _Cumulative, digits: NDArray[np.unsignedinteger[Any]]) -> tuple[Integers, NDArray[np.intp]]:
    """Return the magnitudes of the first digits, and the places where those do not decide."""
    largest = int(np.iinfo(digits.dtype).max)
    # An upper bound of 2^bits is beyond every integer of so many digits.
    high = np.array([h for h in table.high if h <= largest], dtype=digits.dtype)
    low = np.zeros(high.size + 1, dtype=digits.dtype)  # 0 decides nothing
    known = min(low.size, len(table.low))
    low[:known] = table.low[:known]
    magnitudes = np.searchsorted(high, digits, side="right")
    return magnitudes.astype(np.int64), np.flatnonzero(digits >= low[magnitudes])
