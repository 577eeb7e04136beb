"""From the epsilon a mechanism is designed for at the estimate to what it guarantees at the true distribution.

ED Section IV-D. A mechanism that is epsilon-PML for an estimate from n samples over N categories is epsilon'-PML for
the true distribution with probability 1 - delta, where (eq. 38, with beta from eq. 37)

    exp(-epsilon') = exp(-epsilon) - beta/2,    beta = sqrt( (2/n) (log(2^N - 2) - log delta) ).

So n, epsilon, epsilon' and delta determine each other; eq. (39) is the same relation, solved for delta. It rests on
the bound ``h(v) >= <P, v> - (beta/2) max v``, which is that of ED Theorem 4 for k > 1. This one holds in every privacy
region and for every radius: the paper's assumption beta < 2 min P is not needed for it. In the first region, where
``exp(epsilon) (1 - min P) <= 1``, the bound of Theorem 4 for k = 1 is smaller, but needs min P.

The leakage is the maximum over all symbols, also those that no sample has, as in `leakage`. If it is taken over the
support of the estimate only, Corollary 3 does not hold for estimates with zeros, which its assumptions exclude: if all
samples are the same symbol, releasing the data would be 0-PML.

This module computes numbers only. All are rounded to the safe side: epsilon' and delta up, the epsilon to design for
down.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.data.checks import checked_categories, checked_delta, checked_samples
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import arb_of, lower, upper, working_precision
from mechdesign.numerics.outward import printed_above
from mechdesign.uncertainty.concentration import (
    least_whole,
    log_failure_ball,
    probability_above,
    radius_ball,
    samples_ball,
    weissman_radius,
)

__all__ = ["Plan", "delta_min", "design_epsilon", "guaranteed_epsilon", "plan", "samples_for"]

_PHI = 2  # a lower bound of phi for every true distribution


def _inverse_exp(epsilon: Epsilon) -> Any:
    """Return exp(-epsilon) as a ball at the working precision."""
    if epsilon.power is not None:
        return arb_of(1 / epsilon.power)
    return (-arb_of(epsilon.exponent or 0)).exp()


def _allowed_radius(epsilon: Epsilon, guaranteed: Epsilon) -> Any:
    """Return the l1 radius within which epsilon at the center guarantees epsilon', as a ball."""
    return 2 * (_inverse_exp(epsilon) - _inverse_exp(guaranteed))


def delta_min(epsilon: object, guaranteed: object, samples: int, categories: int) -> float:
    """Return the probability with which the leakage may exceed epsilon', rounded up (ED Corollary 3, eq. 39).

    ``(2^N - 2) exp(-2 n (exp(-epsilon) - exp(-epsilon'))^2)``, capped at 1. At 1 the bound is vacuous, as it is for
    every epsilon' up to epsilon.

    Parameters
    ----------
    epsilon : number, str or Epsilon
        What the mechanism is designed for at the estimate, in nats.
    guaranteed : number, str or Epsilon
        epsilon', in nats.
    samples : int
        Number n of independent samples behind the estimate, 1 to 10^15.
    categories : int
        Number N of categories, at least 2.

    Raises
    ------
    InputError
        For a value outside these ranges.

    Examples
    --------
    >>> delta = delta_min("log(5)", "log(8)", 5000, 20)
    >>> f"{delta:.6e}"
    '3.904222e-19'
    >>> delta_min(1, 1, 5000, 20)
    1.0
    """
    design, target = Epsilon.of(epsilon), Epsilon.of(guaranteed)
    n, N = checked_samples(samples), checked_categories(categories)
    with working_precision():
        radius = _allowed_radius(design, target)
        # For epsilon' below epsilon the radius is negative; its square in eq. (39) would give a bound that is false.
        return probability_above(log_failure_ball(n, N, radius, _PHI)) if radius > 0 else 1.0


def guaranteed_epsilon(epsilon: object, delta: object, samples: int, categories: int) -> float:
    """Return epsilon', which the leakage exceeds with probability at most delta, rounded up (ED eq. 38).

    Infinite where the bound is vacuous: where ``beta exp(epsilon) >= 2``.

    Parameters
    ----------
    epsilon : number, str or Epsilon
        What the mechanism is designed for at the estimate, in nats.
    delta : number or str
        Probability of failure in [0, 1); with 0 nothing is guaranteed.
    samples, categories : int
        As in `delta_min`.

    Raises
    ------
    InputError
        For a value outside these ranges.

    Examples
    --------
    >>> round(guaranteed_epsilon("log(5)", 1e-5, 10000, 20), 6)
    1.805575
    >>> guaranteed_epsilon("log(5)", 1e-5, 100, 20)
    inf
    """
    design, probability = Epsilon.of(epsilon), checked_delta(delta)
    n, N = checked_samples(samples), checked_categories(categories)
    if probability == 0:
        return math.inf
    with working_precision():
        left = _inverse_exp(design) - radius_ball(n, N, probability, _PHI) / 2
        return printed_above(upper(-left.log())) if left > 0 else math.inf


def samples_for(epsilon: object, guaranteed: object, delta: object, categories: int) -> int:
    """Return the least number of samples with which epsilon at the estimate guarantees epsilon' (ED Corollary 3).

    Parameters
    ----------
    epsilon, guaranteed : number, str or Epsilon
        As in `delta_min`; epsilon' must be above epsilon.
    delta : number or str
        Probability of failure in (0, 1).
    categories : int
        Number N of categories, at least 2.

    Raises
    ------
    InputError
        If no number of samples is enough, or it would take more than 10^15.

    Examples
    --------
    >>> samples_for("log(5)", "log(8)", 1e-5, 20)
    2256
    >>> delta_min("log(5)", "log(8)", 2256, 20) <= 1e-5 < delta_min("log(5)", "log(8)", 2255, 20)
    True
    """
    design, target = Epsilon.of(epsilon), Epsilon.of(guaranteed)
    probability, N = checked_delta(delta), checked_categories(categories)
    if probability == 0:
        raise InputError(f"delta is {shorten(delta)}: no number of samples is enough; give a delta above 0")
    with working_precision():
        radius = _allowed_radius(design, target)
        if not radius > 0:
            raise InputError(
                f"the guaranteed epsilon is {target}, with {design} at the estimate: no number of samples is enough; "
                "give a guaranteed epsilon above the one that is designed for"
            )
        return least_whole(samples_ball(N, probability, radius, _PHI))


def design_epsilon(guaranteed: object, delta: object, samples: int, categories: int) -> float:
    """Return the largest epsilon to design for at the estimate that guarantees epsilon', rounded down (ED eq. 38).

    ``epsilon = -log(exp(-epsilon') + beta/2)``.

    Parameters
    ----------
    guaranteed : number, str or Epsilon
        epsilon', in nats.
    delta : number or str
        Probability of failure in (0, 1).
    samples, categories : int
        As in `delta_min`.

    Raises
    ------
    InputError
        If not even epsilon = 0 guarantees epsilon'.

    Examples
    --------
    >>> round(design_epsilon("log(8)", 1e-5, 10000, 20), 6)
    1.828713
    """
    target, probability = Epsilon.of(guaranteed), checked_delta(delta)
    n, N = checked_samples(samples), checked_categories(categories)
    if probability > 0:
        with working_precision():
            largest = lower(-(_inverse_exp(target) + radius_ball(n, N, probability, _PHI) / 2).log())
        if largest >= 0:
            return -printed_above(-largest)
    # The error names the samples that are enough, or the reason why no number of samples is.
    least = samples_for(0, target, delta, N)
    raise InputError(
        f"the guaranteed epsilon is {target}, with delta {shorten(delta)} from {n} samples: not even epsilon = 0 at "
        f"the estimate is enough; give at least {least} samples, a larger delta, or a larger guaranteed epsilon"
    )


@dataclass(frozen=True)
class Plan:
    """Four numbers of which any three give the fourth, for mechanisms designed for an estimate (ED Corollary 3).

    With probability 1 - delta over the samples, a mechanism that is epsilon-PML for the estimate is epsilon'-PML for
    the true distribution. Use `plan` to make one.

    Attributes
    ----------
    categories : int
        Number N of categories.
    samples : int
        Number n of independent samples behind the estimate.
    epsilon : float
        What the mechanism is designed for at the estimate, in nats.
    guaranteed_epsilon : float
        epsilon', in nats; infinite where the bound is vacuous.
    delta : float
        Probability of failure; 1 where the bound is vacuous.
    computed : str
        The name of the attribute that was computed from the other three.
    radius : float or None
        The l1 radius that holds the true distribution with probability 1 - delta (eq. 37); None where delta is 1.
    """

    categories: int
    samples: int
    epsilon: float
    guaranteed_epsilon: float
    delta: float
    computed: str
    radius: float | None

    @property
    def vacuous(self) -> bool:
        """Whether nothing is guaranteed: delta is 1 or epsilon' infinite."""
        return self.delta >= 1 or math.isinf(self.guaranteed_epsilon)


def plan(
    categories: int,
    *,
    samples: int | None = None,
    epsilon: object = None,
    guaranteed: object = None,
    delta: object = None,
) -> Plan:
    """Return the plan that three of four numbers determine.

    The plan has the three given numbers as the floats nearest to them.

    Parameters
    ----------
    categories : int
        Number N of categories, at least 2.
    samples, epsilon, guaranteed, delta : optional
        Exactly three of them, as in `delta_min`, `guaranteed_epsilon`, `samples_for` and `design_epsilon`, which
        compute the fourth.

    Raises
    ------
    InputError
        If not exactly three are given, a value is outside its range, or no fourth number satisfies the relation.

    Examples
    --------
    >>> found = plan(20, epsilon="log(5)", guaranteed="log(8)", delta=1e-5)
    >>> found.computed, found.samples, found.vacuous
    ('samples', 2256, False)
    """
    given = {"samples": samples, "epsilon": epsilon, "guaranteed_epsilon": guaranteed, "delta": delta}
    missing = [name for name, value in given.items() if value is None]
    if len(missing) != 1:
        raise InputError(f"{4 - len(missing)} of {', '.join(given)} are given; give exactly three of these four")
    N = checked_categories(categories)
    n = samples_for(epsilon, guaranteed, delta, N) if samples is None else checked_samples(samples)
    if epsilon is None:
        epsilon = design_epsilon(guaranteed, delta, n, N)
    reached = guaranteed_epsilon(epsilon, delta, n, N) if guaranteed is None else float(Epsilon.of(guaranteed))
    failure: float | Fraction = delta_min(epsilon, guaranteed, n, N) if delta is None else checked_delta(delta)
    return Plan(
        categories=N,
        samples=n,
        epsilon=float(Epsilon.of(epsilon)),
        guaranteed_epsilon=reached,
        delta=float(failure),
        computed=missing[0],
        radius=weissman_radius(n, N, failure) if failure < 1 else None,
    )


def __dir__() -> list[str]:
    return __all__
