"""Kinds of linear queries of a `Workload` that are given by exact numbers: weights, scores, a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from mechdesign.data.fields import MOST_SYMBOLS
from mechdesign.data.labelled import Labels, order, own_labels, some_labels, vector
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import Floats, entries
from mechdesign.numerics.exact import plain_text, rational
from mechdesign.utility.exact_rows import exact_rows
from mechdesign.utility.queries import Queries

_LEAST, _LARGEST = Fraction(1, 10**100), Fraction(10**100)  # squares of queries are added up in floats
_MOST_BITS = 2_980  # of a numerator or denominator, about 900 digits: the text of a ratio fits a file


@dataclass(frozen=True, repr=False, eq=False)
class _Numbers(Queries):
    """Queries given by exact numbers: rows with an entry for each category, and labels of the categories or None."""

    exact: tuple[tuple[Fraction, ...], ...]
    columns: Labels | None = None
    wanted: ClassVar[str]

    @property
    def labels(self) -> tuple[str, ...] | None:
        """Labels of a mapping, series or data frame; None without them."""
        return own_labels(self.columns)

    @property
    def floats(self) -> Floats:
        """The floats nearest to the numbers."""
        return np.array([[float(x) for x in row] for row in self.exact])

    def check_size(self, size: int) -> None:
        """Refuse another number of categories than there are entries in a row."""
        if len(self.exact[0]) != size:
            given = "1 category" if len(self.exact[0]) == 1 else f"{len(self.exact[0])} categories"
            raise InputError.wrong_size(
                f"the workload has {self.wanted} for {given}, and there are {size}; give one for each category"
            )

    def aligned_with(self, labels: Sequence[str] | None) -> Queries:
        """Return the queries with an entry for each label, in their order; the result itself has no labels."""
        if self.columns is None or labels is None:
            return self
        places = order(self.columns, labels, f"the {self.wanted} of the workload")
        if places is None:
            return type(self)(self.exact)
        return type(self)(tuple(tuple(row[place] for place in places) for row in self.exact))

    def count(self, size: int) -> int:  # noqa: ARG002 - known from the numbers
        """Return the number of rows."""
        return len(self.exact)

    def rows(self, size: int) -> Floats:  # noqa: ARG002 - known from the numbers
        """Return the floats nearest to the numbers."""
        return self.floats

    def vector_as_text(self) -> list[str] | dict[str, str]:
        """Return the only row as text, by label where there are labels."""
        texts = [plain_text(x) for x in self.exact[0]]
        return texts if self.labels is None else dict(zip(self.labels, texts, strict=True))

    def __eq__(self, other: object) -> bool:
        same_kind = type(self) is type(other) and isinstance(other, _Numbers)
        return same_kind and (self.exact, self.labels) == (other.exact, other.labels)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((self.key, self.exact))


class Weights(_Numbers):
    """The frequency of every category, with a weight for each squared error."""

    key = constructor = "weights"
    wanted = "weights"

    @staticmethod
    def of(weights: object) -> Weights:
        """Return the queries, after checking the weights."""
        exact, labels, given = _vector(weights, "weights", "the weight")
        for place, weight in enumerate(exact):
            if weight < 0:
                raise InputError.out_of_range(
                    f"{_which('the weight', labels, place)} is {shorten(given[place])}; accepted: 0, or 1e-100 to 1e100"
                )
        if not any(exact):
            raise InputError.nothing_to_estimate(
                f"all {len(exact)} weights of the workload are 0, so that nothing is estimated; give one above 0"
            )
        return Weights((exact,), labels)

    def check_size(self, size: int) -> None:
        """Refuse another number of categories than weights, and a single category."""
        super().check_size(size)
        Queries.check_size(self, size)

    @property
    def is_symmetric(self) -> bool:
        """Whether all weights are equal."""
        return len(set(self.exact[0])) == 1

    def count(self, size: int) -> int:
        """Return N."""
        return size

    def rows(self, size: int) -> Floats:  # noqa: ARG002 - known from the weights
        """Return the square roots of the floats nearest to the weights, on the diagonal."""
        return np.diag(np.sqrt(self.floats[0]))

    def table(self) -> dict[str, Any]:
        """Return the table with the weights."""
        return {"weights": self.vector_as_text()}

    def in_words(self) -> str:
        """Return what is estimated."""
        return "the frequency of every category, with weights"


class Mean(_Numbers):
    """The mean of scores."""

    key, constructor = "scores", "mean"
    wanted = "scores"

    @staticmethod
    def of(scores: object) -> Mean:
        """Return the query, after checking the scores."""
        exact, labels, given = _vector(scores, "scores", "the score")
        made = Mean((exact,), labels)
        if _constant(made.floats):
            raise InputError.nothing_to_estimate(
                f"all {len(exact)} scores of the workload are {shorten(given[0])}, so that their mean is known without "
                "data; give scores that differ"
            )
        return made

    def table(self) -> dict[str, Any]:
        """Return the table with the scores."""
        return {"scores": self.vector_as_text()}

    def in_words(self) -> str:
        """Return what is estimated."""
        return "the mean of scores"


class QueryMatrix(_Numbers):
    """Queries of the user's own."""

    key = constructor = "matrix"
    wanted = "columns"

    @staticmethod
    def of(matrix: object) -> QueryMatrix:
        """Return the queries, after checking the matrix."""
        name = "the matrix of the workload"
        if getattr(matrix, "ndim", 2) != 2:
            raise InputError.wrong_size(
                f"{name} has shape {getattr(matrix, 'shape', '')}; accepted: (q, N), a row for each query"
            )
        given, exact, labels = exact_rows(matrix, name)
        for w, row in enumerate(exact):
            for i, x in enumerate(row):
                _check_range(x, given[w][i], f"entry ({w + 1}, {i + 1}) of {name}")
        made = QueryMatrix(exact, labels)
        if _constant(made.floats):
            raise InputError.nothing_to_estimate(
                f"{name} has equal entries in every row ({shorten(given[0])}), so that all answers are known without "
                "data; give a row with entries that differ"
            )
        return made

    def table(self) -> dict[str, Any]:
        """Return the table with the matrix; InputError while its columns have labels, which the table cannot hold."""
        if self.labels is not None:
            raise InputError.labels_differ(
                f"the matrix of the workload has labelled columns ({some_labels(self.labels)}); align it with the "
                "labels of a problem first (`aligned_with`)"
            )
        return {"matrix": [[plain_text(x) for x in row] for row in self.exact]}

    def __repr__(self) -> str:
        return f"matrix({self.floats.tolist()})"

    def in_words(self) -> str:
        """Return what is estimated."""
        return f"{len(self.exact)} linear queries"


def _constant(rows: Floats) -> bool:
    """Return whether every row is a multiple of (1, ..., 1), whose answer is known without data."""
    return bool((rows == rows[:, :1]).all())


def _check_range(x: Fraction, given: object, name: str) -> None:
    long = max(x.numerator.bit_length(), x.denominator.bit_length()) > _MOST_BITS
    if long or (x and not _LEAST <= abs(x) <= _LARGEST):
        raise InputError.out_of_range(
            f"{name} is {shorten(given)}; accepted: 0, or 1e-100 to 1e100 in size, of at most 900 digits"
        )


def _which(what: str, labels: Labels | None, place: int) -> str:
    return f"{what} of category {place + 1 if labels is None else shorten(labels[place], 40)}"


def _vector(value: Any, name: str, one: str) -> tuple[tuple[Fraction, ...], Labels | None, list[Any]]:
    """Return a number for each category, exact, its labels or None, and the numbers as they were given."""
    accepted = "a list with a number for each category, or a mapping from labels to numbers"
    if getattr(value, "ndim", 1) != 1:
        raise InputError.wrong_size(f"the {name} of the workload have shape {value.shape}; accepted: {accepted}")
    found = vector(value, f"the {name} of the workload")
    given = entries(found.values, f"the argument of {name}", accepted)
    if not 0 < len(given) <= MOST_SYMBOLS:
        raise InputError.wrong_size(
            f"the workload has {len(given)} {name}; accepted: 1 to {MOST_SYMBOLS}, one for each category"
        )
    exact = []
    for place, entry in enumerate(given):
        where = _which(one, found.labels, place)
        exact.append(rational(entry, where))
        _check_range(exact[-1], entry, where)
    return tuple(exact), found.labels, given
