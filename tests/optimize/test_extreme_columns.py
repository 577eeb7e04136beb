"""Which columns of kinds A to D are extreme (docs/mathematics.md), by the rank of the constraints that are active."""

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
from flint import fmpq, fmpq_mat


def subsets(N):
    return [frozenset(S) for size in range(N + 1) for S in combinations(range(N), size)]


def corners(P, t):
    """The priors of the ball that some order of the symbols makes worst: mass t leaves the first for the last."""
    for order in permutations(range(len(P))):
        Q, left = list(P), t
        for i in order[:-1]:
            taken = min(Q[i], left)
            Q[i], left, Q[order[-1]] = Q[i] - taken, left - taken, Q[order[-1]] + taken
        yield tuple(Q)


def is_extreme(v, priors, e):
    """Whether what is active at v leaves one dimension: entries that are 0, and v_i = e <Q, v>."""
    N = len(v)
    active = [[Fraction(i == j) for j in range(N)] for i in range(N) if v[i] == 0]
    for Q in priors:
        mean = sum(q * x for q, x in zip(Q, v, strict=True))
        assert max(v) <= e * mean
        active += [[(i == j) - e * Q[j] for j in range(N)] for i in range(N) if v[i] == e * mean]
    rows = [[fmpq(x.numerator, x.denominator) for x in map(Fraction, row)] for row in active]
    return bool(rows) and fmpq_mat(rows).rank() == N - 1


def columns(P, t, e):
    """Each column of the four kinds, with whether the conditions of the document call it extreme."""
    everything, c = frozenset(range(len(P))), e / (1 + t * e)

    def mass(S):
        return sum((P[i] for i in S), Fraction(0))

    def column(S, on, T, off):
        return [on if i in S else off if i in T else Fraction(0) for i in range(len(P))]

    for S in subsets(len(P)):
        proper = bool(S) and everything != S
        m = (1 - c * mass(S)) / (1 - mass(S) + t) if mass(S) < 1 + t else Fraction(-1)
        if m >= 0 and (mass(S) >= t or t == 0):
            yield "A", column(S, c, everything, m), proper and (t > 0 or len(S) == len(P) - 1 or m == 0)
        if t > 0 and mass(S) <= t:
            yield "D", column(S, e, everything, Fraction(1)), proper
        for f in everything - S:
            x = (1 - c * mass(S)) / P[f] if P[f] else Fraction(-1)
            if 0 <= x <= c and (not S or mass(S) >= t):
                yield "B", column(S, c, {f}, x), t == 0 or S | {f} != everything or x == 0
        for R in subsets(len(P)):
            above = mass(S | R) - t
            if S and not S & R and R and everything != S | R and mass(S) < t and above >= 1 / e:
                yield "C", column(S, e * above, R, Fraction(1)), e * above == 1 or all(P[i] for i in R) or len(R) == 1


def test_the_conditions_decide_which_columns_are_extreme():
    rng, seen = np.random.default_rng(3), set()
    for _ in range(40):
        counts = [int(n) for n in rng.integers(0, 5, 4)]
        t = Fraction(int(rng.integers(0, 6)), 12)
        if t == 0:
            counts = [n + 1 for n in counts]
        if not sum(counts):
            continue
        P, e = [Fraction(n, sum(counts)) for n in counts], Fraction(int(rng.integers(5, 20)), 4)
        priors = set(corners(P, t))
        for kind, v, said in columns(P, t, e):
            assert is_extreme(v, priors, e) == said, (P, t, e, kind, v)
            seen.add((kind, said))
    assert seen == {(kind, extreme) for kind in "ABCD" for extreme in (True, False)}


def test_a_symbol_without_mass_among_the_ones_of_kind_c_makes_it_not_extreme():
    """The first symbol has no mass and lies below the greatest entry: raised or lowered, it changes nothing else."""
    P, t, e = [Fraction(0), Fraction(1, 20), Fraction(9, 20), Fraction(1, 2)], Fraction(1, 10), Fraction(3)
    priors = set(corners(P, t))
    assert not is_extreme([Fraction(1), Fraction(6, 5), Fraction(1), Fraction(0)], priors, e)
    for first in (Fraction(0), Fraction(6, 5)):
        assert is_extreme([first, Fraction(6, 5), Fraction(1), Fraction(0)], priors, e)
