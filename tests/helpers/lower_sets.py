"""Random sets above lower probabilities, and the inequalities that follow from their definitions, in rationals."""

from fractions import Fraction

import numpy as np
from double_description import extreme_rays

import mechdesign as md
from mechdesign.uncertainty import Box, EventSet, L1Box, LowerFunction, LowerLimits, RelativeBall

E = [Fraction(9, 8), Fraction(3, 2), Fraction(2), Fraction(5, 2), Fraction(4)]


def subsets(size):
    return [[i for i in range(size) if mask >> i & 1] for mask in range(1, (1 << size) - 1)]


def row_of(S, size):
    return [Fraction(i in S) for i in range(size)]


def rows_of(known):
    """The inequalities ``<row, Q> >= side`` of a set, by its definition and not by its f."""
    N, rows = known.size, []
    unit = [row_of([i], known.size) for i in range(known.size)]
    if hasattr(known, "lower"):
        rows += [(unit[i], known.lower[i]) for i in range(N)]
    if hasattr(known, "upper"):
        rows += [([-x for x in unit[i]], -known.upper[i]) for i in range(N)]
    balls = []
    if hasattr(known, "radius"):
        balls = [(Fraction(1), known.radius / 2)]
    if hasattr(known, "alpha"):
        balls = [(known.alpha, known.gamma)]
    if hasattr(known, "alphas"):
        balls = list(zip(known.alphas, known.gammas, strict=True))
    # A sum of positive parts is the greatest sum over any set.
    for alpha, gamma in balls:
        rows += [(row_of(S, N), alpha * sum(known.center[i] for i in S) - gamma) for S in subsets(N)]
    if hasattr(known, "f"):
        rows += [(row_of(S, N), Fraction(known.f(tuple(known.labels[i] for i in S)))) for S in subsets(N)]
    return [*rows, *((unit[i], Fraction(0)) for i in range(N))]


def some_prior(rng, size, *, zeros):
    weights = rng.integers(0 if zeros else 1, 7, size)
    weights[0] += 1
    return [Fraction(int(w), int(weights.sum())) for w in weights]


def some_set(rng, size):
    """One of the classes with small denominators, so that ties and vacuous limits are common."""
    P = some_prior(rng, size, zeros=rng.random() < 0.3)
    part = [Fraction(int(k), 4) for k in rng.integers(0, 5, size)]
    lower = [p * share for p, share in zip(P, part, strict=True)]
    upper = [p + (1 - p) * Fraction(int(k), 6) for p, k in zip(P, rng.integers(0, 5, size), strict=True)]
    t = Fraction(int(rng.integers(0, 6)), 12)
    alphas = [Fraction(int(k), 10) for k in rng.integers(5, 16, 2)]
    gammas = [
        max(Fraction(0), a - 1) + Fraction(int(k), 20) for a, k in zip(alphas, rng.integers(0, 5, 2), strict=True)
    ]
    choice = rng.integers(6)
    if choice == 0:
        return LowerLimits(lower, center=P)
    if choice == 1:
        return Box(lower, upper, center=P)
    if choice == 2:
        return L1Box(lower, upper, 2 * t, center=P)
    if choice == 3:
        return RelativeBall(P, alphas[0], gammas[0])
    if choice == 4:
        return EventSet(P, alphas, gammas)
    return convex_game(rng, P)


def convex_game(rng, P):
    """A mixture of certainties that some set contains the truth, half of which is the estimate: supermodular."""
    size = len(P)
    parts = [int(m) for m in rng.integers(1, 1 << size, 4)]
    weights = [Fraction(int(w), 20) for w in rng.integers(0, 5, 4)]
    rest = 1 - sum(weights, Fraction(0))
    labels = [str(i) for i in range(size)]

    def f(S):
        inside = {labels.index(label) for label in S}
        held = [
            w for w, part in zip(weights, parts, strict=True) if all(i in inside for i in range(size) if part >> i & 1)
        ]
        return rest * sum((P[i] for i in inside), Fraction(0)) + sum(held, Fraction(0))

    center = [rest * p for p in P]
    for weight, part in zip(weights, parts, strict=True):
        members = [i for i in range(size) if part >> i & 1]
        for i in members:
            center[i] += weight / len(members)
    return LowerFunction(f, center, supermodular=True, labels=labels)


def instances(count, size, seed):
    rng, made = np.random.default_rng(seed), []
    while len(made) < count:
        try:
            made.append((some_set(rng, size), E[int(rng.integers(len(E)))]))
        except md.InputError as error:
            assert "probability 0 under every prior" in str(error)  # noqa: PT017 - such a symbol is refused
    return made


def vertices_of(known):
    """The vertices of a set: the rays of the cone over it."""
    rows = [[a - side for a in row] for row, side in rows_of(known)]
    return [tuple(Fraction(x, sum(ray)) for x in ray) for ray in extreme_rays(rows, known.size)]
