"""Checks of the files and streams that commands read and write."""

from __future__ import annotations

from collections.abc import Sequence

import click

from mechdesign.data.files import STANDARD, check_absent, check_places
from mechdesign.mechanism.words import second_run


def check(
    outputs: Sequence[str | None],
    inputs: Sequence[str | None] = (),
    *,
    as_json: bool,
    overwrite: bool = True,
    permanent: bool = False,
    data: str | None = None,
) -> bool:
    """Check inputs and outputs before anything is read, and return whether standard output is one of the outputs.

    If it is, the summary for people goes to standard error. Without ``overwrite`` an output that exists is refused, by
    the reason that permanent reports have, or other draws. ``data``, if it is a folder, takes no output.
    """
    standard = STANDARD in outputs
    if standard and as_json:
        raise click.UsageError(f"--json and the output {STANDARD} both want standard output; leave one of them out")
    check_places(outputs, inputs, data)
    if not overwrite:
        for path in outputs:
            if path is not None:
                check_absent(path, second_run(permanent=permanent), "give --overwrite")
    return standard
