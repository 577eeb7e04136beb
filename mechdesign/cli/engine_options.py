"""The options ``--jobs`` and ``--scheduler``, which name the executor that runs the tasks of a command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


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
        "--jobs", type=int, metavar="N", help="Run tasks in N processes of this machine. [default: 1, this process]"
    )
    return jobs(scheduler(command))
