"""How files describe a set: the two tables of its class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, create_model

from mechdesign.data.fields import MOST_SYMBOLS, ExactNumber, Matrix, Record, Row, checked_record
from mechdesign.errors import InputError, shorten
from mechdesign.uncertainty.base import UncertaintySet

Labels = Annotated[list[str | int], Field(max_length=MOST_SYMBOLS)]
_SHAPES: dict[str, Any] = {"number": ExactNumber, "vector": Row, "matrix": Matrix}


class SetFormat(ABC):
    """The tables of one class of sets, in guarantees and in problem files.

    Attributes
    ----------
    of : type of UncertaintySet
        The class.
    guarantee_marks, prior_marks : tuple of str
        The keys any one of which tells that a table is of this class.
    guarantee_model, prior_model : type of Record
        The keys that such a table may have, and what they hold.
    """

    of: type[UncertaintySet]
    guarantee_marks: tuple[str, ...]
    prior_marks: tuple[str, ...]
    guarantee_model: type[Record]
    prior_model: type[Record]

    @abstractmethod
    def to_guarantee(self, known: Any) -> dict[str, Any]:
        """Return the table of a set in a guarantee, whose labels stand beside it."""

    @abstractmethod
    def from_guarantee(
        self, table: Mapping[str, Any], labels: tuple[str, ...], source: str, key: str
    ) -> UncertaintySet:
        """Return the set of a table that stands in a guarantee under a key."""

    @abstractmethod
    def to_prior(self, known: Any) -> dict[str, Any]:
        """Return the table ``[prior]`` of a set."""

    @abstractmethod
    def from_prior(self, table: Mapping[str, Any]) -> UncertaintySet:
        """Return the set of a table ``[prior]``."""


def keys_of(model: type[Record]) -> frozenset[str]:
    """Return the keys of a table that a model describes."""
    return frozenset(field.alias or name for name, field in model.model_fields.items())


class ParameterFormat(SetFormat):
    """The format of a class that names its parameters: they stand as text under the name of its kind.

    Parameters
    ----------
    of : type of UncertaintySet
        With ``kind`` and ``parameters``.
    """

    def __init__(self, of: type[UncertaintySet]) -> None:
        self.of = of
        self.guarantee_marks = self.prior_marks = (of.kind,)
        self._parameters = self._model()
        under_kind: dict[str, Any] = {of.kind: (self._parameters, ...)}
        self.guarantee_model = create_model(of.__name__, __base__=Record, **under_kind)
        self.prior_model = create_model(of.__name__, __base__=Record, labels=(Labels | None, None), **under_kind)

    def _model(self) -> type[Record]:
        parameters: Mapping[str, str] = getattr(self.of, "parameters", {})
        for name, shape in parameters.items():
            if shape not in _SHAPES:
                raise InputError(
                    f"the parameter {shorten(name)} of {self.of.__name__} is {shorten(shape)}; "
                    f"accepted: {', '.join(_SHAPES)}"
                )
        fields: dict[str, Any] = {name: (_SHAPES[shape], ...) for name, shape in parameters.items()}
        model: type[Record] = create_model(self.of.__name__, __base__=Record, **fields)
        return model

    def _read(
        self, table: Mapping[str, Any], labels: tuple[str, ...] | None, source: str, within: str
    ) -> UncertaintySet:
        record = checked_record(self._parameters, table[self.of.kind], source, within=within)
        made: UncertaintySet = self.of(**record.model_dump(), labels=labels)  # type: ignore[call-arg]
        return made

    def to_guarantee(self, known: Any) -> dict[str, Any]:
        """Return the parameters as text, under the name of the kind."""
        return {self.of.kind: {name: _as_text(getattr(known, name)) for name in self._parameters.model_fields}}

    def from_guarantee(
        self, table: Mapping[str, Any], labels: tuple[str, ...], source: str, key: str
    ) -> UncertaintySet:
        """Return the set of its parameters."""
        return self._read(table, labels, source, f"{key}.{self.of.kind}")

    def to_prior(self, known: Any) -> dict[str, Any]:
        """Return the labels, and the parameters under the name of the kind."""
        return {"labels": list(known.labels), **self.to_guarantee(known)}

    def from_prior(self, table: Mapping[str, Any]) -> UncertaintySet:
        """Return the set of its parameters."""
        return self._read(table, table.get("labels"), "", f"prior.{self.of.kind}")


def _as_text(value: Any) -> Any:
    return [_as_text(item) for item in value] if isinstance(value, tuple | list) else str(value)
