"""Estimates from counts of reports: what depends on the mechanism alone is computed once, for any number of groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechdesign.deploy.confidence_limits import Brackets, Samples, error_of_one_group, limits_of_all, widened
from mechdesign.deploy.fit import fits_of
from mechdesign.deploy.frequency import FrequencyEstimate
from mechdesign.deploy.identification import Identification, Ranges, identified_ranges, identify
from mechdesign.deploy.likelihood import MaximumLikelihood, maximum_likelihoods
from mechdesign.deploy.linear import LinearEstimator
from mechdesign.deploy.outside import Outside, outsides
from mechdesign.errors import InputError, shorten
from mechdesign.mechanism import Mechanism
from mechdesign.mechanism.mechanism import check_mechanism
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.threads import one_thread

METHODS = ("maximum-likelihood", "least-squares")
_LIKELY_TOGETHER = 120_000  # entries of the laws and of the normal equations of groups
_LIMITS_TOGETHER = 60_000  # entries of the matrices of groups: more would not fit into the caches
_Tables = Sequence[Sequence[int]]
TARGETS = ("population", "records")


@dataclass(frozen=True, eq=False)
class Estimation:
    """How frequencies are estimated from the reports of a mechanism. The options are those of `estimate_frequencies`.

    Raises
    ------
    InputError
        If an option is not accepted, or least squares is asked for although the rows are linearly dependent.
    """

    mechanism: Mechanism
    method: str
    of: str
    confidence: float

    def __post_init__(self) -> None:
        check_mechanism(self.mechanism)
        _check_choice("method", self.method, METHODS)
        _check_choice("of", self.of, TARGETS)
        _check_confidence(self.confidence)
        if self._linear:
            _check_independent(self.confounded)

    @cached_property
    def found(self) -> Identification:
        """Which categories reports distinguish."""
        return identify(self.mechanism.matrix)

    @cached_property
    def confounded(self) -> tuple[tuple[str, ...], ...]:
        """The finest partition of the categories such that those of different parts are not confounded."""
        return tuple(tuple(self.mechanism.inputs[i] for i in group) for group in self.found.groups)

    @property
    def _linear(self) -> bool:
        return self.method == "least-squares"

    @cached_property
    def _fixed(self) -> LinearEstimator:
        """The estimator of least squares, which does not depend on the reports."""
        return self._efficient_at(weighing_prior(self.mechanism) @ self.mechanism.matrix)

    def _efficient_at(self, laws: Floats) -> LinearEstimator:
        return LinearEstimator.efficient_at(self.mechanism.matrix, self.found.basis, laws)

    def of_counts(self, counts: Sequence[int]) -> FrequencyEstimate:
        """Return the estimate from the number of reports of each output.

        Parameters
        ----------
        counts : sequence of int, length M
            In the order of ``mechanism.outputs``.

        Raises
        ------
        InputError
            If there are no reports.
        """
        return next(self.of_groups([counts]))

    def of_groups(self, tables: _Tables) -> Iterator[FrequencyEstimate]:
        """Yield the estimate of each group, from the number of its reports of each output.

        Intervals of all groups hold at once. What can be is computed for many groups together.

        Raises
        ------
        InputError
            If a group has no reports.
        """
        matrix = self.mechanism.matrix
        many = max(1, _LIKELY_TOGETHER // (matrix.shape[1] + len(matrix) ** 2))
        few = max(1, _LIMITS_TOGETHER // matrix.size)
        for start in range(0, len(tables), many):
            some = tables[start : start + many]
            if not all(map(any, some)):
                raise InputError.nothing_given("there are no reports; give at least one")
            counts = np.array(some, dtype=float)
            with one_thread():
                likely = maximum_likelihoods(matrix, counts)
                frequencies = np.array([each.frequencies for each in likely])
                far = outsides(self.mechanism, counts, frequencies, len(tables))
            for first in range(0, len(some), few):
                part = slice(first, first + few)
                with one_thread():
                    found = self._together(some[part], likely[part], far[part], len(tables))
                yield from found

    def _together(
        self, tables: _Tables, likely: Sequence[MaximumLikelihood], far: Sequence[Outside | None], groups: int
    ) -> list[FrequencyEstimate]:
        """Return the estimates of some of the groups from what is likeliest."""
        matrix, N = self.mechanism.matrix, len(self.mechanism.inputs)
        counts, sizes = np.array(tables, dtype=float), [sum(each) for each in tables]
        n = np.array(sizes, dtype=float)
        frequencies = np.array([each.frequencies for each in likely])
        theta = (n[:, None] * frequencies + 1 / N) / (n[:, None] + 1)
        samples = Samples(counts / n[:, None], n, theta)
        estimator = self._fixed if self._linear else self._efficient_at(theta @ matrix)
        covariance = estimator.covariance(theta, of_records=self.of == "records")
        ranges = self._ranges(frequencies)
        brackets = Brackets.of(estimator, ranges)
        z = self._quantiles(brackets, covariance, groups)
        estimates = samples.fractions @ estimator.functionals(np.eye(N)) if self._linear else frequencies
        identified = _identified(estimates, ranges)
        covariance /= n[:, None, None]
        errors = np.where(self.found.identifiable, _roots_of_diagonal(covariance), np.inf)
        intervals = widened(limits_of_all(brackets, samples, z, self.of), identified[:, None])
        needed, fits = brackets.reports_needed(samples, z[:, 0]), fits_of(matrix, counts, frequencies)
        return [
            FrequencyEstimate(
                labels=self.mechanism.inputs,
                frequencies=estimates[group],
                standard_errors=errors[group],
                intervals=intervals[group, 0],
                simultaneous_intervals=intervals[group, 1],
                family=N * groups,
                reports_needed=needed[group],
                identifiable=self.found.identifiable,
                identified=identified[group],
                groups=self.confounded,
                covariance=covariance[group],
                reports=size,
                method=self.method,
                of=self.of,
                confidence=float(self.confidence),
                likelihood_gap=None if self._linear else likely[group].gap,
                fit=fits[group],
                outside=far[group],
            )
            for group, size in enumerate(sizes)
        ]

    def _quantiles(self, brackets: Brackets, covariance: Floats, groups: int) -> Floats:
        """Return the normal quantiles of intervals for each category alone and for all at once, shape (G, 2, N)."""
        error = 1 - self.confidence
        joint = brackets.joint_quantiles(error_of_one_group(error, groups), covariance)
        return np.stack([brackets.quantiles(error), joint], axis=1)

    def _ranges(self, frequencies: Floats) -> list[Ranges]:
        """Return the bounds of what is not identifiable in each group; where all is, none."""
        if self.found.identifiable.all():
            return [identified_ranges(self.mechanism.matrix, self.found, frequencies[0])] * len(frequencies)
        return [identified_ranges(self.mechanism.matrix, self.found, each) for each in frequencies]


def _identified(estimates: Floats, ranges: Sequence[Ranges]) -> Floats:
    """Return the estimates twice, as intervals, with the bounds of what is not identifiable in their places."""
    identified = np.stack([estimates, estimates], axis=-1)
    for own, edges in zip(identified, ranges, strict=True):
        own[edges.categories] = np.column_stack([edges.lower, edges.upper])
    return identified


def _roots_of_diagonal(covariance: Floats) -> Floats:
    roots: Floats = np.sqrt(np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 0.0))
    return roots


def weighing_prior(mechanism: Mechanism) -> Floats:
    """Return the reference prior, or its mean with the uniform prior if it gives some output probability 0."""
    prior = mechanism.guarantee.uncertainty.prior
    return prior if (prior @ mechanism.matrix).all() else (prior + 1 / len(prior)) / 2


def _check_independent(groups: tuple[tuple[str, ...], ...]) -> None:
    confounded = [group for group in groups if len(group) > 1]
    if confounded:
        others = f" (and {len(confounded) - 1} more groups)" if len(confounded) > 1 else ""
        raise InputError.not_identifiable(
            f"least squares needs linearly independent rows, but the mechanism cannot tell apart "
            f'{shorten(", ".join(confounded[0]))}{others}; use method "maximum-likelihood"'
        )


def _check_choice(name: str, value: object, accepted: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in accepted:
        raise InputError.unknown_choice(f"{name} is {shorten(value)}; accepted: {' or '.join(map(repr, accepted))}")


def _check_confidence(confidence: object) -> None:
    if isinstance(confidence, bool) or not isinstance(confidence, int | float | np.floating) or not 0 < confidence < 1:
        raise InputError.out_of_range(
            f"confidence is {shorten(confidence)}; accepted: a number strictly between 0 and 1"
        )
