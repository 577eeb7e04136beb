"""What an analysis says, in words for people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from mechdesign.display.numbers import text_above, text_below, text_near
from mechdesign.numerics.tolerances import GAP

if TYPE_CHECKING:
    from mechdesign.comparison.analysis import Analysis

_SHOWN = 4  # categories of a prior, and groups of categories
_LONGEST = 24  # letters of a label in a sentence
_DIGITS = 3


def facts(analysis: Analysis) -> list[tuple[str, str]]:
    """Return names and values of what people read of an analysis."""
    known, objective = analysis.uncertainty, analysis.utility
    lines = [
        ("matrix", analysis.matrix.in_words()),
        ("priors", f"{known.in_words()}{known.protected_in_words()}"),
        ("leakage", _leakage(analysis)),
        ("from below", _from_below(analysis)),
        ("LDP level", _level(analysis.ldp_level)),
        (objective.name, f"{text_near(analysis.value, 6)}{'' if objective.unit == '1' else f' {objective.unit}'}"),
    ]
    best = analysis.best
    if best is not None:
        verdict = "certified" if best.certified else f"NOT certified, {_bound(analysis)}"
        lines.append(("optimum", f"{text_near(best.value, 6)} at the same leakage{_without_cap(analysis)} ({verdict})"))
    lines.append(("so", share_in_words(analysis)))
    lines.append(("not told apart", _not_told_apart(analysis)))
    return lines


def share_in_words(analysis: Analysis) -> str:
    """Return what a mechanism gives of what is possible at its leakage."""
    best, share, least = analysis.best, analysis.share, analysis.least_share
    if best is None:
        return analysis.best_missing
    if analysis.utility.minimised:
        return _error_in_words(analysis)
    if share is None or least is None:
        return "nothing is possible at its leakage"
    if best.certified:
        return f"{percent(share)} of what is possible at its leakage"
    if share == 1:
        return f"at least {percent(least)} of what is possible at its leakage (no better mechanism was found)"
    return f"between {percent(least)} and {percent(share)} of what is possible at its leakage (not certified)"


def _error_in_words(analysis: Analysis) -> str:
    best, share, least = analysis.best, analysis.share, analysis.least_share
    if best is None or share is None or least is None:
        return "no error to compare"
    if not math.isfinite(analysis.value):
        least_error = f"the best mechanism of its leakage has an error of {best.value:.6g}"
        return f"its reports do not determine the answers; {least_error}"
    if best.certified:
        return f"{times(1 / share)} the reports of the best mechanism of its leakage, for the same error"
    return (
        f"{times(1 / share)} the reports of the best mechanism found, for the same error, and at most "
        f"{text_above(1 / least, 3)} times those of any (not certified)"
    )


def _without_cap(analysis: Analysis) -> str:
    """Return that the best mechanism has a greater LDP level than the one that is analysed, in words after it, if so.

    The best one leaks no more over the set; nothing asks it to keep the LDP level of the other.
    """
    if analysis.best is None or math.isinf(analysis.ldp_level):
        return ""
    level = analysis.best.mechanism.level
    if level is not None and level <= analysis.ldp_level * (1 + 2 * GAP):
        return ""
    return f", without a cap: its LDP level is {'infinite' if level is None else text_above(float(level), 6)}"


def percent(share: float) -> str:
    """Return a share in per cent, rounded down to three digits; 100 only where the rest is within the tolerance.

    Examples
    --------
    >>> percent(0.04017), percent(0.99991), percent(1 - 1e-8)
    ('4.01 %', '99.9 %', '100 %')
    """
    if share >= 1 - 2 * GAP:
        return "100 %"
    return f"{text_below(100 * share, _DIGITS)} %"


def times(factor: float) -> str:
    """Return a factor as words before "the reports".

    Examples
    --------
    >>> times(1 + 1e-8), times(4.384)
    ('as many as', '4.38 times')
    """
    return "as many as" if factor <= 1 + 2 * GAP else f"{factor:.3g} times"


def _leakage(analysis: Analysis) -> str:
    which = f"output {_cut(analysis.worst_output)}"
    if math.isinf(analysis.leakage):
        return f"infinite: {which} excludes what some prior of the set makes certain"
    at = "" if analysis.worst_prior is None else f", at the prior {_prior(analysis.inputs, analysis.worst_prior)}"
    return f"at most {text_above(analysis.leakage, 12)} nats over the priors, exactly computed ({which}{at})"


def _prior(labels: Sequence[str], prior: Sequence[Fraction]) -> str:
    """Return the likeliest categories of a prior with their probabilities."""
    order = sorted(range(len(prior)), key=lambda i: -prior[i])[:_SHOWN]
    shown = ", ".join(f"{_cut(labels[i])} {float(prior[i]):.4g}" for i in order)
    return shown + (", ..." if len(prior) > _SHOWN else "")


def _cut(label: str) -> str:
    """Return a label, or the beginning of a long one."""
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 3]}..."


def _from_below(analysis: Analysis) -> str:
    if math.isinf(analysis.lower_leakage):
        return "no limit: some report rules a category out"
    return f"no report makes a category less likely by a factor below exp(-{text_above(analysis.lower_leakage, 6)})"


def _level(level: float) -> str:
    if math.isinf(level):
        return "infinite: some output is possible for some categories only"
    return f"{text_above(level, 12)} nats, for every prior"


def _bound(analysis: Analysis) -> str:
    bound = math.nan if analysis.best is None else analysis.best.bound
    minimised = analysis.utility.minimised
    return f"at least {text_below(bound, 6)}" if minimised else f"at most {text_above(bound, 6)}"


def _not_told_apart(analysis: Analysis) -> str:
    """Return which categories reports do not tell apart."""
    together = [group for group in analysis.groups if len(group) > 1]
    if not together:
        return "nothing: reports determine the frequency of every category"
    shown = "; ".join(_some(group) for group in together[:_SHOWN])
    more = f"; and {len(together) - _SHOWN} more groups" if len(together) > _SHOWN else ""
    return f"only the total frequency of each of these is determined: {shown}{more}"


def _some(labels: Sequence[str]) -> str:
    more = f" and {len(labels) - 2 * _SHOWN} more" if len(labels) > 2 * _SHOWN else ""
    return ", ".join(labels[: 2 * _SHOWN]) + more
