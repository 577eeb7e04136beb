"""High privacy under l1 uncertainty, for any number of symbols.

The binary form and the known-prior form are special cases. This form is optimal for mutual information and chi-square
information while t is at most the least probability. For total variation it is not, so that for other utilities it is
used for comparison, and returned only with a certificate.
"""

from __future__ import annotations

from fractions import Fraction

from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.closed_form.form import ClosedForm, Numbers, exact_cone, except_diagonal
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.problem import DesignProblem
from mechdesign.utility import FInformation, Objective

THEOREM = "high privacy, l1 ball"


def applies(given: L1Cone[Fraction]) -> bool:
    """Return whether epsilon > 0 and ``c (1 - min P) <= 1`` with ``c = e / (1 + t e)``."""
    return bool(given.e > 1 and given.c * (1 - given.P.min()) <= 1)


def optimal(given: L1Cone[Fraction], utility: Objective) -> bool:
    """Return whether optimality is proved for a utility.

    That is so for every sub-convex utility where the prior is known, and for two symbols while ``t <= min P``: for
    greater t the ball cut with the simplex is smaller than eq. (97) assumes, and better mechanisms exist. With as small
    a t it is so for any number of symbols and f-informations with a falling kernel, such as mutual information.
    """
    narrow, information = given.t <= given.P.min(), utility.f_information
    falling = information is not None and information.has_falling_kernel
    return bool(given.t == 0 or (narrow and (given.P.size == 2 or falling)))


def mechanism(given: L1Cone[Fraction], *, in_floats: bool = False) -> Numbers:
    """Return ``p_ij = e (P_j + t) / (1 + N t e)`` and ``p_jj = (1 - e (1 - P_j - t)) / (1 + N t e)``.

    Column j is a multiple of the ray of kind A whose S holds every symbol but j; these N multiples make rows
    sum to 1.
    """
    P, t, e = given.P, given.t, given.e
    whole = 1 + P.size * t * e
    return except_diagonal(e * (P + t) / whole, (1 - e * (1 - P - t)) / whole, in_floats=in_floats)


def multipliers(given: L1Cone[Fraction], information: FInformation) -> Floats:
    """Return lambda of the proof in floats, which proves the form optimal where it is.

    It makes the reduced cost of every column of the form 0.

    Examples
    --------
    >>> import numpy as np
    >>> from mechdesign import MutualInformation
    >>> given = L1Cone(np.array([Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]), Fraction(1, 10), Fraction(5, 4))
    >>> dual, P, form = multipliers(given, MutualInformation()), given.P.astype(float), mechanism(given, in_floats=True)
    >>> bool(abs(MutualInformation().mu(form, P) - dual @ form).max() < 1e-15)
    True
    """
    P, x, d = given.P, given.e * given.t, given.e - 1
    masses, weights = P.astype(float), (P + x).astype(float)
    inside, outside = (1 - d * (1 - P) / (P + x)).astype(float), (1 + d * P / (P + x)).astype(float)
    utilities = masses * information.f(inside) + (1 - masses) * information.f(outside)
    value = weights @ utilities / weights.sum()
    result: Floats = value * masses + weights * (value - utilities) / float(d)
    return result


def solve(problem: DesignProblem) -> ClosedForm | None:
    """Return the mechanism, which is always feasible; None where it does not apply."""
    given = exact_cone(problem)
    if given is None or not applies(given):
        return None
    proved, information = optimal(given, problem.utility), problem.utility.f_information
    dual = multipliers(given, information) if proved and information is not None else None
    return ClosedForm(THEOREM, mechanism(given, in_floats=True), proved, multipliers=dual)
