"""The exact delta of the correlated stability histogram for one pair of neighbours (numerical quadrature).

A pair has s shared counters with counts so large that all are released, l of which differ by 1, and j new ones. Given
the shared outputs, the common noise of a data set is N(m, v) with ``v = sigma^2 / (gamma + s)``, where sigma^2 / gamma
is its variance, so that no new counter is released with probability ``w(m) = E[Phi((tau - z) / sigma)^j]``,
z ~ N(m, v). The log-likelihood ratio of the shared outputs is a sum of ``b M``, with M the mean m, and of noise of
deviation r that is independent of M; over that noise the divergence is that of two Gaussians, and over M it is
integrated.

The delta in the direction in which new counters appear (A), and in the other (B):

    A = E[1 - w0] + E_M0[ E_xi (w(M0) - exp(epsilon - mu^2/2 - b M0 - r xi))_+ ]
    B = E_M[ E_xi (1 - w(M - c) exp(epsilon - mu^2/2 + b M + r xi))_+ ]

with ``mu^2 = (l - l^2/(gamma + s)) / sigma^2``, ``r^2 = l (s - l) / (s sigma^2)``, ``b = l gamma / (s sigma^2)``,
``c = l / (gamma + s)``, and M, M0 ~ N(0, v s / gamma).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

_PANELS = 24
_ORDERS = (12, 20)  # of the rule in a panel: the second is the result, their difference measures the error
_KINK = 2.0 ** -np.arange(1, 30)  # how panels shrink towards a kink
_NATS = 45.0  # of accuracy below the scale of the result
_MARGIN = 1e-11


@dataclass(frozen=True)
class Pair:
    """Shared counters s, of which l change, and new ones j; gamma is the ratio of own to common variance."""

    gamma: float
    sigma: float
    tau: float
    shared: int
    changed: int
    new: int


def pair_deltas(pair: Pair, epsilon: float, scale: float) -> tuple[float, float]:
    """Return (A, B) with a margin for the error of the quadrature on top.

    The rule is composite Gauss-Legendre, with panels that shrink geometrically towards the points where an integrand
    has a kink or turns quickly. The margin is four times the difference between orders 12 and 20, and 1e-11 of the
    result. It is an estimate, not a proof.

    Parameters
    ----------
    pair : Pair
        With at least one shared and one new counter.
    epsilon : float
        In nats.
    scale : float
        A bound on the deltas: what is far below it is cut off.

    Examples
    --------
    >>> a, b = pair_deltas(Pair(1.0, 1.0, 1.5, shared=2, changed=1, new=1), 0.35, 1.0)
    >>> round(a, 8), round(b, 8)
    (0.26459081, 0.2309908)
    """
    found = [_deltas(pair, epsilon, scale, order) for order in _ORDERS]
    a, b = (
        min(1.0, fine + 4 * abs(fine - coarse) + _MARGIN * (fine + 1e-4 * scale))
        for coarse, fine in zip(*found, strict=True)
    )
    return a, b


def _nats_below(scale: float) -> float:
    """Return the nats below 1 that count, for results of a scale."""
    return _NATS - math.log(max(scale, 1e-300))


def _some_released(pair: Pair, mean: Floats, deviation: float, scale: float) -> Floats:
    """Return 1 - w, the probability that a new counter is released, at means of the common noise (trapezoidal rule)."""
    from scipy.special import log_ndtr

    width = 1 + pair.new * deviation**2 / pair.sigma**2
    step = math.pi * math.sqrt(2 / (width * _nats_below(scale)))
    most = math.ceil(math.sqrt(2 * _nats_below(scale)) / step)
    nodes = np.arange(-most, most + 1) * step
    weights = np.exp(-(nodes**2) / 2) * step / math.sqrt(2 * math.pi)
    own = (pair.tau - mean[:, None] - deviation * nodes[None, :]) / pair.sigma
    return np.asarray(np.minimum(1.0, -np.expm1(pair.new * log_ndtr(own)) @ weights))


def _deltas(pair: Pair, epsilon: float, scale: float, order: int) -> tuple[float, float]:
    from scipy.special import log_ndtr, ndtr

    gamma, s, ell, sigma = pair.gamma, pair.shared, pair.changed, pair.sigma
    reach = math.sqrt(2 * _nats_below(scale))
    v = sigma**2 / (gamma + s)
    spread = math.sqrt(v * s / gamma)
    mu2 = (ell - ell**2 / (gamma + s)) / sigma**2
    r = math.sqrt(ell * (s - ell) / s) / sigma
    b, c = ell * gamma / (s * sigma**2), ell / (gamma + s)

    def log_w(mean: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log1p(-_some_released(pair, mean, math.sqrt(v), scale)))

    def a_gain(m: Floats) -> Floats:
        return log_w(m) + mu2 / 2 + b * m - epsilon

    def b_gain(m: Floats) -> Floats:
        return -(epsilon + log_w(m - c) - mu2 / 2 + b * m)

    def a_inner(m: Floats) -> Floats:
        gain, survival = a_gain(m), np.exp(log_w(m))
        if r == 0:
            return np.asarray(survival * -np.expm1(-np.maximum(gain, 0.0)))
        d: Floats = gain / r
        return np.asarray(survival * ndtr(d) - np.exp(epsilon - mu2 / 2 - b * m + r**2 / 2 + log_ndtr(d - r)))

    def b_inner(m: Floats) -> Floats:
        gain = b_gain(m)
        if r == 0:
            return np.asarray(-np.expm1(-np.maximum(gain, 0.0)))
        d: Floats = gain / r
        finite = np.where(np.isfinite(gain), gain, 0.0)
        tilted = np.exp(-finite + r**2 / 2 + log_ndtr(np.where(np.isfinite(d), d - r, 0.0)))
        return np.asarray(ndtr(d) - np.where(np.isfinite(gain), tilted, 0.0))

    appears = float(_some_released(pair, np.zeros(1), sigma / math.sqrt(gamma), scale)[0])
    a = appears + _mean(a_inner, _breaks(a_gain, spread, reach), spread, order)
    return a, max(0.0, _mean(b_inner, _breaks(b_gain, spread, reach), spread, order))


def _mean(f: Callable[[Floats], Floats], breaks: Floats, spread: float, order: int) -> float:
    """Return E[f(M)], M ~ N(0, spread^2), over panels in units of the spread."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    middle, half = (breaks[1:] + breaks[:-1]) / 2, np.diff(breaks) / 2
    points = (middle[:, None] + half[:, None] * nodes[None, :]).ravel()
    density = np.exp(-(points**2) / 2) / math.sqrt(2 * math.pi)
    return float((f(points * spread) * density) @ (half[:, None] * weights[None, :]).ravel())


def _breaks(gain: Callable[[Floats], Floats], spread: float, reach: float) -> Floats:
    """Return the ends of panels, close together where a gain changes its sign or is extreme."""
    grid = np.linspace(-reach, reach, 4 * _PANELS + 1)
    values = gain(grid * spread)
    signs = np.signbit(values)
    turns = [
        _crossing(gain, spread, float(grid[i]), float(grid[i + 1])) for i in np.flatnonzero(signs[1:] != signs[:-1])
    ]
    peak = float(grid[int(np.argmax(np.where(np.isfinite(values), values, -np.inf)))])
    low = float(grid[int(np.argmin(np.where(np.isfinite(values), values, np.inf)))])
    extreme = [x for x in (peak, low) if abs(x) < reach]
    near = [x + sign * reach * _KINK for x in turns for sign in (-1, 1)]
    near += [x + sign * reach * _KINK[:8] for x in extreme for sign in (-1, 1)]
    points = np.concatenate([np.linspace(-reach, reach, _PANELS + 1), turns, *near])
    return np.unique(np.clip(points, -reach, reach))


def _crossing(gain: Callable[[Floats], Floats], spread: float, low: float, high: float) -> float:
    """Return where a gain changes its sign, to the last place: sixteen sections at a time."""
    for _ in range(14):
        grid = np.linspace(low, high, 17)
        signs = np.signbit(gain(grid * spread))
        first = int(np.argmax(signs != signs[0]))
        if first == 0:  # the values at both ends round alike by now
            break
        low, high = float(grid[first - 1]), float(grid[first])
    return high
