"""Strategies for linear queries under LDP by McKenna, Maity, Mazumdar and Miklau (2020), apart from the package.

A strategy Q, shape (M, N), has a probability distribution in every column, and entries of a row differ by exp(epsilon)
at most. With ``D = diag(Q 1)`` and ``K = W'W`` the best decoding of answers W x has the variance
``(tr(K (Q' D^-1 Q)^-1) - |W|^2) / N`` a report, averaged over the N symbols that a record may be: their objective, of a
fixed data set.
"""

from __future__ import annotations

import numpy as np
from ldp_peers import hadamard_response


def average_variance(strategy, workload):
    """Their objective."""
    N = strategy.shape[1]
    information = (strategy / strategy.sum(axis=1, keepdims=True)).T @ strategy
    return (np.trace(workload @ np.linalg.solve(information, workload.T)) - (workload**2).sum()) / N


def best_decoding(strategy, workload):
    """The matrix that takes shares of reports to unbiased answers with the least of these variances."""
    D = strategy.sum(axis=1, keepdims=True)
    return workload @ np.linalg.solve((strategy / D).T @ strategy, (strategy / D).T)


def variance_of_decoding(strategy, workload):
    """The same from its definition: decode, and add up the variances of all answers over every record."""
    decoding = best_decoding(strategy, workload)
    np.testing.assert_allclose(decoding @ strategy, workload, atol=1e-7 * np.abs(decoding).max())
    return ((decoding**2 @ strategy) - (decoding @ strategy) ** 2).sum() / strategy.shape[1]


def hierarchical(N, e, branching=2):
    """Cormode, Kulkarni and Srivastava 2019: a level of a tree at random, then its node by Hadamard response."""
    levels = []
    width = N
    while width > 1:
        width = -(-width // branching)
        levels.append(np.repeat(np.eye(-(-N // width)), width, axis=1)[:, :N])
    parts = [hadamard_response(len(groups), e).matrix.T @ groups for groups in levels]
    return np.vstack(parts) / len(parts)


def descended(workload, e, rng, halvings=range(12, 15), steps=400):
    """Descend their objective from a random strategy of 4 N outputs, by projected gradients in Q and its least entries.

    Their Algorithms 1 and 2: steps of one length, halved every 50 steps; of several lengths, 2^-k for the numbers k
    given, the best is kept. More symbols and sums of them need shorter steps.
    """
    N = workload.shape[1]
    least = np.full(4 * N, (1 + 1 / e) / (8 * N))
    start = _projected(rng.random((4 * N, N)), least, e)
    found = [_descended(start, least, workload, e, step, steps) for step in 0.5 ** np.array(halvings)]
    return min(found, key=lambda strategy: average_variance(strategy, workload))


def _descended(Q, least, workload, e, step, steps):
    best, value = Q, average_variance(Q, workload)
    for count in range(steps):
        gradient = _gradient(Q, workload)
        at_least, at_most = np.isclose(Q, least[:, None], atol=0), np.isclose(Q, e * least[:, None], atol=0)
        of_least = (gradient * at_least).sum(axis=1) + e * (gradient * at_most).sum(axis=1)
        moved = np.clip(least - step / (Q.shape[1] * e) * of_least, 0, 1)
        if not moved.sum() <= 1 <= e * moved.sum():
            break
        Q = _projected(Q - step * gradient, moved, e)
        kept = moved > 1e-10
        Q, least = Q[kept], moved[kept]
        if np.linalg.matrix_rank(Q) < Q.shape[1]:
            break
        found = average_variance(Q, workload)
        if found < value:
            best, value = Q, found
        if count % 50 == 49:
            step /= 2
    return best


def _gradient(Q, workload):
    D = Q.sum(axis=1, keepdims=True)
    inverse = np.linalg.inv((Q / D).T @ Q)
    X = inverse @ workload.T @ workload @ inverse
    images = Q @ X / D
    return (-2 * images + (images * Q / D).sum(axis=1, keepdims=True)) / Q.shape[1]


def _projected(Q, least, e):
    """The nearest matrix with entries from z to e z and columns of sum 1: a shift of each column, by bisection."""
    z = least[:, None]
    low, high = (z - Q).min(axis=0), (e * z - Q).max(axis=0)
    for _ in range(60):
        middle = (low + high) / 2
        few = np.clip(Q + middle, z, e * z).sum(axis=0) < 1
        low, high = np.where(few, middle, low), np.where(few, high, middle)
    return np.clip(Q + high, z, e * z)
