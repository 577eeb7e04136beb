"""Records as codes of their attributes, counted by any combination of them: the sample that views are made from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.labels import by_falling_count, canonical_label, canonical_labels
from mechdesign.data.tables import is_text
from mechdesign.display.numbers import counted
from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.numerics.arrays import Floats
from mechdesign.records.number_bins import NumberBins, is_number
from mechdesign.records.record_frames import columns_in, columns_of
from mechdesign.records.record_views import join

MOST_CELLS = 10_000
"""Of one view, as of the categories of one mechanism."""
_MOST_PEOPLE = 10**15
Labels = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class RecordSample:
    """Records as codes.

    Attributes
    ----------
    alphabets : mapping from str to tuple of str
        The labels of each attribute.
    codes : mapping from str to array of int, shape (n,)
        The label of each record, as its place among the categories.
    bins : mapping from str to NumberBins
        Of the attributes that are numbers.
    means : mapping from str to array
        The mean number of the records in each bin; where a bin holds none, an edge of it. Not for attributes that have
        other labels besides.
    weights : array of int, shape (n,), optional
        How many people each record stands for, where the records are a table of counts.
    """

    alphabets: Mapping[str, Labels]
    codes: Mapping[str, NDArray[np.int64]]
    bins: Mapping[str, NumberBins]
    means: Mapping[str, Floats]
    weights: NDArray[np.int64] | None = None

    @classmethod
    def of(
        cls,
        records: Any,
        columns: Sequence[str] | None = None,
        *,
        bins: Mapping[str, object] | None = None,
        alphabets: Mapping[str, Iterable[object]] | None = None,
        missing: str | None = None,
        counts: str | None = None,
    ) -> RecordSample:
        """Return the codes of records.

        Parameters
        ----------
        records : frame of pandas or polars, pyarrow Table, or mapping from columns to values
            A row for each record.
        columns : sequence of str, optional
            The attributes; by default all columns.
        bins : mapping from column to a number of bins, edges or NumberBins, optional
            Numbers of these columns are put into bins: so many of about equally many records, or between edges. A text
            without digits among them, such as ``?`` for a missing number, is a label of its own, after the bins.
        alphabets : mapping from column to labels, optional
            The labels that a column may have, in their order. By default those in the records, by falling count; a
            delta does not cover categories, or edges of bins, that are chosen after a look at the same records.
        missing : str, optional
            The label that stands for missing values; by default these are refused.
        counts : str, optional
            The column that says how many people a row stands for, where the records are a table of counts; no
            attribute. In bins, which are then given by edges, may stand numbers or the labels of the bins.

        Raises
        ------
        InputError
            For columns that are not there, missing values, labels that are no categories, and counts that are none.

        Examples
        --------
        >>> sample = RecordSample.of({"sex": ["f", "m", "f"], "age": [20, 50, 30]}, bins={"age": [40]})
        >>> sample.alphabets
        {'sex': ('f', 'm'), 'age': ('under 40', '40 or more')}
        >>> sample.counts(("sex", "age"))
        array([[2, 0],
               [0, 1]])
        """
        names = [name for name in columns_in(records) if name != counts] if columns is None else list(columns)
        weights = None if counts is None else people_of(columns_of(records, [counts])[0], counts)
        given, listed = dict(bins or {}), dict(alphabets or {})
        for name in [*given, *listed]:
            if name not in names:
                raise InputError.unknown_column(
                    f"bins or labels are given for {shorten(name)}; accepted: {shorten(names, 200)}"
                )
        filled = [
            _filled(name, column, missing, given.get(name))
            for name, column in zip(names, columns_of(records, names), strict=True)
        ]
        found = zip(names, filled, strict=True)
        encoded = {name: _encoded(name, column, given.get(name), listed.get(name), weights) for name, column in found}
        return cls(
            {name: each.labels for name, each in encoded.items()},
            {name: each.codes for name, each in encoded.items()},
            {name: each.bins for name, each in encoded.items() if each.bins is not None},
            {name: each.means for name, each in encoded.items() if each.means is not None},
            weights,
        )

    def shape(self, attributes: Sequence[str]) -> tuple[int, ...]:
        """Return the numbers of categories of some attributes.

        Raises
        ------
        InputError
            For an attribute that is not there.
        LimitError
            For more than 10,000 combinations.
        """
        for name in attributes:
            if name not in self.alphabets:
                raise InputError.unknown_column(
                    f"a view shows {shorten(name)}; accepted: {shorten(list(self.alphabets), 200)}"
                )
        sizes = tuple(len(self.alphabets[name]) for name in attributes)
        if math.prod(sizes) > MOST_CELLS:
            raise LimitError.too_much_work(
                f"the view {' and '.join(attributes)} has {math.prod(sizes):,} combinations of values; "
                f"accepted: at most {MOST_CELLS:,}; show fewer attributes in it, or put numbers into fewer bins"
            )
        return sizes

    def counts(self, attributes: Sequence[str]) -> NDArray[np.int64]:
        """Return how often each combination of values of some attributes occurs, an axis for each attribute."""
        shape = self.shape(attributes)
        places = np.ravel_multi_index([self.codes[name] for name in attributes], shape)
        return totals(places, math.prod(shape), self.weights).reshape(shape)

    def labels(self, attributes: Sequence[str]) -> Labels:
        """Return the label of each combination, the last attribute fastest."""
        grids = np.indices(self.shape(attributes)).reshape(len(attributes), -1).T
        return join(
            [self.alphabets[name][place] for name, place in zip(attributes, row, strict=True)] for row in grids.tolist()
        )


@dataclass(frozen=True, eq=False)
class _Encoded:
    labels: Labels
    codes: NDArray[np.int64]
    bins: NumberBins | None = None
    means: Floats | None = None


def _filled(name: str, column: Any, missing: str | None, bins: object) -> Any:
    """Return a column with the label of missing values in their place.

    Raises
    ------
    InputError
        If there is no such label, and for one that is a number where numbers are put into bins.
    """
    import pyarrow as pa

    if not column.null_count:
        return column
    if missing is None:
        raise InputError.missing_value(
            f"{_lacking(column, name)}; a missing value must be a value of its own: "
            "give its label as missing (--missing of design), such as ?, or replace it in the records"
        )
    label = canonical_label(missing)
    if bins is not None and is_number(label):
        raise InputError.ambiguous_labels(
            f"{_lacking(column, name)}, whose numbers are put into bins, and the "
            f"label of missing values is the number {label}, which a bin would hold; give another label, such as ?"
        )
    return column.cast(pa.string()).fill_null(label)


def _lacking(column: Any, name: str) -> str:
    count = column.null_count
    return f"{counted(count, 'record')} {'lacks' if count == 1 else 'lack'} a value of {shorten(name)}"


def people_of(column: Any, name: str) -> NDArray[np.int64]:
    """Return how many people each row of a table of counts stands for."""
    import pyarrow as pa

    try:
        found = np.asarray(column.cast(pa.string()).cast(pa.int64()))
    except pa.ArrowInvalid:
        found = np.array([-1])
    if column.null_count or (found < 0).any() or found.sum(dtype=object) > _MOST_PEOPLE:
        raise InputError.not_counts(
            f"the column of counts {shorten(name)} holds something else; accepted: whole numbers from 0, at most 10^15 "
            "in all"
        )
    return found


def totals(places: NDArray[Any], size: int, weights: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Return how often each place occurs, each time as often as its weight says."""
    if weights is None:
        return np.bincount(places, minlength=size)
    totals = np.zeros(size, dtype=np.int64)
    np.add.at(totals, places, weights)
    return totals


def _encoded(
    name: str,
    column: Any,
    bins: object,
    alphabet: Iterable[object] | None,
    weights: NDArray[np.int64] | None = None,
) -> _Encoded:
    import pyarrow as pa

    if bins is not None and weights is not None:
        return _in_stated_bins(name, column, bins, alphabet, weights)
    if bins is not None:
        return _in_bins(name, column, bins, alphabet)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not is_text(kind):
        raise InputError.wrong_column_type(
            f"{shorten(name)} is of type {kind}; accepted: text or integers, and numbers with bins"
        )
    found = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    labels = canonical_labels(found.dictionary.to_pylist(), len(found.dictionary))
    own = np.asarray(found.indices).astype(np.int64)
    counts = dict(zip(labels, totals(own, len(labels), weights).tolist(), strict=True))
    listed = by_falling_count(counts) if alphabet is None else list(alphabet)
    order = canonical_labels(listed, len(listed))
    places = {label: place for place, label in enumerate(order)}
    if unknown := [label for label in labels if label not in places and counts[label]]:
        raise InputError.unknown_label(
            f"{counts[unknown[0]]} records have a value of {shorten(name)} that is not among the {len(places)} labels "
            "given; add it to them"
        )
    return _Encoded(order, np.array([places.get(label, -1) for label in labels], dtype=np.int64)[own])


def _in_bins(name: str, column: Any, bins: object, alphabet: Iterable[object] | None) -> _Encoded:
    """Return numbers in bins, and after the bins the labels that stand among the numbers, such as ``?``."""
    import pyarrow as pa

    numbers, others = _numbers(name, column)
    has_number = np.isfinite(numbers)
    chosen = _chosen(bins, numbers[has_number])
    codes = np.searchsorted(chosen.edges, numbers, side="right")
    listed = None if alphabet is None else [label for label in alphabet if label not in chosen.labels]
    if has_number.all() and not listed:
        return _Encoded(chosen.labels, codes, chosen, _means(chosen, numbers, codes))
    rest = _encoded(name, others.filter(~has_number).cast(pa.string()), None, listed)
    codes[~has_number] = len(chosen.labels) + rest.codes
    return _Encoded((*chosen.labels, *rest.labels), codes, chosen)


def _in_stated_bins(
    name: str, column: Any, bins: object, alphabet: Iterable[object] | None, weights: NDArray[np.int64]
) -> _Encoded:
    """Return a column of a table of counts, of numbers or of labels of bins, with other labels after the bins."""
    import pyarrow as pa

    if isinstance(bins, int):
        raise InputError.out_of_range(
            f"the bins of {shorten(name)} are to hold equal counts, for which records are needed; with a table of "
            "counts give their edges"
        )
    chosen = _chosen(bins, np.empty(0))
    labelled = chosen.labelled(column).cast(pa.string())
    texts = labelled.unique().to_pylist() if alphabet is None else alphabet
    others = [label for label in texts if label not in chosen.labels]
    found = _encoded(name, labelled, None, [*chosen.labels, *others], weights)
    return _Encoded(found.labels, found.codes, chosen)


def _numbers(name: str, column: Any) -> tuple[Floats, Any]:
    """Return the numbers of a column, NaN where a label stands, and the column with the labels.

    Raises
    ------
    InputError
        For a text that is meant as a number and is none that bins hold, and a column without numbers.
    """
    import pyarrow as pa

    try:
        found, labels = np.asarray(column.cast(pa.float64())), column
        refused = not np.isfinite(found).all()
    except pa.ArrowInvalid:
        labels = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        texts = labels.dictionary.to_pylist()
        values = np.array([float(text) if is_number(text) else math.nan for text in texts])
        found = values[np.asarray(labels.indices)]
        refused = not np.isfinite(found).any() or any(
            not math.isfinite(value) and _like_number(text) for text, value in zip(texts, values.tolist(), strict=True)
        )
    if refused:
        raise InputError.not_a_number(
            f"{shorten(name)} has values that are no finite numbers; accepted with bins: numbers, and beside them "
            "labels without digits, such as ?; mend the values, or leave the bins out"
        )
    return found, labels


def _like_number(text: str) -> bool:
    """Whether a text may be meant as a number: it has a digit, or is a word such as inf."""
    try:
        float(text)
    except ValueError:
        return any(map(str.isdigit, text))
    return True


def _chosen(bins: object, numbers: Floats) -> NumberBins:
    if isinstance(bins, NumberBins):
        return bins
    if isinstance(bins, int) and not isinstance(bins, bool):
        return NumberBins.of_equal_counts(numbers.tolist(), bins)
    return NumberBins(bins)  # type: ignore[arg-type]


def _means(bins: NumberBins, numbers: Floats, codes: NDArray[np.int64]) -> Floats:
    counts = np.bincount(codes, minlength=len(bins.labels))
    sums = np.bincount(codes, numbers, minlength=len(bins.labels))
    edges = np.array([bins.edges[0], *bins.edges])
    return np.where(counts > 0, sums / np.maximum(counts, 1), edges)
