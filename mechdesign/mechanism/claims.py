"""A claim of optimality, and the provenance of a mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mechdesign.errors import InputError
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.uncertainty.prior_mixture import PriorMixture
from mechdesign.utility import Objective


@dataclass(frozen=True)
class Optimality:
    """A claim that no mechanism with the same guarantee is better than a bound.

    A utility is maximised and has an upper bound; an estimation error is minimised and has a lower bound.

    Attributes
    ----------
    utility : Objective
        The objective of the claim.
    value : float
        The objective of the integers, in its unit.
    bound : float
        No mechanism with the guarantee has more utility, or less error; rounded outward.
    multipliers : tuple of float
        The dual vector lambda, from which anyone can compute the bound again.
    within_simplex : bool
        False where the claim is only about the mechanisms of ED Proposition 2 as printed, which are fewer
        than those with the guarantee once the radius exceeds twice the least probability.
    form : QuadraticForm or None
        Theta, beside lambda, for an estimation error (see `mechdesign.optimize.estimation.certificate`).
    mixture : PriorMixture or None
        Priors with weights, beside lambda, for the least utility over a set (see `mechdesign.optimize.worst_case`).
    """

    utility: Objective
    value: float
    bound: float
    multipliers: tuple[float, ...]
    within_simplex: bool = True
    form: QuadraticForm | None = None
    mixture: PriorMixture | None = None

    def check_size(self, size: int) -> None:
        """Refuse a claim about another number of symbols.

        Raises
        ------
        InputError
            If lambda or Theta do not have one entry for each symbol.
        """
        if len(self.multipliers) != size:
            raise InputError(f"lambda has {len(self.multipliers)} entries; accepted: {size}, one a symbol")
        if self.form is not None and self.form.size != size:
            raise InputError(f"theta has {self.form.size} symbols; accepted: {size}, those of the mechanism")
        if self.mixture is not None and self.mixture.size != size:
            raise InputError(
                f"the priors of the claim have {self.mixture.size} symbols; accepted: {size}, those of the mechanism"
            )

    def aligned_with(self, labels: Sequence[str]) -> Optimality:
        """Return the claim with its utility on an alphabet with these labels (see `Utility.aligned_with`)."""
        return replace(self, utility=self.utility.aligned_with(labels))


@dataclass(frozen=True)
class Provenance:
    """The software version and the method that made a mechanism, and the title of its problem."""

    version: str
    method: str
    problem: str = ""
