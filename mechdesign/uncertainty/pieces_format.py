"""How files describe boxes, limits and relative balls: a table with the name of the kind.

The table holds the parameters of the class, and the estimate as ``center`` or as ``counts``. Where the parameters were
derived from counts, it also holds ``samples`` and ``delta``, and reading it derives them again.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any

from pydantic import Field, create_model

from mechdesign.data.checks import checked_delta, checked_samples
from mechdesign.data.counts import checked_counts
from mechdesign.data.fields import (
    MOST_SYMBOLS,
    Count,
    ExactNumber,
    Record,
    Row,
    Samples,
    all_of,
    checked_record,
    needs,
    one_of,
)
from mechdesign.data.labels import canonical_labels
from mechdesign.errors import GuaranteeError, InputError
from mechdesign.numerics.exact import short_text
from mechdesign.uncertainty.box import Box, L1Box, LowerLimits
from mechdesign.uncertainty.format import OwnLabels, SetFormat, under
from mechdesign.uncertainty.l1_ball import Evidence
from mechdesign.uncertainty.pieces import PieceSet
from mechdesign.uncertainty.relative_ball import EventSet, RelativeBall

_Counts = Annotated[list[Count], Field(max_length=MOST_SYMBOLS, fail_fast=True)]
_NamedCounts = Annotated[dict[str, Count], Field(max_length=MOST_SYMBOLS)]
_SHAPES: dict[str, Any] = {"number": ExactNumber, "vector": Row}


class _Evidence(Record):
    """The estimate in a guarantee, and what the parameters were derived from."""

    model_config = all_of(
        one_of("center", "counts"), needs("delta", "samples", "counts"), needs("samples", "delta", "counts")
    )

    center: Row | None = None
    counts: _Counts | None = None
    samples: Samples | None = None
    delta: ExactNumber | None = None


class PiecesFormat(SetFormat):
    """The tables of one class; a format is a class of its own, which names the class of sets."""

    of: type[PieceSet]

    def __init__(self) -> None:
        self.guarantee_marks = self.prior_marks = (self.of.kind,)
        self.guarantee_keys, self.prior_keys = frozenset({self.of.kind}), frozenset({self.of.kind, "labels"})

    @cached_property
    def _guarantee(self) -> type[Record]:
        fields: dict[str, Any] = {name: (_SHAPES[shape], ...) for name, shape in self.of.parameters.items()}
        model: type[Record] = create_model(f"{self.of.__name__}Guarantee", __base__=_Evidence, **fields)
        return model

    @cached_property
    def _prior(self) -> type[Record]:
        fields: dict[str, Any] = {name: (_SHAPES[shape], ...) for name, shape in self.of.parameters.items()}
        model: type[Record] = create_model(f"{self.of.__name__}Prior", __base__=Record, center=(Row, ...), **fields)
        return model

    @cached_property
    def _counted(self) -> type[Record]:
        fields: dict[str, Any] = {"counts": (_NamedCounts, ...), "delta": (ExactNumber, ...)}
        fields["samples"] = (Samples | None, None)
        fields |= {name: (_SHAPES[self.of.parameters[name]] | None, None) for name in self.of.chosen}
        model: type[Record] = create_model(f"{self.of.__name__}Counts", __base__=Record, **fields)
        return model

    @property
    def guarantee_models(self) -> tuple[type[Record], ...]:  # type: ignore[override]
        """The table of the parameters and the estimate."""
        return (under(self.of.kind, self._guarantee),)

    @property
    def prior_models(self) -> tuple[type[Record], ...]:  # type: ignore[override]
        """The table of the parameters and the estimate, beside labels, and that of counts."""
        return under(self.of.kind, self._prior, OwnLabels), under(self.of.kind, self._counted)

    def _parameters(self, known: PieceSet) -> dict[str, Any]:
        return {name: _as_text(getattr(known, name)) for name in self.of.parameters}

    def to_guarantee(self, known: PieceSet) -> dict[str, Any]:
        """Return the parameters, and the estimate or the counts with what the parameters were derived from."""
        table, evidence = self._parameters(known), known.evidence
        if evidence is None:
            table["center"] = _as_text(known.center)
        else:
            table["counts"] = list(evidence.counts)
            if evidence.delta is not None:
                table |= {"samples": evidence.samples, "delta": short_text(evidence.delta)}
        checked_record(self._guarantee, table, "", within=f"guarantee.{self.of.kind}")
        return {self.of.kind: table}

    def from_guarantee(self, table: Mapping[str, Any], labels: tuple[str, ...], source: str, within: str) -> PieceSet:
        """Return the set; limits that are sharper than delta and samples support are a false claim.

        Raises
        ------
        GuaranteeError
            For such limits.
        """
        record = checked_record(self._guarantee, table[self.of.kind], source, within=f"{within}.{self.of.kind}")
        given = record.model_dump()
        center, counts, samples, delta = (given.pop(key) for key in ("center", "counts", "samples", "delta"))
        if (center is None) == (counts is None):
            raise InputError(f"{source}: {within}.{self.of.kind} has center and counts, or neither; give one of them")
        if (delta is None) != (samples is None) or (delta is not None and counts is None):
            raise InputError(
                f"{source}: delta, samples and counts belong together; give all three, or neither delta nor samples"
            )
        if counts is None:
            return self._made(given, center, labels)
        if len(counts) != len(labels):
            raise InputError(f"{source}: {len(counts)} counts for {len(labels)} inputs; give one for each input")
        _, checked = checked_counts(dict(zip(labels, counts, strict=True)))
        total = sum(checked)
        known = self._made(given, [f"{count}/{total}" for count in checked], labels)
        if delta is None:
            return known
        evidence = Evidence(checked, checked_samples(samples), checked_delta(delta))
        excess = known.excess_over(evidence)
        if excess:
            raise GuaranteeError(
                f"{source}: {excess}, while delta {delta} is claimed with {samples} samples over {len(labels)} "
                "symbols; the claimed delta is false"
            )
        return known.supported_by(evidence)

    def to_prior(self, known: PieceSet) -> dict[str, Any]:
        """Return counts and delta where the parameters follow from them, or labels, parameters and estimate."""
        evidence = known.evidence
        if evidence is not None and evidence.delta is not None and self._follows(known, evidence):
            table: dict[str, Any] = {"delta": short_text(evidence.delta)}
            table |= {name: _as_text(getattr(known, name)) for name in self.of.chosen}
            if evidence.samples != sum(evidence.counts):
                table["samples"] = evidence.samples
            return {self.of.kind: table | {"counts": dict(zip(known.labels, evidence.counts, strict=True))}}
        table = {**self._parameters(known), "center": _as_text(known.center)}
        return {"labels": list(known.labels), self.of.kind: table}

    def from_prior(self, table: Mapping[str, Any], within: str) -> PieceSet:
        """Return the set of its parameters and an estimate, or of counts and delta."""
        own, kind = table[self.of.kind], f"{within}.{self.of.kind}"
        if isinstance(own, Mapping) and "counts" in own:
            if "labels" in table:
                raise InputError(f"[{within}] has labels beside counts, which name their symbols; leave the labels out")
            counted = checked_record(self._counted, own, "", within=kind).model_dump()
            return self.of.from_counts(counted.pop("counts"), counted.pop("delta"), **counted)
        given = checked_record(self._prior, own, "", within=kind).model_dump()
        named = {key: value for key, value in table.items() if key == "labels"}
        labels = checked_record(OwnLabels, named, "", within=within).labels
        return self._made(given, given.pop("center"), None if labels is None else canonical_labels(labels, len(labels)))

    def _made(self, given: dict[str, Any], center: Any, labels: tuple[str, ...] | None) -> PieceSet:
        made: Any = self.of
        result: PieceSet = made(**given, center=center, labels=labels)
        return result

    def _follows(self, known: PieceSet, evidence: Evidence) -> bool:
        """Return whether the parameters are those that follow from counts, delta and what is chosen beside them."""
        counts = dict(zip(known.labels, evidence.counts, strict=True))
        chosen = {name: getattr(known, name) for name in self.of.chosen}
        return self.of.from_counts(counts, evidence.delta, samples=evidence.samples, **chosen) == known


def _as_text(value: Any) -> Any:
    return [str(item) for item in value] if isinstance(value, tuple) else str(value)


class BoxFormat(PiecesFormat):
    """Boxes."""

    of = Box


class LowerLimitsFormat(PiecesFormat):
    """Lower limits."""

    of = LowerLimits


class L1BoxFormat(PiecesFormat):
    """Boxes cut with an l1 ball."""

    of = L1Box


class RelativeBallFormat(PiecesFormat):
    """Relative balls."""

    of = RelativeBall


class EventSetFormat(PiecesFormat):
    """Lower limits of all events."""

    of = EventSet
