"""How likely one frequency exceeds its probability by more than t, whatever that probability is.

A category set of probability q is seen k times in n samples with k binomial. Its frequency exceeds q by more than t
with probability at most

    max over k > n t of F(k),    F(k) = P[ Bin(n, k/n - t) >= k ],

and for some q with a probability as near to this maximum as one likes. All values are Arb balls that contain the exact
ones. The proofs are in docs/mathematics.md, "Samples and radii".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from flint import arb

from mechdesign.numerics.exact import arb_of
from mechdesign.uncertainty.observed_sums import ObservedSums

FEW_SAMPLES = 256
"""With at most so many samples, all k can be listed."""
_FIRST_TERMS = 24
TRIES = 8
"""After so many steps along lines a search takes one bisection."""


def least_excess(samples: int) -> Fraction:
    """Return a t from which on F is evaluated near its maximum only.

    From 2/n on it is proved that F rises, then falls. Near ``1 / (4 sqrt(n))``, which is more, the continued fraction
    begins to need many terms.
    """
    return Fraction(2, samples) if samples <= FEW_SAMPLES else Fraction(1, 4 * math.isqrt(samples))


def bits_for(samples: int) -> int:
    """Return a precision at which neighbouring values of F are told apart."""
    return 96 + 4 * samples.bit_length()


def log_tail(samples: int, k: int, q: Any) -> Any:
    """Return ``log P[Bin(n, q) >= k]`` as a ball, for ``k >= 1``, a ball q in (0, 1) and ``k >= n q``.

    The tail is ``P[Bin(n, q) = k] S``, where S is ``1/U_0`` of Gauss's continued fraction.
    """
    rest = samples - k
    mass = arb(samples + 1).lgamma() - arb(k + 1).lgamma() - arb(rest + 1).lgamma() + k * q.log()
    if rest == 0:
        return mass
    return mass + rest * (-q).log1p() - _inverse_sum(samples, k, q / (1 - q)).log()


def _inverse_sum(samples: int, k: int, odds: Any) -> Any:
    """Return U_0 as a ball, with so many terms that its radius is small beside it."""
    tolerance = arb(2) ** -(64 + 2 * samples.bit_length())
    terms = _FIRST_TERMS
    while True:  # at most log2(n) times
        found = _from_term(samples, k, odds, min(terms, samples - k))
        if terms >= samples - k or found.rad() < tolerance * found.mid():
            return found
        terms *= 2


def _from_term(samples: int, k: int, odds: Any, last: int) -> Any:
    """Return U_0 from the interval [1 - A_(last + 1), 1], which contains U_last; each step swaps the ends."""
    low = high = arb(1)
    if last < samples - k:
        low = 1 - (samples - k - last) * (k + last) * odds / ((k + 2 * last) * (k + 2 * last + 1))
    for m in range(last, 0, -1):
        middle = k + 2 * m - 1
        a = (samples - k - m + 1) * (k + m - 1) * odds / ((middle - 1) * middle)
        b = m * (samples + m) * odds / (middle * (middle + 1))
        low, high = 1 - a / (1 + b / high), 1 - a / (1 + b / low)
    return low.union(high)


def log_worst_tail(samples: int, excess: Fraction, seen: ObservedSums | None = None) -> Any | None:
    """Return the logarithm of the maximum of F as a ball; None where its place is not proved.

    Call it at a precision of `bits_for`. It is None for more than `FEW_SAMPLES` samples and t below `least_excess`, but
    for counts that are far from the place where F is greatest, and t from 2/n on.

    Parameters
    ----------
    samples : int
        n.
    excess : Fraction
        t in (0, 1).
    seen : ObservedSums, optional
        The counts k among which the maximum is; without them all k from 1 to n.
    """
    first = math.floor(samples * excess) + 1

    @cache
    def log_f(k: int) -> Any:
        return log_tail(samples, k, arb_of(Fraction(k, samples) - excess))

    if excess < least_excess(samples):
        if samples > FEW_SAMPLES:
            return None if seen is None else _beside_maximum(log_f, samples, excess, seen)
        low, high = first, samples
    else:
        low, high = _around_maximum(log_f, first, samples, _near_maximum(samples, excess))
    worst = arb("-inf")
    for k in range(low, high + 1) if seen is None else seen.around(low, high):
        if k >= first:
            worst = worst.max(log_f(k))
    return worst


def exact_worst_tail(samples: int, excess: Fraction, seen: ObservedSums | None = None) -> Fraction:
    """Return the maximum of F in rationals, which takes about a second for 256 samples.

    Examples
    --------
    >>> exact_worst_tail(1, Fraction(3, 4)), exact_worst_tail(2, Fraction(1, 4))
    (Fraction(1, 4), Fraction(9, 16))
    """
    n, first = samples, math.floor(samples * excess) + 1
    whole, worst = n * excess.denominator, 0  # q is a / whole
    for k in range(first, n + 1) if seen is None else seen.around(first, n):
        a = k * excess.denominator - n * excess.numerator
        if a > 0:
            worst = max(worst, sum(math.comb(n, j) * a**j * (whole - a) ** (n - j) for j in range(k, n + 1)))
    return Fraction(worst, whole**n)


def log_subsets(categories: int) -> Any:
    """Return log(2^N - 2) as a ball, without forming 2^N."""
    return categories * arb_of(2).log() + (-(arb_of(2) ** (1 - categories))).log1p()


@dataclass(frozen=True)
class TailLevel:
    """What each of the sets may fail with, ``delta / (2^N - 2)``, and its logarithm as a ball."""

    delta: Fraction
    categories: int
    log: Any

    @classmethod
    def of(cls, delta: Fraction, categories: int) -> TailLevel:
        """Return the level at the working precision."""
        return cls(delta, categories, arb_of(delta).log() - log_subsets(categories))

    def holds(self, tail: Fraction) -> bool:
        """Return whether a tail is at most the level, exactly."""
        return bool(tail * (2**self.categories - 2) <= self.delta)


def _beside_maximum(log_f: Callable[[int], Any], samples: int, excess: Fraction, seen: ObservedSums) -> Any | None:
    """Return the maximum of F over counts that leave out where it is greatest; None where that is not proved.

    F rises, then falls. Counts on both sides of some k, where F is greater than at either, are on both sides of its
    maximum, and F is less at all counts beyond them. Masses fall from k on, so F(k) is at least the sum of a few of
    them, each times the number of counts from the one before it.
    """
    place = min(max(_near_maximum(samples, excess), math.floor(samples * excess) + 1), samples - 1)
    if excess < Fraction(2, samples):
        return None
    q = arb_of(Fraction(place, samples) - excess)
    step, least = math.isqrt(samples) // 8 + 1, arb(0)
    for last in range(place + step, min(samples, place + 16 * step) + 1, step):
        ways = arb(samples + 1).lgamma() - arb(last + 1).lgamma() - arb(samples - last + 1).lgamma()
        least += step * (ways + last * q.log() + (samples - last) * (-q).log1p()).exp()
    worst = arb("-inf")
    for k in seen.around(place, place):
        if k > samples * excess:
            worst = worst.max(log_f(k))
    return worst if worst < least.log() else None


def _near_maximum(samples: int, excess: Fraction) -> int:
    """Return about where F is greatest; the first terms of an expansion."""
    return round(samples * (Fraction(1, 2) + 2 * excess / 3) + 1 / (12 * excess))


def _around_maximum(log_f: Callable[[int], Any], first: int, last: int, guess: int) -> tuple[int, int]:
    """Return the ends of a range that holds the maximum of a sequence that rises, then falls.

    Outside the range the sequence is proved to be smaller: it rises to the lower end, and falls from the upper end.
    """
    low, high = first, last  # the maximum is between them
    k, before, tries = guess, None, 0
    while low < high:  # halved in one of so many steps
        k = min(max(k, low), high - 1)
        rise = log_f(k + 1) - log_f(k)
        if not (rise > 0 or rise < 0):
            return _widened(log_f, first, last, k)
        low, high = (k + 1, high) if rise > 0 else (low, k)
        here = k, float(rise.mid())
        tries += 1
        k = crossing(before, here) if tries % TRIES else (low + high) // 2
        before = here
    return low, high


def crossing(before: tuple[int, float] | None, here: tuple[int, float]) -> int:
    """Return where the line through two rises is 0, or a neighbour."""
    k, rise = here
    if before is None or before[1] == rise:
        return k + 1 if rise > 0 else k - 1
    step = rise * (k - before[0]) / (before[1] - rise)
    return k + math.floor(step) if math.isfinite(step) else k


def _widened(log_f: Callable[[int], Any], first: int, last: int, k: int) -> tuple[int, int]:
    """Return such a range around k, whose neighbour has nearly the same value."""
    low, high = k, k + 1
    while low > first and not log_f(low) > log_f(low - 1):
        low -= 1
    while high < last and not log_f(high) > log_f(high + 1):
        high += 1
    return low, high
