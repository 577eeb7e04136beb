"""Matrices that the tests of estimation use, and mechanisms made of them."""

import numpy as np

import mechdesign as md


def mechanism_of(matrix, prior=None, bits=48):
    """Return a mechanism with a matrix: with a known prior P every matrix leaks at most log(1 / min P)."""
    matrix = np.asarray(matrix, dtype=float)
    prior = ["1"] * len(matrix) if prior is None else prior
    ball = md.L1Ball.from_counts({f"x{i}": int(count) for i, count in enumerate(prior)}, known=True)
    promise = md.Guarantee(md.Epsilon.of(f"log({int(1 / min(ball.center)) + 1})"), ball)
    outputs = [f"y{j}" for j in range(matrix.shape[1])]
    return md.Mechanism.from_matrix(matrix, promise, bits=bits, outputs=outputs)


def randomized_response(size, exp_epsilon):
    matrix = np.ones((size, size)) + (exp_epsilon - 1) * np.eye(size)
    return matrix / matrix.sum(axis=1, keepdims=True)


def circulant(size, ones):
    """Return the matrix of the k-singular mechanism: each input is reported as one of the next k outputs."""
    return np.array([[float((j - i) % size < ones) for j in range(size)] for i in range(size)]) / ones


def table(counts):
    """Return counts as the mapping from label that `estimate_frequencies` takes."""
    return {f"y{j}": int(count) for j, count in enumerate(counts)}
