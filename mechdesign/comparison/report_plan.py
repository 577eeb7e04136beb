"""How many reports a wanted precision of the estimates takes, with a design and with others, and the other way round.

n reports answer a query with the variance C/n, where C is its diagonal entry of ``W (J^-1 - P P') W'`` at the
reference prior. So a standard error s takes ``C / s^2`` reports, and an interval of half-width h at a confidence takes
``C z^2 / h^2``, z being the quantile of the normal distribution: intervals are the estimate and z standard errors
either way, which holds where every output is reported many times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from numbers import Real
from statistics import NormalDist
from typing import Any

from mechdesign.comparison.rivals import Rivals, problem_of, weaker_promise
from mechdesign.comparison.row import Compared
from mechdesign.data.checks import checked_reports
from mechdesign.display.frames import labelled_frame
from mechdesign.display.html import table
from mechdesign.display.text import aligned
from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.mechanism import Mechanism
from mechdesign.numerics.exact import rational
from mechdesign.optimize import Design, design
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty.base import check_about_data
from mechdesign.utility import EstimationError

_FINEST = Fraction(10**12)
_LEAST_CONFIDENCE = 1e-9  # below, the quantile of an interval is lost in floats, or 0
_ROUNDING = Fraction(1, 10**9)  # of variances, which are computed in floats


@dataclass(frozen=True)
class Precision:
    """How precise estimates are to be: exactly one of a number of reports, a standard error and an interval.

    Attributes
    ----------
    reports : int or None
        The number of reports.
    standard_error : Fraction or None
        The standard error that is wanted.
    interval : Fraction or None
        The half-width of a confidence interval that is wanted.
    confidence : float
        The confidence of intervals.
    """

    reports: int | None
    standard_error: Fraction | None
    interval: Fraction | None
    confidence: float

    @staticmethod
    def of(
        reports: object = None, standard_error: object = None, interval: object = None, confidence: object = 0.95
    ) -> Precision:
        """Return what is given, checked, as `plan_reports` takes it.

        Raises
        ------
        InputError
            If not exactly one of the first three is given, or one is out of range.

        Examples
        --------
        >>> Precision.of(interval="0.02").wanted == Precision.of(interval="1/50").wanted
        True
        """
        given = {"reports": reports, "standard_error": standard_error, "interval": interval}
        names = [name for name, value in given.items() if value is not None]
        if len(names) != 1:
            raise InputError.conflicting_arguments(
                f"{len(names)} of {', '.join(given)} are given; give one, and what belongs to it is computed"
            )
        return Precision(
            None if reports is None else checked_reports(reports),
            _checked_width("the standard error", standard_error),
            _checked_width("half the width of the interval", interval),
            _checked_confidence(confidence),
        )

    @property
    def quantile(self) -> float:
        """How many standard errors the half-width of an interval is."""
        return -NormalDist().inv_cdf((1 - self.confidence) / 2)

    @property
    def wanted(self) -> Fraction | None:
        """The standard error that is wanted, or that of the interval that is wanted; None if reports are given."""
        return self.interval / Fraction(self.quantile) if self.interval is not None else self.standard_error


def _checked_width(name: str, value: object) -> Fraction | None:
    """Return a standard error or half-width; None where there is none."""
    if value is None:
        return None
    width = rational(value, name)
    if not 1 / _FINEST <= width <= _FINEST:
        raise InputError.out_of_range(f"{name} is {shorten(value)}; accepted: a number from 1e-12 to 1e12")
    return width


def _checked_confidence(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not _LEAST_CONFIDENCE <= float(value) < 1:
        raise InputError.out_of_range(
            f"confidence is {shorten(value)}; accepted: a number from 1e-9 on that is below 1"
        )
    return float(value)


@dataclass(frozen=True, repr=False)
class ReportPlan(Precision):
    """Numbers of reports and precisions of estimates, for several mechanisms at the same epsilon.

    Attributes
    ----------
    reports, standard_error, interval, confidence
        What was asked for: a number of reports, a standard error, or the half-width of an interval and its confidence.
    problem : DesignProblem
        What the mechanisms are compared for; its objective names the queries.
    mechanisms : tuple of Compared
        The mechanism or design that was given first, then the best design for estimation if that is another one, the
        best mechanism under local differential privacy, subset selection, and k-ary randomized response.
    """

    problem: DesignProblem
    mechanisms: tuple[Compared, ...]

    def __repr__(self) -> str:
        wanted = f"{self.reports:,} reports" if self.wanted is None else f"standard error {float(self.wanted):.4g}"
        size = f"{self.problem.uncertainty.size} categories, epsilon = {self.problem.epsilon}"
        rows = [[f"  {row.name}", self._numbers_in_words(row)] for row in self.mechanisms]
        return "\n".join([f"ReportPlan for {wanted}, {size}", *aligned(rows)])

    def _numbers_in_words(self, row: Compared) -> str:
        if row.largest is None:
            return "not computed"
        if self.wanted is None:
            error = self.standard_error_of(row.largest)
            return "undetermined" if error is None else f"standard errors <= {error:.4g}"
        count = self.needed(row.largest)
        return "no number is enough" if count is None else f"{count:,} reports"

    def _repr_html_(self) -> str:
        columns = self._columns()
        rows = list(zip([row.name for row in self.mechanisms], *columns.values(), strict=True))
        wanted = f"{self.reports:,} reports" if self.wanted is None else f"a standard error of {float(self.wanted):.4g}"
        return table(["mechanism", *(name.replace("_", " ") for name in columns)], rows, f"Plan for {wanted}")

    def to_frame(self, library: str | None = None) -> Any:
        """Return the plan as a frame, a row for each mechanism.

        Columns are `estimation_error` and its certified `lower_bound`, and then `reports_for_each` and
        `reports_for_root_mean_square`, or where reports are given `largest_standard_error` and
        `root_mean_square_standard_error`. What no number of reports reaches is missing.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            Whose frame; by default that of the first of the two that is installed.

        Examples
        --------
        >>> import mechdesign as md
        >>> problem = md.DesignProblem(md.L1Ball([0.5, 0.5], radius=2), "log(3)", md.EstimationError())
        >>> plan_reports(problem, standard_error=0.01).to_frame("polars").columns
        ['mechanism', 'estimation_error', 'lower_bound', 'reports_for_each', 'reports_for_root_mean_square']
        """
        return labelled_frame("mechanism", [row.name for row in self.mechanisms], self._columns(), library)

    def _columns(self) -> dict[str, list[float | int | None]]:
        asked = ["reports_for_each", "reports_for_root_mean_square"]
        if self.wanted is None:
            asked = ["largest_standard_error", "root_mean_square_standard_error"]
        rows = [self.numbers_of(row) for row in self.mechanisms]
        return {name: [row[name] for row in rows] for name in ["estimation_error", "lower_bound", *asked]}

    def numbers_of(self, row: Compared) -> dict[str, float | int | None]:
        """Return what the plan says of a mechanism, by name; None for what is not asked, or what no number reaches."""
        return {
            "estimation_error": row.error,
            "lower_bound": row.lower_bound,
            "reports_for_each": self.needed(row.largest),
            "reports_for_root_mean_square": self.needed(row.mean),
            "largest_standard_error": self.standard_error_of(row.largest),
            "root_mean_square_standard_error": self.standard_error_of(row.mean),
            "largest_interval": self.half_width_of(row.largest),
        }

    @property
    def promise(self) -> str | None:
        """What the promise of the design lacks beside that of LDP mechanisms; None if it lacks nothing."""
        return weaker_promise(self.problem)

    def needed(self, variance: float | None) -> int | None:
        """Return the least number of reports for what is wanted; None if no number is enough, or nothing is wanted.

        Parameters
        ----------
        variance : float or None
            n times a variance: `Compared.largest`, so that every query is answered as precisely as is wanted, or
            `Compared.mean`, for the root mean square over the queries.

        Examples
        --------
        >>> import mechdesign as md
        >>> problem = md.DesignProblem(md.L1Ball([0.5, 0.5], radius=2), "log(3)", md.EstimationError())
        >>> found = plan_reports(problem, standard_error=0.01)
        >>> found.needed(1.0)
        10000
        """
        if self.wanted is None or variance is None or math.isinf(variance):
            return None
        return max(1, math.ceil(Fraction(variance) / self.wanted**2 * (1 - _ROUNDING)))

    def standard_error_of(self, variance: float | None) -> float | None:
        """Return the standard error from the reports that are given; None if no number is, or none would do."""
        if self.reports is None or variance is None or math.isinf(variance):
            return None
        return math.sqrt(variance / self.reports)

    def half_width_of(self, variance: float | None) -> float | None:
        """Return half the width of an interval from the reports that are given; None as for the standard error."""
        error = self.standard_error_of(variance)
        return None if error is None else error * self.quantile


def plan_reports(
    compared: DesignProblem | Design | Mechanism,
    *,
    reports: int | None = None,
    standard_error: object = None,
    interval: object = None,
    confidence: float = 0.95,
    time_limit: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> ReportPlan:
    """Return how many reports a precision of the estimates takes, or what precision a number of reports gives.

    Precision is that at the reference prior of the set. The queries are the frequencies of all categories, or the
    workload of the objective where that is an estimation error.

    Parameters
    ----------
    compared : DesignProblem, Design or Mechanism
        What the others are set beside. A problem is solved first; where its objective is another one, the best design
        for estimation stands beside it.
    reports : int, optional
        A number of reports, one for each respondent.
    standard_error : number or str, optional
        A standard error that is wanted; a decimal is the fraction it says.
    interval : number or str, optional
        The half-width of a confidence interval that is wanted.
    confidence : float
        Of the interval, from 1e-9 on and below 1.
    time_limit : float, optional
        Seconds for each design that is computed, as for `mechdesign.design`.
    progress : callable, optional
        Called with one line whenever a longer step begins.

    Raises
    ------
    InputError
        If not exactly one of `reports`, `standard_error` and `interval` is given, or one is out of range.
    LimitError
        If only the constant mechanism has the guarantee.

    Examples
    --------
    >>> import mechdesign as md
    >>> found = plan_reports(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), 1, md.EstimationError()), standard_error=0.01)
    >>> [(row.name, found.needed(row.largest)) for row in found.mechanisms][-1]
    ('k-ary randomized response', 18004)
    """
    precision = Precision.of(reports, standard_error, interval, confidence)
    problem = problem_of(compared, "planned for")
    aim = problem.with_utility(problem.utility.estimation or EstimationError())
    asked = ReportPlan(**vars(precision), problem=aim, mechanisms=())
    check_about_data(asked.problem.uncertainty, "a plan of reports")
    if asked.problem.only_constant:
        problem = asked.problem
        side = "epsilon" if problem.epsilon.exp_down == 1 else "lower"
        level = problem.epsilon if side == "epsilon" else problem.local_epsilon
        raise LimitError.no_reports_enough(
            f"{side} = {level} allows only the constant mechanism, whose reports say nothing: no number of them "
            f"is enough; give {'an' if side == 'epsilon' else 'a'} {side} above 0"
        )
    rivals = Rivals(asked.problem, time_limit, progress)
    if isinstance(compared, DesignProblem):
        compared = design(compared, time_limit=time_limit, progress=progress)
    return replace(asked, mechanisms=tuple(_rows(compared, rivals)))


def _rows(solved: Design | Mechanism, rivals: Rivals) -> Iterator[Compared]:
    """Yield what is planned for, and what stands beside it."""
    wanted, objective = rivals.problem, problem_of(solved, "planned for").utility
    is_best = objective.estimation is not None
    if isinstance(solved, Mechanism):
        yield rivals.row("this", "this mechanism", solved)
    else:
        row = rivals.row("design", f"design for {objective.name}", solved.mechanism)
        yield _doubted(replace(row, bound=solved.bound if is_best else None, certified=solved.certified))
    if not is_best:
        yield _doubted(rivals.optimum("best", f"design for {wanted.utility.name}", wanted))
    if not wanted.uncertainty.holds_every_prior:
        yield _doubted(rivals.best_ldp())
    yield rivals.subset_selection()
    yield rivals.randomized_response()


def _doubted(row: Compared) -> Compared:
    """Mark a design that may be some way from the best one."""
    return replace(row, name=f"{row.name} (NOT certified)") if row.certified is False else row
