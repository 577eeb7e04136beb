"""Least estimation errors in closed form, for the frequencies of all symbols where the estimate is uniform."""

from __future__ import annotations

from fractions import Fraction

from mechdesign.optimize.closed_form.form import ClosedForm, exact_cone
from mechdesign.problem import DesignProblem

BALANCED_SETS = "sets of N/e categories, uniform known prior (trace bound)"
SUBSET_SELECTION = "subset selection, uniform prior (Ye and Barg 2018)"


def least_error_of_sets(size: int, exp_epsilon: Fraction, members: int) -> Fraction:
    """Return n times the mean squared error of subset selection at the uniform prior, all frequencies.

    A report is a set of d symbols, e times as likely if it contains the symbol of the record. With ``p = d/N`` and
    ``q = 1 + (e - 1) p`` the error is ``(N - 1)^2 q^2 / (N p (1 - p) (e - 1)^2)``.

    Examples
    --------
    >>> float(least_error_of_sets(2, Fraction(3), 1))
    2.0
    """
    p = Fraction(members, size)
    q = 1 + (exp_epsilon - 1) * p
    return (size - 1) ** 2 * q**2 / (size * p * (1 - p) * (exp_epsilon - 1) ** 2)


def solve(problem: DesignProblem) -> ClosedForm | None:
    """Return the least error at a uniform estimate, under local differential privacy or for a known prior.

    For a known prior N/e must be an integer: reports are the sets of N/e symbols, and the error is
    ``(N - 1)^2 / (N (e - 1))``, which no mechanism betters (the trace of the information is at most e - 1 above 1).
    """
    given, objective = exact_cone(problem), problem.utility.estimation
    if given is None or objective is None or not objective.is_plain or given.e <= 1:
        return None
    N = given.P.size
    if N < 2 or any(p != given.P[0] for p in given.P):
        return None
    if given.only_d:
        best = min(least_error_of_sets(N, given.e, k) for k in range(1, N))
        return ClosedForm(SUBSET_SELECTION, None, optimal=True, value=float(best))
    if given.t == 0 and (N / given.e).denominator == 1:
        return ClosedForm(BALANCED_SETS, None, optimal=True, value=float(Fraction((N - 1) ** 2, N) / (given.e - 1)))
    return None
