"""The sources of a sweep file: what each says of distributions, as counts or as probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StrictBool

from mechdesign.data.counts import checked_count, count_column, read_counts
from mechdesign.data.fields import AsTable, AsText, ByForm, Count, ExactNumber, Record, Text, all_of, one_of
from mechdesign.data.labels import canonical_labels
from mechdesign.errors import InputError, shorten

LENGTH = Field(min_length=1, max_length=10_000, fail_fast=True)
"""Of a list in a sweep file."""


def as_list(value: Any) -> Any:
    """Return a value of a sweep file that may stand for a list as one; ValueError for an empty list."""
    if value == []:
        raise ValueError("a value, or a list of at least one")
    return value if isinstance(value, list) else [value]


Texts = Annotated[
    list[Text], LENGTH, BeforeValidator(as_list, json_schema_input_type=Text | Annotated[list[Text], LENGTH])
]
Counts = dict[str, Count]


class SourceRecord(Record):
    """A source of a sweep file."""

    model_config = all_of(
        one_of("counts", "data", "probabilities"), one_of("counts", "column", "columns", "probabilities")
    )

    name: Text | None = None
    counts: Annotated[Annotated[Text, AsText] | Annotated[Counts, AsTable], ByForm] | None = None
    data: Text | None = None
    probabilities: Annotated[dict[str, ExactNumber], Field(min_length=1)] | None = None
    column: Texts | None = None
    columns: Annotated[list[Text], LENGTH] | None = None  # its name in files of earlier versions
    header: StrictBool = True


@dataclass(frozen=True)
class Estimate:
    """What a source says of a distribution: counts and their total, or probabilities."""

    name: str
    shares: Mapping[str, Any]
    total: int | None

    @classmethod
    def of_counts(cls, name: str, counts: Mapping[str, int]) -> Estimate:
        """Return what counts say."""
        return cls(name, counts, sum(counts.values()))

    def asserted(self, samples: int | None) -> int:
        """Return the samples that a grid asserts for probabilities."""
        if samples is None:
            raise InputError.missing_key(
                "probabilities go with delta and samples, which are then asserted; add samples"
            )
        return samples


def estimates(given: SourceRecord, folder: Path) -> Iterator[Estimate]:
    """Yield what a source says of each distribution."""
    if [given.counts, given.data, given.probabilities].count(None) != 2:
        raise InputError.conflicting_keys(
            "a source has counts and data, or neither; give counts, probabilities, or data with column"
        )
    if given.column is not None and given.columns is not None:
        raise InputError.conflicting_keys("a source has column and columns, two names of the same; give column")
    columns = given.column or given.columns
    if given.data is not None:
        if columns is None:
            raise InputError.missing_key(
                f"the source {shorten(given.data)} has no column; name the one or those that are counted"
            )
        for column in columns:
            counts = count_column(folder / given.data, column, header=given.header)
            yield Estimate.of_counts(column if given.name in {None, column} else f"{given.name}, {column}", counts)
        return
    if columns is not None:
        raise InputError.key_out_of_place("a source has a column beside counts; it belongs to data")
    table = given.counts if given.probabilities is None else given.probabilities
    if isinstance(table, dict) and given.name is None:
        raise InputError.missing_key("a source with a table has no name; give it one")
    if given.probabilities is not None:
        yield Estimate(str(given.name), given.probabilities, None)
        return
    if isinstance(given.counts, dict):
        for label, count in zip(canonical_labels(given.counts, len(given.counts)), given.counts.values(), strict=True):
            checked_count(count, label)
        yield Estimate.of_counts(str(given.name), given.counts)
        return
    path = folder / str(given.counts)
    name = path.stem if given.name is None else given.name
    yield Estimate.of_counts(name, read_counts(path, header=given.header))
