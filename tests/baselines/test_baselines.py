"""Each baseline against its definition, computed apart, and against what its paper says of its error."""

import math
from fractions import Fraction
from itertools import combinations, product

import ldp_peers
import numpy as np
import pytest
from numpy.testing import assert_allclose

import mechdesign as md
from mechdesign.baselines.catalogue import NAMED

EXACT = 1e-12
LEVELS = ["log(3)", "0.5", 2, "1e-6"]


def level_by_brute_force(matrix):
    """The greatest log ratio of two probabilities of one output, from rationals."""
    rows = [[Fraction(w, total) for w in row] for row, total in zip(matrix.weights, matrix.totals, strict=True)]
    return max(a[j] / b[j] for a, b in product(rows, rows) for j in range(matrix.count))


def error(baseline, prior):
    return md.EstimationError().value(baseline.matrix, prior)


@pytest.mark.combined
@pytest.mark.parametrize("epsilon", LEVELS)
@pytest.mark.parametrize("name", NAMED)
def test_the_level_of_local_differential_privacy_is_epsilon(name, epsilon):
    baseline = md.baselines.by_name(name, 7, epsilon)
    e = baseline.epsilon.exp_down
    ratio = level_by_brute_force(baseline.exact_matrix)
    assert ratio <= e
    # Roots that are not rational are rounded down to multiples of 2^-64.
    assert float((e - ratio) / e) <= 7 * 2.0**-64
    if name in {"randomized-response", "subset-selection", "hadamard-response", "block-design"}:
        assert ratio == e
    assert baseline.ldp_level <= math.nextafter(float(baseline.epsilon), 9)
    assert_allclose(baseline.ldp_level, float(baseline.epsilon), atol=1e-15)
    assert_allclose(baseline.matrix.sum(axis=1), 1, atol=EXACT)


@pytest.mark.parametrize("name", NAMED)
def test_the_mechanism_of_a_baseline_is_proved_for_every_prior(name):
    prior = {"a": 0.4, "b": 0.2, "c": 0.15, "d": 0.1, "e": 0.08, "f": 0.05, "g": 0.02}
    baseline = md.baselines.by_name(name, 7, 1)
    mechanism = baseline.mechanism(prior)
    assert mechanism.guarantee.uncertainty.holds_every_prior
    assert mechanism.inputs == tuple(prior)
    assert 1 - 1e-9 < mechanism.leakage <= 1
    if baseline.reports_symbols:
        assert mechanism.outputs == mechanism.inputs
    ours = md.MutualInformation().value(mechanism.matrix, list(prior.values()))
    assert_allclose(ours, md.MutualInformation().value(baseline.matrix, list(prior.values())), atol=1e-11)


# Definitions


@pytest.mark.parametrize(("size", "e"), [(2, 3), (5, 2), (8, 7)])
def test_randomized_response_subsets_and_unary_encodings_are_those_of_their_papers(size, e):
    epsilon = f"log({e})"
    makers = md.baselines
    assert_allclose(
        makers.k_ary_randomized_response(size, epsilon).matrix, ldp_peers.randomized_response(size, e).matrix
    )
    for d in range(1, size):
        assert_allclose(
            makers.subset_selection(size, epsilon, d).matrix, ldp_peers.subset_selection(size, e, d).matrix, rtol=EXACT
        )
    for optimized, make in ((True, makers.optimized_unary_encoding), (False, makers.symmetric_unary_encoding)):
        theirs = ldp_peers.unary_encoding(size, e, optimized=optimized).matrix
        assert_allclose(make(size, epsilon).matrix, theirs, rtol=EXACT)


def test_bits_of_unary_encodings_are_turned_independently():
    baseline = md.baselines.optimized_unary_encoding(4, "log(3)")
    names = baseline.exact_matrix.outputs
    for symbol, bit in product(range(4), repeat=2):
        ones = [j for j, name in enumerate(names) if name[bit] == "1"]
        assert_allclose(baseline.matrix[symbol, ones].sum(), 0.5 if bit == symbol else 0.25, rtol=EXACT)


@pytest.mark.parametrize("size", [3, 6, 7, 8, 20])
def test_hadamard_response_below_an_exponential_of_2_is_that_of_high_privacy(size):
    theirs = ldp_peers.hadamard_response(size, 1.5).matrix
    assert_allclose(md.baselines.hadamard_response(size, "log(3/2)").matrix, theirs, rtol=EXACT)


@pytest.mark.parametrize(("size", "e"), [(6, 2), (7, 2), (7, 5), (40, 9), (12, 1000), (3, 1000)])
def test_hadamard_response_has_blocks(size, e):
    """The matrices of the paper: B blocks of b; half of the block of a symbol holds it, any two share a quarter."""
    blocks = 2 ** math.floor(math.log2(min(e, 2 * size)))
    within = 2 ** math.ceil(math.log2(size / blocks + 1))
    baseline = md.baselines.hadamard_response(size, f"log({e})")
    assert baseline.matrix.shape == (size, blocks * within)
    supports = baseline.matrix == baseline.matrix.max()
    assert (supports.sum(axis=1) == within // 2).all()
    assert_allclose(baseline.matrix.max(), e / (within / 2 * e + blocks * within - within / 2), rtol=EXACT)
    for i, k in combinations(range(size), 2):
        same = i // (within - 1) == k // (within - 1)
        assert (supports[i] & supports[k]).sum() == (within // 4 if same else 0)


@pytest.mark.parametrize("size", [2, 3, 6])
def test_geometric_noise_beyond_the_ends_moves_to_the_ends(size):
    alpha = 0.5
    epsilon = f"log({2 ** (size - 1)})"
    noise = {z: (1 - alpha) / (1 + alpha) * alpha ** abs(z) for z in range(-200, 201)}
    expected = np.zeros((size, size))
    for i in range(size):
        for z, mass in noise.items():
            expected[i, min(max(i + z, 0), size - 1)] += mass
    assert_allclose(md.baselines.geometric(size, epsilon).matrix, expected, rtol=EXACT)
    decays = alpha ** np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    cut = decays / decays.sum(axis=1, keepdims=True)
    assert_allclose(md.baselines.truncated_laplace(size, epsilon).matrix, cut, rtol=EXACT)


# What the papers say of the errors, at the uniform prior: Ye and Barg (2018), Acharya and others (2019), Wang (2017)


@pytest.mark.parametrize(("size", "e"), [(4, 3.0), (7, 2.0), (11, 4.0)])
def test_errors_are_those_of_the_papers(size, e):
    epsilon, uniform = f"log({e})", np.full(size, 1 / size)
    for d in (1, 2, 3):
        # Ye and Barg, Proposition III.1: sum of variances, for counts of records that are fixed, plus their own.
        r = (size - 1) ** 2 * (d * e + size - d) ** 2 / (d * (size - d) * (e - 1) ** 2 * size)
        assert_allclose(error(md.baselines.subset_selection(size, epsilon, d), uniform), r, rtol=1e-9)
    response = error(md.baselines.k_ary_randomized_response(size, epsilon), uniform)
    assert_allclose(response, (size - 1) ** 2 * (e + size - 1) ** 2 / ((size - 1) * (e - 1) ** 2 * size), rtol=1e-9)
    # The estimators of Wang and others are linear, and the efficient ones are no worse.
    for optimized, make in (
        (True, md.baselines.optimized_unary_encoding),
        (False, md.baselines.symmetric_unary_encoding),
    ):
        theirs = ldp_peers.unary_encoding(size, e, optimized=optimized).error(uniform)
        if optimized:
            # Given the records, n Var = 4 e / (e - 1)^2 + f; records drawn at random add f (1 - f).
            f = 1 / size
            assert_allclose(theirs, size * (4 * e / (e - 1) ** 2 + f * (1 - f) + f), rtol=1e-9)
        assert error(make(size, epsilon), uniform) <= theirs * (1 + EXACT)
    assert error(md.baselines.hadamard_response(size, "log(3/2)"), uniform) <= (
        ldp_peers.hadamard_response(size, 1.5).error(uniform) * (1 + EXACT)
    )


@pytest.mark.parametrize("size", [7, 11, 13, 15, 21, 31, 37])
def test_block_designs_estimate_as_well_as_all_sets_of_their_size(size):
    from mechdesign.optimize.closed_form.least_errors import least_error_of_sets

    baseline = md.baselines.block_design(size, "log(3)")
    members = int((baseline.matrix[0] > baseline.matrix.min()).sum())
    assert baseline.matrix.shape == (size, size)
    least = float(least_error_of_sets(size, Fraction(3), members))
    assert_allclose(error(baseline, np.full(size, 1 / size)), least, rtol=1e-9)


def test_given_blocks_need_not_be_cyclic():
    # The affine plane of order 3: nine points, twelve lines.
    lines = [[x * 3 + (m * x + b) % 3 for x in range(3)] for m in range(3) for b in range(3)]
    lines += [[x * 3 + y for y in range(3)] for x in range(3)]
    plane = md.baselines.block_design(9, "log(3)", lines)
    assert plane.matrix.shape == (9, 12)
    uniform = np.full(9, 1 / 9)
    assert_allclose(error(plane, uniform), error(md.baselines.subset_selection(9, "log(3)", 3), uniform), rtol=1e-9)


# What is refused


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: md.baselines.optimized_unary_encoding(15, 1), md.LimitError, "32768 outputs; accepted: at most 20000"),
        (lambda: md.baselines.symmetric_unary_encoding(400, 1), md.LimitError, "very many outputs"),
        (lambda: md.baselines.subset_selection(40, 1, 20), md.LimitError, "137846528820 outputs"),
        (lambda: md.baselines.subset_selection(5, 1, 5), md.InputError, "accepted: 1 to 4"),
        (lambda: md.baselines.block_design(9, 1), md.LimitError, "no difference set modulo 9"),
        (lambda: md.baselines.block_design(3, 1, [[0, 1], [1, 2]]), md.InputError, "unequal numbers of blocks"),
        (lambda: md.baselines.block_design(4, 1, [[0, 1], [2, 3]]), md.InputError, "pairs of categories"),
        (lambda: md.baselines.block_design(3, 1, [[0, 3]]), md.InputError, "positions from 0 to 2"),
        (lambda: md.baselines.block_design(3, 1, [[0], [1, 2]]), md.InputError, "all as many"),
        (lambda: md.baselines.geometric(201, 1), md.LimitError, "at most 200"),
        (lambda: md.baselines.hadamard_response(1, 1), md.InputError, "at least 2"),
        (lambda: md.baselines.k_ary_randomized_response(3, 0), md.InputError, "above 0"),
        (lambda: md.baselines.by_name("rappor", 3, 1), md.InputError, "accepted: randomized-response"),
        (
            lambda: md.baselines.geometric(3, 1).mechanism([0.5, 0.5]),
            md.InputError,
            "2 categories, and the mechanism 3",
        ),
    ],
)
def test_what_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
