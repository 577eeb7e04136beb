"""Which set one mechanism for all groups of records is designed for: the union of their sets, or a ball around it."""

from __future__ import annotations

from mechdesign.errors import LimitError
from mechdesign.optimize.effective_epsilon import effective_exp_epsilon, effective_least_lift
from mechdesign.optimize.pricing.listing import check_listable
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty import Union

_FEW_SYMBOLS = 4  # up to so many, the rays of any union are listed in seconds
_MOST_CUTS = 36  # symbols times sets: likewise


def designable(problem: DesignProblem[Union], *, cover: bool | None = None) -> DesignProblem[Union]:
    """Return the problem over the set that a mechanism for all groups is designed for: the union, or else its cover.

    The union allows more mechanisms than its cover. By default it is taken where a method is exact for it: for gains,
    known priors, a union that is a ball, and few symbols and groups, of which the rays are listed.

    Parameters
    ----------
    problem : DesignProblem
        Over the union of the sets of all groups.
    cover : bool, optional
        True takes the cover, and False the union, of which the best mechanism that is found may not be certified.

    Raises
    ------
    InputError
        For a cover of sets that are not l1 balls.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> unions = [Union([L1Ball([1 / N] * N, "0.1"), L1Ball([1 / N] * N, "0.2")]) for N in (4, 10)]
    >>> [designable(DesignProblem(union, 1)).uncertainty.cover for union in unions]
    [None, L1Ball(10 symbols, radius=0.2)]
    """
    if cover is None:
        cover = all(each.l1_ball is not None for each in problem.uncertainty.sets) and not _is_exact(problem)
    if not cover:
        return problem
    return DesignProblem(problem.uncertainty.covered(), problem.epsilon, problem.utility, problem.lower)


def _is_exact(problem: DesignProblem[Union]) -> bool:
    """Return whether a method is exact for the union itself, within seconds."""
    union, worst = problem.uncertainty, problem.utility.worst_case
    if problem.utility.is_polyhedral or (worst is not None and worst.utility.is_polyhedral):
        return True
    if union.convex_hull is not None or union.l1_ball is not None:
        return True
    if union.size > _FEW_SYMBOLS and union.size * len(union.sets) > _MOST_CUTS:
        return False
    try:
        check_listable(union, effective_exp_epsilon(problem), effective_least_lift(problem))
    except LimitError:
        return False
    return True
