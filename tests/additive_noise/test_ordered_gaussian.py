import math

import numpy as np
import pytest
from extreme_priors import extreme_priors
from refusals import raises
from scipy.stats import norm

import mechdesign as md
from mechdesign.additive_noise import gaussian_delta, noise_tail, ordered_gaussian_delta

X = [0, 3.5, 1, 2]
P = ["0.1", "0.15", "0.4", "0.35"]


def density(sigma):
    return lambda t: -(t**2) / (2 * sigma**2) - math.log(sigma * math.sqrt(2 * math.pi))


@pytest.mark.combined
@pytest.mark.parametrize("sigma", [0.3, 1, 3])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 1.9])
def test_one_prior_has_the_tail_that_is_integrated_between_crossings(sigma, epsilon):
    ends = (-40 * sigma, 4 + 40 * sigma)
    integrated = noise_tail(density(sigma), X, P, epsilon, ends, grid=8001)
    assert ordered_gaussian_delta(epsilon, sigma, X, P) == pytest.approx(integrated, rel=1e-6)


@pytest.mark.parametrize("p", ["0.3", "0.5"])
@pytest.mark.parametrize("sigma", ["0.5", "2"])
def test_two_numbers_have_the_delta_of_the_binary_attribute(p, sigma):
    binary = gaussian_delta("0.4", sigma, p)
    found = ordered_gaussian_delta("0.4", sigma, [1, -1], [p, 1 - float(p)])
    assert binary <= found * (1 + 1e-9)
    assert found == pytest.approx(binary, rel=1e-6)


@pytest.mark.combined
@pytest.mark.parametrize(
    "known",
    [md.L1Ball(P, "0.1"), md.L1Ball(P, "0.4"), md.ConvexHull([[0.1, 0.15, 0.4, 0.35], [0.3, 0.1, 0.1, 0.5]])],
    ids=["ball", "wide ball", "hull"],
)
@pytest.mark.parametrize("epsilon", [0.5, 1.2])
def test_a_set_has_the_outputs_that_leak_at_some_corner(known, epsilon):
    sigma, corners = 0.8, np.array([[float(q) for q in Q] for Q in extreme_priors(known)])
    edges = np.linspace(-12, 16, 200_001)
    middle = (edges[1:] + edges[:-1]) / 2
    v = np.exp(-((middle - np.array(X)[:, None]) ** 2) / (2 * sigma**2))
    leaks = v.max(axis=0) > math.exp(epsilon) * (corners @ v).min(axis=0)
    masses = np.diff(norm.cdf(edges, np.array(X)[:, None], sigma), axis=1) @ leaks
    expected = (corners @ masses).max()
    found = ordered_gaussian_delta(epsilon, sigma, X, known)
    assert found == pytest.approx(expected, rel=3e-4)
    # Each prior, judged by itself, has no more.
    for Q in corners[:4]:
        assert noise_tail(density(sigma), X, Q, epsilon, (-33, 37)) <= found * (1 + 1e-9)


def test_numbers_that_leak_less_by_themselves_have_none():
    assert ordered_gaussian_delta("log(10)", 1, X, P) == 0
    assert ordered_gaussian_delta("2.3025", 1, X, P) > 0  # the first number has probability 0.1


def test_no_noise_leaks_less_than_the_numbers_at_the_ends():
    for sigma in (1, 10, 100):
        assert 0 < ordered_gaussian_delta(1, sigma, X, P) < 1
    # The number in the middle is rarer than both ends, and does not matter beyond what they leak.
    middle = [ordered_gaussian_delta("log(3)", sigma, [0, 1, 2], ["0.4", "0.2", "0.4"]) for sigma in ("0.1", 3)]
    assert middle[0] == pytest.approx(0.2, abs=1e-3)
    assert middle[1] == 0


def test_delta_falls_with_epsilon_and_grows_with_the_set():
    deltas = [ordered_gaussian_delta(epsilon, 1, X, P) for epsilon in ("0", "0.5", "0.8", "1.4", "2")]
    assert deltas[0] == 1
    assert (np.diff(deltas) < 0).all()
    radii = [ordered_gaussian_delta(1, 1, X, md.L1Ball(P, radius)) for radius in ("0", "0.1", "0.5", "2")]
    assert (np.diff(radii) > 0).all()


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: ordered_gaussian_delta(-1, 1, X, P), "epsilon-out-of-range"),
        (lambda: ordered_gaussian_delta(1, 0, X, P), "out-of-range"),
        (lambda: ordered_gaussian_delta(1, 1, X[:3], P), "wrong-size"),
    ],
)
def test_bad_arguments_are_named(call, code):
    with raises(code):
        call()
