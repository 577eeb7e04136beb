"""Mechanisms in use: files of records and reports, frequencies estimated from reports, and audits."""

from mechdesign.deploy.compound_file import CompoundFile
from mechdesign.deploy.dataset import PrivatizedDataset, privatize_dataset
from mechdesign.deploy.dataset_counts import DatasetCounts, count_dataset
from mechdesign.deploy.frequency import FrequencyEstimate
from mechdesign.deploy.from_reports import estimate_frequencies
from mechdesign.deploy.grouped import GroupedEstimate
from mechdesign.deploy.leakage_audit import Audit, audit, audit_counts
from mechdesign.deploy.private_labels import DebiasedLabels, debias_labels, label_leakage, unprotected_labels
from mechdesign.deploy.repeated_ids import FirstReports, PrivatizedFile, leakage_of_values
from mechdesign.deploy.report_counts import GroupCounts, count_reports
from mechdesign.deploy.stream import RecordFile, ReportFile, privatize_file

__all__ = [
    "Audit",
    "CompoundFile",
    "DatasetCounts",
    "DebiasedLabels",
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
    "debias_labels",
    "estimate_frequencies",
    "label_leakage",
    "leakage_of_values",
    "privatize_dataset",
    "privatize_file",
    "unprotected_labels",
]


def __dir__() -> list[str]:
    return __all__
