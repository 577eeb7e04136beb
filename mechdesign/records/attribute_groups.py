"""The best partition of attributes into groups, each of which is one view.

A group of attributes that is designed for all its one-way tables together is never worse than a draw among its
attributes, where the law of the group is known: that draw is a mechanism of the group too. With the error E(G) of group
G the least error of a partition is ``(sum over its groups of sqrt(E(G)))^2``, so that the best partition has the least
sum of roots. It is found exactly, over all partitions into groups whose error is given, by dynamic programming over the
sets of attributes: the group of the first attribute that is left is one of those that are given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import rational
from mechdesign.optimize.estimation.caps import best_caps, bound_of_caps, greatest_entries
from mechdesign.records.record_sample import MOST_CELLS, RecordSample
from mechdesign.records.views_of_records import Unseen
from mechdesign.uncertainty import L1Ball
from mechdesign.uncertainty.evidence import check_one_way
from mechdesign.utility import Workload

_MOST_ATTRIBUTES = 20
_LEAST = 1e-6  # by which exp(epsilon) is above 1 at least

Group = tuple[str, ...]


def best_partition(attributes: Sequence[str], errors: Mapping[Group, float]) -> tuple[Group, ...]:
    """Return the partition into groups of the least error.

    Parameters
    ----------
    attributes : sequence of str
        At most 20.
    errors : mapping from groups, tuples of attributes in any order, to E
        Only these groups are used; those of single attributes must be among them.

    Raises
    ------
    InputError
        For an attribute without an error of its own, or a group of other attributes.
    LimitError
        For more than 20 attributes.

    Examples
    --------
    >>> best_partition(["sex", "salary", "race"], {("sex",): 1, ("salary",): 1, ("race",): 4, ("sex", "salary"): 3})
    (('sex', 'salary'), ('race',))
    """
    if len(attributes) > _MOST_ATTRIBUTES:
        raise LimitError.too_much_work(
            f"the best partition of {len(attributes)} attributes is asked for; accepted: at most {_MOST_ATTRIBUTES}; "
            "name the groups"
        )
    places = {name: place for place, name in enumerate(attributes)}
    choices: list[list[tuple[int, float, Group]]] = [[] for _ in attributes]
    for group, error in errors.items():
        for name in group:
            if name not in places:
                raise InputError.unknown_choice(f"the group {shorten(group)} holds {shorten(name)}, no attribute")
        members = sorted({places[name] for name in group})
        mask = sum(1 << place for place in members)
        choices[members[0]].append((mask, math.sqrt(error), tuple(attributes[place] for place in members)))
    for name, found in zip(attributes, choices, strict=True):
        if not any(len(group) == 1 for _, _, group in found):
            raise InputError.missing_argument(f"there is no error of the attribute {shorten(name)} alone; give it")
    everything = (1 << len(attributes)) - 1
    best: dict[int, tuple[float, int, Group]] = {everything: (0.0, 0, ())}
    for covered in range(everything - 1, -1, -1):
        first = next(place for place in range(len(attributes)) if not covered >> place & 1)
        best[covered] = min(
            (root + best[covered | mask][0], covered | mask, group)
            for mask, root, group in choices[first]
            if not mask & covered
        )
    partition, covered = [], 0
    while covered != everything:
        _, covered, group = best[covered]
        partition.append(group)
    return tuple(partition)


def group_choices(attributes: int, most_columns: int = 3) -> int:
    """Return how many groups `best_groups` chooses from: all of so many attributes, up to a size.

    Examples
    --------
    >>> group_choices(8)
    92
    """
    return sum(math.comb(attributes, size) for size in range(1, most_columns + 1))


def best_groups(
    sample: RecordSample,
    epsilon: object,
    *,
    delta: object = None,
    known: bool = False,
    unseen: Unseen = "keep",
    most_columns: int = 3,
    most_cells: int = 60,
) -> tuple[Group, ...]:
    """Return the partition of the columns of a sample into groups of about the least error.

    The error of each group is taken to be its event bound (`mechdesign.estimation_bound`), which most designs attain
    within a few percent: a fraction of a second for all groups, where designs would take minutes. For a ball of radius
    r around the counts epsilon is lessened to ``log(e / (1 + e r/2))``, the room that the ball leaves to a column with
    an entry 0.

    Parameters
    ----------
    sample : RecordSample
        The records.
    epsilon : number or str
        As for `mechdesign.design_records`.
    delta, known
        As there. Counts that choose groups find those likely whose counts mislead, so that delta is divided among all
        groups that may be chosen: give `group_choices` to `mechdesign.design_records` too (``choices``), or choose by
        other records than those that are counted.
    unseen : str
        As for `views_of`.
    most_columns, most_cells : int
        Of a group of two columns or more. Designs of 60 cells take a quarter of a minute, of 80 some two minutes.

    Returns
    -------
    tuple of tuples of str

    Raises
    ------
    InputError
        Unless one of delta and known is given.

    Examples
    --------
    >>> records = {"sex": ["f", "m"] * 50, "wife": ["y", "n", "n", "n"] * 25, "town": ["a"] * 40 + ["b"] * 60}
    >>> best_groups(RecordSample.of(records), 1, known=True, unseen="impossible")
    (('sex', 'wife', 'town'),)
    """
    given = Epsilon.of(epsilon)
    check_one_way({"delta": delta, "known": known}, "delta=, or known=True")
    names = list(sample.alphabets)
    part = None if delta is None else rational(delta, "delta") / group_choices(len(names), most_columns)
    errors = {}
    for size in range(1, most_columns + 1):
        for group in combinations(names, size):
            if size > 1 and math.prod(len(sample.alphabets[name]) for name in group) > MOST_CELLS:
                continue
            counts = sample.counts(group).ravel()
            kept = counts > 0 if known or (unseen == "impossible" and size > 1) else counts >= 0
            if size == 1 or kept.sum() <= most_cells:
                of_group = Workload.marginals(sample.shape(group)) if size > 1 else Workload.frequencies()
                errors[group] = _quick(counts[kept].tolist(), of_group.queries(counts.size)[:, kept], given, part)
    return best_partition(names, errors)


def _quick(counts: Sequence[int], queries: Floats, epsilon: Epsilon, delta: Fraction | None) -> float:
    """Return the event bound of a group, with epsilon lessened by the radius of its ball."""
    ball = L1Ball.from_counts(counts, delta=delta, known=delta is None)
    e, radius = float(epsilon.exp_up), float(ball.radius)
    limits = greatest_entries(ball.prior, max(e / (1 + e * radius / 2), 1 + _LEAST))
    return bound_of_caps(best_caps(ball.prior, limits, queries), ball.prior, limits, queries)
