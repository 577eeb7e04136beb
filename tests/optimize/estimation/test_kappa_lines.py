"""Multipliers of a mass, held against linear programs in which every symbol may be divided."""

import numpy as np
import pytest
from scipy.optimize import linprog

from mechdesign.optimize.estimation.kappa_lines import KappaLines


def instance(seed, N=7):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(N))
    must = (rng.random(N) < 0.2)[None]
    may_mid = (rng.random(N) < 0.8)[None] | must
    may_high = (rng.random(N) < 0.5)[None] & may_mid
    light, low = 0.3 * rng.random(1) * P[may_high[0]].sum(), rng.random(1)
    heavy, high = light + 0.1 * rng.random(1), np.minimum(low + 0.1 * rng.random(1), 1.0)
    return KappaLines(
        P, rng.normal(size=(1, N)), rng.normal(size=(1, N)), may_high, may_mid, must, light, heavy, low, high
    )


def program(lines, kappa=None):
    """Return the greatest sum of gains over shares in S and S', with or without a multiplier for the mass of S'.

    With it the sum gets ``kappa (b - a - P(S'))``, with a the mass of S, and b greatest.
    """
    N, P = lines.P.size, lines.P
    priced = lines.of_mid[0] if kappa is None else lines.of_mid[0] - kappa * P
    gains = np.concatenate([lines.of_high[0] - (0 if kappa is None else kappa * P), priced])
    in_high, in_both = np.concatenate([P, 0 * P]), np.concatenate([P, P])
    rows, ends = [in_high, -in_high], [lines.heavy[0], -lines.light[0]]
    if kappa is None:
        rows, ends = [*rows, in_both, -in_both], [*ends, lines.high[0], -lines.low[0]]
    rows += list(np.hstack([np.eye(N), np.eye(N)]))
    bounds = [(0, float(may)) for may in np.concatenate([lines.may_high[0], lines.may_mid[0]])]
    must = lines.must[0]
    equal = {"A_eq": np.hstack([np.eye(N), np.eye(N)])[must], "b_eq": np.ones(must.sum())} if must.any() else {}
    found = linprog(-gains, np.array(rows), [*ends, *np.ones(N)], bounds=bounds, **equal)
    if kappa is None or found.status != 0:
        return -found.fun if found.status == 0 else None
    return -found.fun + max(kappa * lines.low[0], kappa * lines.high[0])


@pytest.mark.parametrize("seed", range(80))
def test_the_kappa_has_about_the_least_bound(seed):
    """By duality the least Lagrangian bound is the greatest sum; where there is none, the lack tells its side."""
    lines = instance(seed)
    best, true = lines.best(), program(lines)
    if true is None:
        assert not np.isnan(best.lack[0])
        steep = -np.sign(best.lack[0]) * np.array([-1e3, -1e5])
        assert program(lines, steep[1]) < program(lines, steep[0])
    else:
        bound = program(lines, best.kappa[0])
        assert true - 1e-9 <= bound <= true + 1e-3 * (1 + abs(true))
