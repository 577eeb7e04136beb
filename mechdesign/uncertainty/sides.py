"""The two sides of a promise: how far reports raise probabilities, and how far they lower them.

*From below over a set.* With ``lower`` no report lowers the probability of a symbol by a factor below exp(-lower), for
any prior of the set.

*A cap for everyone.* With ``cap`` the mechanism also keeps local differential privacy: no entry of a column is above
exp(cap) times another. That is the promise from below with exp(-cap), for every prior whatever, because the greatest
mean of a column under any prior is its greatest entry. So one mechanism serves both: a `Floor`.
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
        The promise from below, over the set or for every prior; at most one of both.

    Raises
    ------
    InputError
        If a number is negative or not finite, lower and cap are both given, or either is given beside sides.

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

    def __init__(self, epsilon: object, lower: object = None, cap: object = None) -> None:
        given = epsilon if isinstance(epsilon, Sides) else None
        if given is not None:
            if lower is not None or cap is not None:
                name, number = ("lower", lower) if cap is None else ("cap", cap)
                raise InputError.conflicting_arguments(
                    f"{name} is {shorten(str(number))} beside the sides of a promise, which have their own; give "
                    f"epsilon and {name}, or the sides alone"
                )
            epsilon, lower, cap = given.epsilon, given.lower, given.cap
        object.__setattr__(self, "epsilon", Epsilon.of(epsilon))
        object.__setattr__(self, "lower", None if lower is None else Epsilon.of(lower, "lower"))
        object.__setattr__(self, "cap", None if cap is None else Epsilon.of(cap, "cap"))
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
        """Whether a side is 0: only a mechanism whose reports do not depend on the input keeps the promise."""
        return self.epsilon.exp_down == 1 or (self.below is not None and self.below.exp_down == 1)

    @property
    def least(self) -> Epsilon:
        """The lesser of both sides: local differential privacy with it implies the promise."""
        sides = [self.epsilon] if self.below is None else [self.epsilon, self.below]
        return min(sides, key=lambda side: side.exp_down)

    def __repr__(self) -> str:
        return f"Sides({self.in_words})"

    def with_numbers(self, epsilon: object, below: Callable[[], object]) -> Sides:
        """Return a promise of the same kind with another epsilon, and another number from below if there is one."""
        return Sides(epsilon, **({} if self.below is None else {self.below_name: below()}))

    def below_as_text(self) -> dict[str, str]:
        """Return the number from below as files hold it, by its name; an empty table where there is none."""
        return {} if self.below is None else {self.below_name: self.below.text}

    @property
    def in_words(self) -> str:
        """``epsilon = 1``, or ``epsilon = 1 and lower = 2``."""
        return f"epsilon = {self.epsilon}" + ("" if self.below is None else f" and {self.below_name} = {self.below}")
