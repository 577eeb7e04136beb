"""The codecs of sets around an estimate: l1 balls, boxes, limits, relative balls and event sets.

The table of a guarantee has the parameters of the class, and the estimate as ``center`` or as ``counts``. Where the
parameters were derived from samples, it also has these and ``delta``, and reading it derives the parameters again.
In ``[prior]`` delta and counts, or asserted samples, stand in the place of parameters that follow from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any

from pydantic import Field

from mechdesign.data.checks import checked_delta, checked_samples
from mechdesign.data.fields import (
    MOST_SYMBOLS,
    Count,
    ExactNumber,
    Record,
    Row,
    Samples,
    Text,
    all_of,
    at_most_one,
    has_keys,
    needs,
    one_of,
)
from mechdesign.errors import GuaranteeError, InputError, shorten
from mechdesign.numerics.exact import short_text
from mechdesign.uncertainty.bounds_of_counts import checked_bound_of_counts
from mechdesign.uncertainty.box import Box, L1Box, LowerLimits
from mechdesign.uncertainty.codec import (
    BoundName,
    Codec,
    Known,
    OwnLabels,
    Place,
    TableKind,
    as_text,
    labels_beside,
    parameter_model,
    parameters_of,
    under,
    views,
)
from mechdesign.uncertainty.evidence import Evidence, asserted, check_one_way, counted
from mechdesign.uncertainty.l1_ball import L1Ball
from mechdesign.uncertainty.pieces import PieceSet
from mechdesign.uncertainty.prior_set import exact_prior
from mechdesign.uncertainty.radii import WEISSMAN, checked_bound
from mechdesign.uncertainty.registry import takes_as_known
from mechdesign.uncertainty.relative_ball import EventSet, RelativeBall

_NamedCounts = Annotated[dict[str, Count], Field(max_length=MOST_SYMBOLS)]
_LABELS_BESIDE_COUNTS = "has labels beside counts, which name their categories; leave the labels out"
_ESTIMATE = (
    one_of("center", "counts"),
    needs("samples", "delta", "counts"),
    needs("asserted_samples", "delta", "center"),
    {"if": has_keys("delta"), "then": {"anyOf": [has_keys("samples"), has_keys("asserted_samples")]}},
)


class _Estimate(Record):
    """The estimate in a guarantee, and what the set was derived from.

    Samples that no counts show have a key of their own, so that no reader takes them for samples.
    """

    model_config = all_of(*_ESTIMATE)

    center: Row | None = None
    counts: Annotated[list[Count], Field(max_length=MOST_SYMBOLS, fail_fast=True)] | None = None
    samples: Samples | None = None
    asserted_samples: Samples | None = None
    delta: ExactNumber | None = None

    def read(self, place: Place, bound: str | None = None) -> tuple[Sequence[object], Evidence | None]:
        """Return the estimate and the data behind it; no data where nothing but the estimate is stated.

        Raises
        ------
        InputError
            For keys that do not belong together, and for another number of counts than of inputs.
        """
        inputs = place.inputs or ()
        if (self.center is None) == (self.counts is None):
            raise InputError.conflicting_keys(
                f"{place.source}: {place.within} has center and counts, or neither; give one of them"
            )
        wanted, other = ("samples", "asserted_samples") if self.center is None else ("asserted_samples", "samples")
        if getattr(self, other) is not None or (self.delta is None) != (getattr(self, wanted) is None):
            raise InputError.missing_key(
                f"{place.source}: delta, samples and counts belong together, as do delta, asserted_samples and center; "
                "give all three, or the estimate alone"
            )
        if self.counts is None:
            center = exact_prior(self.center or (), "the center")
            if self.delta is None:
                return center, None
            return center, asserted(center, self.asserted_samples, self.delta, checked_bound(bound))
        if len(self.counts) != len(inputs):
            raise InputError.wrong_size(
                f"{place.source}: {len(self.counts)} counts for {len(inputs)} inputs; give one for each input"
            )
        named = dict(zip(inputs, self.counts, strict=True))
        _, evidence = counted(named, self.delta, bound=checked_bound_of_counts(bound))
        return [Fraction(count, evidence.samples) for count in evidence.counts], evidence

    def check_samples(self, place: Place) -> None:
        """Refuse samples that are not the total of the counts beside them, which is a false claim."""
        if self.samples is not None and checked_samples(self.samples) != sum(self.counts or ()):
            raise GuaranteeError.delta_false(
                f"{place.source}: delta {self.delta} is claimed with {self.samples} samples, and the counts are of "
                f"{sum(self.counts or ())}; the claimed delta is false"
            )


def _estimate_table(center: Sequence[Fraction], evidence: Evidence | None) -> dict[str, Any]:
    """Return the estimate, as counts where there are some, with the samples and the delta of a set.

    Examples
    --------
    >>> _estimate_table([Fraction(3, 4), Fraction(1, 4)], Evidence((3, 1), 4, Fraction(1, 10)))
    {'counts': [3, 1], 'samples': 4, 'delta': '0.1'}
    """
    if evidence is None:
        return {"center": as_text(center)}
    table: dict[str, Any] = {"center": as_text(center)} if evidence.asserted else {"counts": list(evidence.counts)}
    if evidence.delta is not None:
        table["asserted_samples" if evidence.asserted else "samples"] = evidence.samples
        table["delta"] = short_text(evidence.delta)
    return table


class _BallGuarantee(_Estimate):
    """In a mechanism file: the estimate as counts or as a center, in the order of the inputs."""

    model_config = all_of(*_ESTIMATE, needs("bound", "delta"))

    radius: Annotated[Text, Field(json_schema_extra={"pattern": "[0-9]"})]
    bound: BoundName | None = None


class _BallPrior(OwnLabels):
    """In a problem file: the estimate as a table of counts, or as labels and probabilities.

    Without delta, radius and known it is known: so it was in files from before there was the key.
    """

    model_config = all_of(
        one_of("counts", "probabilities"),
        at_most_one("counts", "labels"),
        at_most_one("delta", "radius", "known"),
        needs("samples", "delta"),
        needs("bound", "delta"),
    )

    delta: ExactNumber | None = None
    radius: ExactNumber | None = None
    known: Known | None = None
    samples: Samples | None = None
    bound: BoundName | None = None
    counts: _NamedCounts | None = None
    probabilities: Row | None = None
    within_simplex: bool = True


class L1BallCodec(Codec):
    """The codec of l1 balls: counts or probabilities, and a radius or the delta that it follows from."""

    of = L1Ball
    marks = views(("counts", "center"), ("counts", "probabilities"))
    models = views((_BallGuarantee,), (_BallPrior,))

    def write(self, known: L1Ball, view: TableKind) -> dict[str, Any]:
        """Return the radius with the estimate; in a problem file delta or known, where they say what the radius is."""
        evidence = known.evidence
        if view is TableKind.GUARANTEE:
            bound = {} if evidence is None or evidence.delta is None else {"bound": evidence.bound}
            return {"radius": str(known.radius), **_estimate_table(known.center, evidence), **bound}
        counts = None if evidence is None or evidence.asserted else evidence.counts
        table: dict[str, Any] = {"radius": str(known.radius)}
        if counts is not None and known.radius == 0:
            table = {"known": True}
        elif evidence is not None and evidence.delta is not None and evidence.radius() == known.radius:
            table = {"delta": short_text(evidence.delta), "bound": evidence.bound}
            table |= {"samples": evidence.samples} if evidence.asserted else {}
        if not known.within_simplex:
            table["within_simplex"] = False
        if counts is None:
            return table | labels_beside(known, view) | {"probabilities": as_text(known.center)}
        return table | {"counts": dict(zip(known.labels, counts, strict=True))}

    def read(self, table: Mapping[str, Any], place: Place) -> L1Ball:
        """Return the ball; in a guarantee, a radius that is smaller than delta and samples require is a false claim."""
        record = self.record(table, place)
        if place.inputs is not None:
            return _ball_of_guarantee(record, place)
        return _ball_of_prior(record, place, known=bool(record.known) or takes_as_known(table))


def _ball_of_guarantee(record: _BallGuarantee, place: Place) -> L1Ball:
    # A file without a bound is from before there were two.
    bound = WEISSMAN if record.delta is not None and record.bound is None else record.bound
    center, evidence = record.read(place, bound)
    if record.bound is not None and record.delta is None:
        raise InputError.key_out_of_place(
            f"{place.source}: the bound {shorten(record.bound)} is given without delta; remove it"
        )
    ball = L1Ball(center, record.radius, place.inputs)
    record.check_samples(place)
    derived = None if evidence is None else evidence.radius()
    if evidence is not None and derived is not None and ball.radius < derived:
        raise GuaranteeError.delta_false(
            f"{place.source}: the radius {float(ball.radius):.12g} is below {float(derived):.12g}, which delta "
            f"{record.delta} needs with {evidence.samples} samples over {ball.size} categories by the bound "
            f"{evidence.bound}; the claimed delta is false"
        )
    return L1Ball(ball.center, ball.radius, place.inputs, evidence=evidence)


def _ball_of_prior(record: _BallPrior, place: Place, *, known: bool) -> L1Ball:
    if record.counts is not None:
        if record.labels is not None:
            raise InputError.wrong_mechanism(f"{place.heading} {_LABELS_BESIDE_COUNTS}")
        return L1Ball.from_counts(
            record.counts,
            delta=record.delta,
            radius=record.radius,
            known=known,
            samples=record.samples,
            bound=record.bound,
            within_simplex=record.within_simplex,
        )
    stated = {"delta": record.delta, "radius": record.radius, "known": record.known or False}
    if any(stated.values()):
        check_one_way(stated, "delta, radius and known = true")
    estimate: dict[str, Any] = {"labels": record.labels, "within_simplex": record.within_simplex}
    probabilities = record.probabilities or ()
    if record.delta is None:
        for key in ("samples", "bound"):
            if getattr(record, key) is not None:
                raise InputError.key_out_of_place(
                    f"{place.heading} has {key}, which does not go with its other keys; leave it out"
                )
        return L1Ball(probabilities, 0 if record.radius is None else record.radius, **estimate)
    if record.samples is None:
        if checked_delta(record.delta):
            raise InputError.missing_key(
                f"delta {record.delta} is given for probabilities without samples; add samples, or give counts"
            )
        checked_bound(record.bound)
        return L1Ball(probabilities, 2, **estimate)
    return L1Ball.from_probabilities(
        probabilities, samples=record.samples, delta=record.delta, bound=record.bound, **estimate
    )


class _Center(Record):
    center: Row


class _Asserted(_Center):
    delta: ExactNumber
    samples: Samples


class _Counted(Record):
    delta: ExactNumber
    counts: _NamedCounts
    samples: Samples | None = None


class PiecesCodec(Codec):
    """The codec of a class whose parameters stand under the name of its kind.

    Parameters
    ----------
    of : type of PieceSet
        The class, which names its parameters and those of them that are chosen beside counts and delta.
    """

    def __init__(self, of: type[PieceSet]) -> None:
        self.of: type[PieceSet] = of
        self.marks = views((of.kind,))
        chosen = {name: of.parameters[name] for name in of.chosen}
        guarantee = parameter_model(f"{of.__name__}Guarantee", of.parameters, _Estimate)
        given = parameter_model(f"{of.__name__}Prior", of.parameters, _Center)
        asserted = parameter_model(f"{of.__name__}Asserted", chosen, _Asserted, optional=True)
        counted = parameter_model(f"{of.__name__}Counts", chosen, _Counted, optional=True)
        with_labels = (under(of.kind, model, OwnLabels) for model in (given, asserted))
        self.models = views((under(of.kind, guarantee),), (*with_labels, under(of.kind, counted)))

    def write(self, known: PieceSet, view: TableKind) -> dict[str, Any]:
        """Return parameters and estimate; in a problem file delta and counts, where the parameters follow from them."""
        evidence, table = known.evidence, parameters_of(known, self.of.parameters)
        if view is TableKind.GUARANTEE:
            return {self.of.kind: table | _estimate_table(known.center, evidence)}
        if evidence is not None and evidence.delta is not None and self._follows(known, evidence):
            table = {"delta": short_text(evidence.delta), **parameters_of(known, self.of.chosen)}
            if not evidence.asserted:
                return {self.of.kind: table | {"counts": dict(zip(known.labels, evidence.counts, strict=True))}}
            table["samples"] = evidence.samples
        return labels_beside(known, view) | {self.of.kind: table | {"center": as_text(known.center)}}

    def _follows(self, known: PieceSet, evidence: Evidence) -> bool:
        """Return whether the parameters are those that follow from the evidence and what is chosen beside it."""
        chosen = {name: getattr(known, name) for name in self.of.chosen}
        return self.of.of_evidence(known.labels, evidence, **chosen) == known

    def model(self, table: Mapping[str, Any], view: TableKind) -> type[Record]:
        """Return the model by which a table is read; in a problem file, its counts or samples tell which."""
        own = table[self.of.kind] if isinstance(table[self.of.kind], Mapping) else {}
        which = 0 if view is TableKind.GUARANTEE else 2 if "counts" in own else 1 if "samples" in own else 0
        return self.models[view][which]

    def read(self, table: Mapping[str, Any], place: Place) -> PieceSet:
        """Return the set; in a guarantee, limits that are sharper than delta and samples support are a false claim."""
        if place.inputs is not None:
            return self._of_guarantee(self.record(table, place).of_kind, place.inner(self.of.kind))
        if "labels" in table and self.model(table, place.view) is self.models[place.view][2]:
            raise InputError.wrong_mechanism(f"{place.heading} {_LABELS_BESIDE_COUNTS}")
        record = self.record(table, place)
        given = record.of_kind.model_dump()
        if "counts" in given:
            return self.of.from_counts(given.pop("counts"), given.pop("delta"), **given)
        center, labels = given.pop("center"), place.labels(record.labels)
        if "samples" in given:
            return self.of.from_probabilities(center, given.pop("delta"), labels=labels, **given)
        return self._made(given, center, labels)

    def _of_guarantee(self, record: Any, place: Place) -> PieceSet:
        center, evidence = record.read(place)
        known = self._made({name: getattr(record, name) for name in self.of.parameters}, center, place.inputs)
        record.check_samples(place)
        if evidence is None or evidence.delta is None:
            return known
        excess = known.excess_over(evidence)
        if excess:
            raise GuaranteeError.delta_false(
                f"{place.source}: {excess}, while delta {record.delta} is claimed with {evidence.samples} samples over "
                f"{known.size} categories; the claimed delta is false"
            )
        return known.supported_by(evidence)

    def _made(self, given: dict[str, Any], center: Any, labels: tuple[str, ...] | None) -> PieceSet:
        made: Any = self.of
        result: PieceSet = made(**given, center=center, labels=labels)
        return result


_PIECES: tuple[type[PieceSet], ...] = (Box, LowerLimits, L1Box, RelativeBall, EventSet)
CODECS = (L1BallCodec(), *map(PiecesCodec, _PIECES))
