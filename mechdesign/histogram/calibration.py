"""The least threshold, the least noise and the best pair of both, for any delta that is computed rounded up.

What a search returns has been evaluated: its delta is at most the target, and is again when it is computed again.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar, Self

import numpy as np

from mechdesign.data.checks import checked_delta, checked_scale
from mechdesign.display.numbers import text_near
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import rational
from mechdesign.numerics.outward import Interval, float_above, printed_above

_MOST_COUNTERS = 10**9
_FARTHEST = 2.0**13  # deviations: the probability of more is below every float
_PLACES = 1e-13  # relative width of the bracket of a threshold
_MISSES = 2  # secants that do not halve the bracket, as where delta is nearly flat on one side; then it is halved
_UNEVEN = 1e3  # as long as delta is so much further from the target on one side
_ROUGH = 1e-7  # the same, where thresholds are only compared
_GOLDEN = (math.sqrt(5) - 1) / 2
_STEPS = 14  # of the golden section
# How far above the least sigma the best one is looked for, as logarithms.
_FROM, _NEAR, _TO = (math.log(share) for share in (1e-9, 1e-6, 4.0))
_LARGEST_POWER = 1000  # sigma is between 2^-1000 and 2^1000
_ROOM = 1 - Fraction(1, 2**40)  # share of delta that the Gaussian part may take, so that a threshold exists


@dataclass(frozen=True)
class Sparse:
    """A sparsity bound and the noise of one counter.

    Attributes
    ----------
    k : int
        Number of counters.
    sigma : Interval
        Holds the decimal that sigma says and the double that it is.
    """

    k: int
    sigma: Interval

    @classmethod
    def of(cls, k: object, sigma: object) -> Sparse:
        """Check both."""
        found = checked_scale(sigma, "sigma")
        if math.isinf(float_above(found.high)):
            raise InputError.out_of_range(
                f"sigma is {shorten(sigma)}, which is above all floats; accepted: up to 1.7e308"
            )
        return cls(checked_sparsity(k), found)


def checked_sparsity(k: object) -> int:
    """Return a number of counters, from 1 to 10^9.

    Examples
    --------
    >>> checked_sparsity(10)
    10
    """
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= _MOST_COUNTERS:
        raise InputError.not_a_whole_number(f"k is {shorten(k)}; accepted: a whole number from 1 to {_MOST_COUNTERS}")
    return int(k)


def _smaller(value: object, decimal: Fraction) -> Fraction:
    """Return the smaller of the decimal that a float says and the double that it is."""
    return min(decimal, Fraction(float(value))) if isinstance(value, float | np.floating) else decimal


def checked_tau(tau: object) -> Fraction:
    """Return a threshold that is not negative; of a float the smaller of the decimal it says and the double it is.

    Examples
    --------
    >>> checked_tau("2.5")
    Fraction(5, 2)
    """
    found = rational(tau, "tau")
    if found < 0:
        raise InputError.out_of_range(f"tau is {shorten(tau)}; accepted: a finite number, at least 0")
    return _smaller(tau, found)


def checked_epsilon(epsilon: object) -> Epsilon:
    """Return epsilon, from 0 to 700; of a float the smaller of the decimal it says and the double it is.

    Examples
    --------
    >>> checked_epsilon(0).exponent
    Fraction(0, 1)
    """
    found = Epsilon.of(epsilon)
    return found if found.exponent is None else Epsilon.of(_smaller(epsilon, found.exponent))


def reachable_delta(delta: object) -> Fraction:
    """Return a delta that can be reached, in (0, 1) and not below the least float.

    Examples
    --------
    >>> reachable_delta("1e-5")
    Fraction(1, 100000)
    """
    found = _smaller(delta, checked_delta(delta))
    if found < Fraction(math.ulp(0.0)):
        raise InputError.delta_out_of_range(
            f"delta is {shorten(delta)}, which no threshold reaches; accepted: a number from 5e-324 to 1, exclusive"
        )
    return found


def chosen(analysis: object, accepted: tuple[str, ...]) -> str:
    """Return the name of an analysis, if it is accepted.

    Examples
    --------
    >>> chosen("exact", ("exact", "add-the-deltas"))
    'exact'
    """
    if not isinstance(analysis, str) or analysis not in accepted:
        raise InputError.unknown_choice(f"the analysis is {shorten(analysis)}; accepted: {', '.join(accepted)}")
    return analysis


def meets(reported: float, target: Fraction) -> bool:
    """Return whether a reported delta is at most the target, as a double and as the decimal that it prints.

    Examples
    --------
    >>> meets(0.25, Fraction(1, 4)), meets(0.1, Fraction(1, 10))
    (True, False)
    """
    return Fraction(reported) <= target and Fraction(repr(reported)) <= target


def least_tau(delta: Callable[[float], float], unit: float, target: Fraction, places: float = _PLACES) -> float | None:
    """Return a threshold that meets the target, with one that does not within ``places`` of it; None without one.

    Parameters
    ----------
    delta : function
        Of tau, rounded up, falling but for that rounding.
    unit : float
        Deviation of the noise of a count.
    target : Fraction
        Above 0.
    places : float, optional
        Relative width of the last bracket.

    Examples
    --------
    >>> least_tau(lambda tau: math.exp(-tau), 1.0, Fraction(1, 2), places=1e-6) >= math.log(2)
    True
    """
    low, high, goal = 0.0, unit, math.log(max(float(target), math.ulp(0.0)))
    above, below = delta(low), delta(high)
    if meets(above, target):
        return low
    while not meets(below, target):
        if high > _FARTHEST * unit:
            return None
        low, above = high, below
        high *= 2
        below = delta(high)

    misses = 0
    while (width := high - low) > places * high:  # halved after so many misses, and within the precision of floats
        rise, fall = (math.log(max(reported, math.ulp(0.0))) - goal for reported in (above, below))
        secant = misses < _MISSES and rise > 0 >= fall and rise > fall
        guess = low + width * (rise / (rise - fall) if secant else 0.5)
        # Kept off both ends by less than the final width: once the root is found, the other end follows.
        tau = min(max(guess, low + 0.4 * places * high), high - 0.4 * places * high)
        if not low < tau < high:
            break
        reported = delta(tau)
        if meets(reported, target):
            high, below = tau, reported
        else:
            low, above = tau, reported
        if secant:
            misses = misses + 1 if high - low > width / 2 else 0
        elif max(rise, -fall) < _UNEVEN * min(rise, -fall):
            misses = 0
    return high


def least_noise(delta: Callable[[float], float], target: Fraction) -> float:
    """Return the least sigma for which a Gaussian delta leaves room for a threshold.

    Parameters
    ----------
    delta : function
        Of sigma, rounded up, falling but for that rounding.
    target : Fraction
        Above 0.

    Raises
    ------
    InputError
        If it is beyond 2^1000.

    Examples
    --------
    >>> least_noise(lambda sigma: min(1.0, 1 / sigma), Fraction(1, 8)) >= 8
    True
    """
    room = target * _ROOM
    if room < Fraction(math.ulp(0.0)):
        room = target
    if not meets(delta(2.0**_LARGEST_POWER), room):
        raise InputError.no_noise_enough(
            f"delta is {text_near(target)}, which takes more noise than 2^{_LARGEST_POWER}; give a larger delta or "
            "epsilon"
        )
    powers = range(-_LARGEST_POWER, _LARGEST_POWER)
    high = 2.0 ** (powers[0] + bisect_left(powers, True, key=lambda power: meets(delta(2.0**power), room)))  # noqa: FBT003
    low = high / 2
    while high - low > _PLACES / 10 * high:  # halved each time; floats have 16 places, and this is 14
        middle = (low + high) / 2
        low, high = (low, middle) if meets(delta(middle), room) else (middle, high)
    return high


def best_pair(
    tau_of: Callable[[float], float], rough: Callable[[float, float], float | None], least: float
) -> tuple[float, float]:
    """Return the sigma whose threshold is least, and that threshold, by a golden section above the least sigma.

    The search takes the threshold to have one valley; if it had more, the pair would still be private.

    Parameters
    ----------
    tau_of : function
        The threshold of sigma.
    rough : function
        The same with a relative width, None where there is none; for the search alone.
    least : float
        The least sigma.

    Examples
    --------
    >>> sigma, tau = best_pair(lambda s: s + 4 / s, lambda s, places: s + 4 / s, 1.0)
    >>> round(sigma, 2), round(tau, 4)
    (2.0, 4.0)
    """

    def sigma_at(u: float) -> float:
        return least * (1 + math.exp(u))

    def height(u: float) -> float:
        found = rough(sigma_at(u), _ROUGH)
        return math.inf if found is None else found

    # With one valley, the minimum lies before every point that is at least as high as an earlier one.
    if height(_FROM) <= height(_NEAR):
        return sigma_at(_FROM), tau_of(sigma_at(_FROM))
    low, high = _NEAR, _TO
    inner = [high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)]
    heights = [height(u) for u in inner]
    for _ in range(_STEPS):
        if heights[0] <= heights[1]:
            high = inner[1]
            inner = [high - _GOLDEN * (high - low), inner[0]]
            heights = [height(inner[0]), heights[0]]
        else:
            low = inner[0]
            inner = [inner[1], low + _GOLDEN * (high - low)]
            heights = [heights[1], height(inner[1])]
    sigma = sigma_at(min(zip(heights, inner, strict=True))[1])
    return sigma, tau_of(sigma)


@dataclass(frozen=True)
class Calibration(ABC):
    """One analysis of a mechanism with a sparsity bound at one epsilon: its delta, and what it takes to reach a delta.

    Arguments, results and errors are those of the functions of the mechanism, such as `csh_delta`, `csh_threshold`,
    `csh_least_sigma` and `csh_best`.
    """

    analyses: ClassVar[tuple[str, ...]]
    """The accepted analyses."""
    sources: ClassVar[Mapping[str, str]]
    """Where those are shown that a release may state, since they are proved; the first is the default."""

    epsilon: Epsilon
    analysis: str

    @classmethod
    def of(cls, epsilon: object, analysis: object) -> Self:
        """Check both."""
        return cls(checked_epsilon(epsilon), chosen(analysis, cls.analyses))

    @classmethod
    def stated(cls, analysis: object) -> str:
        """Return the name of an analysis that a release may state; the default for None."""
        names = tuple(cls.sources)
        return names[0] if analysis is None else chosen(analysis, names)

    @abstractmethod
    def delta(self, k: int, sigma: object, tau: object) -> float:
        """Return the delta of the noise and the threshold, rounded up."""

    @abstractmethod
    def threshold(self, k: int, sigma: object, delta: object) -> float:
        """Return the least threshold that reaches delta."""

    @abstractmethod
    def least_sigma(self, k: int, delta: object) -> float:
        """Return the least sigma with which some threshold reaches delta."""

    @abstractmethod
    def best(self, k: int, delta: object) -> tuple[float, float]:
        """Return the sigma whose threshold is least, and that threshold."""


class GaussianCalibration(Calibration):
    """The same for Gaussian noise, from the delta of each noise and threshold."""

    least: ClassVar[str]
    """The function that returns the least sigma, as messages name it."""

    @abstractmethod
    def reached(self, noise: Sparse, tau: Fraction, target: Fraction = Fraction(1), *, rough: bool = False) -> float:
        """Return the delta, rounded up; where it is above the target, perhaps a lesser number above the target too.

        A rough delta is greater, and takes less time: thresholds are compared by it.
        """

    @abstractmethod
    def gaussian(self, noise: Sparse) -> float:
        """Return the delta if no new counter were ever released."""

    def deviation(self, k: int, sigma: float) -> float:  # noqa: ARG002 - of other noise it depends on k
        """Return the standard deviation of all the noise of a count."""
        return sigma

    def delta(self, k: int, sigma: object, tau: object) -> float:
        """Return `reached` of what is checked."""
        return self.reached(Sparse.of(k, sigma), checked_tau(tau))

    def threshold(self, k: int, sigma: object, delta: object) -> float:
        """Return `least_tau`, or raise an error that says why no threshold exists."""
        noise, target = Sparse.of(k, sigma), reachable_delta(delta)
        limit, unit = self.gaussian(noise), self.deviation(noise.k, float(noise.sigma.high))
        fits = meets(limit, target)
        found = least_tau(lambda tau: self.reached(noise, checked_tau(tau), target), unit, target) if fits else None
        if found is None:
            raise InputError.no_noise_enough(
                f"delta is {text_near(target)}, but the noise of the shared counters alone has delta {limit:.6g}, so "
                f"no threshold reaches it; give a larger sigma ({self.least} returns the least one), delta or epsilon"
            )
        return found

    def least_sigma(self, k: int, delta: object) -> float:
        """Return `least_noise`."""
        counters = checked_sparsity(k)
        return least_noise(lambda sigma: self.gaussian(Sparse.of(counters, sigma)), reachable_delta(delta))

    def best(self, k: int, delta: object) -> tuple[float, float]:
        """Return `best_pair`."""
        counters, target = checked_sparsity(k), reachable_delta(delta)

        def rough(sigma: float, places: float) -> float | None:
            noise, unit = Sparse.of(counters, sigma), self.deviation(counters, sigma)
            reached = partial(self.reached, noise, target=target, rough=True)
            return least_tau(lambda tau: reached(checked_tau(tau)), unit, target, places)

        least = self.least_sigma(counters, target)
        return best_pair(lambda sigma: self.threshold(counters, sigma, target), rough, least)


def upper_threshold(tau: object, lower: object = 1) -> float:
    """Return what a noisy count must exceed to be released: ``lower + tau`` (CSH Section 6).

    Counts below ``lower`` are removed before noise is added; 1 is the mechanism as it stands. A counter that is new
    then has the value ``lower``, so every analysis holds with tau as the difference between the two thresholds, and k
    as the number of counters that are not removed.

    Parameters
    ----------
    tau : number or str
        At least 0, as the functions of this package return it.
    lower : int, optional
        The pre-threshold, at least 1.

    Returns
    -------
    float
        Never below the sum.

    Raises
    ------
    InputError
        If tau is negative, or ``lower`` is not a whole number of at least 1.

    Examples
    --------
    >>> upper_threshold(96.5), upper_threshold(96.5, lower=20)
    (97.5, 116.5)
    """
    if isinstance(lower, bool) or not isinstance(lower, int | np.integer) or lower < 1:
        raise InputError.not_a_whole_number(
            f"the pre-threshold is {shorten(lower)}; accepted: a whole number, at least 1"
        )
    checked_tau(tau)
    decimal = rational(tau, "tau")
    held = Fraction(float(tau)) if isinstance(tau, float | np.floating) else decimal
    return printed_above(max(decimal, held) + int(lower))
