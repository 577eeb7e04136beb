"""Utilities by the names that files and the command line use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mechdesign.errors import InputError, shorten
from mechdesign.utility.base import Utility
from mechdesign.utility.f_information import ChiSquare, MutualInformation, SquaredHellinger, TotalVariation
from mechdesign.utility.gain import ExpectedDistortion, ExpectedGain, HammingAccuracy

_PLAIN: dict[str, Callable[[], Utility]] = {
    "mutual-information": MutualInformation,
    "chi-square": ChiSquare,
    "total-variation": TotalVariation,
    "squared-hellinger": SquaredHellinger,
    "hamming-accuracy": HammingAccuracy,
}
_WITH_MATRIX: dict[str, Callable[[Any], Utility]] = {
    "expected-gain": ExpectedGain,
    "expected-distortion": ExpectedDistortion,
}
NAMES = (*_PLAIN, *_WITH_MATRIX)


def utility_by_name(name: str, matrix: Sequence[Sequence[object]] | None = None) -> Utility:
    """Return a utility from its name and, for the two that need one, its matrix.

    Raises
    ------
    InputError
        For an unknown name, a missing matrix, or a matrix that the utility does not take.

    Examples
    --------
    >>> utility_by_name("mutual-information").unit
    'nats'
    """
    if name in _PLAIN:
        if matrix is not None:
            raise InputError(f"the utility {shorten(name)} takes no matrix; leave it out")
        return _PLAIN[name]()
    if name in _WITH_MATRIX:
        if matrix is None:
            raise InputError(f"the utility {shorten(name)} needs a matrix, guesses by inputs; give one")
        return _WITH_MATRIX[name](matrix)
    raise InputError(f"the utility {shorten(name)} is unknown; accepted: {', '.join(NAMES)}")


def is_named(utility: Utility) -> bool:
    """Return whether files can hold the utility: whether `utility_by_name` makes it again."""
    made: set[object] = {*_PLAIN.values(), *_WITH_MATRIX.values()}
    return type(utility) in made
