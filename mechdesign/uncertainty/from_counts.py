"""The sets that follow from counts and a probability of failure, by the names of their kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mechdesign.errors import InputError, shorten
from mechdesign.uncertainty.base import UncertaintySet
from mechdesign.uncertainty.box import Box, L1Box, LowerLimits
from mechdesign.uncertainty.l1_ball import L1Ball
from mechdesign.uncertainty.relative_ball import EventSet, RelativeBall

_SAME_FOR_ALL = (Box, LowerLimits, L1Box, EventSet)


def kinds_from_counts() -> tuple[str, ...]:
    """Return the names that `set_from_counts` takes, the default first.

    Examples
    --------
    >>> kinds_from_counts()
    ('l1-ball', 'box', 'lower-limits', 'l1-box', 'event-set', 'relative-ball')
    """
    return (L1Ball.kind, *(made.kind for made in _SAME_FOR_ALL), RelativeBall.kind)


def given_or_from_counts(
    given: UncertaintySet | Mapping[Any, Any] | Sequence[object], delta: object, radius: object, *, known: bool
) -> UncertaintySet:
    """Return the set that is given, or the l1 ball around counts with one of delta, radius and known.

    Raises
    ------
    InputError
        If one of these is given beside a set, and as `L1Ball.from_counts`.

    Examples
    --------
    >>> given_or_from_counts([3, 1], None, None, known=True)
    L1Ball(2 categories, radius=0)
    """
    if not isinstance(given, UncertaintySet):
        return L1Ball.from_counts(given, delta=delta, radius=radius, known=known)
    if delta is not None or radius is not None or known:
        raise InputError.needless_argument(
            "delta, radius or known is given beside a set of priors, which says it; leave it out, or give counts"
        )
    return given


def set_from_counts(
    kind: str,
    counts: Mapping[Any, Any] | Sequence[object],
    delta: object,
    *,
    samples: object = None,
    epsilon: object = 1,
) -> UncertaintySet:
    """Return the set of a kind that holds the true prior with probability 1 - delta.

    Parameters
    ----------
    kind : str
        One of `kinds_from_counts`.
    counts, delta, samples
        As for `L1Ball.from_counts`.
    epsilon : number or str
        That of the design, which a relative ball is made for.

    Raises
    ------
    InputError
        For another kind, and for counts or a delta that are not accepted.

    Examples
    --------
    >>> set_from_counts("box", [40, 30, 20, 10], "1e-3")
    Box(4 categories, sum of lower=0.486638, upper=1.69872)
    """
    made = _class_of(kind)
    own = {"epsilon": epsilon} if made is RelativeBall else {}
    found: UncertaintySet = made.from_counts(counts, delta=delta, samples=samples, **own)
    return found


def set_from_probabilities(
    kind: str,
    probabilities: Mapping[Any, Any] | Sequence[object],
    delta: object,
    *,
    samples: object,
    epsilon: object = 1,
) -> UncertaintySet:
    """Return the set of a kind as if probabilities had been estimated from samples, which are asserted.

    Parameters
    ----------
    kind, epsilon
        As for `set_from_counts`.
    probabilities, delta, samples
        As for `L1Ball.from_probabilities`.

    Raises
    ------
    InputError
        As for `set_from_counts`.

    Examples
    --------
    >>> set_from_probabilities("box", ["0.4", "0.3", "0.2", "0.1"], "1e-3", samples=100).asserts_samples
    True
    """
    made = _class_of(kind)
    own = {"epsilon": epsilon} if made is RelativeBall else {}
    found: UncertaintySet = made.from_probabilities(probabilities, delta=delta, samples=samples, **own)
    return found


def _class_of(kind: str) -> Any:
    """Return the class of sets of a kind."""
    for made in (L1Ball, *_SAME_FOR_ALL, RelativeBall):
        if kind == made.kind:
            return made
    raise InputError.unknown_choice(f"the set is {shorten(kind)}; accepted: {', '.join(kinds_from_counts())}")
