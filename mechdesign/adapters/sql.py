"""Reports in SQL: a function of DuckDB, and a join with the cumulative numerators that any database can run.

A mechanism reports the output whose interval of cumulative numerators holds a uniform integer below 2^bits. Written as
a table of ``input, output, low, high`` that is a join: ``low <= integer AND integer < high``. It is exact to the
numerators if the integer is uniform, and independent for each record. Databases may compute a random function again in
each place where it stands, so the integers stand in a column of a table that is there before the join. A report and its
integer together tell the record: the integers are thrown away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mechdesign.errors import InputError, shorten
from mechdesign.mechanism import Mechanism
from mechdesign.mechanism.keys import GivenKey, key_of
from mechdesign.mechanism.mechanism import check_mechanism

_ROWS = 500  # of one INSERT


def cumulative_table(mechanism: Mechanism) -> Any:
    """Return the cumulative numerators as a table: which integers are reported as which output.

    Parameters
    ----------
    mechanism : Mechanism
        Of any size.

    Returns
    -------
    pyarrow.Table
        ``input`` and ``output`` (text), ``low`` and ``high`` (int64): the output is reported for low <= integer < high.
        Of each input the intervals are those of 0 to 2^bits; outputs of probability 0 have none.

    Examples
    --------
    >>> import mechdesign as md
    >>> promise = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"]))
    >>> warner = md.Mechanism(np.array([[3, 1], [1, 3]]), 2, promise, ["n", "y"])
    >>> [tuple(row.values()) for row in cumulative_table(warner).to_pylist()]
    [('no', 'n', 0, 3), ('no', 'y', 3, 4), ('yes', 'n', 0, 1), ('yes', 'y', 1, 4)]
    """
    import pyarrow as pa

    check_mechanism(mechanism)
    high = np.cumsum(mechanism.numerators, axis=1)
    rows, columns = np.nonzero(mechanism.numerators)
    ends = high[rows, columns]
    return pa.table(
        {
            "input": pa.array([mechanism.inputs[i] for i in rows.tolist()], pa.string()),
            "output": pa.array([mechanism.outputs[j] for j in columns.tolist()], pa.string()),
            "low": ends - mechanism.numerators[rows, columns],
            "high": ends,
        }
    )


def create_table(mechanism: Mechanism, name: str = "mechanism") -> str:
    """Return the statements of standard SQL that create the table of `cumulative_table` and fill it.

    Examples
    --------
    >>> import mechdesign as md
    >>> promise = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2, labels=["no", "don't"]))
    >>> print(create_table(md.Mechanism(np.array([[3, 1], [1, 3]]), 2, promise, ["n", "d"])))
    CREATE TABLE "mechanism" ("input" VARCHAR, "output" VARCHAR, "low" BIGINT, "high" BIGINT);
    INSERT INTO "mechanism" VALUES
    ('no', 'n', 0, 3),
    ('no', 'd', 3, 4),
    ('don''t', 'n', 0, 1),
    ('don''t', 'd', 1, 4);
    """
    table, place = cumulative_table(mechanism), _named(name)
    rows = [
        f"({_text(row['input'])}, {_text(row['output'])}, {row['low']}, {row['high']})" for row in table.to_pylist()
    ]
    parts = [",\n".join(rows[start : start + _ROWS]) for start in range(0, len(rows), _ROWS)]
    columns = '("input" VARCHAR, "output" VARCHAR, "low" BIGINT, "high" BIGINT)'
    return "\n".join([f"CREATE TABLE {place} {columns};", *(f"INSERT INTO {place} VALUES\n{part};" for part in parts)])


def report_query(
    column: str, integer: str, *, records: str = "records", keep: Sequence[str] = (), name: str = "mechanism"
) -> str:
    """Return the query of standard SQL for the reports about a column.

    Parameters
    ----------
    column : str
        The column of categories; the reports have its name.
    integer : str
        The column of the same table with a uniform integer from 0 to 2^bits - 1 for each record, each drawn by itself
        from a source that is secure, and used once.
    records : str
        The table of records.
    keep : sequence of str
        Other columns that are published beside the reports: neither the column itself nor the integers, which together
        with a report tell the category.
    name : str
        The table of `create_table`.

    Returns
    -------
    str
        A query with a row for each record. Its report is NULL for a category that the mechanism does not know, and for
        a missing one: then the guarantee does not hold for this record, so refuse such records before.

    Raises
    ------
    InputError
        If keep is a text, or names the column or the integers, in whatever case, or if these are one column.

    Examples
    --------
    >>> print(report_query("answer", "draw", keep=["week"]))
    SELECT r."week", m."output" AS "answer"
    FROM "records" AS r LEFT JOIN "mechanism" AS m
    ON m."input" = r."answer" AND m."low" <= r."draw" AND r."draw" < m."high"
    """
    if isinstance(keep, str):
        raise InputError.wrong_type(
            f"keep is the text {shorten(keep)}; give a list of columns, such as [{shorten(keep)}]"
        )
    answer, draw, *others = (_named(each) for each in (column, integer, *keep))
    if answer.casefold() == draw.casefold():
        raise InputError.conflicting_arguments(
            f"column and integer are both {shorten(column)}; give the column of categories, and that of the integers"
        )
    if told := next((each for each in others if each.casefold() in {answer.casefold(), draw.casefold()}), None):
        raise InputError.conflicting_arguments(
            f"keep names {shorten(told)}, which tells the category beside its report; leave it out"
        )
    kept = "".join(f"r.{each}, " for each in others)
    return (
        f'SELECT {kept}m."output" AS {answer}\n'
        f"FROM {_named(records)} AS r LEFT JOIN {_named(name)} AS m\n"
        f'ON m."input" = r.{answer} AND m."low" <= r.{draw} AND r.{draw} < m."high"'
    )


def register_duckdb(
    connection: Any, mechanism: Mechanism, name: str = "reported", *, key: GivenKey | None = None, ids: str = "BIGINT"
) -> None:
    """Create a function of DuckDB that reports: ``reported(answer)``, or with a key ``reported(answer, id)``.

    Missing categories and those that the mechanism does not know end the query.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Where the function is created.
    mechanism : Mechanism
        Of the categories.
    name : str
        Of the function.
    key : Key, KeyFile or path, optional
        For permanent reports, which are the same in every query. Without it each call draws new reports from the secure
        randomness of the operating system: call it once for each record, and write what it returns to a table.
    ids : {"BIGINT", "VARCHAR"}
        The type of ids.
    """
    check_mechanism(mechanism)
    if ids not in {"BIGINT", "VARCHAR"}:
        raise InputError.unknown_choice(f"the type of ids is {shorten(ids)}; accepted: BIGINT, VARCHAR")
    chosen = None if key is None else key_of(key)

    def fresh(values: Any) -> Any:
        return mechanism.privatize(values)

    def permanent(values: Any, names: Any) -> Any:
        return mechanism.privatize(values, key=chosen, ids=names)

    types = ["VARCHAR"] if chosen is None else ["VARCHAR", ids]
    # Without null_handling DuckDB reports null for null. Without side_effects it may draw once for equal categories.
    how: Mapping[str, Any] = {"type": "arrow", "null_handling": "special", "side_effects": chosen is None}
    connection.create_function(name, fresh if chosen is None else permanent, types, "VARCHAR", **how)


def _named(name: str) -> str:
    """Return the name of a table or a column as SQL takes it."""
    if not isinstance(name, str) or not name or "\x00" in name:
        raise InputError.wrong_type(f"the name of a table or column is {shorten(name)}; give a text that is not empty")
    return '"' + name.replace('"', '""') + '"'


def _text(label: str) -> str:
    if "\x00" in label or "\\" in label:
        raise InputError.bad_label(
            f"the label {shorten(label)} has a character that databases read differently; rename it"
        )
    return "'" + label.replace("'", "''") + "'"
