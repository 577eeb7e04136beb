"""The leakage of any additive noise that has a density, on any finite set of points, by numerical integration.

It serves to explore mechanisms and to check closed forms. Its results are numerical: nothing is rounded up or proved.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.data.checks import finite_numbers
from mechdesign.errors import InputError, shorten
from mechdesign.uncertainty.prior_set import exact_prior

Floats: TypeAlias = NDArray[np.float64]
LogDensity: TypeAlias = Callable[[Floats], ArrayLike]

_REFINED = 5  # peaks of the grid that are refined


class _Channel:
    """Points, their prior, and the log-density of what is added to them."""

    def __init__(self, log_density: LogDensity, points: ArrayLike, prior: object) -> None:
        if not callable(log_density):
            raise InputError.wrong_type(f"the log-density is {shorten(log_density)}; give a function of an array")
        self.log_density = log_density
        self.points = finite_numbers(points, "the points")
        self.prior = np.array([float(q) for q in exact_prior(prior)])  # type: ignore[arg-type]
        if self.points.shape != self.prior.shape:
            raise InputError.wrong_size(
                f"points of shape {self.points.shape} and a prior of shape {self.prior.shape}; give one "
                "probability for each point"
            )

    def logs(self, y: Floats) -> Floats:
        """Return log f(y | x), one row for each point."""
        shifted = y[None, :] - self.points[:, None]
        logs = np.asarray(self.log_density(shifted), dtype=float)
        if logs.shape != shifted.shape:
            raise InputError.function_fails(
                f"the log-density of an array of shape {shifted.shape} has shape {logs.shape}; return an array of the "
                "same shape"
            )
        if np.isnan(logs).any() or (logs == np.inf).any():
            raise InputError.function_fails(
                "the log-density is NaN or +inf somewhere; accepted: numbers, and -inf where the density is 0"
            )
        return logs

    def leakage(self, y: Floats) -> Floats:
        """Return the leakage of each output; 0 where its density is 0."""
        logs = self.logs(y)
        largest = logs.max(axis=0)
        occurs = np.isfinite(largest)
        with np.errstate(divide="ignore"):
            relative = self.prior @ np.exp(logs - np.where(occurs, largest, 0.0))
            return np.where(occurs, -np.log(np.where(occurs, relative, 1.0)), 0.0)

    def density(self, y: float) -> float:
        """Return the density of an output."""
        return float(self.prior @ np.exp(self.logs(np.array([y])))[:, 0])

    def excess(self, y: float, epsilon: float) -> float:
        # Where the leakage is infinite, the search for the crossing needs a number.
        return float(min(self.leakage(np.array([y]))[0], epsilon + 1.0)) - epsilon


def _grid(within: tuple[float, float], points: Floats, size: int) -> Floats:
    ends = finite_numbers(within, "the ends of the interval")
    if ends.shape != (2,) or not ends[0] < ends[1]:
        raise InputError.out_of_range(
            f"the interval is {shorten(within)}; accepted: two numbers, the smaller one first"
        )
    if isinstance(size, bool) or not isinstance(size, int) or size < 3:
        raise InputError.not_a_whole_number(
            f"the grid has {shorten(size)} points; accepted: a whole number, at least 3"
        )
    inner = points[(points > ends[0]) & (points < ends[1])]
    return np.unique(np.concatenate([np.linspace(ends[0], ends[1], size), inner]))


def noise_leakage(log_density: LogDensity, points: ArrayLike, prior: object, y: ArrayLike) -> Floats:
    """Return the pointwise maximal leakage of outputs of Y = X + noise, in nats (ED eq. 46).

    ``l(y) = log( max_x f(y - x) / sum_x P(x) f(y - x) )``, with the maximum over all points; infinite where only
    points of probability 0 can cause y, and 0 where no point can.

    Parameters
    ----------
    log_density : function
        Logarithm of the density f of the noise: takes an array and returns one of its shape.
    points : array, shape (N,)
        Values of X.
    prior : array, shape (N,)
        Their probabilities.
    y : array
        Outputs.

    Returns
    -------
    array, of the shape of ``y``

    Raises
    ------
    InputError
        If shapes do not fit, a number is not finite, the prior is not a distribution, or the log-density is NaN or
        +inf.

    Examples
    --------
    >>> noise_leakage(lambda t: -np.abs(t), [-1, 0, 1], [0.5, 0.25, 0.25], [-3.0, 0.0, 3.0]).round(6)
    array([0.468719, 0.642626, 0.892483])
    """
    values = finite_numbers(y, "the outputs")
    return _Channel(log_density, points, prior).leakage(values.reshape(-1)).reshape(values.shape)


def noise_epsilon_min(
    log_density: LogDensity, points: ArrayLike, prior: object, within: tuple[float, float], grid: int = 2001
) -> float:
    """Return the greatest leakage of outputs in an interval, numerically: from a grid, refined around its best points.

    The result is the leakage of an output, so it is not above the supremum except by rounding. A peak that is narrower
    than the spacing of the grid may be missed.

    Parameters
    ----------
    log_density, points, prior
        As for `noise_leakage`.
    within : pair of float
        Interval of outputs.
    grid : int, optional
        Number of points of the grid, at least 3; the values of X are added to it.

    Raises
    ------
    InputError
        As for `noise_leakage`, and for an empty interval.

    Examples
    --------
    >>> round(noise_epsilon_min(lambda t: -np.abs(t), [-1, 1], [0.5, 0.5], (-5, 5)), 6)
    0.566219
    """
    from scipy.optimize import minimize_scalar

    channel = _Channel(log_density, points, prior)
    y = _grid(within, channel.points, grid)
    leakages = channel.leakage(y)
    best = float(leakages.max())
    if np.isinf(best):
        return best
    for index in np.argsort(leakages)[::-1][:_REFINED]:
        low, high = y[max(index - 1, 0)], y[min(index + 1, y.size - 1)]
        found = minimize_scalar(
            lambda t: -channel.leakage(np.array([t]))[0],
            bounds=(low, high),
            method="bounded",
            options={"xatol": 1e-10 * max(1.0, abs(high))},
        )
        best = max(best, -float(found.fun))
    return best


def noise_tail(
    log_density: LogDensity,
    points: ArrayLike,
    prior: object,
    epsilon: float,
    within: tuple[float, float],
    grid: int = 2001,
) -> float:
    """Return the probability of outputs in an interval that leak more than epsilon, numerically (ED eq. 58 and 60).

    Crossings of epsilon are bracketed on a grid and found by Brent's method; between them the density of Y is
    integrated by adaptive quadrature, split at the values of X.

    Parameters
    ----------
    log_density, points, prior
        As for `noise_leakage`.
    epsilon : float
        Leakage, at least 0, in nats.
    within : pair of float
        Interval of outputs; what is outside is not counted.
    grid : int, optional
        Number of points of the grid, at least 3. Two crossings between neighbouring points may be missed.

    Raises
    ------
    InputError
        As for `noise_leakage`, for an empty interval, and for an epsilon below 0.

    Examples
    --------
    >>> round(noise_tail(lambda t: -np.abs(t) - np.log(2), [-1, 1], [0.5, 0.5], 0.5, (-50, 50)), 6)
    0.686409
    """
    from scipy.integrate import quad
    from scipy.optimize import brentq

    channel = _Channel(log_density, points, prior)
    if not np.isfinite(epsilon) or epsilon < 0:
        raise InputError.epsilon_out_of_range(f"epsilon is {shorten(epsilon)}; accepted: a finite number, at least 0")
    y = _grid(within, channel.points, grid)
    above = channel.leakage(y) > epsilon
    total = 0.0
    for start, end in _runs(above):
        # A run of the grid reaches to the crossings on either side of it.
        low = y[start] if start == 0 else brentq(channel.excess, y[start - 1], y[start], args=(epsilon,), xtol=1e-13)
        high = y[end] if end == y.size - 1 else brentq(channel.excess, y[end], y[end + 1], args=(epsilon,), xtol=1e-13)
        cuts = [low, *channel.points[(channel.points > low) & (channel.points < high)], high]
        for left, right in itertools.pairwise(cuts):
            total += quad(channel.density, left, right, epsabs=1e-14, epsrel=1e-12, limit=200)[0]
    return total


def _runs(above: NDArray[np.bool_]) -> Iterable[tuple[int, int]]:
    """Return the first and last index of every run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], above.astype(np.int8), [0]])))
    return zip(edges[::2].tolist(), (edges[1::2] - 1).tolist(), strict=True)
