"""Design for whole records: each view by itself, weights, and a bound for all mechanisms of whole records."""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from mechdesign.data.checks import checked_standard_error
from mechdesign.display.frames import labelled_frame
from mechdesign.display.html import facts, table
from mechdesign.display.numbers import near, percent, text_above, text_below
from mechdesign.display.text import aligned, some
from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.numerics.exact import rational
from mechdesign.numerics.tolerances import GAP
from mechdesign.optimize import Design
from mechdesign.problem import DesignProblem
from mechdesign.records.joint_existence import no_joint_law
from mechdesign.records.number_bins import NumberBins
from mechdesign.records.record_certificate import (
    bound_of_records,
    combined_error_of,
    error_of_records,
    queries_of_records,
)
from mechdesign.records.record_mechanism import RecordMechanism
from mechdesign.records.record_parts import WEIGHT_BITS, RecordOptimality, RecordPart
from mechdesign.records.record_secret import ShownSet, secret_of, tables_of
from mechdesign.records.record_views import View, evidence_apart
from mechdesign.records.record_weights import shares_for_targets, wanted_squares, whole_weights
from mechdesign.records.shared_tables import shared_tables
from mechdesign.records.side_knowledge import set_against
from mechdesign.records.view_designs import (
    MatrixTask,
    Progress,
    StringTask,
    ViewFacts,
    designed,
    errors_of_strings,
)
from mechdesign.records.views_of_records import RecordViews
from mechdesign.uncertainty import L1Ball, SecretPromise, UncertaintySet
from mechdesign.uncertainty.evidence import check_one_way
from mechdesign.utility import EstimationError
from mechdesign.windows import WindowDesign

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class RecordDesign:
    """A mechanism for whole records, with what it is worth.

    Attributes
    ----------
    views : tuple of View
        The views, each with its set of priors.
    designs : tuple of Design or WindowDesign
        The certified design of each view; windows have a bound, and are not certified as the best.
    mechanism : RecordMechanism
        One view of each record, drawn by the weights; its guarantee is proved.
    optimality : RecordOptimality or None
        Error, bound and the vectors that prove the bound; None where there is no bound, which `no_bound` explains.
    no_bound : str
        Why there is no bound; empty where there is one.
    seconds : float
        Time taken.
    notes : tuple of str
        What in a cache did not serve, and why.
    """

    views: tuple[View, ...]
    designs: tuple[Design | WindowDesign, ...]
    mechanism: RecordMechanism
    optimality: RecordOptimality | None
    no_bound: str
    seconds: float
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        found = "" if self.bound is None else f", bound {text_below(self.bound, 6)}"
        return f"RecordDesign({len(self.views)} views, error {self.error:.9g}{found}, {self.mechanism!r})"

    def __str__(self) -> str:
        rows = [["view", "cells", "weight", "E", "bound of the view", "seconds"]]
        for view, made, share in zip(self.views, self.facts, self.mechanism.shares, strict=True):
            numbers = [near(share, 4), near(made.error, 6), text_below(made.bound, 6)]
            size = "any" if made.cells is None else str(made.cells)
            rows.append([view.name, size, *numbers, "" if made.seconds is None else near(made.seconds, 2)])
        return "\n".join([*aligned(rows), *self._words()])

    def _repr_html_(self) -> str:
        columns = self._columns()
        rows = list(zip([view.name for view in self.views], *columns.values(), strict=True))
        words = [line.partition(" ") for line in self._words()]
        return table(["view", *columns], rows, "Views of each record") + facts((head, rest) for head, _, rest in words)

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "cells": [made.cells for made in self.facts],
            "weight": list(self.mechanism.shares),
            "value": [view.value for view in self.views],
            "error": [made.error for made in self.facts],
            "lower_bound": [made.bound for made in self.facts],
            "certified": [made.certified for made in self.facts],
            "seconds": [made.seconds for made in self.facts],
        }

    @cached_property
    def facts(self) -> tuple[ViewFacts, ...]:
        """What the design of each view is worth."""
        return tuple(map(ViewFacts.of, self.designs))

    def to_frame(self, library: str | None = None) -> Any:
        """Return the views as a frame, a row for each: cells, weight, value, error and its bound, seconds.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            Whose frame; by default that of the first of the two that is installed.
        """
        return labelled_frame("view", [view.name for view in self.views], self._columns(), library)

    @cached_property
    def error(self) -> float:
        """The mean squared error of all queries times n, each times its value: ``sum value_i E_i / w_i``.

        Views that share attributes, such as pairs, are combined, which lessens it.
        """
        if self.optimality is not None:
            return self.optimality.error
        return self._error([view.value for view in self.views])

    def _error(self, values: Sequence[float]) -> float:
        return error_of_records(self.mechanism, values, errors_of_strings(self.views, self.designs))

    @property
    def bound(self) -> float | None:
        """What no mechanism for whole records with this promise falls below; None where none was found.

        It holds at every joint law whose views have the reference laws and in which every record is possible that no
        view rules out, however the attributes depend on each other.
        """
        return None if self.optimality is None else self.optimality.bound

    @property
    def gap(self) -> float | None:
        """How far the error is above the bound."""
        return None if self.bound is None else self.error - self.bound

    @property
    def optimal(self) -> bool:
        """Whether the gap is closed: then no mechanism for whole records is better by more than a millionth."""
        return self.gap is not None and self.gap <= GAP * self.error

    @property
    def certified(self) -> bool:
        """Whether the design of every view of listed values is certified as the best one for that view."""
        return all(made.certified is not False for made in self.facts)

    @property
    def queries(self) -> int:
        """The number of queries of all views; of windows as many as the sample has strings."""
        return sum(made.queries for made in self.facts)

    def respondents(self, standard_error: float) -> int:
        """Return how many people give all queries a standard error, as root mean square over the queries.

        Parameters
        ----------
        standard_error : float
            From 1e-100 to 1e100.

        Raises
        ------
        InputError
            For another one.
        """
        error = checked_standard_error(standard_error)
        alike = all(view.value == 1 for view in self.views)
        plain = self.error if alike else self._error([1.0] * len(self.views))
        return math.ceil(plain / (self.queries * error**2))

    def _words(self) -> list[str]:
        lines = [f"error {near(self.error, 6)}: n times the mean squared error, over all {self.queries} queries"]
        for name, labels in self.mechanism.ruled_out.items():
            lines.append(f"taken as impossible in {name}: {some(labels, 3)}")
        if self.optimality is None:
            return [*lines, f"bound: none ({self.no_bound})"]
        lines.append(
            f"bound {text_below(self.optimality.bound, 6)}: for every mechanism with this promise, at every "
            "joint law with these laws of views in which all records are possible that no view rules out"
        )
        if self.optimal:
            return [*lines, "optimal: among all mechanisms for whole records"]
        ratio = Fraction(self.error) / Fraction(self.optimality.bound)
        if ratio >= 2:
            return [*lines, f"the error is {text_above(ratio, 3)} times this bound"]
        return [*lines, f"within {percent(ratio - 1)} of what any mechanism could do"]


def design_records(  # noqa: PLR0913 - each is a choice of its own
    views: Mapping[str, object] | Sequence[View],
    epsilon: object,
    *,
    cap: object = None,
    delta: object = None,
    known: bool = False,
    choices: int | None = None,
    targets: Mapping[str, float] | None = None,
    bins: Mapping[str, NumberBins] | None = None,
    weight_bits: int = WEIGHT_BITS,
    bits: int = 48,
    tol: float | None = None,
    time_limit: float | None = None,
    executor: Any = None,
    cache: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> RecordDesign:
    """Return the mechanism that reports one view of each record, with certified designs and a bound for all mechanisms.

    Each view is designed by itself for the estimates that it is for. The weights, with which views are drawn, give all
    estimates together the least error, or each view its target from the fewest reports; they have no part in privacy.

    Parameters
    ----------
    views : mapping from name of a column to counts or a set of priors, sequence of View, or what `views_of` returns
        What reports may be about. A mapping has one view for each column, for the frequencies of its values. Counts by
        group, ``{"f": {...}, "m": {...}}``, ask for the promise against those too who know a person's group.
    epsilon : number or str
        The leakage about the whole record that no report exceeds. Where a view has a secret, it is the leakage about
        that attribute, and nothing is promised about the rest of the record.
    cap : number or str, optional
        A second promise: local differential privacy of the whole record with this level, whatever the distribution is
        and whatever is known about the person. Also beside a secret. The bound for all mechanisms leaves it out.
    delta : number or str, optional
        The probability that the samples mislead, of all views together: each view with counts gets an equal part.
    known : bool
        True where the counts are the distribution itself.
    choices : int, optional
        How many views the same counts chose these from, as `best_groups` does (`group_choices`). Each view gets the
        radius of that part of delta, so that delta holds whatever was chosen.
    targets : mapping from name of a view to a standard error, optional
        The root mean square over the queries of the view, wanted of every view. By default the sum of all squared
        errors, each times the value of its view, is least.
    bins : mapping from column to NumberBins, optional
        Columns that are numbers, whose counts are those of the bins; `views_of` gives them with the views.
    weight_bits : int
        Weights are whole numbers of the sum 2^weight_bits.
    bits, tol, time_limit
        As for `mechdesign.design`, for each view.
    executor : concurrent.futures.Executor or dask.distributed.Client, optional
        Where views are designed; by default in this process, one after the other.
    cache : path, optional
        A folder that keeps the design of each view of listed values as soon as it is there, so that a run that was
        interrupted goes on. What it holds is proved again. `sweep` may share it.
    progress : callable, optional
        Called with one line at each step.

    Returns
    -------
    RecordDesign

    Raises
    ------
    InputError
        For views of the same attributes, tables that contradict each other, counts without delta or known, and what
        `View` and `design` refuse.

    Examples
    --------
    >>> import mechdesign as md
    >>> counts = {"smokes": {"yes": 250, "no": 750}, "drinks": {"yes": 400, "no": 600}}
    >>> found = md.design_records(counts, 1, known=True)
    >>> [round(share, 3) for share in found.mechanism.shares], round(found.error, 3), round(found.bound, 3)
    ([0.539, 0.461], 2.256, 1.838)
    """
    started = time.perf_counter()
    tell = progress or _log.info
    given = _views(views)
    sets = _sets(given, delta, known=known, choices=choices)
    shown = tuple(view if prior is None else view.with_prior(prior) for view, prior in zip(given, sets, strict=True))
    listed = [(view, prior) for view, prior in zip(given, sets, strict=True) if prior is not None]
    told = [(view.name, view.attributes, prior) for view, prior in listed]
    secret, tables = secret_of(told), list(tables_of(told))
    _check_joint_law(tables)
    part = _part(given, delta)
    tasks: list[MatrixTask | StringTask] = []
    for view, prior in zip(shown, sets, strict=True):
        with _naming(view):
            if prior is None:
                tasks.append(StringTask(len(tasks), view, epsilon, cap, part))
            else:
                problem = DesignProblem(prior, epsilon, EstimationError(view.workload), cap=cap)
                tasks.append(MatrixTask(len(tasks), view.name, problem, (tol, bits, time_limit)))
    designs, notes = designed(tasks, executor, tell, cache)
    chosen = views.bins if bins is None and isinstance(views, RecordViews) else bins or {}
    mechanism = _mechanism(shown, designs, targets, weight_bits, chosen, secret)
    tell("computing the bound for all mechanisms of whole records")
    claim, reason = _claim(mechanism, [view.value for view in shown])
    mechanism = replace(mechanism, optimality=claim)
    return RecordDesign(shown, tuple(designs), mechanism, claim, reason, time.perf_counter() - started, notes)


def _views(given: Mapping[str, object] | Sequence[View]) -> tuple[View, ...]:
    if isinstance(given, Mapping):
        found = tuple(View((name,), prior) for name, prior in given.items())  # type: ignore[arg-type]
    else:
        found = tuple(given) if isinstance(given, Sequence) and not isinstance(given, str) else ()
    if not found or not all(isinstance(view, View) for view in found):
        raise InputError.wrong_type(
            f"the views are {shorten(given)}; accepted: one or more, as a mapping from names of columns to counts or "
            "sets of priors, or a list of View"
        )
    shown = [frozenset(view.attributes) for view in found]
    for view in found:
        if shown.count(frozenset(view.attributes)) > 1:
            raise InputError.column_twice(f"two views show {' and '.join(view.attributes)} alone; give one of them")
    return found


def _check_joint_law(tables: Sequence[ShownSet]) -> None:
    """Refuse tables of which no joint law has all."""
    for shared in shared_tables(tables):
        if shared.contradicts:
            raise InputError.evidence_contradicts(shared.contradiction())
    if lost := no_joint_law(tables):
        raise InputError.evidence_contradicts(lost.contradiction())


def _part(views: Sequence[View], delta: object) -> Fraction | None:
    """Return the delta of each view with counts: equal parts."""
    return None if delta is None else rational(delta, "delta") / sum(isinstance(view.prior, Mapping) for view in views)


def _sets(views: Sequence[View], delta: object, *, known: bool, choices: int | None) -> list[UncertaintySet | None]:
    """Return the set of each view, None for windows; the views with counts share delta equally."""
    counted = sum(isinstance(view.prior, Mapping) for view in views)
    if counted:
        check_one_way({"delta": delta, "known": known}, "delta=, or known=True where they are the distribution itself")
    elif delta is not None or known:
        raise InputError.needless_argument("delta or known is given, and every view has a set; leave it out")
    part, found = _part(views, delta), []
    if choices is not None:
        _check_choices(choices, views, counted, part)
    for view in views:
        with _naming(view):
            held = None if part is None else part * counted / (choices or counted)
            found.append(None if view.windows is not None else _set_of(view, part, held, known=known))
    return found


def _check_choices(choices: object, views: Sequence[View], counted: int, delta: Fraction | None) -> None:
    """Refuse a number of views that these cannot have been chosen from, and views of which it says nothing."""
    if isinstance(choices, bool) or not isinstance(choices, int) or choices < counted:
        raise InputError.not_a_whole_number(
            f"choices is {shorten(choices)}; accepted: a whole number from {counted} on, that of the views with counts"
        )
    plain = all(isinstance(view.prior, Mapping) and _is_plain(view) for view in views)
    if delta is None or not plain:
        raise InputError.conflicting_arguments(
            "choices is given, which is for delta and views of counts, without groups of people, a secret or windows; "
            "leave it out, and choose views by other records than those that are counted"
        )


def _is_plain(view: View) -> bool:
    """Return whether the counts of a view are of its labels alone, and listed."""
    grouped = any(isinstance(counts, Mapping) for counts in view.prior.values())  # type: ignore[union-attr]
    return not grouped and view.windows is None and view.secret is None


@contextmanager
def _naming(view: View) -> Iterator[None]:
    """Name the view in errors about it."""
    try:
        yield
    except (InputError, LimitError) as error:
        raise error.reworded(f"the view {view.name}: {error}") from None


def _set_of(view: View, delta: Fraction | None, held: Fraction | None, *, known: bool) -> UncertaintySet:
    """Return the set of a view with counts, which states delta; the radius of a ball is that of a part of it, held."""
    given: Any = view.prior
    if not isinstance(given, Mapping):
        return view.prior  # type: ignore[return-value]  # a set, as `View` checks
    if view.secret is not None:
        return SecretPromise(given, secret=view.secret, useful=view.name, delta=delta, known=known)
    if given and all(isinstance(counts, Mapping) for counts in given.values()):
        return set_against(given, delta=delta, known=known)
    ball = L1Ball.from_counts(given, delta=held, known=known)
    if ball.evidence is None or (view.merged is None and held == delta):
        return ball
    evidence = ball.evidence
    if view.merged is not None:
        evidence = evidence_apart(evidence, ball.labels or (), len(view.attributes), view.combinations or 0)
    stated = replace(ball.evidence, delta=delta)
    return L1Ball(ball.center, evidence.radius() or 0, ball.labels, evidence=stated)


def _mechanism(
    views: Sequence[View],
    designs: Sequence[Design | WindowDesign],
    targets: Mapping[str, float] | None,
    weight_bits: int,
    bins: Mapping[str, NumberBins],
    secret: str | None,
) -> RecordMechanism:
    def weighted(shares: Sequence[float]) -> RecordMechanism:
        weights = whole_weights(shares, weight_bits)
        parts = [
            RecordPart(view.name, view.attributes, weight, made.mechanism, view.merged)
            for view, weight, made in zip(views, weights, designs, strict=True)
        ]
        return RecordMechanism(tuple(parts), weight_bits, bins, secret=secret)

    if targets is not None:
        errors = [ViewFacts.of(made).error for made in designs]
        queries = {view.name: ViewFacts.of(made).queries for view, made in zip(views, designs, strict=True)}
        return weighted(shares_for_targets(errors, wanted_squares(queries, targets)))
    alike = weighted([1.0] * len(views))
    values = [view.value for view in views]
    return weighted(combined_error_of(alike, values, errors_of_strings(views, designs)).best())


def _claim(mechanism: RecordMechanism, values: Sequence[float]) -> tuple[RecordOptimality | None, str]:
    """Return error and bound with the vectors that prove it, or why there is no bound."""
    try:
        queries, _ = queries_of_records(mechanism, values)
    except (InputError, LimitError) as error:
        return None, str(error)
    measures = tuple(tuple(each.tolist()) for each in queries.best_measures())
    bound = bound_of_records(mechanism, values, measures)
    return RecordOptimality(error_of_records(mechanism, values), bound, tuple(values), measures), ""
