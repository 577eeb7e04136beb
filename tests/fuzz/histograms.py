"""Histograms, planned and released."""

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

from . import generators, record_files
from .contract import is_json_of
from .options import command_named, flags, maybe_damaged, options, without_nul
from .room import Case, Result, Run

Random = random.Random
Fuzzer = Callable[[Random], Case]


def histogram(name: str) -> Fuzzer:
    """Return the fuzzer of one kind of histogram."""

    def fuzz(rng: Random) -> Case:
        planned = rng.random() < 0.4
        labels = generators.labels(rng, rng.randint(1, 6))
        counts = {label: rng.choice([0, 1, 3, 40, 1000, 10**6]) for label in labels}
        arguments = ["histogram", name, *_noise(rng, name), *flags(rng, "--json", "--allow-float-noise", "--whole")]
        if planned:
            arguments += ["--plan", *rng.choice([[], [], ["--record", "r.json"]])]
            return Case(without_nul(arguments), outputs=["r.json"] if "--record" in arguments else [])
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
        return Case(without_nul(arguments), files, outputs=written, check=check)

    return fuzz


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
    content = maybe_damaged(rng, record_files.csv_text(rng, ["label", "count"], rows).encode(), 0.2)
    estimate = record_files.csv_text(rng, ["label", "count"], [[label, "50"] for label in counts]).encode()
    files = {"e.csv": estimate}
    if rng.random() < 0.75:
        return {**files, "c.csv": content}, ["c.csv"]
    values = [label for label, count in counts.items() for _ in range(min(count, 3))]
    data = record_files.parquet(rng, {"x": values}) if values and rng.random() < 0.5 else b"x\n" + b"a\n" * len(values)
    return {**files, "d.csv": maybe_damaged(rng, data, 0.3)}, ["--data", "d.csv", "--column", "x"]


def _released(
    folder: Path, result: Result, output: str, counts: dict[str, int] | None, arguments: Sequence[str]
) -> Iterator[str]:
    """Yield what is wrong with released counts and their record."""
    content = result.stdout if output == "-" else (folder / output).read_bytes()
    rows = list(csv.reader(io.StringIO(content.decode(), newline=""), strict=True))
    if rows[0] != ["label", "excess" if arguments[1] == "top-k" else "count"]:
        yield f"the header of the release is {rows[0]}"
    values = {label: float(value) for label, value in rows[1:]}
    if len(values) != len(rows) - 1:
        yield "a label was released twice"
    if not all(map(math.isfinite, values.values())):
        yield f"released counts are not finite: {values}"
    if "--whole" in arguments and not all(
        value >= 0 and text.isdigit() for (_, text), value in zip(rows[1:], values.values(), strict=True)
    ):
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
