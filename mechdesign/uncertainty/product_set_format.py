"""How files describe a product of two sets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from mechdesign.data.fields import MOST_SYMBOLS, Record, Text, all_of, checked_record, defined, has_keys
from mechdesign.data.labels import canonical_labels
from mechdesign.errors import InputError, shorten
from mechdesign.uncertainty.base import UncertaintySet
from mechdesign.uncertainty.format import SetFormat, keys_of
from mechdesign.uncertainty.product_set import ProductSet
from mechdesign.uncertainty.registry import guarantee_table, prior_table, set_of_guarantee, set_of_prior

_MOST_DIGITS = 3_000  # of the denominators of both factors together
_MOST_NESTED = 12  # 10,000 symbols allow at most thirteen factors of two symbols each


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


_Two = Field(min_length=2, max_length=2, fail_fast=True)
_OfGuarantee = Annotated[dict[str, Any], defined("factor")]
_OfPrior = Annotated[dict[str, Any], defined("prior")]


class InputsRecord(Record):
    """The inputs of a factor, beside the keys of its set."""

    inputs: Annotated[list[str], Field(max_length=MOST_SYMBOLS, fail_fast=True)]


class _Guarantee(Record):
    model_config = all_of(has_keys("separator"))

    factors: Annotated[Annotated[list[_OfGuarantee], _Two], BeforeValidator(_not_too_deep)]
    separator: Text | None = None


class _Prior(Record):
    factors: Annotated[Annotated[list[_OfPrior], _Two], BeforeValidator(_not_too_deep)]
    separator: Text = " & "


class ProductSetFormat(SetFormat):
    """Two tables of sets, and the separator between the labels of a pair."""

    of = ProductSet
    guarantee_marks = prior_marks = ("factors",)
    guarantee_keys, prior_keys = keys_of(_Guarantee), keys_of(_Prior)
    guarantee_models, prior_models = (_Guarantee,), (_Prior,)
    is_made_of_others = True

    def to_guarantee(self, known: ProductSet) -> dict[str, Any]:
        """Return the factors, each with its inputs, and the separator."""
        factors = [{"inputs": list(factor.labels), **guarantee_table(factor)} for factor in (known.first, known.second)]
        return {"factors": factors, "separator": known.separator}

    def from_guarantee(self, table: Mapping[str, Any], labels: tuple[str, ...], source: str, within: str) -> ProductSet:
        """Return the product, whose pairs must be the inputs, in their order."""
        record = checked_record(_Guarantee, table, source, within=within)
        places = [f"{within}.factors.{index}" for index in range(len(record.factors))]
        factors = [_inputs(*factor, source) for factor in zip(record.factors, places, strict=True)]
        sizes = [len(inputs) for inputs, _ in factors]
        if sizes[0] * sizes[1] != len(labels):
            raise InputError(
                f"{source}: factors of {sizes[0]} and {sizes[1]} symbols for {len(labels)} inputs; "
                "give an input for each pair"
            )
        if record.separator is None:
            raise InputError(f"{source}: the guarantee has factors without a separator; add it")
        first, second = (
            set_of_guarantee(rest, canonical_labels(inputs, len(inputs)), source, place)
            for (inputs, rest), place in zip(factors, places, strict=True)
        )
        _check_digits(first, second, source)
        known = ProductSet(first, second, record.separator)
        for given, label in zip(labels, known.labels, strict=True):
            if given != label:
                raise InputError(
                    f"{source}: the input {shorten(given)} stands where its factors have {shorten(label)}; "
                    "give the pairs of the factors' inputs in their order"
                )
        return known

    def to_prior(self, known: ProductSet) -> dict[str, Any]:
        """Return the tables of both factors, and the separator."""
        return {"separator": known.separator, "factors": [prior_table(known.first), prior_table(known.second)]}

    def from_prior(self, table: Mapping[str, Any], within: str) -> ProductSet:
        """Return the product."""
        prior = checked_record(_Prior, table, "", within=within)
        first, second = (
            set_of_prior(factor, f"{within}.factors.{index}") for index, factor in enumerate(prior.factors)
        )
        _check_digits(first, second, "[prior]")
        return ProductSet(first, second, prior.separator)


def _inputs(factor: dict[str, Any], within: str, source: str) -> tuple[list[str], dict[str, Any]]:
    """Return the inputs of a factor, and the table of its set."""
    own = {key: value for key, value in factor.items() if key == "inputs"}
    record = checked_record(InputsRecord, own, source, within=within)
    return record.inputs, {key: value for key, value in factor.items() if key != "inputs"}


def _check_digits(first: UncertaintySet, second: UncertaintySet, source: str) -> None:
    digits = first.proof_effort().digits + second.proof_effort().digits
    if digits > _MOST_DIGITS:
        raise InputError(
            f"{source}: the denominators of two factors have {digits} digits together; accepted: {_MOST_DIGITS}"
        )
