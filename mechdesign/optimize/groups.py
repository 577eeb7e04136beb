"""One mechanism for all groups of records: designed for the union of their sets, or for a ball around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.optimize.designer import design
from mechdesign.optimize.effective_epsilon import effective_exp_epsilon
from mechdesign.optimize.pricing.listing import check_listable
from mechdesign.optimize.result import Design
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty import Union

_FEW_SYMBOLS = 4  # up to so many, the rays of any union are listed in seconds
_MOST_CUTS = 36  # symbols times sets: likewise
_SEARCH = 10.0  # seconds for the union where a method that is exact for it may take long


@dataclass(frozen=True)
class GroupDesigns:
    """Designs for a union and for a ball around it.

    Attributes
    ----------
    best : str
        ``union`` or ``cover``: a certified design before others, then the one of better value.
    designs : dict
        Both by these names, so far as a method designs them and the sets are l1 balls.
    values : dict
        Their utilities, or errors, for all records together: at the estimate of the union, which that of the cover may
        not be.
    """

    best: str
    designs: dict[str, Design]
    values: dict[str, float]


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
    [None, L1Ball(10 categories, radius=0.2)]
    """
    if cover is None:
        cover = all(each.l1_ball is not None for each in problem.uncertainty.sets) and not _is_exact(problem)
    if not cover:
        return problem
    return problem.over(problem.uncertainty.covered())


def design_for_groups(problem: DesignProblem, *, time_limit: float | None = None, **options: Any) -> GroupDesigns:
    """Return designs for a union of sets and for a ball around all of them, and which is better.

    Every mechanism for the cover keeps the promise of the union, so that only a search that ends early finds the cover
    better. Where no method is known to be quick for the union, its search ends after ten seconds.

    Parameters
    ----------
    problem : DesignProblem
        Over the union or its cover.
    time_limit, options
        As for `design`, for each of both.

    Raises
    ------
    InputError, LimitError
        For another set than a union, and if neither is designed, as `design` for the last that was tried.

    Examples
    --------
    >>> from mechdesign import L1Ball, MutualInformation
    >>> union = Union([L1Ball(["0.5", "0.3", "0.2"], "0.1"), L1Ball(["0.3", "0.3", "0.4"], "0.2")])
    >>> found = design_for_groups(DesignProblem(union, 1, MutualInformation()))
    >>> found.best, {name: round(value, 4) for name, value in found.values.items()}
    ('union', {'union': 0.4865, 'cover': 0.4523})
    """
    given = problem.uncertainty.union
    if given is None:
        raise InputError.set_not_accepted(f"the problem is for {shorten(problem.uncertainty)}; give one for a Union")
    union = Union(given.sets, given.weights, names=given.names)
    over = problem.over(union)
    ways = {"union": (over, time_limit if _is_exact(over) else min(_SEARCH, time_limit or _SEARCH))}
    if all(each.l1_ball is not None for each in union.sets):
        ways["cover"] = designable(over, cover=True), time_limit
    designs: dict[str, Design] = {}
    for name, (tried, seconds) in ways.items():
        try:
            designs[name] = design(tried, time_limit=seconds, **options)
        except (InputError, LimitError):
            if not designs and name == list(ways)[-1]:
                raise
        else:
            if designs[name].stopped == "interrupted":
                break
    values = {name: over.utility.value_of_integers(each.mechanism.numerators, union) for name, each in designs.items()}
    sign = -1 if over.utility.minimised else 1
    best = max(designs, key=lambda name: (designs[name].reached, sign * values[name]))
    return GroupDesigns(best, designs, values)


def _is_exact(problem: DesignProblem[Union]) -> bool:
    """Return whether a method is exact for the union itself, within seconds."""
    union, worst = problem.uncertainty, problem.utility.worst_case
    linear = problem.utility.is_polyhedral or (worst is not None and worst.utility.is_polyhedral)
    if linear or union.convex_hull is not None or union.l1_ball is not None:
        return True
    if union.size > _FEW_SYMBOLS and union.size * len(union.sets) > _MOST_CUTS:
        return False
    try:
        check_listable(union, effective_exp_epsilon(problem), problem.sides.floor_down)
    except LimitError:
        return False
    return True
