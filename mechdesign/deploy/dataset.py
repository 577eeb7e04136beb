"""Privatize a folder of files part by part, and count the reports of a folder, on any executor.

A record must be reported once: two fresh reports about it leak more than one. Tasks may be repeated all the same, since
processes are killed, and engines run a task again when they have lost sight of the process that runs it. What makes
this safe is that reports count when their part is *published*: a part gets its name whole, and never in place of
another. A task whose part is there draws nothing; of two that draw at once, one publishes its part, and the other
removes its own unread.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from mechdesign.data.files import STANDARD, hidden_name, is_leftover
from mechdesign.data.parts import PARQUET, Part, Parts, find_parts
from mechdesign.deploy.manifest import Manifest, Terms
from mechdesign.deploy.part_tasks import (
    Job,
    Options,
    Saved,
    absolute,
    check_schemas,
    privatize_part,
    reports_of,
    schema_of,
    without_failures,
)
from mechdesign.deploy.repeated_ids import PrivatizedFile
from mechdesign.deploy.stream import ProgressCallback, RecordFile, ReportFile, check_arguments
from mechdesign.engine import SerialExecutor, executor_of
from mechdesign.engine.executors import OwnPool
from mechdesign.errors import InputError, printable, shorten
from mechdesign.mechanism import Key
from mechdesign.mechanism.keys import STAYS, GivenKey, KeyFile, checked_key
from mechdesign.mechanism.reporting import Deployed
from mechdesign.mechanism.words import second_run

_FOOTERS = 64  # of Parquet files that one task reads
_SECONDS = 5.0  # between two updates of the manifest
_LEFT = 3600.0  # seconds after which a file that nobody writes to is a leftover, whoever else may be at work
_STAY = "what is published stays; mend this in its place, and the same call goes on with the rest"


@dataclass(frozen=True)
class PrivatizedDataset:
    """What a run of `privatize_dataset` did.

    Attributes
    ----------
    records : int
        Number of records reported by this run.
    published : int
        Number of parts that were published while it ran.
    skipped : int
        Number of parts that were there before.
    changed : tuple of str
        Parts of the source that are newer than their reports, which were skipped: what changed there since is not
        reported.
    guarantee : Guarantee or WindowPromise
        What holds for each report.
    repeated, changed_ids : int
        With ids, as in `PrivatizedFile`, added over the parts of this run: ids of different parts are not compared.
    """

    records: int
    published: int
    skipped: int
    changed: tuple[str, ...]
    guarantee: Any
    repeated: int = 0
    changed_ids: int = 0


def privatize_dataset(  # noqa: PLR0913 - what `privatize_file` takes, and an executor
    records: RecordFile,
    mechanism: Deployed,
    destination: ReportFile | str | os.PathLike[str],
    executor: object = None,
    *,
    key: GivenKey | None = None,
    ids: str | None = None,
    unknown: str | None = None,
    missing: str | None = None,
    progress: ProgressCallback | None = None,
) -> PrivatizedDataset:
    r"""Replace a column of records by reports in each file of a folder, and write the files to another folder.

    A part of the output is whole or absent. After a run that was stopped, killed or refused a part, the same call goes
    on: parts that are there are skipped, so that no record is reported twice. A manifest in the folder (which
    ``docs/file-format.md`` describes) fixes what is drawn there, also the key of permanent reports.

    Parameters
    ----------
    records : RecordFile
        Its path is a folder, a glob or a file, and its column is in every part. Parts are CSV files, or Parquet files
        in which the columns that are kept have the same types. Names that begin with ``.`` or ``_`` are skipped.
    mechanism : Mechanism or WindowMechanism
        Its inputs are the categories; windows take any text. On an executor each process proves it once.
    destination : ReportFile or path
        A folder, which is made if it does not exist. It gets the folders of the source. The name of a folder
        ``key=value`` **is kept as a column is**: it tells something of the records in it, which the guarantee does not
        cover.
    executor : None, concurrent.futures.Executor or dask.distributed.Client
        None privatizes one part after the other in this process. Processes find both folders by the same absolute
        path. If the executor ends, as a pool does whose process is killed, call again with another.
    key, ids
        As in `privatize_file`. With an executor give the file of the key, which each task reads; a `Key` itself stays
        in this process.
    unknown, missing
        As in `Mechanism.privatize`. They may be added when a call goes on that refused a record.
    progress : callable, optional
        Receives a line on progress after each part.

    Returns
    -------
    PrivatizedDataset

    Raises
    ------
    InputError
        Naming part and row, for a part that cannot be read, a column that is missing or of another type than in the
        first part, a record outside the categories, a full disk. Other parts are privatized all the same, until a
        hundred have failed; if more than 20 have, a file beside the folder (``.failed.csv`` after its name) lists them
        with their reasons. Before anything is drawn: for a folder that is or lies in the other one, or that holds
        anything but reports of this mechanism from these parts by these arguments, and for a `Key` beside an executor.
    LimitError
        If the executor ends.

    Examples
    --------
    >>> import mechdesign as md, tempfile
    >>> ball = md.L1Ball([0.6, 0.4], radius=0.1, labels=["no", "yes"])
    >>> mechanism = md.design(md.DesignProblem(ball, epsilon=1)).mechanism
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, reports = Path(folder, "records"), Path(folder, "reports")
    ...     source.mkdir()
    ...     for day in (1, 2):
    ...         _ = Path(source, f"{day}.csv").write_text("answer\nyes\nno\n")
    ...     done = privatize_dataset(RecordFile(source, "answer"), mechanism, reports)
    ...     again = privatize_dataset(RecordFile(source, "answer"), mechanism, reports)
    ...     counted = md.deploy.count_dataset(RecordFile(reports, "answer"), mechanism)
    >>> done.records, done.published, again.records, again.skipped, counted.counts.sum().item()
    (4, 2, 0, 2, 4)
    """
    check_arguments("privatize_dataset(records, mechanism, destination)", records, mechanism)
    output = ReportFile.of(destination)
    if output.overwrite:
        raise InputError.second_report(
            "the reports of a data set are not replaced: "
            f"{second_run(permanent=key is not None)}; leave out overwrite=True, or give a new folder"
        )
    mechanism.alphabet(unknown, missing)  # refuses labels that are not inputs
    chosen, runner = checked_key(None, key, ids), executor_of(executor)
    if isinstance(key, Key) and not isinstance(runner, SerialExecutor):
        raise InputError.key_exposed(f"a Key is given beside an executor, and {STAYS}")
    options = Options(unknown, missing, ids, _sent(key, chosen))
    with _folder(output.path) as folder:
        parts = find_parts(records.path)
        parts.check_apart(folder)
        job = _job(parts, records, replace(output, path=str(folder)), mechanism, options)
        name = None if chosen is None else chosen.fingerprint
        planned = _manifest(job, parts, mechanism.fingerprint, name)
        return _run(job, mechanism, parts, planned, executor=runner, progress=progress or _quiet)


def _sent(given: GivenKey | None, key: Key | None) -> Key | KeyFile | None:
    """Return what tasks get the key from: its file, where that is given."""
    if key is None or isinstance(given, Key | None):
        return key
    path = given.path if isinstance(given, KeyFile) else given
    return KeyFile(absolute(path), key.attribute, key.fingerprint)


@contextlib.contextmanager
def _folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Make a folder; remove it again if the block fails before anything is in it."""
    if str(path) == STANDARD:
        raise InputError.cannot_write("the reports of a data set are files; give the path of a folder")
    folder = Path(absolute(path))
    made = False
    try:
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
            made = True
        writable = os.access(folder, os.W_OK | os.X_OK)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError.cannot_write(
            f"cannot write {shorten(str(path))}: {reason}; give the path of a folder in one"
        ) from error
    if not folder.is_dir() or not writable:
        why = "is not writable" if folder.is_dir() else "is not a folder"
        raise InputError.cannot_write(
            f"cannot write {printable(str(path))}: it {why}; give a folder for the reports of a data set"
        )
    try:
        yield folder
    except BaseException:
        if made:
            with contextlib.suppress(OSError):  # something is in it
                folder.rmdir()
        raise


def _job(parts: Parts, records: RecordFile, output: ReportFile, mechanism: Deployed, options: Options) -> Job:
    root = replace(records, path=absolute(parts.root))
    job = Job(root, output, parts.kind, parts.files[0].name, (), mechanism, options)
    for column in (*records.sources, *job.columns):
        if column in parts.keys:
            raise InputError.unknown_column(
                f"the column {shorten(column)} is in the names of folders, not in the parts; these names are kept, "
                "whatever they tell about the records"
            )
    return replace(job, schema=schema_of(job.source(job.first), job.columns))


def _manifest(job: Job, parts: Parts, fingerprint: str, key: str | None) -> Manifest:
    """Return what the folder is to hold."""
    sources: dict[str, str] = {}  # by the names of their reports
    for part in parts:
        _check_text(part.name)
        name = reports_of(part.name, parts.kind)
        if (other := sources.setdefault(name, part.name)) != part.name:
            raise InputError.same_file(
                f"{printable(other)} and {printable(part.name)} would both be reported in {printable(name)}; rename one"
            )
    names = {source: name for name, source in sources.items()}
    records, keep, options = job.records, tuple(sorted(job.output.keep)), job.options
    replaced = (options.unknown, options.missing)
    terms = Terms(fingerprint, records.name, records.header, keep, *replaced, options.ids, key)
    return Manifest(terms, names)


def _check_text(name: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputError.not_utf8(f"the name of the part {printable(name)} is not UTF-8; rename it") from None


def _run(
    job: Job, mechanism: Deployed, parts: Parts, planned: Manifest, *, executor: Executor, progress: ProgressCallback
) -> PrivatizedDataset:
    """Privatize the parts that are not there."""
    folder = Path(job.output.path)
    planned.check(folder)
    before = planned.there(folder)
    waiting = [part.name for part in parts if planned.parts[part.name] not in before]
    if parts.kind == PARQUET:
        _check_footers(job, waiting, executor)
    manifest = planned.agreed(folder)
    changed = tuple(part.name for part in parts if _is_newer(part, folder / manifest.parts[part.name]))
    _make_folders(folder, manifest)
    _remove_leftovers(folder, manifest, _LEFT)
    files: list[PrivatizedFile] = []
    records, written = 0, time.monotonic()
    try:
        with _shared(job, mechanism, executor, waiting) as shared:
            task = partial(privatize_part, shared)
            for drawn in without_failures(task, waiting, executor, _STAY, output=absolute(folder)):
                files.append(drawn)
                records += drawn.records
                progress(f"privatizing: {len(before) + len(files):,} of {len(parts):,} parts, {records:,} records")
                if time.monotonic() - written > _SECONDS:
                    manifest = manifest.write(folder, manifest.there(folder))
                    written = time.monotonic()
    except BaseException:
        if isinstance(executor, OwnPool):  # an interruption would cut its processes off after this, within a part
            executor.end()
            _remove_leftovers(folder, manifest, 0.0)
        with contextlib.suppress(InputError):  # a full disk: the parts that are there say themselves that they are
            manifest.write(folder, manifest.there(folder))
        raise
    _remove_leftovers(folder, manifest, 0.0)
    manifest.write(folder, manifest.there(folder))
    repeated, changed_ids = sum(file.repeated for file in files), sum(file.changed for file in files)
    return PrivatizedDataset(records, len(files), len(before), changed, mechanism.guarantee, repeated, changed_ids)


@contextlib.contextmanager
def _shared(job: Job, mechanism: Deployed, executor: Executor, waiting: Sequence[str]) -> Iterator[Job]:
    """Yield the job as tasks take it.

    For other processes the mechanism is a file, as large as it may be; they find it where they write reports. Only its
    owner may read it, since it may hold counts, and it is removed at the end.
    """
    if isinstance(executor, SerialExecutor) or not waiting:
        yield job
        return
    folder = Path(job.output.path)
    path = folder / hidden_name(".json")
    try:
        with _writing(folder):
            path.touch(0o600, exist_ok=False)
        mechanism.save_for_reports(path)
        yield replace(job, mechanism=Saved(str(path), mechanism.fingerprint, type(mechanism)))
    finally:
        with contextlib.suppress(OSError):
            path.unlink()


def _check_footers(job: Job, names: Sequence[str], executor: Executor) -> None:
    """Check the schemas of Parquet files before anything is drawn; only their ends are read."""
    groups = [tuple(names[start : start + _FOOTERS]) for start in range(0, len(names), _FOOTERS)]
    task = partial(
        check_schemas,
        replace(job, mechanism=Saved("", "", type(job.mechanism)), options=replace(job.options, key=None)),
    )
    for _ in without_failures(task, groups, executor, "nothing was drawn", most=1):
        pass


def _is_newer(part: Part, reports: Path) -> bool:
    """Return whether a part changed after its reports were written."""
    try:
        return Path(part.path).stat().st_mtime > reports.stat().st_mtime
    except OSError:  # there are no reports yet
        return False


def _make_folders(folder: Path, manifest: Manifest) -> None:
    with _writing(folder):
        for inner in {(folder / name).parent for name in manifest.parts.values()}:
            inner.mkdir(parents=True, exist_ok=True)


def _remove_leftovers(folder: Path, manifest: Manifest, age: float) -> None:
    """Remove what killed processes left: files that nobody has written to for some seconds.

    If a process is at work on one of them after all, its part fails, or was published by another: no harm is done.
    """
    oldest = time.time() - age
    for inner in {folder, *((folder / name).parent for name in manifest.parts.values())}:
        with contextlib.suppress(OSError):  # another run may remove them at the same time
            for path in inner.iterdir():
                if is_leftover(path.name) and path.lstat().st_mtime <= oldest:
                    path.unlink(missing_ok=True)


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError.cannot_write(
            f"cannot write {printable(str(folder))}: {error.strerror or error}; give a writable folder with room"
        ) from error


def _quiet(_: str) -> None:
    """Say nothing."""
