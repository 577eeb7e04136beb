"""From reports of windows to the shares of strings.

Let ``v_y(x) = K(y|x) / q_y`` be how much likelier a report y is for a string x than in the sample's population P, and
vbar(x) its mean over the reports. At P its expectation is 1 for every string, seen or not, exactly; if the population
is theta, ``E vbar(x) - 1 = sum over x' of S_xx' (theta - P)_x'`` with ``S_xx' = E_P v(x) v(x') - 1``. Two light strings
share a window about as often as by chance, so that S_xx' is near 0 and

    theta_x = P_x + (vbar(x) - 1) / S_xx,      n Var = 1 / S_xx at P.

What is left of S_xx' falls with the number of seeds. Heavy strings are solved for together (`drift.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.windows.hashing import BLOCK, Words, fingerprints
from mechdesign.windows.strings import normal
from mechdesign.windows.threshold import SHARE_BITS
from mechdesign.windows.windows_mechanism import WindowMechanism


class Decoder:
    """What reports of windows say about strings.

    Parameters
    ----------
    mechanism : WindowMechanism
        With its evidence, from which the shares of windows are known.
    """

    def __init__(self, mechanism: WindowMechanism) -> None:
        self.mechanism = mechanism
        self._layout = mechanism.layout
        self._counts = mechanism.counts
        self._ends = np.cumsum(self._counts)
        self._circles = [self._layout.circle(number) for number in range(len(self._counts))]
        self._seed_of = np.repeat(np.arange(len(self._counts)), self._counts)

    @cached_property
    def chances(self) -> Floats:
        """The probability of each report at the sample's population, shape (outputs,)."""
        held = np.concatenate(self.mechanism.window_units()) / self._totals[self._seed_of]
        return np.asarray(self._slope * held + self._floor)

    @cached_property
    def _totals(self) -> Floats:
        evidence = self.mechanism.evidence
        assert evidence is not None  # noqa: S101 - window_units, which is called first, refuses it
        return np.asarray(evidence.sum(axis=1), dtype=np.float64)

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

    def _sums(self, table: Floats, prints: Words) -> tuple[Floats, Floats]:
        """Return for each string the sum over seeds of a table at its bucket, and that of the squares.

        For a heavy string it is the mean of the table over its arc.
        """
        found, squares = np.zeros(len(prints)), np.zeros(len(prints))
        heavy = self._layout.heavy_index(prints)
        light, chosen = np.flatnonzero(heavy < 0), np.flatnonzero(heavy >= 0)
        for number, row in enumerate(table):
            circle = self._circles[number]
            for first in range(0, light.size, BLOCK):
                block = light[first : first + BLOCK]
                values = row[circle.light_buckets(prints[block])]
                found[block] += values
                squares[block] += values**2
            if chosen.size and circle.arcs is not None:
                arc, bucket, units = circle.arcs.pieces(self._layout.buckets)
                means = np.bincount(arc, units * row[bucket], len(circle.arcs.units)) / circle.arcs.units
                found[chosen] += means[heavy[chosen]]
                squares[chosen] += means[heavy[chosen]] ** 2
        return found, squares

    def squares(self, strings: Sequence[str]) -> Floats:
        """Return ``E_P v(x)^2`` of strings: 1 plus the Fisher information of a report on the share of each."""
        prints = self.prints(strings)
        slope, floor, chances = self._slope, self._floor, self.chances
        found = (
            np.sum(floor**2 / chances) + self._sums(self.spread((slope**2 + 2 * slope * floor) / chances), prints)[0]
        )
        heavy = self._layout.heavy_index(prints)
        if (chosen := np.flatnonzero(heavy >= 0)).size:
            found[chosen] = np.diag(self.products(prints[chosen], chances)[1])
        return np.asarray(found)

    def lifts(self, number: int, prints: Words) -> Floats:
        """Return v of strings for the reports of one seed, shape (n, windows)."""
        one, circle, q = self.mechanism.windows[number], self._circles[number], self._layout.buckets
        own = self._own(number)
        heavy = self._layout.heavy_index(prints)
        places = (circle.light_buckets(prints)[:, None] - one.firsts(q)) % q
        held = (places < one.lengths).astype(np.float64)
        if (chosen := np.flatnonzero(heavy >= 0)).size and circle.arcs is not None:
            arcs = circle.arcs.of(heavy[chosen])
            held[chosen] = arcs.inside(one.firsts(q), one.lengths, q) / arcs.units[:, None]
        return np.asarray((self._slope[own] * held + self._floor[own]) / self.chances[own])

    def _own(self, number: int) -> slice:
        return slice(int(self._ends[number] - self._counts[number]), int(self._ends[number]))

    def products(self, prints: Words, weights: Floats) -> tuple[Floats, Floats]:
        """Return the means of v(x) and of v(x) v(x') over reports, which are given as shares of all windows."""
        means, found = np.zeros(len(prints)), np.zeros((len(prints), len(prints)))
        for number in range(len(self._counts)):
            lifts, own = self.lifts(number, prints), weights[self._own(number)]
            means += lifts @ own
            found += (lifts * own) @ lifts.T
        return means, found

    def products_of_seeds(self, prints: Words, counts: Floats) -> Floats:
        """Return the sums over seeds of the products of ``sum of counts(y) (v_y(x) - 1)`` of one seed, for pairs."""
        found = np.zeros((len(prints), len(prints)))
        for number in range(len(self._counts)):
            scores = (self.lifts(number, prints) - 1) @ counts[self._own(number)]
            found += np.outer(scores, scores)
        return found

    def means_of_rows(self, prints: Words, amounts: Floats) -> Floats:
        """Return ``sum over x of amounts(x) v_y(x)`` for each report y."""
        return np.concatenate([amounts @ self.lifts(number, prints) for number in range(len(self._counts))])

    def moments(self, counts: Floats, strings: Sequence[str]) -> tuple[Floats, Floats]:
        """Return the means of v(x) and of its square over reports, which are given as shares of all windows."""
        slope, floor = self._slope / self.chances, self._floor / self.chances
        prints = self.prints(strings)
        means = np.sum(counts * floor) + self._sums(self.spread(counts * slope), prints)[0]
        table = self.spread(counts * (slope**2 + 2 * slope * floor))
        return means, np.sum(counts * floor**2) + self._sums(table, prints)[0]

    def scores(self, counts: Floats, strings: Sequence[str]) -> tuple[Floats, Floats]:
        """Return the sums over seeds, and of squares over seeds, of ``sum of counts(y) (v_y(x) - 1)`` of each seed.

        Seeds are independent, so that the squares tell the variance of the sum: that of the draws and of the hash.
        """
        own = counts * (self._floor / self.chances - 1)
        table = self.spread(counts * self._slope / self.chances) + np.bincount(self._seed_of, own)[:, None]
        return self._sums(table, self.prints(strings))

    @cached_property
    def square_anywhere(self) -> float:
        """``E_P v(x)^2`` of a light string that the samples lack, on average over the buckets that it may fall in."""
        slope, floor, chances = self._slope, self._floor, self.chances
        table = self.spread((slope**2 + 2 * slope * floor) / chances)
        return float(np.sum(floor**2 / chances) + table.mean(axis=1).sum())
