"""What a mechanism may be worth if its reports leak more than epsilon with a small probability.

Let ``mu(v) <= <lambda, v> + r <P, v>`` for all columns v of the cone, which is what a certificate says. A column
outside of it has ``mu(v) - <lambda, v> <= sum_i v_i (mu(1_i) - lambda_i) <= C <P, v>``, because mu is sublinear, with
``C = max_i (mu(1_i) - lambda_i) / P_i``. If such columns have the probability delta at most, the utility is at most

    sum_i lambda_i + r + delta max(0, C - r),

also if they are far outside, and whether or not post-processing keeps the promise (docs/mathematics.md).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from mechdesign.data.checks import check_kind
from mechdesign.errors import InputError
from mechdesign.numerics.exact import float_up
from mechdesign.optimize.certificate import full_disclosure
from mechdesign.optimize.result import Design
from mechdesign.pml.tail import checked_probability
from mechdesign.uncertainty.base import check_about_data
from mechdesign.utility.objective import as_utility

_EPS = float(np.finfo(float).eps)


def bound_with_tail(design: Design, delta: object) -> float:
    """Return the greatest utility of mechanisms whose reports leak more than epsilon with probability delta at most.

    It is computed from the certificate of a design, and holds for every mechanism of which, at the reference prior, the
    reports that break the promise of the problem have the probability delta at most (for a known prior: every
    (epsilon, delta)-PML mechanism, ED Definition 3). It exceeds the bound of the design by a multiple of delta: that is
    the most that a delta can gain.

    Parameters
    ----------
    design : Design
        For a utility at the reference prior, with a promise of epsilon alone.
    delta : number or str
        In [0, 1].

    Returns
    -------
    float
        In the unit of the utility, rounded up; at most the utility of the data themselves.

    Raises
    ------
    InputError
        For a design with another promise beside epsilon, for a secret, for an error that is minimised or for the least
        utility over a set, and for a delta outside [0, 1].

    Examples
    --------
    >>> import mechdesign as md
    >>> design = md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), 1))
    >>> [round(bound_with_tail(design, delta) - design.upper_bound, 9) for delta in ("0", "1e-9", "0.1")]
    [0.0, 1e-09, 0.095764011]
    """
    check_kind(design, Design, "the design", "what md.design returns")
    problem, most = design.problem, checked_probability(delta)
    check_about_data(problem.uncertainty, "a bound with a tail")
    if problem.utility.minimised or problem.utility.worst_case is not None:
        raise InputError.wrong_objective(
            f"the objective is {problem.utility.name}; accepted: a utility at the reference prior"
        )
    for name in ("lower", "cap", "maximal_leakage"):
        if getattr(problem, name) is not None:
            raise InputError.conflicting_arguments(
                f"the design promises {name} = {getattr(problem, name)} beside epsilon; give one for epsilon alone"
            )
    if most == 0:
        return design.upper_bound
    disclosure, P = full_disclosure(problem), problem.uncertainty.prior
    if not P.all():
        return disclosure
    lam, r = design.certificate.multipliers, Fraction(design.certificate.reduced_cost)
    columns = np.diag(1 / P)
    gains = as_utility(problem.utility).mu_up(columns, P, 4 * _EPS * columns)
    if not np.isfinite(gains).all():
        return disclosure
    each = zip(gains.tolist(), lam.tolist(), problem.uncertainty.center, strict=True)
    greatest = max(Fraction(gain) - Fraction(price) / p for gain, price, p in each)
    bound = sum(map(Fraction, lam.tolist()), Fraction(0)) + r + most * max(Fraction(0), greatest - r)
    return min(disclosure, math.nextafter(float_up(bound), math.inf))
