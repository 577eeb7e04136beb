"""Where a command takes its problem from: a problem file, a table of counts, or a column of data."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from mechdesign.cli.output import say
from mechdesign.data.counts import count_column, read_counts, with_unseen
from mechdesign.data.inputs import readable
from mechdesign.data.joint_counts import About, JointCounts, count_pairs, read_joint_counts
from mechdesign.data.labels import by_falling_count
from mechdesign.errors import InputError, printable, shorten
from mechdesign.mechanism.sampler import random_bytes
from mechdesign.mechanism.uniform_draws import drawn_records
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty import L1Ball, SecretPromise, UncertaintySet, Union
from mechdesign.uncertainty.from_counts import kinds_from_counts, set_from_counts
from mechdesign.uncertainty.joint_limits import LIMITS
from mechdesign.uncertainty.relative_ball import RelativeBall
from mechdesign.uncertainty.sides import Sides
from mechdesign.utility import EstimationError, MutualInformation, Objective, Workload, utility_by_name

if TYPE_CHECKING:
    from mechdesign.problem_file import ProblemFile

_LONGEST_TITLE = 1_000
_NAME_IS_VALUE = (
    "Note: {} is the name of the column, and one of its values too; if the file has no line of names, give --no-header "
    "and --column 0 (or another index)."
)
_CSV_OPTIONS = "give counts with --counts FILE, and records with --data FILE --column COLUMN"


@dataclass(frozen=True)
class Source:
    """The options that describe a problem, as texts."""

    problem_file: str | None
    counts: str | None
    data: str | None
    column: str | None
    by: str | None
    group: str | None
    cover: bool | None
    secret: str | None
    unseen: str | None
    sample: int | None
    no_header: bool
    epsilon: str | None
    lower: str | None
    cap: str | None
    maximal_leakage: str | None
    delta: str | None
    radius: str | None
    known: bool
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
        names |= {"problem_file": "PROBLEM.toml", "kind": "--set", "cover": "--cover" if self.cover else "--no-cover"}
        del names["show_values"]  # which describes messages
        absent = {name: (None,) if name == "cover" else (None, False) for name in names}
        return [option for name, option in names.items() if getattr(self, name) not in absent[name]]

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
            problem, title = self._with_notes(self._from_problem_file(self.problem_file))
            return problem.uncertainty, title
        if self.kind == RelativeBall.kind and self.epsilon is None:
            raise click.UsageError(f"--set {self.kind} needs --epsilon, which such a set is made for")
        known, title = self._priors()
        return known, self._published(title)

    def promise_and_utility(self, known: UncertaintySet) -> tuple[DesignProblem | None, Objective]:
        """Return what is promised for a set, or None if no option says it, and the objective that is asked for."""
        if self.problem_file is not None:
            problem = self._from_problem_file(self.problem_file).problem
            return problem, problem.utility
        wanted = self.utility_asked_for()
        if self.epsilon is None:
            if (self.lower, self.cap, self.maximal_leakage) != (None, None, None):
                raise click.UsageError("--lower, --cap and --maximal-leakage need --epsilon, the promise from above")
            return None, wanted
        return DesignProblem(known, self.sides(self.epsilon), wanted), wanted

    def sides(self, epsilon: str) -> Sides:
        """Return the numbers of the promise."""
        return Sides(epsilon, self.lower, self.cap, self.maximal_leakage)

    def problem(self) -> tuple[DesignProblem, str]:
        """Return the problem and its title."""
        if len(self.inputs()) != 1:
            raise click.UsageError("give one of PROBLEM.toml, --counts FILE, --data FILE --column COLUMN")
        if self.problem_file is not None:
            return self._with_notes(self._from_problem_file(self.problem_file))
        if self.epsilon is None:
            raise click.UsageError("--counts and --data need --epsilon, the privacy parameter in nats")
        utility = self.utility_asked_for()
        if self.by is None or self.group is not None:
            known, title = self._priors()
            return DesignProblem(known, self.sides(self.epsilon), utility), self._published(title)
        from mechdesign.optimize.groups import designable

        union, title = self._in_groups(self.by)
        problem = DesignProblem(union, self.sides(self.epsilon), utility)
        return designable(problem, cover=self.cover), self._published(title)

    def _priors(self) -> tuple[UncertaintySet, str]:
        """Return the priors around counts or records, and the title of the problem."""
        if self.by is not None:
            union, title = self._in_groups(self.by)
            return (union, title) if self.group is None else self._of_group(union, title, self.group)
        if self.group is not None or self.cover is not None:
            raise click.UsageError("--group, --cover and --no-cover need --by, the column of the groups")
        return self._around() if self.secret is None else self._about_secret(self.secret)

    def _around(self) -> tuple[UncertaintySet, str]:
        """Return the set around the frequencies of counts or of a column, and the title of the problem."""
        if self.data is not None:
            if self.column is None:
                raise click.UsageError("--data needs --column, a name (or an index from 0 with --no-header)")
            self._check_set()
            with readable(self.data) as place:
                counts = count_column(place, self.column, header=not self.no_header, show_values=self.show_values)
                if not self.no_header and self.column in counts:
                    say(_NAME_IS_VALUE.format(shorten(self.column)), err=True)
                title = f"{place}, column {self.column}"
                title += "" if self.sample is None else f", {self.sample} records drawn at random"
            counts = with_unseen(self._drawn(counts), self._unseen_labels())
        else:
            if self.column is not None:
                raise click.UsageError("--column belongs to --data; a file of counts has a category and a count a line")
            self._unseen_labels()
            self._refuse_sample()
            self._check_set()
            with readable(self.counts or "") as place:
                counts = read_counts(place, header=not self.no_header, show_values=self.show_values)
                title = str(place)
        try:
            known = self._set(counts)
        except InputError as error:
            raise error.reworded(f"{title}: {error}") from None
        return known, title

    def _published(self, title: str) -> str:
        """Return a title that files can hold, whatever the bytes and the length of the names in it.

        Files are published: of the path that the title begins with it keeps the last name alone.
        """
        path = Path(self.data or self.counts or "")
        known = path.name and title.startswith(str(path))
        shown = printable(path.name + title.removeprefix(str(path)) if known else title)
        return shown if len(shown) <= _LONGEST_TITLE else f"{shown[:_LONGEST_TITLE]}..."

    def _drawn(self, counts: dict[str, int]) -> dict[str, int]:
        """Return counts of all records, or of the --sample of them that is drawn; labels outside of it have count 0."""
        if self.sample is None:
            return counts
        total = sum(counts.values())
        if not 1 <= self.sample <= total:
            raise click.UsageError(f"--sample is {self.sample}; accepted: 1 to {total}, the records that there are")
        if self.delta is None:
            raise click.UsageError("--sample needs --delta, the probability that the sample misleads")
        taken = drawn_records(np.fromiter(counts.values(), dtype=np.int64), self.sample, random_bytes(None)).tolist()
        drawn = dict(zip(counts, taken, strict=True))
        return {label: drawn[label] for label in by_falling_count(drawn)}

    def _refuse_sample(self) -> None:
        """Refuse --sample where no column of records is counted by itself."""
        if self.sample is not None:
            raise click.UsageError("--sample belongs to --data with --column alone; leave it out")

    def _unseen_labels(self) -> list[str]:
        """Return the categories that the records of --data lack."""
        if self.unseen is None:
            return []
        if self.data is None:
            raise click.UsageError("--unseen belongs to --data; a file of counts has a line for such a label, with 0")
        return _labels_in(self.unseen)

    def _set(self, counts: Mapping[str, int]) -> UncertaintySet:
        """Return the set of priors around counts."""
        kind = L1Ball.kind if self.kind is None else self.kind
        if kind != L1Ball.kind:
            return set_from_counts(kind, counts, self.delta, samples=self.samples, epsilon=self.epsilon)
        return L1Ball.from_counts(
            counts, delta=self.delta, radius=self.radius, known=self.known, samples=self.samples, bound=self.bound
        )

    def _check_set(self) -> None:
        """Refuse options that do not describe one set around counts."""
        if self.kind is not None and self.kind != L1Ball.kind:
            if self.kind not in _KINDS:
                raise click.UsageError(f"--set is {shorten(self.kind)}; accepted: {', '.join(_KINDS)}")
            if self.delta is None:
                raise click.UsageError(f"--set {self.kind} needs --delta, the probability that the set fails")
            for option in self.given():
                if option in {"--radius", "--known", "--bound"}:
                    raise click.UsageError(f"{option} belongs to --set {L1Ball.kind}; leave it out")
        self._check_one_way()

    def _check_one_way(self) -> None:
        """Refuse counts of which nothing, or more than one option, says what they are."""
        given = [option for option in self.given() if option in {"--delta", "--radius", "--known"}]
        if len(given) > 1:
            raise click.UsageError(f"{' and '.join(given)} are {'both' if len(given) == 2 else 'all'} given; give one")
        if not given:
            raise click.UsageError(
                "nothing says how far the counts may be from the truth; give one of --delta D (the counts are a sample)"
                f"{', --radius R' if self.secret is None else ''} and --known (they are the distribution itself)"
            )

    def _in_groups(self, by: str) -> tuple[Union, str]:
        """Return the union of the sets around the counts of each group, and the title of the problem."""
        for option in self.given():
            if option in {"--secret", "--samples"}:
                raise click.UsageError(f"{option}: not accepted beside --by, where each group has counts of its own")
            if option in {"--cover", "--no-cover"} and self.group is not None:
                raise click.UsageError(f"{option}: not accepted beside --group, which has a set of its own")
        table, _, title = self._joint_counts(by, "group")
        unseen = self._unseen_labels()
        try:
            return Union.of_groups(table, lambda row: self._set(with_unseen(row, unseen))), title
        except InputError as error:
            raise error.reworded(f"{title}: {error}") from None

    def _of_group(self, union: Union, title: str, group: str) -> tuple[UncertaintySet, str]:
        """Return the set of one group, and the title of the problem."""
        if group not in union.names:
            raise InputError.unknown_group(
                f"{title}: none of the {len(union.names)} groups is {shorten(group)}; give one that is there"
            )
        return union.sets[union.names.index(group)], f"{title}, group {group}"

    def _joint_counts(self, rows: str, about: About) -> tuple[JointCounts, str, str]:
        """Return the counts of each pair of a secret or a group and a reported value, the column of these, a title."""
        if self.data is not None and self.column is None:
            option = "--by" if about == "group" else "--secret"
            raise click.UsageError(f"{option} with --data needs --column, the column that is reported")
        self._refuse_sample()
        if self.counts is not None and self.column is not None:
            raise click.UsageError("--column belongs to --data; a file of joint counts has three columns")
        (self._check_set if about == "group" else self._check_one_way)()
        shown: dict[str, Any] = {"header": not self.no_header, "show_values": self.show_values, "about": about}
        with readable(self.data or self.counts or "") as place:
            if self.data is not None:
                joint, column = count_pairs(place, rows, self.column or "", **shown), self.column or ""
            else:
                joint, column = read_joint_counts(place, rows, **shown)
        return joint, column, f"{place}, column {column}, {'by' if about == 'group' else 'about'} {rows}"

    def _about_secret(self, secret: str) -> tuple[UncertaintySet, str]:
        """Return the promise about a secret, and the title of the problem."""
        beside = [option for option in self.given() if option in {"--radius", "--samples", "--bound", "--unseen"}]
        if beside:
            raise click.UsageError(
                f"{', '.join(beside)}: not accepted beside --secret, where the joint distribution is known or, with "
                "--delta, within limits from the counts"
            )
        if self.kind is not None and self.delta is None:
            raise click.UsageError("--set beside --secret needs --delta, from which and the counts limits follow")
        joint, column, title = self._joint_counts(secret, "secret")
        names = [f"column {name}" if self.no_header else name for name in (secret, column)]
        try:
            limits = LIMITS[0] if self.kind is None else self.kind
            return SecretPromise(
                joint, secret=names[0], useful=names[1], delta=self.delta, known=self.known, limits=limits
            ), title
        except InputError as error:
            raise error.reworded(f"{title}: {error}") from None

    def note_on_unseen(self, labels: int) -> str | None:
        """Return what a design for the labels of records should say before it begins; None for other designs."""
        if self.data is None or self.unseen is not None or (self.delta is None and self.radius is None):
            return None
        text = (
            f"Note: the categories are the {labels} labels in the records, and privatize will refuse a record with any "
            "other, unless its --unknown names one of them."
        )
        offer = (
            " --unseen CATEGORY,... adds categories that the sample lacks; one such as other can stand for all the "
            "rest (design --unseen other, then privatize --unknown other)."
        )
        return text if self.secret is not None else text + offer

    def utility_asked_for(self) -> Objective:
        """Return the objective that the options name, or the default one."""
        name = self.utility or self._default_utility()
        return utility_by_name(name, workload=None if self.workload is None else Workload.from_text(self.workload))

    def _default_utility(self) -> str:
        """Return the objective of counts and records: estimates, where a method designs for them."""
        counted = self.counts is not None or self.data is not None
        beside = self.lower is not None or self.maximal_leakage is not None
        estimates = counted and not beside
        return EstimationError.name if estimates else MutualInformation.name

    def default_in_words(self) -> list[tuple[str, str]]:
        """Return the fact that the objective is the default one; none where an option or a file names it."""
        if self.utility is not None or self.problem_file is not None:
            return []
        return [("objective", f"{self._default_utility()}, the default (--utility names another)")]

    def _with_notes(self, file: ProblemFile) -> tuple[DesignProblem, str]:
        """Return the problem of a file and its title, after saying what a reader of the file should know."""
        for note in file.notes:
            say(f"Note: {note}", err=True)
        return file.problem, file.title

    def _from_problem_file(self, path: str) -> ProblemFile:
        beside = [option for option in self.given() if option != "PROBLEM.toml"]
        hint = "" if Path(path).suffix.lower() == ".toml" else f"; if {path} is a CSV file, {_CSV_OPTIONS}"
        if beside:
            raise click.UsageError(f"{', '.join(beside)}: a problem file says this itself; change it there{hint}")
        from mechdesign.problem_file import read_problem

        try:
            with readable(path) as place:
                return read_problem(place)
        except InputError as error:
            raise error.reworded(f"{error}{hint}") from None


_KINDS = kinds_from_counts()


def _labels_in(text: str) -> list[str]:
    """Return labels that commas separate; quotes keep a comma within a label."""
    try:
        (labels,) = csv.reader([text], skipinitialspace=True, strict=True)
    except csv.Error:
        raise click.UsageError(f"--unseen is {shorten(text)}; accepted: CATEGORY,... in one line") from None
    return labels
