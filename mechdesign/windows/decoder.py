"""From reports of windows to the shares of strings.

Let ``v_y(x) = K(y|x) / q_y`` be how much likelier a report y is for a string x than in the sample's population P, and
vbar(x) its mean over the reports. At P its expectation is 1 for every string, seen or not, exactly; if the population
is theta, ``E vbar(x) - 1 = sum over x' of S_xx' (theta - P)_x'`` with ``S_xx' = E_P v(x) v(x') - 1``. Two light strings
share a window about as often as by chance, so that S_xx' is near 0 and

    theta_x = P_x + (vbar(x) - 1) / S_xx,      n Var = 1 / S_xx at P.

Without the shares of the samples q_y follows from the *length* of the window in units: P are then the shares that the
units of heavy strings state, and all other mass is that of strings whose hashes are not known. The same equations hold,
with a share of 0 for each light string: S_xx' for two of them is 0 on average over hashes, but for what they have in
common, the changes of their sum, which heavy strings tell. Its spread now multiplies all light shares and
not their changes alone, so that these estimates are noisier, the more the fewer seeds there are. (Windows hold about
equal shares of the samples, so that how often they are reported tells next to nothing without the lengths.)

What is left of S_xx' falls with the number of seeds. Heavy strings are solved for together (`drift.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mechdesign.errors import GuaranteeError
from mechdesign.numerics.arrays import Floats
from mechdesign.windows.hashing import BLOCK, Words, fingerprints
from mechdesign.windows.strings import normal
from mechdesign.windows.threshold import SHARE_BITS
from mechdesign.windows.windows_mechanism import WindowMechanism

_SPARSER = 4  # times as many entries, from which on a matrix is kept as a dense one


class StringScores(NamedTuple):
    """What reports say about strings.

    Attributes
    ----------
    sums, squares : ndarray
        The sums over seeds, and of squares over seeds, of ``sum of left(y) (v_y(x) - 1)`` of each seed. Seeds are
        independent, so that the squares tell the variance of the sum: that of the draws and of the hash.
    means, seconds : ndarray
        The means of v(x), and for light strings of its square, over reports.
    information : ndarray
        Of light strings ``E_P v(x)^2 - 1``, the Fisher information of a report on the share of each.
    """

    sums: Floats
    squares: Floats
    means: Floats
    seconds: Floats
    information: Floats


class Decoder:
    """What reports of windows say about strings.

    Parameters
    ----------
    mechanism : WindowMechanism
        With its evidence, from which the shares of windows are known.
    by_lengths : bool
        Whether the lengths of windows take the place of their shares of the samples, and the units of heavy strings
        that of a reference.
    """

    def __init__(self, mechanism: WindowMechanism, *, by_lengths: bool = False) -> None:
        self.mechanism, self.by_lengths = mechanism, by_lengths
        self._layout = mechanism.layout
        self._counts = mechanism.counts
        self._ends = np.cumsum(self._counts)
        self._circles = [self._layout.circle(number) for number in range(len(self._counts))]
        self._seed_of = np.repeat(np.arange(len(self._counts)), self._counts)

    @cached_property
    def chances(self) -> Floats:
        """The probability of each report at the sample's population, or by the lengths, shape (outputs,)."""
        if self.by_lengths:
            heavy = self._layout.heavy
            laws = [circle.measure(0 if heavy is None else heavy.light_units) for circle in self._circles]
            shares = [one.sums(law) / law.sum() for one, law in zip(self.mechanism.windows, laws, strict=True)]
            if min(part.min() for part in shares) <= 0:
                raise GuaranteeError.guarantee_false("a window holds no unit of its circle, where no sample can lie")
            return np.asarray(self._slope * np.concatenate(shares) + self._floor)
        held = np.concatenate(self.mechanism.window_units()) / self._totals[self._seed_of]
        return np.asarray(self._slope * held + self._floor)

    def prior(self, reference: Mapping[str, float]) -> Mapping[str, float]:
        """Return the shares that reports are compared with: the reference, or what the units of heavy strings state."""
        if not self.by_lengths:
            return reference
        return {} if self._layout.heavy is None else self._layout.heavy.shares

    @cached_property
    def _totals(self) -> Floats:
        return self.mechanism.seed_units().astype(np.float64)

    @cached_property
    def _slope(self) -> Floats:
        """K(y|x) of a report whose window holds the whole of a string, less that of a report whose window does not."""
        a = self.mechanism.promise.floor / (1 << SHARE_BITS)
        rounds = np.array([one.rounds(self._layout.buckets) for one in self.mechanism.windows])
        return (1 - a) / (len(rounds) * rounds[self._seed_of])

    @cached_property
    def _floor(self) -> Floats:
        """K(y|x) of a report whose window does not hold a string."""
        a = self.mechanism.promise.floor / (1 << SHARE_BITS)
        return a / (len(self._counts) * self._counts[self._seed_of])

    def spread(self, weights: Floats) -> Floats:
        """Return for each bucket of each seed the sum of the weights of the windows that hold it, shape (M, q)."""
        q = self._layout.buckets
        found = np.zeros((len(self._counts), q))
        first = 0
        for number, one in enumerate(self.mechanism.windows):
            own = weights[first : first + len(one.ends)]
            first += len(one.ends)
            steps = np.zeros(2 * q + 1)
            firsts = one.firsts(q)
            np.add.at(steps, firsts, own)
            np.add.at(steps, firsts + one.lengths, -own)
            line = np.cumsum(steps)[:-1]
            found[number] = line[:q] + line[q:]
        return found

    def prints(self, strings: Sequence[str]) -> Words:
        """Return the fingerprints of strings in the mechanism's normal form."""
        return fingerprints(normal(string, self.mechanism.form) for string in strings)

    def _sums(self, tables: Sequence[Floats], prints: Words) -> tuple[Floats, Floats]:
        """Return for each table and string the sum over seeds of the table at its bucket; of the first also squares.

        For a heavy string it is the mean of the table over its arc. Each string is hashed once for all tables.
        """
        found, squares = np.zeros((len(prints), len(tables))), np.zeros(len(prints))
        heavy = self._layout.heavy_index(prints)
        light, chosen = np.flatnonzero(heavy < 0), np.flatnonzero(heavy >= 0)
        rows = np.ascontiguousarray(np.stack(tables, axis=-1))  # of each seed and bucket
        spare = np.empty(BLOCK, dtype=np.uint64)
        for first in range(0, light.size, BLOCK):
            places = light[first : first + BLOCK]
            block, sums, own = prints[places], np.zeros((len(places), len(tables))), np.zeros(len(places))
            for circle, row in zip(self._circles, rows, strict=True):
                values = row.take(circle.light_buckets(block, spare[: len(block)]), axis=0)
                sums += values
                own += values[:, 0] ** 2
            found[places], squares[places] = sums, own
        for circle, row in zip(self._circles, rows, strict=True):
            if chosen.size and circle.arcs is not None:
                arc, bucket, units = circle.arcs.pieces(self._layout.buckets)
                means = np.zeros((len(circle.arcs.units), len(tables)))
                np.add.at(means, arc, units[:, None] * row[bucket])
                means = (means / circle.arcs.units[:, None])[heavy[chosen]]
                found[chosen] += means
                squares[chosen] += means[:, 0] ** 2
        return found.T, squares

    def squares(self, strings: Sequence[str]) -> Floats:
        """Return ``E_P v(x)^2`` of strings: 1 plus the Fisher information of a report on the share of each."""
        prints = self.prints(strings)
        slope, floor, chances = self._slope, self._floor, self.chances
        table = self.spread((slope**2 + 2 * slope * floor) / chances)
        found = np.sum(floor**2 / chances) + self._sums([table], prints)[0][0]
        heavy = self._layout.heavy_index(prints)
        if (chosen := np.flatnonzero(heavy >= 0)).size:
            found[chosen] = np.diag(self.products(prints[chosen], chances)[1])
        return np.asarray(found)

    def _held(self, number: int, prints: Words) -> Any:
        """Return what part of each string the windows of a seed hold, shape (n, windows); sparse if that is smaller.

        With many windows an arc lies in few of them, and its pieces, one a bucket, in R windows each.
        """
        one, circle, q = self.mechanism.windows[number], self._circles[number], self._layout.buckets
        rounds = one.rounds(q)
        heavy = self._layout.heavy_index(prints)
        chosen = np.flatnonzero(heavy >= 0)
        arcs = None if circle.arcs is None or not chosen.size else circle.arcs.of(heavy[chosen])
        if _SPARSER * rounds * (q + len(prints)) < len(prints) * len(one.ends):
            from scipy.sparse import coo_array

            light = np.flatnonzero(heavy < 0)
            parts = [(light, circle.light_buckets(prints[light]), np.ones(light.size))]
            if arcs is not None:
                arc, bucket, units = arcs.pieces(q)
                parts.append((chosen[arc], bucket, units / arcs.units[arc]))
            row, bucket, part = map(np.concatenate, zip(*parts, strict=True))
            places = (bucket - one.start) % q + q * np.arange(rounds)[:, None]
            column = np.searchsorted(one.ends, places.ravel(), side="right")
            entries = np.tile(part, rounds), (np.tile(row, rounds), column)
            return coo_array(entries, shape=(len(prints), len(one.ends))).tocsr()
        places = (circle.light_buckets(prints)[:, None] - one.firsts(q)) % q
        held = (places < one.lengths).astype(np.float64)
        if arcs is not None:
            held[chosen] = arcs.inside(one.firsts(q), one.lengths, q) / arcs.units[:, None]
        return held

    def _own(self, number: int) -> slice:
        return slice(int(self._ends[number] - self._counts[number]), int(self._ends[number]))

    def _of_seed(self, number: int, prints: Words) -> tuple[slice, Any, Floats, Floats]:
        """Return the reports of a seed, and of v(x) = held * slope + floor the three parts."""
        own = self._own(number)
        return (
            own,
            self._held(number, prints),
            self._slope[own] / self.chances[own],
            self._floor[own] / self.chances[own],
        )

    def products(self, prints: Words, weights: Floats) -> tuple[Floats, Floats]:
        """Return the means of v(x) and of v(x) v(x') over reports, which are given as shares of all windows."""
        means, found = np.zeros(len(prints)), np.zeros((len(prints), len(prints)))
        for number in range(len(self._counts)):
            own, held, slope, floor = self._of_seed(number, prints)
            weight = weights[own]
            means += held @ (weight * slope) + weight @ floor
            crossed = held @ (weight * slope * floor) + weight @ floor**2 / 2
            weighted = held * (weight * slope**2)
            found += _dense(weighted @ held.T) + crossed[:, None] + crossed
        return means, found

    def products_of_seeds(self, prints: Words, counts: Floats) -> Floats:
        """Return the sums over seeds of the products of ``sum of counts(y) (v_y(x) - 1)`` of one seed, for pairs."""
        found = np.zeros((len(prints), len(prints)))
        for number in range(len(self._counts)):
            own, held, slope, floor = self._of_seed(number, prints)
            scores = held @ (counts[own] * slope) + counts[own] @ (floor - 1)
            found += np.outer(scores, scores)
        return found

    def means_of_rows(self, prints: Words, amounts: Floats) -> Floats:
        """Return ``sum over x of amounts(x) v_y(x)`` for each report y."""
        found, total = np.zeros(len(self.chances)), amounts.sum()
        for number in range(len(self._counts)):
            own, held, slope, floor = self._of_seed(number, prints)
            found[own] = (held.T @ amounts) * slope + total * floor
        return found

    def reading(self, left: Floats, counts: Floats, strings: Sequence[str]) -> StringScores:
        """Return what reports, given as shares of all windows, say about strings; see `StringScores`.

        Parameters
        ----------
        left : ndarray, shape (outputs,)
            Of the shares of reports, what is not explained yet.
        counts : ndarray, shape (outputs,)
            The shares of reports.
        strings : sequence of str
            The strings.
        """
        slope, floor, chances = self._slope / self.chances, self._floor / self.chances, self.chances
        square = slope**2 + 2 * slope * floor
        tables = [self._scores(left), *map(self.spread, (counts * slope, counts * square, chances * square))]
        (sums, *sums_of), squares = self._sums(tables, self.prints(strings))
        constants = counts @ floor, counts @ floor**2, chances @ floor**2 - 1
        return StringScores(
            sums, squares, *(found + constant for found, constant in zip(sums_of, constants, strict=True))
        )

    def scores(self, counts: Floats, strings: Sequence[str]) -> Floats:
        """Return the sums over seeds of ``sum of counts(y) (v_y(x) - 1)`` of each seed."""
        return np.asarray(self._sums([self._scores(counts)], self.prints(strings))[0][0])

    def _scores(self, counts: Floats) -> Floats:
        own = counts * (self._floor / self.chances - 1)
        return np.asarray(self.spread(counts * self._slope / self.chances) + np.bincount(self._seed_of, own)[:, None])

    @cached_property
    def square_anywhere(self) -> float:
        """``E_P v(x)^2`` of a light string that the samples lack, on average over the buckets that it may fall in."""
        slope, floor, chances = self._slope, self._floor, self.chances
        table = self.spread((slope**2 + 2 * slope * floor) / chances)
        return float(np.sum(floor**2 / chances) + table.mean(axis=1).sum())


def _dense(matrix: Any) -> Floats:
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
