"""What a mechanism file says of a table: its constraints, and the claim that no other table is better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from mechdesign.data.fields import MOST_SYMBOLS, ExactNumber, Matrix, Number, Record, Text, all_of, has_keys
from mechdesign.errors import InputError, shorten
from mechdesign.mechanism.table_claims import TableClaim, TableConstraints, TableOptimality
from mechdesign.numerics.exact import check_common_denominator, rational

_Numbers = Annotated[list[Number], Field(max_length=MOST_SYMBOLS, fail_fast=True)]
_Pair = Annotated[list[Text], Field(min_length=2, max_length=2)]


class TableOptimalityRecord(Record):
    """The claim that no other table is better: a share has an upper bound, and a loss a lower one."""

    model_config = all_of(
        {"if": has_keys("loss"), "then": has_keys("lower_bound"), "else": has_keys("upper_bound")},
    )

    value: Number
    upper_bound: Number | None = None
    lower_bound: Number | None = None
    multipliers: Annotated[_Numbers, Field(alias="lambda")]
    floor_multipliers: Annotated[_Numbers | None, Field(alias="sigma")] = None
    loss: Matrix | None = None


class TableRecord(Record):
    """The constraints of a table."""

    invariant: bool
    floors: dict[str, ExactNumber] | None = None
    forbidden: Annotated[list[_Pair], Field(max_length=1_000_000, fail_fast=True)] | None = None
    columns: Annotated[list[Text], Field(max_length=1_000)] | None = None
    optimality: TableOptimalityRecord | None = None


def table_to_record(claim: TableClaim, labels: Sequence[str]) -> TableRecord:
    """Return the record of a table."""
    kept, best = claim.constraints, claim.optimality
    floors = {labels[x]: str(floor) for x, floor in enumerate(kept.floors) if floor}
    found = None
    if best is not None:
        found = {
            "value": best.value,
            best.utility.bound_name: best.bound,
            "lambda": list(best.multipliers),
            "sigma": list(best.floor_multipliers) if floors else None,
            "loss": None if best.loss is None else [[str(x) for x in row] for row in best.loss],
        }
    return TableRecord(
        invariant=kept.invariant,
        floors=floors or None,
        forbidden=[[labels[x], labels[y]] for x, y in sorted(kept.forbidden)] or None,
        columns=list(claim.columns) or None,
        optimality=None if found is None else TableOptimalityRecord.model_validate(found),
    )


def table_from_record(record: TableRecord, labels: Sequence[str], source: str) -> TableClaim:
    """Return what a record claims of a table, of which nothing is checked yet.

    Raises
    ------
    InputError
        If it names other labels, or the pieces do not fit together.
    """
    places = {label: place for place, label in enumerate(labels)}
    named = [*(record.floors or {}), *(label for pair in record.forbidden or [] for label in pair)]
    for label in named:
        if label not in places:
            raise InputError.unknown_label(f"{source}: table names {shorten(label)}, which is not an input")
    floors = {places[x]: rational(d, f"{source}: the floor of {x}") for x, d in (record.floors or {}).items()}
    check_common_denominator((d.denominator for d in floors.values()), "the floors")
    constraints = TableConstraints(
        tuple(floors.get(x, rational(0, "no floor")) for x in range(len(labels))),
        record.invariant,
        frozenset((places[x], places[y]) for x, y in record.forbidden or []),
    )
    return TableClaim(constraints, _optimality(record.optimality, len(labels), source), tuple(record.columns or ()))


def _optimality(best: TableOptimalityRecord | None, size: int, source: str) -> TableOptimality | None:
    """Return the claim about other tables."""
    if best is None:
        return None
    loss = None
    if best.loss is not None:
        loss = tuple(tuple(rational(x, f"{source}: an entry of the loss") for x in row) for row in best.loss)
        check_common_denominator((x.denominator for row in loss for x in row), "the loss")
    bound, other = best.upper_bound, best.lower_bound
    if loss is not None:
        bound, other = other, bound
    if bound is None or other is not None:
        wanted = "lower_bound, that of a loss" if loss is not None else "upper_bound"
        raise InputError.conflicting_keys(f"{source}: table.optimality needs one bound; give {wanted}")
    sigma = [0.0] * size if best.floor_multipliers is None else best.floor_multipliers
    return TableOptimality(best.value, bound, tuple(best.multipliers), tuple(sigma), loss)
