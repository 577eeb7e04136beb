"""Utilities by the names that files and the command line use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from mechdesign.data.plugins import installed
from mechdesign.errors import InputError, shorten
from mechdesign.utility.estimation_error import EstimationError
from mechdesign.utility.explained_variance import ExplainedVariance
from mechdesign.utility.f_information import ChiSquare, MutualInformation, SquaredHellinger, TotalVariation
from mechdesign.utility.gain import ExpectedDistortion, ExpectedGain, HammingAccuracy
from mechdesign.utility.objective import Objective, as_utility
from mechdesign.utility.workload import Workload
from mechdesign.utility.worst_case import PREFIX, WorstCaseUtility

# A new utility of the package is one line here.
_BUILT_IN: tuple[type[Objective], ...] = (
    MutualInformation,
    ChiSquare,
    TotalVariation,
    SquaredHellinger,
    HammingAccuracy,
    ExpectedGain,
    ExpectedDistortion,
    ExplainedVariance,
    EstimationError,
)
_ENTRY_POINTS = "mechdesign.utilities"
_registered: dict[str, type[Objective]] = {}

Class = TypeVar("Class", bound=type[Objective])


def register(cls: Class) -> Class:
    """Make a class of utilities known to mechanism files, problem files and the command line.

    Use it as a decorator. An installed package makes its utilities known to the command ``mechdesign`` by an entry
    point of the group ``mechdesign.utilities``.

    Parameters
    ----------
    cls : type of Objective
        With a ``name``. Its constructor takes nothing, or a matrix where the class says ``takes_matrix = True``, or a
        `Workload` where it says ``takes_workload = True``.

    Raises
    ------
    InputError
        If another class has this name.

    Examples
    --------
    >>> register(MutualInformation) is MutualInformation
    True
    """
    known = {utility.name: utility for utility in _BUILT_IN} | _registered
    other = known.get(cls.name)
    if other is not None and (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
        raise InputError.bad_registration(
            f"a utility named {shorten(cls.name)} is registered already; give the class another name"
        )
    if cls not in _BUILT_IN:
        _registered[cls.name] = cls
    return cls


def _classes() -> dict[str, type[Objective]]:
    """Return all classes by name, those of the package first."""
    for point in installed(_ENTRY_POINTS):
        if point.name not in _registered:
            register(point.load())
    return {cls.name: cls for cls in _BUILT_IN} | _registered


def utility_names(*, with_matrix: bool = True) -> tuple[str, ...]:
    """Return the names of all utilities, or of those that need no matrix.

    Examples
    --------
    >>> utility_names()[0]
    'mutual-information'
    """
    return tuple(name for name, cls in _classes().items() if with_matrix or not cls.takes_matrix)


def utility_by_name(
    name: str, matrix: Sequence[Sequence[object]] | None = None, workload: Workload | None = None
) -> Objective:
    """Return a utility from its name and, for those that need one, its matrix, or that take one, its workload.

    ``worst-case-`` before the name of a utility is its least value over the set of priors, a `WorstCaseUtility`.

    Raises
    ------
    InputError
        For an unknown name, a missing matrix, or a matrix or workload that the utility does not take.

    Examples
    --------
    >>> utility_by_name("mutual-information").unit
    'nats'
    """
    classes = _classes()
    cls = classes.get(name)
    if cls is None and name.startswith(PREFIX):
        return WorstCaseUtility(as_utility(utility_by_name(name.removeprefix(PREFIX), matrix, workload)))
    if cls is None:
        raise InputError.unknown_choice(
            f"the utility {shorten(name)} is unknown; accepted: {', '.join(classes)}, and {PREFIX}... before the "
            "name of one that is maximised"
        )
    if workload is not None and not cls.takes_workload:
        able = ", ".join(other for other, kind in classes.items() if kind.takes_workload)
        raise InputError.needless_argument(
            f"the utility {shorten(name)} takes no workload; leave it out, or take {able}"
        )
    if not cls.takes_matrix:
        if matrix is not None:
            raise InputError.needless_argument(f"the utility {shorten(name)} takes no matrix; leave it out")
        return cls() if workload is None else cls(workload)  # type: ignore[call-arg]
    if matrix is None:
        raise InputError.missing_argument(f"the utility {shorten(name)} needs a matrix, guesses by inputs; give one")
    made: Objective = cls(matrix)  # type: ignore[call-arg]
    return made


def is_named(utility: Objective) -> bool:
    """Return whether files can hold the utility: whether `utility_by_name` makes it again."""
    if utility.worst_case is not None:
        return utility.worst_case.over is None and is_named(utility.worst_case.utility)
    return _classes().get(utility.name) is type(utility)
