"""Whole numbers that keep margins exactly, whatever floats they come from."""

from fractions import Fraction

import numpy as np
import pytest

from mechdesign.mechanism.table_claims import TableConstraints
from mechdesign.optimize.tables.invariant_integers import InvariantIntegers


def rounding(rng, size, share):
    weights = rng.integers(1, 3000, size).tolist()
    pairs = {(x, y) for x in range(size) for y in range(size) if x != y and rng.random() < share}
    order = sorted(range(size), key=lambda x: -weights[x])
    constraints = TableConstraints((Fraction(0),) * size, True, frozenset(pairs))
    return InvariantIntegers(constraints, weights, order), weights, pairs


@pytest.mark.parametrize("share", [0, 0.2, 0.5, 0.8])
def test_rows_margins_and_zeros_are_exact_for_any_floats(share):
    rng = np.random.default_rng(int(10 * share))
    for size in [2, 3, 5, 8, 12] * 10:
        integers, weights, pairs = rounding(rng, size, share)
        matrix = rng.random((size, size))
        found = integers.rounded(matrix / matrix.sum(axis=1, keepdims=True), 48).tolist()
        assert [sum(row) for row in found] == [1 << 48] * size
        for y in range(size):
            assert sum(n * row[y] for n, row in zip(weights, found, strict=True)) == weights[y] << 48
        assert all(found[x][y] == 0 for x, y in pairs)


def invariant(rng, weights, pairs):
    """An invariant table: exchanges of equal flows along cycles, on top of the identity."""
    size, flows = len(weights), np.diag(np.array(weights, dtype=float))
    for _ in range(60):
        cycle = rng.permutation(size)[: int(rng.integers(2, size + 1))].tolist()
        steps = list(zip(cycle, cycle[1:] + cycle[:1], strict=True))
        if pairs.isdisjoint(steps):
            moved = 0.3 * rng.random() * min(flows[x, x] for x in cycle)
            for x, y in steps:
                flows[x, x] -= moved
                flows[x, y] += moved
    return flows / np.array(weights)[:, None]


@pytest.mark.parametrize(("share", "most"), [(0, 1e-9), (0.3, 1e-7)])
def test_an_invariant_table_moves_by_little(share, most):
    rng, moved = np.random.default_rng(4), []
    for size in [3, 4, 6] * 15:
        integers, weights, pairs = rounding(rng, size, share)
        table = invariant(rng, weights, pairs)
        moved.append(np.abs(integers.rounded(table, 52) / 2.0**52 - table).max())
    assert np.median(moved) <= most
