"""The shape of a mechanism file, and its translation to and from a `Mechanism`."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field

from mechdesign.data.fields import MOST_SYMBOLS, ExactNumber, Matrix, Number, Record, Row, Text
from mechdesign.data.labels import canonical_labels
from mechdesign.errors import GuaranteeError, InputError, shorten
from mechdesign.mechanism.claims import Optimality, Provenance
from mechdesign.mechanism.mechanism import Mechanism
from mechdesign.mechanism.proof import Guarantee
from mechdesign.numerics.exact import Epsilon, short_text
from mechdesign.uncertainty import ConvexHull, Evidence, L1Ball, ProductSet, UncertaintySet
from mechdesign.uncertainty.concentration import checked_delta, checked_radius, checked_samples
from mechdesign.utility import utility_by_name
from mechdesign.utility.gain import MatrixUtility
from mechdesign.utility.names import is_named

SCHEMA = "mechdesign/mechanism/1"
_MOST_STEPS = 250_000_000  # of a proof: about ten seconds; thirty priors at a thousand symbols take half of it
_MOST_DIGITS = 3_000  # of the denominators of a product set
_DIGITS_OF_A_STEP = 50  # by which a factor may be longer for as much time again
_MOST_NESTED = 12  # thirteen factors of two symbols each are all that 10,000 symbols have room for

Labels = Annotated[list[str], Field(max_length=MOST_SYMBOLS, fail_fast=True)]
Numerator = Annotated[int, Field(ge=-(2**63), lt=2**63)]
NumeratorRow = Annotated[list[Numerator], Field(max_length=MOST_SYMBOLS, fail_fast=True)]


def _bounded(factors: object) -> object:
    """Return factors, after checking that those within them are not nested too deeply to be looked at."""
    level, depth = [factors], 0
    while level:
        depth += 1
        if depth > _MOST_NESTED:
            raise ValueError(f"factors nested at most {_MOST_NESTED} deep")
        inner = (factor for factors in level if isinstance(factors, list) for factor in factors)
        level = [factor["factors"] for factor in inner if isinstance(factor, dict) and "factors" in factor]
    return factors


class SetRecord(Record):
    """The priors: counts or center for an l1 ball, priors and weights for a hull, factors for a product set."""

    delta: ExactNumber | None = None
    radius: Text | None = None
    samples: int | None = None
    counts: Annotated[list[int], Field(max_length=MOST_SYMBOLS, fail_fast=True)] | None = None
    center: Row | None = None
    priors: Matrix | None = None
    weights: Row | None = None
    factors: Annotated[
        Annotated[list[FactorRecord], Field(min_length=2, max_length=2, fail_fast=True)] | None,
        BeforeValidator(_bounded),
    ] = None
    separator: Text | None = None


# Bases are written in this order, so that epsilon and labels stand before the set they belong to.


class _Promised(Record):
    epsilon: Text


class _Labelled(Record):
    inputs: Labels


class FactorRecord(SetRecord, _Labelled):
    """A factor of a product set, with labels of its own."""


class GuaranteeRecord(SetRecord, _Promised):
    """What is promised, and for which priors."""


class OptimalityRecord(Record):
    """What is claimed of the utility."""

    utility: Text
    value: Number
    upper_bound: Number
    multipliers: Annotated[list[Number], Field(alias="lambda", max_length=MOST_SYMBOLS, fail_fast=True)]
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
    numerators: Annotated[list[NumeratorRow], Field(max_length=MOST_SYMBOLS, fail_fast=True)]
    guarantee: GuaranteeRecord
    optimality: OptimalityRecord | None = None
    provenance: ProvenanceRecord | None = None


def to_record(mechanism: Mechanism) -> MechanismRecord:
    """Return the record of a mechanism.

    A claim of optimality for a utility that files cannot name (a user's own f) is left out: nobody could
    check it.
    """
    _check_effort(mechanism.guarantee.uncertainty, len(mechanism.outputs), "the mechanism")
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
            "guarantee": {
                "epsilon": mechanism.guarantee.epsilon.text,
                **_set_table(mechanism.guarantee.uncertainty),
            },
            "optimality": optimality,
            "provenance": None
            if origin is None
            else ProvenanceRecord(version=origin.version, method=origin.method, problem=origin.problem),
        }
    )


def _set_table(known: UncertaintySet) -> dict[str, Any]:
    if isinstance(known, ProductSet):
        factors = [{"inputs": list(factor.labels), **_set_table(factor)} for factor in (known.first, known.second)]
        return {"factors": factors, "separator": known.separator}
    if isinstance(known, ConvexHull):
        return {
            "priors": [[str(q) for q in prior] for prior in known.priors],
            "weights": [str(w) for w in known.weights],
        }
    if not isinstance(known, L1Ball):
        raise InputError(
            f"a guarantee over a {type(known).__name__} has no file format; accepted: L1Ball, ConvexHull, ProductSet"
        )
    table: dict[str, Any] = {"radius": str(known.radius)}
    if known.evidence is None:
        return table | {"center": [str(p) for p in known.center]}
    table["counts"] = list(known.evidence.counts)
    if known.evidence.delta is not None:
        table |= {"samples": known.evidence.samples, "delta": short_text(known.evidence.delta)}
    return table


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
    _check_effort(guarantee.uncertainty, M, source)
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


def _uncertainty(record: SetRecord, inputs: tuple[str, ...], source: str) -> UncertaintySet:
    given = {key for key in ("counts", "center", "priors", "factors") if getattr(record, key) is not None}
    if len(given) != 1:
        raise InputError(
            f"{source}: the guarantee has {sorted(given) or 'no prior'}; give one of counts, center, priors, factors"
        )
    kind = given.pop()
    allowed = {"priors": {"weights"}, "factors": {"separator"}}.get(kind, {"radius", "delta", "samples"})
    for key in sorted({"radius", "delta", "samples", "weights", "separator"} - allowed):
        if getattr(record, key) is not None:
            raise InputError(f"{source}: the guarantee has {key} beside {kind}, where it means nothing; remove it")
    if record.factors is not None:
        return _product_set(record.factors, record.separator, inputs, source)
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


def _product_set(
    factors: list[FactorRecord], separator: str | None, inputs: tuple[str, ...], source: str
) -> ProductSet:
    sizes = [len(factor.inputs) for factor in factors]
    if sizes[0] * sizes[1] != len(inputs):
        raise InputError(
            f"{source}: factors of {sizes[0]} and {sizes[1]} symbols for {len(inputs)} inputs; "
            "give an input for each pair"
        )
    if separator is None:
        raise InputError(f"{source}: the guarantee has factors without a separator; add it")
    first, second = (
        _uncertainty(factor, canonical_labels(factor.inputs, len(factor.inputs)), source) for factor in factors
    )
    digits = _effort(first)[0] + _effort(second)[0]
    if digits > _MOST_DIGITS:
        raise InputError(
            f"{source}: the denominators of two factors have {digits} digits together; accepted: {_MOST_DIGITS}"
        )
    known = ProductSet(first, second, separator)
    for given, label in zip(inputs, known.labels, strict=True):
        if given != label:
            raise InputError(
                f"{source}: the input {shorten(given)} stands where its factors have {shorten(label)}; "
                "give the pairs of the factors' inputs in their order"
            )
    return known


def _check_effort(known: UncertaintySet, outputs: int, source: str) -> None:
    """Check that a proof will not take long, before it is begun."""
    steps = outputs * _effort(known)[1]
    if steps > _MOST_STEPS:
        raise InputError(
            f"{source}: {outputs} outputs over {shorten(known, 200)} would take some {steps:.1e} steps to prove; "
            f"accepted: {_MOST_STEPS:.1e}; give fewer outputs, priors or digits"
        )


def _effort(known: UncertaintySet) -> tuple[int, int]:
    """Return about how many digits the denominators of `exact_support` have, and how many steps it takes.

    A step is a multiplication of short integers, about 50 ns. Reducing a fraction grows with the square of its digits.
    """
    if isinstance(known, ProductSet):
        (first, outer), (second, inner) = _effort(known.first), _effort(known.second)
        return first + second, outer + known.first.size * (inner + 200)
    priors = known.priors if isinstance(known, ConvexHull) else (known.center,)
    own = [math.lcm(*(q.denominator for q in prior)) for prior in priors]
    radius = known.radius if isinstance(known, L1Ball) else Fraction(0)
    digits = _digits(math.lcm(*own) * radius.denominator)
    sorting = 4 if radius > 0 else 0
    each = sum(1 + sorting + _digits(common) // _DIGITS_OF_A_STEP for common in own)
    return digits, known.size * each + digits**2 // 1500


def _digits(number: int) -> int:
    return int(number.bit_length() * math.log10(2))
