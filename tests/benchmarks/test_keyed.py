"""What is measured of permanent reports is measured right, and told."""

import numpy as np
import pytest

from benchmarks import keyed, report
from benchmarks.measure import Sizes


@pytest.fixture(scope="module")
def rows():
    return list(keyed.keyed(Sizes(records=2_000)))


def test_every_form_is_measured_for_both_mechanisms(rows):
    forms = {row["form"] for row in rows if row["table"] == "reports"}
    assert {"list of str", "pyarrow Array", "file, parquet", "file, csv"} <= forms
    assert len([row for row in rows if row["table"] == "reports"]) == 2 * len(forms)
    assert all(row["seconds"] > 0 and row["fresh"] > 0 for row in rows if "fresh" in row)


def test_the_section_tells_what_was_reached(rows):
    timed = [row | {"seconds": 0.001} for row in rows if "seconds" in row]
    assert "| at least 1 million | 2 | yes |" in report.WRITERS["keyed"](timed)
    timed[0]["seconds"] = 0.004
    assert "| at least 1 million | 0.5 | **no** |" in report.WRITERS["keyed"](timed)


def test_reports_of_another_distribution_are_seen(monkeypatch):
    (mechanism, *_) = keyed.mechanisms().values()
    monkeypatch.setattr(
        "mechdesign.mechanism.reporting.PermanentReports.integers",
        lambda self, codes, ids: np.zeros(codes.size, dtype=np.int64),
    )
    with pytest.raises(AssertionError, match="two ways to reports of one distribution differ"):
        list(keyed.beside_fresh(mechanism, 2_000))
