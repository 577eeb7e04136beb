"""Mechanisms of the literature under local differential privacy, each from its own paper; none is the package's.

All are pure protocols in the words of Wang, Blocki, Li and Jha (Locally differentially private protocols for frequency
estimation, 2017, section 3): a report supports its own symbol with probability p and every other one with q, so that
``(supporting reports / n - q) / (p - q)`` estimates a frequency without bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from scipy.linalg import hadamard

import mechdesign as md


@dataclass(frozen=True, eq=False)
class Protocol:
    """A mechanism, shape (N, M), and which symbols each of its reports supports, shape (N, M)."""

    matrix: np.ndarray
    supports: np.ndarray
    p: float
    q: float

    def error(self, prior):
        """n times the mean squared error of the estimator of the literature, for records drawn from the prior.

        The reports that support a symbol are binomial: Wang et al. have the variance given the records, which is less
        by ``f (1 - f)``.
        """
        share = self.q + (self.p - self.q) * np.asarray(prior)
        return float((share * (1 - share)).sum() / (self.p - self.q) ** 2)

    def estimate(self, counts):
        """The frequencies that the literature estimates, neither clipped nor normalised."""
        return (self.supports @ counts / counts.sum() - self.q) / (self.p - self.q)

    def mechanism(self, epsilon, prior):
        """The mechanism for the package, and its output for each report: reports that tell the same are one output."""
        scaled = (self.matrix / self.matrix.max(axis=0)).round(9)
        _, output = np.unique(scaled, axis=1, return_inverse=True)
        merged = np.zeros((len(self.matrix), output.max() + 1))
        np.add.at(merged.T, output, self.matrix.T)
        promise = md.Guarantee(md.Epsilon.of(epsilon), md.L1Ball(prior, radius=2))
        return md.Mechanism.from_matrix(merged, promise, outputs=[f"y{j}" for j in range(output.max() + 1)]), output


def of_sets(supports, e):
    """Reports are sets of d symbols, e times as likely if they contain the symbol; each symbol is in equally many."""
    N, d = len(supports), int(supports[:, 0].sum())
    matrix = np.where(supports, e, 1.0)
    matrix /= matrix.sum(axis=1, keepdims=True)
    p = d * e / (d * e + N - d)
    # Of the sets with a symbol, a share of (d - 1) / (N - 1) has another one; of those without, d / (N - 1).
    return Protocol(matrix, supports, p, p * (d - 1) / (N - 1) + (1 - p) * d / (N - 1))


def randomized_response(N, e):
    """Warner 1965; Kairouz, Bonawitz and Ramage 2016."""
    return of_sets(np.eye(N, dtype=bool), e)


def subset_selection(N, e, d):
    """Ye and Barg 2018; Wang et al. 2016: all sets of d symbols."""
    chosen = list(combinations(range(N), d))
    return of_sets(np.array([[i in members for members in chosen] for i in range(N)]), e)


def block_design(N, base, e):
    """Park, Nam and Lee 2023: the blocks of a symmetric design, here the shifts modulo N of a difference set."""
    return of_sets(np.array([[(i - shift) % N in base for shift in range(N)] for i in range(N)]), e)


def hadamard_response(N, e):
    """Acharya, Sun and Zhang 2019 (high privacy): a symbol is supported where its row of a Hadamard matrix is 1."""
    K = 2 ** int(np.ceil(np.log2(N + 1)))
    supports = hadamard(K)[1 : N + 1] > 0
    p = e / (e + 1)
    return Protocol(np.where(supports, p, 1 - p) * 2 / K, supports, p, 0.5)


def unary_encoding(N, e, *, optimized):
    """Wang et al. 2017 (OUE); Erlingsson, Pihur and Korolova 2014 (SUE): a bit for each symbol, each flipped or not."""
    p, q = (0.5, 1 / (e + 1)) if optimized else (np.sqrt(e) / (np.sqrt(e) + 1), 1 / (np.sqrt(e) + 1))
    bits = np.array(list(product((False, True), repeat=N))).T
    off = np.where(bits, q, 1 - q)
    own = np.where(bits, p, 1 - p)
    matrix = off.prod(axis=0) * own / off
    return Protocol(matrix, bits, p, q)


# N, and a set of which every difference but 0 occurs equally often modulo N: the Fano plane, the biplane of order 3,
# projective planes of orders 3 and 4, a Paley design.
DIFFERENCE_SETS = [
    (7, (0, 1, 3)),
    (11, (1, 3, 4, 5, 9)),
    (13, (0, 1, 3, 9)),
    (15, (0, 1, 2, 4, 5, 8, 10)),
    (19, (1, 4, 5, 6, 7, 9, 11, 16, 17)),
    (21, (3, 6, 7, 12, 14)),
]


def protocols(N, e):
    """Yield the name and mechanism of every protocol of N symbols that is small enough to write down."""
    yield "randomized response", randomized_response(N, e)
    for d in range(2, N):
        yield f"subsets of {d}", subset_selection(N, e, d)
    yield "Hadamard response", hadamard_response(N, e)
    yield "OUE", unary_encoding(N, e, optimized=True)
    yield "SUE", unary_encoding(N, e, optimized=False)
    for size, base in DIFFERENCE_SETS:
        if size == N:
            yield "block design", block_design(N, base, e)
