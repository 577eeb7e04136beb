"""From the epsilon a mechanism is designed for at the estimate to what it guarantees at the true distribution.

ED Section IV-D. A mechanism that is epsilon-PML for an estimate from n samples over N categories is epsilon'-PML for
the true distribution with probability 1 - delta, where (eq. 38)

    exp(-epsilon') = exp(-epsilon) - beta/2,

and beta is an l1 radius that holds the true distribution with probability 1 - delta. The paper takes that of Weissman
et al., ``beta = sqrt( (2/n) (log(2^N - 2) - log delta) )`` (eq. 37). That of Clopper and Pearson is never larger: it is
the default here, and `bound="weissman"` is the paper's.

So n, epsilon, epsilon' and delta determine each other; eq. (39) is the same relation, solved for delta. It rests on
the bound ``h(v) >= <P, v> - (beta/2) max v``, which is that of ED Theorem 4 for k > 1. This one holds in every privacy
region and for every radius: the paper's assumption beta < 2 min P is not needed for it. In the first region, where
``exp(epsilon) (1 - min P) <= 1``, the bound of Theorem 4 for k = 1 is smaller, but needs min P.

The leakage is the maximum over all categories, also those that no sample has, as in `leakage`. If it is taken over the
support of the estimate only, Corollary 3 does not hold for estimates with zeros, which its assumptions exclude: if all
samples are the same category, releasing the data would be 0-PML.

This module computes numbers only. All are rounded to the safe side: epsilon' and delta up, the epsilon to design for
down.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.data.checks import checked_categories, checked_delta, checked_samples
from mechdesign.display.frames import labelled_frame
from mechdesign.display.html import table
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import arb_of, float_up, lower, upper, working_precision
from mechdesign.numerics.outward import printed_above
from mechdesign.uncertainty.radii import BOUNDS, Bound, checked_bound, radius_exact

__all__ = ["Plan", "delta_min", "design_epsilon", "guaranteed_epsilon", "plan", "samples_for"]


def _inverse_exp(epsilon: Epsilon) -> Any:
    """Return exp(-epsilon) as a ball at the working precision."""
    if epsilon.power is not None:
        return arb_of(1 / epsilon.power)
    return (-arb_of(epsilon.exponent or 0)).exp()


def _allowed_radius(epsilon: Epsilon, guaranteed: Epsilon) -> Any:
    """Return the l1 radius within which epsilon at the center guarantees epsilon', as a ball."""
    return 2 * (_inverse_exp(epsilon) - _inverse_exp(guaranteed))


def delta_min(epsilon: object, guaranteed: object, samples: int, categories: int, *, bound: object = None) -> float:
    """Return the probability with which the leakage may exceed epsilon', rounded up (ED Corollary 3).

    With ``t = exp(-epsilon) - exp(-epsilon')`` it is ``(2^N - 2) max over k > n t of P[Bin(n, k/n - t) >= k]``, and
    with ``bound="weissman"`` ``(2^N - 2) exp(-2 n t^2)`` (eq. 39); capped at 1. At 1 the bound is vacuous, as it is
    for every epsilon' up to epsilon.

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
    bound : str, optional
        ``"clopper-pearson"``, the default, or ``"weissman"``, which is the paper's.

    Raises
    ------
    InputError
        For a value outside these ranges.

    Examples
    --------
    >>> delta = delta_min("log(5)", "log(8)", 5000, 20, bound="weissman")
    >>> f"{delta:.6e}", f"{delta_min('log(5)', 'log(8)', 5000, 20):.6e}"
    ('3.904222e-19', '1.576737e-20')
    >>> delta_min(1, 1, 5000, 20)
    1.0
    """
    design, target = Epsilon.of(epsilon), Epsilon.of(guaranteed)
    n, N, chosen = checked_samples(samples), checked_categories(categories), checked_bound(bound)
    with working_precision():
        radius = _allowed_radius(design, target)
        # For epsilon' below epsilon the radius is negative; its square in eq. (39) would give a bound that is false.
        if not radius > 0:
            return 1.0
        return BOUNDS[chosen].failure(n, N, lower(radius))


def guaranteed_epsilon(epsilon: object, delta: object, samples: int, categories: int, *, bound: object = None) -> float:
    """Return epsilon', which the leakage exceeds with probability at most delta, rounded up (ED eq. 38).

    Infinite where the bound is vacuous: where ``beta exp(epsilon) >= 2``.

    Parameters
    ----------
    epsilon : number, str or Epsilon
        What the mechanism is designed for at the estimate, in nats.
    delta : number or str
        Probability of failure in [0, 1); with 0 nothing is guaranteed.
    samples, categories, bound
        As in `delta_min`.

    Raises
    ------
    InputError
        For a value outside these ranges.

    Examples
    --------
    >>> round(guaranteed_epsilon("log(5)", 1e-5, 10000, 20, bound="weissman"), 6)
    1.805575
    >>> round(guaranteed_epsilon("log(5)", 1e-5, 10000, 20), 6)
    1.793423
    >>> guaranteed_epsilon("log(5)", 1e-5, 100, 20)
    inf
    """
    design, probability = Epsilon.of(epsilon), checked_delta(delta)
    n, N, chosen = checked_samples(samples), checked_categories(categories), checked_bound(bound)
    if probability == 0:
        return math.inf
    with working_precision():
        left = _inverse_exp(design) - BOUNDS[chosen].radius_ball(n, N, probability) / 2
        return printed_above(upper(-left.log())) if left > 0 else math.inf


def samples_for(epsilon: object, guaranteed: object, delta: object, categories: int, *, bound: object = None) -> int:
    """Return how many samples are enough for epsilon at the estimate to guarantee epsilon' (ED Corollary 3).

    One sample less is not enough. By the bound of Weissman et al. the number is the least one; by that of Clopper and
    Pearson this is not proved.

    Parameters
    ----------
    epsilon, guaranteed : number, str or Epsilon
        As in `delta_min`; epsilon' must be above epsilon.
    delta : number or str
        Probability of failure in (0, 1).
    categories : int
        Number N of categories, at least 2.
    bound : str, optional
        As in `delta_min`.

    Raises
    ------
    InputError
        If no number of samples is enough, or it would take more than 10^15.

    Examples
    --------
    >>> samples_for("log(5)", "log(8)", 1e-5, 20, bound="weissman"), samples_for("log(5)", "log(8)", 1e-5, 20)
    (2256, 2014)
    """
    design, target = Epsilon.of(epsilon), Epsilon.of(guaranteed)
    probability, N, chosen = checked_delta(delta), checked_categories(categories), checked_bound(bound)
    if probability == 0:
        raise InputError.not_enough_samples(
            f"delta is {shorten(delta)}: no number of samples is enough; give a delta above 0"
        )
    with working_precision():
        radius = _allowed_radius(design, target)
        if not radius > 0:
            raise InputError.not_enough_samples(
                f"the guaranteed epsilon is {target}, with {design} at the estimate: no number of samples is enough; "
                "give a guaranteed epsilon above the one that is designed for"
            )
        return BOUNDS[chosen].samples(N, probability, lower(radius))


def design_epsilon(guaranteed: object, delta: object, samples: int, categories: int, *, bound: object = None) -> float:
    """Return the largest epsilon to design for at the estimate that guarantees epsilon', rounded down (ED eq. 38).

    ``epsilon = -log(exp(-epsilon') + beta/2)``.

    Parameters
    ----------
    guaranteed : number, str or Epsilon
        epsilon', in nats.
    delta : number or str
        Probability of failure in (0, 1).
    samples, categories, bound
        As in `delta_min`.

    Raises
    ------
    InputError
        If not even epsilon = 0 guarantees epsilon'.

    Examples
    --------
    >>> round(design_epsilon("log(8)", 1e-5, 10000, 20, bound="weissman"), 6)
    1.828713
    """
    target, probability = Epsilon.of(guaranteed), checked_delta(delta)
    n, N, chosen = checked_samples(samples), checked_categories(categories), checked_bound(bound)
    if probability > 0:
        with working_precision():
            largest = lower(-(_inverse_exp(target) + BOUNDS[chosen].radius_ball(n, N, probability) / 2).log())
        if largest >= 0:
            return -printed_above(-largest)
    # The error names the samples that are enough, or the reason why no number of samples is.
    least = samples_for(0, target, delta, N, bound=chosen)
    raise InputError.not_enough_samples(
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
        The l1 radius that holds the true distribution with probability 1 - delta; None where delta is 1.
    bound : str
        What the radius is derived by: ``"clopper-pearson"`` or ``"weissman"`` (eq. 37).
    """

    categories: int
    samples: int
    epsilon: float
    guaranteed_epsilon: float
    delta: float
    computed: str
    radius: float | None
    bound: Bound

    def _repr_html_(self) -> str:
        rows = [[name, value, name == self.computed, unit] for name, value, unit in self._quantities()]
        caption = "Plan: the bound is vacuous" if self.vacuous else "Plan"
        return table(["quantity", "value", "computed", "unit"], rows, caption)

    def to_frame(self, library: str | None = None) -> Any:
        """Return the plan as a frame, a row for each quantity: its value, whether it was computed, and its unit.

        Parameters
        ----------
        library : {"pandas", "polars"}, optional
            Whose frame; by default that of the first of the two that is installed.

        Examples
        --------
        >>> plan(20, epsilon="log(5)", guaranteed="log(8)", delta=1e-5).to_frame("polars").rows()[1]
        ('samples', 2014.0, True, '1')
        """
        names, values, units = zip(*self._quantities(), strict=True)
        columns = {"value": values, "computed": [name == self.computed for name in names], "unit": units}
        return labelled_frame("quantity", names, columns, library)

    def _quantities(self) -> list[tuple[str, float | None, str]]:
        return [
            ("categories", float(self.categories), "1"),
            ("samples", float(self.samples), "1"),
            ("epsilon", self.epsilon, "nats"),
            ("guaranteed_epsilon", self.guaranteed_epsilon, "nats"),
            ("delta", self.delta, "1"),
            ("radius", self.radius, "1"),
        ]

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
    bound: object = None,
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
    bound : str, optional
        ``"clopper-pearson"``, the default, or ``"weissman"``, which is the paper's.

    Raises
    ------
    InputError
        If not exactly three are given, a value is outside its range, or no fourth number satisfies the relation.

    Examples
    --------
    >>> found = plan(20, epsilon="log(5)", guaranteed="log(8)", delta=1e-5)
    >>> found.computed, found.samples, found.vacuous
    ('samples', 2014, False)
    """
    given = {"samples": samples, "epsilon": epsilon, "guaranteed_epsilon": guaranteed, "delta": delta}
    missing = [name for name, value in given.items() if value is None]
    if len(missing) != 1:
        raise InputError.conflicting_arguments(
            f"{4 - len(missing)} of {', '.join(given)} are given; give exactly three of these four"
        )
    N, chosen = checked_categories(categories), checked_bound(bound)
    n = samples_for(epsilon, guaranteed, delta, N, bound=chosen) if samples is None else checked_samples(samples)
    if epsilon is None:
        epsilon = design_epsilon(guaranteed, delta, n, N, bound=chosen)
    if guaranteed is None:
        reached = guaranteed_epsilon(epsilon, delta, n, N, bound=chosen)
    else:
        reached = float(Epsilon.of(guaranteed))
    failure: float | Fraction
    failure = delta_min(epsilon, guaranteed, n, N, bound=chosen) if delta is None else checked_delta(delta)
    return Plan(
        categories=N,
        samples=n,
        epsilon=float(Epsilon.of(epsilon)),
        guaranteed_epsilon=reached,
        delta=float(failure),
        computed=missing[0],
        radius=float_up(radius_exact(n, N, failure, bound=chosen)) if failure < 1 else None,
        bound=chosen,
    )


def __dir__() -> list[str]:
    return __all__
