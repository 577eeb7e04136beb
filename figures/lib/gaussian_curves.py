"""What Figures 6 and 7 share: the (epsilon*, delta*) curves of the binary Gaussian mechanism (ED Section VI-B).

Every curve belongs to a number m of samples, which gives the l1 radius of delta_2 = 1e-6 (ED eq. 45). Each of its
points is computed from an epsilon: delta_1 is the supremum of eq. (59) over the ball, bounded from above in ball
arithmetic (the paper searches a grid), and epsilon* and delta* are eq. (64) and (65).

The pair (epsilon, delta*) holds as well and is better, since epsilon is below epsilon*: the supremum already counts
every prior in the ball with its own leakage. This pair is drawn dashed. For m = 100 only the dashed curve reaches
delta_2, at ``epsilon = log(1 / (p_min - radius / 2))``, the greatest leakage of any output; epsilon* is infinite before
epsilon is that large.

The curve of probabilistic LDP is eq. (70) solved for delta. It takes both tails to be as large as the larger one, and
is at most twice the exact probability of eq. (69).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import mechdesign as md
from figures.lib.output import Row
from figures.lib.style import BLUE, GREEN, ORANGE, VERMILION, empty, grid
from mechdesign.additive_noise import gaussian_curve, pldp_delta

DELTA_2 = "1e-6"
SAMPLES = (100, 1_000, 10_000, 100_000)
PLDP = "pLDP"
RANGE = (0.05, 10.0)  # of epsilon*, in nats
LOWEST = 3e-7  # of the vertical axis: half a decade below delta_2
STYLES = ((ORANGE, "^"), (GREEN, "D"), (BLUE, "s"), (VERMILION, "o"))
Floats = NDArray[np.float64]


def epsilons_of(epsilon_star: Floats, radius: float) -> Floats:
    """Return the epsilon that has a given epsilon*: ED eq. (64) solved, ``-log(exp(-e*) + t)``.

    It exists where ``exp(-epsilon*) + t < 1``, with t half the radius; elsewhere the result is not positive.
    """
    return -np.log(np.exp(-epsilon_star) + radius / 2)


def _finely(p_min: float, radius: float, points: int) -> Floats:
    """Return epsilons close together near ``log(1 / (p_min - radius/2))``, where delta_1 falls to 0."""
    least = p_min - radius / 2
    if least <= 0:
        return np.empty(0)
    return -np.log(least + np.geomspace(1e-4, (1 - least) / 2, points))


def compute(sigma: float, p_min: float, *, quick: bool) -> list[Row]:
    """Return one row for each point of each curve; quick takes fewer points.

    All curves have the points of one grid of epsilon* (``grid`` is true), so that they can be compared, and further
    points where they fall steeply. From ``epsilon = log(2 / radius)`` on epsilon* is infinite. Rows whose
    ``curve`` is pLDP have neither samples nor an epsilon.
    """
    stars = np.geomspace(*RANGE, 13 if quick else 61)
    rows = []
    for samples in SAMPLES:
        radius = md.weissman_radius(samples, 2, DELTA_2)
        shared, fine = epsilons_of(stars, radius), _finely(p_min, radius, 5 if quick else 40)
        positive = shared[shared > 0]
        asked = np.concatenate([positive, fine])
        curve = gaussian_curve(asked.tolist(), sigma, p_min, samples, DELTA_2)
        rows += [
            {
                "curve": f"PML, m = {samples:,}",
                "samples": samples,
                "radius": curve.radius,
                "grid": bool(index < positive.size),
                "epsilon": float(curve.epsilon[index]),
                "epsilon_star": float(curve.epsilon_star[index]),
                "delta_1": float(curve.delta_1[index]),
                "delta_star": float(curve.delta_star[index]),
            }
            for index in np.argsort(asked).tolist()
        ]
    for star in stars.tolist():
        point = {"curve": PLDP, "samples": "", "radius": "", "grid": True, "epsilon": "", "epsilon_star": star}
        rows.append({**point, "delta_1": "", "delta_star": pldp_delta(star, sigma)})
    return rows


def draw(table: list[Row], title: str) -> Any:
    """Return a matplotlib figure: for each m the curve of ED, and dashed the better pair; pLDP; and delta_2."""
    figure, axis = empty(7.2, 4.8)
    names = list(dict.fromkeys(row["curve"] for row in table if row["curve"] != PLDP))
    for order, (name, (colour, marker)) in enumerate(zip(names, STYLES, strict=True)):
        rows = [row for row in table if row["curve"] == name]
        y = [row["delta_star"] for row in rows]
        axis.plot([row["epsilon"] for row in rows], y, color=colour, lw=1.0, ls=(0, (4, 2)))
        axis.plot(
            [row["epsilon_star"] for row in rows],
            y,
            color=colour,
            lw=1.6,
            marker=marker,
            ms=5,
            # Curves that nearly coincide have their markers at different places.
            markevery=(0.02 * (order + 1), 0.12),
            label=name.replace("m =", "$m$ ="),
        )
    rows = [row for row in table if row["curve"] == PLDP]
    x, y = [row["epsilon_star"] for row in rows], [row["delta_star"] for row in rows]
    axis.plot(x, y, color="black", lw=1.4, ls="-.", marker="x", ms=5, markevery=0.08, label="pLDP, eq. (70)")
    axis.plot([], [], color="0.35", lw=1.0, ls=(0, (4, 2)), label=r"PML, pairs $(\varepsilon, \delta^*)$")
    axis.axhline(float(DELTA_2), color="0.5", lw=1, ls=(0, (1, 2)), label=rf"$\delta_2$ = {DELTA_2}")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlim(*RANGE)
    axis.set_ylim(LOWEST, 2)
    axis.set_xticks([0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10], ["0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10"])
    axis.minorticks_off()
    axis.set_xlabel(r"$\varepsilon^*$ (nats); dashed: $\varepsilon$")
    axis.set_ylabel(r"$\delta^*$")
    axis.set_title(title)
    grid(axis)
    axis.legend(frameon=False, loc="lower left")
    return figure
