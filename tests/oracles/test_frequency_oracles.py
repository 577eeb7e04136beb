"""Frequency oracles of multi-freq-ldpy: their clients' reports, and their errors beside the certified least error."""

import math

import ldp_peers
import numpy as np
import pytest
from numpy.testing import assert_allclose

import mechdesign as md

REASON = 'multi-freq-ldpy is not installed (pip install ".[oracles]")'
ue = pytest.importorskip("multi_freq_ldpy.pure_frequency_oracles.UE", reason=REASON)
ss = pytest.importorskip("multi_freq_ldpy.pure_frequency_oracles.SS", reason=REASON)
grr = pytest.importorskip("multi_freq_ldpy.pure_frequency_oracles.GRR", reason=REASON)
variance = pytest.importorskip("multi_freq_ldpy.pure_frequency_oracles.Variance_PURE", reason=REASON)

N, EPSILON = 6, 1.0
E = math.exp(EPSILON)
TRUTH = np.array([0.3, 0.22, 0.18, 0.14, 0.1, 0.06])
MEMBERS = round(N / (E + 1))  # of their sets
RECORDS = 40_000
SPREAD = 6  # standard errors by which means of simulations may be off: two in 10^9 are by chance


@pytest.fixture(scope="module")
def best():
    ball = md.L1Ball(["0.3", "0.22", "0.18", "0.14", "0.1", "0.06"], radius=2)
    return md.design(md.DesignProblem(ball, EPSILON, md.EstimationError()))


def codes_of_bits(bits):
    return np.asarray(bits, dtype=int) @ 2 ** np.arange(N - 1, -1, -1)


def seeded(client, records, seed):
    from numba import njit

    @njit
    def set_seed(value):
        np.random.seed(value)  # noqa: NPY002 - the only one there is in numba's compiled code

    set_seed(seed)
    return [client(int(record)) for record in records]


def sets_as_bits(reports):
    bits = np.zeros((len(reports), N), dtype=bool)
    bits[np.arange(len(reports))[:, None], np.array(reports)] = True
    return bits


def their_sets():
    """Subset selection with its columns in the order of codes of bits."""
    peer = ldp_peers.subset_selection(N, E, MEMBERS)
    return peer, {code: place for place, code in enumerate(codes_of_bits(peer.supports.T).tolist())}


ORACLES = {
    "OUE": (
        ldp_peers.unary_encoding(N, E, optimized=True),
        lambda record: ue.UE_Client(record, N, EPSILON, True),
        lambda reports: ue.UE_Aggregator_MI(reports, EPSILON, True),
    ),
    "SUE": (
        ldp_peers.unary_encoding(N, E, optimized=False),
        lambda record: ue.UE_Client(record, N, EPSILON, False),
        lambda reports: ue.UE_Aggregator_MI(reports, EPSILON, False),
    ),
    "SS": (
        their_sets()[0],
        lambda record: ss.SS_Client(record, N, EPSILON),
        lambda reports: ss.SS_Aggregator_MI(reports, N, EPSILON),
    ),
}


def outputs(name, reports):
    """The output of the peer's mechanism for each of their reports."""
    if name == "SS":
        places = their_sets()[1]
        return np.array([places[code] for code in codes_of_bits(sets_as_bits(reports)).tolist()])
    return codes_of_bits(reports)


@pytest.mark.parametrize("name", ORACLES)
def test_their_reports_are_estimated_by_both(name):
    """Same reports: theirs is the estimator of the literature, and ours has the standard errors that it promises."""
    peer, client, aggregate = ORACLES[name]
    records = np.random.default_rng(1).choice(N, RECORDS, p=TRUTH)
    reports = seeded(client, records, 7)
    counts = np.bincount(outputs(name, reports), minlength=peer.matrix.shape[1])
    literature = peer.estimate(counts)
    assert literature.min() > 0  # so that they do not clip
    assert_allclose(aggregate(reports), literature / literature.sum(), rtol=1e-9)
    mechanism, merged = peer.mechanism(EPSILON, ["0.3", "0.22", "0.18", "0.14", "0.1", "0.06"])
    for method in ("maximum-likelihood", "least-squares"):
        found = md.estimate_frequencies(merged[outputs(name, reports)], mechanism, method=method)
        assert (np.abs(found.frequencies - TRUTH) < SPREAD * found.standard_errors).all()
        # The sum of the variances is the objective, up to the noise of the estimate at which it is computed.
        promised = md.EstimationError().value(peer.matrix, TRUTH)
        assert (found.standard_errors**2).sum() * RECORDS == pytest.approx(promised, rel=0.01)


@pytest.mark.parametrize("name", ORACLES)
def test_their_variance_is_the_formula_without_what_sampling_adds(name):
    peer, _, _ = ORACLES[name]
    total = sum(variance.VAR_Pure(peer.p, peer.q, 1, f) + f * (1 - f) for f in TRUTH)
    assert peer.error(TRUTH) == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("name", ORACLES)
def test_no_oracle_is_below_the_certified_bound(name, best):
    peer, _, _ = ORACLES[name]
    error = md.EstimationError().value(peer.matrix, TRUTH)
    assert best.lower_bound <= error <= peer.error(TRUTH) * (1 + 1e-9)
    assert best.value <= error * (1 + best.tol)


def test_simulated_errors_of_both_on_the_same_records(best):
    """Mean squared errors of many small samples, each estimated without bias from reports of both."""
    size, repetitions = 1_500, 60
    rng = np.random.default_rng(3)
    peer, client, aggregate = ORACLES["OUE"]
    squares = {"theirs": [], "clipped": [], "ours": []}
    for repetition in range(repetitions):
        records = rng.choice(N, size, p=TRUTH)
        reports = seeded(client, records, repetition)
        counts = np.bincount(outputs("OUE", reports), minlength=peer.matrix.shape[1])
        private = best.mechanism.privatize(records, rng)
        found = {
            "theirs": peer.estimate(counts),
            "clipped": aggregate(reports),
            "ours": md.estimate_frequencies(private, best.mechanism, method="least-squares").frequencies,
        }
        for name, frequencies in found.items():
            squares[name].append(size * ((frequencies - TRUTH) ** 2).sum())
    means = {name: np.mean(several) for name, several in squares.items()}
    spreads = {name: np.std(several) / math.sqrt(repetitions) for name, several in squares.items()}
    assert abs(means["theirs"] - peer.error(TRUTH)) < SPREAD * spreads["theirs"]
    assert abs(means["ours"] - best.value) < SPREAD * spreads["ours"]
    # Clipping and normalising helps them, but not below the error of the best mechanism by more than chance.
    assert means["clipped"] < means["theirs"]
    assert means["clipped"] > best.lower_bound - SPREAD * spreads["clipped"]
