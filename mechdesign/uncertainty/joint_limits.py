"""Limits of a joint distribution: a set for the law of a secret, and one for the law of the data given each value.

Whatever the law of the secret is in its set, each law given a value may be any of its own set. Linear rows of what is
promised for all these joint distributions need no list of extreme points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign.data.joint_counts import JointCounts
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import over_common_denominator
from mechdesign.uncertainty.base import PromiseRows, UncertaintySet
from mechdesign.uncertainty.box import Box
from mechdesign.uncertainty.effort import Effort, check_limits_of_secret
from mechdesign.uncertainty.l1_ball import L1Ball
from mechdesign.uncertainty.prior_set import SupportRows

if TYPE_CHECKING:
    from scipy.sparse import csr_array

LIMITS = ("box", "l1-ball")
"""The limits that counts give: limits of Clopper and Pearson for each probability, or l1 balls."""


@dataclass(frozen=True)
class JointLimits:
    """All joint distributions of a secret and data within limits.

    Attributes
    ----------
    of_secret : UncertaintySet
        The laws of the secret, on K values.
    given : tuple of UncertaintySet
        The laws of the data given each value, all on the same N categories.

    Examples
    --------
    >>> limits = JointLimits.of_counts(JointCounts.of([[20, 10], [10, 15]]), Fraction(3, 100), "box")
    >>> limits.delta, [limit.delta for limit in limits.given]
    (Fraction(3, 100), [Fraction(1, 100), Fraction(1, 100)])
    """

    of_secret: UncertaintySet
    given: tuple[UncertaintySet, ...]

    @classmethod
    def of_counts(cls, joint: JointCounts, delta: Fraction, limits: str) -> JointLimits:
        """Return the limits that counts give, each of K + 1 sets with an equal share of delta."""
        if limits == "box":
            check_limits_of_secret(len(joint.values), len(joint.labels), len(joint.values) + 1)
        tables = [dict(zip(joint.values, joint.of_values, strict=True))]
        tables += [dict(zip(joint.labels, row, strict=True)) for row in joint.counts]
        share = delta / len(tables)
        if limits == "box":
            first, *others = (Box.from_counts(counts, share) for counts in tables)
            return cls(first, tuple(others))
        ball, *balls = (L1Ball.from_counts(counts, delta=share) for counts in tables)
        return cls(ball, tuple(balls))

    @property
    def delta(self) -> Fraction | None:
        """The sum of all deltas, at most 1; None where one set has no delta."""
        deltas = [known.delta for known in (self.of_secret, *self.given)]
        stated = [delta for delta in deltas if delta is not None]
        return min(sum(stated, Fraction(0)), Fraction(1)) if len(stated) == len(deltas) else None

    def proof_effort(self) -> Effort:
        """Return what one proof costs: the means of a column under each law, and a mean of these for each value."""
        outer, inner = self.of_secret.proof_effort(), [known.proof_effort() for known in self.given]
        digits = outer.digits + sum(effort.digits for effort in inner)
        return Effort(
            digits, 2 * sum(effort.steps for effort in inner) + len(inner) * (outer.steps + digits**2 // 1500)
        )

    # In rationals

    def means(self, column: Sequence[int]) -> tuple[list[Fraction], list[Fraction]]:
        """Return the least and the greatest mean of a column given each value of the secret."""
        return (
            [known.exact_support(column) for known in self.given],
            [known.exact_greatest_mean(column) for known in self.given],
        )

    def least_of_secret(self, means: Sequence[Fraction]) -> Fraction:
        """Return the least mean of numbers, one for each value, over the laws of the secret."""
        integers, common = over_common_denominator(means)
        return self.of_secret.exact_support(integers) / common

    def greatest_of_secret(self, means: Sequence[Fraction]) -> Fraction:
        """Return the greatest mean of numbers, one for each value, over the laws of the secret."""
        integers, common = over_common_denominator(means)
        return self.of_secret.exact_greatest_mean(integers) / common

    def exact_worst_mean(self, column: Sequence[int]) -> tuple[Fraction, tuple[Fraction, ...]]:
        """Return the least mean of a column over the laws of the data, and a law that attains it."""
        attained = [known.exact_worst_mean(column) for known in self.given]
        integers, common = over_common_denominator(mean for mean, _ in attained)
        value, weights = self.of_secret.exact_worst_mean(integers)
        return value / common, _mixture(weights, [law for _, law in attained])

    def worst_at(self, column: Sequence[int], place: int) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
        """Return the law given a value and that of the data where the value's factor is greatest for a column."""
        negated = _negated(column)
        laws = [known.exact_worst_mean(negated if t == place else column)[1] for t, known in enumerate(self.given)]
        means, _ = over_common_denominator(sum(map(mul, law, column), Fraction(0)) for law in laws)
        return laws[place], _mixture(self.of_secret.exact_worst_mean(means)[1], laws)

    def best_at(self, column: Sequence[int], place: int) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
        """Return the law given a value and that of the data where the value's factor is least for a column."""
        negated = _negated(column)
        laws = [known.exact_worst_mean(column if t == place else negated)[1] for t, known in enumerate(self.given)]
        means, _ = over_common_denominator(sum(map(mul, law, column), Fraction(0)) for law in laws)
        return laws[place], _mixture(self.of_secret.exact_worst_mean(_negated(means))[1], laws)

    # In floats

    def support(self, columns: Floats) -> Floats:
        """Return the least mean of each column of an (N, M) matrix over the laws of the data, shape (M,)."""
        return self.of_secret.support(np.array([known.support(columns) for known in self.given]))

    def excess(self, columns: Floats, exp_epsilon: float) -> Floats:
        """Return ``H_s - e h_{B_S}(u)`` of each column for the worst value s, shape (M,)."""
        top = columns.max(axis=0)
        least = np.array([known.support(columns) for known in self.given])
        missed = []
        for place, known in enumerate(self.given):
            greatest = top - known.support(top - columns)
            mixed = least.copy()
            mixed[place] = greatest
            missed.append(greatest - exp_epsilon * self.of_secret.support(mixed))
        worst: Floats = np.max(missed, axis=0)
        return worst

    def lack(self, columns: Floats, least_lift: float) -> Floats:
        """Return ``a H_{B_S}(u) - h_s`` of each column for the worst value s, u being least at s alone, shape (M,)."""
        top = columns.max(axis=0)
        greatest = np.array([top - known.support(top - columns) for known in self.given])
        missed = []
        for place, known in enumerate(self.given):
            least = known.support(columns)
            mixed = greatest.copy()
            mixed[place] = least
            missed.append(least_lift * (top - self.of_secret.support(top - mixed)) - least)
        worst: Floats = np.max(missed, axis=0)
        return worst

    # As linear rows

    def support_rows(self) -> SupportRows:
        """Return the least mean of a column as rows: those of the secret over those of each law, which share v."""
        outer, inner = self.of_secret.support_rows(), [known.support_rows() for known in self.given]
        rows = _Stack(self.given[0].size, [outer, *inner])
        rows.add(
            None, {0: outer.auxiliary, **{t + 1: _first(outer.columns, t, block) for t, block in enumerate(inner)}}
        )
        for t, block in enumerate(inner):
            rows.add(block.columns, {t + 1: block.auxiliary})
        return SupportRows(*rows.stacked())

    def promise_rows(self, exp_epsilon: float, least_lift: float) -> PromiseRows:
        """Return the columns that keep a promise for every joint distribution as linear rows.

        Auxiliary variables stand for ``w_t <= h_t(v)``, for ``z_t <= h_t(-v)``, so that ``-z_t >= H_t(v)``, and for
        ``W_s <= h_{B_S}(u)`` with ``u_s = -z_s`` and ``u_t = w_t``. The promise is ``e W_s >= -z_s`` for every s. A
        greater number in the place of H_s does not help: ``e h_{B_S}(u) - u_s`` is concave in u_s and not negative at
        0, so that where it is not negative it is not at any lower number either.

        A promise from below, a > 0, is ``w_s >= -a V_s`` with ``V_s <= h_{B_S}(u)``, ``u_s = -w_s`` and ``u_t = z_t``.
        """
        outer, inner = self.of_secret.support_rows(), [known.support_rows() for known in self.given]
        K = len(inner)
        sides = 2 if least_lift > 0 else 1
        rows = _Stack(self.given[0].size, [*inner, *inner, *([outer] * K * sides)])
        for t, block in enumerate(inner):
            rows.add(block.columns, {t: block.auxiliary})
            rows.add(-block.columns, {K + t: block.auxiliary})
        one = np.ones((1, 1))
        # The places of w and z are 0 and K. From below they change places.
        for side, (of_others, of_own, level) in enumerate([(0, K, exp_epsilon), (K, 0, least_lift)][:sides]):
            for s in range(K):
                own = (2 + side) * K + s
                means = {of_others + t: _first(outer.columns, t, block) for t, block in enumerate(inner) if t != s}
                means[of_own + s] = -_first(outer.columns, s, inner[s])
                rows.add(None, means | {own: outer.auxiliary})
                rows.add(None, {own: level * _first(one, 0, outer), of_own + s: _first(one, 0, inner[s])})
        return PromiseRows(*rows.stacked())


def _negated(column: Sequence[int]) -> list[int]:
    """Return ``max v - v``: its least mean is at the law where that of v is greatest."""
    top = max(column)
    return [top - entry for entry in column]


def _mixture(weights: Sequence[Fraction], laws: Sequence[Sequence[Fraction]]) -> tuple[Fraction, ...]:
    return tuple(sum(map(mul, weights, symbol), Fraction(0)) for symbol in zip(*laws, strict=True))


class _Stack:
    """Rows over a column of N entries and several blocks of auxiliary variables."""

    def __init__(self, size: int, blocks: Sequence[SupportRows]) -> None:
        self._size, self._widths = size, [block.auxiliary.shape[1] for block in blocks]
        self._rows: list[list[Any]] = []

    def add(self, columns: Any, auxiliary: Mapping[int, Any]) -> None:
        """Add rows: coefficients of the column, or None for zeros, and of some blocks of auxiliary variables."""
        from scipy.sparse import csr_array

        height = next(iter(auxiliary.values())).shape[0]
        first = csr_array((height, self._size)) if columns is None else columns
        others = [auxiliary.get(place, csr_array((height, width))) for place, width in enumerate(self._widths)]
        self._rows.append([first, *others])

    def stacked(self) -> tuple[csr_array, csr_array]:
        """Return all coefficients of the column, and all of the auxiliary variables."""
        from scipy.sparse import block_array, csr_array

        return (
            csr_array(block_array([[row[0]] for row in self._rows])),
            csr_array(block_array([row[1:] for row in self._rows])),
        )


def _first(columns: Any, place: int, block: SupportRows) -> Any:
    """Return coefficients of a block's auxiliary variables: those of a column for the first of them."""
    from scipy.sparse import coo_array, csr_array

    coefficients = csr_array(columns)[:, [place]]
    picked = coo_array(([1.0], ([0], [0])), shape=(1, block.auxiliary.shape[1]))
    return coefficients @ picked.tocsr()
