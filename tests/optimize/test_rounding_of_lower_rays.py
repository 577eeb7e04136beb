"""The errors that are told of the rays of a lower probability, each against exact numbers."""

from fractions import Fraction

import numpy as np
import pytest

from mechdesign.optimize.lower_rays import LowerRays, shares
from mechdesign.uncertainty import LowerLimits

E = 2.25


def members(mask, size):
    return [i for i in range(size) if mask >> i & 1]


def exact_rays(rays):
    """The rays of each kind with ``<P, v> = 1``, in the order of the list, in rationals."""
    known, e = rays.known, Fraction(rays.exp_epsilon)

    def g(mask):
        return e * known.least_mass(members(mask, known.size)) - 1

    def column(S, T):
        share = -g(S) / (g(T) - g(S)) if S != T else Fraction(1)
        v = [Fraction(i in members(S, known.size)) for i in range(known.size)]
        v = [share if x == 0 and T >> i & 1 else x for i, x in enumerate(v)]
        mass = sum(p * x for p, x in zip(known.center, v, strict=True))
        return [x / mass for x in v]

    found = {kind: [column(S, S) for S in sets.tolist()] for kind, sets in rays._sets.items()}
    return found | {"P": [column(S, T) for S, T in zip(*(side.tolist() for side in rays._pairs), strict=True)]}


def errors_of(rays, kind):
    """What each entry is off by and what is told of it."""
    off, told = [], []
    exact = iter(exact_rays(rays)[kind])
    for columns, errors in rays.with_errors(kind):
        for column, error in zip(columns.T.tolist(), errors.T.tolist(), strict=True):
            off += [abs(Fraction(x) - y) for x, y in zip(column, next(exact), strict=True)]
            told += error
    assert next(exact, None) is None
    return off, told


def some_limits():
    """Limits of which the first symbol is a ray of its own, and the second and third together have g = 0."""
    lower = [Fraction(14, 29), Fraction(1, 9), Fraction(1, 3), Fraction(1, 70)]
    rest = 1 - sum(lower)
    return LowerLimits(lower, center=[x + rest * share / 7 for x, share in zip(lower, (1, 2, 3, 1), strict=True)])


@pytest.mark.parametrize("kind", ["I", "E", "P"])
def test_the_errors_of_entries_are_counted(kind):
    off, told = errors_of(LowerRays(some_limits(), E), kind)
    assert max(off) > 0
    assert all(x <= Fraction(y) for x, y in zip(off, told, strict=True))


def test_the_error_of_a_share_is_counted():
    rng = np.random.default_rng(1)
    below = [-Fraction(int(k), 3**30) for k in rng.integers(1, 3**30, 200)]
    below[0] = -Fraction(1, 3 * 10**322)  # of which a float holds one bit
    above = [Fraction(int(k), 3**30) for k in rng.integers(1, 3**30, 200)]
    above[0] = Fraction(1, 10**289)
    share, error = shares(*(np.array([float(x) for x in side]) for side in (below, above)))
    exact = [-a / (b - a) for a, b in zip(below, above, strict=True)]
    off = [abs(Fraction(x) - y) for x, y in zip(share.tolist(), exact, strict=True)]
    assert max(off) > 0
    assert all(x <= Fraction(y) for x, y in zip(off, error.tolist(), strict=True))


@pytest.mark.parametrize(
    ("own", "between", "below", "above"),
    [("0.6", "0.3", 30, 10), ("0.6", "0.01", 30, 1), ("0.1", "0.8", 1, 10**9), ("0.02", "0.97", 1, 10**9)],
)
def test_a_share_that_floats_do_not_give_is_counted(own, between, below, above):
    """Both g are so near to 0 that their quotient is not computed: it may be anything from 0 to 1."""
    tiny = Fraction(1, 10**310)
    own, between, e = Fraction(own), Fraction(between), Fraction(1 / float(own))
    lower = [1 / e - below * tiny, (below + above) * tiny, 0]
    center = [max(own, 1 / e), between, 1 - max(own, 1 / e) - between]
    rays = LowerRays(LowerLimits(lower, center=center), float(e))
    off, told = errors_of(rays, "P")
    assert max(off) > Fraction(1, 100)
    assert all(x <= Fraction(y) for x, y in zip(off, told, strict=True))


@pytest.mark.parametrize("common", [2**63 - 25, 2**63, 2**200])
def test_integers_of_any_size_tell_decomposable_pairs(common):
    """Limits of nearly 1/5 have as many rays as limits of 1/5, whatever their denominator."""
    low = [Fraction(common // 5, common)] * 4
    counts = {LowerRays(LowerLimits(limits, center=["1/4"] * 4), 3.0).count("P") for limits in (low, ["1/5"] * 4)}
    assert len(counts) == 1
