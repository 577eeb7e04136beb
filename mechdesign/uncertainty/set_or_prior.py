"""A set of priors where a user may also give one prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeGuard

from mechdesign.data.labelled import own_labels, vector
from mechdesign.uncertainty.base import UncertaintySet
from mechdesign.uncertainty.l1_ball import L1Ball


def set_or_prior(
    given: UncertaintySet | Mapping[object, object] | Sequence[object], labels: Sequence[str] | None = None
) -> UncertaintySet:
    """Return a set as it is, and a prior as the set that holds it alone, with labels if it has none itself.

    Raises
    ------
    InputError
        If it is neither a set nor a vector of probabilities.

    Examples
    --------
    >>> set_or_prior([0.5, 0.5])
    L1Ball(2 categories, radius=0)
    """
    if isinstance(given, UncertaintySet):
        return given
    return L1Ball(given, 0, labels if own_labels(vector(given, "the prior").labels) is None else None)


def is_set(given: object) -> TypeGuard[UncertaintySet]:
    """Return whether a set of priors is given, not one prior.

    Examples
    --------
    >>> is_set(L1Ball([0.5, 0.5])), is_set([0.5, 0.5])
    (True, False)
    """
    return isinstance(given, UncertaintySet)
