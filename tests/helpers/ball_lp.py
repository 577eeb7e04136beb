"""The least mean of a column over an l1 ball, by a solver that knows nothing of the package."""

import numpy as np
from scipy.optimize import linprog


def least_mean(prior, radius, v):
    """Minimise <Q, v> over Q = P + up - down in the simplex with sum(up + down) <= radius."""
    P, N = np.asarray(prior, dtype=float), len(prior)
    eye = np.eye(N)
    found = linprog(
        np.r_[v, -np.asarray(v)],
        A_ub=np.vstack([np.ones(2 * N), np.hstack([-eye, eye])]),
        b_ub=np.r_[radius, P],
        A_eq=np.r_[np.ones(N), -np.ones(N)][None, :],
        b_eq=[0.0],
        bounds=(0, None),
        method="highs",
    )
    assert found.status == 0, found.message
    return float(P @ v) + found.fun
