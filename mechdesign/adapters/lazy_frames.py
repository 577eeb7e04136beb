"""Permanent reports as an expression of polars, which is right for lazy frames."""

from __future__ import annotations

from typing import Any

from mechdesign.data.checks import check_kind
from mechdesign.mechanism import Mechanism
from mechdesign.mechanism.keys import GivenKey, key_of
from mechdesign.mechanism.mechanism import check_mechanism


def reported(
    column: str,
    ids: str,
    mechanism: Mechanism,
    key: GivenKey,
    *,
    unknown: str | None = None,
    missing: str | None = None,
) -> Any:
    """Return an expression of polars for the permanent reports about a column.

    A lazy frame may compute a column several times. Fresh reports would then differ, and two reports about a record
    leak more than one. Permanent reports depend on the key, the id and the value alone, so that it does not matter how
    often they are computed, nor in which parts.

    Parameters
    ----------
    column : str
        The column of categories. The reports have its name.
    ids : str
        The column that says whom a record is about: text or integers that are in the data, not row numbers.
    mechanism : Mechanism
        Of the categories.
    key : Key, KeyFile or path
        As for `Mechanism.privatize`; give each attribute its own, by `Key.for_attribute`.
    unknown, missing : str, optional
        The inputs that replace values outside the categories, and missing values; without them such values are refused.

    Returns
    -------
    polars.Expr

    Examples
    --------
    >>> import polars as pl
    >>> import mechdesign as md
    >>> promise = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"]))
    >>> warner = md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise, outputs=["no", "yes"])
    >>> people = pl.LazyFrame({"name": ["ann", "bob"], "answer": ["yes", "no"]})
    >>> plan = people.with_columns(reported("answer", "name", warner, md.Key.generate()))
    >>> plan.collect().equals(plan.collect())
    True
    """
    import polars as pl

    check_mechanism(mechanism)
    for name, what in ((column, "column"), (ids, "ids")):
        check_kind(name, str, f"the argument {what}", "the name of a column")
    chosen = key_of(key)

    def reports(batch: Any) -> Any:
        texts = batch.struct[0].cast(pl.String)
        return mechanism.privatize(texts, key=chosen, ids=batch.struct[1], unknown=unknown, missing=missing)

    # Selectors take a name as it is; `pl.col` takes ^...$ as a pattern and * as all columns.
    value, whom = (pl.selectors.by_name(name).as_expr() for name in (column, ids))
    pair = pl.struct(value.alias("value"), whom.alias("id"))
    return pair.map_batches(reports, return_dtype=pl.String, is_elementwise=True).alias(column)
