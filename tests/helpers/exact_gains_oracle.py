"""The greatest reduced cost of a gain utility over all extreme rays, in rational arithmetic."""

from fractions import Fraction
from itertools import combinations, product

from flint import fmpq, fmpq_mat

import mechdesign as md


def support(known, v):
    """Return h(v) from its definition, for a column of Fractions."""
    if isinstance(known, md.ConvexHull):
        return min(sum(q * x for q, x in zip(prior, v, strict=True)) for prior in known.priors)
    return ball_support(known.center, known.radius / 2, v, within_simplex=known.within_simplex)


def ball_support(P, t, v, *, within_simplex):
    """Return h(v), by moving mass t from the greatest values to the least one; as printed, all of t moves."""
    mean, least = sum(p * x for p, x in zip(P, v, strict=True)), min(v)
    if not within_simplex:
        return mean - t * (max(v) - least)
    for x, p in sorted(zip(v, P, strict=True), reverse=True):
        taken = min(t, p)
        mean, t = mean - taken * (x - least), t - taken
    return mean


def in_cone(known, e, v):
    return min(v) >= 0 < max(v) and max(v) <= e * support(known, v)


def rays_of_ball(ball, e):
    """Yield columns of the four kinds, for every way to lay the symbols into S, S' and the rest."""
    P, t, N = ball.center, ball.radius / 2, ball.size
    c = e / (1 + t * e)
    for parts in product((0, 1, 2), repeat=N):
        S, mass = [part == 2 for part in parts], sum(p for p, part in zip(P, parts, strict=True) if part == 2)
        if 1 not in parts:
            if 1 - mass + t > 0:
                low = (1 - c * mass) / (1 - mass + t)
                yield [c if s else low for s in S]
            yield [e if s else Fraction(1) for s in S]
            for f in range(N):
                if not S[f] and P[f] > 0:
                    yield [(1 - c * mass) / P[f] if i == f else c * s for i, s in enumerate(S)]
        else:
            b = sum(p for p, part in zip(P, parts, strict=True) if part)
            yield [(Fraction(0), Fraction(1), e * (b - t))[part] for part in parts]


def rays_of_hull(hull, e):
    """Yield the nonnegative solutions of every N - 1 of the inequalities of the cone."""
    N = hull.size
    rows = [[Fraction(int(i == j)) for j in range(N)] for i in range(N)]
    rows += [[e * q - (i == j) for j, q in enumerate(prior)] for prior in hull.priors for i in range(N)]
    for chosen in combinations(rows, N - 1):
        entries = [fmpq(x.numerator, x.denominator) for row in chosen for x in row]
        reduced, rank = fmpq_mat(N - 1, N, entries).rref()
        if rank < N - 1:
            continue
        pivots = [next(j for j in range(N) if reduced[i, j] != 0) for i in range(N - 1)]
        free = next(j for j in range(N) if j not in pivots)
        v = [Fraction(1)] * N
        for i, j in enumerate(pivots):
            entry = reduced[i, free]
            v[j] = -Fraction(int(entry.p), int(entry.q))
        yield v


def columns(known, e):
    """Return feasible columns with <P, v> = 1, all extreme rays and the constant one among them."""
    ones = [Fraction(1)] * known.size
    found = [ones]
    for v in rays_of_hull(known, e) if isinstance(known, md.ConvexHull) else rays_of_ball(known, e):
        mass = sum(p * x for p, x in zip(known.center, v, strict=True))
        if mass > 0 and in_cone(known, e, v):
            found.append([x / mass for x in v])
    return found


def greatest_reduced_cost(known, e, gains, multipliers):
    """Return the greatest ``sum_i (P_i g(w, i) - lambda_i) v_i`` over guesses and columns of the cone."""
    costs = [[p * g - x for p, g, x in zip(known.center, row, multipliers, strict=True)] for row in gains]
    found = columns(known, e)
    return max(sum(a * x for a, x in zip(row, v, strict=True)) for row in costs for v in found)


def disclosure(known, gains):
    return sum(p * max(column) for p, column in zip(known.center, zip(*gains, strict=True), strict=True))


def value(matrix, prior, gains):
    """Return the utility of a float matrix."""
    return sum(
        max(sum(p * g * Fraction(x) for p, g, x in zip(prior, row, v, strict=True)) for row in gains)
        for v in zip(*matrix.tolist(), strict=True)
    )
