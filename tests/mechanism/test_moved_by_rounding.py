"""A matrix of floats is taken where rounding explains how far it moves, and refused one unit beyond."""

import numpy as np
import pytest
from refusals import raises

import mechdesign as md

BITS = 12
UNIT = 2.0**-BITS


@pytest.mark.parametrize("outputs", [2, 4, 8])
def test_the_last_unit_that_rounding_explains(outputs, monkeypatch):
    """Scaling takes 2 M units of a row at most, rounding down M more; what gets all was rounded up."""
    guarantee = md.Guarantee(1, md.L1Ball([0.5, 0.5]))
    matrix = np.full((2, outputs), 1 / outputs)
    for units in (3 * outputs + 1, 3 * outputs + 2):
        integers = np.full((2, outputs), 2**BITS // outputs, dtype=np.int64)
        integers[:, 0] += units
        integers[:, 1] -= units
        monkeypatch.setattr("mechdesign.mechanism.from_floats.round_or_give_up", lambda *given, found=integers: found)
        if units == 3 * outputs + 1:
            assert md.Mechanism.from_matrix(matrix, guarantee, bits=BITS).leakage == 0
        else:
            with raises("rounding-moves-too-far", match=f"move a probability by {units * UNIT:.3g}, which rounding"):
                md.Mechanism.from_matrix(matrix, guarantee, bits=BITS)


def test_rows_that_are_weights_are_divided_by_their_sums():
    """Sums that miss 1 by less than 1e-9 are no leakage."""
    ball = md.L1Ball([0.5, 0.5], 2)
    matrix = np.array([[0.75, 0.25], [0.25, 0.75]])
    exact = md.Mechanism.from_matrix(matrix, md.Guarantee("log(3)", ball))
    for factors in ([1 + 9e-10, 1 - 9e-10], [1 - 9e-10, 1 + 9e-10]):
        taken = md.Mechanism.from_matrix(matrix * np.array(factors)[:, None], md.Guarantee("log(3)", ball))
        assert np.abs(taken.matrix - exact.matrix).max() <= 7 / 2**48
