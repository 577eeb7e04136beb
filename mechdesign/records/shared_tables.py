"""Whether the tables of views contradict each other: attributes that two views show have one law in the population.

Sets of priors of views that share attributes S say something of one law, that of S. Where the views were counted in the
same records their estimates of it are equal, exactly. Where they were counted in different ones the estimates differ,
but the sets must have a law of S in common: else no joint law has views in all sets, and the promise is for nobody.
The laws of S that views in an l1 ball of radius r have lie within r of the estimate, as sums of parts are no farther
apart than the parts. So estimates farther apart than both radii together contradict each other. Of other sets, such as
limits of probabilities or laws by group, single cells are compared: if one set gives a cell less at most than the other
gives it at least, no law is in both.

Tables that agree on all that they share two by two may still belong to no joint law: `joint_existence` looks for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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
        The distance above which no joint law lies in the sets of both; None where they are not two l1 balls.
    labels : tuple of str
        The cell in which they differ most.
    probabilities : tuple of Fraction
        Its probability in each.
    limits : tuple of Fraction, optional
        Where a set is not an l1 ball and no law is in both: what one of them gives this cell at most, and the other at
        least.
    """

    attributes: tuple[str, ...]
    views: tuple[str, str]
    distance: Fraction
    allowed: Fraction | None
    labels: tuple[str, ...]
    probabilities: tuple[Fraction, Fraction]
    limits: tuple[Fraction, Fraction] | None = None

    @property
    def contradicts(self) -> bool:
        """Whether no joint law has both views in their sets."""
        return self.limits is not None or (self.allowed is not None and self.distance > self.allowed)

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
        if self.limits is None:
            sets = f"their sets allow {text_near(self.allowed or 0, 4)}"
        else:
            most, least = (text_near(limit, 6) for limit in self.limits)
            sets = f"one set gives this cell at most {most}, the other at least {least}"
        return (
            f"no joint law has the tables of the views {shorten(self.views[0])} and {shorten(self.views[1])}: "
            f"{self.in_words()}, and {sets}, so the promise is for nobody; count all views in the same records"
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
    found: dict[frozenset[object], _Told] = {}
    every: list[_Told] = []
    for name, attributes, known in views:
        if set(shown) <= set(attributes):
            cells = _cells(shown, attributes, known)
            told = _Told(name, _margin(cells, known), known, cells)
            every.append(told)
            key = frozenset(told.margin.items())
            there = found.get(key)
            if there is None or (told.radius is not None and (there.radius is None or told.radius < there.radius)):
                found[key] = told
    listed = list(found.values())
    pairs = list(combinations(listed, 2)) or [(listed[0], listed[0])]
    farthest = max((_compared(shown, *pair) for pair in pairs), key=lambda one: (one.contradicts, one.distance))
    return farthest if farthest.contradicts else _parted(shown, every) or farthest


@dataclass(frozen=True)
class _Told:
    """What a view says of a table: its estimate, its set, and the cell of the table in which each of its labels is."""

    name: str
    margin: Margin
    known: UncertaintySet
    cells: Sequence[tuple[str, ...]]

    @property
    def radius(self) -> Fraction | None:
        """The radius of its set; None if that is not an l1 ball."""
        return None if self.known.l1_ball is None else self.known.l1_ball.radius

    def least(self, cell: tuple[str, ...]) -> Fraction:
        """Return what its set gives a cell at least."""
        return self.known.exact_support([int(own == cell) for own in self.cells])

    def most(self, cell: tuple[str, ...]) -> Fraction:
        """Return what its set gives a cell at most."""
        return 1 - self.known.exact_support([int(own != cell) for own in self.cells])


def _compared(shown: tuple[str, ...], one: _Told, other: _Told) -> SharedTable:
    p, q, zero = one.margin, other.margin, Fraction(0)
    cells = list(dict.fromkeys([*p, *q]))
    away = {cell: abs(p.get(cell, zero) - q.get(cell, zero)) for cell in cells}
    worst = max(cells, key=away.__getitem__)
    allowed = None if one.radius is None or other.radius is None else one.radius + other.radius
    masses = (p.get(worst, zero), q.get(worst, zero))
    return SharedTable(shown, (one.name, other.name), sum(away.values(), zero), allowed, worst, masses)


def _parted(shown: tuple[str, ...], views: Sequence[_Told]) -> SharedTable | None:
    """Return two views, of which one gives a cell less at most than the other at least; None if there are none.

    Where all sets are l1 balls their radii say more.
    """
    told = [view for view in views if view.known.limits_entries]  # else means are those of a secret
    if all(view.radius is not None for view in told):
        return None
    for cell in dict.fromkeys(cell for view in told for cell in view.cells):
        low, high = min(told, key=lambda view: view.most(cell)), max(told, key=lambda view: view.least(cell))
        limits = (low.most(cell), high.least(cell))
        if limits[0] < limits[1]:
            masses = (low.margin.get(cell, Fraction(0)), high.margin.get(cell, Fraction(0)))
            return replace(_compared(shown, low, high), labels=cell, probabilities=masses, limits=limits)
    return None


def _cells(shown: tuple[str, ...], attributes: Sequence[str], known: UncertaintySet) -> list[tuple[str, ...]]:
    """Return the cell of a table in which each label of a view is."""
    places = [list(attributes).index(name) for name in shown]
    rows = (split(label, len(attributes)) for label in known.labels)
    return [tuple(row[place] for place in places) for row in rows]


def _margin(cells: Sequence[tuple[str, ...]], known: UncertaintySet) -> Margin:
    """Return the estimate of a table, by its cells; those of no mass are left out."""
    found: dict[tuple[str, ...], Fraction] = {}
    for cell, mass in zip(cells, known.center, strict=True):
        if mass:
            found[cell] = found.get(cell, Fraction(0)) + mass
    return found
