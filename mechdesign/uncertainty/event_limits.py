"""Lines below the limits of Clopper and Pearson of all events at once.

With probability 1 - delta every event S, seen n(S) times in n samples, has ``Q(S) >= g(n(S))``, where g(k) is the lower
limit at the level ``delta / (2^N - 2)``. A line ``alpha k/n - gamma`` that is not above g(k) at any k that occurs gives
a valid piece; all lines hold at once, so that they may be chosen after looking at the data.

Whether a line is below g(k) is decided by an upper bound of the tail: with p = k/n and q the value of the line,

    P[Bin(n, q) >= k] = P[Bin(n, q) = k] (1 + r_1 + r_1 r_2 + ...),    r_j = (n - k - j + 1) q / ((k + j) (1 - q)),

where the ratios fall, so that what is left after some terms is less than a geometric series. The factorials are
Stirling's series, which is on either side of them in turn. Rounding errors are counted outward. For counts near 0 and
near n the tail is an Arb ball.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InputError
from mechdesign.numerics.arrays import Floats
from mechdesign.uncertainty.binomial_limits import event_level, is_limit, lower_limit

Counts = NDArray[np.int64]
MOST_PIECES = 64
_UNIT = 10**15
_EPS = float(np.finfo(float).eps)
_MOST_LISTED = 16  # categories of which all sums of counts are listed
_MOST_SAMPLES = 200_000  # of which every count is listed
_NEAR_AN_END = 30  # counts for which Stirling's series is too rough
_MOST_TERMS = 400
_STEPS = (4e-14, 1e-11, 1e-8)  # by which a limit in floats is lowered until it is proved
_CHUNK = 4096
_ALPHA_UNIT = 10**6  # slopes are multiples of its inverse


def counts_of_events(counts: Sequence[int], samples: int) -> Counts:
    """Return how often events can have been seen: the sums of counts, or every number up to n where those are many.

    Raises
    ------
    InputError
        If it is every number up to more than 200,000.

    Examples
    --------
    >>> counts_of_events([3, 1, 1], 5)
    array([0, 1, 2, 3, 4, 5])
    """
    if len(counts) > _MOST_LISTED or sum(counts) != samples:
        if samples > _MOST_SAMPLES:
            raise InputError.too_many_given(
                f"the limits of all events would be listed for {samples} samples; accepted: at most {_MOST_SAMPLES}, "
                f"or counts of at most {_MOST_LISTED} categories whose total is the samples; use an L1Ball"
            )
        return np.arange(samples + 1)
    sums = np.zeros(1, dtype=np.int64)
    for count in counts:
        sums = np.unique(np.concatenate([sums, sums + count]))
    return sums


def log_tails_up(samples: int, seen: Counts, q: Floats) -> tuple[Floats, Floats]:
    """Return ``log P[Bin(n, q) >= k]``, bounded from above, for ``30 < k < n - 30`` and q below k/n, and its errors.

    Examples
    --------
    >>> tail, error = log_tails_up(100, np.array([40]), np.array([0.25]))
    >>> round(float(tail[0]), 6), bool(error[0] < 1e-11)
    (-7.28377, True)
    """
    n, k, rest = float(samples), seen.astype(float), samples - seen.astype(float)
    p = k / n
    divergence = k * np.log1p((p - q) / q) + rest * np.log1p((q - p) / (1 - q))
    series = _stirling_down(np.array([n]))[0] + 1 / (1260 * n**5) - _stirling_down(k) - _stirling_down(rest)
    mass = -divergence + 0.5 * np.log(n / (2 * math.pi * k * rest)) + series
    odds, term, total = q / (1 - q), np.ones(k.size), np.ones(k.size)
    for j in range(1, _MOST_TERMS + 1):
        term = term * (np.maximum(rest - j + 1, 0.0) / (k + j) * odds)
        total = total + term
        ratio = np.minimum(np.maximum(rest - j, 0.0) / (k + j + 1) * odds, 1 - _EPS)
        left = term * ratio / (1 - ratio)
        if (left <= _EPS * total).all():
            break
    # Both logarithms of the divergence, times k and n - k, are about n (p - q) and nearly cancel.
    error = 16 * _EPS * (8 + n * (p - q) * (1 + 1 / np.minimum(q, 1 - q)) * 0.5 + j)
    return mass + np.log(total + left), error


@dataclass(frozen=True, eq=False)
class EventLimits:
    """The limits g(k) for the counts that occur.

    Attributes
    ----------
    samples : int
        n.
    seen : array of int
        The counts that occur, rising, from 0 to n.
    level : Fraction
        The probability of failure of each event.

    Examples
    --------
    >>> limits = EventLimits.of((40, 30, 20, 10), 100, Fraction(1, 1000))
    >>> limits.least.round(8)[:5]
    array([0.        , 0.02184258, 0.07722585, 0.14687233, 0.22585206])
    >>> limits.allows((Fraction(9, 10), limits.least_gamma(Fraction(9, 10))))
    True
    """

    samples: int
    seen: Counts
    level: Fraction

    @classmethod
    def of(cls, counts: Sequence[int], samples: int, delta: Fraction) -> EventLimits:
        """Return the limits of all events of a table of counts."""
        return cls(samples, counts_of_events(counts, samples), event_level(delta, len(counts)))

    @cached_property
    def shares(self) -> Floats:
        """k/n."""
        result: Floats = self.seen / self.samples
        return result

    @cached_property
    def _near_an_end(self) -> NDArray[np.bool_]:
        """Where exact tails are needed."""
        return np.minimum(self.seen, self.samples - self.seen) <= _NEAR_AN_END

    @cached_property
    def least(self) -> Floats:
        """g(k), rounded down."""
        from scipy.special import betaincinv

        found = np.zeros(self.seen.size)
        if self.level == 0:
            return found
        ends = self._near_an_end
        for place in np.flatnonzero(ends):
            exact = lower_limit(self.samples, int(self.seen[place]), self.level)
            found[place] = max(math.nextafter(float(exact), 0.0), 0.0)
        left = np.flatnonzero(~ends)
        with np.errstate(all="ignore"):
            guess = np.nan_to_num(betaincinv(self.seen[left], self.samples - self.seen[left] + 1.0, float(self.level)))
        for step in _STEPS:
            q = np.clip(guess * (1 - step), 0.0, self.shares[left] * (1 - step))
            holds = self._hold(left, q, 2)
            found[left[holds]] = q[holds]
            left, guess = left[~holds], guess[~holds]
        low, high = np.zeros(left.size), self.shares[left]
        for _ in range(50 if left.size else 0):
            middle = (low + high) / 2
            holds = self._hold(left, middle, 2)
            low, high = np.where(holds, middle, low), np.where(holds, high, middle)
        found[left] = low
        return found

    def _hold(self, places: NDArray[np.int64], q: Floats, room: int) -> NDArray[np.bool_]:
        """Return at which q the tail is proved not to exceed the level; with more room, on another machine too."""
        return self._excess(places, q, room) <= 0

    def _excess(self, places: NDArray[np.int64], q: Floats, room: int) -> Floats:
        """Return how far an upper bound of the logarithm of the tail at q is above that of the level, with room."""
        log_level = math.log(self.level.numerator) - math.log(self.level.denominator)
        result = np.where(q <= 0, -np.inf, np.inf)
        inside = np.flatnonzero((q > 0) & (q < self.shares[places]))
        for start in range(0, inside.size, _CHUNK):
            cut = inside[start : start + _CHUNK]
            tails, errors = log_tails_up(self.samples, self.seen[places[cut]], q[cut])
            excess = tails + room * (errors + 8 * _EPS * abs(log_level)) - log_level
            result[cut] = np.where(np.isnan(excess), np.inf, excess)  # which proves nothing
        return result

    def least_gamma(self, alpha: Fraction) -> Fraction:
        """Return the least gamma for which ``alpha k/n - gamma`` is below all limits, rounded up."""
        greatest = float((float(alpha) * self.shares - self.least).max())
        room = 8 * _EPS * max(float(alpha), 1.0)
        # At least 0 and alpha - 1, as the counts 0 and n occur, with the limit 0 and one below 1.
        return Fraction(math.ceil((greatest + room) * _UNIT), _UNIT)

    def allows(self, *lines: tuple[Fraction, Fraction]) -> bool:
        """Return whether lines ``alpha k/n - gamma`` are proved to be below the limits of all counts.

        The limits themselves are not computed: at each count the greatest of the lines is a limit or not.
        """
        line = np.full(self.seen.size, -np.inf)
        for alpha, gamma in lines:
            np.maximum(line, float(alpha) * self.shares - float(gamma) + 4 * _EPS * max(float(alpha), 1.0), out=line)
        places = np.flatnonzero(line > 0)
        excess, far = np.full(places.size, np.inf), ~self._near_an_end[places]
        if self.level > 0:
            excess[far] = self._excess(places[far], line[places[far]], 1)
        # Where floats prove nothing, exact tails decide, first where the line is furthest above.
        for place in places[np.argsort(-excess, kind="stable")][: np.count_nonzero(excess > 0)].tolist():
            k = int(self.seen[place])
            q = max(alpha * Fraction(k, self.samples) - gamma for alpha, gamma in lines)
            if not is_limit(self.samples, k, q, self.level):
                return False
        return True

    @cached_property
    def _corners(self) -> tuple[NDArray[np.int64], Floats]:
        """The corners of the greatest convex function below the limits, and the slopes between them."""
        corners = _lower_hull(self.shares, self.least)
        return corners, np.diff(self.least[corners]) / np.diff(self.shares[corners])

    def slope_at(self, level: float) -> Fraction:
        """Return about the slope of the limits where they reach a level, or the steepest; 1 where they are all 0.

        Examples
        --------
        >>> EventLimits.of((40, 30, 20, 10), 100, Fraction(1, 1000)).slope_at(0.5)
        Fraction(202483, 200000)
        """
        corners, slopes = self._corners
        above = np.flatnonzero((self.least[corners][1:] >= level) & (slopes > 0))
        slope = float(slopes[above[0]] if above.size else slopes[-1])
        return Fraction(max(round(slope * _ALPHA_UNIT), 1), _ALPHA_UNIT) if slope > 0 else Fraction(1)

    def lines(self, most: int = MOST_PIECES) -> list[tuple[Fraction, Fraction]]:
        """Return alpha and gamma of lines below the limits, with little between them and the limits.

        All lines through two neighbouring corners of the limits, or as many as asked for: first the steepest, then
        each time one where the distance is greatest.
        """
        corners, slopes = self._corners
        free = slopes > 0
        chosen: list[tuple[Fraction, Fraction]] = []
        held = np.zeros(corners.size)
        while free.any() and len(chosen) < most:
            apart = self.least[corners] - held
            gains = np.where(free, np.maximum(apart[1:], apart[:-1]), -np.inf)
            place = int(np.argmax(gains)) if chosen else int(np.flatnonzero(free)[-1])
            free[place] = False
            alpha = Fraction(round(float(slopes[place]) * _UNIT), _UNIT)
            chosen.append((alpha, self.least_gamma(alpha)))
            held = np.maximum(held, float(alpha) * self.shares[corners] - float(chosen[-1][1]))
        return sorted(chosen)


def _lower_hull(x: Floats, y: Floats) -> NDArray[np.int64]:
    """Return the places of the corners of the greatest convex function that is not above points, x rising."""
    hull: list[int] = []
    for place in range(x.size):
        while len(hull) > 1:
            a, b = hull[-2], hull[-1]
            if (y[b] - y[a]) * (x[place] - x[a]) < (y[place] - y[a]) * (x[b] - x[a]):
                break
            hull.pop()
        hull.append(place)
    return np.array(hull)


def _stirling_down(k: Floats) -> Floats:
    """Return ``log k!`` less ``(k + 1/2) log k - k + log(2 pi)/2``, rounded down."""
    result: Floats = 1 / (12 * k) - 1 / (360 * k**3)
    return result
