"""The correlated sparse histogram with discrete Gaussian noise in steps of 1/2 (CSH Algorithm 4, Lemmas 17 to 20).

Each of at most k positive counts gets the noise ``(Z_c + Z_i) / 2``: one ``Z_c ~ N_Z(0, 4 sigma^2 / gamma)`` is common
to all counts, and each count has a ``Z_i ~ N_Z(0, 4 sigma^2)`` of its own. A count is released where its noisy value is
above ``1 + tau``. The noise that is drawn has exactly the distribution that is analysed.

The paper has ``gamma = sqrt(k)``. Here gamma is that root rounded down to a multiple of 2^-20, so that both variances
are rationals. The proofs below hold for every gamma > 0, and delta is computed with the gamma that is used.

A user adds 1 to some counters. s of the counters are *shared*: above 0 with and without the user. n of them are *new*:
0 without the user and 1 with; ``s + n <= k``. E is the event that a new counter is released. Thresholds on shared
counters are post-processing, so the proofs let all noisy shared counts be seen.

**The shared counters** (Lemma 19) are rho-zCDP with ``rho = (k + gamma) / (8 sigma^2)``.

1. Let H be the shared counts with the user and H' those without, so that ``H_i - H'_i`` is 0 or 1.
2. With the user, twice the noisy counts are ``(2 H_i - 1 + Z_i) + (1 + Z_c)``; without, ``(2 H'_i + Z_i) + (0 + Z_c)``.
   So they are post-processing of the s + 1 numbers in brackets.
3. Without its noise, each of these numbers differs by 1 with and without the user: ``2 H_i - 1 - 2 H'_i`` is 1 or -1.
   The sum of squared differences over variances is ``s / (4 sigma^2) + gamma / (4 sigma^2)``.
4. rho of discrete Gaussian noise is half that sum (Canonne, Kamath, Steinke 2022), and s is at most k.

Steps of 1/2 are needed: with integer steps the numbers of step 2 would be ``H_i - 1/2``, which that noise does not
cover, and this rho is false.

**From rho to delta.** Lemma 17 as printed, or ``exp((a - 1)(a rho - epsilon)) (1 - 1/a)^a / (a - 1)``, which holds for
every order a > 1 (Canonne, Kamath, Steinke 2022, Proposition 12), at the order a where it is least.

**The new counters** add P(E) to delta (Theorem 21). Let F be the distribution function of Z_i. By Jensen's inequality

    1 - P(E) = mean of F(2 tau - Z_c)^n >= (mean of F(2 tau - Z_c))^n >= P(Z_c + Z_1 <= 2 tau)^k,

a far tighter bound on P(E) than Lemma 20, which splits tau between the two noises.

**Why P(E) has no factor exp(epsilon).** Let S be a set of releases, and delta_s the delta of the shared counters.

*With the user against without.*

1. The probability of S with the user is at most P(E) plus that of S without E.
2. Without E a release shows shared counters only. So the latter is at most ``delta_s`` plus exp(epsilon) times the
   probability of S without the user.

*Without the user against with.* Let x be the noises ``Z_c + Z_i`` of the shared counters, p(x) their probability and
``q(x) = P(E | x)``. Let y be twice the noisy shared counts, less twice the counts without the user, and let the user
add ``d`` in {0, 2}^s to them.

1. y has probability p(y) without the user and ``p(y - d)`` with the user, of which the part without E is
   ``(1 - q(y - d)) p(y - d)``. Counting that part only lowers the probability of S with the user. So delta is at most

       sum over y of (p(y) - exp(epsilon) (1 - q(y - d)) p(y - d))_+.

2. What is in brackets equals ``(1 - q(y - d)) (p(y) - exp(epsilon) p(y - d)) + q(y - d) p(y)``.
3. q rises in every coordinate, as shown below. So ``q(y - d) <= q(y)``, and the positive part is at most
   ``(p(y) - exp(epsilon) p(y - d))_+ + q(y) p(y)``.
4. The sum of the first terms is at most delta_s, and the sum of the second terms is P(E).

*q rises in every coordinate.*

1. The probability function f of Z_i is log-concave, so for h >= 0 the ratio ``f(x_i + h - c) / f(x_i - c)`` does not
   fall in c.
2. Given x, ``Z_c = c`` has a probability in proportion to ``P(Z_c = c) prod_i f(x_i - c)``. By step 1 a greater x_i
   makes Z_c greater in the likelihood ratio order, and the mean of a function that does not fall in Z_c does not fall.
3. Given ``Z_c = c``, E does not depend on x, and ``P(E | Z_c = c) = 1 - F(2 tau - c)^n`` does not fall in c. q(x) is
   the mean of it given x.

A (k+1)-th count that is released too has noise independent of all these: its probability multiplies p, and q stays.

Step 1 is needed: for noise that is not log-concave P(E) may be too little. With own noises -1 or 2 (probabilities 3/8,
5/8), a common noise of -1 or 0 (9/10, 1/10), one shared and one new counter, ``2 tau = 1`` and ``exp(epsilon) = 15``,
the new counter adds 45/128, which is more than ``P(E) = 1/16``.

All sums are of integers that bound the probabilities from the safe side, with a bound on what lies beyond their tables
(see `mechdesign.histogram.discrete_sampler`).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Self

from mechdesign.display.numbers import text_near
from mechdesign.errors import InputError, LimitError
from mechdesign.histogram.calibration import (
    Calibration,
    checked_epsilon,
    checked_sparsity,
    checked_tau,
    chosen,
    meets,
    reachable_delta,
)
from mechdesign.histogram.discrete_noise import (
    above_threshold,
    checked_sigma,
    checked_value_sigma,
    correlation,
    half_step_noise,
)
from mechdesign.histogram.discrete_sampler import Integers
from mechdesign.histogram.discrete_tails import Tails
from mechdesign.histogram.record import Noise
from mechdesign.histogram.release_plan import Noisy, Usage
from mechdesign.histogram.sparse_plan import MOST_POSITIVE, MonotonicPlan, analysis_option, sparse_options
from mechdesign.histogram.zcdp import converted
from mechdesign.mechanism.sampler import RandomBytes
from mechdesign.numerics.exact import rational, short_text
from mechdesign.numerics.outward import float_above, printed_above

ANALYSES = ("proved", "jensen", "theorem-21")


def discrete_rho(k: int, sigma: object, value_sigma: object | None = None) -> float:
    """Return the rho of zero-concentrated differential privacy of the noise alone, rounded up (CSH Lemma 19).

    ``rho = (k + gamma) / (8 sigma^2)``. It is ``1 / (2 value_sigma^2)`` more where the (k+1)-th largest count is
    released too, which a user changes by 1 at most (see `mechdesign.histogram.top_k`).

    Parameters
    ----------
    k : int
        The most counts above 0.
    sigma : number or str
        Scale of a counter's own noise, ``N_Z(0, 4 sigma^2) / 2``. A float is taken as the decimal that it prints.
    value_sigma : number or str, optional
        Scale of the noise ``N_Z(0, value_sigma^2)`` of the (k+1)-th largest count.

    Raises
    ------
    InputError
        For a k that is not a whole number from 1 to 10^9, or a scale that is not above 0.

    Examples
    --------
    >>> discrete_rho(4, 1), discrete_rho(4, 1, value_sigma=2)
    (0.75, 0.875)
    """
    return float_above(_rho(checked_sparsity(k), checked_sigma(sigma), checked_value_sigma(value_sigma)))


def discrete_delta(
    k: int, sigma: object, tau: object, epsilon: object, analysis: str = "proved", value_sigma: object | None = None
) -> float:
    """Return delta such that the discrete correlated histogram is (epsilon, delta)-differentially private.

    Parameters
    ----------
    k : int
        The most counts above 0 that a histogram has.
    sigma : number or str
        Scale of a counter's own noise, as in `discrete_rho`.
    tau : number or str
        At least 0. A count is released where its noisy value is above ``1 + tau``. As noise has steps of 1/2, all tau
        in [j/2, (j+1)/2) release the same counts.
    epsilon : number or str
        A decimal from 0 to 700, or ``"log(9/8)"``; nats.
    analysis : str
        ``"theorem-21"``: Lemma 17 and Lemma 20 at its best split; ``"jensen"``: Lemma 17 and Jensen's inequality;
        ``"proved"``: the optimal conversion of `zcdp_delta` and Jensen's inequality, never above the others.
    value_sigma : number or str, optional
        As for `discrete_rho`.

    Returns
    -------
    float
        Never below what the analysis says; at most 1.

    Raises
    ------
    InputError
        For a value outside these ranges.
    LimitError
        For a sigma above about 30,000, whose tables would not fit.

    Examples
    --------
    >>> round(discrete_delta(10, 20, 130, 1), 9), round(discrete_delta(10, 20, 130, 1, "theorem-21"), 6)
    (6.9e-08, 0.000122)
    """
    return DiscreteCalibration.of(epsilon, analysis, value_sigma).delta(k, sigma, tau)


def discrete_threshold(
    k: int, sigma: object, epsilon: object, delta: object, analysis: str = "proved", value_sigma: object | None = None
) -> float:
    """Return the least tau, a multiple of 1/2, with which `discrete_delta` is not above delta.

    Parameters
    ----------
    k, sigma, epsilon, analysis, value_sigma
        As for `discrete_delta`.
    delta : number or str
        In (0, 1).

    Returns
    -------
    float

    Raises
    ------
    InputError
        For a value outside these ranges, or a sigma with which no threshold reaches delta.
    LimitError
        For a sigma above about 30,000, and for a delta that the tables do not reach.

    Examples
    --------
    >>> discrete_threshold(10, 20, 1, 1e-6)
    119.5
    """
    return DiscreteCalibration.of(epsilon, analysis, value_sigma).threshold(k, sigma, delta)


def discrete_least_sigma(
    k: int, epsilon: object, delta: object, analysis: str = "proved", value_sigma: object | None = None
) -> float:
    """Return the least sigma with which some threshold reaches delta, rounded up.

    At that sigma the threshold is large: `discrete_best` finds the pair whose threshold is least.

    Arguments are those of `discrete_threshold`. Where the noise of the (k+1)-th count alone takes all of delta, it is
    an `InputError`.

    Examples
    --------
    >>> round(discrete_least_sigma(10, 1, 1e-6), 6)
    8.218978
    """
    return DiscreteCalibration.of(epsilon, analysis, value_sigma).least_sigma(k, delta)


def discrete_best(
    k: int, epsilon: object, delta: object, analysis: str = "proved", value_sigma: object | None = None
) -> tuple[float, float]:
    """Return a sigma whose threshold is about the least, among those up to twice the least sigma, and that threshold.

    Sigma, of six digits, is chosen as if noise were normal. The threshold is that of `discrete_threshold` for this
    sigma, so the pair reaches delta. Another sigma may have a threshold that is a step of 1/2 lower.

    Arguments and errors are those of `discrete_threshold`.

    Examples
    --------
    >>> discrete_best(10, 1, 1e-6)
    (8.43107, 51.5)
    """
    return DiscreteCalibration.of(epsilon, analysis, value_sigma).best(k, delta)


def _rho(k: int, sigma: Fraction, value_sigma: Fraction | None) -> Fraction:
    rho = (k + correlation(k)) / (8 * sigma**2)
    return rho if value_sigma is None else rho + 1 / (2 * value_sigma**2)


@dataclass(frozen=True)
class DiscreteCalibration(Calibration):
    """The analyses of `discrete_delta`, for counts that are released with a (k+1)-th or, where value is None, without.

    Attributes
    ----------
    value : Fraction or None
        Scale of the noise of the (k+1)-th count.
    """

    analyses: ClassVar[tuple[str, ...]] = ANALYSES
    sources: ClassVar[Mapping[str, str]] = {
        "proved": "CSH Theorem 21, with Jensen's inequality for Lemma 20, and Canonne, Kamath, Steinke (JPC 12(1), "
        "2022), Proposition 12, for Lemma 17",
        "jensen": "CSH Theorem 21, with Jensen's inequality for Lemma 20",
        "theorem-21": "CSH Theorem 21",
    }

    value: Fraction | None = None

    @classmethod
    def of(cls, epsilon: object, analysis: object, value_sigma: object = None) -> Self:
        """Check all."""
        return cls(checked_epsilon(epsilon), chosen(analysis, ANALYSES), checked_value_sigma(value_sigma))

    def delta(self, k: int, sigma: object, tau: object) -> float:
        """Return the delta of the shared counters, and the probability that a new one is released, added up."""
        whole, s = checked_sparsity(k), checked_sigma(sigma)
        gauss = self._gaussian(whole, s)
        return _sum(gauss, Tails.of(whole, s).exceeded(self.analysis)(math.floor(2 * checked_tau(tau))))

    def threshold(self, k: int, sigma: object, delta: object) -> float:
        """Return the least multiple of 1/2, by halving."""
        whole, s, target = checked_sparsity(k), checked_sigma(sigma), reachable_delta(delta)
        gauss = self._gaussian(whole, s)
        if gauss >= target:
            raise InputError.no_noise_enough(
                f"sigma is {short_text(s)}, with which no threshold reaches delta = {text_near(target)}; accepted: "
                f"{self.least_sigma(whole, target)!r} or more"
            )
        tails = Tails.of(whole, s)
        exceeded = tails.exceeded(self.analysis)
        if not meets(_sum(gauss, exceeded(tails.furthest)), target):
            raise LimitError.beyond_precision(
                f"delta leaves {text_near(target - gauss)} for new counters, less than the tables of about 1e-48 can "
                "show; give a larger sigma or a larger delta"
            )
        steps = range(tails.furthest)
        return bisect_left(steps, True, key=lambda tau: meets(_sum(gauss, exceeded(tau)), target)) / 2  # noqa: FBT003

    def least_sigma(self, k: int, delta: object) -> float:
        """Return the least float at which the shared counters leave something of delta."""
        whole, target = checked_sparsity(k), reachable_delta(delta)

        def enough(sigma: float) -> bool:
            return self._gaussian(whole, rational(sigma, "sigma")) < target

        high = 1.0
        while not enough(high):
            high *= 16
            if high > 1e150:
                raise InputError.no_noise_enough(
                    "no sigma is enough: epsilon is 0, or the (k+1)-th count takes all of delta; give a larger "
                    "epsilon, delta or value_sigma"
                )
        low = high / 16
        while enough(low):  # ends, since a sigma of almost 0 has a delta of almost 1
            low, high = low / 16, low
        while low < (middle := (low + high) / 2) < high:
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high

    def best(self, k: int, delta: object) -> tuple[float, float]:
        """Return the pair that is best as if noise were normal."""
        from scipy.optimize import minimize_scalar
        from scipy.special import ndtri

        whole, target = checked_sparsity(k), reachable_delta(delta)
        least = self.least_sigma(whole, target)
        root = float(correlation(whole)) ** -0.5
        spread, factors = (1 + root, whole + 1) if self.analysis == "theorem-21" else (math.hypot(1, root), whole)

        def threshold(ratio: float) -> float:
            sigma = least * ratio
            left = float(target - self._gaussian(whole, rational(sigma, "sigma")))
            if left <= 0:
                return math.inf
            return float(-sigma * spread * ndtri(-math.expm1(math.log1p(-left) / factors)))

        found = minimize_scalar(threshold, bounds=(1.0, 2.0), method="bounded", options={"xatol": 1e-5}).x
        rounded = float(text_near(least * float(found), 6))
        sigma = rounded if rounded > least else least * float(found)
        return sigma, self.threshold(whole, sigma, target)

    def _gaussian(self, k: int, sigma: Fraction) -> Fraction:
        conversion = "optimal" if self.analysis == "proved" else "lemma-17"
        return Fraction(converted(_rho(k, sigma, self.value), self.epsilon, conversion))


def _sum(gauss: Fraction, infinite: Fraction) -> float:
    return min(1.0, printed_above(gauss + infinite))


class DiscretePlan(MonotonicPlan):
    """A plan of the correlated sparse histogram with discrete noise (CSH Algorithm 4, Theorem 21).

    As `CshPlan`, with discrete Gaussian noise in steps of 1/2. The noise that is drawn has exactly the distribution
    that is analysed. No possible data set may have more than k counters above 0. sigma is taken as the rational that it
    says.

    Examples
    --------
    >>> plan = DiscretePlan.of(10, epsilon=1, delta="1e-6", sigma=12)
    >>> plan.noise, 2 * plan.tau == int(2 * plan.tau)
    ('discrete', True)
    """

    name: ClassVar[str] = "discrete"
    drawn: ClassVar[Noise] = "discrete"
    calibration: ClassVar[type[Calibration]] = DiscreteCalibration
    usage: ClassVar[Usage] = Usage(
        choice="at most k counts are above 0; exact noise; the one to start with",
        summary="At most k counts above 0; exact discrete noise.",
        title="Release a histogram of at most k counts above 0, with exact discrete Gaussian noise.",
        examples=(
            "mechdesign histogram discrete counts.csv -k 100 --epsilon 1 --delta 1e-6 \\",
            "                              -o released.csv --record record.json",
            "mechdesign histogram discrete --plan -k 100 --epsilon 1 --delta 1e-6",
        ),
        description="Protects one user, who may count in any number of counters, once in each. Every count above 0 "
        "gets noise of its own and a noise that all counts share, in steps of 1/2, drawn exactly. Noisy counts above "
        "1 + tau are released. The guarantee is differential privacy, as long as no possible data set has more than k "
        "counts above 0; a histogram with more is refused.",
        options=sparse_options(MOST_POSITIVE, analysis_option(DiscreteCalibration)),
        draws_floats=False,
    )

    def noisy(self, counts: Integers, source: RandomBytes) -> Noisy:
        """Draw the noise of one release, as `Plan.noisy`."""
        support = self.support(counts)
        twice = 2 * counts[support] + half_step_noise(self.k, self.sigma, support.size, source)
        kept = above_threshold(twice, self.tau)
        return Noisy(support[kept], twice[kept] / 2)
