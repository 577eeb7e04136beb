"""How often intervals from few reports hold the truth, counted in full: ``python -m benchmarks.few_reports``.

The coverage at a truth is added over every table of counts that a number of reports can have; nothing is drawn. All
numbers of reports from 1 to 200 are taken with two outputs. With three outputs there are 20,301 tables of 200 reports:
every number to 60 is taken, and every fifth beyond, but not for more inputs than outputs, where intervals take
linear programs. ``python -m benchmarks.few_reports 3 40`` stops at 40 with three.

Truths are laws of the population, or the categories of the very records. With two outputs the coverage of the
population has its local minima where an interval begins or ends, and is counted there for each two categories; the
records of two categories are counted for all their numbers. Else truths are a sample: one category alone, two in
unequal numbers, and random ones, from nearly equal to nearly one category.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft2, rfft2
from scipy.special import gammaln, xlogy
from scipy.stats import binom

import mechdesign as md
from mechdesign.deploy.estimation import TARGETS, Estimation

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


def randomized_response(size: int, kept: float) -> Floats:
    """Return the matrix that keeps a category ``kept`` times as often as it reports a certain other."""
    return (np.ones((size, size)) + (kept - 1) * np.eye(size)) / (kept + size - 1)


TWO = {
    "rare errors": [[0.98, 0.02], [0.02, 0.98]],
    "epsilon 4": randomized_response(2, np.exp(4)),
    "epsilon 1": randomized_response(2, np.e),
    "epsilon 1/4": randomized_response(2, np.exp(0.25)),
    "warner": [[0.75, 0.25], [0.25, 0.75]],
    "one row is noisy": [[0.97, 0.03], [0.5, 0.5]],
    "never a false yes": [[1.0, 0.0], [0.3, 0.7]],
    "a false yes is rare": [[0.999, 0.001], [0.4, 0.6]],
    "hardly an error": [[0.9999, 0.0001], [0.001, 0.999]],
    "rows alike": [[0.9, 0.1], [0.6, 0.4]],
    "three inputs": [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]],
    "two equal rows": [[0.9, 0.1], [0.1, 0.9], [0.1, 0.9]],
}
THREE = {
    "epsilon 1": randomized_response(3, np.e),
    "epsilon 1/2": randomized_response(3, np.exp(0.5)),
    "epsilon 4": randomized_response(3, np.exp(4)),
    "unequal noise": [[0.6, 0.4, 0.0], [0.2, 0.6, 0.2], [0.0, 0.4, 0.6]],
    "skewed": [[0.9, 0.09, 0.01], [0.3, 0.69, 0.01], [0.3, 0.1, 0.6]],
    "two inputs": [[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]],
    "two inputs, rare errors": [[0.97, 0.02, 0.01], [0.01, 0.02, 0.97]],
    "a rare output": [[0.5, 0.49, 0.01], [0.4, 0.6, 0.0], [0.1, 0.9, 0.0]],
    "one is reported as it is": [[1.0, 0.0, 0.0], [0.0, 0.8, 0.2], [0.0, 0.2, 0.8]],
    "each excludes one": [[0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]],
    "one row is rarely wrong": [[0.998, 0.001, 0.001], [0.2, 0.5, 0.3], [0.2, 0.3, 0.5]],
    "four inputs": [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.4, 0.4, 0.2]],
}
MOST, EVERY, STEP = 200, 60, 5


def mechanism(matrix: Floats | Sequence[Sequence[float]]) -> md.Mechanism:
    """Return a mechanism near a matrix, under a promise that any matrix keeps for the uniform prior."""
    rows = np.asarray(matrix, dtype=float)
    return md.Mechanism.repaired(rows, md.Guarantee("log(1000)", md.L1Ball([1 / len(rows)] * len(rows), 0))).mechanism


@cache
def outcomes(reports: int, outputs: int) -> Counts:
    """Return every table of counts of two or three outputs, shape (K, M)."""
    if outputs == 2:
        return np.array([(reports - k, k) for k in range(reports + 1)])
    return np.array([(a, b, reports - a - b) for a in range(reports + 1) for b in range(reports + 1 - a)])


def intervals(of_mechanism: md.Mechanism, reports: int, of: str, confidence: float = 0.95) -> Floats:
    """Return the interval of each category for every table of counts, shape (K, N, 2)."""
    estimation = Estimation(of_mechanism, "maximum-likelihood", of, confidence)
    tables = outcomes(reports, of_mechanism.matrix.shape[1])
    return np.array([found.intervals for found in estimation.of_groups(tables.tolist())])


def chances(laws: Floats, reports: int) -> Floats:
    """Return the probability of every table of counts under each law of outputs, shapes (L, M) to (L, K)."""
    tables = outcomes(reports, laws.shape[1])
    ways = gammaln(reports + 1) - gammaln(tables + 1).sum(axis=1)
    logarithms = sum(xlogy(count[None, :], law[:, None]) for count, law in zip(tables.T, laws.T, strict=True))
    result: Floats = np.exp(ways + logarithms)
    return result


def chances_given_records(matrix: Floats, records: Counts, reports: int) -> Iterator[Floats]:
    """Yield the probability of every table of counts given how many records each category has, shape (K,)."""
    outputs = matrix.shape[1]
    shape = (reports + 1 if outputs == 3 else 1, reports + 1)  # no count exceeds the reports: nothing wraps around

    def places(tables: Counts) -> tuple[Counts, Counts]:
        """Return the counts of the first two of three outputs, or 0 and the count of the first of two."""
        return tables[:, 0] * (outputs == 3), tables[:, -2]

    @cache
    def transformed(category: int, number: int) -> NDArray[np.complex128]:
        own = np.zeros(shape)
        own[places(outcomes(number, outputs))] = chances(matrix[None, category], number)[0]
        return rfft2(own)

    for numbers_of_records in records.tolist():
        product = np.prod([transformed(i, number) for i, number in enumerate(numbers_of_records) if number], axis=0)
        yield np.maximum(irfft2(product, shape)[places(outcomes(reports, outputs))], 0.0)


def least_of_population(matrix: Floats, found: Floats, reports: int, category: int, other: int) -> float:
    """Return the least coverage over all shares of one category among records of two, for two outputs.

    Coverage has its local minima where an interval begins or ends.
    """
    lower, upper = found[:, category].T
    ends = np.concatenate([lower, upper])
    shares = np.unique(np.concatenate([ends - 1e-9, ends + 1e-9, np.linspace(0, 1, 21)]).clip(0, 1))
    counts = outcomes(reports, 2)[:, 1]
    law = binom.pmf(counts, reports, ((1 - shares) * matrix[other, 1] + shares * matrix[category, 1])[:, None])
    return float((law * ((lower <= shares[:, None]) & (shares[:, None] <= upper))).sum(axis=1).min())


def compositions(reports: int, size: int, rng: np.random.Generator, random: int) -> Counts:
    """Return numbers of records of each category: one category alone, two in unequal numbers, and random ones."""
    alone = np.eye(size, dtype=int)
    found = {tuple(alone[i] * reports) for i in range(size)}
    for few in {1, 2, reports // 10, reports // 3, reports // 2} & set(range(1, reports)):
        found |= {
            tuple(alone[i] * few + alone[k] * (reports - few)) for i in range(size) for k in range(size) if i != k
        }
    found |= {tuple(rng.multinomial(reports, rng.dirichlet(np.full(size, 0.6)))) for _ in range(random)}
    return np.array(sorted(found))


def least_coverage(
    of_mechanism: md.Mechanism, reports: int, of: str, confidence: float = 0.95, random: int = 20
) -> float:
    """Return the least coverage of any category over distributions, or over records, most of them unbalanced."""
    matrix = of_mechanism.matrix / of_mechanism.matrix.sum(axis=1, keepdims=True)
    found = intervals(of_mechanism, reports, of, confidence)
    size, outputs = matrix.shape
    if of == "population" and outputs == 2:
        pairs = [(i, k) for i in range(size) for k in range(size) if i != k]
        return min(least_of_population(matrix, found, reports, i, k) for i, k in pairs)
    if outputs == 2 and size == 2:
        records = np.array([(reports - k, k) for k in range(reports + 1)])
    else:
        records = compositions(reports, size, np.random.default_rng(reports), random)
    shares = records / reports
    if of == "population":
        laws: Iterator[Floats] = iter(chances(shares @ matrix, reports))
    else:
        laws = chances_given_records(matrix, records, reports)
    least = 1.0
    for share, law in zip(shares, laws, strict=True):
        held = (found[..., 0] <= share + 1e-9) & (share <= found[..., 1] + 1e-9)
        least = min(least, float((law @ held).min()))
    return least


def numbers(matrix: Sequence[Sequence[float]] | Floats, most: int = MOST) -> list[int]:
    """Return the numbers of reports that are counted.

    Examples
    --------
    >>> [numbers(matrix, 75)[-4:] for matrix in (THREE["skewed"], TWO["warner"], THREE["four inputs"])]
    [[60, 65, 70, 75], [72, 73, 74, 75], [57, 58, 59, 60]]
    """
    size, outputs = np.shape(matrix)
    step = 1 if outputs == 2 else STEP
    last = EVERY if size > outputs > 2 else most
    return [n for n in range(1, most + 1) if n <= EVERY or (n <= last and n % step == 0)]


def table(outputs: Sequence[int] = (2, 3), most: int = MOST) -> Iterator[str]:
    """Yield the lines of the table of the documentation, counted anew."""
    yield "| outputs | mechanism | reports | population: least | at | records: least | at |"
    yield "|---|---|---|---|---|---|---|"
    for count in outputs:
        for name, matrix in {2: TWO, 3: THREE}[count].items():
            counted, cells = numbers(matrix, most), []
            last = counted[-1]
            shown = f"1 to {last}" if count == 2 or last <= EVERY else f"1 to {EVERY}, every fifth to {last}"
            for of in TARGETS:
                least, reports = min((least_coverage(mechanism(matrix), n, of), n) for n in counted)
                cells.append(f"{100 * least:.2f} | {reports}")
            yield f"| {count} | {name} | {shown} | {' | '.join(cells)} |"


if __name__ == "__main__":
    given = [int(number) for number in sys.argv[1:]]
    for line in table(given[:1] or (2, 3), given[1] if given[1:] else MOST):
        print(line, flush=True)
