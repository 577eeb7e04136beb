"""Mechanisms in use: files of records and reports, frequencies estimated from reports, and audits."""

from mechdesign.deploy.audit import Audit, audit, audit_counts
from mechdesign.deploy.dataset import PrivatizedDataset, privatize_dataset
from mechdesign.deploy.dataset_counts import DatasetCounts, count_dataset
from mechdesign.deploy.estimate import estimate_frequencies
from mechdesign.deploy.frequency import FrequencyEstimate
from mechdesign.deploy.group_counts import GroupCounts
from mechdesign.deploy.grouped import GroupedEstimate
from mechdesign.deploy.stream import RecordFile, ReportFile, count_reports, privatize_file
from mechdesign.deploy.values import leakage_of_values

__all__ = [
    "Audit",
    "DatasetCounts",
    "FrequencyEstimate",
    "GroupCounts",
    "GroupedEstimate",
    "PrivatizedDataset",
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
