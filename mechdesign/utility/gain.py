"""Expected gain of the best guess: the polyhedral utilities."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.arrays import frozen
from mechdesign.errors import InputError, shorten
from mechdesign.exact import rational
from mechdesign.labelled import Labels, order, own_labels, table, together
from mechdesign.utility.base import Floats, Utility, columns_and_prior

_EPS = float(np.finfo(float).eps)
_LARGEST = 10**300


class PolyhedralUtility(Utility):
    """A utility ``mu(v) = max over guesses w of sum_i P_i g(w, i) v_i``.

    It is the expected gain of somebody who sees the output and makes the best guess. Columns with the
    same best guess can be merged without loss, so one column for every guess is enough.
    """

    @property
    def is_polyhedral(self) -> bool:
        """True."""
        return True

    @abstractmethod
    def gains(self, size: int) -> Floats:
        """Return the gain g of every guess at every symbol, shape (W, N)."""

    def mu(self, columns: ArrayLike, prior: ArrayLike) -> Floats:
        """Return the gain of the best guess for each column."""
        V, P = columns_and_prior(columns, prior)
        result: Floats = ((self.gains(P.size) * P) @ V).max(axis=0)
        return result

    def gradient(self, column: ArrayLike, prior: ArrayLike) -> Floats:
        """Return ``P_i g(w, i)`` for a best guess w at one column, shape (N,)."""
        v, P = np.asarray(column, dtype=float), np.asarray(prior, dtype=float)
        linear = self.gains(P.size) * P
        result: Floats = linear[int(np.argmax(linear @ v))]
        return result

    def mu_up(self, columns: Floats, prior: Floats, slack: float | Floats) -> Floats:
        """Return an upper bound of mu near each column."""
        weights = np.abs(self.gains(prior.size)) * prior
        rounding = (prior.size + 16) * _EPS * (weights @ np.abs(columns)).max(axis=0)
        moved = (weights @ np.broadcast_to(slack, columns.shape)).max(axis=0)
        result: Floats = self.mu(columns, prior) + rounding + moved
        return result


class HammingAccuracy(PolyhedralUtility):
    """Probability that the best guess is the symbol itself: the identity as gain matrix.

    Also called posterior Bayes vulnerability.

    Examples
    --------
    >>> HammingAccuracy().value(np.eye(2), [0.3, 0.7])
    1.0
    """

    name = "hamming-accuracy"

    @property
    def is_symmetric(self) -> bool:
        """True: every symbol counts alike."""
        return True

    def gains(self, size: int) -> Floats:
        """Return the identity, shape (N, N)."""
        return np.eye(size)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HammingAccuracy)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return "HammingAccuracy()"


class MatrixUtility(PolyhedralUtility):
    """A polyhedral utility given by a matrix, guesses by symbols.

    Attributes
    ----------
    matrix : array, shape (W, N)
        As floats.
    exact : tuple of rows of Fraction
        As rationals.
    """

    def __init__(self, matrix: ArrayLike | Sequence[Sequence[object]]) -> None:
        given = table(matrix, f"the matrix of {self.name}")
        self._columns = given.columns
        try:
            rows = [list(row) for row in given.values]
        except TypeError:
            raise InputError(f"the matrix of {self.name} is {shorten(matrix)}; give a list of rows") from None
        lengths = {len(row) for row in rows}
        if len(lengths) != 1 or lengths == {0}:
            raise InputError(
                f"the matrix of {self.name} has rows of lengths {sorted(lengths)}; give rows of one length"
            )
        self.exact: tuple[tuple[Fraction, ...], ...] = tuple(
            tuple(rational(x, f"entry ({w + 1}, {i + 1}) of the matrix of {self.name}") for i, x in enumerate(row))
            for w, row in enumerate(rows)
        )
        for w, row in enumerate(self.exact):
            for i, x in enumerate(row):
                if abs(x) > _LARGEST:
                    raise InputError(
                        f"entry ({w + 1}, {i + 1}) of the matrix of {self.name} is {shorten(rows[w][i])}; "
                        "accepted: at most 1e300 in size"
                    )
        self.matrix: Floats = frozen(np.array([[float(x) for x in row] for row in self.exact]))

    def check_size(self, size: int) -> None:
        """Refuse an alphabet of another size than the matrix has columns."""
        if self.matrix.shape[1] != size:
            raise InputError(
                f"the matrix of {self.name} has {self.matrix.shape[1]} columns for {size} symbols; "
                "give guesses as rows and one column for each symbol"
            )

    @property
    def labels(self) -> tuple[str, ...] | None:
        """Labels of the columns of a data frame, by which they are aligned with symbols; None without."""
        return own_labels(self._columns)

    def mu(self, columns: ArrayLike, prior: ArrayLike) -> Floats:
        """Return the gain of the best guess for each column, all aligned by their labels."""
        aligned, V, P = self._aligned(columns, prior)
        return super(MatrixUtility, aligned).mu(V, P)

    def value(self, matrix: ArrayLike, prior: ArrayLike) -> float:
        """Return the utility of a mechanism at a prior, all aligned by their labels."""
        aligned, V, P = self._aligned(matrix, prior)
        return super(MatrixUtility, aligned).value(V, P)

    def _aligned(self, columns: Any, prior: Any) -> tuple[MatrixUtility, Any, Any]:
        if self._columns is None:
            return self, columns, prior
        V, P, labels = together(columns, prior)
        return self.aligned_with(labels), V, P

    def aligned_with(self, labels: Sequence[str] | None) -> MatrixUtility:
        """Return the utility with a column for each label, in their order, and from then on without labels."""
        if self._columns is None or labels is None:
            return self
        places = order(self._columns, labels, f"columns of the matrix of {self.name}")
        rows = self.exact if places is None else [[row[place] for place in places] for row in self.exact]
        return type(self)(rows)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.labels is None:
            return type(self), (self.exact,)
        return _labelled_again, (type(self), self.exact, self.labels)

    def __eq__(self, other: object) -> bool:
        same_kind = type(self) is type(other) and isinstance(other, MatrixUtility)
        return same_kind and (self.exact, self.labels) == (other.exact, other.labels)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((self.name, self.exact))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.matrix.tolist()})"


def _labelled_again(
    kind: type[MatrixUtility], rows: Sequence[Sequence[Fraction]], labels: tuple[str, ...]
) -> MatrixUtility:
    utility = kind(rows)
    utility._columns = Labels(labels)
    return utility


class ExpectedGain(MatrixUtility):
    """Expected gain of the best guess, for any gain matrix.

    Parameters
    ----------
    matrix : array, shape (W, N), or data frame
        Gain of guess w when the symbol is i: a row for each guess. The columns of a data frame are symbols, and are
        aligned with the labels of a `DesignProblem`, or of the mechanism and prior that `value` is asked for.

    Examples
    --------
    >>> ExpectedGain([[1, 0], [0, 2]]).value(np.eye(2), [0.5, 0.5])
    1.5
    """

    name = "expected-gain"

    def gains(self, size: int) -> Floats:
        """Return the gain matrix, shape (W, N)."""
        self.check_size(size)
        return self.matrix


class ExpectedDistortion(MatrixUtility):
    """Minus the expected distortion of the best reconstruction, so that larger is better.

    Parameters
    ----------
    matrix : array, shape (W, N), or data frame
        Distortion of reconstruction w when the symbol is i; data frames as for `ExpectedGain`.

    Examples
    --------
    >>> ExpectedDistortion([[0, 1], [1, 0]]).value([[1.0], [1.0]], [0.3, 0.7])
    -0.3
    """

    name = "expected-distortion"

    def gains(self, size: int) -> Floats:
        """Return minus the distortion matrix, shape (W, N)."""
        self.check_size(size)
        return -self.matrix
