"""What runs on an executor for each part of a data set: small values in, numbers out."""

from __future__ import annotations

import contextlib
import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

from mechdesign.data.files import write_atomically
from mechdesign.data.parts import Part
from mechdesign.deploy.repeated_ids import PrivatizedFile
from mechdesign.deploy.stream import RecordFile, ReportFile, privatize_file
from mechdesign.engine import run_tasks
from mechdesign.errors import InputError, MechdesignError, printable, shorten
from mechdesign.mechanism import Key, KeyFile
from mechdesign.mechanism.reporting import Deployed

_MOST_FAILURES = 100  # parts that fail before no other is begun: whoever has many wants to know them at once
_MOST_NAMED = 20  # failed parts that a message names
_MOST_LISTS = 1_000  # lists of failures beside a folder

Item = TypeVar("Item")
Result = TypeVar("Result")
Schema = tuple[tuple[str, str], ...]
Failure = tuple[str, MechdesignError]


@dataclass(frozen=True)
class Saved:
    """A mechanism in a file, which each process reads and proves once, so that tasks do not carry it."""

    path: str
    fingerprint: str
    kind: type[Any]


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
    mechanism: Deployed | Saved
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


def privatize_part(job: Job, name: str) -> PrivatizedFile:
    """Return what was done for a part whose reports are published, by this attempt or by another: a task."""
    records, target = job.source(name), job.target(name)
    try:
        if not os.path.lexists(target.path):
            _check_schema(job, name)
            options = job.options
            return privatize_file(
                records,
                _proved(job.mechanism),
                target,
                key=options.key,
                ids=options.ids,
                unknown=options.unknown,
                missing=options.missing,
            )
    except InputError:
        if not os.path.lexists(target.path):
            raise
    # Another attempt at this part published it: what this one may have drawn is removed, and was never seen.
    return PrivatizedFile(sum(batch.num_rows for batch in records.of_reports(target.path).open().batches))


def _proved(mechanism: Deployed | Saved) -> Deployed:
    return _load(mechanism) if isinstance(mechanism, Saved) else mechanism


@lru_cache(maxsize=1)
def _load(saved: Saved) -> Deployed:
    """Return a mechanism, read and proved once in each process."""
    mechanism: Deployed = saved.kind.load(saved.path)
    if mechanism.fingerprint != saved.fingerprint:
        raise InputError.damaged_file(
            f"{saved.path} is not the mechanism that was written there; see who writes in this folder"
        )
    return mechanism


def schema_of(records: RecordFile, others: Sequence[str]) -> Schema:
    """Return the names and types of the columns that a part gives; the type of its records does not matter."""
    schema = records.open(*others).schema
    sources = set(map(records.named, records.sources))
    return tuple((field.name, "" if field.name in sources else str(field.type)) for field in schema)


def _check_schema(job: Job, name: str) -> None:
    records = job.source(name)
    found = schema_of(records, job.columns)
    if found != job.schema:
        first = part_of(job.records, job.first).path
        raise InputError.parts_differ(
            f"{printable(str(records.path))} has the columns {_listed(found)}, and {printable(str(first))} has "
            f"{_listed(job.schema)}; accepted: the same columns of the same types in the same order"
        )


def check_schemas(job: Job, names: Sequence[str]) -> None:
    """Check the footers of some parts: a task."""
    for name in names:
        _check_schema(job, name)


def without_failures(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    executor: Executor,
    otherwise: str,
    *,
    most: int = _MOST_FAILURES,
    output: str | None = None,
) -> Iterator[Result]:
    """Yield the results of tasks; at the end, or after some failures, raise the first error and name what failed too.

    Parameters
    ----------
    function, items, executor
        As in `run_tasks`.
    otherwise : str
        What becomes of the other tasks, for the message.
    most : int
        Number of failures after which no other task begins.
    output : str, optional
        The folder beside which a file lists the failures if they are more than a message names.
    """
    failures: list[Failure] = []
    with contextlib.closing(run_tasks(function, items, executor, lambda: len(failures) >= most)) as tasks:
        for done in tasks:
            if done.error is not None:
                failures.append((str(done.item), done.error))
            elif done.result is not None:
                yield done.result
    if failures:
        failures.sort(key=itemgetter(0))
        first = failures[0][1]
        raise first.reworded(f"{first}{_others(failures, output)}; {otherwise}")


def _others(failures: Sequence[Failure], output: str | None) -> str:
    """Return which parts failed beside the first, or the file that lists all of them."""
    others = [printable(name) for name, _ in failures[1:]]
    if not others:
        return ""
    text = f"; {len(others)} more part{'s' if len(others) > 1 else ''} failed"
    if len(failures) <= _MOST_NAMED:
        return f"{text}: {', '.join(others)}"
    if output is not None and (file := _listed_failures(failures, output)):
        return f"{text}, and {file} lists all with their reasons"
    named = others[: _MOST_NAMED - 1]
    return f"{text}: {', '.join(named)} and {len(others) - len(named)} others"


def _listed_failures(failures: Sequence[Failure], output: str) -> str:
    """Return the file beside a folder that lists failures, whole and in place of no other; empty if it cannot be."""
    lines = io.StringIO(newline="")
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(("part", "reason"))
    writer.writerows((printable(name), str(error)) for name, error in failures)
    endings = (".failed.csv", *(f".failed-{number}.csv" for number in range(2, _MOST_LISTS)))
    path = next((output + ending for ending in endings if not os.path.lexists(output + ending)), None)
    if path is None:
        return ""
    try:
        write_atomically(path, lines.getvalue().encode(errors="backslashreplace"), overwrite=False)
    except InputError:  # a full disk, or a folder that is not writable: the message names some of the parts instead
        return ""
    return printable(path)


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
