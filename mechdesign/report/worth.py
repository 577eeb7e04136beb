"""What a mechanism is worth: its objective, its bound, and how near to each other they are, checked again."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mechdesign.mechanism import Mechanism
from mechdesign.mechanism.table_claims import TableObjective
from mechdesign.optimize import Verification
from mechdesign.utility import Objective

_PLAIN = {
    "mutual-information": "how much a report tells about the category on average, in nats (mutual information)",
    "chi-square": "how strongly reports depend on the categories (chi-square information)",
    "total-variation": "how strongly reports depend on the categories (total variation)",
    "squared-hellinger": "how strongly reports depend on the categories (squared Hellinger information)",
    "hamming-accuracy": "how often the best guess from a report is the true category",
    "expected-gain": "the mean gain of the best guess from a report, by a given table of gains",
    "expected-distortion": "minus the mean distortion of the best guess from a report, by a given table",
    "explained-variance": "how much of the variance of a number the best prediction from a report explains",
    "unchanged-share": "the share of records that stay unchanged, on average",
    "expected-loss": "the mean loss of the changes, by a given table of losses",
    "estimation-error": "the error of frequencies estimated from reports: their number times the mean squared error",
}
_WORST = "worst-case-"


@dataclass(frozen=True)
class Claim:
    """A claim of optimality.

    Attributes
    ----------
    name, words, unit : str
        The objective: in files, for people, and its unit (empty where it has none).
    minimised : bool
        Whether less is better.
    bound_name : str
        ``"upper_bound"`` or ``"lower_bound"``.
    value, bound, recomputed, gap : float or None
        Of the integers, of the file, computed again from the dual vector, and the distance of value and the last; None
        where the claim was not checked.
    optimal : bool or None
        Whether the gap is within 1e-6 of the value.
    loss : float or None
        The gap as a share of the value.
    method : str
        How the bound was computed again.
    at_estimate : float or None
        The objective at the estimate, where the claim is about the least over a set.
    within_simplex : bool
        False where the bound is for fewer mechanisms (the ball as printed).
    """

    name: str
    words: str
    unit: str
    minimised: bool
    bound_name: str
    value: float | None = None
    bound: float | None = None
    recomputed: float | None = None
    gap: float | None = None
    optimal: bool | None = None
    loss: float | None = None
    method: str = ""
    at_estimate: float | None = None
    within_simplex: bool = True


def in_words(objective: Objective | TableObjective) -> str:
    """Return what an objective measures.

    Examples
    --------
    >>> import mechdesign as md
    >>> in_words(md.HammingAccuracy())
    'how often the best guess from a report is the true category'
    """
    inner = objective.name.removeprefix(_WORST)
    text = _PLAIN.get(inner, f"the objective {inner}")
    return text if inner == objective.name else f"the least, over all frequencies of the promise, of {text}"


def claim_of(mechanism: Mechanism, found: Verification | None) -> Claim | None:
    """Return the claim of a mechanism with the numbers of its verification; None without a claim.

    Examples
    --------
    >>> import mechdesign as md
    >>> solved = md.design(md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2], radius=0.1), epsilon=1))
    >>> claim_of(solved.mechanism, md.verify(solved.mechanism)).value == solved.value
    True
    >>> claim_of(solved.mechanism, None).value is None
    True
    """
    claim = mechanism.claim
    if claim is None:
        return None
    utility = claim.utility
    unit = "" if utility.unit == "1" else utility.unit
    described = (utility.name, in_words(utility), unit, utility.minimised, utility.bound_name)
    if found is None or found.certificate is None or found.value is None:
        return Claim(*described)
    at_estimate = None
    own = mechanism.optimality
    if own is not None and own.mixture is not None:
        at_estimate = own.utility.value(mechanism.matrix, mechanism.guarantee.uncertainty.center)
    return Claim(
        *described,
        value=found.value,
        bound=claim.bound,
        recomputed=found.certificate.bound,
        gap=found.gap,
        optimal=found.optimal,
        loss=None
        if found.gap is None or not 0 < abs(found.value) < math.inf
        else max(0.0, found.gap) / abs(found.value),
        method=found.certificate.method,
        at_estimate=at_estimate,
        within_simplex=claim.within_simplex,
    )
