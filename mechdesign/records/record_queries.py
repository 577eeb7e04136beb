"""The queries of views as queries over records, for the bound of all mechanisms.

Combinations that a view leaves out are impossible. Attributes that such views tie together become one attribute, whose
values are the combinations that every view has: the records in which every combination of these values is possible are
exactly those that no view rules out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from mechdesign.errors import LimitError
from mechdesign.numerics.arrays import Floats
from mechdesign.records.product_measures import Places, RecordQueries, ViewQueries
from mechdesign.records.record_views import split

_MOST_TIED = 200_000  # combinations that are looked through for tied attributes

Labels = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ShownCells:
    """What a view shows, and asks.

    Attributes
    ----------
    attributes : tuple of str
        Its columns.
    labels : tuple of str
        Of its cells: labels, or combinations of them.
    law : array, shape (n,)
        The law of the cells.
    workload : array, shape (q, n)
        The queries, each times the root of what its squared error counts.
    """

    attributes: Labels
    labels: Labels
    law: Floats
    workload: Floats

    @property
    def cells(self) -> dict[Labels, int]:
        """The number of the cell of each combination."""
        return {split(label, len(self.attributes)): cell for cell, label in enumerate(self.labels)}


@dataclass(frozen=True)
class TiedAttributes:
    """Attributes that count as one, and the combinations of their labels that are possible."""

    names: Labels
    combinations: tuple[Labels, ...]


def queries_of(views: Sequence[ShownCells]) -> tuple[RecordQueries, tuple[TiedAttributes, ...]]:
    """Return the queries over records, and the attributes as they are counted there.

    Raises
    ------
    LimitError
        If attributes that are tied together have more than 200,000 combinations, or the views too many cells.

    Examples
    --------
    >>> two = np.array([0.5, 0.5])
    >>> sex = ShownCells(("sex",), ("f", "m"), two, np.eye(2))
    >>> both = ShownCells(("sex", "pregnant"), ("f & yes", "f & no", "m & no"), np.full(3, 1 / 3), np.eye(3))
    >>> queries, tied = queries_of([sex, both])
    >>> queries.sizes, tied[0].combinations
    ((3,), (('f', 'yes'), ('f', 'no'), ('m', 'no')))
    """
    values = _values(views)
    cells = [view.cells for view in views]
    groups = _tied(views, values)
    tied = tuple(_possible(group, values, list(zip(views, cells, strict=True))) for group in groups)
    places = {name: place for place, one in enumerate(tied) for name in one.names}
    found = []
    for view, numbers in zip(views, cells, strict=True):
        shown = tuple(sorted({places[name] for name in view.attributes}))
        found.append(ViewQueries(shown, _numbers(view, numbers, [tied[one] for one in shown]), view.law, view.workload))
    return RecordQueries(tuple(len(one.combinations) for one in tied), tuple(found)), tied


def _values(views: Sequence[ShownCells]) -> dict[str, Labels]:
    """Return the labels of each attribute, in the order in which views have them."""
    found: dict[str, dict[str, None]] = {}
    for view in views:
        for combination in view.cells:
            for name, label in zip(view.attributes, combination, strict=True):
                found.setdefault(name, {}).setdefault(label)
    return {name: tuple(labels) for name, labels in found.items()}


def _tied(views: Sequence[ShownCells], values: Mapping[str, Labels]) -> list[Labels]:
    """Return attributes in groups; those of a view that leaves combinations out are in one."""
    group: dict[str, Labels] = {name: (name,) for name in values}
    for view in views:
        if len(view.labels) < math.prod(len(values[name]) for name in view.attributes):
            joined = tuple(dict.fromkeys(name for shown in view.attributes for name in group[shown]))
            group.update(dict.fromkeys(joined, joined))
    return list(dict.fromkeys(group.values()))


def _possible(
    names: Labels, values: Mapping[str, Labels], views: Sequence[tuple[ShownCells, Mapping[Labels, int]]]
) -> TiedAttributes:
    """Return the combinations of tied attributes that every view within them has."""
    count = math.prod(len(values[name]) for name in names)
    if count > _MOST_TIED:
        raise LimitError.too_much_work(
            f"{' and '.join(names)} are tied by impossible combinations and have {count} combinations; accepted for a "
            f"bound: at most {_MOST_TIED}"
        )
    within = [
        ([names.index(name) for name in view.attributes], cells)
        for view, cells in views
        if set(view.attributes) <= set(names)
    ]
    return TiedAttributes(
        names,
        tuple(
            combination
            for combination in product(*(values[name] for name in names))
            if all(tuple(combination[place] for place in places) in cells for places, cells in within)
        ),
    )


def _numbers(view: ShownCells, cells: Mapping[Labels, int], tied: Sequence[TiedAttributes]) -> Places:
    """Return the cell of a view for each combination of values of tied attributes, an axis for each."""
    result = np.empty([len(one.combinations) for one in tied], dtype=np.int64)
    where = [
        next((place, one.names.index(name)) for place, one in enumerate(tied) if name in one.names)
        for name in view.attributes
    ]
    for position in np.ndindex(result.shape):
        label = tuple(tied[place].combinations[position[place]][inner] for place, inner in where)
        result[position] = cells[label]
    return result
