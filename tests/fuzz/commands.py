"""One fuzzer for each command: a function from a source of randomness to a `Case`."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from mechdesign.histogram import DiscretePlan
from tests.helpers import pages

from . import claims, generators, mechanism_files, record_files
from .histograms import histogram
from .lines import arguments, places, processes
from .options import accepted, command_named, flags, maybe_damaged, options
from .reports import estimate, privatize
from .room import Case, Result, Run

Random = random.Random
Fuzzer = Callable[[Random], Case]


def _source(rng: Random) -> tuple[dict[str, bytes], list[str]]:
    """Return files with a problem, correct or not, and the arguments that name it."""
    kind = rng.randrange(4)
    if kind <= 1:
        table = generators.problem_table(rng)
        if rng.random() < 0.5:
            table = generators.mutated(rng, table)
        content = generators.as_toml(table)
        return {"p.toml": maybe_damaged(rng, content, 0.25)}, ["p.toml"]
    rows = [[label, _count(rng)] for label in generators.labels(rng, rng.randint(1, 5))]
    ask = ["--epsilon", rng.choice(["1", "log(2)", generators.number(rng)])]
    if rng.random() < 0.3:
        ask += ["--lower", rng.choice(["1", "log(2)", generators.number(rng)])]
    ask += rng.choice([[], ["--known"], ["--delta", rng.choice(["1e-9", generators.number(rng)])], ["--radius", "0.1"]])
    if kind == 2:
        content = record_files.csv_text(rng, ["label", "count"], rows).encode()
        return {"c.csv": maybe_damaged(rng, content, 0.4)}, ["--counts", "c.csv", *ask]
    values = [label for label, _ in rows for _ in range(rng.randint(1, 5))]
    if rng.random() < 0.4:
        content = record_files.parquet(rng, {"x": values, "n": list(range(len(values)))})
    else:
        content = record_files.csv_text(rng, ["x", "n"], [[v, str(i)] for i, v in enumerate(values)]).encode()
    return {"d.csv": maybe_damaged(rng, content, 0.4)}, ["--data", "d.csv", "--column", "x", *ask]


def _count(rng: Random) -> str:
    return rng.choice(["0", "1", "7", "50", "1000", "123456"]) if rng.random() < 0.9 else generators.number(rng)


def design(rng: Random) -> Case:
    """Problems in every form; what is written has to verify."""
    files, source = _source(rng)
    output = rng.choice(["m.json", "m.json", "m.npz", "m.csv", "m.txt", ""])
    if rng.random() < 0.3:
        files["m.json"] = b"what stood here"
    arguments = ["design", *source, "-o", output, *flags(rng, "--json", "--keep-partial")]
    arguments += rng.choice([[], ["--time-limit", "2"], options(rng, command_named("design"), 0.15)])
    if rng.random() < 0.1:
        arguments.append("--compare")

    def check(folder: Path, result: Result, run: Run) -> Iterator[str]:
        if result.status == 0 and output.endswith(("json", "npz")):
            yield from accepted(run(["verify", output]), "what design wrote")
            yield from claims.false_claims((folder / output).read_bytes())

    return Case(arguments, files, outputs=[output], check=check)


def _matrix_file(rng: Random, names: list[str]) -> tuple[str, bytes]:
    """Return a matrix as a file of another tool, with or without labels, or a changed mechanism file."""
    kind = rng.randrange(6)
    if kind == 0:
        return _mechanism_file(rng)
    parts = [[rng.choice([0, 1, 1, 2, 5]) for _ in range(rng.randint(1, 4))] for _ in names]
    width = len(parts[0])
    rows = [[(row + [1] * width)[j] for j in range(width)] for row in parts]
    rows = [[x / sum(row) for x in row] if any(row) else row for row in rows]
    if kind == 1:
        buffer = io.BytesIO()
        np.savez(buffer, **{rng.choice(["matrix", "C", "json"]): np.array(rows)})
        return "m.npz", maybe_damaged(rng, buffer.getvalue(), 0.4)
    if kind == 2:
        buffer = io.BytesIO()
        np.save(buffer, np.array(rows))
        return "m.npy", maybe_damaged(rng, buffer.getvalue(), 0.4)
    cells = [[generators.number(rng) if rng.random() < 0.03 else repr(x) for x in row] for row in rows]
    if rng.random() < 0.5:
        order = rng.sample(range(len(names)), len(names))
        content = record_files.csv_text(
            rng, ["", *(f"y{j}" for j in range(width))], [[names[i], *cells[i]] for i in order]
        )
    else:
        content = record_files.csv_text(rng, cells[0], cells[1:])
    return "m.csv", maybe_damaged(rng, content.encode(), 0.3)


def _counted(rng: Random) -> tuple[list[str], dict[str, bytes], list[str]]:
    """Return labels, a file with their counts, and the arguments that name it."""
    names = generators.labels(rng, rng.randint(2, 5))
    content = record_files.csv_text(rng, ["label", "count"], [[name, _count(rng)] for name in names]).encode()
    radius = rng.choice(
        [[], ["--known"], ["--radius", "0.1"], ["--delta", "1e-3"], ["--delta", generators.number(rng)]]
    )
    return names, {"c.csv": content}, ["--counts", "c.csv", *radius]


def compare(rng: Random) -> Case:
    """Problems in every form, and mechanisms of users beside them."""
    files, source = _source(rng)
    beside = []
    if rng.random() < 0.3:
        names, files, source = _counted(rng)
        source += ["--epsilon", rng.choice(["1", generators.number(rng)])]
        name, content = _matrix_file(rng, names)
        files[name] = content
        beside = rng.choice([["--with", name], ["--with", name, "--baseline", "all"], ["--baseline", "geometric"]])
    arguments = ["compare", *source, *beside, "--time-limit", "2", *flags(rng, "--json")]
    return Case([a.replace("\x00", "") for a in arguments], files)


def analyze(rng: Random) -> Case:
    """Matrices of every tool, and problems in every form."""
    names, files, source = _counted(rng)
    if rng.random() < 0.3:
        files, source = _source(rng)
    name, content = _matrix_file(rng, names)
    files[name] = content
    given = source if rng.random() < 0.95 else []
    arguments = ["analyze", name, *given, "--time-limit", "2", *flags(rng, "--json", "--no-optimum")]
    return Case([a.replace("\x00", "") for a in arguments], files)


def _plan_reports(rng: Random) -> Case:
    """Reports, wanted precisions, and problems in every form."""
    files, source = _source(rng)
    reports = rng.choice([["--reports"], ["--reports", "1000"], ["--reports", generators.number(rng)]])
    wanted = {
        "--standard-error": rng.choice(["0.01", generators.number(rng)]),
        "--interval": rng.choice(["0.1", generators.number(rng)]),
        "--confidence": rng.choice(["0.9", generators.number(rng)]),
    }
    given = rng.sample(list(wanted), rng.choice([0, 1, 1, 1, 2]))
    arguments = ["plan", *source, *reports, *[text for name in given for text in (name, wanted[name])]]
    arguments += ["--time-limit", "2", *flags(rng, "--json")]
    return Case([a.replace("\x00", "") for a in arguments], files)


def plan(rng: Random) -> Case:
    """Three of four numbers, hostile ones among them; or a plan of reports."""
    if rng.random() < 0.2:
        return _plan_reports(rng)
    asked = {
        "--samples": rng.choice(["1", "1000", "100000", generators.number(rng)]),
        "--epsilon": rng.choice(["1", "1.6", "log(2)", generators.number(rng)]),
        "--guaranteed-epsilon": rng.choice(["2", "log(9)", generators.number(rng)]),
        "--delta": rng.choice(["1e-5", "0.1", "0", generators.number(rng)]),
    }
    given = rng.sample(list(asked), rng.choice([3, 3, 3, 3, 2, 4]))
    arguments = ["plan", "--categories", rng.choice(["2", "20", "1000", generators.number(rng)])]
    arguments += [text for name in given for text in (name, asked[name])] + flags(rng, "--json")
    outputs = []
    if rng.random() < 0.03:
        outputs = [rng.choice(["p.png", "p.svg", "p.pdf", "p.txt"])]
        arguments += ["--plot", outputs[0]]
    return Case([a.replace("\x00", "") for a in arguments], outputs=outputs)


# Mechanism files


def _mechanism_file(rng: Random) -> tuple[str, bytes]:
    """Return a mechanism file that was changed, in one of the ways that files are."""
    tables = mechanism_files.mechanism_tables()
    kind = rng.randrange(8)
    table = rng.choice(tables)
    if kind <= 2:
        return "m.json", generators.as_json(rng, mechanism_files.shifted(rng, table))
    if kind <= 4:
        return "m.json", generators.as_json(rng, generators.mutated(rng, table))
    if kind == 5:
        return "m.json", generators.damaged(rng, generators.as_json(rng, table))
    if kind == 6:
        return "m.npz", mechanism_files.npz(rng, rng.choice(mechanism_files.mechanisms()))
    return "m.json", generators.as_json(rng, table)


def verify(rng: Random) -> Case:
    """Changed mechanism files; what is accepted has to hold in other arithmetic."""
    name, content = _mechanism_file(rng)

    def check(folder: Path, result: Result, run: Run) -> Iterator[str]:
        if result.status == 0:
            yield from claims.false_claims(content)

    return Case(["verify", name, *flags(rng, "--json", "--guarantee-only")], {name: content}, check=check)


def report(rng: Random) -> Case:
    """Pages of changed mechanism files and records: well made, whatever the labels are, or absent."""
    name, content = _mechanism_file(rng)
    if rng.random() < 0.3:
        plan = DiscretePlan.of(3, epsilon=1, delta="1e-6", sigma=8)
        told = rng.choice([None, *generators.labels(rng, 1)])
        table = json.loads(plan.record(randomness=told).to_json())
        name, content = "r.json", generators.as_json(rng, generators.mutated(rng, table))

    def check(folder: Path, result: Result, run: Run) -> Iterator[str]:
        page = folder / "o.html"
        if page.exists() != (result.status == 0):
            yield f"the exit status is {result.status}, and there is {'a' if page.exists() else 'no'} page"
        elif page.exists():
            try:
                pages.well_made(page.read_text(encoding="utf-8"))
            except AssertionError as error:
                yield f"the page is not well made: {error!r}"

    given = flags(rng, "--json", "--guarantee-only", "--no-compare")
    return Case(
        ["report", name, "-o", "o.html", "--time-limit", "1", *given], {name: content}, outputs=["o.html"], check=check
    )


def audit(rng: Random) -> Case:
    """Changed mechanism files, and few samples."""
    name, content = _mechanism_file(rng)
    arguments = ["audit", name, "--samples", rng.choice(["1", "100", "5000", "-1", "1e3", "nan", "0", "9" * 30])]
    arguments += flags(rng, "--json")
    if rng.random() < 0.3:
        arguments += ["--failure-probability", generators.number(rng)]
    return Case([a.replace("\x00", "") for a in arguments], {name: content})


FUZZERS: dict[str, Fuzzer] = {
    "design": design,
    "verify": verify,
    "compare": compare,
    "analyze": analyze,
    "plan": plan,
    "privatize": privatize,
    "estimate": estimate,
    "audit": audit,
    "report": report,
    **{name: histogram(name) for name in ("laplace", "gshm", "csh", "top-k", "discrete")},
    "arguments": arguments,
    "places": places,
    "processes": processes,
}
