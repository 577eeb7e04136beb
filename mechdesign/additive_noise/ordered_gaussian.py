r"""Gaussian noise on numbers, two or more of them, for any set of priors: how likely it leaks more than epsilon.

Y = X + N(0, sigma^2), X one of ``x_1 < ... < x_N``. Where x_k is the number nearest to y, the entries of the column of
y in units of the greatest are ``w_i(y) = exp((x_i - x_k) (2 y - x_i - x_k) / (2 sigma^2))``, and y leaks
``-log h(w(y))`` over the set. As y grows without bound w tends to the indicator of x_N, whatever sigma is: no Gaussian
noise leaks less than what the two numbers at the ends leak by themselves. What it has is a probability delta of leaking
more than epsilon.

Each w_i is monotone in y. So between the two ends of an interval it is not below the lesser of its values there, and h,
which never falls when an entry rises, not below that of these. Intervals where that proves that at most epsilon leaks
are left out; others are halved, until they are short, and counted.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from numpy.typing import ArrayLike

from mechdesign.additive_noise.ordered_laplace import OrderedNumbers
from mechdesign.data.checks import checked_scale
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import arb_of, float_up, lower, upper, working_precision
from mechdesign.numerics.outward import Interval
from mechdesign.uncertainty.base import UncertaintySet
from mechdesign.uncertainty.prior_set import Numbers

_BITS = 128  # of entries and of probabilities
_SHORTEST = Fraction(1, 2**26)  # of an interval that is halved, in units of sigma
_FARTHEST = 40  # standard deviations; all further outputs are counted
_MOST_HALVES = 40_000

Part = tuple[Fraction, Fraction]


def ordered_gaussian_delta(
    epsilon: object, sigma: object, positions: ArrayLike, uncertainty: UncertaintySet | Numbers
) -> float:
    """Return how likely Y = X + N(0, sigma^2) leaks more than epsilon over a set of priors, X one of N numbers.

    An output counts if it leaks more than epsilon at some prior of the set, and the probability is the greatest over
    all its priors: the noise is (epsilon, delta)-PML at each of them (ED Definition 3). For one prior of two numbers at
    a distance of 2 it is `gaussian_delta`. As for every tail, post-processing may make more of the outputs leak.

    Parameters
    ----------
    epsilon : number or str
        In nats: a decimal or ``"log(9/8)"``.
    sigma : number or str
        Standard deviation of the noise, above 0, in the unit of the positions.
    positions : sequence of N numbers
        The number that each category stands for, in the order of the categories of the set; all different.
    uncertainty : UncertaintySet, or a prior
        The set of priors on N categories.

    Returns
    -------
    float
        A proved bound, rounded up; above the probability by the outputs within some 1e-8 sigma of those that leak
        epsilon exactly, and by some of those further than 40 sigma from all numbers.

    Raises
    ------
    InputError
        As `ordered_laplace_epsilon`, and for an epsilon that is negative.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> ball = L1Ball([0.1, 0.4, 0.4, 0.1], radius="0.05")
    >>> round(ordered_gaussian_delta(1, 2, [0, 1, 2, 3], ball), 6)
    0.088478
    """
    numbers, e = OrderedNumbers.of(positions, uncertainty), Epsilon.of(epsilon).exp_down
    with working_precision(2 * _BITS):
        return float_up(min(Fraction(1), _Gaussian(numbers, checked_scale(sigma, "sigma"), e).greatest_probability()))


@dataclass(frozen=True)
class _Gaussian:
    """Noise on numbers, and exp(epsilon); use it inside `working_precision`."""

    numbers: OrderedNumbers
    sigma: Interval
    exp_epsilon: Fraction

    def private(self, k: int, low: Fraction, high: Fraction) -> bool:
        """Return whether all outputs between are proved to leak at most epsilon, where number k is the nearest."""
        x, center, variance = self.numbers.values, self.numbers.values[k], 2 * self.sigma.ball() ** 2
        column = []
        for value in x:
            # The exponent grows with y for larger numbers, and falls with y for smaller ones.
            y = low if value > center else high
            entry = (arb_of((value - center) * (2 * y - value - center)) / variance).exp() * (1 << _BITS)
            column.append(1 << _BITS if value == center else max(0, math.floor(lower(entry))) if entry > 1 else 0)
        return self.exp_epsilon * self.numbers.known.exact_support(column) >= 1 << _BITS

    def parts(self) -> Iterator[tuple[int, Fraction, Fraction]]:
        """Return the intervals of outputs that have one nearest number, and that number."""
        x = self.numbers.values
        order = sorted(range(len(x)), key=x.__getitem__)
        ends = [(x[i] + x[j]) / 2 for i, j in itertools.pairwise(order)]
        far = _FARTHEST * self.sigma.high
        limits = [x[order[0]] - far, *ends, x[order[-1]] + far]
        for k, low, high in zip(order, limits[:-1], limits[1:], strict=True):
            yield k, min(low, high), max(low, high)

    def leaking(self) -> list[Part]:
        """Return intervals that hold all outputs, not too far away, that leak more than epsilon."""
        found, shortest, halves = [], _SHORTEST * self.sigma.low, 0
        waiting = list(self.parts())
        while waiting:
            k, low, high = waiting.pop()
            if self.private(k, low, high):
                continue
            if high - low <= shortest or halves > _MOST_HALVES:
                found.append((low, high))
                continue
            halves, middle = halves + 1, (low + high) / 2
            if not self.leaks_throughout(k, low, high):
                waiting += [(k, low, middle), (k, middle, high)]
            else:
                found.append((low, high))
        return _joined(found)

    def leaks_throughout(self, k: int, low: Fraction, high: Fraction) -> bool:
        """Return whether not even a column with the greatest entries between would be private."""
        return not self.private(k, high, low)

    def greatest_probability(self) -> Fraction:
        """Return a bound on the probability of the outputs that leak more than epsilon, at any prior of the set."""
        x = self.numbers.values
        parts = self.leaking()
        column = [
            math.ceil(upper(self._outside(value) + sum(self._between(*p, value) for p in parts)) * 2**_BITS)
            for value in x
        ]
        greatest: Fraction = self.numbers.known.exact_greatest_mean(column) / 2**_BITS
        return greatest

    def _outside(self, value: Fraction) -> Any:
        """Return the probability, given a number, of outputs too far from all numbers, where the nearest leaks more."""
        x, far, found = self.numbers.values, _FARTHEST * self.sigma.high, arb_of(0)
        for end in (min(x), max(x)):
            alone = self.numbers.known.exact_support([int(other == end) for other in x])
            if self.exp_epsilon * alone < 1:
                found += self._above(abs(end - value) + far)
        return found

    def _between(self, low: Fraction, high: Fraction, value: Fraction) -> Any:
        low, high = low - value, high - value
        return self._above(low) - self._above(high) if low > 0 else self._above(-high) - self._above(-low)

    def _above(self, distance: Fraction) -> Any:
        """Return the probability that the noise exceeds a distance."""
        return (arb_of(distance) / (self.sigma.ball() * arb_of(2).sqrt())).erfc() / 2


def _joined(parts: list[Part]) -> list[Part]:
    """Return intervals with those joined that touch each other."""
    found: list[Part] = []
    for low, high in sorted(parts):
        if found and found[-1][1] >= low:
            found[-1] = found[-1][0], max(high, found[-1][1])
        else:
            found.append((low, high))
    return found
