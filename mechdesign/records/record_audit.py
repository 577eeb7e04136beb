"""Audit of a sampler of whole records: which views it draws, what each reports, and whether that fits the file.

Records are chosen so that together they show every value of every view, and reported in turns. The reports of each view
are audited as those of its own mechanism are (`mechdesign.deploy.leakage_audit`): the whole record leaks what the view
leaks that is drawn. Besides, confidence limits tell whether views are drawn by their weights, and whether by the same
ones for each record: a draw that depends on the record would tell of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.checks import checked_samples
from mechdesign.deploy.leakage_audit import Audit, audit_counts, checked_failure, clopper_pearson
from mechdesign.errors import GuaranteeError, InputError, LimitError
from mechdesign.mechanism.sampler import random_bytes
from mechdesign.numerics.arrays import Floats
from mechdesign.records.record_columns import ViewTable
from mechdesign.records.record_mechanism import RecordMechanism

_BLOCK = 1 << 18  # records at a time
_MOST_SAMPLES = 10**10
_MOST_STEPS = 1_000_000  # of the search for records that every view knows
_SURE = 1_000  # reports: none comes where so many are expected with probability exp(-1000)
_TAIL_SHARE = 0.999  # of a tail is asked for, as limits are computed in floats
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class RecordAudit:
    """What the reports of a sampler of whole records show; all of it holds at once but for the failure probability.

    Attributes
    ----------
    views : tuple of (str, Audit)
        The reports of each view.
    drawn : tuple of int
        How many reports are about each view.
    shares : array, shape (k,)
        How likely each view is to be drawn, by its weight.
    lower, upper : arrays, shape (k,)
        Limits of these shares from the reports.
    dependent : tuple of (str, str)
        A view, and the labels of a record for which it is drawn more often or less often than its weight allows.
    failure : float
        The probability that any limit does not hold.
    """

    views: tuple[tuple[str, Audit], ...]
    drawn: tuple[int, ...]
    shares: Floats
    lower: Floats
    upper: Floats
    dependent: tuple[tuple[str, str], ...]
    failure: float

    @property
    def misdrawn(self) -> tuple[str, ...]:
        """The views whose share lies outside its limits."""
        out = (self.shares < self.lower) | (self.shares > self.upper)
        return tuple(name for (name, _), wrong in zip(self.views, out.tolist(), strict=True) if wrong)

    @property
    def consistent(self) -> bool:
        """Whether the reports fit the mechanism in everything."""
        return not self.misdrawn and not self.dependent and all(found.consistent for _, found in self.views)

    @property
    def worst(self) -> tuple[str, Audit]:
        """The view whose reports show most."""
        return max(self.views, key=lambda view: view[1].lower_bound)

    @property
    def reports(self) -> int:
        """The number of reports."""
        return sum(self.drawn)


def audit_records(
    mechanism: RecordMechanism,
    samples: int,
    *,
    sampler: Callable[[Codes], Any] | None = None,
    failure: object = 1e-9,
    rng: np.random.Generator | None = None,
    progress: Callable[[str], None] | None = None,
) -> RecordAudit:
    """Report records, and return what the reports show of the sampler.

    Parameters
    ----------
    mechanism : RecordMechanism
        What the sampler claims to be.
    samples : int
        The number of reports.
    sampler : callable, optional
        A function from codes of records, shape (n, d), to numbers of outputs of all views in a row, shape (n,); by
        default the sampler of the mechanism.
    failure, rng, progress
        As for `mechdesign.deploy.leakage_audit.audit`.

    Raises
    ------
    InputError
        For values out of range, and too few reports to see every value of each view.
    LimitError
        If no record is found that every view knows, or a view is of windows, which know more strings than can be tried.
    GuaranteeError
        If the sampler returns numbers to which no output belongs, or never reports about some value.

    Examples
    --------
    >>> from mechdesign import Guarantee, L1Ball, Mechanism
    >>> from mechdesign.records import RecordPart
    >>> fair = Guarantee("log(3)", L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"]))
    >>> warner = Mechanism(np.array([[3, 1], [1, 3]]), 2, fair)
    >>> both = RecordMechanism([RecordPart(name, (name,), 1, warner) for name in ("smokes", "drinks")], weight_bits=1)
    >>> found = audit_records(both, 100_000, rng=np.random.default_rng(1))
    >>> found.consistent, 0.9 < found.worst[1].lower_bound < both.leakage
    (True, True)
    """
    wanted, allowed = checked_samples(samples), checked_failure(failure)
    records = probes(mechanism)
    if not len(records) <= wanted <= _MOST_SAMPLES:
        raise InputError.not_a_whole_number(
            f"samples is {wanted}; accepted: {len(records)} to 10^10, at least one for each record that is tried"
        )
    draw = sampler
    if draw is None:
        drawing = mechanism.drawing(random_bytes(rng), None)
        draw = lambda codes: drawing(codes, None)  # noqa: E731 - of one line
    size = mechanism.firsts[-1]
    counts = np.zeros(len(records) * size, dtype=np.int64)
    for start in range(0, wanted, _BLOCK):
        if progress is not None:
            progress(f"drawing reports: {start:,} of {wanted:,}")
        turns = np.arange(start, min(start + _BLOCK, wanted)) % len(records)
        counts += np.bincount(turns * size + _checked(draw(records[turns]), len(turns), size), minlength=counts.size)
    return _assessed(mechanism, records, counts.reshape(len(records), size), allowed)


def probes(mechanism: RecordMechanism) -> Codes:
    """Return records that every view knows, as codes, shape (n, d), which together show every value of every view.

    Raises
    ------
    LimitError
        If no record has some value, as far as was looked.
    """
    for part in mechanism.parts:
        if part.is_open:
            raise LimitError.too_much_work(
                f"the view {part.name} is of windows, which know any strings, and not all can be tried; audit the "
                "mechanisms of the other views, which Python has as parts[i].mechanism"
            )
    found: dict[tuple[int, ...], None] = {}
    complete = _Completion(mechanism)
    for part, table in zip(mechanism.parts, mechanism.tables, strict=True):
        for symbol, label in enumerate(part.mechanism.inputs):
            record = complete.record_with(dict(zip(table.places, complete.cells(table, symbol), strict=True)))
            if record is None:
                raise LimitError.too_much_work(
                    f"no record was found that has {label!r} in the view {part.name} and that every view knows; audit "
                    "the mechanisms of the views, which Python has as parts[i].mechanism"
                )
            found[record] = None
    return np.array(list(found), dtype=np.int32)


class _Completion:
    """Completes values of some attributes to a record that every view knows, by trying."""

    def __init__(self, mechanism: RecordMechanism) -> None:
        self._size = len(mechanism.attributes)
        self._partial = [one for one in mechanism.tables if isinstance(one, ViewTable) and not one.is_full]
        self._steps = 0

    @staticmethod
    def cells(table: Any, symbol: int) -> list[int]:
        """Return the codes of the attributes of a category of a view."""
        place = int(np.flatnonzero(table.symbols == symbol)[0])
        return [int(code) for code in np.unravel_index(place, table.sizes)]

    def record_with(self, record: dict[int, int], done: int = 0) -> tuple[int, ...] | None:
        """Return a record with these codes; None if there is none, or none was found in time."""
        if done == len(self._partial):
            return tuple(record.get(place, 0) for place in range(self._size))
        table = self._partial[done]
        for symbol in range(int(table.symbols.max()) + 1):
            self._steps += 1
            if self._steps > _MOST_STEPS:
                return None
            own = dict(zip(table.places, self.cells(table, symbol), strict=True))
            if all(record.get(place, code) == code for place, code in own.items()):
                found = self.record_with(record | own, done + 1)
                if found is not None:
                    return found
        return None


def _checked(numbers: Any, size: int, outputs: int) -> NDArray[np.int64]:
    found = np.asarray(numbers)
    if found.dtype.kind not in "iu" or found.shape != (size,):
        raise InputError.function_fails(
            f"the sampler returned {found.dtype} of shape {found.shape} for {size} records; accepted: integers of "
            f"shape ({size},), numbers of outputs"
        )
    if found.size and not 0 <= found.min() <= found.max() < outputs:
        raise GuaranteeError.sampler_wrong(
            f"the sampler returned numbers from {found.min()} to {found.max()}; the outputs have 0 to {outputs - 1}"
        )
    return found.astype(np.int64)


def _assessed(mechanism: RecordMechanism, records: Codes, counts: NDArray[np.int64], failure: float) -> RecordAudit:
    """Return what counts show, by record and output; the failure is shared by views, by their draw, and by records."""
    share, shares = failure / (len(mechanism.parts) + 2), np.array(mechanism.shares)
    parts = np.split(counts, mechanism.firsts[1:-1], axis=1)
    views: list[tuple[str, Audit]] = []
    for part, table, own in zip(mechanism.parts, mechanism.tables, parts, strict=True):
        table_of = np.zeros((len(part.mechanism.inputs), own.shape[1]), dtype=np.int64)
        np.add.at(table_of, table.values(records), own)
        if not table_of.any(axis=1).all():
            _refuse_silence(part.name, counts.sum() / len(records) * shares[len(views)])
        views.append((part.name, audit_counts(part.mechanism, table_of, failure=share)))
    drawn = np.stack([own.sum(axis=1) for own in parts], axis=1)  # by record and view
    lower, upper = clopper_pearson(drawn.sum(axis=0), drawn.sum(), _TAIL_SHARE * share / (2 * len(parts)))
    low, high = clopper_pearson(drawn, drawn.sum(axis=1, keepdims=True), _TAIL_SHARE * share / (2 * drawn.size))
    dependent = tuple(
        (mechanism.parts[place].name, _named(mechanism, records[row].tolist()))
        for row, place in np.argwhere((shares < low) | (shares > high)).tolist()
    )
    return RecordAudit(tuple(views), tuple(drawn.sum(axis=0).tolist()), shares, lower, upper, dependent, failure)


def _refuse_silence(view: str, expected: float) -> None:
    """Refuse reports of which none is about some value of a view, where so many are expected at least."""
    if expected > _SURE:
        raise GuaranteeError.sampler_wrong(
            f"no report of the view {view} is about one of its values, where {expected:,.0f} at least are expected"
        )
    raise InputError.nothing_given(
        f"no report of the view {view} is about one of its values; draw {math.ceil(_SURE / expected)} times as many"
    )


def _named(mechanism: RecordMechanism, codes: Sequence[int]) -> str:
    alphabets = mechanism.alphabets.items()
    return ", ".join(f"{name} {labels[code]}" for (name, labels), code in zip(alphabets, codes, strict=True))
