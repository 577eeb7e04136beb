"""A mechanism beside randomized response and the best mechanism under local differential privacy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from mechdesign.errors import LimitError
from mechdesign.mechanism import Mechanism
from mechdesign.numerics.arrays import Floats
from mechdesign.optimize import design
from mechdesign.optimize.comparison import every_prior, k_ary_randomized_response, weaker_promise
from mechdesign.problem import DesignProblem
from mechdesign.report.numbers import outward
from mechdesign.report.objective import in_words
from mechdesign.report.precision import typical_margin
from mechdesign.utility import MutualInformation


@dataclass(frozen=True)
class Other:
    """One mechanism of the comparison.

    Attributes
    ----------
    key, name : str
    value : float or None
        Its objective; infinite where reports do not determine what is asked; None where it was not computed.
    share : float or None
        Of the value of the mechanism of the page; for an error how many times as many respondents it takes. None where
        a value is below 0, as gains may be: there is no share of such a value.
    margin : float or None
        The root mean square margin of all frequencies, from 10,000 reports.
    note : str
        Why it was not computed, or how far from the best it may be.
    """

    key: str
    name: str
    value: float | None
    share: float | None = None
    margin: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Beside:
    """A comparison.

    Attributes
    ----------
    words : str
        What is compared.
    name : str
        The objective.
    unit : str
    minimised : bool
    claimed : bool
        Whether the mechanism claims to be the best for it.
    rows : tuple of Other
        The mechanism of the page first.
    local_epsilon : float
        The epsilon of the mechanisms under local differential privacy.
    weaker : str or None
        What the promise lacks beside theirs; None if it lacks nothing.
    """

    words: str
    name: str
    unit: str
    minimised: bool
    claimed: bool
    rows: tuple[Other, ...]
    local_epsilon: float
    weaker: str | None


def beside(
    mechanism: Mechanism, *, time_limit: float | None = None, progress: Callable[[str], None] | None = None
) -> Beside:
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
    >>> [(row.key, round(row.value, 4)) for row in beside(solved.mechanism).rows]
    [('this', 0.7272), ('best_ldp', 0.1141), ('k_ary_randomized_response', 0.1141)]
    """
    claim, promised = mechanism.optimality, mechanism.guarantee
    wanted = MutualInformation() if claim is None else claim.utility
    known = promised.uncertainty
    problem = DesignProblem(known, promised.epsilon, wanted, promised.lower)
    objective = problem.utility.over_priors_of(known)
    everything = every_prior(problem)
    own = objective.value_over(mechanism.matrix, known)

    def row(key: str, name: str, matrix: Floats, note: str = "") -> Other:
        value = objective.value_over(matrix, known)
        share = value / own if 0 < own < math.inf and value >= 0 else None
        return Other(key, name, value, share, typical_margin(matrix, known.prior), note)

    rows = [row("this", "this mechanism", mechanism.matrix)]
    if not known.holds_every_prior:
        asked = DesignProblem(everything, problem.local_epsilon, objective)
        name = "best under local differential privacy"
        try:
            best = design(asked, time_limit=time_limit, report=progress)
        except LimitError as error:
            rows.append(Other("best_ldp", name, None, note=f"not computed: {error}"))
        else:
            side = "below" if wanted.minimised else "above"
            doubt = f"the best one found in the time; none is {side} {outward(best.bound, 6, wanted.minimised)}"
            rows.append(row("best_ldp", name, best.mechanism.matrix, "" if best.certified else doubt))
    krr = k_ary_randomized_response(everything, problem)
    rows.append(row("k_ary_randomized_response", "randomized response (k-ary)", krr.matrix))
    return Beside(
        words=in_words(wanted),
        name=wanted.name,
        unit="" if wanted.unit == "1" else wanted.unit,
        minimised=wanted.minimised,
        claimed=claim is not None,
        rows=tuple(rows),
        local_epsilon=float(problem.local_epsilon),
        weaker=weaker_promise(problem),
    )
