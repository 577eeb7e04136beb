"""What a published file tells: counts that are true on average, tables that are not, and columns that leak together."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import fmpz_mat
from tables import RELATIONSHIP

import mechdesign as md

# Adult, training part: relationship by sex (male, female).
JOINT = {
    "Husband": (13192, 1),
    "Not-in-family": (4430, 3875),
    "Own-child": (2823, 2245),
    "Unmarried": (792, 2654),
    "Wife": (2, 1566),
    "Other-relative": (551, 430),
}


def test_counts_of_published_files_are_unbiased_and_vary_as_the_formula_says():
    rng, made = np.random.default_rng(12), md.design_table(RELATIONSHIP, 1, delta=1e-9).mechanism
    counts = np.array([400, 250, 150, 100, 50, 30])  # in other shares than the table is made for
    codes, K, runs = np.repeat(np.arange(6), counts), made.matrix, 2000
    seen = np.array([np.bincount(made.privatize(codes, rng), minlength=6) for _ in range(runs)])
    variances = counts @ (K * (1 - K))
    assert (np.abs(seen.mean(axis=0) - counts @ K) <= 5 * np.sqrt(variances / runs)).all()
    assert seen.var(axis=0) == pytest.approx(variances, rel=0.15, abs=1e-6)
    own = np.array(list(RELATIONSHIP.values()))
    assert own @ K == pytest.approx(own, rel=1e-12)  # and the file of its counts keeps them


def test_tables_with_another_column_are_biased_as_the_formula_says_and_corrected_by_the_inverse():
    rng = np.random.default_rng(13)
    crossed = np.array(list(JOINT.values())) // 20
    counts = crossed.sum(axis=1)
    made = md.design_table(dict(zip(JOINT, counts.tolist(), strict=True)), 2, known=True).mechanism
    codes, other = np.repeat(np.repeat(np.arange(6), 2), crossed.ravel()), np.tile([0, 1], 6).repeat(crossed.ravel())
    K, runs = made.matrix, 400
    seen = np.mean([np.bincount(2 * made.privatize(codes, rng) + other, minlength=12) for _ in range(runs)], axis=0)
    expected = K.T @ crossed
    error = np.sqrt((K * (1 - K)).T @ crossed / runs) + 1e-9
    assert (np.abs(seen.reshape(6, 2) - expected) <= 5 * error).all()
    assert expected.sum(axis=1) == pytest.approx(counts)  # the margin is that of the file
    assert np.abs(expected - crossed).sum() > 0.02 * crossed.sum()  # and the table is not
    assert np.linalg.solve(K.T, expected) == pytest.approx(crossed, abs=1e-6)


def leakage_of_both(first, second, joint):
    """The greatest leakage of a record of two columns, each published by its own table."""
    worst = 0.0
    for y, z in product(range(first.shape[1]), range(second.shape[1])):
        likelihood = np.outer(first[:, y], second[:, z])
        worst = max(worst, likelihood[joint > 0].max() / (joint * likelihood).sum())
    return math.log(worst)


def test_columns_that_are_published_each_by_itself_leak_more_than_the_sum_and_together_as_promised():
    joint = np.array(list(JOINT.values()))
    first = md.design_table(dict(zip(JOINT, joint.sum(axis=1).tolist(), strict=True)), 1, known=True)
    second = md.design_table(dict(zip("mf", joint.sum(axis=0).tolist(), strict=True)), 1, known=True)
    law = joint / joint.sum()
    assert leakage_of_both(first.mechanism.matrix, second.mechanism.matrix, law) == pytest.approx(3.795, abs=5e-4)
    kept = (law * np.outer(first.mechanism.matrix.diagonal(), second.mechanism.matrix.diagonal())).sum()
    assert kept == pytest.approx(0.6456, abs=5e-5)
    cells = {f"{role} & {sex}": int(n) for role, row in JOINT.items() for sex, n in zip("mf", row, strict=True)}
    both = md.design_table(cells, 2, known=True)
    assert both.value == pytest.approx(0.8105, abs=5e-5)
    assert both.mechanism.leakage <= 2


def test_the_counts_follow_from_an_invariant_matrix():
    made = md.design_table(RELATIONSHIP, 1, delta=1e-9).mechanism
    moved = np.array(made.numerators, dtype=object).T - np.diag([2**made.bits] * 6).astype(object)
    kernel, dimension = fmpz_mat(moved.tolist()).nullspace()
    assert dimension == 1
    law, counts = [Fraction(int(kernel[i, 0])) for i in range(6)], list(RELATIONSHIP.values())
    assert [share / sum(law) for share in law] == [Fraction(count, sum(counts)) for count in counts]


def test_another_law_of_the_ball_keeps_its_margins_as_nearly_as_the_formula_says():
    found, rng = md.design_table(RELATIONSHIP, 1, delta=1e-9), np.random.default_rng(3)
    ball, K = found.problem.uncertainty, found.mechanism.matrix
    moved, t = K - np.eye(6), float(ball.half_radius)
    most = t * max(np.abs(a - b).sum() for a in moved for b in moved)
    for _ in range(200):
        Q = ball.member_near(ball.prior + rng.normal(0, 0.02, 6))
        assert np.abs(Q @ K - Q).sum() <= most + 1e-12
