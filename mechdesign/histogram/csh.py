"""The correlated stability histogram (CSH Algorithm 2): the guarantee of noise with a common part, and a threshold.

Every counter above 0 gets a noise N(0, sigma^2) of its own and a common noise N(0, sigma^2 / gamma), with
``gamma = sqrt(k)``, and is released where the sum exceeds ``1 + tau``. No data set has more than k counters above 0.
Neighbours differ by one user, who changes counters by 1, all in the same direction. The analysis is for real numbers.

**The proved bound.** Let the user change l of s shared counters, which are above 0 with and without the user, and make
j new ones, which are 0 without and 1 with; ``s + j <= k``. Let R(j) be the probability that at least one new counter is
released, and ``Delta_s^2 = max over l <= s of l - l^2 / (gamma + s)``, the squared sensitivity of s counters with a
common noise. In both directions delta of this pair is at most ``R(j) + G(epsilon, Delta_s / sigma)``.

Thresholds on shared counters are post-processing, so the proof lets the noisy shared counts y be seen. P is the
distribution of the output without the user and Q that with the user; ``w(y)`` is the probability under Q that no new
counter is released, given y.

*Q against P: new counters appear.*

1. ``Q(S) <= R(j) + Q(S, and no new counter is released)``.
2. Where no new counter is released, the output is y, and P and Q are a Gaussian mechanism. So the latter term is at
   most ``exp(epsilon) P(S) + G``.

*P against Q: new counters vanish.*

1. ``P(S) <= E_P[1_S w] + E_P[1 - w]``, since w lies in [0, 1].
2. ``E_P[1_S w] <= exp(epsilon) E_Q[1_S w] + G`` by the Gaussian mechanism, and ``E_Q[1_S w] <= Q(S)``.
3. ``E_P[1 - w] <= R(j)``: given y, the common noise is normal under Q with the mean
   ``m = sum_i (y_i - H_i) / (gamma + s)``, H being the shared counts with the user. If y comes from P, these counts are
   too high by 1 in l places, and m is lower by ``l / (gamma + s)`` than it is with the counts of P. ``1 - w`` rises in
   m, and with the counts of P its mean would be R(j).

Pairs with j = 0 have G alone, and pairs with s = 0 have R alone. Delta_s rises in s, so s = k - j is the worst:

    delta <= max( R(k), G(epsilon, Delta_k / sigma), max over 1 <= j < k of R(j) + G(epsilon, Delta_(k-j) / sigma) ).

The first two terms are attained. So if no mixed term is greater than both, the bound is the exact delta. None is where
both are at most ``min(epsilon, 1) / 70``, for every k (``docs/mathematics.md``, "the extremes decide").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import ClassVar

from mechdesign.histogram.calibration import Calibration, GaussianCalibration, Sparse, meets
from mechdesign.histogram.csh_pair import OpenPairs
from mechdesign.histogram.csh_terms import EXTREMES, CshTerms
from mechdesign.histogram.hockey_stick import Ball, greatest_over_splits, rounded_up
from mechdesign.histogram.noise import correlated_noise
from mechdesign.histogram.record import Noise
from mechdesign.histogram.release_plan import Integers, Noisy, Usage
from mechdesign.histogram.sparse_plan import MOST_POSITIVE, MonotonicPlan, analysis_option, sparse_options
from mechdesign.mechanism.sampler import RandomBytes
from mechdesign.numerics.exact import arb_of

ANALYSES = ("proved", "theorem-11", "theorem-12", "exact", EXTREMES)
_PAPER = ("theorem-11", "theorem-12")
_STEPS = 400  # bounds on splits that are evaluated at most
_FEW_STEPS = 100  # the same, where values of sigma and tau are only compared
_UNLIMITED = 10**9  # `OpenPairs` has the limit


def csh_delta(k: int, sigma: object, tau: object, epsilon: object, analysis: str = "proved") -> float:
    """Return a delta of the correlated stability histogram (CSH Algorithm 2).

    Parameters
    ----------
    k : int
        Most counters that are not 0 in any data set, from 1 to 10^9.
    sigma : number or str
        Standard deviation of a counter's own noise, above 0. With the common noise, the deviation of a count is
        ``sigma sqrt(1 + 1 / sqrt(k))``.
    tau : number or str
        Threshold, at least 0: a count is released where it exceeds ``1 + tau`` with its noise.
    epsilon : number or str
        A decimal from 0 to 700, or ``"log(9/8)"``; nats.
    analysis : str, optional
        - ``"proved"``: the bound stated at the top of this module, in ball arithmetic throughout. Where it is at most
          ``min(epsilon, 1) / 70``, it is the exact delta, rounded up.
        - ``"theorem-11"``, ``"theorem-12"``: those of the paper. One term of Theorem 12 is not a bound for its own
          pairs, but it never decides the maximum (see ``docs/mathematics.md``).
        - ``"exact"``: the supremum over all pairs of neighbours. The pairs that the proved bound leaves open are
          integrated numerically, and an estimated error is added, which is not proved (see `csh_pair_delta`).
        - ``"exact-extremes-unproved"``: the greater delta of the two extreme pairs, all counters new and all shared: a
          lower bound. Above ``min(epsilon, 1) / 70`` it is not proved that no pair is worse; none was found.

    Returns
    -------
    float
        Never below what the analysis says; releases take ``"proved"`` or ``"theorem-11"`` alone.

    Raises
    ------
    InputError
        For a value outside these ranges.
    LimitError
        If ``"exact"`` would evaluate more than 300 pairs and bounds on pairs, which happens only for k above 12.

    Examples
    --------
    >>> round(csh_delta(10, 28.23253992, 153.962, 0.35), 9)
    9.999e-06
    >>> csh_delta(10, 28.23253992, 153.962, 0.35) == csh_delta(10, 28.23253992, 153.962, 0.35, "exact")
    True
    """
    return CshCalibration.of(epsilon, analysis).delta(k, sigma, tau)


class CshCalibration(GaussianCalibration):
    """The analyses of `csh_delta`."""

    analyses: ClassVar[tuple[str, ...]] = ANALYSES
    sources: ClassVar[Mapping[str, str]] = {
        "proved": "a bound that is proved for every pair of neighbours, and at most that of CSH Theorem 11",
        "theorem-11": "CSH Theorem 11",
    }
    least: ClassVar[str] = "csh_least_sigma"

    def reached(self, noise: Sparse, tau: Fraction, target: Fraction = Fraction(1), *, rough: bool = False) -> float:
        """Return the delta, as `GaussianCalibration.reached`."""
        k, terms, steps = noise.k, CshTerms(noise, tau, self.epsilon), _FEW_STEPS if rough else _STEPS
        if self.analysis == "theorem-11":
            return rounded_up(lambda: terms.lemma_10(k) + terms.lemma_8())
        if self.analysis == "theorem-12":
            return _theorem_12(terms, steps)
        release = terms.jensen if rough else terms.released
        ends = max(rounded_up(lambda: release(k)), rounded_up(lambda: terms.shared(k)))
        if self.analysis == EXTREMES or not meets(ends, target) or (rough and self.analysis == "exact"):
            return ends
        if terms.extremes_decide(ends):
            return ends
        coarse, fine = _by(terms, terms.jensen), _by(terms, terms.released)
        if self.analysis == "proved":
            return greatest_over_splits(k, ends, [coarse] if rough else [coarse, fine], steps)
        pairs = OpenPairs(terms, fine, ends)
        return greatest_over_splits(k, ends, [coarse, pairs.bound, pairs.greatest], _UNLIMITED)

    def gaussian(self, noise: Sparse) -> float:
        """Return the delta if no new counter were ever released."""
        terms = CshTerms(noise, Fraction(0), self.epsilon)
        return rounded_up(terms.lemma_8 if self.analysis in _PAPER else lambda: terms.shared(noise.k))

    def deviation(self, k: int, sigma: float) -> float:
        """Return the standard deviation of all the noise of a count."""
        return float(sigma * (1 + k**-0.5) ** 0.5)


def _by(terms: CshTerms, release: Callable[[int], Ball]) -> Callable[[int, int], float]:
    return lambda new, shared: rounded_up(lambda: release(new) + terms.shared(shared))


def _theorem_12(terms: CshTerms, steps: int) -> float:
    # The fourth case of the theorem is G(epsilon + log w, mu), with w = 1 - L and L the term of Lemma 10. It is left
    # out, because it is never above the third, G(epsilon, mu) + L:
    # P(S) - w exp(epsilon) Q(S) = w (P(S) - exp(epsilon) Q(S)) + (1 - w) P(S) <= G(epsilon, mu) + L.
    k = terms.k

    def shift(shared: int) -> Ball:
        return arb_of(shared).sqrt().min((shared + arb_of(k).sqrt()).sqrt() / 2)

    def split(new: int, shared: int) -> float:
        return rounded_up(lambda: terms.lemma_10(new) + terms.gaussian(lambda: shift(shared)))

    ends = max(rounded_up(lambda: terms.lemma_10(k)), rounded_up(terms.lemma_8))
    return greatest_over_splits(k, ends, [split], steps)


def csh_threshold(k: int, sigma: object, epsilon: object, delta: object, analysis: str = "proved") -> float:
    """Return the least threshold tau with which the mechanism is (epsilon, delta)-private by an analysis.

    Parameters
    ----------
    k, sigma, epsilon, analysis
        As for `csh_delta`.
    delta : number or str
        From 5e-324 to 1, exclusive.

    Returns
    -------
    float
        Not negative. `csh_delta` is at most delta at this tau, and above delta at ``tau (1 - 1e-13)``.

    Raises
    ------
    InputError
        For a value outside these ranges, and where sigma is so small that no threshold reaches delta.
    LimitError
        As for `csh_delta`.

    Examples
    --------
    >>> [round(csh_threshold(10, 28.23253992, 0.35, 1e-5, name), 4) for name in ("proved", "theorem-12")]
    [153.9614, 210.5161]
    """
    return CshCalibration.of(epsilon, analysis).threshold(k, sigma, delta)


def csh_least_sigma(k: int, epsilon: object, delta: object, analysis: str = "proved") -> float:
    """Return the least sigma for which some threshold is (epsilon, delta)-private by an analysis.

    It is the sigma of the correlated Gaussian mechanism, rounded up. Its sensitivity is ``sqrt(k + sqrt(k)) / 2`` (CSH
    Lemma 8) for the theorems of the paper, and the exact one, which is at most that, for the other analyses.

    Arguments are those of `csh_threshold`. A target that takes more than ``2^1000`` is an `InputError`.

    Examples
    --------
    >>> round(csh_least_sigma(10, 0.35, 1e-5), 6), round(csh_least_sigma(10, 0.35, 1e-5, "theorem-11"), 6)
    (17.659577, 17.695454)
    """
    return CshCalibration.of(epsilon, analysis).least_sigma(k, delta)


def csh_best(k: int, epsilon: object, delta: object, analysis: str = "proved") -> tuple[float, float]:
    """Return the pair (sigma, tau) with the least tau among those that are (epsilon, delta)-private by an analysis.

    Both are private as they are; tau is within about 1e-6 of the least, relative to it. Arguments and errors are those
    of `csh_threshold` and `csh_least_sigma`.

    Examples
    --------
    >>> sigma, tau = csh_best(10, 0.35, 1e-5, "theorem-11")
    >>> round(sigma, 2), round(tau, 3)
    (18.26, 141.764)
    """
    return CshCalibration.of(epsilon, analysis).best(k, delta)


class CshPlan(MonotonicPlan):
    """A plan of the correlated sparse histogram (CSH Algorithm 2).

    Every count above 0 gets its own Gaussian noise and a common one of variance ``sigma^2 / sqrt(k)``, and is released
    where the sum is above ``1 + tau``. No possible data set may have more than k counters above 0.

    Two analyses of `csh_delta` are accepted. Of the others ``"theorem-12"`` is not tighter than ``"proved"``, and
    ``"exact"`` and ``"exact-extremes-unproved"`` are not proved for every delta.

    Examples
    --------
    >>> plan = CshPlan.of(10, epsilon="0.35", delta="1e-5", sigma=22)
    >>> 100 < plan.tau < 140
    True
    """

    name: ClassVar[str] = "csh"
    drawn: ClassVar[Noise] = "continuous"
    calibration: ClassVar[type[Calibration]] = CshCalibration
    usage: ClassVar[Usage] = Usage(
        choice="as discrete, with float noise and a lower threshold",
        summary="At most k counts above 0; correlated Gaussian noise.",
        title="Release a histogram of at most k counts above 0, with correlated Gaussian noise.",
        examples=(
            "mechdesign histogram csh counts.csv -k 100 --epsilon 1 --delta 1e-6 \\",
            "                         --allow-float-noise -o r.csv --record r.json",
            "mechdesign histogram csh --plan -k 100 --epsilon 1 --delta 1e-6",
        ),
        description="As `histogram discrete`, with a lower threshold, but noise is drawn as floating point numbers.",
        options=sparse_options(MOST_POSITIVE, analysis_option(CshCalibration)),
        draws_floats=True,
    )

    def noisy(self, counts: Integers, source: RandomBytes) -> Noisy:
        """Draw the noise of one release, as `Plan.noisy`."""
        support = self.support(counts)
        noise = correlated_noise(self.k, float(self.sigma), support.size, source)
        return self.above(support, counts[support] + noise)
