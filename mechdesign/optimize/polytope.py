"""The polytope of epsilon-PML mechanisms (ED Proposition 2), as sparse rows and as cvxpy constraints.

ED writes a row for every pair of symbols and every output. Auxiliary variables of the support function
describe the same set with O(N) rows for each output: ``v_i <= e h`` and ``h <= h_B(v)``. A promise from below has the
same rows for -v, whose support function is minus the greatest mean: ``v_i >= -a k`` and ``k <= h_B(-v)``. Every set
says its own rows (`UncertaintySet.promise_rows`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.uncertainty import UncertaintySet

if TYPE_CHECKING:
    import cvxpy as cp
    from scipy.sparse import csr_array


@dataclass(frozen=True)
class PolytopeRows:
    """``inequalities @ x >= 0`` and ``equalities @ x = 1`` with ``x[:N M] >= 0``, the rest of x free.

    The first N M entries of x are the matrix column by column; K auxiliary variables for each of the M
    columns follow.

    Attributes
    ----------
    inequalities : sparse array, shape (R, (N + K) M), or (R, (N + 2 K) M) with a promise from below
        The privacy constraints.
    equalities : sparse array, shape (N, the same)
        The row sums.
    """

    inequalities: csr_array
    equalities: csr_array


@dataclass(frozen=True)
class Polytope:
    """All mechanisms with M outputs that are epsilon-PML for every prior in a set.

    For an l1 ball as ED prints it (``within_simplex=False``) this is ED Proposition 2; for the ball cut with
    the simplex it is the exact set, which is larger once the radius exceeds twice the least probability.

    Attributes
    ----------
    uncertainty : UncertaintySet
        The priors.
    exp_epsilon : float
        exp(epsilon).
    outputs : int
        Number M of outputs.
    least_lift : float
        exp(-lower); 0 without a promise from below.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> polytope = Polytope(L1Ball([0.5, 0.5], radius=0.1), 2.0, 2)
    >>> polytope.rows().inequalities.shape
    (20, 14)
    """

    uncertainty: UncertaintySet
    exp_epsilon: float
    outputs: int
    least_lift: float = 0.0

    def rows(self) -> PolytopeRows:
        """Return the polytope as sparse rows, O(N) for each output."""
        from scipy.sparse import block_array, coo_array, csr_array, eye_array, kron

        blocks = self.uncertainty.promise_rows(self.exp_epsilon, self.least_lift)
        N, M = self.uncertainty.size, self.outputs
        each = eye_array(M)
        inequalities: Any = block_array([[kron(each, block.columns), kron(each, block.auxiliary)] for block in blocks])
        sums = kron(coo_array(np.ones((1, M))), eye_array(N))
        equalities = block_array([[sums, coo_array((N, inequalities.shape[1] - N * M))]])
        return PolytopeRows(csr_array(inequalities), csr_array(equalities))

    def row_sums(self, matrix: cp.Variable) -> cp.Constraint:
        """Return ``sum_j p_ij = 1`` as a cvxpy constraint."""
        import cvxpy as cp

        return cp.sum(matrix, axis=1) == np.ones(self.uncertainty.size)

    def privacy(self, matrix: cp.Variable) -> list[cp.Constraint]:
        """Return the privacy and the non-negativity of each column as cvxpy constraints.

        Parameters
        ----------
        matrix : cvxpy Variable, shape (N, M)
            The mechanism.
        """
        import cvxpy as cp

        blocks = self.uncertainty.promise_rows(self.exp_epsilon, self.least_lift)
        rows: list[Any] = [block.columns @ matrix for block in blocks]
        if blocks[0].auxiliary.shape[1] > 0:
            auxiliary = cp.Variable((blocks[0].auxiliary.shape[1], self.outputs))
            rows = [row + block.auxiliary @ auxiliary for row, block in zip(rows, blocks, strict=True)]
        return [*(row >= 0 for row in rows), matrix >= 0]

    def violation(self, matrix: Floats) -> float:
        """Return the greatest amount by which a matrix violates a constraint, 0 for a member of the polytope."""
        privacy = self.uncertainty.excess(matrix, self.exp_epsilon)
        below = self.uncertainty.lack(matrix, self.least_lift)
        sums = np.abs(matrix.sum(axis=1) - 1)
        return float(max(privacy.max(), below.max(), sums.max(), -matrix.min(), 0.0))
