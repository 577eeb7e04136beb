"""A claim for the ball as printed, which reaches outside the simplex, is checked for that ball."""

from dataclasses import replace

from refusals import raises

import mechdesign as md


def test_the_bound_is_that_of_the_printed_ball():
    ball = md.L1Ball(["0.7", "0.2", "0.1"], "0.5")
    printed = md.design(md.DesignProblem(ball.as_printed(), "0.5"))
    assert printed.value < md.design(md.DesignProblem(ball, "0.5")).value - 5e-5
    claim = printed.mechanism.optimality
    assert not claim.within_simplex
    assert md.verify(printed.mechanism).certificate.upper_bound <= claim.bound
    with raises("optimality-false"):
        md.verify(replace(printed.mechanism, optimality=replace(claim, within_simplex=True)))
