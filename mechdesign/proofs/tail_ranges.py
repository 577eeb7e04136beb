"""Ranges of counts by which Coq checks the radius that samples support: the integers of ``coq/Limits.v``.

With T = A/D = n t, t half the radius, and F(k) = P[Bin(n, (k - T)/n) >= k], it is enough that F(k) is small where F
neither rises to k + 1 nor falls from k - 1. Each range of counts says which of the three is shown for all its counts.
Where only the sums of observed counts matter, others are left out: these are gaps.
The proofs are in docs/mathematics.md, "Samples and radii", and in Coq. Nothing here is trusted: Coq computes it again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from mechdesign.uncertainty.observed_sums import ObservedSums

MOST_TERMS = 50_000
"""So many terms of tails take Coq about ten seconds."""
_UNIT = 1 << 96
_Number = tuple[int, int]
"""(m, e) stands for m 2^e."""


@dataclass(frozen=True)
class CountRange:
    """The counts up to ``last``, and what holds for them; for rare ones, how many terms of the tail are summed."""

    kind: str
    last: int
    terms: int = 0

    def term(self) -> str:
        """Return the term of Coq."""
        return f"Rare {self.last} {self.terms}" if self.kind == "Rare" else f"{self.kind} {self.last}"


@dataclass
class TailRanges:
    """The test of all counts for n, T = A/D and a level, as Coq computes it.

    Examples
    --------
    >>> [found.term() for found in TailRanges.of(40, Fraction(9, 10), Fraction(1, 100)).ranges()]
    ['Rare 29 0', 'Rise 30', 'Rise 31', 'Rare 40 0']
    >>> seen = ObservedSums.of([30, 6, 4])
    >>> [found.term() for found in TailRanges.of(40, Fraction(1, 2), Fraction(1, 100), seen).ranges()]
    ['Gap 29', 'Rare 32 0', 'Fall 39', 'Fall 40']
    """

    n: int
    A: int
    D: int
    level: Fraction
    seen: ObservedSums | None = None
    _k: int = 0
    _falling: _Number = (1, 0)
    _factorial: _Number = (1, 0)

    @classmethod
    def of(cls, samples: int, radius: Fraction, level: Fraction, seen: ObservedSums | None = None) -> TailRanges:
        """Return the test of an l1 radius, each set of symbols at a level, for all counts, or those that were seen."""
        return cls(samples, samples * radius.numerator, 2 * radius.denominator, level, seen)

    def ranges(self) -> list[CountRange] | None:
        """Return ranges that cover all counts, or None if a tail is not shown to be small, or terms are too many."""
        found, terms = list[CountRange](), 0
        for each in self._found():
            terms += each.terms + 1
            if terms > MOST_TERMS:
                return None
            found.append(each)
        return found if found and found[-1].last == self.n else None

    def _found(self) -> Iterator[CountRange]:
        first, small = self.A // self.D + 1, False  # small: F is, at the count before
        while first <= self.n:
            if small and (last := _furthest(self._falls_to, first, self.n)) is not None:
                yield CountRange("Fall", last)
                first = last + 1
                continue
            risen = self._risen(first)
            start = self._last_seen(risen[-1] + 1 if risen else first)
            if small := start >= first:
                yield from (CountRange("Rise", last) for last in risen if last < start - 1)
                if start > first:
                    yield CountRange("Rise", start - 1)
                self._advance(start)
                last = _furthest(lambda i, j: self.terms(i, j) is not None, start, self.n)
                if last is None:
                    return
                yield CountRange("Rare", last, self.terms(start, last) or 0)
            else:
                last = self._next_seen(first) - 1
                yield CountRange("Gap", last)
            first = last + 1

    def _risen(self, first: int) -> list[int]:
        """Return the ends of ranges, from one count on, in which F rises."""
        found = list[int]()
        while (last := _furthest(self.rises, first, self.n)) is not None:
            found.append(last)
            first = last + 1
        return found

    def _last_seen(self, k: int) -> int:
        found = k if self.seen is None else self.seen.at_most(k)
        return -1 if found is None else found

    def _next_seen(self, k: int) -> int:
        found = k if self.seen is None else self.seen.at_least(k)
        return self.n + 1 if found is None else found

    def rises(self, i: int, j: int) -> bool:
        """Return whether F(k) < F(k + 1) is shown for all k from i to j."""
        n, A, D, u = self.n, self.A, self.D, _UNIT
        if not (i * D > A and j < n):
            return False
        m = u * A // (j * D - A) + u * (A + D) // ((n - i) * D + A)
        c = _up(u * i * D * D, (i * D - A) ** 2)
        c += _up(u * (n - 1 - i) * D * D, ((n - j) * D + A) * ((n - j - 1) * D + A))
        series = 60 * m * u * u + 20 * m * m * u + 5 * m**3 - c * (20 * u * u + 15 * m * u + 6 * m * m)
        return m > 0 and c <= 2 * m and 120 * u**3 * A < D * (n - j) * series

    def falls(self, i: int, j: int) -> bool:
        """Return whether F(k + 1) < F(k) is shown for all k from i to j."""
        n, A, D, u = self.n, self.A, self.D, _UNIT
        if not (i * D > A and j < n):
            return False
        m = _up(u * A, i * D - A) + _up(u * (A + D), (n - j) * D + A)
        rest = 24 * u - 8 * m
        return m < 3 * u and D * (n - i) * ((3 * u * m + m * m) * rest + 6 * m**3) < A * 6 * u * u * rest

    def _falls_to(self, i: int, j: int) -> bool:
        return self.falls(i - 1, j - 1)

    def terms(self, i: int, j: int) -> int | None:
        """Return how many terms of P[Bin(n, (j - T)/n) >= i] show that it is at most the level; None if none do."""
        n, a, c = self.n, j * self.D - self.A, (self.n - j) * self.D + self.A
        if a <= 0 or c <= 0:
            return None
        above = _times(
            _times(self._falling, (self.level.denominator, 0)), _times(_power(_cut_up, a, i), _power(_cut_up, c, n - i))
        )
        below = _times(_times(self._factorial, (self.level.numerator * _UNIT, 0)), _power(_cut_down, n * self.D, n))
        most = min(n - i, 8 * math.isqrt(n) + 64)
        for terms in (0, *(1 << step for step in range(most.bit_length())), most):
            last = i + terms
            if (n - last) * a < (last + 1) * c and _at_most(_times(above, (self._series(terms, a, c, i), 0)), below):
                return terms
        return None

    def _series(self, terms: int, a: int, c: int, i: int) -> int:
        """Return the sum of the weights from i on, over that of i, rounded up."""
        last = i + terms
        u, v = (self.n - last) * a, (last + 1) * c
        total = _up(_UNIT * v, v - u)
        for j in range(last - 1, i - 1, -1):
            total = _UNIT + _up(total * (self.n - j) * a, (j + 1) * c)
        return total

    def _advance(self, k: int) -> None:
        """Bound n (n - 1) .. (n - k + 1) from above, and k! from below."""
        falling, factorial = self._falling, self._factorial
        for j in range(self._k, k):
            falling, factorial = _cut_up(_times((self.n - j, 0), falling)), _cut_down(_times((j + 1, 0), factorial))
        self._k, self._falling, self._factorial = k, falling, factorial


def _furthest(holds: Callable[[int, int], bool], first: int, most: int) -> int | None:
    """Return a j, as great as a search by doubling finds, for which something holds from first to j."""
    if not holds(first, first):
        return None
    last, step = first, 1
    while last + step <= most and holds(first, last + step):
        last, step = last + step, 2 * step
    while step:
        if last + step <= most and holds(first, last + step):
            last += step
        step //= 2
    return last


def _up(a: int, b: int) -> int:
    return -(-a // b)


def _times(x: _Number, y: _Number) -> _Number:
    return x[0] * y[0], x[1] + y[1]


def _cut_up(x: _Number) -> _Number:
    extra = x[0].bit_length() - 97
    return ((x[0] >> extra) + 1, x[1] + extra) if extra > 0 else x


def _cut_down(x: _Number) -> _Number:
    extra = x[0].bit_length() - 97
    return (x[0] >> extra, x[1] + extra) if extra > 0 else x


def _power(cut: Callable[[_Number], _Number], a: int, k: int) -> _Number:
    """Return a^k by squaring, in the order of Coq's definition."""
    if k == 0:
        return 1, 0
    found = (a, 0)
    for bit in bin(k)[3:]:
        found = cut(_times(found, found))
        if bit == "1":
            found = cut(_times((a, 0), found))
    return found


def _at_most(x: _Number, y: _Number) -> bool:
    least = min(x[1], y[1])
    return x[0] << (x[1] - least) <= y[0] << (y[1] - least)
