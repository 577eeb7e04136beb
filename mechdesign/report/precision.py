"""What can be learnt from numbers of reports: how near estimated frequencies come, and which stay unknown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from mechdesign.deploy.identification import identify
from mechdesign.mechanism import Mechanism
from mechdesign.numerics.arrays import Floats
from mechdesign.report.leakage_of_reports import MOST_ROWS, SOME_ROWS
from mechdesign.uncertainty import UncertaintySet
from mechdesign.utility.query_variances import variances_of_integers

REPORTS = (1_000, 10_000, 100_000)
CONFIDENCE = 0.95
TYPICAL = REPORTS[1]
_QUANTILE = -NormalDist().inv_cdf((1 - CONFIDENCE) / 2)
_MOST_GROUPS = 12


@dataclass(frozen=True)
class Row:
    """One value: its frequency at the estimate, and half the width of its interval for each number of reports."""

    label: str
    frequency: float
    margins: tuple[float, ...]


@dataclass(frozen=True)
class PagePrecision:
    """What reports tell of frequencies.

    Attributes
    ----------
    rows : tuple of Row
        All values, or the most frequent ones; margins are infinite where no number of reports is enough.
    total : int
        The number of values.
    known : int
        How many frequencies reports determine.
    typical : tuple of float
        The root mean square margin, for each number of reports; infinite unless all are determined.
    groups : tuple of tuples of str
        Values whose frequencies no number of reports tells apart, only their sum; the first groups.
    more : int
        Groups that are not shown.
    same : int
        Values that have the same reports, with the same probabilities, as another value.
    """

    rows: tuple[Row, ...]
    total: int
    known: int
    typical: tuple[float, ...]
    groups: tuple[tuple[str, ...], ...]
    more: int
    same: int


def precision_of(mechanism: Mechanism) -> PagePrecision:
    """Return how near the frequencies come that are estimated from reports, at the estimate.

    Examples
    --------
    >>> import mechdesign as md
    >>> everything = md.Guarantee("log(3)", md.L1Ball([0.5, 0.5], radius=2))
    >>> found = precision_of(md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], everything))
    >>> [round(margin, 4) for margin in found.rows[0].margins]  # 1.96 / sqrt(n)
    [0.062, 0.0196, 0.0062]
    """
    known = mechanism.guarantee.uncertainty
    prior, variances = known.prior, _variances(mechanism, known)
    places = np.arange(prior.size)
    if prior.size > MOST_ROWS:
        places = np.argsort(-prior, kind="stable")[:SOME_ROWS]
    rows = tuple(
        Row(mechanism.inputs[i], float(prior[i]), tuple(margin(variances[i], n) for n in REPORTS))
        for i in places.tolist()
    )
    groups = [group for group in identify(mechanism.matrix).groups if group.size > 1]
    shown = tuple(tuple(mechanism.inputs[i] for i in group.tolist()) for group in groups[:_MOST_GROUPS])
    mean = float(variances.mean())
    times = np.unique(mechanism.numerators, axis=0, return_counts=True)[1]
    return PagePrecision(
        rows=rows,
        total=prior.size,
        known=int(np.isfinite(variances).sum()),
        typical=tuple(margin(mean, n) for n in REPORTS),
        groups=shown,
        more=len(groups) - len(shown),
        same=int(times[times > 1].sum()),
    )


def margin(variance: float, reports: int) -> float:
    """Return half the width of the interval from some reports, given n times a variance.

    Examples
    --------
    >>> round(margin(1.0, 10_000), 4), margin(float("inf"), 1_000)
    (0.0196, inf)
    """
    return _QUANTILE * math.sqrt(variance / reports)


def typical_margin(mechanism: Mechanism, known: UncertaintySet) -> float:
    """Return the root mean square margin over all frequencies, from 10,000 reports of a mechanism at the estimate."""
    return margin(float(_variances(mechanism, known).mean()), TYPICAL)


def _variances(mechanism: Mechanism, known: UncertaintySet) -> Floats:
    return variances_of_integers(mechanism.numerators, known.center, np.eye(known.size)).each
