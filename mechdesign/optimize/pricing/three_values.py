"""Kind C of the extreme rays, priced through masses.

With T the support of the column and S the part of it that has the greatest value, a = P(S) and b = P(T), the
column is ``1_T + (g - 1) 1_S``, ``g = alpha e (b - t)``. For every pair (a, b) the cost of its symbols is at least the
least lambda(T) plus g - 1 times the least lambda(S), and at least the least lambda(T without S) plus g times
the least lambda(S). The greater of these bounds holds. Where its sets do not fit together, the columns are divided into
cases (see `three_value_cases`). With a cap the image of the column is meant, which adds g times the cone's least to the
column times 1 minus it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats, as_bound
from mechdesign.numerics.cheapest_sets import CheapestSets
from mechdesign.optimize.l1_cone import greatest_between
from mechdesign.optimize.pricing.two_valued import EPS, CountedCone, sizes_of_sets
from mechdesign.utility import FInformation

_FINER = 8
_MOST_BLOCKS = 4096
_DIVE = 8
_PART = 2_048

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Peak:
    """Where the bound is greatest.

    Attributes
    ----------
    upper : float
        The bound.
    inner, outer : int
        Weights of S and T; -1 where none was found above the floor.
    attained : bool
        Whether the bound is that of these weights, and not that of blocks left unsplit because there were too many.
    """

    upper: float
    inner: int
    outer: int
    attained: bool = True


@dataclass(frozen=True)
class _Blocks:
    """Squares of weights of S and T: from ``a * width`` and ``b * width`` on, each a width wide."""

    a: Indices
    b: Indices
    width: int

    def only(self, which: NDArray[Any] | slice) -> _Blocks:
        return _Blocks(self.a[which], self.b[which], self.width)

    def finer(self, a_size: int, b_size: int) -> _Blocks:
        """Return the blocks within these that are narrower by a step."""
        width, steps = self.width // _FINER, np.arange(_FINER)
        a, b = np.broadcast_arrays(
            self.a[:, None, None] * _FINER + steps[:, None], self.b[:, None, None] * _FINER + steps
        )
        finer = _Blocks(a.ravel(), b.ravel(), width)
        return finer.only((finer.a * width < a_size) & (finer.b * width < b_size))


@dataclass(frozen=True)
class AllowedSets:
    """Tables of the sets that a case allows.

    Attributes
    ----------
    inner, outer, rest : CheapestSets
        For S, T and T without S: the least sum of multipliers for every weight.
    """

    inner: CheapestSets
    outer: CheapestSets
    rest: CheapestSets


@dataclass(frozen=True)
class ThreeValues:
    """Bounds of reduced costs for all weights of S and T at once.

    Attributes
    ----------
    cone : CountedCone
        With ``0 < t < 1``.
    utility : FInformation
        Its mu is priced.
    """

    cone: CountedCone
    utility: FInformation

    @property
    def heaviest_inner(self) -> int:
        """The greatest weight of S."""
        return self.cone.weight_up_to(self.cone.heaviest_cd)

    @property
    def lightest_outer(self) -> int:
        """The least weight of T, which has some mass."""
        return max(self.cone.weight_from(self.cone.lightest_support_c), 1)

    def column(self, inner: Sequence[int], outer: Sequence[int], mass: Floats) -> Floats:
        """Return the column of two sets, S within T, with ``<P, v> = 1``, shape (N,)."""
        v, g = np.zeros(mass.size), self.cone.top_c(mass[list(outer)].sum())
        v[list(outer)] = 1.0
        v[list(inner)] = g
        image = (1 - self.cone.least) * v + self.cone.least * g
        result: Floats = image / (mass @ image)
        return result

    def peak(self, sets: AllowedSets, multipliers: Floats, floor: float, *, most_blocks: int = 100_000) -> Peak | None:
        """Return the greatest bound over all weights, or None where it is not above a floor.

        Blocks of weights are bounded together and split while their bound is above the floor.

        Parameters
        ----------
        sets : AllowedSets
            The tables of one case.
        multipliers : array, shape (N,)
            lambda.
        floor : float
            Bounds at or below it are not looked for.
        most_blocks : int
            If more would have to be split, as on the plateaus that some utilities have, their bound is returned.
        """
        costs = _Costs(
            sets.inner.best[: self.heaviest_inner + 1],
            sets.outer.best[self.lightest_outer : self.cone.total + 1],
            sets.rest.best,
            self.lightest_outer,
        )
        rows, across = costs.inner.size, costs.outer.size
        if rows == 0 or across == 0:
            return None
        width = 1
        while -(-rows // width) * -(-across // width) > _MOST_BLOCKS:
            width *= _FINER
        grid = np.meshgrid(np.arange(-(-rows // width)), np.arange(-(-across // width)))
        blocks = _Blocks(grid[0].ravel(), grid[1].ravel(), width)
        bound = partial(self._bounds, costs=costs, multipliers=multipliers)
        bounds = bound(blocks)
        found: Peak | None = None
        while blocks.a.size:
            # Splitting only the best blocks first finds a peak that is above the bound of most other blocks.
            dived = blocks.only(_greatest_few(bounds))
            while dived.width > 1:
                dived = dived.finer(rows, across)
                dived = dived.only(_greatest_few(bound(dived)))
            heights = bound(dived)
            k = int(np.argmax(heights))
            if heights[k] > floor:
                floor = float(heights[k])
                found = Peak(floor, int(dived.a[k]), int(dived.b[k]) + self.lightest_outer)
            if blocks.width == 1:
                break
            kept = bounds > floor
            if int(kept.sum()) > most_blocks:
                return replace(found or Peak(0.0, -1, -1), upper=float(bounds.max()), attained=False)
            blocks, bounds = _split(blocks.only(kept), bound, floor, rows, across)
        return found

    def _bounds(self, blocks: _Blocks, costs: _Costs, multipliers: Floats) -> Floats:
        """Return upper bounds of the reduced costs over blocks of weights, shape (k,)."""
        a, b, width = blocks.a, blocks.b, blocks.width
        total, t, slope = self.cone.total, self.cone.t, self.cone.slope
        a_low, a_high = a * width / total, np.minimum((a + 1) * width - 1, costs.inner.size - 1) / total
        first = self.lightest_outer
        b_low, b_high = (first + b * width) / total, (first + np.minimum((b + 1) * width, costs.outer.size) - 1) / total
        g_low, g_high = np.maximum(self.cone.top_c(b_low), 1.0), np.maximum(self.cone.top_c(b_high), 1.0)
        least, whole = self.cone.least, float(multipliers.sum())
        q_low = (1 - least) * (b_low + (g_low - 1) * a_low) + least * g_low
        q_high = (1 - least) * (b_high + (g_high - 1) * a_high) + least * g_high
        in_low, in_high = 1 - least + least * g_low, 1 - least + least * g_high
        # The relative error of g is greater where b and t nearly cancel.
        relative = 8 * EPS * (2 + (b_low + t) / np.maximum(b_low - t, 1 / slope))
        f_on = greatest_between(self.utility, g_low / q_high * (1 - 2 * relative), g_high / q_low * (1 + 2 * relative))
        f_in = greatest_between(self.utility, in_low / q_high * (1 - relative), in_high / q_low * (1 + relative))
        f_out = greatest_between(
            self.utility, least * g_low / q_high * (1 - relative), least * g_high / q_low * (1 + relative)
        )
        inside = np.maximum(b_low * (f_in - f_out), b_high * (f_in - f_out))
        on = np.maximum(a_low * (f_on - f_in), a_high * (f_on - f_in))
        rounding = 64 * EPS * (np.abs(f_on) + np.abs(f_in) + np.abs(f_out))
        cost = costs.least(blocks, g_low, g_high)
        missing = cost == np.inf
        cost = (1 - least) * np.where(missing, 0.0, cost) + np.minimum(least * g_low * whole, least * g_high * whole)
        cost = np.minimum(cost / q_low, cost / q_high)
        of_sums = (multipliers.size + 16) * EPS + 2 * relative
        slack = of_sums * sizes_of_sets(costs.least_inner(blocks), multipliers) * g_high / q_low
        slack += of_sums * float(np.abs(multipliers).sum()) * in_high / q_low
        return np.where(missing, -np.inf, as_bound(f_out + inside + on + rounding - cost + slack))


def _split(
    blocks: _Blocks, bound: Callable[[_Blocks], Floats], floor: float, rows: int, across: int
) -> tuple[_Blocks, Floats]:
    """Return the blocks within given ones whose bound is above a floor, and their bounds; in parts, for memory."""
    finer, bounds = [blocks.only(slice(0)).finer(rows, across)], [np.empty(0)]
    for start in range(0, blocks.a.size, _PART):
        part = blocks.only(slice(start, start + _PART)).finer(rows, across)
        of_part = bound(part)
        above = of_part > floor
        finer.append(part.only(above))
        bounds.append(of_part[above])
    a, b = (np.concatenate([getattr(part, name) for part in finer]) for name in "ab")
    return _Blocks(a, b, finer[0].width), np.concatenate(bounds)


def _greatest_few(bounds: Floats) -> Indices:
    """Return the indices of the greatest of some bounds."""
    if bounds.size <= _DIVE:
        return np.arange(bounds.size)
    return np.argpartition(-bounds, _DIVE - 1)[:_DIVE]


@dataclass(frozen=True)
class _Costs:
    """The least costs of S, T and T without S by weight, and of columns made of them."""

    inner: Floats
    outer: Floats
    rest: Floats
    first: int
    _minima: dict[int, tuple[Floats, Floats, Floats]] = field(default_factory=dict)

    def least(self, blocks: _Blocks, g_low: Floats, g_high: Floats) -> Floats:
        """Return lower bounds of ``lambda(T) + (g - 1) lambda(S)`` over blocks, infinite where a set is missing."""
        of_inner, of_outer, of_rest = self._of_width(blocks.width)
        inner, outer = of_inner[blocks.a], of_outer[blocks.b]
        # T without S has a weight from one of the two blocks about the difference.
        difference = blocks.b - blocks.a + of_inner.size
        rest = of_rest[difference] if blocks.width == 1 else np.minimum(of_rest[difference], of_rest[difference - 1])
        missing = np.isinf(inner) | np.isinf(outer) | np.isinf(rest)
        inner = np.where(missing, 0.0, inner)  # g may be 1, and 0 times infinity is NaN
        nested = outer + np.minimum((g_low - 1) * inner, (g_high - 1) * inner)
        disjoint = rest + np.minimum(g_low * inner, g_high * inner)
        # Both are lower bounds, so the greater is one.
        result: Floats = np.where(missing, np.inf, np.maximum(nested, disjoint))
        return result

    def least_inner(self, blocks: _Blocks) -> Floats:
        """Return the least lambda(S) over blocks."""
        result: Floats = self._of_width(blocks.width)[0][blocks.a]
        return result

    def _of_width(self, width: int) -> tuple[Floats, Floats, Floats]:
        """Return the minima of blocks of a width; the last ones start as far before the others as S is heavy."""
        if width not in self._minima:
            inner = _block_minima(self.inner, 0, self.inner.size, width)
            outer = _block_minima(self.outer, 0, self.outer.size, width)
            rest = _block_minima(self.rest, self.first - inner.size * width, self.first + self.outer.size, width)
            self._minima[width] = inner, outer, rest
        return self._minima[width]


def _block_minima(values: Floats, start: int, stop: int, width: int) -> Floats:
    """Return the least value of each block of a width from a start on; infinite outside of the array."""
    size = -(-(stop - start) // width) * width
    padded = np.full(size, np.inf)
    first, last = max(start, 0), min(start + size, values.size)
    padded[first - start : last - start] = values[first:last]
    result: Floats = padded.reshape(-1, width).min(axis=1)
    return result
