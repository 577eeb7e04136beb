"""Records of many attributes: each person reports about one view of the record, drawn at random."""

from mechdesign.records.record_estimation import RecordEstimation
from mechdesign.records.record_files import WholeRecordFile
from mechdesign.records.record_mechanism import RecordMechanism
from mechdesign.records.record_parts import RecordPart
from mechdesign.records.record_promise import RecordPromise
from mechdesign.records.record_reports import GroupedRecordEstimate, estimate_records
from mechdesign.records.record_views import View
from mechdesign.records.table_estimates import RecordEstimate, TableEstimate
from mechdesign.records.views_of_records import RecordViews, views_of, views_of_tables

__all__ = [
    "GroupedRecordEstimate",
    "RecordEstimate",
    "RecordEstimation",
    "RecordMechanism",
    "RecordPart",
    "RecordPromise",
    "RecordViews",
    "TableEstimate",
    "View",
    "WholeRecordFile",
    "estimate_records",
    "views_of",
    "views_of_tables",
]


def __dir__() -> list[str]:
    return __all__
