"""The shape of a mechanism file, and its translation to and from the parts of a `Mechanism`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from mechdesign.data.fields import (
    MOST_SYMBOLS,
    Matrix,
    Number,
    Record,
    Row,
    Text,
    all_of,
    checked_record,
    defined,
    has_keys,
    one_of,
)
from mechdesign.data.labels import canonical_labels
from mechdesign.errors import InputError, shorten
from mechdesign.mechanism.claims import Optimality, Parts, Provenance
from mechdesign.mechanism.proof import Guarantee
from mechdesign.mechanism.table_files import TableRecord, table_from_record, table_to_record
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.uncertainty.codec import Place, TableKind, keys_of
from mechdesign.uncertainty.prior_mixture import PriorMixture
from mechdesign.uncertainty.registry import set_of, table_of
from mechdesign.utility import Objective, Workload, is_named, utility_by_name

SCHEMA = "mechdesign/mechanism/1"
TWO_SIDED_SCHEMA = "mechdesign/mechanism/2"  # readers of the first alone might overlook that more is promised
_MOST_SIDES = 1_000  # of a quadratic form that is not separable: a million numbers
_MOST_STEPS = 250_000_000  # of a proof: about ten seconds; thirty priors at a thousand categories take half of it

Labels = Annotated[
    list[Annotated[str, Field(json_schema_extra={"minLength": 1})]],
    Field(max_length=MOST_SYMBOLS, fail_fast=True, json_schema_extra={"minItems": 1, "uniqueItems": True}),
]
# The proof says more of numbers outside 0 and 2^52 than that they are; the JSON Schema refuses them.
Numerator = Annotated[int, Field(ge=-(2**63), lt=2**63, json_schema_extra={"minimum": 0, "maximum": 2**52})]
NumeratorRow = Annotated[list[Numerator], Field(max_length=MOST_SYMBOLS, fail_fast=True)]


class PromiseRecord(Record):
    """The keys of a guarantee beside those of its set."""

    epsilon: Text
    lower: Text | None = None
    cap: Text | None = None
    maximal_leakage: Text | None = None


Numbers = Annotated[list[Number], Field(max_length=MOST_SYMBOLS, fail_fast=True)]


class FormRecord(Record):
    """A quadratic form: a diagonal and a common number, or the rows of a lower triangle."""

    model_config = all_of(one_of("diagonal", "lower_triangle"))

    diagonal: Numbers | None = None
    common: Number | None = None
    lower_triangle: Annotated[list[Numbers], Field(max_length=_MOST_SIDES, fail_fast=True)] | None = None


class OptimalityRecord(Record):
    """The claim of optimality."""

    model_config = all_of(one_of("upper_bound", "lower_bound"))

    utility: Text
    value: Number
    upper_bound: Number | None = None
    lower_bound: Number | None = None
    multipliers: Annotated[list[Number], Field(alias="lambda", max_length=MOST_SYMBOLS, fail_fast=True)]
    theta: FormRecord | None = None
    priors: Matrix | None = None
    weights: Row | None = None
    matrix: Matrix | None = None
    workload: Annotated[dict[str, Any], defined("workload")] | None = None
    within_simplex: bool = True


class ProvenanceRecord(Record):
    """The provenance of the mechanism."""

    version: Text
    method: Text
    problem: Text = ""


class MechanismRecord(Record):
    """A mechanism file."""

    model_config = all_of(
        {
            "if": {
                "properties": {
                    "guarantee": {"anyOf": [has_keys("lower"), has_keys("cap"), has_keys("maximal_leakage")]}
                }
            },
            "then": {"properties": {"schema": {"const": TWO_SIDED_SCHEMA}}},
            "else": {"properties": {"schema": {"const": SCHEMA}}},
        }
    )

    schema_name: Annotated[Literal["mechdesign/mechanism/1", "mechdesign/mechanism/2"], Field(alias="schema")]
    inputs: Labels
    outputs: Labels
    bits: Annotated[int, Field(ge=1, le=52)]
    numerators: Annotated[list[NumeratorRow], Field(max_length=MOST_SYMBOLS, fail_fast=True)]
    guarantee: Annotated[dict[str, Any], defined("guarantee")]
    optimality: OptimalityRecord | None = None
    provenance: ProvenanceRecord | None = None
    table: TableRecord | None = None


def to_record(mechanism: Parts) -> MechanismRecord:
    """Return the record of a mechanism.

    A claim of optimality for a utility without a name (a user's own f) is left out, since a file could not describe it.
    """
    promised = mechanism.guarantee
    _check_effort(promised, len(mechanism.outputs), "the mechanism")
    claim, origin = mechanism.optimality, mechanism.provenance
    optimality = None
    if claim is not None and is_named(claim.utility):
        optimality = OptimalityRecord(
            utility=claim.utility.name,
            value=claim.value,
            upper_bound=None if claim.utility.minimised else claim.bound,
            lower_bound=claim.bound if claim.utility.minimised else None,
            **{"lambda": list(claim.multipliers)},
            theta=None if claim.form is None else _form_record(claim.form),
            priors=None if claim.mixture is None else [[str(q) for q in prior] for prior in claim.mixture.priors],
            weights=None if claim.mixture is None else [str(weight) for weight in claim.mixture.weights],
            within_simplex=claim.within_simplex,
            matrix=claim.utility.matrix_as_text(),
            workload=claim.utility.workload_table(),
        )
    return MechanismRecord.model_validate(
        {
            "schema": TWO_SIDED_SCHEMA if promised.sides.beside else SCHEMA,
            "inputs": list(mechanism.inputs),
            "outputs": list(mechanism.outputs),
            "bits": mechanism.bits,
            "numerators": mechanism.numerators.tolist(),
            "guarantee": {
                "epsilon": promised.epsilon.text,
                **promised.sides.beside_as_text(),
                **table_of(promised.uncertainty, TableKind.GUARANTEE),
            },
            "optimality": optimality,
            "provenance": None
            if origin is None
            else ProvenanceRecord(version=origin.version, method=origin.method, problem=origin.problem),
            "table": None if mechanism.table is None else table_to_record(mechanism.table, mechanism.inputs),
        }
    )


def from_record(record: MechanismRecord, source: str) -> Parts:
    """Return the parts of the mechanism that a record describes.

    Raises
    ------
    InputError
        If the pieces do not fit together.
    GuaranteeError
        If the guarantee claims a smaller radius than its own delta and samples ask for.
    """
    N, M = len(record.inputs), len(record.outputs)
    if len(record.numerators) != N or any(len(row) != M for row in record.numerators):
        raise InputError.wrong_size(
            f"{source}: the numerators do not fit {N} inputs and {M} outputs; accepted: N rows of M integers"
        )
    inputs = canonical_labels(record.inputs, N)
    guarantee = _guarantee(record.guarantee, inputs, source)
    _check_schema(record.schema_name, guarantee, source)
    _check_effort(guarantee, M, source)
    claim, origin = record.optimality, record.provenance
    optimality = None
    if claim is not None:
        table = claim.workload
        workload = None if table is None else Workload.from_table(table, source, "optimality.workload")
        utility = utility_by_name(claim.utility, claim.matrix, workload)
        optimality = Optimality(
            utility,
            claim.value,
            _bound(claim, utility, source),
            tuple(claim.multipliers),
            claim.within_simplex,
            _form(claim, utility, source),
            _mixture(claim, utility, source),
        )
    return Parts(
        np.array(record.numerators, dtype=np.int64).reshape(N, M),
        record.bits,
        guarantee,
        tuple(record.outputs),
        optimality,
        None if origin is None else Provenance(origin.version, origin.method, origin.problem),
        None if record.table is None else table_from_record(record.table, inputs, source),
    )


def _bound(claim: OptimalityRecord, utility: Objective, source: str) -> float:
    """Return the bound of a claim, which is a lower one where the objective is minimised."""
    key, other = utility.bound_name, "upper_bound" if utility.minimised else "lower_bound"
    bound: float | None = getattr(claim, key)
    if bound is None:
        raise InputError.missing_key(f"{source}: the key {shorten('optimality.' + key)} is missing; add it")
    if getattr(claim, other) is not None:
        raise InputError.key_out_of_place(
            f"{source}: the key {shorten('optimality.' + other)} is given for {utility.name}; the bound of this "
            f"objective is its {key}"
        )
    return bound


def _form_record(form: QuadraticForm) -> FormRecord:
    """Return the record of a quadratic form."""
    if form.matrix is None:
        return FormRecord(diagonal=form.diagonal.tolist(), common=form.common or None)
    return FormRecord(lower_triangle=[row[: i + 1] for i, row in enumerate(form.matrix.tolist())])


def _form(claim: OptimalityRecord, utility: Objective, source: str) -> QuadraticForm | None:
    """Return the quadratic form of a claim about an estimation error."""
    table = claim.theta
    if utility.estimation is None:
        if table is not None:
            raise InputError.key_out_of_place(
                f"{source}: the key 'optimality.theta' is given for {utility.name}; leave it out"
            )
        return None
    if table is None or (table.diagonal is None) == (table.lower_triangle is None):
        raise InputError.conflicting_keys(
            f"{source}: optimality.theta needs one of two keys; give a diagonal or a lower_triangle"
        )
    if table.diagonal is not None:
        return QuadraticForm(np.array(table.diagonal), table.common or 0.0)
    rows = table.lower_triangle or []
    if table.common is not None or [len(row) for row in rows] != list(range(1, len(rows) + 1)):
        raise InputError.wrong_size(
            f"{source}: optimality.theta is not a lower triangle; accepted: rows of 1, 2, 3, ... numbers"
        )
    matrix = np.zeros((len(rows), len(rows)))
    for i, row in enumerate(rows):
        matrix[i, : i + 1] = row
    return QuadraticForm.of_matrix(matrix)


def _mixture(claim: OptimalityRecord, utility: Objective, source: str) -> PriorMixture | None:
    """Return the priors of a claim about the least utility over a set."""
    given = [key for key in ("priors", "weights") if getattr(claim, key) is not None]
    if utility.worst_case is None:
        for key in given:
            raise InputError.key_out_of_place(
                f"{source}: the key 'optimality.{key}' is given for {utility.name}; leave it out"
            )
        return None
    if claim.priors is None or claim.weights is None:
        raise InputError.missing_key(f"{source}: optimality for {utility.name} needs priors and weights; add both")
    try:
        return PriorMixture.of_text(claim.priors, claim.weights)
    except InputError as error:
        raise error.reworded(f"{source}: {error}") from None


def _guarantee(table: dict[str, Any], inputs: tuple[str, ...], source: str) -> Guarantee:
    """Return the guarantee of a table: epsilon, perhaps a number beside it, and the keys of the set."""
    own = keys_of(PromiseRecord)
    promised = checked_record(PromiseRecord, {k: v for k, v in table.items() if k in own}, source, within="guarantee")
    known = set_of({k: v for k, v in table.items() if k not in own}, Place(TableKind.GUARANTEE.value, source, inputs))
    beside = promised.lower, promised.cap, promised.maximal_leakage
    return Guarantee(Epsilon.of(promised.epsilon), known, *beside)


def _check_schema(name: str, guarantee: Guarantee, source: str) -> None:
    """Refuse numbers beside epsilon under the first schema, whose readers may overlook them, and the second without."""
    for beside in guarantee.sides.beside if name == SCHEMA else ():
        raise InputError.key_out_of_place(
            f"{source}: the guarantee has {beside} under the schema {SCHEMA}, which does not know it; "
            f"write {TWO_SIDED_SCHEMA}, or leave {beside} out"
        )
    if name == TWO_SIDED_SCHEMA and not guarantee.sides.beside:
        raise InputError.missing_key(
            f"{source}: schema is {shorten(name)}, whose guarantees have lower, cap or maximal_leakage; add one, or "
            f"write {SCHEMA}"
        )


def _check_effort(guarantee: Guarantee, outputs: int, source: str) -> None:
    """Check that a proof will not take long, before it starts; a promise from below needs as much again."""
    known = guarantee.uncertainty
    steps = outputs * known.proof_effort().steps * (1 if guarantee.sides.below is None else 2)
    if steps > _MOST_STEPS:
        raise InputError.file_too_large(
            f"{source}: {outputs} outputs over {shorten(known, 200)} would take some {steps:.1e} steps to prove; "
            f"accepted: {_MOST_STEPS:.1e}; give fewer outputs, priors or digits"
        )
