"""Count the reports of a folder part by part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.group_keys import named, text_type
from mechdesign.data.parts import Part, Parts, find_parts
from mechdesign.deploy.group_counts import GroupCounter, GroupCounts
from mechdesign.deploy.manifest import has_manifest, read_manifest
from mechdesign.deploy.part_tasks import absolute, part_of, without_failures
from mechdesign.deploy.stream import RecordFile, Report, count_reports, group_columns
from mechdesign.engine import executor_of, run_tasks
from mechdesign.errors import InputError, printable, shorten
from mechdesign.mechanism import Mechanism
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
    """

    counts: NDArray[np.int64]
    parts: int
    planned: int
    groups: GroupCounts | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", frozen(self.counts))

    def __reduce__(self) -> tuple[Any, ...]:
        # The array of a copy is read-only too.
        return DatasetCounts, (self.counts, self.parts, self.planned, self.groups)


def count_dataset(
    reports: RecordFile,
    mechanism: Mechanism,
    executor: object = None,
    *,
    by: Sequence[str] = (),
    report: Report | None = None,
) -> DatasetCounts:
    """Count the reports in the files of a folder: the same counts, to the bit, as from one file with all rows.

    Parameters
    ----------
    reports : RecordFile
        Its path is a folder, a glob or a file.
    mechanism : Mechanism
        Its outputs are the reports that may occur.
    executor
        As in `privatize_dataset`. A task returns its counts and nothing else.
    by : sequence of str
        Columns by which reports are grouped, as in `count_reports`; or keys of hive partitions, whose values are text.
    report : callable, optional
        Receives a line on progress after each part.

    Raises
    ------
    InputError
        As `count_reports` does; if the manifest of the folder names another mechanism, or does not name a file that is
        there.
    LimitError
        If there are too many groups.
    """
    parts = find_parts(reports.path)
    planned = _check_manifest(parts, mechanism)
    counts, counter = np.zeros(len(mechanism.outputs), dtype=np.int64), None
    root, names = replace(reports, path=absolute(parts.root)), _group_columns(by, reports, parts)
    task = partial(_counts, root, mechanism.outputs, names)
    found = run_tasks(task, [part.name for part in parts], executor_of(executor))
    for number, (name, done, groups) in enumerate(without_failures(found, "no reports are counted"), 1):
        counts += done
        if groups is not None:
            counter = counter or GroupCounter(names, groups.types, mechanism.outputs)
            counter.add_counts(groups, str(part_of(root, name).path))
        if report is not None:
            report(f"counting: {number:,} of {len(parts):,} parts, {counts.sum():,} reports")
    return DatasetCounts(counts, len(parts), planned, None if counter is None else counter.counted())


def _group_columns(by: Sequence[str], reports: RecordFile, parts: Parts) -> tuple[str, ...]:
    """Return the names of group columns, of which those of hive partitions need not be indices without a header."""
    inside = [name for name in by if name not in parts.keys]
    named_inside = iter(group_columns(inside, reports) if inside else ())
    names = [name if name in parts.keys else next(named_inside) for name in by]
    return named(names) if names else ()


def _counts(
    reports: RecordFile, labels: tuple[str, ...], by: tuple[str, ...], name: str
) -> tuple[str, NDArray[np.int64], GroupCounts | None]:
    """Count the reports of a part: a task."""
    part, keys = part_of(reports, name), dict(Part(name, name).keys)
    inside = [column for column in by if column not in keys]
    if not by:
        return name, count_reports(part, labels), None
    if inside:
        counted = count_reports(part, labels, by=inside)
        groups, counts, types = counted.groups, counted.counts, dict(zip(inside, counted.types, strict=True))
    else:
        counts, types = count_reports(part, labels)[None, :], {}
        groups = ((),) if counts.any() else ()
        counts = counts[: len(groups)]
    whole = []
    for group in groups:
        values = {**keys, **dict(zip(inside, group, strict=True))}
        whole.append(tuple(values[column] or None if column in keys else values[column] for column in by))
    kinds = tuple(types[column] if column in types else text_type() for column in by)
    return name, counts.sum(axis=0), GroupCounts(by, kinds, tuple(whole), labels, counts)


def _check_manifest(parts: Parts, mechanism: Mechanism) -> int:
    """Return how many parts a folder of reports is to have, after checking that the mechanism drew them."""
    root = Path(parts.root)
    if not has_manifest(root):
        return len(parts)
    manifest = read_manifest(root)
    if manifest.terms.fingerprint != mechanism.fingerprint:
        raise InputError(
            f"the reports in {printable(parts.root)} are drawn by the mechanism with the fingerprint "
            f"{shorten(manifest.terms.fingerprint, 24)}, and this one has {shorten(mechanism.fingerprint, 24)}; give "
            "the mechanism that drew them"
        )
    planned = set(manifest.parts.values())
    foreign = next((part for part in parts if part.name not in planned), None)
    if foreign is not None:
        raise InputError(
            f"{printable(foreign.path)} is not among the reports that the manifest of its folder names; move it away"
        )
    return len(planned)
