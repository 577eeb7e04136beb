"""The terms of the analyses of the correlated sparse histogram: releases of new counters, and divergences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from mechdesign.histogram.calibration import Sparse
from mechdesign.histogram.hockey_stick import Ball, gaussian_divergence, release_probability
from mechdesign.histogram.one_factor import common_release_probability
from mechdesign.numerics.epsilon import Epsilon, nats
from mechdesign.numerics.exact import arb_of, working_precision

EXTREMES = "exact-extremes-unproved"
"""The analysis that compares the two extreme pairs of neighbours only."""


def sensitivity(k: int, shared: int) -> Ball:
    """Return Delta_s: the sensitivity of s shared counters with a common noise, in units of 1 / sigma.

    ``Delta_s^2 = max over whole l <= s of l - l^2 / (sqrt(k) + s)``. It is at most ``(s + sqrt(k)) / 4`` (CSH Lemma 8).

    Examples
    --------
    >>> from mechdesign.numerics.exact import working_precision
    >>> with working_precision():
    ...     round(float(sensitivity(4, 4) ** 2), 12)
    1.5
    """
    total = arb_of(k).sqrt() + shared
    near = int(float(total) / 2)
    candidates = {min(shared, max(0, near + offset)) for offset in (-1, 0, 1, 2)}
    squares = [ell - ell * ell / total for ell in sorted(candidates)]
    greatest = squares[0]
    for square in squares[1:]:
        greatest = greatest.max(square)
    return greatest.sqrt()


@dataclass(frozen=True)
class CshTerms:
    """The terms of all analyses, as upper bounds: releases take the greatest possible sigma, divergences the least."""

    noise: Sparse
    tau: Fraction
    epsilon: Epsilon

    @property
    def k(self) -> int:
        """The sparsity bound."""
        return self.noise.k

    def own(self) -> Ball:
        """Return the threshold in units of a counter's own noise."""
        return arb_of(self.tau) / arb_of(self.noise.sigma.high)

    def _common(self) -> Ball:
        return 1 / arb_of(self.k).sqrt().sqrt()

    def jensen(self, new: int) -> Ball:
        """Bound R by the same probability for independent noise of equal variance: ``E[Phi^n] >= (E[Phi])^n``."""
        return release_probability(new, self.own() / (1 + self._common() ** 2).sqrt())

    def released(self, new: int) -> Ball:
        """Return R: the probability that at least one of so many new counters is released."""
        return common_release_probability(new, self.own(), self._common())

    def lemma_10(self, new: int) -> Ball:
        """Bound R as the paper does: by a split of the threshold between the own and the common noise."""
        return release_probability(new + 1, self.own() / (1 + self._common()))

    def gaussian(self, mu: Callable[[], Ball]) -> Ball:
        """Return the divergence of Gaussian noise, for a sensitivity in units of 1 / sigma."""
        return gaussian_divergence(nats(self.epsilon), mu() / arb_of(self.noise.sigma.low))

    def shared(self, shared: int) -> Ball:
        """Return the divergence of so many shared counters, exactly."""
        return self.gaussian(lambda: sensitivity(self.k, shared))

    def extremes_decide(self, ends: float) -> bool:
        """Return whether a bound on both extremes is at most ``min(epsilon, 1) / 70``, so that no pair is worse.

        The theorem "the extremes decide" of ``docs/mathematics.md``, for any k, sigma and tau.
        """
        with working_precision():
            return bool(70 * arb_of(Fraction(ends)) <= nats(self.epsilon).min(arb_of(1)))

    def lemma_8(self) -> Ball:
        """Bound the divergence of k shared counters as the paper does."""
        return self.gaussian(lambda: (self.k + arb_of(self.k).sqrt()).sqrt() / 2)
