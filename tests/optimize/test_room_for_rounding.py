"""How far a stored value may be off follows from its own rounding, however small the entries of columns are."""

from dataclasses import replace

import pytest
from refusals import raises

import mechdesign as md


@pytest.mark.parametrize("utility", [md.MutualInformation(), md.ChiSquare()], ids=lambda u: u.name)
def test_small_entries_leave_no_more_room(utility):
    ball = md.L1Ball(["0.5", "0.3", "0.2"], 2)
    solved = md.design(md.DesignProblem(ball, 18, utility)).mechanism
    assert 0 < solved.matrix.min() < 1e-6
    claim = solved.optimality
    assert md.verify(solved).value == claim.value
    false = replace(claim, value=claim.value - 1e-10)
    with raises("optimality-false"):
        md.verify(replace(solved, optimality=false))
