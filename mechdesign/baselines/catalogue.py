"""Every baseline of a number of categories, and baselines by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType

from mechdesign.baselines.baseline import Baseline
from mechdesign.baselines.ordered import geometric, truncated_laplace
from mechdesign.baselines.set_reports import (
    block_design,
    hadamard_response,
    k_ary_randomized_response,
    optimized_unary_encoding,
    subset_selection,
    symmetric_unary_encoding,
)
from mechdesign.errors import InputError, LimitError, shorten

NAMED: Mapping[str, Callable[[int, object], Baseline]] = MappingProxyType(
    {
        "randomized-response": k_ary_randomized_response,
        "subset-selection": subset_selection,
        "hadamard-response": hadamard_response,
        "block-design": block_design,
        "symmetric-unary-encoding": symmetric_unary_encoding,
        "optimized-unary-encoding": optimized_unary_encoding,
        "geometric": geometric,
        "truncated-laplace": truncated_laplace,
    }
)
"""The constructors by the names of the command line."""


def by_name(name: str, size: int, epsilon: object) -> Baseline:
    """Return the baseline of a name.

    Raises
    ------
    InputError
        For another name.
    LimitError
        If there is none for so many categories.

    Examples
    --------
    >>> by_name("geometric", 5, 1).name
    'geometric mechanism'
    """
    if name not in NAMED:
        raise InputError.unknown_choice(f"the baseline is {shorten(name)}; accepted: {', '.join(NAMED)}")
    return NAMED[name](size, epsilon)


def every(size: int, epsilon: object, without: Collection[str] = ()) -> tuple[Baseline, ...]:
    """Return every baseline that there is for N categories; those with too many outputs are left out.

    Parameters
    ----------
    size : int
        Number N of categories.
    epsilon : number or str
        Of local differential privacy.
    without : collection of str
        Names of baselines to leave out.

    Examples
    --------
    >>> [found.name for found in every(5, 1)]  # no difference set modulo 5 is one
    ['k-ary randomized response', 'subset selection of 1 category', 'Hadamard response', 'symmetric unary encoding',
     'optimized unary encoding', 'geometric mechanism', 'truncated discrete Laplace']
    """
    found = []
    for name in [name for name in NAMED if name not in without]:
        try:
            found.append(by_name(name, size, epsilon))
        except LimitError:
            continue
    return tuple(found)
