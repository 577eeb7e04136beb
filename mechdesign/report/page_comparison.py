"""A mechanism beside randomized response and the best mechanism under local differential privacy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from mechdesign.comparison.rivals import Rivals, problem_of, weaker_promise
from mechdesign.comparison.row import Compared
from mechdesign.display.numbers import outward
from mechdesign.mechanism import Mechanism
from mechdesign.problem import DesignProblem
from mechdesign.report.precision import typical_margin
from mechdesign.report.worth import in_words

_NAMES = {
    "this": "this mechanism",
    "best_ldp": "best under local differential privacy",
    "k_ary_randomized_response": "randomized response (k-ary)",
}


@dataclass(frozen=True)
class PageComparison:
    """A comparison.

    Attributes
    ----------
    problem : DesignProblem
        What the mechanism promises, and the objective by which mechanisms are compared.
    claimed : bool
        Whether the mechanism claims to be the best for it.
    rows : tuple of Compared
        The mechanism of the page first.
    """

    problem: DesignProblem
    claimed: bool
    rows: tuple[Compared, ...]

    @property
    def words(self) -> str:
        """What is compared."""
        return in_words(self.problem.utility)

    @property
    def weaker(self) -> str | None:
        """What the promise lacks beside theirs; None if it lacks nothing."""
        return weaker_promise(self.problem)

    def share(self, row: Compared) -> float | None:
        """Return the share of the value of the mechanism of the page; for an error, of its respondents.

        None where a value is below 0, as gains may be: there is no share of such a value.
        """
        value, own = row.value, self.rows[0].value
        return value / own if value is not None and own is not None and 0 < own < math.inf and value >= 0 else None

    def margin(self, row: Compared) -> float | None:
        """Return the root mean square margin of all frequencies, from 10,000 reports."""
        return None if row.mechanism is None else typical_margin(row.mechanism, self.problem.uncertainty)

    def note(self, row: Compared) -> str:
        """Return why a mechanism was not computed, or how far from the best it may be."""
        if row.missing:
            return f"not computed: {row.missing}"
        if row.bound is None or row.certified:
            return ""
        lower = self.problem.utility.minimised
        return f"the best one found in the time; none is {'below' if lower else 'above'} {outward(row.bound, 6, lower)}"


def page_comparison(
    mechanism: Mechanism, *, time_limit: float | None = None, progress: Callable[[str], None] | None = None
) -> PageComparison:
    """Return a mechanism beside k-ary randomized response and the best one under local differential privacy.

    They are compared by the objective of the claim of optimality, and by mutual information without a claim.

    Parameters
    ----------
    mechanism : Mechanism
    time_limit : float, optional
        Seconds for the search of the best one.
    progress : callable, optional
        Called with one line whenever a longer step begins.

    Examples
    --------
    >>> import mechdesign as md
    >>> solved = md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2]), epsilon=1))
    >>> [(row.key, round(row.value, 4)) for row in page_comparison(solved.mechanism).rows]
    [('this', 0.7272), ('best_ldp', 0.1141), ('k_ary_randomized_response', 0.1141)]
    """
    problem = problem_of(mechanism, "compared")
    rivals = Rivals(problem, time_limit, progress)
    rows = [rivals.row("this", "", mechanism)]
    if not problem.uncertainty.holds_every_prior:
        rows.append(rivals.best_ldp())
    rows.append(rivals.randomized_response())
    named = tuple(replace(row, name=_NAMES[row.key]) for row in rows)
    return PageComparison(problem, mechanism.optimality is not None, named)
