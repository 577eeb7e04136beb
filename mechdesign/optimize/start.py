"""The start of column generation for a ball: columns of a good mechanism, and multipliers of a good bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.balanced_sets import balanced_sets
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.uncertainty.ball import Ball
from mechdesign.utility import FInformation

_ORDERS = 16
_FEW_ORDERS, _LARGE = 2, 256  # for more symbols a larger first program costs more than it saves
_LENGTHS = np.linspace(0.02, 1.0, 99)


@dataclass(frozen=True)
class _Family:
    """Columns of kind A or D of the extreme rays, by the mass of the set that has the greater value; not scaled.

    Attributes
    ----------
    cone : L1Cone
        The cone of the ball.
    is_d : bool
        Which of the two kinds.
    """

    cone: L1Cone[float]
    is_d: bool

    @property
    def most(self) -> float:
        """The greatest mass."""
        return min(self.cone.heaviest_cd if self.is_d else self.cone.heaviest_ab, 1.0)

    @property
    def top(self) -> float:
        """The greater value."""
        return self.cone.e if self.is_d else self.cone.c

    def off(self, mass: Floats) -> Floats:
        """Return the smaller value where the greater one is `top`."""
        if self.is_d:
            return np.ones_like(mass)
        result: Floats = np.maximum(self.cone.off_a(mass, 1 - mass), 0.0)
        return result

    def gain(self, mass: Floats, utility: FInformation) -> Floats:
        """Return mu of the scaled column."""
        off = self.off(mass)
        scale = mass * self.top + (1 - mass) * off
        f = utility.f
        result: Floats = mass * f(self.top / scale) + (1 - mass) * f(off / scale)
        return result

    def best(self, utility: FInformation) -> tuple[float, float]:
        """Return the greatest mu of a scaled column, and the mass that has it."""
        lengths = _LENGTHS * self.most
        gains = self.gain(lengths, utility)
        best = int(np.argmax(gains))
        return float(gains[best]), float(lengths[best])

    def columns(self, shares: Floats, mass: float) -> Floats:
        """Return the columns of shares with a mass, not scaled."""
        off = self.off(np.array([mass]))[0]
        result: Floats = off + (self.top - off) * shares
        return result


def _families(ball: Ball, exp_epsilon: float) -> list[_Family]:
    """Return the families of kinds A and D, as far as the cone has them."""
    cone = L1Cone.of(ball, exp_epsilon)
    families = [] if cone.only_d else [_Family(cone, is_d=False)]
    return [*families, _Family(cone, is_d=True)] if cone.has_cd else families


def best_mass(ball: Ball, exp_epsilon: float, utility: FInformation) -> float:
    """Return the mass of the set whose two-valued column has the greatest utility.

    Examples
    --------
    >>> from mechdesign import L1Ball, MutualInformation
    >>> best_mass(L1Ball([0.5, 0.5]), 4.0, MutualInformation())
    0.25
    """
    return max(family.best(utility) for family in _families(ball, exp_epsilon))[1]


def start_columns(ball: Ball, exp_epsilon: float, utility: FInformation) -> Floats:
    """Return columns of the cone, shape (N, k), ``<P, v> = 1``; a weighted sum of some of them is (1,...,1).

    They are the constant column, and for each two-valued kind of rays the columns of balanced sets of the mass that has
    the greatest utility.

    Examples
    --------
    >>> from mechdesign import L1Ball, MutualInformation
    >>> columns = start_columns(L1Ball([0.5, 0.5]), 2.0, MutualInformation())
    >>> np.unique(columns.round(12), axis=1)
    array([[0., 1., 2.],
           [2., 1., 0.]])
    """
    P = ball.prior
    present = np.flatnonzero(P > 0)
    columns = [np.ones((P.size, 1))]
    for family in _families(ball, exp_epsilon):
        _, length = family.best(utility)
        light = present[P[present] <= length]
        heavy = np.setdiff1d(present, light)
        columns += [family.columns(shares, length) for shares in _shares(P, present, length)]
        if heavy.size and P[heavy].max() <= family.most and P[light].sum() >= length:
            # A heavy symbol may also be a whole set by itself.
            columns += [family.columns(shares, length) for shares in _shares(P, light, length)]
            columns += [family.columns(np.eye(P.size)[:, [i]], float(P[i])) for i in heavy]
    held = np.hstack(columns)
    result: Floats = held / (P @ held)
    # Symbols without mass may take any value between the two; with 1 in all columns their rows sum to 1.
    result[P <= 0] = 1.0
    return result


def _shares(prior: Floats, symbols: NDArray[np.int64], length: float) -> Iterator[Floats]:
    """Yield shares of balanced sets among some symbols, in several orders; 0 elsewhere."""
    for rank in _ranks(prior[symbols]):
        held = balanced_sets(prior[symbols], length, rank)
        shares = np.zeros((prior.size, held.shape[1]))
        shares[symbols] = held
        yield shares


def _ranks(prior: Floats) -> list[NDArray[np.int64]]:
    """Return orders of the symbols: heavy ones first, and the same in several strides."""
    falling = np.argsort(-prior, kind="stable")
    ranks = []
    for step in range(1, (_ORDERS if prior.size <= _LARGE else _FEW_ORDERS) + 1):
        rank = np.empty(prior.size, dtype=np.int64)
        rank[np.concatenate([falling[k::step] for k in range(step)])] = np.arange(prior.size)
        ranks.append(rank)
    return ranks


def center_multipliers(ball: Ball, exp_epsilon: float, utility: FInformation) -> list[Floats]:
    """Return multipliers that may give good first bounds.

    Zeros give the greatest utility of any column. The other multipliers are the slopes of chords: where the values
    of columns at symbol i lie between 0 and u_i, a convex f is below its chord, so that ``sum_i P_i f(v_i)`` is at
    most a linear function of v with the slopes ``P_i (f(u_i) - f(0)) / u_i``.
    """
    P = ball.prior
    cone = L1Cone.of(ball, exp_epsilon)
    greatest = np.minimum(cone.c, 1 / np.maximum(P, cone.heaviest_ab))
    rise = np.asarray(utility.f(greatest), dtype=float) - np.asarray(utility.f(np.zeros(1)), dtype=float)
    return [np.zeros(P.size), P * rise / greatest]
