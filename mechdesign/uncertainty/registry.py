"""The sets that files know: each class once, with the format of its tables.

A mechanism file says for which priors its guarantee holds, and a problem file what is known of the prior. Both hold a
table whose keys tell which class of set it describes: ``counts`` an l1 ball, ``priors`` a convex hull, and the kind of
a registered class a set of that class.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from mechdesign.data.plugins import installed
from mechdesign.errors import InputError, shorten
from mechdesign.uncertainty.base import UncertaintySet

if TYPE_CHECKING:
    from mechdesign.uncertainty.format import SetFormat

    KeysOf = Callable[[SetFormat], Collection[str]]

# The place of the format of each class; a new set of the package is one line here.
_BUILT_IN = {
    "l1-ball": "mechdesign.uncertainty.l1_ball_format:L1BallFormat",
    "convex-hull": "mechdesign.uncertainty.convex_hull_format:ConvexHullFormat",
    "product": "mechdesign.uncertainty.product_set_format:ProductSetFormat",
    "box": "mechdesign.uncertainty.pieces_format:BoxFormat",
    "lower-limits": "mechdesign.uncertainty.pieces_format:LowerLimitsFormat",
    "l1-box": "mechdesign.uncertainty.pieces_format:L1BoxFormat",
    "relative-ball": "mechdesign.uncertainty.pieces_format:RelativeBallFormat",
    "event-set": "mechdesign.uncertainty.pieces_format:EventSetFormat",
    "secret": "mechdesign.uncertainty.secret_format:SecretFormat",
}
_ENTRY_POINTS = "mechdesign.sets"
_registered: dict[str, SetFormat] = {}

Class = TypeVar("Class", bound=type[UncertaintySet])


def register(cls: Class) -> Class:
    """Make a class of sets known to mechanism files, problem files and the command line.

    Use it as a decorator. The class names its `kind` and the `parameters` of its constructor. Files hold them as
    exact numbers under the name of the kind: ``{"box": {"lower": ["0.1", "0.2"], ...}}``. An installed package makes
    its sets known to the command ``mechdesign`` by an entry point of the group ``mechdesign.sets``.

    Parameters
    ----------
    cls : type of UncertaintySet
        With ``parameters``, a mapping from the name of each argument to ``"number"``, ``"vector"`` or ``"matrix"``. The
        constructor takes these and ``labels``, all by name, and each is an attribute of the same name.

    Raises
    ------
    InputError
        If another class has this kind.

    Examples
    --------
    >>> from mechdesign import L1Ball, UncertaintySet
    >>> register(L1Ball) is L1Ball
    True
    """
    if _BUILT_IN.get(cls.kind, "").rpartition(":")[2] == f"{cls.__name__}Format":
        return cls
    from mechdesign.uncertainty.format import ParameterFormat

    known = _registered.get(cls.kind)
    same = known is not None and (known.of.__module__, known.of.__qualname__) == (cls.__module__, cls.__qualname__)
    if cls.kind in _BUILT_IN or (known is not None and not same):
        raise InputError(f"a set of the kind {shorten(cls.kind)} is registered already; give the class another kind")
    _registered[cls.kind] = ParameterFormat(cls)
    return cls


def set_formats() -> tuple[SetFormat, ...]:
    """Return the formats of all classes, those of the package first."""
    for point in installed(_ENTRY_POINTS):
        if point.name not in _registered:
            register(point.load())
    built_in = []
    for place in _BUILT_IN.values():
        module, _, name = place.partition(":")
        built_in.append(getattr(import_module(module), name)())
    return (*built_in, *_registered.values())


def format_of(known: UncertaintySet) -> SetFormat:
    """Return the format of a set's class.

    Raises
    ------
    InputError
        If the class is not registered.
    """
    formats = set_formats()
    for entry in formats:
        if type(known) is entry.of:
            return entry
    names = ", ".join(entry.of.__name__ for entry in formats)
    raise InputError(f"a {type(known).__name__} has no file format; accepted: {names}, and sets made known by register")


def guarantee_table(known: UncertaintySet) -> dict[str, Any]:
    """Return the table that describes a set in the guarantee of a mechanism file."""
    return format_of(known).to_guarantee(known)


def set_of_guarantee(
    table: Mapping[str, Any], labels: tuple[str, ...], source: str, within: str = "guarantee"
) -> UncertaintySet:
    """Return the set that the guarantee of a mechanism file describes.

    Parameters
    ----------
    table : mapping
        As parsed from the file.
    labels : tuple of str
        The inputs of the mechanism.
    source : str
        The name of the file, for messages.
    within : str
        The key of the table in the file, for messages.

    Raises
    ------
    InputError
        If the table does not describe a set of exactly one registered class.
    GuaranteeError
        If it claims a smaller set than its own evidence supports.
    """
    entry, mark, foreign = _told_by(
        table,
        lambda entry: entry.guarantee_marks,
        lambda entry: entry.guarantee_keys,
        f"{source}: the guarantee",
        "no prior",
    )
    for key in foreign:
        raise InputError(f"{source}: the guarantee has {key} beside {mark}, where it has no meaning; remove it")
    _check_keys(table, entry.guarantee_keys, f"{source}: ", within)
    return entry.from_guarantee(table, labels, source, within)


def prior_table(known: UncertaintySet) -> dict[str, Any]:
    """Return the table ``[prior]`` that describes a set in a problem file."""
    return format_of(known).to_prior(known)


def set_of_prior(table: Mapping[str, Any], within: str = "prior") -> UncertaintySet:
    """Return the set that the table ``[prior]`` of a problem file describes.

    Parameters
    ----------
    table, within
        As for `set_of_guarantee`.

    Raises
    ------
    InputError
        As for `set_of_guarantee`.
    """
    entry, _, foreign = _told_by(
        table, lambda entry: entry.prior_marks, lambda entry: entry.prior_keys, f"[{within}]", "no data"
    )
    for key in foreign:
        raise InputError(f"[{within}] has {key}, which does not go with its other keys; leave it out")
    _check_keys(table, entry.prior_keys, "", within)
    return entry.from_prior(table, within)


def _check_keys(table: Mapping[str, Any], accepted: frozenset[str], told: str, within: str) -> None:
    """Refuse a key that no class of sets has."""
    for key in table:
        if key not in accepted:
            where = shorten(f"{within}.{key}")
            raise InputError(f"{told}the key {where} is unknown; accepted: {', '.join(sorted(accepted))}")


def _told_by(
    table: Mapping[str, Any], marks_of: KeysOf, keys_of: KeysOf, where: str, nothing: str
) -> tuple[SetFormat, str, list[str]]:
    """Return the format whose mark is in a table, that mark, and the keys of other formats that are there too."""
    formats = set_formats()
    marks = {key: entry for entry in formats for key in marks_of(entry)}
    given = [key for key in marks if key in table]
    if len(given) != 1:
        raise InputError(f"{where} has {' and '.join(given) or nothing}; give one of {', '.join(marks)}")
    known = marks[given[0]]
    keys = {key for entry in formats for key in keys_of(entry)}
    return known, given[0], [key for key in table if key in keys and key not in keys_of(known)]
