"""What ``design``, ``compare``, ``verify``, ``analyze`` and ``sweep`` print with ``--json``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from mechdesign.data.fields import Number, Record, all_of, at_most_one, defined
from mechdesign.schemas.shared import Labels, Output, Promised, Whole
from mechdesign.sweeps.result import COLUMNS


class ClosedForm(Record):
    """The value of a theorem for a problem, beside that of a design."""

    theorem: str
    value: Number
    difference: Number
    optimal: bool


class WorstCase(Record):
    """Priors with weights, over which a bound on a least utility holds on average."""

    priors: list[Labels]
    weights: Labels


class DesignTable(Promised):
    """A design, without its matrix, which the mechanism file holds."""

    model_config = all_of(at_most_one("upper_bound", "lower_bound"))

    value: Number
    upper_bound: Number | None = None
    lower_bound: Number | None = None
    gap: Number
    certified: bool
    unit: str
    utility: str
    workload: Annotated[dict[str, Any], defined("workload")] | None = None
    method: str
    iterations: Whole
    columns: Whole
    seconds: Number
    stopped: str | None
    estimation_error: Number | None
    closed_form_bound: Number | None = None
    value_at_estimate: Number | None = None
    worst_case: WorstCase | None = None
    most_outputs: Whole | None = None
    unrestricted_value: Number | None = None
    merged: list[Labels] | None
    closed_form: ClosedForm | None


class OtherMechanism(Record):
    """A mechanism that was given to a comparison."""

    name: str
    value: Number | None
    leakage: Number | None
    lower_leakage: Number | None
    keeps: bool | None
    missed: Number | None


class BestAtEstimate(Record):
    """The best mechanism for the estimate, beside that for the least utility."""

    value: Number | None
    value_at_estimate: Number | None
    missing: str | None


class Respondents(Record):
    """How many times as many respondents mechanisms need for the same error."""

    best_ldp: Number | None
    subset_selection: Number | None
    k_ary_randomized_response: Number | None
    best_for_information: Number | None


class ComparisonTable(Record):
    """A design beside other mechanisms; null where one has no finite value, or is not computed."""

    value: Number
    k_ary_randomized_response: Number | None
    best_ldp: Number | None
    best_ldp_upper_bound: Number | None = None
    best_ldp_lower_bound: Number | None = None
    best_ldp_certified: bool | None
    best_ldp_missing: str | None
    unit: str
    local_epsilon: Number | None = None
    others: list[OtherMechanism] | None = None
    best_at_estimate: BestAtEstimate | None = None
    subset_selection: Number | None = None
    subset_selection_members: Whole | None = None
    subset_selection_missing: str | None = None
    best_for_information: Number | None = None
    best_for_information_missing: str | None = None
    respondents: Respondents | None = None
    promise: str | None = None


class DesignOutput(DesignTable, Output):
    """`mechdesign design`."""

    title: str
    output: str | None
    plot: str | None = None
    comparison: ComparisonTable | None = None


class ComparisonOutput(ComparisonTable, Output):
    """`mechdesign compare`."""

    title: str
    design: DesignTable
    plot: str | None = None


class CheckedOptimality(Record):
    """A claim of optimality: what was computed again, or that it was not checked."""

    utility: str
    checked: Literal[False] | None = None
    unit: str | None = None
    value: Number | None = None
    upper_bound: Number | None = None
    lower_bound: Number | None = None
    recomputed_upper_bound: Number | None = None
    recomputed_lower_bound: Number | None = None
    gap: Number | None = None
    optimal: bool | None = None
    within_simplex: bool | None = None
    value_at_estimate: Number | None = None


class AfterPostProcessing(Record):
    """The probability that a report leaks more than a level after any post-processing."""

    value: Number
    upper_bound: Number
    multipliers: Labels


class Tail(Record):
    """With which probability a report leaks more than a level."""

    level: Number
    probability: Number
    after_post_processing: AfterPostProcessing


class VerificationOutput(Promised, Output):
    """`mechdesign verify`, of a mechanism whose claims hold."""

    holds: Literal[True]
    optimality: CheckedOptimality | None
    tail: Tail | None = None


class FalseClaimOutput(Output):
    """`mechdesign verify`, of a mechanism with a false claim."""

    holds: Literal[False]
    claim: Annotated[Literal["guarantee", "optimality"], Field(alias="false")]
    message: str


class GivenMatrix(Record):
    """The matrix that was read."""

    name: str
    inputs: Labels
    numbers: str
    off: Number


class Optimum(Record):
    """The best mechanism of the same leakage."""

    value: Number
    upper_bound: Number | None = None
    lower_bound: Number | None = None
    certified: bool
    stopped: str | None
    seconds: Number


class AnalysedOutput(Record):
    """What an output leaks; null where it is infinite."""

    output: str
    probability: Number
    leakage: Number | None
    lower_leakage: Number | None


class AnalysedSymbol(Record):
    """What reports tell of the frequency of a symbol."""

    symbol: str
    probability: Number
    variance: Number | None
    group: Whole


class KeptPromise(Record):
    """Whether the matrix keeps a promise."""

    epsilon: Number
    lower: Number | None
    keeps: bool
    missed: Number | None


class AnalysisOutput(Output):
    """`mechdesign analyze`."""

    title: str
    matrix: GivenMatrix
    leakage: Number | None
    worst_output: str
    worst_prior: Labels | None
    lower_leakage: Number | None
    ldp_level: Number | None
    utility: str
    unit: str
    value: Number | None
    share: Number | None
    least_share: Number | None
    optimum: Optimum | None
    optimum_missing: str | None
    utilities: dict[str, Number | None]
    outputs: list[AnalysedOutput]
    symbols: list[AnalysedSymbol]
    groups: list[Labels]
    promise: KeptPromise | None


_KINDS: dict[str, Any] = {"string": str, "int64": int, "float64": Number, "bool": bool}
_CELLS: dict[str, Any] = {name: (_KINDS[kind] | None, ...) for name, kind in COLUMNS.items()}
SweepTableRow = create_model("SweepTableRow", __base__=Record, __doc__="A row of the table of a sweep.", **_CELLS)


class SweepOutput(Output):
    """`mechdesign sweep`."""

    title: str
    tables: Labels
    solved: Whole
    reused: Whole
    notes: Labels
    rows: list[SweepTableRow]
