"""Records through the identity, and frequencies from its reports: what goes in has to come out."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from . import generators, record_files
from .mechanism_files import file_of, identity
from .options import accepted, flags, has_option
from .room import Case, Result, Run

Random = random.Random
SECRET = "MYSSN-123"  # noqa: S105 - a record that must not be printed


def _records(rng: Random, labels: Sequence[str]) -> list[str]:
    return [rng.choice(labels) for _ in range(rng.choice([1, 2, 5, 40]))]


def read_csv(text: str, column: str | int) -> list[str] | None:
    """Return the column of a CSV text as Python reads it; None where Python refuses it or rows have holes.

    A line without a field is a missing record where there is one column; elsewhere it is passed over.
    """
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True))
    except csv.Error:
        return None
    width = max(map(len, rows), default=0)
    rows = [row or [""] for row in rows] if width <= 1 else [row for row in rows if row]
    if not rows or any(len(row) != width for row in rows):
        return None
    stripped = [[field.strip() for field in row] for row in rows]
    if isinstance(column, str):
        head, stripped = stripped[0], stripped[1:]
        if head.count(column) != 1:
            return None
        column = head.index(column)
    return [row[column] for row in stripped] if column < width else None


def read_column(folder: Path, result: Result, output: str, column: str | int) -> list[str] | None:
    """Return a column of what a command wrote."""
    if output.endswith(".parquet"):
        import pyarrow.parquet as pq

        return pq.read_table(folder / output).column(str(column)).to_pylist()
    content = result.stdout if output == "-" else (folder / output).read_bytes()
    return read_csv(content.decode(), column)


def privatize(rng: Random) -> Case:
    """Records in every form through the identity: correct ones come back in order, others are refused or read alike."""
    size = rng.randint(2, 5)
    labels = generators.labels(rng, size)
    outputs = [f"y{i}" for i in range(size)] if rng.random() < 0.4 else generators.labels(rng, size)
    files = {"m.json": file_of(identity(labels, outputs))}
    name_of = dict(zip(labels, outputs, strict=True))
    records = _records(rng, labels)
    kind = rng.choice(["correct", "correct", "damaged", "nearly", "nearly", "strange", "unknown", "missing"])
    output = rng.choice(["r.csv", "r.csv", "r.parquet", "-"])
    extra: list[str] = []
    expected: list[str] | None = [name_of[record] for record in records]
    values: list[str | None] = list(records)
    place = rng.randint(0, len(values))
    if kind == "unknown":
        values.insert(place, SECRET)
        expected = None
        if rng.random() < 0.5:
            extra = ["--unknown", labels[0]]
            expected = [name_of.get(value or "", outputs[0]) for value in values]
    elif kind == "missing":
        values.insert(place, None)
        expected = None
        if rng.random() < 0.5:
            extra = ["--missing", labels[1]]
            expected = [outputs[1] if value is None else name_of[value] for value in values]
    source, content, column, more = _record_file(rng, values, broken=kind)
    files[source] = content
    extra += more
    dash = source.endswith(".csv") and rng.random() < 0.1
    arguments = ["privatize", "-" if dash else source, "--mechanism", "m.json", "-o", output, "--column", str(column)]
    arguments += extra + flags(rng, "--json") * (output != "-")
    if rng.random() < 0.2:
        files[output if output != "-" else "other"] = b"what stood here"
        arguments += flags(rng, "--overwrite") if has_option("privatize", "--overwrite") else []
    old = output in files and "--overwrite" not in arguments

    def check(folder: Path, result: Result, run: Run) -> Iterator[str]:
        if SECRET.encode() in result.stderr:
            yield f"the value of a record is on standard error: {result.stderr.decode()[-300:]}"
        if kind in {"correct", "unknown", "missing"} and expected is not None and not old:
            yield from accepted(result, f"{kind} records {values} of {labels}")
        if result.status != 0:
            return
        found = read_column(folder, result, output, column)
        if kind in {"correct", "unknown", "missing"}:
            if found != expected:
                yield f"{values} were reported as {found}, where {expected} is right"
        elif kind in {"damaged", "nearly"}:
            yield from _as_python_reads(content, source, column, found, name_of)
        if kind == "nearly" and not dash:
            yield from _as_counted(
                run, source, column, {record for record in labels if name_of[record] in (found or [])}
            )

    return Case(arguments, files, outputs=[output], stdin=content if dash else b"", check=check)


def _as_python_reads(
    content: bytes, source: str, column: str | int, found: list[str] | None, name_of: dict[str, str]
) -> Iterator[str]:
    if not source.endswith((".csv", ".data")) or content[:4] == b"PAR1":
        return
    read = read_csv(content.decode("utf-8-sig"), column)
    expected = None if read is None else [name_of.get(record, f"no label: {record!r}") for record in read]
    if found != expected:
        yield f"{content!r} was reported as {found}; Python reads {read}"


def _as_counted(run: Run, source: str, column: str | int, records: set[str]) -> Iterator[str]:
    """Yield whether another command reads the same column otherwise."""
    named = ["--column", str(column), *(["--no-header"] if column == 0 else [])]
    counted = run(["design", "--data", source, *named, "--epsilon", "1", "--radius", "0.1", "--json"])
    if counted.status == 0:
        if set(json.loads(counted.stdout)["inputs"]) != records:
            yield f"design counts {json.loads(counted.stdout)['inputs']}, where privatize reads {records}"
    elif len(records) > 1:
        yield f"privatize accepts what design refuses: {counted.stderr.decode(errors='replace')}"


def _record_file(rng: Random, values: Sequence[str | None], broken: str) -> tuple[str, bytes, str | int, list[str]]:
    """Return the name of a file of records, its content, its column, and the options that it needs."""
    if broken == "strange":
        return "s.parquet", record_files.strange_parquet(rng, "x"), "x", []
    others = [str(i) if rng.random() < 0.8 else generators.text(rng).replace("\x00", "") for i in range(len(values))]
    if rng.random() < 0.3:
        columns = {"x": list(values), "n": list(range(len(values)))}
        content = record_files.parquet(rng, columns)
        content = generators.damaged(rng, content) if broken == "damaged" else content
        return rng.choice(["s.parquet", "s.csv"]), content, "x", rng.choice([[], ["--keep", "n"]])
    alone = rng.random() < 0.4
    rows = [[value or ""] + ([] if alone else [other]) for value, other in zip(values, others, strict=True)]
    header = rng.random() < 0.7
    if not header and values and (values[0] or "").startswith("\ufeff"):
        header = True  # a byte order mark at the start is not text
    names = ["x", "n"][: 1 if alone else 2] if header else []
    text = record_files.csv_text(rng, names, rows)
    if broken == "nearly":
        text = record_files.nearly_csv(rng, names, [value or "" for value in values[:3]])
    ending = rng.choice(["", "", "", ".gz", ".bz2"])
    content = text.encode()
    if broken == "damaged":
        content = generators.damaged(rng, content)
        content = generators.compressed(rng, content, ending)
    elif ending:
        content = record_files.PACKINGS[ending](content)
    return f"s.csv{ending}", content, "x" if header else 0, [] if header else ["--no-header"]


def estimate(rng: Random) -> Case:
    """Reports in every form, made by the identity: their counts come back as frequencies."""
    size = rng.randint(2, 5)
    labels = generators.labels(rng, size)
    outputs = generators.labels(rng, size)
    reports = _records(rng, outputs)
    kind = rng.choice(["correct", "correct", "damaged", "nearly", "strange"])
    source, content, column, extra = _record_file(rng, list(reports), broken=kind)
    extra = [option for option in extra if option not in {"--keep", "n"}]
    files = {"m.json": file_of(identity(labels, outputs)), source: content}
    method = rng.choice(["least-squares", "maximum-likelihood"])
    arguments = ["estimate", source, "--column", str(column), "--mechanism", "m.json", *extra, "--method", method]
    arguments += ["--of", rng.choice(["population", "records"])]
    as_json = rng.random() < 0.7
    written = rng.choice([None, None, "e.csv", "e.parquet", "e.json"])
    arguments += ["--json"] * as_json + ([] if written is None else ["-o", written])
    if rng.random() < 0.2:
        arguments += ["--confidence", generators.number(rng).replace("\x00", "")]

    def check(folder: Path, result: Result, run: Run) -> Iterator[str]:
        allowed = written in {None, "e.csv"} and "--confidence" not in arguments
        if kind == "correct" and allowed:
            yield from accepted(result, f"{reports} of {outputs}")
        if result.status == 0 and kind == "correct" and as_json:
            found = json.loads(result.stdout)
            expected = [reports.count(output) / len(reports) for output in outputs]
            if found["reports"] != len(reports):
                yield f"{len(reports)} reports were counted as {found['reports']}"
            if not np.allclose(found["frequencies"], expected, atol=1e-9) or found["labels"] != labels:
                yield f"frequencies {found['frequencies']} of {found['labels']}, where {expected} is right"
        if result.status == 0 and written is not None:
            if written == "e.json":
                found_labels = json.loads((folder / written).read_text(encoding="utf-8"))["labels"]
            else:
                found_labels = read_column(folder, result, written, "label")
            if found_labels != labels:
                yield f"{written} holds the labels {found_labels}, where {labels} is right"

    return Case(arguments, files, outputs=[] if written is None else [written], check=check)
