"""What no mechanism with the same promise of leakage falls below.

**Theorem.** Let a mechanism be epsilon-PML for a set that contains P, and an estimate of the share of x from n reports
unbiased near P. Then ``n Var >= (1 - P_x)^2 / (u_x - 1)`` with ``u_x = min(exp(epsilon), 1/P_x)``.

*Proof.* Along the line ``P + t (e_x - P)`` the share moves by ``1 - P_x``. The Fisher information of a report there is
``E (v_x - 1)^2`` with ``0 <= v_x <= u_x`` and ``E v_x = 1``; that is at most ``u_x - 1``. Cramer and Rao's inequality
gives the bound.
"""

from __future__ import annotations

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.epsilon import Epsilon


def error_bound(shares: Floats, epsilon: Epsilon) -> float:
    """Return the sum of the bounds of the strings with these shares.

    Parameters
    ----------
    shares : ndarray, shape (n,)
        Shares of strings, in (0, 1]; 0 for strings that do not occur.
    epsilon : Epsilon
        The budget.

    Examples
    --------
    >>> import numpy as np
    >>> round(error_bound(np.array([0.1] * 10), Epsilon.of("log(5)")), 9)
    2.025
    """
    with np.errstate(divide="ignore"):
        limits = np.minimum(float(epsilon.exp_up), 1 / shares)
    return float(np.sum((1 - shares) ** 2 / (limits - 1)))
