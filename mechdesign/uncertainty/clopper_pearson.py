"""How far an empirical distribution may be from the true one: limits of Clopper and Pearson for every set of symbols.

For n samples over N categories fixed beforehand,

    P[ ||P - Phat||_1 > 2 t ] <= (2^N - 2) max over k > n t of P[ Bin(n, k/n - t) >= k ].

This is the union bound over all sets of symbols behind the bound of Weissman et al., without Hoeffding's inequality on
top of it: the radius that it needs is never larger. In terms of the lower limits g_k of Clopper and Pearson at level
``delta / (2^N - 2)``, the half radius is ``max over k of k/n - g_k``. The proofs are in docs/mathematics.md, "Samples
and radii".

Radii, numbers of samples and failure probabilities are on the safe side.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from mechdesign.data.checks import checked_categories, checked_delta, checked_samples
from mechdesign.numerics.exact import arb_of, float_up, working_precision
from mechdesign.uncertainty.binomial_tail import FEW_SAMPLES, bits_for, least_excess, log_worst_tail
from mechdesign.uncertainty.concentration import (
    RADIUS_STEPS,
    least_whole,
    log_failure_ball,
    log_subsets,
    samples_ball,
    weissman_radius_exact,
)

_PHI = 2  # of the bound of Weissman et al. where nothing is known of the true prior
_TRIES = 8  # so many steps along lines, then one bisection


def clopper_pearson_radius_exact(samples: int, categories: int, delta: object) -> Fraction:
    """Return the radius of the l1 ball that holds the true distribution with probability 1 - delta, rounded up.

    It is the least multiple of 1e-15 with ``(2^N - 2) max_k P[Bin(n, k/n - t) >= k] <= delta`` for t = radius/2, which
    is proved in ball arithmetic. It is never larger than `weissman_radius_exact`. Only where t would be below
    ``1 / (4 floor(sqrt(n)))`` for more than 256 samples, which takes two categories and a delta above 0.6, it is that
    instead.

    Parameters
    ----------
    samples : int
        Number n of independent samples, at least 1.
    categories : int
        Number N of categories, at least 2.
    delta : number or str
        Probability of failure in [0, 1); 0 gives radius 2.

    Raises
    ------
    InputError
        For a value outside these ranges.

    Examples
    --------
    >>> clopper_pearson_radius_exact(48842, 16, "1e-9")
    Fraction(34390475652847, 1000000000000000)
    """
    n, N, probability = checked_samples(samples), checked_categories(categories), checked_delta(delta)
    if probability == 0:
        return Fraction(2)
    with working_precision(bits_for(n)):
        level = arb_of(probability).log() - log_subsets(N)

        def margin(steps: int) -> tuple[bool, float]:
            return _margin(n, Fraction(steps, 2 * RADIUS_STEPS), level)

        low = math.ceil(2 * RADIUS_STEPS * least_excess(n)) - 1 if n > FEW_SAMPLES else 0
        high = int(weissman_radius_exact(n, N, probability) * RADIUS_STEPS)
        return Fraction(_least(margin, low, high), RADIUS_STEPS)


def clopper_pearson_radius(samples: int, categories: int, delta: object) -> float:
    """Return `clopper_pearson_radius_exact` as a float, rounded up.

    Examples
    --------
    >>> round(clopper_pearson_radius(48842, 16, 1e-9), 8)
    0.03439048
    """
    return float_up(clopper_pearson_radius_exact(samples, categories, delta))


def clopper_pearson_samples(categories: int, delta: Fraction, excess: Fraction) -> int:
    """Return a number of samples for which a half radius holds with this failure probability, and one less does not.

    It is at most the least number for the bound of Weissman et al.

    Parameters
    ----------
    categories : int
        Number N of categories, at least 2.
    delta : Fraction
        Probability of failure in (0, 1).
    excess : Fraction
        Half of the l1 radius, in (0, 1).

    Raises
    ------
    InputError
        If the bound of Weissman et al. would take more than 10^15 samples.
    """
    with working_precision():
        most = least_whole(samples_ball(categories, delta, 2 * arb_of(excess), _PHI))
    with working_precision(bits_for(most)):
        level = arb_of(delta).log() - log_subsets(categories)
        return _least(lambda samples: _margin(samples, excess, level), 0, most)


def log_failure(samples: int, categories: int, excess: Fraction) -> Any:
    """Return the logarithm of the bound at a half radius in (0, 1), as a ball; it may be above 0."""
    with working_precision(bits_for(samples)):
        worst = log_worst_tail(samples, excess)
        if worst is None:
            return log_failure_ball(samples, categories, 2 * arb_of(excess), _PHI)
        return log_subsets(categories) + worst


def _margin(samples: int, excess: Fraction, level: Any) -> tuple[bool, float]:
    """Return whether the worst tail is proved to be at most the level, and the difference of their logarithms."""
    if excess >= 1:
        return True, -math.inf
    worst = log_worst_tail(samples, excess)
    if worst is None:
        return False, math.inf
    return bool(worst <= level), float((worst - level).mid())


def _least(margin: Callable[[int], tuple[bool, float]], low: int, high: int) -> int:
    """Return a number above ``low`` that passes while the one below it does not, or is ``low``.

    Parameters
    ----------
    margin : callable
        For a number, whether it passes, and a float that is about 0 where this changes.
    low, high : int
        The second passes.
    """
    seen: list[tuple[int, float]] = []
    tries = 0
    guess = high - 1
    while high - low > 1:
        here = min(max(guess, low + 1), high - 1)
        passes, excess = margin(here)
        low, high = (low, here) if passes else (here, high)
        seen = [*seen[-1:], (here, excess)]
        tries += 1
        guess = _crossing(seen) if tries % _TRIES and len(seen) > 1 else (low + high) // 2
    return high


def _crossing(seen: list[tuple[int, float]]) -> int:
    """Return where the line through two margins is 0."""
    (k0, d0), (k1, d1) = seen
    step = d1 * (k1 - k0) / (d0 - d1) if d0 != d1 else 0.0
    return k1 + math.floor(step) if math.isfinite(step) else k1
