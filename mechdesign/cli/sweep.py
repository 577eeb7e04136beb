"""``mechdesign sweep``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from pydantic import create_model

from mechdesign.cli import places
from mechdesign.cli.json_output import Finite, Labels, Output, Printed, Text, Whole, print_output
from mechdesign.cli.output import print_facts, print_table, say
from mechdesign.cli.progress import Progress
from mechdesign.cli.shared_options import check_plot, engine_options, write_plot
from mechdesign.cli.streams import print_error
from mechdesign.engine import opened_executor
from mechdesign.errors import LimitError
from mechdesign.optimize.kept.result_folder import ResultFolder
from mechdesign.sweeps import SweepFile, SweepResult, read_sweep
from mechdesign.sweeps.sweep_result import COLUMNS, ENDINGS

_MOST_ROWS = 40  # that are printed
_TEXTS = {"source", "utility", "set"}
_KINDS: dict[str, Any] = {"string": Text | None, "int64": int | None, "float64": Finite, "bool": bool | None}
_CELLS: dict[str, Any] = {name: (_KINDS[kind], ...) for name, kind in COLUMNS.items()}
SweepTableRow = create_model("SweepTableRow", __base__=Printed, __doc__="A row of the table of a sweep.", **_CELLS)


class SweepOutput(Output):
    """`mechdesign sweep`."""

    carries = "mechdesign/sweep/1"

    title: Text
    tables: Labels
    solved: Whole
    reused: Whole
    notes: Labels
    rows: Sequence[SweepTableRow]


@click.command("sweep")
@click.argument("file", metavar="SWEEP.toml")
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    required=True,
    help="The folder of results, made if it does not exist. What it holds is proved again and not solved again; any "
    "number of sweeps may share it.",
)
@click.option("--plot", metavar="FILE", help="Draw values over epsilon: .png, .svg or .pdf.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@engine_options
def sweep_command(
    *, file: str, output: str, plot: str | None, as_json: bool, jobs: int | None, scheduler: str | None
) -> int:
    """Solve the problems of a grid, each distinct one once, and write a table.

    \b
    Examples:
      mechdesign sweep examples/adult-sweep.toml -o results/
      mechdesign sweep grid.toml -o results/ --jobs 2 --plot grid.png
      mechdesign sweep grid.toml -o results/ --scheduler tcp://host:8786

    SWEEP.toml has a title, a table [[source]] for each prior (a name and counts, or data and column), and one value or
    a list of epsilon, delta or radius, samples, lower or cap, set and utility; also baselines, tol and time_limit. A
    mistake of the file is refused before anything is solved: an unknown key or name, text for a number, a source that
    cannot be read, a grid of which no point is a problem.

    The table is FOLDER/SWEEP.parquet and FOLDER/SWEEP.csv, with one row for each problem: its inputs, value, bound and
    leakage, the mechanisms it is compared with, and the file of its mechanism, in FOLDER/mechanisms. Each result is a
    file as soon as it is there, so that a sweep that was interrupted goes on where it stopped, and a problem that was
    changed is solved again. Sweeps that share a folder need files of different names, which are those of their tables.

    A problem that fails is a row with the reason, and so is a point of the grid whose values cannot be a problem, such
    as a radius of 2.5 or a set that needs delta. The exit status is then 3, as it is where a design is not certified.
    """  # noqa: D301 - click's mark for a paragraph that is not wrapped
    check_plot(plot)
    places.check([plot], [file], as_json=as_json)
    with Progress() as progress:
        progress("reading the grid")
        grid = read_sweep(file)
        tables = [str(Path(ResultFolder.opened(output).path, f"{Path(file).stem}{ending}")) for ending in ENDINGS]
        places.check([plot, *tables], [file, *grid.inputs], as_json=as_json)
        with opened_executor(jobs, scheduler) as executor:
            found = grid.run(executor, output, progress)
    for table in tables:
        found.save(table)
    if len(found.failures) < len(found):
        write_plot(plot, lambda: found.plot()[0].figure)
    for note in (*grid.notes, *found.notes):
        say(note, err=True)
    errors = list(_errors(found))
    if as_json:
        notes, rows = [*grid.notes, *found.notes], [SweepTableRow(**row.cells()) for row in found]
        printed = SweepOutput.built_from(found, title=grid.title, tables=tables, notes=notes, rows=rows)
        print_output(printed, *errors[:1])
    else:
        _print(found, grid, tables)
    return max(map(print_error, errors), default=0)


def _errors(found: SweepResult) -> Iterator[LimitError]:
    """Yield an error for problems without a design, and one for designs that are not certified."""
    open_gaps = [row for row in found if row.solved is not None and not row.solved.certified]
    if found.failures:
        first = found.failures[0]
        message = f"{len(found.failures)} of {len(found)} problems have no design; the first, {first.name}"
        yield LimitError.no_design(f"{message}: {first.failure}")
    if open_gaps:
        message = f"{len(open_gaps)} of {len(found)} designs are not certified, as the column certified says"
        yield LimitError.not_certified(f"{message}; what helps: a larger tol or time_limit")


def _print(found: SweepResult, grid: SweepFile, tables: list[str]) -> None:
    """Print what was done, and the rows if they are few."""
    print_facts(
        [
            ("sweep", grid.title),
            ("problems", f"{len(found)}, {len(found) - len(found.failures)} with a design"),
            ("designs", f"{found.solved} solved, {found.reused} from earlier sweeps, proved again"),
            ("written", ", ".join(tables)),
        ]
    )
    if len(found) > _MOST_ROWS:
        return
    summary = found.summary()
    rows = [[_shown(cell) for cell in cells] for cells in zip(*summary.values(), strict=True)]
    texts = [place for place, name in enumerate(summary) if name in _TEXTS]
    print_table([name.replace("_", " ") for name in summary], rows, texts=texts)


def _shown(cell: Any) -> str:
    if cell is None or isinstance(cell, bool):
        return {None: "", True: "yes", False: "no"}[cell]
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
