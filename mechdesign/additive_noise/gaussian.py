"""Gaussian noise on a binary attribute (ED Section VI-B): its leakage, and the probability that it exceeds epsilon."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.additive_noise.half_lines import HalfLines
from mechdesign.data.checks import (
    checked_delta,
    checked_p_min,
    checked_radius,
    checked_scale,
    finite_numbers,
    reachable_epsilon,
)
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import frozen
from mechdesign.numerics.epsilon import Epsilon, nats
from mechdesign.numerics.exact import arb_of, float_up, working_precision
from mechdesign.numerics.outward import Interval, float_above
from mechdesign.uncertainty.prior_set import exact_prior
from mechdesign.uncertainty.radii import WEISSMAN, radius_exact

_SIGMA = "sigma"


def _binary_prior(prior: object) -> tuple[Fraction, Fraction]:
    exact = exact_prior(prior)  # type: ignore[arg-type]
    if len(exact) != 2:
        raise InputError.wrong_size(f"the prior has {len(exact)} probabilities; accepted: two, those of -1 and 1")
    return exact[0], exact[1]


def gaussian_leakage(y: ArrayLike, sigma: object, prior: object) -> NDArray[np.float64]:
    """Return the pointwise maximal leakage of outputs of Y = X + N(0, sigma^2), X in {-1, 1}, in nats (ED eq. 54).

    ``l(y) = -log(P(s) + (1 - P(s)) exp(-2 |y| / sigma^2))`` with s the sign of y: 0 at y = 0, and up to
    ``log(1 / P(s))``.

    Parameters
    ----------
    y : array
        Outputs.
    sigma : number or str
        Standard deviation of the noise, above 0.
    prior : array, shape (2,)
        Probabilities of -1 and 1.

    Returns
    -------
    array, of the shape of ``y``
        In floats, not rounded up.

    Raises
    ------
    InputError
        If sigma is not above 0, an output is not finite, or the prior is not a distribution.

    Examples
    --------
    >>> gaussian_leakage([-1.0, 0.0, 1.0], 1, [0.25, 0.75]).round(6)
    array([1.045541, 0.      , 0.243558])
    """
    values, (below, above) = finite_numbers(y, "the outputs"), _binary_prior(prior)
    s = checked_scale(sigma, _SIGMA)
    with np.errstate(over="ignore", divide="ignore"):
        # 2 |y| / sigma^2, in an order of operations in which only the result can overflow.
        doubled = np.where(values == 0, 0.0, np.abs(values) / _positive_float(s) / _positive_float(s) * 2)
        near = np.where(values < 0, float(below), float(above))
        far = np.where(values < 0, float(above), float(below))
        small = -np.log1p(far * np.expm1(-np.minimum(doubled, 0.5)))
        large = -np.logaddexp(np.log(near), np.log(far) - doubled)
    leakages: NDArray[np.float64] = np.where(doubled < 0.5, small, large)
    return leakages


def _positive_float(sigma: Interval) -> np.float64:
    return np.float64(min(float_above(sigma.high), np.finfo(float).max))


def gaussian_crossings(epsilon: object, sigma: object, prior: object) -> tuple[float, float]:
    """Return the ends of the two half lines of outputs that leak more than epsilon (ED eq. 58).

    ``E = {y < lower} + {y > upper}``. With q the probability of 1,
    ``upper = (sigma^2 / 2) log((1 - q) / (exp(-epsilon) - q))`` if q is below ``exp(-epsilon)``, and otherwise upper is
    infinite; ``-lower`` is the same expression with q the probability of -1.

    Parameters
    ----------
    epsilon : number or str
        A decimal above 0, at most 700, or ``"log(9/8)"``; nats.
    sigma, prior
        As for `gaussian_leakage`.

    Returns
    -------
    lower, upper : float
        Rounded to the nearest.

    Raises
    ------
    InputError
        For a value outside these ranges.

    Examples
    --------
    >>> lower, upper = gaussian_crossings(0.5, 1, [0.25, 0.75])
    >>> round(lower, 6), upper
    (-0.371826, inf)
    """
    below, above = _binary_prior(prior)
    target, s = reachable_epsilon(epsilon), checked_scale(sigma, _SIGMA)
    with working_precision():
        lines = HalfLines.of(target, s)
        ends = [lines.crossing(q) for q in (below, above)]
        lower, upper = (np.inf if end is None else float(end.mid()) for end in ends)
    return float(-lower), float(upper)


def gaussian_delta(epsilon: object, sigma: object, p_min: object, radius: object = 0.0) -> float:
    """Return the greatest probability over an l1 ball of priors that an output leaks above epsilon (ED eq. 59-62).

    For Y = X + N(0, sigma^2) and X in {-1, 1}, ``delta_1 = sup over P of P_Y[ l_P(X -> Y) > epsilon ]``. For every
    prior in the ball the mechanism is epsilon-PML except with probability ``delta_1``. The probability is not monotone
    in the prior: that of each of the two half lines is unimodal, and where both exist their sum may have several
    peaks. The supremum is bounded from above by branch and bound in ball arithmetic (see
    `mechdesign.additive_noise.half_lines`).

    Parameters
    ----------
    epsilon, sigma
        As for `gaussian_crossings`.
    p_min : number or str
        Probability of the rarer category under the prior or its estimate, in (0, 1/2].
    radius : number or str, optional
        l1 radius of the ball around the estimate, in [0, 2]; 0 for a known prior, 2 for every prior.

    Returns
    -------
    float
        At least the supremum, and above it by at most 1e-9 of the result or the least float. It is 0 only if no output
        leaks more than epsilon under any prior in the ball.

    Raises
    ------
    InputError
        For a value outside these ranges.

    Examples
    --------
    >>> round(gaussian_delta(1.0, 1.5, 0.3), 6), round(gaussian_delta(1.0, 1.5, 0.3, radius=0.1), 6)
    (0.04728, 0.073826)
    """
    target, s = reachable_epsilon(epsilon), checked_scale(sigma, _SIGMA)
    return _delta(target, s, _folded(checked_p_min(p_min), checked_radius(radius)))


def _folded(p: Fraction, radius: Fraction) -> Interval:
    """Return the interval of the smaller probability over all priors in a ball; 1 minus it is the other one."""
    return Interval(max(Fraction(0), p - radius / 2), min(Fraction(1, 2), p + radius / 2))


def _delta(target: Epsilon, sigma: Interval, priors: Interval) -> float:
    with working_precision():
        return float_above(HalfLines.of(target, sigma).supremum(priors.low, priors.high)[1])


@dataclass(frozen=True)
class GaussianGuarantee:
    """What Gaussian noise guarantees when the prior is estimated from samples (ED Section VI-B).

    Two pairs hold. The pair of the paper is ``(epsilon_star, delta_star)``. But ``delta_1`` is already a supremum over
    the ball, of the leakage under each prior, so ``(epsilon, delta_star)`` holds as well and is never worse: the step
    from ``epsilon`` to ``epsilon_star`` (ED Theorem 4) accounts a second time for priors that the supremum covers.

    Attributes
    ----------
    epsilon : float
        Leakage, in nats, that is exceeded with probability at most ``delta_1`` under every prior in the ball.
    delta_1 : float
        `gaussian_delta`, never below the supremum (ED eq. 59).
    radius : float
        l1 radius of the ball, rounded up (ED eq. 45).
    delta_2 : float
        Probability with which the true prior is outside the ball.
    epsilon_star : float
        ``epsilon - log(1 - (radius / 2) exp(epsilon))``, rounded up; infinite where the logarithm does not exist (ED
        eq. 64).
    delta_star : float
        ``delta_1 + delta_2 - delta_1 delta_2``, rounded up (ED eq. 65). It assumes that Y is independent of the
        estimate; without this assumption use ``delta_1 + delta_2``.
    """

    epsilon: float
    delta_1: float
    radius: float
    delta_2: float
    epsilon_star: float
    delta_star: float


@dataclass(frozen=True)
class GaussianCurve:
    """`GaussianGuarantee` for many values of epsilon: read-only arrays, and two numbers that all values share.

    Attributes
    ----------
    epsilon, delta_1, epsilon_star, delta_star : array, shape (K,)
    radius, delta_2 : float
    """

    epsilon: NDArray[np.float64]
    delta_1: NDArray[np.float64]
    epsilon_star: NDArray[np.float64]
    delta_star: NDArray[np.float64]
    radius: float
    delta_2: float


def gaussian_guarantee(epsilon: object, sigma: object, p_min: object, samples: int, delta: object) -> GaussianGuarantee:
    """Return what the Gaussian mechanism guarantees with a prior estimated from samples (ED eq. 59, 64 and 65).

    Parameters
    ----------
    epsilon, sigma
        As for `gaussian_crossings`.
    p_min : number or str
        Frequency of the rarer category among the samples, in (0, 1/2].
    samples : int
        Number of samples.
    delta : number or str
        ``delta_2``: probability, in [0, 1), with which the true prior may lie outside the ball. With 0 the ball is the
        whole simplex.

    Raises
    ------
    InputError
        For a value outside these ranges.

    Examples
    --------
    >>> found = gaussian_guarantee(0.5, 1.5, 0.5, samples=10_000, delta=1e-6)
    >>> round(found.delta_star, 6), round(found.epsilon_star, 6)
    (0.344922, 0.545423)
    """
    s, p = checked_scale(sigma, _SIGMA), checked_p_min(p_min)
    failure = checked_delta(delta)
    radius = radius_exact(samples, 2, delta, bound=WEISSMAN)
    target = reachable_epsilon(epsilon)
    delta_1 = _delta(target, s, _folded(p, radius))
    return GaussianGuarantee(
        epsilon=float(target),
        delta_1=delta_1,
        radius=float_up(radius),
        delta_2=float(failure),
        epsilon_star=_epsilon_star(target, radius),
        delta_star=float_up(1 - (1 - Fraction(delta_1)) * (1 - failure)),
    )


def _epsilon_star(target: Epsilon, radius: Fraction) -> float:
    with working_precision():
        epsilon: Any = nats(target)
        lost = arb_of(radius / 2) * epsilon.exp()
        return float_above(epsilon - (-lost).log1p()) if lost < 1 else float("inf")


def gaussian_curve(
    epsilons: Iterable[object], sigma: object, p_min: object, samples: int, delta: object
) -> GaussianCurve:
    """Return `gaussian_guarantee` for every epsilon: the curves of ED Figures 6 and 7.

    Parameters
    ----------
    epsilons : array, shape (K,)
        Numbers above 0, at most 700.
    sigma, p_min, samples, delta
        As for `gaussian_guarantee`.

    Raises
    ------
    InputError
        As for `gaussian_guarantee`, and for an empty list.

    Examples
    --------
    >>> curve = gaussian_curve([0.5, 0.6, 1.0], 1.5, 0.5, samples=10_000, delta=1e-6)
    >>> curve.delta_1.round(6)
    array([0.344921, 0.148387, 0.      ])
    """
    if isinstance(epsilons, str) or not isinstance(epsilons, Iterable):
        raise InputError.wrong_type(f"the epsilons are {shorten(epsilons)}; give a list of numbers above 0")
    points = [gaussian_guarantee(epsilon, sigma, p_min, samples, delta) for epsilon in epsilons]
    if not points:
        raise InputError.nothing_given("the epsilons are an empty list; give at least one number above 0")

    def column(name: str) -> NDArray[np.float64]:
        return frozen(np.array([getattr(point, name) for point in points], dtype=float))

    return GaussianCurve(
        epsilon=column("epsilon"),
        delta_1=column("delta_1"),
        epsilon_star=column("epsilon_star"),
        delta_star=column("delta_star"),
        radius=points[0].radius,
        delta_2=points[0].delta_2,
    )
