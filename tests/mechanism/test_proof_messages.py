"""Refusals of integers name the place, counted from 1 in both directions."""

import numpy as np
import pytest
from refusals import raises

import mechdesign as md


@pytest.mark.parametrize(("row", "column"), [(1, 1), (1, 3), (2, 1), (3, 2)])
@pytest.mark.parametrize(("entry", "accepted"), [(-1, "0 or more"), (17, r"at most 2\^4")])
def test_an_entry_out_of_range_is_named_by_its_place(row, column, entry, accepted):
    numerators = np.full((3, 3), 4)
    numerators[row - 1, column - 1] = entry
    with raises("not-probabilities", match=f"row {row}, column {column} is {entry}; accepted: {accepted}"):
        md.mechanism.prove(numerators, 4, md.Guarantee(md.Epsilon.of(1), md.L1Ball(["0.5", "0.25", "0.25"])))


@pytest.mark.parametrize("row", [1, 2, 3])
def test_a_row_with_another_sum_is_named(row):
    numerators = np.array([[8, 4, 4]] * 3)
    numerators[row - 1, 1] += 1
    with raises("wrong-sum", match=rf"row {row} of the numerators sums to 17; accepted: 2\^4 = 16"):
        md.mechanism.prove(numerators, 4, md.Guarantee(md.Epsilon.of(1), md.L1Ball(["0.5", "0.25", "0.25"])))
