"""The l1 ball around an estimated prior, from a known prior (radius 0) to local differential privacy (radius 2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.data.checks import checked_radius
from mechdesign.data.counts import tally
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import short_text
from mechdesign.uncertainty.ball import Ball
from mechdesign.uncertainty.bounds_of_counts import checked_bound_of_counts, default_bound
from mechdesign.uncertainty.effort import Effort, effort_of
from mechdesign.uncertainty.evidence import Evidence, asserted, check_one_way, counted
from mechdesign.uncertainty.prior_set import SupportRows, labelled_center
from mechdesign.uncertainty.radii import OBSERVED_SUMS, checked_bound

_WAYS = "delta= (the counts are a sample), radius= and known=True (they are the distribution itself)"


@dataclass(frozen=True)
class L1Ball(Ball):
    """All priors within an l1 distance of an estimate.

    ``B = { Q in the simplex : sum_i |Q_i - P_i| <= radius }``. Radius 0 is the known prior, radius 2 the
    whole simplex, which is local differential privacy. The support function takes mass t = radius/2 away
    from the categories where the column is largest (never more than P_i from category i) and puts it where the
    column is smallest; the radius may be larger than the smallest probability.

    Parameters
    ----------
    center : sequence of numbers, pandas Series, or mapping from label to number
        The estimated prior P: weights whose sum differs from 1 by at most 1e-9. Floats and decimals are read
        as the fractions that they print as.
    radius : number or str
        l1 radius in [0, 2].
    labels : sequence of str or int, optional
        One for each category, by which a labelled center is aligned. By default those of the center, or else ``x1`` to
        ``xN``.
    evidence : Evidence, optional
        The data behind it. `from_counts` and `from_samples` fill it in.
    within_simplex : bool
        False gives the ball of ED Proposition 2 as printed, which may reach outside the simplex:
        ``h(v) = <P, v> - t (max v - min v)`` (ED eq. 97). Designs for it stay private, but may be worse.

    Raises
    ------
    InputError
        For a center that is not a distribution, a radius outside [0, 2], duplicate labels, or a category of
        probability 0 together with radius 0: pointwise maximal leakage is then defined on the support only,
        and such a category must be left out by the user.

    Examples
    --------
    >>> ball = L1Ball([0.5, 0.3, 0.2], radius=0.2)
    >>> ball.worst_mean([1.0, 0.0, 0.0])
    (0.4, array([0.4, 0.4, 0.2]))
    >>> L1Ball.from_counts({"a": 812, "b": 150, "c": 38}, delta=1e-9).labels
    ('a', 'b', 'c')
    """

    kind: ClassVar[str] = "l1-ball"
    center: tuple[Fraction, ...]
    radius: Fraction
    labels: tuple[str, ...] = ()
    evidence: Evidence | None = field(default=None, kw_only=True)
    within_simplex: bool = field(default=True, kw_only=True)

    def __init__(
        self,
        center: Sequence[object] | Mapping[Any, object],
        radius: object = 0,
        labels: Iterable[object] | None = None,
        *,
        evidence: Evidence | None = None,
        within_simplex: bool = True,
    ) -> None:
        prior, names = labelled_center(center, labels)
        exact_radius = checked_radius(radius)
        if exact_radius == 0 and 0 in prior:
            raise InputError.never_occurs(
                f"the category {shorten(names[prior.index(Fraction(0))])} has probability 0 under a known prior, where "
                "leakage is defined on the support only; leave it out, or give a positive radius or delta"
            )
        if evidence is not None:
            evidence.check_ball(prior, exact_radius)
        object.__setattr__(self, "center", prior)
        object.__setattr__(self, "radius", exact_radius)
        object.__setattr__(self, "labels", names)
        object.__setattr__(self, "evidence", evidence)
        object.__setattr__(self, "within_simplex", bool(within_simplex))

    def __repr__(self) -> str:
        text, evidence = "", self.evidence
        if evidence is not None and evidence.delta is not None:
            text = f", delta={short_text(evidence.delta)}"
            if evidence.bound != default_bound(counted=not evidence.asserted):
                text += f", bound={evidence.bound!r}"
        if evidence is not None and self.asserts_samples:
            text += f", samples={evidence.samples} asserted"
        printed = "" if self.within_simplex else ", within_simplex=False"
        return f"L1Ball({self.size} categories, radius={float(self.radius):.6g}{text}{printed})"

    @classmethod
    def from_counts(
        cls,
        counts: Mapping[Any, Any] | Sequence[object],
        *,
        delta: object = None,
        radius: object = None,
        known: bool = False,
        samples: object = None,
        bound: object = None,
        within_simplex: bool = True,
    ) -> L1Ball:
        """Return the ball around an empirical distribution: give one of delta, radius and known.

        Parameters
        ----------
        counts : mapping from label to count, or sequence of counts
            Whole numbers, kept in the order given.
        delta : number or str, optional
            Probability in [0, 1) that the true prior lies outside; the radius is then derived from it, rounded up.
            0 gives radius 2.
        radius : number or str, optional
            The radius itself.
        known : bool
            True where the counts are no sample but the distribution itself, as of a whole population: radius 0.
        samples : int, optional
            The total of the counts; another number is refused. See `from_probabilities`.
        bound : str, optional
            What derives the radius from delta, the sharpest first: ``"observed-sums"``, the default, see
            `observed_radius`, ``"clopper-pearson"``, or ``"weissman"`` (ED eq. 37).
        within_simplex : bool
            As for the class.

        Raises
        ------
        InputError
            For counts that are not accepted, unless just one of delta, radius and known is given, and for samples or a
            bound without delta.

        Examples
        --------
        >>> L1Ball.from_counts([812, 150, 38], delta=1e-9)
        L1Ball(3 categories, radius=0.171673, delta=1e-09)
        >>> L1Ball.from_counts([812, 150, 38], delta=1e-9, bound="weissman")
        L1Ball(3 categories, radius=0.212203, delta=1e-09, bound='weissman')
        """
        check_one_way({"delta": delta, "radius": radius, "known": known}, _WAYS)
        if samples is not None and delta is None:
            raise InputError.missing_argument(
                f"samples {shorten(samples)} is given without delta, which it belongs to; give both or neither"
            )
        chosen = checked_bound_of_counts(bound)
        if bound is not None and delta is None:
            raise InputError.missing_argument(
                f"the bound {chosen} is given without delta, which it belongs to; give both or neither"
            )
        labels, evidence = counted(counts, delta, samples, chosen)
        derived = evidence.radius()
        if derived is None:
            derived = checked_radius(0 if radius is None else radius)
        total = sum(evidence.counts)
        center = [Fraction(count, total) for count in evidence.counts]
        return cls(center, derived, labels, evidence=evidence, within_simplex=within_simplex)

    @classmethod
    def from_samples(
        cls,
        records: Iterable[object],
        *,
        labels: Iterable[object] | None = None,
        delta: object = None,
        radius: object = None,
        known: bool = False,
        bound: object = None,
        within_simplex: bool = True,
    ) -> L1Ball:
        """Return the ball around the empirical distribution of raw records (ED eq. 13).

        Parameters
        ----------
        records : iterable of str or int
            One category for each record.
        labels : iterable, optional
            All categories. Without it the categories are those seen, ordered by decreasing count, then by label;
            note that delta does not cover categories that are chosen after looking at the data.
        delta, radius, known, bound, within_simplex
            As in `from_counts`.

        Examples
        --------
        >>> L1Ball.from_samples(["b", "a", "b"], delta=0.1, labels=["a", "b", "c"]).evidence.counts
        (1, 2, 0)
        """
        counts = tally(records, labels)
        return cls.from_counts(
            counts, delta=delta, radius=radius, known=known, bound=bound, within_simplex=within_simplex
        )

    @classmethod
    def from_probabilities(
        cls,
        probabilities: Sequence[object] | Mapping[Any, object],
        *,
        samples: object,
        delta: object,
        labels: Iterable[object] | None = None,
        bound: object = None,
        within_simplex: bool = True,
    ) -> L1Ball:
        """Return a what-if: the ball as if probabilities had been estimated from samples, which are asserted.

        No counts show these samples, and files, pages and `verify` say so.

        Parameters
        ----------
        probabilities : sequence of numbers, or mapping from label to number
            The estimate, as the center of the class.
        samples : int
            The number of samples that is asserted.
        delta, labels, bound, within_simplex
            As for `from_counts` and the class.

        Examples
        --------
        >>> L1Ball.from_probabilities({"a": 0.8, "b": 0.2}, samples=300, delta="1e-6")
        L1Ball(2 categories, radius=0.285101, delta=1e-06, samples=300 asserted)
        """
        center, names = labelled_center(probabilities, labels)
        evidence = asserted(center, samples, delta, checked_bound(bound))
        return cls(center, evidence.radius(), names, evidence=evidence, within_simplex=within_simplex)

    def with_radius(self, radius: object) -> L1Ball:
        """Return the ball of another radius around the same estimate; a stated delta is dropped."""
        shown = None if self.asserts_samples else self.evidence
        evidence = shown and replace(shown, delta=None, bound=OBSERVED_SUMS)
        return L1Ball(self.center, radius, self.labels, evidence=evidence, within_simplex=self.within_simplex)

    def as_printed(self) -> L1Ball:
        """Return the ball of ED Proposition 2 as printed, which may reach outside the simplex."""
        return L1Ball(self.center, self.radius, self.labels, evidence=self.evidence, within_simplex=False)

    @cached_property
    def exact_set(self) -> L1Ball:
        """The ball cut with the simplex."""
        if self.within_simplex:
            return self
        return L1Ball(self.center, self.radius, self.labels, evidence=self.evidence)

    @property
    def l1_ball(self) -> L1Ball:
        """The set itself."""
        return self

    @property
    def line(self) -> tuple[Fraction, Fraction]:
        """1 and half the radius."""
        return Fraction(1), self.half_radius

    def around(self, center: Sequence[Fraction]) -> L1Ball:
        """Return the ball of the same radius around another estimate."""
        return L1Ball(center, self.radius, within_simplex=self.within_simplex)

    @property
    def holds_every_prior(self) -> bool:
        """Whether the radius is 2."""
        return self.radius == 2

    @property
    def delta(self) -> Fraction | None:
        """The probability that the true prior lies outside, where the radius was derived from it."""
        return None if self.evidence is None else self.evidence.delta

    def delta_in_words(self) -> str:
        """Return what `delta` is the probability of, and from how many samples the radius follows."""
        text = super().delta_in_words()
        if self.evidence is None:
            return text
        return f"{text} ({self.evidence.samples} samples)"

    def in_words(self) -> str:
        """Return the priors of the ball in words."""
        if self.holds_every_prior:
            return "every prior, which is local differential privacy"
        if self.radius == 0:
            return "the prior itself, taken as known"
        return f"every prior within l1 distance {float(self.radius):.6g} of the estimate"

    def one_in_words(self) -> str:
        """Return one prior of the ball in words."""
        if self.holds_every_prior:
            return "any prior"
        if self.radius == 0:
            return "its estimated prior, taken as known"
        return f"a prior within l1 distance {float(self.radius):.6g} of its estimate"

    def proof_effort(self) -> Effort:
        """Return what one `exact_support` costs: a mean, and sorting where mass is moved."""
        return effort_of([self.center], self.size, self.radius)

    @property
    def half_radius(self) -> Fraction:
        """The mass t = radius/2 that a worst prior moves."""
        return self.radius / 2

    def support(self, columns: ArrayLike) -> Floats:
        """Return h(v) for each column of an (N, M) matrix, shape (M,)."""
        V = self.as_matrix(columns)
        t = float(self.half_radius)
        if not self.within_simplex:
            printed: Floats = self.prior @ V - t * (V.max(axis=0) - V.min(axis=0))
            return printed
        order = np.argsort(-V, axis=0, kind="stable")
        P = self.prior[order]
        V = np.take_along_axis(V, order, axis=0)
        before = np.cumsum(P, axis=0) - P
        removed = np.clip(t - before, 0.0, P)
        result: Floats = np.sum((P - removed) * V, axis=0) + removed.sum(axis=0) * V[-1]
        return result

    def worst_mean(self, column: ArrayLike) -> tuple[float, Floats]:
        """Return h(v) and a prior that attains it, shape (N,).

        For ``within_simplex=False`` the minimiser may have negative entries.
        """
        v = self.as_vector(column)
        t = float(self.half_radius)
        worst = self.prior.copy()
        least = int(np.argmin(v))
        if self.within_simplex:
            order = np.argsort(-v, kind="stable")
            before = np.cumsum(self.prior[order]) - self.prior[order]
            removed = np.clip(t - before, 0.0, self.prior[order])
            worst[order] -= removed
            worst[least] += removed.sum()
        else:
            worst[int(np.argmax(v))] -= t
            worst[least] += t
        return float(worst @ v), worst

    def _worst_masses(self, column: Sequence[int]) -> tuple[list[int], int]:
        """Return integer masses of a worst prior and their sum."""
        t = self.half_radius
        masses = [weight * t.denominator for weight in self.weights]
        total = sum(self.weights) * t.denominator
        left = t.numerator * sum(self.weights)
        order = sorted(range(len(column)), key=column.__getitem__, reverse=True)
        least = order[-1]
        if not self.within_simplex:
            masses[order[0]] -= left
            masses[least] += left
            return masses, total
        for index in order:
            if left == 0:
                break
            moved = min(left, masses[index])
            masses[index] -= moved
            masses[least] += moved
            left -= moved
            if index == least:
                break
        return masses, total

    def exact_support(self, column: Sequence[int]) -> Fraction:
        """Return h(v) of a column of integers in rational arithmetic."""
        weights, total, least = self.weights, sum(self.weights), min(column)
        mean = sum(map(mul, weights, column))
        # In units of the weights, so that a radius of many digits enters one product only.
        movable = self.half_radius * total
        if movable == 0:
            return Fraction(mean, total)
        if not self.within_simplex:
            return Fraction(mean - movable * (max(column) - least)) / total
        left, part = divmod(movable, 1)
        lost = 0
        for index in sorted(range(len(column)), key=column.__getitem__, reverse=True):
            weight, excess = weights[index], column[index] - least
            if excess == 0:
                break
            if weight > left:
                return Fraction(mean - lost - (left + part) * excess) / total
            left -= weight
            lost += weight * excess
        return Fraction(mean - lost, total)

    def exact_worst_mean(self, column: Sequence[int]) -> tuple[Fraction, tuple[Fraction, ...]]:
        """Return h(v) of a column of integers and a prior that attains it, in rational arithmetic."""
        masses, total = self._worst_masses(column)
        return self.exact_support(column), tuple(Fraction(mass, total) for mass in masses)

    def contains(self, prior: Sequence[object]) -> bool:
        """Return whether a prior lies in the ball, in rational arithmetic."""
        Q = self.as_prior(prior)
        return sum(abs(q - p) for q, p in zip(Q, self.center, strict=True)) <= self.radius

    def member_near(self, prior: ArrayLike) -> Floats:
        """Return a member of the ball close to a prior: itself, drawn towards the center as far as needed."""
        Q = self.as_vector(prior)
        if self.within_simplex:
            Q = np.clip(Q, 0.0, None)
        if not np.isfinite(Q).all() or Q.sum() <= 0:
            return self.prior.copy()
        step = Q / Q.sum() - self.prior
        distance = float(np.abs(step).sum())
        radius = float(self.radius) * (1 - 1e-12)
        shrunk: Floats = self.prior + step * (min(1.0, radius / distance) if distance > 0 else 0.0)
        return shrunk

    def support_rows(self) -> SupportRows:
        """Return the support function as linear rows (checked against its closed form).

        Auxiliary variables: h, L, m and, inside the simplex, u. ``h <= <P, u> - t (L - m)``, ``u <= v``,
        ``u <= L``, ``m <= v``, ``m <= L``; as printed, ``h <= <P, v> - t (L - m)``, ``L >= v``, ``m <= v``.
        """
        from scipy.sparse import block_array, coo_array, csr_array, eye_array

        N, t = self.size, float(self.half_radius)
        one, ones = coo_array(np.ones((1, 1))), coo_array(np.ones((N, 1)))
        P, I = coo_array(self.prior[None, :]), eye_array(N)  # noqa: E741 - the identity
        if self.within_simplex:
            # Columns of blocks: v, h, L, m, u.
            rows = block_array(
                [
                    [None, -one, -t * one, t * one, P],
                    [I, None, None, None, -I],
                    [None, None, ones, None, -I],
                    [I, None, None, -ones, None],
                    [coo_array((1, N)), None, one, -one, None],
                ],
                format="csr",
            )
        else:
            rows = block_array(
                [[P, -one, -t * one, t * one], [-I, None, ones, None], [I, None, None, -ones]], format="csr"
            )
        rows = csr_array(rows)
        return SupportRows(csr_array(rows[:, :N]), csr_array(rows[:, N:]))
