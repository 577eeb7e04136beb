"""Mechanisms in use: files of records and reports, frequencies estimated from reports, and audits."""

from mechdesign.deploy.compound_file import CompoundFile
from mechdesign.deploy.dataset import PrivatizedDataset, privatize_dataset
from mechdesign.deploy.dataset_counts import DatasetCounts, count_dataset
from mechdesign.deploy.frequency import FrequencyEstimate
from mechdesign.deploy.from_reports import estimate_frequencies
from mechdesign.deploy.grouped import GroupedEstimate
from mechdesign.deploy.leakage_audit import Audit, audit, audit_counts
from mechdesign.deploy.repeated_ids import FirstReports, PrivatizedFile, leakage_of_values
from mechdesign.deploy.report_counts import GroupCounts, count_reports
from mechdesign.deploy.stream import RecordFile, ReportFile, privatize_file

__all__ = [
    "Audit",
    "CompoundFile",
    "DatasetCounts",
    "FirstReports",
    "FrequencyEstimate",
    "GroupCounts",
    "GroupedEstimate",
    "PrivatizedDataset",
    "PrivatizedFile",
    "RecordFile",
    "ReportFile",
    "audit",
    "audit_counts",
    "count_dataset",
    "count_reports",
    "estimate_frequencies",
    "leakage_of_values",
    "privatize_dataset",
    "privatize_file",
]


def __dir__() -> list[str]:
    return __all__
