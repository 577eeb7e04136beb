"""The tables of views that overlap: all that have the shared marginals in common, as an affine space.

The table of a view is the law of what it shows, a number for each of its cells. Tables of one joint law agree on what
views share: the table of sex and salary and the table of sex and race have the same marginal of sex. All tables of all
views, one after another, are a vector t. The vectors that sum to 1 in each view and agree on each set of attributes
that two views share are the solutions of linear equations, ``t = origin + basis y``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InputError, LimitError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.tolerances import RANK

MOST_CELLS = 4_000
_AGREE = 1e-9  # of tables that exist, in what the equations leave


@dataclass(frozen=True, eq=False)
class ViewCells:
    """What a view shows, in numbers.

    Attributes
    ----------
    attributes : tuple of int
        The positions of its attributes in the record.
    cells : int array, shape (N, attributes)
        The combination of values that each input of its mechanism stands for. A combination that is missing is
        impossible.
    """

    attributes: tuple[int, ...]
    cells: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.cells)

    def codes(self, attributes: Sequence[int], sizes: Sequence[int]) -> NDArray[np.intp]:
        """Return the cell of a marginal in which each cell of the view lies, in the order of the attributes."""
        columns = [self.cells[:, self.attributes.index(each)] for each in attributes]
        found: NDArray[np.intp] = np.ravel_multi_index(columns, [sizes[each] for each in attributes])
        return found


@dataclass(frozen=True, eq=False)
class TableSpace:
    """The tables of views that agree on what views share.

    Parameters
    ----------
    sizes : tuple of int
        How many values each attribute has.
    views : tuple of ViewCells
        The views.

    Raises
    ------
    InputError
        If no tables agree: a value that one view has is impossible in another, for all values.
    LimitError
        If the tables have more than 4,000 cells together.

    Examples
    --------
    >>> pairs = [ViewCells(pair, np.indices((2, 2)).reshape(2, -1).T) for pair in ((0, 1), (0, 2), (1, 2))]
    >>> TableSpace((2, 2, 2), tuple(pairs)).basis.shape  # three single tables and three interactions
    (12, 6)
    """

    sizes: tuple[int, ...]
    views: tuple[ViewCells, ...]

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where the table of each view begins among all cells, and last the number of all cells."""
        return tuple(np.cumsum([0, *map(len, self.views)]).tolist())

    def part(self, view: int) -> slice:
        """Return the cells of a view among all cells."""
        return slice(self.starts[view], self.starts[view + 1])

    @cached_property
    def _solved(self) -> tuple[Floats, Floats]:
        if self.starts[-1] > MOST_CELLS:
            raise LimitError.too_much_work(
                f"the tables of the views that overlap have {self.starts[-1]:,} cells together; accepted: "
                f"{MOST_CELLS:,}, so give fewer or smaller views"
            )
        rows, sums = self._equations()
        left, values, right = np.linalg.svd(rows.T)
        rank = int((values > RANK * values[0]).sum())
        origin = left[:, :rank] @ ((right[:rank] @ sums) / values[:rank])
        if np.abs(rows @ origin - sums).max() > _AGREE:
            raise InputError.labels_differ(
                "the views have no tables in common: what one of them shows is impossible by another; give the views "
                "the same values of each attribute"
            )
        return origin, left[:, rank:]

    @property
    def origin(self) -> Floats:
        """Tables that agree, perhaps with negative numbers, shape (cells,)."""
        return self._solved[0]

    @property
    def basis(self) -> Floats:
        """How tables that agree differ: orthonormal columns, shape (cells, dimension)."""
        return self._solved[1]

    @cached_property
    def possible(self) -> NDArray[np.bool_]:
        """Which cells no other view makes impossible, shape (cells,)."""
        result = np.ones(self.starts[-1], dtype=bool)
        lost = True
        while lost:
            before = int(result.sum())
            for shared in self._shared:
                held = [np.zeros(self.size_of(shared), dtype=bool) for _ in self._holders(shared)]
                for there, (view, codes) in zip(held, self._holders(shared), strict=True):
                    there[codes[result[self.part(view)]]] = True
                everywhere = np.all(held, axis=0)
                for view, codes in self._holders(shared):
                    result[self.part(view)] &= everywhere[codes]
            lost = int(result.sum()) < before
        return result

    def size_of(self, attributes: Sequence[int]) -> int:
        """Return how many cells a marginal has."""
        return math.prod(self.sizes[each] for each in attributes)

    def _holders(self, attributes: tuple[int, ...]) -> list[tuple[int, NDArray[np.intp]]]:
        """Return the views that show some attributes, and where each of their cells lies in the marginal."""
        views = [view for view, each in enumerate(self.views) if set(attributes) <= set(each.attributes)]
        return [(view, self.views[view].codes(attributes, self.sizes)) for view in views]

    def _equations(self) -> tuple[Floats, Floats]:
        """Return the rows, and what they sum to, of: each table sums to 1, and views agree on what they share.

        A cell that is impossible by another view is 0.
        """
        rows = np.zeros((len(self.views), self.starts[-1]))
        for view in range(len(self.views)):
            rows[view, self.part(view)] = 1.0
        zeros = np.eye(self.starts[-1])[~self.possible]
        blocks, sums = [rows, zeros], [np.ones(len(self.views)), np.zeros(len(zeros))]
        for shared in self._shared:
            (first, _), *others = self._holders(shared)
            here = self.sums(shared, first)
            for other, _ in others:
                blocks.append((here - self.sums(shared, other)).T)
                sums.append(np.zeros(here.shape[1]))
        return np.concatenate(blocks), np.concatenate(sums)

    @cached_property
    def _shared(self) -> list[tuple[int, ...]]:
        """The sets of attributes that two views share."""
        sets = [frozenset(each.attributes) for each in self.views]
        found = {tuple(sorted(one & other)) for one, other in combinations(sets, 2)} - {()}
        return sorted(found, key=lambda shared: (len(shared), shared))

    def holder(self, attributes: Sequence[int]) -> int:
        """Return the smallest of the views that show all these attributes, the first of several; there is one."""
        holders = [view for view, each in enumerate(self.views) if set(attributes) <= set(each.attributes)]
        return min(holders, key=lambda view: len(self.views[view].attributes))

    def sums(self, attributes: Sequence[int], view: int) -> Floats:
        """Return which cells of a view a marginal adds up, shape (cells, cells of the marginal), entries 0 and 1."""
        result = np.zeros((self.starts[-1], self.size_of(attributes)))
        codes = self.views[view].codes(attributes, self.sizes)
        result[self.starts[view] + np.arange(len(codes)), codes] = 1.0
        return result
