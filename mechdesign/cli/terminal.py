"""What commands know of the terminal: its width, and whether it wants colours."""

from __future__ import annotations

import os

from rich.console import Console

LEAST_WIDTH = 40  # columns; where a terminal says fewer, it folds lines itself, and no text is left out


def console(*, stderr: bool = False) -> Console:
    """Return a console for standard output or error, that writes colours and bold letters only where these are wanted.

    ``NO_COLOR`` (not empty) and ``TERM=dumb`` turn every escape code off; otherwise ``FORCE_COLOR`` (not empty) turns
    them on where there is no terminal.
    """
    wanted = color_wanted()
    found = Console(
        stderr=stderr,
        markup=False,
        highlight=False,
        no_color=wanted is False,
        force_terminal=wanted,
        color_system=None if wanted is False else "auto",
    )
    found.width = max(found.width, LEAST_WIDTH)
    return found


def color_wanted() -> bool | None:
    """Return whether the user wants escape codes: None where a terminal gets them and a file does not."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return True if os.environ.get("FORCE_COLOR") else None


def is_terminal(console: Console) -> bool:
    """Return whether a console is a terminal that can move its cursor, whatever the environment forces."""
    return console.file.isatty() and not console.is_dumb_terminal
