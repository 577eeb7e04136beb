"""Count the reports of a folder part by part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.checks import check_kind
from mechdesign.data.group_keys import named, text_type
from mechdesign.data.part_columns import check_folder_values
from mechdesign.data.parts import Part, Parts, find_parts
from mechdesign.deploy.manifest import has_manifest, read_manifest
from mechdesign.deploy.part_tasks import absolute, part_of, without_failures
from mechdesign.deploy.repeated_ids import FirstReports
from mechdesign.deploy.report_counts import GroupCounter, GroupCounts, count_reports, group_columns
from mechdesign.deploy.stream import ProgressCallback, RecordFile
from mechdesign.engine import SerialExecutor, executor_of
from mechdesign.errors import InputError, printable
from mechdesign.mechanism.mechanism import check_mechanism
from mechdesign.mechanism.origin import ReportOrigin
from mechdesign.mechanism.reporting import Deployed
from mechdesign.numerics.arrays import frozen


@dataclass(frozen=True, eq=False)
class DatasetCounts:
    """How often each report occurs in a folder.

    Attributes
    ----------
    counts : int64 array, shape (M,)
        In the order of the outputs of the mechanism.
    parts : int
        Number of files that were counted.
    planned : int
        Number of files that the folder is to have by its manifest; that of the files if it has no manifest.
    groups : GroupCounts, optional
        The counts by groups, if they were asked for.
    ids : str, optional
        The column of ids of permanent reports, where these were counted without looking at ids: those that an id has
        several of are not independent, so that errors are too small.
    """

    counts: NDArray[np.int64]
    parts: int
    planned: int
    groups: GroupCounts | None = None
    ids: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", frozen(self.counts))

    def __reduce__(self) -> tuple[Any, ...]:
        # The array of a copy is read-only too.
        return DatasetCounts, (self.counts, self.parts, self.planned, self.groups, self.ids)


def count_dataset(
    reports: RecordFile,
    mechanism: Deployed,
    executor: object = None,
    *,
    by: Sequence[str] = (),
    first: FirstReports | None = None,
    progress: ProgressCallback | None = None,
) -> DatasetCounts:
    """Count the reports in the files of a folder: the same counts, to the bit, as from one file with all rows.

    Parameters
    ----------
    reports : RecordFile
        Its path is a folder, a glob or a file.
    mechanism : Mechanism or WindowMechanism
        Its outputs are the reports that may occur.
    executor
        As in `privatize_dataset`. A task returns its counts and nothing else.
    by : sequence of str
        Columns by which reports are grouped, as in `count_reports`; or keys of hive partitions, whose values are text.
        Files that hold such a column too have the same values in it.
    first : FirstReports, optional
        As in `count_reports`, over all parts, which are then counted in this process, in the order of their names.
    progress : callable, optional
        Receives a line on progress after each part.

    Raises
    ------
    InputError
        As `count_reports` does; if the manifest of the folder has the fingerprint of another mechanism, or does not
        name a file that is there; for an executor beside ``first``.
    LimitError
        If there are too many groups.
    """
    check_kind(reports, RecordFile, "reports", "a RecordFile, such as RecordFile(path, column)")
    check_mechanism(mechanism, deployed=True)
    parts = find_parts(reports.path)
    planned, ids = _check_manifest(parts, mechanism)
    runner = executor_of(executor)
    if first is not None and not isinstance(runner, SerialExecutor):
        raise InputError.conflicting_arguments(
            "ids are compared in one process; leave the executor out (--jobs, --scheduler)"
        )
    counts, counter = np.zeros(len(mechanism.outputs), dtype=np.int64), None
    root, names = replace(reports, path=absolute(parts.root)), _group_columns(by, reports, parts)
    task = partial(_counts, root, mechanism.origin, names, first)
    found = without_failures(task, [part.name for part in parts], runner, "no reports are counted")
    for number, (name, done, groups) in enumerate(found, 1):
        counts += done
        if groups is not None:
            counter = counter or GroupCounter(names, groups.types, mechanism.outputs)
            counter.add_counts(groups, str(part_of(root, name).path))
        if progress is not None:
            progress(f"counting: {number:,} of {len(parts):,} parts, {counts.sum():,} reports")
    return DatasetCounts(
        counts, len(parts), planned, None if counter is None else counter.counted(), ids if first is None else None
    )


def _group_columns(by: Sequence[str], reports: RecordFile, parts: Parts) -> tuple[str, ...]:
    """Return the names of group columns, of which those of hive partitions need not be indices without a header."""
    inside = [name for name in by if name not in parts.keys]
    named_inside = iter(group_columns(inside, reports) if inside else ())
    names = [name if name in parts.keys else next(named_inside) for name in by]
    return named(names) if names else ()


def _counts(
    reports: RecordFile, origin: ReportOrigin, by: tuple[str, ...], first: FirstReports | None, name: str
) -> tuple[str, NDArray[np.int64], GroupCounts | None]:
    """Count the reports of a part: a task."""
    part, keys = part_of(reports, name), dict(Part(name, name).keys)
    inside = [column for column in by if column not in keys]
    check_folder_values(part.path, {column: keys[column] for column in by if column in keys}, header=part.header)
    if not by:
        return name, count_reports(part, origin, first=first), None
    if first is not None:
        first = replace(first, part=tuple(keys[column] for column in by if column in keys))
    if inside:
        counted = count_reports(part, origin, by=inside, first=first)
        groups, counts, types = counted.groups, counted.counts, dict(zip(inside, counted.types, strict=True))
    else:
        counts, types = count_reports(part, origin, first=first)[None, :], {}
        groups = ((),) if counts.any() else ()
        counts = counts[: len(groups)]
    whole = []
    for group in groups:
        values = {**keys, **dict(zip(inside, group, strict=True))}
        whole.append(tuple(values[column] or None if column in keys else values[column] for column in by))
    kinds = tuple(types[column] if column in types else text_type() for column in by)
    return name, counts.sum(axis=0), GroupCounts(by, kinds, tuple(whole), origin.outputs, counts)


def _check_manifest(parts: Parts, mechanism: Deployed) -> tuple[int, str | None]:
    """Return the number of parts that are to be there, and the ids of permanent reports; refuse other mechanisms."""
    root = Path(parts.root)
    if not has_manifest(root):
        return len(parts), None
    manifest = read_manifest(root)
    mechanism.origin.check_fingerprint(manifest.terms.fingerprint, parts.root)
    planned = set(manifest.parts.values())
    foreign = next((part for part in parts if part.name not in planned), None)
    if foreign is not None:
        raise InputError.stray_file(
            f"{printable(foreign.path)} is not among the reports that the manifest of its folder names; move it away"
        )
    return len(planned), manifest.terms.ids
