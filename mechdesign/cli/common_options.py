"""The options that every command has: ``--quiet``, ``--verbose`` and ``--version``.

They are given to the whole tree of commands at once, so that a new command has them too. What they say is kept with
click's context, where `is_quiet` and `is_verbose` find it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import click

_QUIET, _VERBOSE = "mechdesign.quiet", "mechdesign.verbose"


def with_common_options(command: click.Command, version: str) -> click.Command:
    """Give a command, and the commands in it if it is a group, the options that every command has.

    Examples
    --------
    >>> import click
    >>> @click.command()
    ... def hello():
    ...     click.echo("quiet" if is_quiet() else "hello")
    >>> with_common_options(hello, "1.0").main(["-q"], standalone_mode=False)
    quiet
    """
    command.params += common_options(version)
    for inner in getattr(command, "commands", {}).values():
        with_common_options(inner, version)
    return command


class CheckedGroup(click.Group):
    """A group whose commands take each option once, but for those that are meant to be repeated.

    Otherwise the last one would win in silence, even where it is the privacy parameter.

    Examples
    --------
    >>> @click.group(cls=CheckedGroup)
    ... def tools():
    ...     pass
    >>> @tools.command()
    ... @click.option("--epsilon")
    ... def design(epsilon):
    ...     click.echo(epsilon)
    >>> tools.main(["design", "--epsilon", "1"], standalone_mode=False)
    1
    >>> tools.main(["design", "--epsilon", "1", "--epsilon", "2"], standalone_mode=False)
    Traceback (most recent call last):
    click.exceptions.UsageError: --epsilon is given 2 times; give it once
    """

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the name of a command, the command and its arguments, after checking these."""
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not ctx.resilient_parsing:
            context = click.Context(command, parent=ctx, info_name=name, **command.context_settings)
            check_given_once(context, rest)
        return name, command, rest


def check_given_once(context: click.Context, arguments: list[str]) -> None:
    """Refuse an option that is given several times and takes one value.

    Raises
    ------
    click.UsageError
        Which names the option. Other faults are left to the command.
    """
    try:
        _, _, order = context.command.make_parser(context).parse_args(list(arguments))
    except click.UsageError:
        return
    for option, times in Counter(order).items():
        if times == 1 or not isinstance(option, click.Option) or option.multiple or option.count:
            continue
        if option.secondary_opts or not option.is_flag:
            names = "/".join([option.opts[-1], *option.secondary_opts[-1:]])
            raise click.UsageError(f"{names} is given {times} times; give it once", context)


def is_quiet() -> bool:
    """Return whether the command that runs is to print neither a summary nor its progress."""
    return _is_set(_QUIET)


def is_verbose() -> bool:
    """Return whether the command that runs is to print every step."""
    return _is_set(_VERBOSE)


def _is_set(what: str) -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(what))


def common_options(version: str) -> list[click.Parameter]:
    """Return the options that every command has."""
    return [
        click.Option(
            ["-q", "--quiet"],
            help="Print no summary and no progress: errors, and the data or JSON that you ask for, are all that is "
            "printed.",
            is_flag=True,
            expose_value=False,
            callback=_keep,
        ),
        click.Option(
            ["--verbose"],
            help="Print each step of the computation on standard error when it begins, with the seconds so far.",
            is_flag=True,
            expose_value=False,
            callback=_keep,
        ),
        click.Option(
            ["-V", "--version"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=lambda context, _option, value: _show_version(context, version, wanted=value),
            help="Show the version and exit.",
        ),
    ]


def _keep(context: click.Context, option: click.Parameter, value: bool) -> None:
    """Keep what an option says. A command does not take back what its group was told."""
    if not value:
        return
    context.meta[f"mechdesign.{option.name}"] = True
    if context.meta.get(_QUIET) and context.meta.get(_VERBOSE):
        raise click.UsageError("--quiet and --verbose are given; give one of them", context)


def _show_version(context: click.Context, version: str, *, wanted: Any) -> None:
    if wanted and not context.resilient_parsing:
        click.echo(f"mechdesign, version {version}")
        context.exit()
