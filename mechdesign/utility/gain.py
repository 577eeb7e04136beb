"""Expected gain of the best guess: the polyhedral utilities."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial
from operator import mul
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.data.labelled import Labels, order, own_labels, together
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import Floats, frozen, real_array
from mechdesign.numerics.differences import Differences
from mechdesign.numerics.exact import over_common_denominator
from mechdesign.utility.exact_rows import exact_rows
from mechdesign.utility.objective import Utility, columns_and_prior

_EPS = float(np.finfo(float).eps)
_LARGEST = 10**300
_PLACES = 1_400  # binary places of exact sums; the smallest float has 1,074
_MOST_COMPARED = 16  # guesses that are compared exactly because their floats are too close
ExactGains = Callable[[int, int], Fraction]

_ZERO, _ONE = Fraction(0), Fraction(1)


class PolyhedralUtility(Utility):
    """A utility ``mu(v) = max over guesses w of sum_i P_i g(w, i) v_i``.

    It is the expected gain of an adversary or analyst who sees the output and makes the best guess. Columns with the
    same best guess can be merged without loss, so one column for every guess is enough.
    """

    @property
    def polyhedral(self) -> PolyhedralUtility:
        """The utility itself."""
        return self

    @abstractmethod
    def gains(self, size: int) -> Floats:
        """Return the gain g of every guess at every category, shape (W, N)."""

    def exact_gains(self, size: int) -> ExactGains:
        """Return the function that gives the exact gain of a guess at a category; `gains` has these gains rounded."""
        gains = self.gains(size)
        return lambda guess, symbol: Fraction(float(gains[guess, symbol]))

    def differences(self, priced: Differences, size: int) -> Iterable[tuple[Floats, int]]:
        """Yield the differences ``x_i g(w, i) - y_i`` of every guess w, as `Differences.scaled` returns them."""
        exact = self.exact_gains(size)
        for guess, gains in enumerate(self.gains(size)):
            yield priced.scaled(gains, partial(exact, guess))

    def best_gains(self, size: int) -> list[Fraction]:
        """Return the gain of the best guess at every category, ``max_w g(w, i)``."""
        exact = self.exact_gains(size)
        # Rounding keeps the order, so the largest gain is among the gains whose float is largest.
        largest = (np.flatnonzero(column == column.max()).tolist() for column in self.gains(size).T)
        return [max(exact(guess, symbol) for guess in guesses) for symbol, guesses in enumerate(largest)]

    def shortfalls(self, size: int) -> Floats:
        """Return the gain of every guess minus that of the best guess at every category, shape (W, N), each at most 0.

        A gain that all guesses share would only cost digits.
        """
        below_best = Differences([Fraction(1)] * size, self.best_gains(size))
        return np.array([np.ldexp(d, power) for d, power in self.differences(below_best, size)])

    def disclosure(self, prior: Sequence[Fraction]) -> Fraction:
        """Return the utility of releasing the data unchanged, rounded up by at most 2^-1300."""
        weights, common = over_common_denominator(prior)
        best = self.best_gains(len(prior))
        total = sum(_floor(-weight * g.numerator, g.denominator) for weight, g in zip(weights, best, strict=True))
        return Fraction(-total, common << _PLACES)

    def undisclosed(self, prior: Sequence[Fraction]) -> Fraction:
        """Return the gain of the best guess without an output, rounded as `disclosure` is."""
        weights, common = over_common_denominator(prior)
        guesses, exact = range(len(self.gains(len(prior)))), self.exact_gains(len(prior))
        return Fraction(
            max(-_sum(exact, guess, [-weight for weight in weights]) for guess in guesses), common << _PLACES
        )

    def value(self, matrix: ArrayLike, prior: ArrayLike | Sequence[Fraction]) -> float:
        """Return the utility of a mechanism, an (N, M) row-stochastic matrix, at a prior.

        The gains of the best guesses are summed exactly and rounded once, so that no digits are lost where they cancel.
        If more than 16 guesses have the same gain to 15 digits at an output, the best of 16 of them is used.

        Parameters
        ----------
        matrix : array, shape (N, M)
            Floats, read as the rational numbers that they are.
        prior : sequence of N Fractions or floats
            Floats are read in the same way; the `center` of an uncertainty set has the fractions themselves.

        Raises
        ------
        InputError
            If the shapes do not fit or an entry is not finite.

        Examples
        --------
        >>> ExpectedGain([[10**17 + 1, -(10**17)]]).value([[1], [1]], [Fraction(1, 2)] * 2)
        0.5
        """
        aligned, given, _ = together(matrix, prior)
        V, P = columns_and_prior(aligned, given)
        if not (np.isfinite(V).all() and np.isfinite(P).all()):
            raise InputError.not_a_number("an entry of the matrix or the prior is not finite; give probabilities")
        fractions = (p if isinstance(p, Fraction) else Fraction(float(p)) for p in cast("Sequence[Any]", given))
        weights, common = over_common_denominator(fractions)
        exact, value = self.exact_gains(P.size), Fraction(0)
        for guess, outputs in self._best_guesses(V, P, weights).items():
            merged, below = _row_sums(V[:, outputs])
            value += Fraction(_sum(exact, guess, map(mul, weights, merged)), common * below << _PLACES)
        return float(value)

    def _best_guesses(self, V: Floats, P: Floats, weights: Sequence[int]) -> dict[int, list[int]]:
        """Return the outputs for which each guess is best, by guess."""
        exact = self.exact_gains(P.size)
        # All terms have the same sign, so every sum has a small relative error.
        scores = (self.shortfalls(P.size) * P) @ V
        unsure = 8 * (P.size + 8) * _EPS
        best: dict[int, list[int]] = {}
        for j, score in enumerate(scores.T):
            guess = int(np.argmax(score))
            close = np.flatnonzero(score >= score[guess] - unsure * abs(score[guess]))
            if len(close) > 1:
                among = close[np.argsort(-score[close], kind="stable")][:_MOST_COMPARED].tolist()
                at_output = list(map(mul, weights, _row_sums(V[:, [j]])[0]))
                guess = max((_sum(exact, near, at_output), near) for near in among)[1]
            best.setdefault(guess, []).append(j)
        return best

    def mu(self, columns: ArrayLike, prior: ArrayLike) -> Floats:
        """Return the gain of the best guess for each column."""
        V, P = columns_and_prior(columns, prior)
        result: Floats = ((self.gains(P.size) * P) @ V).max(axis=0)
        return result

    def gradient(self, column: ArrayLike, prior: ArrayLike) -> Floats:
        """Return ``P_i g(w, i)`` for a best guess w at one column, shape (N,)."""
        v, P = real_array(column, "the column"), real_array(prior, "the prior")
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
    """Probability that the best guess is the category itself: the identity as gain matrix.

    Also called posterior Bayes vulnerability.

    Examples
    --------
    >>> HammingAccuracy().value(np.eye(2), [0.3, 0.7])
    1.0
    """

    name = "hamming-accuracy"

    @property
    def is_symmetric(self) -> bool:
        """True: all categories have the same gain."""
        return True

    def gains(self, size: int) -> Floats:
        """Return the identity, shape (N, N)."""
        return np.eye(size)

    def exact_gains(self, size: int) -> ExactGains:  # noqa: ARG002 - the same for any number of categories
        """Return the function that is 1 where the guess is the category, and 0 elsewhere."""
        return lambda guess, symbol: _ONE if guess == symbol else _ZERO

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HammingAccuracy)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return "HammingAccuracy()"


class MatrixUtility(PolyhedralUtility):
    """A polyhedral utility given by a matrix, guesses by categories.

    Attributes
    ----------
    matrix : array, shape (W, N)
        As floats.
    exact : tuple of rows of Fraction
        As rationals.
    """

    takes_matrix = True

    def __init__(self, matrix: ArrayLike | Sequence[Sequence[object]]) -> None:
        rows, exact, self._columns = exact_rows(matrix, f"the matrix of {self.name}")
        self.exact: tuple[tuple[Fraction, ...], ...] = exact
        for w, row in enumerate(self.exact):
            for i, x in enumerate(row):
                if abs(x) > _LARGEST:
                    raise InputError.out_of_range(
                        f"entry ({w + 1}, {i + 1}) of the matrix of {self.name} is {shorten(rows[w][i])}; "
                        "accepted: at most 1e300 in size"
                    )
        self.matrix: Floats = frozen(np.array([[float(x) for x in row] for row in self.exact]))

    def check_size(self, size: int) -> None:
        """Refuse another number of categories than the matrix has columns."""
        if self.matrix.shape[1] != size:
            raise InputError.wrong_size(
                f"the matrix of {self.name} has {self.matrix.shape[1]} columns for {size} categories; "
                "give guesses as rows and one column for each category"
            )

    @property
    def labels(self) -> tuple[str, ...] | None:
        """Labels of the columns of a data frame, which align them with categories; None without a data frame."""
        return own_labels(self._columns)

    def mu(self, columns: ArrayLike, prior: ArrayLike) -> Floats:
        """Return the gain of the best guess for each column, all aligned by their labels."""
        aligned, V, P = self._aligned(columns, prior)
        return super(MatrixUtility, aligned).mu(V, P)

    def value(self, matrix: ArrayLike, prior: ArrayLike | Sequence[Fraction]) -> float:
        """Return the utility of a mechanism at a prior, all aligned by their labels."""
        aligned, V, P = self._aligned(matrix, prior)
        return super(MatrixUtility, aligned).value(V, P)

    def _aligned(self, columns: Any, prior: Any) -> tuple[MatrixUtility, Any, Any]:
        if self._columns is None:
            return self, columns, prior
        V, P, labels = together(columns, prior)
        return self.aligned_with(labels), V, P

    def aligned_with(self, labels: Sequence[str] | None) -> MatrixUtility:
        """Return the utility with a column for each label, in their order; the result itself has no labels."""
        if self._columns is None or labels is None:
            return self
        places = order(self._columns, labels, f"columns of the matrix of {self.name}")
        rows = self.exact if places is None else [[row[place] for place in places] for row in self.exact]
        return type(self)(rows)

    def matrix_as_text(self) -> list[list[str]]:
        """Return the entries as decimals or ratios."""
        return [[str(x) for x in row] for row in self.exact]

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
        Gain of guess w when the category is i: a row for each guess. The columns of a data frame are categories, and
        are aligned with the labels of a `DesignProblem`, or of the mechanism and prior given to `value`.

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

    def exact_gains(self, size: int) -> ExactGains:
        """Return the function that gives the entries of the gain matrix as they were given."""
        self.check_size(size)
        return lambda guess, symbol: self.exact[guess][symbol]


class ExpectedDistortion(MatrixUtility):
    """Minus the expected distortion of the best reconstruction, so that larger is better.

    Parameters
    ----------
    matrix : array, shape (W, N), or data frame
        Distortion of reconstruction w when the category is i; data frames as for `ExpectedGain`.

    Examples
    --------
    >>> ExpectedDistortion([[0, 1], [1, 0]]).value([[1.0], [1.0]], [0.3, 0.7])
    -0.3
    """

    name = "expected-distortion"
    matrix_name = "distortion"

    def gains(self, size: int) -> Floats:
        """Return minus the distortion matrix, shape (W, N)."""
        self.check_size(size)
        return -self.matrix

    def exact_gains(self, size: int) -> ExactGains:
        """Return the function that gives minus the entries of the distortion matrix as they were given."""
        self.check_size(size)
        return lambda guess, symbol: -self.exact[guess][symbol]


def _floor(numerator: int, denominator: int) -> int:
    """Return a ratio in units of 2^-1400, rounded down."""
    return (numerator << _PLACES) // denominator


def _sum(exact: ExactGains, guess: int, weights: Iterable[int]) -> int:
    """Return the sum of the gains of a guess times weights in units of 2^-1400, each product rounded down."""
    total = 0
    for symbol, weight in enumerate(weights):
        if weight:
            gain = exact(guess, symbol)
            total += _floor(gain.numerator * weight, gain.denominator)
    return total


def _row_sums(matrix: Floats) -> tuple[list[int], int]:
    """Return the exact sums of the rows of a float matrix, as integers over one denominator."""
    ratios = [[x.as_integer_ratio() for x in row] for row in matrix.tolist()]
    common = max(denominator for row in ratios for _, denominator in row)  # all are powers of two
    return [sum(numerator * (common // denominator) for numerator, denominator in row) for row in ratios], common
