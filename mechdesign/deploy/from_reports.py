"""`estimate_frequencies`: from reports in any container to estimates, with or without groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict, Unpack, overload

import numpy as np

from mechdesign.data.alphabet import Codes
from mechdesign.data.containers import encode
from mechdesign.data.counts import checked_count
from mechdesign.data.labels import canonical_labels
from mechdesign.deploy.estimation import Estimation
from mechdesign.deploy.frequency import FrequencyEstimate
from mechdesign.deploy.grouped import GroupedEstimate, count_groups, estimate_groups
from mechdesign.deploy.report_counts import GroupCounts
from mechdesign.errors import InputError
from mechdesign.mechanism import Mechanism
from mechdesign.mechanism.origin import ReportOrigin


class _EstimateOptions(TypedDict, total=False):
    """What an estimate is, with or without groups."""

    method: str
    of: str
    confidence: float
    integers: str | None
    show_values: bool


# What is returned depends on whether there are groups.
@overload
def estimate_frequencies(
    reports: GroupCounts, mechanism: Mechanism, *, by: None = None, **options: Unpack[_EstimateOptions]
) -> GroupedEstimate: ...
@overload
def estimate_frequencies(
    reports: Any, mechanism: Mechanism, *, by: None = None, **options: Unpack[_EstimateOptions]
) -> FrequencyEstimate: ...
@overload
def estimate_frequencies(
    reports: Any, mechanism: Mechanism, *, by: object, **options: Unpack[_EstimateOptions]
) -> GroupedEstimate: ...
def estimate_frequencies(
    reports: Any,
    mechanism: Mechanism,
    *,
    method: str = "maximum-likelihood",
    of: str = "population",
    confidence: float = 0.95,
    by: Any = None,
    integers: str | None = None,
    show_values: bool = False,
) -> FrequencyEstimate | GroupedEstimate:
    """Estimate how frequent each input of a mechanism is, from one report for each record.

    Parameters
    ----------
    reports : list, array, series, mapping, or GroupCounts
        Outputs of the mechanism: one label, or code (a position from 0), a report, in any container that
        `Mechanism.privatize` takes; or a mapping from label to count; or what `count_reports` counted by groups.
    mechanism : Mechanism
        The mechanism that made the reports.
    method : {"maximum-likelihood", "least-squares"}
        The maximum likelihood estimate is a distribution, and exists for every mechanism. Where several distributions
        are equally likely it is the analytic centre of them: categories with equal rows get equal shares. The least
        squares estimate is a fixed linear map of the fractions of reports: exactly unbiased, sums to 1, possibly
        negative; for randomized response it is the textbook inverse. Its weights come from the output distribution at
        the reference prior of the guarantee (at its mean with the uniform prior if some output has probability 0
        there), never from the data. It needs linearly independent rows.
    of : {"population", "records"}
        Whose frequencies: of the distribution that the records are drawn from independently, or among the very
        records that were reported. The latter is estimated with less variance, by ``theta_i (1 - theta_i) / n``.
    confidence : float
        Of each interval, strictly between 0 and 1.
    by : list, array, series, mapping, or frame, optional
        Groups in which the frequencies are estimated: a value for each report, in the same order; or several such
        columns, as a mapping from name to column or a frame of pandas or polars. Text, integers, truth values, dates,
        times and decimals group; missing values form a group of their own.
    integers : {"codes", "labels"}, optional
        What integers among the reports are. Without it they are codes, and are refused where a label reads as an
        integer.
    show_values : bool
        Whether messages print a report that is refused; without it they name its position alone.

    Returns
    -------
    FrequencyEstimate, or GroupedEstimate
        In the order of ``mechanism.inputs``. With groups, an estimate for each; none is left out, and those with few
        reports are marked (`FrequencyEstimate.few_reports`).

    Raises
    ------
    InputError
        If there are no reports, a report is not an output, an option is not accepted, least squares is asked for
        although the rows are linearly dependent, or groups do not fit the reports.
    LimitError
        If there are more than 20,000 groups.
    SolverError
        If the maximum likelihood is not certified to 1e-6 nats.

    Notes
    -----
    Errors and intervals are those of linear estimators: for an identifiable category some u has A u = e_i, and its
    mean over the reports is unbiased with a variance that is known. So they are valid at the border of the simplex,
    where those from the curvature of the likelihood are not. For maximum likelihood u is efficient at the fitted
    distribution, to which one more record, spread over all categories, is added so that no output has probability 0;
    the standard error is then that of the inverse Fisher information.

    For the population the interval holds the score interval of u and that of the likelihood ratio (see
    `mechdesign.deploy.linear`): z standard errors if there are many reports of every output, and valid for rare
    outputs too. Among the records only the noise of the mechanism counts: the interval holds a score interval that is
    corrected for skewness, and that misses a frequency of 0 or 1 as often as any other, and the one from the whole law
    of the noise (see `mechdesign.deploy.record_limits`). All are corrected by half a report, since counts are whole
    numbers: with few reports they cover more often than stated. Intervals are cut with [0, 1], then extended to contain
    the estimate. A category that is not identifiable has ``b^T theta <= theta_i <= a^T theta`` for every theta, with
    identifiable sums b and a from linear programs; its interval reaches from the lower limit of the one to the upper
    limit of the other, with Bonferroni's correction for the number of sums among which the data chose these. So it does
    not shrink to a point.

    The simultaneous intervals are made alike, at a greater level: it is computed from the covariance of the estimates
    such that, with many reports, all hold at once with the stated confidence (see
    `mechdesign.deploy.confidence_limits`). Each contains the category's own interval. They are those of all categories,
    and in an estimate by groups of all groups.

    Reports by another mechanism are refused where their names say so, as those that `Mechanism` chooses do. Others are
    found by their deviance from the laws that this mechanism has (``fit``, see `mechdesign.deploy.fit`), where it has
    some that those do not explain. Reports about the same record are not detected. Whoever knows the group of a record
    knows more than the prior of the guarantee: it covers a group if the distribution within it is in the set of priors.
    ``outside`` says where the estimate is significantly outside (see `mechdesign.deploy.outside`).

    Examples
    --------
    >>> from mechdesign import Epsilon, Guarantee, L1Ball
    >>> promise = Guarantee(Epsilon.of("log(3)"), L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"]))
    >>> warner = Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise, outputs=["no", "yes"])
    >>> found = estimate_frequencies({"no": 600, "yes": 400}, warner)
    >>> found.frequencies.round(4), found.standard_errors.round(4)
    (array([0.7, 0.3]), array([0.031, 0.031]))
    >>> estimate_frequencies({"no": 600, "yes": 400}, warner, of="records").standard_errors.round(4)
    array([0.0274, 0.0274])
    >>> estimate_frequencies(["no", "no", "yes"], warner, by=["north", "south", "south"])["north"].frequencies.round(4)
    array([1., 0.])
    """
    estimation = Estimation(mechanism, method, of, confidence)
    if isinstance(reports, GroupCounts):
        if by is not None:
            raise InputError.needless_argument("the reports are counted by groups already; leave out by")
        return estimate_groups(reports, estimation)
    if by is None:
        return estimation.of_counts(_counts(reports, mechanism.origin, integers, show_values=show_values))
    if isinstance(reports, Mapping):
        raise InputError.conflicting_arguments(
            "the reports are counts, which belong to no group; with by, give one report for each record"
        )
    codes = _codes(reports, mechanism.origin, integers, show_values=show_values)
    index = getattr(reports, "index", None)
    counted = count_groups(codes, mechanism.outputs, by, index if hasattr(index, "equals") else None)
    return estimate_groups(counted, estimation)


def _counts(reports: Any, origin: ReportOrigin, integers: str | None, *, show_values: bool) -> list[int]:
    """Return how often each output was reported."""
    if isinstance(reports, Mapping):
        return _tabled(reports, origin)
    codes = _codes(reports, origin, integers, show_values=show_values)
    counts: list[int] = np.bincount(codes, minlength=len(origin.outputs)).tolist()
    return counts


def _codes(reports: Any, origin: ReportOrigin, integers: str | None, *, show_values: bool) -> Codes:
    """Return the reports as codes of outputs."""
    if _is_table(reports, origin):
        raise InputError.wrong_record_type(
            "the reports are a Series of counts; give a mapping from label to count, as of .to_dict()"
        )
    alphabet = origin.alphabet(integers=integers, where="reports[{}]".format, show_values=show_values)
    return encode(reports, alphabet).codes


def _tabled(table: Mapping[Any, Any], origin: ReportOrigin) -> list[int]:
    labels = canonical_labels(table, len(table))
    given = {label: checked_count(count, label) for label, count in zip(labels, table.values(), strict=True)}
    origin.check_names(given, "the report")
    return [given.get(output, 0) for output in origin.outputs]


def _is_table(reports: Any, origin: ReportOrigin) -> bool:
    """Return whether the index of a pandas Series consists of outputs, as that of ``value_counts`` does."""
    index = getattr(reports, "index", None)
    if not hasattr(reports, "to_dict") or index is None or len(index) == 0:
        return False
    names = set(index)
    return names <= set(origin.outputs) or all(isinstance(name, str) and origin.explain(name) for name in names)
