"""Random problems for property tests."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

import mechdesign as md

F_INFORMATIONS = (md.MutualInformation(), md.ChiSquare(), md.TotalVariation(), md.SquaredHellinger())

epsilons = st.one_of(
    st.decimals(Decimal("0.02"), Decimal(4), places=2).map(str),
    st.tuples(st.integers(1, 30), st.integers(1, 9)).map(lambda ab: f"log({ab[0] + ab[1]}/{ab[1]})"),
)


@st.composite
def counts(draw, least=2, most=5, zeros=True):
    """Counts with ties, a dominant symbol or zeros among them."""
    size = draw(st.integers(least, most))
    one = st.one_of(st.integers(0 if zeros else 1, 3), st.integers(1, 60), st.integers(200, 900))
    found = draw(st.lists(one, min_size=size, max_size=size))
    return found if any(found) else [1] * size


@st.composite
def balls(draw, least=2, most=5):
    """Balls of radius 0, small, beyond twice the least probability, and up to 2."""
    kind = draw(st.sampled_from(["known", "small", "wide", "any", "ldp"]))
    found = draw(counts(least, most, zeros=kind != "known"))
    radius = {
        "known": st.just("0"),
        "small": st.decimals(Decimal("0.001"), Decimal("0.1"), places=3).map(str),
        "wide": st.decimals(Decimal("0.1"), Decimal(1), places=2).map(str),
        "any": st.decimals(Decimal("0.01"), Decimal(2), places=2).map(str),
        "ldp": st.just("2"),
    }[kind]
    return md.L1Ball.from_counts(found, radius=draw(radius))


@st.composite
def hulls(draw, least=2, most=5, priors=4):
    """Hulls with repeated and collinear priors and priors with zeros among them."""
    size = draw(st.integers(least, most))
    found = draw(st.lists(counts(size, size), min_size=1, max_size=priors))
    rows = [[Fraction(n, sum(row)) for n in row] for row in found]
    if draw(st.booleans()):
        rows.append([(2 * a + b) / 3 for a, b in zip(rows[0], rows[-1], strict=True)])
    # No symbol may have probability 0 under all.
    if any(all(row[i] == 0 for row in rows) for i in range(size)):
        rows.append([Fraction(1, size)] * size)
    return md.ConvexHull(rows)


def random_hull(rng, size, priors):
    base = rng.dirichlet(np.ones(size) * 2)
    rows = [1 + (1e4 * (0.7 * base + 0.3 * rng.dirichlet(np.ones(size)))).astype(int) for _ in range(priors)]
    return md.ConvexHull([[Fraction(int(n), int(row.sum())) for n in row] for row in rows])


def random_ball(rng: np.random.Generator, size: int, radius: float | str) -> md.L1Ball:
    """Return a ball around random counts, the least of which is 1."""
    return md.L1Ball.from_counts((1 + rng.integers(0, 200, size)).tolist(), radius=radius)


def random_mechanism(rng: np.random.Generator, inputs: int, outputs: int) -> np.ndarray:
    """Return a random row-stochastic matrix with some zeros."""
    matrix = rng.random((inputs, outputs)) ** 3 * (rng.random((inputs, outputs)) < 0.8)
    matrix[:, 0] += 1e-3
    return matrix / matrix.sum(axis=1, keepdims=True)


def is_closed(design: md.Design) -> bool:
    """Return whether a design is certified, or misses it by what integers cost squared Hellinger.

    Its slope at zero is infinite, and where the zeros determine a mechanism no integers keep them all.
    """
    return design.certified or (design.problem.utility == md.SquaredHellinger() and design.gap <= 1e-8)
