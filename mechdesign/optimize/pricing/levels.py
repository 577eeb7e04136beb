"""The level that a dual solution of a gain proves: what Lemma 5 of docs/mathematics.md says, rounded up.

A charge m for the greatest entry of a column, the multiplier of a promise of maximal leakage, is room beside y / e.
"""

from __future__ import annotations

import numpy as np

from mechdesign.numerics.arrays import Floats

_EPS = float(np.finfo(float).eps)
_MEMBER = 2e-15  # more than how far `member_near` is from a member
_LEAST = 1e-300  # more than what underflows


def level_of(a: Floats, P: Floats, Q: Floats, y: float, exp_epsilon: float, charge: float = 0.0) -> float:
    """Return the least r with ``sum_i max(0, a_i + y Q_i - r P_i) <= y / e + m``, rounded up, or infinity.

    The left side falls in r, piecewise linearly, with breaks at ``(a_i + y Q_i) / P_i``.
    """
    left = _room(a, P, Q, y, exp_epsilon, charge)
    if left < 0:
        return np.inf
    free = P > 0
    b = a + y * Q
    rounding = _rounding(a, y + charge)
    breaks = b[free] / P[free]
    order = np.argsort(-breaks)
    # With the k highest breaks active the level is (heights_k - left) / masses_k.
    levels = (np.cumsum(b[free][order]) - left) / np.cumsum(P[free][order])
    following = np.append(breaks[order][1:], -np.inf)
    level = float(levels[int(np.argmax(levels >= following))])
    return level + rounding + (a.size + 64) * _EPS * abs(level)


def level_above_all(a: Floats, P: Floats, Q: Floats, y: float, exp_epsilon: float, charge: float = 0.0) -> float:
    """Return an r at which no symbol with mass has a term, rounded up; infinite if the others leave no room.

    Here each rounding error is charged to its own symbol. In `level_of` all are charged to the room ``y / e``, where e
    multiplies them: with a symbol that was never seen and epsilon = 25 a bound was off by 1e-3.
    """
    y = max(y, 16 * a.size * exp_epsilon * _LEAST)
    # a has a relative error of 13 units, entry by entry, and Q is within 1e-15 of a member.
    above = a + y * Q + 32 * _EPS * (np.abs(a) + y * Q) + _MEMBER * y + _LEAST
    massless = P <= 0
    taken = float(np.maximum(above[massless], 0.0).sum()) * (1 + (a.size + 8) * _EPS)
    if not taken <= (y / exp_epsilon + charge) * (1 - 4 * _EPS):
        return np.inf
    level = float((above[~massless] / P[~massless]).max())
    return level + 16 * _EPS * abs(level)


def affordable(
    a: Floats, P: Floats, Q: Floats, y: float, exp_epsilon: float, charge: float = 0.0
) -> tuple[float, Floats]:
    """Return y and Q that leave room beside the symbols without mass, whose terms do not depend on r.

    The y and Q of a solver may fail to do so by its tolerance. Any y, and any mixture of Q with P, proves a bound.
    Weight added to y on P alone adds room, and does not change the terms of symbols without mass.
    """
    left = _room(a, P, Q, y, exp_epsilon, charge)
    if left >= 0:
        return y, Q
    # The missing room may be less than the distance of floats, so increasing amounts are tried.
    for times in (2, 64, 4096):
        added = -times * exp_epsilon * left
        more, mixed = y + added, (y * Q + added * P) / (y + added)
        if _room(a, P, mixed, more, exp_epsilon, charge) >= 0:
            break
    return more, mixed


def _rounding(a: Floats, y: float) -> float:
    return 8 * (a.size + 8) * _EPS * float(np.abs(a).sum() + y)


def _room(a: Floats, P: Floats, Q: Floats, y: float, exp_epsilon: float, charge: float = 0.0) -> float:
    """Return y / e and the charge, minus the terms of symbols without mass and minus rounding."""
    massless = P <= 0
    taken = float(np.maximum((a + y * Q)[massless], 0.0).sum())
    return y / exp_epsilon + charge - taken - _rounding(a, y + charge)
