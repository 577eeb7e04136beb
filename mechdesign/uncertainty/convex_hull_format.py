"""How files describe a convex hull of priors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from mechdesign.data.fields import Matrix, Record, Row, checked_record
from mechdesign.uncertainty.convex_hull import ConvexHull
from mechdesign.uncertainty.format import Labels, SetFormat, keys_of


class _Guarantee(Record):
    priors: Annotated[Matrix, Field(json_schema_extra={"minItems": 1})]
    weights: Row | None = None


class _Prior(_Guarantee):
    labels: Labels | None = None


class ConvexHullFormat(SetFormat):
    """The priors, and the weights of the mixture at which utility is measured."""

    of = ConvexHull
    guarantee_marks = prior_marks = ("priors",)
    guarantee_keys, prior_keys = keys_of(_Guarantee), keys_of(_Prior)
    guarantee_models, prior_models = (_Guarantee,), (_Prior,)

    def to_guarantee(self, known: ConvexHull) -> dict[str, Any]:
        """Return the priors and the weights, as ratios."""
        table = {
            "priors": [[str(q) for q in prior] for prior in known.priors],
            "weights": [str(w) for w in known.weights],
        }
        checked_record(_Guarantee, table, "", within="guarantee")
        return table

    def from_guarantee(self, table: Mapping[str, Any], labels: tuple[str, ...], source: str, within: str) -> ConvexHull:
        """Return the hull."""
        record = checked_record(_Guarantee, table, source, within=within)
        return ConvexHull(record.priors, record.weights, labels)

    def to_prior(self, known: ConvexHull) -> dict[str, Any]:
        """Return the labels, the weights and the priors."""
        written = self.to_guarantee(known)
        return {"labels": list(known.labels), "weights": written["weights"], "priors": written["priors"]}

    def from_prior(self, table: Mapping[str, Any], within: str) -> ConvexHull:
        """Return the hull."""
        prior = checked_record(_Prior, table, "", within=within)
        return ConvexHull(prior.priors, prior.weights, prior.labels)
