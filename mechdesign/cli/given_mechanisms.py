"""Mechanisms that a command reads from files of any tool, or makes by the name of a baseline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from mechdesign.baselines import by_name, every
from mechdesign.baselines.catalogue import NAMED
from mechdesign.cli.mechanism_kinds import kind_of
from mechdesign.data.inputs import readable
from mechdesign.errors import InputError
from mechdesign.mechanism.matrix_files import MOST_BYTES, MatrixFile, read_matrix
from mechdesign.problem import DesignProblem

_ALL = "all"


def read_given(path: str, command: str) -> MatrixFile:
    """Read a matrix from a file for a command, or from standard input for ``-``."""
    with readable(path, MOST_BYTES) as place:
        kind_of(place).check_known(command, path)
        return read_matrix(place)


def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of mechanisms beside the design: ``files`` and ``names``."""
    names = ", ".join(NAMED)
    for option in (
        click.option(
            "--baseline",
            "names",
            multiple=True,
            metavar="NAME",
            help=f"Also compare a mechanism of the literature with the same epsilon of LDP: {names}, or {_ALL}. Those "
            f"that are shown anyway are left out of {_ALL}. May be given several times.",
        ),
        click.option(
            "--with",
            "files",
            multiple=True,
            metavar="FILE",
            help="Also compare a mechanism of your own, whatever it leaks: a matrix as CSV (with labels or without), "
            "NPY or NPZ, or a mechanism file. May be given several times.",
        ),
    ):
        command = option(command)
    return command


def given_mechanisms(files: Sequence[str], names: Sequence[str], problem: DesignProblem) -> list[tuple[str, Any]]:
    """Return the mechanisms of files and of baselines with their names, on the categories of a problem.

    Of all baselines those are left out that each comparison shows for the same objective.
    """
    found: list[tuple[str, Any]] = []
    for path in files:
        try:
            found.append((path, read_given(path, "compare").matrix.on_alphabet_of(problem.uncertainty)))
        except InputError as error:
            reason = str(error)
            raise error.reworded(reason if path in reason else f"{path}: {reason}") from None
    shown = ["randomized-response"] + ["subset-selection"] * (problem.utility.estimation is not None)
    for name in names:
        size = problem.uncertainty.size
        made = (
            every(size, problem.local_epsilon, without=shown)
            if name == _ALL
            else (by_name(name, size, problem.local_epsilon),)
        )
        found += [(baseline.name, baseline) for baseline in made]
    return found
