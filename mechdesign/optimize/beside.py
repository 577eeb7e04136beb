"""Mechanisms of users and of the literature beside a design: their value, and whether they keep its promise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mechdesign.data.labelled import is_table
from mechdesign.display.text import text_above
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
        Whether it keeps the promise of the design: exactly, or one given as floats or decimals up to their errors
        (1e-12 nats), as `Mechanism.from_matrix` takes a matrix.
    missed : float
        By how many nats it misses the promise, rounded up; 0 if it keeps the promise exactly, infinite where no epsilon
        would be enough.
    """

    name: str
    value: float
    leakage: float
    lower_leakage: float
    keeps: bool
    missed: float = 0.0


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
        keeps_promise(worst, least, problem, rounded=exact.rounded),
        missed_by(worst, least, problem),
    )


def keeps_promise(worst: Fraction | None, least: Fraction, problem: DesignProblem, *, rounded: bool) -> bool:
    """Return whether lifts keep the promise of a problem.

    Parameters
    ----------
    worst : Fraction or None
        The greatest lift over the set; None if it is infinite.
    least : Fraction
        The least lift.
    problem : DesignProblem
        With the promise.
    rounded : bool
        Whether the promise may be missed by the errors of floats, 1e-12 nats.
    """
    too_much = _excess(worst, least, problem)
    return too_much is not None and too_much <= 1 + Fraction(FLOAT_LEAKAGE if rounded else 0)


def missed_by(worst: Fraction | None, least: Fraction, problem: DesignProblem) -> float:
    """Return by how many nats lifts miss the promise of a problem, rounded up; 0 if they keep it.

    Parameters
    ----------
    worst, least, problem
        As in `keeps_promise`.

    Examples
    --------
    >>> import mechdesign as md
    >>> problem = md.DesignProblem(md.L1Ball([0.5, 0.5], 2), "log(2)")
    >>> missed_by(Fraction(2), Fraction(1, 2), problem), round(missed_by(Fraction(4), Fraction(1, 2), problem), 4)
    (0.0, 0.6931)
    """
    too_much = _excess(worst, least, problem)
    return math.inf if too_much is None else log_up(max(Fraction(1), too_much))


def _excess(worst: Fraction | None, least: Fraction, problem: DesignProblem) -> Fraction | None:
    """Return the greatest factor by which a lift leaves what is promised, at most 1 if none does; None if infinite."""
    if worst is None or (problem.lower is not None and least == 0):
        return None
    above = worst / problem.epsilon.exp_down
    return above if problem.lower is None else max(above, 1 / (least * problem.lower.exp_down))


def missed_in_words(missed: float) -> str:
    """Return what is said of a promise that counts as kept, and is missed by the errors of floats.

    Examples
    --------
    >>> missed_in_words(2.3e-16)
    'missed by at most 2.3e-16 nats, within the errors of floats'
    """
    return f"missed by at most {text_above(missed, 2)} nats, within the errors of floats"
