"""Which rows of a matrix of whole numbers are combinations of others, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpz_mat, nmod_mat

from mechdesign.numerics.exact import over_common_denominator

_PRIME = 2**63 - 25
_MOST = 300  # distinct rows, and rank, beyond which elimination takes a minute

Row = Sequence[int]


@dataclass(frozen=True)
class RowRelations:
    """All linear relations among the rows of a matrix A, shape (N, M).

    Attributes
    ----------
    size : int
        N.
    independent : tuple of int
        Rows that are a basis of the row space.
    relations : tuple of dicts from int to int
        A basis of all y with ``y A = 0``: for each other row one y, which is 0 at all other rows that are not in the
        basis. A dict holds the entries that are not 0.
    """

    size: int
    independent: tuple[int, ...]
    relations: tuple[dict[int, int], ...]

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The finest partition of the rows such that the relations are sums of relations within its parts.

        Examples
        --------
        >>> row_relations([[1, 0, 3], [5, 5, 5], [1, 0, 3]]).groups
        ((0, 2), (1,))
        """
        part = list(range(self.size))
        for relation in self.relations:
            joined = {part[i] for i in relation}
            part = [min(joined) if p in joined else p for p in part]
        return tuple(tuple(i for i in range(self.size) if part[i] == p) for p in sorted(set(part)))

    def spans(self, vector: Sequence[Fraction]) -> bool:
        """Return whether a vector, shape (N,), is a combination of the columns of A.

        It is where every relation among the rows of A holds among its entries too.
        """
        whole, _ = over_common_denominator(vector)
        return all(sum(y * whole[i] for i, y in relation.items()) == 0 for relation in self.relations)


def row_relations(rows: Sequence[Row]) -> RowRelations | None:
    """Return the relations among rows; None if there are some, and so many rows that finding them takes minutes.

    The rank modulo a prime is never above the rank. So rows that are independent modulo a prime are independent; every
    relation is computed in whole numbers from columns that are independent modulo a prime, and checked in all columns.

    Parameters
    ----------
    rows : sequence of N sequences of M int
        A.

    Examples
    --------
    >>> found = row_relations([[1, 0, 3], [0, 1, 3], [1, 1, 6]])
    >>> found.independent, found.relations
    ((0, 1), ({2: 1, 0: -1, 1: -1},))
    >>> found.spans([Fraction(1), Fraction(0), Fraction(1)]), found.spans([Fraction(1), Fraction(0), Fraction(0)])
    (True, False)
    """
    first: dict[tuple[int, ...], int] = {}
    equal = []
    for i, row in enumerate(map(tuple, rows)):
        if first.setdefault(row, i) != i:
            equal.append({i: 1, first[row]: -1})
    places = list(first.values())
    distinct = list(first)
    modular = nmod_mat(len(distinct), len(distinct[0]), [x % _PRIME for row in distinct for x in row], _PRIME)
    echelon, rank = modular.rref()
    if rank == len(distinct):
        return RowRelations(len(rows), tuple(places), tuple(equal))
    if min(rank, len(distinct)) > _MOST:
        return None
    whole = fmpz_mat(distinct)
    columns = _pivots(echelon, rank)
    while True:
        reduced, scale, rank = fmpz_mat([[row[j] for row in distinct] for j in columns]).rref()
        pivots = _pivots(reduced, rank)
        others = [i for i in range(len(distinct)) if i not in set(pivots)]
        found = [{i: int(scale)} | {p: -int(reduced[k, i]) for k, p in enumerate(pivots)} for i in others]
        broken = _broken(found, whole)
        if broken is None:
            break
        columns.append(broken)
    relations = [{places[i]: y for i, y in relation.items() if y} for relation in found]
    return RowRelations(len(rows), tuple(places[p] for p in pivots), tuple(equal + relations))


def _pivots(echelon: nmod_mat | fmpz_mat, rank: int) -> list[int]:
    """Return the columns of the first entries of the rows of a reduced matrix."""
    pivots: list[int] = []
    column = 0
    for row in range(rank):
        while echelon[row, column] == 0:
            column += 1
        pivots.append(column)
    return pivots


def _broken(relations: list[dict[int, int]], rows: fmpz_mat) -> int | None:
    """Return a column in which a relation among rows does not hold; None if all hold everywhere."""
    if not relations:
        return None
    dense = fmpz_mat([[relation.get(i, 0) for i in range(rows.nrows())] for relation in relations])
    for row in (dense * rows).table():
        for column, entry in enumerate(row):
            if entry != 0:
                return column
    return None
