"""One fuzzer for each command: a function from a source of randomness to a `Case`."""

from __future__ import annotations

import csv
import io
import json
import math
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
import numpy as np

import mechdesign as md

try:
    from mechdesign.cli.commands import commands
except ImportError:
    from mechdesign.cli.main import commands

try:
    from . import claims, generators
    from .contract import is_json_of
    from .room import Case, Place, Result, Run
except ImportError:  # as a folder on the path
    import claims
    import generators
    from contract import is_json_of
    from room import Case, Place, Result, Run

Random = random.Random
Fuzzer = Callable[[Random], Case]

COUNTS = b"label,count\nlow,50\nmiddle,30\nhigh,20\n"
WRITTEN = {"--output", "--record", "--plot"}
READ = {"--counts", "--data", "--estimate", "--mechanism"}


# Options, as click knows them


def command_named(*names: str) -> click.Command:
    """Return a command, or one within a group."""
    found: click.Command = commands
    for name in names:
        assert isinstance(found, click.Group)
        found = found.commands[name]
    return found


def options(rng: Random, command: click.Command, likely: float, *, leave: Sequence[str] = ()) -> list[str]:
    """Return options of a command with hostile values, each with a probability; names of files are left out."""
    found: list[str] = []
    for parameter in command.params:
        if not isinstance(parameter, click.Option) or rng.random() > likely:
            continue
        name = max(parameter.opts, key=len)
        if name in {*WRITTEN, *READ, *leave} or name in {"--help", "--version"}:
            continue
        found.append(name)
        if not parameter.is_flag:
            found.append(_value(rng, parameter))
    return found


def _value(rng: Random, parameter: click.Option) -> str:
    kind = parameter.type
    if isinstance(kind, click.Choice) and rng.random() < 0.9:
        return str(rng.choice(list(kind.choices)))
    if parameter.name == "samples" and rng.random() < 0.7:
        return rng.choice(["1", "10", "1000", "0", "-1"])
    if rng.random() < 0.85:
        return generators.number(rng).replace("\x00", "")
    return generators.text(rng).replace("\x00", "")  # no argument holds a NUL


def _flag(rng: Random, *flags: str) -> list[str]:
    return [flag for flag in flags if rng.random() < 0.4]


def _ok(result: Result, what: str) -> Iterator[str]:
    if result.status != 0:
        yield f"{what} was refused with status {result.status}: {result.stderr.decode(errors='replace')[-300:]}"


# design, compare, plan


def _source(rng: Random) -> tuple[dict[str, bytes], list[str]]:
    """Return files with a problem, correct or not, and the arguments that name it."""
    kind = rng.randrange(4)
    if kind <= 1:
        table = generators.problem_table(rng)
        if rng.random() < 0.5:
            table = generators.mutated(rng, table)
        content = generators.as_toml(table)
        return {"p.toml": _maybe_damaged(rng, content, 0.25)}, ["p.toml"]
    rows = [[label, _count(rng)] for label in generators.labels(rng, rng.randint(1, 5))]
    ask = ["--epsilon", rng.choice(["1", "log(2)", generators.number(rng)])]
    ask += rng.choice([[], ["--delta", rng.choice(["1e-9", generators.number(rng)])], ["--radius", "0.1"]])
    if kind == 2:
        content = generators.csv_text(rng, ["label", "count"], rows).encode()
        return {"c.csv": _maybe_damaged(rng, content, 0.4)}, ["--counts", "c.csv", *ask]
    values = [label for label, _ in rows for _ in range(rng.randint(1, 5))]
    if rng.random() < 0.4:
        content = generators.parquet(rng, {"x": values, "n": list(range(len(values)))})
    else:
        content = generators.csv_text(rng, ["x", "n"], [[v, str(i)] for i, v in enumerate(values)]).encode()
    return {"d.csv": _maybe_damaged(rng, content, 0.4)}, ["--data", "d.csv", "--column", "x", *ask]


def _count(rng: Random) -> str:
    return rng.choice(["0", "1", "7", "50", "1000", "123456"]) if rng.random() < 0.9 else generators.number(rng)


def _maybe_damaged(rng: Random, content: bytes, likely: float) -> bytes:
    return generators.damaged(rng, content) if rng.random() < likely else content


def design(rng: Random) -> Case:
    """Problems in every form; what is written has to verify."""
    files, source = _source(rng)
    output = rng.choice(["m.json", "m.json", "m.npz", "m.csv", "m.txt", ""])
    if rng.random() < 0.3:
        files["m.json"] = b"what stood here"
    arguments = ["design", *source, "-o", output, *_flag(rng, "--json", "--keep-partial")]
    arguments += rng.choice([[], ["--time-limit", "2"], options(rng, command_named("design"), 0.15)])
    if rng.random() < 0.1:
        arguments.append("--compare")

    def check(folder: Path, result: Result, run: Run) -> Iterator[str]:
        if result.status == 0 and output.endswith(("json", "npz")):
            yield from _ok(run(["verify", output]), "what design wrote")
            yield from claims.false_claims((folder / output).read_bytes())

    return Case(arguments, files, outputs=[output], check=check)


def compare(rng: Random) -> Case:
    """Problems in every form."""
    files, source = _source(rng)
    return Case(["compare", *source, "--time-limit", "2", *_flag(rng, "--json")], files)


def plan(rng: Random) -> Case:
    """Three of four numbers, hostile ones among them."""
    asked = {
        "--samples": rng.choice(["1", "1000", "100000", generators.number(rng)]),
        "--epsilon": rng.choice(["1", "1.6", "log(2)", generators.number(rng)]),
        "--guaranteed-epsilon": rng.choice(["2", "log(9)", generators.number(rng)]),
        "--delta": rng.choice(["1e-5", "0.1", "0", generators.number(rng)]),
    }
    given = rng.sample(list(asked), rng.choice([3, 3, 3, 3, 2, 4]))
    arguments = ["plan", "--categories", rng.choice(["2", "20", "1000", generators.number(rng)])]
    arguments += [text for name in given for text in (name, asked[name])] + _flag(rng, "--json")
    outputs = []
    if rng.random() < 0.03:
        outputs = [rng.choice(["p.png", "p.svg", "p.pdf", "p.txt"])]
        arguments += ["--plot", outputs[0]]
    return Case([a.replace("\x00", "") for a in arguments], outputs=outputs)


# Mechanism files


def _mechanism_file(rng: Random) -> tuple[str, bytes]:
    """Return a mechanism file that was changed, in one of the ways that files are."""
    tables = generators.mechanism_tables()
    kind = rng.randrange(8)
    table = rng.choice(tables)
    if kind <= 2:
        return "m.json", generators.as_json(rng, generators.shifted(rng, table))
    if kind <= 4:
        return "m.json", generators.as_json(rng, generators.mutated(rng, table))
    if kind == 5:
        return "m.json", generators.damaged(rng, generators.as_json(rng, table))
    if kind == 6:
        return "m.npz", generators.npz(rng, rng.choice(generators.mechanisms()))
    return "m.json", generators.as_json(rng, table)


def verify(rng: Random) -> Case:
    """Changed mechanism files; what is accepted has to hold in other arithmetic."""
    name, content = _mechanism_file(rng)

    def check(folder: Path, result: Result, run: Run) -> Iterator[str]:
        if result.status == 0:
            yield from claims.false_claims(content)

    return Case(["verify", name, *_flag(rng, "--json", "--guarantee-only")], {name: content}, check=check)


def audit(rng: Random) -> Case:
    """Changed mechanism files, and few samples."""
    name, content = _mechanism_file(rng)
    arguments = ["audit", name, "--samples", rng.choice(["1", "100", "5000", generators.number(rng)])]
    arguments += _flag(rng, "--json")
    if rng.random() < 0.3:
        arguments += ["--failure-probability", generators.number(rng)]
    return Case([a.replace("\x00", "") for a in arguments], {name: content})


# Records


def identity(labels: Sequence[str], outputs: Sequence[str]) -> md.Mechanism:
    """Return the mechanism that reports every record as it is, under a name of its own."""
    size = len(labels)
    ball = md.L1Ball([f"1/{size}"] * size, 0, labels)
    promise = md.Guarantee(md.Epsilon.of(f"log({size})"), ball)
    return md.Mechanism(np.eye(size, dtype=np.int64) * 2**20, 20, promise, tuple(outputs))


def _file_of(mechanism: md.Mechanism) -> bytes:
    from mechdesign.mechanism.files import to_json

    return to_json(mechanism)


SECRET = "MYSSN-123"


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
    files = {"m.json": _file_of(identity(labels, outputs))}
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
    arguments += extra + _flag(rng, "--json") * (output != "-")
    if rng.random() < 0.2:
        files[output if output != "-" else "other"] = b"what stood here"
        arguments += _flag(rng, "--overwrite") if _has("privatize", "--overwrite") else []
    old = output in files and "--overwrite" not in arguments

    def check(folder: Path, result: Result, run: Run) -> Iterator[str]:
        if SECRET.encode() in result.stderr:
            yield f"the value of a record is on standard error: {result.stderr.decode()[-300:]}"
        if kind in {"correct", "unknown", "missing"} and expected is not None and not old:
            yield from _ok(result, f"{kind} records {values} of {labels}")
        if result.status != 0:
            return
        found = read_column(folder, result, output, column)
        if kind in {"correct", "unknown", "missing"}:
            if found != expected:
                yield f"{values} were reported as {found}, where {expected} is right"
        elif kind in {"damaged", "nearly"}:
            yield from _as_python_reads(content, source, column, found, name_of)
        if kind == "nearly" and not dash:
            yield from _as_counted(run, source, column, {record for record in labels if name_of[record] in (found or [])})

    return Case(arguments, files, outputs=[output], stdin=content if dash else b"", check=check)


def _has(command: str, option: str) -> bool:
    return any(option in parameter.opts for parameter in command_named(command).params)


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
        return "s.parquet", generators.strange_parquet(rng, "x"), "x", []
    others = [str(i) if rng.random() < 0.8 else generators.text(rng).replace("\x00", "") for i in range(len(values))]
    if rng.random() < 0.3:
        columns = {"x": list(values), "n": list(range(len(values)))}
        content = generators.parquet(rng, columns)
        content = generators.damaged(rng, content) if broken == "damaged" else content
        return rng.choice(["s.parquet", "s.csv"]), content, "x", rng.choice([[], ["--keep", "n"]])
    alone = rng.random() < 0.4
    rows = [[value or ""] + ([] if alone else [other]) for value, other in zip(values, others, strict=True)]
    header = rng.random() < 0.7
    if not header and values and (values[0] or "").startswith("\ufeff"):
        header = True  # a first character that is a mark of order is no text
    names = ["x", "n"][: 1 if alone else 2] if header else []
    text = generators.csv_text(rng, names, rows)
    if broken == "nearly":
        text = generators.nearly_csv(rng, names, [value or "" for value in values[:3]])
    ending = rng.choice(["", "", "", ".gz", ".bz2"])
    content = text.encode()
    if broken == "damaged":
        content = generators.damaged(rng, content)
        content = generators.compressed(rng, content, ending)
    elif ending:
        content = {".gz": generators.gzip.compress, ".bz2": generators.bz2.compress}[ending](content)
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
    files = {"m.json": _file_of(identity(labels, outputs)), source: content}
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
            yield from _ok(result, f"{reports} of {outputs}")
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


# Histograms

_COMMON_NOISE = {"discrete", "csh", "top-k"}


def histogram(name: str) -> Fuzzer:
    """Return the fuzzer of one kind of histogram."""

    def fuzz(rng: Random) -> Case:
        planned = rng.random() < 0.4
        labels = generators.labels(rng, rng.randint(1, 6))
        counts = {label: rng.choice([0, 1, 3, 40, 1000, 10**6]) for label in labels}
        arguments = ["histogram", name, *_noise(rng, name), *_flag(rng, "--json", "--allow-float-noise", "--whole")]
        if planned:
            arguments += ["--plan"] + rng.choice([[], [], ["--record", "r.json"]])
            return Case(_clean(arguments), outputs=["r.json"] if "--record" in arguments else [])
        files, source = _histogram_file(rng, counts)
        output = rng.choice(["o.csv", "o.csv", "o.csv", "-", "o.parquet"])
        arguments += [*source, "-o", output, *rng.choice([[], ["--record", "r.json"]])]
        if rng.random() < 0.15:
            files["o.csv"] = b"what stood here"

        def check(folder: Path, result: Result, run: Run) -> Iterator[str]:
            if result.status == 0 and output != "o.parquet":
                yield from _released(folder, result, output, counts if "--data" not in source else None, arguments)
            if result.status == 0 and output == "o.parquet":
                yield f"o.parquet was written, with {(folder / output).read_bytes()[:40]!r} in it"

        written = [output] + (["r.json"] if "--record" in arguments else [])
        return Case(_clean(arguments), files, outputs=written, check=check)

    return fuzz


def _clean(arguments: Sequence[str]) -> list[str]:
    return [argument.replace("\x00", "") for argument in arguments]


def _noise(rng: Random, name: str) -> list[str]:
    """Return options that say how much noise; correct ones more often than not."""
    hostile = rng.random() < 0.4
    command = command_named("histogram", name)
    if hostile:
        leave = ["--json", "--allow-float-noise", "--whole", "--plan", "--no-header", "--column"]
        given = options(rng, command, 0.5, leave=leave)
        if name != "laplace" and "--epsilon" not in given:
            given += ["--epsilon", generators.number(rng)]
        return given if name == "laplace" or "-k" in given else [*given, "-k", rng.choice(["1", "5", "100"])]
    if name == "laplace":
        alpha = rng.choice([[], ["--alpha", "0.05"], ["--estimate", "e.csv", "--delta", "1e-3"]])
        return [*rng.choice([["--epsilon", "1"], ["--scale", "2.5"]]), *alpha]
    amount = rng.choice([["--delta", "1e-6"], ["--sigma", "5", "--delta", "1e-6"], ["--sigma", "8", "--tau", "60"]])
    return ["-k", rng.choice(["3", "6", "50"]), "--epsilon", rng.choice(["1", "log(3)", "0.3"]), *amount]


def _histogram_file(rng: Random, counts: dict[str, int]) -> tuple[dict[str, bytes], list[str]]:
    """Return the files of a histogram, and the arguments that name them."""
    rows = [[label, str(count)] for label, count in counts.items()]
    content = _maybe_damaged(rng, generators.csv_text(rng, ["label", "count"], rows).encode(), 0.2)
    estimate = generators.csv_text(rng, ["label", "count"], [[label, "50"] for label in counts]).encode()
    files = {"e.csv": estimate}
    if rng.random() < 0.75:
        return {**files, "c.csv": content}, ["c.csv"]
    values = [label for label, count in counts.items() for _ in range(min(count, 3))]
    data = generators.parquet(rng, {"x": values}) if values and rng.random() < 0.5 else b"x\n" + b"a\n" * len(values)
    return {**files, "d.csv": _maybe_damaged(rng, data, 0.3)}, ["--data", "d.csv", "--column", "x"]


def _released(
    folder: Path, result: Result, output: str, counts: dict[str, int] | None, arguments: Sequence[str]
) -> Iterator[str]:
    """Yield what is wrong with released counts and their record."""
    content = result.stdout if output == "-" else (folder / output).read_bytes()
    rows = list(csv.reader(io.StringIO(content.decode(), newline=""), strict=True))
    if rows[0] != ["label", "count"]:
        yield f"the header of the release is {rows[0]}"
    values = {label: float(value) for label, value in rows[1:]}
    if len(values) != len(rows) - 1:
        yield "a label was released twice"
    if not all(map(math.isfinite, values.values())):
        yield f"released counts are not finite: {values}"
    if "--whole" in arguments and not all(value >= 0 and text.isdigit() for (_, text), value in zip(rows[1:], values.values(), strict=True)):
        yield f"--whole released {rows[1:]}"
    if "--record" not in arguments:
        return
    if not is_json_of(folder / "r.json", "mechdesign/histogram-record/1"):
        yield "the record is not a JSON object of its schema"
        return
    record = json.loads((folder / "r.json").read_text(encoding="utf-8"))
    yield from _of_noise(record, values, counts, arguments)


def _of_noise(
    record: dict[str, Any], values: dict[str, float], counts: dict[str, int] | None, arguments: Sequence[str]
) -> Iterator[str]:
    """Yield noise that no sampler would draw in a lifetime, and counts that are not above the threshold."""
    sigma = _float(record.get("sigma"))
    tau = _float(record.get("tau"))
    if tau is not None and "--whole" not in arguments and not all(value > 1 + tau for value in values.values()):
        yield f"{values} has counts that are not above the threshold 1 + {tau}"
    if counts is None or record["mechanism"] == "top-k":
        return
    strange = values.keys() - counts.keys()
    if strange and not any("damaged" in argument for argument in arguments):
        return  # the file was damaged, and labels with it
    if sigma is not None:
        far = [label for label, value in values.items() if abs(value - counts[label]) > 60 * sigma + 1]
        if far and len(values) == len(counts):
            yield f"{far} lie more than 60 sigma from their counts: {values}, {counts}, sigma {sigma}"


def _float(text: str | None) -> float | None:
    return None if text is None else float(Fraction(text))


# All commands


def _templates() -> list[tuple[list[str], dict[str, bytes], list[str]]]:
    """Return a correct command line for every way in and out, the files it needs, and the names that it writes."""
    from mechdesign.mechanism.files import _to_npz

    made = identity(["low", "high"], ["low", "high"])
    files = {"m.json": _file_of(made), "m.npz": _to_npz(made), "c.csv": COUNTS, "s.csv": b"x\nlow\nhigh\n"}
    files["p.toml"] = b'title = "t"\nepsilon = "1"\n[prior]\nprobabilities = ["0.5", "0.5"]\n'
    sparse = ["-k", "3", "--epsilon", "1", "--delta", "1e-6"]
    lines: list[tuple[list[str], list[str]]] = [
        (["design", "p.toml", "-o", "o.json"], ["o.json"]),
        (["design", "--counts", "c.csv", "--epsilon", "1", "-o", "o.npz"], ["o.npz"]),
        (["design", "--data", "s.csv", "--column", "x", "--epsilon", "1", "-o", "o.csv"], ["o.csv"]),
        (["verify", "m.json"], []),
        (["verify", "m.npz"], []),
        (["audit", "m.json", "--samples", "100"], []),
        (["compare", "p.toml"], []),
        (["compare", "--counts", "c.csv", "--epsilon", "1"], []),
        (["privatize", "s.csv", "--column", "x", "--mechanism", "m.json", "-o", "o.csv"], ["o.csv"]),
        (["privatize", "s.csv", "--column", "x", "--mechanism", "m.npz", "-o", "o.parquet"], ["o.parquet"]),
        (["estimate", "s.csv", "--column", "x", "--mechanism", "m.json", "-o", "o.csv"], ["o.csv"]),
        (["estimate", "s.csv", "--column", "x", "--mechanism", "m.json"], []),
        (["histogram", "discrete", "c.csv", *sparse, "-o", "o.csv", "--record", "r.json"], ["o.csv", "r.json"]),
        (["histogram", "top-k", "c.csv", *sparse, "-o", "o.csv", "--record", "r.json"], ["o.csv", "r.json"]),
        (["histogram", "gshm", "c.csv", *sparse, "--allow-float-noise", "-o", "o.csv"], ["o.csv"]),
        (
            ["histogram", "laplace", "c.csv", "--estimate", "c.csv", "--delta", "0.1", "--epsilon", "1", "-o", "o.csv"]
            + ["--allow-float-noise", "--record", "r.json"],
            ["o.csv", "r.json"],
        ),
        (["histogram", "discrete", "--plan", *sparse, "--record", "r.json"], ["r.json"]),
    ]
    return [(line, files, written) for line, written in lines]


def places(rng: Random) -> Case:
    """A correct command line, with a folder, a pipe, a socket, a device, a link or another file in place of one."""
    line, files, written = rng.choice(_templates())
    line, files, written = list(line), dict(files), list(written)
    files["old.csv"] = b"what stood here"
    stood = {
        "d.csv": Place("folder"),
        "pipe.csv": Place("pipe"),
        "socket.csv": Place("socket"),
        "device.csv": Place("device"),
        "link.csv": Place("link", "old.csv"),
        "hard.csv": Place("hard link", "c.csv"),
        "nowhere.csv": Place("link", "absent.csv"),
        "lost.csv": Place("link", "absent/absent.csv"),
        "loop.csv": Place("link", "loop.csv"),
        "to-pipe.csv": Place("link", "pipe.csv"),
        "to-device.csv": Place("link", "device.csv"),
        "to-folder.csv": Place("link", "d.csv"),
        "to-counts.csv": Place("link", "c.csv"),
        "to-records.csv": Place("link", "s.csv"),
        "to-m.json": Place("link", "m.json"),
    }
    names = [*stood, *files, "absent.csv", "absent/o.csv", "c.csv/o.csv", "d.csv/", "./c.csv", "d.csv/../c.csv", ".", "..", "/"]
    names += ["x" * 300 + ".csv", "-", "", " .csv", "o.CSV", "o.csv ", "\u202e.csv", "\U0001f600.csv", "o\n.csv", "\udcff.csv", "o.tar.csv"]
    for _ in range(rng.choice([1, 1, 2])):
        files_at = [i for i, argument in enumerate(line) if argument in {*files, *written}]
        if not files_at:
            break
        at = rng.choice(files_at)
        name = rng.choice(names)
        if line[at - 1] in {"-o", *WRITTEN}:
            written = [name if other == line[at] else other for other in written]
        line[at] = name
    if _written_by(line):
        line += _flag(rng, "--overwrite")
    outputs = [name for name in written if name in line]
    return Case(line, files, stood, outputs=outputs, stdin=rng.choice([b"", COUNTS, files["s.csv"]]))


def _written_by(line: Sequence[str]) -> bool:
    names = line[:2] if line[0] == "histogram" else line[:1]
    return any("--overwrite" in parameter.opts for parameter in command_named(*names).params)


def arguments(rng: Random) -> Case:
    """Any command with any of its options, and with words that mean nothing."""
    names = rng.choice([*([name] for name in commands.commands if name != "histogram"), *_HISTOGRAMS, [], ["histogram"]])
    command = command_named(*names)
    line = [*names, *options(rng, command, rng.choice([0.1, 0.4, 0.8]))]
    _, files, _ = _templates()[0]
    outputs = []
    for parameter in command.params:
        option = max(parameter.opts, key=len)
        if option in WRITTEN and rng.random() < 0.6:
            outputs.append(rng.choice(["o.csv", "o.json", "o.png", "o.parquet", "c.csv", "m.json"]))
            line += [option, outputs[-1]]
        elif option in READ and rng.random() < 0.5:
            line += [option, rng.choice(list(files))]
        elif isinstance(parameter, click.Argument) and rng.random() < 0.8:
            line.append(rng.choice(list(files)))
    if rng.random() < 0.2:
        line.insert(rng.randint(0, len(line)), generators.text(rng))
    if rng.random() < 0.1:
        line.insert(rng.randint(0, len(line)), rng.choice(["--help", "-h", "--nonsense", "-x", "--", "--version", "nonsense"]))
    return Case(_clean(line), files, outputs=outputs)


_HISTOGRAMS = [["histogram", name] for name in ("laplace", "gshm", "csh", "top-k", "discrete")]


def processes(rng: Random) -> Case:
    """Processes of their own: no folder to work in, full devices, terminals of another encoding, strange names."""
    line, files, written = rng.choice(_templates())
    line = line + _flag(rng, "--json")
    kind = rng.randrange(6)
    stdout, gone = "", False
    environment: dict[str, str] = {"COLUMNS": "200"}
    if kind == 0:
        stdout = "/dev/full"
    elif kind == 1:
        stdout = "closed"
    elif kind == 2:
        gone, files = True, {}
    elif kind == 3:
        environment["PYTHONIOENCODING"] = rng.choice(["ascii", "latin-1", "cp1252", "utf-8"])
        files = {**files, "s.csv": b"\xf0\x9f\x98\x80\nlow\nhigh\n"}
        line = ["\U0001f600" if argument == "x" else argument for argument in line]
    elif kind == 4:
        environment |= {"LC_ALL": "C", "PYTHONUTF8": rng.choice(["0", "1"]), "PYTHONCOERCECLOCALE": "0"}
        name = rng.choice(written or ["m.json"])
        strange = rng.choice(["\udcff", "\u00e9", "\u202e"]) + Path(name).suffix
        if name in files:
            files = {**files, strange: files[name]}
        line = [strange if argument == name else argument for argument in line]
        written = [strange if other == name else other for other in written]
    else:
        line = [rng.choice(["nonsense", "--nonsense", "-h", "--version"]), *line[1:]]
        stdout = rng.choice(["", "/dev/full"])
    return Case(line, files, outputs=written, fresh=True, environment=environment, stdout=stdout, gone=gone)


FUZZERS: dict[str, Fuzzer] = {
    "design": design,
    "verify": verify,
    "compare": compare,
    "plan": plan,
    "privatize": privatize,
    "estimate": estimate,
    "audit": audit,
    **{name: histogram(name) for name in ("laplace", "gshm", "csh", "top-k", "discrete")},
    "arguments": arguments,
    "places": places,
    "processes": processes,
}
