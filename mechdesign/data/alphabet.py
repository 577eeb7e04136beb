"""Labels as codes: positions among categories that are given, never inferred from data.

Unknown and missing values are refused, or replaced by a label that the user names. The replacement changes the record
before the mechanism reads it, so the guarantee then holds for the distribution of the changed records.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InputError, shorten

Codes = NDArray[np.signedinteger[Any]]
_NONE, _MISSING = -1, -2


@dataclass(frozen=True)
class Alphabet:
    """Labels with their codes, and how values outside the labels are treated.

    Parameters
    ----------
    labels : tuple of str
        Label k has code k.
    unknown : str, optional
        The label that replaces values outside the categories; without it they are refused.
    missing : str, optional
        The label that replaces missing values (null, NaN, empty text); without it they are refused.
    integers : {"codes", "labels"}, optional
        What integers among records are: positions among the categories from 0, or labels. Without it they are
        codes, and are refused where a label reads as an integer.
    where : callable
        Names a record by its position, for messages.
    replaces : bool
        Whether the caller lets users name ``unknown`` and ``missing``, so that messages may point to them.
    show_values : bool
        Whether messages print records, which may then be kept in logs. Without it they name rows alone.
    explain : callable, optional
        Says of a text outside the categories why it is there, in words that follow its place; None if it does not know.

    Raises
    ------
    InputError
        If ``unknown`` or ``missing`` is not one of the labels, or ``integers`` is not one of its two values.

    Examples
    --------
    >>> Alphabet(("no", "yes"), unknown="no").codes_of_labels(["yes", "perhaps"])
    array([1, 0])
    """

    labels: tuple[str, ...]
    unknown: str | None = None
    missing: str | None = None
    integers: str | None = None
    where: Callable[[int], str] = "records[{}]".format
    replaces: bool = True
    show_values: bool = False
    explain: Callable[[str], str | None] | None = None
    _table: dict[object, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_table", {label: code for code, label in enumerate(self.labels)})
        for name, label in (("unknown", self.unknown), ("missing", self.missing)):
            if label is not None and not (isinstance(label, str) and label in self._table):
                raise InputError.unknown_label(
                    f"{name} values are to be taken for {shorten(label)}, which is not a label; accepted: "
                    f"{self._listed()}"
                )
        if self.integers is not None and not (isinstance(self.integers, str) and self.integers in {"codes", "labels"}):
            raise InputError.unknown_choice(f'integers is {shorten(self.integers)}; accepted: "codes" or "labels"')

    def takes_integers_as_codes(self) -> bool:
        """Return whether integers among records are codes, rather than labels.

        Raises
        ------
        InputError
            If ``integers`` is not given and a label reads as an integer, so that they could be either.
        """
        if self.integers is None and any(label.removeprefix("-").isdecimal() for label in self.labels):
            raise InputError.ambiguous_labels(
                "the records are integers, and so is a label, so that they could be codes or labels; give labels as "
                'text, or say integers="codes" or integers="labels"'
            )
        return self.integers != "labels"

    def codes_of_labels(self, records: Sequence[object]) -> Codes:
        """Return the codes of a list of labels, shape (n,).

        Raises
        ------
        InputError
            Naming the first record that has no code.
        """
        try:
            codes = np.fromiter(map(self._table.get, records, repeat(_NONE)), dtype=np.intp, count=len(records))
        except TypeError:  # a value without a hash
            texts = [record if isinstance(record, str) else None for record in records]
            codes = np.array([self._table.get(text, _NONE) for text in texts], dtype=np.intp)
        lost = np.flatnonzero(codes < 0)
        if lost.size:
            values = [records[index] for index in lost.tolist()]
            is_text = np.array([isinstance(value, str) for value in values])
            self._replace(codes, lost, np.array([is_missing(value) for value in values]), is_text, records.__getitem__)
        return codes

    def codes_of_arrow(self, records: Any) -> Codes:
        """Return the codes of labels in a pyarrow Array or ChunkedArray of text, dictionary-encoded or not, shape (n,).

        Raises
        ------
        InputError
            Naming the first record that has no code, or the type if it is not text.
        """
        import pyarrow as pa

        kind = records.type.value_type if pa.types.is_dictionary(records.type) else records.type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            # index_in does not accept string views, and a column of nulls has the type null.
            if not (pa.types.is_string_view(kind) or pa.types.is_null(kind)):
                raise InputError.wrong_record_type(f"{self.where(0)} is of type {kind}; accepted: labels, as text")
            kind = pa.large_string()
        chunks = records.chunks if isinstance(records, pa.ChunkedArray) else [records]
        found = [self._found(chunk, kind) for chunk in chunks]
        codes = found[0] if len(found) == 1 else np.concatenate([np.empty(0, np.int32), *found])
        lost = np.flatnonzero(codes < 0)
        if lost.size:
            codes = codes.copy()  # that of Arrow cannot be changed
            missing = codes[lost] == _MISSING
            self._replace(codes, lost, missing, ~missing, lambda index: records[index].as_py())
        return codes

    def _found(self, records: Any, kind: Any) -> Codes:
        """Return the codes of a pyarrow array, _NONE for unknown values and _MISSING for missing ones.

        Each text of a dictionary is looked up once, and those of a dictionary larger than the records only if a record
        has it. Records are not decoded, because a long text of a dictionary may stand for many of them.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        if not pa.types.is_dictionary(records.type):
            return self._found_texts(records.cast(kind))
        texts, indices = records.dictionary.cast(kind), records.indices
        if len(texts) > len(indices):
            used = indices.unique().drop_null()
            texts, indices = texts.take(used), pc.index_in(indices, value_set=used)
        codes = self._found_texts(texts)
        if indices.null_count:
            codes = np.append(codes, np.int32(_MISSING))
            indices = pc.fill_null(indices.cast(pa.int64()), len(texts))
        return codes.take(np.asarray(indices))

    def _found_texts(self, texts: Any) -> Codes:
        import pyarrow as pa
        import pyarrow.compute as pc

        places = pc.index_in(texts, value_set=pa.array(self.labels, texts.type))
        codes: Codes = np.asarray(pc.fill_null(places, _NONE) if places.null_count else places)
        if places.null_count:
            missing = np.asarray(pc.fill_null(pc.equal(texts, ""), fill_value=True))
            return np.where(missing & (codes < 0), np.int32(_MISSING), codes)
        return codes

    def codes_of_integers(self, integers: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> Codes:
        """Return codes that come as integers, after checking that each is the position of a category.

        Parameters
        ----------
        integers : integer array, shape (n,)
            Positions from 0.
        missing : bool array, shape (n,), optional
            Which of them are missing values.

        Raises
        ------
        InputError
            Naming the first record that is out of range.
        """
        size = len(self.labels)
        if missing is None:
            if integers.size == 0 or (integers.min() >= 0 and integers.max() < size):
                return integers.astype(np.intp)
            missing = np.zeros(integers.size, dtype=bool)
        none = missing
        known = ~none & (integers >= 0) & (integers < size)
        codes = np.full(integers.size, _NONE, dtype=np.intp)
        codes[known] = integers[known]
        lost = np.flatnonzero(codes < 0)
        self._replace(codes, lost, none[lost], ~none[lost], lambda index: None if none[index] else int(integers[index]))
        return codes

    def _replace(
        self,
        codes: Codes,
        lost: NDArray[np.intp],
        missing: NDArray[np.bool_],
        unknown: NDArray[np.bool_],
        value_at: Callable[[int], object],
    ) -> None:
        """Give the records without a code, in place, the code of the label named for missing or unknown values."""
        for cases, label in ((missing, self.missing), (unknown & ~missing, self.unknown)):
            if label is not None:
                codes[lost[cases]] = self._table[label]
        refused = lost[codes[lost] < 0]
        if refused.size:
            index = int(refused[0])
            raise self._refusal(index, value_at(index))

    def _refusal(self, index: int, value: object) -> InputError:
        where = self.where(index)
        if is_missing(value):
            way = "name the label that missing values are taken for (missing)" if self.replaces else "leave it out"
            return InputError.missing_value(f"{where} is missing; {way}")
        shown = self.shown(value)
        if isinstance(value, int | np.integer) and not isinstance(value, bool):
            return InputError.unknown_label(
                f"{where} is out of range{shown}; accepted: codes from 0 to {len(self.labels) - 1}"
            )
        if isinstance(value, str):
            if self.explain is not None and (why := self.explain(value)):
                return InputError.wrong_mechanism(f"{where} {why}")
            way = ", or name the label that unknown values are taken for (unknown)" if self.replaces else ""
            return InputError.unknown_label(
                f"{where} is not among the categories{shown}; accepted: {self._listed()}{way}"
            )
        return InputError.wrong_record_type(f"{where} is a {type(value).__name__}{shown}; accepted: labels, as text")

    def shown(self, value: object) -> str:
        """Return a value as messages print it, or the option that prints it.

        Examples
        --------
        >>> Alphabet(("a", "b"), show_values=True).shown("c"), Alphabet(("a", "b")).shown("c")
        (": 'c'", ' (show_values prints it)')
        """
        return f": {shorten(value)}" if self.show_values else " (show_values prints it)"

    def _listed(self) -> str:
        shown = ", ".join(map(repr, self.labels[:8]))
        return shown if len(self.labels) <= 8 else f"{shown}, ... ({len(self.labels)} labels)"


def is_missing(value: object) -> bool:
    """Return whether a value is missing: null, NaN, a masked entry or empty text.

    Examples
    --------
    >>> is_missing(None), is_missing(float("nan")), is_missing(""), is_missing("?")
    (True, True, True, False)
    """
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    # pandas has two missing values of its own (NA and NaT); they are recognised by name, so pandas is not imported.
    return (
        value is None
        or value is np.ma.masked
        or (isinstance(value, str) and not value)
        or type(value).__name__ in {"NAType", "NaTType"}
    )
