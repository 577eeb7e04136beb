"""What is near to no distribution is the center."""

from fractions import Fraction

import numpy as np
import pytest

import mechdesign as md
from mechdesign.uncertainty import Box, EventSet, RelativeBall


@pytest.mark.parametrize("hopeless", [[np.nan, 0.5, 0.5], [np.inf, 0.0, 0.0], [0.0, 0.0, 0.0], [-1.0, 0.0, -0.5]])
@pytest.mark.parametrize("within_simplex", [True, False])
def test_what_cannot_be_scaled_to_a_distribution_gives_the_center(hopeless, within_simplex):
    ball = md.L1Ball(["0.5", "0.3", "0.2"], "0.1", within_simplex=within_simplex)
    np.testing.assert_array_equal(ball.member_near(hopeless), ball.prior)


def test_a_ball_lies_within_the_simplex_unless_that_is_asked_for():
    assert md.L1Ball(["0.5", "0.5"], "0.1").within_simplex
    assert md.L1Ball.from_counts([1, 1], radius="0.1").within_simplex
    assert md.L1Ball.from_samples(["a", "b"], labels=["a", "b"], radius="0.1").within_simplex


SETS = [
    Box(["0.3", "0.2", "0.1"], ["0.6", "0.4", "0.4"], center=["0.5", "0.3", "0.2"]),
    EventSet(["0.5", "0.3", "0.2"], ["1", "0.8"], ["0.08", "0.02"]),
    RelativeBall(["0.5", "0.3", "0.2"], "0.9", 0),
]


@pytest.mark.parametrize("known", SETS, ids=repr)
def test_a_member_is_near_itself_and_what_a_solver_misses_by_is_undone(known):
    rng = np.random.default_rng(2)
    for column in rng.integers(0, 9, (40, 3)).tolist():
        exact = known.exact_worst_mean(column)[1]
        for error in (0.0, 1e-15, 1e-12, 1e-10):
            found = known.member_near([float(q) for q in exact] + error * rng.normal(size=3))
            assert max(piece.missed_by([Fraction(x) for x in found.tolist()]) for piece in known.pieces) <= 1e-15
            assert abs(sum(found) - 1) <= 1e-15
            np.testing.assert_allclose(found, [float(q) for q in exact], atol=1e-15 + 4e-9 * (error > 0))


@pytest.mark.parametrize("known", SETS, ids=repr)
@pytest.mark.parametrize("hopeless", [[np.nan, 0.5, 0.5], [np.inf, 0.0, 0.0], [0.0, 0.0, 0.0], [-1.0, 0.0, -0.5]])
def test_what_is_no_distribution_gives_a_member(known, hopeless):
    found = known.member_near(hopeless)
    assert max(piece.missed_by([Fraction(x) for x in found.tolist()]) for piece in known.pieces) <= 1e-15


def test_a_solver_that_gives_up_ends_the_search_for_a_nearer_member(monkeypatch):
    def give_up(*_):
        raise RuntimeError("Maximum number of iterations reached.")

    monkeypatch.setattr("scipy.optimize.nnls", give_up)
    np.testing.assert_array_equal(SETS[0].member_near([0.9, 0.05, 0.05]), SETS[0].prior)
