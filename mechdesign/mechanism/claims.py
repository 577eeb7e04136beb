"""What a mechanism is made of, before it is proved: integers, a guarantee, a claim of optimality, its provenance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InputError
from mechdesign.mechanism.proof import Guarantee, Integers
from mechdesign.mechanism.table_claims import TableClaim
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
        The dual vector lambda, from which anyone can compute the bound again; for a promise of maximal leakage its
        last entry is the multiplier of that.
    within_simplex : bool
        False where the claim is only about the mechanisms of ED Proposition 2 as printed, which are fewer
        than those with the guarantee once the radius exceeds twice the least probability.
    form : QuadraticForm or None
        Theta, beside lambda, for an estimation error (see `mechdesign.optimize.estimation.form_certificate`).
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

    def check_size(self, size: int, *, on_average: bool = False) -> None:
        """Refuse a claim about another number of categories; on average there is one multiplier more.

        Raises
        ------
        InputError
            If lambda or Theta do not have one entry for each category.
        """
        if len(self.multipliers) != size + on_average:
            accepted = f"{size + on_average}, one a category" + ", and one of the maximal leakage" * on_average
            raise InputError.wrong_size(f"lambda has {len(self.multipliers)} entries; accepted: {accepted}")
        if self.form is not None and self.form.size != size:
            raise InputError.wrong_size(
                f"theta has {self.form.size} categories; accepted: {size}, those of the mechanism"
            )
        if self.mixture is not None and self.mixture.size != size:
            raise InputError.wrong_size(
                f"the priors of the claim have {self.mixture.size} categories; accepted: {size}, those of the mechanism"
            )

    def aligned_with(self, labels: Sequence[str]) -> Optimality:
        """Return the claim with its utility on categories with these labels (see `Utility.aligned_with`)."""
        return replace(self, utility=self.utility.aligned_with(labels))


@dataclass(frozen=True)
class Provenance:
    """The software version and the method that made a mechanism, and the title of its problem."""

    version: str
    method: str
    problem: str = ""


class Parts(NamedTuple):
    """The arguments of `Mechanism`, in its order: ``Mechanism(*parts)`` checks them and proves the guarantee.

    Files, composition and rounding read and return parts, so that none of them needs the class `Mechanism`.

    Attributes
    ----------
    numerators, bits, guarantee, outputs, optimality, provenance, table
        As for `Mechanism`.

    Examples
    --------
    >>> import numpy as np
    >>> from mechdesign import Guarantee, L1Ball, Mechanism
    >>> parts = Parts(np.array([[3, 1], [1, 3]]), 2, Guarantee("log(3)", L1Ball([0.5, 0.5], radius=2)))
    >>> Mechanism(*parts).proof.holds
    True
    """

    numerators: Integers
    bits: int
    guarantee: Guarantee
    outputs: tuple[str, ...] = ()
    optimality: Optimality | None = None
    provenance: Provenance | None = None
    table: TableClaim | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        """Labels of the categories."""
        return self.guarantee.uncertainty.labels

    @property
    def matrix(self) -> NDArray[np.float64]:
        """The mechanism as floats, shape (N, M); exact, since numerators have at most 52 bits."""
        matrix: NDArray[np.float64] = self.numerators / 2.0**self.bits
        return matrix
