"""The mechanism that a command is given: windows or a matrix, told apart by the schema in the file."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import click

from mechdesign.cli.json_output import Nearest, Printed, Whole
from mechdesign.data.fields import Number
from mechdesign.data.inputs import readable
from mechdesign.data.reading import check_regular
from mechdesign.mechanism import Mechanism
from mechdesign.mechanism.reporting import Deployed

MOST_BYTES = 1 << 28
"""Of a mechanism on standard input; mechanism files are shorter."""
_WINDOWS = re.compile(rb'\s*{\s*"schema"\s*:\s*"mechdesign/windows/')
_BEGUN = 200  # bytes that say what kind of mechanism a file holds


class StringsPromised(Printed):
    """What windows promise, and the leakage that is proved of them."""

    epsilon: Nearest
    delta: Number | None
    cap: Nearest | None = None
    samples: Whole
    seeds: Whole
    buckets: Whole
    windows: Whole
    threshold: Whole
    leakage: Number


def load_mechanism(
    path: str, progress: Callable[[str], None], sample: Callable[[], Mapping[str, int]] | None = None
) -> Deployed:
    """Say that a mechanism is proved; read it, of whatever kind it is, and prove it again, perhaps from its sample."""
    progress("proving the guarantee in exact arithmetic")
    with readable(path, MOST_BYTES) as place:
        check_regular(place, "a mechanism file")
        begun = b""
        with contextlib.suppress(OSError), Path(place).open("rb") as file:  # whoever reads it names what is wrong
            begun = file.read(_BEGUN)
        if _WINDOWS.match(begun):
            from mechdesign.windows import WindowMechanism

            return WindowMechanism.load(place, None if sample is None else sample())
        if sample is not None:
            raise click.UsageError("--data and --counts are for windows, whose evidence is counted anew from them")
        return Mechanism.load(place)
