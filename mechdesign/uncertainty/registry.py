"""The sets that files know: the codec of each class once.

A mechanism file says for which priors its guarantee holds, and a problem file what is known of the prior. Both hold a
table whose keys tell which class of set it describes: ``counts`` an l1 ball, ``priors`` a convex hull, and the kind of
a registered class a set of that class.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from mechdesign.data.plugins import installed
from mechdesign.errors import InputError, shorten
from mechdesign.uncertainty.base import UncertaintySet

if TYPE_CHECKING:
    from mechdesign.uncertainty.codec import Codec, Place, TableKind

# Each has its codecs in CODECS; a new set of the package is one more there.
_MODULES = ("estimate_codecs", "codec", "nested_codecs")
_ENTRY_POINTS = "mechdesign.sets"
_registered: dict[str, Codec] = {}

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
        If another class has this kind, and for parameters of another shape.

    Examples
    --------
    >>> from mechdesign import L1Ball, UncertaintySet
    >>> register(L1Ball) is L1Ball
    True
    """
    from mechdesign.uncertainty.codec import ParameterCodec

    known = {codec.of.kind: codec.of for codec in (*_built_in(), *_registered.values())}.get(cls.kind)
    if known is None or (cls.kind in _registered and _name(known) == _name(cls)):
        _registered[cls.kind] = ParameterCodec(cls)
    elif known is not cls:
        raise InputError.bad_registration(
            f"a set of the kind {shorten(cls.kind)} is registered already; give the class another kind"
        )
    return cls


def _name(cls: type) -> tuple[str, str]:
    return cls.__module__, cls.__qualname__


def _built_in() -> tuple[Codec, ...]:
    return tuple(codec for name in _MODULES for codec in import_module(f"mechdesign.uncertainty.{name}").CODECS)


def codecs() -> tuple[Codec, ...]:
    """Return the codecs of all classes, those of the package first."""
    for point in installed(_ENTRY_POINTS):
        if point.name not in _registered:
            register(point.load())
    return (*_built_in(), *_registered.values())


def codec_of(known: UncertaintySet) -> Codec:
    """Return the codec of a set's class.

    Raises
    ------
    InputError
        If the class is not registered.
    """
    of_class: dict[type, Codec] = {codec.of: codec for codec in codecs()}
    if type(known) in of_class:
        return of_class[type(known)]
    names = ", ".join(cls.__name__ for cls in of_class)
    raise InputError.no_file_format(
        f"a {type(known).__name__} has no file format; accepted: {names}, and sets made known by register"
    )


def table_of(known: UncertaintySet, view: TableKind) -> dict[str, Any]:
    """Return the table that describes a set in a guarantee or in a problem file.

    Raises
    ------
    InputError
        If its class has no codec, or the table could not be read again because a number has too many digits.
    """
    from mechdesign.uncertainty.codec import Place, TableKind

    codec = codec_of(known)
    table = codec.write(known, view)
    codec.record(table, Place(view.value, inputs=known.labels if view is TableKind.GUARANTEE else None))
    return table


def set_of(table: Mapping[str, Any], place: Place) -> UncertaintySet:
    """Return the set that a table in a file describes.

    Parameters
    ----------
    table : mapping
        As parsed from the file.
    place : Place
        Where it stands.

    Raises
    ------
    InputError
        If the table does not describe a set of exactly one registered class.
    GuaranteeError
        If it claims a smaller set than its own evidence supports.
    """
    view, every = place.view, codecs()
    marks = {mark: codec for codec in every for mark in codec.marks[view]}
    given = [mark for mark in marks if mark in table]
    if len(given) != 1:
        found = " and ".join(given) or "no set of priors"
        raise InputError.conflicting_keys(f"{place.heading} has {found}; give one of {', '.join(marks)}")
    codec = marks[given[0]]
    accepted, known = codec.keys(view), frozenset().union(*(codec.keys(view) for codec in every))
    for key in table:
        if key not in accepted and key in known:
            raise InputError.key_out_of_place(
                f"{place.heading} has {key} beside {given[0]}, where it has no meaning; remove it"
            )
    for key in table:
        if key not in accepted:
            where = shorten(f"{place.within}.{key}")
            raise InputError.unknown_key(
                f"{place.prefix}the key {where} is unknown; accepted: {', '.join(sorted(accepted))}"
            )
    return codec.read(table, place)


def takes_as_known(table: Mapping[str, Any]) -> bool:
    """Return whether counts in a table ``[prior]`` are taken as known because nothing says what they are.

    Files from before there was the key ``known`` say it so.

    Examples
    --------
    >>> takes_as_known({"counts": {"a": 3, "b": 1}}), takes_as_known({"counts": {"a": 3, "b": 1}, "known": True})
    (True, False)
    """
    if "counts" in table:
        return not {"delta", "radius", "known"} & set(table)
    if "secret" in table:
        return not {"delta", "sets", "known"} & set(table["secret"])
    return any(map(takes_as_known, (*table.get("factors", ()), *table.get("sets", ()))))
