"""Mixtures of priors that certificates rest on: what they are made from, and what is refused."""

from fractions import Fraction

import numpy as np
import pytest
from refusals import raises

import mechdesign as md
from mechdesign import uncertainty
from mechdesign.uncertainty.prior_mixture import PriorMixture
from tests.uncertainty.test_every_set import every_set

HALF = Fraction(1, 2)
EVEN, SURE = (HALF, HALF), (Fraction(1), Fraction(0))


def test_the_mean_is_a_prior():
    mixture = PriorMixture((EVEN, SURE), (Fraction(1, 3), Fraction(2, 3)))
    assert mixture.mean == (Fraction(5, 6), Fraction(1, 6))
    assert (mixture.size, mixture.count_in_words()) == (2, "2 priors of the set")
    assert PriorMixture((EVEN,), (Fraction(1),)).count_in_words() == "1 prior of the set"


def test_weights_of_floats_sum_to_1_exactly_and_leave_out_what_has_none():
    mixture = PriorMixture.of_floats([EVEN, SURE, EVEN[::-1]], [0.1, 0.0, 0.2])
    assert sum(mixture.weights) == 1
    assert mixture.priors == (EVEN, EVEN[::-1])
    assert float(mixture.weights[0]) == pytest.approx(1 / 3, abs=1e-15)
    assert PriorMixture.of_floats([EVEN, SURE], [-1e-20, 3.0]).priors == (SURE,)


@pytest.mark.parametrize(
    ("priors", "weights", "code"),
    [
        ((EVEN,), (HALF, HALF), "wrong-size"),
        ((), (), "wrong-size"),
        ((EVEN, SURE), (HALF, HALF / 2), "wrong-sum"),
        ((EVEN, SURE), (Fraction(2), Fraction(-1)), "wrong-sum"),
        ((EVEN, (HALF, HALF, 0)), (HALF, HALF), "wrong-sum"),
        (((Fraction(2), Fraction(-1)),), (Fraction(1),), "wrong-sum"),
        (((HALF, HALF / 2),), (Fraction(1),), "wrong-sum"),
        (((),), (Fraction(1),), "wrong-sum"),
    ],
)
def test_what_is_no_mixture_is_refused(priors, weights, code):
    with raises(code):
        PriorMixture(priors, weights)


def test_numbers_of_files_are_read_exactly_and_bounded():
    read = PriorMixture.of_text([["1/3", "2/3"], ["0.5", "0.5"]], ["1/4", "0.75"])
    assert read.mean == (Fraction(11, 24), Fraction(13, 24))
    with raises("too-many-given", "1001", "1000"):
        PriorMixture.of_text([["1", "0"]] * 1001, ["1"])
    with raises("not-a-number", "is 'x'"):
        PriorMixture.of_text([["x", "0"]], ["1"])
    primes = [str(Fraction(1, 10**1500 + k)) for k in range(4)]
    with raises("too-many-digits", "prior 1 of the claim", "3000"):
        PriorMixture.of_text([primes], ["1"])


def test_members_are_checked_exactly():
    ball = md.L1Ball(["0.5", "0.5"], "0.2")
    PriorMixture(((Fraction(3, 5), Fraction(2, 5)), EVEN), (HALF, HALF)).check_members(ball)
    outside = Fraction(3, 5) + Fraction(1, 10**15)
    with raises("optimality-false", "prior 2"):
        PriorMixture((EVEN, (outside, 1 - outside)), (HALF, HALF)).check_members(ball)
    with raises("optimality-false", "prior 1"):
        PriorMixture((EVEN,), (Fraction(1),)).check_members(md.L1Ball(["0.5", "0.3", "0.2"]))
    hull = md.ConvexHull([["0.5", "0.5"], ["0.9", "0.1"]])
    PriorMixture((hull.priors[1], hull.center), (HALF, HALF)).check_members(hull)
    # Within 1e-9 of the hull, where `contains` cannot tell.
    near = (HALF - Fraction(1, 10**12), HALF + Fraction(1, 10**12))
    assert hull.contains(near)
    with raises("optimality-false"):
        PriorMixture((near,), (Fraction(1),)).check_members(hull)


@every_set
def test_what_is_near_a_prior_of_a_set_is_a_mixture_of_exact_members(known):
    rng = np.random.default_rng(3)
    columns = rng.integers(0, 1000, (6, known.size)).tolist()
    corners = np.array([[float(q) for q in known.exact_worst_mean(column)[1]] for column in columns])
    for Q in [*corners, *(rng.dirichlet(np.ones(6), 4) @ corners)]:
        mixture = PriorMixture.of_floats(*known.mixture_near(Q))
        if known.convex_hull is None:
            mixture.check_members(known)
        np.testing.assert_allclose([float(q) for q in mixture.mean], Q, atol=1e-13)
    assert known.mixture_near(np.full(known.size, np.nan))[0] == [known.center]


def test_a_prior_outside_has_a_member_near_it():
    limits = uncertainty.LowerLimits(["0.3", "0.2", "0.1"], center=["0.5", "0.3", "0.2"])
    mixture = PriorMixture.of_floats(*limits.mixture_near([1.0, 0.0, 0.0]))
    np.testing.assert_allclose([float(q) for q in mixture.mean], [0.7, 0.2, 0.1], atol=1e-13)
