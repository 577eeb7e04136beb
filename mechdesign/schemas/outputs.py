"""The objects that commands print with ``--json``, by the value of their key ``schema``."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, create_model

from mechdesign.data.fields import Record
from mechdesign.schemas import of_data, of_designs
from mechdesign.schemas.shared import Output

# A new output is one line here: the value of its key ``schema``, who prints it, and its models, of which one fits.
OUTPUTS: dict[str, tuple[str, tuple[type[Output], ...]]] = {
    "mechdesign/design/1": ("design", (of_designs.DesignOutput,)),
    "mechdesign/verification/1": ("verify", (of_designs.VerificationOutput, of_designs.FalseClaimOutput)),
    "mechdesign/comparison/1": ("compare", (of_designs.ComparisonOutput,)),
    "mechdesign/sweep/1": ("sweep", (of_designs.SweepOutput,)),
    "mechdesign/analysis/1": ("analyze", (of_designs.AnalysisOutput,)),
    "mechdesign/plan/1": ("plan", (of_data.PlanOutput,)),
    "mechdesign/report-plan/1": ("plan --reports", (of_data.ReportPlanOutput,)),
    "mechdesign/key/1": ("key", (of_data.KeyOutput,)),
    "mechdesign/privatization/1": ("privatize", (of_data.PrivatizationOutput,)),
    "mechdesign/estimate/1": ("estimate", (of_data.EstimateOutput,)),
    "mechdesign/estimate-by-groups/1": ("estimate --by", (of_data.GroupedEstimateOutput,)),
    "mechdesign/audit/1": ("audit", (of_data.AuditOutput,)),
    "mechdesign/histogram/1": ("histogram", (of_data.HistogramOutput,)),
    "mechdesign/report/1": ("report", (of_data.ReportOutput,)),
    "mechdesign/schemas/1": ("schema", (of_data.SchemasOutput,)),
}


def carrying(schema: str, model: type[Record]) -> type[Record]:
    """Return the model of an output with its key ``schema``."""
    fields: dict[str, Any] = {"schema_name": (Literal[schema], Field(alias="schema"))}
    made: type[Record] = create_model(model.__name__, __base__=model, __doc__=model.__doc__, **fields)
    return made
