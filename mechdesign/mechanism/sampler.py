"""Exact sampling from a mechanism's integers.

A uniform integer r of ``bits`` bits is compared with the cumulative numerators of a row: the output is the
first whose cumulative numerator exceeds r, so its probability is exactly numerator / 2^bits. No float is used.

The first 16 bits of r nearly always decide. They are drawn first and looked up in a guide table (Chen and
Asau, *On generating random variates from an empirical distribution*, AIIE Transactions 6, 1974), which knows
the output of every block of integers that belongs to one output only; the other bits are drawn where a
threshold lies inside the block. The distribution is that of drawing all bits at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InputError, shorten
from mechdesign.mechanism.proof import Integers

Codes = NDArray[np.signedinteger[Any]]
Outputs = NDArray[np.unsignedinteger[Any]]
RandomBytes = Callable[[int], bytes]

_FIRST_BITS = 16
_BLOCK = 1 << 16  # records at a time: what is drawn and looked up stays in the processor's cache
_TABLE_ENTRIES = 1 << 22
_BUCKETS_AN_OUTPUT = 64  # so that about one record in 64 at most needs its other bits


def random_bytes(rng: np.random.Generator | None) -> RandomBytes:
    """Return the source of random bytes: the operating system's secure one, or a generator for experiments.

    Raises
    ------
    InputError
        For anything but None and a `numpy.random.Generator`, such as a seed.
    """
    if rng is None:
        return os.urandom
    if not isinstance(rng, np.random.Generator):
        raise InputError.wrong_type(
            f"rng is {shorten(rng)}; accepted: None for secure randomness, or numpy.random.default_rng(seed) "
            "for experiments"
        )
    return rng.bytes


class Sampler:
    """Draws outputs with the probabilities that integers state.

    Parameters
    ----------
    numerators, bits
        Those of a `Mechanism`.

    Examples
    --------
    >>> sampler = Sampler(np.array([[3, 1], [0, 4]]), bits=2)
    >>> sampler.draw(np.array([1, 1, 1]), os.urandom)
    array([1, 1, 1], dtype=uint8)
    """

    def __init__(self, numerators: Integers, bits: int) -> None:
        N, M = numerators.shape
        self._bits = bits
        self._thresholds = np.cumsum(numerators, axis=1)
        wanted = max(1, M - 1).bit_length() + _BUCKETS_AN_OUTPUT.bit_length() - 1
        affordable = max(_TABLE_ENTRIES // N, 1).bit_length() - 1
        self._table_bits = min(wanted, affordable, bits, _FIRST_BITS)
        self._undecided = M
        self._table = self._guide()

    def _guide(self) -> Outputs:
        """Return the output of each block of integers that share their first bits, or M, shape (N 2^k,)."""
        width = 1 << (self._bits - self._table_bits)
        starts = np.arange(1 << self._table_bits, dtype=np.int64) * width
        first = np.array([np.searchsorted(row, starts, side="right") for row in self._thresholds])
        last = np.array([np.searchsorted(row, starts + (width - 1), side="right") for row in self._thresholds])
        decided: Outputs = np.where(first == last, first, self._undecided)
        return decided.astype(np.min_scalar_type(self._undecided)).ravel()

    @property
    def dtype(self) -> np.dtype[np.unsignedinteger[Any]]:
        """The type of outputs: the least unsigned integers that hold M, since large arrays of them are made often."""
        return self._table.dtype

    def draw(self, codes: Codes, source: RandomBytes) -> Outputs:
        """Return one output for each input.

        Parameters
        ----------
        codes : int array, shape (n,)
            Inputs, as rows of the mechanism.
        source : callable
            Returns as many random bytes as it is asked for.

        Returns
        -------
        array of `dtype`, shape (n,)
        """
        outputs = np.empty(codes.size, dtype=self.dtype)
        for start in range(0, codes.size, _BLOCK):
            block = slice(start, start + _BLOCK)
            outputs[block] = self._drawn(codes[block], source)
        return outputs

    def outputs_at(self, codes: Codes, integers: NDArray[np.int64]) -> Outputs:
        """Return the output to which a uniform integer of all bits belongs, for each input.

        Parameters
        ----------
        codes : int array, shape (n,)
            Inputs, as rows of the mechanism.
        integers : int64 array, shape (n,)
            From 0 to 2^bits - 1.

        Returns
        -------
        array of `dtype`, shape (n,)

        Examples
        --------
        >>> Sampler(np.array([[3, 1], [0, 4]]), bits=2).outputs_at(np.array([0, 0, 1]), np.array([2, 3, 0]))
        array([0, 1, 1], dtype=uint8)
        """
        outputs = self._looked_up(codes, integers >> (self._bits - self._table_bits))
        open_cases = np.flatnonzero(outputs == self._undecided)
        if open_cases.size:
            outputs[open_cases] = self._compared(codes[open_cases], integers[open_cases])
        return outputs

    def _looked_up(self, codes: Codes, blocks: NDArray[np.integer[Any]]) -> Outputs:
        """Return the output of each input in a block of integers, or M where several outputs share the block."""
        places = np.left_shift(codes, self._table_bits, dtype=np.int32)  # the table has 2^22 entries or fewer
        np.bitwise_or(places, blocks, out=places, casting="same_kind")
        outputs: Outputs = self._table.take(places)
        return outputs

    def _drawn(self, codes: Codes, source: RandomBytes) -> Outputs:
        first = np.frombuffer(source(2 * codes.size), dtype="<u2")
        outputs = self._looked_up(codes, first >> (_FIRST_BITS - self._table_bits))
        open_cases = np.flatnonzero(outputs == self._undecided)
        if open_cases.size:
            integers = self._completed(first[open_cases].astype(np.int64), source)
            outputs[open_cases] = self._compared(codes[open_cases], integers)
        return outputs

    def _completed(self, first: NDArray[np.int64], source: RandomBytes) -> NDArray[np.int64]:
        """Return uniform integers of all bits that begin with the 16 bits drawn."""
        missing = self._bits - _FIRST_BITS
        if missing <= 0:
            return first >> -missing
        rest = np.frombuffer(source(8 * first.size), dtype="<u8") >> np.uint64(64 - missing)
        return (first << missing) | rest.astype(np.int64)

    def _compared(self, codes: Codes, integers: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return how many cumulative numerators of each row do not exceed an integer, by bisection."""
        low = np.zeros(codes.size, dtype=np.intp)
        high = np.full(codes.size, self._thresholds.shape[1] - 1, dtype=np.intp)
        while (low < high).any():
            middle = (low + high) >> 1
            beyond = self._thresholds[codes, middle] <= integers
            low = np.where(beyond, middle + 1, low)
            high = np.where(beyond, high, middle)
        return low
