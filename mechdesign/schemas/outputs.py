"""The objects that commands print with ``--json``: the models in the files of the commands, collected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field, create_model

from mechdesign.cli.analyze import AnalysisOutput
from mechdesign.cli.audit import AuditOutput
from mechdesign.cli.compare import ComparisonOutput
from mechdesign.cli.design import DesignOutput
from mechdesign.cli.estimate_output import EstimateOutput, GroupedEstimateOutput
from mechdesign.cli.histogram import HistogramOutput
from mechdesign.cli.json_output import ErrorOutput, Labels, Output, Printed
from mechdesign.cli.key import KeyOutput
from mechdesign.cli.methods import MethodsOutput
from mechdesign.cli.plan import PlanOutput
from mechdesign.cli.plan_reports import ReportPlanOutput
from mechdesign.cli.privatize import PrivatizationOutput, RecordPrivatizationOutput, StringPrivatizationOutput
from mechdesign.cli.record_tables import GroupedRecordEstimateOutput, RecordEstimateOutput
from mechdesign.cli.records_analyze import RecordAnalysisOutput
from mechdesign.cli.records_audit import RecordAuditOutput
from mechdesign.cli.records_command import RecordDesignOutput
from mechdesign.cli.records_plan import RecordPlanOutput
from mechdesign.cli.report import ReportOutput
from mechdesign.cli.sweep import SweepOutput
from mechdesign.cli.table_command import TableOutput
from mechdesign.cli.table_export import ExportOutput
from mechdesign.cli.verify import (
    FalseClaimOutput,
    RecordVerificationOutput,
    StringVerificationOutput,
    VerificationOutput,
)
from mechdesign.cli.windows_compare import StringComparisonOutput, StringPlanOutput
from mechdesign.cli.windows_design import StringDesignOutput
from mechdesign.cli.windows_estimate import GroupedStringsOutput, StringEstimateOutput
from mechdesign.cli.windows_heavy_hitters import HeavyHittersOutput


class SchemaName(Printed):
    """A schema, and what the JSON that it describes says of itself."""

    name: str
    what: str
    carries: Labels


class SchemasOutput(Output):
    """`mechdesign schema`, without a name."""

    carries = "mechdesign/schemas/1"

    schemas: Sequence[SchemaName]


# A new output is one line here: who prints it, and its models, of which one fits.
OUTPUTS: tuple[tuple[str, tuple[type[Output], ...]], ...] = (
    ("design", (DesignOutput, StringDesignOutput, RecordDesignOutput)),
    ("table", (TableOutput,)),
    ("methods", (MethodsOutput,)),
    ("verify", (VerificationOutput, StringVerificationOutput, RecordVerificationOutput, FalseClaimOutput)),
    ("compare", (ComparisonOutput, StringComparisonOutput)),
    ("sweep", (SweepOutput,)),
    ("analyze", (AnalysisOutput, RecordAnalysisOutput)),
    ("plan", (PlanOutput,)),
    ("plan --reports", (ReportPlanOutput, StringPlanOutput, RecordPlanOutput)),
    ("key", (KeyOutput,)),
    ("privatize", (PrivatizationOutput, StringPrivatizationOutput, RecordPrivatizationOutput)),
    ("estimate", (EstimateOutput, StringEstimateOutput, RecordEstimateOutput)),
    ("estimate --by", (GroupedEstimateOutput, GroupedStringsOutput, GroupedRecordEstimateOutput)),
    ("heavy-hitters", (HeavyHittersOutput,)),
    ("export", (ExportOutput,)),
    ("audit", (AuditOutput, RecordAuditOutput)),
    ("histogram", (HistogramOutput,)),
    ("report", (ReportOutput,)),
    ("schema", (SchemasOutput,)),
    ("(any command that fails)", (ErrorOutput,)),
)


def carrying(model: type[Output]) -> type[Output]:
    """Return the model of an output with its key ``schema``."""
    fields: dict[str, Any] = {"schema_name": (Literal[model.carries], Field(alias="schema"))}
    made: type[Output] = create_model(model.__name__, __base__=model, __doc__=model.__doc__, **fields)
    return made
