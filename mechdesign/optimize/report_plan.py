"""How many reports a wanted precision of the estimates takes, with a design and with others, and the other way round.

n reports answer a query with the variance C/n, where C is its diagonal entry of ``W (J^-1 - P P') W'`` at the
reference prior. So a standard error s takes ``C / s^2`` reports, and an interval of half-width h at a confidence takes
``C z^2 / h^2``, z being the quantile of the normal distribution: intervals are the estimate and z standard errors
either way, which holds where every output is reported many times.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from numbers import Real
from statistics import NormalDist
from typing import Any

from mechdesign.data.checks import MOST_SAMPLES, whole_number
from mechdesign.display.frames import labelled_frame
from mechdesign.display.html import table
from mechdesign.display.text import aligned
from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.mechanism import Mechanism
from mechdesign.numerics.arrays import Floats, frozen
from mechdesign.numerics.exact import rational
from mechdesign.optimize.comparison import (
    best_subset_selection,
    every_prior,
    k_ary_randomized_response,
    weaker_promise,
)
from mechdesign.optimize.designer import design
from mechdesign.optimize.estimation.solver import workload_of
from mechdesign.optimize.estimation.variances import variances_of_matrix
from mechdesign.optimize.result import Design
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty.base import check_about_data
from mechdesign.utility import EstimationError, Objective

_FINEST = Fraction(10**12)
_ROUNDING = Fraction(1, 10**9)  # of variances, which are computed in floats


@dataclass(frozen=True, eq=False)
class Precision:
    """How precise the estimates are that reports of one mechanism allow.

    Attributes
    ----------
    name : str
        The mechanism in words.
    variances : array, shape (q,), or None
        n times the variance of the estimated answer of each query, infinite where reports do not determine it; None if
        the mechanism cannot be computed.
    missing : str
        The reason why there are no variances; empty if there are.
    lower_bound : float or None
        For designs that are best for estimation: no mechanism with the guarantee has a lower sum of variances.
    local : bool
        Whether the mechanism has the guarantee for every prior (local differential privacy).
    """

    name: str
    variances: Floats | None
    missing: str = ""
    lower_bound: float | None = None
    local: bool = False

    @property
    def error(self) -> float | None:
        """The estimation error: the sum of the variances; infinite where reports do not determine every answer."""
        return None if self.variances is None else float(self.variances.sum())

    @property
    def at_least(self) -> float | None:
        """The certified lower bound where there is one, else the error itself."""
        return self.error if self.lower_bound is None else self.lower_bound

    @property
    def largest(self) -> float | None:
        """The largest variance, of the query that is answered worst."""
        return None if self.variances is None else float(self.variances.max())

    @property
    def mean(self) -> float | None:
        """The mean of the variances, whose root is the root mean square standard error."""
        return None if self.variances is None else float(self.variances.mean())


@dataclass(frozen=True, repr=False)
class ReportPlan:
    """Numbers of reports and precisions of estimates, for several mechanisms at the same epsilon.

    Exactly one of `reports`, `standard_error` and `interval` was given.

    Attributes
    ----------
    problem : DesignProblem
        What the mechanisms are compared for; its objective names the queries.
    reports : int or None
        The number of reports.
    standard_error : Fraction or None
        The standard error that is wanted.
    interval : Fraction or None
        The half-width of a confidence interval that is wanted.
    confidence : float
        The confidence of intervals.
    mechanisms : tuple of Precision
        The mechanism or design that was given first, then the best design for estimation if that is another one, the
        best mechanism under local differential privacy, subset selection, and k-ary randomized response.
    """

    problem: DesignProblem
    reports: int | None
    standard_error: Fraction | None
    interval: Fraction | None
    confidence: float
    mechanisms: tuple[Precision, ...]

    def __repr__(self) -> str:
        wanted = f"{self.reports:,} reports" if self.wanted is None else f"standard error {float(self.wanted):.4g}"
        size = f"{self.problem.uncertainty.size} symbols, epsilon = {self.problem.epsilon}"
        rows = [[f"  {row.name}", self._told(row)] for row in self.mechanisms]
        return "\n".join([f"ReportPlan for {wanted}, {size}", *aligned(rows)])

    def _told(self, row: Precision) -> str:
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
        rows = self.mechanisms
        columns: dict[str, list[float | int | None]] = {
            "estimation_error": [row.error for row in rows],
            "lower_bound": [row.lower_bound for row in rows],
        }
        if self.wanted is None:
            columns["largest_standard_error"] = [self.standard_error_of(row.largest) for row in rows]
            columns["root_mean_square_standard_error"] = [self.standard_error_of(row.mean) for row in rows]
        else:
            columns["reports_for_each"] = [self.needed(row.largest) for row in rows]
            columns["reports_for_root_mean_square"] = [self.needed(row.mean) for row in rows]
        return columns

    @property
    def promise(self) -> str | None:
        """What the promise of the design lacks beside that of LDP mechanisms; None if it lacks nothing."""
        return weaker_promise(self.problem)

    @property
    def quantile(self) -> float:
        """How many standard errors the half-width of an interval is."""
        return -NormalDist().inv_cdf((1 - self.confidence) / 2)

    @property
    def wanted(self) -> Fraction | None:
        """The standard error that is wanted, or that of the interval that is wanted; None if reports are given."""
        return self.interval / Fraction(self.quantile) if self.interval is not None else self.standard_error

    def needed(self, variance: float | None) -> int | None:
        """Return the least number of reports for what is wanted; None if no number is enough, or nothing is wanted.

        Parameters
        ----------
        variance : float or None
            n times a variance: `Precision.largest`, so that every query is answered as precisely as is wanted, or
            `Precision.mean`, for the root mean square over the queries.

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


def plan_reports(
    compared: DesignProblem | Design | Mechanism,
    *,
    reports: int | None = None,
    standard_error: object = None,
    interval: object = None,
    confidence: float = 0.95,
    time_limit: float | None = None,
    report: Callable[[str], None] | None = None,
) -> ReportPlan:
    """Return how many reports a precision of the estimates takes, or what precision a number of reports gives.

    Precision is that at the reference prior of the set. The queries are the frequencies of all symbols, or the workload
    of the objective where that is an estimation error.

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
        Of the interval, strictly between 0 and 1.
    time_limit : float, optional
        Seconds for each design that is computed, as for `mechdesign.design`.
    report : callable, optional
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
    given = {"reports": reports, "standard_error": standard_error, "interval": interval}
    names = [name for name, value in given.items() if value is not None]
    if len(names) != 1:
        raise InputError(f"{len(names)} of {', '.join(given)} are given; give one, and what belongs to it is computed")
    asked = ReportPlan(
        _problem(compared),
        None if reports is None else _checked_reports(reports),
        _checked_width("the standard error", standard_error),
        _checked_width("half the width of the interval", interval),
        _checked_confidence(confidence),
        (),
    )
    check_about_data(asked.problem.uncertainty, "a plan of reports")
    if asked.problem.only_constant:
        side = "epsilon" if asked.problem.epsilon.exp_down == 1 else "lower"
        raise LimitError(
            f"{side} = 0 allows only the constant mechanism, whose reports say nothing: no number of them is enough; "
            f"give {'an' if side == 'epsilon' else 'a'} {side} above 0"
        )
    rows = _precisions(compared, asked.problem, partial(design, time_limit=time_limit, report=report))
    return replace(asked, mechanisms=rows)


def _problem(compared: object) -> DesignProblem:
    """Return the design problem of estimation that the plan is about.

    Its objective is that of what is compared where that is an estimation error, else that of all frequencies.
    """
    utility: Objective | None
    if isinstance(compared, Mechanism):
        utility = None if compared.optimality is None else compared.optimality.utility
        promised = compared.guarantee
        known, epsilon, lower = promised.uncertainty, promised.epsilon, promised.lower
    elif isinstance(compared, DesignProblem | Design):
        problem = compared if isinstance(compared, DesignProblem) else compared.problem
        known, epsilon, utility, lower = problem.uncertainty, problem.epsilon, problem.utility, problem.lower
    else:
        raise InputError(f"what is planned for is {shorten(compared)}; give a DesignProblem, a Design or a Mechanism")
    wanted = (None if utility is None else utility.estimation) or EstimationError()
    return DesignProblem(known, epsilon, wanted, lower)


def _checked_reports(value: object) -> int:
    """Return a number of reports, as many as files of counts may hold at most."""
    count = whole_number(value, "the number of reports", 1)
    if count > MOST_SAMPLES:
        raise InputError(f"the number of reports is {shorten(count)}; accepted: a whole number from 1 to 10^15")
    return count


def _checked_width(name: str, value: object) -> Fraction | None:
    """Return a standard error or half-width; None where there is none."""
    if value is None:
        return None
    width = rational(value, name)
    if not 1 / _FINEST <= width <= _FINEST:
        raise InputError(f"{name} is {shorten(value)}; accepted: a number from 1e-12 to 1e12")
    return width


def _checked_confidence(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1:
        raise InputError(f"confidence is {shorten(value)}; accepted: a number strictly between 0 and 1")
    return float(value)


def _precisions(
    compared: DesignProblem | Design | Mechanism, problem: DesignProblem, designed: Callable[[DesignProblem], Design]
) -> tuple[Precision, ...]:
    """Return the precision of what is compared, and of the others."""
    W, everything = workload_of(problem), every_prior(problem)
    local = problem.uncertainty.holds_every_prior

    def of_matrix(name: str, mechanism: Mechanism, bound: float | None = None, *, ldp: bool = local) -> Precision:
        variances = variances_of_matrix(mechanism.matrix, problem.uncertainty.prior, W)
        return Precision(name, frozen(variances), "", bound, ldp)

    def of_design(name: str, wanted: DesignProblem, *, ldp: bool = local) -> Precision:
        try:
            best = designed(wanted)
        except LimitError as error:
            return Precision(name, None, str(error), local=ldp)
        return of_matrix(name + _doubt(best), best.mechanism, best.lower_bound, ldp=ldp)

    rows = []
    solved = designed(compared) if isinstance(compared, DesignProblem) else compared
    if isinstance(solved, Mechanism):
        claim = solved.optimality
        is_best = claim is not None and claim.utility.estimation is not None
        rows.append(of_matrix("this mechanism", solved))
    else:
        is_best = solved.problem.utility.estimation is not None
        name = f"design for {solved.problem.utility.name}{_doubt(solved)}"
        rows.append(of_matrix(name, solved.mechanism, solved.lower_bound if is_best else None))
    if not is_best:
        rows.append(of_design(f"design for {problem.utility.name}", problem))
    if not local:
        of_everything = DesignProblem(everything, problem.local_epsilon, problem.utility)
        rows.append(of_design("best LDP mechanism", of_everything, ldp=True))
    try:
        sets = best_subset_selection(problem, W)
        rows.append(Precision(sets.name, sets.variances, local=True))
    except LimitError as error:
        rows.append(Precision("subset selection", None, str(error), local=True))
    rows.append(of_matrix("k-ary randomized response", k_ary_randomized_response(everything, problem), ldp=True))
    return tuple(rows)


def _doubt(solved: Design) -> str:
    """Return a mark for a design that may be some way from the best one."""
    return "" if solved.certified else " (NOT certified)"
