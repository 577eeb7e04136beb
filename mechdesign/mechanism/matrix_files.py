"""Mechanisms of other tools: a matrix from CSV, NPY or NPZ, or from a mechanism file, of which nothing is proved.

Of OpenDP the file that its function ``serialize`` writes of randomized response is read: the one mechanism there that
has a matrix.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from mechdesign.data import archives
from mechdesign.data.csv_blocks import CsvRecord, field_count_error, other_separator, rows
from mechdesign.data.fields import finite_decimal
from mechdesign.data.labels import canonical_labels
from mechdesign.data.reading import check_regular, read_bounded
from mechdesign.errors import InputError, LimitError, printable, shorten
from mechdesign.mechanism.exact_matrix import MOST_ENTRIES, MOST_SIDE, ExactMatrix
from mechdesign.mechanism.proof import check_integers
from mechdesign.numerics.exact import rational
from mechdesign.uncertainty import UncertaintySet

MOST_BYTES = archives.MOST_BYTES
_WANTED = "a matrix as CSV, NPY or NPZ, or a mechanism file"
_MEMBERS = "one array of probabilities, or one named matrix, and perhaps inputs and outputs, their labels"
_OPENDP, _START = b'"__function__"', 1_000  # what the first bytes of a file of OpenDP hold
_ARCHIVE, _ARRAY, _OBJECT, _LIST = b"PK", b"\x93NUMPY", b"{", b"["
_MOST_BYTES = 2**20


class MatrixFile(NamedTuple):
    """A matrix from a file, and the set of priors in the guarantee of a mechanism file, or None."""

    matrix: ExactMatrix
    uncertainty: UncertaintySet | None


def read_matrix(path: str | os.PathLike[str]) -> MatrixFile:
    """Read a mechanism from a file of this or another tool; what it leaks does not matter.

    What a file is follows from its content.

    * CSV: a row for each input. If the first field is a number, there are no labels, and the rows are the inputs in the
      order of the set of priors that the matrix is analysed for. Otherwise the first line names the outputs, and the
      first column the inputs. A number is the decimal (or the ratio, ``1/3``) that it states. The CSV files of
      `Mechanism.save` are read, too.
    * NPY and NPZ of numpy: a matrix of floats, each the rational that it is, or of whole numbers. An NPZ file holds one
      array, or one with the name ``matrix``, and perhaps ``inputs`` and ``outputs``, arrays of text.
    * JSON of OpenDP's ``serialize``, for ``make_randomized_response`` and ``make_randomized_response_bool``.
    * A mechanism file, JSON or NPZ: its integers. Its guarantee is not proved.

    Raises
    ------
    InputError
        In one line, for what cannot be read, is not a number, is negative, or has rows of other sums or lengths.
    LimitError
        For more than 20,000 rows or columns, or 4,000,000 entries.
    """
    source = printable(str(path))
    check_regular(path, _WANTED, MOST_BYTES)
    content = read_bounded(path, MOST_BYTES, _WANTED)
    try:
        if content[:2] == _ARCHIVE:
            names = archives.members(content, source, _MEMBERS, _WANTED)
            return _of_mechanism(path) if "json" in names else MatrixFile(_of_archive(content, names, source), None)
        if content.startswith(_ARRAY):
            return MatrixFile(ExactMatrix.of(archives.array(content, source, _WANTED)), None)
        if _OPENDP in content[:_START]:
            return MatrixFile(of_opendp(content), None)
        start = content[:64].removeprefix(b"\xef\xbb\xbf").lstrip()
        if start.startswith(_OBJECT):
            return _of_mechanism(path)
        if start.startswith(_LIST):
            raise InputError.wrong_file_format(f"it is a JSON list; give {_WANTED}")
        return MatrixFile(_of_csv(path), None)
    except InputError as error:
        reason = str(error)
        raise error.reworded(reason if reason.startswith(source) else f"{source}: {reason}") from None


def _of_mechanism(path: str | os.PathLike[str]) -> MatrixFile:
    from mechdesign.mechanism.mechanism_files import load

    parts = load(path)
    check_integers(parts.numerators, parts.bits)
    outputs = parts.outputs or None
    found = ExactMatrix.of_integers(parts.numerators.tolist(), parts.bits, parts.inputs, outputs)
    return MatrixFile(found, parts.guarantee.uncertainty)


def _of_archive(content: bytes, names: list[str], source: str) -> ExactMatrix:
    """Return the matrix of an NPZ file of another tool."""
    held = set(names) - {"inputs", "outputs"}
    chosen = "matrix" if "matrix" in held else next(iter(held)) if len(held) == 1 else None
    if chosen is None:
        raise InputError.wrong_file_format(f"it holds {', '.join(names) or 'nothing'}; accepted: {_MEMBERS}")

    def found(name: str) -> Any:
        return archives.member(content, name, source, "an array", _WANTED)

    exact = ExactMatrix.of(found(chosen))
    inputs, outputs = (
        _labels(np.ravel(found(name)).tolist(), size, name) if name in names else None
        for name, size in (("inputs", exact.size), ("outputs", exact.count))
    )
    return replace(exact, inputs=inputs, outputs=outputs)


def _of_csv(path: str | os.PathLike[str]) -> ExactMatrix:
    """Return the matrix of a CSV file."""
    records = _records(path)
    if not records:
        raise InputError.nothing_given("there are no rows; give a row of probabilities for each input")
    if _is_number(records[0].fields[0]):
        return ExactMatrix.of_fractions(
            [_numbers(record, record.fields, 1) for record in records], numbers="decimals as written", rounded=True
        )
    head, *body = records
    if len(head.fields) < 2:
        raise InputError.malformed_table(
            "line 1 has one field; give probabilities separated by commas, a row for each "
            f"input{other_separator(head.fields)}"
        )
    numbers = [_numbers(record, record.fields[1:], 2) for record in body]
    outputs = _labels(head.fields[1:], len(head.fields) - 1, "outputs, in the first line")
    inputs = _labels([record.fields[0] for record in body], len(body), "inputs, in the first column")
    return ExactMatrix.of_fractions(numbers, inputs, outputs, numbers="decimals as written", rounded=True)


def _records(path: str | os.PathLike[str]) -> list[CsvRecord]:
    """Return the lines of a CSV file that are not empty, all with as many fields."""
    found: list[CsvRecord] = []
    entries = 0
    for record in rows(path):
        if not any(record.fields):
            continue
        if found and len(record.fields) != len(found[0].fields):
            raise field_count_error(printable(str(path)), record, len(found[0].fields))
        entries += len(record.fields)
        if entries > MOST_ENTRIES + 2 * MOST_SIDE:
            raise LimitError.too_much_work(
                f"{printable(str(path))} has more than {MOST_ENTRIES} entries; accepted: at most these"
            )
        found.append(record)
    return found


def _is_number(field: str) -> bool:
    """Return whether a field stands for a number, also for one that is refused."""
    try:
        float(field.replace("/", "", 1))
    except ValueError:
        return False
    return True


def _numbers(record: CsvRecord, fields: list[str], first: int) -> list[Fraction]:
    """Return the numbers of a line; a field that is none may be a record's, and is not shown."""
    for j, field in enumerate(fields):
        if not _is_number(field):
            raise InputError.not_a_number(
                f"line {record.line}, column {j + first}, is not a number; accepted: probabilities such as 0.5, "
                "1e-9 or 1/8, a row for each input"
            )
    return [rational(field, f"line {record.line}, column {j + first},") for j, field in enumerate(fields)]


def _labels(given: list[Any], size: int, which: str) -> tuple[str, ...]:
    try:
        return canonical_labels(given, size)
    except InputError as error:
        raise error.reworded(f"labels of {which}: {error}") from None


_CATEGORIES, _BOOL = "make_randomized_response", "make_randomized_response_bool"


def of_opendp(content: bytes) -> ExactMatrix:
    """Return the matrix of a measurement that OpenDP serialized.

    Raises
    ------
    InputError
        For another measurement, or a file that is damaged.

    Examples
    --------
    >>> text = b'{"__function__": "make_randomized_response_bool", "__kwargs__": {"prob": 0.75}}'
    >>> of_opendp(text).weights
    ((3, 1), (1, 3))
    """
    if len(content) > _MOST_BYTES:
        raise InputError.file_too_large(f"it has {len(content)} bytes; accepted: at most {_MOST_BYTES} of OpenDP")
    try:
        record = json.loads(content, parse_float=finite_decimal)
    except (ValueError, RecursionError) as error:
        raise InputError.wrong_file_format(
            f"it is not JSON ({shorten(str(error))}); give what OpenDP serialized"
        ) from None
    table = record if isinstance(record, dict) else {}
    function, given = table.get("__function__"), table.get("__kwargs__")
    if function not in (_CATEGORIES, _BOOL) or not isinstance(given, dict):
        raise InputError.wrong_file_format(
            f"it is {shorten(function)} of OpenDP, which has no matrix; accepted: {_CATEGORIES}, {_BOOL}, or a matrix"
        )
    kept = rational(given.get("prob"), "the argument prob")
    if function == _BOOL:
        return _randomized_response(("False", "True"), kept)
    categories = given.get("categories")
    if not isinstance(categories, list) or not 2 <= len(categories) <= MOST_SIDE:
        raise InputError.bad_field(f"the argument categories is {shorten(categories)}; accepted: a list of two or more")
    return _randomized_response(canonical_labels(categories, len(categories)), kept)


def _randomized_response(labels: Sequence[Any], kept: Fraction) -> ExactMatrix:
    """Return randomized response that reports the true category with a probability, and else any other."""
    others = (1 - kept) / (len(labels) - 1)
    rows = [[kept if i == j else others for j in range(len(labels))] for i in range(len(labels))]
    return ExactMatrix.of_fractions(
        rows,
        tuple(labels),
        tuple(labels),
        numbers="decimals as OpenDP wrote them",
        name="OpenDP randomized response",
        rounded=True,
    )
