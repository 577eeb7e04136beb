"""Solutions of anybody: a matrix from a file, in exact numbers, which keeps the promise of an instance or is refused.

A number is the decimal or ratio that the file states. Rows may miss 1 by 1e-9, the error of numbers that were printed,
and are then divided by their exact sum; the promise is proved for the result, without any tolerance. Rows are those of
the symbols of the instance, in its order; labels, if there are some, have to say the same.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NoReturn

import mechdesign as md
from mechdesign.data.csv_blocks import rows as csv_rows
from mechdesign.data.fields import finite_decimal
from mechdesign.data.labels import canonical_labels
from mechdesign.data.reading import read_bounded
from mechdesign.display.numbers import text_above, text_near
from mechdesign.errors import GuaranteeError, InputError, LimitError, shorten
from mechdesign.mechanism import ExactMatrix, Guarantee
from mechdesign.mechanism.exact_matrix import MOST_ENTRIES
from mechdesign.mechanism.matrix_files import read_matrix
from mechdesign.mechanism.mechanism_files import unique_keys
from mechdesign.numerics.exact import rational
from mechdesign.numerics.tolerances import WEIGHT_SUM

_MOST_BYTES = 128 * 2**20
_WANTED = "a matrix as CSV or JSON, a row for each category, or a mechanism file"
_KEYS = ("matrix", "inputs", "outputs")
_OF_MECHANISMS = {"schema", "__function__"}  # a key that each mechanism file has, and each file of OpenDP


def read_solution(path: str | os.PathLike[str], known: md.uncertainty.UncertaintySet) -> ExactMatrix:
    """Return the matrix of a file, for the symbols of a set of priors; its outputs have labels if the file names them.

    The file is a CSV, with or without a line of outputs and a column of symbols; JSON, a list of rows or an object with
    ``matrix`` and perhaps ``inputs`` and ``outputs``; or a mechanism file.

    Raises
    ------
    InputError
        In one line that names the symbol and the output, for what is not a row-stochastic matrix on the symbols.
    LimitError
        For more than 4,000,000 entries.
    """
    start = read_bounded(path, _MOST_BYTES, _WANTED).removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start.startswith((b"{", b"[")):
        return _checked(*_of_csv(path), known)
    try:
        content = json.loads(
            start,
            parse_float=finite_decimal,
            parse_constant=_not_finite,
            object_pairs_hook=partial(unique_keys, "the solution"),
        )
    except (ValueError, RecursionError) as error:
        raise InputError.wrong_file_format(
            f"the solution is not JSON ({shorten(str(error))}); give {_WANTED}"
        ) from None
    table = content if isinstance(content, dict) else {"matrix": content}
    if not _OF_MECHANISMS.isdisjoint(table):
        found = read_matrix(path).matrix
        return _checked(found.weights, found.inputs, found.outputs, known)
    foreign = next((key for key in table if key not in _KEYS), None)
    if foreign is not None:
        raise InputError.unknown_key(f"the key {shorten(foreign)} is unknown; accepted: {', '.join(_KEYS)}")
    if "matrix" not in table:
        raise InputError.wrong_file_format(f"the solution holds no matrix; give {_WANTED}")
    return _checked(table["matrix"], table.get("inputs"), table.get("outputs"), known)


def _not_finite(text: str) -> NoReturn:
    raise ValueError(f"it holds {text}")


def _of_csv(path: str | os.PathLike[str]) -> tuple[list[list[str]], list[str] | None, list[str] | None]:
    """Return the numbers of a CSV file as texts, with the labels of rows and columns if there are some."""
    lines = [record.fields for record in csv_rows(path) if any(record.fields)]
    if not lines:
        raise InputError.nothing_given(f"the solution is empty; give {_WANTED}")
    if _is_number(lines[0][0]):
        return lines, None, None
    return [line[1:] for line in lines[1:]], [line[0] for line in lines[1:]], lines[0][1:]


def _is_number(field: str) -> bool:
    try:
        float(field.replace("/", "", 1))
    except ValueError:
        return False
    return True


def _checked(matrix: Any, inputs: Any, outputs: Any, known: md.uncertainty.UncertaintySet) -> ExactMatrix:
    """Return a matrix in exact numbers, after checking shape, labels, entries and sums of rows."""
    if not isinstance(matrix, Sequence) or isinstance(matrix, str):
        raise InputError.wrong_type(f"the matrix is {shorten(matrix)}; accepted: a list of rows")
    if len(matrix) != known.size:
        raise InputError.wrong_size(
            f"the solution has {len(matrix)} rows; accepted: {known.size}, one for each category of the instance"
        )
    _check_labels(inputs, known.labels)
    count = len(matrix[0]) if isinstance(matrix[0], Sequence) and not isinstance(matrix[0], str) else 0
    if known.size * count > MOST_ENTRIES:
        raise LimitError.too_much_work(f"the solution has {count} outputs; accepted: {MOST_ENTRIES} entries at most")
    names = _names(outputs, count)
    rows = [_row(row, label, names) for row, label in zip(matrix, known.labels, strict=True)]
    whole = all(entry.denominator == 1 for row in rows for entry in row) and sum(rows[0]) > 1
    one, off = (sum(rows[0]), Fraction(0)) if whole else (Fraction(1), Fraction(WEIGHT_SUM))
    for row, label in zip(rows, known.labels, strict=True):
        total = sum(row, Fraction(0))
        if abs(total - one) > off:
            accepted = f"{text_near(one)}, as the first row" if whole else f"1, give or take {WEIGHT_SUM:g}"
            raise InputError.wrong_sum(
                f"the row of the category {shorten(label)} sums to {text_near(total, 15)}; accepted: {accepted}"
            )
    labels = None if outputs is None else tuple(names)
    return ExactMatrix.of_fractions(rows, known.labels, labels, numbers="numbers as written")


def _check_labels(inputs: Any, labels: tuple[str, ...]) -> None:
    """Refuse labels of rows that are not those of the instance, in its order."""
    if inputs is None:
        return
    given = list(map(str, inputs)) if isinstance(inputs, list | tuple) else [shorten(inputs)]
    if len(given) != len(labels):
        raise InputError.labels_differ(
            f"there are {len(given)} labels of rows; accepted: {len(labels)}, one a category"
        )
    for place, (own, label) in enumerate(zip(given, labels, strict=True)):
        if own != label:
            raise InputError.labels_differ(
                f"row {place + 1} is that of {shorten(own)}; accepted: {shorten(label)}, as in the order of the "
                "instance; put the rows in this order, or leave labels out"
            )


def _names(outputs: Any, count: int) -> Sequence[str]:
    """Return the labels of outputs, or for messages those of outputs that have none."""
    if outputs is None:
        return [f"y{place + 1}" for place in range(count)]
    if not isinstance(outputs, list | tuple) or len(outputs) != count:
        raise InputError.labels_differ(
            f"the labels of outputs are {shorten(outputs)}; accepted: {count}, one for each column"
        )
    try:
        return canonical_labels(outputs, count)
    except InputError as error:
        raise error.reworded(f"labels of outputs: {error}") from None


def _row(row: Any, label: str, names: Sequence[str]) -> list[Fraction]:
    """Return a row as fractions; errors name the symbol and the output."""
    if not isinstance(row, Sequence) or isinstance(row, str):
        raise InputError.wrong_type(
            f"the row of the category {shorten(label)} is {shorten(row)}; accepted: a list of probabilities"
        )
    if len(row) != len(names):
        raise InputError.wrong_size(
            f"the row of the category {shorten(label)} has {len(row)} entries; accepted: {len(names)}, as the first row"
        )
    found = []
    for entry, name in zip(row, names, strict=True):
        number = rational(entry, f"the entry of category {shorten(label)} and output {shorten(name)}")
        if number < 0:
            raise InputError.not_probabilities(
                f"the entry of category {shorten(label)} and output {shorten(name)} is {text_near(number)}; "
                "accepted: probabilities"
            )
        found.append(number)
    return found


def prove(exact: ExactMatrix, problem: md.DesignProblem) -> None:
    """Prove that a matrix keeps the promise of a problem, in rational arithmetic.

    Raises
    ------
    GuaranteeError
        In one line, for the first output that breaks the promise.
    """
    guarantee = Guarantee(problem.sides, problem.uncertainty.exact_set)
    labelled = exact.on_alphabet_of(problem.uncertainty)
    for output, name in enumerate(labelled.outputs or ()):
        column = labelled.column(output)
        if not guarantee.is_kept_by(column):
            raise GuaranteeError.guarantee_false(f"the output {shorten(name)} {_why(column, guarantee)}")


def _why(column: list[int], guarantee: Guarantee) -> str:
    """Return in words how a column breaks a guarantee, and for which symbol."""
    ratio = guarantee.uncertainty.exact_set.exact_ratio(column)
    labels, about = guarantee.uncertainty.labels, guarantee.uncertainty.protected
    sides = guarantee.sides
    if ratio is not None and ratio <= guarantee.epsilon.exp_down and sides.below is not None:
        symbol, below = labels[column.index(min(column))], f"exp(-{sides.below_name})"
        short = 1 - guarantee.exact_least_lift(column) / guarantee.least_lift
        return (
            f"lowers the probability of {_value(symbol, about)} to less than {below} = "
            f"{text_near(guarantee.least_lift)} times what it was, by {text_above(short, 3)} of that"
        )
    most = f"exp(epsilon) = {text_near(guarantee.epsilon.exp_down)}"
    over = "without bound" if ratio is None else f"by {text_above(ratio / guarantee.epsilon.exp_down - 1, 3)} of that"
    return (
        f"raises the probability of {_value(labels[column.index(max(column))], about)}, for some prior of the set, to "
        f"more than {most} times what it was, {over}"
    )


def _value(symbol: str, about: Any) -> str:
    return f"category {shorten(symbol)}" if about.names is None else about.any_value
