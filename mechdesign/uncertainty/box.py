"""Limits for the probability of each category: boxes, lower limits alone, boxes cut with an l1 ball."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from mechdesign.data.checks import checked_radius
from mechdesign.display.numbers import text_near
from mechdesign.errors import InputError
from mechdesign.uncertainty.binomial_limits import lower_limit, upper_limit
from mechdesign.uncertainty.evidence import Evidence
from mechdesign.uncertainty.limits import (
    check_between,
    check_sum_of_lower,
    evidence_level,
    exact_limits,
    excess_of_lower,
    excess_of_upper,
    seen_of,
)
from mechdesign.uncertainty.pieces import Piece, PieceSet
from mechdesign.uncertainty.prior_set import Numbers, labelled_center


@dataclass(frozen=True)
class LowerLimits(PieceSet):
    """All priors that give every category at least a mass of its own.

    ``f(S) = c(S)`` with the lower limits c, for every S but the set of all categories. What the limits leave free goes
    to the category with the least entry: ``h(v) = <c, v> + (1 - c(all)) min v``.

    Parameters
    ----------
    lower : sequence of numbers, pandas Series, or mapping from label to number
        The lower limits, which sum to at most 1.
    center : the same
        The estimated prior P, at which utility is measured: not below the limits.
    labels : sequence of str or int, optional
        One for each category. By default those of the center, or else ``x1`` to ``xN``.

    Raises
    ------
    InputError
        For limits that are negative, sum past 1 or exceed the center, and a category that has probability 0 under
        every prior.

    Examples
    --------
    >>> limits = LowerLimits(["0.3", "0.2", "0.1"], center=["0.5", "0.3", "0.2"])
    >>> limits.exact_worst_mean([3, 0, 1])
    (Fraction(1, 1), (Fraction(3, 10), Fraction(3, 5), Fraction(1, 10)))
    """

    kind: ClassVar[str] = "lower-limits"
    parameters: ClassVar[dict[str, str]] = {"lower": "vector"}
    lower: tuple[Fraction, ...]
    center: tuple[Fraction, ...]
    labels: tuple[str, ...]
    evidence: Evidence | None = field(default=None, init=False)

    def __init__(self, lower: Numbers, *, center: Numbers, labels: Iterable[object] | None = None) -> None:
        prior, names = labelled_center(center, labels)
        least = exact_limits(lower, names, "the lower limits")
        check_sum_of_lower(least)
        check_between(least, prior, "estimate", names)
        self._hold(prior, names, lower=least)

    @classmethod
    def _derived(cls, evidence: Evidence) -> dict[str, Any]:
        """Return the limits of Clopper and Pearson, each of which fails with probability delta / N."""
        level = evidence_level(evidence) / len(evidence.counts)
        return {"lower": [lower_limit(evidence.samples, k, level) for k in seen_of(evidence)]}

    def excess_over(self, evidence: Evidence) -> str:
        """Return in words which limit is above the one that counts and delta support; empty if none is."""
        level = evidence_level(evidence) / len(evidence.counts)
        return excess_of_lower(self.lower, evidence, level, self.labels)

    def __repr__(self) -> str:
        return f"LowerLimits({self.size} categories, sum={float(sum(self.lower)):.6g})"

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """The limits themselves."""
        return (Piece(self.lower, Fraction(0)),)

    def in_words(self) -> str:
        """Return the priors of the set in words."""
        return f"every prior that gives each of {self.size} categories at least its lower limit"

    def one_in_words(self) -> str:
        """Return one prior of the set in words."""
        return f"a prior that gives each of {self.size} categories at least its lower limit"


@dataclass(frozen=True)
class Box(PieceSet):
    """All priors between a lower and an upper limit for each category.

    ``f(S) = max(l(S), 1 - u(all others))`` with the limits l and u: the worst prior gives every category its lower
    limit, and what is left to the categories with the least entries, up to their upper limits.

    Parameters
    ----------
    lower, upper : sequence of numbers, pandas Series, or mapping from label to number
        The limits: the estimate lies between them.
    center : the same
        The estimated prior P, at which utility is measured.
    labels : sequence of str or int, optional
        One for each category. By default those of the center, or else ``x1`` to ``xN``.

    Raises
    ------
    InputError
        For a lower limit above an upper one, lower limits that sum past 1, upper limits that sum to less than 1, an
        estimate outside of the limits, and a category that has probability 0 under every prior.

    Examples
    --------
    >>> box = Box(["0.3", "0.2", "0.1"], ["0.6", "0.4", "0.4"], center=["0.5", "0.3", "0.2"])
    >>> box.exact_worst_mean([3, 0, 1])
    (Fraction(6, 5), (Fraction(3, 10), Fraction(2, 5), Fraction(3, 10)))
    """

    kind: ClassVar[str] = "box"
    parameters: ClassVar[dict[str, str]] = {"lower": "vector", "upper": "vector"}
    lower: tuple[Fraction, ...]
    upper: tuple[Fraction, ...]
    center: tuple[Fraction, ...]
    labels: tuple[str, ...]
    evidence: Evidence | None = field(default=None, init=False)

    def __init__(
        self, lower: Numbers, upper: Numbers, *, center: Numbers, labels: Iterable[object] | None = None
    ) -> None:
        prior, names = labelled_center(center, labels)
        least, most = _limits(lower, upper, prior, names)
        self._hold(prior, names, lower=least, upper=most)

    @classmethod
    def _derived(cls, evidence: Evidence) -> dict[str, Any]:
        """Return the limits of Clopper and Pearson, each of which fails with probability delta / 2N."""
        level, n = evidence_level(evidence) / (2 * len(evidence.counts)), evidence.samples
        return {
            "lower": [lower_limit(n, k, level) for k in seen_of(evidence)],
            "upper": [upper_limit(n, k, level) for k in seen_of(evidence)],
        }

    def excess_over(self, evidence: Evidence) -> str:
        """Return in words which limit is sharper than the one that counts and delta support; empty if none is."""
        level = evidence_level(evidence) / (2 * len(evidence.counts))
        below = excess_of_lower(self.lower, evidence, level, self.labels)
        return below or excess_of_upper(self.upper, evidence, level, self.labels)

    def __repr__(self) -> str:
        return (
            f"Box({self.size} categories, sum of lower={float(sum(self.lower)):.6g}, "
            f"upper={float(sum(self.upper)):.6g})"
        )

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """The lower limits, and the upper ones: ``Q <= u`` is ``sum (u - Q)^+ <= u(all) - 1``."""
        return (Piece(self.lower, Fraction(0)), Piece(self.upper, sum(self.upper, Fraction(-1))))

    def in_words(self) -> str:
        """Return the priors of the set in words."""
        return f"every prior within the limits of each of {self.size} categories"

    def one_in_words(self) -> str:
        """Return one prior of the set in words."""
        return f"a prior within the limits of each of {self.size} categories"


@dataclass(frozen=True)
class L1Box(PieceSet):
    """All priors within an l1 distance of an estimate that are also between limits for each category.

    ``f(S) = max(0, P(S) - t, l(S), 1 - u(all others))`` with the estimate P, half the radius t, and the limits l and u.

    Parameters
    ----------
    lower, upper, center, labels
        As for `Box`.
    radius : number or str
        l1 radius in [0, 2].

    Raises
    ------
    InputError
        As for `Box`, and for a radius outside [0, 2].

    Examples
    --------
    >>> limits = ["0.3", "0.2", "0.1"], ["0.6", "0.4", "0.4"]
    >>> both = L1Box(*limits, "0.2", center=["0.5", "0.3", "0.2"])
    >>> both.exact_worst_mean([3, 0, 1])
    (Fraction(7, 5), (Fraction(2, 5), Fraction(2, 5), Fraction(1, 5)))
    """

    kind: ClassVar[str] = "l1-box"
    parameters: ClassVar[dict[str, str]] = {"lower": "vector", "upper": "vector", "radius": "number"}
    lower: tuple[Fraction, ...]
    upper: tuple[Fraction, ...]
    radius: Fraction
    center: tuple[Fraction, ...]
    labels: tuple[str, ...]
    evidence: Evidence | None = field(default=None, init=False)

    def __init__(
        self, lower: Numbers, upper: Numbers, radius: object, *, center: Numbers, labels: Iterable[object] | None = None
    ) -> None:
        prior, names = labelled_center(center, labels)
        least, most = _limits(lower, upper, prior, names)
        self._hold(prior, names, lower=least, upper=most, radius=checked_radius(radius))

    @classmethod
    def _derived(cls, evidence: Evidence) -> dict[str, Any]:
        """Return the limits and the radius of Clopper and Pearson, either of which fail with probability delta / 2."""
        half = _half(evidence)
        return {**Box._derived(half), "radius": half.radius()}

    def excess_over(self, evidence: Evidence) -> str:
        """Return in words which limit is sharper than half of delta supports, or the radius; empty if none is."""
        half = _half(evidence)
        outside = Box(self.lower, self.upper, center=self.center, labels=self.labels).excess_over(half)
        least = half.radius()
        if outside or least is None or self.radius >= least:
            return outside
        return f"the radius {float(self.radius):.12g} is below {float(least):.12g}"

    def __repr__(self) -> str:
        return f"L1Box({self.size} categories, radius={float(self.radius):.6g})"

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """The lower limits, the upper limits, and the ball."""
        ball = Piece(self.center, self.radius / 2)
        return (Piece(self.lower, Fraction(0)), Piece(self.upper, sum(self.upper, Fraction(-1))), ball)

    def in_words(self) -> str:
        """Return the priors of the set in words."""
        return f"every prior within the limits of {self.size} categories and l1 distance {float(self.radius):.6g}"

    def one_in_words(self) -> str:
        """Return one prior of the set in words."""
        return f"a prior within the limits of {self.size} categories and l1 distance {float(self.radius):.6g}"


def _half(evidence: Evidence) -> Evidence:
    """Return the data with half of their delta."""
    return replace(evidence, delta=evidence_level(evidence) / 2)


def _limits(
    lower: Numbers, upper: Numbers, prior: tuple[Fraction, ...], names: tuple[str, ...]
) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Return the limits of a box that holds the estimate."""
    least, most = exact_limits(lower, names, "the lower limits"), exact_limits(upper, names, "the upper limits")
    check_between(least, most, "upper limit", names)
    check_sum_of_lower(least)
    if sum(most) < 1:
        raise InputError.limits_contradict(
            f"the upper limits sum to {text_near(sum(most, Fraction(0)))}; accepted: at least 1"
        )
    check_between(least, prior, "estimate", names)
    check_between(prior, most, "upper limit", names, of="the estimate")
    return least, most
