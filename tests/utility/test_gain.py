import numpy as np
import pytest
from refusals import raises
from tolerances import ALGEBRA

import mechdesign as md


def test_hamming_accuracy_is_the_probability_of_a_right_guess():
    rng = np.random.default_rng(1)
    matrix, P = rng.dirichlet(np.ones(3), 4), rng.dirichlet(np.ones(4))
    right = sum(max(P[i] * matrix[i, j] for i in range(4)) for j in range(3))
    assert md.HammingAccuracy().value(matrix, P) == pytest.approx(right, abs=ALGEBRA)


def test_distortion_is_minus_a_gain():
    D = [[0, 1, 4], [1, 0, 1], [4, 1, 0]]
    rng = np.random.default_rng(2)
    matrix, P = rng.dirichlet(np.ones(3), 3), rng.dirichlet(np.ones(3))
    gain = md.ExpectedGain((-np.array(D)).tolist())
    assert md.ExpectedDistortion(D).value(matrix, P) == pytest.approx(gain.value(matrix, P), abs=ALGEBRA)
    guesses = np.argmin(np.array(D) @ (P[:, None] * matrix), axis=0)
    expected = sum(P[i] * matrix[i, j] * D[guesses[j]][i] for i in range(3) for j in range(3))
    assert md.ExpectedDistortion(D).value(matrix, P) == pytest.approx(-expected, abs=ALGEBRA)


def test_matrices_are_copied_and_compared_by_value():
    source = np.array([[1.0, 0.0], [0.0, 1.0]])
    utility = md.ExpectedGain(source)
    source[0, 0] = 5
    assert utility == md.ExpectedGain([["1", 0], [0, "1.0"]])
    assert hash(utility) == hash(md.ExpectedGain([[1, 0], [0, 1]]))
    assert utility != md.ExpectedDistortion([[1, 0], [0, 1]])
    assert md.HammingAccuracy() == md.HammingAccuracy()
    with pytest.raises(ValueError, match="read-only"):
        utility.matrix[0, 0] = 2


@pytest.mark.parametrize(
    ("matrix", "code"),
    [
        ([[1, 2], [3]], "wrong-size"),
        ([[]], "wrong-size"),
        ([[1, float("nan")]], "not-a-number"),
    ],
)
def test_bad_matrices_are_refused(matrix, code):
    with raises(code):
        md.ExpectedGain(matrix)


def test_a_matrix_belongs_to_one_alphabet():
    with raises("wrong-size", "has 2", "for 3"):
        md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), 1, md.ExpectedGain([[1, 0]]))
