"""Draws the view of each record, and the report about it, from random bytes or from a key.

A uniform integer of weight_bits bits is compared with the cumulated weights: the view is the first whose cumulated
weight exceeds it. No integer is rejected, and the record has no part in it. With a key this integer is a keyed
pseudo-random function of the fingerprint of the file, the attribute of the key and the id alone, so that the view of a
person stays the same whatever becomes of the record. The report is drawn as permanent reports of the view's own
mechanism are, under a fingerprint that depends on the mechanism and on the name of the view.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.alphabet import Codes
from mechdesign.data.ids import IdTexts
from mechdesign.mechanism import Key
from mechdesign.mechanism.origin import text
from mechdesign.mechanism.sampler import Outputs, RandomBytes
from mechdesign.records.record_columns import StringView, ViewTable

_PERSON = b"mechdesign-view1"  # the personalization of BLAKE2b: nothing else is hashed by it
_PART = b"mechdesign/records/part/1"
_WORD_BYTES, _SHORT_BITS = 8, 32
_FIRST_BITS = 16
_BLOCK = 1 << 17  # records at a time
Numbers = NDArray[np.int64]


class DrawnViews:
    """Draws views and reports.

    Parameters
    ----------
    parts : sequence of RecordPart
        The views.
    weight_bits : int
        Of the sum of their weights.
    tables : sequence of ViewTable
        The table of each view.
    """

    def __init__(self, parts: Sequence[Any], weight_bits: int, tables: Sequence[ViewTable | StringView]) -> None:
        self._parts, self._bits, self._tables = parts, weight_bits, tables
        self._cumulated = np.cumsum([part.weight for part in parts], dtype=np.int64)
        self._firsts = np.cumsum([0, *(len(part.mechanism.outputs) for part in parts)])
        self._first_bits = min(weight_bits, _FIRST_BITS)
        starts = np.arange(1 << self._first_bits, dtype=np.int64) << (weight_bits - self._first_bits)
        first = np.searchsorted(self._cumulated, starts, side="right")
        last = np.searchsorted(self._cumulated, starts + (1 << (weight_bits - self._first_bits)) - 1, side="right")
        self._guide = np.where(first == last, first, len(parts)).astype(np.uint16)

    def views(self, integers: NDArray[Any]) -> NDArray[np.uint16]:
        """Return the view that each uniform integer of all bits draws; its first 16 bits decide nearly always."""
        found = self._guide.take(integers >> (self._bits - self._first_bits))
        open_cases = np.flatnonzero(found == len(self._parts))
        found[open_cases] = np.searchsorted(self._cumulated, integers[open_cases], side="right")
        return found

    def draw(self, codes: Codes, source: RandomBytes) -> Numbers:
        """Return the number of an output for each record, of those of all views in a row."""
        draws = [part.mechanism.drawing(source, None) for part in self._parts]
        return self._drawn(
            codes,
            lambda start, end: self._integers(end - start, source),
            lambda place, values, _: draws[place](values, None),
        )

    def permanent(self, fingerprint: str, key: Key) -> Callable[[Codes, Any], Numbers]:
        """Return what draws outputs for records and their ids from a key."""
        started = hashlib.blake2b(
            bytes.fromhex(fingerprint) + text(key.attribute), digest_size=_WORD_BYTES, key=key.secret, person=_PERSON
        )
        draws = [part.mechanism.drawing(os.urandom, key, _fingerprint_of(part)) for part in self._parts]

        def draw(codes: Codes, ids: Any) -> Numbers:
            names = list(ids.texts(0, len(codes)))

            def report(place: int, values: Codes, rows: NDArray[np.intp]) -> Outputs:
                own: Outputs = draws[place](values, IdTexts([names[row] for row in rows.tolist()]))
                return own

            return self._drawn(codes, lambda start, end: self._keyed(started, names[start:end]), report)

        return draw

    def _drawn(
        self,
        codes: Codes,
        integers: Callable[[int, int], NDArray[Any]],
        report: Callable[[int, Any, NDArray[np.intp]], Outputs],
    ) -> Numbers:
        """Return outputs: integers of the records from one to another draw views, and each view reports on its rows."""
        outputs = np.empty(len(codes), dtype=np.int64)
        for start in range(0, len(codes), _BLOCK):
            end = min(start + _BLOCK, len(codes))
            drawn = self.views(integers(start, end))
            order = np.argsort(drawn, kind="stable")  # the rows of each view stand together
            ends = np.cumsum(np.bincount(drawn, minlength=len(self._tables))).tolist()
            for place, table in enumerate(self._tables):
                rows = start + order[ends[place - 1] if place else 0 : ends[place]]
                if rows.size:
                    outputs[rows] = self._firsts[place] + report(place, table.values(codes, rows), rows)
        return outputs

    def _integers(self, count: int, source: RandomBytes) -> NDArray[Any]:
        """Return so many uniform integers of all bits."""
        if self._bits <= _SHORT_BITS:
            return np.frombuffer(source(4 * count), dtype="<u4").astype(np.int64) >> (_SHORT_BITS - self._bits)
        return self._long(source(_WORD_BYTES * count))

    def _long(self, words: bytes) -> NDArray[Any]:
        return (np.frombuffer(words, dtype="<u8") >> np.uint64(8 * _WORD_BYTES - self._bits)).astype(np.int64)

    def _keyed(self, started: Any, names: Sequence[bytes]) -> NDArray[Any]:
        words: list[bytes] = []
        begin, add = started.copy, words.append
        for name in names:
            function = begin()
            function.update(name)
            add(function.digest())
        return self._long(b"".join(words))


def _fingerprint_of(part: Any) -> bytes:
    """Return the fingerprint under which a view draws permanent reports."""
    return hashlib.sha256(text(_PART.decode()) + bytes.fromhex(part.mechanism.fingerprint) + text(part.name)).digest()
