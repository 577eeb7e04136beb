"""Guarantees in words, and what a second run tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mechdesign.mechanism.proof import Guarantee
from mechdesign.uncertainty.base import UncertaintySet
from mechdesign.uncertainty.sides import Sides

if TYPE_CHECKING:
    from mechdesign.mechanism.mechanism import Mechanism


def second_run(*, permanent: bool) -> str:
    """Return what a second run of reports or of a release tells, which is why no output is replaced unasked.

    Examples
    --------
    >>> second_run(permanent=False)
    'two published runs leak more than one'
    """
    if permanent:
        return (
            "with the same mechanism, key, attribute and ids a value gets the same report again, and otherwise a "
            "second one, which leaks more"
        )
    return "two published runs leak more than one"


def delta_in_words(known: UncertaintySet) -> str:
    """Return what delta is the probability of, and on what it rests if no counts show its samples.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> delta_in_words(L1Ball.from_probabilities([0.5, 0.5], samples=300, delta="1e-6")).partition("; ")[2]
    'a what-if: it rests on samples that are asserted, not shown'
    """
    text = known.delta_in_words()
    return f"{text}; a what-if: it rests on samples that are asserted, not shown" if known.asserts_samples else text


def certain_in_words(mechanism: Mechanism) -> str | None:
    """Return which reports only one input can give, so that they tell it for certain; None where none does.

    Examples
    --------
    >>> from mechdesign import L1Ball, Mechanism
    >>> known = Guarantee("log(4)", L1Ball([0.5, 0.5], radius="0.1"))
    >>> certain_in_words(Mechanism.from_matrix([[0.25, 0.75, 0], [0, 0.75, 0.25]], known))
    '2 of 3 reports tell the value for certain; at the estimate 25 % of all reports do'
    >>> certain_in_words(Mechanism.from_matrix([[1, 0], [0, 1]], known))
    'EVERY REPORT TELLS THE TRUE VALUE for certain, which this epsilon allows'
    """
    numerators = mechanism.numerators
    certain = (numerators > 0).sum(axis=0) == 1
    if not certain.any():
        return None
    if certain.all():
        return "EVERY REPORT TELLS THE TRUE VALUE for certain, which this epsilon allows"
    share = float(mechanism.guarantee.uncertainty.prior @ mechanism.matrix[:, certain].sum(axis=1))
    text = f"{certain.sum():,} of {len(certain):,} reports {'tells' if certain.sum() == 1 else 'tell'} the value"
    shown = "over 99.9 %" if share > 0.999 else f"{100 * share:.3g} %"
    return f"{text} for certain; at the estimate {shown} of all reports do"


def not_protected(guarantee: Guarantee) -> str:
    """Return what a guarantee does not protect, and that its cap holds for that too; empty if it is about the data.

    Examples
    --------
    >>> from mechdesign import SecretPromise
    >>> about = SecretPromise([[3, 1], [1, 3]], secret="sex", useful="job", known=True)
    >>> not_protected(Guarantee("log(2)", about, cap=3)).partition("job itself, ")[2]
    'as far as it says nothing about sex, and as far as cap = 3 allows'
    """
    text = guarantee.uncertainty.not_protected_in_words()
    return f"{text}, and as far as cap = {guarantee.cap} allows" if text and guarantee.cap is not None else text


def promise(guarantee: Guarantee) -> str:
    """Return a guarantee in words.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> promise(Guarantee(1, L1Ball([0.5, 0.5], radius=2)))
    'PML with epsilon = 1 for every prior, which is local differential privacy'
    """
    known = guarantee.uncertainty
    name = "PML" if guarantee.lower is None else known.two_sided_name
    sides = Sides(guarantee.epsilon, guarantee.lower)
    text = f"{name}{known.protected_in_words()} with {sides.in_words} for {known.in_words()}"
    if guarantee.cap is not None:
        return f"{text}; and local differential privacy with cap = {guarantee.cap}, whatever the distribution is"
    if guarantee.maximal_leakage is not None:
        return f"{text}; and maximal leakage {guarantee.maximal_leakage}, on average, whatever the distribution is"
    if guarantee.lower is None:
        return text
    return f"{text}: PML, and no report makes {known.protected.any_value} less likely by a factor below exp(-lower)"
