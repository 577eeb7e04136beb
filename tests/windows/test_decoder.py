"""What reports of windows say: against matrices in rationals, lower bounds, and simulated populations."""

from fractions import Fraction

import numpy as np
import pytest
from refusals import raises
from scipy.sparse import issparse

from mechdesign.numerics.epsilon import Epsilon
from mechdesign.windows import design_windows
from mechdesign.windows.bound import string_bounds
from mechdesign.windows.decoder import Decoder
from mechdesign.windows.hashing import fingerprints
from tests.windows.worlds import COUNTS, EARLIER, UNSEEN, designed, matrix

TOTAL = sum(COUNTS.values())
STRINGS = [*COUNTS, *UNSEEN]


@pytest.mark.sampled
@pytest.mark.parametrize("options", [{}, {"cap": "2"}, {"one_layer": 1}])
def test_means_and_squares_are_those_of_the_matrix(options):
    found = designed(**options).mechanism
    decoder = Decoder(found)
    rows = matrix(found, STRINGS)
    shares = [Fraction(n, TOTAL) for n in COUNTS.values()]
    chances = [sum(P * k for P, k in zip(shares, column, strict=False)) for column in zip(*rows, strict=True)]
    np.testing.assert_allclose(decoder.chances, [float(q) for q in chances], rtol=1e-12)
    for row in rows:  # J P = 1: the mean lift of every string is 1, seen or not, exactly
        assert sum(k / q * q for k, q in zip(row, chances, strict=True)) == 1
    squares = [float(sum(k * k / q for k, q in zip(row, chances, strict=True))) for row in rows]
    np.testing.assert_allclose(decoder.squares(STRINGS), squares, rtol=1e-10)
    read = decoder.reading(decoder.chances, decoder.chances, STRINGS)
    np.testing.assert_allclose(read.means, 1, rtol=1e-12)
    np.testing.assert_allclose(read.sums, 0, atol=1e-12)
    np.testing.assert_allclose(read.sums, decoder.scores(decoder.chances, STRINGS), atol=1e-15)
    light = np.array([string not in found.layout.heavy.strings for string in STRINGS])
    np.testing.assert_allclose(read.seconds[light], np.array(squares)[light], rtol=1e-10)
    np.testing.assert_allclose(read.information[light], np.array(squares)[light] - 1, rtol=1e-10)


def test_errors_are_near_the_bound_and_those_of_unseen_strings_are_the_limit():
    counts = {f"w{k}": round(1e6 / k) for k in range(1, 1001)}
    found = design_windows(counts, 1, known=True, seeds=500)
    assert 1 < found.error / found.bound < 1.02
    assert found.error_of("never seen") == pytest.approx(1 / (np.e - 1), rel=0.01)
    assert found.error_of("w900") > string_bounds(np.array([counts["w900"] / sum(counts.values())]), Epsilon.of("1"))[0]


@pytest.mark.parametrize("moved", [pytest.param(False, marks=pytest.mark.slow), True])
def test_estimates_are_unbiased_and_their_intervals_hold(moved):
    counts = {f"w{k}": round(1e5 / k) for k in range(1, 301)}
    found = design_windows(counts, 1, known=True, seeds=300)
    rng = np.random.default_rng(3)
    P = np.array(list(counts.values())) / sum(counts.values())
    Q = P.copy()
    if moved:
        Q[:20] *= rng.uniform(0.5, 1.5, 20)
        Q /= Q.sum()
    candidates = [*counts, *(f"unseen {k}" for k in range(100))]
    truth = np.concatenate([Q, np.zeros(100)])
    names, n, squared, held = np.array(list(counts)), 40_000, [], []
    for _ in range(3):
        reports = found.mechanism.privatize(names[rng.choice(len(P), n, p=Q)].tolist(), rng)
        estimate = found.estimate(reports, candidates)
        squared.append(n * (estimate.shares - truth) ** 2)
        low, high = estimate.intervals().T
        held.append((low <= truth) & (truth <= high))
        low, high = estimate.intervals(simultaneous=True).T
        assert ((low <= truth) & (truth <= high)).mean() > 0.99
    predicted = np.array([found.error_of(string) for string in (candidates[0], "w250", "unseen 3")])
    assert np.mean(squared) == pytest.approx(0.6, rel=0.15)
    assert np.mean(squared, axis=0)[20:].mean() == pytest.approx(predicted[2], rel=0.12)
    assert 0.93 < np.mean(held) < 0.97


def test_reports_of_another_mechanism_are_refused():
    found, other = designed(), designed(seeds=7)
    reports = found.mechanism.privatize(["s0"] * 9)
    assert found.estimate(reports, ["s0"]).reports == 9
    beyond = found.mechanism.outputs.first + len(found.mechanism.outputs)
    for foreign in (other.mechanism.privatize(["s0"]), np.array([3]), np.array([-1]), np.array([beyond])):
        with raises("wrong-mechanism", str(foreign[0]), found.mechanism.fingerprint[:5]):
            found.estimate(np.append(reports, foreign), ["s0"])
    with raises("wrong-type"):
        found.estimate(reports.astype(float), ["s0"])
    with raises("nothing-given"):
        found.estimate(reports[:0], ["s0"])


def test_fingerprints_tell_everything_that_reports_depend_on():
    """Of the promise only the floor: another epsilon with the same windows would draw the same reports."""
    found = [
        designed(**options).mechanism.fingerprint
        for options in ({}, {"cap": "3"}, {"epsilon": 2}, {"seeds": 5}, {"form": "nfc-casefold"}, {"heavy": EARLIER})
    ]
    assert len(set(found)) == len(found)
    assert designed().mechanism.fingerprint == found[0]


@pytest.mark.parametrize(
    ("candidates", "code"), [(["s0", "s0 "], "label-twice"), ([], "nothing-given"), ([b"s0"], "wrong-record-type")]
)
def test_candidates_are_strings_that_differ(candidates, code):
    found = designed()
    with raises(code):
        found.estimate(found.mechanism.privatize(["s0"]), candidates)


@pytest.mark.parametrize("options", [{}, {"cap": "2"}, {"one_layer": 1}])
def test_sparse_matrices_of_many_windows_are_the_dense_ones(options, monkeypatch):
    mechanism = designed(seeds=3, **options).mechanism
    prints = fingerprints([*list(COUNTS)[:12], "unseen", "another"])
    rng = np.random.default_rng(2)
    weights, amounts = rng.random(len(mechanism.outputs)), rng.random(len(prints))
    found = []
    for limit in (0, np.inf):
        monkeypatch.setattr("mechdesign.windows.decoder._SPARSER", limit)
        decoder = Decoder(mechanism)
        assert issparse(decoder._held(0, prints)) == (limit == 0)
        both = (decoder.products_of_seeds(prints, weights), decoder.means_of_rows(prints, amounts))
        found.append([*decoder.products(prints, weights), *both])
    for sparse, dense in zip(*found, strict=True):
        np.testing.assert_allclose(sparse, dense, rtol=1e-11)
