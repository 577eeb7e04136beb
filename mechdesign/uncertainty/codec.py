"""How files describe a set: a codec for each class, which reads and writes its two tables.

The guarantee of a mechanism file states every number of a set, with the evidence by which a reader checks them; the
labels are the inputs of the mechanism. The table ``[prior]`` of a problem file has labels of its own. In the place of
numbers it may state what they follow from.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, create_model

from mechdesign.data.fields import MOST_SYMBOLS, ExactNumber, Matrix, Record, Row, Text, checked_record
from mechdesign.data.labels import canonical_labels
from mechdesign.errors import InputError, shorten
from mechdesign.uncertainty.base import UncertaintySet
from mechdesign.uncertainty.bounds_of_counts import BOUNDS_OF_COUNTS
from mechdesign.uncertainty.convex_hull import ConvexHull

Labels = Annotated[list[str | int], Field(max_length=MOST_SYMBOLS)]
BoundName = Annotated[Text, Field(json_schema_extra={"enum": list(BOUNDS_OF_COUNTS)})]
Known = Literal[True]
"""Counts that are the distribution itself: ``known = true``."""
T = TypeVar("T")
_SHAPES: dict[str, Any] = {"number": ExactNumber, "vector": Row, "matrix": Matrix}


class TableKind(Enum):
    """The two tables that describe a set, by the keys under which files hold them."""

    GUARANTEE = "guarantee"
    PRIOR = "prior"


@dataclass(frozen=True)
class Place:
    """Where the table of a set stands.

    Attributes
    ----------
    within : str
        The key of the table in its file.
    source : str
        The name of the mechanism file, for messages; empty in problem files, which name themselves.
    inputs : tuple of str or None
        The labels that a guarantee gives a set; None in problem files, whose tables have labels of their own.
    """

    within: str = TableKind.PRIOR.value
    source: str = ""
    inputs: tuple[str, ...] | None = None

    @property
    def view(self) -> TableKind:
        """Which of the two tables it is."""
        return TableKind.PRIOR if self.inputs is None else TableKind.GUARANTEE

    @property
    def heading(self) -> str:
        """The table as messages name it."""
        return f"[{self.within}]" if self.inputs is None else f"{self.source}: the guarantee"

    @property
    def prefix(self) -> str:
        """What a message about the file begins with."""
        return f"{self.source}: " if self.source else ""

    def inner(self, *keys: object, inputs: tuple[str, ...] | None = None) -> Place:
        """Return the place of a table within this one, for a set with labels of its own if some are given."""
        return Place(".".join((self.within, *map(str, keys))), self.source, self.inputs and (inputs or self.inputs))

    def labels(self, own: list[str | int] | None) -> tuple[str, ...] | None:
        """Return the inputs in a guarantee, and in a problem file the labels of the table, if it has some."""
        return self.inputs if own is None else canonical_labels(own, len(own))


class Codec(ABC):
    """The two tables of one class of sets.

    Attributes
    ----------
    of : type of UncertaintySet
        The class.
    marks : mapping from TableKind to tuple of str
        The keys that identify a table of this class; one of them is enough.
    models : mapping from TableKind to tuple of type of Record
        What such a table may hold, from which its JSON Schema is made too; one of the models fits.
    is_made_of_others : bool
        Whether such a table holds tables of other sets.
    """

    of: type[UncertaintySet]
    marks: Mapping[TableKind, tuple[str, ...]]
    models: Mapping[TableKind, tuple[type[Record], ...]]
    is_made_of_others = False

    @abstractmethod
    def write(self, known: Any, view: TableKind) -> dict[str, Any]:
        """Return the table of a set."""

    @abstractmethod
    def read(self, table: Mapping[str, Any], place: Place) -> UncertaintySet:
        """Return the set of a table.

        Raises
        ------
        InputError
            If the table does not describe a set.
        GuaranteeError
            If a guarantee claims a smaller set than its own evidence supports.
        """

    def keys(self, view: TableKind) -> frozenset[str]:
        """Return all keys that a table may have."""
        return frozenset().union(*map(keys_of, self.models[view]))

    def model(self, table: Mapping[str, Any], view: TableKind) -> type[Record]:
        """Return the model by which a table is read."""
        del table
        return self.models[view][0]

    def record(self, table: Mapping[str, Any], place: Place) -> Any:
        """Return what a table holds, checked key by key."""
        return checked_record(self.model(table, place.view), table, place.source, within=place.within)


def keys_of(model: type[Record]) -> frozenset[str]:
    """Return the keys of a table that a model describes."""
    return frozenset(field.alias or name for name, field in model.model_fields.items())


def views(guarantee: tuple[T, ...], prior: tuple[T, ...] | None = None) -> dict[TableKind, tuple[T, ...]]:
    """Return what belongs to each of the two tables; the same to both, if only one is given."""
    return {TableKind.GUARANTEE: guarantee, TableKind.PRIOR: guarantee if prior is None else prior}


class OwnLabels(Record):
    """The labels beside a table of a set."""

    labels: Labels | None = None


def under(kind: str, model: type[Record], base: type[Record] = Record) -> type[Record]:
    """Return the model of a table that holds another one, ``of_kind``, under the name of a kind of sets."""
    fields: dict[str, Any] = {"of_kind": (model, Field(alias=kind))}
    made: type[Record] = create_model(f"{model.__name__}Table", __base__=base, **fields)
    return made


def parameter_model(
    name: str, parameters: Mapping[str, str], base: type[Record] = Record, *, optional: bool = False
) -> type[Record]:
    """Return the model of a table with parameters, each of them a number, a vector or a matrix."""
    fields: dict[str, Any] = {}
    for parameter, shape in parameters.items():
        if shape not in _SHAPES:
            raise InputError.bad_registration(
                f"the parameter {shorten(parameter)} of {name} is {shorten(shape)}; accepted: {', '.join(_SHAPES)}"
            )
        fields[parameter] = (_SHAPES[shape] | None, None) if optional else (_SHAPES[shape], ...)
    model: type[Record] = create_model(name, __base__=base, **fields)
    return model


def as_text(value: Any) -> Any:
    """Return exact numbers, or lists of them, as files hold them."""
    return [as_text(item) for item in value] if isinstance(value, tuple | list) else str(value)


def parameters_of(known: UncertaintySet, names: Iterable[str]) -> dict[str, Any]:
    """Return some parameters of a set as files hold them."""
    return {name: as_text(getattr(known, name)) for name in names}


def labels_beside(known: UncertaintySet, view: TableKind) -> dict[str, Any]:
    """Return the labels of a set as the first key of its table in a problem file."""
    return {"labels": list(known.labels)} if view is TableKind.PRIOR else {}


class ParameterCodec(Codec):
    """The codec of a class that names its parameters: files hold them as text under the name of its kind.

    Parameters
    ----------
    of : type of UncertaintySet
        With ``kind`` and ``parameters``.
    """

    def __init__(self, of: type[UncertaintySet]) -> None:
        self.of = of
        self.marks = views((of.kind,))
        self._parameters: Mapping[str, str] = getattr(of, "parameters", {})
        model = parameter_model(of.__name__, self._parameters)
        self.models = views((under(of.kind, model),), (under(of.kind, model, OwnLabels),))

    def write(self, known: Any, view: TableKind) -> dict[str, Any]:
        """Return the parameters under the name of the kind."""
        return labels_beside(known, view) | {self.of.kind: parameters_of(known, self._parameters)}

    def read(self, table: Mapping[str, Any], place: Place) -> UncertaintySet:
        """Return the set of its parameters."""
        record = self.record(table, place)
        labels = place.labels(getattr(record, "labels", None))
        made: UncertaintySet = self.of(**record.of_kind.model_dump(), labels=labels)  # type: ignore[call-arg]
        if labels is not None and tuple(made.labels) != labels:
            raise InputError.bad_registration(
                f"a set of the kind {shorten(self.of.kind)} has the labels {shorten(made.labels)} where "
                f"{shorten(labels)} are given; its constructor must use the labels that it is given"
            )
        return made


class _Hull(Record):
    priors: Annotated[Matrix, Field(json_schema_extra={"minItems": 1})]
    weights: Row | None = None


class _LabelledHull(_Hull, OwnLabels): ...


class HullCodec(Codec):
    """The codec of hulls: the priors, and the weights of the mixture at which utility is measured."""

    of = ConvexHull
    marks = views(("priors",))
    models = views((_Hull,), (_LabelledHull,))

    def write(self, known: ConvexHull, view: TableKind) -> dict[str, Any]:
        """Return the priors and the weights, as ratios."""
        return labels_beside(known, view) | parameters_of(known, ("priors", "weights"))

    def read(self, table: Mapping[str, Any], place: Place) -> ConvexHull:
        """Return the hull."""
        record = self.record(table, place)
        return ConvexHull(record.priors, record.weights, place.labels(getattr(record, "labels", None)))


CODECS = (HullCodec(),)
