"""What is known of channels and of randomized response: vulnerabilities, entropies, levels of privacy."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, log2

import numpy as np
from scipy.optimize import minimize_scalar

import mechdesign as md
from atlas.numbers import Family, Ours

Channel = Sequence[Sequence[float]]
_ACCURACY, _INFORMATION = md.HammingAccuracy(), md.MutualInformation()


def local_level(channel: Channel | np.ndarray) -> float:
    """Return the least epsilon for which a channel is locally differentially private."""
    return md.leakage_capacity(channel, md.L1Ball.from_counts([1] * len(channel), radius=2))


def _entropy(prior: Sequence[float]) -> float:
    return _INFORMATION.value(np.eye(len(prior)), prior) / log(2)


def _shannon_capacity(channel: Channel) -> Ours:
    """Return the greatest information over all priors; the channels of more than two rows are symmetric."""
    if len(channel) > 2:
        return Ours(_INFORMATION.value(channel, [1 / len(channel)] * len(channel)) / log(2))
    found = minimize_scalar(
        lambda p: -_INFORMATION.value(channel, [p, 1 - p]), bounds=(0, 1), method="bounded", options={"xatol": 1e-10}
    )
    return Ours(-found.fun / log(2))


def _best_accuracy(size: int, epsilon: float) -> Ours:
    everybody = md.L1Ball.from_counts([1] * size, radius=2)
    found = md.design(md.DesignProblem(everybody, str(epsilon), _ACCURACY))
    return Ours(found.value, found.bound)


def _top_k(prior: Sequence[float], epsilon: float) -> Ours:
    """Return the size of the best set of most likely labels, and the certified greatest accuracy under LDP."""
    falling = sorted(prior, reverse=True)
    accuracies = [sum(falling[:k]) * exp(epsilon) / (exp(epsilon) + k - 1) for k in range(1, len(prior) + 1)]
    size = max(range(len(prior)), key=lambda k: (accuracies[k] > max(accuracies) * (1 - 1e-12), k)) + 1
    everybody = md.L1Ball(list(map(str, prior)), 2)
    found = md.design(md.DesignProblem(everybody, str(epsilon), _ACCURACY))
    return Ours([size, found.value], found.bound)


def _kept(size: int, kept: float) -> np.ndarray:
    other = (1 - kept) / (size - 1)
    return np.full((size, size), other) + (kept - other) * np.eye(size)


def _randomized_response(noise_parameter: float, buckets: int) -> Ours:
    kept = 1 - noise_parameter + noise_parameter / buckets
    K = md.baselines.k_ary_randomized_response(buckets, log(kept * buckets / noise_parameter)).matrix
    return Ours([float(K[0, 0]), float(K[0, 1]), local_level(K)])


def _two_rounds(protocol: str, k: int, p1: float, q1: float, p2: float, q2: float) -> Ours:
    """Return the level of the first report, of both rounds together."""
    if protocol == "L_GRR":
        return Ours(local_level(_kept(k, p1) @ _kept(k, p2)))
    kept, turned = p1 * p2 + (1 - p1) * q2, q1 * p2 + (1 - q1) * q2
    return Ours(_level_of_bits(k, kept, turned))


def _level_of_bits(k: int, kept: float, turned: float) -> float:
    """Return the level of k independent bits: kept is the chance of a 1 for the own symbol, turned for others."""
    outputs = np.array([[(y >> x) & 1 for x in range(k)] for y in range(2**k)])
    chances = np.where(np.eye(k, dtype=bool)[:, None, :], kept, turned)
    return local_level(np.prod(np.where(outputs[None] == 1, chances, 1 - chances), axis=2))


FAMILIES = (
    Family(
        "posterior-bayes-vulnerability",
        "chance of the best guess after a report",
        lambda prior, channel: Ours(_ACCURACY.value(channel, prior)),
    ),
    Family(
        "posterior-bayes-risk",
        "chance of error of the best guess after a report",
        lambda prior, channel: Ours(1 - _ACCURACY.value(channel, prior)),
    ),
    Family(
        "multiplicative-bayes-capacity",
        "exponential of the maximal leakage",
        lambda channel: Ours(float(np.max(channel, axis=0).sum())),
    ),
    Family(
        "min-entropy-leakage",
        "logarithm (bits) of the factor by which the best guess improves",
        lambda prior, channel: Ours(log2(_ACCURACY.value(channel, prior) / max(prior))),
    ),
    Family("least-local-epsilon", "least epsilon of LDP of a channel", lambda channel: Ours(local_level(channel))),
    Family("entropy", "entropy of a prior, bits", lambda prior: Ours(_entropy(prior))),
    Family(
        "conditional-entropy",
        "entropy that a report leaves, bits",
        lambda prior, channel: Ours(_entropy(prior) - _INFORMATION.value(channel, prior) / log(2)),
    ),
    Family("shannon-capacity", "greatest information over all priors, bits", _shannon_capacity),
    Family("accuracy-of-the-best-local-mechanism", "greatest accuracy under LDP, uniform prior", _best_accuracy),
    Family(
        "epsilon-of-randomized-response",
        "least epsilon of LDP of randomized response",
        lambda size, epsilon: Ours(local_level(md.baselines.k_ary_randomized_response(size, epsilon).matrix)),
    ),
    Family(
        "randomized-response-losses",
        "randomized response: chances of the own and of another symbol, and its level",
        _randomized_response,
    ),
    Family(
        "loss-against-the-uniform-output",
        "PML of randomized response at the uniform prior",
        lambda noise_parameter, buckets: Ours(
            float(max(md.leakage(_kept(buckets, 1 - noise_parameter * (1 - 1 / buckets)), [1 / buckets] * buckets)))
        ),
    ),
    Family(
        "epsilon-of-a-kept-share",
        "level of randomized response that keeps the symbol with a given chance",
        lambda probability, categories=2: Ours(local_level(_kept(categories, probability))),
    ),
    Family(
        "share-kept-by-randomized-response",
        "chance of the own symbol under randomized response",
        lambda categories, epsilon: Ours(
            float(md.baselines.k_ary_randomized_response(categories, epsilon).matrix[0, 0])
        ),
    ),
    Family(
        "epsilon-of-unary-encoding",
        "level of permanent bits that are turned with chance f/2",
        lambda f, max_weight: Ours(max_weight * _level_of_bits(4, 1 - f / 2, f / 2)),
    ),
    Family(
        "epsilon-of-two-rounds",
        "level of the first report of two rounds, as its parameter states it",
        _two_rounds,
        differs="the formula of the second round of randomized response holds for two symbols only: with more, other "
        "wrong symbols lead to the same report, and the first report is more private than stated",
    ),
    Family(
        "epsilon-of-fast-subset-selection",
        "level that the fast encoding of subset selection states",
        lambda k, epsilon, d, p, q: Ours(_level_of_bits(k, p, q)),  # noqa: ARG005
        differs="the fast encoding draws each bit on its own, not sets of exactly d symbols: the same marginals, but "
        "another mechanism, which leaks more than stated",
    ),
    Family(
        "accuracy-of-top-k",
        "randomized response over the k most likely labels: k, and the chance of the own label",
        _top_k,
        differs="the weight of k labels is that of k - 1 in the paper's Algorithm 2 (NeurIPS 2021): k is counted from "
        "0, so another k than the best is taken; what is drawn is private all the same",
    ),
    Family(
        "leakage-of-a-published-table",
        "PML of each output of a published matrix at its stationary law, and its level for every prior",
        lambda matrix, stationary: Ours([*md.leakage(_rows(matrix), stationary).tolist(), local_level(_rows(matrix))]),
    ),
)


def _rows(matrix: Channel) -> np.ndarray:
    """Return a printed matrix with rows that sum to 1: its digits are rounded."""
    rows = np.asarray(matrix, dtype=np.float64)
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))
