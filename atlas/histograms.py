"""Gaussian noise and thresholds of released histograms."""

from __future__ import annotations

from atlas.numbers import Family, Ours
from mechdesign import histogram

_FAR = 100_000  # a threshold that nothing passes by chance: what is left is the Gaussian mechanism
_NO_NOISE_SPENT = 700  # an epsilon with which the noise itself costs no delta
_BISECTION = "the source finds sigma by a bisection that stops within 1e-3 of the least one, on the safe side"


def _gaussian_sigma(sensitivity: float, adjacency: str, epsilon: float, delta: float) -> Ours:
    """Return the least sigma; where a record is replaced, one is removed and another one added."""
    changes = 2 if adjacency == "replace" else 1
    return Ours(histogram.gshm_least_sigma(1, epsilon, delta) * sensitivity * changes)


def _partition_threshold(epsilon: float, delta: float, k: float) -> Ours:
    sigma = histogram.gshm_least_sigma(int(k), epsilon, delta / 2)
    return Ours(1 + histogram.gshm_threshold(int(k), sigma, _NO_NOISE_SPENT, delta / 2, "add-the-deltas"))


def _partition_delta(epsilon: float, threshold: float, k: float, delta_noise: float) -> Ours:
    sigma = histogram.gshm_least_sigma(int(k), epsilon, delta_noise)
    return Ours(histogram.gshm_delta(int(k), sigma, threshold - 1, _NO_NOISE_SPENT, "add-the-deltas"))


FAMILIES = (
    Family(
        "gaussian-delta",
        "delta of the Gaussian mechanism",
        lambda standard_deviation, sensitivity, epsilon: Ours(
            histogram.gshm_delta(1, standard_deviation / sensitivity, _FAR, epsilon)
        ),
    ),
    Family(
        "gaussian-delta-of-counts",
        "delta of the Gaussian mechanism for several counts",
        lambda sigma, l0, linf, epsilon: Ours(histogram.gshm_delta(l0, sigma / linf, _FAR, epsilon)),
    ),
    Family(
        "gaussian-sigma",
        "least standard deviation of Gaussian noise",
        _gaussian_sigma,
    ),
    Family(
        "gaussian-variance",
        "variance of the Gaussian noise that a library adds",
        lambda epsilon, delta, l0, linf: Ours((histogram.gshm_least_sigma(l0, epsilon, delta) * linf) ** 2),
        differs=_BISECTION,
    ),
    Family(
        "partition-threshold",
        "threshold of Gaussian partition selection, half of delta for the noise",
        _partition_threshold,
        differs=_BISECTION,
    ),
    Family(
        "partition-delta",
        "delta of the threshold of Gaussian partition selection",
        _partition_delta,
    ),
    Family(
        "partition-threshold-of-sigma",
        "threshold of Gaussian partition selection from its noise",
        lambda sigma, delta_threshold, k: Ours(
            1 + histogram.gshm_threshold(k, sigma, _NO_NOISE_SPENT, delta_threshold, "add-the-deltas")
        ),
    ),
    Family(
        "zcdp-delta",
        "delta of zero-concentrated differential privacy (Canonne, Kamath and Steinke, Proposition 12)",
        lambda rho, epsilon: Ours(histogram.zcdp_delta(rho, epsilon)),
    ),
    Family(
        "threshold-delta",
        "delta of a Gaussian threshold, rounded up",
        lambda threshold, scale, l0, linf: Ours(
            histogram.gshm_delta(l0, scale, threshold - linf, _NO_NOISE_SPENT, "add-the-deltas")
        ),
        not_below=True,
    ),
)
