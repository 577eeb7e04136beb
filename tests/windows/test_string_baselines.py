"""Variances of frequency oracles for strings, against their whole matrices over all hash functions."""

import itertools
import math

import numpy as np
import pytest
from refusals import raises

from mechdesign import baselines
from mechdesign.windows.string_baselines import (
    STRING_BASELINES,
    count_mean_sketch,
    hadamard_hashing,
    least_under_ldp,
    local_hashing,
)

P = np.array([0.6, 0.3, 0.1])


def variance(rows, estimates):
    """n times the variance of the estimate of string 0 by one report, after a check that it is unbiased for all P."""
    np.testing.assert_allclose(rows @ estimates, [1, 0, 0], atol=1e-12)
    return P @ rows @ estimates**2 - (P @ rows @ estimates) ** 2


def hashes(cells):
    return list(itertools.product(range(cells), repeat=len(P)))


@pytest.mark.parametrize("e", [1.5, 3, 20])
@pytest.mark.parametrize("cells", [2, 3, 5])
def test_local_hashing_over_all_hash_functions(e, cells):
    functions = hashes(cells)
    rows = np.array(
        [[(e if h[x] == y else 1) / (e + cells - 1) for h in functions for y in range(cells)] for x in range(3)]
    ) / len(functions)
    own, other = e / (e + cells - 1), 1 / cells
    estimates = np.array([((h[0] == y) - other) / (own - other) for h in functions for y in range(cells)])
    found = local_hashing(f"log({e})", cells)
    assert found.error_of(P[0]) == pytest.approx(variance(rows, estimates), rel=1e-9)


@pytest.mark.parametrize("e", [1.5, 9])
@pytest.mark.parametrize("cells", [2, 3])
def test_count_mean_sketch_over_all_hash_functions(e, cells):
    functions, kept = hashes(cells), math.sqrt(e) / (math.sqrt(e) + 1)
    vectors = list(itertools.product((0, 1), repeat=cells))
    rows = np.array(
        [
            [
                math.prod(kept if bit == (k == h[x]) else 1 - kept for k, bit in enumerate(bits))
                for h in functions
                for bits in vectors
            ]
            for x in range(3)
        ]
    ) / len(functions)
    other = kept / cells + (1 - kept) * (1 - 1 / cells)
    estimates = np.array([(bits[h[0]] - other) / (kept - other) for h in functions for bits in vectors])
    found = count_mean_sketch(f"log({e})", cells)
    assert found.error_of(P[0]) == pytest.approx(variance(rows, estimates), rel=1e-9)


@pytest.mark.parametrize("e", [1.5, 3, 5, 9.5])
def test_hadamard_response_is_the_baseline_of_few_symbols(e):
    """A symbol that lies in one block; the mean over where all others lie gives the formula."""
    blocks = 1 << (int(e).bit_length() - 1)
    N = 3 * blocks
    matrix = baselines.hadamard_response(N, f"log({e})").matrix
    within, w = matrix.shape[1] // blocks, e + 2 * blocks - 1
    assert within == 4
    supported = matrix[0] > matrix[0].min()
    inside = np.arange(matrix.shape[1]) < within
    estimates = np.where(inside, np.where(supported, 1, -1), 0) * w / (e - 1)
    np.testing.assert_allclose(matrix @ estimates, np.eye(N)[0], atol=1e-9)
    share = 0.4
    moments = matrix @ estimates**2
    same, others = moments[1], moments[-1]
    second = share * moments[0] + (1 - share) * (same / blocks + others * (1 - 1 / blocks))
    assert hadamard_hashing(f"log({e})").error_of(share) == pytest.approx(second - share**2, rel=1e-9)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4"])
def test_nothing_is_below_the_least_error_and_hashing_is_near(epsilon):
    least, e = least_under_ldp(epsilon), math.exp(float(epsilon))
    assert least.error_of(0) == pytest.approx(4 * e / (e - 1) ** 2, rel=1e-12)
    for make in STRING_BASELINES.values():
        assert make(epsilon).error_of(0) >= least.error_of(0) * (1 - 1e-12)
    assert local_hashing(epsilon).error_of(0) < 1.02 * least.error_of(0)


def test_arguments_are_refused_with_what_is_accepted():
    with raises("epsilon-out-of-range"):
        local_hashing(0)
    with raises("not-a-whole-number"):
        local_hashing(1, 1)
    for share in (-0.1, 1.1, math.nan):
        with raises("out-of-range"):
            local_hashing(1).error_of(share)
