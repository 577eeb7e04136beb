"""Estimates reach the error that their design promises, in simulated collections with fixed seeds.

The output counts of a collection are multinomial; so they are drawn rather than records. The linear estimator is
simulated by 20,000 collections: one standard error of its mean squared error is below 0.5 %. Its expected mean squared
error is known besides, so that of maximum likelihood is found as the known one and the mean difference of the two on
the same counts, which varies little.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

import mechdesign as md
from mechdesign.deploy.likelihood import maximum_likelihood
from mechdesign.deploy.linear import LinearEstimator

WITHIN = 0.03
COLLECTIONS = 20_000


@dataclass(frozen=True)
class Collection:
    """A designed mechanism, and the linear estimator with the weights of the estimate."""

    mechanism: md.Mechanism
    value: float
    estimator: LinearEstimator
    radius: float

    @property
    def prior(self):
        return self.mechanism.guarantee.uncertainty.prior

    def truths(self, rng):
        """Return members of the set: the estimate, one at half the radius in a random direction, one at the border."""
        P, N = self.prior, self.prior.size
        moved = P.copy()
        moved[P.argmax()] -= self.radius / 2
        moved[P.argmin()] += self.radius / 2
        shift = rng.normal(size=N) * P
        shift -= shift.mean()
        shift *= self.radius / 2 / np.abs(shift).sum()
        half = np.maximum(P + shift, P / 2)
        return {"estimate": P, "half way": half / half.sum(), "border": moved}


@cache
def collection(name: str, epsilon: str) -> Collection:
    ball = md.read_problem(f"problems/adult-{name}.toml").problem.uncertainty.l1_ball
    counts = dict(zip(ball.labels, ball.evidence.counts, strict=True))
    known = md.L1Ball.from_counts(counts, delta=1e-9)
    found = md.design(md.DesignProblem(known, epsilon, md.EstimationError()))
    matrix = found.mechanism.matrix
    estimator = LinearEstimator.efficient_at(matrix, np.eye(known.size), known.prior @ matrix)
    return Collection(found.mechanism, found.value, estimator, float(known.radius))


def check_linear(made: Collection, truth, reports: int, rng) -> None:
    """Compare the mean squared error of simulated linear estimates with the promise, and with the known one."""
    p = truth @ made.mechanism.matrix
    functionals = made.estimator.functionals(np.eye(truth.size))
    estimates = rng.multinomial(reports, p / p.sum(), size=COLLECTIONS) / reports @ functionals
    error = reports * ((estimates - truth) ** 2).sum(axis=1).mean()
    assert error == pytest.approx(made.value, rel=WITHIN)
    assert error == pytest.approx(np.trace(made.estimator.covariance(truth, of_records=False)), rel=WITHIN)


def check_likelihood(made: Collection, truth, reports: int, rng, collections: int) -> None:
    """Compare the mean squared error of maximum likelihood, with three standard errors of it, with the promise."""
    matrix = made.mechanism.matrix
    p = truth @ matrix
    functionals = made.estimator.functionals(np.eye(truth.size))
    differences = []
    for counts in rng.multinomial(reports, p / p.sum(), size=collections):
        likely = maximum_likelihood(matrix, counts.astype(float)).frequencies
        linear = counts / reports @ functionals
        differences.append(reports * (((likely - truth) ** 2).sum() - ((linear - truth) ** 2).sum()))
    known = np.trace(made.estimator.covariance(truth, of_records=False))
    error = known + np.mean(differences) + 3 * np.std(differences) / np.sqrt(collections)
    assert error <= (1 + WITHIN) * made.value


@pytest.mark.parametrize("reports", [5_000, pytest.param(50_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("name", "epsilon"),
    [
        ("race", "1"),
        pytest.param("relationship", "1", marks=pytest.mark.slow),
        pytest.param("relationship", "0.1", marks=pytest.mark.slow),
    ],
)
def test_small_designs_reach_their_errors(name, epsilon, reports):
    made = collection(name, epsilon)
    rng = np.random.default_rng(1)
    for truth in made.truths(rng).values():
        check_linear(made, truth, reports, rng)
    check_likelihood(made, made.prior, reports, rng, 200)


SIX = [
    ("relationship", "1"),
    ("relationship", "0.1"),
    ("race", "1"),
    ("workclass", "1"),
    ("occupation", "1"),
    ("education", "1"),
]


@pytest.mark.slow
@pytest.mark.parametrize("reports", [5_000, 50_000])
@pytest.mark.parametrize(("name", "epsilon"), SIX)
def test_designs_reach_their_errors_at_every_member_of_the_set(name, epsilon, reports):
    made = collection(name, epsilon)
    rng = np.random.default_rng(2)
    for truth in made.truths(rng).values():
        assert np.abs(truth - made.prior).sum() <= made.radius * (1 + 1e-9)
        check_linear(made, truth, reports, rng)
        check_likelihood(made, truth, reports, rng, 400)


def test_the_estimators_are_those_of_the_command():
    """The simulation and `estimate_frequencies` compute the same estimates from the same counts."""
    made = collection("relationship", "1")
    P, matrix = made.prior, made.mechanism.matrix
    counts = np.random.default_rng(3).multinomial(5_000, P @ matrix / (P @ matrix).sum())
    named = dict(zip(made.mechanism.outputs, counts.tolist(), strict=True))
    linear = md.estimate_frequencies(named, made.mechanism, method="least-squares")
    functionals = made.estimator.functionals(np.eye(P.size))
    np.testing.assert_allclose(linear.frequencies, counts / 5_000 @ functionals, atol=1e-12)
    likely = md.estimate_frequencies(named, made.mechanism)
    np.testing.assert_allclose(likely.frequencies, maximum_likelihood(matrix, counts.astype(float)).frequencies)
    # The standard errors that are told are those of the promise, up to the error of the estimate they are taken at.
    assert 5_000 * (likely.standard_errors**2).sum() == pytest.approx(made.value, rel=0.05)
