"""What one mechanism for all groups of records costs each of them, beside one for each and one without groups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mechdesign.comparison.rivals import design_or_reason
from mechdesign.errors import InputError, shorten
from mechdesign.optimize import Design
from mechdesign.pml import worst_case_leakage
from mechdesign.uncertainty import UncertaintySet


@dataclass(frozen=True)
class GroupPrice:
    """What a group pays.

    Attributes
    ----------
    group : str
        Its name.
    samples : int or None
        Behind the set of its own.
    radius : float or None
        Of that set, if it is an l1 ball.
    value : float
        The utility, or the error, of the mechanism for all groups, at the estimate of this group.
    own_value : float or None
        That of the best mechanism for this group by itself; None where no method designs one.
    own_certified : bool or None
        Whether that one is certified.
    own_missing : str
        Why there is none.
    leakage_without_groups : float or None
        How much the mechanism that is designed without the groups leaks for the priors of this group, in nats; None
        where there is no such mechanism.
    """

    group: str
    samples: int | None
    radius: float | None
    value: float
    own_value: float | None
    own_certified: bool | None
    own_missing: str
    leakage_without_groups: float | None


@dataclass(frozen=True)
class GroupPrices:
    """What a promise for every group costs.

    Attributes
    ----------
    groups : tuple of GroupPrice
        One for each group.
    pooled : Design or None
        The best mechanism for all records together, as if nobody knew the groups; None where no set or no method does.
    """

    groups: tuple[GroupPrice, ...]
    pooled: Design | None


def price_groups(
    together: Design,
    *,
    tol: float | None = None,
    bits: int = 48,
    time_limit: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> GroupPrices:
    """Return what a design for all groups costs each of them, beside a design for each and one without groups.

    Parameters
    ----------
    together : Design
        For a union of the sets of all groups, or for its cover.
    tol, bits, time_limit, progress
        As for `design`, for each of the designs.

    Raises
    ------
    InputError
        If the design is not for a union.

    Examples
    --------
    >>> import mechdesign as md
    >>> union = md.Union.from_counts({"n": {"a": 50, "b": 50}, "s": {"a": 80, "b": 20}}, delta="0.01")
    >>> prices = price_groups(md.design(md.DesignProblem(union, 1, md.EstimationError())))
    >>> [(price.group, round(price.value, 2), round(price.own_value, 2)) for price in prices.groups]
    [('n', 0.96, 0.5), ('s', 1.05, 1.05)]
    """
    problem = together.problem
    union = problem.uncertainty.union
    if union is None:
        raise InputError.set_not_accepted(f"the design is for {shorten(problem.uncertainty)}; give one for a Union")

    def solved(known: UncertaintySet, what: str) -> tuple[Design | None, str]:
        if progress is not None:
            progress(f"the price: {what}")
        own = problem.over(known)
        return design_or_reason(own, tol=tol, bits=bits, title=what, time_limit=time_limit, progress=progress)

    everyone = union.pooled()
    pooled = None if everyone is None else solved(everyone, "all records, without groups")[0]
    groups = []
    for name, known in zip(union.names, union.sets, strict=True):
        alone, missing = solved(known, f"group {name} by itself")
        worth = problem.utility.value_over(together.mechanism.matrix, known)
        leaks = None if pooled is None else worst_case_leakage(pooled.mechanism.matrix, known).value
        radius = None if known.l1_ball is None else float(known.l1_ball.radius)
        own: tuple[float | None, bool | None] = (None, None) if alone is None else (alone.value, alone.certified)
        groups.append(GroupPrice(name, known.samples, radius, worth, *own, missing, leaks))
    return GroupPrices(tuple(groups), pooled)
