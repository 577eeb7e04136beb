"""What the commands for data print with ``--json``, from the plan of a collection to the report page."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from mechdesign.data.fields import Number, Record
from mechdesign.schemas.shared import Hash, Labels, Output, Promised, Whole

Interval = Annotated[list[Number], Field(min_length=2, max_length=2)]


class PlanOutput(Output):
    """`mechdesign plan`, of samples."""

    categories: Whole
    samples: Whole
    epsilon: Number
    guaranteed_epsilon: Number | None
    delta: Number
    computed: Literal["samples", "epsilon", "guaranteed_epsilon", "delta"]
    radius: Number | None
    bound: str
    vacuous: bool
    plot: str | None


class PlannedMechanism(Record):
    """The reports that a mechanism needs, or the errors that it has; null where they are infinite."""

    mechanism: str
    estimation_error: Number | None
    lower_bound: Number | None
    reports_for_each: Whole | None
    reports_for_root_mean_square: Whole | None
    largest_standard_error: Number | None
    root_mean_square_standard_error: Number | None
    largest_interval: Number | None
    missing: str | None


class ReportPlanOutput(Output):
    """`mechdesign plan --reports`."""

    title: str
    epsilon: Number
    lower: Number | None = None
    radius: Number | None
    reports: Whole | None
    standard_error: Number | None
    interval: Number | None
    confidence: Number
    mechanisms: list[PlannedMechanism]
    closed_form_bound: Number | None
    promise: str | None
    plot: str | None = None


class KeyOutput(Output):
    """`mechdesign key`."""

    output: str


class PublishedParts(Record):
    """The parts of a folder: how many were written, which were there, and which of these changed since."""

    published: Whole
    skipped: Whole
    changed: Labels


class PrivatizationOutput(Promised, Output):
    """`mechdesign privatize`."""

    records: Whole
    parts: PublishedParts | None = None
    output: str
    column: str
    keep: Labels
    fingerprint: Hash
    permanent: Literal[True] | None = None
    id: str | None = None
    attribute: str | None = None
    leakage_of_two_values: Number | None = None


class CountedParts(Record):
    """The parts of a folder that were counted."""

    counted: Whole
    planned: Whole


class EstimateTable(Record):
    """What is told of an estimate, and of one group of an estimate by groups."""

    frequencies: list[Number]
    standard_errors: list[Number | None]
    intervals: list[Interval]
    simultaneous_intervals: list[Interval] | None = None
    identified: list[Interval]
    reports: Whole


class EstimateOutput(EstimateTable, Output):
    """`mechdesign estimate`, and the file of its option -o, which has no `output`, `plot` and `parts`."""

    labels: Labels
    family: Whole | None = None
    identifiable: list[bool]
    groups: list[Labels]
    method: str
    of: str
    confidence: Number
    parts: CountedParts | None = None
    output: str | None = None
    plot: str | None = None


class GroupTable(EstimateTable):
    """The estimate of a group."""

    group: list[str | int | bool | None]
    reports_needed: Whole
    few_reports: bool


class GroupedEstimateOutput(Output):
    """`mechdesign estimate --by`, and the file of its option -o."""

    by: Labels
    labels: Labels
    identifiable: list[bool]
    confounded: list[Labels]
    reports: Whole
    method: str
    of: str
    confidence: Number
    family: Whole | None = None
    groups: list[GroupTable]
    parts: CountedParts | None = None
    output: str | None = None
    plot: str | None = None


class OutsideCell(Record):
    """A probability that lies outside its limits."""

    input: str
    output: str
    probability: Number
    lower: Number
    upper: Number
    count: Whole


class AuditOutput(Promised, Output):
    """`mechdesign audit`."""

    consistent: bool
    lower_bound: Number
    output: str | None
    input: str | None
    samples: list[Whole]
    failure: Number
    outside: list[OutsideCell]
    plot: str | None = None


class HistogramOutput(Output):
    """`mechdesign histogram`: the record with its parameters as floats, and what was written."""

    mechanism: str
    notion: str
    epsilon: Number
    delta: Number
    neighbours: str
    k: Whole | None = None
    sigma: Number | None = None
    tau: Number | None = None
    value_sigma: Number | None = None
    scale: Number | None = None
    alpha: Number | None = None
    noise: Literal["continuous", "discrete", "none"]
    noise_meaning: str
    randomness: str | None
    analysis: str
    source: str
    post_processing: str | None
    not_protected: Labels
    released: Whole | None
    subtracted: Number | None
    output: str | None
    record: str | None


class ReportOutput(Output):
    """`mechdesign report`."""

    kind: Literal["mechanism", "histogram"]
    file: str
    sha256: Hash
    output: str
    bytes: Whole


class SchemaName(Record):
    """A schema, and what the JSON that it describes says of itself."""

    name: str
    what: str
    carries: Labels


class SchemasOutput(Output):
    """`mechdesign schema`, without a name."""

    schemas: list[SchemaName]
