"""The outputs of a mechanism and what is made of them by merging, at one prior or over a set of priors, in integers.

An output k leaks more than epsilon if ``max k > e h(k)``, with h(k) its least mean over the set. A merged output, the
sum of w_y k_y, that does so has a *witness*, a category x and a prior c with ``sum_y w_y (k_y(x) - e <c, k_y>) > 0``.
All categories with all corners of the set are enough; for an l1 ball, where x is the largest entry of z and ``t <=
P_x``, the corners that move t away from x. Where corners are not listed, c may be another one for each output: as
``h(z) >= sum_y w_y h(k_y)``, the least means then take the place of ``<c, k_y>``.

For any mu >= 0 the probability of merged outputs that leak is at a prior Q of the set at most ``sum_y f_y(<Q, k_y>)``,
with ``f_y(q) = max(0, q + m_y)`` and ``m_y = max over witnesses of mu_xc (k_y(x) - e <c, k_y>)``. For fixed weights w
it is linear in Q, so that the greatest probability is that at a corner of the set, and each corner may have its own mu.
Where corners are too many, each f_y is bounded by its chord between the least and the greatest mean of k_y; the sum of
the chords is linear in Q.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.data.labelled import together
from mechdesign.errors import LimitError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import over_common_denominator
from mechdesign.pml.capacity import aligned_mechanism
from mechdesign.pml.pointwise import check_shapes, checked_mechanism, exact_columns
from mechdesign.uncertainty.base import UncertaintySet
from mechdesign.uncertainty.convex_hull import ConvexHull
from mechdesign.uncertainty.l1_ball import L1Ball
from mechdesign.uncertainty.listed_corners import listed_corners
from mechdesign.uncertainty.prior_set import exact_prior
from mechdesign.uncertainty.set_or_prior import is_set

_MOST_ENTRIES = 250_000  # of the mechanism: a linear program of so many variables takes minutes
_MOST_VARIABLES = 20_000  # witnesses times outputs
_SLOPE_BITS = 60  # slopes of chords are rounded up to multiples of 2^-60

Prior = tuple[Fraction, ...]
Witness = tuple[int, Prior | None]
"""A category through which reports leak, and the prior at which; None takes for each output the least mean there is."""


class _Means(Protocol):
    """The least mean of a column over some priors, in rationals, and a prior that attains it."""

    @property
    def center(self) -> Prior: ...

    @property
    def convex_hull(self) -> ConvexHull | None: ...

    @property
    def l1_ball(self) -> L1Ball | None: ...

    def exact_support(self, column: Sequence[int]) -> Fraction: ...

    def exact_worst_mean(self, column: Sequence[int]) -> tuple[Fraction, Prior]: ...


@dataclass(frozen=True)
class _OnePrior:
    """One prior, which may give some categories the probability 0."""

    center: Prior
    convex_hull: None = None
    l1_ball: None = None

    def exact_support(self, column: Sequence[int]) -> Fraction:
        weights, whole = over_common_denominator(self.center)
        return Fraction(sum(map(mul, weights, column)), whole)

    def exact_worst_mean(self, column: Sequence[int]) -> tuple[Fraction, Prior]:
        return self.exact_support(column), self.center


@dataclass(frozen=True)
class MergedOutputs:
    """The outputs of a mechanism, all over one denominator: columns, their least and their greatest means.

    The rows of the mechanism may be numerators over any number.
    """

    known: _Means
    columns: list[list[int]]
    least: list[int]
    greatest: list[int]

    @classmethod
    def of(cls, matrix: ArrayLike, priors: UncertaintySet | Sequence[object]) -> MergedOutputs:
        """Return the outputs of a mechanism of numbers, after checking it and the prior, or the set of priors."""
        known: _Means
        if is_set(priors):
            matrix, _ = aligned_mechanism(matrix, priors)
            known = priors.exact_set
        else:
            matrix, prior, _ = together(matrix, priors)
            known = _OnePrior(exact_prior(prior))
        probabilities = checked_mechanism(matrix).size
        if probabilities > _MOST_ENTRIES:
            raise LimitError.too_much_work(
                f"the mechanism has {probabilities} probabilities; the tail after post-processing is computed for at "
                f"most {_MOST_ENTRIES}; merge outputs"
            )
        columns = exact_columns(matrix)
        if isinstance(known, _OnePrior):
            check_shapes((len(columns[0][0]), len(columns)), (len(known.center),))
        common = math.lcm(*(denominator for _, denominator in columns))
        scaled = [[entry * (common // denominator) for entry in v] for v, denominator in columns]
        means = [known.exact_support(v) for v in scaled]
        tops = means if isinstance(known, _OnePrior) else [_greatest(known, v)[0] for v in scaled]
        integers, whole = over_common_denominator([*means, *tops])
        M = len(scaled)
        return cls(known, [[entry * whole for entry in v] for v in scaled], integers[:M], integers[M:])

    @property
    def size(self) -> int:
        """Number N of categories."""
        return len(self.columns[0])

    @cached_property
    def one_prior(self) -> bool:
        """Whether means are those of one prior, so that they are linear."""
        return self.least == self.greatest

    @cached_property
    def _all(self) -> list[int]:
        return [sum(v[x] for v in self.columns) for x in range(self.size)]

    @cached_property
    def total(self) -> Fraction:
        """The sum of a row: rows of decimals may differ by rounding, and this is the greatest mean of the sums."""
        return _greatest(self.known, self._all)[0]

    @cached_property
    def least_total(self) -> Fraction:
        """The least mean of the sums of the rows."""
        return self.known.exact_support(self._all)

    @cached_property
    def greatest_lift(self) -> Fraction | None:
        """The greatest lift of any output; None where a prior excludes an output that some category may cause."""
        if any(mean == 0 and any(v) for v, mean in zip(self.columns, self.least, strict=True)):
            return None
        return max(self.lifts)

    @cached_property
    def lifts(self) -> list[Fraction]:
        """The greatest lift of each category in outputs of positive probability."""
        pairs = [(v, mean) for v, mean in zip(self.columns, self.least, strict=True) if mean]
        return [max(Fraction(v[x], mean) for v, mean in pairs) for x in range(self.size)]

    @cached_property
    def likeliest_symbols(self) -> list[int]:
        """The category that is likeliest to cause each output."""
        return [v.index(max(v)) for v in self.columns]

    @cached_property
    def corners(self) -> list[Prior]:
        """Priors of the set of which all others are mixtures; none where they are not listed, or too many."""
        listed = [self.known.center] if self.one_prior else listed_corners(self.known.convex_hull, self.known.l1_ball)
        return listed if len(listed) * len(self.columns) <= _MOST_VARIABLES else []

    @cached_property
    def witnesses(self) -> list[Witness]:
        """What merged outputs that leak more than epsilon are known by: one of these at least."""
        every: list[Witness] = [(x, at) for x in range(self.size) for at in self._worst_corners(x)]
        if self.one_prior or not self.corners or len(every) * len(self.columns) > _MOST_VARIABLES:
            return [(x, None) for x in range(self.size)]
        return every

    def _worst_corners(self, x: int) -> list[Prior]:
        """Return corners, one of which is worst for each column that is greatest at a category."""
        ball = self.known.l1_ball
        if ball is None or ball.half_radius > ball.center[x]:
            return self.corners
        return [Q for Q in self.corners if ball.center[x] - Q[x] == ball.half_radius]

    def levels(self, prior: Prior | None) -> list[Fraction]:
        """Return the means of all outputs at a prior, or the least ones over the set."""
        if prior is None:
            return list(map(Fraction, self.least))
        return list(map(_OnePrior(prior).exact_support, self.columns))

    def excesses(self, witnesses: Sequence[Witness], exp_epsilon: Fraction) -> list[list[Fraction]]:
        """Return ``k_y(x) - e <c, k_y>`` for each witness, a row for each."""
        levels = {prior: [exp_epsilon * mean for mean in self.levels(prior)] for prior in {at for _, at in witnesses}}
        return [[v[x] - level for v, level in zip(self.columns, levels[prior], strict=True)] for x, prior in witnesses]

    def above(self, witnesses: Sequence[Witness], exp_epsilon: Fraction) -> list[list[int]]:
        """Return the outputs that leak more than epsilon as each witness says."""
        return [[y for y, excess in enumerate(row) if excess > 0] for row in self.excesses(witnesses, exp_epsilon)]

    def leaks(self, x: int, weights: Sequence[int], exp_epsilon: Fraction) -> bool:
        """Return whether the outputs, merged with weights, leak more than epsilon through a category."""
        if self.one_prior:
            entry: int = sum(weight * v[x] for weight, v in zip(weights, self.columns, strict=True) if weight)
            mean = Fraction(sum(map(mul, weights, self.least)))
        else:
            merged = self.merged(weights)
            entry, mean = merged[x], self.known.exact_support(merged)
        return entry > exp_epsilon * mean

    def merged(self, weights: Sequence[int]) -> list[int]:
        """Return the column of outputs that are merged with weights."""
        used = [(weight, v) for weight, v in zip(weights, self.columns, strict=True) if weight]
        return [sum(weight * v[x] for weight, v in used) for x in range(self.size)]

    def mass(self, weights: Sequence[int]) -> tuple[Fraction, Prior]:
        """Return the greatest probability of outputs with weights, and a prior that attains it."""
        mean, prior = _greatest(self.known, self.merged(weights))
        return mean / self.total, prior

    def bounds(self, mu: dict[Witness, Fraction], exp_epsilon: Fraction) -> list[Fraction]:
        """Return what mu proves of the probability that merged outputs leak more than epsilon by these witnesses.

        It is a bound for each corner of the set, or one for all priors where corners are not listed.
        """
        rows = [
            [factor * excess for excess in row]
            for factor, row in zip(mu.values(), self.excesses(list(mu), exp_epsilon), strict=True)
        ]
        greatest = list(map(max, zip(*rows, strict=True)))
        if not self.corners:
            return [self._chords(greatest) / self.least_total]
        sums = [
            sum((max(Fraction(0), mean + m) for mean, m in zip(self.levels(Q), greatest, strict=True)), Fraction(0))
            for Q in self.corners
        ]
        return [found / self.least_total for found in sums]

    def _chords(self, greatest: Sequence[Fraction]) -> Fraction:
        """Return a bound on ``sum_y max(0, <Q, k_y> + m_y)`` for all priors of the set, from the numbers m."""
        slopes, fixed = [], Fraction(0)
        for m, low, high in zip(greatest, self.least, self.greatest, strict=True):
            if m + low >= 0:
                slopes.append(1 << _SLOPE_BITS)
                fixed += m
            elif m + high <= 0:
                slopes.append(0)
            else:
                # The chord from (low, 0) to the value at high, or one that is a little steeper.
                slope = math.ceil((m + high) / (high - low) * 2**_SLOPE_BITS)
                slopes.append(slope)
                fixed -= Fraction(slope * low, 1 << _SLOPE_BITS)
        linear: Fraction = _greatest(self.known, self.merged(slopes))[0] / 2**_SLOPE_BITS
        return fixed + linear

    def worst_prior(self, weights: Sequence[int]) -> Prior:
        """Return a prior at which merged outputs leak most."""
        return self.known.exact_worst_mean(self.merged(weights))[1]

    def program(self, witnesses: Sequence[Witness], exp_epsilon: float, prior: Prior) -> tuple[Floats, Floats, Floats]:
        """Return the gains, shape (M,), the excesses, shape (witnesses, M), and the limits of the linear program.

        Its variables are the weights of outputs times the limits, which are their probabilities.
        """
        total = self.total
        limits = np.array([float(top / total) if top else 1.0 for top in self.greatest])
        scales = [Fraction(top or total) for top in self.greatest]

        def scaled(means: Sequence[Fraction | int]) -> Floats:
            return np.array([float(mean / scale) for mean, scale in zip(means, scales, strict=True)])

        likely = {at: scaled(self.levels(at)) for at in {at for _, at in witnesses}}
        lifts = {x: scaled([v[x] for v in self.columns]) for x in {x for x, _ in witnesses}}
        excess = np.array([lifts[x] - exp_epsilon * likely[at] for x, at in witnesses])
        return scaled(self.levels(prior)), excess, limits


def _greatest(known: _Means, column: Sequence[int]) -> tuple[Fraction, Prior]:
    """Return the greatest mean of a column, and a prior that attains it."""
    most = max(column)
    lacking, prior = known.exact_worst_mean([most - entry for entry in column])
    return most - lacking, prior
