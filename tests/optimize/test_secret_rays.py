"""The rays of a promise about a secret against double description in integers, on instances with zeros and ties."""

from fractions import Fraction
from itertools import combinations
from math import gcd

import numpy as np
import pytest
from double_description import extreme_rays
from refusals import raises

import mechdesign as md
from mechdesign.optimize.pricing import check_listable
from mechdesign.optimize.secret_rays import SecretRays, _positive_solution

NAMED = [[20, 10, 5, 5], [10, 15, 20, 15]]


def rows_by_definition(joint, e, a):
    """``e P - A_s`` and ``A_s - a P`` in fractions, from the counts alone."""
    total, columns = sum(map(sum, joint)), [sum(column) for column in zip(*joint, strict=True)]
    P = [Fraction(count, total) for count in columns]
    laws = [[Fraction(count, sum(row)) for count in row] for row in joint]
    above = [[e * p - q for p, q in zip(P, law, strict=True)] for law in laws]
    below = [[q - a * p for p, q in zip(P, law, strict=True)] for law in laws]
    return above + (below if a > 0 else [])


def listed(rays):
    """All rays as coprime integers."""
    found = set()
    for tight in range(len(rays.kinds)):
        for symbols, entries in rays.exact(tight):
            column = [0] * rays.known.size
            for symbol, entry in zip(symbols, entries, strict=True):
                column[symbol] = entry
            found.add(tuple(entry // gcd(*column) for entry in column))
    return found


@pytest.mark.combined
@pytest.mark.parametrize(
    ("values", "size", "count"),
    [
        (2, 3, 60),
        (2, 5, 60),
        (3, 4, 60),
        *(pytest.param(*each, 30, marks=pytest.mark.slow) for each in ((3, 5), (4, 4))),
    ],
)
@pytest.mark.parametrize("both", [False, True])
def test_the_list_is_complete_and_holds_rays_alone(values, size, count, both):
    """Counts of one digit give zeros, equal lifts and rows that are tight together."""
    rng = np.random.default_rng([values, size])
    ties = longest = 0
    for _ in range(count):
        joint = rng.integers(0, 4, (values, size))
        joint[:, 0] += 1
        joint[0] += joint.sum(axis=0) == 0
        e = [1.0625, 1.25, 1.5, 2.0, 4.0][int(rng.integers(5))]
        a = Fraction(1, int(rng.integers(2, 5))) if both else Fraction(0)
        rays = SecretRays(md.SecretPromise(joint.tolist(), known=True), e, a)
        expected = extreme_rays(rows_by_definition(joint.tolist(), Fraction(e), a), size)
        assert listed(rays) == expected
        assert rays.count(rays.kinds) == len(expected)
        longest = max(longest, *(sum(entry > 0 for entry in ray) for ray in expected))
        exact_rows = rows_by_definition(joint.tolist(), Fraction(e), a)
        ties += any(
            sum(sum(g * v for g, v in zip(row, ray, strict=True)) == 0 for row in exact_rows) >= sum(v > 0 for v in ray)
            for ray in expected
        )
    assert longest <= values
    assert ties > 0


def test_the_named_rays():
    rays = SecretRays(md.SecretPromise(NAMED, known=True), 1.25)
    assert listed(rays) == {
        *((0, 0, 0, 1), (0, 1, 0, 0), (0, 1, 3, 0), (1, 0, 0, 1), (3, 0, 2, 0), (1, 0, 10, 0), (1, 2, 0, 0))
    }
    assert [SecretRays(md.SecretPromise(NAMED, known=True), e).count("012") for e in (1.1, 1.5)] == [8, 6]
    for columns in rays.of_kinds(rays.kinds):
        np.testing.assert_allclose(rays.prior @ columns, 1, rtol=1e-15)


def test_errors_of_entries_are_counted():
    """Against the same rays in fractions."""
    rng = np.random.default_rng(3)
    known = md.SecretPromise(rng.integers(1, 10**6, (3, 6)).tolist(), known=True)
    rays = SecretRays(known, 1.0 + 2**-20)
    off, told = [], []
    for kind in rays.kinds:
        exact = list(rays.exact(int(kind)))
        for columns, errors in rays.with_errors(kind):
            for (symbols, entries), column, error in zip(exact, columns.T, errors.T, strict=True):
                mass = sum(entry * known.center[x] for entry, x in zip(entries, symbols, strict=True))
                off += [abs(Fraction(column[x]) - entry / mass) for entry, x in zip(entries, symbols, strict=True)]
                told += [Fraction(error[x]) for x in symbols]
                assert np.count_nonzero(column) == len(symbols)
    assert max(off) > 0
    assert all(x <= y for x, y in zip(off, told, strict=True))


def test_sets_that_floats_leave_out_have_no_positive_solution():
    """Those left out for the signs of their minors alone are many, and every ray is found among the others."""
    rng = np.random.default_rng(8)
    rays = SecretRays(md.SecretPromise(rng.integers(1, 30, (4, 8)).tolist(), known=True), 1.03125, Fraction(7, 8))
    left = 0
    for T in [(0, 1), (0, 5), (1, 2, 7), (4, 5, 6)]:
        kept = set(rays._perhaps_positive(T, len(T) + 1))
        for F in combinations(range(8), len(T) + 1):
            if F not in kept:
                left += 1
                assert _positive_solution([[rays.rows[t][x] for x in F] for t in T]) is None
    assert left > 100


def test_hundreds_of_symbols_for_a_binary_secret():
    rng = np.random.default_rng(4)
    known = md.SecretPromise(rng.integers(1, 1000, (2, 150)).tolist(), known=True)
    rays = check_listable(known, 1.1)
    assert rays.count(rays.kinds) > 1_000
    chunk = next(rays.of_kinds("1"))
    assert (np.count_nonzero(chunk, axis=0) == 2).all()


def test_too_many_rays_are_refused():
    rng = np.random.default_rng(5)
    known = md.SecretPromise(rng.integers(1, 9, (8, 60)).tolist(), known=True)
    with raises("no-method", "of 8", "and 60"):
        check_listable(known, 1.5)
    many = md.SecretPromise(rng.integers(1, 9, (40, 40)).tolist(), known=True)
    with raises("no-method", "of 40"):
        check_listable(many, 1.5)


@pytest.mark.parametrize(
    ("rows", "solution"),
    [
        ([], (1,)),
        ([[-2, 3]], (3, 2)),
        ([[2, 3]], None),
        ([[0, 3]], None),
        ([[1, -1, 0], [0, 1, -2]], (2, 2, 1)),
        ([[1, -1, 0], [2, -2, 0]], None),
        ([[1, -1, 1], [0, 1, 1]], None),
    ],
)
def test_positive_solutions(rows, solution):
    assert _positive_solution(rows) == solution
