"""Reports about whole records are timed beside those about one column, with few records."""

import itertools

import pytest

from benchmarks import record_speed

WAYS = ["CSV file", "Parquet file", "pyarrow Table", "pandas frame", "pandas frame, categories"]


@pytest.mark.slow
def test_every_way_is_timed():
    rows = [line.strip("| ").split(" | ") for line in record_speed.table(2_000, 1)][2:]
    assert [row[0] for row in rows] == WAYS
    assert all(float(value) > 0 for row in rows for value in row[1:])


def test_times_are_those_of_all_columns_beside_the_mean_of_each_alone(monkeypatch):
    """By a clock of 8 seconds for the reports about all columns, and 1, 2, ..., 8 for each column alone."""
    seconds = itertools.cycle([8.0, *range(1, 9)])
    monkeypatch.setattr(record_speed, "_ways", lambda *_: [("of nothing", (lambda: None, lambda column: None))])
    monkeypatch.setattr(record_speed, "_seconds", lambda function: next(seconds))
    assert len(record_speed.SIZES) == 8
    assert list(record_speed.table(1_000, 3))[2:] == ["| of nothing | 8000000 | 4500000 | 1.8 |"]
