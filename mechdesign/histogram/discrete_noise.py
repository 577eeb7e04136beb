"""The noise of the discrete correlated histogram, drawn exactly in steps of 1/2 (CSH Algorithm 4)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InputError, shorten
from mechdesign.histogram.calibration import checked_sparsity, checked_tau
from mechdesign.histogram.discrete_sampler import Integers, draw_discrete_gaussian
from mechdesign.mechanism.sampler import RandomBytes
from mechdesign.numerics.exact import rational

_ROOT_PLACES = 20


def correlation(k: int) -> Fraction:
    """Return gamma: ``sqrt(k)``, rounded down to a multiple of 2^-20.

    Examples
    --------
    >>> correlation(9), round(float(correlation(2)), 5)
    (Fraction(3, 1), 1.41421)
    """
    return Fraction(math.isqrt(checked_sparsity(k) << 2 * _ROOT_PLACES), 1 << _ROOT_PLACES)


def checked_sigma(value: object, name: str = "sigma") -> Fraction:
    """Return a scale: the noise is drawn with the rational itself, so that no double takes part."""
    sigma = rational(value, name)
    if sigma <= 0:
        raise InputError.out_of_range(f"{name} is {shorten(value)}; accepted: a number above 0")
    return sigma


def checked_value_sigma(value: object) -> Fraction | None:
    """Return the scale of the noise of the (k+1)-th count; None where that count is not released."""
    return None if value is None else checked_sigma(value, "value_sigma")


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
    whole, s = checked_sparsity(k), checked_sigma(sigma)
    if size > whole:
        raise InputError.too_many_counters(
            f"{size} counts are above 0, but k is {whole}; give a larger k, or keep the top k"
        )
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
