"""Symmetric quadratic forms, dense or with few parameters, and bounds of their values."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mechdesign.errors import InputError
from mechdesign.numerics.arrays import Floats, frozen

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class QuadraticForm:
    """The form ``x' Theta x`` of a symmetric matrix Theta, shape (N, N).

    Theta is ``diag(diagonal) + common 1 1'``, or, where `matrix` is given, that matrix.

    Attributes
    ----------
    diagonal : array, shape (N,)
        The diagonal; zeros where `matrix` is given.
    common : float
        A number added to every entry.
    matrix : array, shape (N, N), or None
        A symmetric matrix; its upper triangle is not read.

    Raises
    ------
    InputError
        If shapes do not fit, or an entry is not finite.

    Examples
    --------
    >>> form = QuadraticForm(np.array([1.0, 2.0]), common=0.5)
    >>> form.values(np.array([[1.0], [1.0]]))
    array([5.])
    >>> QuadraticForm.of_matrix(form.dense()).values(np.array([[1.0], [1.0]]))
    array([5.])
    """

    diagonal: Floats
    common: float = 0.0
    matrix: Floats | None = None

    def __post_init__(self) -> None:
        diagonal = frozen(self.diagonal)
        object.__setattr__(self, "diagonal", diagonal)
        object.__setattr__(self, "common", float(self.common))
        if diagonal.ndim != 1 or not np.isfinite(diagonal).all() or not np.isfinite(self.common):
            raise InputError.wrong_size(
                f"a quadratic form has a diagonal of shape {diagonal.shape}; accepted: (N,), finite"
            )
        if self.matrix is not None:
            N = diagonal.size
            if self.matrix.shape != (N, N) or not np.isfinite(self.matrix).all():
                raise InputError.wrong_size(
                    f"a quadratic form has shape {self.matrix.shape}; accepted: {(N, N)}, finite"
                )
            lower = np.tril(self.matrix)
            object.__setattr__(self, "matrix", frozen(lower + np.tril(lower, -1).T))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, QuadraticForm) and self._numbers() == other._numbers()

    def __hash__(self) -> int:
        return hash(self._numbers())

    def _numbers(self) -> tuple[bytes | float | None, ...]:
        """Return what tells forms from each other."""
        return self.diagonal.tobytes(), self.common, None if self.matrix is None else self.matrix.tobytes()

    @classmethod
    def of_matrix(cls, matrix: Floats) -> QuadraticForm:
        """Return the form of a symmetric matrix."""
        return cls(np.zeros(len(matrix)), matrix=matrix)

    @property
    def separable(self) -> bool:
        """Whether the form is a diagonal and a common number."""
        return self.matrix is None

    @property
    def size(self) -> int:
        """N."""
        return self.diagonal.size

    def dense(self) -> Floats:
        """Return Theta, shape (N, N)."""
        if self.matrix is not None:
            return self.matrix
        whole: Floats = np.diag(self.diagonal) + self.common
        return whole

    @property
    def exponent(self) -> int:
        """The k for which the greatest entry in size of the parameters is from 2^(k-1) to 2^k; 0 for the form 0."""
        parameters = self.diagonal if self.matrix is None else self.matrix
        return math.frexp(max(float(np.abs(parameters).max(initial=0.0)), abs(self.common)))[1]

    def halved(self, times: int) -> QuadraticForm:
        """Return the form times ``2^-times``.

        Examples
        --------
        >>> QuadraticForm(np.array([4.0, 6.0])).halved(2).diagonal
        array([1. , 1.5])
        """
        matrix = None if self.matrix is None else np.ldexp(self.matrix, -times)
        return QuadraticForm(np.ldexp(self.diagonal, -times), math.ldexp(self.common, -times), matrix)

    def values(self, vectors: Floats) -> Floats:
        """Return ``x' Theta x`` of each column x of an (N, k) array, shape (k,)."""
        if self.matrix is not None:
            result: Floats = np.einsum("ik,ik->k", vectors, self.matrix @ vectors)
        else:
            result = self.diagonal @ vectors**2 + self.common * vectors.sum(axis=0) ** 2
        return result

    def values_up(self, vectors: Floats, slack: Floats) -> Floats:
        """Return an upper bound of the form over all vectors within `slack` of each column, entry by entry.

        The bound covers errors of rounding.
        """
        sizes = np.abs(vectors)
        reach = sizes + slack
        if self.matrix is not None:
            absolute = np.abs(self.matrix)
            image = absolute @ reach
        else:
            image = np.abs(self.diagonal)[:, None] * reach + abs(self.common) * reach.sum(axis=0)
        # (x + s)' Theta (x + s) - x' Theta x <= 2 s' |Theta| (|x| + s), and a sum of N^2 products of three numbers
        # has a relative error of at most 2 (N + 3) eps in |x|' |Theta| |x|.
        error = np.einsum("ik,ik->k", 2 * slack + (2 * self.size + 8) * _EPS * reach, image)
        result: Floats = self.values(vectors) + (1 + 4 * self.size * _EPS) * error
        return result
