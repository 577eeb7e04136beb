"""Optimal mechanisms of "Extremal Mechanisms for Pointwise Maximal Leakage" (GSO): utilities for a known prior.

The text of the paper is not at hand: what is held is what ED and docs/mathematics.md quote of it. Theorem 1 (no more
outputs than symbols) and Example 1 are in test_empirical_distributions.py, Lemma 1 in tests/optimize/test_polytope.py,
Lemma 2 in tests/pml/test_regions.py, and values of real data in tests/test_problems.py.
"""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog
from strategies import F_INFORMATIONS
from tolerances import ALGEBRA, CERTIFIED, SOLVER

import mechdesign as md


@pytest.mark.parametrize(("N", "k"), [(4, 2), (6, 3), (10, 2), (7, 7)])
def test_theorem_4_a_uniform_prior_has_a_singular_mechanism(N, k):
    """At epsilon = log(N/k) each output has k inputs of probability 1/k: the information is log(N/k)."""
    solved = md.design(md.DesignProblem(md.L1Ball([f"1/{N}"] * N), f"log({N}/{k})"))
    assert solved.value == pytest.approx(np.log(N / k), abs=CERTIFIED)
    assert solved.certified


def test_the_first_privacy_region_has_its_mechanism_in_closed_form():
    """P = (.4, .2, .2, .2) and epsilon = log(9/8): 0.0268223106269 nats."""
    P, e = np.array([0.4, 0.2, 0.2, 0.2]), 9 / 8
    # Output j has the least probability that the leakage allows at symbol j, and the greatest one elsewhere.
    matrix = np.where(np.eye(4) == 1, 1 - e * (1 - P), e * P)
    np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=ALGEBRA)
    value = md.MutualInformation().value(matrix, P)
    assert value == pytest.approx(0.0268223106269, abs=5e-14)
    assert md.design(md.DesignProblem(md.L1Ball(["0.4", "0.2", "0.2", "0.2"]), "log(9/8)")).value == pytest.approx(
        value, abs=CERTIFIED
    )


@pytest.mark.combined
@pytest.mark.parametrize("utility", F_INFORMATIONS, ids=lambda u: u.name)
@pytest.mark.parametrize("prior", [["1/2", "1/3", "1/6"], ["2/5", "1/5", "1/5", "1/5"], ["1/5"] * 5])
def test_theorem_3_up_to_the_end_of_the_first_region(utility, prior):
    """p_ij = e P_j and p_jj = 1 - e (1 - P_j), while e (1 - min P) <= 1."""
    exact = [Fraction(p) for p in prior]
    end = 1 / (1 - min(exact))
    P = np.array([float(p) for p in exact])
    for e in (1 + (end - 1) / 3, end):
        diagonal = [float(1 - e * (1 - p)) for p in exact]
        matrix = np.where(np.eye(P.size) == 1, diagonal, float(e) * P)
        np.testing.assert_allclose(md.leakage(matrix, P), np.log(float(e)), atol=ALGEBRA)
        solved = md.design(md.DesignProblem(md.L1Ball(prior), f"log({e})", utility))
        assert solved.certified
        # Between what the rounded mechanism reaches and what no mechanism exceeds.
        assert solved.value - ALGEBRA <= utility.value(matrix, P) <= solved.upper_bound + ALGEBRA


@pytest.mark.parametrize(("N", "e"), [(5, "3/2"), (7, "3"), (10, "27/10"), (12, "5/4")])
def test_theorem_4_between_the_singular_mechanisms(N, e):
    """k = floor(N / e) entries e and one entry r = N - k e in each column, over N."""
    ratio = Fraction(e)
    k = int(N / ratio)
    r = float(N - k * ratio)
    information = k * float(ratio) / N * np.log(float(ratio)) + (r / N * np.log(r) if r > 0 else 0)
    solved = md.design(md.DesignProblem(md.L1Ball([f"1/{N}"] * N), f"log({e})"))
    assert solved.value == pytest.approx(information, abs=CERTIFIED)


@pytest.mark.combined
@pytest.mark.parametrize("e", ["6/5", "3/2", "2", "3"])
@pytest.mark.parametrize("utility", F_INFORMATIONS, ids=lambda u: u.name)
def test_theorem_6_the_linear_program_over_all_extreme_columns(utility, e):
    """Columns with entries e on a set S, one entry between 0 and e, and 0 elsewhere, of mean 1."""
    exact, ratio = [Fraction(2, 5), Fraction(3, 10), Fraction(1, 5), Fraction(1, 10)], Fraction(e)
    columns = []
    for size in range(4):
        for S in combinations(range(4), size):
            for f in set(range(4)) - set(S):
                left = (1 - ratio * sum(exact[i] for i in S)) / exact[f]
                if 0 <= left <= ratio:
                    columns.append([ratio if i in S else left if i == f else 0 for i in range(4)])
    V, P = np.array(columns, dtype=float).T, np.array([float(p) for p in exact])
    worth = [utility.value(np.c_[v], P) for v in V.T]
    best = -linprog(-np.array(worth), A_eq=V, b_eq=np.ones(4), method="highs").fun
    solved = md.design(md.DesignProblem(md.L1Ball(exact), f"log({e})", utility))
    assert solved.value == pytest.approx(best, abs=SOLVER)
    assert (solved.mechanism.matrix > 0).any(axis=0).sum() <= 4
