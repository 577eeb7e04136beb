"""Mechanisms where people already work: SQL, lazy frames of polars, measurements of OpenDP.

Each function imports its package when it is called. `mechdesign.sklearn` is the same for scikit-learn.
"""

from mechdesign.adapters.lazy_frames import reported
from mechdesign.adapters.opendp_measurement import measurement
from mechdesign.adapters.sql import create_table, cumulative_table, register_duckdb, report_query

__all__ = ["create_table", "cumulative_table", "measurement", "register_duckdb", "report_query", "reported"]


def __dir__() -> list[str]:
    return __all__
