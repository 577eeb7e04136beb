"""The Gaussian sparse histogram mechanism (CSH Algorithm 1): the guarantee of independent noise and a threshold.

Every counter that is not 0 gets N(0, sigma^2), and is released where the sum exceeds ``1 + tau``. Neighbours differ by
one user, who changes at most k counters, all by 1 in the same direction. The analysis is for real numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

import numpy as np

from mechdesign.histogram.calibration import Calibration, GaussianCalibration, Sparse, meets
from mechdesign.histogram.hockey_stick import (
    Ball,
    gaussian_divergence,
    greatest_over_splits,
    log_survival,
    release_probability,
    rounded_up,
)
from mechdesign.histogram.noise import gaussian_noise
from mechdesign.histogram.record import Noise
from mechdesign.histogram.release_plan import ONE_RELEASE, Integers, Noisy, Usage
from mechdesign.histogram.sparse_plan import CHOICE_OF_K, TIME, SparsePlan, analysis_option, sparse_options
from mechdesign.mechanism.sampler import RandomBytes
from mechdesign.numerics.epsilon import nats
from mechdesign.numerics.exact import arb_of

ANALYSES = ("exact", "add-the-deltas")
_STEPS = 2_000  # bounds on splits that are evaluated at most
_FEW_STEPS = 150  # the same, where pairs are only compared


def gshm_delta(k: int, sigma: object, tau: object, epsilon: object, analysis: str = "exact") -> float:
    """Return the delta of the Gaussian sparse histogram mechanism (CSH Lemmas 6 and 7).

    With ``P = Phi(tau / sigma)`` and G the divergence of the Gaussian mechanism (CSH Lemma 5), the sum of the two ways
    to leak is ``1 - P^k + G(epsilon, sqrt(k) / sigma)``. The exact delta is the greatest over the numbers n of new and
    ``j = k - n`` of shared counters that a user changes of

        ``1 - P^n + P^n G(epsilon - n log P, sqrt(j) / sigma)``   and   ``G(epsilon + n log P, sqrt(j) / sigma)``.

    Parameters
    ----------
    k : int
        Most counters that one user changes, from 1 to 10^9.
    sigma : number or str
        Standard deviation of the noise, above 0.
    tau : number or str
        Threshold, at least 0: a count is released where it exceeds ``1 + tau`` with its noise.
    epsilon : number or str
        A decimal from 0 to 700, or ``"log(9/8)"``; nats.
    analysis : str, optional
        ``"exact"``, or ``"add-the-deltas"`` for the sum.

    Returns
    -------
    float
        Never below the delta of the analysis; above the exact one by 1e-12 of it, or by what 2,000
        bounds on ranges of n leave open where k is large and a mixed pair is worst.

    Raises
    ------
    InputError
        For a value outside these ranges.

    Examples
    --------
    >>> round(gshm_delta(3, 1, 1.5, 0.35), 12), round(gshm_delta(3, 1, 1.5, 0.35, "add-the-deltas"), 6)
    (0.544084659669, 0.731415)
    """
    return GshmCalibration.of(epsilon, analysis).delta(k, sigma, tau)


class GshmCalibration(GaussianCalibration):
    """The analyses of `gshm_delta`."""

    analyses: ClassVar[tuple[str, ...]] = ANALYSES
    sources: ClassVar[Mapping[str, str]] = {
        "exact": "CSH Lemma 7 (Wilkins, Kifer, Zhang, Karrer, JPC 14(1), 2024): no smaller delta is true",
        "add-the-deltas": "CSH Lemma 6 (Google's note on thresholding)",
    }
    least: ClassVar[str] = "gshm_least_sigma"

    def reached(self, noise: Sparse, tau: Fraction, target: Fraction = Fraction(1), *, rough: bool = False) -> float:
        """Return the delta, as `GaussianCalibration.reached`."""

        # Every term rises with the deviation behind a release and falls with that behind the divergence.
        def height() -> Ball:
            return arb_of(tau) / arb_of(noise.sigma.high)

        def gaussian(shift: Ball, shared: int) -> Ball:
            return gaussian_divergence(nats(self.epsilon) + shift, arb_of(shared).sqrt() / arb_of(noise.sigma.low))

        k = noise.k
        if self.analysis == "add-the-deltas":
            return rounded_up(lambda: release_probability(k, height()) + gaussian(arb_of(0), k))

        def appears(new: int, shared: int) -> Ball:
            survival = log_survival(new, height())
            return -survival.expm1() + survival.exp() * gaussian(-survival, shared)

        def split(new: int, shared: int) -> float:
            vanishes = rounded_up(lambda: gaussian(log_survival(new, height()), shared))
            return max(vanishes, rounded_up(lambda: appears(new, shared)))

        ends = max(rounded_up(lambda: release_probability(k, height())), self.gaussian(noise))
        if not meets(ends, target):
            return ends
        return greatest_over_splits(k, ends, [split], _FEW_STEPS if rough else _STEPS)

    def gaussian(self, noise: Sparse) -> float:
        """Return the delta if no new counter were ever released."""
        return rounded_up(
            lambda: gaussian_divergence(nats(self.epsilon), arb_of(noise.k).sqrt() / arb_of(noise.sigma.low))
        )


def gshm_threshold(k: int, sigma: object, epsilon: object, delta: object, analysis: str = "exact") -> float:
    """Return the least threshold tau with which the mechanism is (epsilon, delta)-private.

    As `csh_threshold`, with the delta and the analyses of `gshm_delta`.

    Examples
    --------
    >>> round(gshm_threshold(10, 32.39033762, 0.35, 1e-5), 4)
    153.965
    """
    return GshmCalibration.of(epsilon, analysis).threshold(k, sigma, delta)


def gshm_least_sigma(k: int, epsilon: object, delta: object) -> float:
    """Return the least sigma for which any threshold is (epsilon, delta)-private, in both analyses.

    It is the least sigma of the Gaussian mechanism with sensitivity ``sqrt(k)`` (CSH Lemma 5), rounded up.
    Arguments and errors are those of `csh_least_sigma`.

    Examples
    --------
    >>> round(gshm_least_sigma(10, 0.35, 1e-5), 6)
    30.847941
    """
    return GshmCalibration.of(epsilon, "exact").least_sigma(k, delta)


def gshm_best(k: int, epsilon: object, delta: object, analysis: str = "exact") -> tuple[float, float]:
    """Return the pair (sigma, tau) with the least tau among those that are (epsilon, delta)-private.

    As `csh_best`, with the delta and the analyses of `gshm_delta`.

    Examples
    --------
    >>> sigma, tau = gshm_best(10, 0.35, 1e-5, "add-the-deltas")
    >>> round(sigma, 1), round(tau, 3)
    (31.8, 157.591)
    """
    return GshmCalibration.of(epsilon, analysis).best(k, delta)


class GshmPlan(SparsePlan):
    """A plan of the Gaussian sparse histogram mechanism (CSH Algorithm 1).

    Every count above 0 gets its own Gaussian noise, and is released where the sum is above ``1 + tau``. Each user
    contributes to at most k counters, at most 1 to each; how many counters are above 0 does not matter.

    Examples
    --------
    >>> plan = GshmPlan.of(10, epsilon="0.35", delta="1e-5", sigma=33)
    >>> 150 < plan.tau < 160
    True
    """

    name: ClassVar[str] = "gshm"
    drawn: ClassVar[Noise] = "continuous"
    neighbours: ClassVar[str] = "one user is added or removed, who counts in at most k counters, in each at most once"
    not_protected: ClassVar[tuple[str, ...]] = (
        "a user who counts in more than k counters, or twice in one",
        CHOICE_OF_K,
        TIME,
        ONE_RELEASE,
    )
    meanings: ClassVar[Mapping[str, str]] = {**SparsePlan.meanings, "k": "no user counts in more counters"}
    calibration: ClassVar[type[Calibration]] = GshmCalibration
    usage: ClassVar[Usage] = Usage(
        choice="each user counts in at most k counters; float noise",
        summary="Each user counts in at most k counters; Gaussian noise.",
        title="Release a histogram in which each user counts once in at most k counters, with Gaussian noise.",
        examples=(
            "mechdesign histogram gshm counts.csv -k 5 --epsilon 1 --delta 1e-6 \\",
            "                          --allow-float-noise -o r.csv --record r.json",
            "mechdesign histogram gshm --plan -k 5 --epsilon 1 --delta 1e-6 --sigma 12",
        ),
        description="Any number of counts may be above 0. Counts do not show in how many counters a user counts: bound "
        "that number to k for each user before you count.",
        options=sparse_options("Most counters that any user counts in.", analysis_option(GshmCalibration)),
        draws_floats=True,
    )

    def noisy(self, counts: Integers, source: RandomBytes) -> Noisy:
        """Draw the noise of one release, as `Plan.noisy`."""
        support = np.flatnonzero(counts)
        noise = gaussian_noise(float(self.sigma), support.size, source)
        return self.above(support, counts[support] + noise)
