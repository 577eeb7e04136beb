"""Estimates from counts of reports: what depends on the mechanism alone is computed once, for any number of groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechdesign.deploy.frequency import FrequencyEstimate
from mechdesign.deploy.identification import Identification, identified_ranges, identify
from mechdesign.deploy.likelihood import MaximumLikelihood, maximum_likelihood
from mechdesign.deploy.limits import Brackets, Sample, widened
from mechdesign.deploy.linear import LinearEstimator
from mechdesign.deploy.simultaneous import error_of_one_group
from mechdesign.errors import InputError, shorten
from mechdesign.mechanism import Mechanism
from mechdesign.numerics.arrays import Floats

METHODS = ("maximum-likelihood", "least-squares")
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
        matrix = self.mechanism.matrix
        return LinearEstimator.efficient_at(matrix, self.found.basis, _weighing_prior(self.mechanism) @ matrix)

    def of_counts(self, counts: Sequence[int], groups: int = 1) -> FrequencyEstimate:
        """Return the estimate from the number of reports of each output.

        Parameters
        ----------
        counts : sequence of int, length M
            In the order of ``mechanism.outputs``.
        groups : int
            For how many groups such an estimate is made, so that intervals of all of them hold at once.

        Raises
        ------
        InputError
            If there are no reports.
        """
        if not any(counts):
            raise InputError("there are no reports; give at least one")
        return self.of_fit(counts, maximum_likelihood(self.mechanism.matrix, np.array(counts, dtype=float)), groups)

    def of_fit(self, counts: Sequence[int], fit: MaximumLikelihood, groups: int = 1) -> FrequencyEstimate:
        """Return the estimate from the number of reports of each output, and the frequencies of greatest likelihood."""
        matrix, N, n = self.mechanism.matrix, len(self.mechanism.inputs), sum(counts)
        sample = Sample(np.array(counts, dtype=float) / n, n, (n * fit.frequencies + 1 / N) / (n + 1))
        if self._linear:
            estimator = self._fixed
        else:
            estimator = LinearEstimator.efficient_at(matrix, self.found.basis, sample.theta @ matrix)
        estimate = sample.fractions @ estimator.functionals(np.eye(N)) if self._linear else fit.frequencies
        ranges = identified_ranges(matrix, self.found, fit.frequencies)
        identified = np.column_stack([estimate, estimate])
        identified[ranges.categories] = np.column_stack([ranges.lower, ranges.upper])
        covariance = estimator.covariance(sample.theta, of_records=self.of == "records")
        brackets = Brackets.of(estimator, ranges)
        single = brackets.quantiles(1 - self.confidence)
        joint = brackets.joint_quantiles(error_of_one_group(1 - self.confidence, groups), covariance)
        covariance /= n
        limits = brackets.limits(sample, np.stack([single, joint]), self.of)
        return FrequencyEstimate(
            labels=self.mechanism.inputs,
            frequencies=estimate,
            standard_errors=np.where(self.found.identifiable, np.sqrt(np.maximum(np.diag(covariance), 0.0)), np.inf),
            intervals=widened(limits[0], identified),
            simultaneous_intervals=widened(limits[1], identified),
            family=N * groups,
            reports_needed=brackets.reports_needed(sample, single),
            identifiable=self.found.identifiable,
            identified=identified,
            groups=self.confounded,
            covariance=covariance,
            reports=n,
            method=self.method,
            of=self.of,
            confidence=float(self.confidence),
            likelihood_gap=None if self._linear else fit.gap,
        )


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
