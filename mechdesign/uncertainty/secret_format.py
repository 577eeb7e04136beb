"""How files describe a promise about a secret: the joint counts, the names of both columns, and limits.

The table of a guarantee says in words what is not protected. Limits, where there are any, are tables of sets of their
own, the secret's first, each with the counts and the delta that it was derived from, which reading checks again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from mechdesign.data.fields import (
    MOST_SYMBOLS,
    Count,
    ExactNumber,
    Record,
    Text,
    all_of,
    at_most_one,
    checked_record,
    defined,
    needs,
)
from mechdesign.data.joint_counts import JointCounts
from mechdesign.data.labels import canonical_labels
from mechdesign.errors import InputError
from mechdesign.numerics.exact import short_text
from mechdesign.uncertainty.base import UncertaintySet
from mechdesign.uncertainty.format import Labels, SetFormat, under
from mechdesign.uncertainty.joint_limits import LIMITS, JointLimits
from mechdesign.uncertainty.registry import guarantee_table, prior_table, set_of_guarantee, set_of_prior
from mechdesign.uncertainty.secret import SecretPromise

_MOST_VALUES = 1_000
_NESTED = ("factors", "secret")

_Row = Annotated[list[Count], Field(max_length=MOST_SYMBOLS, fail_fast=True)]
_Counts = Annotated[list[_Row], Field(max_length=_MOST_VALUES, fail_fast=True)]
_Each = Field(max_length=_MOST_VALUES + 1, fail_fast=True)


class _SecretGuarantee(Record):
    name: Text
    useful: Text
    values: Labels
    counts: _Counts
    limits: Annotated[list[Annotated[dict[str, Any], defined("limit")]], _Each] | None = None
    not_protected: Text | None = None


class _SecretPrior(Record):
    model_config = all_of(at_most_one("sets", "delta"), at_most_one("sets", "limits"), needs("limits", "delta"))

    name: Text
    useful: Text
    values: Labels
    counts: _Counts
    delta: ExactNumber | None = None
    limits: Annotated[Text, Field(json_schema_extra={"enum": list(LIMITS)})] | None = None
    sets: Annotated[list[Annotated[dict[str, Any], defined("limit-prior")]], _Each] | None = None


class _Symbols(Record):
    labels: Labels


class SecretFormat(SetFormat):
    """Joint counts, and limits."""

    of = SecretPromise
    guarantee_marks = prior_marks = ("secret",)
    guarantee_keys, prior_keys = frozenset({"secret"}), frozenset({"secret", "labels"})
    guarantee_models = (under("secret", _SecretGuarantee),)
    prior_models = (under("secret", _SecretPrior, _Symbols),)
    is_made_of_others = True

    def to_guarantee(self, known: SecretPromise) -> dict[str, Any]:
        """Return the counts, limits with what they were derived from, and what is not protected."""
        table: dict[str, Any] = _counted(known)
        if known.limits is not None:
            table["limits"] = [guarantee_table(limit) for limit in (known.limits.of_secret, *known.limits.given)]
        table["not_protected"] = known.not_protected_in_words()
        checked_record(_SecretGuarantee, table, "", within="guarantee.secret")
        return {"secret": table}

    def from_guarantee(
        self, table: Mapping[str, Any], labels: tuple[str, ...], source: str, within: str
    ) -> SecretPromise:
        """Return the promise; limits that are sharper than counts and delta support are a false claim.

        Raises
        ------
        GuaranteeError
            For such limits.
        """
        record = checked_record(_SecretGuarantee, table["secret"], source, within=f"{within}.secret")
        known = _made(record, labels)
        if record.limits is None:
            return known
        names = [known.joint.values, *([labels] * len(known.joint.values))]
        if len(record.limits) != len(names):
            raise InputError(
                f"{source}: {len(record.limits)} limits for a secret of {len(names) - 1} values; give {len(names)}"
            )
        sets = []
        for place, (limit, own) in enumerate(zip(record.limits, names, strict=True)):
            where = f"{within}.secret.limits.{place}"
            _check_plain(limit, f"{source}: {where}")
            sets.append(set_of_guarantee(limit, own, source, where))
        _check_evidence(sets, known.joint, source)
        return known.within(sets)

    def to_prior(self, known: SecretPromise) -> dict[str, Any]:
        """Return the counts, with delta where limits follow from it, and the limits themselves where they do not."""
        table: dict[str, Any] = _counted(known)
        if known.limits is not None:
            kind = _derived_as(known, known.limits)
            if kind is None or known.delta is None:
                table["sets"] = [prior_table(limit) for limit in (known.limits.of_secret, *known.limits.given)]
            else:
                table |= {"delta": short_text(known.delta), "limits": kind}
        return {"labels": list(known.labels), "secret": table}

    def from_prior(self, table: Mapping[str, Any], within: str) -> SecretPromise:
        """Return the promise."""
        record = checked_record(_SecretPrior, table["secret"], "", within=f"{within}.secret")
        named = {key: value for key, value in table.items() if key == "labels"}
        labels = checked_record(_Symbols, named, "", within=within).labels
        if record.sets is not None and (record.delta is not None or record.limits is not None):
            raise InputError(f"[{within}.secret] has sets beside delta or limits; give one of them")
        if record.limits is not None and record.delta is None:
            raise InputError(f"[{within}.secret] has limits without delta, which they follow from; add delta")
        known = _made(record, canonical_labels(labels, len(labels)), record.delta, record.limits or LIMITS[0])
        if record.sets is None:
            return known
        sets = []
        for place, limit in enumerate(record.sets):
            where = f"{within}.secret.sets.{place}"
            _check_plain(limit, f"[{where}]")
            sets.append(set_of_prior(limit, where))
        return known.within(sets)


def _counted(known: SecretPromise) -> dict[str, Any]:
    return {
        "name": known.secret,
        "useful": known.useful,
        "values": list(known.joint.values),
        "counts": [list(row) for row in known.joint.counts],
    }


def _made(
    record: _SecretGuarantee | _SecretPrior, labels: tuple[str, ...], delta: str | None = None, limits: str = LIMITS[0]
) -> SecretPromise:
    joint = JointCounts.of(record.counts, record.values, labels)
    return SecretPromise(joint, secret=record.name, useful=record.useful, delta=delta, limits=limits)


def _derived_as(known: SecretPromise, limits: JointLimits) -> str | None:
    """Return the kind of limits that the counts and delta give; None if these limits do not follow from them."""
    if known.delta is None:
        return None
    return next((kind for kind in LIMITS if JointLimits.of_counts(known.joint, known.delta, kind) == limits), None)


def _check_plain(limit: Mapping[str, Any], where: str) -> None:
    """Refuse a limit that is made of other sets: it would have to be read level by level."""
    nested = next((key for key in _NESTED if key in limit), None)
    if nested is not None:
        raise InputError(f"{where} has {nested}; give a set that is not made of others, such as a box")


def _check_evidence(sets: list[UncertaintySet], joint: JointCounts, source: str) -> None:
    """Refuse limits that were derived from other counts than those of the joint distribution."""
    for place, (known, counts) in enumerate(zip(sets, [joint.of_values, *joint.counts], strict=True)):
        evidence = getattr(known, "evidence", None)
        if evidence is not None and (evidence.counts, evidence.samples) != (counts, sum(counts)):
            raise InputError(
                f"{source}: limit {place + 1} of the secret was derived from other counts than the joint counts; give "
                "limits from the same counts"
            )
