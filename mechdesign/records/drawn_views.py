"""Draws the view of each record, and the report about it, from random bytes or from a key.

A view is drawn as a report is, from a mechanism of one row whose numerators are the weights: the record has no part in
it. With a key the uniform integer of this draw is a keyed pseudo-random function of the fingerprint of the file, the
attribute of the key and the id alone, so that the view of a person stays the same whatever becomes of the record. The
report is drawn as permanent reports of the view's own mechanism are, under a fingerprint that depends on the mechanism
and on the name of the view.
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
from mechdesign.mechanism.sampler import Outputs, RandomBytes, Sampler
from mechdesign.records.record_columns import StringView, ViewTable

_PERSON = b"mechdesign-view1"  # the personalization of BLAKE2b: nothing else is hashed by it
_PART = b"mechdesign/records/part/1"
_WORD_BYTES = 8
_BLOCK = 1 << 18  # records at a time: fewer are drawn and looked up in pieces that are too small, more leave the cache
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
        self._views = Sampler(np.array([[part.weight for part in parts]], dtype=np.int64), weight_bits)
        self._firsts = np.cumsum([0, *(len(part.mechanism.outputs) for part in parts)])

    def views(self, integers: NDArray[np.int64]) -> Outputs:
        """Return the view that each uniform integer of all bits draws: the first whose cumulated weight exceeds it."""
        return self._views.outputs_at(_one_row(integers.size), integers)

    def draw(self, codes: Codes, source: RandomBytes) -> Numbers:
        """Return the number of an output for each record, of those of all views in a row."""
        draws = [part.mechanism.drawing(source, None) for part in self._parts]
        return self._drawn(
            codes,
            lambda start, end: self._views.draw(_one_row(end - start), source),
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

            return self._drawn(codes, lambda start, end: self.views(self._keyed(started, names[start:end])), report)

        return draw

    def _drawn(
        self,
        codes: Codes,
        views: Callable[[int, int], Outputs],
        report: Callable[[int, Any, NDArray[np.intp]], Outputs],
    ) -> Numbers:
        """Return outputs: the records from one to another have views, and each view reports on its rows."""
        outputs = np.empty(len(codes), dtype=np.int64)
        for start in range(0, len(codes), _BLOCK):
            end = min(start + _BLOCK, len(codes))
            drawn = views(start, end)
            order = np.argsort(drawn, kind="stable")  # the rows of each view stand together
            ends = np.cumsum(np.bincount(drawn, minlength=len(self._tables))).tolist()
            for place, table in enumerate(self._tables):
                rows = start + order[ends[place - 1] if place else 0 : ends[place]]
                if rows.size:
                    outputs[rows] = self._firsts[place] + report(place, table.values(codes, rows), rows)
        return outputs

    def _keyed(self, started: Any, names: Sequence[bytes]) -> NDArray[np.int64]:
        words: list[bytes] = []
        begin, add = started.copy, words.append
        for name in names:
            function = begin()
            function.update(name)
            add(function.digest())
        integers = np.frombuffer(b"".join(words), dtype="<u8") >> np.uint64(8 * _WORD_BYTES - self._bits)
        return integers.astype(np.int64)


def _one_row(records: int) -> Codes:
    return np.zeros(records, dtype=np.int8)


def _fingerprint_of(part: Any) -> bytes:
    """Return the fingerprint under which a view draws permanent reports."""
    return hashlib.sha256(text(_PART.decode()) + bytes.fromhex(part.mechanism.fingerprint) + text(part.name)).digest()
