"""Windows beside other ways to learn how frequent strings are: what each costs in respondents.

All are compared by n times the variance of an estimated share from n reports: of a string that the samples lack, which
is what nearly all strings cost; and, where the shares of strings are known, added over all strings of the samples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mechdesign.data.checks import check_kind, checked_reports, checked_standard_error
from mechdesign.windows.bound import error_bound, string_bounds
from mechdesign.windows.collisions import checked_drift, collision_factor, seeds_for
from mechdesign.windows.decoder import Decoder
from mechdesign.windows.from_strings import WindowDesign
from mechdesign.windows.string_baselines import STRING_BASELINES
from mechdesign.windows.windows_mechanism import WindowMechanism


@dataclass(frozen=True)
class StringRival:
    """A way to estimate shares of strings, or a bound of all ways.

    Attributes
    ----------
    name : str
        What it is.
    error : float
        n times the variance of the share of a string that the samples lack.
    total : float or None
        The sum of n times the variances of all strings of the samples; None where their shares are not given.
    local : bool
        Whether it is under local differential privacy.
    source : str
        Where it is from.
    lost : float
        What collisions of strings add to the variance, whatever n is; 0 but for windows.
    """

    name: str
    error: float
    total: float | None
    local: bool
    source: str
    lost: float = 0.0

    def reports_for(self, standard_error: float) -> int | None:
        """Return how many reports bring the standard error to a number; None if no number does."""
        left = checked_standard_error(standard_error) ** 2 - self.lost
        return math.ceil(self.error / left) if left > 0 else None

    def standard_error_of(self, reports: int) -> float:
        """Return the standard error that a number of reports leaves."""
        return math.sqrt(self.error / checked_reports(reports) + self.lost)


@dataclass(frozen=True)
class StringComparison:
    """Windows, what nothing with their promise falls below, and oracles under local differential privacy.

    Attributes
    ----------
    rivals : tuple of StringRival
        The windows, the bound, and the oracles.
    strings : int or None
        How many strings the totals are of.
    seeds : int
        The number of seeds.
    lift : float
        The mean lift of a report.
    drift : float
        The length of the vector of changes of shares since the sample.
    """

    rivals: tuple[StringRival, ...]
    strings: int | None
    seeds: int
    lift: float
    drift: float

    def seeds_needed(self, reports: int) -> int:
        """Return how many seeds keep what collisions add below a tenth of the variance of a light string."""
        return seeds_for(self.lift, checked_reports(reports), self.drift)

    def times(self, rival: StringRival) -> float:
        """Return how many times as many respondents a rival needs as the windows, for a string that samples lack."""
        return rival.error / self.rivals[0].error


def compare_strings(
    mechanism: WindowMechanism, shares: Mapping[str, float] | None = None, *, drift: float = 0
) -> StringComparison:
    """Return what windows cost beside a bound for their promise, and beside frequency oracles with the same epsilon.

    Parameters
    ----------
    mechanism : WindowMechanism
        The windows, with their evidence.
    shares : mapping of str to float, optional
        Shares of all strings among the samples that prove, for the sums over all of them.
    drift : float
        The length of the vector of changes of shares since the sample, of strings that are not solved for.

    Raises
    ------
    InputError
        For another mechanism, shares among other samples, or a drift outside of [0, 1.41].

    Examples
    --------
    >>> from mechdesign.windows import design_windows
    >>> design = design_windows({f"word{k}": 20_000 // k for k in range(1, 200)}, 1, known=True, seeds=50)
    >>> found = compare_strings(design.mechanism, design.shares)
    >>> [rival.name for rival in found.rivals][2], found.times(found.rivals[2]) > 6
    ('local hashing to 4 cells', True)
    """
    check_kind(mechanism, WindowMechanism, "mechanism", "a mechanism of windows")
    promise, length = mechanism.promise, checked_drift(drift)
    shares = mechanism.checked_reference(shares)
    design = WindowDesign(mechanism, shares or {})
    own = None if shares is None else np.array(list(shares.values()))
    lift, seeds = design.reached, design.seeds
    anywhere = 1 / (Decoder(mechanism).square_anywhere - 1)
    lost = length**2 * collision_factor(lift) / seeds if lift > 1 else 0.0
    least = float(string_bounds(np.zeros(1), promise.epsilon, promise.cap)[0])
    totals = (None, None) if own is None else (design.error, error_bound(own, promise.epsilon, promise.cap))
    bound = "least error with this promise"
    rivals = [
        StringRival("these windows", anywhere, totals[0], local=False, lost=lost, source="this file"),
        StringRival(bound, least, totals[1], local=False, source="a proved bound"),
    ]
    for made in STRING_BASELINES.values():
        oracle = made(promise.epsilon.text)
        total = None if own is None else float(len(own) * oracle.base + oracle.slope * own.sum() - own @ own)
        rivals.append(StringRival(oracle.name, oracle.error_of(0.0), total, local=True, source=oracle.source))
    return StringComparison(tuple(rivals), None if own is None else len(own), seeds, lift, length)
