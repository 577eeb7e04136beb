"""ED Figure 2b: the bound of Theorem 4 for a 2-singular mechanism on ten symbols (Example 2).

Uniform P on N = 10 symbols, epsilon = log 5. The paper does not say which 2-singular mechanism it takes: here it is the
circulant one, whose row i has 1/2 at the outputs i and i - 1 (modulo 10). For 10,000 random distributions Q the
divergence D_inf(P_Y || Q_Y) is drawn over ||P - Q||_1, with the bound (32) and the exact supremum over the l1 ball,
which is computed in rational arithmetic and is not in the paper. The distance is uniform on [0, 0.36], and the
direction is that of `figures.lib.figure_2.random_priors`, seeded; at 0.4 = 2 exp(-epsilon) bound and supremum are
infinite, because two symbols of probability 1/10 each may vanish. Run ``python -m figures figure_2b``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from figures.lib import figure_2
from figures.lib.output import Row
from mechdesign.optimize.closed_form.form import circulant

EPSILON = "log(5)"
PRIOR = (Fraction(1, 10),) * 10
FURTHEST = Fraction(9, 25)
MECHANISM = circulant(np.array([1.0] * 2 + [0.0] * 8))


def compute(quick: bool = False) -> list[Row]:  # noqa: FBT001, FBT002 - the interface of every figure
    """Return one row for each random distribution and each point of the curves; quick draws 500 distributions."""
    return figure_2.table(MECHANISM, PRIOR, EPSILON, FURTHEST, 500 if quick else 10_000)


def draw(table: list[Row]) -> Any:
    """Return a matplotlib figure: a cloud below two curves."""
    return figure_2.draw(table, r"2-singular mechanism: $N = 10$, $\varepsilon = \log 5$", min(PRIOR))
