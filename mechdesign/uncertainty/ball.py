"""Sets whose lower probability is one line over the estimate: l1 balls and relative balls."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Self

from mechdesign.numerics.exact import over_common_denominator
from mechdesign.uncertainty.base import UncertaintySet

_LEAST_ALPHA = Fraction(1, 10**9)


class Ball(UncertaintySet):
    """All priors Q with ``Q(S) >= max(0, alpha P(S) - gamma)`` for every set S of categories, around an estimate P.

    Which columns such a set allows depends on masses of sets alone, so that methods for many categories need tables or
    searches over masses, and no list of sets.
    """

    @property
    def ball(self) -> Ball | None:
        """The set itself; None where alpha is so small that floats do not hold the numbers of its cone."""
        return self if self.line[0] >= _LEAST_ALPHA else None

    @property
    @abstractmethod
    def line(self) -> tuple[Fraction, Fraction]:
        """The numbers alpha and gamma: 1 and half the radius for an l1 ball."""

    @property
    def within_simplex(self) -> bool:
        """Whether the set is cut with the simplex."""
        return True

    @abstractmethod
    def around(self, center: Sequence[Fraction]) -> Self:
        """Return the set with the same line around another estimate, of any number of categories."""

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """Integers proportional to the center: each divided by their sum is the exact probability."""
        integers, _ = over_common_denominator(self.center)
        return tuple(integers)
