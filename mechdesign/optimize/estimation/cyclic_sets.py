"""Sets of equally many symbols such that every two symbols are together in nearly equally many of them.

Subset selection uses all sets of d symbols, far too many to be listed. What its error depends on at a uniform prior is
how often two symbols are together. So a few sets do nearly as well if each is taken with all its cyclic shifts
(a cyclic block design): symbols i and j are then together as often as i - j is a difference within the sets, and the
eigenvalues of these numbers are sums over the sets of ``|F(k)|^2``, with F the Fourier transform of a set. The sets
are found by exchanging members one by one while the sums come closer to each other.
"""

from __future__ import annotations

import numpy as np

from mechdesign.numerics.arrays import Floats

_TRIED = 8  # members and others of each set, of which the best exchange is taken
_WORTH = 1e-9  # by which share an exchange must lower the spread


def cyclic_sets(size: int, members: int, families: int, rng: np.random.Generator) -> Floats:
    """Return sets of symbols as columns of 0 and 1, all shifts of each of some sets, shape (N, families N).

    Parameters
    ----------
    size : int
        Number N of symbols, 2 or more.
    members : int
        Number d of symbols in each set, 1 to N - 1.
    families : int
        Number of sets that are shifted.
    rng : numpy.random.Generator
        Where the search begins.

    Examples
    --------
    >>> sets = cyclic_sets(7, 3, 1, np.random.default_rng(0))  # here it finds the Fano plane
    >>> together = sets @ sets.T
    >>> np.unique(together).tolist()
    [1.0, 3.0]
    """
    search = _CyclicSearch(size, members, families, rng)
    since_exchange, family = 0, 0
    while since_exchange < families:  # ends: each exchange lowers a sum by a share, and there are finitely many sets
        since_exchange = 0 if search.exchanges(family) else since_exchange + 1
        family = (family + 1) % families
    return np.hstack([np.stack([np.roll(one, shift) for shift in range(size)], axis=1) for one in search.sets])


class _CyclicSearch:
    """Sets, their transforms, and the sums of ``|F(k)|^2`` over the sets for every frequency k."""

    def __init__(self, size: int, members: int, families: int, rng: np.random.Generator) -> None:
        self.sets = np.zeros((families, size))
        for one in self.sets:
            one[rng.choice(size, members, replace=False)] = 1.0
        self._transforms = np.fft.rfft(self.sets, axis=1)
        frequencies = np.arange(self._transforms.shape[1])
        self._of_symbol = np.exp(-2j * np.pi * np.outer(np.arange(size), frequencies) / size)
        self._sums = (np.abs(self._transforms) ** 2).sum(axis=0)
        # By Parseval's identity the squares of one set sum to N d, of which its frequency 0 has d^2.
        self._mean = families * members * (size - members) / (size - 1)

    def exchanges(self, family: int) -> bool:
        """Exchange one member of a set where that brings the sums closer to their mean; return whether it did."""
        one, transform = self.sets[family], self._transforms[family]
        others = self._sums - np.abs(transform) ** 2
        uneven = self._sums - self._mean
        uneven[0] = 0.0
        slope = np.fft.irfft(uneven * transform, one.size)
        inside, outside = np.flatnonzero(one), np.flatnonzero(one == 0)
        leaving = inside[np.argsort(-slope[inside], kind="stable")[:_TRIED]]
        entering = outside[np.argsort(slope[outside], kind="stable")[:_TRIED]]
        tried = transform - self._of_symbol[leaving][:, None] + self._of_symbol[entering]
        sums = others + np.abs(tried) ** 2
        spreads = self._spread(sums)
        best = np.unravel_index(np.argmin(spreads), spreads.shape)
        if not spreads[best] < self._spread(self._sums) * (1 - _WORTH):
            return False
        one[leaving[best[0]]], one[entering[best[1]]] = 0.0, 1.0
        self._transforms[family], self._sums = tried[best], sums[best]
        return True

    def _spread(self, sums: Floats) -> Floats:
        result: Floats = ((sums[..., 1:] - self._mean) ** 2).sum(axis=-1)
        return result
