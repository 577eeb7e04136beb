"""Leakage and utility beside qif, a package for quantitative information flow (posteriors, hyper-distributions)."""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from strategies import random_ball, random_mechanism
from tolerances import ALGEBRA

import mechdesign as md

REASON = 'qif is not installed (pip install ".[oracles]")'
channel = pytest.importorskip("qif.channel", reason=REASON)
measure = pytest.importorskip("qif.measure", reason=REASON)

SEEDS = range(8)
RADII = ("0", "0.05", "0.6", "2")
NAMES = (*RADII, "hull")
STOPPED = 1e-11  # where their iterations stop


def rationals(array):
    return np.array([[Fraction(x) for x in row] for row in array], dtype=object)


def every_mechanism():
    rng = np.random.default_rng(21)
    for radius in RADII:
        ball = random_ball(rng, 4, radius)
        yield md.design(md.DesignProblem(ball, epsilon=1)).mechanism
    hull = md.ConvexHull([["0.5", "0.3", "0.2"], ["0.2", "0.3", "0.5"]])
    yield md.design(md.DesignProblem(hull, epsilon="log(3)")).mechanism


@cache
def mechanisms():
    return dict(zip(NAMES, every_mechanism(), strict=True))


@pytest.fixture(params=NAMES)
def mechanism(request):
    return mechanisms()[request.param]


def test_proved_leakage_is_the_greatest_posterior_over_prior_in_rational_arithmetic(mechanism):
    scale = 2**mechanism.bits
    matrix = rationals([[Fraction(v, scale) for v in row] for row in mechanism.numerators.tolist()])
    known = mechanism.guarantee.uncertainty.exact_set
    for j, proved in enumerate(mechanism.proof.ratios):
        # Under the worst prior of this output; symbols to which it gives no mass have no posterior over prior.
        _, worst = known.exact_worst_mean(mechanism.numerators[:, j].tolist())
        posteriors = channel.posteriors(matrix, np.array(worst, dtype=object))
        rows = [i for i, q in enumerate(worst) if q > 0]
        ratios = {i: posteriors[i, j] / worst[i] for i in rows}
        likeliest = int(mechanism.numerators[:, j].argmax())
        assert max(ratios.values()) <= proved
        if worst[likeliest] > 0:
            assert max(ratios.values()) == proved
        # Nobody in the set learns more: also not at the centre.
        center = np.array(known.center, dtype=object)
        there = channel.posteriors(matrix, center)
        assert max(there[i, j] / center[i] for i in range(known.size) if center[i] > 0) <= proved


@pytest.mark.parametrize("seed", SEEDS)
def test_leakage_at_a_prior(seed):
    rng = np.random.default_rng(seed)
    matrix, prior = random_mechanism(rng, 5, 7), rng.dirichlet(np.ones(5))
    posteriors = channel.posteriors(matrix, prior)
    assert_allclose(md.leakage(matrix, prior), np.log((posteriors / prior[:, None]).max(axis=0)), atol=ALGEBRA)
    # The hyper-distribution leaves out outputs that never occur and merges those that tell the same.
    outer, inner = channel.hyper(matrix, prior)
    ratios = (inner / prior[:, None]).max(axis=0)
    assert_allclose(md.epsilon_min(matrix, prior), math.log(ratios.max()), atol=ALGEBRA)
    # On average it is maximal leakage, which qif calls the multiplicative Bayes capacity.
    outputs = prior @ matrix
    assert_allclose(outputs @ np.exp(md.leakage(matrix, prior)), measure.bayes_vuln.mult_capacity(matrix), rtol=ALGEBRA)
    assert_allclose(outer @ ratios, measure.bayes_vuln.mult_capacity(matrix), rtol=ALGEBRA)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_whole_simplex_is_local_differential_privacy(seed):
    rng = np.random.default_rng(seed)
    matrix = random_mechanism(rng, 4, 5) + 1e-2
    matrix /= matrix.sum(axis=1, keepdims=True)
    everything = md.L1Ball([0.25] * 4, radius=2)
    smallest = measure.d_privacy.smallest_epsilon(matrix, lambda i, k: float(i != k))
    assert_allclose(md.leakage_capacity(matrix, everything), smallest, rtol=ALGEBRA)


@pytest.mark.parametrize("seed", SEEDS)
def test_utilities(seed):
    rng = np.random.default_rng(seed)
    matrix, prior = random_mechanism(rng, 5, 7), rng.dirichlet(np.ones(5))
    bits = measure.shannon.add_leakage(prior, matrix)
    assert_allclose(md.MutualInformation().value(matrix, prior), bits * math.log(2), atol=ALGEBRA)
    assert_allclose(
        md.HammingAccuracy().value(matrix, prior), measure.bayes_vuln.posterior(prior, matrix), atol=ALGEBRA
    )
    gains = rng.random((3, 5))
    assert_allclose(
        md.ExpectedGain(gains).value(matrix, prior), measure.g_vuln.posterior(gains, prior, matrix), atol=ALGEBRA
    )


# Estimation


@pytest.mark.parametrize("size", [200, 20_000])
def test_maximum_likelihood_is_where_iterative_bayesian_updates_end(mechanism, size):
    rng = np.random.default_rng(6)
    records = rng.choice(len(mechanism.inputs), size=size, p=mechanism.guarantee.uncertainty.prior)
    reports = mechanism.privatize(records, rng)
    ours = md.estimate_frequencies(reports, mechanism).frequencies
    shares = np.bincount(reports, minlength=len(mechanism.outputs)) / size
    theirs, _ = channel.iterative_bayesian_update(mechanism.matrix, shares, max_diff=1e-14, max_iter=1_000_000)

    def likelihood(frequencies):
        seen = shares > 0
        return shares[seen] @ np.log((frequencies @ mechanism.matrix)[seen])

    # Their iterations rise to the maximum; ours may not be below them.
    assert likelihood(ours) >= likelihood(theirs) - ALGEBRA
    assert_allclose(ours, theirs, atol=STOPPED)
