"""The shape of a mechanism file, and its translation to and from a `Mechanism`."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from mechdesign.errors import GuaranteeError, InputError
from mechdesign.exact import Epsilon, short_text
from mechdesign.labels import canonical_labels
from mechdesign.mechanism.mechanism import Mechanism, Optimality, Provenance
from mechdesign.mechanism.proof import Guarantee
from mechdesign.records import MOST_SYMBOLS, ExactNumber, Matrix, Number, Record, Row, Text
from mechdesign.uncertainty import ConvexHull, Evidence, L1Ball, UncertaintySet
from mechdesign.uncertainty.concentration import checked_delta, checked_radius, checked_samples
from mechdesign.utility import utility_by_name
from mechdesign.utility.gain import MatrixUtility
from mechdesign.utility.names import is_named

SCHEMA = "mechdesign/mechanism/1"

Labels = Annotated[list[str], Field(max_length=MOST_SYMBOLS)]
Numerator = Annotated[int, Field(ge=-(2**63), lt=2**63)]
NumeratorRow = Annotated[list[Numerator], Field(max_length=MOST_SYMBOLS)]


class GuaranteeRecord(Record):
    """What is promised: counts or center for an l1 ball, priors and weights for a hull."""

    epsilon: Text
    delta: ExactNumber | None = None
    radius: Text | None = None
    samples: int | None = None
    counts: Annotated[list[int], Field(max_length=MOST_SYMBOLS)] | None = None
    center: Row | None = None
    priors: Matrix | None = None
    weights: Row | None = None


class OptimalityRecord(Record):
    """What is claimed of the utility."""

    utility: Text
    value: Number
    upper_bound: Number
    multipliers: Annotated[list[Number], Field(alias="lambda", max_length=MOST_SYMBOLS)]
    matrix: Matrix | None = None
    within_simplex: bool = True


class ProvenanceRecord(Record):
    """Where the mechanism comes from."""

    version: Text
    method: Text
    problem: Text = ""


class MechanismRecord(Record):
    """A mechanism file."""

    schema_name: Annotated[Literal["mechdesign/mechanism/1"], Field(alias="schema")]
    inputs: Labels
    outputs: Labels
    bits: Annotated[int, Field(ge=1, le=52)]
    numerators: Annotated[list[NumeratorRow], Field(max_length=MOST_SYMBOLS)]
    guarantee: GuaranteeRecord
    optimality: OptimalityRecord | None = None
    provenance: ProvenanceRecord | None = None


def to_record(mechanism: Mechanism) -> MechanismRecord:
    """Return the record of a mechanism.

    A claim of optimality for a utility that files cannot name (a user's own f) is left out: nobody could
    check it.
    """
    claim, origin = mechanism.optimality, mechanism.provenance
    optimality = None
    if claim is not None and is_named(claim.utility):
        optimality = OptimalityRecord(
            utility=claim.utility.name,
            value=claim.value,
            upper_bound=claim.upper_bound,
            **{"lambda": list(claim.multipliers)},
            within_simplex=claim.within_simplex,
            matrix=[[str(x) for x in row] for row in claim.utility.exact]
            if isinstance(claim.utility, MatrixUtility)
            else None,
        )
    return MechanismRecord.model_validate(
        {
            "schema": SCHEMA,
            "inputs": list(mechanism.inputs),
            "outputs": list(mechanism.outputs),
            "bits": mechanism.bits,
            "numerators": mechanism.numerators.tolist(),
            "guarantee": _guarantee_record(mechanism.guarantee),
            "optimality": optimality,
            "provenance": None
            if origin is None
            else ProvenanceRecord(version=origin.version, method=origin.method, problem=origin.problem),
        }
    )


def _guarantee_record(guarantee: Guarantee) -> GuaranteeRecord:
    known = guarantee.uncertainty
    if isinstance(known, ConvexHull):
        return GuaranteeRecord(
            epsilon=guarantee.epsilon.text,
            priors=[[str(q) for q in prior] for prior in known.priors],
            weights=[str(w) for w in known.weights],
        )
    if not isinstance(known, L1Ball):
        raise InputError(f"a guarantee over a {type(known).__name__} has no file format; accepted: L1Ball, ConvexHull")
    record = GuaranteeRecord(epsilon=guarantee.epsilon.text, radius=str(known.radius))
    if known.evidence is None:
        record.center = [str(p) for p in known.center]
        return record
    record.counts = list(known.evidence.counts)
    if known.evidence.delta is not None:
        record.samples = known.evidence.samples
        record.delta = short_text(known.evidence.delta)
    return record


def from_record(record: MechanismRecord, source: str) -> Mechanism:
    """Return the mechanism of a record, with its guarantee proved again.

    Raises
    ------
    InputError
        If the pieces do not fit together.
    GuaranteeError
        If the guarantee is false, or claims a smaller radius than its own delta and samples ask for.
    """
    N, M = len(record.inputs), len(record.outputs)
    if len(record.numerators) != N or any(len(row) != M for row in record.numerators):
        raise InputError(
            f"{source}: the numerators do not fit {N} inputs and {M} outputs; accepted: N rows of M integers"
        )
    inputs = canonical_labels(record.inputs, N)
    guarantee = Guarantee(Epsilon.of(record.guarantee.epsilon), _uncertainty(record.guarantee, inputs, source))
    claim, origin = record.optimality, record.provenance
    optimality = None
    if claim is not None:
        utility = utility_by_name(claim.utility, claim.matrix)
        optimality = Optimality(utility, claim.value, claim.upper_bound, tuple(claim.multipliers), claim.within_simplex)
    return Mechanism(
        np.array(record.numerators, dtype=np.int64).reshape(N, M),
        record.bits,
        guarantee,
        tuple(record.outputs),
        optimality,
        None if origin is None else Provenance(origin.version, origin.method, origin.problem),
    )


def _uncertainty(record: GuaranteeRecord, inputs: tuple[str, ...], source: str) -> UncertaintySet:
    given = {key for key in ("counts", "center", "priors") if getattr(record, key) is not None}
    if len(given) != 1:
        raise InputError(
            f"{source}: the guarantee has {sorted(given) or 'no prior'}; give one of counts, center, priors"
        )
    beside = ("radius", "delta", "samples") if record.priors is not None else ("weights",)
    for key in beside:
        if getattr(record, key) is not None:
            raise InputError(
                f"{source}: the guarantee has {key} beside {given.pop()}, where it means nothing; remove it"
            )
    if record.priors is not None:
        return ConvexHull(record.priors, record.weights, inputs)
    if record.radius is None:
        raise InputError(f"{source}: the guarantee has no radius; add it")
    if (record.delta is None) != (record.samples is None) or (record.delta is not None and record.counts is None):
        raise InputError(
            f"{source}: delta, samples and counts belong together; give all three, or no delta and samples"
        )
    radius = checked_radius(record.radius)
    if record.counts is None:
        return L1Ball(record.center or (), radius, inputs)
    ball = L1Ball.from_counts(dict(zip(inputs, record.counts, strict=False)), radius=radius)
    if len(record.counts) != len(inputs):
        raise InputError(f"{source}: {len(record.counts)} counts for {len(inputs)} inputs; give one a symbol")
    if record.delta is None:
        return ball
    evidence = Evidence(ball.evidence.counts, checked_samples(record.samples), checked_delta(record.delta))  # type: ignore[union-attr]
    derived = evidence.radius()
    if derived is not None and radius < derived:
        raise GuaranteeError(
            f"{source}: the radius {float(radius):.12g} is below {float(derived):.12g}, which delta {record.delta} "
            f"needs with {record.samples} samples over {len(inputs)} symbols; the claimed delta is false"
        )
    return L1Ball(ball.center, radius, inputs, evidence=evidence)
