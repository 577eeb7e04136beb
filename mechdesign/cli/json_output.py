"""The one JSON object that a command prints with ``--json``: what the models of all of these objects share.

The model stands in the file of the command, which builds and prints it; `mechdesign.schemas` makes JSON Schemas of all.
Keys are printed in the order of the model, those of base classes first, and of these the last class before the others.
A key that has a default is printed where it is given, even if it is null, and is absent otherwise.
"""

from __future__ import annotations

import codecs
import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self, SupportsFloat

import click
import numpy as np
from pydantic import BeforeValidator, ConfigDict, Field, SkipValidation

from mechdesign.data.fields import Number, Record
from mechdesign.errors import MechdesignError


def _as_float(value: Any) -> Any:
    return float(value) if isinstance(value, SupportsFloat) else value


def finite(number: float | None) -> float | None:
    """Return a number as JSON can hold it: None where it is infinite."""
    return number if number is not None and math.isfinite(number) else None


def listed(array: Any) -> Any:
    """Return an array of numbers as lists; other values as they are."""
    return array.tolist() if isinstance(array, np.ndarray) else array


Text = Annotated[str, SkipValidation]
"""A text, which may hold the bytes of a file name that is not UTF-8."""
Labels = Sequence[Text]
Whole = Annotated[int, Field(ge=0)]
Hash = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Nearest = Annotated[Number, BeforeValidator(_as_float)]
"""A number that may be given exactly, printed as the nearest float."""
Finite = Annotated[Number | None, BeforeValidator(finite)]
"""A number, or null where it is infinite or missing."""
Reason = Annotated[Text | None, BeforeValidator(lambda text: text or None)]
"""Why something is missing or stopped, or null where the text is empty."""


class Printed(Record):
    """A table of an output; it is given as an instance, or as any object with attributes of the same names."""

    model_config = ConfigDict(from_attributes=True, defer_build=True)

    @classmethod
    def built_from(cls, source: object, **keys: Any) -> Self:
        """Return the table with the keys that are given, and the attributes of an object for others without default."""
        wanted = (name for name, field in cls.model_fields.items() if field.is_required() and name not in keys)
        return cls(**{name: getattr(source, name) for name in wanted}, **keys)


class TableKept(Printed):
    """The constraints that a table keeps beside its promise."""

    invariant: bool
    floors: Mapping[str, Number]
    forbidden: Sequence[Labels]
    columns: Labels


class Promised(Printed):
    """A guarantee, and the leakage that is proved of a mechanism."""

    epsilon: Nearest
    delta: Number | None
    radius: Number | None
    inputs: Labels
    outputs: Labels
    bits: Annotated[int, Field(ge=1, le=52)]
    leakage: Number
    secret: str | None = None
    useful: str | None = None
    not_protected: str | None = None
    lower: Nearest | None = None
    cap: Nearest | None = None
    maximal_leakage: Nearest | None = None
    lower_leakage: Number | None = None
    samples_asserted: Literal[True] | None = None
    table: TableKept | None = None


class Failure(Printed):
    """Why the exit status of a command is not 0: the code and the message of the error on standard error."""

    code: str
    message: Text


class Output(Printed):
    """An object that a command prints; its first key, ``schema``, has the value `carries`.

    The key ``error`` is there if, and only if, the exit status is not 0.
    """

    carries: ClassVar[str]

    error: Failure | None = None

    def dump(self) -> dict[str, Any]:
        """Return the object as it is printed."""
        return {"schema": self.carries, **self.model_dump(by_alias=True, exclude_unset=True)}


class ErrorOutput(Output):
    """Any command that fails before it has a result."""

    carries = "mechdesign/error/1"

    error: Failure


class Titled(Output):
    """An output about a problem, whose title is its first key."""

    title: Text


def print_output(output: Output, error: MechdesignError | None = None) -> None:
    """Print what a command computed, with the error that its exit status stands for, if there is one."""
    if error is not None:
        output = output.model_copy(update={"error": Failure(code=error.code, message=str(error))})
    print_object(output.dump())


def print_object(whole: dict[str, Any]) -> None:
    """Print one JSON object as it is."""
    text = json.dumps(whole, ensure_ascii=False, allow_nan=False, indent=1)
    click.echo(text if _is_utf8(text) else json.dumps(whole, allow_nan=False, indent=1))


def _is_utf8(text: str) -> bool:
    """Return whether standard output writes a text as UTF-8; a file name that is not UTF-8 cannot be written so."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return codecs.lookup(encoding).name == "utf-8"


def given(**keys: Any) -> dict[str, Any]:
    """Return the keys that are not None.

    Examples
    --------
    >>> given(plot=None, lower=1.0)
    {'lower': 1.0}
    """
    return {name: value for name, value in keys.items() if value is not None}
