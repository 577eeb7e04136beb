"""A design problem: a set of priors, epsilon, and an objective."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Generic

from typing_extensions import TypeVar

from mechdesign.data.checks import check_kind
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.base import check_set
from mechdesign.uncertainty.sides import Sides
from mechdesign.utility import MutualInformation, Objective

Other = TypeVar("Other", bound=UncertaintySet)
_LEAST_SUM = 1 + Fraction(1, 10**9)  # of the greatest probabilities of all outputs
Set_co = TypeVar("Set_co", bound=UncertaintySet, default=UncertaintySet, covariant=True)


@dataclass(frozen=True)
class DesignProblem(Generic[Set_co]):
    """Find the mechanism of greatest utility that is epsilon-PML for every prior in an uncertainty set (ED eq. 40).

    With ``lower`` no report may rule anything out either: the mechanism keeps a two-sided `Guarantee`. With ``cap`` it
    is cap-LDP as well: whatever anybody knows beforehand, a report tells him no more than that. With
    ``maximal_leakage`` all its reports together make no guess likelier by more than that, whatever the prior is.

    A problem holds its inputs and computes nothing; `mechdesign.design` solves it. Type checkers know the class
    of its set: ``DesignProblem(ball, 1).uncertainty.radius`` is a Fraction if the ball is an `L1Ball`. If the class of
    the set is not known, as in a problem from a file, use ``uncertainty.l1_ball``, which is None for other sets.

    Parameters
    ----------
    uncertainty : UncertaintySet
        The priors for which the guarantee must hold. Utility is measured at the reference prior of the set.
    epsilon : number, str or Sides
        Privacy parameter in nats: a number, a decimal as text, or ``"log(9/8)"``. Or the sides of another promise,
        with its lower and cap.
    utility : Objective
        The function that is maximised, mutual information by default; an `EstimationError` is minimised.
    lower : number or str, optional
        The promise from below, written as epsilon is: no lift is below exp(-lower). Without it, lifts may be 0.
    cap : number or str, optional
        The level of local differential privacy that the mechanism keeps besides, instead of lower. A cap that is not
        above epsilon is the whole promise. About a secret it is the one promise that everything else in the data has.
    maximal_leakage : number or str, optional
        The promise on average, for every prior: ``sum_y max_x p(y|x) <= exp(maximal_leakage)``. Instead of lower and
        cap. From epsilon on it asks for nothing more.

    Raises
    ------
    InputError
        If a number is negative or not finite, the utility is defined for other categories, lower or cap is given for a
        ball as printed, two numbers are given beside epsilon, maximal_leakage is given for a promise about a secret,
        or epsilon or lower is 0 for one.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> DesignProblem(L1Ball([0.4, 0.2, 0.2, 0.2]), "log(9/8)").epsilon.exp_down
    Fraction(9, 8)
    """

    uncertainty: Set_co
    sides: Sides
    utility: Objective

    def __init__(
        self,
        uncertainty: Set_co,
        epsilon: object,
        utility: Objective | None = None,
        lower: object = None,
        cap: object = None,
        maximal_leakage: object = None,
    ) -> None:
        check_set(uncertainty)
        sides = Sides(epsilon, lower, cap, maximal_leakage)
        for name, number in sides.beside.items():
            if uncertainty.exact_set is not uncertainty:
                raise InputError.ball_leaves_simplex(
                    f"{name} is {shorten(number.text)} for a ball as printed, which may leave the simplex; give the "
                    "ball within the simplex (within_simplex = true)"
                )
            if name == "maximal_leakage" and uncertainty.protected.names is not None:
                raise InputError.set_not_accepted(
                    f"{name} is {shorten(number.text)} for a promise about a secret, with which no method designs; "
                    f"leave {name} out, or use lower or cap"
                )
        most = sides.maximal_leakage
        if most is not None and 1 < most.exp_up < _LEAST_SUM:
            raise InputError.epsilon_out_of_range(
                f"maximal_leakage is {shorten(most.text)}; accepted: 0, or 1e-9 and more, which programs can resolve"
            )
        wanted = MutualInformation() if utility is None else utility
        check_kind(wanted, Objective, "the utility", "a Utility such as MutualInformation()")
        wanted.check_size(uncertainty.size)
        wanted = wanted.aligned_with(uncertainty.labels)
        object.__setattr__(self, "uncertainty", uncertainty)
        object.__setattr__(self, "sides", sides)
        object.__setattr__(self, "utility", wanted)
        if self.only_constant and not uncertainty.limits_entries and not (self.cap and self.cap.exp_down == 1):
            side = "epsilon" if self.epsilon.exp_down == 1 else "lower"
            raise InputError.epsilon_out_of_range(
                f"{side} is {self.local_epsilon.text} for a promise about a secret, under which reports may still tell "
                f"something, but which leaves no room for rounding to integers; give a larger {side}, such as 1e-6"
            )

    def over(self, uncertainty: Other) -> DesignProblem[Other]:
        """Return the problem with the same sides and objective, for another set of priors."""
        return DesignProblem(uncertainty, self.sides, self.utility)

    def with_cap(self, cap: object) -> DesignProblem[Set_co]:
        """Return the problem with another cap for everyone, in nats; one with lower or maximal leakage takes none."""
        return DesignProblem(self.uncertainty, self.epsilon, self.utility, self.lower, cap, self.maximal_leakage)

    def with_utility(self, utility: Objective) -> DesignProblem[Set_co]:
        """Return the problem with the same promise and another objective."""
        return DesignProblem(self.uncertainty, self.sides, utility)

    @property
    def epsilon(self) -> Epsilon:
        """The promise from above."""
        return self.sides.epsilon

    @property
    def lower(self) -> Epsilon | None:
        """The promise from below over the set, or None."""
        return self.sides.lower

    @property
    def cap(self) -> Epsilon | None:
        """The promise for every prior, or None."""
        return self.sides.cap

    @property
    def maximal_leakage(self) -> Epsilon | None:
        """The promise on average, for every prior, or None."""
        return self.sides.maximal_leakage

    @property
    def local_epsilon(self) -> Epsilon:
        """The greatest epsilon of local differential privacy that implies the promise: the least of its numbers.

        A mechanism that is epsilon-LDP has all lifts from exp(-epsilon) to exp(epsilon), for every prior.
        """
        return self.sides.least

    @property
    def only_constant(self) -> bool:
        """Whether a side of the promise is 0: only a mechanism whose reports do not depend on the input keeps it.

        That holds for promises about the data, the only ones that a problem has with a side of 0.
        """
        return self.sides.only_constant
