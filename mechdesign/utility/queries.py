"""Kinds of linear queries of a `Workload` that are told by a name, sizes or labels; and what all kinds share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar, cast

import numpy as np

from mechdesign.data.fields import MOST_SYMBOLS
from mechdesign.data.labelled import some_labels
from mechdesign.data.labels import canonical_labels
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import Floats, entries


class Queries(ABC):
    """Linear queries of one kind.

    Attributes
    ----------
    key : str
        The key of a table that tells the kind.
    constructor : str
        The method of `Workload` that makes them.
    """

    key: ClassVar[str]
    constructor: ClassVar[str]

    @property
    def is_symmetric(self) -> bool:
        """Whether renaming the categories never changes the objective."""
        return False

    @property
    def labels(self) -> tuple[str, ...] | None:
        """Labels of a mapping, series or data frame, by which it is aligned with categories; None without them."""
        return None

    def check_size(self, size: int) -> None:
        """Refuse categories that the queries are not defined on, or on which all answers are known without data."""
        if size < 2:
            raise InputError.nothing_to_estimate(
                f"there is {size} category, so that every frequency is known without data; give at least 2 categories"
            )

    def aligned_with(self, labels: Sequence[str] | None) -> Queries:  # noqa: ARG002 - most have no labels
        """Return the queries on categories with these labels, in their order."""
        return self

    @abstractmethod
    def count(self, size: int) -> int:
        """Return the number of queries."""

    @abstractmethod
    def rows(self, size: int) -> Floats:
        """Return the matrix, a row for each query, shape (q, N), after `check_size` and `aligned_with`."""

    @abstractmethod
    def table(self) -> dict[str, Any]:
        """Return the table of files."""

    @abstractmethod
    def in_words(self) -> str:
        """Return what is estimated, in a few words."""

    def __repr__(self) -> str:
        given = dict(self.table())
        first = [repr(value) for value in [given.pop(self.key)] if self.key != "name"]
        return f"{self.constructor}({', '.join(first + [f'{key}={value!r}' for key, value in given.items()])})"


class _Named(Queries):
    """Queries without parameters."""

    key = "name"

    def table(self) -> dict[str, Any]:
        """Return the table with the name."""
        return {"name": self.constructor}


@dataclass(frozen=True, repr=False)
class Frequencies(_Named):
    """The frequency of every category."""

    constructor = "frequencies"

    @property
    def is_symmetric(self) -> bool:
        """True: all categories count the same."""
        return True

    def count(self, size: int) -> int:
        """Return N."""
        return size

    def rows(self, size: int) -> Floats:
        """Return the identity."""
        return np.eye(size)

    def in_words(self) -> str:
        """Return what is estimated."""
        return "the frequency of every category"


@dataclass(frozen=True, repr=False)
class PrefixSums(_Named):
    """The N - 1 cumulative frequencies that are not known to be 1."""

    constructor = "prefix"

    def count(self, size: int) -> int:
        """Return N - 1."""
        return size - 1

    def rows(self, size: int) -> Floats:
        """Return ones on and below the diagonal, without the last row."""
        return np.tri(size - 1, size)

    def in_words(self) -> str:
        """Return what is estimated."""
        return "the cumulative frequencies, in the order of the categories"


@dataclass(frozen=True, repr=False)
class Marginals(Queries):
    """The marginal tables of some number of attributes, whose combinations are the categories."""

    key = constructor = "marginals"
    sizes: tuple[int, ...]
    ways: int = 1

    @staticmethod
    def of(sizes: object, ways: object) -> Marginals:
        """Return the queries, after checking sizes and ways."""
        accepted = "whole numbers from 2, one for each attribute"
        found = entries(sizes, "the argument of marginals", accepted)
        if not found or not all(_whole(size) and size >= 2 for size in found):
            raise InputError.bad_workload(f"the sizes of marginals are {shorten(found)}; accepted: {accepted}")
        if len(found) > MOST_SYMBOLS or math.prod(map(int, found)) > MOST_SYMBOLS:
            raise InputError.too_many_given(
                f"marginals of {len(found)} attributes of sizes {shorten(found)} have more than {MOST_SYMBOLS} "
                f"categories; accepted: at most {MOST_SYMBOLS}; give fewer attributes or values"
            )
        if not _whole(ways) or not 1 <= cast("int", ways) <= len(found):
            raise InputError.not_a_whole_number(
                f"ways is {shorten(ways)}; accepted: a whole number from 1 to {len(found)}, the number of attributes"
            )
        return Marginals(tuple(map(int, found)), int(cast("int", ways)))

    def check_size(self, size: int) -> None:
        """Refuse a number of categories that is not the product of the sizes."""
        if math.prod(self.sizes) != size:
            shown = " x ".join(map(str, self.sizes))
            raise InputError.wrong_size(
                f"marginals of attributes of sizes {shown} have {math.prod(self.sizes)} categories for {size} "
                f"categories; give sizes whose product is {size}"
            )

    def count(self, size: int) -> int:  # noqa: ARG002 - known from the sizes
        """Return the number of cells of all tables."""
        return sum(map(math.prod, combinations(self.sizes, self.ways)))

    def rows(self, size: int) -> Floats:  # noqa: ARG002 - known from the sizes
        """Return a row for each cell; attributes and values in their order, the last one fastest."""
        places = range(len(self.sizes))
        tables: list[Floats] = []
        for kept in combinations(places, self.ways):
            cells: Floats = np.ones((1, 1))
            for place in places:
                cells = np.asarray(np.kron(cells, self._part(place, kept)), dtype=float)
            tables.append(cells)
        return np.vstack(tables)

    def _part(self, place: int, kept: tuple[int, ...]) -> Floats:
        """Return what picks every value of an attribute that a table has, and adds up the values of others."""
        size = self.sizes[place]
        return np.eye(size) if place in kept else np.ones((1, size))

    def table(self) -> dict[str, Any]:
        """Return the table with sizes, and ways other than 1."""
        return {"marginals": list(self.sizes)} | ({"ways": self.ways} if self.ways != 1 else {})

    def in_words(self) -> str:
        """Return what is estimated."""
        return f"all {self.ways}-way marginals of attributes of sizes {' x '.join(map(str, self.sizes))}"


@dataclass(frozen=True, repr=False)
class SomeSymbols(Queries):
    """The frequencies of some categories."""

    key = constructor = "symbols"
    chosen: tuple[str, ...]
    alphabet: tuple[str, ...] | None = field(default=None, compare=False)

    @staticmethod
    def of(labels: object) -> SomeSymbols:
        """Return the queries, after checking the labels."""
        accepted = "a list of labels"
        if isinstance(labels, str):
            raise InputError.wrong_type(
                f"the categories of the workload are {shorten(labels)}, one string; give {accepted}"
            )
        found = entries(labels, "the argument of symbols", accepted)
        if not found:
            raise InputError.nothing_given("the workload has 0 categories; give the label of at least one")
        if len(found) > MOST_SYMBOLS:
            raise InputError.too_many_given(
                f"the workload has {len(found)} categories; accepted: at most {MOST_SYMBOLS}"
            )
        try:
            return SomeSymbols(canonical_labels(found, len(found)))
        except InputError as error:
            raise error.reworded(f"the categories of the workload: {error}") from None

    def aligned_with(self, labels: Sequence[str] | None) -> SomeSymbols:
        """Return the queries for categories with these labels, which must contain the categories."""
        if labels is None:
            return self
        known = set(labels)
        for label in self.chosen:
            if label not in known:
                raise InputError.unknown_label(
                    f"the workload has the category {shorten(label)}, which is not a label; "
                    f"accepted: {some_labels(labels)}"
                )
        return SomeSymbols(self.chosen, tuple(labels))

    def count(self, size: int) -> int:  # noqa: ARG002 - known from the labels
        """Return the number of chosen categories."""
        return len(self.chosen)

    def rows(self, size: int) -> Floats:
        """Return a row of the identity for each category, in the order in which they were given."""
        if self.alphabet is None:
            raise InputError.missing_argument(
                f"the workload names categories ({some_labels(self.chosen)}), and the labels of the {size} categories "
                "are not known; give the labels, or a matrix"
            )
        if len(self.alphabet) != size:
            raise InputError.wrong_size(
                f"there are {len(self.alphabet)} labels for {size} categories; give one label a category"
            )
        places = {label: place for place, label in enumerate(self.alphabet)}
        picked: Floats = np.zeros((len(self.chosen), size))
        picked[np.arange(len(self.chosen)), [places[label] for label in self.chosen]] = 1.0
        return picked

    def table(self) -> dict[str, Any]:
        """Return the table with the labels."""
        return {"symbols": list(self.chosen)}

    def in_words(self) -> str:
        """Return what is estimated."""
        return f"the frequencies of {some_labels(self.chosen)}"


NAMED: dict[str, Queries] = {kind.constructor: kind for kind in (Frequencies(), PrefixSums())}


def _whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
