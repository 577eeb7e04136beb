"""Laplace and Gaussian noise as floating point numbers, from random bytes.

A uniform integer of 64 bits becomes a sign and a tail probability, and that a quantile. With the operating system's
bytes the noise cannot be predicted; it is still a float, so that its last bits may tell more than a real number would
(Mironov, *On significance of the least significant bits for differential privacy*, CCS 2012).
"""

from __future__ import annotations

import numpy as np

from mechdesign.mechanism.sampler import RandomBytes
from mechdesign.numerics.arrays import Floats

LARGEST_SCALE = 10**14
"""The largest scale of noise for counts up to 10^15: Laplace noise is then below 4.5e15, two Gaussian ones are together
below 1.9e15, and the sums below 2^53, so that floats hold every whole number of that size."""


def laplace_noise(scale: float, size: int, source: RandomBytes) -> Floats:
    """Return independent Laplace noise of mean 0 and variance ``2 scale^2``.

    Parameters
    ----------
    scale : float
        Not negative.
    size : int
        How many numbers.
    source : callable
        Returns as many random bytes as it is asked for, as `random_bytes` gives it.

    Returns
    -------
    float array, shape (size,)
        Of magnitude below ``45 scale``, which a Laplace variate exceeds with a probability of 6e-20.

    Examples
    --------
    >>> import os
    >>> laplace_noise(2.0, 3, os.urandom).shape
    (3,)
    """
    signs, tails = _signs_and_tails(size, source)
    return -scale * signs * np.log(tails)


def gaussian_noise(sigma: float, size: int, source: RandomBytes) -> Floats:
    """Return independent Gaussian noise of mean 0 and standard deviation ``sigma``.

    Parameters
    ----------
    sigma : float
        Not negative.
    size, source
        As for `laplace_noise`.

    Returns
    -------
    float array, shape (size,)
        Of magnitude below ``9.3 sigma``, which a Gaussian variate exceeds with a probability of 6e-20.

    Examples
    --------
    >>> import os
    >>> gaussian_noise(2.0, 3, os.urandom).shape
    (3,)
    """
    from scipy.special import ndtri

    signs, tails = _signs_and_tails(size, source)
    quantiles: Floats = ndtri(tails / 2)
    return -sigma * signs * quantiles


def correlated_noise(k: int, sigma: float, size: int, source: RandomBytes) -> Floats:
    """Return Gaussian noise of deviation ``sigma`` with a common part of variance ``sigma^2 / sqrt(k)`` in all numbers.

    Parameters
    ----------
    k : int
        The sparsity bound, which may be above ``size``.
    sigma, size, source
        As for `gaussian_noise`.

    Examples
    --------
    >>> import os
    >>> correlated_noise(4, 2.0, 3, os.urandom).shape
    (3,)
    """
    common = gaussian_noise(sigma / float(k) ** 0.25, 1, source)
    return common + gaussian_noise(sigma, size, source)


def _signs_and_tails(size: int, source: RandomBytes) -> tuple[Floats, Floats]:
    """Return signs, and uniform numbers in (0, 1] that are fine near 0, where quantiles are steep."""
    words = np.frombuffer(source(8 * size), dtype="<u8")
    signs = np.where(words & np.uint64(1), 1.0, -1.0)
    tails: Floats = ((words >> np.uint64(1)).astype(np.float64) + 0.5) * 2.0**-63
    return signs, tails
