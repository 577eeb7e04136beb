"""Estimated shares of candidate strings, with honest errors.

Heavy strings are solved for together. Then light strings are read from what the changes of heavy ones leave
unexplained. Those that are far from their shares among the samples are solved for too, and all others are read
again (*pursuit*), until no more are far. What is left of drift lets strings that share windows disturb one another.
Seeds are independent, so how much their scores of a string differ tells the variance with these collisions, and
without them it is known from the draws alone; the greater one counts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.numerics.arrays import Floats
from mechdesign.windows.collisions import PART
from mechdesign.windows.decoder import Decoder
from mechdesign.windows.drift import Drift
from mechdesign.windows.hashing import fingerprints
from mechdesign.windows.layout import Integers
from mechdesign.windows.shrinkage import projected, shrunken
from mechdesign.windows.strings import normal
from mechdesign.windows.windows_mechanism import WindowMechanism

_FAR = 4.5  # standard errors, from which on a light string is solved for
_ALIKE = 1e-12  # of the variance of reports of others: what is left of reports that read alike is rounding
_MOST_FAR = 200
_MOST_ROUNDS = 10


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
        Of the shares, with collisions.
    reports : int
        The number n of reports.
    seeds : int
        The number M of seeds; intervals are those of Student's t with M - 1 degrees of freedom.
    groups : ndarray of str
        Of each candidate: "heavy"; "moved", light ones that were found far from their shares among the samples, and
        solved for; "light"; "unseen", those that the samples lack. Without a reference all that are not heavy are
        compared with a share of 0, and "unseen" if they have not moved.
    sample_shares : ndarray
        Shares among the samples that prove; 0 without a reference.
    collisions : float
        How much greater the variances of light strings are than those of the draws alone, as a part of these, on
        average over the candidates; about 0 without drift, and then below 0 as often as above.
    by_lengths : bool
        Whether there was no reference, so that shares come from the lengths of windows.
    """

    candidates: tuple[str, ...]
    shares: Floats
    standard_errors: Floats
    reports: int
    seeds: int
    groups: NDArray[np.str_]
    sample_shares: Floats
    collisions: float
    by_lengths: bool = False

    @property
    def moved(self) -> tuple[str, ...]:
        """The candidates of the group "moved"."""
        return tuple(name for name, group in zip(self.candidates, self.groups, strict=True) if group == "moved")

    def intervals(
        self, confidence: float = 0.95, *, simultaneous: bool = False, tables: int = 1
    ) -> NDArray[np.float64]:
        """Return a confidence interval for each share, shape (candidates, 2).

        Parameters
        ----------
        confidence : float
            The probability with which an interval holds the share, in (0, 1).
        simultaneous : bool
            Whether all intervals hold at once with this probability (Bonferroni).
        tables : int
            Of how many such tables all intervals hold at once, as of groups of reports.

        Raises
        ------
        InputError
            For a confidence that is not in (0, 1).
        """
        if not 0 < confidence < 1:
            raise InputError.out_of_range(f"confidence is {shorten(confidence)}; accepted: a number in (0, 1)")
        level = (1 - confidence) / (tables * len(self.candidates) if simultaneous else 1)
        margin = quantile(level / 2, self.seeds) * self.standard_errors
        return np.stack([self.shares - margin, self.shares + margin], axis=1)

    def toward_sample(self, limit: float = 1) -> Floats:
        """Return shares that are drawn toward those of the samples: biased, and on average nearer to the truth.

        They are `shrunken` group by group, but for strings that moved. `intervals` stay those of the reports: honest,
        and wide enough for these shares where the limit is at most the half width over the standard error.

        Parameters
        ----------
        limit : float
            By how many standard errors a share moves at most; infinity for the estimates of James and Stein.

        Raises
        ------
        InputError
            For a limit below 0, or without a reference.
        """
        if self.by_lengths:
            raise InputError.missing_argument(
                "the estimates have no reference, so that the shares among the samples are not known; give them "
                "(reference=)"
            )
        found = shrunken(self.shares, self.standard_errors, self.sample_shares, self.groups, limit)
        return np.where(self.groups == "moved", self.shares, found)

    def on_simplex(self) -> Floats:
        """Return shares from 0 on, of sum 1 at most, that are the nearest to the estimates: `projected`.

        `intervals` stay those of the reports.
        """
        return projected(self.shares, self.standard_errors)

    @property
    def advice(self) -> str | None:
        """What to do about collisions, in a sentence.

        None where they add at most a tenth to the variances, or no more than the seeds tell apart from 0: twice the
        relative standard error of one string's variance.
        """
        if self.seeds == 1 or self.collisions <= max(PART, 2 * math.sqrt(2 / (self.seeds - 1))):
            return None
        needed = math.ceil(self.seeds * self.collisions / PART)
        why = "estimates without a reference" if self.by_lengths else "this change since the sample"
        return (
            f"{self.seeds:,} seeds are too few for {self.reports:,} reports and {why}: "
            f"collisions add {self.collisions:.0%} to the variances; {needed:,} seeds would add {PART:.0%}"
        )


def quantile(tail: float, seeds: int) -> float:
    """Return what Student's t with one degree of freedom less than seeds exceeds so often; of one seed the normal.

    Examples
    --------
    >>> round(quantile(0.025, 1), 4), round(quantile(0.025, 1000), 4)
    (1.96, 1.9623)
    """
    from scipy.special import ndtri, stdtrit

    return -float(stdtrit(seeds - 1, tail) if seeds > 1 else ndtri(tail))


def estimate_strings(
    reports: Integers,
    mechanism: WindowMechanism,
    candidates: Sequence[str],
    reference: Mapping[str, float] | None = None,
) -> StringEstimates:
    """Return the shares of candidate strings among the people who reported.

    Heavy strings, and candidates that are far from their shares among the samples, are solved for together, all others
    one by one; the light strings that are not candidates are taken to have drifted in proportion.

    Parameters
    ----------
    reports : ndarray of int, shape (n,)
        As of `WindowMechanism.privatize`.
    mechanism : WindowMechanism
        The mechanism that made them, with its evidence.
    candidates : sequence of str
        The strings to estimate.
    reference : mapping of str to float, optional
        Shares of all strings among the samples that prove (`WindowDesign.shares`). Without them shares are estimated
        from the lengths of windows alone, with greater errors.

    Raises
    ------
    InputError
        For reports of another mechanism, no report, a candidate that stands twice, or the reference of other samples.
    """
    decoder = Decoder(mechanism, by_lengths=reference is None)
    shares = mechanism.checked_reference(reference) or {}
    return estimate_counts(counts_of(reports, mechanism), decoder, candidates, shares)


def counts_of(reports: Integers, mechanism: WindowMechanism) -> Integers:
    """Return how often each window of a mechanism was reported."""
    return np.bincount(mechanism.numbers(reports), minlength=len(mechanism.outputs))


def estimate_counts(
    counted: Integers, decoder: Decoder, candidates: Sequence[str], reference: Mapping[str, float]
) -> StringEstimates:
    """Return `estimate_strings` of reports that are counted by window."""
    form = decoder.mechanism.form
    names = [normal(string, form) for string in candidates]
    n = int(counted.sum())
    if not names or n == 0:
        raise InputError.nothing_given(f"there are {len(names)} candidates and {n} reports; give at least one of each")
    if twice := next((name for name, count in Counter(names).items() if count > 1), None):
        raise InputError.label_twice(
            f"the candidate {shorten(twice)} stands twice, in the normal form {form}; give it once"
        )
    return _Reading(counted / n, n, decoder, names, decoder.prior(reference)).estimates()


def rough_shares(counted: Integers, decoder: Decoder, names: Sequence[str], reference: Mapping[str, float]) -> Floats:
    """Return the shares of many strings roughly and fast: heavy ones are solved for, others are not corrected.

    Parameters
    ----------
    counted : ndarray of int, shape (outputs,)
        How often each window was reported.
    decoder : Decoder
        That of the mechanism.
    names : sequence of str
        Strings in the normal form.
    reference : mapping of str to float
        As for `estimate_strings`.
    """
    n = int(counted.sum())
    listed, reference = _heavy_of(decoder), decoder.prior(reference)
    own = np.array([reference.get(name, 0.0) for name in names])
    drift = Drift(decoder, fingerprints(listed), np.array([reference.get(name, 0.0) for name in listed]), counted / n)
    expected, light = drift.expected(drift.significant(n))
    found = light * own + decoder.scores(counted / n - expected, names) / (decoder.square_anywhere - 1)
    heavy = {name: drift.shares[at] + drift.change[at] for at, name in enumerate(listed)}
    for at, name in enumerate(names):
        found[at] = heavy.get(name, found[at])
    return np.asarray(found)


def _heavy_of(decoder: Decoder) -> tuple[str, ...]:
    heavy = decoder.mechanism.layout.heavy
    return () if heavy is None else heavy.strings


class _Reading:
    """Reports, read for candidates."""

    def __init__(
        self, counts: Floats, n: int, decoder: Decoder, names: list[str], reference: Mapping[str, float]
    ) -> None:
        self._counts, self._n, self._names, self._reference = counts, n, names, reference
        self._decoder, mechanism = decoder, decoder.mechanism
        self._heavy = _heavy_of(decoder)
        self._own = np.array([reference.get(name, 0.0) for name in names])
        self._seeds = len(mechanism.windows)

    def estimates(self) -> StringEstimates:
        """Return the estimates, after strings that moved far are found and solved for together with the heavy ones."""
        moved: tuple[str, ...] = ()
        found = self._read(moved)
        for _ in range(_MOST_ROUNDS):
            if not (far := self._far(found[1], found[3], moved)):
                break
            try:
                found = self._read(moved + far)
            except LimitError:  # the windows do not tell more strings apart
                break
            moved += far
        drift, _, variances, of_draws, shares = found
        listed = {name: index for index, name in enumerate((*self._heavy, *moved))}
        light = np.array([name not in listed for name in self._names])
        ratio = float(np.mean(variances[light] / of_draws[light]) - 1) if light.any() and self._seeds > 1 else 0.0
        variances = np.maximum(variances, of_draws)
        both = np.maximum(np.diag(drift.covariance) / self._n, drift.spread_of_seeds)
        for at, name in enumerate(self._names):
            if (index := listed.get(name)) is not None:
                shares[at], variances[at] = self._own[at] + drift.change[index], both[index]
        groups = np.where(self._own > 0, "light", "unseen")
        groups[[name in moved for name in self._names]] = "moved"
        groups[[name in self._heavy for name in self._names]] = "heavy"
        names, errors, by_lengths = tuple(self._names), np.sqrt(variances), self._decoder.by_lengths
        own = np.zeros(len(names)) if by_lengths else self._own
        return StringEstimates(names, shares, errors, self._n, self._seeds, groups, own, ratio, by_lengths)

    def _read(self, moved: tuple[str, ...]) -> tuple[Drift, Floats, Floats, Floats, Floats]:
        """Return the drift of listed strings, and of all candidates, read as light ones, what is left unexplained.

        That is the change, its variance as seeds tell and as the draws alone tell, and the shares.
        """
        listed = (*self._heavy, *moved)
        own = np.array([self._reference.get(name, 0.0) for name in listed])
        drift = Drift(self._decoder, fingerprints(listed), own, self._counts)
        expected, light = drift.expected(drift.significant(self._n))
        found, M = self._decoder.reading(self._counts - expected, self._counts, self._names), self._seeds
        spread = (found.squares - found.sums**2 / M) * (M / max(M - 1, 1)) * (M > 1)
        of_reports = found.seconds - found.means**2
        # Few reports may all read alike; then the variance is that for people who do not have the string.
        of_reports = np.where(of_reports > _ALIKE * found.information, of_reports, found.information)
        change = found.sums / found.information
        shares = light * self._own + change
        return drift, change, spread / found.information**2, of_reports / self._n / found.information**2, shares

    def _far(self, change: Floats, variances: Floats, moved: tuple[str, ...]) -> tuple[str, ...]:
        """Return the light candidates that are far from their shares, the farthest first.

        Only those at least half as far as the farthest, since the others may be disturbed by them.
        """
        distance = np.abs(change) / np.sqrt(np.maximum(variances, np.finfo(float).tiny))
        known = {*self._heavy, *moved}
        distance[[name in known for name in self._names]] = 0
        order = np.argsort(-distance, kind="stable")[:_MOST_FAR]
        far = [self._names[at] for at in order if distance[at] > max(_FAR, distance.max() / 2)]
        return tuple(far[: _MOST_FAR - len(moved)])
