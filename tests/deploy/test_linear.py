import numpy as np
import pytest
from matrices import circulant
from numpy.testing import assert_allclose
from strategies import random_mechanism
from tolerances import ALGEBRA

from mechdesign.deploy import linear
from mechdesign.deploy.identification import identify
from mechdesign.deploy.linear import LinearEstimator, Seen, greatest_likely_mean, greatest_mean


def estimator_at(matrix, theta):
    return LinearEstimator.efficient_at(matrix, identify(matrix).basis, theta @ matrix)


def random_case(seed, inputs=4, outputs=7):
    rng = np.random.default_rng(seed)
    return rng, random_mechanism(rng, inputs, outputs), rng.dirichlet(np.ones(inputs))


@pytest.mark.parametrize("seed", range(5))
def test_estimates_are_unbiased_and_sum_to_1(seed):
    _, matrix, theta = random_case(seed)
    u = estimator_at(matrix, theta).functionals(np.eye(4))
    assert_allclose(matrix @ u, np.eye(4), atol=1e-10)
    assert_allclose(u.sum(axis=1), 1, atol=1e-10)


def test_with_dependent_rows_identifiable_sums_are_unbiased():
    matrix = circulant(6, 2)
    pairs = np.array([[1.0, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0]]).T
    u = estimator_at(matrix, np.full(6, 1 / 6)).functionals(pairs)
    assert_allclose(matrix @ u, pairs, atol=ALGEBRA)


@pytest.mark.parametrize("seed", range(5))
def test_no_other_unbiased_estimate_varies_less(seed):
    rng, matrix, theta = random_case(seed)
    p = theta @ matrix
    u = estimator_at(matrix, theta).functionals(np.eye(4))[:, 0]
    _, _, right = np.linalg.svd(matrix)
    others = u + rng.normal(size=(50, 3)) @ right[4:]
    assert_allclose(others @ matrix.T, np.tile(np.eye(4)[0], (50, 1)), atol=1e-9)
    assert (others**2 @ p >= u**2 @ p - ALGEBRA).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_covariance_is_the_inverse_fisher_information(seed):
    _, matrix, theta = random_case(seed)
    p = theta @ matrix
    # theta is written by all but its last entry, so that its sum stays 1.
    slopes = (matrix[:-1] - matrix[-1]) / np.sqrt(p)
    covariance = estimator_at(matrix, theta).covariance(theta, of_records=False)
    assert_allclose(covariance[:-1, :-1], np.linalg.inv(slopes @ slopes.T), rtol=1e-8)
    assert_allclose(covariance.sum(axis=0), 0, atol=1e-9)


def test_covariances_of_a_record_and_of_its_noise_add_up():
    _, matrix, theta = random_case(0)
    estimator = estimator_at(matrix, np.full(4, 0.25))  # not the efficient one
    u = estimator.functionals(np.eye(4))
    joint = theta[:, None] * matrix
    errors = u[None, :, :] - np.eye(4)[:, None, :]  # of a record x and an output y
    noise = np.einsum("xy,xyi,xyj->ij", joint, errors, errors)
    of_records = estimator.covariance(theta, of_records=True)
    assert_allclose(of_records, noise, atol=1e-10)
    of_population = estimator.covariance(theta, of_records=False)
    assert_allclose(of_population - of_records, np.diag(theta) - np.outer(theta, theta), atol=1e-10)


# greatest_mean


def greatest(functionals, fractions, radius):
    """Return the greatest mean of each column of functionals, all of the same fractions."""
    rows = np.array(functionals, dtype=float).T
    return greatest_mean(Seen.of(rows, np.broadcast_to(fractions, rows.shape)), np.array(radius))


def wilson(fraction, radius):
    return (fraction + radius / 2 + np.sqrt(radius * fraction * (1 - fraction) + radius**2 / 4)) / (1 + radius)


@pytest.mark.parametrize("fraction", [0.0, 1e-6, 0.1, 0.5, 0.999, 1.0])
@pytest.mark.parametrize("radius", [1e-12, 1e-4, 0.1, 10.0])
def test_two_outputs_give_the_interval_of_wilson(fraction, radius):
    found = greatest(np.array([[1.0], [0.0]]), np.array([fraction, 1 - fraction]), np.array([radius]))
    expected = wilson(fraction, radius)
    assert abs(found[0] - expected) <= 1e-8 * (expected - fraction) + 1e-15


def test_the_limit_is_the_optimum_of_the_score_region():
    import cvxpy as cp

    rng = np.random.default_rng(0)
    for _ in range(8):
        size = int(rng.integers(2, 8))
        u, radius = rng.normal(size=size), 10 ** rng.uniform(-2, 1)
        counts = rng.multinomial(rng.integers(1, 40), rng.dirichlet(np.full(size, 0.4)))
        fractions = counts / counts.sum()
        seen = counts > 0
        p = cp.Variable(size, nonneg=True)
        near = cp.sum(cp.multiply(fractions[seen] ** 2, cp.inv_pos(p[seen]))) <= 1 + radius
        program = cp.Problem(cp.Maximize(u @ p), [cp.sum(p) == 1, near])
        program.solve(solver=cp.CLARABEL)
        found = greatest(u[:, None], fractions, np.array([radius]))
        assert abs(found[0] - program.value) <= 1e-6


def test_an_output_never_reported_may_have_probability_z_squared_over_n():
    found = greatest(np.array([[1.0], [0.0], [0.0]]), np.array([0.0, 0.3, 0.7]), np.array([4 / 1000]))
    assert_allclose(found, 0.004 / 1.004, rtol=1e-9)


def test_many_reports_give_z_standard_errors():
    rng = np.random.default_rng(1)
    u, p = rng.normal(size=(6, 3)), rng.dirichlet(np.ones(6))
    spread = np.sqrt(p @ u**2 - (p @ u) ** 2)
    for radius in (1e-8, 1e-14):
        assert_allclose((greatest(u, p, np.full(3, radius)) - p @ u) / np.sqrt(radius), spread, rtol=1e-3)


def test_a_constant_has_no_spread():
    assert greatest(np.full((3, 1), 2.5), np.array([0.5, 0.5, 0.0]), np.array([0.1])).tolist() == [2.5]


@pytest.mark.parametrize("region", [greatest_mean, greatest_likely_mean])
def test_limits_of_many_outputs_take_few_evaluations(monkeypatch, region):
    """A search over all logarithms of m takes 14 to 19 of them for each limit; Newton's method from the moments, 4."""
    rng, points = np.random.default_rng(0), []
    u, p = rng.normal(size=(50, 136)), rng.dirichlet(np.ones(136))
    fractions = np.repeat(rng.multinomial(200, p)[None] / 200, 50, axis=0)
    fractions[np.arange(50), u.argmax(axis=1)] += 0.0025
    seen = Seen.of(u, fractions / fractions.sum(axis=1, keepdims=True))
    inner = linear.newton_roots

    def counted(values, *given):
        return inner(lambda x, of: (points.append(x.size), values(x, of))[1], *given)

    monkeypatch.setattr(linear, "newton_roots", counted)
    region(seen, np.full(50, 0.02))
    assert sum(points) <= 4.5 * 50
