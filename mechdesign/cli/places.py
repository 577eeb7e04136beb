"""Checks of the files and streams that commands read and write."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import click

from mechdesign.data.files import STANDARD, check_absent, check_places
from mechdesign.data.inputs import readable
from mechdesign.mechanism import Mechanism
from mechdesign.mechanism.reporting import Deployed
from mechdesign.mechanism.words import second_run

MOST_BYTES = 1 << 28
"""Of a mechanism on standard input; mechanism files are shorter."""
_WINDOWS = re.compile(rb'\s*{\s*"schema"\s*:\s*"mechdesign/windows/')
_BEGUN = 200  # bytes that say what kind of mechanism a file holds


def check(
    outputs: Sequence[str | None],
    inputs: Sequence[str | None] = (),
    *,
    as_json: bool,
    overwrite: bool = True,
    permanent: bool = False,
) -> bool:
    """Check inputs and outputs before anything is read, and return whether standard output is one of the outputs.

    If it is, the summary for people goes to standard error. Without ``overwrite`` an output that exists is refused, by
    the reason that permanent reports have, or other draws.
    """
    standard = STANDARD in outputs
    if standard and as_json:
        raise click.UsageError(f"--json and the output {STANDARD} both want standard output; leave one of them out")
    check_places(outputs, inputs)
    if not overwrite:
        for path in outputs:
            if path is not None:
                check_absent(path, second_run(permanent=permanent), "give --overwrite")
    return standard


def load_deployed(
    path: str, progress: Callable[[str], None], sample: Callable[[], Mapping[str, int]] | None = None
) -> Deployed:
    """Say that a mechanism is proved; read it, of whatever kind it is, and prove it again, perhaps from its sample."""
    progress("proving the guarantee in exact arithmetic")
    with readable(path, MOST_BYTES) as place:
        begun = b""
        with contextlib.suppress(OSError), Path(place).open("rb") as file:  # whoever reads it names what is wrong
            begun = file.read(_BEGUN)
        if _WINDOWS.match(begun):
            from mechdesign.windows import WindowMechanism

            return WindowMechanism.load(place, None if sample is None else sample())
        if sample is not None:
            raise click.UsageError("--data and --counts are for windows, whose evidence is counted anew from them")
        return Mechanism.load(place)


def load_mechanism(path: str, progress: Callable[[str], None]) -> Mechanism:
    """Say that a mechanism is proved; read it from a file, or standard input for ``-``, and prove it again."""
    progress("proving the guarantee in exact arithmetic")
    with readable(path, MOST_BYTES) as place:
        return Mechanism.load(place)
