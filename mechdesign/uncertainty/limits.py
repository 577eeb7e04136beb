"""What sets of limits are made from: an estimate with labels, limits, and the counts behind them."""

from __future__ import annotations

from fractions import Fraction

from mechdesign.data.labelled import aligned_vector
from mechdesign.display.numbers import text_near
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import entries
from mechdesign.numerics.exact import rational
from mechdesign.uncertainty.binomial_limits import is_limit
from mechdesign.uncertainty.evidence import Evidence
from mechdesign.uncertainty.prior_set import Numbers

_MOST_SYMBOLS = 1_000


def exact_limits(limits: Numbers, labels: tuple[str, ...], name: str) -> tuple[Fraction, ...]:
    """Return limits of probabilities as exact fractions from 0 to 1, in the order of the labels.

    Raises
    ------
    InputError
        For another number of limits, or one outside of 0 to 1.

    Examples
    --------
    >>> exact_limits({"b": 0.2, "a": 0.1}, ("a", "b"), "the lower limits")
    (Fraction(1, 10), Fraction(1, 5))
    """
    given = entries(aligned_vector(limits, labels, name), name, "a list of probabilities")
    exact = tuple(rational(limit, f"number {index + 1} of {name}") for index, limit in enumerate(given))
    if len(exact) != len(labels):
        raise InputError.wrong_size(
            f"{name} are {len(exact)} numbers for {len(labels)} categories; give one for each category"
        )
    for limit, label in zip(exact, labels, strict=True):
        if not 0 <= limit <= 1:
            raise InputError.not_probabilities(f"{name} have {text_near(limit)} for {shorten(label)}; accepted: 0 to 1")
    return exact


def check_sum_of_lower(lower: tuple[Fraction, ...]) -> None:
    """Refuse lower limits that no prior can have."""
    total = sum(lower, Fraction(0))
    if total > 1:
        raise InputError.limits_contradict(f"the lower limits sum to {text_near(total)}; accepted: at most 1")


def check_between(
    lower: tuple[Fraction, ...],
    upper: tuple[Fraction, ...],
    what: str,
    labels: tuple[str, ...],
    of: str = "the lower limit",
) -> None:
    """Refuse a lower limit above an upper limit or above the estimate, and an estimate above an upper limit."""
    for low, high, label in zip(lower, upper, labels, strict=True):
        if low > high:
            raise InputError.limits_contradict(
                f"{of} of {shorten(label)} is {text_near(low)}, above its {what}, {text_near(high)}; "
                f"accepted: at most the {what}"
            )


def evidence_level(evidence: Evidence) -> Fraction:
    """Return the delta of counts; 0, with which every limit is vacuous, where none is stated.

    Examples
    --------
    >>> evidence_level(Evidence((3, 1), 4, Fraction(1, 10)))
    Fraction(1, 10)
    """
    return Fraction(0) if evidence.delta is None else evidence.delta


def seen_of(evidence: Evidence) -> list[Fraction]:
    """Return how often each category was seen among the samples that delta is about.

    Raises
    ------
    InputError
        For more than 1,000 categories, whose limits would take minutes to prove.

    Examples
    --------
    >>> seen_of(Evidence((3, 1), 8, None, asserted=True))
    [Fraction(6, 1), Fraction(2, 1)]
    """
    if len(evidence.counts) > _MOST_SYMBOLS:
        raise InputError.too_many_given(
            f"there are {len(evidence.counts)} categories; accepted: at most {_MOST_SYMBOLS} where limits are derived "
            "from counts; use an L1Ball"
        )
    total = sum(evidence.counts)
    return [Fraction(count * evidence.samples, total) for count in evidence.counts]


def excess_of_lower(lower: tuple[Fraction, ...], evidence: Evidence, level: Fraction, labels: tuple[str, ...]) -> str:
    """Return in words which lower limit is not proved; empty if all are.

    Examples
    --------
    >>> excess_of_lower((Fraction(1, 2), Fraction(0)), Evidence((3, 1), 4, None), Fraction(1, 10), ("a", "b"))
    "the lower limit of 'a' is 0.5, above what 3 of 4 samples support"
    """
    for limit, seen, label in zip(lower, seen_of(evidence), labels, strict=True):
        if not is_limit(evidence.samples, seen, limit, level):
            return (
                f"the lower limit of {shorten(label)} is {text_near(limit)}, above what {float(seen):g} of "
                f"{evidence.samples} samples support"
            )
    return ""


def excess_of_upper(upper: tuple[Fraction, ...], evidence: Evidence, level: Fraction, labels: tuple[str, ...]) -> str:
    """Return in words which upper limit is not proved; empty if all are."""
    for limit, seen, label in zip(upper, seen_of(evidence), labels, strict=True):
        if not is_limit(evidence.samples, evidence.samples - seen, 1 - limit, level):
            return (
                f"the upper limit of {shorten(label)} is {text_near(limit)}, below what {float(seen):g} of "
                f"{evidence.samples} samples support"
            )
    return ""
