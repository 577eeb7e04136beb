"""What is known about the distribution of the data: a set of priors by its support function.

The support function is given in floats, in rationals and as linear rows.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.data.checks import checked_weight
from mechdesign.data.labelled import aligned_rows, aligned_vector, names_of_symbols, vector
from mechdesign.display.numbers import text_near
from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.numerics.arrays import Floats, entries, frozen, real_array
from mechdesign.numerics.exact import check_common_denominator, over_common_denominator
from mechdesign.numerics.tolerances import SOLVER, WEIGHT_SUM
from mechdesign.uncertainty.effort import Effort, effort_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from mechdesign.uncertainty.ball import Ball
    from mechdesign.uncertainty.convex_hull import ConvexHull
    from mechdesign.uncertainty.l1_ball import L1Ball
    from mechdesign.uncertainty.lower_probability import LowerProbability
    from mechdesign.uncertainty.union import Union

_MOST_MEMBERS = 1_000  # of a mixture, and of steps towards one
_NEAR = 1e-15
_NEAR_MEMBER = 1e-9  # in each probability
Numbers = Sequence[object] | Mapping[Any, object]


@dataclass(frozen=True)
class SupportRows:
    """Linear inequalities under which the greatest ``w[0]`` is the support function.

    ``h(v) = max { w[0] : columns @ v + auxiliary @ w >= 0 }``. By duality the set itself is
    ``{ columns.T @ y : auxiliary.T @ y = -e_0, y >= 0 }``.

    Attributes
    ----------
    columns : sparse array, shape (R, N)
        Coefficients of the column v.
    auxiliary : sparse array, shape (R, K)
        Coefficients of the auxiliary variables w, which are free.
    """

    columns: csr_array
    auxiliary: csr_array


class PriorSet(ABC):
    """A compact convex set B of priors on N categories: what is known about the distribution of the data.

    All of it follows from the support function, ``h(v) = min over Q in B of <Q, v>``.

    Attributes
    ----------
    kind : str
        The name of the class in files, such as ``"l1-ball"``.
    center : tuple of Fraction
        The reference prior, at which utility is measured. It lies in the set.
    labels : tuple of str
        One for each category.
    """

    kind: ClassVar[str]
    center: tuple[Fraction, ...]
    labels: tuple[str, ...]

    def __getstate__(self) -> dict[str, Any]:
        # A copy computes the cached properties again.
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    @property
    def size(self) -> int:
        """Number N of categories."""
        return len(self.center)

    @cached_property
    def prior(self) -> Floats:
        """The reference prior as floats, shape (N,), read-only."""
        return frozen(np.array([float(p) for p in self.center]))

    # What a set declares about itself, for algorithms and for messages

    @property
    def l1_ball(self) -> L1Ball | None:
        """The set as an l1 ball, for methods that need its rays; None where it is not one."""
        return None

    @property
    def ball(self) -> Ball | None:
        """The set as an l1 ball or a relative ball, whose rays depend on masses alone; None where it is not one."""
        return None

    @property
    def convex_hull(self) -> ConvexHull | None:
        """The set as the hull of the priors that it lists; None where it is not one."""
        return None

    @property
    def lower_probability(self) -> LowerProbability | None:
        """The set as the priors above a lower probability, whose rays are pairs of sets; None where it is not one."""
        return None

    @property
    def holds_every_prior(self) -> bool:
        """Whether the set is the whole simplex, so that its guarantees are local differential privacy."""
        return False

    @property
    def union(self) -> Union | None:
        """The set as several at once, such as one for each group of records; None where it is not one."""
        return None

    @property
    def delta(self) -> Fraction | None:
        """The probability that the true prior lies outside, where it is known."""
        return None

    @property
    def samples(self) -> int | None:
        """The number of samples behind the set, where it is known."""
        evidence = getattr(self, "evidence", None)
        return None if evidence is None else evidence.samples

    @property
    def asserts_samples(self) -> bool:
        """Whether delta rests on samples that are asserted, not shown by counts."""
        return bool(getattr(getattr(self, "evidence", None), "asserted", False))

    def delta_in_words(self) -> str:
        """Return what `delta` is the probability of."""
        return "the true prior lies outside with at most this probability"

    @abstractmethod
    def in_words(self) -> str:
        """Return the priors of the set in words that follow "for", such as "every mixture of 3 priors"."""

    def one_in_words(self) -> str:
        """Return one prior of the set in words that follow "has", such as "a mixture of 3 priors"."""
        return f"one of these: {self.in_words()}"

    def proof_effort(self) -> Effort:
        """Return what one `exact_support` costs; a file whose proof would take too long is refused."""
        return effort_of([self.center], self.size, Fraction(1))

    # The support function

    def support(self, columns: ArrayLike) -> Floats:
        """Return h(v) for each column of an (N, M) matrix, shape (M,)."""
        return np.array([self.worst_mean(column)[0] for column in self.as_matrix(columns).T])

    def worst_mean(self, column: ArrayLike) -> tuple[float, Floats]:
        """Return h(v) and a prior in the set that attains it, shape (N,)."""
        v = self.as_vector(column)
        integers, common = over_common_denominator(map(Fraction, v.tolist()))
        value, worst = self.exact_worst_mean(integers)
        return float(value / common), np.array([float(q) for q in worst])

    def exact_support(self, column: Sequence[int]) -> Fraction:
        """Return h(v) of a column of integers in rational arithmetic."""
        return self.exact_worst_mean(column)[0]

    def exact_greatest_mean(self, column: Sequence[int]) -> Fraction:
        """Return ``H(v) = max over Q in B of <Q, v>`` of a column of integers, in rational arithmetic.

        The means of v and of ``max v - v`` add up to max v at every prior, so ``H(v) = max v - h(max v - v)``.
        """
        greatest = max(column)
        return greatest - self.exact_support([greatest - entry for entry in column])

    @abstractmethod
    def exact_worst_mean(self, column: Sequence[int]) -> tuple[Fraction, tuple[Fraction, ...]]:
        """Return h(v) of a column of integers and a prior that attains it, in rational arithmetic."""

    @abstractmethod
    def contains(self, prior: Sequence[object]) -> bool:
        """Return whether a prior lies in the set."""

    def member_near(self, prior: ArrayLike) -> Floats:
        """Return a member of the set close to a prior, so that a dual solution becomes a proof.

        Each entry of the result, read as a real number, is within 1e-15 of that of an exact member. By default it is
        the mixture that `mixture_near` returns.
        """
        members, shares = self.mixture_near(prior)
        floats = np.array([[float(q) for q in member] for member in members])
        return np.array([math.fsum(entries) for entries in (shares[:, None] * floats).T])

    def mixture_near(self, prior: ArrayLike) -> tuple[list[tuple[Fraction, ...]], Floats]:
        """Return members of the set, and shares with which their mixture is close to a prior.

        It is the nearest mixture, in the least-squares sense, of the center and members that `exact_worst_mean` returns
        one by one.
        """
        from scipy.optimize import nnls

        Q, near = self.as_vector(prior), self.prior.copy()
        members, shares = [self.center], np.ones(1)
        if not np.isfinite(Q).all() or not np.maximum(Q, 0.0).any():
            return members, shares
        floats, distance = [near], math.inf
        for _ in range(_MOST_MEMBERS):
            # The member with the least mean of near - Q lies furthest in the direction of Q.
            away = near - Q
            spread = np.ptp(away)
            if spread <= _NEAR or not math.hypot(*away) < distance:
                break
            distance = math.hypot(*away)
            column = np.rint((away - away.min()) / spread * 2.0**52).astype(int).tolist()
            exact = self.exact_worst_mean(column)[1]
            further = np.array([float(q) for q in exact])
            if away @ (near - further) <= _NEAR * spread:
                break
            extended = [*floats, further]
            # The last row, with its large factor, makes the weights sum to nearly 1; next they are normalised.
            try:
                weights, _ = nnls(np.vstack([np.transpose(extended), np.full(len(extended), 1e3)]), np.append(Q, 1e3))
            except RuntimeError:  # it gave up; the mixture so far is of members too
                break
            used = weights > 0
            members = [member for member, kept in zip([*members, exact], used, strict=True) if kept]
            floats = [member for member, kept in zip(extended, used, strict=True) if kept]
            shares = weights[used] / weights.sum()
            near = np.array([math.fsum(entries) for entries in (shares[:, None] * np.array(floats)).T])
        return members, shares

    @abstractmethod
    def support_rows(self) -> SupportRows:
        """Return the support function as linear rows."""

    def nearly_contains(self, prior: Sequence[Fraction]) -> bool:
        """Return whether a prior is within 1e-9 of a member in each probability, by a linear program over the rows.

        A set without linear rows, as of a function that is not supermodular, answers by steps towards the prior.
        """
        from scipy.optimize import linprog
        from scipy.sparse import block_array, csr_array

        Q = np.array([float(q) for q in prior])
        try:
            rows = self.support_rows()
        except LimitError:
            return bool(np.abs(self.member_near(Q) - Q).max() <= _NEAR_MEMBER)
        members, one = csr_array(rows.columns.T), csr_array(np.ones((self.size, 1)))
        between = csr_array(block_array([[members, -one], [-members, -one]]))
        normal = csr_array(block_array([[csr_array(rows.auxiliary.T), csr_array((rows.auxiliary.shape[1], 1))]]))
        first, costs = np.zeros(normal.shape[0]), np.zeros(members.shape[1] + 1)
        first[0], costs[-1] = -1.0, 1.0
        exact = {"primal_feasibility_tolerance": SOLVER, "dual_feasibility_tolerance": SOLVER}
        nearest = linprog(costs, between, np.append(Q, -Q), normal, first, method="highs", options=exact)
        return bool(nearest.status == 0 and nearest.fun <= _NEAR_MEMBER)

    def as_matrix(self, columns: ArrayLike) -> Floats:
        """Return columns as a float matrix with N rows; a data frame is put in the order of the set's labels.

        Raises
        ------
        InputError
            If there are not N rows, or they have other labels.
        """
        rows = aligned_rows(columns, self.labels, "the matrix")
        matrix = real_array(rows, "the matrix", "numbers, a row for each category")
        if matrix.ndim != 2 or matrix.shape[0] != self.size:
            raise InputError.wrong_size(
                f"the matrix has shape {matrix.shape}; accepted: ({self.size}, M), a row for each category"
            )
        return matrix

    def as_prior(self, prior: Sequence[object]) -> tuple[Fraction, ...]:
        """Return a prior as exact fractions; a series or mapping is put in the order of the set's labels.

        Raises
        ------
        InputError
            If it is not a distribution on N categories, or has other labels.
        """
        Q = exact_prior(prior, labels=self.labels)
        if len(Q) != self.size:
            raise InputError.wrong_size(f"the prior has {len(Q)} probabilities; accepted: {self.size}")
        return Q

    def as_vector(self, column: ArrayLike) -> Floats:
        """Return one column as a float vector of length N; a series or mapping is put in the order of the set's labels.

        Raises
        ------
        InputError
            If its length is not N, or it has other labels.
        """
        values = aligned_vector(column, self.labels, "the column")
        vector = real_array(values, "the column", "a number for each category")
        if vector.shape != (self.size,):
            raise InputError.wrong_size(f"the column has shape {vector.shape}; accepted: ({self.size},)")
        return vector


def labelled_center(center: Numbers, labels: Iterable[object] | None) -> tuple[tuple[Fraction, ...], tuple[str, ...]]:
    """Return the exact estimate and the labels, which are those of the estimate unless others are given.

    Examples
    --------
    >>> labelled_center({"a": 0.5, "b": 0.5}, None)
    ((Fraction(1, 2), Fraction(1, 2)), ('a', 'b'))
    """
    values, own = vector(center, "the center")
    prior = exact_prior(values, "the center")
    names = names_of_symbols(labels, own, len(prior))
    return (prior if own is None else exact_prior(center, "the center", names)), names


def check_one_size(priors: Iterable[Sequence[Fraction]]) -> None:
    """Refuse priors of different lengths.

    Raises
    ------
    InputError
        With two of the lengths.
    """
    sizes = sorted({len(prior) for prior in priors})
    if len(sizes) > 1:
        raise InputError.wrong_size(f"the priors have {sizes[0]} and {sizes[-1]} categories; give all the same number")


def exact_prior(
    weights: Sequence[object] | Mapping[Any, object], name: str = "the prior", labels: Sequence[str] | None = None
) -> tuple[Fraction, ...]:
    """Return probabilities as exact fractions that sum to 1.

    The input is weights: their sum may differ from 1 by at most 1e-9, and each weight is divided by it. If labels are
    given, those of a series are put in the order of the labels; a mapping is accepted only then.

    Raises
    ------
    InputError
        If a weight is negative or not finite, there are fewer than two, the sum differs from 1 by more, their common
        denominator has more than 900 digits, or the labels do not match.

    Examples
    --------
    >>> exact_prior([0.75, 0.25])
    (Fraction(3, 4), Fraction(1, 4))
    """
    values = aligned_vector(weights, labels, name) if labels is not None else weights
    if isinstance(values, Mapping):
        raise InputError.wrong_type(f"{name} is {shorten(weights)}; give a list of probabilities")
    given = entries(values, name, "a list of probabilities")
    exact = [checked_weight(weight, f"probability {index + 1} of {name}") for index, weight in enumerate(given)]
    if len(exact) < 2:
        raise InputError.too_few_categories(f"{name} has {len(exact)} probabilities; give at least two")
    for index, weight in enumerate(exact):
        if weight < 0:
            raise InputError.not_probabilities(
                f"probability {index + 1} of {name} is {text_near(weight)}; accepted: 0 or more"
            )
    check_common_denominator((weight.denominator for weight in exact), name)
    integers, common = over_common_denominator(exact)
    total = sum(integers)
    if abs(Fraction(total, common) - 1) > Fraction(WEIGHT_SUM):
        sum_text = text_near(Fraction(total, common))
        raise InputError.wrong_sum(f"{name} sums to {sum_text}; accepted: 1, give or take {WEIGHT_SUM:g}")
    return tuple(exact) if total == common else tuple(Fraction(weight, total) for weight in integers)
