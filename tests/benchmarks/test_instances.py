"""The committed counts are those of the formulas, and of the data where that is at hand."""

import doctest
import functools
import re
from fractions import Fraction
from pathlib import Path

import pytest

import mechdesign as md
from benchmarks import instances
from mechdesign.data.counts import count_column

ROOT = Path(__file__).parent.parent.parent
PATHS = sorted((ROOT / "problems").glob("*.toml"))
# In the files as text: what each process collects takes no time for sets that few of its tests are about.
FOUND = {
    path.stem: re.search(
        r'^citation = "Generated: benchmarks\.instances\.(\w+)\((\d+), (\d+)\)"$', path.read_text("utf-8"), re.MULTILINE
    )
    for path in PATHS
}
GENERATED = {stem: found for stem, found in FOUND.items() if found}
ADULT = ROOT.parent / "shared" / "data" / "adult.data"
GENERATORS = [
    instances.zipf,
    instances.uniform,
    instances.one_dominant,
    instances.smooth,
    instances.geometric,
    instances.two_humped,
]
COLUMNS = {"adult-age": "0", "adult-capital-gain": "10", "adult-hours-per-week": "12", "adult-native-country": "13"}


@functools.cache
def set_of(stem):
    return md.read_problem(ROOT / "problems" / f"{stem}.toml").problem.uncertainty


def test_examples():
    found = doctest.testmod(instances)
    assert found.attempted
    assert not found.failed


@pytest.mark.combined
@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize(("symbols", "total"), [(2, 2_000), (96, 50_000), (1_000, 10_007)])
def test_counts_sum_to_the_total_and_none_is_zero(generator, symbols, total):
    counts = generator(symbols, total)
    assert len(counts) == symbols
    assert sum(counts) == total
    assert min(counts) >= 1


def test_shapes():
    assert instances.one_dominant(96, 50_000)[0] == 25_000
    assert max(instances.uniform(7, 100)) - min(instances.uniform(7, 100)) == 1
    smooth = instances.smooth(74, 50_000)
    assert 17 <= smooth.index(max(smooth)) <= 19
    geometric = instances.geometric(11, 10**6)
    assert 0.38 < geometric[1] / geometric[0] < 0.41
    humps = instances.two_humped(100, 10**5)
    assert humps.index(max(humps)) == 24
    assert 2.8 < max(humps) / max(humps[50:]) < 3.2
    assert humps[49] < max(humps) / 100
    with pytest.raises(ValueError, match="the total is 3 for 4 symbols"):
        instances.zipf(4, 3)


def test_generated_problems_are_there_for_every_reach():
    assert {"one-dominant-96", "smooth-74", "zipf-1000"} <= GENERATED.keys()
    for stem in ("one-dominant-96", "smooth-74", "zipf-100", "zipf-1000"):
        known, estimated, everything = (set_of(stem + end) for end in ("-known", "", "-ldp"))
        assert (known.radius, everything.radius) == (0, 2)
        assert estimated.evidence.delta == Fraction(1, 10**9)


@pytest.mark.parametrize("stem", GENERATED)
def test_committed_counts_are_those_of_the_formula(stem):
    name, symbols, total = GENERATED[stem].groups()
    counts = getattr(instances, name)(int(symbols), int(total))
    assert list(set_of(stem).evidence.counts) == counts


def test_priors_of_the_hull_are_those_of_the_formulas():
    expected = [[Fraction(count, 1_000) for count in instances.zipf(12, 1_000)]]
    expected += [[Fraction(count, 1_000) for count in instances.uniform(12, 1_000)]]
    expected += [[Fraction(count, 1_000) for count in instances.smooth(12, 1_000)]]
    assert [list(prior) for prior in set_of("hull-12").priors] == expected


OF_BOTH_PARTS = ("adult-hours-per-week-explained-variance",)


@pytest.mark.skipif(not ADULT.exists(), reason="the Adult data are not beside the project")
@pytest.mark.parametrize("stem", [stem for stem in FOUND if stem.startswith(tuple(COLUMNS))])
def test_committed_counts_are_those_of_the_data(stem):
    column = next(column for start, column in COLUMNS.items() if stem.startswith(start))
    known = set_of(stem)
    counted = count_column(ADULT, column, header=False)
    if stem in OF_BOTH_PARTS:  # of which the first lies beside the project
        assert all(
            counted.get(label, 0) <= count for label, count in zip(known.labels, known.evidence.counts, strict=True)
        )
        assert sum(known.evidence.counts) == 48_842
    else:
        assert dict(zip(known.labels, known.evidence.counts, strict=True)) == counted
