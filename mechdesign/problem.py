"""A design problem: what is known, what is promised, what is wanted."""

from __future__ import annotations

from dataclasses import dataclass

from mechdesign.numerics.epsilon import Epsilon
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.base import checked_set
from mechdesign.utility import MutualInformation, Utility
from mechdesign.utility.base import checked_utility


@dataclass(frozen=True)
class DesignProblem:
    """Find the mechanism of greatest utility that is epsilon-PML for every prior in an uncertainty set (ED eq. 40).

    Inert data; `mechdesign.design` solves it.

    Parameters
    ----------
    uncertainty : UncertaintySet
        What is known about the distribution of the data. Utility is measured at its reference prior.
    epsilon : number or str
        Privacy parameter in nats: a number, a decimal as text, or ``"log(9/8)"``.
    utility : Utility
        What is to be maximised; mutual information by default.

    Raises
    ------
    InputError
        If epsilon is negative or not finite, or the utility belongs to other symbols.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> DesignProblem(L1Ball([0.4, 0.2, 0.2, 0.2]), "log(9/8)").epsilon.exp_down
    Fraction(9, 8)
    """

    uncertainty: UncertaintySet
    epsilon: Epsilon
    utility: Utility

    def __init__(self, uncertainty: UncertaintySet, epsilon: object, utility: Utility | None = None) -> None:
        known = checked_set(uncertainty)
        wanted = checked_utility(MutualInformation() if utility is None else utility)
        wanted.check_size(known.size)
        wanted = wanted.aligned_with(known.labels)
        object.__setattr__(self, "uncertainty", known)
        object.__setattr__(self, "epsilon", Epsilon.of(epsilon))
        object.__setattr__(self, "utility", wanted)
