"""The correlated sparse histogram with discrete Gaussian noise in steps of 1/2 (CSH Algorithm 4, Lemmas 17 to 20).

Each of at most k positive counts gets ``(Z_c + Z_i) / 2``, where all share ``Z_c ~ N_Z(0, 4 sigma^2 / gamma)`` and each
has its own ``Z_i ~ N_Z(0, 4 sigma^2)``; it is released where the noisy count is above ``1 + tau``. What is drawn is
exactly the distribution that is analysed.

*The correlation.* The paper has ``gamma = sqrt(k)``. Here gamma is that root rounded down to a multiple of 2^-20, so
that both variances are rationals. Nothing is lost: the proofs hold for every gamma with their own gamma in them.

*The Gaussian part (Lemma 19).* Let a user add 1 to l of s counters that are above 0 with and without them. All s values
``2 H_i - 1`` against ``2 H'_i`` and one further entry 1 against 0 differ by 1 each, so that the sum of squared
differences over variances is ``s / (4 sigma^2) + gamma / (4 sigma^2)``, and adding the s values to the further one
gives back what is released: ``rho = (k + gamma) / (8 sigma^2)`` at most. With integer steps in place of half ones there
is no such middle, and that rho is false.

*New counters.* n of the counters are 0 without the user and 1 with, at most k. Where none of their noises exceeds tau,
nothing tells of them, and the probability of the other case E is added to delta (Theorem 21). By Jensen's inequality

    P(all Z_c + Z_i <= 2 tau) = E[F(2 tau - Z_c)^n] >= E[F(2 tau - Z_c)]^n >= P(Z_c + Z_1 <= 2 tau)^k,

which is far tighter than Lemma 20, and needs no split of tau.

*Why P(E) is added without the factor exp(epsilon)*, although E belongs to the release with the user, which has that
factor where it is compared from the other side. Let x be the noises ``Z_c + Z_i`` of the s shared counters, those above
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
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.histogram.calibration import (
    checked_epsilon,
    checked_sparsity,
    checked_tau,
    chosen,
    meets,
    reachable_delta,
)
from mechdesign.histogram.discrete_sampler import (
    Integers,
    Weights,
    check_table_size,
    draw_discrete_gaussian,
    gaussian_weights,
)
from mechdesign.mechanism.sampler import RandomBytes
from mechdesign.numerics.epsilon import Epsilon, nats
from mechdesign.numerics.exact import arb_of, rational, rounded_text, short_text, working_precision
from mechdesign.numerics.outward import float_above, printed_above

ANALYSES = ("proved", "jensen", "theorem-21")

_ROOT_PLACES = 20
_TAIL_BITS = 160  # what tables leave out is below 2^-160, about 1e-48
_MOST_LOG = 700.0


def correlation(k: int) -> Fraction:
    """Return gamma: ``sqrt(k)``, rounded down to a multiple of 2^-20.

    Examples
    --------
    >>> correlation(9), round(float(correlation(2)), 5)
    (Fraction(3, 1), 1.41421)
    """
    return Fraction(math.isqrt(checked_sparsity(k) << 2 * _ROOT_PLACES), 1 << _ROOT_PLACES)


def zcdp_delta(rho: object, epsilon: object, conversion: str = "optimal") -> float:
    """Return a delta with which rho-zCDP implies (epsilon, delta)-differential privacy.

    Parameters
    ----------
    rho : number or str
        Above 0.
    epsilon : number or str
        A decimal from 0 to 700, or ``"log(9/8)"``; nats.
    conversion : str
        ``"optimal"``: the least over a > 1 of ``exp((a - 1)(a rho - epsilon)) (1 - 1/a)^a / (a - 1)`` (Canonne, Kamath,
        Steinke 2022). ``"lemma-17"``: ``exp(-(epsilon - rho)^2 / (4 rho))`` where epsilon is above rho, else 1
        (Bun, Steinke 2016).

    Returns
    -------
    float
        Rounded up, at most 1.

    Raises
    ------
    InputError
        For a value outside these ranges.

    Examples
    --------
    >>> round(zcdp_delta(0.1, 2, "lemma-17"), 6), round(zcdp_delta(0.1, 2), 6)
    (0.00012, 4e-06)
    """
    exact = rational(rho, "rho")
    if exact <= 0:
        raise InputError(f"rho is {shorten(rho)}; accepted: a number above 0")
    if conversion not in ("optimal", "lemma-17"):
        raise InputError(f"the conversion is {shorten(conversion)}; accepted: 'optimal' or 'lemma-17'")
    return _zcdp_delta(exact, checked_epsilon(epsilon), conversion)


def _zcdp_delta(rho: Fraction, epsilon: Epsilon, conversion: str) -> float:
    with working_precision():
        eps = nats(epsilon)
        if conversion == "lemma-17":
            return (
                min(1.0, float_above((-((eps - arb_of(rho)) ** 2) / arb_of(4 * rho)).exp()))
                if eps > arb_of(rho)
                else 1.0
            )
        order = arb_of(Fraction(_least_order(float_above(rho), float(epsilon))))  # a - 1
        # (1 - 1/a)^a = exp(-a log(1 + 1/(a - 1)))
        log_delta = order * (arb_of(rho) * (order + 1) - eps) - (order + 1) * (1 / order).log1p() - order.log()
        return min(1.0, float_above(log_delta.exp()))


def _least_order(rho: float, epsilon: float) -> float:
    """Return about the order, minus 1, at which the conversion is best; every other is valid too.

    The logarithm of delta is convex in the order: its derivative rises.
    """
    low, high = -_MOST_LOG, _MOST_LOG
    for _ in range(80):
        middle = (low + high) / 2
        order = math.exp(middle)
        rising = (2 * order + 1) * rho - epsilon - math.log1p(1 / order) > 0
        low, high = (low, middle) if rising else (middle, high)
    return math.exp(low)


def discrete_rho(k: int, sigma: object, value_sigma: object | None = None) -> float:
    """Return the rho of zero-concentrated differential privacy of the noise alone (CSH Lemma 19).

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

    Returns
    -------
    float
        Rounded up.

    Raises
    ------
    InputError
        For a k that is no whole number from 1 to 10^9, or a scale that is not above 0.

    Examples
    --------
    >>> discrete_rho(4, 1), discrete_rho(4, 1, value_sigma=2)
    (0.75, 0.875)
    """
    return float_above(_rho(checked_sparsity(k), _checked_sigma(sigma), _checked_value(value_sigma)))


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
        As in `discrete_rho`.

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
    whole, s = checked_sparsity(k), _checked_sigma(sigma)
    gauss = _gaussian_part(whole, s, _checked_value(value_sigma), checked_epsilon(epsilon), chosen(analysis, ANALYSES))
    return _sum(gauss, _Tails.of(whole, s).exceeded(analysis)(math.floor(2 * checked_tau(tau))))


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
        As in `discrete_delta`.
    delta : number or str
        In (0, 1).

    Returns
    -------
    float

    Raises
    ------
    InputError
        For a value outside these ranges, or a sigma with which no threshold is enough.
    LimitError
        For a sigma above about 30,000, and for a delta that the tables do not reach.

    Examples
    --------
    >>> discrete_threshold(10, 20, 1, 1e-6)
    119.5
    """
    whole, s, eps = checked_sparsity(k), _checked_sigma(sigma), checked_epsilon(epsilon)
    value, target = _checked_value(value_sigma), reachable_delta(delta)
    gauss = _gaussian_part(whole, s, value, eps, chosen(analysis, ANALYSES))
    if gauss >= target:
        raise InputError(_too_small(whole, s, eps, target, analysis, value))
    tails = _Tails.of(whole, s)
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
    """Return the least sigma with which some threshold reaches delta.

    At that sigma the threshold is large: `discrete_best` finds the pair whose threshold is least.

    Parameters
    ----------
    k, epsilon, delta, analysis, value_sigma
        As in `discrete_threshold`.

    Returns
    -------
    float
        Rounded up.

    Raises
    ------
    InputError
        For a value outside its range, or where the further number alone takes all of delta.

    Examples
    --------
    >>> round(discrete_least_sigma(10, 1, 1e-6), 6)
    8.218978
    """
    whole, eps, target = checked_sparsity(k), checked_epsilon(epsilon), reachable_delta(delta)
    return _least_sigma(whole, eps, target, chosen(analysis, ANALYSES), _checked_value(value_sigma))


def discrete_best(
    k: int, epsilon: object, delta: object, analysis: str = "proved", value_sigma: object | None = None
) -> tuple[float, float]:
    """Return about the sigma whose threshold is least, among those up to twice the least sigma, and that threshold.

    Sigma, of six digits, is found as if noise were normal. The threshold is that of `discrete_threshold`, so that the
    pair holds; another sigma may have one that is a step of 1/2 lower.

    Parameters
    ----------
    k, epsilon, delta, analysis, value_sigma
        As in `discrete_threshold`.

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
    value = _checked_value(value_sigma)
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


def half_step_noise(k: int, sigma: object, size: int, source: RandomBytes) -> Integers:
    """Return the noise of one release, in steps of 1/2: ``Z_c + Z_i`` with one common Z_c (CSH Algorithm 4).

    Parameters
    ----------
    k : int
        The most counts above 0; it sets the variance of the common part, even where fewer are.
    sigma : number or str
        Scale of a counter's own noise, as in `discrete_rho`.
    size : int
        How many counts, at most k.
    source : callable
        Returns as many random bytes as it is asked for, as `random_bytes` gives it.

    Returns
    -------
    int array, shape (size,)
        Twice the noise to be added to a count.

    Raises
    ------
    InputError
        For a value outside its range, or more than k counts.
    LimitError
        For a sigma above about 50,000.

    Examples
    --------
    >>> half_step_noise(4, 3, 4, np.random.default_rng(1).bytes) / 2
    array([1. , 9. , 2.5, 9. ])
    """
    whole, s = checked_sparsity(k), _checked_sigma(sigma)
    if size > whole:
        raise InputError(f"{size} counts are above 0, but k is {whole}; give a larger k, or keep the top k")
    own = draw_discrete_gaussian(4 * s**2, size, source)
    return own + draw_discrete_gaussian(4 * s**2 / correlation(whole), 1, source)


def above_threshold(twice_noisy: Integers, tau: object) -> NDArray[np.bool_]:
    """Return which noisy counts are above ``1 + tau``, given twice their value; one that equals it is not.

    Examples
    --------
    >>> above_threshold(np.array([22, 23, 24]), "10.5")
    array([False, False,  True])
    """
    return twice_noisy > 2 + math.floor(2 * checked_tau(tau))


@dataclass(frozen=True)
class _Tails:
    """Bounds of the noises of a release: the common one, and one counter's own.

    Attributes
    ----------
    k : int
    common, own : Weights
    own_high, own_low : list of int
        Around ``2^places P(Z_1 > x)`` for x = 0, ..., M.
    """

    k: int
    common: Weights
    own: Weights
    own_high: list[int]
    own_low: list[int]

    @classmethod
    def of(cls, k: int, sigma: Fraction) -> _Tails:
        """Return the tables of both noises, after checking that they fit."""
        own, common = 4 * sigma**2, 4 * sigma**2 / correlation(k)
        check_table_size(own, _TAIL_BITS)
        weights = gaussian_weights(own, _TAIL_BITS)
        high = list(accumulate(reversed(weights.high), initial=weights.rest))[-2::-1]
        low = list(accumulate(reversed(weights.low), initial=0))[-2::-1]
        return cls(
            k=k,
            common=gaussian_weights(common, _TAIL_BITS),
            own=weights,
            own_high=[-(-(w << weights.places) // weights.total_low) for w in high],
            own_low=[(w << weights.places) // weights.total_high for w in low],
        )

    @property
    def furthest(self) -> int:
        """Beyond this sum the tables hold nothing but their bound of the rest."""
        return len(self.own.low) + len(self.common.low)

    def exceeded(self, analysis: str) -> Callable[[int], Fraction]:
        """Return the bound, as a function of ``2 tau``, of the probability that one of k new counters shows."""
        return self.split if analysis == "theorem-21" else self.jensen

    def own_above(self, x: int) -> int:
        """Return an upper bound of ``2^places P(Z_1 > x)``."""
        if x < 0:  # 1 - P(Z_1 > -x - 1)
            mirrored = -x - 1
            return (1 << self.own.places) - (self.own_low[mirrored] if mirrored < len(self.own_low) else 0)
        return self.own_high[min(x, len(self.own_high) - 1)]

    def jensen(self, threshold: int) -> Fraction:
        """Return an upper bound of ``1 - P(Z_c + Z_1 <= threshold)^k``."""
        high = self.common.high
        sums = sum(w * self.own_above(threshold - c) for c, w in enumerate(high))
        sums += sum(w * self.own_above(threshold + c) for c, w in enumerate(high) if c)
        sums += 2 * self.common.rest << self.own.places
        return _any_of(self.k, Fraction(sums, self.common.total_low << self.own.places))

    def split(self, threshold: int) -> Fraction:
        """Return an upper bound of Lemma 20 at its best split of a threshold of 0 or more."""
        if threshold < 0:
            return Fraction(1)
        threshold = min(threshold, self.furthest)  # more is not seen by the tables
        first = self._best_split(threshold)
        beyond = sum(self.common.high[first + 1 :]) + self.common.rest
        common = Fraction(beyond, self.common.total_low)
        own = Fraction(self.own_above(threshold - first), 1 << self.own.places)
        return _any_of(self.k, own, once=common)

    def _best_split(self, threshold: int) -> int:
        """Return about the best share of the common noise; every share is valid."""
        shares = np.arange(threshold + 1)
        common = _float_tails(self.common)[np.minimum(shares, len(self.common.low) - 1)]
        own = _float_tails(self.own)[np.minimum(threshold - shares, len(self.own.low) - 1)]
        return int(np.argmax(np.log1p(-common) + self.k * np.log1p(-own)))


def _float_tails(weights: Weights) -> NDArray[np.float64]:
    """Return about ``P(Z > x)`` for x = 0, ..., M."""
    shares = np.array([w / weights.total_high for w in weights.high])
    tails: NDArray[np.float64] = np.append(np.cumsum(shares[:0:-1])[::-1], 0.0)
    return tails


def _any_of(k: int, own: Fraction, once: Fraction = Fraction(0)) -> Fraction:
    """Return ``1 - (1 - once) (1 - own)^k``, rounded up to a float."""
    if own >= 1 or once >= 1:
        return Fraction(1)
    with working_precision():
        kept: Any = arb_of(k) * (-arb_of(own)).log1p() + (-arb_of(once)).log1p()
        return min(Fraction(1), Fraction(float_above(-kept.expm1())))


def _rho(k: int, sigma: Fraction, value_sigma: Fraction | None) -> Fraction:
    rho = (k + correlation(k)) / (8 * sigma**2)
    return rho if value_sigma is None else rho + 1 / (2 * value_sigma**2)


def _gaussian_part(k: int, sigma: Fraction, value: Fraction | None, epsilon: Epsilon, analysis: str) -> Fraction:
    conversion = "optimal" if analysis == "proved" else "lemma-17"
    return Fraction(_zcdp_delta(_rho(k, sigma, value), epsilon, conversion))


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


def _checked_sigma(value: object, name: str = "sigma") -> Fraction:
    """Return a scale: the noise is drawn with the rational itself, so that no double takes part."""
    sigma = rational(value, name)
    if sigma <= 0:
        raise InputError(f"{name} is {shorten(value)}; accepted: a number above 0")
    return sigma


def _checked_value(value: object) -> Fraction | None:
    return None if value is None else _checked_sigma(value, "value_sigma")
