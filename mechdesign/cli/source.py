"""Where a command takes its problem from: a problem file, a table of counts, or a column of data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click

from mechdesign.cli.output import show_values_option
from mechdesign.data.counts import count_column, read_counts
from mechdesign.data.inputs import readable
from mechdesign.data.joint_counts import count_pairs, read_joint_counts
from mechdesign.errors import InputError, printable, shorten
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty import L1Ball, SecretPromise, UncertaintySet
from mechdesign.uncertainty.from_counts import kinds_from_counts, set_from_counts
from mechdesign.uncertainty.joint_limits import LIMITS
from mechdesign.uncertainty.radii import BOUNDS, DEFAULT
from mechdesign.uncertainty.relative_ball import RelativeBall
from mechdesign.utility import Objective, Workload, utility_by_name, utility_names
from mechdesign.utility.worst_case import PREFIX

_LONGEST_TITLE = 1_000
_CSV_OPTIONS = "give counts with --counts FILE, and records with --data FILE --column COLUMN"


@dataclass(frozen=True)
class Source:
    """The options that describe a problem, as texts."""

    problem_file: str | None
    counts: str | None
    data: str | None
    column: str | None
    secret: str | None
    no_header: bool
    epsilon: str | None
    lower: str | None
    delta: str | None
    radius: str | None
    samples: int | None
    bound: str | None
    kind: str | None
    utility: str | None
    workload: str | None
    show_values: bool

    def inputs(self) -> list[str]:
        """Return the files that are read."""
        return [path for path in (self.problem_file, self.counts, self.data) if path is not None]

    def given(self) -> list[str]:
        """Return the options of a problem that are given, as they are written."""
        names = {field.name: f"--{field.name.replace('_', '-')}" for field in fields(self)}
        names |= {"problem_file": "PROBLEM.toml", "kind": "--set"}
        del names["show_values"]  # which describes messages
        return [option for name, option in names.items() if getattr(self, name) not in {None, False}]

    def priors(self) -> tuple[UncertaintySet, str] | None:
        """Return the priors alone and a title, for a command that needs no epsilon; None if no option names them."""
        if len(self.inputs()) > 1:
            raise click.UsageError("give one of PROBLEM.toml, --counts FILE, --data FILE --column COLUMN")
        if not self.inputs():
            beside = [option for option in self.given() if option not in {"--epsilon", "--utility", "--workload"}]
            if beside:
                raise click.UsageError(f"{', '.join(beside)}: needs --counts FILE, or --data FILE --column COLUMN")
            return None
        if self.problem_file is not None:
            problem, title = self._from_problem_file(self.problem_file)
            return problem.uncertainty, title
        if self.kind == RelativeBall.kind and self.epsilon is None:
            raise click.UsageError(f"--set {self.kind} needs --epsilon, which such a set is made for")
        known, title = self._known() if self.secret is None else self._about_secret(self.secret)
        return known, _printable(title)

    def promise_and_utility(self, known: UncertaintySet) -> tuple[DesignProblem | None, Objective]:
        """Return what is promised for a set, or None if no option says it, and the objective that is asked for."""
        if self.problem_file is not None:
            problem = self._from_problem_file(self.problem_file)[0]
            return problem, problem.utility
        wanted = self.utility_asked_for()
        if self.epsilon is None:
            if self.lower is not None:
                raise click.UsageError("--lower needs --epsilon, the promise from above")
            return None, wanted
        return DesignProblem(known, self.epsilon, wanted, self.lower), wanted

    def problem(self) -> tuple[DesignProblem, str]:
        """Return the problem and its title."""
        if len(self.inputs()) != 1:
            raise click.UsageError("give one of PROBLEM.toml, --counts FILE, --data FILE --column COLUMN")
        if self.problem_file is not None:
            return self._from_problem_file(self.problem_file)
        if self.epsilon is None:
            raise click.UsageError("--counts and --data need --epsilon, the privacy parameter in nats")
        utility = self.utility_asked_for()
        known, title = self._known() if self.secret is None else self._about_secret(self.secret)
        return DesignProblem(known, self.epsilon, utility, self.lower), _printable(title)

    def _known(self) -> tuple[UncertaintySet, str]:
        """Return the ball around the frequencies of counts or of a column, and the title of the problem."""
        if self.data is not None:
            if self.column is None:
                raise click.UsageError("--data needs --column, a name (or an index from 0 with --no-header)")
            with readable(self.data) as place:
                counts = count_column(place, self.column, header=not self.no_header, show_values=self.show_values)
                title = f"{place}, column {self.column}"
        else:
            if self.column is not None:
                raise click.UsageError("--column belongs to --data; a file of counts has two columns, label and count")
            with readable(self.counts or "") as place:
                counts = read_counts(place, header=not self.no_header, show_values=self.show_values)
                title = str(place)
        try:
            known = self._set(counts)
        except InputError as error:
            raise InputError(f"{title}: {error}") from None
        return known, title

    def _set(self, counts: Mapping[str, int]) -> UncertaintySet:
        """Return the set of priors around counts."""
        kind = L1Ball.kind if self.kind is None else self.kind
        if kind == L1Ball.kind:
            return L1Ball.from_counts(
                counts, delta=self.delta, radius=self.radius, samples=self.samples, bound=self.bound
            )
        if kind not in _KINDS:
            raise click.UsageError(f"--set is {shorten(kind)}; accepted: {', '.join(_KINDS)}")
        if self.delta is None:
            raise click.UsageError(f"--set {kind} needs --delta, the probability that the set fails")
        for option, value in (("--radius", self.radius), ("--bound", self.bound)):
            if value is not None:
                raise click.UsageError(f"{option} belongs to --set {L1Ball.kind}; leave it out")
        return set_from_counts(kind, counts, self.delta, samples=self.samples, epsilon=self.epsilon)

    def _about_secret(self, secret: str) -> tuple[UncertaintySet, str]:
        """Return the promise about a secret, and the title of the problem."""
        beside = [option for option in self.given() if option in {"--radius", "--samples", "--bound"}]
        if beside:
            raise click.UsageError(
                f"{', '.join(beside)}: not accepted beside --secret, where the joint distribution is known or, with "
                "--delta, within limits from the counts"
            )
        if self.kind is not None and self.delta is None:
            raise click.UsageError("--set beside --secret needs --delta, from which and the counts limits follow")
        if self.data is not None and self.column is None:
            raise click.UsageError("--secret with --data needs --column, the column that is reported")
        if self.counts is not None and self.column is not None:
            raise click.UsageError("--column belongs to --data; a file of joint counts has three columns")
        with readable(self.data or self.counts or "") as place:
            shown = {"header": not self.no_header, "show_values": self.show_values}
            if self.data is not None:
                joint, column = count_pairs(place, secret, self.column or "", **shown), self.column or ""
            else:
                joint, column = read_joint_counts(place, secret, **shown)
        title = f"{place}, column {column}, about {secret}"
        names = [f"column {name}" if self.no_header else name for name in (secret, column)]
        try:
            limits = LIMITS[0] if self.kind is None else self.kind
            return SecretPromise(joint, secret=names[0], useful=names[1], delta=self.delta, limits=limits), title
        except InputError as error:
            raise InputError(f"{title}: {error}") from None

    def utility_asked_for(self) -> Objective:
        """Return the objective that the options name."""
        name = self.utility or utility_names()[0]
        return utility_by_name(name, workload=None if self.workload is None else Workload.from_text(self.workload))

    def _from_problem_file(self, path: str) -> tuple[DesignProblem, str]:
        beside = [option for option in self.given() if option != "PROBLEM.toml"]
        hint = "" if Path(path).suffix.lower() == ".toml" else f"; if {path} is a CSV file, {_CSV_OPTIONS}"
        if beside:
            raise click.UsageError(f"{', '.join(beside)}: a problem file says this itself; change it there{hint}")
        from mechdesign.problem_file import read_problem

        try:
            with readable(path) as place:
                file = read_problem(place)
        except InputError as error:
            raise InputError(f"{error}{hint}") from None
        return file.problem, file.title


_NAMES = utility_names(with_matrix=False)
_KINDS = kinds_from_counts()
_UTILITIES = (
    f"The utility to maximise, or the error to minimise: {', '.join(_NAMES)}. {PREFIX} before mutual-information or a "
    f"gain (such as {PREFIX}hamming-accuracy) maximises its least value over the priors. [default: {_NAMES[0]}]"
)


def _printable(title: str) -> str:
    """Return a title that files can hold, whatever the bytes and the length of the names in it."""
    shown = printable(title)
    return shown if len(shown) <= _LONGEST_TITLE else f"{shown[:_LONGEST_TITLE]}..."


bound_option = click.option(
    "--bound",
    metavar="NAME",
    help=f"What relates samples, radius and --delta: {' or '.join(BOUNDS)} (ED eq. 37), which is never sharper. "
    f"[default: {DEFAULT}]",
)

_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.argument("problem_file", metavar="[PROBLEM.toml]", required=False),
    click.option("--counts", metavar="FILE", help="CSV of two columns, label and count; - reads standard input."),
    click.option(
        "--data",
        metavar="FILE",
        help="CSV or Parquet file of records, of which one column is counted; - reads standard input. With --delta the "
        "alphabet must be fixed beforehand: if a level may be missing from the records, use --counts.",
    ),
    click.option(
        "--column", metavar="COLUMN", help="The column of --data: a name, or an index from 0 with --no-header."
    ),
    click.option(
        "--secret",
        metavar="COLUMN",
        help="Protect this column alone: reports on --column may tell all that says nothing about it. With --counts, a "
        "CSV of three columns: both attributes, of which this names one, and the count of each pair.",
    ),
    click.option("--no-header", is_flag=True, help="The CSV file has no line of column names."),
    click.option("--epsilon", metavar="E", help='Privacy parameter in nats: a decimal, or "log(9/8)".'),
    click.option(
        "--lower",
        metavar="L",
        help="Promise from below too, in nats as --epsilon: no report makes any value less likely by a factor below "
        "exp(-L), so that none is ruled out (local information privacy). Without it reports may rule values out.",
    ),
    click.option(
        "--delta",
        metavar="D",
        help="Probability in [0, 1) that the true distribution is further from the estimate than the radius; with "
        "--secret, that the joint distribution lies outside of limits from the counts.",
    ),
    click.option(
        "--radius",
        metavar="R",
        help="l1 radius in [0, 2], instead of --delta. Without either it is 0: the distribution is known.",
    ),
    click.option(
        "--samples",
        metavar="N",
        type=int,
        help="Number of samples behind the estimate, for --delta; the total of the counts by default.",
    ),
    bound_option,
    click.option(
        "--set",
        "kind",
        metavar="KIND",
        help=f"The set that holds the true distribution except with probability --delta: {', '.join(_KINDS)}. Limits "
        "of each symbol (box, lower-limits) are best where one symbol has most of the mass; event-set, best up to 16 "
        "symbols, and relative-ball, for any number, are nearly always better than the l1 ball. "
        f"[default: {_KINDS[0]}]",
    ),
    show_values_option,
    click.option("--utility", metavar="NAME", help=_UTILITIES),
    click.option(
        "--workload",
        metavar="QUERIES",
        help="What --utility estimation-error is about: frequencies, prefix (cumulative), marginals=2x3, symbols=a,b, "
        "weights=1,2 or scores=1,2 (their mean); by label weights=a:1,b:2. [default: frequencies]",
    ),
)


time_limit_option = click.option(
    "--time-limit",
    type=float,
    metavar="SECONDS",
    help="Stop column generation after this time, as Ctrl-C does, and return the best mechanism so far with its gap.",
)


def source_options(command: Callable[..., Any], own: Collection[str] = ()) -> Callable[..., Any]:
    """Give a command the options of `Source`, which it receives as one object named ``source``.

    A command that declares some of these options on its ``own`` names them.
    """

    def wrapped(**values: Any) -> Any:
        names = Source.__dataclass_fields__
        source = Source(**{name: values.pop(name) for name in names})
        return command(source=source, **values)

    wrapped.__doc__ = command.__doc__
    decorated: Callable[..., Any] = wrapped
    # Options of the command itself, where they are declared below this decorator, stand after those of a problem.
    setattr(decorated, "__click_params__", list(getattr(command, "__click_params__", [])))  # noqa: B010
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    parameters: list[click.Parameter] = getattr(decorated, "__click_params__", [])
    parameters[:] = [parameter for parameter in parameters if parameter.name not in own]
    return decorated
