"""The f-information of mechanisms whose columns are mixed with constant ones."""

from __future__ import annotations

from functools import partial

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.utility.f_information import FInformation

_ARGUMENT = 4 * float(np.finfo(float).eps)  # more than the relative rounding error of a + (1 - a) r


def mixed_utility(information: FInformation, share: float) -> FInformation:
    """Return the f-information of ``r -> f(1 - share + share r)``.

    f is computed on both sides of the rounded argument, and the greater value is taken. So no value is below the true
    one by more than the rounding error of f itself, although f(1) = 0 is passed closely where the share is small.

    Examples
    --------
    >>> from mechdesign import MutualInformation
    >>> P, U = [0.5, 0.5], np.eye(2)
    >>> round(mixed_utility(MutualInformation(), 0.5).value(U, P), 6)
    0.130812
    >>> round(MutualInformation().value(0.5 * U + 0.25, P), 6)
    0.130812
    """
    return _MixedInformation(partial(_mixed, information, share), None, information.name, information.unit)


class _MixedInformation(FInformation):
    """An f-information whose f is convex because that of another one is, which has been checked."""

    def __post_init__(self) -> None:
        """Check nothing: f(1) may be a rounding error."""


def _mixed(information: FInformation, share: float, ratio: Floats) -> Floats:
    argument = (1 - share) + share * np.asarray(ratio, dtype=float)
    below = np.asarray(information.f(argument * (1 - _ARGUMENT)), dtype=float)
    above = np.asarray(information.f(argument * (1 + _ARGUMENT)), dtype=float)
    greater: Floats = np.maximum(below, above)
    return greater
