"""Baselines for records of many attributes: levels by exhaustion, errors by enumeration, the table of Adult."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from figures.lib.records_of_adult import ADULT, EIGHT
from mechdesign.records.record_baselines import best_sampled, sampled, sampled_with_fakes, split
from tests.helpers.refusals import raises

LAWS = [np.array(list(ADULT[name].values())) / 32_561 for name in EIGHT]


def response(sizes, e):
    """RS+FD with randomized response: the probability of every report given every record, in fractions."""
    d = len(sizes)
    own = [Fraction(e) / (e + k - 1) for k in sizes]
    other = [Fraction(1) / (e + k - 1) for k in sizes]
    records = list(itertools.product(*map(range, sizes)))
    fake = Fraction(1, math.prod(sizes))
    return {
        x: {y: sum((own[j] if x[j] == y[j] else other[j]) * fake * sizes[j] for j in range(d)) / d for y in records}
        for x in records
    }


def encoding(sizes, e):
    """RS+FD with the optimized unary encoding, and fakes of empty sets of bits."""
    d, half, turned = len(sizes), Fraction(1, 2), Fraction(1, e + 1)
    reports = list(itertools.product(*(itertools.product((0, 1), repeat=k) for k in sizes)))

    def chance(bits, own):
        shares = [half if place == own else turned for place in range(len(bits))]
        return math.prod(share if bit else 1 - share for bit, share in zip(bits, shares, strict=True))

    empty = {y: [chance(bits, None) for bits in y] for y in reports}
    return {
        x: {
            y: sum(chance(y[j], x[j]) * math.prod(empty[y][i] for i in range(d) if i != j) for j in range(d)) / d
            for y in reports
        }
        for x in itertools.product(*map(range, sizes))
    }


def level(P, pairs):
    return max(max(P[x][y] / P[other][y] for y in P[x]) for x, other in pairs)


@pytest.mark.parametrize(
    ("kind", "sizes", "alone"),
    [(response, (2, 2, 2), 1.0), (response, (3, 4, 2), 1.124), (response, (6, 5, 2), 1.137), (encoding, (2, 3), None)],
)
def test_the_level_of_the_whole_record_is_the_amplified_epsilon(kind, sizes, alone):
    """The stated epsilon is 1 up to a rounding of e to a fraction; every record against every other."""
    stated = Fraction(math.e).limit_denominator(100)
    inner = len(sizes) * (stated - 1) + 1
    P = kind(sizes, inner)
    assert all(sum(row.values()) == 1 for row in P.values())
    records = list(P)
    whole = level(P, [(records[0], other) for other in records[1:]])  # all values of an attribute are alike
    assert whole == inner
    assert math.log(whole) == pytest.approx(sampled_with_fakes([[1 / k] * k for k in sizes], 1).level, abs=1e-4)
    if alone is not None:
        neighbours = [other for other in records if sum(a != b for a, b in zip(other, records[0], strict=True)) == 1]
        assert math.log(level(P, [(records[0], other) for other in neighbours])) == pytest.approx(alone, abs=1e-3)


@pytest.mark.parametrize("d", [2, 3])
def test_the_error_with_fakes_is_that_of_the_reports(d):
    """Variance of the unbiased estimate from the law of reports, for attributes of 3 values."""
    sizes, e = (3,) * d, 5
    P = response(sizes, d * (e - 1) + 1)
    laws = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [0.4, 0.4, 0.2]][:d])
    own = (d * (e - 1) + 1) / (d * (e - 1) + 3)
    other = (1 - own) / 2
    total = 0.0
    for a, value in itertools.product(range(d), range(3)):
        supported = sum(
            math.prod(laws[j][x[j]] for j in range(d)) * float(mass)
            for x, row in P.items()
            for y, mass in row.items()
            if y[a] == value
        )
        estimate = d * supported / (own - other) - (other + (d - 1) / 3) / (own - other)
        assert estimate == pytest.approx(laws[a][value])
        total += supported * (1 - supported) * (d / (own - other)) ** 2
    unary = sampled_with_fakes(laws, f"log({e})").error
    assert unary <= total + 1e-9
    assert sampled_with_fakes(laws[:, :2] / laws[:, :2].sum(axis=1, keepdims=True), f"log({e})").error > 0


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("epsilon", "best", "equal", "parts", "published", "kept"),
    [
        ("0.5", 4804.4, 7259.4, 49118.0, 3150.2, 57750.9),
        ("1", 1105.3, 1654.7, 12247.3, 1110.6, 13044.6),
        ("2", 219.3, 293.7, 3040.3, 441.3, 2449.2),
    ],
)
def test_eight_attributes_of_adult(epsilon, best, equal, parts, published, kept):
    assert sampled(LAWS, epsilon).error == pytest.approx(equal, abs=0.06)
    assert best <= best_sampled(LAWS, epsilon).error < 1.03 * best  # the best of all mechanisms, and subset selection
    assert split(LAWS, epsilon).error == pytest.approx(parts, rel=1e-3)
    assert sampled_with_fakes(LAWS, epsilon).error == pytest.approx(published, abs=0.06)
    assert sampled_with_fakes(LAWS, epsilon, whole_record=True).error == pytest.approx(kept, abs=0.06)
    assert sampled_with_fakes(LAWS, epsilon).level == pytest.approx(math.log(8 * math.expm1(float(epsilon)) + 1))


def test_what_no_baseline_is_for_is_refused():
    with raises("nothing-given"):
        sampled([], 1)
    with raises("epsilon-out-of-range"):
        sampled(LAWS, 0)
    with raises("epsilon-out-of-range", "log(3)"):
        split(LAWS, "log(3)")
