"""The tail after any post-processing over a set of priors: held against all corners, all maps and rationals."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from extreme_priors import extreme_priors
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import raises
from repetitions import examples
from scipy.optimize import linprog
from strategies import balls, hulls
from tolerances import ALGEBRA, SOLVER

import mechdesign as md
from mechdesign.pml import certify_tail, epsilon_after_post_processing, tail_after_post_processing

MATRIX = [["0.7", "0.2", "0.1"], ["0.2", "0.5", "0.3"], ["0.1", "0.3", "0.6"]]
PRIOR = ["0.5", "0.3", "0.2"]
SETS = st.one_of(balls(most=3), hulls(most=3))


@st.composite
def mechanisms(draw, size, outputs=4):
    rows = []
    for _ in range(size):
        cuts = sorted(draw(st.lists(st.integers(0, 60), min_size=outputs - 1, max_size=outputs - 1)))
        rows.append(np.diff([0, *cuts, 60]).tolist())
    return rows


ratios = st.integers(0, 60).map(lambda k: 1 + Fraction(k, 30))


def mean(prior, v):
    return sum((q * x for q, x in zip(prior, v, strict=True)), Fraction(0))


def by_every_corner(rows, corners, ratio):
    """The greatest of the linear programs at all corners, with a witness for each symbol and corner, in floats."""
    K, C, e = np.array(rows) / 60, np.array([[float(q) for q in Q] for Q in corners]), float(ratio)
    excess = np.array([K[x] - e * (c @ K) for x in range(len(rows)) for c in C])
    L, M = excess.shape
    matrix = np.zeros((L + M, L * M))
    for place, row in enumerate(excess):
        matrix[place, place * M : (place + 1) * M] = -row
    for y in range(M):
        matrix[L + y, y::M] = 1
    limits = np.r_[np.zeros(L), np.ones(M)]
    # Reports that leak epsilon exactly do not count: those that no output lifts above it are left out.
    used = np.repeat((excess > ALGEBRA).any(axis=1), M)
    return max(-linprog(-np.tile(Q @ K, L) * used, A_ub=matrix * used, b_ub=limits).fun for Q in C)


@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_it_is_the_greatest_of_the_programs_at_all_corners(data):
    known = data.draw(SETS)
    rows, ratio = data.draw(mechanisms(known.size)), data.draw(ratios)
    found = tail_after_post_processing(rows, known, f"log({ratio})")
    exact = by_every_corner(rows, list(extreme_priors(known)), ratio)
    assert found.value <= exact + SOLVER
    assert found.bound == pytest.approx(exact, abs=SOLVER)
    assert found.value == pytest.approx(exact, abs=1e-5)
    assert certify_tail(rows, known, f"log({ratio})", found.multipliers) == found.bound


def test_of_two_corners_that_are_equally_weak_both_are_looked_at():
    """The search ended where the bound did not fall, at the first of them."""
    known, rows = md.L1Ball.from_counts([200, 1, 0], radius="1/100"), [[0, 7, 27, 26], [0, 0, 34, 26], [0, 0, 0, 60]]
    exact = by_every_corner(rows, list(extreme_priors(known)), Fraction(67, 30))
    found = tail_after_post_processing(rows, known, "log(67/30)")
    assert found.value == pytest.approx(exact, abs=1e-9)
    assert found.bound == pytest.approx(exact, abs=1e-9)


@settings(max_examples=examples(30), deadline=None)
@given(st.data())
def test_every_deterministic_map_is_within_the_bound_and_the_value_is_attained(data):
    known = data.draw(SETS)
    rows, ratio = data.draw(mechanisms(known.size, outputs=3)), data.draw(ratios)
    corners, columns = list(extreme_priors(known)), [[Fraction(x, 60) for x in v] for v in zip(*rows, strict=True)]
    found = tail_after_post_processing(rows, known, f"log({ratio})")

    def tail(merged):
        leaking = [v for v in merged if max(v) > ratio * min(mean(Q, v) for Q in corners)]
        return max(sum((mean(Q, v) for v in leaking), Fraction(0)) for Q in corners)

    for places in product(range(3), repeat=3):
        merged = [
            [sum(v[x] for v, place in zip(columns, places, strict=True) if place == z) for x in range(len(rows))]
            for z in range(3)
        ]
        assert tail([v for v in merged if any(v)]) <= Fraction(found.bound)
    post = [[Fraction(x) for x in row] for row in found.post_processing.tolist()]
    assert all(sum(row) == 1 and min(row) >= 0 for row in post)
    merged = [
        [sum(line[z] * v[x] for line, v in zip(post, columns, strict=True)) for x in range(len(rows))]
        for z in range(len(post[0]))
    ]
    assert tail([v for v in merged if any(v)]) >= Fraction(found.value)
    assert len(found.symbols) == len(merged) - 1
    # At each prior of the set it bounds the tail that is about that prior alone.
    for Q in corners:
        assert tail_after_post_processing(rows, Q, f"log({ratio})").value <= found.bound


def test_the_prior_at_which_reports_leak_most_often_is_no_corner():
    """If reports are judged at the true prior alone: in the middle all leak log(8/5), at the corners some less."""
    matrix, ball = [["0.2", "0.8"], ["0.8", "0.2"]], md.L1Ball(["0.5", "0.5"], "0.2")
    corners = [tail_after_post_processing(matrix, Q, "log(3/2)") for Q in (["0.4", "0.6"], ["0.6", "0.4"])]
    assert [found.bound for found in corners] == pytest.approx([9 / 16, 9 / 16], abs=1e-12)
    assert tail_after_post_processing(matrix, ["0.5", "0.5"], "log(3/2)").value == 1
    assert tail_after_post_processing(matrix, ball, "log(3/2)").bound == 1


def test_a_ball_of_radius_zero_is_its_prior():
    for epsilon in (0.25, 0.5, 0.6, 0.9):
        one, ball = (tail_after_post_processing(MATRIX, known, epsilon) for known in (PRIOR, md.L1Ball(PRIOR)))
        assert (one.value, one.bound, one.multipliers) == (ball.value, ball.bound, ball.multipliers)


def test_it_grows_with_the_set_and_ends_at_the_leakage():
    ball = md.L1Ball(PRIOR)
    bounds = [tail_after_post_processing(MATRIX, ball.with_radius(f"0.{k:02}"), 0.75).bound for k in range(0, 40, 5)]
    assert (np.diff(bounds) > 0).all()
    wide = ball.with_radius("0.1")
    leakage = md.pml.worst_case_leakage(MATRIX, wide).value
    assert tail_after_post_processing(MATRIX, wide, leakage).bound == 0
    assert tail_after_post_processing(MATRIX, wide, leakage - 1e-9).value > 0.2
    assert tail_after_post_processing(MATRIX, wide, 0).value >= 1 - 2**-50


def test_a_design_for_a_ball_has_none():
    ball = md.L1Ball(PRIOR, "0.1")
    numerators = md.design(md.DesignProblem(ball, "log(3/2)")).mechanism.numerators
    assert tail_after_post_processing(numerators, ball, "log(3/2)").bound == 0
    assert tail_after_post_processing(numerators, ball.with_radius("0.12"), "log(3/2)").value > 0.5
    found = epsilon_after_post_processing(numerators, ball, 0)
    assert (found.bound, float(found.epsilon)) == (0, pytest.approx(np.log(1.5), abs=1e-12))


@settings(max_examples=examples(15), deadline=None)
@given(st.data(), st.lists(st.fractions(0, 5, max_denominator=9), min_size=6, max_size=6))
def test_any_multipliers_prove_a_bound(data, multipliers):
    known = md.L1Ball(["1/4", "3/4"], data.draw(st.sampled_from(["0.1", "0.4"])))
    rows, ratio = data.draw(mechanisms(2)), data.draw(ratios)
    found = tail_after_post_processing(rows, known, f"log({ratio})")
    count = len(found.multipliers) if found.bound == 0 else 2
    assert certify_tail(rows, known, f"log({ratio})", multipliers[:count]) >= found.value


@settings(max_examples=examples(15), deadline=None)
@given(st.data())
def test_sets_whose_corners_are_not_listed_have_a_value_and_a_bound_around_the_tail(data):
    counts = data.draw(st.lists(st.integers(5, 60), min_size=3, max_size=3))
    known = md.uncertainty.Box.from_counts(counts, delta="0.01")
    rows, ratio = data.draw(mechanisms(3)), data.draw(ratios)
    found = tail_after_post_processing(rows, known, f"log({ratio})")
    exact = by_every_corner(rows, list(extreme_priors(known)), ratio)
    assert found.value - SOLVER <= exact <= found.bound + SOLVER
    assert certify_tail(rows, known, f"log({ratio})", found.multipliers) == found.bound


def test_the_least_epsilon_for_a_delta_over_a_set():
    ball = md.L1Ball(PRIOR, "0.1")
    found = epsilon_after_post_processing(MATRIX, ball, "0.3")
    assert found.bound <= 0.3
    assert tail_after_post_processing(MATRIX, ball, float(found.epsilon) - 1e-6).bound > 0.3
    assert float(found.epsilon) > float(epsilon_after_post_processing(MATRIX, PRIOR, "0.3").epsilon)


def test_rows_are_put_in_the_order_of_the_set():
    import pandas as pd

    ball = md.L1Ball({"a": "0.5", "b": "0.3", "c": "0.2"}, "0.1")
    frame = pd.DataFrame([[float(x) for x in row] for row in MATRIX], index=list("abc")).loc[list("cab")]
    found = tail_after_post_processing(frame, ball, 0.6)
    assert found.bound == tail_after_post_processing(MATRIX, ball, 0.6).bound


def test_bad_multipliers_and_promises_about_a_secret_are_refused():
    with raises("wrong-size", "or a multiple"):
        certify_tail(MATRIX, md.L1Ball(PRIOR, "0.1"), 0.5, [1, 2, 3, 4])
    with raises("wrong-size"):
        certify_tail(MATRIX, md.L1Ball(PRIOR, "0.1"), 0.5, [])
    with raises("set-not-accepted"):
        tail_after_post_processing(np.eye(2), md.SecretPromise([[20, 10], [10, 15]], known=True), 0.5)
