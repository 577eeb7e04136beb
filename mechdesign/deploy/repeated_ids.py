"""Several rows about the same id: permanent reports of them are one report, and other values are said to be others.

What reports about several values of one id leak together is computed too.

A table of ids is kept in memory: some 200 bytes an id.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.alphabet import Codes
from mechdesign.data.checks import whole_number
from mechdesign.data.ids import Ids
from mechdesign.errors import InputError
from mechdesign.mechanism.mechanism import check_mechanism
from mechdesign.mechanism.reporting import Deployed
from mechdesign.numerics.exact import float_up

MOST_IDS = 1 << 21
"""Ids of one file of records that are compared with each other; those after them are not."""


class IdsSeen:
    """Which ids came before, row by row, and with which value or report.

    Parameters
    ----------
    most : int, optional
        How many ids are kept; further ones are taken for new.

    Attributes
    ----------
    repeated : int
        Number of rows about an id that came before.
    changed : set
        Ids with more than one value.

    Examples
    --------
    >>> seen = IdsSeen()
    >>> seen.first([b"ann", b"bob", b"ann"], np.array([0, 1, 1])).tolist(), seen.repeated, len(seen.changed)
    ([True, True, False], 1, 1)
    """

    def __init__(self, most: int | None = None) -> None:
        self.repeated = 0
        self.changed: set[Hashable] = set()
        self._most = most
        self._codes: dict[Hashable, Hashable] = {}

    @property
    def are_all(self) -> bool:
        """Whether there were no more ids than are kept."""
        return self._most is None or len(self._codes) < self._most

    def first(self, ids: Iterable[Hashable], codes: Codes) -> NDArray[np.bool_]:
        """Return which rows are the first about their id."""
        known, new = self._codes, np.ones(len(codes), dtype=bool)
        values: Iterable[Hashable] = codes.tolist() if codes.ndim == 1 else map(bytes, codes)  # of several attributes
        for row, (name, code) in enumerate(zip(ids, values, strict=True)):
            before = known.get(name)
            if before is not None:
                new[row] = False
                if before != code:
                    self.changed.add(name)
            elif self.are_all:
                known[name] = code
        self.repeated += len(codes) - int(new.sum())
        return new


@dataclass(frozen=True)
class FirstReports:
    """Lets the first report about each id count, in each group: the others tell nothing new, or are about other times.

    Reports about an id whose value does not change are one report, however often they are written. Counted as many they
    make errors too small. Which of several different reports counts does not depend on them, but on their order alone.

    Attributes
    ----------
    column : str
        The column of ids: a name, or without a header an index.
    seen : IdsSeen
        The ids so far; ``repeated`` reports are not counted.
    part : tuple
        What the rows of a part have in common: the values of its folders by which reports are grouped.
    """

    column: str
    seen: IdsSeen = field(default_factory=IdsSeen, compare=False)
    part: tuple[Any, ...] = ()

    def rows(self, ids: Ids, codes: Codes, groups: Sequence[Any]) -> NDArray[np.bool_]:
        """Return which rows of a batch count: its ids, its reports, and its group columns as pyarrow arrays."""
        names: Iterable[Hashable] = ids.texts(0, len(ids))
        if self.part or groups:
            keys = [[None if key == "" else key for key in column.to_pylist()] for column in groups]
            names = [(self.part, *row) for row in zip(names, *keys, strict=True)]
        return self.seen.first(names, codes)


@dataclass(frozen=True)
class PrivatizedFile:
    """What `privatize_file` did.

    Attributes
    ----------
    records : int
        Number of records reported.
    repeated : int
        With ids, the number of records about an id that came before; among the first 2,097,152 ids.
    changed : int
        With ids, how many of these ids have more than one value in the file. Permanent reports about several values of
        an id leak more than one report (`leakage_of_values`).
    """

    records: int
    repeated: int = 0
    changed: int = 0


def leakage_of_values(mechanism: Deployed, values: int) -> float | None:
    """Return a bound on what all permanent reports about one id leak, by how many different values it has had.

    Permanent reports (`Mechanism.privatize` with a key) about a value that does not change leak what one report does,
    whatever their number. Each further value of the same id is one more report.

    Parameters
    ----------
    mechanism : Mechanism or WindowMechanism
        What reports are drawn from, under one key and one attribute.
    values : int
        How many different values the id has had, from 1 to the number of inputs; a value that comes back counts once.

    Returns
    -------
    float or None
        In nats, rounded up. For one value it is the leakage of the mechanism over its set of priors. For more it is
        ``values`` times the level of local differential privacy of the mechanism: a bound on the leakage about all
        values together, for every joint prior of them, to somebody who knows *when* the value differed. **When** it
        differed is not protected: two reports that differ tell for certain that their values do. None if there is no
        bound: an output rules a value out (probability 0), so that two reports about values that depend on each other
        may leak without bound, as those of optimal mechanisms often do.

    Raises
    ------
    InputError
        For a number of values that the mechanism cannot have.

    See Also
    --------
    Mechanism.repeated : several *independent* reports about one value: under several keys, or several draws without a
        key. It is no bound for different values, which may depend on each other in any way.

    Examples
    --------
    >>> import numpy as np
    >>> from mechdesign import Guarantee, L1Ball, Mechanism
    >>> promise = Guarantee("log(3)", L1Ball([0.5, 0.5], radius=2))
    >>> warner = Mechanism(np.array([[3, 1], [1, 3]]), 2, promise)
    >>> [round(leakage_of_values(warner, values), 6) for values in (1, 2)]
    [1.098612, 2.197225]
    >>> one_out = Mechanism(np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]]), 1, Guarantee(1, L1Ball(["1/3"] * 3)))
    >>> print(leakage_of_values(one_out, 2))
    None
    """
    check_mechanism(mechanism, deployed=True)
    if whole_number(values, "the number of values", 1) > len(mechanism.inputs):
        raise InputError.out_of_range(
            f"the number of values is {values}; accepted: at most {len(mechanism.inputs)}, as many as there are inputs"
        )
    level: Fraction | None = Fraction(mechanism.leakage) if values == 1 else mechanism.level
    return None if level is None else float_up(values * level)
