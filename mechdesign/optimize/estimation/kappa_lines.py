"""The multiplier of a mass that lowers a bound most, for many cases at once.

Symbols are put into a set S, a set S', or outside, with a gain for each. S has a mass from an interval, and so have S
and S' together. The greatest sum of gains is at most its Lagrangian bound with a multiplier kappa of the mass of S'. If
S may hold one symbol in part, this bound is the greatest of some lines in kappa: they fall where S' is too heavy, and
rise where it is too light. So the least bound is between two kappas that come closer, near where their lines meet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats

_LINES = 12
_INWARD = 0.02  # how near the ends of an interval kappas are tried, relative to its width

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class KappaLines:
    """The lines of some cases.

    Attributes
    ----------
    P : array, shape (N,)
        The masses of symbols.
    of_high, of_mid : array, shape (K, N)
        The gains of symbols in S and in S'.
    may_high, may_mid, must : array of bool, shape (K, N)
        Which may be in S, which in S', and which have to be in one of them.
    light, heavy : array, shape (K,)
        The least and the greatest mass of S.
    low, high : array, shape (K,)
        The least and the greatest mass of S and S' together.

    Examples
    --------
    Of two symbols that may be in S', it holds one: kappa is between their gains for each mass.

    >>> each, none, half = np.ones((1, 2), dtype=bool), np.zeros(1), np.full(1, 0.5)
    >>> gains = np.array([[0.0, 0.0]]), np.array([[0.25, 0.75]])
    >>> lines = KappaLines(np.array([0.5, 0.5]), *gains, ~each, each, ~each, none, none, half, half)
    >>> bool(0.5 <= round(float(lines.best().kappa[0]), 9) <= 1.5)
    True
    """

    P: Floats
    of_high: Floats
    of_mid: Floats
    may_high: Flags
    may_mid: Flags
    must: Flags
    light: Floats
    heavy: Floats
    low: Floats
    high: Floats

    def best(self) -> BestKappa:
        """Return a kappa of about the least bound for each case."""
        P = np.where(self.P > 0, self.P, 1.0)
        ratios = np.where(self.P > 0, (np.abs(self.of_high) + np.abs(self.of_mid)) / P, 0.0)
        right = self._at(2 * ratios.max(axis=1))
        left = self._at(-right.kappa)
        lack = np.where(left.slope >= 0, -left.slope, np.where(right.slope <= 0, -right.slope, np.nan))
        last = right.where(left.slope < 0, left)
        for _ in range(_LINES):
            last = self._at(left.meets(right)).where(np.isnan(lack), last)
            left, right = last.where(last.slope < 0, left), right.where(last.slope < 0, last)
        moved = np.where(self.may_mid & ~self.must, self.P * np.abs(left.inside - right.inside), 0.0)
        cut = np.where(np.isnan(lack) & (moved.max(axis=1) > 0), np.argmax(moved, axis=1), -1)
        return BestKappa(last.kappa, lack, cut, last.in_high, last.inside)

    def _at(self, kappa: Floats) -> _Line:
        """Return the line that is greatest at a kappa, for each case."""
        P = self.P
        priced = self.of_mid - kappa[:, None] * P
        within = self.may_mid & (self.must | (priced > 0))
        other = np.where(within, priced, 0.0)
        masses = np.where(self.may_high, P, 0.0)
        ratio = np.where(masses > 0, (self.of_high - other) / np.where(P > 0, P, 1.0), -np.inf)
        # A greater mass of S leaves less for S'.
        a = np.clip(np.where(ratio > kappa[:, None], masses, 0.0).sum(axis=1), self.light, self.heavy)
        b = np.where(kappa < 0, self.low, self.high)
        in_high = _shares(ratio, masses, a)
        in_mid = (1 - in_high) * within
        height = (in_high * self.of_high + (1 - in_high) * other).sum(axis=1) + kappa * (b - a)
        return _Line(kappa, height, b - a - in_mid @ P, in_high, in_high + in_mid)


@dataclass(frozen=True, eq=False)
class BestKappa:
    """What the search for kappas ends with.

    Attributes
    ----------
    kappa : array, shape (K,)
        The multipliers.
    lack : array, shape (K,)
        Where no S' has the mass: by how much the lightest is too heavy, or, below 0, the heaviest too light. nan
        elsewhere.
    cut : array of int, shape (K,)
        The symbol that kappa would put into S and S' in part; -1 if there is none.
    in_high, inside : array, shape (K, N)
        The shares of symbols in S, and in S or S'.
    """

    kappa: Floats
    lack: Floats
    cut: NDArray[np.int64]
    in_high: Floats
    inside: Floats


@dataclass(frozen=True, eq=False)
class _Line:
    """The greatest line of each case at one kappa, with its sets."""

    kappa: Floats
    height: Floats
    slope: Floats
    in_high: Floats
    inside: Floats

    def where(self, which: Flags, other: _Line) -> _Line:
        """Return these lines for some cases, and others for the rest."""
        pairs = ((getattr(self, name), getattr(other, name)) for name in self.__dataclass_fields__)
        return _Line(*(np.where(which if one.ndim == 1 else which[:, None], one, two) for one, two in pairs))

    def meets(self, right: _Line) -> Floats:
        """Return about where lines meet those of greater kappas."""
        steeper, width = right.slope - self.slope, right.kappa - self.kappa
        ahead = (self.height - right.height + right.slope * width) / np.where(steeper > 0, steeper, 1.0)
        result: Floats = self.kappa + np.clip(ahead, _INWARD * width, (1 - _INWARD) * width)
        return result


def _shares(ratio: Floats, mass: Floats, wanted: Floats) -> Floats:
    """Return the shares of symbols that are taken in decreasing order of a ratio until they have a mass."""
    order = np.argsort(-ratio, axis=1)
    sorted_mass = np.take_along_axis(mass, order, axis=1)
    before = np.cumsum(sorted_mass, axis=1) - sorted_mass
    share = np.clip((wanted[:, None] - before) / np.where(sorted_mass > 0, sorted_mass, 1.0), 0.0, 1.0)
    share = np.where(sorted_mass > 0, share, 0.0)
    result = np.zeros_like(share)
    np.put_along_axis(result, order, share, axis=1)
    return result
