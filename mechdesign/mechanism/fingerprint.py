"""The name of a mechanism by what its reports depend on: labels, numerators, bits.

Two mechanisms with the same fingerprint draw the same reports from the same randomness, whatever they promise and
whoever made them. `docs/file-format.md` states the bytes that are hashed, so that programs in any language agree.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from mechdesign.mechanism.parts import Parts

_NAME = b"mechdesign/fingerprint/1"
NUMBER_BYTES = 8
"""Of every length and number in texts that are hashed, lowest byte first."""


def number(value: int) -> bytes:
    """Return a whole number from 0 to 2^64 - 1 as it is hashed.

    Examples
    --------
    >>> number(258).hex()
    '0201000000000000'
    """
    return value.to_bytes(NUMBER_BYTES, "little")


def text(value: str) -> bytes:
    """Return a text as it is hashed: the number of its bytes in UTF-8, and these bytes.

    Examples
    --------
    >>> text("é").hex()
    '0200000000000000c3a9'
    """
    encoded = value.encode()
    return number(len(encoded)) + encoded


def canonical_bytes(mechanism: Parts) -> bytes:
    """Return what is hashed: no two mechanisms that differ in a label, a numerator or the bits have the same.

    Examples
    --------
    >>> import numpy as np
    >>> from mechdesign import Guarantee, L1Ball, Mechanism
    >>> promise = Guarantee("log(3)", L1Ball([0.5, 0.5], radius=2))
    >>> len(canonical_bytes(Mechanism(np.array([[3, 1], [1, 3]]), 2, promise).parts))
    120
    """
    return b"".join(
        (
            _NAME,
            _texts(mechanism.inputs),
            _texts(mechanism.outputs),
            number(mechanism.bits),
            mechanism.numerators.astype("<u8").tobytes(),
        )
    )


def fingerprint(mechanism: Parts) -> bytes:
    """Return the SHA-256 hash of the canonical bytes.

    Examples
    --------
    >>> import numpy as np
    >>> from mechdesign import Guarantee, L1Ball, Mechanism
    >>> promise = Guarantee("log(3)", L1Ball([0.5, 0.5], radius=2))
    >>> fingerprint(Mechanism(np.array([[3, 1], [1, 3]]), 2, promise).parts).hex()[:16]
    'ba7baf03091072b9'
    """
    return hashlib.sha256(canonical_bytes(mechanism)).digest()


def _texts(values: Sequence[str]) -> bytes:
    return number(len(values)) + b"".join(map(text, values))
