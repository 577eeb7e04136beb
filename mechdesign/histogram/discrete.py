"""The correlated sparse histogram with discrete Gaussian noise in steps of 1/2 (CSH Algorithm 4, Lemmas 17 to 20).

Each of at most k positive counts gets ``(Z_c + Z_i) / 2``, where all share ``Z_c ~ N_Z(0, 4 sigma^2 / gamma)`` and each
has its own ``Z_i ~ N_Z(0, 4 sigma^2)``; it is released where the noisy count is above ``1 + tau``. What is drawn is
exactly the distribution that is analysed.

*The correlation.* The paper has ``gamma = sqrt(k)``. Here gamma is that root rounded down to a multiple of 2^-20, so
that both variances are rationals. Nothing is lost: the proofs hold for every gamma with their own gamma in them.

*The Gaussian part (Lemma 19).* Let a user add 1 to l of s counters that are above 0 with and without them. All s values
``2 H_i - 1`` against ``2 H'_i`` and one further entry 1 against 0 differ by 1 each, so that the sum of squared
differences over variances is ``s / (4 sigma^2) + gamma / (4 sigma^2)``, and adding the s values to the further one
gives back what is released: ``rho = (k + gamma) / (8 sigma^2)`` at most. With integer steps in place of half steps the
values ``2 H_i - 1`` do not exist, and that rho is false.

*New counters.* n of the counters are 0 without the user and 1 with, at most k. Where none of their noises exceeds tau,
none of them is released, and the probability of the other case E is added to delta (Theorem 21). By Jensen's inequality

    P(all Z_c + Z_i <= 2 tau) = E[F(2 tau - Z_c)^n] >= E[F(2 tau - Z_c)]^n >= P(Z_c + Z_1 <= 2 tau)^k,

which is far tighter than Lemma 20, and needs no split of tau.

*Why P(E) is added without the factor exp(epsilon)*, although E belongs to the release with the user, and in one of the
two directions that release has this factor. Let x be the noises ``Z_c + Z_i`` of the s shared counters, those above
0 with and without the user, ``p(x)`` their probability and ``q(x) = P(E | x)``, and let the user add ``d`` in {0, 2}^s,
in half steps. With the user, noisy shared counts y (counted from those without) have probability ``p(y - d)``. A set of
releases is at most as likely with the user as E and its shared part together, so that P(E) is added as it is. In the
other direction, leaving out the releases in which a new counter shows only enlarges

    sum over y of (p(y) - exp(epsilon) (1 - q(y - d)) p(y - d))_+.

q rises in every coordinate, see below, so that ``q(y - d) <= q(y)``, and what is in brackets is

    (1 - q(y - d)) (p(y) - exp(epsilon) p(y - d)) + q(y - d) p(y) <= (p(y) - exp(epsilon) p(y - d))_+ + q(y) p(y).

The sum of the first terms is the delta of the shared counters, and that of the second is P(E). q rises because the
discrete Gaussian pmf f is log-concave: given x, ``Z_c = c`` has probability in proportion to
``P(Z_c = c) prod_i f(x_i - c)``, and ``f(x_i + h - c) / f(x_i - c)`` does not fall in c for h >= 0. So a greater x
makes Z_c greater in the order of likelihood ratios, and with it the mean of ``P(E | Z_c = c) = 1 - F(2 tau - c)^n``,
which does not fall in c. The noise of a released (k+1)-th count is independent of these: it multiplies each p, and q
stays. For noise that is not log-concave the sum of the two is false: with own noises -1 or 2 (probabilities 3/8, 5/8),
a common noise of -1 or 0 (9/10, 1/10), one shared and one new counter, ``2 tau = 1`` and ``exp(epsilon) = 15``, the new
counter adds 45/128, which is more than ``P(E) = 1/16``.

*From rho to delta.* Lemma 17 as printed, or ``exp((a - 1)(a rho - epsilon)) (1 - 1/a)^a / (a - 1)``, which holds for
every order a > 1 (Canonne, Kamath, Steinke 2022, Proposition 12), for the a that makes it least.

All sums are of integers that bound the probabilities from the safe side (see `mechdesign.histogram.discrete_sampler`),
with what lies beyond their tables.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

from mechdesign.errors import InputError, LimitError
from mechdesign.histogram.calibration import (
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
from mechdesign.histogram.plan import Noisy, Usage
from mechdesign.histogram.record import Noise
from mechdesign.histogram.sparse_plan import MOST_POSITIVE, Analyses, MonotonicPlan, sparse_options
from mechdesign.histogram.zcdp import converted
from mechdesign.mechanism.sampler import RandomBytes
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import rational, rounded_text, short_text
from mechdesign.numerics.outward import float_above, printed_above

ANALYSES = ("proved", "jensen", "theorem-21")


def discrete_rho(k: int, sigma: object, value_sigma: object | None = None) -> float:
    """Return the rho of zero-concentrated differential privacy of the noise alone, rounded up (CSH Lemma 19).

    ``rho = (k + gamma) / (8 sigma^2)``, and ``1 / (2 value_sigma^2)`` more where one further number is released, which
    a user changes by 1 at most: the (k+1)-th largest count (see `mechdesign.histogram.top_k`).

    Parameters
    ----------
    k : int
        The most counts above 0.
    sigma : number or str
        Scale of a counter's own noise, ``N_Z(0, 4 sigma^2) / 2``; of a float the decimal that it prints.
    value_sigma : number or str, optional
        Scale of the noise ``N_Z(0, value_sigma^2)`` of the further number.

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
    k: int,
    sigma: object,
    tau: object,
    epsilon: object,
    analysis: str = "proved",
    value_sigma: object | None = None,
) -> float:
    """Return delta such that the discrete correlated histogram is (epsilon, delta)-differentially private.

    Parameters
    ----------
    k : int
        The most counts above 0 that a histogram has.
    sigma : number or str
        Scale of a counter's own noise, as in `discrete_rho`.
    tau : number or str
        A count is released when its noisy value is above ``1 + tau``; at least 0. As noise has steps of 1/2, all tau
        in [j/2, (j+1)/2) are the same.
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
    whole, s = checked_sparsity(k), checked_sigma(sigma)
    value, eps = checked_value_sigma(value_sigma), checked_epsilon(epsilon)
    gauss = _gaussian_part(whole, s, value, eps, chosen(analysis, ANALYSES))
    return _sum(gauss, Tails.of(whole, s).exceeded(analysis)(math.floor(2 * checked_tau(tau))))


def _sum(gauss: Fraction, infinite: Fraction) -> float:
    return min(1.0, printed_above(gauss + infinite))


def discrete_threshold(
    k: int,
    sigma: object,
    epsilon: object,
    delta: object,
    analysis: str = "proved",
    value_sigma: object | None = None,
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
    whole, s, eps = checked_sparsity(k), checked_sigma(sigma), checked_epsilon(epsilon)
    value, target = checked_value_sigma(value_sigma), reachable_delta(delta)
    gauss = _gaussian_part(whole, s, value, eps, chosen(analysis, ANALYSES))
    if gauss >= target:
        raise InputError(_too_small(whole, s, eps, target, analysis, value))
    tails = Tails.of(whole, s)
    exceeded = tails.exceeded(analysis)
    if not meets(_sum(gauss, exceeded(tails.furthest)), target):
        raise LimitError(
            f"delta leaves {rounded_text(target - gauss)} for new counters, less than the tables of about 1e-48 can "
            "show; give a larger sigma or a larger delta"
        )
    low, high = -1, tails.furthest
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if meets(_sum(gauss, exceeded(middle)), target) else (middle, high)
    return high / 2


def discrete_least_sigma(
    k: int, epsilon: object, delta: object, analysis: str = "proved", value_sigma: object | None = None
) -> float:
    """Return the least sigma with which some threshold reaches delta, rounded up.

    At that sigma the threshold is large: `discrete_best` finds the pair whose threshold is least.

    Parameters
    ----------
    k, epsilon, delta, analysis, value_sigma
        As for `discrete_threshold`.

    Raises
    ------
    InputError
        For a value outside its range, or where the noise of the further number alone takes all of delta.

    Examples
    --------
    >>> round(discrete_least_sigma(10, 1, 1e-6), 6)
    8.218978
    """
    whole, eps, target = checked_sparsity(k), checked_epsilon(epsilon), reachable_delta(delta)
    return _least_sigma(whole, eps, target, chosen(analysis, ANALYSES), checked_value_sigma(value_sigma))


def discrete_best(
    k: int, epsilon: object, delta: object, analysis: str = "proved", value_sigma: object | None = None
) -> tuple[float, float]:
    """Return about the sigma whose threshold is least, among those up to twice the least sigma, and that threshold.

    Sigma, of six digits, is found as if noise were normal. The threshold is that of `discrete_threshold`, so that the
    pair holds; another sigma may have one that is a step of 1/2 lower.

    Parameters
    ----------
    k, epsilon, delta, analysis, value_sigma
        As for `discrete_threshold`.

    Returns
    -------
    sigma, tau : float

    Raises
    ------
    InputError, LimitError
        As `discrete_threshold`.

    Examples
    --------
    >>> discrete_best(10, 1, 1e-6)
    (8.43107, 51.5)
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import ndtri

    whole, eps, target = checked_sparsity(k), checked_epsilon(epsilon), reachable_delta(delta)
    value = checked_value_sigma(value_sigma)
    least = _least_sigma(whole, eps, target, chosen(analysis, ANALYSES), value)
    root = float(correlation(whole)) ** -0.5
    spread, factors = (1 + root, whole + 1) if analysis == "theorem-21" else (math.hypot(1, root), whole)

    def threshold(ratio: float) -> float:
        sigma = least * ratio
        left = float(target - _gaussian_part(whole, rational(sigma, "sigma"), value, eps, analysis))
        if left <= 0:
            return math.inf
        return float(-sigma * spread * ndtri(-math.expm1(math.log1p(-left) / factors)))

    found = least * float(minimize_scalar(threshold, bounds=(1.0, 2.0), method="bounded", options={"xatol": 1e-5}).x)
    rounded = float(f"{found:.6g}")
    sigma = rounded if rounded > least else found
    return sigma, discrete_threshold(whole, sigma, eps, target, analysis, value)


def _rho(k: int, sigma: Fraction, value_sigma: Fraction | None) -> Fraction:
    rho = (k + correlation(k)) / (8 * sigma**2)
    return rho if value_sigma is None else rho + 1 / (2 * value_sigma**2)


def _gaussian_part(k: int, sigma: Fraction, value: Fraction | None, epsilon: Epsilon, analysis: str) -> Fraction:
    conversion = "optimal" if analysis == "proved" else "lemma-17"
    return Fraction(converted(_rho(k, sigma, value), epsilon, conversion))


def _least_sigma(k: int, epsilon: Epsilon, delta: Fraction, analysis: str, value: Fraction | None) -> float:
    def enough(sigma: float) -> bool:
        return _gaussian_part(k, rational(sigma, "sigma"), value, epsilon, analysis) < delta

    high = 1.0
    while not enough(high):
        high *= 16
        if high > 1e150:
            raise InputError(
                "no sigma is enough: epsilon is 0, or the (k+1)-th count takes all of delta; give a larger epsilon, "
                "delta or value_sigma"
            )
    low = high / 16
    while enough(low):
        low, high = low / 16, low
    while low < (middle := (low + high) / 2) < high:
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _too_small(
    k: int, sigma: Fraction, epsilon: Epsilon, delta: Fraction, analysis: str, value: Fraction | None
) -> str:
    least = _least_sigma(k, epsilon, delta, analysis, value)
    return (
        f"sigma is {short_text(sigma)}, with which no threshold reaches delta = {short_text(delta)}; accepted: "
        f"{least!r} or more"
    )


class DiscretePlan(MonotonicPlan):
    """A plan of the correlated sparse histogram with discrete noise (CSH Algorithm 4, Theorem 21).

    As `CshPlan`, with discrete Gaussian noise in steps of 1/2: what is drawn is what the analysis is about. No data set
    that could have been has more than k counters above 0; sigma is taken as the rational it says.

    Examples
    --------
    >>> plan = DiscretePlan.of(10, epsilon=1, delta="1e-6", sigma=12)
    >>> plan.noise, 2 * plan.tau == int(2 * plan.tau)
    ('discrete', True)
    """

    name: ClassVar[str] = "discrete"
    drawn: ClassVar[Noise] = "discrete"
    analyses: ClassVar[Analyses] = Analyses(
        discrete_delta,
        discrete_threshold,
        discrete_best,
        {
            "proved": "CSH Theorem 21, with Jensen's inequality for Lemma 20, and Canonne, Kamath, Steinke (JPC 12(1), "
            "2022), Proposition 12, for Lemma 17",
            "jensen": "CSH Theorem 21, with Jensen's inequality for Lemma 20",
            "theorem-21": "CSH Theorem 21",
        },
    )
    usage: ClassVar[Usage] = Usage(
        choice="at most k counts are above 0; exact noise. The one to take.",
        summary="At most k counts above 0; exact discrete noise.",
        title="Release a histogram of at most k counts above 0, with exact discrete Gaussian noise.",
        examples=(
            "mechdesign histogram discrete counts.csv -k 100 --epsilon 1 --delta 1e-6 \\",
            "                              -o released.csv --record record.json",
            "mechdesign histogram discrete --plan -k 100 --epsilon 1 --delta 1e-6",
        ),
        description="One user is protected who counts once in any number of counters. Counts above 0 get noise of "
        "their own and a common one, in steps of 1/2, drawn exactly; those above 1 + tau are released. Differential "
        "privacy holds as long as no data set that could have been has more than k counts above 0: a histogram that "
        "has more is refused.",
        options=sparse_options(MOST_POSITIVE, analyses.option()),
        draws_floats=False,
    )

    def noisy(self, counts: Integers, source: RandomBytes) -> Noisy:
        """Draw the noise of one release, as `Plan.noisy`."""
        support = self.support(counts)
        twice = 2 * counts[support] + half_step_noise(self.k, self.sigma, support.size, source)
        kept = above_threshold(twice, self.tau)
        return Noisy(support[kept], twice[kept] / 2)
