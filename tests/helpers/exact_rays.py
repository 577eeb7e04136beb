"""Greatest reduced costs over exact rays: rationals and balls of 800 bits, with nothing of the package in them."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

from flint import arb, ctx, fmpq, fmpq_mat

BITS = 800


def rays_of_ball(center, radius, e):
    """Every ray of the cone of an l1 ball within the simplex, kinds A to D, with ``<P, v> = 1`` (MATH.md section 3)."""
    N, t = len(center), radius / 2
    c = e / (1 + t * e)
    for inside in product((False, True), repeat=N):
        S = [i for i in range(N) if inside[i]]
        w = sum((center[i] for i in S), Fraction(0))
        if t < 1:
            if (t > 0 or w < 1) and 1 - c * w >= 0:
                m = (1 - c * w) / (1 - w + t)
                yield _scaled(center, [c if i in S else m for i in range(N)])
            for f in set(range(N)) - set(S):
                if center[f] > 0 and 0 <= 1 - c * w <= c * center[f]:
                    x = (1 - c * w) / center[f]
                    yield _scaled(center, [c if i in S else x if i == f else 0 for i in range(N)])
            for more in product((False, True), repeat=N - len(S)):
                rest = [i for i in range(N) if i not in S]
                T = [i for i, chosen in zip(rest, more, strict=True) if chosen]
                b = w + sum((center[i] for i in T), Fraction(0))
                if t > 0 and w <= t and S and b - t >= 1 / e:
                    yield _scaled(center, [e * (b - t) if i in S else 1 if i in T else 0 for i in range(N)])
        if t > 0 and w <= t:
            yield _scaled(center, [e if i in S else 1 for i in range(N)])


def rays_of_hull(priors, reference, e):
    """Every vertex of ``{ x in [0, 1]^N : <Q, x> >= 1/e }`` with greatest entry 1, by solving all systems."""
    N = len(reference)
    rows = [([Fraction(i == j) for j in range(N)], Fraction(b)) for i in range(N) for b in (0, 1)]
    rows += [(list(prior), 1 / e) for prior in priors]
    seen = set()
    for chosen in combinations(rows, N):
        matrix = fmpq_mat([[_fmpq(x) for x in row] for row, _ in chosen])
        if matrix.det() == 0:
            continue
        solved = matrix.solve(fmpq_mat([[_fmpq(right)] for _, right in chosen])).entries()
        x = tuple(Fraction(int(entry.p), int(entry.q)) for entry in solved)
        inside = max(x) == 1 and min(x) >= 0 and all(_dot(prior, x) >= 1 / e for prior in priors)
        if inside and x not in seen:
            seen.add(x)
            yield _scaled(reference, x)


def greatest_reduced_cost(center, rays, f, multipliers):
    """A rational that is not above the greatest reduced cost of any ray: for f of balls of floats, and exact lambda."""
    before, ctx.prec = ctx.prec, BITS
    try:
        P = [_arb(p) for p in center]
        lam = [_arb(Fraction(x)) for x in multipliers]
        lowest = []
        for v in rays:
            likely = [(p, f(_arb(x))) for p, x, mass in zip(P, v, center, strict=True) if mass > 0]
            cost = sum((p * y for p, y in likely), arb(0)) - sum(
                (y * _arb(x) for y, x in zip(lam, v, strict=True)), arb(0)
            )
            mantissa, exponent = cost.lower().man_exp()
            lowest.append(Fraction(int(mantissa)) * Fraction(2) ** int(exponent))
        return max(lowest)
    finally:
        ctx.prec = before


def _scaled(center, v):
    mass = _dot(center, v)
    return tuple(Fraction(x) / mass for x in v)


def _dot(weights, values):
    return sum((p * x for p, x in zip(weights, values, strict=True)), Fraction(0))


def _fmpq(x):
    return fmpq(x.numerator, x.denominator)


def _arb(x):
    return arb(_fmpq(Fraction(x)))
