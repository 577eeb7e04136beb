"""Designs for many symbols: multipliers are tied for the bound, and symbols are merged for the mechanism.

The program over all symbols comes first. Where it no longer moves, two smaller sorts of programs follow in turn. One
has a row for each group of tied multipliers; it relaxes the problem, is priced over all symbols, and gives bounds. The
other is the same problem for bins of symbols; it restricts the mechanism, whose rows are copied, and so gives values.
Either sort starts from the best multipliers so far.

The constants were chosen on departure delays of flights, on destinations of flights, and on counts of which one is half
of the total (benchmarks/README.md says what else was measured).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from mechdesign.errors import SolverError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.tolerances import VALUE_FLOOR
from mechdesign.optimize.column_generation import ColumnGeneration, kept_for_rounding
from mechdesign.optimize.deadline import time_is_up
from mechdesign.optimize.l1_cone import L1Cone
from mechdesign.optimize.method import Solution
from mechdesign.optimize.orbits import SORTS, Orbits, Sort, binned, merged_ball, tied_groups
from mechdesign.optimize.pricing.choice import ball_pricing_for
from mechdesign.optimize.pricing.price import BallPricing, Price, equal_groups
from mechdesign.optimize.start import best_mass
from mechdesign.problem import DesignProblem

_COARSE = 1e-4  # from this tolerance on few bins are enough, and the program over all symbols is given up sooner
_PATIENCE, _LONG_PATIENCE = 4, 12  # programs in which the gap must fall, at a coarse and at a fine tolerance
_FALLEN, _UNMOVED = 0.8, 0.999  # what may be left of it, and what is left of a gap that does not move at all
_MANY = 60  # programs over all symbols that a fine tolerance may take before the gap must fall fast
_CREEPING = 4  # programs whose values rise so little that the bound is tightened
_CREEP = 0.05  # of the tolerance: so little
_STUCK = "stuck"
_GOAL = 0.8  # of the tolerance: the value that bins must reach, so that a part of it is left to the bound
_TIED = 0.2  # of the tolerance: the gap at which a program of tied multipliers ends
_SMALL = 0.1  # of the tolerance: bounds that cannot fall by more are left
_WORTHWHILE = 0.1  # of the gap: by so much the multipliers of bins must improve the bound for another run
_MOST_BINS = 0.8  # of the number of symbols
_PARTS, _FINE_PARTS = (2, 4, 8, 16, 32, 64), (2, 8, 16, 32, 64)  # at a coarse and at a fine tolerance
_FEW_SYMBOLS = 130


class ManySymbols:
    """The solution of one problem with ties and bins.

    Parameters
    ----------
    problem : DesignProblem
        An f-information and a ball.
    pricing : BallPricing
        Of the problem.
    progress : callable
        Called with one line whenever a step begins.
    merge : bool or None
        Whether the mechanism may treat symbols alike: True for at once, None for where the program over all symbols
        does not get there.
    """

    def __init__(
        self, problem: DesignProblem, pricing: BallPricing, progress: Callable[[str], None], *, merge: bool | None
    ) -> None:
        self._problem, self._pricing, self._merge, self._progress = problem, pricing, merge, progress
        self._ball = pricing.ball
        self._cone = L1Cone.of(pricing.ball, pricing.exp_epsilon)
        self._bound, self._center = np.inf, np.zeros(self._ball.size)
        self._known: Price | None = None  # of the center
        self._columns: Floats | None = None  # of the last program of tied multipliers
        self._full: ColumnGeneration | None = None
        self._merged: tuple[Orbits, ColumnGeneration] | None = None

    def solve(self, tol: float, deadline: float | None) -> Solution:
        """Return a mechanism as `ColumnGeneration.solve` does; its rows may be those of bins of symbols.

        Parameters
        ----------
        tol, deadline
            As for `ColumnGeneration.solve`.
        """
        try:
            stopped = self._search(tol, deadline)
        except KeyboardInterrupt:
            stopped = "interrupted"
        return self._solution(tol, stopped)

    def _search(self, tol: float, deadline: float | None) -> str:
        """Return why the search ended; empty if the tolerance is reached."""
        if self._merge:
            for center in self._pricing.centers():
                self._price(center)
        else:
            stopped = self._over_all(tol, deadline, patient=False)
            if stopped != _STUCK:
                return stopped
        for step in self._steps(tol):
            if self._closed(tol):
                return ""
            if time_is_up(deadline):
                return "time limit"
            with contextlib.suppress(SolverError):
                step(tol, deadline)
        return "" if self._closed(tol) else self._over_all(tol, deadline, patient=True)

    def _steps(self, tol: float) -> Iterator[Callable[[float, float | None], None]]:
        """Yield programs of tied multipliers and of bins, coarse ones first."""
        heavy = int((self._ball.prior > 1 / (4 * self._cone.c)).sum())
        coarse, few = tol >= _COARSE, self._ball.size <= _FEW_SYMBOLS
        ties = [
            partial(self._tie, (0, max(8, heavy), 4) if coarse else (4, heavy, 1 if few else 3)),
            partial(self._tie, (8, max(24, heavy), 6)),
        ]
        allowed = () if self._merge is False else _PARTS if coarse else _FINE_PARTS
        # The first bins are followed by ties at a coarse tolerance: a better bound shows which bins are too coarse.
        bins = [partial(self._bin, parts, sort) for parts in allowed for sort in SORTS]
        first, second = (1, 2 * len(SORTS)) if coarse else (0, 3 * len(SORTS))
        yield from [*bins[:first], ties[0], *bins[first:second], ties[1], *bins[second:]]

    # The program over all symbols

    def _over_all(self, tol: float, deadline: float | None, *, patient: bool) -> str:
        """Continue the program over all symbols, or begin it."""
        try:
            if self._full is None:
                full = ColumnGeneration(self._problem, self._pricing, self._progress)
                full.take_bound(self._bound, self._center, self._known)
                full.begin([] if self._bound < np.inf else self._pricing.centers(), deadline)
                self._full = full
            self._full.take_bound(self._bound, self._center, self._known)
            coarse = tol >= _COARSE
            programs, least = (_PATIENCE, 0) if coarse else (_LONG_PATIENCE, _MANY)
            patience = _Patience(self._full, deadline, programs, least=least)
            stopped = self._full.run(tol, deadline, (lambda: "") if patient else patience)
        except SolverError:
            if self._full is None:
                raise
            stopped = "solver failed"
        self._take(self._full)
        return stopped

    # Bounds

    def _take(self, search: ColumnGeneration) -> None:
        """Take the bound of a program over all symbols if it is better."""
        if search.bound < self._bound:
            self._bound, self._center, self._known = search.bound, search.center, search.price

    def _price(self, multipliers: Floats) -> float:
        """Return the bound of multipliers over all symbols, which is kept if it is the best so far."""
        price = self._pricing.price(multipliers, thorough=False)
        bound = float(multipliers.sum()) + price.upper
        if bound < self._bound:
            self._bound, self._center, self._known = bound, multipliers, price
        return bound

    def _tie(self, counts: tuple[int, int, int], tol: float, deadline: float | None) -> None:
        """Improve the bound by a program with a row for each group of tied multipliers."""
        prior = self._ball.prior
        groups = tied_groups(equal_groups(self._ball.weights), prior, counts)
        rows = Orbits.tied(groups, prior)
        progress = self._progress_of(f"{len(groups)} tied multipliers")
        tied = ColumnGeneration(self._problem, self._pricing, progress, rows=rows, start=self._columns)
        tied.take_bound(self._bound, self._center, self._known)
        tied.begin([self._center], deadline)
        patience = _Patience(tied, deadline, slow=_CREEP * self._asked(tol))

        def until() -> str:
            patience()
            self._take(tied)
            # The bounds of this program do not fall below its value.
            no_better = self._bound - tied.value <= _SMALL * self._asked(tol)
            return "goal" if self._closed(tol) or no_better else ""

        tied.run(_TIED * tol, deadline, until)
        self._take(tied)
        self._columns = tied.columns

    # Values

    @property
    def _value(self) -> float:
        """The greatest value so far."""
        found = [search.value for search in (self._full, self._merged and self._merged[1]) if search is not None]
        return max(found, default=0.0)

    def _asked(self, tol: float) -> float:
        return tol * max(self._value, VALUE_FLOOR)

    def _closed(self, tol: float) -> bool:
        """Whether the bound is within the tolerance of the value, with room for rounding."""
        return self._within(self._value, tol)

    def _within(self, value: float, tol: float) -> bool:
        asked = tol * max(value, VALUE_FLOOR)
        return self._bound - value <= asked - kept_for_rounding(asked)

    def _bin(self, parts: int, sort: Sort, tol: float, deadline: float | None) -> None:
        """Improve the value by programs over bins of symbols, and the bound by their multipliers."""
        mass = best_mass(self._ball, self._pricing.exp_epsilon, self._pricing.utility)
        bins = binned(self._ball, mass, parts, sort, fine=tol < _COARSE)
        if bins is None or len(bins.groups) > _MOST_BINS * self._ball.size:
            return
        ball = merged_ball(self._ball, bins)
        pricing = ball_pricing_for(ball, self._pricing.exp_epsilon, self._pricing.utility, self._pricing.floor)
        problem = DesignProblem(ball, self._problem.sides, self._problem.utility)
        merged = ColumnGeneration(problem, pricing, self._progress_of(f"{len(bins.groups)} bins"))
        # What no mechanism exceeds, no mechanism with equal rows exceeds.
        merged.take_bound(self._bound, bins.sums(self._center))
        merged.begin([merged.center], deadline)
        self._improve(bins, merged, tol, deadline)

    def _improve(self, bins: Orbits, merged: ColumnGeneration, tol: float, deadline: float | None) -> None:
        """Run the program of some bins to its goal, as long as its multipliers improve the bound."""
        patience = _Patience(merged, deadline, _LONG_PATIENCE, slow=_CREEP * self._asked(tol))
        while True:  # each time the bound falls by a share of the gap
            asked = tol * max(self._bound, VALUE_FLOOR)
            goal = self._bound - _GOAL * (asked - kept_for_rounding(asked))

            def until(goal: float = goal) -> str:
                if merged.value >= goal:
                    return "goal"
                stuck = patience()
                return "too coarse" if merged.bound < goal else stuck

            merged.run(_TIED * tol, deadline, until)
            if merged.value > self._value:
                self._merged = (bins, merged)
            if self._closed(tol) or time_is_up(deadline):
                return
            before = self._bound
            if merged.bound >= before:
                return
            if self._price(bins.spread(merged.center)) >= before - _WORTHWHILE * (before - self._value):
                return
            merged.take_bound(self._bound, bins.sums(self._center))

    def _progress_of(self, about: str) -> Callable[[str], None]:
        return lambda line: self._progress(f"{about}: {line}")

    def _solution(self, tol: float, stopped: str) -> Solution:
        """Return the mechanism over all symbols if it is within the tolerance, and otherwise that of greatest value."""
        full, merged = self._full, self._merged
        if merged is None or (full is not None and self._within(full.value, tol)):
            if full is None:
                return Solution(np.ones((self._ball.size, 1)), self._center, 1, 0, stopped, price=self._known)
            return replace(full.solution(stopped), multipliers=self._center, price=self._known)
        bins, search = merged
        if full is not None and full.value >= search.value:
            return replace(full.solution(stopped), multipliers=self._center, price=self._known)
        return replace(search.solution(stopped), multipliers=self._center, bins=bins, price=self._known)


class _Patience:
    """Looks at a search after every linear program, and says that it is stuck where its gap no longer falls.

    Parameters
    ----------
    search : ColumnGeneration
        What is looked at.
    deadline : float or None
        Until when the bound may be tightened.
    programs : int, optional
        How many linear programs the gap has to fall; by default it need not.
    least : int, optional
        Up to so many linear programs only a gap that does not move at all is stuck.
    slow : float, optional
        Where several values in a row rise by less than this, the bound is tightened: multipliers that hardly change may
        close the gap without being known to.
    """

    def __init__(
        self,
        search: ColumnGeneration,
        deadline: float | None,
        programs: int | None = None,
        *,
        least: int = 0,
        slow: float = 0.0,
    ) -> None:
        self._search, self._programs, self._least, self._slow = search, programs, least, slow
        self._deadline = deadline
        self._gaps: list[float] = []
        self._value, self._crept, self._patient = -np.inf, 0, _CREEPING

    def __call__(self) -> str:
        value = self._search.value
        self._crept = self._crept + 1 if value - self._value < self._slow else 0
        self._value = value
        if self._crept >= self._patient:
            self._search.tighten(self._deadline)
            self._crept, self._patient = 0, 2 * self._patient
        self._gaps.append(self._search.bound - value)
        if self._programs is None or len(self._gaps) <= self._programs:
            return ""
        left = self._gaps[-1] / max(self._gaps[-1 - self._programs], np.finfo(float).tiny)
        return _STUCK if left > (_FALLEN if len(self._gaps) > self._least else _UNMOVED) else ""
