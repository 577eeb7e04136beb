"""The matrices ``A diag(w) A^T`` of one mechanism A, or of one for each w, for many weights w at once.

Of one mechanism the products of the entries of each two rows are a matrix, and all these matrices one matrix product.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats

_MOST_PRODUCTS = 1 << 20  # of the entries of each two rows
_CERTAIN = 1e8  # a condition of ``A diag(w) A^T`` up to which its inverse has half of the digits
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """Rows whose columns have weights that differ between G groups.

    Attributes
    ----------
    matrix : array, shape (N, M) or (G, N, M)
        A, one for all groups or one for each.
    pairs : array, shape (M, N^2), optional
        The products of the entries of each two rows, of one mechanism that is not too large.
    """

    matrix: Floats
    pairs: Floats | None

    @classmethod
    def of(cls, matrix: Floats) -> WeightedRows:
        """Return the rows of a matrix."""
        if matrix.ndim > 2 or len(matrix) * matrix.size > _MOST_PRODUCTS:
            return cls(matrix, None)
        return cls(matrix, np.ascontiguousarray((matrix[:, None] * matrix).reshape(-1, matrix.shape[1]).T))

    def products(self, weights: Floats) -> Floats:
        """Return ``A diag(w) A^T`` for the weights in each row, shapes (G, M) to (G, N, N).

        Examples
        --------
        >>> WeightedRows.of(np.array([[1.0, 2.0], [0.0, 1.0]])).products(np.array([[1.0, 3.0]]))
        array([[[13.,  6.],
                [ 6.,  3.]]])
        """
        size = self.matrix.shape[-2]
        if self.pairs is None:
            return (self.matrix * weights[:, None]) @ self.matrix.swapaxes(-1, -2)
        return (weights @ self.pairs).reshape(-1, size, size)

    def inverses(self, weights: Floats, used: NDArray[np.bool_]) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the inverses of ``A diag(w) A^T`` for the rows that a group uses, and whether they are trustworthy.

        The rows that it uses, shape (G, N), are then certainly independent. Entries of others are 0.
        """
        system = np.where(used[:, :, None] & used[:, None], self.products(weights), 0.0)
        diagonal = np.einsum("gii->gi", system)
        diagonal *= 1 + used.shape[1] * _EPS  # not singular
        np.copyto(diagonal, diagonal.max(axis=1, keepdims=True), where=~used)
        try:
            inverse = np.linalg.inv(system)
        except np.linalg.LinAlgError:
            return np.zeros_like(system), np.zeros(len(system), dtype=bool)
        sizes = [np.sqrt(np.einsum("gij,gij->g", each, each)) for each in (system, inverse)]
        return np.where(used[:, :, None] & used[:, None], inverse, 0.0), sizes[0] * sizes[1] < _CERTAIN

    def forms(self, symmetric: Floats) -> Floats:
        """Return ``a_j^T X a_j`` for the columns a_j of A, shapes (G, N, N) to (G, M)."""
        if self.pairs is None:
            result: Floats = np.einsum("...ij,...ij->...j", self.matrix, symmetric @ self.matrix)
            return result
        return symmetric.reshape(len(symmetric), -1) @ self.pairs.T
