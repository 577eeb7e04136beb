"""A problem of tables: the same categories in and out, a promise, constraints, and what is made as good as possible."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.data.labelled import aligned_rows, some_labels
from mechdesign.data.labels import canonical_label, canonical_labels
from mechdesign.errors import InputError, shorten
from mechdesign.mechanism import Guarantee
from mechdesign.mechanism.table_claims import TableConstraints
from mechdesign.numerics.exact import rational
from mechdesign.optimize.effective_epsilon import effective_exp_epsilon
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.base import check_about_data, check_set
from mechdesign.uncertainty.sides import Sides
from mechdesign.utility.exact_rows import exact_rows

MOST_CATEGORIES = 300  # of a program of 2 N^2 variables


@dataclass(frozen=True, eq=False)
class TableProblem:
    """Publish a column with the same categories: the best square matrix with a promise and constraints.

    Parameters
    ----------
    uncertainty : UncertaintySet
        The priors for which the promise must hold. Its reference prior P is that of the file that is published.
    epsilon : number, str or Sides
        Privacy parameter in nats, as in `DesignProblem`.
    invariant : bool
        Whether ``sum_x P_x K_xy = P_y``: the expected counts of the published file are those of the file.
    floors : number, or mapping from label to number, optional
        The least share of the records of a category that stay unchanged: one for all, or for some.
    forbidden : iterable of pairs of labels, optional
        Pairs (from, to) that never occur. With invariance other pairs may follow, which are forbidden too: if a
        category is never published as another one, no other one is published as it.
    loss : matrix of N rows of N numbers, optional
        The loss where category x is published as y; its mean is made as small as possible. Without it the expected
        share of unchanged records is made as great as possible.
    cap : number or str, optional
        The level of local differential privacy that is promised besides, as in `DesignProblem`.

    Raises
    ------
    InputError
        For a category without records, epsilon = 0, a promise about a secret, more than 300 categories, floors outside
        0 to 1, pairs that are not two labels, a loss of another size, or forbidden pairs under local differential
        privacy, where a report that rules one category out rules out all.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> problem = TableProblem(L1Ball([0.5, 0.3, 0.2]), 1, floors=0.2, forbidden=[("x1", "x3")])
    >>> problem.constraints.floors[0], problem.constraints.forbidden
    (Fraction(1, 5), frozenset({(0, 2)}))
    """

    uncertainty: UncertaintySet
    sides: Sides
    constraints: TableConstraints
    loss: tuple[tuple[Fraction, ...], ...] | None

    def __init__(
        self,
        uncertainty: UncertaintySet,
        epsilon: object,
        *,
        invariant: bool = True,
        floors: object = None,
        forbidden: Iterable[Sequence[object]] | None = None,
        loss: Any = None,
        cap: object = None,
    ) -> None:
        check_set(uncertainty)
        check_about_data(uncertainty, "a table")
        known, sides = uncertainty.exact_set, Sides(epsilon, cap=cap)
        _check(known, sides)
        pairs, shares = _pairs(forbidden, known.labels), _floors(floors, known.labels)
        if pairs and (sides.cap is not None or known.holds_every_prior):
            raise InputError.constraints_infeasible(
                f"{len(pairs)} pairs are forbidden under local differential privacy, where no report rules a category "
                "out; leave the pairs or the cap out, or give a smaller radius"
            )
        # A floor of 1 leaves nothing else to the category.
        whole = {x for x, floor in enumerate(shares) if floor == 1}
        pairs |= frozenset((x, y) for x in whole for y in range(known.size) if x != y)
        constraints = TableConstraints(shares, bool(invariant), _one_way(pairs, known.size) if invariant else pairs)
        object.__setattr__(self, "uncertainty", known)
        object.__setattr__(self, "sides", sides)
        object.__setattr__(self, "constraints", constraints)
        object.__setattr__(self, "loss", None if loss is None else _loss(loss, known.labels))

    @property
    def guarantee(self) -> Guarantee:
        """The promise of its tables."""
        return Guarantee(self.sides, self.uncertainty)

    @property
    def size(self) -> int:
        """Number N of categories."""
        return self.uncertainty.size

    @property
    def labels(self) -> tuple[str, ...]:
        """The categories."""
        return self.uncertainty.labels

    @property
    def exp_epsilon(self) -> float:
        """The exp(epsilon) of its columns, rounded up: the least one that allows all columns, if epsilon is larger."""
        return effective_exp_epsilon(DesignProblem(self.uncertainty, self.sides))

    @property
    def is_transport(self) -> bool:
        """Whether the promise is ``K_xy <= e P_y``: invariance, one prior, and nothing promised from below."""
        return self.constraints.invariant and self.sides.below is None and self.uncertainty.is_one_prior

    def gain(self, x: int, y: int) -> Fraction:
        """Return what is gained where category x is published as y: 1 if nothing changes, or minus the loss."""
        return Fraction(x == y) if self.loss is None else -self.loss[x][y]


def _check(known: UncertaintySet, sides: Sides) -> None:
    if known.size > MOST_CATEGORIES:
        raise InputError.too_many_given(
            f"there are {known.size} categories; accepted: at most {MOST_CATEGORIES}; merge rare ones"
        )
    if 0 in known.center:
        raise InputError.never_occurs(
            f"the category {shorten(known.labels[known.center.index(Fraction(0))])} has no records, and no table "
            "publishes it; leave it out"
        )
    if sides.only_constant:
        raise InputError.epsilon_out_of_range(
            f"{sides.in_words} leaves a table whose rows are all the same; give numbers above 0"
        )


def _floors(given: object, labels: Sequence[str]) -> tuple[Fraction, ...]:
    """Return the floor of each category: one number for all, or a mapping for some."""
    if given is None:
        return (Fraction(0),) * len(labels)
    named: Mapping[str, object] = dict.fromkeys(labels)
    if isinstance(given, Mapping):
        named = dict(zip(canonical_labels(given, len(given)), given.values(), strict=True))
    unknown = [name for name in named if name not in labels]
    if unknown:
        raise InputError.unknown_label(
            f"a floor is given for {shorten(unknown[0])}; the categories are {some_labels(labels)}"
        )
    found = []
    for label in labels:
        floor = rational(given if named.get(label, 0) is None else named.get(label, 0), f"the floor of {label}")
        if not 0 <= floor <= 1:
            raise InputError.out_of_range(
                f"the floor of {shorten(label)} is {float(floor):.9g}; accepted: from 0 to 1, a share of its records"
            )
        found.append(floor)
    return tuple(found)


def _pairs(given: Iterable[Sequence[object]] | None, labels: Sequence[str]) -> frozenset[tuple[int, int]]:
    """Return forbidden pairs as places of labels."""
    places, found = {label: place for place, label in enumerate(labels)}, set()
    for pair in () if given is None else given:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise InputError.wrong_type(f"a forbidden pair is {shorten(pair)}; give two labels: from, to")
        ends = tuple(map(canonical_label, pair))
        for end in ends:
            if end not in places:
                raise InputError.unknown_label(
                    f"a forbidden pair names {shorten(end)}; the categories are {some_labels(labels)}"
                )
        if ends[0] == ends[1]:
            raise InputError.conflicting_arguments(
                f"the pair {shorten(ends)} forbids that a category stays what it is; give two different labels"
            )
        found.add((places[ends[0]], places[ends[1]]))
    return frozenset(found)


def _one_way(pairs: frozenset[tuple[int, int]], size: int) -> frozenset[tuple[int, int]]:
    """Return pairs, and those that no invariant table has besides: category x becomes y, and no way leads back to x.

    An invariant table is a chain whose stationary distribution is positive: what leaves a class of categories that lead
    to each other never comes back, so nothing leaves it. All other pairs occur in some invariant table: along a cycle.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    allowed = csr_array([[int((x, y) not in pairs) for y in range(size)] for x in range(size)])
    _, component = connected_components(allowed, directed=True, connection="strong")
    return pairs | {(x, y) for x in range(size) for y in range(size) if component[x] != component[y]}


def _loss(given: Any, labels: Sequence[str]) -> tuple[tuple[Fraction, ...], ...]:
    rows = exact_rows(aligned_rows(given, labels, "the loss"), "the loss").exact
    if len(rows) != len(labels) or len(rows[0]) != len(labels):
        raise InputError.wrong_size(
            f"the loss has {len(rows)} rows of {len(rows[0])} numbers; accepted: {len(labels)} of each"
        )
    return rows
