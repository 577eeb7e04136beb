"""Columns as a frame of pandas or polars."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from mechdesign.errors import InputError, shorten

LIBRARIES = ("pandas", "polars")


def frame(columns: Mapping[str, Sequence[object]], library: str | None = None) -> Any:
    """Return named columns of equal length as a frame.

    Parameters
    ----------
    columns : mapping
        From the name of each column to its values. None is a missing value.
    library : {"pandas", "polars"}, optional
        Whose frame; by default that of the first of the two that is installed.

    Raises
    ------
    InputError
        For another library, or if it is not installed.

    Examples
    --------
    >>> frame({"label": ["a", "b"], "frequency": [0.25, 0.75]}, "polars").columns
    ['label', 'frequency']
    """
    if library is not None and library not in LIBRARIES:
        raise InputError.unknown_choice(f"the library is {shorten(library)}; accepted: {', '.join(LIBRARIES)}")
    wanted = LIBRARIES if library is None else (library,)
    there = [name for name in wanted if find_spec(name) is not None]
    if not there:
        raise InputError.missing_package(
            f"a frame needs {' or '.join(wanted)}, and it is not installed; install it by pip"
        )
    make: Callable[[Mapping[str, Sequence[object]]], Any] = import_module(there[0]).DataFrame
    return make(dict(columns))


def labelled_frame(
    name: str, labels: Sequence[str], columns: Mapping[str, Sequence[object]], library: str | None = None
) -> Any:
    """Return columns whose rows have labels: the index of a pandas frame, and the first column of one of polars.

    Parameters
    ----------
    name : str
        What the labels are. Where a column has this name, an underscore follows it.
    labels : sequence of str
        One for each row.
    columns, library
        As for `frame`.

    Examples
    --------
    >>> labelled_frame("input", ["no", "yes"], {"y1": [0.75, 0.25]}, "pandas").loc["yes", "y1"].item()
    0.25
    >>> labelled_frame("input", ["no", "yes"], {"y1": [0.75, 0.25]}, "polars").columns
    ['input', 'y1']
    """
    while name in columns:
        name += "_"
    made = frame({name: list(labels), **columns}, library)
    return made.set_index(name) if hasattr(made, "set_index") else made
