"""Count the reports of a folder part by part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.parts import Parts, find_parts
from mechdesign.deploy.manifest import has_manifest, read_manifest
from mechdesign.deploy.part_tasks import absolute, part_of, without_failures
from mechdesign.deploy.stream import RecordFile, Report, count_reports
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
    """

    counts: NDArray[np.int64]
    parts: int
    planned: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", frozen(self.counts))

    def __reduce__(self) -> tuple[Any, ...]:
        # The array of a copy is read-only too.
        return DatasetCounts, (self.counts, self.parts, self.planned)


def count_dataset(
    reports: RecordFile, mechanism: Mechanism, executor: object = None, *, report: Report | None = None
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
    report : callable, optional
        Receives a line on progress after each part.

    Raises
    ------
    InputError
        As `count_reports` does; if the manifest of the folder names another mechanism, or does not name a file that is
        there.
    """
    parts = find_parts(reports.path)
    planned = _check_manifest(parts, mechanism)
    counts = np.zeros(len(mechanism.outputs), dtype=np.int64)
    task = partial(_counts, replace(reports, path=absolute(parts.root)), mechanism.outputs)
    found = run_tasks(task, [part.name for part in parts], executor_of(executor))
    for number, done in enumerate(without_failures(found, "no reports are counted"), 1):
        counts += done
        if report is not None:
            report(f"counting: {number:,} of {len(parts):,} parts, {counts.sum():,} reports")
    return DatasetCounts(counts, len(parts), planned)


def _counts(reports: RecordFile, labels: tuple[str, ...], name: str) -> NDArray[np.int64]:
    """Count the reports of a part: a task."""
    return count_reports(part_of(reports, name), labels)


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
