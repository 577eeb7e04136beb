"""Errors of estimates under local differential privacy: protocols, and optima beside them."""

from __future__ import annotations

from functools import cache
from itertools import combinations, product

import numpy as np

import mechdesign as md
from atlas.numbers import Family, Ours
from mechdesign.baselines import Baseline, hadamard_response, k_ary_randomized_response, symmetric_unary_encoding


def queries(workload: str, n: int) -> np.ndarray:
    """Return the queries of a workload, a row each."""
    if workload == "identity":
        return np.eye(n)
    if workload == "prefix":
        return np.tril(np.ones((n, n)))
    if workload == "allrange":
        return np.array([[float(i <= k <= j) for k in range(n)] for i in range(n) for j in range(i, n)])
    bits = np.array(list(product((0, 1), repeat=n.bit_length() - 1)))
    if workload == "marginals2":
        pairs = combinations(range(bits.shape[1]), 2)
        cells = [(list(pair), values) for pair in pairs for values in product((0, 1), repeat=2)]
        return np.array([(bits[:, pair] == values).all(axis=1) for pair, values in cells], dtype=np.float64)
    return np.array([(-1.0) ** (bits @ row) for row in bits])


def _of_given_data(error: float, W: np.ndarray) -> float:
    """Return the variance for given data, averaged over all, from the error when records are drawn uniformly."""
    n = W.shape[1]
    mean = W.sum(axis=1) / n
    return float(error + mean @ mean - np.sum(W**2) / n)


def _variance(made: Baseline, W: np.ndarray) -> Ours:
    n = W.shape[1]
    return Ours(_of_given_data(md.EstimationError(W).value(made.matrix, np.full(n, 1 / n)), W))


@cache
def _optimum(workload: str, n: int, epsilon: float) -> md.Design:
    everybody = md.L1Ball.from_counts([1] * n, radius=2)
    return md.design(md.DesignProblem(everybody, str(epsilon), md.EstimationError(queries(workload, n))))


def _best_variance(workload: str, n: int, epsilon: float) -> Ours:
    found, W = _optimum(workload, n, epsilon), queries(workload, n)
    return Ours(_of_given_data(found.value, W), _of_given_data(found.bound, W))


def _least_error(symbols: int, epsilon: float) -> Ours:
    found = _optimum("identity", symbols, epsilon)
    return Ours(found.value, found.bound)


FAMILIES = (
    Family(
        "workload-variance-of-randomized-response",
        "variance of a workload's answers by randomized response",
        lambda workload, n, epsilon: _variance(k_ary_randomized_response(n, epsilon), queries(workload, n)),
    ),
    Family(
        "workload-variance-of-hadamard-response",
        "the same by Hadamard response",
        lambda workload, n, epsilon: _variance(hadamard_response(n, epsilon), queries(workload, n)),
    ),
    Family(
        "workload-variance-of-rappor",
        "the same by symmetric unary encoding",
        lambda workload, n, epsilon: _variance(symmetric_unary_encoding(n, epsilon), queries(workload, n)),
    ),
    Family(
        "workload-variance-of-a-local-optimum",
        "the same by a mechanism that a local search found; beside it the certified least under LDP",
        _best_variance,
        not_below=True,
    ),
    Family(
        "error-of-a-protocol",
        "summed error of a protocol at the uniform prior; beside it the certified least under LDP",
        lambda protocol, k, epsilon: _least_error(k, epsilon),  # noqa: ARG005
        not_below=True,
    ),
    Family("least-error-under-ldp", "least summed error under LDP at the uniform prior", _least_error),
)
