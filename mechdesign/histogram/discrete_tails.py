"""Tails of the discrete noise, as sums of whole numbers that bound the probabilities from the safe side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.histogram.discrete_noise import correlation
from mechdesign.histogram.discrete_sampler import SamplerWeights, check_table_size, gaussian_weights
from mechdesign.numerics.exact import arb_of, working_precision
from mechdesign.numerics.outward import float_above

_TAIL_BITS = 160  # what tables leave out is below 2^-160, about 1e-48


@dataclass(frozen=True)
class Tails:
    """Bounds of the noises of a release: the common one, and one counter's own.

    Attributes
    ----------
    k : int
    common, own : Weights
    own_high, own_low : list of int
        Around ``2^places P(Z_1 > x)`` for x = 0, ..., M.
    """

    k: int
    common: SamplerWeights
    own: SamplerWeights
    own_high: list[int]
    own_low: list[int]

    @classmethod
    def of(cls, k: int, sigma: Fraction) -> Tails:
        """Return the tables of both noises, after checking that they fit."""
        own, common = 4 * sigma**2, 4 * sigma**2 / correlation(k)
        check_table_size(own, _TAIL_BITS)
        weights = gaussian_weights(own, _TAIL_BITS)
        high = list(accumulate(reversed(weights.high), initial=weights.rest))[-2::-1]
        low = list(accumulate(reversed(weights.low), initial=0))[-2::-1]
        return cls(
            k=k,
            common=gaussian_weights(common, _TAIL_BITS),
            own=weights,
            own_high=[-(-(w << weights.places) // weights.total_low) for w in high],
            own_low=[(w << weights.places) // weights.total_high for w in low],
        )

    @property
    def furthest(self) -> int:
        """The greatest sum of both noises in the tables; beyond it they have only a bound on what they leave out."""
        return len(self.own.low) + len(self.common.low)

    def exceeded(self, analysis: str) -> Callable[[int], Fraction]:
        """Return a function of ``2 tau``: the bound on the probability that one of k new counters is released."""
        return self.split if analysis == "theorem-21" else self.jensen

    def own_above(self, x: int) -> int:
        """Return an upper bound of ``2^places P(Z_1 > x)``."""
        if x < 0:  # 1 - P(Z_1 > -x - 1)
            mirrored = -x - 1
            return (1 << self.own.places) - (self.own_low[mirrored] if mirrored < len(self.own_low) else 0)
        return self.own_high[min(x, len(self.own_high) - 1)]

    def jensen(self, threshold: int) -> Fraction:
        """Return an upper bound of ``1 - P(Z_c + Z_1 <= threshold)^k``."""
        high = self.common.high
        sums = sum(w * self.own_above(threshold - c) for c, w in enumerate(high))
        sums += sum(w * self.own_above(threshold + c) for c, w in enumerate(high) if c)
        sums += 2 * self.common.rest << self.own.places
        return _any_of(self.k, Fraction(sums, self.common.total_low << self.own.places))

    def split(self, threshold: int) -> Fraction:
        """Return an upper bound of Lemma 20 at its best split of a threshold of 0 or more."""
        if threshold < 0:
            return Fraction(1)
        threshold = min(threshold, self.furthest)  # the tables end there
        first = self._best_split(threshold)
        beyond = sum(self.common.high[first + 1 :]) + self.common.rest
        common = Fraction(beyond, self.common.total_low)
        own = Fraction(self.own_above(threshold - first), 1 << self.own.places)
        return _any_of(self.k, own, once=common)

    def _best_split(self, threshold: int) -> int:
        """Return about the best share of the common noise; every share is valid."""
        shares = np.arange(threshold + 1)
        common = _float_tails(self.common)[np.minimum(shares, len(self.common.low) - 1)]
        own = _float_tails(self.own)[np.minimum(threshold - shares, len(self.own.low) - 1)]
        return int(np.argmax(np.log1p(-common) + self.k * np.log1p(-own)))


def _float_tails(weights: SamplerWeights) -> NDArray[np.float64]:
    """Return about ``P(Z > x)`` for x = 0, ..., M."""
    shares = np.array([w / weights.total_high for w in weights.high])
    tails: NDArray[np.float64] = np.append(np.cumsum(shares[:0:-1])[::-1], 0.0)
    return tails


def _any_of(k: int, own: Fraction, once: Fraction = Fraction(0)) -> Fraction:
    """Return ``1 - (1 - once) (1 - own)^k``, rounded up to a float."""
    if own >= 1 or once >= 1:
        return Fraction(1)
    with working_precision():
        kept: Any = arb_of(k) * (-arb_of(own)).log1p() + (-arb_of(once)).log1p()
        return min(Fraction(1), Fraction(float_above(-kept.expm1())))
