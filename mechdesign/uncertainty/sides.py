"""The numbers of a promise: how far reports raise probabilities, how far they lower them, and what they do on average.

*From below over a set.* With ``lower`` no report lowers the probability of a category by a factor below exp(-lower),
for any prior of the set.

*A cap for everyone.* With ``cap`` the mechanism also keeps local differential privacy: no entry of a column is above
exp(cap) times another. That is the promise from below with exp(-cap), for every prior whatever, because the greatest
mean of a column under any prior is its greatest entry. So one mechanism serves both: a `Floor`.

*On average.* With ``maximal_leakage`` the sum of the greatest entries of all columns is at most exp of it: whatever an
adversary guesses, and whatever the prior is, all reports together make a right guess at most so many times as likely.
Epsilon-PML for any one prior implies maximal leakage epsilon, so that only a lesser number asks for more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mechdesign.errors import InputError, shorten
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.uncertainty.base import NO_FLOOR, Floor, UncertaintySet
from mechdesign.uncertainty.l1_ball import L1Ball


def priors_below(floor: Floor, known: UncertaintySet) -> UncertaintySet:
    """Return the priors that a promise from below is about, for the set of the promise from above."""
    return L1Ball(known.center, 2, known.labels) if floor.for_everyone else known


@dataclass(frozen=True)
class Sides:
    """The numbers of a promise, without the set of priors that it is about.

    Parameters
    ----------
    epsilon : number, str or Sides
        In nats: a number, a decimal as text, or ``"log(9/8)"``; or the sides themselves.
    lower, cap : number or str, optional
        The promise from below, over the set or for every prior.
    maximal_leakage : number or str, optional
        The promise on average, for every prior. At most one of lower, cap and this.

    Raises
    ------
    InputError
        If a number is negative or not finite, two of the numbers beside epsilon are given, or one beside sides.

    Examples
    --------
    >>> Sides(1, cap=3).in_words
    'epsilon = 1 and cap = 3'
    >>> Sides(1, lower="log(2)").floor_up
    Floor(least_lift=Fraction(1, 2), for_everyone=False)
    """

    epsilon: Epsilon
    lower: Epsilon | None = None
    cap: Epsilon | None = None
    maximal_leakage: Epsilon | None = None

    def __init__(
        self, epsilon: object, lower: object = None, cap: object = None, maximal_leakage: object = None
    ) -> None:
        given = epsilon if isinstance(epsilon, Sides) else None
        beside = {"lower": lower, "cap": cap, "maximal_leakage": maximal_leakage}
        if given is not None:
            for name, number in beside.items():
                if number is not None:
                    raise InputError.conflicting_arguments(
                        f"{name} is {shorten(str(number))} beside the sides of a promise, which have their own; give "
                        f"epsilon and {name}, or the sides alone"
                    )
            epsilon, beside = given.epsilon, {name: getattr(given, name) for name in beside}
        object.__setattr__(self, "epsilon", Epsilon.of(epsilon))
        for name, number in beside.items():
            object.__setattr__(self, name, None if number is None else Epsilon.of(number, name))
        if self.maximal_leakage is not None and self.below is not None:
            raise InputError.conflicting_arguments(
                f"maximal_leakage is {self.maximal_leakage.text} and {self.below_name} is {self.below.text}; give one "
                "of them: no method designs with both"
            )
        if self.lower is not None and self.cap is not None:
            raise InputError.conflicting_arguments(
                f"lower is {self.lower.text} and cap is {self.cap.text}; give one of them: a cap bounds what a report "
                "tells anybody, and implies lower = cap"
            )

    @property
    def below(self) -> Epsilon | None:
        """Lower, or the cap, or None."""
        return self.lower if self.cap is None else self.cap

    @property
    def below_name(self) -> str:
        """``lower`` or ``cap``."""
        return "lower" if self.cap is None else "cap"

    @property
    def floor_up(self) -> Floor:
        """What proofs ask from below: a rational that is at least exp(-lower) or exp(-cap)."""
        return NO_FLOOR if self.below is None else Floor(1 / self.below.exp_down, self.cap is not None)

    @property
    def floor_down(self) -> Floor:
        """What bounds take for granted from below: a rational that is at most exp(-lower) or exp(-cap)."""
        return NO_FLOOR if self.below is None else Floor(1 / self.below.exp_up, self.cap is not None)

    @property
    def only_constant(self) -> bool:
        """Whether a number is 0: only a mechanism whose reports do not depend on the input keeps the promise."""
        return self.least.exp_down == 1

    @property
    def beside(self) -> dict[str, Epsilon]:
        """The numbers beside epsilon, by their names."""
        given = {name: getattr(self, name) for name in ("lower", "cap", "maximal_leakage")}
        return {name: number for name, number in given.items() if number is not None}

    @property
    def least(self) -> Epsilon:
        """The least number: local differential privacy with it implies the promise."""
        return min([self.epsilon, *self.beside.values()], key=lambda side: side.exp_down)

    def __repr__(self) -> str:
        return f"Sides({self.in_words})"

    def with_numbers(self, epsilon: object, below: Callable[[], object]) -> Sides:
        """Return a promise of the same kind with another epsilon, and another number from below if there is one."""
        other = {} if self.below is None else {self.below_name: below()}
        return Sides(epsilon, **other, maximal_leakage=self.maximal_leakage)

    def beside_as_text(self) -> dict[str, str]:
        """Return the numbers beside epsilon as files hold them, by their names; an empty table where there are none."""
        return {name: number.text for name, number in self.beside.items()}

    @property
    def in_words(self) -> str:
        """``epsilon = 1``, or ``epsilon = 1 and lower = 2``."""
        beside = (f" and {name.replace('_', ' ')} = {number}" for name, number in self.beside.items())
        return f"epsilon = {self.epsilon}{''.join(beside)}"
