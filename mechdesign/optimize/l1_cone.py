"""The column cone of an l1 ball or a relative ball: its numbers, and the four kinds of its extreme rays.

The cone is ``K = { v >= 0 : max v <= e h(v) }`` for the priors Q with ``Q(S) >= max(0, alpha P(S) - gamma)`` for every
set S of symbols. An l1 ball has alpha = 1 and gamma = radius/2. Between them sets have a mass from ``alpha (P(S) - t)``
to ``alpha (P(S) + u)``, with

    t = gamma / alpha,    u = (1 + gamma) / alpha - 1,    c = alpha e / (1 + gamma e);

t = u for an l1 ball. Every extreme ray is, up to scale, of one of four kinds; S is a set of symbols and P(S) its
estimated mass.

A. ``c`` on S and ``m = (1 - c P(S)) / (1 - P(S) + u)`` elsewhere, m >= 0.
B. ``c`` on S, ``x = (1 - c P(S)) / P_f`` at one symbol f outside S, 0 <= x <= c, and 0 elsewhere.
C. ``alpha e (b - t)`` on S, 1 on S', 0 elsewhere, with 0 < P(S) < t (or P(S) = 0), ``b = P(S) + P(S')`` and
   ``b - t >= 1/(alpha e)``.
D. ``e`` on S and 1 elsewhere, with P(S) <= t and t > 0.

For the ball as printed in ED Proposition 2 there are only kinds A and B. A set cut with the simplex has C and D too
where t > 0. From t = 1 on (local differential privacy) only D is left: the staircase columns of Kairouz, Oh and
Viswanath. docs/mathematics.md has the proofs.

The numbers of a cone are floats where columns are priced, and Fractions in closed forms.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats, as_bound
from mechdesign.numerics.exact import float_up
from mechdesign.optimize.capped_cone import raised_power
from mechdesign.uncertainty.ball import Ball
from mechdesign.uncertainty.base import NO_FLOOR, Floor
from mechdesign.utility import FInformation

_EPS = float(np.finfo(float).eps)
Number = TypeVar("Number", float, Fraction)


@dataclass(frozen=True, eq=False)
class L1Cone(Generic[Number]):
    """The column cone of an l1 ball or a relative ball.

    Attributes
    ----------
    P : array, shape (N,)
        The estimated prior.
    t : number
        ``gamma / alpha``: half the radius of an l1 ball.
    e : number
        exp(epsilon), above 1.
    within_simplex : bool
        Whether the ball is cut with the simplex.
    alpha : number
        1 for an l1 ball.
    u : number
        ``(1 + gamma) / alpha - 1``; t by default, as for an l1 ball.
    least : number
        a of `capped_cone`, whose images of the cone's columns are meant; 0 for the columns themselves.

    Examples
    --------
    >>> cone = L1Cone(np.array([0.5, 0.3, 0.2]), 0.25, 2.0)
    >>> round(cone.c, 4), cone.heaviest_ab, cone.lightest_support_c
    (1.3333, 0.75, 0.75)
    >>> cone.has_cd, cone.only_d
    (True, False)
    """

    P: NDArray[Any]
    t: Number
    e: Number
    within_simplex: bool = True
    alpha: Number = field(default=1, kw_only=True)  # type: ignore[assignment]  # of either type
    u: Number = field(default=None, kw_only=True)  # type: ignore[assignment]  # never None after construction
    least: Number = field(default=0, kw_only=True)  # type: ignore[assignment]  # of either type

    def __post_init__(self) -> None:
        if self.u is None:
            object.__setattr__(self, "u", self.t)

    @classmethod
    def of(cls, ball: Ball, exp_epsilon: float, floor: Floor = NO_FLOOR) -> L1Cone[float]:
        """Return the cone of a ball in floats, for the cap that a floor asks for."""
        power, least = raised_power(exp_epsilon, floor)
        return L1Cone(ball.prior, e=power, within_simplex=ball.within_simplex, least=least, **numbers_of(ball))

    @property
    def slope(self) -> Number:
        """``alpha e``: by how much ``e f(S)`` rises with the mass of S."""
        return self.alpha * self.e

    @property
    def c(self) -> Number:
        """``alpha e / (1 + gamma e)``, the greatest value of kinds A and B; exp(epsilon') of ED eq. (43)."""
        return self.slope / (1 + self.t * self.slope)

    @property
    def share(self) -> float:
        """``(1 - a) / (1 - a + a c)``, rounded up: columns of greatest entry c have images ``share u + 1 - share``."""
        a = Fraction(self.least)
        return min(1.0, float_up((1 - a) / (1 - a + a * Fraction(self.c))) * (1 + 32 * _EPS * (a > 0)))

    # Which kinds there are

    @property
    def has_cd(self) -> bool:
        """Whether rays of kinds C and D may exist."""
        return self.within_simplex and self.t > 0

    @property
    def only_d(self) -> bool:
        """Whether every ray is of kind D: the ball is the whole simplex."""
        return self.within_simplex and self.t >= 1

    # Limits of masses

    @property
    def heaviest_ab(self) -> Number:
        """``1/c``, the greatest mass of S in kinds A and B."""
        return 1 / self.c

    @property
    def heaviest_cd(self) -> Number:
        """``t``, the greatest mass of S in kinds C and D."""
        return self.t

    @property
    def lightest_support_c(self) -> Number:
        """``t + 1/(alpha e)``, the least mass of S and S' together in kind C."""
        return self.t + 1 / self.slope

    # Values, for masses that are numbers or arrays

    def left_by(self, mass: Any) -> Any:
        """Return ``1 - c P(S)``, what S leaves for the other symbols in kinds A and B."""
        return 1 - self.c * mass

    def off_a(self, mass: Any, rest: Any) -> Any:
        """Return the value m of kind A off S, from the mass of S and the mass of the other symbols."""
        return self.left_by(mass) / (rest + self.u)

    def whole_a(self, mass: Any) -> tuple[Any, Any]:
        """Return the values of kind A on S and off it, both times ``1 - P(S) + u``."""
        return self.c * (1 - mass + self.u), self.left_by(mass)

    def mass_of_whole_a(self, mass: Any) -> Any:
        """Return the mass of kind A times ``1 - P(S) + u``."""
        return (1 - mass) + self.c * mass * self.u

    def between_b(self, mass: Any, own: Any) -> Any:
        """Return the value x of kind B, from the mass of S and that of the fractional symbol."""
        return self.left_by(mass) / own

    def top_c(self, support: Any) -> Any:
        """Return the value ``alpha e (b - t)`` of kind C on S, from the mass b of S and S' together."""
        return self.slope * (support - self.t)


def numbers_of(ball: Ball) -> dict[str, float]:
    """Return t, u and alpha of a ball as floats, each rounded once.

    Examples
    --------
    >>> from mechdesign.uncertainty import RelativeBall
    >>> numbers_of(RelativeBall(["0.5", "0.5"], "1.25", "0.25"))
    {'t': 0.2, 'u': 0.0, 'alpha': 1.25}
    """
    alpha, gamma = ball.line
    return {"t": float(gamma / alpha), "u": float((1 + gamma) / alpha - 1), "alpha": float(alpha)}


def greatest_near(utility: FInformation, value: Floats, error: Floats | float) -> Floats:
    """Return the greatest f within an error of each value.

    Examples
    --------
    >>> from mechdesign.utility import ChiSquare
    >>> greatest_near(ChiSquare(), np.array([0.0, 2.0]), 0.5)
    array([1.  , 2.25])
    """
    return greatest_between(utility, value - error, value + error)


def greatest_between(utility: FInformation, low: Floats, high: Floats) -> Floats:
    """Return the greatest f of intervals, infinite where f overflows at an end: a convex f is greatest at an end."""
    below = np.asarray(utility.f(np.maximum(low, 0.0)), dtype=float)
    above = np.asarray(utility.f(high), dtype=float)
    return as_bound(np.maximum(below, above))
