"""Options with hostile values, for any command as click knows it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import click

from mechdesign.cli.commands import commands

from . import generators
from .room import Result

Random = random.Random

WRITTEN = {"--output", "--record", "--plot"}
READ = {"--counts", "--data", "--estimate", "--mechanism"}


def command_named(*names: str) -> click.Command:
    """Return a command, or one within a group."""
    found: click.Command = commands
    for name in names:
        assert isinstance(found, click.Group)
        found = found.commands[name]
    return found


def options(rng: Random, command: click.Command, likely: float, *, leave: Sequence[str] = ()) -> list[str]:
    """Return options of a command with hostile values, each with a probability; names of files are left out."""
    found: list[str] = []
    for parameter in command.params:
        if not isinstance(parameter, click.Option) or rng.random() > likely:
            continue
        name = max(parameter.opts, key=len)
        if name in {*WRITTEN, *READ, *leave} or name in {"--help", "--version"}:
            continue
        found.append(name)
        if not parameter.is_flag:
            found.append(_value(rng, parameter))
    return found


def _value(rng: Random, parameter: click.Option) -> str:
    kind = parameter.type
    if isinstance(kind, click.Choice) and rng.random() < 0.9:
        return str(rng.choice(list(kind.choices)))
    if parameter.name == "samples" and rng.random() < 0.7:
        return rng.choice(["1", "10", "1000", "0", "-1"])
    if rng.random() < 0.85:
        return generators.number(rng).replace("\x00", "")
    return generators.text(rng).replace("\x00", "")  # no argument holds a NUL


def flags(rng: Random, *flags: str) -> list[str]:
    return [flag for flag in flags if rng.random() < 0.4]


def accepted(result: Result, what: str) -> Iterator[str]:
    if result.status != 0:
        yield f"{what} was refused with status {result.status}: {result.stderr.decode(errors='replace')[-300:]}"


def maybe_damaged(rng: Random, content: bytes, likely: float) -> bytes:
    return generators.damaged(rng, content) if rng.random() < likely else content


def without_nul(arguments: Sequence[str]) -> list[str]:
    return [argument.replace("\x00", "") for argument in arguments]


def has_option(command: str, option: str) -> bool:
    return any(option in parameter.opts for parameter in command_named(command).params)
