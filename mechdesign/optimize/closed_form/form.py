"""Closed forms: a mechanism with its theorem, and the exact numbers that the formulas are written in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.problem import DesignProblem

Numbers = NDArray[Any]
"""An array of Fractions (dtype object), so that borders and zeros are exact, or of floats."""


@dataclass(frozen=True)
class ClosedForm:
    """A mechanism that a theorem gives, or the value of one, and what the theorem says of it.

    Attributes
    ----------
    theorem : str
        Its name and source.
    matrix : array, shape (N, M), or None
        The mechanism; it satisfies the privacy of the problem. None where it has too many outputs to write down.
    optimal : bool
        Whether the mechanism is proved optimal for the objective of the problem; if not, it is only known to be
        feasible.
    value : float or None
        The objective of the mechanism where there is no matrix.
    multipliers : array, shape (N,), or None
        lambda of the proof, up to rounding, where the theorem says one: its bound is the value.
    """

    theorem: str
    matrix: Numbers | None
    optimal: bool
    value: float | None = None
    multipliers: Floats | None = None

    def value_for(self, problem: DesignProblem) -> float:
        """Return the objective of the mechanism at the reference prior of a problem."""
        if self.matrix is None:
            return float("nan") if self.value is None else self.value
        return problem.utility.value(self.matrix, problem.uncertainty.center)


def exact_cone(problem: DesignProblem) -> L1Cone[Fraction] | None:
    """Return the cone of a problem over an l1 ball in Fractions, exp(epsilon) rounded down; None over another set.

    With a cap above epsilon it is the cone whose columns have images with the cap (`capped_cone`).
    """
    ball, e, a = problem.uncertainty.l1_ball, problem.epsilon.exp_down, Fraction(0)
    if problem.cap is not None:
        a = problem.sides.floor_up.least_lift
    if ball is None or a * e >= 1:
        return None
    e = (1 - a) / (1 / e - a)
    return L1Cone(fractions(ball.center), ball.half_radius, e, ball.within_simplex, least=a)


def optimal_form(
    problem: DesignProblem,
    theorem: str,
    applies: Callable[[L1Cone[Fraction]], bool],
    mechanism: Callable[[L1Cone[Fraction]], Numbers],
) -> ClosedForm | None:
    """Return the mechanism of a theorem that proves it optimal for the problem; None where the theorem does not apply.

    Parameters
    ----------
    problem : DesignProblem
        The theorem must prove the mechanism optimal for its utility.
    theorem : str
        Its name and source.
    applies, mechanism : function
        The condition and the matrix, of the cone in Fractions.
    """
    given = exact_cone(problem)
    if given is None or not applies(given):
        return None
    return ClosedForm(theorem, mechanism(given).astype(float, copy=False), optimal=True)


def fractions(values: Sequence[Fraction]) -> Numbers:
    """Return rationals as an array of objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def except_diagonal(rest: Numbers, diagonal: Numbers, *, in_floats: bool) -> Numbers:
    """Return the matrix whose rows are all alike but for the diagonal.

    Parameters
    ----------
    rest : array, shape (N,)
        A row.
    diagonal : array, shape (N,)
        The diagonal.
    in_floats : bool
        Whether numbers are converted, which takes long for N^2 Fractions and so is done before.

    Examples
    --------
    >>> except_diagonal(np.array([0.25, 0.75]), np.array([0.5, 1.0]), in_floats=True)
    array([[0.5 , 0.75],
           [0.25, 1.  ]])
    """
    if in_floats:
        rest, diagonal = rest.astype(float), diagonal.astype(float)
    matrix: Numbers = np.tile(rest, (rest.size, 1))
    np.fill_diagonal(matrix, diagonal)
    return matrix


def circulant(column: Numbers, *, in_floats: bool = False) -> Numbers:
    """Return the matrix whose columns are the cyclic shifts of a column, scaled so that rows sum to 1.

    Numbers are converted as by `except_diagonal`.

    Examples
    --------
    >>> circulant(np.array([2.0, 1.0, 0.0])).tolist()[0]
    [0.6666666666666666, 0.0, 0.3333333333333333]
    """
    scaled = column / column.sum()
    if in_floats:
        scaled = scaled.astype(float)
    shifts: Numbers = np.stack([np.roll(scaled, k) for k in range(column.size)], axis=1)
    return shifts
