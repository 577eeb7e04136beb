"""Make the figures, tables and pictures: ``python -m figures``, or ``python -m figures figure_3a education``."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from figures import (
    education,
    figure_2a,
    figure_2b,
    figure_3a,
    figure_3b,
    figure_4,
    figure_5,
    figure_6a,
    figure_6b,
    figure_7,
    figure_csh_3a,
    figure_csh_3b,
    figure_estimation,
    figure_hp_1a,
    figure_hp_1b,
    figure_records,
    figure_samples,
    figure_secret,
    figure_windows,
    frequencies,
)
from figures.lib.output import FOLDER, write

# Each module has compute(quick), which returns the table, and draw(table), which returns the picture.
FIGURES: dict[str, ModuleType] = {
    "education": education,
    "frequencies": frequencies,
    "figure_2a": figure_2a,
    "figure_2b": figure_2b,
    "figure_3a": figure_3a,
    "figure_3b": figure_3b,
    "figure_4": figure_4,
    "figure_5": figure_5,
    "figure_6a": figure_6a,
    "figure_6b": figure_6b,
    "figure_7": figure_7,
    "figure_csh_3a": figure_csh_3a,
    "figure_csh_3b": figure_csh_3b,
    "figure_hp_1a": figure_hp_1a,
    "figure_hp_1b": figure_hp_1b,
    "figure_samples": figure_samples,
    "figure_estimation": figure_estimation,
    "figure_secret": figure_secret,
    "figure_windows": figure_windows,
    "figure_records": figure_records,
}


def make(names: Sequence[str], folder: Path, *, quick: bool) -> None:
    """Write the table and the picture of each figure, with progress on standard error."""
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True, markup=False, highlight=False)
    columns = (SpinnerColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=len(names))
        for name in names:
            progress.update(task, description=name)
            started = time.perf_counter()
            table = FIGURES[name].compute(quick=quick)
            write(name, table, FIGURES[name].draw(table), folder)
            progress.advance(task)
            console.print(f"{name}: {len(table):,} rows, {time.perf_counter() - started:.1f} s")


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the arguments and make the figures."""
    parser = argparse.ArgumentParser(
        prog="python -m figures", description="Write the table (CSV) and the picture (PNG) of every figure, or of some."
    )
    parser.add_argument("names", nargs="*", metavar="FIGURE", help=f"one of {', '.join(FIGURES)}; all by default")
    parser.add_argument("--quick", action="store_true", help="small sizes, to check that everything runs; needs --into")
    parser.add_argument(
        "--into", type=Path, default=None, metavar="FOLDER", help="folder of the files [default: figures/out/]"
    )
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in FIGURES]
    if unknown:
        parser.error(f"{unknown[0]} is not a figure; accepted: {', '.join(FIGURES)}")
    if given.quick and given.into is None:
        parser.error("--quick draws nothing worth keeping; add --into FOLDER")
    into = given.into or FOLDER
    into.mkdir(parents=True, exist_ok=True)
    make(given.names or list(FIGURES), into, quick=given.quick)


if __name__ == "__main__":
    main()
