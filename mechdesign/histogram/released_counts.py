"""Release of a histogram: noisy counts in an order that tells nothing more, and the record of their guarantee.

A plan such as `DiscretePlan.of` says what noise there is and what it promises; `release` draws it. Counts come by
falling released value, ties by label: never in the order of the input, which may be that of the true counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.counts import check_index, checked_count
from mechdesign.data.labels import canonical_labels
from mechdesign.errors import InputError, shorten
from mechdesign.histogram.record import ReleaseRecord
from mechdesign.histogram.release_plan import Integers, Plan
from mechdesign.mechanism.sampler import random_bytes

Counts = Mapping[Any, Any] | tuple[Iterable[object], Iterable[object]]

_ORDER = "sorted by falling value, then by label"


@dataclass(frozen=True)
class HistogramRelease:
    """Released counts, and what they promise.

    Attributes
    ----------
    counts : dict from str to float or int
        By falling value, ties by label. Multiples of 1/2 where the noise is discrete; whole numbers if rounded. From a
        `TopKPlan` they are excesses over the (k+1)-th largest count, and not counts; ``record.reading`` says how any of
        them are read.
    record : ReleaseRecord
        The guarantee. It holds nothing that depends on the data.
    subtracted : float or None
        The (k+1)-th largest count with noise of its own, where the plan of the top k releases it: an excess plus this
        is a noisy count.
    """

    counts: dict[str, float]
    record: ReleaseRecord
    subtracted: float | None = None


def release(
    counts: Counts,
    plan: Plan,
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
    plan : Plan
        From `DiscretePlan.of`, `TopKPlan.of`, `CshPlan.of`, `GshmPlan.of` or `LaplacePlan.of`.
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
        For counts that are not a histogram or have more counters above 0 than the plan allows, for bins that differ
        from those of the plan, and for continuous noise that is not allowed. A refusal depends on the data: do not
        publish it.

    Examples
    --------
    >>> from mechdesign.histogram import DiscretePlan
    >>> rng = np.random.default_rng(1)
    >>> plan = DiscretePlan.of(3, epsilon=1, delta="1e-6", sigma=8)
    >>> released = release({"a": 900, "b": 400, "c": 2}, plan, rng=rng)
    >>> list(released.counts), released.record.noise
    (['a', 'b'], 'discrete')
    """
    source = random_bytes(rng)
    if not isinstance(plan, Plan):
        raise InputError.wrong_type(
            f"the plan is {shorten(plan)}; make one by DiscretePlan.of, LaplacePlan.of or the like"
        )
    plan.check_noise(allowed=allow_float_noise)
    labels, values = checked_histogram(counts)
    if plan.bins is not None:
        _check_bins(labels, plan.bins)
    noisy = plan.noisy(values, source)
    done = (plan.reduction, "clipped at 0 and rounded to whole numbers" if whole else "", _ORDER)
    record = plan.record(
        randomness="the operating system's secure source" if rng is None else "a generator, for experiments only",
        post_processing="; ".join(filter(None, done)),
    )
    final: NDArray[Any] = noisy.counts
    subtracted = noisy.subtracted
    if whole:
        final = np.rint(np.maximum(final, 0)).astype(np.int64)
        subtracted = None if subtracted is None else float(np.rint(max(subtracted, 0)))
    return HistogramRelease(_in_order(labels, noisy.kept, final), record, subtracted)


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
        For counts that are negative, fractional or above 10^15, labels that are not accepted or occur twice, and
        columns of different lengths.

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
            raise InputError.wrong_size(
                f"there are {len(names)} labels and {len(values)} counts; give one count a label"
            )
    elif isinstance(counts, Mapping):
        names, values = list(counts.keys()), list(counts.values())
    elif not isinstance(counts, tuple) and hasattr(counts, "items"):  # a pandas Series
        check_index(counts)
        pairs = list(counts.items())
        names, values = [label for label, _ in pairs], [value for _, value in pairs]
    else:
        raise InputError.not_counts(
            f"the counts are a {type(counts).__name__}; give a mapping from labels to counts, or a pair (labels, "
            "counts)"
        )
    labels = canonical_labels(names, len(names))
    if set(map(type, values)) <= {int, np.int64} and (not values or (min(values) >= 0 and max(values) <= 10**15)):
        return labels, np.array(values, dtype=np.int64)
    return labels, np.array([checked_count(v, label) for label, v in zip(labels, values, strict=True)], dtype=np.int64)


def _check_bins(labels: Sequence[str], bins: Sequence[str]) -> None:
    """Check that a histogram has the bins of an estimate."""
    strange = sorted(set(labels) ^ set(bins))
    if strange:
        where, lacks = ("histogram", "estimate") if strange[0] in labels else ("estimate", "histogram")
        raise InputError.labels_differ(
            f"the bin {shorten(strange[0])} is in the {where} and not in the {lacks} of the distribution; give both "
            "the same bins, with a count of 0 where nothing was seen"
        )


def _is_column(values: object) -> bool:
    return isinstance(values, Iterable) and not isinstance(values, str | Mapping)


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
