"""Other programs for the same results, to be measured beside ours; the package itself does not use them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import mechdesign as md
from mechdesign.data.alphabet import Codes
from mechdesign.mechanism.proof import Integers
from mechdesign.numerics.arrays import Floats


def literal_proposition_2(ball: md.L1Ball, exp_epsilon: float) -> float:
    """Return the greatest probability of a right guess by ED Proposition 2 as it stands.

    One row for every i, i' and j: ``p_ij <= c (<P, p_j> + t p_i'j)`` with ``c = e / (1 + t e)`` (ED eq. 43).
    Otherwise the program is that of `mechdesign.optimize.polyhedral`, with its solver and tolerances.
    """
    import cvxpy as cp
    from scipy.sparse import csr_array, eye_array, kron

    from mechdesign.numerics.tolerances import SOLVER

    N, t = ball.size, float(ball.half_radius)
    c = exp_epsilon / (1 + t * exp_epsilon)
    ones = np.ones((N, 1))
    each_i, each_other = kron(eye_array(N), ones), kron(ones, eye_array(N))
    rows = csr_array(each_i - c * t * each_other - csr_array(np.tile(c * ball.prior, (N * N, 1))))
    matrix = cp.Variable((N, N), nonneg=True)
    gain = cp.sum(cp.multiply(ball.prior, cp.diag(matrix)))
    program = cp.Problem(cp.Maximize(gain), [rows @ matrix <= 0, cp.sum(matrix, axis=1) == np.ones(N)])
    options = {"primal_feasibility_tolerance": SOLVER, "dual_feasibility_tolerance": SOLVER}
    return float(program.solve(solver=cp.HIGHS, highs_options=options))


def qif_least_loss(prior: np.ndarray, epsilon: float, loss: np.ndarray) -> float:
    """Return the least expected loss of an epsilon-LDP mechanism by the package qif.

    Raises
    ------
    ImportError
        Where qif is not installed.
    """
    from qif import mechanism

    found = mechanism.d_privacy.min_loss_given_d(
        prior, len(prior), lambda i, k: epsilon * float(i != k), lambda i, j: float(loss[i, j])
    )
    return float((prior[:, None] * np.array(found) * loss).sum())


def by_rows(thresholds: Integers, bits: int, codes: Codes, rng: np.random.Generator) -> Codes:
    """Return one report for each code: one integer each, compared with the thresholds of its input, row by row."""
    integers = rng.integers(0, 1 << bits, codes.size)
    reports = np.empty(codes.size, dtype=np.intp)
    for i, row in enumerate(thresholds):
        of_row = np.flatnonzero(codes == i)
        reports[of_row] = np.searchsorted(row, integers[of_row], side="right")
    return reports


def by_one_search(thresholds: Integers, bits: int, codes: Codes, rng: np.random.Generator) -> Codes:
    """Return one report for each code: one integer each, and one search in the thresholds of all inputs, end to end."""
    N, M = thresholds.shape
    starts = np.arange(N, dtype=np.int64) << bits
    ends = (thresholds + starts[:, None]).ravel()
    return np.searchsorted(ends, starts[codes] + rng.integers(0, 1 << bits, codes.size), side="right") - M * codes


def by_choice(matrix: Floats, codes: Codes, rng: np.random.Generator) -> Codes:
    """Return one report for each code by `numpy.random.Generator.choice`, row by row."""
    reports = np.empty(codes.size, dtype=np.intp)
    for i, row in enumerate(matrix):
        of_row = np.flatnonzero(codes == i)
        reports[of_row] = rng.choice(len(row), of_row.size, p=row)
    return reports


def grr_client() -> Callable[[int, int, float], int]:
    """Return the client of k-ary randomized response of the package multi-freq-ldpy, compiled.

    The client takes the record, k and epsilon. It draws from a generator of its own.

    Raises
    ------
    ImportError
        Where multi-freq-ldpy is not installed.
    """
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

    GRR_Client(0, 2, 1.0)
    return GRR_Client


@dataclass(frozen=True, eq=False)
class Updated:
    """The result of the iterative Bayesian update.

    Attributes
    ----------
    frequencies : array, shape (N,)
        The last theta.
    gap : float
        Its log-likelihood is within this of the greatest, in nats.
    seconds : list of float or None
        The time after which each of the given gaps was reached; None if it was not reached.
    """

    frequencies: Floats
    gap: float
    seconds: list[float | None]


def plain_em(matrix: Floats, counts: Floats, gaps: Sequence[float], time_limit: float) -> Updated:
    """Run the iterative Bayesian update until it has reached the last of several falling gaps, or the time is over.

    The log-likelihood of theta is within ``n log max_i (A v)_i`` of the greatest, with ``v = w / A^T theta``, n
    reports, and w their fractions.
    """
    started = time.perf_counter()
    reports = counts.sum()
    fractions = counts / reports
    theta = np.full(len(matrix), 1 / len(matrix))
    reached: list[float | None] = []
    while True:
        factors = matrix @ (fractions / (theta @ matrix))
        gap = float(reports * np.log(factors.max()))
        seconds = time.perf_counter() - started
        reached += [seconds for wanted in gaps[len(reached) :] if gap <= wanted]
        if len(reached) == len(gaps) or seconds > time_limit:
            return Updated(theta, gap, reached + [None] * (len(gaps) - len(reached)))
        theta = theta * factors
