import math

import numpy as np
import pytest
from refusals import raises
from strategies import random_mechanism
from tolerances import ALGEBRA

import mechdesign as md


def joint_and_product(matrix, P):
    joint = P[:, None] * matrix
    return joint, P[:, None] * (P @ matrix)[None, :]


def test_conventions_on_the_joint_distribution():
    rng = np.random.default_rng(8)
    matrix, P = random_mechanism(rng, 5, 4), rng.dirichlet(np.ones(5))
    joint, product = joint_and_product(matrix, P)
    positive = joint > 0
    by_definition = {
        md.MutualInformation(): float((joint[positive] * np.log(joint[positive] / product[positive])).sum()),
        md.ChiSquare(): float(((joint - product) ** 2 / product).sum()),
        md.TotalVariation(): float(np.abs(joint - product).sum() / 2),
        md.SquaredHellinger(): float(((np.sqrt(joint) - np.sqrt(product)) ** 2).sum()),
    }
    for utility, value in by_definition.items():
        np.testing.assert_allclose(utility.value(matrix, P), value, atol=ALGEBRA)


def test_independence_is_worth_nothing_and_identity_the_entropy():
    P = np.array([0.5, 0.25, 0.25])
    constant = np.full((3, 2), 0.5)
    for utility in (md.MutualInformation(), md.ChiSquare(), md.TotalVariation(), md.SquaredHellinger()):
        assert utility.value(constant, P) == pytest.approx(0, abs=ALGEBRA)
    assert md.MutualInformation().value(np.eye(3), P) == pytest.approx(1.5 * np.log(2), abs=ALGEBRA)
    assert md.ChiSquare().value(np.eye(3), P) == pytest.approx(2, abs=ALGEBRA)


def test_a_symbol_without_mass_and_an_empty_column_count_nothing():
    P = np.array([0.5, 0.5, 0.0])
    matrix = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0.5, 0.5]])
    assert md.MutualInformation().value(matrix, P) == pytest.approx(np.log(2), abs=ALGEBRA)


@pytest.mark.parametrize(
    "f",
    [
        lambda u: -np.log(u),
        lambda u: u * np.log(u),
        lambda u: u**2,
        lambda u: -((u - 1) ** 2),
        lambda u: np.where(u > 500, np.inf, (u - 1) ** 2),
        lambda u: np.sin(3 * (u - 1)),
    ],
)
def test_what_is_no_f_is_refused(f):
    with raises("not-an-f-information"):
        md.FInformation(f)


@pytest.mark.parametrize(
    ("f", "code"),
    [
        (lambda u: u * math.log(u), "function-fails"),
        (lambda u: u - 1 if u > 1 else 0 * u, "function-fails"),
        (lambda u: max(u, 1) - 1, "function-fails"),
        (lambda u: {}[0], "function-fails"),
        (lambda u: 1 / 0, "function-fails"),
        (lambda u: u.logarithm(), "function-fails"),
        (lambda u, v: u, "function-fails"),
        (lambda u: 0.0, "function-fails"),
        (lambda u: u[:, None] - 1, "function-fails"),
        (lambda u: (u - 1) * 1j, "function-fails"),
        (lambda u: np.array([None] * u.size), "function-fails"),
        (lambda u: None, "function-fails"),
        (lambda u: ["0"] * u.size, "function-fails"),
        (3.0, "wrong-type"),
    ],
)
def test_an_f_that_is_not_for_arrays_is_refused_in_one_line(f, code):
    with raises(code) as refused:
        md.FInformation(f)
    assert "\n" not in str(refused.value)


def test_whole_numbers_are_real():
    assert md.FInformation(lambda u: np.zeros(u.shape, dtype=int)).value(np.eye(2), [0.5, 0.5]) == 0


def test_a_gradient_needs_a_derivative():
    utility = md.FInformation(lambda u: (u - 1) ** 2, name="mine")
    with raises("missing-argument", "'mine'"):
        utility.gradient([1.0, 2.0], [0.5, 0.5])


def test_the_derivative_is_taken_where_entries_vanish():
    gradient = md.SquaredHellinger().gradient([2.0, 0.0], [0.5, 0.5])
    assert gradient[1] == -np.inf
    assert gradient[0] == pytest.approx(0.5 * (0.5 * (1 - np.sqrt(2)) ** 2 + 0.5 - (2 - np.sqrt(2)) / 2 + 1 - 2**-0.5))
