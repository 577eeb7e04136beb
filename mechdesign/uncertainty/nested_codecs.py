"""The codecs of sets that are made of others: products, unions, and promises about a secret.

Their tables hold tables of sets, each of which is written and read as one of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BeforeValidator, Field

from mechdesign.data.fields import (
    MOST_SYMBOLS,
    Count,
    ExactNumber,
    Record,
    Row,
    Text,
    all_of,
    at_most_one,
    checked_record,
    defined,
    needs,
)
from mechdesign.data.joint_counts import JointCounts
from mechdesign.data.labels import canonical_labels
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.exact import short_text
from mechdesign.uncertainty.base import UncertaintySet
from mechdesign.uncertainty.codec import Codec, Known, Labels, Place, TableKind, as_text, labels_beside, under, views
from mechdesign.uncertainty.effort import check_limits, check_limits_of_secret, check_samples, limits_in
from mechdesign.uncertainty.joint_limits import LIMITS, JointLimits
from mechdesign.uncertainty.product_set import ProductSet
from mechdesign.uncertainty.registry import codecs, set_of, table_of
from mechdesign.uncertainty.secret import SecretPromise
from mechdesign.uncertainty.union import Union

_MOST_DIGITS = 3_000  # of the denominators of both factors of a product together
_MOST_NESTED = 12  # 10,000 categories allow at most thirteen factors of two categories each
_MOST_VALUES = 1_000  # of a secret

Table = TypeVar("Table")
_Limit = Annotated[dict[str, Any], defined("limit")]
_LimitPrior = Annotated[dict[str, Any], defined("limit-prior")]


def _not_too_deep(factors: object) -> object:
    """Return factors, after checking that they are not nested too deeply."""
    level, depth = [factors], 0
    while level:
        depth += 1
        if depth > _MOST_NESTED:
            raise ValueError(f"factors nested at most {_MOST_NESTED} deep")
        inner = (factor for factors in level if isinstance(factors, list) for factor in factors)
        level = [factor["factors"] for factor in inner if isinstance(factor, dict) and "factors" in factor]
    return factors


class InputsRecord(Record):
    """The inputs of a factor in a guarantee, beside the keys of its set."""

    inputs: Annotated[list[str], Field(max_length=MOST_SYMBOLS, fail_fast=True)]


class _Product(Record, Generic[Table]):
    factors: Annotated[
        Annotated[list[Table], Field(min_length=2, max_length=2, fail_fast=True)], BeforeValidator(_not_too_deep)
    ]
    separator: Text


class _ProductPrior(_Product[Annotated[dict[str, Any], defined("prior")]]):
    separator: Text = " & "


class ProductCodec(Codec):
    """The codec of products: two tables of sets, and the separator between the labels of a pair."""

    of = ProductSet
    marks = views(("factors",))
    models = views((_Product[Annotated[dict[str, Any], defined("factor")]],), (_ProductPrior,))
    is_made_of_others = True

    def write(self, known: ProductSet, view: TableKind) -> dict[str, Any]:
        """Return the factors, in a guarantee each with its inputs, and the separator."""
        factors = [table_of(factor, view) for factor in (known.first, known.second)]
        if view is TableKind.GUARANTEE:
            sides = zip((known.first, known.second), factors, strict=True)
            factors = [{"inputs": list(factor.labels), **table} for factor, table in sides]
        return {"factors": factors, "separator": known.separator}

    def read(self, table: Mapping[str, Any], place: Place) -> ProductSet:
        """Return the product; its pairs must be the inputs of a guarantee, in their order."""
        record = self.record(table, place)
        factors = [(factor, place.inner("factors", index)) for index, factor in enumerate(record.factors)]
        if place.inputs is not None:
            factors = [_with_inputs(*factor) for factor in factors]
            sizes = [len(inner.inputs or ()) for _, inner in factors]
            if sizes[0] * sizes[1] != len(place.inputs):
                raise InputError.wrong_size(
                    f"{place.source}: factors of {sizes[0]} and {sizes[1]} categories for {len(place.inputs)} inputs; "
                    "give an input for each pair"
                )
        first, second = (set_of(*factor) for factor in factors)
        digits = first.proof_effort().digits + second.proof_effort().digits
        if digits > _MOST_DIGITS:
            raise InputError.too_many_digits(
                f"{place.heading}: the denominators of two factors have {digits} digits together; accepted: "
                f"{_MOST_DIGITS}"
            )
        known = ProductSet(first, second, record.separator)
        for given, label in zip(place.inputs or known.labels, known.labels, strict=True):
            if given != label:
                raise InputError.labels_differ(
                    f"{place.source}: the input {shorten(given)} stands where its factors have {shorten(label)}; "
                    "give the pairs of the factors' inputs in their order"
                )
        return known


def _with_inputs(factor: Mapping[str, Any], place: Place) -> tuple[dict[str, Any], Place]:
    """Return the table of a factor without its inputs, and its place with them."""
    own = {key: value for key, value in factor.items() if key == "inputs"}
    inputs = checked_record(InputsRecord, own, place.source, within=place.within).inputs
    rest = {key: value for key, value in factor.items() if key != "inputs"}
    return rest, replace(place, inputs=canonical_labels(inputs, len(inputs)))


class _Union(Record, Generic[Table]):
    sets: Annotated[list[Table], Field(min_length=1, max_length=500, fail_fast=True)]
    names: Labels | None = None
    weights: Row | None = None
    cover: Table | None = None


class UnionCodec(Codec):
    """The codec of unions: the sets, their names and weights, and the ball that holds all of them, if there is one."""

    of = Union
    marks = views(("sets",))
    models = views((_Union[_Limit],), (_Union[_LimitPrior],))
    is_made_of_others = True

    def write(self, known: Union, view: TableKind) -> dict[str, Any]:
        """Return the tables of the sets, each with the samples behind it, and of the cover."""
        sets = [table_of(each, view) for each in known.sets]
        table = {"names": list(known.names), "weights": as_text(known.weights), "sets": sets}
        return table if known.cover is None else table | {"cover": table_of(known.cover, view)}

    def read(self, table: Mapping[str, Any], place: Place) -> Union:
        """Return the union; in a guarantee, a set that its samples or the cover do not support is a false claim."""
        record = self.record(table, place)
        if place.inputs is not None:
            symbols = len(place.inputs)
            _check_effort(place, lambda: check_limits(limits_in(record.sets), symbols))
            _check_effort(place, lambda: check_samples(record.sets, symbols))
        sets = [_plain_set(inner, place.inner("sets", index)) for index, inner in enumerate(record.sets)]
        cover = None
        if record.cover is not None:
            given = _plain_set(record.cover, place.inner("cover"))
            cover = given.l1_ball
            if cover is None:
                raise InputError.set_not_accepted(
                    f"{place.heading} has a cover of the kind {given.kind}; a cover is an l1 ball"
                )
        return Union(sets, record.weights, cover=cover, names=record.names)


class _Secret(Record):
    name: Text
    useful: Text
    values: Labels
    counts: Annotated[
        list[Annotated[list[Count], Field(max_length=MOST_SYMBOLS, fail_fast=True)]],
        Field(max_length=_MOST_VALUES, fail_fast=True),
    ]


class _SecretGuarantee(_Secret):
    limits: Annotated[list[_Limit], Field(max_length=_MOST_VALUES + 1, fail_fast=True)] | None = None
    not_protected: Text | None = None


class _SecretPrior(_Secret):
    model_config = all_of(
        at_most_one("sets", "delta", "known"), at_most_one("sets", "limits"), needs("limits", "delta")
    )

    delta: ExactNumber | None = None
    known: Known | None = None
    limits: Annotated[Text, Field(json_schema_extra={"enum": list(LIMITS)})] | None = None
    sets: Annotated[list[_LimitPrior], Field(max_length=_MOST_VALUES + 1, fail_fast=True)] | None = None

    def check(self, place: Place) -> None:
        """Refuse keys that do not go together."""
        if self.sets is not None and (self.delta is not None or self.limits is not None):
            raise InputError.conflicting_keys(f"{place.heading} has sets beside delta or limits; give one of them")
        if self.limits is not None and self.delta is None:
            raise InputError.missing_key(f"{place.heading} has limits without delta, which they follow from; add delta")
        if self.known and (self.sets is not None or self.delta is not None):
            other = "delta" if self.sets is None else "sets"
            raise InputError.conflicting_keys(f"{place.heading} has known beside {other}; give one of them")


class _Symbols(Record):
    labels: Labels


class SecretCodec(Codec):
    """The codec of promises about a secret: the joint counts, the names of both columns, and limits.

    Limits, where there are any, are tables of sets, the secret's first, each with the counts and the delta that it was
    derived from. In ``[prior]`` delta stands in their place, where they follow from it.
    """

    of = SecretPromise
    marks = views(("secret",))
    models = views((under("secret", _SecretGuarantee),), (under("secret", _SecretPrior, _Symbols),))
    is_made_of_others = True

    def write(self, known: SecretPromise, view: TableKind) -> dict[str, Any]:
        """Return the counts, the limits or what they follow from, and in a guarantee what is not protected."""
        table: dict[str, Any] = {
            "name": known.secret,
            "useful": known.useful,
            "values": list(known.joint.values),
            "counts": [list(row) for row in known.joint.counts],
        }
        derived = None if view is TableKind.GUARANTEE else _derived_as(known)
        if derived is not None:
            table |= derived
        elif known.limits is not None:
            limits = [table_of(limit, view) for limit in (known.limits.of_secret, *known.limits.given)]
            table["limits" if view is TableKind.GUARANTEE else "sets"] = limits
        if view is TableKind.GUARANTEE:
            table["not_protected"] = known.not_protected_in_words()
        return labels_beside(known, view) | {"secret": table}

    def read(self, table: Mapping[str, Any], place: Place) -> SecretPromise:
        """Return the promise; in a guarantee, limits that are sharper than counts and delta support are a false claim.

        Raises
        ------
        GuaranteeError
            For such limits.
        """
        whole, place = self.record(table, place), place.inner("secret")
        record = whole.of_kind
        if place.inputs is None:
            record.check(place)
        labels = place.inputs or canonical_labels(whole.labels, len(whole.labels))
        joint = JointCounts.of(record.counts, record.values, labels)
        names = {"secret": record.name, "useful": record.useful}
        if place.inputs is None and record.sets is None and record.delta is not None:
            return SecretPromise(joint, **names, delta=record.delta, limits=record.limits or LIMITS[0])
        known = SecretPromise(joint, **names, known=True)
        key, limits = ("sets", record.sets) if place.inputs is None else ("limits", record.limits)
        if limits is None:
            return known
        symbols = [joint.values, *([labels] * len(joint.values))]
        if place.inputs is not None:
            _check_limits(limits, joint, place)
        sets = [_plain_set(limit, place.inner(key, index, inputs=symbols[index])) for index, limit in enumerate(limits)]
        if place.inputs is not None:
            _check_counts(limits, joint, place)
        return known.within(sets)


def _derived_as(known: SecretPromise) -> dict[str, Any] | None:
    """Return the keys that limits follow from; None if they do not follow from the counts and delta."""
    if known.limits is None:
        return {"known": True}
    if known.delta is None:
        return None
    for kind in LIMITS:
        if JointLimits.of_counts(known.joint, known.delta, kind) == known.limits:
            return {"delta": short_text(known.delta), "limits": kind}
    return None


def _check_limits(limits: Sequence[Mapping[str, Any]], joint: JointCounts, place: Place) -> None:
    values = len(joint.values)
    if len(limits) != values + 1:
        raise InputError.wrong_size(
            f"{place.source}: {len(limits)} limits for a secret of {values} values; give {values + 1}"
        )
    _check_effort(place, lambda: check_limits_of_secret(values, len(joint.labels), limits_in(limits)))


def _check_counts(limits: Sequence[Mapping[str, Any]], joint: JointCounts, place: Place) -> None:
    """Refuse limits with other counts than those of the joint distribution, whether delta says they follow or not."""
    for index, (limit, counts) in enumerate(zip(limits, [joint.of_values, *joint.counts], strict=True)):
        own = next((value for value in limit.values() if isinstance(value, Mapping)), limit).get("counts")
        if own is not None and tuple(own) != tuple(counts):
            raise InputError.evidence_contradicts(
                f"{place.source}: limit {index + 1} of the secret has other counts than the joint counts; give limits "
                "from the same counts"
            )


def _check_effort(place: Place, check: Callable[[], None]) -> None:
    """Refuse more sets with limits from samples than can be derived again in time, before any of them is."""
    try:
        check()
    except InputError as error:
        raise error.reworded(f"{place.source}: {error}") from None


def _plain_set(table: Mapping[str, Any], place: Place) -> UncertaintySet:
    """Return a set that is not made of others, whose tables would have to be read level by level."""
    nesting = [mark for codec in codecs() if codec.is_made_of_others for mark in codec.marks[place.view]]
    for mark in nesting:
        if mark in table:
            raise InputError.set_not_accepted(
                f"{place.prefix}{place.within} has {mark}; give a set that is not made of others, such as a box"
            )
    return set_of(table, place)


CODECS = (ProductCodec(), UnionCodec(), SecretCodec())
