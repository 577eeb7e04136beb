"""The kinds of mechanisms by the schemas of their files: how a command reads one, and which commands know it.

A new kind is an entry in `KINDS`; commands ask the mechanism itself for all else (`mechanism.reporting.Deployed`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from mechdesign.cli.windows_sample import decorated
from mechdesign.data.inputs import readable
from mechdesign.data.reading import check_regular
from mechdesign.errors import InputError, printable
from mechdesign.mechanism.reporting import Deployed

MOST_BYTES = 1 << 28
"""Of a mechanism on standard input; mechanism files are shorter."""
_SCHEMA = re.compile(rb'(?:\xef\xbb\xbf)?\s*{\s*"schema"\s*:\s*"(mechdesign/[a-z-]+)/')
_OBJECT = re.compile(rb"(?:\xef\xbb\xbf)?\s*{")
_HOLDING_FIRST = (b"mechdesign/records", b"mechdesign/prefix-windows", b"mechdesign/windows")
_BEGUN = 200  # bytes that say what kind of mechanism a file holds
_MATRIX_ALONE = ("report", "analyze", "audit", "compare", "plan")


@dataclass(frozen=True)
class MechanismKind:
    """A kind of mechanism.

    Attributes
    ----------
    name : str
        What messages call it.
    home, made : str
        The room and the class of its mechanisms.
    unknown : mapping from str to str
        The commands that do not know it, with the reason and what to use instead.
    has_sample : bool
        Whether its file may be proved from a sample that is counted anew.
    own : mapping from str to str
        Functions that do the work of a command for this kind, "module:name".
    """

    name: str
    home: str = "mechdesign.mechanism"
    made: str = "Mechanism"
    unknown: Mapping[str, str] = field(default_factory=dict)
    has_sample: bool = False
    own: Mapping[str, str] = field(default_factory=dict)

    def check_known(self, command: str, path: str) -> None:
        """Refuse a file of this kind for a command that does not know it.

        Raises
        ------
        InputError
            Naming the kind, the reason and what to use.
        """
        if command in self.unknown:
            raise InputError.wrong_file_format(
                f"{printable(path)} holds {self.name}, which mechdesign {command} does not take: "
                f"{self.unknown[command]}"
            )


_OF_STRINGS = {
    "audit": "it counts reports about each value of a list, and windows report about strings that nobody has listed; "
    "mechdesign verify proves their promise, and the conformance kit tries a sampler in another language",
    "analyze": "it reads the probability of each report given each value of a list, and windows report about strings "
    "that nobody has listed; mechdesign verify proves their promise and the greatest leakage",
}
_OF_PREFIXES = "it is for windows of whole strings; mechdesign verify proves the promise of each level"
_NO_MATRIX = (
    "mechdesign analyze and mechdesign plan --reports set views beside others; or give the file of one view, which "
    "Python writes: RecordMechanism.load(FILE).part(NAME).mechanism.save(NEW)"
)
MATRIX = MechanismKind("a matrix")
KINDS: dict[bytes, MechanismKind] = {
    b"mechdesign/mechanism": MATRIX,
    b"mechdesign/windows": MechanismKind(
        "windows",
        "mechdesign.windows",
        "WindowMechanism",
        _OF_STRINGS | dict.fromkeys(("compare", "plan", "report"), "give it by the name of its file"),
        has_sample=True,
        own={
            "compare": "mechdesign.cli.windows_compare:compare_strings",
            "plan": "mechdesign.cli.windows_compare:plan_strings",
            "report": "mechdesign.cli.windows_report:report_strings",
        },
    ),
    b"mechdesign/prefix-windows": MechanismKind(
        "windows of prefixes",
        "mechdesign.windows",
        "PrefixWindows",
        dict.fromkeys(_MATRIX_ALONE, _OF_PREFIXES)
        | _OF_STRINGS
        | {"estimate": "give its reports to mechdesign heavy-hitters"},
        has_sample=True,
    ),
    b"mechdesign/records": MechanismKind(
        "views of whole records",
        "mechdesign.records",
        "RecordMechanism",
        dict.fromkeys(_MATRIX_ALONE, "give it by the name of its file") | {"compare": _NO_MATRIX},
        own={
            "analyze": "mechdesign.cli.records_analyze:analyze_views",
            "audit": "mechdesign.cli.records_audit:audit_views",
            "plan": "mechdesign.cli.records_plan:plan_views",
            "report": "mechdesign.cli.records_report:report_views",
        },
    ),
}


def kind_of(path: str | os.PathLike[str]) -> MechanismKind:
    """Return the kind of mechanism that a file holds, by its schema; a matrix where it has none of another kind.

    The schema is the first key, unless a program has put keys into another order. A kind that holds files of other
    kinds comes before these in `_HOLDING_FIRST`.
    """
    check_regular(path, "a mechanism file")
    try:
        with Path(path).open("rb") as file:
            content = file.read(_BEGUN)
            found = _SCHEMA.match(content)
            if found is None and _OBJECT.match(content):
                content += file.read(MOST_BYTES)
                names = (name for name in _HOLDING_FIRST if re.search(rb'"schema"\s*:\s*"' + name + b"/", content))
                return KINDS[next(names, b"mechdesign/mechanism")]
    except OSError:  # whoever reads it names what is wrong
        return MATRIX
    return MATRIX if found is None else KINDS.get(found[1], MATRIX)


def own_command(command: str, path: str | None, **options: object) -> Callable[..., int] | None:
    """Return what does the work of a command for the kind of mechanism in a file, if it is not as for matrices.

    Raises
    ------
    InputError
        For a file of a kind that the command does not know.
    click.UsageError
        For options of such kinds that are given without one.
    """
    kind = MATRIX if path is None or not Path(path).is_file() else kind_of(path)
    if command in kind.own:
        module, _, name = kind.own[command].partition(":")
        found: Callable[..., int] = getattr(import_module(module), name)
        return found
    if path is not None:
        kind.check_known(command, path)
    for name, value in options.items():
        if value is not None:
            raise click.UsageError(f"--{name} is for windows; leave it out")
    return None


def by_kind(command: str, file: str, *others: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator: files of other kinds than a matrix go to their own functions, which get all options.

    ``file`` is the parameter with the path; ``others`` are options for other kinds alone, which the function itself
    does not get.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(**values: Any) -> Any:
            if own := own_command(command, values[file]):
                return own(**values)
            for name in others:
                if values.pop(name) is not None:
                    raise click.UsageError(f"--{name} is for views of whole records; leave it out")
            return function(**values)

        return decorated(wrapped, function)

    return decorate


def load_mechanism(
    path: str,
    progress: Callable[[str], None],
    sample: Callable[[], Mapping[str, int]] | None = None,
    *,
    command: str = "",
) -> Deployed:
    """Say that a mechanism is proved; read it, of whatever kind it is, and prove it again, perhaps from its sample."""
    progress("proving the guarantee in exact arithmetic")
    with readable(path, MOST_BYTES) as place:
        kind = kind_of(place)
        kind.check_known(command, path)
        if sample is not None and not kind.has_sample:
            raise click.UsageError("--data and --counts are for windows, whose evidence is counted anew from them")
        made = getattr(import_module(kind.home), kind.made)
        found: Deployed = made.load(place) if sample is None else made.load(place, sample())
        return found
