"""From strings to 64-bit numbers, and for each seed to places on a circle.

A string has one *fingerprint*, 8 bytes of BLAKE2b of its UTF-8. A seed number and the master word give two 64-bit
words a and b; the place of a string under that seed is ``mix(a * fingerprint + b)``, a 64-bit number, which is scaled
to the buckets by its upper half. All arithmetic is modulo 2^64, so that every language computes the same.

The promise of windows needs nothing of this hash; the utility needs that two strings fall together about as often as
by chance.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
"""64-bit numbers without a sign."""

_PERSON = b"windows1"
_MULTIPLIER = np.uint64(0xFF51AFD7ED558CCD)
_HALF = np.uint64(32)
_SHIFT = np.uint64(33)
BLOCK = 1 << 15  # strings that are hashed at once: their numbers stay in a core's own memory


def fingerprints(strings: Iterable[str]) -> Words:
    """Return the fingerprint of each string: 8 bytes of BLAKE2b, the least byte first.

    Examples
    --------
    >>> [hex(word) for word in fingerprints(["s0"])]
    ['0xe120d439dfa55ccf']
    """
    blake2b = hashlib.blake2b
    joined = b"".join(blake2b(string.encode(), digest_size=8, person=_PERSON).digest() for string in strings)
    return np.frombuffer(joined, dtype="<u8").astype(np.uint64)


def mixed(prints: Words, factors: Any, summands: Any, spare: Words | None = None) -> Words:
    """Return the places of fingerprints under seeds, whose words are numbers or arrays."""
    found: Words = prints * factors
    found += summands
    spare = np.right_shift(found, _SHIFT, out=spare)
    found ^= spare
    found *= _MULTIPLIER
    return found


@dataclass(frozen=True)
class Seed:
    """The two 64-bit words of a seed."""

    factor: int
    summand: int

    def places(self, prints: Words, spare: Words | None = None) -> Words:
        """Return where the seed puts fingerprints: numbers of 64 bits.

        Parameters
        ----------
        prints : ndarray of uint64
            Fingerprints.
        spare : ndarray of uint64, optional
            An array of the shape of the fingerprints, which is overwritten; made if it is not given.
        """
        return mixed(prints, np.uint64(self.factor), np.uint64(self.summand), spare)


@dataclass(frozen=True)
class Seeds:
    """The public seeds of a mechanism: numbers 0 to ``count - 1`` under one master word.

    Attributes
    ----------
    master : bytes
        The master word, which is fixed before the sample is looked at.
    count : int
        How many seeds there are.
    """

    master: bytes
    count: int

    def __getitem__(self, number: int) -> Seed:
        """Return the seed of a number; its factor is odd.

        Examples
        --------
        >>> seed = Seeds(b"reference", 1)[0]
        >>> hex(seed.factor), hex(seed.summand)
        ('0x23b578aa818dfc75', '0x10b20a8fb3f1d086')
        """
        text = self.master + number.to_bytes(8, "little")
        digest = hashlib.blake2b(text, digest_size=16, person=_PERSON).digest()
        return Seed(int.from_bytes(digest[:8], "little") | 1, int.from_bytes(digest[8:], "little"))


def scaled(places: Words, size: int, out: Words | None = None) -> NDArray[np.int64]:
    """Return places as numbers from 0 to ``size - 1``: the upper half, times the size, over 2^32.

    Parameters
    ----------
    places : ndarray of uint64
        Places, as of `Seeds.places`.
    size : int
        At most 2^32.
    out : ndarray of uint64, optional
        Where the numbers are written; it may be ``places``.
    """
    if size > 1 and size & (size - 1) == 0:  # a power of two: its uppermost bits
        found: Words = np.right_shift(places, np.uint64(65 - size.bit_length()), out=out)
        return found.view(np.int64)
    found = np.right_shift(places, _HALF, out=out)
    found *= np.uint64(size)
    found >>= _HALF
    return found.view(np.int64)
