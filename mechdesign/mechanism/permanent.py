"""Permanent reports: the same id and value always give the same report, and nothing is stored.

The random integer of a report is a keyed pseudo-random function (BLAKE2b with a key, RFC 7693) of the mechanism's
fingerprint, the attribute of the key, the value and the id. `docs/file-format.md` states the bytes, so that programs in
any language agree; `docs/mathematics.md` states and proves what is promised.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.ids import Ids
from mechdesign.errors import InputError
from mechdesign.mechanism.fingerprint import text
from mechdesign.mechanism.keys import STAYS, Key
from mechdesign.mechanism.sampler import Codes, Outputs, Sampler

_PERSON = b"mechdesign-key-1"  # the personalization of BLAKE2b, so that the key serves no other purpose
_WORD_BYTES = 8
_BLOCK = 1 << 15  # records at a time, whose hashes are held as objects


class PermanentReports:
    """Draws outputs that depend on a key, an id and a value alone.

    Parameters
    ----------
    sampler : Sampler
        That of the mechanism.
    fingerprint : bytes
        That of the mechanism.
    inputs : tuple of str
        The labels of its symbols.
    bits : int
        Of its numerators.
    key : Key
        The key.

    Examples
    --------
    >>> sampler = Sampler(np.array([[3, 1], [1, 3]]), bits=2)
    >>> reports = PermanentReports(sampler, bytes(32), ("no", "yes"), 2, Key(bytes(32)))
    >>> reports.integers(np.array([0, 1]), [b"ann", b"ann"])
    array([1, 2])
    """

    def __init__(self, sampler: Sampler, fingerprint: bytes, inputs: tuple[str, ...], bits: int, key: Key) -> None:
        self._sampler = sampler
        self._inputs = inputs
        self._unused = np.uint64(8 * _WORD_BYTES - bits)
        self._start = hashlib.blake2b(
            fingerprint + text(key.attribute), digest_size=_WORD_BYTES, key=key.secret, person=_PERSON
        )
        self._begun: list[Any] = [None] * len(inputs)  # the function with all that precedes an id, by symbol

    def __getstate__(self) -> NoReturn:
        raise InputError(STAYS)

    def draw(self, codes: Codes, ids: Ids) -> Outputs:
        """Return one output for each input.

        Parameters
        ----------
        codes : int array, shape (n,)
            Inputs, as rows of the mechanism.
        ids : Ids
            As many ids.

        Returns
        -------
        array of ``Sampler.dtype``, shape (n,)

        Raises
        ------
        InputError
            Naming the first id that is refused.
        """
        outputs = np.empty(codes.size, dtype=self._sampler.dtype)
        for start in range(0, codes.size, _BLOCK):
            block = codes[start : start + _BLOCK]
            integers = self.integers(block, ids.texts(start, start + block.size))
            outputs[start : start + block.size] = self._sampler.outputs_at(block, integers)
        return outputs

    def integers(self, codes: Codes, ids: Iterable[bytes]) -> NDArray[np.int64]:
        """Return the integers that are compared with cumulative numerators, shape (n,)."""
        for code in np.flatnonzero(np.bincount(codes, minlength=len(self._inputs))).tolist():
            if self._begun[code] is None:
                begun = self._start.copy()
                begun.update(text(self._inputs[code]))
                self._begun[code] = begun.copy
        words: list[bytes] = []
        add = words.append
        for begin, name in zip(map(self._begun.__getitem__, codes.tolist()), ids, strict=True):
            function = begin()
            function.update(name)
            add(function.digest())
        return (np.frombuffer(b"".join(words), dtype="<u8") >> self._unused).astype(np.int64)
