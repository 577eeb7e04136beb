"""Where heavy strings come from: never silently from the sample that proves."""

from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from refusals import raises
from scipy.stats import chisquare

from mechdesign.windows import SeparateCounts, design_windows, split_sample
from tests.windows.worlds import COUNTS, EARLIER


def design(sample, heavy):
    return design_windows(sample, 1, delta="1e-3", seeds=4, buckets=64, heavy=heavy)


@pytest.mark.parametrize(
    "counts",
    [
        COUNTS,
        {name + " ": n for name, n in COUNTS.items()},
        dict(list(COUNTS.items())[:3]),
        {name: 7 * n for name, n in COUNTS.items()},
    ],
)
def test_the_sample_that_proves_chooses_no_heavy_strings(counts):
    with raises("sample-proves-itself", "another sample"):
        design(COUNTS, SeparateCounts(counts, "another sample"))


def test_counts_say_where_they_come_from():
    with raises("wrong-type"):
        design(COUNTS, COUNTS)
    for source in ("", " ", "two\nlines", 7):
        with raises("wrong-type" if source == 7 else "bad-label"):
            SeparateCounts(COUNTS, source)
    assert design(COUNTS, EARLIER).mechanism.layout.heavy.source == EARLIER.source


def test_both_parts_of_a_split_belong_together():
    split, again = split_sample(COUNTS), split_sample(COUNTS)
    found = design(split.evidence, split.heavy)
    assert found.mechanism.promise.samples == sum(COUNTS.values()) - 222
    assert found.mechanism.layout.heavy.source.startswith("222 of 2224 records")
    for sample in (COUNTS, again.evidence, split.heavy.counts):
        with raises("sample-proves-itself"):
            design(sample, split.heavy)


@pytest.mark.parametrize("part", ["1/10", "0.5", "0.95"])
def test_a_split_loses_no_record(part):
    split = split_sample(["b", "a ", "b", 3] * 25, part)
    parts = split.heavy.counts, split.evidence
    assert Counter(parts[0]) + Counter(parts[1]) == {"b": 50, "a": 25, "3": 25}
    assert sum(parts[0].values()) == round(Fraction(part) * 100)
    assert all(n > 0 for one in parts for n in one.values())


@pytest.mark.sampled
@pytest.mark.parametrize("size", [2, 4])
def test_every_set_of_records_is_drawn_as_often_as_any_other(size):
    """Six records: the counts of the part are those of all sets of as many, each once."""
    rng, expected = np.random.default_rng(4), Counter()
    for chosen in combinations("aaabbc", size):
        expected["".join(chosen)] += 1
    drawn = Counter()
    for _ in range(3_000):
        part = split_sample({"a": 3, "b": 2, "c": 1}, Fraction(size, 6), rng).heavy.counts
        drawn["".join(sorted(Counter(part).elements()))] += 1
    assert set(drawn) == set(expected)
    law = np.array([expected[name] for name in drawn]) / sum(expected.values())
    assert chisquare(list(drawn.values()), 3_000 * law).pvalue > 1e-4


@pytest.mark.parametrize(
    ("sample", "part", "code"),
    [
        ({"a": 1}, "0.5", "nothing-given"),
        (COUNTS, 0, "out-of-range"),
        (COUNTS, 1, "out-of-range"),
        ([], 1, "nothing-given"),
    ],
)
def test_what_cannot_be_split_is_refused(sample, part, code):
    with raises(code):
        split_sample(sample, part)
