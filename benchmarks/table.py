"""Measure everything and write it into README.md, with a picture: ``python -m benchmarks.table``."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path

import mechdesign as md
from benchmarks.measure import QUICK, SECTIONS, Row, Sizes
from benchmarks.picture import draw
from benchmarks.report import insert, report

FOLDER = Path(__file__).parent


def measure(sizes: Sizes) -> dict[str, list[Row]]:
    """Return the rows of all sections, and print each as it is measured."""
    # What is imported at the first use is imported here.
    for utility in (md.MutualInformation(), md.HammingAccuracy()):
        md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2], 0.1), 1, utility))
    measured: dict[str, list[Row]] = {}
    for name, section in SECTIONS.items():
        measured[name] = []
        for row in section(sizes):
            print(name, *(f"{key}={value}" for key, value in row.items()), flush=True)
            measured[name].append(row)
    return measured


def main(arguments: Sequence[str] | None = None) -> dict[str, list[Row]]:
    """Write README.md and results.png into a folder."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.table", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny sizes: that all runs, not how fast; needs --into")
    parser.add_argument("--into", type=Path, default=None, help="folder of README.md and results.png (benchmarks/)")
    given = parser.parse_args(arguments)
    if given.quick and given.into is None:
        parser.error("--quick measures nothing worth keeping; add --into FOLDER")
    into = given.into or FOLDER
    measured = measure(QUICK if given.quick else Sizes())
    into.mkdir(parents=True, exist_ok=True)
    if not (into / "README.md").exists():
        shutil.copy(FOLDER / "README.md", into)
    insert(into / "README.md", report(measured))
    draw(measured).savefig(into / "results.png", dpi=110)
    return measured


if __name__ == "__main__":
    main()
