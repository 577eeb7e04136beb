"""Columns in the span of the queries, for mechanisms of fewer outputs than categories.

Reports determine the queries W just if the span of the columns holds every row of W. The columns sum to (1,...,1), so
that with ``1 + rank`` outputs, the rank of W without (1,...,1), each column is ``1 + W'a`` times its mass. Columns of
all symbols hardly ever fall into this span, and a search that drops them one by one never finds it. In the span itself
columns can always be dropped until as many are left as it has dimensions.
"""

from __future__ import annotations

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.tolerances import RANK
from mechdesign.optimize.column_cone import ColumnCone

_PAIRS = 50  # of directions, for each dimension of the queries
_MOST_PAIRS = 500


def mechanism_of_queries(cone: ColumnCone, workload: Floats, rng: np.random.Generator) -> Floats:
    """Return a mechanism of many columns, each as far from (1,...,1) in a direction of the queries as a promise lets.

    Directions are random, and each comes with the opposite one: columns ``1 + t x`` and ``1 - u x`` with masses u and t
    sum to a multiple of (1,...,1).

    Parameters
    ----------
    cone : ColumnCone
        The promise; every probability of the reference prior is above 0.
    workload : array, shape (q, N)
        W.
    rng : Generator
        Draws the directions.

    Returns
    -------
    array, shape (N, M)
        Each column has mean above 0, and all sum to (1,...,1).

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> from mechdesign.uncertainty.base import NO_FLOOR
    >>> cone = ColumnCone(L1Ball([0.25, 0.25, 0.5], "0.1"), 2.0, NO_FLOOR)
    >>> found = mechanism_of_queries(cone, np.array([[1.0, 2.0, 3.0]]), np.random.default_rng(0))
    >>> found.shape, found.sum(axis=1).round(12).tolist(), bool((cone.broken_by(found) <= 1e-12).all())
    ((3, 2), [1.0, 1.0, 1.0], True)
    """
    prior = cone.known.prior
    centered = workload - (workload @ prior)[:, None]
    _, values, directions = np.linalg.svd(centered, full_matrices=False)
    basis = directions[values > RANK * values[0]].T
    pairs = 1 if basis.shape[1] == 1 else min(_PAIRS * basis.shape[1], _MOST_PAIRS)
    along = basis @ rng.standard_normal((basis.shape[1], pairs))
    along -= prior @ along
    both = np.hstack([along, -along])
    columns = cone.mixed(1 + both / -both.min(axis=0))
    reached = (columns.max(axis=0) - 1) / both.max(axis=0)
    masses = np.roll(reached, pairs)
    found: Floats = columns * (masses / masses.sum())
    return found
