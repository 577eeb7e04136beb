"""Errors of strings beside those that are predicted."""

import pytest

from benchmarks import strings


@pytest.mark.slow
def test_errors_are_near_what_is_predicted():
    rows = [line.split(" | ") for line in strings.table(2_000, 3)][2:]
    assert rows[0][0] == "| windows"
    for row in rows:
        assert float(row[1]) == pytest.approx(float(row[2]), rel=0.15)
