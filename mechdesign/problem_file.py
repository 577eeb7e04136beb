"""Problem files: one instance of `DesignProblem` in TOML, with its source and, where known, its value."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any

import tomli_w
from pydantic import Field

from mechdesign.data.fields import (
    ExactNumber,
    Matrix,
    Record,
    Text,
    all_of,
    at_most_one,
    checked_record,
    defined,
    finite_decimal,
)
from mechdesign.data.files import write_atomically
from mechdesign.data.reading import read_bounded
from mechdesign.errors import InputError, printable, shorten
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty.codec import Place, TableKind
from mechdesign.uncertainty.registry import set_of, table_of, takes_as_known
from mechdesign.uncertainty.sides import Sides
from mechdesign.utility import Objective, Workload, is_named, utility_by_name
from mechdesign.utility.worst_case import PREFIX

_MOST_BYTES = 64 * 2**20
TAKEN_AS_KNOWN = (
    "nothing says what the counts are, so they are taken as the distribution itself, as in files of earlier versions; "
    "write known = true, or, for a sample, delta"
)


@dataclass(frozen=True)
class ProblemFile:
    """What a problem file holds.

    Attributes
    ----------
    title : str
        One line.
    problem : DesignProblem
        The instance.
    citation : str
        Where its data or its expected values come from.
    expected : dict of str to Decimal
        Known results: ``value``, ``k_ary_randomized_response``, ``best_ldp``, each to half a unit of its
        last digit.
    notes : tuple of str
        What a reader of the file should know, one line each: that it takes counts as known without saying so.
    """

    title: str
    problem: DesignProblem
    citation: str = ""
    expected: dict[str, Decimal] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class _Matrix(Record):
    matrix: Matrix


class _Expected(Record):
    value: ExactNumber | None = None
    k_ary_randomized_response: ExactNumber | None = None
    best_ldp: ExactNumber | None = None


class ProblemRecord(Record):
    """The tables of a problem file."""

    model_config = all_of(at_most_one("gain", "distortion"), at_most_one("lower", "cap", "maximal_leakage"))

    title: Text
    citation: Text = ""
    epsilon: ExactNumber
    lower: ExactNumber | None = None
    cap: ExactNumber | None = None
    maximal_leakage: ExactNumber | None = None
    utility: Text = "mutual-information"
    prior: Annotated[dict[str, Any], defined("prior")]
    gain: _Matrix | None = None
    distortion: _Matrix | None = None
    workload: Annotated[dict[str, Any], defined("workload")] | None = None
    expected: _Expected = Field(default_factory=_Expected)


def read_problem(path: str | os.PathLike[str]) -> ProblemFile:
    """Read a problem file.

    Numbers are read as the decimals that the file shows. Counts without ``delta``, ``radius`` and ``known = true`` are
    the distribution itself, as in files of earlier versions; `ProblemFile.notes` then says so.

    Parameters
    ----------
    path : path
        A TOML file: ``title``, ``epsilon``, ``utility``, ``[prior]`` with ``[prior.counts]`` or
        ``labels`` and ``probabilities`` or ``priors``, and optionally ``lower``, ``cap`` or ``maximal_leakage``,
        ``citation``, ``[gain]``, ``[distortion]``, ``[workload]`` (see `Workload.from_table`), ``[expected]``. The
        matrix of ``expected-distortion`` may be in either of the tables ``[gain]`` and ``[distortion]``.

    Raises
    ------
    InputError
        For unreadable files, malformed TOML, unknown keys and values out of range. The message is one line that
        names the key and the value.
    """
    source = printable(str(path))
    data = parsed_toml(path, _MOST_BYTES, "a problem file")
    record = checked_record(ProblemRecord, data, source)
    try:
        sides = Sides(record.epsilon, record.lower, record.cap, record.maximal_leakage)
        problem = DesignProblem(set_of(record.prior, Place()), sides, _utility(record))
    except InputError as error:
        raise error.reworded(f"{source}: {error}") from None
    expected = {
        key: _expected(f"{source}: expected.{key}", value)
        for key, value in record.expected.model_dump(exclude_none=True).items()
    }
    notes = (f"{source}: {TAKEN_AS_KNOWN}",) if takes_as_known(record.prior) else ()
    return ProblemFile(record.title, problem, record.citation, expected, notes)


def parsed_toml(path: str | os.PathLike[str], most: int, wanted: str) -> dict[str, Any]:
    """Return the tables of a TOML file, with numbers as the decimals that it shows.

    Parameters
    ----------
    path : path
        The file.
    most : int
        The greatest number of bytes that is accepted.
    wanted : str
        What to give instead, for messages: ``"a problem file"``.

    Raises
    ------
    InputError
        If it cannot be read, is too long, or is not TOML in UTF-8.
    """
    source = printable(str(path))
    try:
        text = read_bounded(path, most, wanted).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError.not_utf8(f"{source} is not UTF-8 (byte {error.start}); give {wanted}") from None
    try:
        return tomllib.loads(text, parse_float=finite_decimal)
    except (tomllib.TOMLDecodeError, ValueError) as error:
        raise InputError.wrong_file_format(
            f"{source} is not TOML ({shorten(str(error), 120)}); give {wanted}"
        ) from None
    except RecursionError:
        raise InputError.wrong_file_format(f"{source} is nested too deeply; give {wanted}") from None


def _expected(name: str, text: str) -> Decimal:
    try:
        value = finite_decimal(text)
    except ValueError:
        value = Decimal("NaN")
    if not value.is_finite() or not text.isascii() or "_" in text:  # Decimal reads digits of any script, and 1_0
        raise InputError.not_a_number(f"{name} is {shorten(text)}; accepted: a finite decimal")
    return value


def _utility(record: ProblemRecord) -> Objective:
    matrices = {"gain": record.gain, "distortion": record.distortion}
    given = [name for name, table in matrices.items() if table is not None]
    if len(given) > 1:
        raise InputError.conflicting_keys("[gain] and [distortion] are both given; give the one that the utility takes")
    if given == ["distortion"] and record.utility.removeprefix(PREFIX) != "expected-distortion":
        raise InputError.key_out_of_place(
            f"[distortion] is given for the utility {shorten(record.utility)}; it belongs to expected-distortion"
        )
    table = record.gain or record.distortion
    workload = None if record.workload is None else Workload.from_table(record.workload)
    return utility_by_name(record.utility, table.matrix if table else None, workload)


def write_problem(path: str | os.PathLike[str], file: ProblemFile) -> None:
    """Write a problem file; `read_problem` returns the same problem.

    Raises
    ------
    InputError
        If the utility has no name (a user's own f), or the file cannot be written.
    """
    write_atomically(path, tomli_w.dumps(_table(file)).encode())


def _table(file: ProblemFile) -> dict[str, Any]:
    utility = file.problem.utility
    if not is_named(utility):
        raise InputError.no_file_format(
            f"the utility {shorten(utility.name)} has no name in problem files; use a named utility"
        )
    table: dict[str, Any] = {"title": file.title}
    if file.citation:
        table["citation"] = file.citation
    table["epsilon"] = file.problem.epsilon.text
    table |= file.problem.sides.beside_as_text()
    table["utility"] = utility.name
    table["prior"] = table_of(file.problem.uncertainty, TableKind.PRIOR)
    matrix = utility.matrix_as_text()
    if matrix is not None:
        table[utility.matrix_name] = {"matrix": matrix}
    workload = utility.workload_table()
    if workload is not None:
        table["workload"] = workload
    if file.expected:
        table["expected"] = dict(file.expected)
    return table
