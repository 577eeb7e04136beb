"""How files describe an l1 ball."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from mechdesign.data.checks import checked_delta, checked_radius, checked_samples
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
    checked_record,
    has_keys,
    needs,
    one_of,
)
from mechdesign.errors import GuaranteeError, InputError, shorten
from mechdesign.numerics.exact import short_text
from mechdesign.uncertainty.format import BoundName, Labels, SetFormat, keys_of
from mechdesign.uncertainty.l1_ball import Evidence, L1Ball
from mechdesign.uncertainty.radii import WEISSMAN, checked_bound, radius_exact


class _Guarantee(Record):
    """In a mechanism file: the estimate as counts or as a center, in the order of the inputs."""

    model_config = all_of(
        has_keys("radius"),
        one_of("counts", "center"),
        needs("delta", "samples", "counts"),
        needs("samples", "delta"),
        needs("bound", "delta"),
    )

    delta: ExactNumber | None = None
    radius: Annotated[Text, Field(json_schema_extra={"pattern": "[0-9]"})] | None = None
    samples: Samples | None = None
    bound: BoundName | None = None
    counts: Annotated[list[Count], Field(max_length=MOST_SYMBOLS, fail_fast=True)] | None = None
    center: Row | None = None


class _Prior(Record):
    """In a problem file: the estimate as a table of counts, or as labels and probabilities."""

    model_config = all_of(
        one_of("counts", "probabilities"),
        at_most_one("counts", "labels"),
        at_most_one("delta", "radius"),
        needs("samples", "delta"),
        needs("bound", "delta"),
    )

    delta: ExactNumber | None = None
    radius: ExactNumber | None = None
    samples: Samples | None = None
    bound: BoundName | None = None
    counts: Annotated[dict[str, Count], Field(max_length=MOST_SYMBOLS)] | None = None
    labels: Labels | None = None
    probabilities: Row | None = None
    within_simplex: bool = True


class L1BallFormat(SetFormat):
    """Counts or probabilities, and a radius or the delta that it follows from."""

    of = L1Ball
    guarantee_marks = ("counts", "center")
    prior_marks = ("counts", "probabilities")
    guarantee_keys, prior_keys = keys_of(_Guarantee), keys_of(_Prior)
    guarantee_models, prior_models = (_Guarantee,), (_Prior,)

    def to_guarantee(self, known: L1Ball) -> dict[str, Any]:
        """Return the radius, and the counts with what the radius was derived from, or the center."""
        table: dict[str, Any] = {"radius": str(known.radius)}
        if known.evidence is None:
            table["center"] = [str(p) for p in known.center]
        else:
            table["counts"] = list(known.evidence.counts)
            if known.evidence.delta is not None:
                table |= {"samples": known.evidence.samples, "delta": short_text(known.evidence.delta)}
                table["bound"] = known.evidence.bound
        checked_record(_Guarantee, table, "", within="guarantee")
        return table

    def from_guarantee(self, table: Mapping[str, Any], labels: tuple[str, ...], source: str, within: str) -> L1Ball:
        """Return the ball; a radius that is smaller than delta and samples require is a false claim.

        Raises
        ------
        GuaranteeError
            For such a radius.
        """
        record = checked_record(_Guarantee, table, source, within=within)
        if record.radius is None:
            raise InputError(f"{source}: the guarantee has no radius; add it")
        if (record.delta is None) != (record.samples is None) or (record.delta is not None and record.counts is None):
            raise InputError(
                f"{source}: delta, samples and counts belong together; give all three, or neither delta nor samples"
            )
        if record.bound is not None and record.delta is None:
            raise InputError(f"{source}: the bound {shorten(record.bound)} is given without delta; remove it")
        radius = checked_radius(record.radius)
        if record.counts is None:
            return L1Ball(record.center or (), radius, labels)
        ball = L1Ball.from_counts(dict(zip(labels, record.counts, strict=False)), radius=radius)
        if len(record.counts) != len(labels):
            raise InputError(f"{source}: {len(record.counts)} counts for {len(labels)} inputs; give one for each input")
        if record.delta is None:
            return ball
        counts = tuple(record.counts)
        # Files from before there were two bounds do not name one.
        bound = WEISSMAN if record.bound is None else checked_bound(record.bound)
        evidence = Evidence(counts, checked_samples(record.samples), checked_delta(record.delta), bound)
        derived = evidence.radius()
        if derived is not None and radius < derived:
            raise GuaranteeError(
                f"{source}: the radius {float(radius):.12g} is below {float(derived):.12g}, which delta {record.delta} "
                f"needs with {record.samples} samples over {len(labels)} symbols by the bound {bound}; "
                "the claimed delta is false"
            )
        return L1Ball(ball.center, radius, labels, evidence=evidence)

    def to_prior(self, known: L1Ball) -> dict[str, Any]:
        """Return the counts with delta or radius, or the probabilities with the radius."""
        evidence = known.evidence
        table: dict[str, Any] = {} if known.within_simplex else {"within_simplex": False}
        if evidence is None:
            return table | {
                "radius": str(known.radius),
                "labels": list(known.labels),
                "probabilities": [str(p) for p in known.center],
            }
        if evidence.delta is None or evidence.radius() != known.radius:
            table["radius"] = str(known.radius)
        else:
            table |= {"delta": short_text(evidence.delta), "bound": evidence.bound}
            if evidence.samples != sum(evidence.counts):
                table["samples"] = evidence.samples
        return table | {"counts": dict(zip(known.labels, evidence.counts, strict=True))}

    def from_prior(self, table: Mapping[str, Any], within: str) -> L1Ball:
        """Return the ball of counts, or of probabilities with a radius or with delta and samples."""
        prior = checked_record(_Prior, table, "", within=within)
        if prior.counts is not None:
            if prior.labels is not None:
                raise InputError("[prior] has labels beside counts, which name their symbols; leave the labels out")
            return L1Ball.from_counts(
                prior.counts,
                delta=prior.delta,
                radius=prior.radius,
                samples=prior.samples,
                bound=prior.bound,
                within_simplex=prior.within_simplex,
            )
        return L1Ball(
            prior.probabilities or (), _radius_beside(prior), prior.labels, within_simplex=prior.within_simplex
        )


def _radius_beside(prior: _Prior) -> object:
    """Return the radius that stands beside probabilities, or that follows from delta and samples."""
    if prior.delta is None:
        if prior.samples is not None:
            raise InputError("[prior] has samples, which does not go with its other keys; leave it out")
        if prior.bound is not None:
            raise InputError("[prior] has bound, which does not go with its other keys; leave it out")
        return 0 if prior.radius is None else prior.radius
    if prior.radius is not None:
        raise InputError(f"delta {prior.delta} and radius {prior.radius} are both given; give one of them")
    bound = checked_bound(prior.bound)
    if checked_delta(prior.delta) == 0:
        return 2
    if prior.samples is None:
        raise InputError(f"delta {prior.delta} is given for probabilities without samples; add samples, or give counts")
    return radius_exact(prior.samples, len(prior.probabilities or ()), prior.delta, bound)
