"""The reach of windows is measured with tiny sizes, and new words are found that local hashing does not find."""

import pytest

from benchmarks import string_reach


@pytest.mark.slow
def test_every_row_is_measured():
    rows = list(string_reach.table(3_000, 20, 5_000, 200))[4:]
    assert len(rows) == 7
    assert all(float(row.split(" | ")[1]) >= 0 for row in rows)


@pytest.mark.slow
def test_windows_find_words_that_local_hashing_does_not_find():
    """A tenth of the seeds and of the prefixes that are kept: fewer words, in seconds."""
    _, windows, hashing = string_reach.new_words(400_000, kept=25, seeds=100)
    found, others = (int(line.split(" of the top")[0].split()[-1]) for line in (windows, hashing))
    assert found > others
