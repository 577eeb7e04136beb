"""Sets of limits from values that make no sense: one line that says so, or a set that holds its own estimate."""

from fractions import Fraction

import numpy as np
import pytest

import mechdesign as md
from mechdesign.uncertainty import Box, EventSet, L1Box, LowerLimits, RelativeBall

P, LOWER, UPPER = ["0.5", "0.3", "0.2"], ["0.3", "0.2", "0.1"], ["0.6", "0.4", "0.4"]
VALUES = [
    *(1e-300, "1e-300", Fraction(1, 10**400), "1e400", "nan", "inf", -1, "-1e-300", None, True, "x", [1], {}, "1/0", 2),
    *(Fraction(10**400 + 1, 2 * 10**400 + 3), "1e-1000000", "9" * 5000, 1.0000000000000002, b"1", complex(1)),
    *(float("nan"), float("inf"), np.float64(0.5), np.array([1.0]), "0.9999999999999999999"),
]
MADE = {
    "a lower limit": lambda x: LowerLimits([x, "0.2", "0.1"], center=P),
    "an upper limit": lambda x: Box(LOWER, [x, "0.4", "0.4"], center=P),
    "a radius": lambda x: L1Box(LOWER, UPPER, x, center=P),
    "alpha": lambda x: RelativeBall(P, x, "0.1"),
    "gamma": lambda x: RelativeBall(P, "0.9", x),
    "one of the gammas": lambda x: EventSet(P, [1, "0.8"], ["0.08", x]),
    "a probability": lambda x: RelativeBall([x, "0.3", "0.2"], "0.9", "0.1"),
    "all limits": lambda x: Box(x, x, center=P),
    "an estimate": lambda x: EventSet(x, [1], ["0.05"]),
    "labels": lambda x: RelativeBall(P, "0.9", "0.1", x),
    "delta of limits": lambda x: LowerLimits.from_counts([4, 3, 2], x),
    "delta of a box and a ball": lambda x: L1Box.from_counts([4, 3, 2], x),
    "delta of a relative ball": lambda x: RelativeBall.from_counts([4, 3, 2], x),
    "alpha beside counts": lambda x: RelativeBall.from_counts([4, 3, 2], "0.1", alpha=x),
    "epsilon beside counts": lambda x: RelativeBall.from_counts([4, 3, 2], "0.1", epsilon=x),
    "samples": lambda x: L1Box.from_probabilities(["0.5", "0.3", "0.2"], "0.1", samples=x),
    "a count": lambda x: RelativeBall.from_counts([x, 3, 2], "0.1"),
}


def outcome(make):
    """Return what is made, or why nothing is."""
    try:
        return make(), ""
    except md.InputError as error:
        return None, str(error)


@pytest.mark.parametrize("what", MADE)
def test_a_value_is_taken_or_refused_on_one_line(what):
    refused = 0
    for value in VALUES:
        known, told = outcome(lambda value=value: MADE[what](value))
        assert "\n" not in told
        assert len(told) < 600
        if known is None:
            refused += 1
        else:
            assert known.contains(known.center)
            assert len(repr(known)) < 200
            mean = sum(p * v for p, v in zip(known.center, (3, 0, 1), strict=True))
            assert 0 <= known.exact_support([3, 0, 1]) <= mean
    assert refused > 0


@pytest.mark.parametrize("made", [LowerLimits, Box, L1Box, RelativeBall, EventSet])
@pytest.mark.parametrize("counts", [[], [1], [0, 0], [-1, 3], [1.5, 2], {"a": 1, "": 2}, {"a": 1, "a\nb": 2}], ids=repr)
def test_counts_that_are_none(made, counts):
    with pytest.raises(md.InputError) as error:
        made.from_counts(counts, "0.1")
    assert "\n" not in str(error.value)


@pytest.mark.combined
@pytest.mark.parametrize("made", [LowerLimits, Box, L1Box, RelativeBall, EventSet])
@pytest.mark.parametrize("counts", [[1, 1], [0, 0, 5], [10**18, 1], [5, 10**5]], ids=repr)
def test_counts_at_their_ends(made, counts):
    known, told = outcome(lambda: made.from_counts(counts, "1e-300"))
    assert "\n" not in told
    if known is not None:
        solved = md.design(md.DesignProblem(known, 1))
        assert solved.certified
        assert md.verify(solved.mechanism).proof.holds
