"""The estimation error in fractions, by elimination, with nothing of the package in it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def solved(matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> list[Fraction] | None:
    """A solution x of ``A x = b``, or None if there is none."""
    rows = [[*row, b] for row, b in zip(matrix, right, strict=True)]
    width, pivots = len(matrix[0]), []
    for column in range(width):
        place = len(pivots)
        pivot = next((i for i in range(place, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[place], rows[pivot] = rows[pivot], rows[place]
        rows[place] = [x / rows[place][column] for x in rows[place]]
        for i, row in enumerate(rows):
            if i != place and row[column]:
                rows[i] = [x - row[column] * y for x, y in zip(row, rows[place], strict=True)]
        pivots.append(column)
    if any(row[width] for row in rows[len(pivots) :]):
        return None
    x = [Fraction(0)] * width
    for place, column in enumerate(pivots):
        x[column] = rows[place][width]
    return x


def exact_error(
    weights: Sequence[Sequence[int]], prior: Sequence[Fraction], queries: Sequence[Sequence[Fraction]]
) -> Fraction | None:
    """``tr(W J^-1 W') - |W P|^2`` for rows of whole numbers over their sums; None where it is infinite."""
    rows = [[Fraction(x, sum(row)) for x in row] for row in weights]
    masses = [sum(p * row[j] for p, row in zip(prior, rows, strict=True)) for j in range(len(rows[0]))]
    used = [j for j, mass in enumerate(masses) if mass]
    J = [[sum((a[j] * b[j] / masses[j] for j in used), Fraction(0)) for b in rows] for a in rows]
    total = Fraction(0)
    for query in queries:
        x = solved(J, query)
        if x is None:
            return None
        answer = sum(w * p for w, p in zip(query, prior, strict=True))
        total += sum((w * y for w, y in zip(query, x, strict=True)), Fraction(0)) - answer**2
    return total
