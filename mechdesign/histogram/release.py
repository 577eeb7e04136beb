"""Release of a histogram: noisy counts in an order that tells nothing more, and the record of their guarantee.

A plan from `mechdesign.histogram.plan` says what noise there is and what it promises; `release` draws it. Counts come
by falling released value, ties by label: never in the order of the input, which may be that of the true counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.counts import checked_count
from mechdesign.data.labels import canonical_labels
from mechdesign.errors import InputError, shorten
from mechdesign.histogram.discrete import above_threshold, half_step_noise
from mechdesign.histogram.discrete_sampler import draw_discrete_gaussian
from mechdesign.histogram.noise import LARGEST_SCALE, Floats, gaussian_noise, laplace_noise
from mechdesign.histogram.plan import plan_csh, plan_discrete, plan_gshm, plan_laplace, plan_top_k
from mechdesign.histogram.record import ReleaseRecord
from mechdesign.histogram.top_k import top_k_counts
from mechdesign.mechanism.sampler import RandomBytes, random_bytes
from mechdesign.numerics.exact import float_up, rounded_text
from mechdesign.numerics.outward import float_above
from mechdesign.uncertainty.l1_ball import L1Ball

Counts = Mapping[Any, Any] | tuple[Iterable[object], Iterable[object]]
Integers = NDArray[np.int64]
T = TypeVar("T")


@dataclass(frozen=True)
class HistogramRelease:
    """Released counts, and what they promise.

    Attributes
    ----------
    counts : dict from str to float or int
        By falling value, ties by label. Multiples of 1/2 where the noise is discrete; whole numbers if rounded.
    record : ReleaseRecord
        The guarantee. It holds nothing that depends on the data but through the counts.
    subtracted : float or None
        The (k+1)-th largest count with noise of its own, where the plan of the top k releases it.
    """

    counts: dict[str, float]
    record: ReleaseRecord
    subtracted: float | None = None


def release(
    counts: Counts,
    plan: ReleaseRecord,
    *,
    rng: np.random.Generator | None = None,
    allow_float_noise: bool = False,
    whole: bool = False,
) -> HistogramRelease:
    """Release a histogram as planned.

    Parameters
    ----------
    counts : mapping from label to count, or pair of columns (labels, counts)
        Whole numbers, 0 or more. For Laplace noise every bin, those of count 0 included; elsewhere zeros make no
        difference.
    plan : ReleaseRecord
        From `plan_laplace`, `plan_gshm`, `plan_csh`, `plan_top_k` or `plan_discrete`.
    rng : numpy.random.Generator, optional
        For experiments; the operating system's secure randomness if left out.
    allow_float_noise : bool
        Needed for continuous noise, which is drawn as floats while its analysis is for real numbers.
    whole : bool
        Clip noisy counts at 0 and round them to whole numbers, as HP does; it costs no privacy.

    Returns
    -------
    HistogramRelease

    Raises
    ------
    InputError
        For counts that are no histogram or have more counters above 0 than the plan speaks of, and for continuous
        noise that is not allowed. A refusal depends on the data: do not publish it.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> plan = plan_discrete(3, epsilon=1, delta="1e-6", sigma=8)
    >>> released = release({"a": 900, "b": 400, "c": 2}, plan, rng=rng)
    >>> list(released.counts), released.record.noise
    (['a', 'b'], 'discrete')
    """
    source = random_bytes(rng)
    check_noise(plan, allowed=allow_float_noise)
    labels, values = checked_histogram(counts)
    if plan.mechanism == "laplace":
        kept, noisy = _laplace(values, plan, source)
    elif plan.mechanism == "gshm":
        kept, noisy = _gshm(values, plan, source)
    else:
        kept, noisy = _correlated(values, plan, source)
    subtracted = _subtracted(values, plan, source) if plan.value_sigma is not None else None
    final: NDArray[Any] = np.rint(np.maximum(noisy, 0)).astype(np.int64) if whole else noisy
    if subtracted is not None and whole:
        subtracted = float(np.rint(max(subtracted, 0)))
    own = "is not released" if subtracted is None else "is released with noise of its own"
    excess = f"less the (k+1)-th largest count, which {own}; " if plan.mechanism == "top-k" else ""
    done = "clipped at 0 and rounded to whole numbers; " if whole else ""
    record = replace(
        plan,
        randomness="the operating system's secure source" if rng is None else "a generator, for experiments only",
        post_processing=f"{excess}{done}sorted by falling value, then by label",
    )
    return HistogramRelease(_in_order(labels, kept, final), record, subtracted)


def release_laplace(
    counts: Counts,
    *,
    epsilon: object = None,
    alpha: object = 0,
    scale: object = None,
    rng: np.random.Generator | None = None,
    allow_float_noise: bool = False,
    whole: bool = False,
) -> HistogramRelease:
    """Release every bin of a histogram with Laplace noise: `release` of `plan_laplace` (HP Theorem 4).

    Parameters
    ----------
    counts
        As for `release`: every bin, those of count 0 included.
    epsilon, alpha, scale
        As for `plan_laplace`. A ball for alpha must have the bins as its labels.
    rng, allow_float_noise, whole
        As for `release`.

    Returns
    -------
    HistogramRelease

    Raises
    ------
    InputError
        As for both, and where alpha times the number of bins is above 1.

    Examples
    --------
    >>> released = release_laplace({"yes": 700, "no": 300}, epsilon=1, alpha="0.2", allow_float_noise=True, whole=True)
    >>> list(released.counts)
    ['yes', 'no']
    """
    plan = plan_laplace(epsilon=epsilon, alpha=alpha, scale=scale)
    if isinstance(alpha, L1Ball):
        check_bins(counts, alpha)
    return release(counts, plan, rng=rng, allow_float_noise=allow_float_noise, whole=whole)


def release_gshm(
    counts: Counts,
    k: int,
    *,
    epsilon: object,
    delta: object = None,
    sigma: object = None,
    tau: object = None,
    rng: np.random.Generator | None = None,
    allow_float_noise: bool = False,
) -> HistogramRelease:
    """Release a histogram in which a user counts in at most k counters: `release` of `plan_gshm` (CSH Algorithm 1).

    Parameters
    ----------
    counts, rng, allow_float_noise
        As for `release`. The contributions of users are not seen here, and must have been bounded before.
    k, epsilon, delta, sigma, tau
        As for `plan_gshm`.

    Returns
    -------
    HistogramRelease

    Raises
    ------
    InputError
        As for both.

    Examples
    --------
    >>> released = release_gshm({"a": 900, "b": 2}, 2, epsilon=1, sigma=8, tau=100, allow_float_noise=True)
    >>> list(released.counts)
    ['a']
    """
    plan = plan_gshm(k, epsilon=epsilon, delta=delta, sigma=sigma, tau=tau)
    return release(counts, plan, rng=rng, allow_float_noise=allow_float_noise)


def release_csh(
    counts: Counts,
    k: int,
    *,
    epsilon: object,
    delta: object = None,
    sigma: object = None,
    tau: object = None,
    rng: np.random.Generator | None = None,
    allow_float_noise: bool = False,
) -> HistogramRelease:
    """Release a histogram with at most k counters above 0: `release` of `plan_csh` (CSH Algorithm 2).

    Parameters
    ----------
    counts, rng, allow_float_noise
        As for `release`.
    k, epsilon, delta, sigma, tau
        As for `plan_csh`.

    Returns
    -------
    HistogramRelease

    Raises
    ------
    InputError
        As for both.

    Examples
    --------
    >>> released = release_csh({"a": 900, "b": 2}, 2, epsilon=1, sigma=8, tau=100, allow_float_noise=True)
    >>> list(released.counts)
    ['a']
    """
    plan = plan_csh(k, epsilon=epsilon, delta=delta, sigma=sigma, tau=tau)
    return release(counts, plan, rng=rng, allow_float_noise=allow_float_noise)


def release_discrete(
    counts: Counts,
    k: int,
    *,
    epsilon: object,
    delta: object = None,
    sigma: object = None,
    tau: object = None,
    rng: np.random.Generator | None = None,
) -> HistogramRelease:
    """Release a histogram with at most k counters above 0 with discrete noise: `release` of `plan_discrete`.

    Parameters
    ----------
    counts, rng
        As for `release`.
    k, epsilon, delta, sigma, tau
        As for `plan_discrete`.

    Returns
    -------
    HistogramRelease

    Raises
    ------
    InputError
        As for both.

    Examples
    --------
    >>> list(release_discrete({"a": 900, "b": 2}, 2, epsilon=1, sigma=8, tau=100).counts)
    ['a']
    """
    plan = plan_discrete(k, epsilon=epsilon, delta=delta, sigma=sigma, tau=tau)
    return release(counts, plan, rng=rng)


def release_top_k(
    counts: Counts,
    k: int,
    *,
    epsilon: object,
    delta: object = None,
    sigma: object = None,
    tau: object = None,
    value_sigma: object = None,
    rng: np.random.Generator | None = None,
) -> HistogramRelease:
    """Release by how much the k largest counts exceed the next, with discrete noise: `release` of `plan_top_k`.

    Parameters
    ----------
    counts, rng
        As for `release`.
    k, epsilon, delta, sigma, tau, value_sigma
        As for `plan_top_k`, which also has continuous noise.

    Returns
    -------
    HistogramRelease

    Raises
    ------
    InputError
        As for both.

    Examples
    --------
    >>> counts = {"a": 9000, "b": 8000, "c": 50, "d": 40}
    >>> list(release_top_k(counts, 2, epsilon=1, delta="1e-6", sigma=8).counts)
    ['a', 'b']
    """
    plan = plan_top_k(k, epsilon=epsilon, delta=delta, sigma=sigma, tau=tau, value_sigma=value_sigma)
    return release(counts, plan, rng=rng)


def checked_histogram(counts: Counts) -> tuple[tuple[str, ...], Integers]:
    """Return labels and counts, after checking that they are a histogram.

    Parameters
    ----------
    counts : mapping from label to count, or pair of columns (labels, counts)
        A pandas Series counts as a mapping.

    Returns
    -------
    labels : tuple of str
    counts : int64 array, shape (number of labels,)

    Raises
    ------
    InputError
        For counts that are negative, fractional or above 10^15, labels that are no labels or occur twice, and columns
        of different lengths.

    Examples
    --------
    >>> checked_histogram({"a": 3, "b": 0})
    (('a', 'b'), array([3, 0]))
    >>> checked_histogram((["a", "b"], [3, 0]))
    (('a', 'b'), array([3, 0]))
    """
    if isinstance(counts, tuple) and len(counts) == 2 and all(map(_is_column, counts)):
        names, values = list[Any](counts[0]), list[Any](counts[1])
        if len(names) != len(values):
            raise InputError(f"there are {len(names)} labels and {len(values)} counts; give one count a label")
    elif isinstance(counts, Mapping):
        names, values = list(counts.keys()), list(counts.values())
    elif not isinstance(counts, tuple) and hasattr(counts, "items"):  # a pandas Series
        pairs = list(counts.items())
        names, values = [label for label, _ in pairs], [value for _, value in pairs]
    else:
        raise InputError(
            f"the counts are {shorten(counts)}; give a mapping from labels to counts, or a pair (labels, counts)"
        )
    labels = canonical_labels(names, len(names))
    if set(map(type, values)) <= {int, np.int64} and (not values or (min(values) >= 0 and max(values) <= 10**15)):
        return labels, np.array(values, dtype=np.int64)
    return labels, np.array([checked_count(v, label) for label, v in zip(labels, values, strict=True)], dtype=np.int64)


def check_noise(plan: ReleaseRecord, *, allowed: bool) -> None:
    """Check that continuous noise, which is drawn as floats, is allowed where it is planned, and that they hold it.

    Raises
    ------
    InputError
        If it is not allowed, or its scale is above 10^14: floats of that size miss whole numbers, or are infinite.
    """
    if plan.noise == "continuous" and not allowed:
        raise InputError(
            f"{plan.mechanism} draws its noise as floats, whose last bits may tell more than the analysis for real "
            "numbers says; pass allow_float_noise=True (--allow-float-noise) to accept that, or take discrete noise "
            "(release_discrete, release_top_k)"
        )
    scales = {name: getattr(plan, name) for name in ("scale", "sigma", "value_sigma")}
    for name, scale in scales.items():
        if plan.noise == "continuous" and scale is not None and scale > LARGEST_SCALE:
            raise InputError(
                f"the {name} of the noise is {rounded_text(scale)}; accepted: at most 10^14, beyond which floats do "
                "not hold whole numbers; ask for a larger epsilon, or a smaller scale"
            )


def check_bins(counts: Counts, ball: L1Ball) -> None:
    """Check that a histogram has the bins that a ball speaks of.

    Raises
    ------
    InputError
        Naming a bin that one of them lacks.
    """
    labels = checked_histogram(counts)[0]
    strange = sorted(set(labels) ^ set(ball.labels))
    if strange:
        where, lacks = ("histogram", "estimate") if strange[0] in labels else ("estimate", "histogram")
        raise InputError(
            f"the bin {shorten(strange[0])} is in the {where} and not in the {lacks} of the distribution; give both "
            "the same bins, with a count of 0 where nothing was seen"
        )


def _is_column(values: object) -> bool:
    return isinstance(values, Iterable) and not isinstance(values, str | Mapping)


def _planned(value: T | None) -> T:
    """Return a parameter of a plan."""
    if value is None:
        raise InputError("the plan lacks a parameter of its noise; make it by plan_laplace, plan_discrete or the like")
    return value


def _laplace(counts: Integers, plan: ReleaseRecord, source: RandomBytes) -> tuple[Integers, Floats]:
    alpha, scale = _planned(plan.alpha), float_above(_planned(plan.scale))
    if not math.isfinite(scale):
        raise InputError(f"the scale is {rounded_text(_planned(plan.scale))}, above all floats; give a smaller one")
    if alpha * counts.size > 1:
        raise InputError(
            f"alpha is {rounded_text(alpha)} for {counts.size} bins, whose probabilities would sum to more than 1; "
            "give at most 1 / (number of bins)"
        )
    return np.arange(counts.size), counts + laplace_noise(scale, counts.size, source)


def _gshm(counts: Integers, plan: ReleaseRecord, source: RandomBytes) -> tuple[Integers, Floats]:
    support = np.flatnonzero(counts)
    noise = gaussian_noise(float(_planned(plan.sigma)), support.size, source)
    return _above(support, counts[support] + noise, plan)


def _correlated(counts: Integers, plan: ReleaseRecord, source: RandomBytes) -> tuple[Integers, Floats]:
    k, sigma, tau = _planned(plan.k), _planned(plan.sigma), _planned(plan.tau)
    reduced: Integers = top_k_counts(counts, k)[0] if plan.mechanism == "top-k" else counts
    support = np.flatnonzero(reduced)
    if support.size > k:
        raise InputError(
            f"{support.size} counters are above 0, more than k = {k}; give a k that holds for every data set that "
            "could have been, or take the k largest (release_top_k, `histogram top-k`)"
        )
    positive = reduced[support]
    if plan.noise == "discrete":
        twice = 2 * positive + half_step_noise(k, sigma, support.size, source)
        kept = above_threshold(twice, tau)
        return support[kept], twice[kept] / 2
    common = gaussian_noise(float(sigma) / float(k) ** 0.25, 1, source)
    return _above(support, positive + (common + gaussian_noise(float(sigma), support.size, source)), plan)


def _subtracted(counts: Integers, plan: ReleaseRecord, source: RandomBytes) -> float:
    """Return the (k+1)-th largest count with noise of its own."""
    sigma, value = _planned(plan.value_sigma), top_k_counts(counts, _planned(plan.k))[1]
    if plan.noise == "discrete":
        return float(value + draw_discrete_gaussian(sigma**2, 1, source)[0])
    return float(value + gaussian_noise(float(sigma), 1, source)[0])


def _above(support: Integers, noisy: Floats, plan: ReleaseRecord) -> tuple[Integers, Floats]:
    """Return what is above 1 + tau, strictly; the float next to that is not below it."""
    kept = noisy > float_up(Fraction(1) + _planned(plan.tau))
    return support[kept], noisy[kept]


def _in_order(labels: Sequence[str], kept: Integers, values: NDArray[Any]) -> dict[str, float]:
    """Return the counts kept by falling value, ties by label."""
    order = np.argsort(-values)
    in_order = values[order]
    names = np.array(labels, dtype=object)[kept[order]].tolist()
    ends = np.append(np.flatnonzero(np.diff(in_order)) + 1, len(names))
    starts = np.append(0, ends[:-1])
    tied = ends - starts > 1
    for start, stop in zip(starts[tied].tolist(), ends[tied].tolist(), strict=True):
        names[start:stop] = sorted(names[start:stop])
    return dict(zip(names, in_order.tolist(), strict=True))
