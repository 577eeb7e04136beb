"""Where seeds put strings: the reference instance, and every unit counted one by one."""

import numpy as np
import pytest

from mechdesign.windows.hashing import Seeds, fingerprints
from mechdesign.windows.layout import HeavyStrings, Layout
from mechdesign.windows.walk import greedy

MASSES = np.array([575, 513, 300, 211, 150, 120, 90, 77, 60, 44, 30, 21, 17, 9, 5, 2])
NAMES = [f"s{k}" for k in range(16)]
TOTAL = 2224


def layout(heavy, one_layer, seeds=40):
    strings = None
    if heavy:
        strings = HeavyStrings(tuple(NAMES[:heavy]), MASSES[:heavy], max(1, int(MASSES[heavy:].sum())))
    return Layout(Seeds(b"reference", seeds), 64, strings, one_layer)


def loads_of(found, heavy):
    return found.loads(fingerprints(NAMES[heavy:]), MASSES[heavy:], MASSES[:heavy])


@pytest.mark.parametrize(
    ("heavy", "one_layer", "outputs", "lift", "first"),
    [
        (0, 0, 83, 2224 / 819, {52: 43, 31: 21}),
        (4, 0, 377, 2224 / 819, {48: 27, 11: 16, 27: 31, 58: 25, 19: 19, 38: 30, 4: 16, 20: 28}),
        (4, 40, 462, 2224 / 819, {49: 26, 11: 20, 31: 26, 57: 19, 12: 26, 38: 28, 2: 18, 20: 29}),
        (16, 0, 320, 8 / 3, None),
    ],
)
def test_the_reference_instance(heavy, one_layer, outputs, lift, first):
    loads = loads_of(layout(heavy, one_layer), heavy)
    assert (loads.sum(axis=1) == TOTAL).all()
    windows = [greedy(row, 819) for row in loads]
    assert sum(len(one.ends) for one in windows) == outputs
    greatest = max(TOTAL / one.sums(row).min() for one, row in zip(windows, loads, strict=True))
    assert greatest == pytest.approx(lift, rel=1e-9)
    if first is not None:
        assert dict(zip(windows[0].firsts(64).tolist(), windows[0].lengths.tolist(), strict=True)) == first


@pytest.mark.parametrize("one_layer", [0, 3])
def test_every_unit_lies_where_it_is_counted_to_lie(one_layer):
    found = layout(5, one_layer, seeds=3)
    for number in range(3):
        arcs = found.circle(number).arcs
        counted = np.zeros((5, 64), dtype=int)
        for string in range(5):
            units = np.arange(MASSES[string])
            buckets = (arcs.firsts[string] + units) % arcs.size * 64 // arcs.size
            counted[string] = np.bincount(buckets, minlength=64)
        arc, bucket, units = arcs.pieces(64)
        again = np.zeros_like(counted)
        again[arc, bucket] = units
        assert (again == counted).all()
        firsts, lengths = np.array([0, 10, 60, 63]), np.array([64, 7, 20, 1])
        twice = np.concatenate([counted, counted], axis=1)
        expected = [twice[:, a : a + n].sum(axis=1) for a, n in zip(firsts, lengths, strict=True)]
        assert (arcs.inside(firsts, lengths, 64) == np.transpose(expected)).all()


def test_arcs_of_one_layer_leave_no_unit_out_and_use_none_twice():
    found = layout(6, 8, seeds=8)
    for number in range(8):
        circle = found.circle(number)
        taken = np.zeros(TOTAL, dtype=int)
        for first, units in zip(circle.arcs.firsts, circle.arcs.units, strict=True):
            taken[first : first + units] += 1
        above, shifts = circle.insertions
        points = np.arange(int(MASSES[6:].sum()))
        taken[points + shifts[np.searchsorted(above, points, side="right")]] += 1
        assert (taken == 1).all()


def test_parts_of_samples_are_rounded_down():
    found = layout(4, 0, seeds=5)
    counts, scale = np.array([7, 0, 1, 1_000_003]), 1 << 20
    loads = found.loads(fingerprints([]), np.array([], dtype=np.int64), counts, scale)
    for number in range(5):
        expected = [0] * 64
        arc, bucket, units = found.circle(number).arcs.pieces(64)
        for a, b, k in zip(arc.tolist(), bucket.tolist(), units.tolist(), strict=True):
            expected[b] += k * int(counts[a]) * scale // int(MASSES[a])
        assert loads[number].tolist() == expected


def test_counts_of_strings_are_added_bucket_by_bucket():
    found = layout(0, 0, seeds=4)
    prints, counts = fingerprints(NAMES), MASSES
    for number, row in enumerate(found.loads(prints, counts, np.empty(0, dtype=np.int64))):
        buckets = found.circle(number).light_buckets(prints)
        assert row.tolist() == [int(counts[buckets == b].sum()) for b in range(64)]


def test_what_is_counted_is_what_reports_depend_on():
    """A string with the fingerprint of a heavy one is reported as that one, and its samples lie where that one does."""
    heavy = HeavyStrings(("s0", "s1"), np.array([30, 20]), 50)
    heavy.__dict__["prints"] = fingerprints(["s0", "another"])  # as if s1 and another had one fingerprint
    found = Layout(Seeds(b"reference", 3), 64, heavy, 1)
    assert found.heavy_index(fingerprints(["another", "s1"])).tolist() == [1, -1]
    expected = found.loads(fingerprints([]), np.array([], dtype=np.int64), np.array([0, 7]), 1 << 20)
    assert (found.evidence({"another": 7}, 1 << 20) == expected).all()
