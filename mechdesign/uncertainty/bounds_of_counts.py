"""An l1 radius by limits at the sums of the counts that were observed, and the bounds that counts may have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from mechdesign.data.checks import checked_delta, checked_samples
from mechdesign.data.counts import checked_counts
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.exact import float_up
from mechdesign.uncertainty.observed_sums import ObservedSums
from mechdesign.uncertainty.radii import BOUNDS, CLOPPER_PEARSON, OBSERVED_SUMS, Bound, ClopperPearson

BOUNDS_OF_COUNTS: tuple[Bound, ...] = (OBSERVED_SUMS, *BOUNDS)


def default_bound(*, counted: bool) -> Bound:
    """Return the bound of a radius that nobody chose one for: the sharpest, with counts and without.

    Examples
    --------
    >>> default_bound(counted=True), default_bound(counted=False)
    ('observed-sums', 'clopper-pearson')
    """
    return OBSERVED_SUMS if counted else CLOPPER_PEARSON


def checked_bound_of_counts(value: object) -> Bound:
    """Return the name of a bound of counts, as they were observed; None is the default.

    Raises
    ------
    InputError
        For another name.

    Examples
    --------
    >>> checked_bound_of_counts(None), checked_bound_of_counts("weissman")
    ('observed-sums', 'weissman')
    """
    if value is None:
        return OBSERVED_SUMS
    for bound in BOUNDS_OF_COUNTS:
        if isinstance(value, str) and value == bound:
            return bound
    raise InputError.unknown_choice(f"the bound is {shorten(value)}; accepted: {', '.join(BOUNDS_OF_COUNTS)}")


def observed_radius(counts: Mapping[Any, Any] | Sequence[object], delta: object) -> float:
    """Return the l1 radius by limits of Clopper and Pearson at the sums of the observed counts, rounded up.

    With ``a = delta / (2^N - 2)`` and the lower limits g_k at level a it is twice the greatest ``k/n - g_k`` over the
    numbers k of samples that fell into a set of categories, for all sets that are neither empty nor everything;
    `clopper_pearson_radius` takes the greatest over all k. Its ball holds the true prior with probability 1 - delta,
    since each set leaves its limit with probability a at most, wherever its count falls. The sums of the 16 greatest
    counts are listed, and the others may add anything up to their total. From 257 samples on it is not below 4/n.
    Proof: docs/mathematics.md, "Samples and radii".

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
    >>> from mechdesign.uncertainty.radii import clopper_pearson_radius
    >>> round(observed_radius([900, 60, 40], 1e-9), 10), round(clopper_pearson_radius(1000, 3, 1e-9), 10)
    (0.1411952113, 0.1994442742)
    """
    _, checked = checked_counts(counts)
    checked_samples(sum(checked))
    return float_up(observed_radius_exact(tuple(checked), checked_delta(delta)))


@lru_cache(maxsize=1024)
def observed_radius_exact(counts: tuple[int, ...], delta: Fraction) -> Fraction:
    """Return the radius of `observed_radius`, a multiple of 1e-15, for counts that were checked.

    Examples
    --------
    >>> observed_radius_exact((1, 1), Fraction(1, 2))
    Fraction(366025403784439, 500000000000000)
    """
    if not delta:
        return Fraction(2)
    return ClopperPearson().radius_at(sum(counts), len(counts), delta, ObservedSums.of(counts))
