"""Reports about whole records are timed beside those about one column, with few records."""

import pytest

from benchmarks import record_speed


@pytest.mark.slow
def test_every_way_is_timed():
    rows = list(record_speed.table(2_000, 1))[2:]
    assert len(rows) == 5
    assert all(float(row.split(" | ")[3].rstrip(" |")) > 1 for row in rows)
