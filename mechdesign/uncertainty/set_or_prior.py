"""A set of priors where a user may also give one prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mechdesign.uncertainty.base import UncertaintySet
from mechdesign.uncertainty.l1_ball import L1Ball


def set_or_prior(given: UncertaintySet | Mapping[object, object] | Sequence[object]) -> UncertaintySet:
    """Return a set as it is, and a prior as the set that holds it alone.

    Raises
    ------
    InputError
        If it is neither a set nor a vector of probabilities.

    Examples
    --------
    >>> set_or_prior([0.5, 0.5])
    L1Ball(2 symbols, radius=0)
    """
    return given if isinstance(given, UncertaintySet) else L1Ball(given)
