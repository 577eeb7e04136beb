"""ED Figure 2a: the bound of Theorem 4 for the mechanism of Example 1, in the first privacy region.

P = (2/5, 1/5, 1/5, 1/5), the mechanism of eq. (34), epsilon = log(9/8). For 10,000 random distributions Q the
divergence D_inf(P_Y || Q_Y) is drawn over ||P - Q||_1, with the bound (32) and the exact supremum over the l1 ball,
which is computed in rational arithmetic and is not in the paper. The paper does not say how it draws Q, nor how far:
here the distance is uniform on [0, 0.8], up to twice the radius 2 min P for which the theorem is stated, and the
direction is that of `figures.lib.figure_2.random_priors`, seeded. Run ``python -m figures figure_2a``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from figures.lib import figure_2
from figures.lib.output import Row

EPSILON = "log(9/8)"
PRIOR = (Fraction(2, 5), Fraction(1, 5), Fraction(1, 5), Fraction(1, 5))
FURTHEST = 4 * min(PRIOR)
# ED eq. (34).
MECHANISM = np.array(
    [
        [0.325, 0.225, 0.225, 0.225],
        [0.45, 0.1, 0.225, 0.225],
        [0.45, 0.225, 0.1, 0.225],
        [0.45, 0.225, 0.225, 0.1],
    ]
)


def compute(quick: bool = False) -> list[Row]:  # noqa: FBT001, FBT002 - the interface of every figure
    """Return one row for each random distribution and each point of the curves; quick draws 500 distributions."""
    return figure_2.table(MECHANISM, PRIOR, EPSILON, FURTHEST, 500 if quick else 10_000)


def draw(table: list[Row]) -> Any:
    """Return a matplotlib figure: a cloud below two curves."""
    return figure_2.draw(table, r"Example 1: $N = 4$, $\varepsilon = \log(9/8)$", min(PRIOR))
