"""Optimal mechanisms of "Extremal Mechanisms for Pointwise Maximal Leakage" (GSO): utilities for a known prior."""

import numpy as np
import pytest
from tolerances import ALGEBRA, CERTIFIED

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
