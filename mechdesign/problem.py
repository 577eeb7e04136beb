"""A design problem: a set of priors, epsilon, and an objective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from typing_extensions import TypeVar

from mechdesign.data.checks import check_kind
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.base import check_set
from mechdesign.utility import MutualInformation, Objective

Set_co = TypeVar("Set_co", bound=UncertaintySet, default=UncertaintySet, covariant=True)


@dataclass(frozen=True)
class DesignProblem(Generic[Set_co]):
    """Find the mechanism of greatest utility that is epsilon-PML for every prior in an uncertainty set (ED eq. 40).

    A problem holds its three inputs and computes nothing; `mechdesign.design` solves it. Type checkers know the class
    of its set: ``DesignProblem(ball, 1).uncertainty.radius`` is a Fraction if the ball is an `L1Ball`. If the class of
    the set is not known, as in a problem from a file, use ``uncertainty.l1_ball``, which is None for other sets.

    Parameters
    ----------
    uncertainty : UncertaintySet
        The priors for which the guarantee must hold. Utility is measured at the reference prior of the set.
    epsilon : number or str
        Privacy parameter in nats: a number, a decimal as text, or ``"log(9/8)"``.
    utility : Objective
        The function that is maximised, mutual information by default; an `EstimationError` is minimised.

    Raises
    ------
    InputError
        If epsilon is negative or not finite, or the utility is defined for other symbols.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> DesignProblem(L1Ball([0.4, 0.2, 0.2, 0.2]), "log(9/8)").epsilon.exp_down
    Fraction(9, 8)
    """

    uncertainty: Set_co
    epsilon: Epsilon
    utility: Objective

    def __init__(self, uncertainty: Set_co, epsilon: object, utility: Objective | None = None) -> None:
        check_set(uncertainty)
        wanted = MutualInformation() if utility is None else utility
        check_kind(wanted, Objective, "the utility", "a Utility such as MutualInformation()")
        wanted.check_size(uncertainty.size)
        wanted = wanted.aligned_with(uncertainty.labels)
        object.__setattr__(self, "uncertainty", uncertainty)
        object.__setattr__(self, "epsilon", Epsilon.of(epsilon))
        object.__setattr__(self, "utility", wanted)
