"""Vectors and matrices that carry labels of their own, such as those of pandas: aligned by these labels, or refused.

Neither pandas nor polars is imported. A table has ``columns`` (and ``index``, in pandas), a series has ``index``, a
mapping has keys. An axis that pandas numbers by itself (a RangeIndex from 0), or polars names by itself (``column_0``),
counts as an axis without labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from mechdesign.data.labels import canonical_labels, default_labels
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import entries

_SHOWN = 5  # labels in a message


class Labels(tuple[str, ...]):
    """Labels of an axis, in its order."""

    __slots__ = ()


class Numbers(Labels):
    """The numbers from 0 that a package gives to an axis without labels, as text."""

    __slots__ = ()


class Vector(NamedTuple):
    """Values, and their labels or None."""

    values: Any
    labels: Labels | None


class Table(NamedTuple):
    """Values, and the labels of rows and of columns, or None."""

    values: Any
    rows: Labels | None
    columns: Labels | None


def vector(value: Any, name: str) -> Vector:
    """Return the values and labels of a mapping or series; every other object is taken as values without labels.

    Raises
    ------
    InputError
        If a label is not accepted, or occurs twice.

    Examples
    --------
    >>> vector({"a": 0.4, "b": 0.6}, "the prior")
    Vector(values=[0.4, 0.6], labels=('a', 'b'))
    """
    if isinstance(value, Mapping):
        return Vector(list(value.values()), _labels(list(value), name))
    if _is_series(value):
        return Vector(value.to_numpy(dtype=object).tolist(), _labels_of_index(value.index, name))
    return Vector(value, None)


def table(value: Any, name: str) -> Table:
    """Return the values of a data frame, as an array of objects, and its labels.

    Every other object is taken as values without labels.

    Raises
    ------
    InputError
        If a label is not accepted, or occurs twice.
    """
    if not is_table(value):
        return Table(value, None, None)
    index = getattr(value, "index", None)
    rows = None if index is None else _labels_of_index(index, f"rows of {name}")
    columns = _labels_of_index(value.columns, f"columns of {name}")
    values = value.to_numpy() if index is None else value.to_numpy(dtype=object)
    return Table(np.asarray(values).astype(object), rows, columns)


def order(given: Labels | None, wanted: Sequence[str] | None, name: str) -> list[int] | None:
    """Return the positions of the labels wanted among those given; None where one side has no labels.

    Raises
    ------
    InputError
        If the labels differ, or are numbers that may be labels or positions.

    Examples
    --------
    >>> order(Labels(["b", "a"]), ["a", "b"], "the prior")
    [1, 0]
    """
    if given is None or wanted is None or isinstance(wanted, Numbers):
        return None
    if isinstance(given, Numbers):
        if tuple(given) != tuple(wanted) and set(given) == set(wanted):
            raise InputError.ambiguous_labels(
                f"{name} are numbered from 0, and the labels are these numbers in another order "
                f"({some_labels(wanted)}), so that they may be labels or positions; give the labels as text, or values "
                "without an index"
            )
        return None
    places = {label: place for place, label in enumerate(given)}
    if set(places) != set(wanted):
        raise InputError.labels_differ(
            f"{name}: the labels are {some_labels(given)}; accepted: {some_labels(wanted)}, in any order, or values "
            "without labels"
        )
    return [places[label] for label in wanted]


def aligned_vector(value: Any, labels: Sequence[str] | None, name: str) -> Any:
    """Return the values of a vector in the order of labels; a vector without labels as it is.

    Examples
    --------
    >>> aligned_vector({"b": 0.6, "a": 0.4}, ["a", "b"], "the prior")
    [0.4, 0.6]
    """
    found = vector(value, name)
    places = order(found.labels, labels, name)
    return found.values if places is None else [found.values[place] for place in places]


def aligned_rows(value: Any, labels: Sequence[str] | None, name: str) -> Any:
    """Return the values of a matrix, its rows in the order of labels; a matrix without labels as it is."""
    found = table(value, name)
    places = order(found.rows, labels, f"rows of {name}")
    return found.values if places is None else found.values[places]


def together(matrix: Any, prior: Any) -> tuple[Any, Any, Labels | None]:
    """Return a matrix and a prior, or several, without labels, after aligning them with each other by their labels.

    The labels of the matrix come first, then those of the prior; they are returned, or None.

    Raises
    ------
    InputError
        If both have labels that differ.
    """
    if isinstance(matrix, np.ndarray) and isinstance(prior, np.ndarray):  # searches ask with arrays, without labels
        return matrix, prior, None
    rows = own_labels(table(matrix, "the matrix").rows)
    if is_table(prior) or (isinstance(prior, list | tuple) and any(_has_labels(one) for one in prior)):
        priors = vectors(prior, "the priors")
        known = rows or labels_of_vectors(priors)
        values: Any = [list(aligned_vector(one, known, f"prior {k + 1}")) for k, one in enumerate(priors)]
    else:
        known = rows or own_labels(vector(prior, "the prior").labels)
        values = aligned_vector(prior, known, "the prior")
    return aligned_rows(matrix, known, "the matrix"), values, known


def vectors(value: Any, name: str) -> list[Any]:
    """Return the rows of a data frame, as mappings from the labels of its columns; every other object as a list."""
    found = table(value, name)
    if own_labels(found.columns) is None:
        return entries(found.values, name, "a list of priors")
    return [dict(zip(found.columns or (), row, strict=True)) for row in found.values.tolist()]


def labels_of_vectors(values: Sequence[Any]) -> Labels | None:
    """Return the labels of the first vector that has labels; None if no vector has."""
    found = (own_labels(vector(one, f"prior {k + 1}").labels) for k, one in enumerate(values))
    return next((labels for labels in found if labels is not None), None)


def own_labels(labels: Labels | None) -> Labels | None:
    """Return labels that the user gave; None for numbers that a package gave."""
    return None if isinstance(labels, Numbers) else labels


def names_of_symbols(given: Iterable[object] | None, own: Labels | None, size: int) -> tuple[str, ...]:
    """Return the labels given, or else the labels that the prior itself has, or else ``x1`` to ``xN``.

    Examples
    --------
    >>> names_of_symbols(None, None, 2), names_of_symbols(["a", "b"], None, 2)
    (('x1', 'x2'), ('a', 'b'))
    """
    if given is None:
        labels = own_labels(own)
        return default_labels(size) if labels is None else tuple(labels)
    return canonical_labels(given, size)


def _has_labels(value: object) -> bool:
    return isinstance(value, Mapping) or _is_series(value)


def is_table(value: Any) -> TypeGuard[Any]:
    """Return whether a value is a data frame."""
    return hasattr(value, "columns") and hasattr(value, "to_numpy")


def _is_series(value: Any) -> TypeGuard[Any]:
    # The index of lists, tuples and Arrow's arrays is a method.
    return not callable(getattr(value, "index", len)) and hasattr(value, "to_numpy") and not hasattr(value, "columns")


def _labels_of_index(index: Any, name: str) -> Labels:
    if type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1:
        return Numbers(map(str, range(len(index))))
    values = list(index)
    if isinstance(index, list) and values == [f"column_{place}" for place in range(len(values))]:
        return Numbers(values)
    return _labels(values, name)


def _labels(values: list[Any], name: str) -> Labels:
    try:
        return Labels(canonical_labels(values, len(values)))
    except InputError as error:
        raise error.reworded(f"{name}: {error}") from None


def some_labels(labels: Sequence[str]) -> str:
    """Return the first labels for a message, and how many more there are.

    Examples
    --------
    >>> some_labels(["a", "b"])
    "'a', 'b'"
    """
    more = f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else ""
    return ", ".join(shorten(label, 40) for label in labels[:_SHOWN]) + more
