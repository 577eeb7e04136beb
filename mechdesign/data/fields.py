"""Tables in files, checked key by key before anything is computed from them."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, ValidationError, WithJsonSchema

from mechdesign.data.checks import MOST_SAMPLES
from mechdesign.errors import InputError, shorten

MOST_SYMBOLS = 10_000
_MOST_IN_MATRIX = 1_000_000  # entries that are kept as exact fractions


_FORMS = _TEXT, _TABLE, MATRIX, WINDOWS = "(text)", "(table)", "(matrix)", "(windows)"
"""Of a value; errors of pydantic name them among the keys."""


def _form(value: Any) -> str:
    return _TABLE if isinstance(value, dict) else _TEXT


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else value


def _as_exact(value: Any) -> Any:
    text = _as_text(value)
    if not isinstance(text, str):
        raise ValueError("a number, or a text that states one")  # noqa: TRY004 - pydantic reports it with the key
    return text


def _as_float(value: Any) -> Any:
    return float(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else value


def _few_entries(value: Any) -> Any:
    rows = value if isinstance(value, list) else []
    entries = sum(len(row) for row in rows if isinstance(row, list))
    if entries > _MOST_IN_MATRIX:
        raise ValueError(f"at most {_MOST_IN_MATRIX} entries, and it has {entries}")
    return value


Text = Annotated[str, Field(max_length=2_000)]
ExactNumber = Annotated[
    str,
    BeforeValidator(_as_exact),
    Field(max_length=2_000),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string", "maxLength": 2_000, "pattern": "[0-9]"}]}),
]
"""A number, kept as the text that stands in the file."""
# What is only in the JSON Schema of a number is checked where a message can name the category.
Count = Annotated[int, Field(json_schema_extra={"minimum": 0})]
Samples = Annotated[int, Field(json_schema_extra={"minimum": 1, "maximum": MOST_SAMPLES})]
Number = Annotated[float, BeforeValidator(_as_float), Field(allow_inf_nan=False)]
# Only the first error is reported: a list of millions of wrong entries is not read to its end.
Row = Annotated[list[ExactNumber], Field(max_length=MOST_SYMBOLS, fail_fast=True)]
Matrix = Annotated[list[Row], Field(max_length=MOST_SYMBOLS, fail_fast=True), BeforeValidator(_few_entries)]

AsText = Tag(_TEXT)
AsTable = Tag(_TABLE)
ByForm = Discriminator(_form)
"""For a value that is a text or a table: errors are about the form that is given."""


def finite_decimal(text: str) -> Decimal:
    """Return a number of TOML or JSON as it is written; ValueError if its exponent is out of range."""
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(f"the number {shorten(text)} is out of range") from None


DEFINED = "defined"
"""The key that `defined` leaves in the JSON Schema of a model, for `mechdesign.schemas` to replace."""


def defined(name: str) -> WithJsonSchema:
    """Say which definition of `mechdesign.schemas` describes a table whose keys are read elsewhere."""
    return WithJsonSchema({DEFINED: name})


def has_keys(*keys: str) -> dict[str, Any]:
    """Return the JSON Schema of a table in which keys are there and not null."""
    return {"required": list(keys), "properties": {key: {"not": {"type": "null"}} for key in keys}}


def needs(key: str, *others: str) -> dict[str, Any]:
    """Return the JSON Schema of a table in which a key stands beside others only."""
    return {"if": has_keys(key), "then": has_keys(*others)}


def at_most_one(*keys: str) -> dict[str, Any]:
    """Return the JSON Schema of a table in which no two of these keys stand together."""
    pairs = [has_keys(one, other) for place, one in enumerate(keys) for other in keys[:place]]
    return {"not": {"anyOf": pairs}}


def one_of(*keys: str) -> dict[str, Any]:
    """Return the JSON Schema of a table in which one of these keys stands."""
    return {"oneOf": [has_keys(key) for key in keys]}


def all_of(*schemas: dict[str, Any]) -> ConfigDict:
    """Return the settings of a model whose tables fit other JSON Schemas too."""
    return ConfigDict(json_schema_extra={"allOf": list(schemas)})


class Record(BaseModel):
    """A table in which nothing is converted and nothing unknown is allowed."""

    model_config = ConfigDict(strict=True, extra="forbid")


R = TypeVar("R", bound=Record)


def checked_record(model: type[R], data: object, source: str, *, within: str = "") -> R:
    """Return a record from parsed TOML or JSON.

    Parameters
    ----------
    model : type of Record
        What is accepted.
    data : object
        What the parser returned.
    source : str
        The name of the file, for messages; empty where the caller names it.
    within : str
        The key under which the table stands in the file.

    Raises
    ------
    InputError
        On one line: the source, the first key that is missing, unknown or of another type, its value.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
    location = tuple(part for part in first["loc"] if part not in _FORMS)
    path = (within, *location) if within else location
    where, prefix = ".".join(str(part) for part in path) or "the file", f"{source}: " if source else ""
    if first["type"] == "extra_forbidden":
        fields = ", ".join(sorted(field.alias or name for name, field in _fields(model, first["loc"]).items()))
        raise InputError.unknown_key(f"{prefix}the key {shorten(where)} is unknown; accepted: {fields}")
    if first["type"] == "missing":
        raise InputError.missing_key(f"{prefix}the key {shorten(where)} is missing; add it")
    if first["type"] in {"model_type", "dict_type"}:
        raise InputError.bad_field(f"{prefix}{where} is {shorten(first['input'])}; accepted: a table")
    accepted = first["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    raise InputError.bad_field(f"{prefix}{where} is {shorten(first['input'])}; accepted: {accepted}")


def _fields(model: type[BaseModel], location: tuple[int | str, ...]) -> dict[str, Any]:
    """Return the fields of the table that holds a key."""
    table: Any = model
    for key, form in pairwise(location):
        if isinstance(key, str) and key not in _FORMS:  # a number counts tables of the same kind
            by_alias = {field.alias or name: field for name, field in table.model_fields.items()}
            table = _table_in(by_alias[key].annotation, form if form in _FORMS else None)
    return dict(table.model_fields)


def _table_in(annotation: Any, form: str | int | None = None) -> Any:
    """Return the table that an annotation contains, within lists and alternatives too: that of this form, if given."""
    inside = get_args(annotation)
    if any(isinstance(inner, Tag) and inner.tag == form for inner in inside):
        form = None
    if hasattr(annotation, "model_fields"):
        return annotation if form is None else None
    return next((table for inner in inside if (table := _table_in(inner, form)) is not None), None)
