"""The experiment of HP Figure 1: Laplace noise on a histogram, its scale set under PML or under differential privacy.

One repetition (HP Section III-B): draw n = 1000 records uniformly from k bins, add Laplace noise to the k counts, clip
to non-negative values, round to whole numbers, and take the total variation distance (TVD) between the released and
the true empirical distribution.

All repetitions for a k are computed at once. The records, and the noise up to its scale, are the same for every
mechanism and epsilon, so that mechanisms are compared on the same draws.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from figures.lib.output import Row
from mechdesign.histogram.laplace_plan import laplace_scale

RECORDS = 1_000
REPETITIONS = 10_000
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def draw_data(bins: int, repetitions: int, rng: np.random.Generator) -> tuple[Integers, Floats]:
    """Return true counts and Laplace noise of scale 1, each of shape (repetitions, k)."""
    counts = rng.multinomial(RECORDS, np.full(bins, 1 / bins), size=repetitions)
    return counts, rng.laplace(size=counts.shape)


def distances(counts: Integers, released: Floats) -> Floats:
    """Return the TVD between rows of true and of released counts, each over its sum.

    A released histogram whose counts are all 0 does not define a distribution: its distance is 1, the greatest
    possible.
    """
    totals = released.sum(axis=1, keepdims=True)
    shares = released / np.where(totals > 0, totals, 1)
    found = np.abs(shares - counts / counts.sum(axis=1, keepdims=True)).sum(axis=1) / 2
    return np.where(totals[:, 0] > 0, found, 1.0)


def release(counts: Integers, noise: Floats, scale: float) -> Floats:
    """Return noisy counts, clipped to non-negative values and rounded."""
    return np.rint(np.clip(counts + scale * noise, 0, None))


def row(counts: Integers, noise: Floats, epsilon: float, alpha: float) -> Row:
    """Return one row of a table: mean TVD with its standard error; alpha = 0 is differential privacy."""
    scale = laplace_scale(epsilon, alpha)
    found = distances(counts, release(counts, noise, scale))
    return {
        "bins": counts.shape[1],
        "alpha": alpha,
        "epsilon": epsilon,
        "mechanism": "PML" if alpha > 0 else "DP",
        "scale": scale,
        "tvd": float(found.mean()),
        "standard_error": float(found.std(ddof=1) / np.sqrt(found.size)),
        "standard_deviation": float(found.std(ddof=1)),
    }


def draw_errors(axis: Any, x: str, rows: list[Row], **style: Any) -> None:
    """Draw the mean TVD of the rows against one of their keys, with bars of two standard errors."""
    means, bars = [row["tvd"] for row in rows], [2 * row["standard_error"] for row in rows]
    axis.errorbar([row[x] for row in rows], means, bars, **style)


def gap(dp: Row, pml: Row) -> float:
    """Return by how much the mean TVD under PML is smaller; both are means over the same draws."""
    return float(dp["tvd"] - pml["tvd"])
