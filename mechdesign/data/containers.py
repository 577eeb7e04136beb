"""Records in lists, arrays and series: to codes, and back to the same kind of container.

The containers are lists, numpy arrays, pandas and polars series, and pyarrow arrays. Neither pandas nor polars is
required. A masked entry of a numpy array is a missing value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.alphabet import Alphabet, Codes, is_missing
from mechdesign.errors import InputError, shorten

_ACCEPTED = "a list, a one-dimensional numpy array, a pandas or polars Series, or a pyarrow array"


@dataclass(frozen=True, eq=False)
class Encoded:
    """Records as codes, and the container that they came in.

    Attributes
    ----------
    codes : int array, shape (n,)
        Positions among the categories.
    are_codes : bool
        Whether the records themselves are codes, rather than labels.
    container : object
        The container that they came in.
    """

    codes: Codes
    are_codes: bool
    container: Any

    def answer(self, outputs: NDArray[np.integer[Any]], labels: tuple[str, ...]) -> Any:
        """Return other codes in the same kind of container, as labels if the records were labels."""
        came, package = self.container, package_of(self.container)
        codes = outputs.astype(np.intp) if self.are_codes else outputs
        if package is None:
            is_array = isinstance(came, np.ndarray)
            values = codes if self.are_codes else _as_text(labels, came.dtype if is_array else None).take(codes)
            return values if is_array else values.tolist()
        if package == "pandas":
            values = codes if self.are_codes else type(came)(list(labels)).array.take(codes)
            return type(came)(values, index=came.index, name=came.name)
        import pyarrow as pa

        arrow = pa.array(codes)
        if not self.are_codes:
            arrow = pa.array(labels, type=pa.large_string()).take(arrow)
        if package == "polars":
            return type(came)(came.name, arrow)
        return pa.chunked_array([arrow]) if isinstance(came, pa.ChunkedArray) else arrow


def encode(records: Any, alphabet: Alphabet) -> Encoded:
    """Return records as codes.

    Parameters
    ----------
    records : list, numpy array, pandas or polars Series, pyarrow Array or ChunkedArray
        Labels as text, or integers.
    alphabet : Alphabet
        The labels, what integers mean, and how other values are treated.

    Raises
    ------
    InputError
        For another container, or a record that is not among the categories (its position is named).

    Examples
    --------
    >>> encode(["yes", "no"], Alphabet(("no", "yes"))).codes
    array([1, 0])
    """
    package = package_of(records)
    if package is not None:
        found, are_codes = _encoded_arrow(_as_arrow(records, package, alphabet), alphabet)
    elif isinstance(records, np.ndarray):
        found, are_codes = _encoded_array(records, alphabet)
    elif (
        isinstance(records, str | bytes | Mapping | Set)
        or not isinstance(records, Iterable)
        or hasattr(records, "shape")
    ):
        raise InputError.wrong_record_type(f"the records are a {type(records).__name__}; accepted: {_ACCEPTED}")
    else:
        listed = records if isinstance(records, list | tuple) else list(records)
        found, are_codes = _encoded_list(listed, alphabet)
    return Encoded(found, are_codes, records)


def _as_text(labels: tuple[str, ...], dtype: np.dtype[Any] | None = None) -> NDArray[Any]:
    """Return labels as an array: of the kind of a dtype of text, or else of Python strings."""
    if dtype is not None and dtype.kind in "UT":
        return np.array(labels, dtype="U" if dtype.kind == "U" else dtype)
    return np.array(labels, dtype=object)


def package_of(records: object) -> str | None:
    """Return the package of a series or an Arrow array, None for everything else."""
    kind = type(records)
    package, name = kind.__module__.partition(".")[0], kind.__name__
    is_column = name.endswith("Array") if package == "pyarrow" else name == "Series"
    return package if package in {"pandas", "polars", "pyarrow"} and is_column else None


def arrow_column(values: Any, where: str, *, whole: bool = True) -> Any:
    """Return a column of any values as a pyarrow array; ``where`` names it, for messages. NaN is a missing value.

    An array in chunks is made one, unless it need not be ``whole``.

    Raises
    ------
    InputError
        For another container, or values of different types.

    Examples
    --------
    >>> arrow_column(["north", None], "by").null_count
    1
    """
    import pyarrow as pa

    package = package_of(values)
    shape = getattr(values, "shape", (0,))
    if package is None and (
        isinstance(values, str | bytes | Mapping | Set) or not isinstance(values, Iterable) or len(shape) != 1
    ):
        raise InputError.wrong_record_type(f"{where} is a {type(values).__name__}; accepted: {_ACCEPTED}")
    try:
        if package is not None:
            column = series_as_arrow(values, package)
        elif isinstance(values, np.ndarray):
            mask = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
            column = pa.array(np.ma.getdata(values), mask=mask, from_pandas=values.dtype.kind == "O")
        else:
            column = pa.array(list(values), from_pandas=True)
    except (pa.ArrowException, OverflowError, UnicodeError) as error:
        raise InputError.wrong_record_type(
            f"{where} holds mixed values ({shorten(str(error), 80)}); give values of one type"
        ) from None
    return column.combine_chunks() if whole and isinstance(column, pa.ChunkedArray) else column


def series_as_arrow(series: Any, package: str) -> Any:
    """Return a series of a package, or an Arrow array, as an Arrow array."""
    import pyarrow as pa

    if package == "pandas":
        return pa.Array.from_pandas(series)
    return series.to_arrow() if package == "polars" else series


def _as_arrow(records: Any, package: str, alphabet: Alphabet) -> Any:
    import pyarrow as pa

    try:
        return series_as_arrow(records, package)
    except (pa.ArrowException, OverflowError, UnicodeError) as error:
        raise InputError.wrong_record_type(
            f"the records are a Series of mixed values{alphabet.shown(str(error))}; accepted: labels, as text"
        ) from None


def _encoded_arrow(records: Any, alphabet: Alphabet) -> tuple[Codes, bool]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_integer(records.type):
        return alphabet.codes_of_arrow(records), False
    if not alphabet.takes_integers_as_codes():
        return alphabet.codes_of_arrow(records.cast(pa.large_string())), False
    missing = np.asarray(pc.is_null(records)) if records.null_count else None
    return alphabet.codes_of_integers(np.asarray(pc.fill_null(records, 0)), missing), True


def _encoded_array(records: NDArray[Any], alphabet: Alphabet) -> tuple[Codes, bool]:
    if records.ndim != 1:
        raise InputError.wrong_record_type(f"the records have shape {records.shape}; accepted: {_ACCEPTED}")
    masked = np.ma.getmaskarray(records) if isinstance(records, np.ma.MaskedArray) else None
    if records.dtype.kind in "iu":
        if alphabet.takes_integers_as_codes():
            return alphabet.codes_of_integers(np.ma.getdata(records), masked), True
        return alphabet.codes_of_labels([None if record is None else str(record) for record in records.tolist()]), False
    if records.dtype.kind == "U":
        import pyarrow as pa

        try:
            texts = pa.array(np.ma.getdata(records), mask=masked)
        except UnicodeError:  # a half of a surrogate pair, which labels do not contain
            return _encoded_list(records.tolist(), alphabet)
        return alphabet.codes_of_arrow(texts), False
    if records.dtype.kind in "OT":
        return _encoded_list(records.tolist(), alphabet)
    raise InputError.wrong_record_type(
        f"the records are of type {records.dtype}; accepted: labels as text, or integer codes"
    )


def _encoded_list(records: Sequence[Any], alphabet: Alphabet) -> tuple[Codes, bool]:
    kinds = set(map(type, records))
    if not any(_is_integer_type(kind) for kind in kinds):
        return alphabet.codes_of_labels(records), False
    if not alphabet.takes_integers_as_codes():
        texts = [str(record) if _is_integer_type(type(record)) else record for record in records]
        return alphabet.codes_of_labels(texts), False
    if all(_is_integer_type(kind) for kind in kinds):
        return alphabet.codes_of_integers(np.array(records)), True
    missing = np.array([is_missing(record) for record in records])
    for index, record in enumerate(records):
        if not missing[index] and not _is_integer_type(type(record)):
            raise InputError.wrong_record_type(
                f"{alphabet.where(index)} is a {type(record).__name__} among integers{alphabet.shown(record)}; "
                "accepted: all labels, as text, or all integer codes"
            )
    integers = np.array([0 if gone else record for record, gone in zip(records, missing, strict=True)])
    return alphabet.codes_of_integers(integers, missing), True


def _is_integer_type(kind: type) -> bool:
    return issubclass(kind, int | np.integer) and kind is not bool
