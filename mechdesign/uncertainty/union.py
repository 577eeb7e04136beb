"""Several sets of priors at once, such as one for each group of records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.data.checks import check_kind
from mechdesign.data.joint_counts import JointCounts
from mechdesign.data.labelled import some_labels
from mechdesign.data.labels import canonical_labels, default_labels
from mechdesign.errors import GuaranteeError, InputError, shorten
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import check_common_denominator, printed_up
from mechdesign.uncertainty.base import UncertaintySet, check_about_data
from mechdesign.uncertainty.convex_hull import ConvexHull, checked_weights
from mechdesign.uncertainty.covering_ball import covering_ball, radius_around
from mechdesign.uncertainty.effort import Effort, check_limits
from mechdesign.uncertainty.l1_ball import L1Ball
from mechdesign.uncertainty.prior_set import SupportRows
from mechdesign.uncertainty.product_set import ProductSet

if TYPE_CHECKING:
    from mechdesign.uncertainty.ball import Ball
    from mechdesign.uncertainty.lower_probability import LowerProbability

_MOST_SETS = 500
_MOST_NUMBERS = 200_000  # of all estimates together
_MOST_DIGITS = 3_000  # of the common denominator of all estimates, as for a hull
_SHAPES = "a list of sets of priors, or a mapping from names to sets"


@dataclass(frozen=True)
class Union(UncertaintySet):
    """All priors that lie in one of several sets, and all their mixtures.

    A mechanism is epsilon-PML for every prior of a union exactly when it is for every prior of each set:
    ``h(v) = min over k of h_k(v)``. Mixtures of priors have no smaller mean than all of their parts, so that they come
    for free. A mechanism that is used in several groups of records, each with a law of its own, keeps its promise in
    each of them if the law of each group lies in one of the sets.

    With a ``cover`` the set is a single l1 ball that holds all of the sets. It allows fewer mechanisms than the union;
    the methods for l1 balls find the best of them for any number of categories.

    Parameters
    ----------
    sets : sequence of UncertaintySet, or mapping from name to UncertaintySet
        At most 500, all with the same labels in the same order. None of them is made of other sets.
    weights : sequence of numbers, optional
        One for each set. The reference prior, at which utility is measured, is this mixture of those of the sets; equal
        weights by default. With a cover it is the center of the cover.
    cover : L1Ball, optional
        A ball that holds every set, each of which is then an `L1Ball` too: its radius is at least the distance of the
        two centers and the radius of the set together. `covered` finds one.
    names : sequence of str or int, optional
        One for each set, where no mapping names them; by default ``g1`` to ``gK``.

    Raises
    ------
    InputError
        For sets on other categories, products, unions and promises about a secret among the sets, or a common
        denominator of more than 3,000 digits.
    GuaranteeError
        For a cover that is proved to hold less than every set.

    Examples
    --------
    >>> north, south = L1Ball(["0.5", "0.3", "0.2"], "0.1"), L1Ball(["0.3", "0.3", "0.4"], "0.2")
    >>> both = Union({"north": north, "south": south})
    >>> both.exact_support([1, 0, 0]), both.exact_support([0, 0, 1])
    (Fraction(1, 5), Fraction(3, 20))
    >>> both.covered().cover
    L1Ball(3 categories, radius=0.35)
    """

    kind: ClassVar[str] = "union"
    sets: tuple[UncertaintySet, ...]
    weights: tuple[Fraction, ...]
    cover: L1Ball | None
    names: tuple[str, ...]
    center: tuple[Fraction, ...]
    labels: tuple[str, ...]

    def __init__(
        self,
        sets: Sequence[UncertaintySet] | Mapping[Any, UncertaintySet],
        weights: Sequence[object] | None = None,
        *,
        cover: L1Ball | None = None,
        names: Iterable[object] | None = None,
    ) -> None:
        members, titles = _named(sets, names)
        for title, member in zip(titles, members, strict=True):
            _check_member(member, title, members[0])
        K = len(members)
        if K * members[0].size > _MOST_NUMBERS:
            raise InputError.too_many_given(
                f"{K} sets on {members[0].size} categories are too many; accepted: {_MOST_NUMBERS} numbers"
            )
        check_limits(sum(each.l1_ball is None and each.delta is not None for each in members), members[0].size)
        shares = (Fraction(1, K),) * K if weights is None else checked_weights(weights, K)
        if len(shares) != K:
            raise InputError.wrong_size(f"there are {len(shares)} weights for {K} sets; give one for each set")
        if cover is not None:
            check_kind(cover, L1Ball, "the cover", "an L1Ball, such as covered() finds")
            _check_cover(cover, members, titles)
        object.__setattr__(self, "sets", members)
        object.__setattr__(self, "weights", shares)
        object.__setattr__(self, "cover", cover)
        object.__setattr__(self, "names", titles)
        object.__setattr__(self, "labels", members[0].labels)
        object.__setattr__(self, "center", _mixed(members, shares) if cover is None else cover.center)

    def __repr__(self) -> str:
        text = "" if self.cover is None else f", cover of radius={float(self.cover.radius):.6g}"
        return f"Union({len(self.sets)} sets on {self.size} categories{text})"

    @classmethod
    def from_counts(
        cls, counts: object, *, delta: object = None, radius: object = None, known: bool = False, bound: object = None
    ) -> Union:
        """Return the union of the l1 balls around the frequencies in each group.

        The reference prior is that of all records together.

        Parameters
        ----------
        counts : mapping of mappings, data frame or rows of counts
            ``{group: {category: count}}``; a data frame with a row for each group; or a list of rows. Each group has
            counts of the same categories, 0 for what was never seen in it.
        delta : number or str, optional
            For each group by itself, the probability that its true distribution lies outside its own ball. That this
            happens in *some* group has the probability K delta at most, which is the `delta` of the union.
        radius, known, bound : optional
            As for `L1Ball.from_counts`, the same for each group: just one of delta, radius and known is given.

        Raises
        ------
        InputError
            For what is not a table of counts, and for a group without records.

        Examples
        --------
        >>> both = Union.from_counts({"north": {"a": 50, "b": 50}, "south": {"a": 80, "b": 20}}, delta="1e-9")
        >>> both.names, both.center, both.delta
        (('north', 'south'), (Fraction(13, 20), Fraction(7, 20)), Fraction(1, 500000000))
        """

        def around(row: Mapping[str, int]) -> L1Ball:
            return L1Ball.from_counts(row, delta=delta, radius=radius, known=known, bound=bound)

        return cls.of_groups(counts, around)

    @classmethod
    def of_groups(cls, counts: object, around: Callable[[Mapping[str, int]], UncertaintySet]) -> Union:
        """Return the union of the sets that a function makes of the counts in each group.

        Parameters
        ----------
        counts
            As for `from_counts`.
        around : callable
            Takes a mapping from category to count.

        Raises
        ------
        InputError
            As for `from_counts`.
        """
        table = counts if isinstance(counts, JointCounts) else JointCounts.of(counts, about="group")
        sets = {}
        for name, row in zip(table.values, table.counts, strict=True):
            try:
                sets[name] = around(dict(zip(table.labels, row, strict=True)))
            except InputError as error:
                raise error.reworded(f"group {shorten(name)}: {error}") from None
        return cls(sets, [Fraction(n, table.total) for n in table.of_values])

    def covered(self) -> Union:
        """Return the union with the smallest l1 ball that a linear program finds around all of its sets.

        Raises
        ------
        InputError
            If a set is not an l1 ball within the simplex.

        Examples
        --------
        >>> far = Union([L1Ball(["0.9", "0.1"], "0.1"), L1Ball(["0.1", "0.9"], "0.1")])
        >>> far.covered().cover.radius
        Fraction(9, 10)
        """
        balls = _as_balls(self.sets, self.names)
        cover = covering_ball(balls, _mixed(self.sets, self.weights), self.labels)
        return Union(self.sets, self.weights, cover=cover, names=self.names)

    def pooled(self) -> L1Ball | None:
        """Return the l1 ball around all records together: what would be promised if nobody knew the groups.

        It has the delta of all sets, or else their radius; None where they differ in both, or are not made of counts.

        Examples
        --------
        >>> Union.from_counts({"north": {"a": 50, "b": 50}, "south": {"a": 80, "b": 20}}, radius="0.1").pooled()
        L1Ball(2 categories, radius=0.1)
        """
        balls = [each.l1_ball for each in self.sets]
        known = [ball.evidence for ball in balls if ball is not None and ball.evidence is not None]
        if len(known) < len(balls):
            return None
        totals = map(sum, zip(*(evidence.counts for evidence in known), strict=True))
        counts = dict(zip(self.labels, totals, strict=True))
        deltas = {(evidence.delta, evidence.bound) for evidence in known}
        radii = {ball.radius for ball in balls if ball is not None}
        (delta, bound), radius = next(iter(deltas)), next(iter(radii))
        if len(deltas) == 1 and delta is not None:
            return L1Ball.from_counts(counts, delta=delta, bound=bound)
        return L1Ball.from_counts(counts, radius=radius) if len(radii) == 1 else None

    @property
    def parts(self) -> tuple[UncertaintySet, ...]:
        """The sets whose priors and their mixtures are the set: the cover alone, where there is one."""
        return self.sets if self.cover is None else (self.cover,)

    @cached_property
    def _single(self) -> UncertaintySet | None:
        """The set as one that is not a union; None where it is not one."""
        if len(self.parts) == 1:
            return self.parts[0]
        if self.holds_every_prior:
            return L1Ball(self.center, 2, self.labels)
        if all(part.l1_ball is not None and part.l1_ball.radius == 0 for part in self.parts):
            return ConvexHull([part.center for part in self.parts], self.weights, self.labels)
        return None

    @property
    def union(self) -> Union:
        """The set itself."""
        return self

    @property
    def l1_ball(self) -> L1Ball | None:
        """The set as an l1 ball: the cover, a union of one ball, or every prior; None where it is not one."""
        return None if self._single is None else self._single.l1_ball

    @property
    def ball(self) -> Ball | None:
        """The set as an l1 ball or a relative ball; None where it is not one."""
        return None if self._single is None else self._single.ball

    @property
    def convex_hull(self) -> ConvexHull | None:
        """The set as the hull of known priors; None where it is not one."""
        return None if self._single is None else self._single.convex_hull

    @property
    def lower_probability(self) -> LowerProbability | None:
        """The set as the priors above a lower probability, for a union of one; None where it is not known to be one."""
        return None if self._single is None else self._single.lower_probability

    @property
    def holds_every_prior(self) -> bool:
        """Whether one of the sets, or the cover, is the whole simplex."""
        return any(part.holds_every_prior for part in self.parts)

    @property
    def delta(self) -> Fraction | None:
        """The sum over the sets, at most 1: the probability that *some* prior lies outside its own set.

        None where a set has no delta. A set of all priors needs none.
        """
        deltas = [each.delta for each in self.sets if not each.holds_every_prior]
        stated = [delta for delta in deltas if delta is not None]
        return min(sum(stated, Fraction(0)), Fraction(1)) if stated and len(stated) == len(deltas) else None

    @property
    def samples(self) -> int | None:
        """The number of samples behind all sets together, where it is known."""
        known = [each.samples for each in self.sets]
        return None if None in known else sum(filter(None, known))

    @property
    def asserts_samples(self) -> bool:
        """Whether the delta of a set rests on samples that are asserted."""
        return any(each.asserts_samples for each in self.sets)

    def delta_in_words(self) -> str:
        """Return what `delta` is the probability of, and what it is for one set by itself."""
        greatest = max((each.delta for each in self.sets if each.delta is not None), default=Fraction(0))
        return (
            f"in some of the {len(self.sets)} groups the true prior lies outside with at most this probability, in any "
            f"one of them with at most {printed_up(greatest)}"
        )

    def in_words(self) -> str:
        """Return the priors of the set in words."""
        if self.holds_every_prior:
            return "every prior, which is local differential privacy"
        return f"every prior in {self._sets_in_words()}"

    def one_in_words(self) -> str:
        """Return one prior of the set in words."""
        return "any prior" if self.holds_every_prior else f"a prior in {self._sets_in_words()}"

    def _sets_in_words(self) -> str:
        several = f"{len(self.sets)} groups ({some_labels(self.names)})"
        if self.cover is None:
            return f"the set of one of {several}, or a mixture of such priors"
        return f"an l1 ball of radius {float(self.cover.radius):.6g} that holds the sets of all {several}"

    def proof_effort(self) -> Effort:
        """Return what one `exact_support` costs: one of each set."""
        own = [part.proof_effort() for part in self.parts]
        return Effort(max(each.digits for each in own), sum(each.steps for each in own))

    def support(self, columns: ArrayLike) -> Floats:
        """Return h(v) for each column of an (N, M) matrix, shape (M,)."""
        V = self.as_matrix(columns)
        least: Floats = np.min([part.support(V) for part in self.parts], axis=0)
        return least

    def worst_mean(self, column: ArrayLike) -> tuple[float, Floats]:
        """Return h(v) and a prior that attains it, shape (N,)."""
        v = self.as_vector(column)
        return min((part.worst_mean(v) for part in self.parts), key=lambda found: found[0])

    def exact_support(self, column: Sequence[int]) -> Fraction:
        """Return h(v) of a column of integers in rational arithmetic."""
        return min(part.exact_support(column) for part in self.parts)

    def exact_worst_mean(self, column: Sequence[int]) -> tuple[Fraction, tuple[Fraction, ...]]:
        """Return h(v) of a column of integers and a prior that attains it, in rational arithmetic."""
        return min((part.exact_worst_mean(column) for part in self.parts), key=lambda found: found[0])

    def contains(self, prior: Sequence[object]) -> bool:
        """Return whether a prior lies in one of the sets, or is a mixture of such priors to within 1e-9."""
        exact = self.as_prior(prior)
        return any(part.contains(exact) for part in self.parts) or (len(self.parts) > 1 and self.nearly_contains(exact))

    def support_rows(self) -> SupportRows:
        """Return the support function as linear rows: those of all sets, each of which bounds the first variable.

        Auxiliary variables: z, then those w of each set, with ``z <= w_0``.
        """
        from scipy.sparse import block_array, block_diag, coo_array, csr_array

        rows = [part.support_rows() for part in self.parts]
        if len(rows) == 1:
            return rows[0]
        K = len(rows)
        sizes = [each.auxiliary.shape[1] for each in rows]
        firsts = np.cumsum([0, *sizes[:-1]])
        below = coo_array((np.ones(K), (np.arange(K), firsts)), shape=(K, sum(sizes)))
        stacked = block_diag([each.auxiliary for each in rows])
        auxiliary = block_array([[None, stacked], [coo_array(-np.ones((K, 1))), below]])
        columns = block_array([[each.columns] for each in rows] + [[coo_array((K, self.size))]])
        return SupportRows(csr_array(columns), csr_array(auxiliary))


def _named(sets: object, names: Iterable[object] | None) -> tuple[tuple[UncertaintySet, ...], tuple[str, ...]]:
    """Return the sets and their names."""
    if isinstance(sets, Mapping):
        if names is not None:
            raise InputError.needless_argument("names are given beside a mapping, which names the sets; leave them out")
        members, given = tuple(sets.values()), tuple(sets)
    elif isinstance(sets, Sequence) and not isinstance(sets, str):
        members = tuple(sets)
        given = default_labels(len(members), "g") if names is None else tuple(names)
    else:
        raise InputError.wrong_type(f"the sets are {shorten(sets)}; give {_SHAPES}")
    if not 0 < len(members) <= _MOST_SETS:
        raise InputError.too_many_given(f"there are {len(members)} sets; give 1 to {_MOST_SETS}")
    return members, canonical_labels(given, len(members))


def _check_member(member: UncertaintySet, name: str, first: UncertaintySet) -> None:
    """Refuse what is no set of priors on the categories of the first set, or is made of other sets."""
    check_kind(member, UncertaintySet, f"the set {shorten(name)}", "an L1Ball, a ConvexHull or another set of priors")
    check_about_data(member, "a union of sets")
    if isinstance(member, ProductSet | Union):
        raise InputError.set_not_accepted(
            f"the set {shorten(name)} is a {type(member).__name__}, which is made of other sets; give the sets of a "
            "union one by one, and the product of unions in place of a union of products"
        )
    if member.exact_set is not member:
        raise InputError.ball_leaves_simplex(
            f"the set {shorten(name)} is {shorten(member)}, which may reach outside the simplex; give its exact_set"
        )
    if member.labels != first.labels:
        raise InputError.labels_differ(
            f"the set {shorten(name)} has the labels {some_labels(member.labels)}, and the first set "
            f"{some_labels(first.labels)}; give all sets the same labels in the same order"
        )


def _as_balls(members: Sequence[UncertaintySet], names: Sequence[str]) -> list[L1Ball]:
    balls = []
    for member, name in zip(members, names, strict=True):
        if member.l1_ball is None:
            raise InputError.set_not_accepted(
                f"the set {shorten(name)} is a {type(member).__name__}; a cover is for L1Balls, so leave it out, or "
                "give an L1Ball that holds this set"
            )
        balls.append(member.l1_ball)
    return balls


def _check_cover(cover: L1Ball, members: Sequence[UncertaintySet], names: Sequence[str]) -> None:
    """Refuse a cover that is not shown to hold every set."""
    if cover.labels != members[0].labels or cover.exact_set is not cover:
        raise InputError.labels_differ(
            f"the cover is {shorten(cover)} with the labels {some_labels(cover.labels)}; give a ball within the "
            f"simplex with those of the sets, {some_labels(members[0].labels)}"
        )
    for ball, name in zip(_as_balls(members, names), names, strict=True):
        reach = radius_around(ball, cover.center)
        if cover.radius < reach:
            raise GuaranteeError.cover_too_small(
                f"the cover has radius {float(cover.radius):.12g}, and the set {shorten(name)} reaches "
                f"{float(reach):.12g} away from its center; the cover does not hold the set"
            )


def _mixed(members: Sequence[UncertaintySet], weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Return the mixture of the reference priors by the weights."""
    denominators = (q.denominator for numbers in (weights, *(member.center for member in members)) for q in numbers)
    check_common_denominator(denominators, "the estimates of all sets", _MOST_DIGITS)
    columns = zip(*(member.center for member in members), strict=True)
    return tuple(
        sum((weight * q for weight, q in zip(weights, column, strict=True)), Fraction(0)) for column in columns
    )
