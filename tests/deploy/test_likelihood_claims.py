"""What maximum likelihood claims of its result, where the method alone would not give it."""

import numpy as np
import pytest
from matrices import circulant, randomized_response

import mechdesign as md
from mechdesign.deploy import likelihood
from mechdesign.deploy.likelihood import maximum_likelihood


def test_every_result_of_a_solver_that_stops_early_is_within_a_millionth_or_refused(monkeypatch):
    refused = 0
    for reports in (1e3, 1e6, 1e9):
        for steps in range(1, 12):
            monkeypatch.setattr(likelihood, "_MOST_STEPS", steps)
            try:
                found = maximum_likelihood(
                    randomized_response(5, 3.0), reports * np.array([0.9, 0.04, 0.03, 0.02, 0.01])
                )
            except md.SolverError:
                refused += 1
            else:
                assert found.gap <= 1e-6 + 20 * 2.0**-52 * reports
    assert 0 < refused < 33


def test_a_rare_output_ties_nothing_that_it_tells_and_a_tie_beside_it_is_centred():
    """Two blocks of four: what an output of probability 1e-9 tells of the first, nothing tells of the second."""
    rare = 1e-9
    matrix = np.zeros((8, 9))
    matrix[:4, :4] = matrix[4:, 4:8] = circulant(4, 2)
    matrix[0] *= 1 - rare
    matrix[0, 8] = rare
    theta = np.array([0.25, 0.05, 0.1, 0.1, 0.15, 0.1, 0.2, 0.05])
    counts = 1e13 * (theta @ matrix)
    found = maximum_likelihood(matrix, counts).frequencies
    np.testing.assert_allclose(found[:4], theta[:4], rtol=1e-3)
    assert abs(((-1.0) ** np.arange(4) / found[4:]).sum()) <= 1e-6
    assert abs(((-1.0) ** np.arange(4) / theta[4:]).sum()) > 1


@pytest.mark.parametrize("seed", range(5))
def test_the_gap_is_the_bound_that_prices_give_above_the_likelihood(seed):
    """At prices and frequencies that have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    columns, fractions = rng.dirichlet(np.ones(6), 4), rng.dirichlet(np.ones(6))
    theta, prices = rng.dirichlet(np.ones(4)), rng.uniform(0.2, 3, 6)
    bound = fractions @ np.log(fractions / prices) + np.log((columns @ prices).max())
    value = fractions @ np.log(theta @ columns)
    (gap,) = likelihood._gaps(columns, fractions[None], theta[None], prices[None])
    assert gap == pytest.approx(bound - value, rel=1e-12)
    for other in rng.dirichlet(np.ones(4), 200):
        assert fractions @ np.log(other @ columns) <= bound
