"""Uniform draws from random bytes: integers below limits, and records among counted ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.mechanism.sampler import RandomBytes

Words = NDArray[np.uint64]
Integers = NDArray[np.int64]

_LAST = np.uint64((1 << 64) - 1)


def below(words: Words, limits: Integers) -> tuple[Integers, NDArray[np.bool_]]:
    """Return 64-bit words modulo limits, and where these are uniform: not in the last, incomplete round."""
    sizes = limits.astype(np.uint64)
    kept = words <= _LAST - (_LAST % sizes + np.uint64(1)) % sizes
    return (words % sizes).astype(np.int64), kept


def uniform_below(limits: Integers, random_bytes: RandomBytes) -> Integers:
    """Return integers that are uniform from 0 to below each limit, from random bytes; by rejection, so exactly.

    Examples
    --------
    >>> import numpy as np, os
    >>> uniform_below(np.array([1, 1]), os.urandom).tolist()
    [0, 0]
    """
    found = np.empty(len(limits), dtype=np.int64)
    left = np.arange(len(limits))
    while left.size:  # once nearly always: a word is refused with a probability below limit / 2^64
        found[left], kept = below(np.frombuffer(random_bytes(8 * left.size), dtype="<u8"), limits[left])
        left = left[~kept]
    return found


def drawn_records(counts: NDArray[Any], size: int, random_bytes: RandomBytes) -> Integers:
    """Return how many records of each kind are drawn, where all sets of ``size`` records are equally likely.

    Parameters
    ----------
    counts : int array, shape (k,)
        How many records there are of each kind.
    size : int
        At most their sum.
    random_bytes : callable
        As `mechdesign.mechanism.sampler.random_bytes` returns.

    Examples
    --------
    >>> import os
    >>> drawn_records(np.array([3, 0, 2]), 5, os.urandom).tolist()
    [3, 0, 2]
    """
    total = int(counts.sum())
    fewer = min(size, total - size)
    drawn = np.empty(0, dtype=np.int64)
    while drawn.size < fewer:  # a set of distinct records that grows by any further ones is uniform at each size
        more = uniform_below(np.full(fewer - drawn.size, total), random_bytes)
        drawn = np.union1d(drawn, more)
    taken = np.bincount(np.searchsorted(np.cumsum(counts), drawn, side="right"), minlength=len(counts))
    return taken if fewer == size else counts - taken
