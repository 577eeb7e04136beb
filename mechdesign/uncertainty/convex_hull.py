"""The convex hull of finitely many priors (ED Corollary 1)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.data.labelled import (
    aligned_vector,
    labels_of_vectors,
    names_of_symbols,
    own_labels,
    table,
    vector,
    vectors,
)
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import Floats, entries
from mechdesign.numerics.exact import check_common_denominator, over_common_denominator, rational
from mechdesign.uncertainty.base import UncertaintySet
from mechdesign.uncertainty.effort import Effort, effort_of
from mechdesign.uncertainty.prior_set import SupportRows, check_one_size, exact_prior

_MOST_DIGITS = 3_000  # of the common denominator of all priors: a hundred of them in floats


@dataclass(frozen=True)
class ConvexHull(UncertaintySet):
    """All mixtures of finitely many priors.

    A mechanism is epsilon-PML for all of them exactly when it is for each prior listed (ED Corollary 1):
    ``h(v) = min over k of <Q_k, v>``.

    Parameters
    ----------
    priors : sequence of K priors
        Each a sequence of N weights whose sum differs from 1 by at most 1e-9, a pandas Series, or a mapping from label
        to weight. A DataFrame has a prior in each row and a column for each category.
    weights : sequence of K numbers, optional
        The reference prior, at which utility is measured, is this mixture; equal weights by default.
    labels : sequence of str or int, optional
        One for each category, by which labelled priors are aligned. By default those of the first prior that has
        labels, or else ``x1`` to ``xN``.

    Raises
    ------
    InputError
        For priors of different lengths, a category that has probability 0 under every prior, or a common denominator of
        more than 3,000 digits.

    Examples
    --------
    >>> hull = ConvexHull([[0.5, 0.5], [0.8, 0.2]])
    >>> hull.worst_mean([1.0, 0.0])
    (0.5, array([0.5, 0.5]))
    >>> hull.center
    (Fraction(13, 20), Fraction(7, 20))
    """

    kind: ClassVar[str] = "convex-hull"
    priors: tuple[tuple[Fraction, ...], ...]
    weights: tuple[Fraction, ...]
    center: tuple[Fraction, ...]
    labels: tuple[str, ...]

    def __init__(
        self,
        priors: Sequence[Sequence[object] | Mapping[Any, object]],
        weights: Sequence[object] | None = None,
        labels: Iterable[object] | None = None,
    ) -> None:
        vertices = vectors(priors, "the priors")
        titles = [f"prior {k + 1}" for k in range(len(vertices))]
        exact = tuple(exact_prior(vector(one, name).values, name) for one, name in zip(vertices, titles, strict=True))
        if not exact:
            raise InputError.nothing_given("there are no priors; give at least one")
        check_one_size(exact)
        K = len(exact)
        weights = aligned_vector(weights, own_labels(table(priors, "the priors").rows), "the weights")
        mixture = (Fraction(1, K),) * K if weights is None else checked_weights(weights, K)
        if len(mixture) != K:
            raise InputError.wrong_size(f"there are {len(mixture)} weights for {K} priors; give one for each prior")
        own = labels_of_vectors(vertices)
        names = names_of_symbols(labels, own, len(exact[0]))
        if own is not None:
            exact = tuple(exact_prior(one, name, names) for one, name in zip(vertices, titles, strict=True))
        for index, name in enumerate(names):
            if all(prior[index] == 0 for prior in exact):
                raise InputError.never_occurs(
                    f"the category {shorten(name)} has probability 0 under every prior, where leakage is defined "
                    "on the support only; leave it out"
                )
        object.__setattr__(self, "priors", exact)
        object.__setattr__(self, "weights", mixture)
        object.__setattr__(self, "labels", names)
        object.__setattr__(self, "center", self._mixed())

    def __repr__(self) -> str:
        return f"ConvexHull({len(self.priors)} priors on {self.size} categories)"

    @property
    def convex_hull(self) -> ConvexHull:
        """The set itself."""
        return self

    def in_words(self) -> str:
        """Return the priors of the hull in words."""
        return f"every mixture of {len(self.priors)} priors"

    def one_in_words(self) -> str:
        """Return one prior of the hull in words."""
        return f"a mixture of {len(self.priors)} priors"

    def proof_effort(self) -> Effort:
        """Return what one `exact_support` costs: a mean for each prior that is listed."""
        return effort_of(self.priors, self.size)

    @cached_property
    def _matrix(self) -> Floats:
        return np.array([[float(q) for q in prior] for prior in self.priors])

    @cached_property
    def _integers(self) -> tuple[list[list[int]], list[int], int]:
        """The numerators of each prior, the factor from its denominator to the common one, and the common one."""
        rows, own = zip(*map(over_common_denominator, self.priors), strict=True)
        check_common_denominator(own, "the priors", _MOST_DIGITS)
        common = math.lcm(*own)
        return list(rows), [common // denominator for denominator in own], common

    def _mixed(self) -> tuple[Fraction, ...]:
        """Return the mixture of the priors by the weights."""
        rows, factors, common = self._integers
        weights, total = over_common_denominator(self.weights)
        shares = [weight * factor for weight, factor in zip(weights, factors, strict=True)]
        return tuple(Fraction(sum(map(mul, shares, symbol)), total * common) for symbol in zip(*rows, strict=True))

    def support(self, columns: ArrayLike) -> Floats:
        """Return h(v) for each column of an (N, M) matrix, shape (M,)."""
        result: Floats = (self._matrix @ self.as_matrix(columns)).min(axis=0)
        return result

    def worst_mean(self, column: ArrayLike) -> tuple[float, Floats]:
        """Return h(v) and the listed prior that attains it, shape (N,)."""
        means = self._matrix @ self.as_vector(column)
        worst = int(np.argmin(means))
        return float(means[worst]), self._matrix[worst].copy()

    def _exact_means(self, column: Sequence[int]) -> tuple[list[int], int]:
        """Return <Q_k, v> for every k, as integers over their common denominator."""
        rows, factors, common = self._integers
        return [factor * sum(map(mul, row, column)) for row, factor in zip(rows, factors, strict=True)], common

    def exact_support(self, column: Sequence[int]) -> Fraction:
        """Return h(v) of a column of integers in rational arithmetic."""
        means, common = self._exact_means(column)
        return Fraction(min(means), common)

    def exact_worst_mean(self, column: Sequence[int]) -> tuple[Fraction, tuple[Fraction, ...]]:
        """Return h(v) of a column of integers and the listed prior that attains it."""
        means, common = self._exact_means(column)
        worst = means.index(min(means))
        return Fraction(means[worst], common), self.priors[worst]

    def contains(self, prior: Sequence[object]) -> bool:
        """Return whether a prior lies in the hull, to within 1e-9 in each probability."""
        Q = np.array([float(q) for q in exact_prior(prior, labels=self.labels)])
        return bool(np.abs(self.member_near(Q) - Q).max() <= 1e-9)

    def member_near(self, prior: ArrayLike) -> Floats:
        """Return the mixture nearest to a prior in the least-squares sense."""
        from scipy.optimize import nnls

        Q = self.as_vector(prior)
        if not np.isfinite(Q).all():
            return self.prior.copy()
        # The last row, with its large factor, makes the weights sum to nearly 1; next they are normalised.
        A = np.vstack([self._matrix.T, np.full((1, len(self.priors)), 1e3)])
        weights, _ = nnls(A, np.append(Q, 1e3))
        total = weights.sum()
        if total <= 0:
            return self.prior.copy()
        result: Floats = weights / total @ self._matrix
        return result

    def support_rows(self) -> SupportRows:
        """Return the support function as linear rows: ``h <= <Q_k, v>`` for every k."""
        from scipy.sparse import csr_array

        return SupportRows(csr_array(self._matrix), csr_array(-np.ones((len(self.priors), 1))))


def checked_weights(weights: Sequence[object], priors: int) -> tuple[Fraction, ...]:
    """Return the weights of a mixture, which sum to 1; the weight of a single prior is 1.

    Examples
    --------
    >>> checked_weights([1], 1), checked_weights(["0.5", "0.5"], 2)
    ((Fraction(1, 1),), (Fraction(1, 2), Fraction(1, 2)))
    """
    if priors > 1:
        return exact_prior(weights, "the weights")
    given = entries(weights, "the list of weights", "a list of numbers")
    exact = tuple(rational(weight, "the weight") for weight in given)
    if exact[:1] != (Fraction(1),):
        raise InputError.wrong_sum(f"the weights of the only prior are {shorten(given)}; accepted: [1]")
    return exact
