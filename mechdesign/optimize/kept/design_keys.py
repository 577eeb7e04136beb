"""When two problems are the same: a hash of everything that their design depends on, in exact numbers."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from mechdesign.errors import InputError
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.codec import TableKind
from mechdesign.uncertainty.registry import table_of
from mechdesign.utility import Objective, is_named
from mechdesign.version import __version__


@dataclass(frozen=True)
class DesignKey:
    """What a design is found by.

    Attributes
    ----------
    name : str
        A SHA-256 in hex, of the text.
    text : str
        JSON in ASCII with sorted keys: the problem in exact numbers, tol, bits, and the version of the package.
    lasting : bool
        Whether files can hold the problem. Otherwise the text names an object of this process, and the key is of no use
        to another one.
    """

    name: str
    text: str
    lasting: bool


def key_of(problem: DesignProblem, tol: float, bits: int) -> DesignKey:
    """Return the key of the design of a problem.

    Numbers are rationals, so that ``1``, ``1.0`` and ``"1"`` are one epsilon. Labels and their order belong to the
    problem. Titles do not, nor does a time limit.

    Parameters
    ----------
    problem : DesignProblem
        The problem.
    tol : float
        The relative gap that counts as optimal.
    bits : int
        Those of the probabilities.

    Examples
    --------
    >>> import mechdesign as md
    >>> ball = md.L1Ball([0.5, 0.3, 0.2])
    >>> one, same = (key_of(md.DesignProblem(ball, epsilon), 1e-6, 48) for epsilon in (1, "1.0"))
    >>> one == same
    True
    """
    known, objective = problem.uncertainty, problem.utility
    worst = objective.worst_case
    over = None if worst is None else worst.over
    described = {
        "set": _set(known),
        "utility": _utility(objective if worst is None else worst.utility),
        "least over": worst and ("the set" if over is None else _set(over)),
    }
    lasting = not any(isinstance(part, dict) and _OBJECT in part for part in described.values())
    whole = {
        **described,
        "labels": list(known.labels),
        "epsilon": _exact(problem.epsilon),
        "lower": None if problem.lower is None else _exact(problem.lower),
        **{name: _exact(number) for name, number in problem.sides.beside.items() if name != "lower"},
        "tol": tol,
        "bits": bits,
        "version": __version__,
    }
    text = json.dumps(whole, sort_keys=True, default=str)
    return DesignKey(hashlib.sha256(text.encode()).hexdigest(), text, lasting and is_named(objective))


_OBJECT = "object of this process"


def _exact(epsilon: Epsilon) -> str:
    return str(epsilon.exponent) if epsilon.power is None else f"log({epsilon.power})"


def _set(known: UncertaintySet) -> dict[str, Any]:
    try:
        table = table_of(known.exact_set, TableKind.GUARANTEE)
    except InputError:  # a class that is not registered, or more digits than files hold
        return {_OBJECT: id(known)}
    return {**table, "as printed": known.exact_set is not known}


def _utility(objective: Objective) -> dict[str, Any]:
    if not is_named(objective):
        return {_OBJECT: id(objective)}
    return {"name": objective.name, "matrix": objective.matrix_as_text(), "workload": objective.workload_table()}
