"""Frequencies of the true categories, estimated from reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.alphabet import Alphabet
from mechdesign.data.containers import encode
from mechdesign.data.counts import checked_count
from mechdesign.data.labels import canonical_label, canonical_labels
from mechdesign.deploy.identification import Ranges, identified_ranges, identify
from mechdesign.deploy.likelihood import maximum_likelihood
from mechdesign.deploy.linear import LinearEstimator, Noise, greatest_mean
from mechdesign.display.frames import labelled_frame
from mechdesign.display.html import facts, table
from mechdesign.display.text import some
from mechdesign.errors import InputError, shorten
from mechdesign.mechanism import Mechanism
from mechdesign.numerics.arrays import Floats, frozen

_FIRST = 5  # categories, and groups of them, that are told in a line
_METHODS = ("maximum-likelihood", "least-squares")
_TARGETS = ("population", "records")


@dataclass(frozen=True, eq=False)
class FrequencyEstimate:
    """Estimates of the frequencies of the true categories, from reports. All arrays are in the order of ``labels``.

    Attributes
    ----------
    labels : tuple of str
        The categories: the inputs of the mechanism.
    frequencies : array, shape (N,)
        The estimate; it sums to 1. By maximum likelihood it is a distribution; by least squares it is unbiased and
        may have negative entries.
    standard_errors : array, shape (N,)
        Of the efficient unconstrained estimator; inf where a category is not identifiable. The maximum likelihood
        estimate agrees with it where all frequencies are well above their standard errors, and is closer to the truth
        where some are not.
    intervals : array, shape (N, 2)
        A confidence interval for each category (each for itself, not for all at once). It contains the estimate.
    identifiable : bool array, shape (N,)
        Whether any number of reports would determine the frequency.
    identified : array, shape (N, 2)
        The least and greatest frequency that give the same distribution of outputs as the estimate: what the reports
        would leave open without sampling errors. Both are the estimate if the category is identifiable.
    groups : tuple of tuples of str
        The finest partition of the categories such that those of different groups are not confounded with each
        other. The total of each group is identifiable; a group of one is an identifiable category.
    covariance : array, shape (N, N)
        ``r^T covariance r`` is the variance of the estimate of ``r^T theta``, for every identifiable sum r: a
        category, a group, or what `total` takes. Single entries of categories that are not identifiable have no
        meaning.
    reports : int
        Their number.
    method : str
        ``"maximum-likelihood"`` or ``"least-squares"``.
    of : str
        Whose frequencies: ``"population"``, the distribution that records are drawn from, or ``"records"``, the
        very records that were reported.
    confidence : float
        Of each interval.
    likelihood_gap : float or None
        The log-likelihood of the estimate is within this of the greatest, in nats; None for least squares.
    """

    labels: tuple[str, ...]
    frequencies: Floats
    standard_errors: Floats
    intervals: Floats
    identifiable: NDArray[np.bool_]
    identified: Floats
    groups: tuple[tuple[str, ...], ...]
    covariance: Floats
    reports: int
    method: str
    of: str
    confidence: float
    likelihood_gap: float | None

    def __post_init__(self) -> None:
        for name in ("frequencies", "standard_errors", "intervals", "identifiable", "identified", "covariance"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def __reduce__(self) -> tuple[Any, ...]:
        # The arrays of a copy are read-only too.
        return FrequencyEstimate, tuple(getattr(self, field.name) for field in fields(self))

    def __repr__(self) -> str:
        order = np.argsort(-self.frequencies, kind="stable")[:_FIRST]
        told = [f"{self.labels[i]!r} {self.frequencies[i]:.4g} +- {self.standard_errors[i]:.2g}" for i in order]
        shown = some([*told, *[""] * (len(self.labels) - len(told))], _FIRST)
        size = f"{len(self.labels)} categories, {self.reports:,} reports, {self.method} of {self.of}"
        return f"FrequencyEstimate({size}: {shown})"

    def _repr_html_(self) -> str:
        level = f"{100 * self.confidence:g} % interval"
        columns = ["category", "frequency", "standard error", f"{level} from", "to", "identifiable"]
        cells = [self.frequencies, self.standard_errors, *self.intervals.T, self.identifiable]
        rows = list(zip(self.labels, *(cell.tolist() for cell in cells), strict=True))
        caption = f"Frequencies of {self.of} from {self.reports:,} reports, {self.method}"
        groups = [group for group in self.groups if len(group) > 1]
        told = [("only the total of these can be estimated", some(group, _FIRST)) for group in groups[:_FIRST]]
        if len(groups) > _FIRST:
            told.append(("", f"and {len(groups) - _FIRST} more groups"))
        return table(columns, rows, caption) + (facts(told) if told else "")

    def to_frame(self, library: str | None = None) -> Any:
        """Return the estimate as a frame, a row for each category, with the columns of the command line's tables.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            Whose frame; by default that of the first of the two that is installed.

        Examples
        --------
        >>> from mechdesign import Epsilon, Guarantee, L1Ball
        >>> promise = Guarantee(Epsilon.of("log(3)"), L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"]))
        >>> warner = Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise, outputs=["no", "yes"])
        >>> found = estimate_frequencies({"no": 600, "yes": 400}, warner)
        >>> found.to_frame("polars").columns
        ['label', 'frequency', 'standard_error', 'lower', 'upper', 'identifiable']
        >>> round(found.to_frame("pandas").loc["yes", "frequency"].item(), 6)
        0.3
        """
        columns = {
            "frequency": self.frequencies.tolist(),
            "standard_error": self.standard_errors.tolist(),
            "lower": self.intervals[:, 0].tolist(),
            "upper": self.intervals[:, 1].tolist(),
            "identifiable": self.identifiable.tolist(),
        }
        return labelled_frame("label", self.labels, columns, library)

    def total(self, labels: Iterable[object]) -> tuple[float, float]:
        """Return the estimated total frequency of some categories, and its standard error.

        The error is inf where the total is not identifiable; totals of whole groups always are.

        Parameters
        ----------
        labels : iterable of str or int
            Categories, each once.

        Raises
        ------
        InputError
            For a label that is not a category, or occurs twice.

        Examples
        --------
        >>> from mechdesign import Epsilon, Guarantee, L1Ball, Mechanism
        >>> promise = Guarantee(Epsilon.of("log(3)"), L1Ball([0.2, 0.3, 0.5], radius=2, labels=["a", "b", "c"]))
        >>> coarse = Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75], [0.25, 0.75]], promise)
        >>> found = estimate_frequencies({"y1": 600, "y2": 400}, coarse)
        >>> [round(number, 4) for number in found.total(["b", "c"])], found.total(["b"])[1]
        ([0.7, 0.031], inf)
        """
        if isinstance(labels, str) or not isinstance(labels, Iterable):
            raise InputError(f"the labels are {shorten(labels)}; give a list of labels")
        names = [canonical_label(label) for label in labels]
        chosen = np.zeros(len(self.labels), dtype=bool)
        for name in names:
            if name not in self.labels:
                raise InputError(f"the label {shorten(name)} is not a category; accepted: labels of the estimate")
            if chosen[self.labels.index(name)]:
                raise InputError(f"the label {shorten(name)} occurs twice; labels must differ")
            chosen[self.labels.index(name)] = True
        picked = set(names)
        whole = all(picked.issuperset(group) or picked.isdisjoint(group) for group in self.groups)
        error = float(np.sqrt(max(self.covariance[np.ix_(chosen, chosen)].sum(), 0.0))) if whole else np.inf
        return float(self.frequencies[chosen].sum()), error


def estimate_frequencies(
    reports: Any,
    mechanism: Mechanism,
    *,
    method: str = "maximum-likelihood",
    of: str = "population",
    confidence: float = 0.95,
    integers: str | None = None,
    show_values: bool = False,
) -> FrequencyEstimate:
    """Estimate how frequent each input of a mechanism is, from one report for each record.

    Parameters
    ----------
    reports : list, array, series, or mapping
        Outputs of the mechanism: one label, or code (a position from 0), a report, in any container that
        `Mechanism.privatize` takes; or a mapping from label to count.
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
    integers : {"codes", "labels"}, optional
        What integers among the reports are. Without it they are codes, and are refused where a label reads as an
        integer.
    show_values : bool
        Whether messages print a report that is refused; without it they name its position alone.

    Returns
    -------
    FrequencyEstimate
        In the order of ``mechanism.inputs``.

    Raises
    ------
    InputError
        If there are no reports, a report is not an output, an option is not accepted, or least squares is asked for
        although the rows are linearly dependent.
    SolverError
        If the maximum likelihood is not certified to 1e-6 nats.

    Notes
    -----
    Errors and intervals are those of linear estimators: for an identifiable category some u has A u = e_i, and its
    mean over the reports is unbiased with a variance that is known. So they are valid at the border of the simplex,
    where those from the curvature of the likelihood are not. For maximum likelihood u is efficient at the fitted
    distribution, to which one more record, spread over all categories, is added so that no output has probability 0;
    the standard error is then that of the inverse Fisher information.

    For the population the interval is the score interval of u (see `mechdesign.deploy.linear.greatest_mean`):
    z standard errors if there are many reports of every output, and valid for rare outputs too. Among the records only
    the noise of the mechanism counts, whose moments are known. Intervals are cut with [0, 1], then extended to contain
    the estimate.
    A category that is not identifiable has ``b^T theta <= theta_i <= a^T theta`` for every theta, with identifiable
    sums b and a from linear programs; its interval reaches from the lower limit of the one to the upper limit of
    the other, with Bonferroni's correction for the number of sums among which the data chose these. So it does not
    shrink to a point.

    Reports about the same record, or from another mechanism, are not detected.

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
    """
    _check_choice("method", method, _METHODS)
    _check_choice("of", of, _TARGETS)
    _check_confidence(confidence)
    counts = _counts(reports, mechanism.outputs, integers, show_values=show_values)
    n = sum(counts)
    matrix, N = mechanism.matrix, len(mechanism.inputs)
    found = identify(matrix)
    groups = tuple(tuple(mechanism.inputs[i] for i in group) for group in found.groups)
    least_squares = method == "least-squares"
    if least_squares:
        _check_independent(groups)
    fit = maximum_likelihood(matrix, np.array(counts, dtype=float))
    sample = _Sample(np.array(counts, dtype=float) / n, n, (n * fit.frequencies + 1 / N) / (n + 1))
    weighing = _weighing_prior(mechanism) if least_squares else sample.theta
    estimator = LinearEstimator.efficient_at(matrix, found.basis, weighing @ matrix)
    estimate = sample.fractions @ estimator.functionals(np.eye(N)) if least_squares else fit.frequencies
    ranges = identified_ranges(matrix, found, fit.frequencies)
    identified = np.column_stack([estimate, estimate])
    identified[ranges.categories] = np.column_stack([ranges.lower, ranges.upper])
    covariance = estimator.covariance(sample.theta, of_records=of == "records") / n
    return FrequencyEstimate(
        labels=mechanism.inputs,
        frequencies=estimate,
        standard_errors=np.where(found.identifiable, np.sqrt(np.maximum(np.diag(covariance), 0.0)), np.inf),
        intervals=_extended(_limits(estimator, ranges, sample, confidence, of), identified),
        identifiable=found.identifiable,
        identified=identified,
        groups=groups,
        covariance=covariance,
        reports=n,
        method=method,
        of=of,
        confidence=float(confidence),
        likelihood_gap=None if least_squares else fit.gap,
    )


@dataclass(frozen=True, eq=False)
class _Sample:
    """Fractions of reports, shape (M,), their number, and positive frequencies that explain them, shape (N,)."""

    fractions: Floats
    size: int
    theta: Floats


def _limits(estimator: LinearEstimator, ranges: Ranges, sample: _Sample, confidence: float, of: str) -> Floats:
    """Return lower and upper confidence limits of every category, shape (N, 2)."""
    below = np.eye(len(sample.theta))
    above = below.copy()
    below[:, ranges.categories], above[:, ranges.categories] = ranges.below, ranges.above
    u_below, u_above = estimator.functionals(below), estimator.functionals(above)
    choices = [1] * len(sample.theta)
    for category, number in zip(ranges.categories.tolist(), ranges.choices, strict=True):
        choices[category] = number
    # Bonferroni's correction for sums that were chosen by the data.
    z = np.array([-NormalDist().inv_cdf((1 - confidence) / (2 * number)) for number in choices])
    if of == "population":
        radius = z**2 / sample.size
        lower = -greatest_mean(-u_below, sample.fractions, radius)
        upper = greatest_mean(u_above, sample.fractions, radius)
    else:
        noise_below, noise_above = (Noise.of(estimator.matrix, u, sample.theta) for u in (u_below, u_above))
        lower = sample.fractions @ u_below - noise_below.margins(sample.size, z)[0]
        upper = sample.fractions @ u_above + noise_above.margins(sample.size, z)[1]
    return np.column_stack([lower, upper])


def _extended(limits: Floats, ranges: Floats) -> Floats:
    """Return limits cut to [0, 1], then widened so that they include other ranges, shapes (N, 2)."""
    cut = np.clip(limits, 0.0, 1.0)
    return np.column_stack([np.minimum(cut[:, 0], ranges[:, 0]), np.maximum(cut[:, 1], ranges[:, 1])])


def _weighing_prior(mechanism: Mechanism) -> Floats:
    """Return the reference prior, or its mean with the uniform prior if it gives some output probability 0."""
    prior = mechanism.guarantee.uncertainty.prior
    return prior if (prior @ mechanism.matrix).all() else (prior + 1 / len(prior)) / 2


def _check_independent(groups: tuple[tuple[str, ...], ...]) -> None:
    confounded = [group for group in groups if len(group) > 1]
    if confounded:
        others = f" (and {len(confounded) - 1} more groups)" if len(confounded) > 1 else ""
        raise InputError(
            f"least squares needs linearly independent rows, but the mechanism cannot tell apart "
            f'{shorten(", ".join(confounded[0]))}{others}; use method "maximum-likelihood"'
        )


def _check_choice(name: str, value: object, accepted: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in accepted:
        raise InputError(f"{name} is {shorten(value)}; accepted: {' or '.join(map(repr, accepted))}")


def _check_confidence(confidence: object) -> None:
    if isinstance(confidence, bool) or not isinstance(confidence, int | float | np.floating) or not 0 < confidence < 1:
        raise InputError(f"confidence is {shorten(confidence)}; accepted: a number strictly between 0 and 1")


def _counts(reports: Any, outputs: tuple[str, ...], integers: str | None, *, show_values: bool) -> list[int]:
    """Return how often each output was reported."""
    if isinstance(reports, Mapping):
        counts = _tabled(reports, outputs)
    else:
        if _is_table(reports, outputs):
            raise InputError("the reports are a Series of counts; give a mapping from label to count, as of .to_dict()")
        alphabet = Alphabet(
            outputs, integers=integers, where="reports[{}]".format, replaces=False, show_values=show_values
        )
        codes = encode(reports, alphabet).codes
        counts = np.bincount(codes, minlength=len(outputs)).tolist()
    if not any(counts):
        raise InputError("there are no reports; give at least one")
    return counts


def _tabled(table: Mapping[Any, Any], outputs: tuple[str, ...]) -> list[int]:
    labels = canonical_labels(table, len(table))
    given = {label: checked_count(count, label) for label, count in zip(labels, table.values(), strict=True)}
    strange = sorted(given.keys() - set(outputs))
    if strange:
        raise InputError(
            f"the report {shorten(strange[0])} is not an output of the mechanism; accepted: "
            f"{shorten(', '.join(outputs))}"
        )
    return [given.get(output, 0) for output in outputs]


def _is_table(reports: Any, outputs: tuple[str, ...]) -> bool:
    """Return whether the index of a pandas Series consists of outputs, as that of ``value_counts`` does."""
    index = getattr(reports, "index", None)
    return hasattr(reports, "to_dict") and index is not None and len(index) > 0 and set(index) <= set(outputs)
