"""Reports about whole records beside reports about one column of them: ``python -m benchmarks.record_speed [RECORDS]``.

Eight columns with as many values as those of Adult, Zipf distributions, epsilon 1. Times are those of processors, all
threads together. In each round the reports about all columns are timed, and those about each column alone, by the same
reader and the mechanism of that column's view; the ratio is that of the first to the mean of the others.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import mechdesign as md
from mechdesign.deploy import RecordFile, ReportFile, privatize_file
from mechdesign.records import RecordMechanism, views_of
from mechdesign.records.record_files import WholeRecordFile

SIZES = {"work": 9, "school": 16, "married": 7, "job": 15, "home": 6, "race": 5, "sex": 2, "salary": 2}
ROUNDS = 7
Timed = tuple[Callable[[], Any], Callable[[str], Any]]


def table(records: int = 1_000_000, rounds: int = ROUNDS) -> Iterator[str]:
    """Yield the lines of a table."""
    yield "| records in | eight columns, ns a record | one column | times |"
    yield "|---|---|---|---|"
    columns = _columns(records)
    made = md.design_records(views_of(columns), epsilon=1, known=True).mechanism
    with tempfile.TemporaryDirectory() as folder:
        for name, (whole, one) in _ways(Path(folder), columns, made):
            whole(), one("school")  # so that what the first use makes is not timed
            times = []
            for _ in range(rounds):
                all_columns = _seconds(whole)
                each = statistics.mean(_seconds(lambda column=column, one=one: one(column)) for column in SIZES)
                times.append((all_columns, each, all_columns / each))
            first, second, ratio = (statistics.median(column) for column in zip(*times, strict=True))
            yield f"| {name} | {first / records * 1e9:.0f} | {second / records * 1e9:.0f} | {ratio:.1f} |"


def _columns(records: int) -> Any:
    import pyarrow as pa

    rng = np.random.default_rng(0)
    drawn = {}
    for name, size in SIZES.items():
        weights = 1 / np.arange(1, size + 1)
        labels = pa.array([f"{name[0]}-{'level' * (place % 3)}-{place}" for place in range(size)])
        drawn[name] = labels.take(pa.array(rng.choice(size, records, p=weights / weights.sum())))
    return pa.table(drawn)


def _ways(folder: Path, columns: Any, made: RecordMechanism) -> Iterator[tuple[str, Timed]]:
    """Yield each container with what reports about whole records, and about one column."""
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    alone = {part.name: part.mechanism for part in made.parts}
    pa_csv.write_csv(columns, folder / "records.csv", pa_csv.WriteOptions(quoting_style="none"))
    pq.write_table(columns, folder / "records.parquet")
    for ending in ("csv", "parquet"):
        source, output = folder / f"records.{ending}", ReportFile(folder / f"reports.{ending}", overwrite=True)
        yield (
            {"csv": "CSV file", "parquet": "Parquet file"}[ending],
            (
                lambda source=source, output=output: privatize_file(
                    WholeRecordFile.of(source, list(SIZES)), made, output
                ),
                lambda name, source=source, output=output: privatize_file(
                    RecordFile(source, name), alone[name], output
                ),
            ),
        )
    frame = columns.to_pandas()
    frames = {"pyarrow Table": columns, "pandas frame": frame, "pandas frame, categories": frame.astype("category")}
    for kind, given in frames.items():
        yield (
            kind,
            (
                lambda given=given: made.privatize(given),
                lambda name, given=given: alone[name].privatize(given[name]),
            ),
        )


def _seconds(function: Callable[[], Any]) -> float:
    started = time.process_time()
    function()
    return time.process_time() - started


if __name__ == "__main__":
    for line in table(*map(int, sys.argv[1:])):
        print(line, flush=True)
