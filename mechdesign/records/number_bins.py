"""Numbers in bins: whoever reports puts the number of an attribute into its bin, by edges that the file states."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import entries

_MOST_EDGES = 9_999
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class NumberBins:
    """Bins between edges: below the first, from each edge on to the next, and from the last on.

    Numbers and edges are compared as floats of 64 bits, as programs in other languages have them.

    Parameters
    ----------
    edges : sequence of float
        Increasing.

    Raises
    ------
    InputError
        For edges that are not finite or do not increase.

    Examples
    --------
    >>> NumberBins([18, 65]).labels
    ('under 18', '18 to under 65', '65 or more')
    """

    edges: tuple[float, ...]

    def __post_init__(self) -> None:
        given = entries(self.edges, "the edges of bins", "a list of numbers")
        if not 1 <= len(given) <= _MOST_EDGES:
            raise InputError.wrong_size(f"there are {len(given)} edges of bins; accepted: 1 to {_MOST_EDGES}")
        for edge in given:
            if isinstance(edge, bool | np.bool_) or not isinstance(edge, int | float | np.integer | np.floating):
                raise InputError.not_a_number(f"an edge of bins is {shorten(edge)}; accepted: finite numbers")
        edges = tuple(float(edge) + 0.0 for edge in given)
        if not all(map(math.isfinite, edges)) or any(a >= b for a, b in pairwise(edges)):
            raise InputError.out_of_range(
                f"the edges of bins are {shorten(list(edges))}; accepted: finite and increasing"
            )
        object.__setattr__(self, "edges", edges)

    @property
    def labels(self) -> tuple[str, ...]:
        """What the bins are called."""
        names = [_shown(edge) for edge in self.edges]
        between = [f"{low} to under {high}" for low, high in pairwise(names)]
        return (f"under {names[0]}", *between, f"{names[-1]} or more")

    @classmethod
    def of_equal_counts(cls, numbers: Sequence[float], bins: int) -> NumberBins:
        """Return at most so many bins that hold about equally many of some numbers, with edges among these.

        Examples
        --------
        >>> NumberBins.of_equal_counts([20, 30, 30, 40, 50, 60], 3).edges
        (30.0, 50.0)
        """
        ordered = np.sort(np.asarray(numbers, dtype=np.float64))
        if not 2 <= bins <= _MOST_EDGES + 1 or not len(ordered):
            raise InputError.out_of_range(
                f"{shorten(bins)} bins of {len(ordered)} numbers; give two bins at least, at most {_MOST_EDGES + 1:,}, "
                "and numbers"
            )
        places = [len(ordered) * k // bins for k in range(1, bins)]
        edges = [edge for edge in np.unique(ordered[places]).tolist() if edge > ordered[0]]
        if not edges:
            raise InputError.too_few_categories(
                f"all numbers, or nearly all, are {_shown(float(ordered[0]))}, which one bin holds; give edges"
            )
        return cls(tuple(edges))

    def labelled(self, column: Any) -> Any:
        """Return a pyarrow column with the labels of bins in place of numbers; other texts stay, for the categories.

        Examples
        --------
        >>> import pyarrow as pa
        >>> NumberBins([18, 65]).labelled(pa.array(["17.5", "65", "?"])).to_pylist()
        ['under 18', '65 or more', '?']
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            numbers = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
            floats = np.asarray(pc.fill_null(numbers.cast(pa.float64(), safe=False), math.nan))
            codes = np.searchsorted(self.edges, floats, side="right").astype(np.int32)
            indices = pa.array(codes, mask=np.isnan(floats))
            return pa.DictionaryArray.from_arrays(indices, pa.array(self.labels, pa.string()))
        if not pa.types.is_dictionary(column.type):
            column = column.cast(pa.string()).dictionary_encode()
        texts = [self._labelled(text) for text in column.dictionary.to_pylist()]
        return pa.DictionaryArray.from_arrays(column.indices, pa.array(texts, pa.string()))

    def _labelled(self, text: str | None) -> str | None:
        if text is None or not is_number(text):
            return text
        return self.labels[int(np.searchsorted(self.edges, float(text), side="right"))]


def is_number(text: str) -> bool:
    """Return whether a text is a number that bins take, as ``-1.5e3`` is."""
    return _NUMBER.fullmatch(text) is not None


def _shown(edge: float) -> str:
    return repr(edge).removesuffix(".0")
