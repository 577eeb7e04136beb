"""What a cap for everyone costs: designs from local differential privacy at epsilon to a promise without a cap."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import inf

from mechdesign.errors import InputError, SolverError
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.optimize import Design, design
from mechdesign.problem import DesignProblem

MORE = (0.5, 1, 2, 3)
"""How far above epsilon caps are by default."""
CAREFUL = 3
"""How far above epsilon the cap is that a careful deployment takes: designs for frequencies lose some 5 % by it."""
_MOST_SYMBOLS = 16


@dataclass(frozen=True, eq=False)
class CapPrices:
    """Designs with one epsilon and different caps.

    Attributes
    ----------
    designs : tuple of Design
        By their caps, the least first.
    without : Design
        The design without a cap.

    Examples
    --------
    >>> import mechdesign as md
    >>> known = md.L1Ball.from_counts({"a": 40, "b": 30, "c": 20, "d": 10}, known=True)
    >>> prices = price_caps(md.DesignProblem(known, 1, md.EstimationError()), caps=[1, 2, 3])
    >>> [f"{100 * prices.cost(each):.1f} %" for each in prices.designs]
    ['392.1 %', '56.9 %', '16.1 %']
    """

    designs: tuple[Design, ...]
    without: Design

    def cost(self, capped: Design) -> float:
        """Return what a cap costs: the share of the utility that is lost, or by which share an error is greater.

        Respondents needed for the same error grow by the same share.
        """
        lost = capped.value - self.without.value
        if not self.without.problem.utility.minimised:
            lost = -lost
        return lost / abs(self.without.value) if self.without.value else (inf if lost > 0 else 0.0)


def checked_caps(problem: DesignProblem, caps: Iterable[object] | None = None) -> list[Epsilon]:
    """Return caps to try, the least first: those given, or epsilon and some above it.

    Raises
    ------
    InputError
        If the problem has a cap or lower of its own, a cap is not a number from 0 on, or one is given twice.
    """
    sides = problem.sides
    if sides.below is not None:
        raise InputError.conflicting_arguments(
            f"the problem has {sides.below_name} = {sides.below}; give one without, for which several caps are tried"
        )
    every = [sides.epsilon, *(f"{float(sides.epsilon) + more:.6g}" for more in MORE)] if caps is None else caps
    chosen = sorted((Epsilon.of(cap, "cap") for cap in every), key=lambda cap: cap.exp_down)
    if not chosen:
        raise InputError.wrong_size("caps is empty; accepted: at least one cap in nats, such as 2")
    if twice := next((one for one, other in pairwise(chosen) if one == other), None):
        raise InputError.conflicting_arguments(f"caps name {twice} more than once; give each cap once")
    return chosen


def price_caps(
    problem: DesignProblem,
    caps: Iterable[object] | None = None,
    *,
    without: Design | None = None,
    tol: float | None = None,
    time_limit: float | None = None,
    progress: Callable[[str], None] | None = None,
) -> CapPrices:
    """Design with several caps, and without one.

    With the cap epsilon the design is the best one under local differential privacy with epsilon.

    Parameters
    ----------
    problem : DesignProblem
        Without a promise from below.
    caps : iterable of number or str, optional
        In nats; by default epsilon and 0.5, 1, 2 and 3 more.
    without : Design, optional
        A design for the problem that is at hand.
    tol, time_limit, progress
        As for `design`, for each of the designs.

    Raises
    ------
    InputError
        As for `checked_caps`.
    LimitError
        If no method covers the problem with a cap.
    """

    def solved(asked: DesignProblem, what: str) -> Design:
        if progress is not None:
            progress(f"the price of caps: {what}")
        return design(asked, tol=tol, time_limit=time_limit, progress=progress)

    capped = [solved(problem.with_cap(cap), f"cap = {cap}") for cap in checked_caps(problem, caps)]
    return CapPrices(tuple(capped), solved(problem, "without one") if without is None else without)


def price_of_careful_cap(
    solved: Design, *, time_limit: float | None = None, progress: Callable[[str], None] | None = None
) -> CapPrices | None:
    """Return what a cap `CAREFUL` nats above epsilon costs a design, or None where none applies, takes long or fails.

    None applies where the promise is for every prior already or has a side from below, or where no method designs
    with a cap; with more than 16 categories such designs take long. The time limit is what the design itself has left.
    """
    problem = solved.problem
    known = problem.uncertainty
    if (
        problem.sides.below is not None
        or known.holds_every_prior
        or problem.only_constant
        or known.size > _MOST_SYMBOLS
        or (time_limit is not None and time_limit <= 0)
    ):
        return None
    try:
        caps = [f"{float(problem.epsilon) + CAREFUL:.6g}"]
        found = price_caps(problem, caps, without=solved, time_limit=time_limit, progress=progress)
    except (InputError, SolverError):
        return None
    return found if found.designs[0].reached else None
