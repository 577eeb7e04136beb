"""Baselines beside multi-freq-ldpy, pure-ldp and qif: reports of their clients, and matrices of theirs."""

import math
import random

import numpy as np
import pytest
from chi_square import NEVER_FLAKES, p_value
from numpy.testing import assert_allclose

import mechdesign as md
from mechdesign.mechanism import read_matrix

RECORDS = 20_000
EXACT = 1e-10


def needed(name, package):
    return pytest.importorskip(name, reason=f'{package} is not installed (pip install ".[oracles]")')


def agrees(matrix, reports_of):
    """Whether reports, codes of outputs, of a client are as frequent as a matrix says, for each symbol."""
    for symbol, row in enumerate(matrix):
        seen = np.bincount(reports_of(symbol), minlength=row.size)
        assert p_value(seen, row) > NEVER_FLAKES


def code_of(bits):
    """The position of a vector of bits among all of them in order."""
    return int("".join(str(int(bit)) for bit in bits), 2)


@pytest.fixture
def seeded():
    np.random.seed(11)  # noqa: NPY002 - theirs is the global one
    random.seed(11)


# multi-freq-ldpy


@pytest.fixture
def compiled_seed():
    from numba import njit

    @njit
    def set_seed(value):
        np.random.seed(value)  # noqa: NPY002 - the only one there is in numba's compiled code

    set_seed(7)


@pytest.mark.parametrize("optimized", [True, False])
def test_unary_encodings_of_multi_freq_ldpy(optimized, compiled_seed):
    ue = needed("multi_freq_ldpy.pure_frequency_oracles.UE", "multi-freq-ldpy")
    make = md.baselines.optimized_unary_encoding if optimized else md.baselines.symmetric_unary_encoding
    baseline = make(4, 1.5)
    agrees(baseline.matrix, lambda symbol: [code_of(ue.UE_Client(symbol, 4, 1.5, optimized)) for _ in range(RECORDS)])


def test_randomized_response_of_multi_freq_ldpy(compiled_seed):
    grr = needed("multi_freq_ldpy.pure_frequency_oracles.GRR", "multi-freq-ldpy")
    matrix = md.baselines.k_ary_randomized_response(5, 1.5).matrix
    agrees(matrix, lambda symbol: [grr.GRR_Client(symbol, 5, 1.5) for _ in range(RECORDS)])


def test_subset_selection_of_multi_freq_ldpy(compiled_seed):
    ss = needed("multi_freq_ldpy.pure_frequency_oracles.SS", "multi-freq-ldpy")
    from itertools import combinations

    members = round(6 / (math.exp(0.7) + 1))
    baseline = md.baselines.subset_selection(6, 0.7, members)
    place = {chosen: j for j, chosen in enumerate(combinations(range(6), members))}

    def reports_of(symbol):
        return [place[tuple(sorted(int(x) for x in ss.SS_Client(symbol, 6, 0.7)))] for _ in range(RECORDS)]

    agrees(baseline.matrix, reports_of)


# pure-ldp


@pytest.mark.parametrize("epsilon", [0.5, 2.5])
def test_hadamard_response_of_pure_ldp(epsilon, seeded):
    """Its clients are those of the authors of the mechanism."""
    hadamard = needed("pure_ldp.frequency_oracles.hadamard_response.internal.k2k_hadamard", "pure-ldp")
    make = hadamard.Hadamard_Rand_high_priv if epsilon < math.log(2) else hadamard.Hadamard_Rand_general_original
    client = make(7, epsilon)
    baseline = md.baselines.hadamard_response(7, epsilon)
    assert baseline.exact_matrix.count == client.outsz
    agrees(baseline.matrix, lambda symbol: [client.encode_symbol(symbol) for _ in range(RECORDS)])


def test_direct_encoding_and_unary_encodings_of_pure_ldp(seeded):
    direct = needed("pure_ldp.frequency_oracles.direct_encoding", "pure-ldp")
    unary = needed("pure_ldp.frequency_oracles.unary_encoding", "pure-ldp")
    client = direct.DEClient(epsilon=1.0, d=5, index_mapper=lambda x: x)
    agrees(
        md.baselines.k_ary_randomized_response(5, 1).matrix,
        lambda symbol: [client.privatise(symbol) for _ in range(RECORDS)],
    )
    for optimized, make in (
        (True, md.baselines.optimized_unary_encoding),
        (False, md.baselines.symmetric_unary_encoding),
    ):
        bits = unary.UEClient(epsilon=1.0, d=4, use_oue=optimized, index_mapper=lambda x: x)
        agrees(make(4, 1).matrix, lambda symbol, c=bits: [code_of(c.privatise(symbol)) for _ in range(RECORDS)])


# qif


@pytest.mark.parametrize("size", [3, 5, 10])
def test_matrices_of_qif(size):
    d_privacy = needed("qif.mechanism", "qif").d_privacy
    theirs = d_privacy.randomized_response(size, 1.2)
    assert_allclose(md.baselines.k_ary_randomized_response(size, 1.2).matrix, theirs, rtol=EXACT)
    # Theirs is private with epsilon times the distance, ours for every two symbols.
    theirs = d_privacy.geometric(size, 1.2 / (size - 1))
    assert_allclose(md.baselines.geometric(size, 1.2).matrix, theirs, rtol=EXACT)


def test_a_channel_of_qif_is_analyzed():
    channel = needed("qif.channel", "qif")
    measure = needed("qif.measure", "qif")
    matrix, prior = channel.randu(4), [0.4, 0.3, 0.2, 0.1]
    found = md.analyze(matrix, prior, optimum=False)
    smallest = measure.d_privacy.smallest_epsilon(matrix, lambda i, k: float(i != k))
    assert_allclose(found.ldp_level, smallest, rtol=1e-9)
    posteriors = channel.posteriors(matrix, np.array(prior))
    assert_allclose(np.exp(found.leakages), (posteriors / np.array(prior)[:, None]).max(axis=0), rtol=1e-9)
    assert_allclose(found.utilities["hamming-accuracy"], measure.bayes_vuln.posterior(prior, matrix), rtol=1e-9)


# OpenDP


def test_randomized_response_of_opendp(tmp_path):
    dp = needed("opendp.prelude", "OpenDP")
    dp.enable_features("contrib")
    theirs = dp.m.make_randomized_response(["low", "middle", "high"], prob=0.6)
    (tmp_path / "m.json").write_text(dp.serialize(theirs))
    found = md.analyze(read_matrix(tmp_path / "m.json").matrix, {"high": 0.2, "low": 0.5, "middle": 0.3}, optimum=False)
    # Their epsilon is rounded up too.
    assert_allclose(found.ldp_level, theirs.map(1), rtol=1e-15)
    names = ["low", "middle", "high"]
    matrix = md.baselines.k_ary_randomized_response(3, "log(3)").matrix
    agrees(matrix, lambda symbol: [names.index(theirs(names[symbol])) for _ in range(RECORDS)])
