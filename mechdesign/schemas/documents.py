"""JSON Schemas, made from the models that files are read by and from those of outputs.

A model whose table is read elsewhere says so by the name of a definition (`mechdesign.data.fields.defined`): a set of
priors by the codecs of all classes, those from outside the package among them, and a workload by its own model.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from pydantic import TypeAdapter, create_model
from pydantic.json_schema import GenerateJsonSchema

from mechdesign.cli.json_output import Output
from mechdesign.data.fields import DEFINED, Record
from mechdesign.deploy.manifest import ManifestRecord
from mechdesign.errors import InputError, shorten
from mechdesign.histogram.record_check import ReleaseRecordFile
from mechdesign.mechanism.file_schema import SCHEMA, TWO_SIDED_SCHEMA, MechanismRecord, PromiseRecord
from mechdesign.optimize.kept.result_folder import ResultRecord
from mechdesign.problem_file import ProblemRecord
from mechdesign.records.record_mechanism_files import RecordFileRecord
from mechdesign.schemas.outputs import OUTPUTS, carrying
from mechdesign.sweeps.grid import GridRecord
from mechdesign.uncertainty.codec import TableKind
from mechdesign.uncertainty.nested_codecs import InputsRecord
from mechdesign.uncertainty.registry import codecs
from mechdesign.utility.workload import WorkloadRecord
from mechdesign.windows.prefix_files import PREFIX_SCHEMA, PrefixFileRecord
from mechdesign.windows.window_files import WindowFileRecord

DIALECT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True)
class Described:
    """A kind of JSON that has a schema.

    Attributes
    ----------
    name : str
        By which the schema is asked for.
    what : str
        What it is, in a few words.
    models : tuple of type of Record
        The models that the schema is made from, of which one fits; those of outputs are without the key ``schema``.
    carries : tuple of str
        What the key ``schema`` of such a JSON says; empty for files in TOML, which have no such key.
    is_open : bool
        Whether there may be more keys: an output may get some, while a file with an unknown key is refused.
    """

    name: str
    what: str
    models: tuple[type[Record], ...]
    carries: tuple[str, ...] = ()
    is_open: bool = False

    @property
    def identifier(self) -> str:
        """The ``$id`` of the schema; its last part is the version."""
        last = self.carries[-1] if self.carries else f"mechdesign/{self.name}/1"
        return "urn:" + last.replace("/", ":")


_FILES = (
    Described("mechanism", "a mechanism file", (MechanismRecord,), (SCHEMA, TWO_SIDED_SCHEMA)),
    Described("problem-file", "a problem file, its TOML as JSON", (ProblemRecord,)),
    Described("sweep-file", "a sweep file, its TOML as JSON", (GridRecord,)),
    Described("sweep-result", "a record in the folder of a sweep", (ResultRecord,), ("mechdesign/sweep-result/1",)),
    Described(
        "histogram-record", "the record of a histogram", (ReleaseRecordFile,), ("mechdesign/histogram-record/1",)
    ),
    Described("dataset", "the manifest of a folder of reports", (ManifestRecord,), ("mechdesign/dataset/1",)),
    Described("windows", "a file of windows", (WindowFileRecord,), ("mechdesign/windows/1",)),
    Described("prefix-windows", "a file of windows of prefixes", (PrefixFileRecord,), (PREFIX_SCHEMA,)),
    Described("records", "a file of views of records", (RecordFileRecord,), ("mechdesign/records/1",)),
)


def described() -> tuple[Described, ...]:
    """Return all that has a schema: files, then what commands print.

    Examples
    --------
    >>> [entry.name for entry in described()][:3]
    ['mechanism', 'problem-file', 'sweep-file']
    """
    printed = (
        Described(
            models[0].carries.split("/")[1],
            f"printed by mechdesign {command} --json",
            models,
            (models[0].carries,),
            is_open=True,
        )
        for command, models in OUTPUTS
    )
    return (*_FILES, *printed)


def document(name: str) -> dict[str, Any]:
    """Return a JSON Schema.

    Parameters
    ----------
    name : str
        As `described` has it, or what the key ``schema`` of a JSON says, such as ``"mechdesign/mechanism/1"``.

    Raises
    ------
    InputError
        For another name.

    Examples
    --------
    >>> document("mechanism")["$id"], sorted(document("mechdesign/key/1")["required"])
    ('urn:mechdesign:mechanism:2', ['output', 'schema'])
    """
    entry = next((entry for entry in described() if name in (entry.name, *entry.carries)), None)
    if entry is None:
        accepted = ", ".join(entry.name for entry in described())
        raise InputError.unknown_choice(f"the schema {shorten(name)} is unknown; accepted: {accepted}")
    models = [carrying(model) if issubclass(model, Output) else model for model in entry.models]
    body = _schema(models)
    definitions: dict[str, Any] = body.pop("$defs", {})
    _resolve([body, *definitions.values()], definitions)
    if entry.is_open:
        _open([body, definitions])
    head = {"$schema": DIALECT, "$id": entry.identifier, "title": entry.what}
    return {**head, **body, **({"$defs": definitions} if definitions else {})}


class _Plain(GenerateJsonSchema):
    """Without a title for every key, which would repeat the key."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - as pydantic calls it
        """Return that there is to be no title."""
        return False


def _schema(models: Iterable[type[Record]]) -> dict[str, Any]:
    """Return the JSON Schema of a table that one of the models fits."""
    adapter: TypeAdapter[Any] = TypeAdapter(reduce(or_, models))
    made = adapter.json_schema(schema_generator=_Plain)
    for table in (made, *made.get("$defs", {}).values()):
        table.pop("title", None)
    return made


def _resolve(node: Any, definitions: dict[str, Any]) -> None:
    """Replace the names of definitions in a schema by references to them, and add these definitions."""
    if isinstance(node, list):
        for item in node:
            _resolve(item, definitions)
    elif isinstance(node, dict):
        name = node.pop(DEFINED, None)
        if name is not None:
            node["$ref"] = f"#/$defs/{name}"
            if name not in definitions:
                _define(name, definitions)
        for item in list(node.values()):
            _resolve(item, definitions)


def _define(name: str, definitions: dict[str, Any]) -> None:
    """Add a definition, and those that it refers to."""
    made = _schema(_models(name))
    own = made.pop("$defs", {})
    definitions[name] = made
    for other, schema in own.items():
        _resolve(schema, definitions)
        if definitions.setdefault(other, schema) != schema:
            raise RuntimeError(f"two definitions have the name {other}")


def _models(name: str) -> list[type[Record]]:
    """Return the models of a definition, of which one fits."""
    if name == "workload":
        return [WorkloadRecord]
    view, base, may_nest = _TABLES_OF_SETS[name]
    return [
        create_model(f"{name}-{codec.of.kind}{place or ''}", __base__=(model, base), __doc__=model.__doc__)
        for codec in codecs()
        if may_nest or not codec.is_made_of_others
        for place, model in enumerate(codec.models[view])
    ]


# Which of its two tables describes a set, the keys beside those of the set, and whether the set may hold others.
_TABLES_OF_SETS: dict[str, tuple[TableKind, type[Record], bool]] = {
    "guarantee": (TableKind.GUARANTEE, PromiseRecord, True),
    "factor": (TableKind.GUARANTEE, InputsRecord, True),
    "limit": (TableKind.GUARANTEE, Record, False),
    "prior": (TableKind.PRIOR, Record, True),
    "limit-prior": (TableKind.PRIOR, Record, False),
}


def _open(node: Any) -> None:
    """Let tables have more keys than a schema names."""
    for item in node if isinstance(node, list) else list(node.values()):
        if isinstance(item, list | dict):
            _open(item)
    if isinstance(node, dict) and node.get("additionalProperties") is False:
        del node["additionalProperties"]
