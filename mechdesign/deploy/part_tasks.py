"""What runs on an executor for each part of a data set: small values in, numbers out."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from mechdesign.data.parts import Part
from mechdesign.deploy.stream import RecordFile, ReportFile, privatize_file
from mechdesign.engine import Finished
from mechdesign.errors import InputError, printable, shorten
from mechdesign.mechanism import Key, KeyFile, Mechanism

_MOST_FAILURES = 10  # parts that fail before no other is begun: whoever has many wants to know several at once

Result = TypeVar("Result")
Schema = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Saved:
    """A mechanism in a file, which each process reads and proves once, so that tasks do not carry it."""

    path: str
    fingerprint: str


@dataclass(frozen=True)
class Options:
    """How values are replaced, and from what permanent reports are drawn: as in `privatize_file`."""

    unknown: str | None
    missing: str | None
    ids: str | None
    key: Key | KeyFile | None = field(repr=False)  # a file is read by each task


@dataclass(frozen=True)
class Job:
    """What all tasks of a run share; a task is the name of a part."""

    records: RecordFile  # of the root
    output: ReportFile  # of the root
    kind: str
    first: str  # the part whose schema the others have
    schema: Schema
    mechanism: Mechanism | Saved
    options: Options

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read beside the records."""
        ids = self.options.ids
        return tuple(self.output.keep) if ids is None or ids in self.output.keep else (*self.output.keep, ids)

    def source(self, name: str) -> RecordFile:
        """Return the records of a part."""
        return part_of(self.records, name)

    def target(self, name: str) -> ReportFile:
        """Return the reports of a part."""
        return replace(self.output, path=str(Path(self.output.path, reports_of(name, self.kind))))


def privatize_part(job: Job, name: str) -> int:
    """Return the number of records of a part whose reports are published, by this attempt or by another: a task."""
    records, target = job.source(name), job.target(name)
    try:
        if not os.path.lexists(target.path):
            _check_schema(job, name)
            options = job.options
            return privatize_file(
                records,
                target,
                _proved(job.mechanism),
                key=options.key,
                ids=options.ids,
                unknown=options.unknown,
                missing=options.missing,
            )
    except InputError:
        if not os.path.lexists(target.path):
            raise
    # Another attempt at this part published it: what this one may have drawn is removed, and was never seen.
    return sum(batch.num_rows for batch in replace(records, path=target.path).open().batches)


def _proved(mechanism: Mechanism | Saved) -> Mechanism:
    return mechanism if isinstance(mechanism, Mechanism) else _load(mechanism)


@lru_cache(maxsize=1)
def _load(saved: Saved) -> Mechanism:
    """Return a mechanism, read and proved once in each process."""
    mechanism = Mechanism.load(saved.path)
    if mechanism.fingerprint != saved.fingerprint:
        raise InputError(f"{saved.path} is not the mechanism that was written there; see who writes in this folder")
    return mechanism


def schema_of(records: RecordFile, others: Sequence[str]) -> Schema:
    """Return the names and types of the columns that a part gives; the type of its records does not matter."""
    schema = records.open(*others).schema
    return tuple((field.name, "" if field.name == records.name else str(field.type)) for field in schema)


def _check_schema(job: Job, name: str) -> None:
    records = job.source(name)
    found = schema_of(records, job.columns)
    if found != job.schema:
        first = part_of(job.records, job.first).path
        raise InputError(
            f"{printable(str(records.path))} has the columns {_listed(found)}, and {printable(str(first))} has "
            f"{_listed(job.schema)}; accepted: the same columns of the same types in the same order"
        )


def check_schemas(job: Job, names: Sequence[str]) -> None:
    """Check the footers of some parts: a task."""
    for name in names:
        _check_schema(job, name)


def without_failures(
    tasks: Generator[Finished[Any, Result], None, None], otherwise: str, *, most: int = _MOST_FAILURES
) -> Iterator[Result]:
    """Yield the results of tasks; at the end, or after some failures, raise the first error and tell how many failed.

    Parameters
    ----------
    tasks : generator of Finished
        It is closed, so that no other task begins.
    otherwise : str
        What becomes of the other tasks, for the message.
    most : int
        Number of failures after which no other task is awaited.
    """
    failures = []
    with contextlib.closing(tasks):
        for done in tasks:
            if done.error is not None:
                failures.append((done.item, done.error))
            elif done.result is not None:
                yield done.result
            if len(failures) == most:
                break
    if failures:
        first = min(failures, key=lambda failure: failure[0])[1]
        others = len(failures) - 1
        more = f"; {others} more part{'s' if others > 1 else ''} failed" if others else ""
        raise type(first)(f"{first}{more}; {otherwise}")


def part_of(records: RecordFile, name: str) -> RecordFile:
    """Return a part of a data set whose root is given."""
    return replace(records, path=str(Path(records.path, name)))


def reports_of(name: str, kind: str) -> str:
    """Return the name of the reports of a part: CSV files are not compressed."""
    return name if name.endswith(kind) else f"{Part(name, name).stem}{kind}"


def absolute(path: str | os.PathLike[str]) -> str:
    """Return a path as other processes find it."""
    return os.path.abspath(path)  # noqa: PTH100 - names of links stay


def _listed(schema: Schema) -> str:
    return shorten(", ".join(f"{name} ({kind})" if kind else name for name, kind in schema), 120)
