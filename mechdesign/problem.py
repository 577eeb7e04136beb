"""A design problem: a set of priors, epsilon, and an objective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from typing_extensions import TypeVar

from mechdesign.data.checks import check_kind
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.base import check_set
from mechdesign.utility import MutualInformation, Objective

Set_co = TypeVar("Set_co", bound=UncertaintySet, default=UncertaintySet, covariant=True)


@dataclass(frozen=True)
class DesignProblem(Generic[Set_co]):
    """Find the mechanism of greatest utility that is epsilon-PML for every prior in an uncertainty set (ED eq. 40).

    With ``lower`` no report may rule anything out either: the mechanism keeps a two-sided `Guarantee`.

    A problem holds its inputs and computes nothing; `mechdesign.design` solves it. Type checkers know the class
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
    lower : number or str, optional
        The promise from below, written as epsilon is: no lift is below exp(-lower). Without it, lifts may be 0.

    Raises
    ------
    InputError
        If epsilon or lower is negative or not finite, the utility is defined for other symbols, lower is given for a
        ball as printed, or one of both is 0 for a promise about a secret.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> DesignProblem(L1Ball([0.4, 0.2, 0.2, 0.2]), "log(9/8)").epsilon.exp_down
    Fraction(9, 8)
    """

    uncertainty: Set_co
    epsilon: Epsilon
    utility: Objective
    lower: Epsilon | None = None

    def __init__(
        self, uncertainty: Set_co, epsilon: object, utility: Objective | None = None, lower: object = None
    ) -> None:
        check_set(uncertainty)
        if lower is not None and uncertainty.exact_set is not uncertainty:
            raise InputError.ball_leaves_simplex(
                f"lower is {shorten(str(lower))} for a ball as printed, which may leave the simplex; give the ball "
                "within the simplex (within_simplex = true)"
            )
        wanted = MutualInformation() if utility is None else utility
        check_kind(wanted, Objective, "the utility", "a Utility such as MutualInformation()")
        wanted.check_size(uncertainty.size)
        wanted = wanted.aligned_with(uncertainty.labels)
        object.__setattr__(self, "uncertainty", uncertainty)
        object.__setattr__(self, "epsilon", Epsilon.of(epsilon))
        object.__setattr__(self, "utility", wanted)
        object.__setattr__(self, "lower", None if lower is None else Epsilon.of(lower, "lower"))
        if self.only_constant and not uncertainty.limits_entries:
            side, given = ("epsilon", self.epsilon) if self.epsilon.exp_down == 1 else ("lower", self.local_epsilon)
            raise InputError.epsilon_out_of_range(
                f"{side} is {given.text} for a promise about a secret, under which reports may still tell something, "
                f"but which leaves no room for rounding to integers; give a larger {side}, such as 1e-6"
            )

    def with_utility(self, utility: Objective) -> DesignProblem[Set_co]:
        """Return the problem with the same promise and another objective."""
        return DesignProblem(self.uncertainty, self.epsilon, utility, self.lower)

    @property
    def local_epsilon(self) -> Epsilon:
        """The greatest epsilon of local differential privacy that implies the promise: the lesser of both sides.

        A mechanism that is epsilon-LDP has all lifts from exp(-epsilon) to exp(epsilon), for every prior.
        """
        sides = [self.epsilon] if self.lower is None else [self.epsilon, self.lower]
        return min(sides, key=lambda side: side.exp_down)

    @property
    def only_constant(self) -> bool:
        """Whether a side of the promise is 0: only a mechanism whose reports do not depend on the input keeps it.

        That holds for promises about the data, the only ones that a problem has with a side of 0.
        """
        return self.epsilon.exp_down == 1 or (self.lower is not None and self.lower.exp_down == 1)
