"""What a mechanism in exact numbers is worth: limits of its value, in rationals and balls, rounded outward.

Shared by nothing that searches for mechanisms: only the definition of each objective is used. Of an f-information each
column v contributes ``q sum_i P_i f(v_i / q)``, q its mass; of a gain the greatest sum over guesses; of explained
variance the square of ``sum_i P_i (a_i - m) v_i`` over q. Errors of estimates come from balls of which 60 bits are
right.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from flint import fmpz_mat

import mechdesign as md
from mechdesign.errors import InputError, LimitError
from mechdesign.mechanism import ExactMatrix
from mechdesign.numerics.exact import (
    arb_of,
    float_down,
    float_up,
    lower,
    over_common_denominator,
    upper,
    working_precision,
)
from mechdesign.utility.query_variances import exact_variances

_BITS = 256
_OFF = Fraction(1, 2**52)  # of a variance, relative


class Worth(NamedTuple):
    """Floats between which the value of a mechanism lies, ends included."""

    low: float
    high: float


def _x_log_x(u: Any) -> Any:
    return u * u.log() if u > 0 else u


F_OF_BALLS: dict[str, Callable[[Any], Any]] = {
    "mutual-information": _x_log_x,
    "chi-square": lambda u: (u - 1) ** 2,
    "total-variation": lambda u: abs(u - 1) / 2,
    "squared-hellinger": lambda u: (1 - u.sqrt()) ** 2,
}
"""The function f of each f-information, for balls."""


def worth(exact: ExactMatrix, problem: md.DesignProblem) -> Worth:
    """Return limits of the value of a matrix whose rows are in the order of the symbols.

    Raises
    ------
    InputError
        For an objective that no definition here covers, such as a least utility.
    LimitError
        If reports determine the queries so nearly not that their error cannot be computed.

    Examples
    --------
    >>> problem = md.DesignProblem(md.L1Ball([0.5, 0.5]), 1, md.TotalVariation())
    >>> worth(ExactMatrix.of([["0.75", "0.25"], ["0.25", "0.75"]]), problem)
    Worth(low=0.25, high=0.25)
    """
    objective, center = problem.utility, problem.uncertainty.center
    if objective.estimation is not None:
        return _error(exact, problem)
    if objective.polyhedral is not None:
        value = _gain(exact, problem)
        return Worth(float_down(value), float_up(value))
    with working_precision(_BITS):
        if objective.explained_variance is not None:
            total = _explained(exact, objective.explained_variance.centered(center), center)
        elif objective.f_information is not None and objective.name in F_OF_BALLS:
            total = _information(exact, F_OF_BALLS[objective.name], center)
        else:
            raise InputError.wrong_objective(
                f"{objective.name} is not judged; accepted: {', '.join(F_OF_BALLS)}, a gain"
            )
        return Worth(float_down(lower(total)), float_up(upper(total)))


def _scale(exact: ExactMatrix) -> int:
    """Return what each column of integers is over, for every row."""
    return sum(exact.column(output)[0] for output in range(exact.count))


def _information(exact: ExactMatrix, f: Callable[[Any], Any], center: tuple[Fraction, ...]) -> Any:
    weights, common = over_common_denominator(center)
    total = arb_of(0)
    for output in range(exact.count):
        masses: dict[int, int] = defaultdict(int)  # of symbols with the same entry
        for weight, entry in zip(weights, exact.column(output), strict=True):
            masses[entry] += weight
        mass = sum(weight * entry for entry, weight in masses.items())
        if mass:
            terms = (weight * f(arb_of(Fraction(entry * common, mass))) for entry, weight in masses.items() if weight)
            total += mass * sum(terms, arb_of(0))
    return total / (common * common * _scale(exact))


def _explained(exact: ExactMatrix, centered: list[Fraction], center: tuple[Fraction, ...]) -> Any:
    total = Fraction(0)
    parts = arb_of(0)
    for output in range(exact.count):
        column = exact.column(output)
        mass = sum((p * v for p, v in zip(center, column, strict=True)), total)
        moment = sum((p * a * v for p, a, v in zip(center, centered, column, strict=True)), total)
        parts += arb_of(moment * moment / mass) if mass else 0
    return parts / _scale(exact)


def _gain(exact: ExactMatrix, problem: md.DesignProblem) -> Fraction:
    center, size = problem.uncertainty.center, problem.uncertainty.size
    gains = problem.utility.polyhedral.exact_gains(size)
    guesses = range(len(problem.utility.polyhedral.gains(size)))
    terms = [center[symbol] * gains(guess, symbol) for guess in guesses for symbol in range(size)]
    numerators, common = over_common_denominator(terms)
    columns = [value for output in range(exact.count) for value in exact.column(output)]
    sums = fmpz_mat(len(guesses), size, numerators) * fmpz_mat(exact.count, size, columns).transpose()
    best = sum(max(int(sums[guess, output]) for guess in guesses) for output in range(exact.count))
    return Fraction(best, common * _scale(exact))


def _error(exact: ExactMatrix, problem: md.DesignProblem) -> Worth:
    known = problem.uncertainty
    each = exact_variances(exact.weights, known.center, problem.utility.estimation.workload.queries(known.size))
    if each is None:
        raise LimitError.too_much_work(
            "the matrix has more than 300 rows that are neither equal nor independent; give one whose rows differ"
        )
    if max(each) == float("inf"):
        return Worth(float("inf"), float("inf"))
    total = sum(map(Fraction, each.tolist()), Fraction(0))
    return Worth(float_down(total * (1 - _OFF)), float_up(total * (1 + _OFF)))
