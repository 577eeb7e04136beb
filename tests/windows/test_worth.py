"""What a design of windows is worth: errors, reports and seeds that are needed, against matrices and simulations."""

import math

import numpy as np
import pytest
from refusals import raises

from mechdesign.windows import design_windows
from mechdesign.windows.collisions import collision_factor, seeds_for
from mechdesign.windows.decoder import Decoder
from tests.windows.worlds import designed


def zipf(size, exponent=1.0, total=10**6):
    return {f"w{k}": round(total / k**exponent) for k in range(1, size + 1)}


def full_error(found, strings):
    """The least error without bias from the whole matrix: the trace of J^-1 - P P'."""
    decoder = Decoder(found.mechanism)
    _, J = decoder.products(decoder.prints(strings), decoder.chances)
    P = np.array([found.shares[string] for string in strings])
    return np.trace(np.linalg.inv(J)) - P @ P


@pytest.mark.sampled
@pytest.mark.parametrize("exponent", [0, 1.2])
def test_the_error_is_that_of_the_whole_matrix_with_many_seeds(exponent):
    """Of M seeds the pairs of light strings differ from their means, which adds about kappa^2 L / (c - 1)^2 M."""
    strings = zipf(60, exponent)
    found = design_windows(strings, 1, known=True, seeds=600, buckets=32)
    light = len(strings) - (0 if found.mechanism.layout.heavy is None else len(found.mechanism.layout.heavy.strings))
    assert light > 30
    more = collision_factor(found.reached) * light / found.seeds
    assert full_error(found, list(strings)) / found.error == pytest.approx(1 + more, abs=0.012)
    assert found.error > found.bound


@pytest.mark.slow
@pytest.mark.parametrize("cap", [None, "3"])
def test_errors_of_strings_are_their_variances(cap):
    found = designed(seeds=50, cap=cap)
    rng = np.random.default_rng(1)
    names, P = list(found.shares), np.array(list(found.shares.values()))
    watched, n, estimates = ["s0", "s4", "s15", "unseen"], 2_000, []
    for _ in range(150):
        records = np.array(names)[rng.choice(len(P), n, p=P)].tolist()
        estimates.append(found.estimate(found.mechanism.privatize(records, rng), watched).shares)
    errors = n * np.var(estimates, axis=0)
    np.testing.assert_allclose(errors, [found.error_of(string) for string in watched], rtol=0.4)
    assert errors.sum() == pytest.approx(sum(map(found.error_of, watched)), rel=0.15)


def test_a_share_stands_for_the_string_that_is_nearest():
    found = design_windows(zipf(300), 1, known=True, seeds=200)
    assert found.error_of(0.9) == found.error_of("w1")
    assert found.error_of(found.shares["w7"]) == found.error_of("w7") == found.error_of(" w7")
    unseen = [found.error_of(f"unseen {k}") for k in range(50)]
    assert found.error_of(0) == found.error_of(0.0) == pytest.approx(np.mean(unseen), rel=0.02)
    for wrong in (-0.1, 1.1, True, None, float("nan")):
        with raises("out-of-range"):
            found.error_of(wrong)


@pytest.mark.slow
def test_reports_needed_bring_the_standard_error():
    found = design_windows(zipf(300), 1, known=True, seeds=60, buckets=64)
    n = found.reports_needed("w300", 0.01)
    assert math.sqrt(found.error_of("w300") / n) <= 0.01 < math.sqrt(found.error_of("w300") / (n - 1))
    assert found.reports_needed(0.0, 0.01, drift=0.05) > n
    rng = np.random.default_rng(2)
    names, P = list(found.shares), np.array(list(found.shares.values()))
    off = [
        found.estimate(
            found.mechanism.privatize(np.array(names)[rng.choice(len(P), n, p=P)].tolist(), rng), ["w300"]
        ).shares[0]
        for _ in range(100)
    ]
    assert np.std(off) == pytest.approx(0.01, rel=0.25)
    for standard_error, code in (
        (0, "out-of-range"),
        (-1, "out-of-range"),
        (math.inf, "not-a-number"),
        (math.nan, "not-a-number"),
    ):
        with raises(code):
            found.reports_needed("w1", standard_error)


def test_collisions_that_no_number_of_reports_makes_up_for_are_told():
    found = design_windows(zipf(300), 1, known=True, seeds=200)
    with raises("no-method", "200 seeds", "more than"):
        found.reports_needed("w300", 0.001, drift=0.5)
    for drift in (-1, 2, None, True):
        with raises("out-of-range"):
            found.seeds_needed(1000, drift)
    assert found.seeds == 200
    assert found.seeds_needed(10**6, 0.02) == seeds_for(found.reached, 10**6, 0.02)
    assert found.seeds_needed(10**6, 0) == 1


@pytest.mark.sampled
@pytest.mark.parametrize("epsilon", ["0.3", "1", "2"])
def test_the_spread_of_pairs_over_seeds_is_the_factor(epsilon):
    """k(c) is the variance over seeds of S_xx' of two light strings, over (c - 1)^2."""
    found = design_windows({f"w{k}": 1 for k in range(20_000)}, epsilon, known=True, seeds=300, buckets=512)
    decoder = Decoder(found.mechanism)
    _, pairs = decoder.products(decoder.prints([f"never {k}" for k in range(60)]), decoder.chances)
    away = pairs[np.triu_indices(60, 1)] - 1
    c = found.reached
    assert np.mean(away**2) * found.seeds / (c - 1) ** 2 == pytest.approx(collision_factor(c), rel=0.1, abs=0.005)


def test_the_share_of_one_layer_seeds_keeps_the_error_near_the_bound():
    counts = {f"s{k}": round(1e7 / k**1.2) for k in range(1, 1_001)}
    made = design_windows(counts, 1, known=True, seeds=100)
    assert made.error < 1.0165 * made.bound
    third = design_windows(counts, 1, known=True, seeds=100, one_layer="0.3")
    assert made.mechanism.layout.one_layer < third.mechanism.layout.one_layer == 30
    assert made.error < third.error


def test_uniform_strings_have_no_heavy_ones_and_many_arcs_keep_a_third():
    counts = {f"s{k}": 1_000 for k in range(40)}
    made = design_windows(counts, 1, known=True, seeds=20, buckets=256)
    assert made.mechanism.layout.one_layer == 6
