"""What is measured of data in many parts: one process beside two workers of a cluster, and what a fleet would take.

The counts of the reports in a folder must be the same from one process and from the cluster.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import mechdesign as md
from benchmarks.measure import PROBLEMS, Row, Sizes
from benchmarks.reports import education

WORKERS = 2
RATIO = 1.6  # rows a second of two workers over those of one process
PEAK = 10**9  # bytes that a worker may hold
ROOM = 16  # bytes on disk for each record: its row, and its report
FRESH = "privatize"  # each run draws its own reports; with a key all are the same
WORKS = {FRESH: 5, "privatize with a key": 1, "count": 5}  # each with its rounds; medians are shown
TUNED: dict[str, Any] = {  # what docs/engines.md advises
    "distributed.worker.profile.enabled": False,
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 2**28,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 2**27,
}


@dataclass(frozen=True)
class Way:
    """Who works: this many workers of a cluster with the settings of `TUNED` or its own; with 0 one process."""

    workers: int
    tuned: bool = False

    def __str__(self) -> str:
        if not self.workers:
            return "one process"
        return f"LocalCluster(n_workers={self.workers}){', with the settings' if self.tuned else ''}"


ALONE, PLAIN, CLUSTER = Way(0), Way(WORKERS), Way(WORKERS, tuned=True)
WAYS = (ALONE, PLAIN, CLUSTER)
PLANNED = 10**11  # records
PLANNED_PARTS = (10**6, 10**7)  # records in each
PLANNED_WORKERS = 256


def write_part(path: Path, first: int, records: int) -> None:
    """Write a part: five columns, one of them the education levels of Adult in their shares."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(first)
    known = education().guarantee.uncertainty
    levels = pa.array(rng.choice(len(known.labels), records, p=known.prior).astype(np.int32))
    areas = pa.array(rng.integers(0, 3, records).astype(np.int32))
    table = pa.table(
        {
            "person": np.arange(first, first + records),
            "age": rng.integers(17, 91, records),
            "education": pa.DictionaryArray.from_arrays(levels, pa.array(known.labels)).cast(pa.string()),
            "income": rng.gamma(2, 20_000, records).round(2),
            "area": pa.DictionaryArray.from_arrays(areas, pa.array(["urban", "rural", "suburban"])).cast(pa.string()),
        }
    )
    pq.write_table(table, path)


def in_own_process(folder: Path, work: str, way: Way) -> Row:
    """Return the row that `fleet_job` prints. Reports that one process wrote stay, to be counted."""
    command = [sys.executable, "-m", "benchmarks.fleet_job", str(folder), work, str(way.workers)]
    command += ["tuned"] * way.tuned
    shutil.rmtree(folder / reports_of(work, way.workers), ignore_errors=True)
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=PROBLEMS.parent)
    row: Row = json.loads(done.stdout.splitlines()[-1])
    return row


def reports_of(work: str, workers: int) -> str:
    """Return the name of the folder of reports of a work."""
    return f"{work.replace(' ', '-')}-{'together' if workers else 'alone'}"


def fleet(sizes: Sizes) -> Iterator[Row]:
    """Yield each work in all ways, or why that is left out; then tasks that do nothing."""
    parts, records = sizes.parts
    try:
        import distributed  # noqa: F401 - without it there is no cluster
    except ImportError as error:
        yield {"skipped": str(error)}
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if shutil.disk_usage(folder).free < ROOM * parts * records * len(WORKS):
            yield {"skipped": f"{parts:,} parts of {records:,} records, for which {folder.parent} has no room"}
            return
        education().save(folder / "mechanism.json")
        md.Key.generate().write(folder / "reports.key")
        (folder / "records").mkdir()
        for part in range(parts):
            write_part(folder / "records" / f"part-{part:05d}.parquet", part * records, records)
        for work in WORKS:
            yield from beside_one_process(folder, work, parts, parts * records)
        yield {"work": "nothing", "way": str(CLUSTER)} | in_own_process(folder, f"nothing {sizes.tasks}", CLUSTER)


def beside_one_process(folder: Path, work: str, parts: int, records: int) -> Iterator[Row]:
    """Yield the row of one process, and those of two workers with the ratio of their rows a second.

    The ways take turns, and a ratio is that of two runs of one round, so that what others do on the machine meets both.
    """
    rounds = [[in_own_process(folder, work, way) for way in WAYS] for _ in range(WORKS[work])]
    for row in (row for found in rounds for row in found):
        if not row["records"] == sum(row["counts"]) == records:
            raise AssertionError(f"{work} took {row['records']} records of {records}, with counts {row['counts']}")
        if work != FRESH and row["counts"] != rounds[0][0]["counts"]:
            raise AssertionError(f"{work}: one process and a cluster have different counts of the same reports")
    for way, rows in zip(WAYS, zip(*rounds, strict=True), strict=True):
        shown = sorted(rows, key=lambda row: float(row["seconds"]))[len(rows) // 2]
        ratios = [found[0]["seconds"] / row["seconds"] for found, row in zip(rounds, rows, strict=True)]
        ratio = {"ratio": statistics.median(ratios), "ratios": sorted(ratios)} if way.workers else {}
        yield {"work": work, "parts": parts, "way": str(way)} | ratio | shown


def plan(rows: list[Row]) -> list[Row]:
    """Return what each work on `PLANNED` records takes on `PLANNED_WORKERS` workers, if all goes as it was measured.

    A worker works as fast as each of the workers measured; what is read, written and sent grows with records and parts.
    Tasks go through one scheduler, which takes for each what it took for a task that does nothing.

    Examples
    --------
    >>> measured = {"work": "count", "way": str(CLUSTER), "records": 10**8, "seconds": 10.0, "counts": [1]}
    >>> measured |= {"read": 10**8, "written": 0, "sent": 10**5, "parts": 100}
    >>> nothing = {"work": "nothing", "way": str(CLUSTER), "tasks": 1000, "seconds": 1.0}
    >>> small, large = plan([measured, nothing])
    >>> small["parts"], small["work_seconds"], small["scheduler_seconds"], small["seconds"], round(small["busy"])
    (100000, 78.125, 100.0, 100.0, 200)
    >>> large["parts"], large["scheduler_seconds"], round(large["busy"]), large["core_hours"] == small["core_hours"]
    (10000, 10.0, 2000, True)
    """
    (idle,) = (row for row in rows if row["work"] == "nothing")
    a_task = idle["seconds"] / idle["tasks"]
    found = []
    for row in rows:
        if row["way"] != str(CLUSTER) or row is idle:
            continue
        speed = row["records"] / row["seconds"] / WORKERS
        for size in PLANNED_PARTS:
            parts = PLANNED // size
            found.append(
                {
                    "work": row["work"],
                    "part": size,
                    "parts": parts,
                    "core_hours": PLANNED / speed / 3600,
                    "read": row["read"] / row["records"] * PLANNED,
                    "written": row["written"] / row["records"] * PLANNED,
                    "sent": row["sent"] / row["parts"] * parts,
                    "scheduler_seconds": a_task * parts,
                    "work_seconds": PLANNED / speed / PLANNED_WORKERS,
                    "seconds": max(a_task * parts, PLANNED / speed / PLANNED_WORKERS),
                    "busy": size / speed / a_task,
                }
            )
    return found


SECTIONS: dict[str, Callable[[Sizes], Iterator[Row]]] = {"fleet": fleet}
