"""Files of mechanisms of whole records: JSON in which each view has its mechanism as a mechanism file holds it.

`docs/file-format.md` states every key. Loading proves the guarantee of each view from its own record; epsilon, which is
the greatest of the views, and delta, their sum, may stand in the file too, for people, and are then held to these.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from fractions import Fraction
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Discriminator, Field, Tag

from mechdesign.data.checks import checked_delta
from mechdesign.data.fields import MATRIX, WINDOWS, Number, Record, Text, checked_record
from mechdesign.data.files import accepted_ending, write_atomically
from mechdesign.errors import GuaranteeError, InputError, printable
from mechdesign.mechanism import Mechanism
from mechdesign.mechanism.file_schema import MechanismRecord, Numbers, from_record
from mechdesign.mechanism.mechanism_files import parsed_json, read_content, to_json
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import printed_up
from mechdesign.records.number_bins import NumberBins
from mechdesign.records.record_parts import MOST_PARTS, MOST_WEIGHT_BITS, RecordOptimality, RecordPart
from mechdesign.records.record_promise import RecordPromise
from mechdesign.records.record_views import LEAST_VALUE, MOST_VALUE
from mechdesign.windows import window_files
from mechdesign.windows.window_files import WindowFileRecord
from mechdesign.windows.windows_mechanism import WindowMechanism

SCHEMA = "mechdesign/records/1"
_WANTED = "a file of records"
_MOST_STEPS = 1_000_000_000  # of the proofs of all views: some forty seconds
_MOST_ATTRIBUTES = 1_000
_LONGEST_NAME = 200  # of a secret, as in mechanism files
Made = TypeVar("Made")
_Name = Annotated[str, Field(min_length=1, max_length=1_000)]


def _kind_of(value: Any) -> str:
    """Return the kind of the mechanism of a view, by its schema."""
    schema = value.get("schema") if isinstance(value, dict) else getattr(value, "schema_name", None)
    return WINDOWS if isinstance(schema, str) and schema.startswith("mechdesign/windows/") else MATRIX


class RecordPartRecord(Record):
    """A view: its name, the columns that it shows, its weight and its mechanism."""

    name: _Name
    attributes: Annotated[list[_Name], Field(min_length=1, max_length=_MOST_ATTRIBUTES)]
    weight: Annotated[int, Field(ge=1, le=1 << MOST_WEIGHT_BITS)]
    mechanism: Annotated[
        Annotated[MechanismRecord, Tag(MATRIX)] | Annotated[WindowFileRecord, Tag(WINDOWS)],
        Discriminator(_kind_of),
    ]
    merged: _Name | None = None


class RecordOptimalityRecord(Record):
    """The claim that no mechanism of whole records has less error than a bound, with the vectors that prove it."""

    error: Number
    lower_bound: Number
    values: Annotated[list[Number], Field(max_length=MOST_PARTS)]
    measures: Annotated[list[Numbers], Field(max_length=_MOST_ATTRIBUTES)]


class RecordFileRecord(Record):
    """A file of a mechanism of whole records."""

    schema_name: Annotated[Literal["mechdesign/records/1"], Field(alias="schema")]
    epsilon: Text
    delta: Text | None = None
    weight_bits: Annotated[int, Field(ge=1, le=MOST_WEIGHT_BITS)]
    secret: Annotated[str, Field(min_length=1, max_length=_LONGEST_NAME)] | None = None
    bins: dict[str, Annotated[list[Number], Field(min_length=1, max_length=10_000)]] | None = None
    parts: Annotated[list[RecordPartRecord], Field(min_length=1, max_length=MOST_PARTS)]
    optimality: RecordOptimalityRecord | None = None


def save(mechanism: Any, path: str | os.PathLike[str], *, claims: bool = True) -> None:
    """Write a mechanism of whole records as JSON."""
    accepted_ending(path, (".json",))
    write_atomically(path, record_json(mechanism, claims=claims))


def record_json(mechanism: Any, *, claims: bool = True) -> bytes:
    """Return the JSON of a mechanism of whole records, with claims of optimality or without."""
    promise = mechanism.guarantee
    head: dict[str, Any] = {"schema": SCHEMA, "epsilon": promise.epsilon.text}
    if promise.delta is not None:
        head["delta"] = str(promise.delta)
    if mechanism.secret is not None:
        head["secret"] = mechanism.secret
    head["weight_bits"] = mechanism.weight_bits
    if mechanism.bins:
        head["bins"] = {name: list(bins.edges) for name, bins in mechanism.bins.items()}
    parts = []
    for part in mechanism.parts:
        facts: dict[str, Any] = {"name": part.name, "attributes": list(part.attributes), "weight": part.weight}
        if part.merged is not None:
            facts["merged"] = part.merged
        parts.append(f'{_dumped(facts)[:-1]}, "mechanism": {_json_of(part, claims=claims).decode().strip()}}}')
    claim, tail = mechanism.optimality, ""
    if claims and claim is not None:
        about = {"error": claim.error, "lower_bound": claim.bound, "values": claim.values, "measures": claim.measures}
        tail = f',\n"optimality": {_dumped(about)}'
    text = f'{_dumped(head)[:-1]},\n"parts": [\n' + ",\n".join(parts) + f"\n]{tail}}}\n"
    content = text.encode()
    parsed_json(content, "the file", _WANTED)  # refuses what could not be loaded again
    return content


def _json_of(part: RecordPart, *, claims: bool) -> bytes:
    """Return the JSON of the mechanism of a view."""
    if part.is_open:
        return window_files.to_json(part.mechanism)
    own = part.mechanism.parts
    return to_json(own if claims else own._replace(optimality=None, provenance=None))


def _dumped(table: dict[str, Any]) -> str:
    return json.dumps(table, ensure_ascii=False, allow_nan=False)


def load(path: str | os.PathLike[str], kind: Callable[..., Made]) -> Made:
    """Return the mechanism of a file, made by its class, after proving every view.

    Raises
    ------
    InputError
        For a file that cannot be read or is malformed.
    GuaranteeError
        If the guarantee of a view is false, or that of the whole says less than the views prove.
    """
    return from_content(read_content(path), printable(str(path)), kind)


def from_content(content: bytes, source: str, kind: Callable[..., Made]) -> Made:
    """Return the mechanism that the bytes of a file hold, made by its class, after proving every view."""
    record = checked_record(RecordFileRecord, parsed_json(content, source, _WANTED), source)
    found = [(part, *_unproved(part, f"{source}, view {printable(part.name)}")) for part in record.parts]
    steps = sum(effort for _, effort, _ in found)
    if steps > _MOST_STEPS:
        raise InputError.file_too_large(
            f"{source}: the views would take some {steps:.1e} steps to prove; accepted: {_MOST_STEPS:.1e} in all; give "
            "fewer views, priors or digits"
        )
    parts = []
    for part, _, proved in found:
        try:
            parts.append(RecordPart(part.name, tuple(part.attributes), part.weight, proved(), part.merged))
        except GuaranteeError as error:
            raise error.reworded(f"the view {printable(part.name)}: {error}") from None
    bins = {name: NumberBins(tuple(edges)) for name, edges in (record.bins or {}).items()}
    made: Any = kind(tuple(parts), record.weight_bits, bins, _claim(record.optimality, len(parts)), record.secret)
    _check_promise(record, made.guarantee)
    whole: Made = made
    return whole


def _unproved(part: RecordPartRecord, source: str) -> tuple[int, Callable[[], Any]]:
    """Return how many steps the proof of a view takes, and what proves it and returns its mechanism."""
    if isinstance(part.mechanism, WindowFileRecord):
        windows: WindowMechanism = window_files.from_record(part.mechanism, source, WindowMechanism)

        def proved() -> WindowMechanism:
            windows.prove()
            return windows

        return 0, proved  # in steps of whole arrays, of a size that files of windows limit
    own = from_record(part.mechanism, source)
    sides = 1 if own.guarantee.lower is None else 2
    return sides * len(own.outputs) * own.guarantee.uncertainty.proof_effort().steps, lambda: Mechanism(*own)


def _claim(table: RecordOptimalityRecord | None, count: int) -> RecordOptimality | None:
    if table is None:
        return None
    if len(table.values) != count or not all(LEAST_VALUE <= value <= MOST_VALUE for value in table.values):
        raise InputError.wrong_size(
            f"optimality.values has {len(table.values)} numbers; accepted: a number above 0 for each of {count} views, "
            f"from {LEAST_VALUE:g} to {MOST_VALUE:g}"
        )
    measures = tuple(map(tuple, table.measures))
    return RecordOptimality(table.error, table.lower_bound, tuple(table.values), measures)


def _check_promise(record: RecordFileRecord, proved: RecordPromise) -> None:
    """Refuse a promise of the whole that is not the one that the views prove.

    Raises
    ------
    GuaranteeError
        If epsilon is not the greatest of the views, or delta not their sum.
    """
    if Epsilon.of(record.epsilon).exp_down < proved.epsilon.exp_down:
        raise GuaranteeError.guarantee_false(
            f"epsilon of the whole is {record.epsilon}, below that of a view, {proved.epsilon}"
        )
    stated = None if record.delta is None else Fraction(checked_delta(record.delta))
    if (stated is None) != (proved.delta is None) or (stated is not None and stated < (proved.delta or 0)):
        shown = "none" if proved.delta is None else printed_up(proved.delta)
        raise GuaranteeError.delta_false(
            f"delta of the whole is {record.delta or 'not stated'}, and the views have {shown} in all"
        )
