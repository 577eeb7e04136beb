from fractions import Fraction

import numpy as np
import pytest
from refusals import raises
from scipy.optimize import linprog
from tolerances import ALGEBRA, SOLVER

import mechdesign as md

PRIORS = [["0.5", "0.3", "0.2"], ["0.2", "0.2", "0.6"], ["0.1", "0.9", "0"]]


def test_support_is_the_least_over_the_listed_priors_and_over_random_mixtures():
    hull = md.ConvexHull(PRIORS)
    rng = np.random.default_rng(1)
    Q = np.array(PRIORS, dtype=float)
    V = rng.random((3, 40))
    np.testing.assert_allclose(hull.support(V), (Q @ V).min(axis=0), atol=ALGEBRA)
    mixtures = rng.dirichlet(np.ones(3), 500) @ Q
    assert (mixtures @ V >= hull.support(V) - ALGEBRA).all()


def test_exact_twin_agrees_with_floats():
    hull = md.ConvexHull(PRIORS)
    support, worst = hull.exact_worst_mean([4, 1, 7])
    assert support == hull.exact_support([4, 1, 7]) == Fraction(13, 10)
    assert worst == (Fraction(1, 10), Fraction(9, 10), Fraction(0))
    assert hull.worst_mean([4, 1, 7])[0] == pytest.approx(1.3, abs=ALGEBRA)


def test_linear_rows_describe_the_support_function():
    hull = md.ConvexHull(PRIORS)
    rows = hull.support_rows()
    v = np.array([0.3, 0.9, 0.4])
    solution = linprog([-1.0], A_ub=-rows.auxiliary.toarray(), b_ub=rows.columns @ v, bounds=(None, None))
    np.testing.assert_allclose(-solution.fun, hull.worst_mean(v)[0], atol=SOLVER)


def test_reference_prior_is_the_weighted_mixture():
    assert md.ConvexHull(PRIORS, weights=["0.5", "0.5", "0"]).center == (
        Fraction(35, 100),
        Fraction(25, 100),
        Fraction(40, 100),
    )


def test_membership():
    hull = md.ConvexHull(PRIORS)
    assert hull.contains(hull.center)
    assert hull.contains(PRIORS[2])
    assert not hull.contains(["0.9", "0.05", "0.05"])


def test_a_single_prior_is_the_known_prior():
    hull, ball = md.ConvexHull([PRIORS[0]]), md.L1Ball(PRIORS[0])
    V = np.random.default_rng(2).random((3, 10))
    np.testing.assert_allclose(hull.support(V), ball.support(V), atol=ALGEBRA)


def test_vertices_of_an_l1_ball_have_its_support():
    ball = md.L1Ball(["0.5", "0.3", "0.2"], "0.2")
    t = Fraction(1, 10)
    moves = [(i, j) for i in range(3) for j in range(3) if i != j]
    vertices = [[p + t * ((k == j) - (k == i)) for k, p in enumerate(ball.center)] for i, j in moves]
    hull = md.ConvexHull(vertices)
    for column in ([5, 1, 0], [1, 1, 7], [2, 9, 4]):
        assert hull.exact_support(column) == ball.exact_support(column)


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: md.ConvexHull([]), "nothing-given"),
        (lambda: md.ConvexHull([["0.5", "0.5"], ["0.2", "0.3", "0.5"]]), "wrong-size"),
        (lambda: md.ConvexHull([["1", "0"], ["1", "0"]]), "never-occurs"),
        (lambda: md.ConvexHull([["0.5", "0.6"]]), "wrong-sum"),
        (lambda: md.ConvexHull(PRIORS, weights=["0.5", "0.5"]), "wrong-size"),
    ],
)
def test_bad_hulls_are_refused(make, code):
    with raises(code):
        make()


@pytest.mark.parametrize("weights", [0.5, [0.5], [], "1", [None]])
def test_the_only_prior_has_weight_one(weights):
    with pytest.raises(md.InputError):
        md.ConvexHull([[0.5, 0.5]], weights)
    assert md.ConvexHull([[0.5, 0.5]], [1]).weights == (1,)
