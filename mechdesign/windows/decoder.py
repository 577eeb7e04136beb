"""From reports of windows to the shares of strings.

Let ``v_y(x) = K(y|x) / q_y`` be how much likelier a report y is for a string x than in the sample's population P, and
vbar(x) its mean over the reports. At P its expectation is 1 for every string, seen or not, exactly; if the population
is theta, ``E vbar(x) - 1 = sum over x' of S_xx' (theta - P)_x'`` with ``S_xx' = E_P v(x) v(x') - 1``. Two light strings
share a window about as often as by chance, so that S_xx' is near 0 and

    theta_x = P_x + (vbar(x) - 1) / S_xx,      n Var = 1 / S_xx at P.

What is left of S_xx' falls with the number of seeds. Heavy strings are solved for together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import Floats
from mechdesign.windows.hashing import BLOCK, Words, fingerprints
from mechdesign.windows.layout import Integers
from mechdesign.windows.strings import normal
from mechdesign.windows.threshold import SHARE_BITS
from mechdesign.windows.windows_mechanism import WindowMechanism

_CLEAR = 3.0  # standard errors, from which on a heavy string is taken to have changed
_LEAST_SHARE = 1e-9  # of all light strings


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

    def _prints(self, strings: Sequence[str]) -> Words:
        return fingerprints(normal(string, self.mechanism.form) for string in strings)

    def _sums(self, table: Floats, prints: Words) -> Floats:
        """Return for each string the sum over seeds of a table at its bucket; for a heavy one its mean over its arc."""
        found = np.zeros(len(prints))
        heavy = self._layout.heavy_index(prints)
        light, chosen = np.flatnonzero(heavy < 0), np.flatnonzero(heavy >= 0)
        for number, row in enumerate(table):
            circle = self._layout.circle(number)
            for first in range(0, light.size, BLOCK):
                block = light[first : first + BLOCK]
                found[block] += row[circle.light_buckets(prints[block])]
            if chosen.size and circle.arcs is not None:
                arc, bucket, units = circle.arcs.pieces(self._layout.buckets)
                means = np.bincount(arc, units * row[bucket], len(circle.arcs.units)) / circle.arcs.units
                found[chosen] += means[heavy[chosen]]
        return found

    def squares(self, strings: Sequence[str]) -> Floats:
        """Return ``E_P v(x)^2`` of strings: 1 plus the Fisher information of a report on the share of each."""
        prints = self._prints(strings)
        slope, floor, chances = self._slope, self._floor, self.chances
        found = np.sum(floor**2 / chances) + self._sums(self.spread((slope**2 + 2 * slope * floor) / chances), prints)
        heavy = self._layout.heavy_index(prints)
        if (chosen := np.flatnonzero(heavy >= 0)).size:
            found[chosen] = np.diag(self.products(prints[chosen], chances)[1])
        return np.asarray(found)

    def lifts(self, number: int, prints: Words) -> Floats:
        """Return v of strings for the reports of one seed, shape (n, windows)."""
        one, circle, q = self.mechanism.windows[number], self._layout.circle(number), self._layout.buckets
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

    def means_of_rows(self, prints: Words, amounts: Floats) -> Floats:
        """Return ``sum over x of amounts(x) v_y(x)`` for each report y."""
        return np.concatenate([amounts @ self.lifts(number, prints) for number in range(len(self._counts))])

    def moments(self, counts: Floats, strings: Sequence[str]) -> tuple[Floats, Floats]:
        """Return the means of v(x) and of its square over reports, which are given as shares of all windows."""
        slope, floor = self._slope / self.chances, self._floor / self.chances
        prints = self._prints(strings)
        means = np.sum(counts * floor) + self._sums(self.spread(counts * slope), prints)
        squares = np.sum(counts * floor**2) + self._sums(self.spread(counts * (slope**2 + 2 * slope * floor)), prints)
        return means, squares

    def errors(self, strings: Sequence[str], shares: Floats) -> Floats:
        """Return n times the variance of the estimated share of each string from n reports, at the sample's population.

        It is ``1 / (E_P v(x)^2 - 1)``, and of heavy strings a diagonal entry of ``(I - P 1') S_HH^-1 (I - P 1')'``.
        """
        found = 1 / (self.squares(strings) - 1)
        heavy = self._layout.heavy_index(self._prints(strings))
        if (chosen := np.flatnonzero(heavy >= 0)).size:
            drift = Drift(self, shares, self.chances)
            found[chosen] = np.diag(drift.covariance)[heavy[chosen]]
        return found


class Drift:
    """How far the heavy strings are from their shares among the samples, as reports tell.

    All other strings are taken to have changed in proportion: ``(I - P 1') S_HH^-1 (vbar_H - 1)``.

    Parameters
    ----------
    decoder : Decoder
        That of the mechanism.
    shares : ndarray, shape (H,)
        P of the heavy strings.
    counts : ndarray, shape (outputs,)
        Shares of reports.

    Attributes
    ----------
    change : ndarray, shape (H,)
        The change of the shares.
    covariance : ndarray, shape (H, H)
        The covariance of the change, times the number of reports.
    """

    def __init__(self, decoder: Decoder, shares: Floats, counts: Floats) -> None:
        heavy = decoder.mechanism.layout.heavy
        self._decoder, self._shares = decoder, shares
        self._prints = np.empty(0, dtype=np.uint64) if heavy is None else heavy.prints
        means, spread = decoder.products(self._prints, counts)
        _, products = decoder.products(self._prints, decoder.chances)
        back = np.eye(len(shares)) - np.outer(shares, np.ones(len(shares)))
        solved = back @ np.linalg.inv(products - 1)
        self.change = solved @ (means - 1)
        self.covariance = solved @ (spread - np.outer(means, means)) @ solved.T

    def significant(self, reports: int) -> Floats:
        """Return the changes that are over three standard errors from 0, and 0 for the others."""
        errors = np.sqrt(np.diag(self.covariance) / reports)
        return np.where(np.abs(self.change) > _CLEAR * errors, self.change, 0.0)

    def expected(self, change: Floats) -> tuple[Floats, float]:
        """Return what a change of heavy strings adds to the shares of reports, and the factor of light shares."""
        light = 1 - float(change.sum()) / max(1 - float(self._shares.sum()), _LEAST_SHARE)
        own = self._decoder.means_of_rows(self._prints, change + (1 - light) * self._shares)
        return self._decoder.chances * (own - (1 - light)), light


@dataclass(frozen=True, eq=False)
class StringEstimates:
    """Estimated shares of candidate strings.

    Attributes
    ----------
    candidates : tuple of str
        The strings.
    shares : ndarray
        Estimated shares of the population that reported; unbiased, so that some are below 0.
    standard_errors : ndarray
        Of the shares.
    reports : int
        The number n of reports.
    """

    candidates: tuple[str, ...]
    shares: Floats
    standard_errors: Floats
    reports: int

    def intervals(self, confidence: float = 0.95, *, simultaneous: bool = False) -> NDArray[np.float64]:
        """Return a normal confidence interval for each share, shape (candidates, 2).

        Parameters
        ----------
        confidence : float
            The probability with which an interval holds the share.
        simultaneous : bool
            Whether all intervals hold at once with this probability (Bonferroni).
        """
        level = (1 - confidence) / (len(self.candidates) if simultaneous else 1)
        margin = NormalDist().inv_cdf(1 - level / 2) * self.standard_errors
        return np.stack([self.shares - margin, self.shares + margin], axis=1)


def estimate_strings(
    reports: Integers, mechanism: WindowMechanism, candidates: Sequence[str], reference: Mapping[str, float]
) -> StringEstimates:
    """Return the shares of candidate strings among the people who reported.

    Heavy strings are solved for together, all others one by one; the light strings that are not candidates are taken
    to have drifted in proportion.

    Parameters
    ----------
    reports : ndarray of int, shape (n,)
        As of `WindowMechanism.privatize`.
    mechanism : WindowMechanism
        The mechanism that made them, with its evidence.
    candidates : sequence of str
        The strings to estimate.
    reference : mapping of str to float
        Shares of strings among the samples that prove; a string that it lacks has none.

    Raises
    ------
    InputError
        For reports of another mechanism, no report, or a candidate that stands twice.
    """
    counted = np.bincount(mechanism.numbers(reports), minlength=len(mechanism.outputs))
    return estimate_counts(counted, mechanism, candidates, reference)


def estimate_counts(
    counted: Integers, mechanism: WindowMechanism, candidates: Sequence[str], reference: Mapping[str, float]
) -> StringEstimates:
    """Return `estimate_strings` of reports that are counted by window."""
    names = [normal(string, mechanism.form) for string in candidates]
    decoder, n = Decoder(mechanism), int(counted.sum())
    if not names or n == 0:
        raise InputError.nothing_given(f"there are {len(names)} candidates and {n} reports; give at least one of each")
    if twice := next((name for name, count in Counter(names).items() if count > 1), None):
        raise InputError.label_twice(
            f"the candidate {shorten(twice)} stands twice, in the normal form {mechanism.form}; give it once"
        )
    counts = counted / n
    heavy = () if mechanism.layout.heavy is None else mechanism.layout.heavy.strings
    own = np.array([reference.get(name, 0.0) for name in heavy])
    drift = Drift(decoder, own, counts)
    expected, light = drift.expected(drift.significant(n))
    means, _ = decoder.moments(counts - expected, names)
    _, squares = decoder.moments(counts, names)
    information = decoder.squares(names) - 1
    shares = light * np.array([reference.get(name, 0.0) for name in names]) + (means - 1) / information
    place = {name: index for index, name in enumerate(heavy)}
    chosen = [(at, place[name]) for at, name in enumerate(names) if name in place]
    errors = np.sqrt(np.maximum(squares - means**2, 0) / n) / information
    for at, index in chosen:
        shares[at] = own[index] + drift.change[index]
        errors[at] = np.sqrt(drift.covariance[index, index] / n)
    return StringEstimates(tuple(names), shares, errors, n)
