"""Quadratic forms over the rays of local differential privacy: every set of symbols is priced.

Where the true prior may be any, every ray is ``1 + (e - 1) 1_S`` up to scale, for a set S of symbols. With
``q = 1 + (e - 1) P(S)`` and ``<P, v> = 1``

    (v - 1)' Theta (v - 1) - <lambda, v>
        = ((e - 1) / q)^2 (1_S' Theta 1_S - 2 P(S) 1_S' Theta 1 + P(S)^2 1' Theta 1)
          - (sum(lambda) + (e - 1) lambda(S)) / q.

The symbols are halved. Sums over a set are sums over its parts in both halves, and ``1_S' Theta 1_S`` has in addition
what the parts have in common: a matrix with a row for each part in the first half and a column for each in the second,
which is one product of matrices. So the columns themselves, N numbers for each of the 2^N sets, are not built.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechdesign.numerics.arrays import Floats, as_bound
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.pricing.price import Price
from mechdesign.optimize.rays import indicator

MOST_SYMBOLS = 24
"""The most symbols for which every set is priced: more take seconds in each of some thirty rounds."""

_EPS = float(np.finfo(float).eps)
_FIRST = 10  # random sets for each symbol
_AT_ONCE = 1 << 16  # sets


@dataclass(frozen=True, eq=False)
class EverySet:
    """Prices a quadratic form on the rays of all sets of symbols.

    Attributes
    ----------
    prior : array, shape (N,)
        P.
    exp_epsilon : float
        exp(epsilon), above 1.

    Examples
    --------
    >>> pricing = EverySet(np.array([0.5, 0.25, 0.25]), 3.0)
    >>> round(pricing.price(QuadraticForm(np.ones(3)), np.zeros(3)).upper, 9)
    1.222222222
    """

    prior: Floats
    exp_epsilon: float

    method = "every set of categories"

    def price(
        self,
        form: QuadraticForm,
        multipliers: Floats,
        wanted: int = 0,
        *,
        deadline: float | None = None,  # noqa: ARG002 - a list is short
    ) -> Price:
        """Return the greatest ``(v - 1)' Theta (v - 1) - <lambda, v>`` over all rays, rounded outward.

        The price comes with as many rays of the greatest reduced cost as are wanted.
        """
        greatest = -np.inf
        best, costs = np.empty(0, dtype=np.int64), np.empty(0)
        with np.errstate(over="ignore", invalid="ignore"):
            for first, upper in _Halves(self.prior, self.exp_epsilon - 1, form, multipliers).bounds():
                greatest = max(greatest, float(upper.max()))
                if wanted:
                    kept = np.argpartition(-upper, wanted)[:wanted] if upper.size > wanted else np.arange(upper.size)
                    best, costs = np.append(best, first + kept), np.append(costs, upper[kept])
        kept = best[np.argsort(-costs, kind="stable")[:wanted]]
        return Price(greatest, self.method, 1 << self.prior.size, self._columns(indicator(kept, self.prior.size)))

    def first(self, deadline: float | None = None) -> Floats:  # noqa: ARG002 - which few rays need not look at
        """Return the rays of single symbols, which form a mechanism, and those of random sets, shape (N, k)."""
        N = self.prior.size
        rng = np.random.default_rng(0)
        drawn = rng.random((N, _FIRST * N)) < rng.random(_FIRST * N)
        drawn &= ~drawn.all(axis=0)  # the ray of all symbols is that of the empty set
        return self._columns(np.unique(np.hstack([np.eye(N), drawn]), axis=1))

    def _columns(self, members: Floats) -> Floats:
        """Return the rays of sets, with ``<P, v> = 1``."""
        columns = 1 + (self.exp_epsilon - 1) * members
        result: Floats = columns / (self.prior @ columns)
        return result


@dataclass(frozen=True, eq=False)
class _Halves:
    """The bounds of one form and one lambda. A set has the bits of its part in the second half, then in the first."""

    prior: Floats
    rise: float
    form: QuadraticForm
    multipliers: Floats

    @cached_property
    def _parts(self) -> tuple[Floats, Floats]:
        """All sets of symbols of each half, as columns of zeros and ones."""
        N = self.prior.size
        sizes = N // 2, N - N // 2
        return indicator(np.arange(1 << sizes[0]), sizes[0]), indicator(np.arange(1 << sizes[1]), sizes[1])

    def bounds(self) -> Iterator[tuple[int, Floats]]:
        """Yield upper bounds of the reduced costs, some sets at a time, each time with the mask of the first of them.

        Every number is a sum of products that are rounded a few times; the sum of their sizes bounds the error.
        """
        low, high = self._parts
        theta, lam = self.form.dense(), self.multipliers
        exact = _Terms(self.prior, theta, lam, low, high)
        sizes = _Terms(self.prior, np.abs(theta), np.abs(lam), low, high)
        unit = (8 * self.prior.size + 64) * _EPS
        step = max(1, _AT_ONCE // low.shape[1])
        for start in range(0, high.shape[1], step):
            rows = slice(start, start + step)
            mass, quadratic, linear, of_lambda = exact.of(rows)
            inverse = 1 / (1 + self.rise * mass)
            square = (self.rise * inverse) ** 2
            values = square * (quadratic + mass * (mass * exact.whole - 2 * linear))
            values -= inverse * (exact.total + self.rise * of_lambda)
            _, quadratic, linear, of_lambda = sizes.of(rows)
            error = square * (quadratic + mass * (mass * sizes.whole + 2 * linear))
            error += inverse * (sizes.total + self.rise * of_lambda)
            yield start * low.shape[1], as_bound(values + unit * error).ravel()


class _Terms:
    """Sums over sets, from those over their parts."""

    def __init__(self, prior: Floats, theta: Floats, multipliers: Floats, low: Floats, high: Floats) -> None:
        n = len(low)
        rows = theta.sum(axis=1)
        self.whole, self.total = float(rows.sum()), float(multipliers.sum())
        self._low, self._common = low, 2 * theta[n:, :n].T @ high
        self._of_low = [prior[:n] @ low, _squares(theta[:n, :n], low), rows[:n] @ low, multipliers[:n] @ low]
        self._of_high = [prior[n:] @ high, _squares(theta[n:, n:], high), rows[n:] @ high, multipliers[n:] @ high]

    def of(self, rows: slice) -> tuple[Floats, Floats, Floats, Floats]:
        """Return P(S), ``1_S' Theta 1_S``, ``1_S' Theta 1`` and lambda(S), for some parts in the second half."""
        mass, quadratic, linear, of_lambda = (
            second[rows, None] + first for first, second in zip(self._of_low, self._of_high, strict=True)
        )
        quadratic += self._common[:, rows].T @ self._low
        return mass, quadratic, linear, of_lambda


def _squares(theta: Floats, members: Floats) -> Floats:
    result: Floats = np.einsum("ik,ik->k", members, theta @ members)
    return result
