r"""The outputs of Gaussian noise that leak more than epsilon: two half lines, and the greatest probability of both.

X is 1 with probability q and -1 otherwise, Y = X + N(0, sigma^2). The densities of y given 1 and given -1 have the
ratio ``exp(2 y / sigma^2)``, so that for y > 0 the leakage is ``-log(q + (1 - q) exp(-2 y / sigma^2))``. It grows
with y from 0 to ``log(1/q)``. With ``c = exp(-epsilon)`` it exceeds epsilon beyond the crossing

    y(q) = (sigma^2 / 2) log((1 - q) / (c - q))   if q < c, and nowhere otherwise.

The probability of that half line, and its derivative (the density of Y at the crossing is c times that given X = 1):

    R(q)  = q P[N > y - 1] + (1 - q) P[N > y + 1],                       N of variance sigma^2,
    R'(q) = P[y - 1 < N <= y + 1] - (sigma^2 / 2) c (1 - c) f(y - 1) / ((1 - q) (c - q)).

The half line below 0 is the mirror image, so both have probability ``R(q) + R(1 - q)``. With z = y / sigma^2 the two
terms of R' are, up to a common factor, ``A(z) = int_{-1}^{1} cosh(u z) exp(-u^2 / (2 sigma^2)) du`` and
``B(z) = K exp(z) sinh(z)^2``. The logarithm of B grows at a rate above 3, that of A at one below 1, and z grows with
q. So R rises to one peak and then falls: the probability of each half line is unimodal in the prior. Where both exist
(epsilon < log 2), their sum need not be unimodal. So its supremum over an interval of priors is found by branch and
bound, in ball arithmetic: on every part that is discarded, the sum is proved to be lower.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.numerics.epsilon import Epsilon, one_minus_exp
from mechdesign.numerics.exact import arb_of, lower, upper
from mechdesign.numerics.outward import LEAST_FLOAT, Interval

_CLOSE = Fraction(1, 10**9)  # relative difference of the bound and an attained value at which the search ends
_MOST_SPLITS = 2_000  # the bound holds after any number of splits


@dataclass(frozen=True)
class HalfLines:
    """The half lines of one epsilon and one sigma; all numbers are Arb balls, so use it inside `working_precision`."""

    sigma: Any
    loss: Any  # 1 - exp(-epsilon)

    @classmethod
    def of(cls, epsilon: Epsilon, sigma: Interval) -> HalfLines:
        """Return the half lines beyond which the leakage exceeds epsilon."""
        return cls(sigma.ball(), one_minus_exp(epsilon))

    def _gap(self, q: Fraction) -> Any:
        return arb_of(1 - q) - self.loss

    def crossing(self, q: Fraction) -> Any | None:
        """Return where the upper half line begins when X = 1 has probability q; None where it does not exist.

        Where ``exp(-epsilon) - q`` is too close to 0 to tell its sign, the crossing is finite and too small: the half
        line is then too long, and the probability is rounded up.
        """
        gap = self._gap(q)
        if gap <= 0:
            return None
        if not gap > 0:
            gap = gap.upper()
        return self.sigma**2 / 2 * (self.loss / gap).log1p()

    def mass(self, q: Fraction) -> Any:
        """Return the probability of the upper half line, R(q)."""
        return self._above(self.crossing(q), q)

    def _above(self, y: Any | None, q: Fraction) -> Any:
        if y is None:
            return arb_of(0)
        return arb_of(q) * self._tail(y - 1) + arb_of(1 - q) * self._tail(y + 1)

    def _tail(self, t: Any) -> Any:
        """Return the probability that the noise exceeds t."""
        return (t / (self.sigma * arb_of(2).sqrt())).erfc() / 2

    def most(self, low: Fraction, high: Fraction) -> Any:
        """Return a bound on R over an interval: that of the half line at its low end, with the q of its high end.

        The crossing grows with q, and a fixed half line is more probable given X = 1.
        """
        return self._above(self.crossing(low), high)

    def slope(self, low: Fraction, high: Fraction) -> Any | None:
        """Return a ball that holds R' over an interval; None where R' is not bounded this way.

        P[y - 1 < N <= y + 1] falls as y > 0 grows, and y grows with q, so its extreme values are at the ends of the
        interval. Only the other term is computed with balls as wide as the interval.
        """
        if self._gap(low) <= 0:
            return arb_of(0)
        first, last = self.crossing(low), self.crossing(high)
        if first is None or last is None or not self._gap(high) > 0:
            return None
        window = (self._tail(first - 1) - self._tail(first + 1)).union(self._tail(last - 1) - self._tail(last + 1))
        factor = (1 / (arb_of(1 - low) * self._gap(low))).union(1 / (arb_of(1 - high) * self._gap(high)))
        t = (first.union(last) - 1) / self.sigma
        density = (-(t**2) / 2).exp() / (self.sigma * (2 * arb_of(1).pi()).sqrt())
        return window - self.sigma**2 / 2 * (1 - self.loss) * self.loss * density * factor

    def both(self, q: Fraction) -> Any:
        """Return the probability of both half lines."""
        return self.mass(q) + self.mass(1 - q)

    def bound(self, low: Fraction, high: Fraction) -> Fraction:
        """Return a bound on the probability of both half lines for all q in an interval.

        It is the smaller of two bounds, from the monotone parts and from the slope. Where the sign of the slope is
        known, the second is the probability at an end; elsewhere its error is of the order of the squared width.
        """
        monotone = _up(self.most(low, high) + self.most(1 - high, 1 - low))
        upper_slope, lower_slope = self.slope(low, high), self.slope(1 - high, 1 - low)
        if upper_slope is None or lower_slope is None:
            return monotone
        slope = upper_slope - lower_slope
        if slope >= 0:
            return min(monotone, _up(self.both(high)))
        if slope <= 0:
            return min(monotone, _up(self.both(low)))
        middle = (low + high) / 2
        return min(monotone, _up(self.both(middle) + arb_of(high - middle) * slope.abs_upper()))

    def supremum(self, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
        """Return an attained value and a bound, for the supremum over an interval of the probability of both.

        Both are rounded outward; they are within 1e-9 of each other relative to the bound, or below the least float.
        """
        attained = max(_down(self.both(q)) for q in (low, high))
        if low == high:
            return attained, _up(self.both(low))
        open_parts = [(-self.bound(low, high), low, high)]
        for _ in range(_MOST_SPLITS):
            top = -open_parts[0][0]
            if top * (1 - _CLOSE) <= attained or top <= LEAST_FLOAT:
                break
            _, start, end = heapq.heappop(open_parts)
            middle = (start + end) / 2
            attained = max(attained, _down(self.both(middle)))
            for part in ((start, middle), (middle, end)):
                # The bound of the whole holds for a part too, and may be the smaller one where balls are wide.
                heapq.heappush(open_parts, (-min(top, self.bound(*part)), *part))
        return attained, -open_parts[0][0]


def _up(probability: Any) -> Fraction:
    """Return a rational, at most 1, that is not below a probability: 0, or at least the least float."""
    if probability == 0:
        return Fraction(0)
    if probability < arb_of(LEAST_FLOAT):
        return LEAST_FLOAT
    return min(Fraction(1), upper(probability)) if probability.is_finite() else Fraction(1)


def _down(probability: Any) -> Fraction:
    return lower(probability) if probability > arb_of(LEAST_FLOAT) else Fraction(0)
