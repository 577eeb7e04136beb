"""Mechanisms of users and of the literature beside a design: their value, and whether they keep its promise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.data.labelled import is_table
from mechdesign.errors import InputError, shorten
from mechdesign.mechanism import ExactMatrix
from mechdesign.numerics.exact import log_up
from mechdesign.numerics.tolerances import FLOAT_LEAKAGE
from mechdesign.problem import DesignProblem
from mechdesign.utility import Objective


@dataclass(frozen=True)
class Beside:
    """A mechanism beside a design.

    Attributes
    ----------
    name : str
        Of the mechanism.
    value : float
        Its utility or error, as that of the design is measured.
    leakage : float
        The greatest leakage of an output over the priors of the promise, in nats, rounded up; infinite where a prior
        of the set gives an output probability 0 that another symbol can cause.
    lower_leakage : float
        How far a report lowers the probability of a symbol, in nats, rounded up.
    keeps : bool
        Whether it keeps the promise of the design, up to the errors of floats (1e-12 nats), as
        `Mechanism.from_matrix` takes a matrix.
    """

    name: str
    value: float
    leakage: float
    lower_leakage: float
    keeps: bool


def besides(mechanisms: Any, problem: DesignProblem, objective: Objective) -> tuple[Beside, ...]:
    """Return mechanisms beside the design of a problem.

    Parameters
    ----------
    mechanisms : iterable, or mapping by name
        Whatever `ExactMatrix.of` takes, or pairs of a name and such a mechanism.
    problem : DesignProblem
        Whose promise they keep or break.
    objective : Objective
        What their value is.

    Raises
    ------
    InputError
        If one is not a mechanism on the alphabet of the problem; the message has its name.
    """
    if isinstance(mechanisms, Mapping):
        named = [(str(name), given) for name, given in mechanisms.items()]
    elif isinstance(mechanisms, Iterable) and not isinstance(mechanisms, str) and not is_table(mechanisms):
        named = [_named(one) for one in mechanisms]
    else:
        raise InputError(
            f"the mechanisms are {shorten(mechanisms)}; accepted: a list of mechanisms, or a mapping by name"
        )
    found = []
    for place, (name, given) in enumerate(named):
        called = name or getattr(getattr(given, "exact_matrix", given), "name", "") or f"mechanism {place + 1}"
        try:
            found.append(_beside(called, ExactMatrix.of(given), problem, objective))
        except InputError as error:
            raise InputError(f"{called}: {error}") from None
    return tuple(found)


def _named(given: Any) -> tuple[str, Any]:
    """Return a mechanism with its name; without one, with an empty text."""
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str):
        return given
    return "", given


def _beside(name: str, given: ExactMatrix, problem: DesignProblem, objective: Objective) -> Beside:
    known = problem.uncertainty
    exact = given.on_alphabet_of(known)
    worst, least = exact.greatest_ratio(known), min(exact.least_lifts(known))
    return Beside(
        name,
        objective.value_over(exact.matrix, known),
        math.inf if worst is None else log_up(worst),
        math.inf if least == 0 else log_up(1 / least),
        keeps_promise(worst, least, problem),
    )


def keeps_promise(
    worst: Fraction | None, least: Fraction, problem: DesignProblem, slack: float = FLOAT_LEAKAGE
) -> bool:
    """Return whether lifts keep the promise of a problem, up to the errors of floats.

    Parameters
    ----------
    worst : Fraction or None
        The greatest lift over the set; None if it is infinite.
    least : Fraction
        The least lift.
    problem : DesignProblem
        With the promise.
    slack : float
        How many nats it may be missed by; 0 for none.
    """
    factor = 1 + Fraction(slack)
    if worst is None or worst > problem.epsilon.exp_down * factor:
        return False
    return problem.lower is None or least * factor >= 1 / problem.lower.exp_down
