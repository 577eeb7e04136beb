"""Guarantees in words, and what a second run tells."""

from __future__ import annotations

from mechdesign.mechanism.proof import Guarantee


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
    secret = known.secret_promise
    kept = "anything" if secret is None else f"any value of {secret.secret}"
    return f"{told}: PML, and no report makes {kept} less likely by a factor below exp(-lower)"
