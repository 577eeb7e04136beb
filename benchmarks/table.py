"""Measure everything and write it into README.md, with a picture: ``python -m benchmarks.table``.

With ``--only`` the named sections are measured again. The others stay as they are, each with its own date.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import mechdesign as md
from benchmarks import errors, fleet, keyed, measure, reports, sweeps
from benchmarks.measure import QUICK, Row, Sizes
from benchmarks.picture import draw
from benchmarks.report import insert, inside, report, sections

FOLDER = Path(__file__).parent


def reaches(sizes: Sizes) -> Iterator[Row]:
    """Yield the goals beside what was measured."""
    yield from measure.reaches(sizes)
    yield from reports.reaches(sizes)


SECTIONS: dict[str, Callable[[Sizes], Iterator[Row]]] = {
    **measure.SECTIONS,
    **reports.SECTIONS,
    **errors.SECTIONS,
    **fleet.SECTIONS,
    **sweeps.SECTIONS,
    **keyed.SECTIONS,
    "reaches": reaches,
}


def warm_up() -> None:
    """Run small designs, so that imports at the first use are not timed."""
    for utility in (md.MutualInformation(), md.HammingAccuracy()):
        md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2], 0.1), 1, utility))


def measured_rows(name: str, sizes: Sizes) -> list[Row]:
    """Return the rows of a section, and print each as it is measured."""
    rows = []
    for row in SECTIONS[name](sizes):
        print(name, *(f"{key}={value}" for key, value in row.items()), flush=True)
        rows.append(row)
    return rows


def main(arguments: Sequence[str] | None = None) -> dict[str, list[Row]]:
    """Write README.md into a folder, and results.png if every section was measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.table", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to check that everything runs; needs --into")
    parser.add_argument(
        "--into", type=Path, default=None, help="folder of README.md and results.png [default: benchmarks/]"
    )
    parser.add_argument(
        "--only", nargs="+", choices=SECTIONS, default=list(SECTIONS), metavar="SECTION", help=", ".join(SECTIONS)
    )
    given = parser.parse_args(arguments)
    if given.quick and given.into is None:
        parser.error("--quick measures nothing worth keeping; add --into FOLDER")
    into = given.into or FOLDER
    into.mkdir(parents=True, exist_ok=True)
    readme = into / "README.md"
    if not readme.exists():
        shutil.copy(FOLDER / "README.md", into)
    sizes = QUICK if given.quick else Sizes()
    warm_up()
    measured: dict[str, list[Row]] = {}
    for name in SECTIONS:
        if name in given.only:
            measured[name] = measured_rows(name, sizes)
            # Each section is written at once, so that a run that ends early keeps what it has measured.
            insert(readme, report({name: measured[name]}, sections(inside(readme))))
    if measured.keys() == SECTIONS.keys():
        draw(measured).savefig(into / "results.png", dpi=110)
    return measured


if __name__ == "__main__":
    main()
