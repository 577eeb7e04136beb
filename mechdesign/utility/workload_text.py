"""Workloads as a short text, for the command line."""

from __future__ import annotations

import tomllib
from typing import Any

from mechdesign.data.fields import finite_decimal
from mechdesign.errors import InputError, shorten
from mechdesign.utility.given_queries import Mean, Weights
from mechdesign.utility.queries import NAMED, Marginals, SomeSymbols

_SHORT = "frequencies, prefix, marginals=2x3, symbols=a,b, weights=1,2 or scores=1,2"


def table_of_text(text: str) -> dict[str, Any]:
    """Return the table that a short text stands for.

    Raises
    ------
    InputError
        For an unknown name or key, and numbers that are not separated as they should be.

    Examples
    --------
    >>> table_of_text("prefix"), table_of_text("symbols=a,b")
    ({'name': 'prefix'}, {'symbols': ['a', 'b']})
    """
    key, equals, value = text.strip().partition("=")
    key, value = key.strip(), value.strip()
    if not equals:
        if key not in NAMED:
            raise InputError.bad_workload(f"the workload {shorten(text)} is unknown; accepted: {_SHORT}")
        return {"name": key}
    if value[:1] in {"[", "{"}:
        try:
            return tomllib.loads(f"{key} = {value}", parse_float=finite_decimal)
        except (ValueError, RecursionError):
            raise InputError.bad_workload(
                f"the workload {shorten(text)} is not TOML; accepted: {_SHORT}, or a matrix=[[1, 0]]"
            ) from None
    if key == Marginals.key:
        return _parsed_marginals(value, text)
    if key == SomeSymbols.key:
        return {key: [label.strip() for label in value.split(",")]}
    if key in {Weights.key, Mean.key}:
        return {key: _parsed_numbers(value, text)}
    raise InputError.bad_workload(f"the workload {shorten(text)} is unknown; accepted: {_SHORT}")


def _parsed_marginals(value: str, text: str) -> dict[str, Any]:
    sizes, comma, rest = value.partition(",")
    name, _, ways = rest.partition("=")
    try:
        table: dict[str, Any] = {"marginals": [_integer(size) for size in sizes.split("x")]}
        if comma:
            if name.strip() != "ways":
                raise ValueError
            table["ways"] = _integer(ways)
    except ValueError:
        raise InputError.bad_workload(
            f"the workload {shorten(text)} is malformed; accepted: sizes such as marginals=2x3, or with ways, "
            "marginals=2x3x2,ways=2"
        ) from None
    return table


def _integer(text: str) -> int:
    """Return a whole number of few digits; ValueError for every other text."""
    if not text.strip().isdecimal() or len(text) > 9:
        raise ValueError
    return int(text)


def _parsed_numbers(value: str, text: str) -> list[str] | dict[str, str]:
    """Return numbers, or numbers by label."""
    parts = value.split(",")
    if not any(":" in part for part in parts):
        return parts
    pairs = [part.rpartition(":") for part in parts]
    if not all(colon for _, colon, _ in pairs):
        raise InputError.bad_workload(
            f"the workload {shorten(text)} has numbers with and without labels; give labels with all or with none"
        )
    found = {label.strip(): number for label, _, number in pairs}
    if len(found) < len(pairs):
        raise InputError.label_twice(f"the workload {shorten(text)} has a label twice; labels must differ")
    return found
