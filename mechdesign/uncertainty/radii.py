"""How far an empirical distribution may be from the true one: three bounds, two of them solved for all their numbers.

For n independent samples over N categories fixed beforehand, the bound of Weissman et al. (ED Theorem 2) is

    P[ ||P - Phat||_1 >= beta ] <= (2^N - 2) exp(-n phi beta^2 / 4),

where ``phi = phi(kappa(P)) >= 2`` depends on the true prior P; where P is not known, it holds with phi = 2. Limits of
Clopper and Pearson for every set of categories give

    P[ ||P - Phat||_1 > 2 t ] <= (2^N - 2) max over k > n t of P[ Bin(n, k/n - t) >= k ],

the same union bound without Hoeffding's inequality on top of it: it is never larger than with phi = 2. Once the counts
are known, limits need hold only where the sets of categories were seen: k runs over the sums of the observed counts.
This radius is never larger again, and is the default for counts; before there are counts it cannot be known.
The proofs are in docs/mathematics.md, "Samples and radii". Radii, numbers of samples and probabilities are rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, Protocol

from mechdesign.data.checks import MOST_SAMPLES, checked_categories, checked_delta, checked_radius, checked_samples
from mechdesign.data.counts import checked_counts
from mechdesign.display.numbers import text_near
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.exact import arb_of, float_up, upper, working_precision
from mechdesign.numerics.outward import printed_above
from mechdesign.uncertainty.balance import Kappa, kappa, phi_ball
from mechdesign.uncertainty.binomial_tail import (
    FEW_SAMPLES,
    TRIES,
    TailLevel,
    bits_for,
    crossing,
    exact_worst_tail,
    least_excess,
    log_subsets,
    log_worst_tail,
)
from mechdesign.uncertainty.observed_sums import ObservedSums

Bound = Literal["observed-sums", "clopper-pearson", "weissman"]
OBSERVED_SUMS: Bound = "observed-sums"
CLOPPER_PEARSON: Bound = "clopper-pearson"
WEISSMAN: Bound = "weissman"

_STEPS = 10**15  # radii are multiples of 1/_STEPS
_LEAST_LOG = -750  # of a positive float


class RadiusBound(Protocol):
    """A bound of the probability that a radius does not hold the true distribution, and its solutions.

    The radius is above 0 and below 2, and delta above 0 and below 1.
    """

    def __hash__(self) -> int:
        """Radii are held by the bound that they are of."""
        ...

    def failure(self, samples: int, categories: int, radius: Fraction) -> float:
        """Return the bound, at most 1, rounded up."""
        ...

    def radius(self, samples: int, categories: int, delta: Fraction) -> Fraction:
        """Return the radius at which the bound is delta, rounded up to a multiple of 1e-15, at most 2."""
        ...

    def radius_ball(self, samples: int, categories: int, delta: Fraction) -> Any:
        """Return the radius as a ball at the working precision, not rounded where it has a formula, without a cap."""
        ...

    def samples(self, categories: int, delta: Fraction, radius: Fraction) -> int:
        """Return a number of samples at which the bound is at most delta, while for one less it is not."""
        ...


@dataclass(frozen=True)
class Weissman:
    """The bound of Weissman et al. for a kappa of the true prior, or an upper bound of it."""

    mass: Fraction = Fraction(1, 2)

    def failure(self, samples: int, categories: int, radius: Fraction) -> float:
        """Return ED eq. (17)."""
        if self.mass == 0:
            return 0.0  # every sample is the only category of positive probability
        with working_precision():
            exponent = samples * phi_ball(self.mass) * arb_of(radius) ** 2 / 4
            return _probability_above(log_subsets(categories) - exponent)

    def radius(self, samples: int, categories: int, delta: Fraction) -> Fraction:
        """Return ED eq. (20); without a prior it is eq. (37)."""
        with working_precision():
            radius = upper(self.radius_ball(samples, categories, delta))
        return min(Fraction(2), Fraction(math.ceil(radius * _STEPS), _STEPS))

    def radius_ball(self, samples: int, categories: int, delta: Fraction) -> Any:
        """Return ``sqrt(4 (log(2^N - 2) - log delta) / (n phi))``."""
        return (4 * (log_subsets(categories) - arb_of(delta).log()) / (samples * phi_ball(self.mass))).sqrt()

    def samples(self, categories: int, delta: Fraction, radius: Fraction) -> int:
        """Return the least number of samples at which ED eq. (20) is at most this radius."""
        with working_precision():
            # The radius falls as one over the root of the samples.
            needed = self.radius_ball(1, categories, delta) ** 2 / arb_of(radius) ** 2
            if not needed <= MOST_SAMPLES:
                raise InputError.not_enough_samples(
                    f"it would take about {text_near(upper(needed))} samples; accepted: at most 10^15; "
                    "ask for less, or give a larger delta"
                )
            return max(1, math.ceil(upper(needed)))


@dataclass(frozen=True)
class ClopperPearson:
    """The union of the worst tails of all sets of categories.

    In terms of the lower limits g_k of Clopper and Pearson at level ``delta / (2^N - 2)``, the half radius is ``max
    over k of k/n - g_k``. Where the place of the worst tail is not proved, which takes two categories and a delta above
    0.6, it is the bound of Weissman et al. instead.
    """

    def failure(self, samples: int, categories: int, radius: Fraction) -> float:
        """Return the worst tail for t = radius/2, times ``2^N - 2``."""
        with working_precision(bits_for(samples)):
            worst = log_worst_tail(samples, radius / 2)
            if worst is None:
                return Weissman().failure(samples, categories, radius)
            return _probability_above(log_subsets(categories) + worst)

    def radius(self, samples: int, categories: int, delta: Fraction) -> Fraction:
        """Return the least multiple of 1e-15 at which the bound is proved to be at most delta."""
        return self.radius_at(samples, categories, delta)

    def radius_at(self, samples: int, categories: int, delta: Fraction, seen: ObservedSums | None = None) -> Fraction:
        """Return the radius where the sets of categories were seen this often; without it, however often they were."""
        excess = least_excess(samples) if seen is None else Fraction(2, samples)
        low = math.ceil(2 * _STEPS * excess) - 1 if samples > FEW_SAMPLES else 0
        high = int(Weissman().radius(samples, categories, delta) * _STEPS)
        with working_precision(bits_for(samples)):
            level = TailLevel.of(delta, categories)
            least = _least(lambda steps: _margin(samples, Fraction(steps, 2 * _STEPS), level, seen), low, high)
        return Fraction(least, _STEPS)

    def radius_ball(self, samples: int, categories: int, delta: Fraction) -> Any:
        """Return the multiple as a ball."""
        return arb_of(_radius(samples, categories, delta, self))

    def samples(self, categories: int, delta: Fraction, radius: Fraction) -> int:
        """Return such a number; no smaller one was seen to be enough, and no larger one not to be: not proved."""
        most = Weissman().samples(categories, delta, radius)
        with working_precision(bits_for(most)):
            level = TailLevel.of(delta, categories)
            return _least(lambda samples: _margin(samples, radius / 2, level), 0, most)


BOUNDS: Mapping[Bound, RadiusBound] = MappingProxyType({CLOPPER_PEARSON: ClopperPearson(), WEISSMAN: Weissman()})
"""The bounds that need no counts."""


def checked_bound(value: object, prior: object = None) -> Bound:
    """Return the name of a bound; None is Clopper and Pearson's, and beside a true prior Weissman's, which uses it.

    Raises
    ------
    InputError
        For another name, for that of observed sums, which takes counts, and for the bound of Clopper and Pearson
        beside a true prior.

    Examples
    --------
    >>> checked_bound(None), checked_bound("weissman")
    ('clopper-pearson', 'weissman')
    """
    if value is None:
        return CLOPPER_PEARSON if prior is None else WEISSMAN
    for bound in BOUNDS:
        if isinstance(value, str) and value == bound:
            if bound == CLOPPER_PEARSON and prior is not None:
                raise InputError.needless_argument(
                    "the bound clopper-pearson uses no prior; leave the prior out, or give weissman"
                )
            return bound
    counted = "; observed-sums is a bound of counts, and there are none here" if value == OBSERVED_SUMS else ""
    raise InputError.unknown_choice(f"the bound is {shorten(value)}; accepted: {', '.join(BOUNDS)}{counted}")


def radius_exact(
    samples: int, categories: int, delta: object, prior: Sequence[object] | Kappa | None = None, *, bound: object = None
) -> Fraction:
    """Return the radius of the l1 ball that holds the true distribution with probability 1 - delta, rounded up.

    It is a multiple of 1e-15, and at most 2, where the ball is the whole simplex. Arguments and errors are those of
    `weissman_radius` and `failure_probability`.

    Examples
    --------
    >>> radius_exact(48842, 16, "1e-9"), radius_exact(48842, 16, "1e-9", bound="weissman")
    (Fraction(34390475652847, 1000000000000000), Fraction(36093136128199, 1000000000000000))
    """
    name, n, N = checked_bound(bound, prior), checked_samples(samples), checked_categories(categories)
    return _radius(n, N, checked_delta(delta), _chosen(name, prior, N))


@lru_cache(maxsize=1024)
def _radius(samples: int, categories: int, delta: Fraction, bound: RadiusBound) -> Fraction:
    """Return the radius, which takes milliseconds; files of one table of counts have it in common."""
    return bound.radius(samples, categories, delta) if delta else Fraction(2)


def _chosen(name: Bound, prior: Sequence[object] | Kappa | None, categories: int) -> RadiusBound:
    if prior is None:
        return BOUNDS[name]
    if isinstance(prior, Kappa):
        return Weissman(prior.value)
    found = Weissman(kappa(prior).value)
    if len(prior) != categories:
        raise InputError.wrong_size(
            f"the prior has {len(prior)} probabilities; accepted: {categories}, one for each category"
        )
    return found


def weissman_radius(
    samples: int, categories: int, delta: object, prior: Sequence[object] | Kappa | None = None
) -> float:
    """Return the l1 radius by the bound of Weissman et al. (ED eq. 20; without a prior eq. 37), rounded up.

    Parameters
    ----------
    samples : int
        Number n of independent samples, at least 1.
    categories : int
        Number N of categories, at least 2.
    delta : number or str
        Probability of failure in [0, 1); 0 gives radius 2.
    prior : sequence of N numbers or Kappa, optional
        The *true* prior, or its kappa, or an upper bound of its kappa. Do not give the estimate instead: the radius may
        then be too small (see `refined_radius`). Without a prior the radius holds for every true prior.

    Raises
    ------
    InputError
        For a value outside these ranges.

    Examples
    --------
    >>> round(weissman_radius(48842, 16, 1e-9), 10)
    0.0360931361
    >>> weissman_radius(48842, 16, 0)
    2.0
    >>> round(weissman_radius(1000, 3, 1e-9, prior=[0.9, 0.06, 0.04]), 10)
    0.1810814589
    """
    return float_up(radius_exact(samples, categories, delta, prior, bound=WEISSMAN))


def clopper_pearson_radius(samples: int, categories: int, delta: object) -> float:
    """Return the l1 radius by limits of Clopper and Pearson, rounded up; `weissman_radius` is never smaller.

    Parameters and errors are those of `weissman_radius`.

    Examples
    --------
    >>> round(clopper_pearson_radius(48842, 16, 1e-9), 8)
    0.03439048
    """
    return float_up(radius_exact(samples, categories, delta, bound=CLOPPER_PEARSON))


def refined_radius(counts: Mapping[Any, Any] | Sequence[object], delta: object) -> float:
    """Return an l1 radius that depends on how uneven the estimate is, rounded up.

    Its ball holds the true prior with probability 1 - delta, like that of `weissman_radius`, and is never larger. ED
    eq. (20) needs kappa of the true prior P. With probability 1 - delta the distance r of P and the estimate is below
    the radius beta of eq. (20) for that kappa, which is at most ``kappa(Phat) + r/2``. So on this event
    ``r < beta(kappa(Phat) + r/2)``, and a bound of r gives a smaller one. The iteration starts at the radius for
    phi = 2 and ends when the bound no longer falls. It uses no further part of delta.

    Parameters
    ----------
    counts : mapping from label to count, or sequence of counts
        How often each of the N categories, fixed beforehand, was seen in independent samples.
    delta : number or str
        Probability of failure in [0, 1); 0 gives radius 2.

    Raises
    ------
    InputError
        For counts that are not accepted, or a delta outside [0, 1).

    Examples
    --------
    >>> round(refined_radius([900, 60, 40], 1e-9), 10), round(weissman_radius(1000, 3, 1e-9), 10)
    (0.197271545, 0.2122028525)
    """
    _, checked = checked_counts(counts)
    n, N, probability = checked_samples(sum(checked)), len(checked), checked_delta(delta)
    center = kappa([Fraction(count, n) for count in checked])
    radius = _radius(n, N, probability, Weissman())
    # Each step is a multiple of 1e-15, and the steps shrink geometrically.
    while (smaller := _radius(n, N, probability, Weissman(center.within(radius).value))) < radius:
        radius = smaller
    return float_up(radius)


def failure_probability(
    samples: int,
    categories: int,
    radius: object,
    prior: Sequence[object] | Kappa | None = None,
    *,
    bound: object = None,
) -> float:
    """Return the probability with which the true distribution may lie outside a radius, rounded up.

    Parameters
    ----------
    samples : int
        Number n of independent samples, at least 1.
    categories : int
        Number N of categories, at least 2.
    radius : number or str
        l1 radius, at least 0. The distance of two distributions is at most 2.
    prior : sequence of N numbers or Kappa, optional
        The *true* prior, or its kappa, for the bound of Weissman et al. (ED Theorem 2).
    bound : str, optional
        ``"clopper-pearson"``, the default without a prior, or ``"weissman"`` (ED eq. 17).

    Raises
    ------
    InputError
        For a value outside these ranges.

    Examples
    --------
    >>> f"{failure_probability(1000, 3, 0.2):.3e}", f"{failure_probability(1000, 3, 0.2, bound='weissman'):.3e}"
    ('8.926e-10', '1.237e-08')
    """
    name, n, N = checked_bound(bound, prior), checked_samples(samples), checked_categories(categories)
    beta, chosen = checked_radius(radius), _chosen(name, prior, N)
    if beta == 0 or beta >= 2:
        return float(beta == 0)
    return chosen.failure(n, N, beta)


def required_samples(
    categories: int,
    delta: object,
    radius: object,
    prior: Sequence[object] | Kappa | None = None,
    *,
    bound: object = None,
) -> int:
    """Return a number of samples for which the radius holds with this failure probability, and does not for one less.

    For the bound of Weissman et al. it is the least such number. For that of Clopper and Pearson no smaller number was
    seen to be enough, and no larger one not to be, but that is not proved.

    Parameters
    ----------
    categories : int
        Number N of categories, at least 2.
    delta : number or str
        Probability of failure in (0, 1).
    radius : number or str
        l1 radius, above 0.
    prior, bound
        As in `failure_probability`.

    Raises
    ------
    InputError
        For a value outside these ranges, or if it would take more than 10^15 samples.

    Examples
    --------
    >>> required_samples(16, 1e-9, "0.05"), required_samples(16, 1e-9, "0.05", bound="weissman")
    (23118, 25451)
    """
    name, N = checked_bound(bound, prior), checked_categories(categories)
    probability, beta, chosen = checked_delta(delta), checked_radius(radius), _chosen(name, prior, N)
    if beta >= 2:
        return 1
    if probability == 0 or beta == 0:
        raise InputError.not_enough_samples(
            f"delta {shorten(delta)} with radius {shorten(radius)}: no number of samples is enough; "
            "give a delta and a radius above 0"
        )
    return chosen.samples(N, probability, beta)


def _probability_above(log_probability: Any) -> float:
    """Return the exponential of a ball as a probability, rounded up: at most 1, and never 0."""
    if log_probability < _LEAST_LOG:
        # The exact exponential could have more digits than fit in memory.
        return math.nextafter(0.0, 1.0)
    if not log_probability < 0:
        return 1.0
    return min(1.0, printed_above(upper(log_probability.exp())))


def _margin(samples: int, excess: Fraction, level: TailLevel, seen: ObservedSums | None = None) -> tuple[bool, float]:
    """Return whether the worst tail is proved to be at most the level; and the difference of their logarithms."""
    if excess >= 1:
        return True, -math.inf
    worst = log_worst_tail(samples, excess, seen)
    if worst is None:
        return False, math.inf
    passes = bool(worst <= level.log)
    if samples <= FEW_SAMPLES and not passes and not worst > level.log:  # balls cannot tell that both are equal
        passes = level.holds(exact_worst_tail(samples, excess, seen))
    return passes, float((worst - level.log).mid())


def _least(margin: Callable[[int], tuple[bool, float]], low: int, high: int) -> int:
    """Return a number above ``low`` that passes while the one below it does not, or is ``low``.

    Parameters
    ----------
    margin : callable
        For a number, whether it passes, and a float that is about 0 where this changes.
    low, high : int
        The second passes.
    """
    before, tries = None, 0
    guess = high - 1
    while high - low > 1:  # halved in one of so many steps
        place = min(max(guess, low + 1), high - 1)
        passes, excess = margin(place)
        low, high = (low, place) if passes else (place, high)
        tries += 1
        guess = crossing(before, (place, excess)) if before and tries % TRIES else (low + high) // 2
        before = (place, excess)
    return high
