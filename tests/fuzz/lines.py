"""Command lines of every command: strange places, strange options, strange processes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import click

from . import generators
from .mechanism_files import file_of, identity
from .options import READ, WRITTEN, command_named, commands, flags, options, without_nul
from .room import Case, Place

Random = random.Random

COUNTS = b"label,count\nlow,50\nmiddle,30\nhigh,20\n"


def templates() -> list[tuple[list[str], dict[str, bytes], list[str]]]:
    """Return a correct command line for every way in and out, the files it needs, and the names that it writes."""
    from mechdesign.mechanism.mechanism_files import _to_npz

    made = identity(["low", "high"], ["low", "high"])
    files = {"m.json": file_of(made), "m.npz": _to_npz(made.parts), "c.csv": COUNTS, "s.csv": b"x\nlow\nhigh\n"}
    files["p.toml"] = b'title = "t"\nepsilon = "1"\n[prior]\nprobabilities = ["0.5", "0.5"]\n'
    sparse = ["-k", "3", "--epsilon", "1", "--delta", "1e-6"]
    lines: list[tuple[list[str], list[str]]] = [
        (["design", "p.toml", "-o", "o.json"], ["o.json"]),
        (["design", "--counts", "c.csv", "--epsilon", "1", "--known", "-o", "o.npz"], ["o.npz"]),
        (["design", "--data", "s.csv", "--column", "x", "--epsilon", "1", "--known", "-o", "o.csv"], ["o.csv"]),
        (["verify", "m.json"], []),
        (["verify", "m.npz"], []),
        (["audit", "m.json", "--samples", "100"], []),
        (["report", "m.json", "-o", "o.html", "--no-compare"], ["o.html"]),
        (["compare", "p.toml"], []),
        (["compare", "--counts", "c.csv", "--epsilon", "1", "--known"], []),
        (["privatize", "s.csv", "--column", "x", "--mechanism", "m.json", "-o", "o.csv"], ["o.csv"]),
        (["privatize", "s.csv", "--column", "x", "--mechanism", "m.npz", "-o", "o.parquet"], ["o.parquet"]),
        (["estimate", "s.csv", "--column", "x", "--mechanism", "m.json", "-o", "o.csv"], ["o.csv"]),
        (["estimate", "s.csv", "--column", "x", "--mechanism", "m.json"], []),
        (["histogram", "discrete", "c.csv", *sparse, "-o", "o.csv", "--record", "r.json"], ["o.csv", "r.json"]),
        (["histogram", "top-k", "c.csv", *sparse, "-o", "o.csv", "--record", "r.json"], ["o.csv", "r.json"]),
        (["histogram", "gshm", "c.csv", *sparse, "--allow-float-noise", "-o", "o.csv"], ["o.csv"]),
        (
            [
                "histogram",
                "laplace",
                "c.csv",
                "--estimate",
                "c.csv",
                "--delta",
                "0.1",
                "--epsilon",
                "1",
                "-o",
                "o.csv",
                "--allow-float-noise",
                "--record",
                "r.json",
            ],
            ["o.csv", "r.json"],
        ),
        (["histogram", "discrete", "--plan", *sparse, "--record", "r.json"], ["r.json"]),
    ]
    return [(line, files, written) for line, written in lines]


def places(rng: Random) -> Case:
    """A correct command line, with a folder, a pipe, a socket, a device, a link or another file in place of one."""
    line, files, written = rng.choice(templates())
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
    names = [
        *stood,
        *files,
        "absent.csv",
        "absent/o.csv",
        "c.csv/o.csv",
        "d.csv/",
        "./c.csv",
        "d.csv/../c.csv",
        ".",
        "..",
        "/",
    ]
    names += [
        "x" * 300 + ".csv",
        "-",
        "",
        " .csv",
        "o.CSV",
        "o.csv ",
        "\u202e.csv",
        "\U0001f600.csv",
        "o\n.csv",
        "\udcff.csv",
        "o.tar.csv",
    ]
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
        line += flags(rng, "--overwrite")
    outputs = [name for name in written if name in line]
    return Case(line, files, stood, outputs=outputs, stdin=rng.choice([b"", COUNTS, files["s.csv"]]))


def _written_by(line: Sequence[str]) -> bool:
    names = line[:2] if line[0] == "histogram" else line[:1]
    return any("--overwrite" in parameter.opts for parameter in command_named(*names).params)


def arguments(rng: Random) -> Case:
    """Any command with any of its options, and with words that mean nothing."""
    names = rng.choice(
        [*([name] for name in commands.commands if name != "histogram"), *_HISTOGRAMS, [], ["histogram"]]
    )
    command = command_named(*names)
    line = [*names, *options(rng, command, rng.choice([0.1, 0.4, 0.8]))]
    _, files, _ = templates()[0]
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
        line.insert(
            rng.randint(0, len(line)), rng.choice(["--help", "-h", "--nonsense", "-x", "--", "--version", "nonsense"])
        )
    return Case(without_nul(line), files, outputs=outputs)


_HISTOGRAMS = [["histogram", name] for name in ("laplace", "gshm", "csh", "top-k", "discrete")]


def processes(rng: Random) -> Case:
    """Processes of their own: no folder to work in, full devices, terminals of another encoding, strange names."""
    line, files, written = rng.choice(templates())
    line = line + flags(rng, "--json")
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
