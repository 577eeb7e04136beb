"""Whether the tables of views contradict each other: attributes that two views show have one law in the population.

Sets of priors of views that share attributes S say something of one law, that of S. Where the views were counted in the
same records their estimates of it are equal, exactly. Where they were counted in different ones the estimates differ,
but the sets must have a law of S in common: else no joint law has views in all sets, and the promise is for nobody.
The laws of S that views in an l1 ball of radius r have lie within r of the estimate, as sums of parts are no farther
apart than the parts. So estimates farther apart than both radii together contradict each other.

Tables that agree on all that they share two by two may still belong to no joint law: `joint_existence` looks for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from mechdesign.display.numbers import text_near
from mechdesign.errors import shorten
from mechdesign.records.record_views import split
from mechdesign.uncertainty import UncertaintySet

Margin = Mapping[tuple[str, ...], Fraction]


@dataclass(frozen=True)
class SharedTable:
    """The table that several views share, and the two of them whose estimates of it are farthest apart.

    Attributes
    ----------
    attributes : tuple of str
        Whose table it is.
    views : tuple of str
        The names of the two views.
    distance : Fraction
        The l1 distance of their estimates of the table; 0 where all views agree exactly.
    allowed : Fraction or None
        The distance above which no joint law lies in the sets of both; None where the sets are no l1 balls.
    labels : tuple of str
        The cell in which they differ most.
    probabilities : tuple of Fraction
        Its probability in each.
    """

    attributes: tuple[str, ...]
    views: tuple[str, str]
    distance: Fraction
    allowed: Fraction | None
    labels: tuple[str, ...]
    probabilities: tuple[Fraction, Fraction]

    @property
    def contradicts(self) -> bool:
        """Whether no joint law has both views in their sets."""
        return self.allowed is not None and self.distance > self.allowed

    def in_words(self) -> str:
        """Return where the two views differ most."""
        cell = " and ".join(
            f"{name} {shorten(label)}" for name, label in zip(self.attributes, self.labels, strict=True)
        )
        told = zip(self.views, self.probabilities, strict=True)
        shown = " and ".join(f"{text_near(p, 6)} in {shorten(view)}" for view, p in told)
        return f"{cell} has {shown} (l1 distance {text_near(self.distance, 4)})"

    def contradiction(self) -> str:
        """Return what is wrong where the views contradict each other."""
        return (
            f"no joint law has the tables of the views {shorten(self.views[0])} and {shorten(self.views[1])}: "
            f"{self.in_words()}, and their sets allow {text_near(self.allowed or 0, 4)}, so the promise is for nobody; "
            "count all views in the same records"
        )


def shared_tables(views: Iterable[tuple[str, Sequence[str], UncertaintySet]]) -> tuple[SharedTable, ...]:
    """Return the tables that views share, each with the two views that differ most on it; empty where none share any.

    Parameters
    ----------
    views : iterable of (name, attributes, set of priors)
        The labels of each set are those of the view. Views for every prior have no estimate and are left out.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> pair = L1Ball.from_counts({"f & low": 3, "f & high": 1, "m & low": 2, "m & high": 4}, known=True)
    >>> sexes = L1Ball.from_counts({"f": 5, "m": 5}, known=True)
    >>> (found,) = shared_tables([("sex+salary", ("sex", "salary"), pair), ("sex", ("sex",), sexes)])
    >>> found.attributes, str(found.distance), found.contradicts
    (('sex',), '1/5', True)
    """
    told = [view for view in views if not view[2].holds_every_prior]
    wanted: dict[frozenset[str], tuple[str, ...]] = {}
    for (_, first, _), (_, second, _) in combinations(told, 2):
        if both := tuple(name for name in first if name in second):
            wanted.setdefault(frozenset(both), both)
    return tuple(_farthest(shown, told) for shown in wanted.values())


def _farthest(shown: tuple[str, ...], views: Sequence[tuple[str, Sequence[str], UncertaintySet]]) -> SharedTable:
    """Return the two views that differ most on a table; of views that agree on it the one whose set allows least."""
    found: dict[frozenset[object], tuple[str, Margin, Fraction | None]] = {}
    for name, attributes, known in views:
        if set(shown) <= set(attributes):
            margin = _margin(shown, attributes, known)
            radius = None if known.l1_ball is None else known.l1_ball.radius
            key = frozenset(margin.items())
            there = found.get(key)
            if there is None or (radius is not None and (there[2] is None or radius < there[2])):
                found[key] = (name, margin, radius)
    listed = list(found.values())
    pairs = list(combinations(listed, 2)) or [(listed[0], listed[0])]
    return max((_compared(shown, *pair) for pair in pairs), key=lambda one: (one.contradicts, one.distance))


def _compared(
    shown: tuple[str, ...], one: tuple[str, Margin, Fraction | None], other: tuple[str, Margin, Fraction | None]
) -> SharedTable:
    (first, p, r), (second, q, s) = one, other
    zero = Fraction(0)
    cells = list(dict.fromkeys([*p, *q]))
    away = {cell: abs(p.get(cell, zero) - q.get(cell, zero)) for cell in cells}
    worst = max(cells, key=away.__getitem__)
    allowed = None if r is None or s is None else r + s
    masses = (p.get(worst, zero), q.get(worst, zero))
    return SharedTable(shown, (first, second), sum(away.values(), zero), allowed, worst, masses)


def _margin(shown: tuple[str, ...], attributes: Sequence[str], known: UncertaintySet) -> Margin:
    """Return the estimate of a table, by the labels of its cells; cells of no mass are left out."""
    places = [list(attributes).index(name) for name in shown]
    found: dict[tuple[str, ...], Fraction] = {}
    for label, mass in zip(known.labels, known.center, strict=True):
        if mass:
            labels = split(label, len(attributes))
            cell = tuple(labels[place] for place in places)
            found[cell] = found.get(cell, Fraction(0)) + mass
    return found
