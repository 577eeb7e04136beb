"""How often intervals hold the truth, added over every table of counts that a number of reports can have."""

import numpy as np
from scipy.signal import fftconvolve
from scipy.stats import binom, multinomial

from mechdesign.deploy.estimation import Estimation


def outcomes(reports, outputs):
    """Return every table of counts of two or three outputs, shape (K, M)."""
    if outputs == 2:
        return np.array([(reports - k, k) for k in range(reports + 1)])
    return np.array([(a, b, reports - a - b) for a in range(reports + 1) for b in range(reports + 1 - a)])


def intervals(mechanism, reports, of, confidence=0.95):
    """Return the interval of each category for every table of counts, shape (K, N, 2)."""
    estimation = Estimation(mechanism, "maximum-likelihood", of, confidence)
    tables = outcomes(reports, mechanism.matrix.shape[1])
    return np.array([found.intervals for found in estimation.of_groups(tables.tolist())])


def law_given_records(matrix, records):
    """Return the probability of every table of counts, given how many records each category has, shape (K,)."""
    reports, outputs = sum(records), matrix.shape[1]
    law = np.ones((1,) * (outputs - 1))
    for number, row in zip(records, matrix, strict=True):
        if number:
            tables = outcomes(number, outputs)
            own = np.zeros((number + 1,) * (outputs - 1))
            own[tuple(tables[:, :-1].T)] = multinomial.pmf(tables, number, row / row.sum())
            law = np.maximum(fftconvolve(law, own), 0.0)
    return law[tuple(outcomes(reports, outputs)[:, :-1].T)]


def least_of_population(matrix, found, reports, category, other):
    """Return the least coverage over all shares of one category among records of two, for two outputs.

    Coverage has its local minima where an interval begins or ends.
    """
    lower, upper = found[:, category].T
    ends = np.concatenate([lower, upper])
    shares = np.unique(np.concatenate([ends - 1e-9, ends + 1e-9, np.linspace(0, 1, 21)]).clip(0, 1))
    counts = outcomes(reports, 2)[:, 1]
    chances = binom.pmf(counts, reports, ((1 - shares) * matrix[other, 1] + shares * matrix[category, 1])[:, None])
    return (chances * ((lower <= shares[:, None]) & (shares[:, None] <= upper))).sum(axis=1).min()


def compositions(reports, size, rng, random):
    """Return numbers of records of each category: one category alone, two in unequal numbers, and random ones."""
    found = {tuple(np.eye(size, dtype=int)[i] * reports) for i in range(size)}
    for few in {1, 2, reports // 10, reports // 3, reports // 2} & set(range(1, reports)):
        for i in range(size):
            for k in range(size):
                if i != k:
                    found.add(tuple(np.eye(size, dtype=int)[i] * few + np.eye(size, dtype=int)[k] * (reports - few)))
    found |= {tuple(rng.multinomial(reports, rng.dirichlet(np.full(size, 0.6)))) for _ in range(random)}
    return sorted(tuple(map(int, records)) for records in found)


def least_coverage(mechanism, reports, of, confidence=0.95, random=20):
    """Return the least coverage of any category over distributions, or over records, most of them unbalanced."""
    matrix = mechanism.matrix
    found = intervals(mechanism, reports, of, confidence)
    size, outputs = matrix.shape
    pairs = [(i, k) for i in range(size) for k in range(size) if i != k]
    if of == "population" and outputs == 2:
        return min(least_of_population(matrix, found, reports, i, k) for i, k in pairs)
    rng = np.random.default_rng(reports)
    if outputs == 2 and size == 2:
        cases = [(reports - k, k) for k in range(reports + 1)]
    else:
        cases = compositions(reports, size, rng, random)
    least = 1.0
    for records in cases:
        shares = np.array(records) / reports
        if of == "records":
            chances = law_given_records(matrix, records)
        else:
            law = shares @ matrix
            chances = multinomial.pmf(outcomes(reports, outputs), reports, law / law.sum())
        held = (found[..., 0] <= shares + 1e-9) & (shares <= found[..., 1] + 1e-9)
        least = min(least, (chances @ held).min())
    return least
