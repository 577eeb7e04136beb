"""Matrices as they are given: which numbers are meant, what is refused, what is exact."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from refusals import raises

import mechdesign as md
from mechdesign.mechanism import ExactMatrix, exact_matrix


def rational(matrix):
    return [[Fraction(w, total) for w in row] for row, total in zip(matrix.weights, matrix.totals, strict=True)]


def test_texts_decimals_and_fractions_are_what_they_state():
    given = [["0.1", Decimal("0.9")], [Fraction(1, 3), "2/3"]]
    found = ExactMatrix.of(given)
    assert rational(found) == [[Fraction(1, 10), Fraction(9, 10)], [Fraction(1, 3), Fraction(2, 3)]]
    assert found.off == 0
    assert found.in_words() == "2 x 2, exact numbers; rows sum to 1"
    assert ExactMatrix.of([["0.1", "0.9"], ["1", "0"]]).numbers == "decimals and ratios as written"


def test_floats_are_the_rationals_that_they_are():
    found = ExactMatrix.of(np.array([[0.1, 0.9], [0.3, 0.7]]))
    tenth, rest = Fraction(0.1), Fraction(0.9)
    assert rational(found)[0] == [tenth / (tenth + rest), rest / (tenth + rest)]
    assert found.off == max(abs(tenth + rest - 1), abs(Fraction(0.3) + Fraction(0.7) - 1))
    assert_array_equal(found.matrix, [[0.1, 0.9], [0.3, 0.7]])
    mixed = ExactMatrix.of([[0.5, "0.5"], [0.25, 0.75]])
    assert mixed.numbers == "exact numbers, and floats as the rationals that they are"


def test_rows_that_miss_1_by_a_little_count_as_weights():
    found = ExactMatrix.of([["0.3333333333", "0.6666666666"], ["0.5", "0.5"]])
    assert rational(found)[0] == [Fraction(3333333333, 9999999999), Fraction(6666666666, 9999999999)]
    assert found.in_words().endswith("rows miss 1 by up to 1e-10 and count as weights")
    with raises("wrong-sum", "row 1", "0.99999999", "1, give or take 1e-09"):
        ExactMatrix.of([["0.33333333", "0.66666666"], ["0.5", "0.5"]])


def test_whole_numbers_over_one_denominator():
    found = ExactMatrix.of([[3, 1], [2, 2]])
    assert rational(found) == [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 2), Fraction(1, 2)]]
    assert found.numbers == "whole numbers over 4"
    assert ExactMatrix.of([[2**47, 2**47], [1, 2**48 - 1]]).numbers == "whole numbers over 2^48"
    assert ExactMatrix.of([[10**12, 5], [6, 10**12 - 1]]).numbers == "whole numbers over 1000000000005"
    with raises("wrong-sum", "row 2", "to 5", "4, as row 1"):
        ExactMatrix.of([[3, 1], [2, 3]])


def test_a_mechanism_is_its_integers():
    promise = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], 2, ["no", "yes"]))
    warner = md.Mechanism(np.array([[3, 1], [1, 3]]), 2, promise, ("n", "y"))
    found = ExactMatrix.of(warner)
    assert (found.weights, found.inputs, found.outputs) == (((3, 1), (1, 3)), ("no", "yes"), ("n", "y"))
    assert found.greatest_ratio(promise.uncertainty) == 3


@pytest.mark.parametrize("seed", range(5))
def test_ratios_are_those_of_fractions(seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 9, (3, 4)) + np.eye(3, 4, dtype=int)
    given = [[Fraction(int(w), int(row.sum())) for w in row] for row in weights]
    found = ExactMatrix.of(given)
    center = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    columns = list(zip(*given, strict=True))
    expected = [max(v) / sum(q * x for q, x in zip(center, v, strict=True)) for v in columns]
    assert list(found.ratios(md.L1Ball(center))) == expected
    level = None if any(0 in v for v in columns) else max(max(v) / min(v) for v in columns)
    assert found.ldp_ratio == level


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ([[0.5, 0.5], [-0.25, 1.25]], "not-probabilities"),
        ([[0.5, 0.5], [float("nan"), 1]], "not-probabilities"),
        ([[0.5, 0.5], [float("inf"), 1]], "not-probabilities"),
        ([["0.5", "0.5"], ["half", "0.5"]], "not-a-number"),
        ([[0.5, 0.5], [1.0]], "wrong-size"),
        ([[1.0]], "wrong-size"),
        ([[], []], "wrong-size"),
        ([], "wrong-size"),
        ([0.5, 0.5], "wrong-type"),
        ([[True, False], [False, True]], "not-a-number"),
        (np.array([[1j, 0], [0, 1]]), "not-a-number"),
        (np.ma.masked_equal([[0.5, 0.5], [1.0, 0.0]], 1.0), "not-a-number"),
        (None, "wrong-type"),
        ([[0.0, 0.0], [0.5, 0.5]], "wrong-sum"),
    ],
)
def test_what_is_no_matrix_is_refused(given, code):
    with raises(code):
        ExactMatrix.of(given)


def test_what_is_too_large_is_refused_before_it_is_computed(monkeypatch):
    with raises("too-much-work", "20001", "x 1", "20000"):
        ExactMatrix.of(np.ones((20_001, 1)))
    monkeypatch.setattr(exact_matrix, "_MOST_WORK", 100)
    found = ExactMatrix.of([["0.3333333332", "0.6666666667"], ["0.5", "0.5"]])
    with raises("beyond-precision", "on 2", "x 2"):
        found.column(0)
