"""The k largest counts of a histogram with any number of counters (CSH Algorithm 3, Lemma 13, Sections 4 and 6).

The (k+1)-th largest count t is subtracted from all counts, and what falls below 0 becomes 0. At most k of these
differences are above 0, and one user changes all of them in one direction, by at most 1: if the user leaves t as it is,
each difference follows its own counter; if the user raises t by 1, a difference stays where its own counter rises too,
and falls by 1 elsewhere. So a mechanism for k-sparse monotonic histograms keeps its guarantee for the differences:
`csh_delta`, or `discrete_delta`.

*The (k+1)-th count* may be released as well, with noise of its own, so that it can be added back. A user changes it by
at most 1, and may change the differences *at the same time*, in the other direction: with the counts (5, 5, 3) and
k = 2, a user who adds 1 to the third makes t = 4, and the differences (2, 2) become (1, 1). For Gaussian noise of
standard deviation ``value_sigma`` the squared distances of both releases add up:

    mu^2 = (k + sqrt(k)) / (4 sigma^2) + 1 / value_sigma^2,

which is attained where ``(k + sqrt(k)) / 2`` is a whole number. For ``value_sigma = sigma`` the sensitivity of CSH
Theorem 11 rises from ``sqrt(k + sqrt(k)) / 2`` to ``sqrt((k + sqrt(k)) / 4 + 1)``. The probability that a new counter
is released is added, as in that theorem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from mechdesign.data.checks import checked_scale
from mechdesign.display.numbers import text_near
from mechdesign.errors import InputError, shorten
from mechdesign.histogram.calibration import Calibration, GaussianCalibration, Sparse, checked_epsilon, checked_sparsity
from mechdesign.histogram.csh import CshCalibration, CshPlan
from mechdesign.histogram.discrete import DiscreteCalibration, DiscretePlan
from mechdesign.histogram.discrete_sampler import Integers, draw_discrete_gaussian
from mechdesign.histogram.hockey_stick import Ball, gaussian_divergence, rounded_up
from mechdesign.histogram.noise import gaussian_noise
from mechdesign.histogram.one_factor import common_release_probability
from mechdesign.histogram.record import Noise
from mechdesign.histogram.release_plan import ONE_RELEASE, Noisy, Option, Usage
from mechdesign.histogram.sparse_plan import CHOICE_OF_K, TIME, MonotonicPlan, SparsePlan, calibrated, sparse_options
from mechdesign.mechanism.sampler import RandomBytes
from mechdesign.numerics.arrays import number_array
from mechdesign.numerics.epsilon import Epsilon, nats
from mechdesign.numerics.exact import arb_of, rational
from mechdesign.numerics.outward import Interval


def top_k_counts(counts: Integers, k: int) -> tuple[Integers, int]:
    """Return by how much each count exceeds the (k+1)-th largest, and the (k+1)-th largest count (CSH Algorithm 3).

    Parameters
    ----------
    counts : int array, shape (N,)
        Not negative. Counters that are not listed are 0.
    k : int
        How many counts are kept at most. Fewer are kept if some of the k largest equal the (k+1)-th.

    Returns
    -------
    reduced : int array, shape (N,)
        The differences. At most k are above 0.
    subtracted : int
        The (k+1)-th largest count; 0 where at most k counts are above 0. It is not private.

    Raises
    ------
    InputError
        If the counts are not whole numbers of 0 or more, or k is not a whole number of 1 or more.

    Examples
    --------
    >>> top_k_counts(np.array([9, 2, 7, 4]), 2)
    (array([5, 0, 3, 0]), 4)
    """
    kept, values = checked_sparsity(k), number_array(counts, "the list of counts", "a list of whole numbers")
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise InputError.not_counts(f"the counts are {shorten(counts)}; accepted: a list of whole numbers")
    if values.size and values.min() < 0:
        raise InputError.not_counts(f"a count is {values.min()}; accepted: a whole number, 0 or more")
    subtracted = 0 if values.size <= kept else int(np.partition(values, values.size - kept - 1)[-kept - 1])
    reduced: Integers = np.maximum(values.astype(np.int64), subtracted) - subtracted
    return reduced, subtracted


def top_k_delta(
    k: int, sigma: object, tau: object, epsilon: object, analysis: str = "proved", value_sigma: object | None = None
) -> float:
    """Return a delta of the top k with correlated Gaussian noise, rounded up (CSH Corollary 14).

    Parameters
    ----------
    k, sigma, tau, epsilon, analysis
        As for `csh_delta`, whose value is returned where the (k+1)-th count is not released.
    value_sigma : number or str, optional
        Standard deviation of the noise with which the (k+1)-th count is released too. Then the only analysis is
        ``"proved"``: the divergence of the Gaussian noise, plus the probability that at least one of k new counters is
        released.

    Raises
    ------
    InputError
        As for `csh_delta`, and for another analysis than ``"proved"`` where value_sigma is given.

    Examples
    --------
    >>> delta = top_k_delta(10, 30, 120, 0.35)
    >>> delta < top_k_delta(10, 30, 120, 0.35, value_sigma=30)
    True
    """
    return _calibration(epsilon, analysis, value_sigma).delta(k, sigma, tau)


def top_k_threshold(
    k: int, sigma: object, epsilon: object, delta: object, analysis: str = "proved", value_sigma: object | None = None
) -> float:
    """Return the least tau with which `top_k_delta` is at most delta.

    As `csh_threshold`, with the value_sigma of `top_k_delta`.

    Examples
    --------
    >>> top_k_threshold(10, 30, 0.35, 1e-5) < top_k_threshold(10, 30, 0.35, 1e-5, value_sigma=30)
    True
    """
    return _calibration(epsilon, analysis, value_sigma).threshold(k, sigma, delta)


@dataclass(frozen=True)
class TopKCalibration(GaussianCalibration):
    """The analysis of `top_k_delta` where the (k+1)-th count is released with the noise of scale value."""

    least: ClassVar[str] = "csh_least_sigma, for counts released without the (k+1)-th,"

    value: Interval

    def reached(self, noise: Sparse, tau: Fraction, target: Fraction = Fraction(1), *, rough: bool = False) -> float:  # noqa: ARG002
        """Return the delta, as `GaussianCalibration.reached`."""

        def appears() -> Ball:
            common = 1 / arb_of(noise.k).sqrt().sqrt()
            return common_release_probability(noise.k, arb_of(tau) / arb_of(noise.sigma.high), common)

        both = Fraction(self.gaussian(noise)) + Fraction(rounded_up(appears))
        return rounded_up(lambda: arb_of(both))

    def gaussian(self, noise: Sparse) -> float:
        """Return the divergence of the noise of the shared counters and of the (k+1)-th count."""

        def divergence() -> Ball:
            root = arb_of(noise.k).sqrt()
            squared = (noise.k + root) / (4 * arb_of(noise.sigma.low) ** 2) + 1 / arb_of(self.value.low) ** 2
            return gaussian_divergence(nats(self.epsilon), squared.sqrt())

        return rounded_up(divergence)


def _calibration(epsilon: object, analysis: str, value_sigma: object) -> Calibration:
    if value_sigma is None:
        return CshCalibration.of(epsilon, analysis)
    if analysis != "proved":
        raise InputError.unknown_choice(
            f"the analysis is {shorten(analysis)}; accepted where the (k+1)-th count is released too: proved"
        )
    return TopKCalibration(checked_epsilon(epsilon), analysis, checked_scale(value_sigma, "value_sigma"))


def recentred(low: object, high: object) -> tuple[Fraction, Fraction]:
    """Return the middle of a range and half its width: a sum query, recentred (CSH Section 6).

    A user who is added or removed changes the sum of values in [low, high] by up to ``max(|low|, |high|)``, but the sum
    of ``value - middle`` by at most half the width. Release the latter sum and an estimate of the number of values,
    both with noise: the sum plus ``middle`` times the number estimates the former sum. One estimate of the number
    serves any number of sums; its error, times the middle, enters each of them.

    Parameters
    ----------
    low, high : number or str
        Bounds of what one user adds to the sum, ``low <= high``.

    Returns
    -------
    middle, sensitivity : Fraction

    Raises
    ------
    InputError
        If they are not numbers in this order.

    Examples
    --------
    >>> recentred(0, 10), recentred("0.5", 2)
    ((Fraction(5, 1), Fraction(5, 1)), (Fraction(5, 4), Fraction(3, 4)))
    """
    least, most = rational(low, "low"), rational(high, "high")
    if least > most:
        raise InputError.out_of_range(f"low is {shorten(low)}, above high = {shorten(high)}; accepted: low <= high")
    return (least + most) / 2, (most - least) / 2


@dataclass(frozen=True, kw_only=True)
class TopKPlan(SparsePlan):
    """A plan of a release of the k largest counts (CSH Algorithm 3, Lemma 13).

    The (k+1)-th largest count is subtracted from every count, and the differences above 0 are released as by
    `DiscretePlan` or `CshPlan`. The (k+1)-th count itself is released only if ``value_sigma`` is given; added to the
    differences it makes them counts.

    Attributes
    ----------
    excesses : type of MonotonicPlan
        How the differences are released: `DiscretePlan` or `CshPlan`.
    value_sigma : Fraction or None
        Standard deviation of the noise with which the (k+1)-th largest count is released too.

    Examples
    --------
    >>> TopKPlan.of(10, epsilon=1, delta="1e-6", sigma=12) == TopKPlan.of(10, epsilon="1", delta=1e-6, sigma="12")
    True
    """

    name: ClassVar[str] = "top-k"
    neighbours: ClassVar[str] = (
        "one user is added or removed, who counts at most once in each counter, of any number of counters"
    )
    quantity: ClassVar[str] = "excess"
    not_protected: ClassVar[tuple[str, ...]] = (
        "a user who counts twice in one counter",
        CHOICE_OF_K,
        TIME,
        ONE_RELEASE,
    )
    meanings: ClassVar[Mapping[str, str]] = {
        **MonotonicPlan.meanings,
        "k": "how many counts are kept at most",
        "tau": "a noisy excess is released where it is above 1 + tau",
        "value_sigma": "standard deviation of the noise of the (k+1)-th largest count",
    }
    usage: ClassVar[Usage] = Usage(
        choice="the k largest counts, above the next; exact noise",
        summary="The k largest counts; exact discrete noise.",
        title="Release by how much each of the k largest counts exceeds the (k+1)-th largest.",
        examples=(
            "mechdesign histogram top-k counts.csv -k 10 --epsilon 1 --delta 1e-6 \\",
            "                           -o top.csv",
            "mechdesign histogram top-k --data queries.parquet --column term -k 10 \\",
            "                           --epsilon 1 --delta 1e-6 -o t.csv --record r.json",
        ),
        description="Protects one user, who may count in any number of counters, once in each; any number of counts "
        "may be above 0. The (k+1)-th largest count is subtracted from every count, and the differences above 0 are "
        "released as by `histogram discrete`, in a column `excess`: they are not counts. The (k+1)-th count itself is "
        "released only with --value-sigma, the standard deviation of its noise; it is then printed, and written to "
        "--record, and an excess plus this count is a noisy count.",
        options=sparse_options(
            "How many counts are kept.",
            Option(
                ("--noise",),
                "Continuous noise allows a lower threshold.",
                choices=("discrete", "continuous"),
                default="discrete",
            ),
            Option(
                ("--analysis",),
                "The analysis of delta: one of those of discrete, or with continuous noise one of those of csh.",
                metavar="NAME",
            ),
            Option(
                ("--value-sigma",),
                "Also release the (k+1)-th largest count, with noise of this standard deviation.",
                metavar="S",
            ),
        ),
        draws_floats=True,
    )

    excesses: type[DiscretePlan] | type[CshPlan]
    value_sigma: Fraction | None = None

    @classmethod
    def of(
        cls,
        k: int,
        *,
        epsilon: object,
        delta: object = None,
        sigma: object = None,
        tau: object = None,
        analysis: str | None = None,
        value_sigma: object = None,
        noise: str = "discrete",
    ) -> Self:
        """Return a plan, computing what is not given: delta, tau, or sigma and tau.

        Parameters
        ----------
        k : int
            How many counts are kept at most. Any number of counts may be above 0, and a user may count in any number
            of counters.
        epsilon, delta, sigma, tau
            As for `SparsePlan.of`.
        analysis : str, optional
            One of `DiscretePlan` for discrete noise, one of `CshPlan` for continuous noise.
        value_sigma : number or str, optional
            Standard deviation of the noise with which the (k+1)-th largest count is released too. Continuous noise
            then needs sigma, and its only analysis is ``"proved"``.
        noise : str
            ``"discrete"`` or ``"continuous"``.

        Raises
        ------
        InputError
            As for `SparsePlan.of`.
        """
        excesses = _EXCESSES.get(noise) if isinstance(noise, str) else None
        if excesses is None:
            raise InputError.unknown_choice(f"the noise is {shorten(noise)}; accepted: 'discrete', 'continuous'")
        if value_sigma is not None and sigma is None and noise == "continuous":
            raise InputError.missing_argument(
                "value_sigma is given without sigma; with continuous noise give both, and delta or tau"
            )
        eps, name = Epsilon.of(epsilon), excesses.calibration.stated(analysis)
        calibration = _calibration if noise == "continuous" else DiscreteCalibration.of
        found = calibrated(calibration(eps, name, value_sigma), k, delta=delta, sigma=sigma, tau=tau)
        value = None if value_sigma is None else rational(value_sigma, "value_sigma")
        return cls(epsilon=eps, **found, excesses=excesses, value_sigma=value)

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the plan of the noise that a record names; delta is computed from sigma, tau and value_sigma."""
        given = ("epsilon", "sigma", "tau", "analysis", "value_sigma", "noise")
        return cls.of(record["k"], **{name: record[name] for name in given})

    @property
    def noise(self) -> Noise:
        """How the noise is drawn, of the differences and of the (k+1)-th count."""
        return self.excesses.drawn

    @property
    def source(self) -> str:
        """Where the analysis is shown."""
        beside = "; the (k+1)-th count beside them: mechdesign.histogram.top_k" if self.value_sigma else ""
        return f"{self.excesses.calibration.sources[self.analysis]}; CSH Lemma 13 and Corollary 14{beside}"

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the mechanism, by their names in the record."""
        return {**super().parameters, "value_sigma": self.value_sigma}

    @property
    def reading(self) -> str:
        """How to read the released values, which are no counts."""
        noise = self._of_excesses.shared_noise
        excess = f"each is an excess and not a count: by how much a count exceeds the (k+1)-th largest, plus {noise}"
        if self.value_sigma is None:
            return f"{excess}; counts cannot be told, since the (k+1)-th largest is not released (--value-sigma)"
        deviation = text_near(self.value_sigma, 4)
        return (
            f"{excess}; an excess plus the released (k+1)-th largest count, called subtracted, is a noisy count, and "
            f"all of these share the noise of the latter too ({deviation})"
        )

    @property
    def _of_excesses(self) -> MonotonicPlan:
        """The plan of the differences, of which at most k are above 0."""
        return self.excesses(
            k=self.k, epsilon=self.epsilon, delta=self.delta, sigma=self.sigma, tau=self.tau, analysis=self.analysis
        )

    @property
    def reduction(self) -> str:
        """What is done to the counts before noise is added, as the record says it."""
        own = "is not released" if self.value_sigma is None else "is released with noise of its own"
        return f"less the (k+1)-th largest count, which {own}"

    def noisy(self, counts: Integers, source: RandomBytes) -> Noisy:
        """Draw the noise of one release, as `Plan.noisy`."""
        reduced, value = top_k_counts(counts, self.k)
        found = self._of_excesses.noisy(reduced, source)
        if self.value_sigma is None:
            return found
        if self.noise == "discrete":
            return replace(found, subtracted=float(value + draw_discrete_gaussian(self.value_sigma**2, 1, source)[0]))
        return replace(found, subtracted=float(value + gaussian_noise(float(self.value_sigma), 1, source)[0]))


_EXCESSES: Mapping[str, type[DiscretePlan] | type[CshPlan]] = {"discrete": DiscretePlan, "continuous": CshPlan}
