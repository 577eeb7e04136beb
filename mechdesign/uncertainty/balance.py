"""How evenly a prior can be split in two, which decides how fast its empirical distribution converges.

ED eq. (15) and (16): ``phi(kappa)`` is the factor in the exponent of the bound of Weissman et al. It is 2 for a prior
under which some set of categories has mass 1/2, and grows without bound as one category takes all the mass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from mechdesign.errors import InputError, shorten
from mechdesign.numerics.exact import arb_of, float_up, lower, over_common_denominator, rational, working_precision
from mechdesign.numerics.half_sets import half_sum
from mechdesign.uncertainty.prior_set import exact_prior

_HALF = Fraction(1, 2)


def _half_mass(value: object) -> Fraction:
    mass = rational(value, "the mass")
    if not 0 <= mass <= _HALF:
        raise InputError.out_of_range(f"the mass is {shorten(value)}; accepted: 0 to 1/2")
    return mass


def phi_ball(p: Fraction) -> Any:
    """Return phi(p) as a ball at the working precision, for p in [0, 1/2]."""
    if p == 0:
        return arb.pos_inf()
    if p == _HALF:
        return arb_of(2)
    # log((1 - p)/p) as log1p keeps its relative precision near 1/2, where numerator and denominator vanish together.
    return arb_of((1 - 2 * p) / p).log1p() / arb_of(1 - 2 * p)


def phi(p: object) -> float:
    """Return ``phi(p) = log((1 - p)/p) / (1 - 2p)``, rounded down (ED eq. 15).

    It falls from infinity at 0 to 2 at 1/2. A smaller phi gives a larger radius, so rounding down is the safe side.

    Parameters
    ----------
    p : number or str
        A mass in [0, 1/2].

    Raises
    ------
    InputError
        For a number outside [0, 1/2].

    Examples
    --------
    >>> phi(0.5), phi(0), round(phi(0.1), 12)
    (2.0, inf, 2.74653072167)
    """
    mass = _half_mass(p)
    if mass == 0:
        return math.inf
    with working_precision():
        return max(2.0, -float_up(-lower(phi_ball(mass))))


@dataclass(frozen=True)
class Kappa:
    """The greatest mass of a set of categories that is at most 1/2.

    Attributes
    ----------
    value : Fraction
        kappa, or an upper bound of it, in [0, 1/2]. A larger kappa gives a larger radius, so an upper bound is safe.
    exact : bool
        Whether the value is kappa itself.

    Raises
    ------
    InputError
        For a value outside [0, 1/2].
    """

    value: Fraction
    exact: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", _half_mass(self.value))

    def within(self, radius: object) -> Kappa:
        """Return a bound for every prior within an l1 distance of this one.

        The masses of a set under P and Q differ by at most half of their distance, so
        ``kappa(Q) <= kappa(P) + |Q - P|_1 / 2``.

        Parameters
        ----------
        radius : number or str
            l1 distance, at least 0.

        Examples
        --------
        >>> kappa([0.9, 0.1]).within("0.1")
        Kappa(value=Fraction(3, 20), exact=False)
        """
        distance = rational(radius, "the radius")
        if distance < 0:
            raise InputError.radius_out_of_range(f"the radius is {shorten(radius)}; accepted: 0 or more")
        if distance == 0:
            return self
        return Kappa(min(_HALF, self.value + distance / 2), exact=False)


def kappa(prior: Sequence[object]) -> Kappa:
    """Return ``kappa(P) = max over sets A of min(P(A), 1 - P(A))``, in [0, 1/2] (ED eq. 16).

    This is a partition problem. It is solved exactly for priors that are counts over a total of up to 8e9/N, for
    priors of at most 40 positive probabilities, and for priors with a probability of at least 1/2. For others the
    result is the upper bound 1/2, marked as not exact.

    Parameters
    ----------
    prior : sequence of N numbers
        Weights whose sum differs from 1 by at most 1e-9.

    Raises
    ------
    InputError
        If the prior is not a distribution.

    Examples
    --------
    >>> kappa([0.6, 0.3, 0.1])
    Kappa(value=Fraction(2, 5), exact=True)
    """
    weights, _ = over_common_denominator(exact_prior(prior))
    nearest = half_sum(weights)
    return Kappa(_HALF, exact=False) if nearest is None else Kappa(Fraction(nearest, sum(weights)), exact=True)
