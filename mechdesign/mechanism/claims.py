"""A claim of optimality, and the provenance of a mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mechdesign.utility import Utility


@dataclass(frozen=True)
class Optimality:
    """A claim that no mechanism with the same guarantee has a utility above the upper bound.

    Attributes
    ----------
    utility : Utility
        The utility of the claim.
    value : float
        Utility of the integers, in its unit.
    upper_bound : float
        No mechanism with the guarantee has more utility; rounded outward.
    multipliers : tuple of float
        The dual vector lambda, from which anyone can compute the bound again.
    within_simplex : bool
        False where the claim is only about the mechanisms of ED Proposition 2 as printed, which are fewer
        than those with the guarantee once the radius exceeds twice the least probability.
    """

    utility: Utility
    value: float
    upper_bound: float
    multipliers: tuple[float, ...]
    within_simplex: bool = True

    def aligned_with(self, labels: Sequence[str]) -> Optimality:
        """Return the claim with its utility on an alphabet with these labels (see `Utility.aligned_with`)."""
        return replace(self, utility=self.utility.aligned_with(labels))


@dataclass(frozen=True)
class Provenance:
    """The software version and the method that made a mechanism, and the title of its problem."""

    version: str
    method: str
    problem: str = ""
