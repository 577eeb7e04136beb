"""Matrices of others: taken as they are, refused, or repaired with a word on how far."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from refusals import raises
from strategies import random_ball, random_mechanism

import mechdesign as md
from mechdesign.mechanism.from_floats import most_moved_by_rounding
from mechdesign.numerics.tolerances import FLOAT_LEAKAGE
from mechdesign.optimize.closed_form import closed_forms

EVERYTHING = md.L1Ball([0.2] * 5, radius=2)


def randomized_response(size, epsilon):
    matrix = np.ones((size, size)) + (math.exp(epsilon) - 1) * np.eye(size)
    return matrix / matrix.sum(axis=1, keepdims=True)


def farthest(mechanism, matrix):
    """The greatest change of a probability, with outputs in any order: columns are paired by their first entries."""
    ours = mechanism.matrix[:, np.lexsort(mechanism.matrix.round(6))]
    theirs = np.asarray(matrix)[:, np.lexsort(np.asarray(matrix).round(6))]
    return float(np.abs(ours - theirs).max())


@pytest.mark.parametrize("epsilon", ["0.5", "0.1"])
def test_a_matrix_without_the_guarantee_is_refused(epsilon):
    matrix = randomized_response(5, 1)
    with raises("guarantee-false") as caught:
        md.Mechanism.from_matrix(matrix, md.Guarantee(epsilon, EVERYTHING))
    assert "column 1 of the matrix leaks up to 1 nats, " in str(caught.value)
    assert f"above epsilon = {epsilon}; " in str(caught.value)
    assert "Mechanism.repaired" in str(caught.value)


def test_the_output_that_leaks_is_named():
    matrix = np.array([[0.4, 0.3, 0.3], [0.4, 0.35, 0.25], [0.35, 0.55, 0.1]])
    with raises("guarantee-false", "the output 'c'", "1.098", "epsilon = 1"):
        md.Mechanism.from_matrix(matrix, md.Guarantee(1, md.L1Ball([0.4, 0.4, 0.2], radius=2)), outputs=["a", "b", "c"])


def test_an_output_that_leaks_without_bound_is_named():
    with raises("guarantee-false", "column 2 of the matrix", "to inf", "epsilon = 1"):
        md.Mechanism.from_matrix([[0.5, 0.5], [1, 0]], md.Guarantee(1, md.L1Ball([0.5, 0.5], radius=2)))


def test_a_repair_says_how_far_it_moved():
    matrix = randomized_response(5, 1)
    for epsilon in (0.5, 0.1):
        found = md.Mechanism.repaired(matrix, md.Guarantee(epsilon, EVERYTHING), outputs=list("abcde"))
        assert epsilon - 1e-6 <= found.mechanism.leakage <= epsilon
        assert found.moved == pytest.approx(np.abs(found.mechanism.matrix - matrix).max(), abs=1e-15)
        assert found.moved == pytest.approx(matrix.max() - randomized_response(5, epsilon).max(), abs=1e-6)
    hopeless = md.Mechanism.repaired(matrix, md.Guarantee(0, EVERYTHING))
    assert hopeless.mechanism.numerators.tolist() == [[2**48]] * 5
    assert hopeless.moved == pytest.approx(matrix.max() - 0.2, abs=1e-12)


def test_a_repair_of_what_needs_none_is_rounding():
    matrix = randomized_response(5, 1)
    found = md.Mechanism.repaired(matrix, md.Guarantee(1, EVERYTHING))
    assert 0 < found.moved <= 16 / 2**48
    taken = md.Mechanism.from_matrix(matrix, md.Guarantee(1, EVERYTHING))
    np.testing.assert_array_equal(found.mechanism.numerators, taken.numerators)


@pytest.mark.combined
@pytest.mark.parametrize("bits", [8, 20, 48, 52])
@pytest.mark.parametrize("epsilon", [1e-7, 0.01, "log(3)", 1, 12.5])
def test_randomized_response_in_floats_is_taken(epsilon, bits):
    for size in (2, 3, 10, 40):
        power = float(md.Epsilon.of(epsilon).exp_down)
        matrix = np.ones((size, size)) + (power - 1) * np.eye(size)
        matrix /= matrix.sum(axis=1, keepdims=True)
        ball = md.L1Ball([Fraction(1, size)] * size, radius=2)
        mechanism = md.Mechanism.from_matrix(matrix, md.Guarantee(epsilon, ball), bits=bits)
        if mechanism.matrix.shape == matrix.shape:
            # Rows and columns are alike, so the likeliest output of a symbol is the one that tells it.
            np.testing.assert_allclose(mechanism.matrix.max(axis=1), matrix.max(), atol=(3 * size + 1) / 2**bits)
            np.testing.assert_allclose(mechanism.matrix.min(axis=1), matrix.min(), atol=(3 * size + 1) / 2**bits)
        else:
            assert matrix.max() - matrix.min() <= (3 * size + 1) / 2**bits


def test_closed_forms_products_and_repetitions_are_taken():
    rng = np.random.default_rng(5)
    seen = set()
    for _ in range(60):
        size = int(rng.integers(2, 6))
        ball = random_ball(rng, size, str(rng.choice(["0", "0.01", "0.1", "2"])))
        if rng.random() < 0.3:
            ball = md.L1Ball([Fraction(1, size)] * size, radius=ball.radius)
        guarantee = md.Guarantee(round(float(10 ** rng.uniform(-4, 1)), 6), ball)
        for form in closed_forms(md.DesignProblem(ball, guarantee.epsilon)):
            seen.add(form.theorem)
            repair = md.Mechanism.repaired(np.asarray(form.matrix, dtype=float), guarantee)
            taken = md.Mechanism.from_matrix(np.asarray(form.matrix, dtype=float), guarantee)
            np.testing.assert_array_equal(taken.numerators, repair.mechanism.numerators)
            assert repair.moved <= 40 / 2**48
            again = md.Mechanism.from_matrix(taken.matrix, guarantee, bits=52)
            assert farthest(again, taken.matrix) <= 40 / 2**48 or again.matrix.shape != taken.matrix.shape
            if size == 2:
                pair = taken.product(taken)
                assert (
                    md.Mechanism.from_matrix(pair.matrix, pair.guarantee, outputs=pair.outputs).leakage <= pair.leakage
                )
    assert len(seen) >= 4


def test_designs_come_back_from_their_floats():
    rng = np.random.default_rng(6)
    for utility in (md.MutualInformation(), md.HammingAccuracy(), md.ChiSquare()):
        ball = random_ball(rng, 6, "0.05")
        solved = md.design(md.DesignProblem(ball, "0.8", utility)).mechanism
        again = md.Mechanism.from_matrix(solved.matrix, solved.guarantee, outputs=solved.outputs)
        np.testing.assert_array_equal(again.numerators, solved.numerators)
        noisy = solved.matrix * (1 + 2.0**-52 * rng.integers(-1, 2, solved.matrix.shape))
        again = md.Mechanism.from_matrix(noisy, solved.guarantee, outputs=solved.outputs)
        assert np.abs(again.matrix - solved.matrix).max() <= 60 / 2**48


@pytest.mark.parametrize("excess", [1e-11, 1e-9, 1e-6])
def test_what_floats_do_not_explain_is_refused(excess):
    """A relative error of 5e-13 in one entry is one of floats; ten times as much is none."""
    guarantee = md.Guarantee(1, EVERYTHING)
    matrix = randomized_response(5, 1 + excess)
    with raises("guarantee-false", "epsilon = 1"):
        md.Mechanism.from_matrix(matrix, guarantee)
    assert md.Mechanism.from_matrix(randomized_response(5, 1 + FLOAT_LEAKAGE / 2), guarantee).leakage <= 1


def test_too_few_bits_are_refused(monkeypatch):
    """Where only outputs that tell nothing would keep epsilon, they are not given for a matrix that tells something."""
    ball = md.L1Ball(["0.999", "0.001"])
    matrix = np.array([[0.5, 0.5], [0.6, 0.4]])
    guarantee = md.Guarantee("0.02", ball)
    assert md.Mechanism.repaired(matrix, md.Guarantee("1e-30", ball)).moved > most_moved_by_rounding(2, 48, guarantee)
    monkeypatch.setattr("mechdesign.mechanism.rounding._rounded", lambda *given: None)
    with raises("rounding-moves-too-far"):
        md.Mechanism.from_matrix(matrix, md.Guarantee(1, ball))
    assert guarantee.epsilon.text == "0.02"


@pytest.mark.parametrize(
    ("matrix", "code"),
    [
        ([[0.5, 0.4], [0.5, 0.5]], "wrong-sum"),
        ([[0.5, 0.5], [0.5, 0.5 + 1e-8]], "wrong-sum"),
        ([[0.5, 0.5], [1.0 + 1e-9, -1e-9]], "not-probabilities"),
        ([[0.5, 0.5], [math.nan, 0.5]], "not-probabilities"),
        ([[], []], "wrong-size"),
        ([["a", "b"], [0.5, 0.5]], "not-a-number"),
        ([[0.5, 0.5]], "wrong-size"),
    ],
)
def test_what_is_no_mechanism_is_malformed_input(matrix, code):
    for make in (md.Mechanism.from_matrix, md.Mechanism.repaired):
        with raises(code):
            make(matrix, md.Guarantee(1, md.L1Ball([0.5, 0.5])))
    with raises("wrong-type"):
        md.Mechanism.from_matrix([[1], [1]], 0.5)


def test_repairs_keep_any_guarantee():
    rng = np.random.default_rng(7)
    for _ in range(30):
        ball = random_ball(rng, 4, str(rng.choice(["0", "0.1", "2"])))
        matrix = random_mechanism(rng, 4, 5)
        found = md.Mechanism.repaired(matrix, md.Guarantee(round(float(rng.uniform(0.01, 2)), 3), ball))
        assert found.mechanism.proof.holds
        assert 0 < found.moved <= 1


# Labels

ABC = md.L1Ball([0.5, 0.3, 0.2], "0.1", ["a", "b", "c"])
MATRIX = np.array([[0.6, 0.4], [0.5, 0.5], [0.3, 0.7]])


def test_a_data_frame_is_aligned_with_inputs_and_outputs():
    frame = pd.DataFrame(MATRIX, index=["a", "b", "c"], columns=["n", "y"])
    straight = md.Mechanism.from_matrix(MATRIX, md.Guarantee(1, ABC), outputs=["n", "y"])
    turned = frame.loc[["c", "a", "b"], ["y", "n"]]
    mechanism = md.Mechanism.from_matrix(turned, md.Guarantee(1, ABC), outputs=["n", "y"])
    np.testing.assert_array_equal(mechanism.numerators, straight.numerators)
    named = md.Mechanism.from_matrix(turned, md.Guarantee(1, ABC))
    assert named.outputs == ("y", "n")
    np.testing.assert_array_equal(named.numerators[:, ::-1], straight.numerators)
    assert md.Mechanism.repaired(turned, md.Guarantee(1, ABC)).mechanism.outputs == ("y", "n")
    plain = md.Mechanism.from_matrix(pd.DataFrame(MATRIX), md.Guarantee(1, ABC))
    assert [name[:3] for name in plain.outputs] == ["y1-", "y2-"]


def test_other_labels_are_refused():
    frame = pd.DataFrame(MATRIX, index=["a", "b", "d"], columns=["n", "y"])
    with raises("labels-differ", "rows of the matrix", "'a', 'b', 'd'"):
        md.Mechanism.from_matrix(frame, md.Guarantee(1, ABC))
    with raises("labels-differ", "columns of the matrix", "'n', 'y'", "'no', 'yes'"):
        md.Mechanism.from_matrix(frame.set_axis(["a", "b", "c"]), md.Guarantee(1, ABC), outputs=["no", "yes"])


def test_columns_of_polars_are_outputs():
    plain = md.Mechanism.from_matrix(MATRIX, md.Guarantee(1, ABC)).outputs
    named = md.Mechanism.from_matrix(pl.DataFrame({"n": MATRIX[:, 0], "y": MATRIX[:, 1]}), md.Guarantee(1, ABC))
    assert named.outputs == ("n", "y")
    assert md.Mechanism.from_matrix(pl.DataFrame(MATRIX), md.Guarantee(1, ABC)).outputs == plain


def test_a_post_processing_is_aligned_with_the_outputs():
    mechanism = md.Mechanism.from_matrix(MATRIX, md.Guarantee(1, ABC), outputs=["n", "y"])
    post = pd.DataFrame([[0.75, 0.25], [0, 1]], index=["n", "y"], columns=["no", "other"])
    straight = mechanism.then(post.to_numpy(), outputs=["no", "other"])
    for turned in (post, post.loc[["y", "n"]], post.loc[["y", "n"], ["other", "no"]]):
        again = mechanism.then(turned, outputs=["no", "other"])
        np.testing.assert_array_equal(again.numerators, straight.numerators)
    assert mechanism.then(post).outputs == ("no", "other")
    with raises("labels-differ", "'n', 'z'", "'n', 'y'"):
        mechanism.then(post.set_axis(["n", "z"]))


# Guarantees


@pytest.mark.parametrize("epsilon", [1.0, 1, "1", "log(3)", Fraction(1, 2), md.Epsilon.of("0.5")])
def test_a_guarantee_takes_what_a_problem_takes(epsilon):
    guarantee = md.Guarantee(epsilon, ABC)
    assert guarantee.epsilon == md.DesignProblem(ABC, epsilon).epsilon
    assert md.Mechanism(np.array([[1], [1], [1]]) * 2, 1, guarantee).leakage == 0


@pytest.mark.parametrize(("epsilon", "uncertainty", "code"), [(-1, ABC, "epsilon-out-of-range"), (1, 1, "wrong-type")])
def test_what_is_no_guarantee_is_refused(epsilon, uncertainty, code):
    with raises(code):
        md.Guarantee(epsilon, uncertainty)
