"""Views of a mechanism of whole records in parts that share no attribute, each with the tables that it determines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.records.record_mechanism import RecordMechanism
from mechdesign.records.record_parts import RecordPart
from mechdesign.records.record_views import split
from mechdesign.records.table_space import TableSpace, ViewCells


@dataclass(frozen=True, eq=False)
class WantedTable:
    """A table that is estimated.

    Attributes
    ----------
    attributes : tuple of str
        Whose values.
    cells : tuple of tuples of str
        The possible combinations.
    sums : array, shape (cells of all views, cells of the table)
        Which cells of a view it adds up, entries 0 and 1.
    """

    attributes: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    sums: Floats


@dataclass(frozen=True, eq=False)
class TiedViews:
    """Views each of which shares an attribute with another one of them; or a view that shares none.

    Attributes
    ----------
    parts : tuple of RecordPart
        The views.
    places : tuple of int
        Their places among the views of the mechanism.
    alphabets : mapping
        The labels of each attribute of the mechanism.
    """

    parts: tuple[RecordPart, ...]
    places: tuple[int, ...]
    alphabets: Mapping[str, tuple[str, ...]]

    @cached_property
    def space(self) -> TableSpace:
        """Their tables."""
        order = {name: place for place, name in enumerate(self.alphabets)}
        codes = {name: {label: code for code, label in enumerate(them)} for name, them in self.alphabets.items()}
        found = []
        for part in self.parts:
            rows = [split(label, len(part.attributes)) for label in part.mechanism.inputs]
            cells = [[codes[name][label] for name, label in zip(part.attributes, row, strict=True)] for row in rows]
            found.append(ViewCells(tuple(order[name] for name in part.attributes), np.array(cells, dtype=np.intp)))
        return TableSpace(tuple(map(len, self.alphabets.values())), tuple(found))

    @cached_property
    def tables(self) -> tuple[WantedTable, ...]:
        """The tables of one attribute, of each pair in a view, and of each view."""
        found: dict[frozenset[str], tuple[str, ...]] = {}
        for part in self.parts:
            pairs = [some for ways in (1, 2) for some in combinations(part.attributes, ways)]
            for attributes in [*pairs, part.attributes]:
                found.setdefault(frozenset(attributes), attributes)
        return tuple(map(self._table, found.values()))

    @cached_property
    def sums(self) -> Floats:
        """Those of all tables, side by side."""
        return np.concatenate([table.sums for table in self.tables], axis=1)

    def _table(self, attributes: tuple[str, ...]) -> WantedTable:
        order, space = list(self.alphabets), self.space
        numbers = [order.index(name) for name in attributes]
        sums = space.sums(numbers, space.holder(numbers)) * space.possible[:, None]
        there = np.flatnonzero(sums.any(axis=0))
        values = np.transpose(np.unravel_index(there, [space.sizes[each] for each in numbers])).tolist()
        labels = [self.alphabets[name] for name in attributes]
        cells = tuple(tuple(own[code] for own, code in zip(labels, row, strict=True)) for row in values)
        return WantedTable(attributes, cells, sums[:, there])


def tied_views(mechanism: RecordMechanism) -> tuple[TiedViews, ...]:
    """Return the views in the finest parts of which no two share an attribute, in the order of the views.

    Views of windows are left out; they share no attribute with another, and have no table.
    """
    parts = mechanism.parts
    found: list[tuple[set[str], list[int]]] = []
    for place, part in [(place, part) for place, part in enumerate(parts) if not part.is_open]:
        names, here = set(part.attributes), [place]
        for other in [other for other in found if other[0] & names]:
            names, here = names | other[0], other[1] + here
            found.remove(other)
        found.append((names, sorted(here)))
    return tuple(
        TiedViews(tuple(parts[place] for place in here), tuple(here), mechanism.alphabets)
        for _, here in sorted(found, key=lambda each: each[1])
    )
