"""Tables by other means: linear programs over listed priors, vertices in rationals, and problems at random."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
from extreme_priors import extreme_priors
from flint import fmpq, fmpq_mat
from scipy.optimize import linprog

EDUCATION = {
    "HS-grad": 15784,
    "Some-college": 10878,
    "Bachelors": 8025,
    "Masters": 2657,
    "Assoc-voc": 2061,
    "11th": 1812,
    "Assoc-acdm": 1601,
    "10th": 1389,
    "7th-8th": 955,
    "Prof-school": 834,
    "9th": 756,
    "12th": 657,
    "Doctorate": 594,
    "5th-6th": 509,
    "1st-4th": 247,
    "Preschool": 83,
}
RELATIONSHIP = {
    "Husband": 19716,
    "Not-in-family": 12583,
    "Own-child": 7581,
    "Unmarried": 5125,
    "Wife": 2331,
    "Other-relative": 1506,
}


def best_over_listed_priors(ball, epsilon, gains, invariant=True, floors=None, forbidden=(), cap=None):
    """Return the greatest gain of a table by one inequality for each symbol, output and extreme prior of a ball."""
    N, P = ball.size, np.array([float(p) for p in ball.center])
    priors = [np.array([float(q) for q in Q]) for Q in extreme_priors(ball)]
    e, rows = float(np.exp(epsilon)), []
    for y, x in product(range(N), repeat=2):
        for Q in priors:
            row = np.zeros((N, N))
            row[:, y] = -e * Q
            row[x, y] += 1
            rows.append(row.ravel())
        for other in range(N) if cap is not None else ():
            row = np.zeros((N, N))
            row[x, y] += 1
            row[other, y] -= np.exp(cap)
            rows.append(row.ravel())
    equal = [np.kron(np.eye(N)[x], np.ones(N)) for x in range(N)]
    right = [1.0] * N
    if invariant:
        equal += [np.kron(P, np.eye(N)[y]) for y in range(N)]
        right += P.tolist()
    least = np.zeros((N, N))
    np.fill_diagonal(least, 0 if floors is None else floors)
    limits = [(least[x, y], 0 if (x, y) in forbidden else None) for x, y in product(range(N), repeat=2)]
    costs = -(P[:, None] * gains).ravel()
    found = linprog(costs, A_ub=rows, b_ub=np.zeros(len(rows)), A_eq=equal, b_eq=right, bounds=limits)
    return -found.fun if found.status == 0 else None


def best_flow_of_three(counts, ratio):
    """Return the greatest unchanged share of three categories, a known prior and invariance, over all vertices.

    The four entries off the last row and column are free; flows lie between 0 and ``ratio n_x n_y / n``.
    """
    n = sum(counts)
    free = list(product(range(2), repeat=2))

    def limits(x, y):
        # F_xy as a constant and the coefficients of the free entries.
        if x < 2 and y < 2:
            return 0, [int((x, y) == pair) for pair in free]
        if x < 2:
            return counts[x], [-int(x == a) for a, _ in free]
        if y < 2:
            return counts[y], [-int(y == b) for _, b in free]
        return counts[2] - counts[0] - counts[1], [1] * 4

    planes = []
    for x, y in product(range(3), repeat=2):
        constant, row = limits(x, y)
        planes += [
            (row, -Fraction(constant)),
            ([-a for a in row], constant - ratio * Fraction(counts[x] * counts[y], n)),
        ]
    best = None
    for chosen in combinations(planes, 4):
        matrix = fmpq_mat(4, 4, [a for row, _ in chosen for a in row])
        if matrix.det() == 0:
            continue
        solved = matrix.solve(fmpq_mat(4, 1, [fmpq(b.numerator, b.denominator) for _, b in chosen]))
        point = [Fraction(int(solved[i, 0].p), int(solved[i, 0].q)) for i in range(4)]
        if all(sum(a * v for a, v in zip(row, point, strict=True)) >= b for row, b in planes):
            kept = sum(
                limits(x, x)[0] + sum(a * v for a, v in zip(limits(x, x)[1], point, strict=True)) for x in range(3)
            )
            best = kept if best is None else max(best, kept)
    return None if best is None else best / n


def keeps_margins(mechanism, counts):
    """Whether ``sum_x n_x A_xy = n_y 2^b`` for each y, in whole numbers."""
    rows = mechanism.numerators.tolist()
    return all(
        sum(n * row[y] for n, row in zip(counts, rows, strict=True)) == counts[y] << mechanism.bits
        for y in range(len(counts))
    )


def random_table(rng):
    """Return the arguments of `design_table` at random: counts, epsilon and all else."""
    N = int(rng.integers(2, 6))
    counts = rng.integers(1, 10 ** int(rng.integers(2, 5)), N).tolist()
    epsilon = round(float(rng.uniform(0.2, 3)), 3)
    radius = rng.choice(["0", "0.01", "0.1", "0.3", "1", "2"])
    given = {"radius": str(radius), "invariant": bool(rng.random() < 0.7)}
    if rng.random() < 0.3:
        given["loss"] = rng.integers(0, 5, (N, N)).tolist()
    if rng.random() < 0.4:
        given["floors"] = {f"x{int(x) + 1}": round(float(rng.uniform(0, 0.2)), 3) for x in rng.choice(N, 1)}
    if rng.random() < 0.2:
        given["cap"] = round(epsilon + float(rng.uniform(0.1, 2)), 3)
    elif rng.random() < 0.4 and radius != "2":
        pairs = [(x, y) for x in range(N) for y in range(N) if x != y and rng.random() < 0.2]
        given["forbidden"] = [(f"x{x + 1}", f"x{y + 1}") for x, y in pairs]
    return counts, epsilon, given
