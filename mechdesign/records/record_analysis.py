"""What a mechanism of whole records is worth, beside others, and what it tells those who know something."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mechdesign.data.checks import checked_reports, checked_standard_error
from mechdesign.errors import InputError
from mechdesign.numerics.arrays import Floats
from mechdesign.records.combined_design import ErrorOfRecords
from mechdesign.records.record_baselines import RecordBaseline, best_sampled, sampled, split
from mechdesign.records.record_mechanism import RecordMechanism
from mechdesign.records.record_parts import RecordPart
from mechdesign.records.side_knowledge import SideLeakage, side_leakages, side_leakages_of_views
from mechdesign.utility import EstimationError
from mechdesign.utility.query_variances import variances_of_integers
from mechdesign.windows.decoder import Decoder


@dataclass(frozen=True, eq=False)
class ViewWorth:
    """What reports about a view tell.

    Attributes
    ----------
    part : RecordPart
        The view.
    share : float
        The probability that it is drawn.
    variances : array, shape (N,)
        n times the variance of each share that the view was designed for, from n reports about it, at its reference
        law; infinite where no number of reports is enough. These are the frequencies of its categories, or of a group
        those of each column unless its cells were asked for. Of windows that of a string that the sample lacks.
    """

    part: RecordPart
    share: float
    variances: Floats

    @property
    def typical(self) -> float:
        """The mean of the variances."""
        return float(self.variances.mean())

    def standard_error(self, reports: int) -> float:
        """Return the root mean square over the shares from so many reports about all views."""
        return math.sqrt(self.typical / (checked_reports(reports) * self.share))

    def largest_standard_error(self, reports: int) -> float:
        """Return that of the share which is known least."""
        return math.sqrt(float(self.variances.max()) / (checked_reports(reports) * self.share))

    def reports_for(self, standard_error: float) -> int | None:
        """Return how many reports about all views give every share this standard error; None if no number does."""
        needed = float(self.variances.max()) / self.share / checked_standard_error(standard_error) ** 2
        return math.ceil(needed) if math.isfinite(needed) else None


@dataclass(frozen=True, eq=False)
class RecordAnalysis:
    """What a mechanism of whole records is worth.

    Attributes
    ----------
    mechanism : RecordMechanism
        Whose views these are.
    views : tuple of ViewWorth
        In its order.
    side : tuple of SideLeakage
        What reports tell those who know an attribute, by falling leakage.
    of_records : bool
        Whether these are from records; else from the tables of the views, where these show enough.
    """

    mechanism: RecordMechanism
    views: tuple[ViewWorth, ...]
    side: tuple[SideLeakage, ...]
    of_records: bool

    @cached_property
    def _objectives(self) -> list[EstimationError | None]:
        """What each view was designed for; None for windows, whose file does not say which strings are asked for."""
        found: list[EstimationError | None] = []
        for part in self.mechanism.parts:
            claim = part.mechanism.optimality
            own = None if claim is None else claim.utility.estimation
            found.append(None if part.is_open else own or EstimationError())
        return found

    @cached_property
    def queries(self) -> int:
        """The number of queries of all views of listed values; frequencies, where a view was designed for none."""
        parts = zip(self._objectives, self.mechanism.parts, strict=True)
        return sum(len(each.queries(len(part.mechanism.inputs))) for each, part in parts if each is not None)

    @cached_property
    def error(self) -> float:
        """N times the mean squared error of all these queries; views that share attributes are combined."""
        errors = []
        for objective, part in zip(self._objectives, self.mechanism.parts, strict=True):
            made = part.mechanism
            if objective is None:
                errors.append(0.0)
                continue
            errors.append(objective.value_of_integers(made.numerators, made.guarantee.uncertainty))
        if not np.isfinite(errors).all():
            return math.inf
        ones = [1.0] * len(errors)
        return ErrorOfRecords(self.mechanism, self._objectives, ones, errors).at(self.mechanism.shares)

    @property
    def bound(self) -> float | None:
        """What the file claims that no mechanism falls below, for all queries alike; None if it claims nothing."""
        claim = self.mechanism.optimality
        return None if claim is None or {*claim.values} != {1.0} else claim.bound

    @cached_property
    def rivals(self) -> tuple[RecordBaseline, ...]:
        """Ways under local differential privacy to the same tables; none where views are not single attributes.

        None either where the promise is about a secret alone: theirs is about the whole record.
        """
        parts = self.mechanism.parts
        if self.mechanism.listed != parts or self.mechanism.secret is not None:
            return ()
        if any(len(part.attributes) > 1 or len(part.mechanism.inputs) < 2 for part in parts):
            return ()
        if any(
            each is None or not _asks_all(each, len(part.mechanism.inputs))
            for each, part in zip(self._objectives, parts, strict=True)
        ):
            return ()
        laws = [part.mechanism.guarantee.uncertainty.prior for part in parts]
        found = []
        for way in (best_sampled, sampled, split):
            try:
                found.append(way(laws, self.mechanism.guarantee.epsilon))
            except InputError:  # an epsilon such as log(3) is not split
                continue
        return tuple(found)

    def respondents(self, standard_error: float, error: float | None = None) -> int | None:
        """Return how many people give all queries a standard error, as root mean square; None if no number does."""
        wanted = checked_standard_error(standard_error)
        needed = (self.error if error is None else error) / (self.queries * wanted**2)
        return math.ceil(needed) if math.isfinite(needed) else None

    def standard_error(self, reports: int, error: float | None = None) -> float:
        """Return the standard error of all queries from so many reports, as root mean square."""
        return math.sqrt((self.error if error is None else error) / (self.queries * checked_reports(reports)))


def analyze_records(mechanism: RecordMechanism, records: Any = None) -> RecordAnalysis:
    """Return what a mechanism of whole records is worth, and what it tells those who know an attribute of the person.

    Parameters
    ----------
    mechanism : RecordMechanism
    records : frame, table or mapping of columns, optional
        With all attributes of the mechanism, from which its leakage to those who know one is computed. Without them it
        is computed where a view shows enough: that of a single attribute to those who know another one, if a view shows
        both.

    Raises
    ------
    InputError
        For columns that are missing, and values that no view knows.

    Examples
    --------
    >>> import mechdesign as md
    >>> counts = {"smokes": {"yes": 250, "no": 750}, "drinks": {"yes": 400, "no": 600}}
    >>> found = analyze_records(md.design_records(counts, 1, known=True).mechanism)
    >>> round(found.error, 3), found.queries, found.respondents(0.01)
    (2.256, 4, 5640)
    """
    views = []
    for part, share in zip(mechanism.parts, mechanism.shares, strict=True):
        views.append(ViewWorth(part, share, _variances(part)))
    if records is not None:
        side = side_leakages(mechanism, records)
    else:
        side = side_leakages_of_views(mechanism) if mechanism.secret is None else ()
    return RecordAnalysis(mechanism, tuple(views), side, records is not None)


def _variances(part: RecordPart) -> Floats:
    """Return n times the variance of each share that a view was designed for; of windows that of an unseen string."""
    if part.is_open:
        return np.array([1 / (Decoder(part.mechanism).square_anywhere - 1)])
    known = part.mechanism.guarantee.uncertainty
    found: Floats = variances_of_integers(part.mechanism.numerators, known.center, _shares(part)).each
    return found


def _shares(part: RecordPart) -> Floats:
    """Return the sums of categories that a view was designed for, a row each; its categories, where none was."""
    claim, size = part.mechanism.optimality, part.mechanism.guarantee.uncertainty.size
    objective = None if claim is None else claim.utility.estimation
    asked = np.eye(size) if objective is None else objective.queries(size)
    return asked if np.isin(asked, (0.0, 1.0)).all() else np.eye(size)


def _asks_all(objective: EstimationError, size: int) -> bool:
    """Whether the queries are the frequencies of all values."""
    return np.array_equal(objective.queries(size), np.eye(size))
