"""The options that several commands have, such as ``--plot`` and ``--time-limit``, and numbers in options."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

from mechdesign.data.files import accepted_ending, write_atomically
from mechdesign.errors import shorten
from mechdesign.plot.drawing import ENDINGS, picture

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class _WholeNumber(click.types.IntParamType):
    """A whole number in the digits 0 to 9; Python's own reading takes ``1_000``, spaces and other digits too."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        _check_digits(self, value, param, ctx)
        whole: int = super().convert(value, param, ctx)
        return whole


class _Number(click.types.FloatParamType):
    """A number in the digits 0 to 9, or the word ``inf`` or ``nan``, which each option refuses or takes."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        _check_digits(self, value, param, ctx)
        number: float = super().convert(value, param, ctx)
        return number


def _check_digits(
    kind: _WholeNumber | _Number, value: object, param: click.Parameter | None, ctx: click.Context | None
) -> None:
    if isinstance(value, str) and not re.fullmatch(r"[0-9A-Za-z.+-]+", value):
        kind.fail(f"{shorten(value)} is not a valid {kind.name} in the digits 0 to 9.", param, ctx)


WHOLE = _WholeNumber()
"""The type of options that are whole numbers."""

NUMBER = _Number()
"""The type of options that are numbers, and become floats."""

time_limit_option = click.option(
    "--time-limit",
    type=NUMBER,
    metavar="SECONDS",
    help="Stop the search after this time, as Ctrl-C does, and return the best mechanism so far with its gap.",
)


def engine_options(command: Decorated) -> Decorated:
    """Add the options of executors to a command, whose function takes ``jobs`` and ``scheduler``.

    Both are arguments of `mechdesign.engine.opened_executor`, which refuses what they cannot mean.

    Examples
    --------
    >>> @click.command()
    ... @engine_options
    ... def command(jobs, scheduler):
    ...     click.echo(f"{jobs} {scheduler}")
    >>> command(["--jobs", "2"], standalone_mode=False)
    2 None
    """
    scheduler = click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Run tasks on the workers of a Dask scheduler, such as tcp://host:8786; files are then where the workers "
        "find them by the same path.",
    )
    jobs = click.option(
        "--jobs", type=WHOLE, metavar="N", help="Run tasks in N processes of this machine. [default: 1, this process]"
    )
    return jobs(scheduler(command))


def plot_option(what: str) -> Callable[[Any], Any]:
    """Return the option of a command that also draws something."""
    return click.option(
        "--plot", metavar="FILE", help=f"Also draw {what}: .png, .svg or .pdf; - is PNG on standard output."
    )


def check_plot(path: str | None) -> None:
    """Refuse a picture of another kind before anything is computed."""
    if path is not None:
        accepted_ending(path, ENDINGS)


def write_plot(path: str | None, figure: Callable[[], Any]) -> None:
    """Draw a figure and write it, if there is a path."""
    if path is not None:
        write_atomically(path, picture(figure(), path))
