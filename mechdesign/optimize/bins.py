"""Bins of symbols that get the same row of a mechanism.

For columns that are constant on bins, the cone of a ball and every f-information are those of the ball of the same line
(alpha and gamma, or the radius) around the merged counts. So the rows of a design for the bins, copied to their
symbols, are a mechanism with the same guarantee and the same utility. See docs/mathematics.md.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.orbits import Orbits
from mechdesign.uncertainty.ball import Ball

_HEAVY = 0.7  # of a bin's mass: a symbol of more is a bin by itself
_RUNGS = 10  # small bins of falling mass, so that sums of bins come close to any mass
_LIGHTEST = 30  # symbols that stay single where the tolerance is small: the last digits are theirs
_MOST_EQUAL = 8  # parts: beyond, bins of equal mass are too many
_EQUAL = 18  # equal bins at the first level, for each of its parts


def merged_ball(ball: Ball, bins: Orbits) -> Ball:
    """Return the ball of the same line around the merged probabilities.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> merged_ball(L1Ball(["0.5", "0.3", "0.2"], "0.1"), Orbits(((0,), (1, 2)))).center
    (Fraction(1, 2), Fraction(1, 2))
    """
    center = [sum((ball.center[symbol] for symbol in group), Fraction(0)) for group in bins.groups]
    return ball.around(center)


Sort = Callable[[Floats, float, int], Floats | None]


def binned(ball: Ball, mass: float, parts: int, sort: Sort, *, fine: bool) -> Orbits | None:
    """Return bins of a sort; None where that sort has none, or not fewer than symbols.

    Parameters
    ----------
    ball : Ball
        The symbols and their probabilities. Symbols of probability 0 have a bin to themselves.
    mass : float
        The mass of the sets of the best columns.
    parts : int
        More parts make more bins.
    sort : callable
        One of `SORTS`.
    fine : bool
        Whether the lightest symbols stay single.
    """
    P = ball.prior
    targets = sort(P, mass, parts)
    if targets is None:
        return None
    held = _filled(P, targets)
    if fine:
        held = _without_lightest(P, held)
    return Orbits.tied(held, P) if 1 < len(held) < P.size else None


def dividing(prior: Floats, mass: float, parts: int) -> Floats:
    """Return masses of bins that divide a mass: heavy symbols by themselves, equal parts of it, and falling rungs."""
    part = min(mass, 1 - mass) / parts
    if not part > 0:
        return prior
    heavy = prior[prior >= _HEAVY * part]
    left = float(prior.sum() - heavy.sum())
    equal = max(int(left / part - 1), 0)
    rungs = max(left - equal * part, 0.0) * 0.5 ** np.append(np.arange(1, _RUNGS), _RUNGS - 1)
    return np.concatenate([heavy, np.full(equal, part), rungs])


def equal(prior: Floats, mass: float, parts: int) -> Floats | None:  # noqa: ARG001 - for any prior and mass
    """Return the same mass for each bin; None for more parts than are of use."""
    return np.full(_EQUAL * parts, 1 / (_EQUAL * parts)) if parts <= _MOST_EQUAL else None


SORTS: tuple[Sort, ...] = (dividing, equal)


def _filled(prior: Floats, targets: Floats) -> list[list[int]]:
    """Return bins of about these masses: the heaviest symbol first, each into the bin with the most room left."""
    room = [(-target, index) for index, target in enumerate(targets.tolist())]
    heapq.heapify(room)
    held: list[list[int]] = [[] for _ in room]
    for symbol in np.argsort(-prior, kind="stable").tolist():
        if prior[symbol] > 0:
            taken, index = room[0]
            held[index].append(symbol)
            heapq.heapreplace(room, (taken + float(prior[symbol]), index))
    return [sorted(group) for group in [*held, np.flatnonzero(prior <= 0).tolist()] if group]


def _without_lightest(prior: Floats, held: list[list[int]]) -> list[list[int]]:
    """Return bins with the lightest symbols as bins of their own."""
    present = [symbol for symbol in np.argsort(prior, kind="stable").tolist() if prior[symbol] > 0]
    single = set(present[: min(_LIGHTEST, len(held) // 3)])
    rest = [[symbol for symbol in group if symbol not in single] for group in held]
    return [*(group for group in rest if group), *([symbol] for symbol in sorted(single))]


def tied_groups(groups: Sequence[Sequence[int]], prior: Floats, counts: tuple[int, int, int]) -> list[list[int]]:
    """Return groups tied further: the lightest and the heaviest stay, the others are tied in classes of like mass.

    Parameters
    ----------
    groups : sequence of sequences of int
        Groups of symbols of equal probability.
    prior : array, shape (N,)
        Their probabilities.
    counts : tuple of int
        How many of the lightest stay, how many of the heaviest, and how many classes the others make.

    Examples
    --------
    >>> tied_groups([[0], [1, 4], [2], [3]], np.array([0.5, 0.1, 0.2, 0.1, 0.1]), (1, 1, 1))
    [[1, 4], [3, 2], [0]]
    """
    lightest, heaviest, classes = counts
    order = sorted(groups, key=lambda group: prior[group[0]])
    low = min(lightest, len(order))
    high = max(len(order) - heaviest, low)
    middle = order[low:high]
    among = [middle[len(middle) * k // classes : len(middle) * (k + 1) // classes] for k in range(classes)]
    tied = [[symbol for group in some for symbol in group] for some in among if some]
    return [*(list(group) for group in order[:low]), *tied, *(list(group) for group in order[high:])]
