"""Arrays: their types, conversion from what users give, read-only arrays, and bounds that overflow leaves valid."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InputError, shorten
from mechdesign.numerics.exact import rational

Floats = NDArray[np.float64]
Scalar = TypeVar("Scalar", bound=np.generic)

_PLAIN = (int, float, np.integer, np.floating, np.bool_)
_EXACT = (str, Decimal, Fraction)


def frozen(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return a read-only copy over immutable bytes, so that it cannot be made writeable again.

    Examples
    --------
    >>> frozen(np.array([1, 2])).flags.writeable
    False
    """
    copy: NDArray[Any] = np.frombuffer(np.ascontiguousarray(array).tobytes(), dtype=array.dtype)
    return copy.reshape(array.shape)


def number_array(value: Any, name: str, accepted: str) -> NDArray[Any]:
    """Return an array-like as an array of truth values, integers or floats, of any shape.

    Parameters
    ----------
    value : array-like
        Nested lists, an array, or an object that converts itself to an array.
    name : str
        The name of the value, for the message.
    accepted : str
        What the message says is accepted.

    Raises
    ------
    InputError
        For complex numbers, text, other objects, masked entries, lists of unequal lengths, and integers beyond 64 bits.

    Examples
    --------
    >>> number_array([[1, 2]], "the matrix of counts", "whole numbers").dtype
    dtype('int64')
    """
    found = _numbers_or_objects(value, name, accepted)
    if found.dtype.kind not in "biuf":
        raise InputError.not_a_number(f"{name} is {shorten(value)}; accepted: {accepted}")
    return found


def _numbers_or_objects(value: Any, name: str, accepted: str) -> NDArray[Any]:
    """Return an array of numbers in their own type, or of objects or text, whose entries are not checked."""
    if np.ma.is_masked(value):
        raise InputError.not_a_number(f"{name} has masked entries; accepted: {accepted}, without a mask")
    try:
        if hasattr(value, "__array__"):
            found = np.asarray(value)
        else:
            # As objects first, since numpy would read masked entries and complex numbers as floats.
            found = np.asarray(value, dtype=object)
            if all(issubclass(kind, _PLAIN) for kind in set(map(type, found.ravel().tolist()))):
                found = np.asarray(found.tolist())
    except (TypeError, ValueError, OverflowError, RecursionError):
        found = np.array(None)
    if (found.shape == () and found.dtype.kind == "O") or found.dtype.kind not in "biufOU":
        raise InputError.not_a_number(f"{name} is {shorten(value)}; accepted: {accepted}")
    return found


def real_array(value: Any, name: str, accepted: str = "real numbers") -> Floats:
    """Return an array-like as an array of floats, of any shape; entries that are not finite are kept.

    Truth values count as 0 and 1. Fractions, and decimals or ratios as text, are rounded once.

    Parameters
    ----------
    value, name, accepted
        As for `number_array`.

    Raises
    ------
    InputError
        For complex numbers, masked entries, lists of unequal lengths, entries that are not real numbers, and
        integers beyond floats.

    Examples
    --------
    >>> real_array([[1, "1/4"]], "the matrix")
    array([[1.  , 0.25]])
    """
    if type(value) is np.ndarray and value.dtype == np.float64:
        return value
    found = _numbers_or_objects(value, name, accepted)
    with np.errstate(over="ignore"):
        if found.dtype.kind in "biuf":
            return found.astype(float)
        try:
            floats = [_float(entry, name, accepted) for entry in found.ravel().tolist()]
        except OverflowError:
            raise InputError.not_a_number(f"{name} has an entry beyond 1.8e308; accepted: {accepted}") from None
    return np.array(floats, dtype=float).reshape(found.shape)


def _float(entry: object, name: str, accepted: str) -> float:
    if isinstance(entry, _PLAIN):
        return float(entry)
    if isinstance(entry, _EXACT):
        try:
            return float(rational(entry, f"an entry of {name}"))
        except InputError as error:
            raise error.reworded(f"{error}; accepted: {accepted}") from None
    raise InputError.not_a_number(f"an entry of {name} is {shorten(entry)}; accepted: {accepted}")


def entries(value: Any, name: str, accepted: str) -> list[Any]:
    """Return what an iterable yields as a list; text and arrays without a dimension are refused.

    Examples
    --------
    >>> entries((1, 2), "the counts", "a list")
    [1, 2]
    """
    if not isinstance(value, str | bytes) and isinstance(value, Iterable):
        try:
            return list(value)
        except TypeError:  # an array without a dimension, or a class
            pass
    raise InputError.wrong_type(f"{name} is {shorten(value)}; give {accepted}")


def shares(weights: Sequence[Sequence[int]] | NDArray[np.int64]) -> Floats:
    """Return whole numbers over the sum of their row, as floats, each rounded once.

    Examples
    --------
    >>> shares([[1, 3], [1, 1]])
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    rows = weights.tolist() if isinstance(weights, np.ndarray) else weights
    return np.array([[w / total for w in row] for row, total in zip(rows, map(sum, rows), strict=True)], dtype=float)


def float_of(number: Any) -> float:
    """Return the float of a number; infinity where that is too large for a float.

    Examples
    --------
    >>> float_of(10**400), float_of(-(10**400)), float_of(0.5)
    (inf, -inf, 0.5)
    """
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def as_bound(upper: ArrayLike) -> Floats:
    """Return upper bounds with infinity in place of NaN, and of minus infinity, which is a result of overflow.

    A bound that is NaN or minus infinity is not above any level, so that a search would drop the case it bounds. Bounds
    are therefore passed through this function where they are computed, before they are compared.

    Examples
    --------
    >>> as_bound([1.0, np.nan, -np.inf])
    array([ 1., inf, inf])
    """
    values = np.asarray(upper, dtype=float)
    result: Floats = np.where(values > -np.inf, values, np.inf)
    return result
