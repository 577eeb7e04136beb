"""Frequencies of the true categories, estimated from reports."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.labels import canonical_label
from mechdesign.deploy.fit import Fit
from mechdesign.deploy.outside import Outside
from mechdesign.display.frames import labelled_frame
from mechdesign.display.html import facts, table
from mechdesign.display.text import some
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import Floats, frozen

_FIRST = 5  # categories, and groups of them, that are told in a line
_ARRAYS = (
    "frequencies",
    "standard_errors",
    "intervals",
    "simultaneous_intervals",
    "identifiable",
    "identified",
    "covariance",
)


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
    simultaneous_intervals : array, shape (N, 2)
        Wider intervals, which contain the true frequencies of all categories at once with the stated confidence; in
        an estimate by groups, those of all categories of all groups.
    family : int
        How many intervals hold at once: N, times the number of groups in an estimate by groups.
    reports_needed : int
        With fewer reports the normal approximation behind standard errors is doubtful (see `few_reports`).
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
    fit : Fit
        How well the mechanism explains the reports. ``fit.p`` is the chance of a worse fit if it made them, and
        ``fit.impossible`` that it did not: p is below 1e-6. p is None where the mechanism explains any such reports.
    outside : Outside or None
        That the distribution is significantly outside of the priors that the guarantee is for: its p (times the number
        of groups) is below 0.01. ``outside.leakage`` is what the mechanism leaks at the estimate, in nats.
    """

    labels: tuple[str, ...]
    frequencies: Floats
    standard_errors: Floats
    intervals: Floats
    simultaneous_intervals: Floats
    family: int
    reports_needed: int
    identifiable: NDArray[np.bool_]
    identified: Floats
    groups: tuple[tuple[str, ...], ...]
    covariance: Floats
    reports: int
    method: str
    of: str
    confidence: float
    likelihood_gap: float | None
    fit: Fit
    outside: Outside | None

    def __post_init__(self) -> None:
        for name in _ARRAYS:
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def __reduce__(self) -> tuple[Any, ...]:
        # The arrays of a copy are read-only too.
        return FrequencyEstimate, tuple(getattr(self, field.name) for field in fields(self))

    def __repr__(self) -> str:
        order = np.argsort(-self.frequencies, kind="stable")[:_FIRST]
        lines = [f"{self.labels[i]!r} {self.frequencies[i]:.4g} {self._error_in_words(i)}" for i in order]
        shown = some([*lines, *[""] * (len(self.labels) - len(lines))], _FIRST)
        whose = " that this mechanism did not make" if self.fit.impossible else ""
        size = f"{len(self.labels)} categories, {self.reports:,} reports{whose}, {self.method} of {self.of}"
        return f"FrequencyEstimate({size}: {shown})"

    def _error_in_words(self, place: int) -> str:
        return f"+- {self.standard_errors[place]:.2g}" if self.identifiable[place] else "(not identifiable)"

    def _repr_html_(self) -> str:
        level = f"{100 * self.confidence:g} % interval"
        columns = ["category", "frequency", "standard error", f"{level} from", "to", "identifiable"]
        cells = [self.frequencies, self.standard_errors, *self.intervals.T, self.identifiable]
        rows = list(zip(self.labels, *(cell.tolist() for cell in cells), strict=True))
        caption = f"Frequencies of {self.of} from {self.reports:,} reports, {self.method}"
        groups = [group for group in self.groups if len(group) > 1]
        lines = [("only the total of these can be estimated", some(group, _FIRST)) for group in groups[:_FIRST]]
        if self.few_reports:
            lines.append(("fewer reports than standard errors need", f"at least {self.reports_needed:,}"))
        if self.fit.impossible:
            lines.append(("these are not reports of this mechanism", f"p = {self.fit.p:.1g}"))
        if self.outside is not None:
            lines.append(("outside of the priors of the guarantee", f"leakage {self.outside.leakage:.4g} there"))
        if len(groups) > _FIRST:
            lines.append(("", f"and {len(groups) - _FIRST} more groups"))
        return table(columns, rows, caption) + (facts(lines) if lines else "")

    def to_frame(self, library: str | None = None) -> Any:
        """Return the estimate as a frame, a row for each category.

        `lower` and `upper` are its own interval; `simultaneous_lower` and `simultaneous_upper` hold for all at once.
        The standard error is missing where the category is not identifiable.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            Whose frame; by default that of the first of the two that is installed.

        Examples
        --------
        >>> import mechdesign as md
        >>> promise = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2, labels=["no", "yes"]))
        >>> warner = md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise, outputs=["no", "yes"])
        >>> found = md.estimate_frequencies({"no": 600, "yes": 400}, warner)
        >>> found.to_frame("polars").columns[:5]
        ['label', 'frequency', 'standard_error', 'lower', 'upper']
        >>> round(found.to_frame("pandas").loc["yes", "frequency"].item(), 6)
        0.3
        """
        return labelled_frame("label", self.labels, self.columns(), library)

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of `to_frame` by name, in the order of ``labels``.

        The standard error is None where the category is not identifiable.
        """
        errors = [error if np.isfinite(error) else None for error in self.standard_errors.tolist()]
        return {
            "frequency": self.frequencies.tolist(),
            "standard_error": errors,
            "lower": self.intervals[:, 0].tolist(),
            "upper": self.intervals[:, 1].tolist(),
            "simultaneous_lower": self.simultaneous_intervals[:, 0].tolist(),
            "simultaneous_upper": self.simultaneous_intervals[:, 1].tolist(),
            "identifiable": self.identifiable.tolist(),
        }

    @property
    def few_reports(self) -> bool:
        """Whether there are fewer reports than standard errors need: fewer than ``reports_needed``.

        Intervals cover with few reports too; a standard error with a normal quantile then does not.

        With s the greatest skewness, over the categories, of what one report adds to the estimate, and z the normal
        quantile of the confidence, the skewness moves the limits of an interval by up to a tenth of their distance from
        the estimate as soon as ``z s / (6 sqrt(n))`` exceeds 0.1. So ``(z s / 0.6)^2`` reports are needed: for an
        output that tells one category alone, about ten of it at 95 %.
        """
        return self.reports < self.reports_needed

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
        >>> from mechdesign import Epsilon, Guarantee, L1Ball, Mechanism, estimate_frequencies
        >>> promise = Guarantee(Epsilon.of("log(3)"), L1Ball([0.2, 0.3, 0.5], radius=2, labels=["a", "b", "c"]))
        >>> coarse = Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75], [0.25, 0.75]], promise, outputs=["y", "n"])
        >>> found = estimate_frequencies({"y": 400, "n": 600}, coarse)
        >>> [round(number, 4) for number in found.total(["b", "c"])], found.total(["b"])[1]
        ([0.7, 0.031], inf)
        """
        if isinstance(labels, str) or not isinstance(labels, Iterable):
            raise InputError.wrong_type(f"the labels are {shorten(labels)}; give a list of labels")
        names = [canonical_label(label) for label in labels]
        chosen = np.zeros(len(self.labels), dtype=bool)
        for name in names:
            if name not in self.labels:
                raise InputError.unknown_label(
                    f"the label {shorten(name)} is not a category; accepted: labels of the estimate"
                )
            if chosen[self.labels.index(name)]:
                raise InputError.label_twice(f"the label {shorten(name)} occurs twice; labels must differ")
            chosen[self.labels.index(name)] = True
        picked = set(names)
        whole = all(picked.issuperset(group) or picked.isdisjoint(group) for group in self.groups)
        error = float(np.sqrt(max(self.covariance[np.ix_(chosen, chosen)].sum(), 0.0))) if whole else np.inf
        return float(self.frequencies[chosen].sum()), error
