"""What Figures 2a and 2b share: how much an output's probability may fall when the prior changes (ED Theorem 4)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mechdesign as md
from figures.lib.output import Row
from figures.lib.style import SKY, VERMILION, empty, grid
from mechdesign.pml import output_sensitivity, sensitivity_bound

Floats = NDArray[np.float64]
SEED = 2026
RANDOM, BOUND, SUPREMUM = "random", "bound", "supremum"


def random_priors(prior: Floats, distances: Floats, generator: np.random.Generator) -> Floats:
    """Return one random prior at each of the l1 distances from a prior, shape (K, N).

    A set of symbols, its size uniform from 1 to N - 1 and the set uniform given its size, loses half the distance, in
    shares P_i w_i with w_i uniform on [0, 1]; the other symbols gain it in shares that are uniform on their simplex.
    A draw that would take more from a symbol than its probability is repeated. The distances are given, so that all of
    them occur. Sets of one or two symbols are frequent, so that directions of great sensitivity occur too; uniform
    draws from the simplex of ten symbols would hardly ever have such directions.
    """
    P = np.asarray(prior, dtype=float)
    if not np.all(distances < 2 * (1 - P.min())):
        raise md.InputError(
            f"a distance is {distances.max():.6g}; accepted: below {2 * (1 - P.min()):.6g}, the furthest prior"
        )
    found = np.empty((distances.size, P.size))
    left = np.arange(distances.size)
    while left.size:
        shape = (left.size, P.size)
        places = generator.random(shape).argsort(axis=1).argsort(axis=1)
        loses = places < generator.integers(1, P.size, size=(left.size, 1))
        lost = np.where(loses, P * generator.random(shape), 0.0)
        gained = np.where(loses, 0.0, generator.exponential(size=shape))
        half = distances[left, None] / 2
        lost *= half / lost.sum(axis=1, keepdims=True)
        gained *= half / gained.sum(axis=1, keepdims=True)
        fits = (lost <= P).all(axis=1)
        found[left[fits]] = (P - lost + gained)[fits]
        left = left[~fits]
    return found


def divergence(matrix: Floats, prior: Floats, others: Floats) -> Floats:
    """Return ``D_inf(P_Y || Q_Y) = max_y log(P_Y(y) / Q_Y(y))`` in nats for each row Q of the others, shape (K,)."""
    result: Floats = np.log((prior @ matrix) / (others @ matrix)).max(axis=1)
    return result


def table(matrix: Floats, prior: Sequence[Fraction], epsilon: str, furthest: Fraction, draws: int) -> list[Row]:
    """Return the random distributions (to five decimals), the bound and the exact supremum up to an l1 distance."""
    generator = np.random.default_rng(SEED)
    P = np.array([float(p) for p in prior])
    distances = generator.uniform(0.0, float(furthest), size=draws)
    values = divergence(matrix, P, random_priors(P, distances, generator))
    rows = [
        {"curve": RANDOM, "distance": round(float(x), 5), "divergence": round(float(y), 5)}
        for x, y in zip(distances, values, strict=True)
    ]
    radii = [furthest * k / 80 for k in range(81)]
    bound = [sensitivity_bound(epsilon, radius, prior) for radius in radii]
    exact = [output_sensitivity(matrix, prior, md.L1Ball(prior, radius)).value for radius in radii]
    for name, curve in ((BOUND, bound), (SUPREMUM, exact)):
        rows += [
            {"curve": name, "distance": float(radius), "divergence": value}
            for radius, value in zip(radii, curve, strict=True)
        ]
    return rows


def draw(rows: list[Row], title: str, p_min: Fraction) -> Any:
    """Return a matplotlib figure: a cloud below two curves."""
    figure, axis = empty(6.0, 4.2)
    points = {
        name: (
            [row["distance"] for row in rows if row["curve"] == name],
            [row["divergence"] for row in rows if row["curve"] == name],
        )
        for name in (RANDOM, BOUND, SUPREMUM)
    }
    # Okabe and Ito's sky blue and vermilion. The curves may coincide: one is dashed, so that both are visible.
    axis.scatter(*points[RANDOM], s=3, color=SKY, linewidths=0, antialiased=False, label="random distributions")
    axis.plot(*points[BOUND], color=VERMILION, lw=3.2, label="bound (32), Theorem 4")
    axis.plot(*points[SUPREMUM], color="#000000", lw=1.4, ls=(0, (5, 4)), label="exact supremum")
    axis.axvline(float(2 * p_min), color="0.35", lw=1, ls=":")
    axis.annotate(
        r"$\beta = 2\,p_{\min}$",
        (float(2 * p_min), 0.70),
        xycoords=("data", "axes fraction"),
        xytext=(-4, 0),
        textcoords="offset points",
        ha="right",
        color="0.25",
    )
    axis.set_xlim(0, max(points[BOUND][0]))
    axis.set_ylim(0, None)
    axis.set_xlabel(r"$\ell_1$ distance  $\|P_X - Q_X\|_1$")
    axis.set_ylabel(r"$D_\infty(P_Y\,\|\,Q_Y)$  (nats)")
    axis.set_title(title)
    axis.legend(frameon=False, loc="upper left", markerscale=4)
    grid(axis)
    return figure
