"""The extreme priors of a set from the inequalities that define it: every corner, by solving equations in rationals."""

from fractions import Fraction
from itertools import combinations, product

from flint import fmpq, fmpq_mat

import mechdesign as md


def least_mass(known, symbols):
    """Return the least mass that the definition of a set allows to some symbols, neither none nor all."""
    if isinstance(known, md.L1Ball):
        return sum((known.center[i] for i in symbols), Fraction(0)) - known.radius / 2
    return known.least_mass(symbols)


def extreme_priors(known):
    """Return the corners of ``{ Q >= 0, sum Q = 1, Q(S) >= f(S) for every S }``; those listed for a hull."""
    if isinstance(known, md.ConvexHull):
        return set(known.priors)
    N = known.size
    rows = [([int(i == j) for j in range(N)], Fraction(0)) for i in range(N)]
    for inside in product((0, 1), repeat=N):
        if 0 < sum(inside) < N:
            rows.append((list(inside), least_mass(known, [i for i in range(N) if inside[i]])))
    found = set()
    for chosen in combinations(rows, N - 1):
        equations = [([1] * N, Fraction(1)), *chosen]
        matrix = fmpq_mat(N, N, [fmpq(x) for row, _ in equations for x in row])
        if matrix.det() == 0:
            continue
        right = fmpq_mat(N, 1, [fmpq(b.numerator, b.denominator) for _, b in equations])
        solved = matrix.solve(right)
        Q = tuple(Fraction(int(solved[i, 0].p), int(solved[i, 0].q)) for i in range(N))
        if all(sum(r * q for r, q in zip(row, Q, strict=True)) >= b for row, b in rows):
            found.add(Q)
    return found
