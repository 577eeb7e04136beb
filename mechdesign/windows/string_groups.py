"""Estimated shares of strings in groups of reports, such as months or regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InputError
from mechdesign.windows.decoder import Decoder
from mechdesign.windows.layout import Integers
from mechdesign.windows.string_estimates import StringEstimates, estimate_counts
from mechdesign.windows.windows_mechanism import WindowMechanism

_LEAST = 10  # expected reports of either kind, within the window of a string and outside


@dataclass(frozen=True, eq=False)
class GroupedStrings:
    """Estimates of the same candidates in groups of reports.

    Attributes
    ----------
    groups : tuple
        The groups, in the order of the estimates.
    estimates : tuple of StringEstimates
        One a group.
    few_reports : tuple of bool
        Of each group whether it has too few reports for the normal approximation: fewer than ten are expected within
        the window of a string, or outside.
    """

    groups: tuple[Any, ...]
    estimates: tuple[StringEstimates, ...]
    few_reports: tuple[bool, ...]

    def intervals(self, confidence: float = 0.95, *, simultaneous: bool = False) -> NDArray[np.float64]:
        """Return a confidence interval for each share, shape (groups, candidates, 2).

        Parameters
        ----------
        confidence : float
            The probability with which an interval holds the share, in (0, 1).
        simultaneous : bool
            Whether all intervals of all groups hold at once with this probability (Bonferroni).

        Raises
        ------
        InputError
            For a confidence that is not in (0, 1).
        """
        tables = len(self.estimates)
        return np.stack([one.intervals(confidence, simultaneous=simultaneous, tables=tables) for one in self.estimates])


def reports_needed(decoder: Decoder) -> float:
    """Return how many reports the normal approximation needs: ten within the window of a string, and ten outside."""
    lift = decoder.square_anywhere
    return float(_LEAST / min(1 / lift, 1 - 1 / lift))


def estimate_groups(
    groups: Sequence[Any],
    counted: Sequence[Integers] | Integers,
    decoder: Decoder,
    candidates: Sequence[str],
    reference: Mapping[str, float],
) -> GroupedStrings:
    """Return `estimate_string_groups` of reports that are counted by group and window."""
    least = reports_needed(decoder)
    found = tuple(estimate_counts(counts, decoder, candidates, reference) for counts in counted)
    return GroupedStrings(tuple(groups), found, tuple(one.reports < least for one in found))


def estimate_string_groups(
    reports: Integers,
    groups: Sequence[Any],
    mechanism: WindowMechanism,
    candidates: Sequence[str],
    reference: Mapping[str, float] | None = None,
) -> GroupedStrings:
    """Return the shares of candidate strings in each group of reports, with `estimate_strings`.

    Parameters
    ----------
    reports : ndarray of int, shape (n,)
        As of `WindowMechanism.privatize`.
    groups : sequence, length n
        The group of each report: values that can be compared, such as texts or dates.
    mechanism : WindowMechanism
        The mechanism that made them, with its evidence.
    candidates : sequence of str
        The strings to estimate.
    reference : mapping of str to float, optional
        Shares of all strings among the samples that prove.

    Raises
    ------
    InputError
        As `estimate_strings`; if there is not one group for each report.

    Examples
    --------
    >>> from mechdesign.windows import design_windows
    >>> design = design_windows({f"word{k}": 20_000 // k for k in range(1, 200)}, 1, known=True, seeds=50)
    >>> reports = design.mechanism.privatize(["word1"] * 300 + ["word2"] * 500)
    >>> found = estimate_string_groups(reports, ["a"] * 300 + ["b"] * 500, design.mechanism, ["word1"], design.shares)
    >>> found.groups, found.intervals().shape
    (('a', 'b'), (2, 1, 2))
    """
    if len(groups) != len(reports):
        raise InputError.wrong_size(f"there are {len(reports)} reports and {len(groups)} groups; give one for each")
    names, of = np.unique(np.asarray(groups), return_inverse=True)
    numbers, size = mechanism.numbers(reports), len(mechanism.outputs)
    counted = [np.bincount(numbers[of == at], minlength=size) for at in range(len(names))]
    decoder = Decoder(mechanism, by_lengths=reference is None)
    return estimate_groups(names.tolist(), counted, decoder, candidates, mechanism.checked_reference(reference) or {})
