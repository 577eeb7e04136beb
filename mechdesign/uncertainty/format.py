"""How files describe a set: the two tables of its class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any

from pydantic import Field, create_model

from mechdesign.data.fields import MOST_SYMBOLS, ExactNumber, Matrix, Record, Row, Text, checked_record
from mechdesign.data.labels import canonical_labels
from mechdesign.errors import InputError, shorten
from mechdesign.uncertainty.base import UncertaintySet
from mechdesign.uncertainty.radii import BOUNDS

Labels = Annotated[list[str | int], Field(max_length=MOST_SYMBOLS)]
BoundName = Annotated[Text, Field(json_schema_extra={"enum": list(BOUNDS)})]
_SHAPES: dict[str, Any] = {"number": ExactNumber, "vector": Row, "matrix": Matrix}


class SetFormat(ABC):
    """The tables of one class of sets, in guarantees and in problem files.

    Attributes
    ----------
    of : type of UncertaintySet
        The class.
    guarantee_marks, prior_marks : tuple of str
        The keys that identify a table of this class; one of them is enough.
    guarantee_keys, prior_keys : frozenset of str
        All keys that such a table may have.
    guarantee_models, prior_models : tuple of type of Record
        What such a table may hold, from which its JSON Schema is made; one of the models fits.
    is_made_of_others : bool
        Whether such a table holds tables of other sets.
    """

    of: type[UncertaintySet]
    guarantee_marks: tuple[str, ...]
    prior_marks: tuple[str, ...]
    guarantee_keys: frozenset[str]
    prior_keys: frozenset[str]
    guarantee_models: tuple[type[Record], ...]
    prior_models: tuple[type[Record], ...]
    is_made_of_others = False

    @abstractmethod
    def to_guarantee(self, known: Any) -> dict[str, Any]:
        """Return the table of a set in a guarantee; the guarantee holds the labels outside this table.

        Raises
        ------
        InputError
            If the table could not be read again, for example because a number has too many digits.
        """

    @abstractmethod
    def from_guarantee(
        self, table: Mapping[str, Any], labels: tuple[str, ...], source: str, within: str
    ) -> UncertaintySet:
        """Return the set of a table in a guarantee; messages name the file and the key of the table."""

    @abstractmethod
    def to_prior(self, known: Any) -> dict[str, Any]:
        """Return the table ``[prior]`` of a set."""

    @abstractmethod
    def from_prior(self, table: Mapping[str, Any], within: str) -> UncertaintySet:
        """Return the set of a table ``[prior]``; messages name the key of the table."""


def keys_of(model: type[Record]) -> frozenset[str]:
    """Return the keys of a table that a model describes."""
    return frozenset(field.alias or name for name, field in model.model_fields.items())


class OwnLabels(Record):
    """The labels beside a table of a set."""

    labels: Labels | None = None


def under(kind: str, model: type[Record], base: type[Record] = Record) -> type[Record]:
    """Return the model of a table that holds another one under the name of a kind of sets."""
    fields: dict[str, Any] = {"of_kind": (model, Field(alias=kind))}
    made: type[Record] = create_model(f"{model.__name__}Table", __base__=base, **fields)
    return made


class ParameterFormat(SetFormat):
    """The format of a class that names its parameters: files hold them as text under the name of its kind.

    Parameters
    ----------
    of : type of UncertaintySet
        With ``kind`` and ``parameters``.
    """

    def __init__(self, of: type[UncertaintySet]) -> None:
        self.of = of
        self.guarantee_marks = self.prior_marks = (of.kind,)
        self.guarantee_keys, self.prior_keys = frozenset({of.kind}), frozenset({of.kind, "labels"})

    @cached_property
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

    @property
    def guarantee_models(self) -> tuple[type[Record], ...]:  # type: ignore[override]
        """The table of the parameters."""
        return (under(self.of.kind, self._model),)

    @property
    def prior_models(self) -> tuple[type[Record], ...]:  # type: ignore[override]
        """The table of the parameters, and labels."""
        return (under(self.of.kind, self._model, OwnLabels),)

    def _read(
        self, table: Mapping[str, Any], labels: tuple[str, ...] | None, source: str, within: str
    ) -> UncertaintySet:
        record = checked_record(self._model, table[self.of.kind], source, within=f"{within}.{self.of.kind}")
        made: UncertaintySet = self.of(**record.model_dump(), labels=labels)  # type: ignore[call-arg]
        if labels is not None and tuple(made.labels) != labels:
            raise InputError(
                f"a set of the kind {shorten(self.of.kind)} has the labels {shorten(made.labels)} where "
                f"{shorten(labels)} are given; its constructor must use the labels that it is given"
            )
        return made

    def to_guarantee(self, known: Any) -> dict[str, Any]:
        """Return the parameters as text, under the name of the kind."""
        table = {name: _as_text(getattr(known, name)) for name in self._model.model_fields}
        checked_record(self._model, table, "", within=f"guarantee.{self.of.kind}")
        return {self.of.kind: table}

    def from_guarantee(
        self, table: Mapping[str, Any], labels: tuple[str, ...], source: str, within: str
    ) -> UncertaintySet:
        """Return the set of its parameters."""
        return self._read(table, labels, source, within)

    def to_prior(self, known: Any) -> dict[str, Any]:
        """Return the labels, and the parameters under the name of the kind."""
        return {"labels": list(known.labels), **self.to_guarantee(known)}

    def from_prior(self, table: Mapping[str, Any], within: str) -> UncertaintySet:
        """Return the set of its parameters."""
        own = {key: value for key, value in table.items() if key == "labels"}
        labels = checked_record(OwnLabels, own, "", within=within).labels
        return self._read(table, None if labels is None else canonical_labels(labels, len(labels)), "", within)


def _as_text(value: Any) -> Any:
    return [_as_text(item) for item in value] if isinstance(value, tuple | list) else str(value)
