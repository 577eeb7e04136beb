"""Whom records are about: ids as bytes, the same from every container and every file.

An id is text, or an integer, which stands for its decimal text. Its bytes are those of UTF-8, as it is: no normal form
of Unicode is applied, and letters are not folded. An id may not begin or end with white space, which fields of CSV
files lose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from mechdesign.data.alphabet import is_missing
from mechdesign.data.containers import package_of, series_as_arrow
from mechdesign.data.csv_blocks import has_no_space
from mechdesign.errors import InputError

_ACCEPTED = "a list, a one-dimensional numpy array, a pandas or polars Series, or a pyarrow array"
_MOST_DIGITS = 1_000
_TOO_LONG = 10**_MOST_DIGITS


@dataclass(frozen=True, eq=False)
class Ids:
    """Ids, of which any part can be had as bytes.

    Attributes
    ----------
    values : list or pyarrow array
        The ids.
    where : callable
        Names an id by its position, for messages.
    """

    values: Any
    where: Callable[[int], str] = "ids[{}]".format

    def __len__(self) -> int:
        return len(self.values)

    def texts(self, start: int, stop: int) -> list[bytes]:
        """Return some ids in UTF-8.

        Raises
        ------
        InputError
            Naming the first id that is missing, empty, neither text nor an integer, or has white space around it; it is
            not printed.

        Examples
        --------
        >>> Ids(["ann", 7]).texts(0, 2)
        [b'ann', b'7']
        """
        if isinstance(self.values, list):
            return self._of_list(self.values[start:stop], start)
        return self._of_arrow(self.values.slice(start, stop - start), start)

    def _of_list(self, values: list[Any], start: int) -> list[bytes]:
        if set(map(type, values)) == {str} and all(values):
            try:
                joined = "".join(values).encode()
            except UnicodeEncodeError:  # the position is found below
                joined = b" "
            if has_no_space(np.frombuffer(joined, np.uint8)) or _stripped(values):
                return list(map(str.encode, values))
        if set(map(type, values)) == {int} and max(map(abs, values)) < _TOO_LONG:
            return [b"%d" % value for value in values]
        return [self._text(value, start + index) for index, value in enumerate(values)]

    def _of_arrow(self, values: Any, start: int) -> list[bytes]:
        import pyarrow as pa

        kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
        if pa.types.is_null(kind) and len(values):
            raise self._refusal(None, start)
        if not (_is_text(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind)):
            raise InputError.bad_id(
                f"{self.where(start)} is of type {kind}; accepted: text or integers{_way(str(kind))}"
            )
        whole = values.cast(pa.large_string())
        whole = whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole
        if whole.null_count:
            raise self._refusal(None, start + whole.is_null().index(pa.scalar(value=True)).as_py())
        _, ends, signs = whole.buffers()
        offsets = np.frombuffer(ends, np.int64, len(whole) + 1, 8 * whole.offset)
        data = b"" if signs is None else signs.slice(int(offsets[0]), int(offsets[-1] - offsets[0])).to_pybytes()
        places = (offsets - offsets[0]).tolist()
        texts = [data[first:last] for first, last in pairwise(places)]
        if all(texts) and has_no_space(np.frombuffer(data, np.uint8)):
            return texts
        # Files may hold bytes that are not UTF-8 in columns of text.
        return self._of_list([text.decode(errors="surrogateescape") for text in texts], start)

    def _text(self, value: Any, index: int) -> bytes:
        """Return one id in UTF-8, after checking it."""
        if isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_):
            if abs(int(value)) >= _TOO_LONG:
                raise InputError.bad_id(f"{self.where(index)} has too many digits; accepted: at most {_MOST_DIGITS}")
            return str(int(value)).encode()
        if not isinstance(value, str) or not value:
            raise self._refusal(value, index)
        if value != value.strip():
            raise InputError.bad_id(
                f"{self.where(index)} begins or ends with white space, which fields of CSV files lose; strip it"
            )
        try:
            return value.encode()
        except UnicodeEncodeError:
            raise InputError.bad_id(f"{self.where(index)} cannot be written as UTF-8; accepted: text") from None

    def _refusal(self, value: Any, index: int) -> InputError:
        if is_missing(value):
            return InputError.missing_value(f"{self.where(index)} is missing; give an id for each record")
        kind = type(value).__name__
        return InputError.bad_id(f"{self.where(index)} is a {kind}; accepted: text or integers{_way(kind)}")


@dataclass(frozen=True, eq=False)
class IdTexts:
    """Ids that are bytes already, such as some of `Ids`."""

    values: list[bytes]

    def texts(self, start: int, stop: int) -> list[bytes]:
        """Return some of them."""
        return self.values[start:stop]


def ids_of(ids: Any, records: Any, size: int) -> Ids:
    """Return the ids of records.

    Parameters
    ----------
    ids : list, numpy array, pandas or polars Series, pyarrow Array or ChunkedArray
        Text or integers.
    records : object
        The container of the records. Two series of pandas must have the same index.
    size : int
        How many records there are.

    Raises
    ------
    InputError
        For another container, another number of ids than of records, or series with different indexes.

    Examples
    --------
    >>> ids_of(("ann", "bob"), ["yes", "no"], 2).texts(0, 2)
    [b'ann', b'bob']
    """
    package = package_of(ids)
    if package == "pandas" and package_of(records) == "pandas" and not ids.index.equals(records.index):
        raise InputError.labels_differ(
            "the ids and the records have different indexes; give series with the same index"
        )
    found = Ids(_contained(ids, package))
    if len(found) != size:
        raise InputError.wrong_size(f"there are {len(found)} ids for {size} records; give one id a record")
    return found


def _contained(ids: Any, package: str | None) -> Any:
    """Return ids as a list or as an array of Arrow."""
    import pyarrow as pa

    if package is not None:
        try:
            return series_as_arrow(ids, package)
        except (pa.ArrowException, OverflowError, UnicodeError):
            return list(ids)  # mixed values, of which each is checked
    if isinstance(ids, np.ndarray):
        if ids.ndim != 1:
            raise InputError.bad_id(f"the ids have shape {ids.shape}; accepted: {_ACCEPTED}")
        if ids.dtype.kind in "iuU":
            mask = np.ma.getmaskarray(ids) if isinstance(ids, np.ma.MaskedArray) else None
            with suppress(UnicodeError):  # a half of a surrogate pair, whose position is found in a list
                return pa.array(np.ma.getdata(ids), mask=mask)
        return ids.tolist()
    if isinstance(ids, str | bytes | Mapping | Set) or not isinstance(ids, Iterable) or hasattr(ids, "shape"):
        raise InputError.bad_id(f"the ids are a {type(ids).__name__}; accepted: {_ACCEPTED}")
    return ids if isinstance(ids, list) else list(ids)


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _stripped(values: Sequence[str]) -> bool:
    """Return whether texts can be written as UTF-8 and have no white space around them."""
    try:
        "".join(values).encode()
    except UnicodeEncodeError:
        return False
    return list(map(str.strip, values)) == values


def _way(kind: str) -> str:
    floats = kind.startswith(("float", "double", "half"))
    return ", as int(id) gives them; with missing values pandas turns integers into floats" if floats else ""
