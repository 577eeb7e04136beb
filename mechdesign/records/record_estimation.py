"""From counts of reports about one view of each record to tables: `RecordEstimation`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mechdesign.deploy.confidence_limits import error_of_one_group
from mechdesign.deploy.estimation import Estimation, weighing_prior
from mechdesign.deploy.frequency import FrequencyEstimate
from mechdesign.errors import InputError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.threads import one_thread
from mechdesign.records.agreement import Agreement, chance_of_draw
from mechdesign.records.joint_likelihood import JointFit, joint_fit
from mechdesign.records.record_mechanism import RecordMechanism
from mechdesign.records.string_tables import StringTables
from mechdesign.records.table_estimates import RecordEstimate, TableEstimate
from mechdesign.records.table_readings import TableReading, joint_quantiles
from mechdesign.records.tied_views import TiedViews, tied_views

_Marks = NDArray[np.bool_]
_Limits = tuple[Floats, Floats, int]  # standard errors, limits alone and at once, and how many reports they need


@dataclass(frozen=True, eq=False)
class RecordEstimation:
    """How tables are estimated from the reports of a mechanism of whole records.

    Attributes
    ----------
    mechanism : RecordMechanism
        The mechanism that made the reports.
    confidence : float
        Of each interval, strictly between 0 and 1.
    consistent : bool
        Whether tables are to be those of one joint law of greatest likelihood, without errors.
    progress : callable, optional
        Called with one line at each step of such a fit, which takes long where there are many combinations.
    strings : StringTables, optional
        The strings that are estimated of views of windows; by default none.

    Raises
    ------
    InputError
        If an option is not accepted.
    """

    mechanism: RecordMechanism
    confidence: float = 0.95
    consistent: bool = False
    progress: Callable[[str], None] | None = None
    strings: StringTables | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, RecordMechanism):
            kind = type(self.mechanism).__name__
            raise InputError.wrong_type(f"the mechanism is of type {kind}; give a RecordMechanism")
        if self.strings is not None and self.strings.mechanism is not self.mechanism:
            raise InputError.wrong_mechanism("the strings are for another mechanism; give those of this one")
        if not isinstance(self.consistent, bool):
            raise InputError.wrong_type(f"consistent is of type {type(self.consistent).__name__}; give True or False")
        _ = self._alone  # checks the confidence

    @cached_property
    def _alone(self) -> tuple[Estimation | None, ...]:
        how = ("maximum-likelihood", "population", self.confidence)
        parts = self.mechanism.parts
        return tuple(None if part.is_open else Estimation(part.mechanism, *how) for part in parts)

    @cached_property
    def ties(self) -> tuple[TiedViews, ...]:
        """The views in parts that share no attribute."""
        return tied_views(self.mechanism)

    @cached_property
    def _references(self) -> dict[int, Floats]:
        parts = enumerate(self.mechanism.parts)
        return {place: weighing_prior(part.mechanism) for place, part in parts if not part.is_open}

    def of_counts(self, counts: Sequence[int], groups: int = 1) -> RecordEstimate:
        """Return the estimate from the number of reports of each output.

        Parameters
        ----------
        counts : sequence of int
            In the order of ``mechanism.outputs``: those of the first view, then those of the next.
        groups : int
            Of how many groups the simultaneous intervals hold at once.

        Raises
        ------
        InputError
            If there are no reports, or counts of another number of outputs.
        LimitError, SolverError
            Of consistent tables, see `mechdesign.records.joint_likelihood`.
        """
        table, size = np.array(counts, dtype=float), self.mechanism.firsts[-1]
        if table.shape != (size,):
            raise InputError.wrong_size(
                f"there are counts of {table.size} outputs; accepted: {size}, those of all views in a row"
            )
        if (table < 0).any() or (table % 1).any():
            raise InputError.not_a_whole_number("some counts of outputs are not whole numbers of at least 0; give such")
        if not table.any():
            raise InputError.nothing_given("there are no reports; give at least one")
        with one_thread():
            return self._of_views(np.split(table, self.mechanism.firsts[1:-1]), groups)

    def _of_views(self, counts: list[Floats], groups: int) -> RecordEstimate:
        parts = self.mechanism.parts
        alone = [
            estimation.of_counts(own.astype(int).tolist()) if estimation is not None and own.any() else None
            for estimation, own in zip(self._alone, counts, strict=True)
        ]
        told = [tied for tied in self.ties if any(counts[place].any() for place in tied.places)]
        readings = [self._reading(tied, counts, alone) for tied in told]
        known = [r.estimator.identifiable(tied.sums) for r, tied in zip(readings, told, strict=True)]
        gap, tables = None, []
        if self.consistent:
            fits = [self._fit(tied, counts, alone) for tied in told]
            gap = float(sum(fit.gap for fit in fits))
            for tied, reading, seen, fit in zip(told, readings, known, fits, strict=True):
                tables += _tables(tied, reading, seen, fit.tables, None)
        else:
            limits = self._limits(told, readings, known, groups, self._joint_error(told, counts))
            for tied, reading, seen, own in zip(told, readings, known, limits, strict=True):
                tables += _tables(tied, reading, seen, reading.tables, own)
        tables += self._of_strings(counts, told, groups)
        tables.sort(key=lambda found: len(found.attributes))
        views = {part.name: own for part, own in zip(parts, alone, strict=True) if own is not None}
        sizes = {part.name: int(own.sum()) for part, own in zip(parts, counts, strict=True)}
        family = groups * sum(len(table.cells) for table in tables)
        agreement = Agreement.together(reading.agreement for reading in readings)
        draw_p = chance_of_draw(list(sizes.values()), self.mechanism.shares)
        about = (float(self.confidence), self.consistent, gap, family, agreement, draw_p)
        return RecordEstimate(tuple(tables), views, sizes, *about)

    def _joint_error(self, told: Sequence[TiedViews], counts: Sequence[Floats]) -> float:
        """Return how often some interval of a listed cell may miss: a share of all, the rest is for strings."""
        cells = sum(len(table.cells) for tied in told for table in tied.tables)
        return (1 - self.confidence) * cells / (cells + self._asked(counts)) if cells else 0.0

    def _asked(self, counts: Sequence[Floats]) -> int:
        """Return how many strings are estimated of views that have reports."""
        asked = {} if self.strings is None else self.strings.candidates
        parts = zip(self.mechanism.parts, counts, strict=True)
        return sum(len(asked.get(part.name, ())) for part, own in parts if own.any())

    def _of_strings(self, counts: Sequence[Floats], told: Sequence[TiedViews], groups: int) -> list[TableEstimate]:
        """Return the tables of the strings that are estimated."""
        if self.strings is None:
            return []
        error = 1 - self.confidence
        names = [part.name for part in self.mechanism.parts]
        by_name = dict(zip(names, (own.astype(np.int64) for own in counts), strict=True))
        left = error - self._joint_error(told, counts)
        return self.strings.of_counts(by_name, error, left, groups, plain=self.consistent)

    def _reading(
        self, tied: TiedViews, counts: Sequence[Floats], alone: Sequence[FrequencyEstimate | None]
    ) -> TableReading:
        found = [alone[place] for place in tied.places]
        return TableReading.of(
            tied.space,
            [part.mechanism.matrix for part in tied.parts],
            [self._references[place] for place in tied.places],
            [counts[place] for place in tied.places],
            [None if own is None else own.frequencies for own in found],
        )

    def _fit(self, tied: TiedViews, counts: Sequence[Floats], alone: Sequence[FrequencyEstimate | None]) -> JointFit:
        """Return the tables of greatest likelihood; of a view that is alone they are there already."""
        first = alone[tied.places[0]]
        if len(tied.places) == 1 and first is not None:
            return JointFit(first.frequencies, first.likelihood_gap or 0.0, 0)
        matrices = [part.mechanism.matrix for part in tied.parts]
        return joint_fit(tied.space, matrices, [counts[place] for place in tied.places], progress=self.progress)

    def _limits(
        self,
        told: Sequence[TiedViews],
        readings: Sequence[TableReading],
        known: Sequence[_Marks],
        groups: int,
        joint: float,
    ) -> list[_Limits]:
        """Return errors and limits of all cells of all tables, those that hold at once for all readings together."""
        sums = [tied.sums[:, seen] for tied, seen in zip(told, known, strict=True)]
        roots = [reading.root(own) for reading, own in zip(readings, sums, strict=True)]
        done, found = 0, []
        if not roots:
            return []
        z = joint_quantiles(error_of_one_group(joint, groups), 1 - self.confidence, roots)
        for reading, own, root, seen in zip(readings, sums, roots, known, strict=True):
            errors, limits = np.full(len(seen), np.inf), np.tile([0.0, 1.0], (2, len(seen), 1))
            errors[seen] = np.sqrt((root**2).sum(axis=1))
            limits[:, seen], needed = reading.limits(own, z[:, done : done + len(root)])
            found.append((errors, limits, needed))
            done += len(root)
        return found


def _tables(
    tied: TiedViews, reading: TableReading, seen: _Marks, tables: Floats, limits: _Limits | None
) -> list[TableEstimate]:
    """Return the tables of views that share attributes, from those of all views, with or without limits."""
    linear = reading.fitted is None and limits is not None
    points = tables @ tied.sums
    points = np.where(seen, points, np.nan) if linear else points
    told = tuple(part.name for part, size in zip(tied.parts, reading.estimator.sizes, strict=True) if size)
    done, found = 0, []
    for wanted in tied.tables:
        some = slice(done, done + len(wanted.cells))
        done = some.stop
        found.append(
            TableEstimate(
                attributes=wanted.attributes,
                cells=wanted.cells,
                frequencies=points[some],
                standard_errors=None if limits is None else limits[0][some],
                intervals=None if limits is None else limits[1][0, some],
                simultaneous_intervals=None if limits is None else limits[1][1, some],
                identifiable=seen[some],
                views=told,
                reports=reading.reports,
                reports_needed=1 if limits is None else limits[2],
                method="least-squares" if linear else "maximum-likelihood",
            )
        )
    return found
