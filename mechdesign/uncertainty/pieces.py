"""Lower probabilities that are the greatest of a few affine functions of sets: boxes, balls, limits.

Every piece j has a mass a_ji >= 0 for each category and a slack s_j >= 0, and

    f(S) = max( 0, max_j ( a_j(S) - s_j ) )    for every S but the set of all categories, of which f is 1.

``Q(S) >= a_j(S) - s_j`` holds for every S exactly when ``sum_i (a_ji - Q_i)^+ <= s_j``, so that whether a prior
lies in the set is decided by N differences for each piece, and h is a linear program of N variables for each piece.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import check_common_denominator, over_common_denominator
from mechdesign.uncertainty.ball import Ball
from mechdesign.uncertainty.effort import Effort, effort_of
from mechdesign.uncertainty.evidence import Evidence, asserted, counted
from mechdesign.uncertainty.l1_ball import L1Ball
from mechdesign.uncertainty.lower_probability import LowerProbability
from mechdesign.uncertainty.prior_set import SupportRows, labelled_center

_STEPS_INSIDE = (0.0, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9)  # towards the center, which undo the errors of a solver
_MOST_DIGITS = 3_000  # of the common denominator of all pieces


@dataclass(frozen=True)
class Piece:
    """The condition ``sum_i (masses_i - Q_i)^+ <= slack``.

    Attributes
    ----------
    masses : tuple of Fraction
        One for each category, 0 or more.
    slack : Fraction
        0 or more.
    """

    masses: tuple[Fraction, ...]
    slack: Fraction

    def missed_by(self, prior: Sequence[Fraction]) -> Fraction:
        """Return by how much a prior violates the condition; 0 or less if it does not."""
        missing = (mass - q for mass, q in zip(self.masses, prior, strict=True) if mass > q)
        return sum(missing, Fraction(0)) - self.slack


class PieceSet(LowerProbability):
    """A set whose f is the greatest of a few pieces; its class answers for f being supermodular.

    Attributes
    ----------
    parameters : mapping
        The parameters that files hold beside the estimate, each ``"number"`` or ``"vector"``.
    chosen : tuple of str
        Those of them that are chosen beside counts and delta, from which the others then follow.
    evidence : Evidence or None
        The data behind the parameters. `from_counts` and `supported_by` fill it in.
    """

    parameters: ClassVar[Mapping[str, str]]
    chosen: ClassVar[tuple[str, ...]] = ()
    evidence: Evidence | None

    @classmethod
    def from_counts(
        cls, counts: Mapping[Any, Any] | Sequence[object], delta: object, *, samples: object = None
    ) -> Self:
        """Return the set that holds the true prior with probability 1 - delta.

        Parameters
        ----------
        counts : mapping from label to count, or sequence of counts
            How often each category, of those that were fixed beforehand, was seen in independent samples.
        delta : number or str
            Probability in [0, 1) that the true prior lies outside.
        samples : int, optional
            The total of the counts; another number is refused. See `from_probabilities`.

        Raises
        ------
        InputError
            For counts or a delta that are not accepted.
        """
        labels, evidence = counted(counts, delta, samples)
        return cls.of_evidence(labels, evidence)

    @classmethod
    def from_probabilities(
        cls,
        probabilities: Mapping[Any, Any] | Sequence[object],
        delta: object,
        *,
        samples: object,
        labels: Iterable[object] | None = None,
        **chosen: object,
    ) -> Self:
        """Return a what-if: the set as if probabilities had been estimated from a number of samples.

        Parameters
        ----------
        probabilities, delta, samples, labels
            As for `L1Ball.from_probabilities`.
        **chosen
            What else `from_counts` takes, such as alpha for a relative ball.

        Raises
        ------
        InputError
            For values that are not accepted.
        """
        center, names = labelled_center(probabilities, labels)
        evidence = asserted(center, samples, delta)
        return cls.of_evidence(names, evidence, **chosen)

    @classmethod
    def of_evidence(cls, labels: tuple[str, ...], evidence: Evidence, **chosen: Any) -> Self:
        """Return the set whose parameters follow from evidence, and from what is chosen beside it."""
        make: Any = cls
        total = sum(evidence.counts)
        center = [Fraction(count, total) for count in evidence.counts]
        known: Self = make(**cls._derived(evidence, **chosen), center=center, labels=labels)
        return known._with(evidence)

    @classmethod
    @abstractmethod
    def _derived(cls, evidence: Evidence) -> dict[str, Any]:
        """Return the parameters that follow from counts and delta."""

    @abstractmethod
    def excess_over(self, evidence: Evidence) -> str:
        """Return in words which parameter promises more than counts and delta support; empty if none does."""

    def supported_by(self, evidence: Evidence) -> Self:
        """Return the set with the data behind its parameters.

        Raises
        ------
        InputError
            If the estimate is not that of the counts, or the parameters promise more than they support.
        """
        total = sum(evidence.counts)
        if self.center != tuple(Fraction(count, total) for count in evidence.counts):
            raise InputError.evidence_contradicts(
                "the counts given as evidence are not those of the center; use from_counts"
            )
        excess = self.excess_over(evidence)
        if excess:
            raise InputError.evidence_contradicts(f"{excess}; use from_counts")
        return self._with(evidence)

    def _with(self, evidence: Evidence) -> Self:
        known = copy.copy(self)
        object.__setattr__(known, "evidence", evidence)
        return known

    @property
    def delta(self) -> Fraction | None:
        """The probability that the true prior lies outside, where the parameters were derived from it."""
        return None if self.evidence is None else self.evidence.delta

    @cached_property
    def holds_every_prior(self) -> bool:
        """Whether no piece asks anything of a prior."""
        masses, slacks, _ = self._integers
        return all(sum(row) - min(row) <= slack for row, slack in zip(masses, slacks, strict=True))

    @property
    def l1_ball(self) -> L1Ball | None:
        """The ball of radius 2 where the set holds every prior."""
        return L1Ball(self.center, 2, self.labels) if self.holds_every_prior else None

    @property
    def ball(self) -> Ball | None:
        """The l1 ball that it is, if it is one."""
        return self.l1_ball

    @property
    def piece_set(self) -> PieceSet:
        """The set itself."""
        return self

    @property
    @abstractmethod
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces."""

    def _hold(self, center: tuple[Fraction, ...], labels: tuple[str, ...], **parameters: object) -> None:
        """Take the estimate, its labels and the parameters, without data behind them, after checking that they fit."""
        for name, value in {**parameters, "center": center, "labels": labels, "evidence": None}.items():
            object.__setattr__(self, name, value)
        self._check()

    def _check(self) -> None:
        """Refuse a center outside of the set, and a category to which every prior of the set gives probability 0."""
        for piece in self.pieces:
            if piece.missed_by(self.center) > 0:
                raise InputError.prior_outside_set(
                    f"the center is outside of {shorten(self)}; give an estimate that the set holds"
                )
        masses, slacks, common = self._integers
        totals = [sum(row) for row in masses]
        for i, label in enumerate(self.labels):
            if any(total - row[i] - slack == common for total, row, slack in zip(totals, masses, slacks, strict=True)):
                raise InputError.never_occurs(
                    f"the category {shorten(label)} has probability 0 under every prior of the set, where leakage is "
                    "defined on the support only; leave it out"
                )

    @cached_property
    def _integers(self) -> tuple[list[list[int]], list[int], int]:
        """The masses and the slack of each piece as integers over a common denominator, and that."""
        N, flat = self.size, [q for piece in self.pieces for q in (*piece.masses, piece.slack)]
        check_common_denominator((q.denominator for q in flat), "the limits", _MOST_DIGITS)
        integers, common = over_common_denominator(flat)
        rows = [integers[start : start + N + 1] for start in range(0, len(integers), N + 1)]
        return [row[:N] for row in rows], [row[N] for row in rows], common

    @cached_property
    def in_floats(self) -> tuple[Floats, Floats]:
        """The masses, shape (k, N), and slacks, shape (k,), as floats."""
        return (
            np.array([[float(q) for q in piece.masses] for piece in self.pieces]),
            np.array([float(piece.slack) for piece in self.pieces]),
        )

    def along(self, order: Sequence[int]) -> tuple[list[int], int]:
        """Return f of the first k categories of an order, k = 1 to N, as integers over a denominator, and that."""
        masses, slacks, common = self._integers
        values = [0] * self.size
        for row, slack in zip(masses, slacks, strict=True):
            mass = -slack
            for place, i in enumerate(order):
                mass += row[i]
                values[place] = max(values[place], mass)
        values[-1] = common
        return values, common

    def of_every_set(self) -> tuple[list[int], int]:
        """Return f of every set of categories, by its bit mask, as integers over a common denominator, and that."""
        masses, slacks, common = self._integers
        greatest = [0] * (1 << self.size)
        for row, slack in zip(masses, slacks, strict=True):
            sums = [-slack]
            for mass in row:
                sums += [other + mass for other in sums]
            greatest = list(map(max, greatest, sums))
        greatest[-1] = common
        return greatest, common

    def _floats_along(self, orders: np.ndarray[tuple[int, int], np.dtype[np.intp]]) -> Floats:
        masses, slacks = self.in_floats
        values = np.zeros(orders.shape)
        for row, slack in zip(masses, slacks, strict=True):
            np.maximum(values, np.cumsum(row[orders], axis=0) - slack, out=values)
        values = np.minimum(values, 1.0)
        values[-1] = 1.0
        return values

    def contains(self, prior: Sequence[object]) -> bool:
        """Return whether a prior lies in the set, in rational arithmetic."""
        Q = self.as_prior(prior)
        return all(piece.missed_by(Q) <= 0 for piece in self.pieces)

    def member_near(self, prior: ArrayLike) -> Floats:
        """Return a member of the set close to a prior: itself, where a very small step towards the center is enough.

        If the conditions of all pieces miss by at most d, then some member is within l1 distance 2 d.
        """
        Q = np.maximum(self.as_vector(prior), 0.0)
        total = Q.sum()
        if np.isfinite(total) and total > 0:
            masses, slacks = self.in_floats
            for step in _STEPS_INSIDE:
                drawn: Floats = (1 - step) * (Q / total) + step * self.prior
                if (np.maximum(masses - drawn, 0.0).sum(axis=1) <= slacks).all():
                    return drawn
        return super().member_near(prior)

    def proof_effort(self) -> Effort:
        """Return what one `exact_support` costs: sums of the masses of each piece, in the order of the column."""
        return effort_of([(*piece.masses, piece.slack) for piece in self.pieces], self.size, Fraction(1))

    def support_rows(self) -> SupportRows:
        """Return the support function as linear rows, the dual of the least mean.

        Auxiliary variables: h, m and, for every piece, its u_i and, where its slack is positive, L.
        ``h <= m + sum over pieces of (<a, u> - s L)``, ``m + sum over pieces of u_i <= v_i``, ``0 <= u_i <= L``.
        """
        from scipy.sparse import block_array, coo_array, csr_array, eye_array

        N = self.size
        one, ones, I = coo_array(np.ones((1, 1))), coo_array(np.ones((N, 1))), eye_array(N)  # noqa: E741 - identity
        # Columns of blocks: v, h, m, then u and L of each piece.
        of_h: list[object] = [coo_array((1, N)), -one, one]
        of_v: list[object] = [I, None, -ones]
        of_u: list[list[object]] = []
        width = 3 + 2 * len(self.pieces)
        for place, (row, slack) in enumerate(zip(*self.in_floats, strict=True)):
            of_h += [coo_array(row[None, :]), coo_array(np.array([[-slack]]))]
            of_v += [-I, None]
            above: list[object] = [None] * width
            above[3 + 2 * place] = I
            of_u.append(above)
            if slack > 0:
                below: list[object] = [None] * width
                below[3 + 2 * place], below[4 + 2 * place] = -I, ones
                of_u.append(below)
        rows = csr_array(block_array([of_h, of_v, *of_u], format="csr"))
        return SupportRows(csr_array(rows[:, :N]), csr_array(rows[:, N:]))
