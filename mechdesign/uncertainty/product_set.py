"""Joint priors of two attributes, each of which is known to lie in a set of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.data.checks import check_kind
from mechdesign.data.labels import joined_labels
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import over_common_denominator
from mechdesign.uncertainty.base import UncertaintySet, check_about_data
from mechdesign.uncertainty.effort import Effort
from mechdesign.uncertainty.prior_set import SupportRows

_MOST_SYMBOLS = 10_000  # as many as a mechanism file holds

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class ProductSet(UncertaintySet):
    """All joint priors of two attributes whose first marginal and second conditionals lie in given sets.

    ``B = { Q : Q(i, j) = Q1(i) Q2(j | i), Q1 in B1, Q2(. | i) in B2 for every i }``. The joint category (i, j) has
    index ``i N2 + j``, so that a column v of length N1 N2 is read as a matrix with rows ``v_i``. The support function
    is composed of those of both sets,

        h(v) = h1( (h2(v_1), ..., h2(v_N1)) ),

    because ``<Q, v> = sum_i Q1(i) <Q2(. | i), v_i>``, the conditionals may be chosen one by one, and Q1(i) >= 0:
    whatever Q1 is, the least over the conditionals is ``sum_i Q1(i) h2(v_i)``. B is convex, as the condition on the
    conditionals says that each row of Q lies in the convex cone over B2. For ``v = a x b`` with a, b >= 0 the support
    function is ``h1(a) h2(b)``. So the product of an epsilon1-PML and an epsilon2-PML mechanism is
    (epsilon1 + epsilon2)-PML for every prior in B.

    All independent pairs are in B. B is not symmetric in the two attributes: the second may depend on the first in any
    way that keeps every conditional in B2, while the first given the second may leave B1. If B2 is one known prior, B
    holds independent pairs only; if it is the whole simplex, the second attribute is not restricted. A delta of B2 is
    the probability that a marginal lies outside; it covers the conditionals only if the attributes are independent.

    Parameters
    ----------
    first, second : UncertaintySet
        B1 on N1 categories and B2 on N2, at most 10,000 pairs. Either may be a product set itself.
    separator : str
        Stands between the two labels in the label of a pair.

    Raises
    ------
    InputError
        For a promise about a secret, for a ball as printed (it may leave the simplex; give its `exact_set`), too many
        pairs, or two pairs with the same label.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> smokes = L1Ball(["0.75", "0.25"], "0.1", ["no", "yes"])
    >>> pairs = ProductSet(smokes, L1Ball(["0.5", "0.5"], 0, ["low", "high"]))
    >>> pairs.labels
    ('no & low', 'no & high', 'yes & low', 'yes & high')
    >>> pairs.exact_support([1, 0, 0, 0]) == smokes.exact_support([1, 0]) / 2
    True
    """

    kind: ClassVar[str] = "product"
    first: UncertaintySet
    second: UncertaintySet
    separator: str
    center: tuple[Fraction, ...]
    labels: tuple[str, ...]

    def __init__(self, first: UncertaintySet, second: UncertaintySet, separator: str = " & ") -> None:
        for name, factor in (("first", first), ("second", second)):
            check_kind(factor, UncertaintySet, f"the {name} set", "an L1Ball, a ConvexHull or a ProductSet")
            check_about_data(factor, "a product of two attributes")
            if factor.exact_set is not factor:
                raise InputError.ball_leaves_simplex(
                    f"the {name} set is {shorten(factor)}, which may reach outside the simplex; give its exact_set"
                )
        check_kind(separator, str, "the separator", "a string")
        if first.size * second.size > _MOST_SYMBOLS:
            raise InputError.too_many_given(
                f"{first.size} and {second.size} categories make {first.size * second.size} pairs; "
                f"accepted: at most {_MOST_SYMBOLS}"
            )
        labels = joined_labels(product(first.labels, second.labels), separator)
        object.__setattr__(self, "first", first)
        object.__setattr__(self, "second", second)
        object.__setattr__(self, "separator", separator)
        object.__setattr__(self, "center", tuple(p * q for p in first.center for q in second.center))
        object.__setattr__(self, "labels", labels)

    def __repr__(self) -> str:
        return f"ProductSet({self.first!r}, {self.second!r})"

    @property
    def holds_every_prior(self) -> bool:
        """Whether both factors hold every prior."""
        return self.first.holds_every_prior and self.second.holds_every_prior

    @property
    def delta(self) -> Fraction | None:
        """The sum over the factors, at most 1; None where one of them has no delta."""
        # A set of all priors needs no delta: the true prior is never outside.
        deltas = [factor.delta for factor in (self.first, self.second) if not factor.holds_every_prior]
        stated = [delta for delta in deltas if delta is not None]
        return min(sum(stated, Fraction(0)), Fraction(1)) if stated and len(stated) == len(deltas) else None

    @property
    def asserts_samples(self) -> bool:
        """Whether the delta of a factor rests on samples that are asserted."""
        return self.first.asserts_samples or self.second.asserts_samples

    def delta_in_words(self) -> str:
        """Return what `delta` is the probability of, which holds for independent attributes."""
        return "the true prior, if attributes are independent, lies outside with at most this probability"

    def in_words(self) -> str:
        """Return the priors of the set in words."""
        if self.holds_every_prior:
            return "every prior, which is local differential privacy"
        return f"every joint prior {self._factors_in_words()}"

    def one_in_words(self) -> str:
        """Return one prior of the set in words."""
        return "any prior" if self.holds_every_prior else f"a joint prior ({self._factors_in_words()})"

    def _factors_in_words(self) -> str:
        first, second = self.first.one_in_words(), self.second.one_in_words()
        return f"whose first attribute has {first}, and whose second has {second}, whatever the first is"

    def proof_effort(self) -> Effort:
        """Return what one `exact_support` costs: one of the first set, and one of the second for each category."""
        first, second = self.first.proof_effort(), self.second.proof_effort()
        return Effort(first.digits + second.digits, first.steps + self.first.size * (second.steps + 200))

    def support(self, columns: ArrayLike) -> Floats:
        """Return h(v) for each column of an (N, M) matrix, shape (M,)."""
        V = self.as_matrix(columns)
        N1, N2, M = self.first.size, self.second.size, V.shape[1]
        rows = V.reshape(N1, N2, M).transpose(1, 0, 2).reshape(N2, N1 * M)
        return self.first.support(self.second.support(rows).reshape(N1, M))

    def worst_mean(self, column: ArrayLike) -> tuple[float, Floats]:
        """Return h(v) and a prior that attains it, shape (N,)."""
        rows = self.as_vector(column).reshape(self.first.size, self.second.size)
        means, conditionals = zip(*map(self.second.worst_mean, rows), strict=True)
        value, marginal = self.first.worst_mean(np.array(means))
        worst: Floats = (marginal[:, None] * np.array(conditionals)).ravel()
        return value, worst

    def exact_support(self, column: Sequence[int]) -> Fraction:
        """Return h(v) of a column of integers in rational arithmetic."""
        means, common = over_common_denominator(map(self.second.exact_support, self._rows(column)))
        return self.first.exact_support(means) / common

    def exact_worst_mean(self, column: Sequence[int]) -> tuple[Fraction, tuple[Fraction, ...]]:
        """Return h(v) of a column of integers and a prior that attains it, in rational arithmetic."""
        attained = [self.second.exact_worst_mean(row) for row in self._rows(column)]
        means, common = over_common_denominator(mean for mean, _ in attained)
        value, marginal = self.first.exact_worst_mean(means)
        worst = (q * c for q, (_, conditional) in zip(marginal, attained, strict=True) for c in conditional)
        return value / common, tuple(worst)

    def contains(self, prior: Sequence[object]) -> bool:
        """Return whether a prior lies in the set, each factor in its own precision.

        The conditionals are checked for the first categories of positive probability only.
        """
        Q = self.as_prior(prior)
        rows = self._rows(Q)
        marginal = [sum(row, Fraction(0)) for row in rows]
        return self.first.contains(marginal) and all(
            self.second.contains([q / mass for q in row]) for mass, row in zip(marginal, rows, strict=True) if mass > 0
        )

    def member_near(self, prior: ArrayLike) -> Floats:
        """Return a member of the set close to a prior: the product of members near its marginal and its conditionals.

        Entry (i, j) has the errors of both factors, together at most 1e-15 (Q1(i) + Q2(j | i)).
        """
        Q = np.clip(self.as_vector(prior), 0.0, None).reshape(self.first.size, self.second.size)
        total = Q.sum()
        if not np.isfinite(total) or total <= 0:
            return self.prior.copy()
        masses = Q.sum(axis=1)
        conditionals = [
            self.second.member_near(row / mass) if mass > 0 else self.second.prior
            for row, mass in zip(Q, masses, strict=True)
        ]
        member: Floats = (self.first.member_near(masses / total)[:, None] * np.array(conditionals)).ravel()
        return member

    def support_rows(self) -> SupportRows:
        """Return the support function as linear rows: those of the first set over those of the second, N1 times.

        Auxiliary variables: those w1 of the first set, then w2 of the second for every i. The first entry of the i-th
        w2, which is at most h2(v_i), stands in the rows of the first set for the entry a_i of its column: h1 never
        falls when an entry rises.
        """
        from scipy.sparse import block_array, coo_array, csr_array, eye_array, kron

        outer, inner = self.first.support_rows(), self.second.support_rows()
        each = eye_array(self.first.size)
        picked = coo_array(([1.0], ([0], [0])), shape=(1, inner.auxiliary.shape[1]))
        auxiliary = block_array(
            [[outer.auxiliary, outer.columns @ kron(each, picked)], [None, kron(each, inner.auxiliary)]]
        )
        above = coo_array((outer.columns.shape[0], self.size))
        columns = block_array([[above], [kron(each, inner.columns)]])
        return SupportRows(csr_array(columns), csr_array(auxiliary))

    def _rows(self, column: Sequence[Entry]) -> list[Sequence[Entry]]:
        """Return the rows v_i of a column."""
        N2 = self.second.size
        return [column[start : start + N2] for start in range(0, len(column), N2)]
