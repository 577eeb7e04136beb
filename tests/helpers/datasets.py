"""Folders of records with numbers, by which each report is found again, and what was published of them."""

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import mechdesign as md

LABELS = ("a", "b", "c")
REPORTED = {"a": "x", "b": "y", "c": "z"}


def told():
    """A mechanism that reports what it is told, so that a report shows whose it is."""
    ball = md.L1Ball([1 / 3] * 3, labels=LABELS)
    promise = md.Guarantee(md.Epsilon.of("log(3)"), ball)
    return md.Mechanism(np.diag([4] * 3).astype(np.int64), 2, promise, tuple(REPORTED.values()))


def noisy():
    """A mechanism whose reports differ from one draw to the next."""
    ball = md.L1Ball([1 / 3] * 3, labels=LABELS)
    return md.Mechanism(np.array([[2, 1, 1], [1, 2, 1], [1, 1, 2]]), 2, md.Guarantee("log(2)", ball), ("x", "y", "z"))


def write_part(path, numbers, *, labels=LABELS):
    """Write a part whose rows are numbers, and the label that belongs to each."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    kinds = [labels[number % len(labels)] for number in numbers]
    if path.suffix == ".parquet":
        table = pa.table({"id": pa.array(numbers, pa.int64()), "note": ["n"] * len(kinds), "kind": kinds})
        pq.write_table(table, path)
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["id", "note", "kind"])
            writer.writerows((number, "n", kind) for number, kind in zip(numbers, kinds, strict=True))
    return path


def write_parts(folder, parts, rows, *, ending=".csv"):
    """Write parts of so many rows each, with numbers that go on from part to part, in two partitions."""
    for part in range(parts):
        numbers = range(part * rows, (part + 1) * rows)
        write_part(Path(folder, f"half={2 * part // parts}", f"part-{part:04}{ending}"), numbers)
    return folder


def published(folder):
    """The bytes of each file that a reader sees, by its name."""
    files = (path for path in Path(folder).rglob("*") if path.is_file() and path.name[0] not in "._")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def read_rows(path):
    """Return (number, report) of each row of a part."""
    path = Path(path)
    if path.suffix == ".parquet":
        return list(
            zip(*pq.read_table(path, partitioning=None).select(["id", "kind"]).to_pydict().values(), strict=True)
        )
    with path.open(encoding="utf-8", newline="") as file:
        return [(int(number), kind) for number, kind in list(csv.reader(file))[1:]]


def leftovers(folder):
    """What is in the folder beside parts and the manifest."""
    return sorted(
        path.name
        for path in Path(folder).rglob("*")
        if path.is_file() and path.name.startswith((".", "_")) and path.name != "_manifest.json"
    )


def check_reported_once(source, folder):
    """Each record of the source has one report, of itself, at its place; nothing is left besides."""
    parts = sorted(path.relative_to(source) for path in Path(source).rglob("part-*"))
    assert sorted(published(folder)) == [part.as_posix() for part in parts]
    numbers = []
    for part in parts:
        rows = read_rows(Path(folder, part))
        assert all(kind == REPORTED[LABELS[number % 3]] for number, kind in rows)
        numbers += [number for number, _ in rows]
    assert numbers == list(range(len(numbers)))
    assert leftovers(folder) == []
