"""Randomized response of OpenDP, as its function ``serialize`` writes it: the one mechanism there that has a matrix."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from mechdesign.data.fields import finite_decimal
from mechdesign.data.labels import canonical_labels
from mechdesign.errors import InputError, shorten
from mechdesign.mechanism.exact_matrix import MOST_SIDE, ExactMatrix
from mechdesign.numerics.exact import rational

_MOST_BYTES = 2**20
_CATEGORIES, _BOOL = "make_randomized_response", "make_randomized_response_bool"


def of_opendp(content: bytes) -> ExactMatrix:
    """Return the matrix of a measurement that OpenDP serialized.

    Raises
    ------
    InputError
        For another measurement, or a file that is damaged.

    Examples
    --------
    >>> text = b'{"__function__": "make_randomized_response_bool", "__kwargs__": {"prob": 0.75}}'
    >>> of_opendp(text).weights
    ((3, 1), (1, 3))
    """
    if len(content) > _MOST_BYTES:
        raise InputError(f"it has {len(content)} bytes; accepted: at most {_MOST_BYTES} of OpenDP")
    try:
        record = json.loads(content, parse_float=finite_decimal)
    except (ValueError, RecursionError) as error:
        raise InputError(f"it is not JSON ({shorten(str(error))}); give what OpenDP serialized") from None
    table = record if isinstance(record, dict) else {}
    function, given = table.get("__function__"), table.get("__kwargs__")
    if function not in (_CATEGORIES, _BOOL) or not isinstance(given, dict):
        raise InputError(
            f"it is {shorten(function)} of OpenDP, which has no matrix; accepted: {_CATEGORIES}, {_BOOL}, or a matrix"
        )
    kept = rational(given.get("prob"), "the argument prob")
    if function == _BOOL:
        return _randomized_response(("False", "True"), kept)
    categories = given.get("categories")
    if not isinstance(categories, list) or not 2 <= len(categories) <= MOST_SIDE:
        raise InputError(f"the argument categories is {shorten(categories)}; accepted: a list of two or more")
    return _randomized_response(canonical_labels(categories, len(categories)), kept)


def _randomized_response(labels: Sequence[Any], kept: Fraction) -> ExactMatrix:
    """Return randomized response that reports the true category with a probability, and else any other."""
    others = (1 - kept) / (len(labels) - 1)
    rows = [[kept if i == j else others for j in range(len(labels))] for i in range(len(labels))]
    return ExactMatrix.of_fractions(
        rows,
        tuple(labels),
        tuple(labels),
        numbers="decimals as OpenDP wrote them",
        name="OpenDP randomized response",
        rounded=True,
    )
