"""Guarantees in words, and what a second run tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mechdesign.display.numbers import text_above
from mechdesign.mechanism.proof import Guarantee
from mechdesign.numerics.exact import printed_up
from mechdesign.uncertainty.base import UncertaintySet

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
    told = known.delta_in_words()
    return f"{told}; a what-if: it rests on samples that are asserted, not shown" if known.asserts_samples else told


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
    told = f"{certain.sum():,} of {len(certain):,} reports {'tells' if certain.sum() == 1 else 'tell'} the value"
    shown = "over 99.9 %" if share > 0.999 else f"{100 * share:.3g} %"
    return f"{told} for certain; at the estimate {shown} of all reports do"


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
    told = f"{name}{known.protected_in_words()} with {guarantee.sides_in_words} for {known.in_words()}"
    if guarantee.lower is None:
        return told
    return f"{told}: PML, and no report makes {known.protected.any_value} less likely by a factor below exp(-lower)"


def guarantee_facts(mechanism: Mechanism, *, of_report: bool = False) -> list[tuple[str, str]]:
    """Return the facts of a guarantee that people read, or those of a report alone."""
    known, certain = mechanism.guarantee.uncertainty, certain_in_words(mechanism)
    facts = [("guarantee", promise(mechanism.guarantee))]
    if known.not_protected_in_words() and not of_report:
        facts.append(("not protected", known.not_protected_in_words()))
    if known.delta is not None and not of_report:
        facts.append(("delta", f"{printed_up(known.delta)}: {delta_in_words(known)}"))
    amount = f"at most {text_above(mechanism.leakage, 15)} nats{' a report' if of_report else ''}"
    facts.append(("leakage", f"{amount}, proved in exact arithmetic"))
    if mechanism.lower_leakage is not None and not of_report:
        facts.append(("from below", f"at most {text_above(mechanism.lower_leakage, 15)} nats, proved likewise"))
    facts += [] if certain is None else [("certain", certain)]
    if not of_report:
        (N, M), bits = mechanism.numerators.shape, mechanism.bits
        facts.append(("mechanism", f"{N} inputs, {M} output{'s' if M > 1 else ''}, probabilities over 2^{bits}"))
    return facts


def promised_keys(mechanism: Mechanism) -> dict[str, Any]:
    """Return what programs read of a guarantee; keys about a secret and from below only where these are promised."""
    guarantee, known = mechanism.guarantee, mechanism.guarantee.uncertainty
    secret, useful = known.protected.names or (None, None)
    asked = {
        "secret": secret,
        "useful": useful,
        "not_protected": known.not_protected_in_words() or None,
        "lower": guarantee.lower,
        "lower_leakage": mechanism.lower_leakage,
        "samples_asserted": known.asserts_samples or None,
    }
    return {
        "epsilon": guarantee.epsilon,
        "delta": None if known.delta is None else printed_up(known.delta),
        **{name: getattr(mechanism, name) for name in ("radius", "inputs", "outputs", "bits", "leakage")},
        **{name: value for name, value in asked.items() if value is not None},
    }
