"""The option ``--plot``, and the pictures that it writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from mechdesign.data.files import accepted_ending, write_atomically
from mechdesign.plot.drawing import ENDINGS, picture


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
