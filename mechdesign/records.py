"""Tables in files, checked key by key before anything is computed from them."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from mechdesign.errors import InputError, shorten

MOST_SYMBOLS = 10_000


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else value


def _as_float(value: Any) -> Any:
    return float(value) if isinstance(value, int | Decimal) and not isinstance(value, bool) else value


Text = Annotated[str, Field(max_length=2_000)]
ExactNumber = Annotated[str, BeforeValidator(_as_text), Field(max_length=2_000)]
"""A number as the text it was written as."""
Number = Annotated[float, BeforeValidator(_as_float), Field(allow_inf_nan=False)]
Row = Annotated[list[ExactNumber], Field(max_length=MOST_SYMBOLS)]
Matrix = Annotated[list[Row], Field(max_length=MOST_SYMBOLS)]


def finite_decimal(text: str) -> Decimal:
    """Return a number of TOML or JSON as it is written; ValueError where its exponent is beyond all bounds."""
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(f"the number {shorten(text)} is out of range") from None


class Record(BaseModel):
    """A table in which nothing is converted and nothing unknown is allowed."""

    model_config = ConfigDict(strict=True, extra="forbid")


R = TypeVar("R", bound=Record)


def checked_record(model: type[R], data: object, source: str) -> R:
    """Return a record from parsed TOML or JSON.

    Raises
    ------
    InputError
        On one line: the source, the first key that is missing, unknown or of another type, its value.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "the file"
    if first["type"] == "extra_forbidden":
        fields = ", ".join(sorted(field.alias or name for name, field in _fields(model, first["loc"]).items()))
        raise InputError(f"{source}: the key {shorten(where)} is unknown; accepted: {fields}")
    if first["type"] == "missing":
        raise InputError(f"{source}: the key {shorten(where)} is missing; add it")
    if first["type"] in {"model_type", "dict_type"}:
        raise InputError(f"{source}: {where} is {shorten(first['input'])}; accepted: a table")
    accepted = first["msg"].removeprefix("Input should be ").removeprefix("Value error, ")
    raise InputError(f"{source}: {where} is {shorten(first['input'])}; accepted: {accepted}")


def _fields(model: type[BaseModel], location: tuple[int | str, ...]) -> dict[str, Any]:
    """Return the fields of the table that holds a key."""
    fields: dict[str, Any] = dict(model.model_fields)
    for part in location[:-1]:
        by_alias = {field.alias or name: field for name, field in fields.items()}
        inner = [a for a in getattr(by_alias[str(part)].annotation, "__args__", ()) if hasattr(a, "model_fields")]
        table = inner[0] if inner else by_alias[str(part)].annotation
        fields = dict(table.model_fields)
    return fields
