"""Mechanisms of users and of the literature beside a design: their value, and whether they keep its promise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from mechdesign.comparison.row import Compared
from mechdesign.data.labelled import is_table
from mechdesign.errors import InputError, shorten
from mechdesign.mechanism import ExactMatrix
from mechdesign.numerics.exact import log_up
from mechdesign.numerics.tolerances import FLOAT_LEAKAGE
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.sides import Sides, priors_below
from mechdesign.utility import Objective


def given_rows(mechanisms: Any, problem: DesignProblem, objective: Objective) -> tuple[Compared, ...]:
    """Return the rows of mechanisms that the user gave, beside the design of a problem.

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
        If one is not a mechanism on the categories of the problem; the message has its name.
    """
    if isinstance(mechanisms, Mapping):
        named = [(str(name), given) for name, given in mechanisms.items()]
    elif isinstance(mechanisms, Iterable) and not isinstance(mechanisms, str) and not is_table(mechanisms):
        named = [_named(one) for one in mechanisms]
    else:
        raise InputError.wrong_type(
            f"the mechanisms are {shorten(mechanisms)}; accepted: a list of mechanisms, or a mapping by name"
        )
    found = []
    for place, (name, given) in enumerate(named):
        called = name or getattr(getattr(given, "exact_matrix", given), "name", "") or f"mechanism {place + 1}"
        try:
            found.append(_row(called, ExactMatrix.of(given), problem, objective))
        except InputError as error:
            raise error.reworded(f"{called}: {error}") from None
    return tuple(found)


def _named(given: Any) -> tuple[str, Any]:
    """Return a mechanism with its name; without one, with an empty text."""
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str):
        return given
    return "", given


def _row(name: str, given: ExactMatrix, problem: DesignProblem, objective: Objective) -> Compared:
    known = problem.uncertainty
    exact = given.on_alphabet_of(known)
    worst, least = exact.greatest_ratio(known), least_lift(exact, problem.sides, known)
    keeps, missed = kept(worst, least, problem, rounded=exact.rounded, greatest=exact.sum_of_greatest)
    return Compared(
        "",
        name,
        value_of(exact, objective, known),
        leakage=math.inf if worst is None else log_up(worst),
        lower_leakage=math.inf if least == 0 else log_up(1 / least),
        keeps=keeps,
        missed=missed,
    )


def value_of(exact: ExactMatrix, objective: Objective, known: UncertaintySet) -> float:
    """Return the objective of a matrix for a set of priors, decided exactly where the matrix is exact.

    Floats and decimals may stand for numbers near them, by which alone reports may determine an answer: what they are
    worth is computed in floats.

    Examples
    --------
    >>> import mechdesign as md
    >>> matrix = ExactMatrix.of([[1, 2], [2, 1]])
    >>> round(value_of(matrix, md.EstimationError(), md.L1Ball([0.5, 0.5], radius="0")), 9)
    4.5
    """
    return (
        objective.value_over(exact.matrix, known)
        if exact.rounded
        else objective.value_of_integers(exact.weights, known)
    )


def least_lift(exact: ExactMatrix, sides: Sides, known: UncertaintySet) -> Fraction:
    """Return the least lift of any output over the priors of a promise from below; over the set where there is none."""
    return min(exact.least_lifts(priors_below(sides.floor_up, known)))


def kept(
    worst: Fraction | None,
    least: Fraction,
    problem: DesignProblem,
    *,
    rounded: bool,
    greatest: Fraction = Fraction(1),
) -> tuple[bool, float]:
    """Return whether a mechanism keeps the promise of a problem, and by how many nats it misses it, rounded up.

    Parameters
    ----------
    worst : Fraction or None
        The greatest lift over the set; None if it is infinite.
    least : Fraction
        The least lift, from `least_lift`.
    problem : DesignProblem
        With the promise.
    rounded : bool
        Whether the promise may be missed by the errors of floats, 1e-12 nats.
    greatest : Fraction
        The sum of the greatest probabilities of its outputs.

    Examples
    --------
    >>> import mechdesign as md
    >>> problem = md.DesignProblem(md.L1Ball([0.5, 0.5], 2), "log(2)")
    >>> kept(Fraction(2), Fraction(1, 2), problem, rounded=False)
    (True, 0.0)
    >>> kept(Fraction(4), Fraction(1, 2), problem, rounded=True)
    (False, 0.6931471805599454)
    """
    below = problem.sides.below
    if worst is None or (below is not None and least == 0):
        return False, math.inf
    excess = worst / problem.epsilon.exp_down
    if below is not None:
        excess = max(excess, 1 / (least * below.exp_down))
    if problem.maximal_leakage is not None:
        excess = max(excess, greatest / problem.maximal_leakage.exp_down)
    return excess <= 1 + Fraction(FLOAT_LEAKAGE if rounded else 0), log_up(max(Fraction(1), excess))
