"""Frequency oracles of the literature for many strings, under local differential privacy, by their exact variances.

All are unbiased, and ``n Var = base + slope * share - share^2`` for the estimated share of a string from n reports,
exactly, where each report has a hash function of its own, uniform over all functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mechdesign.data.checks import whole_number
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.epsilon import Epsilon


@dataclass(frozen=True)
class StringBaseline:
    """A frequency oracle for strings.

    Attributes
    ----------
    name : str
        The mechanism in words.
    epsilon : Epsilon
        Of local differential privacy.
    base, slope : float
        ``n Var = base + slope * share - share^2``.
    source : str
        Where it is from.
    """

    name: str
    epsilon: Epsilon
    base: float
    slope: float
    source: str

    @classmethod
    def of_supports(cls, name: str, epsilon: Epsilon, own: float, other: float, source: str) -> StringBaseline:
        """Return the oracle whose reports support the own string with one probability, any other with another.

        The estimate is ``(supports/n - other)/(own - other)``; that of one report has values of two kinds.
        """
        gap = own - other
        return cls(name, epsilon, other * (1 - other) / gap**2, (1 - 2 * other) / gap, source)

    def error_of(self, share: float) -> float:
        """Return n times the variance of the estimated share of a string.

        Parameters
        ----------
        share : float
            The share of the string, in [0, 1].

        Raises
        ------
        InputError
            For another share.
        """
        if not 0 <= share <= 1:
            raise InputError.out_of_range(f"the share is {shorten(share)}; accepted: a number from 0 to 1")
        return self.base + self.slope * share - share**2


def local_hashing(epsilon: object, cells: int | None = None) -> StringBaseline:
    """Return local hashing: randomized response of the string's hash to g cells.

    Wang, Blocki, Li and Jha, "Locally differentially private protocols for frequency estimation" (USENIX Security
    2017): OLH, with g the whole number next to ``e + 1``. Pan, "Improving count-mean sketch" (arXiv 2406.03785), has it
    as count-mean sketch with randomized response.

    Parameters
    ----------
    epsilon : number or str
        Of local differential privacy, above 0.
    cells : int, optional
        g, 2 or more; by default the best one.

    Examples
    --------
    >>> round(local_hashing("log(3)").error_of(0), 9)
    3.0
    """
    given, e = _checked(epsilon)
    if cells is None:
        errors = [local_hashing(given, g) for g in (math.floor(e + 1), math.ceil(e + 1))]
        return min(errors, key=lambda one: one.base)
    g = whole_number(cells, "cells", 2)
    source = "Wang, Blocki, Li and Jha (2017)"
    return StringBaseline.of_supports(f"local hashing to {g} cells", given, e / (e + g - 1), 1 / g, source)


def count_mean_sketch(epsilon: object, cells: int = 1024) -> StringBaseline:
    """Return count-mean sketch: the string's hash to m cells as m bits, each turned with odds ``1 : exp(epsilon/2)``.

    Apple, "Learning with privacy at scale" (2017). Estimates here are those of the expectation that Pan corrected
    (arXiv 2406.03785): unbiased also for few cells.

    Parameters
    ----------
    epsilon : number or str
        Of local differential privacy, above 0.
    cells : int
        m, 2 or more.

    Examples
    --------
    >>> round(count_mean_sketch("log(4)", 1_000_000).error_of(0), 5)
    2.00001
    """
    given, e = _checked(epsilon)
    m, root = whole_number(cells, "cells", 2), math.sqrt(e)
    own, turned = root / (root + 1), 1 / (root + 1)
    source = "Apple (2017); Pan (2024)"
    return StringBaseline.of_supports(
        f"count-mean sketch of {m} cells", given, own, own / m + turned * (1 - 1 / m), source
    )


def hadamard_hashing(epsilon: object) -> StringBaseline:
    """Return Hadamard response for many strings, which are put in blocks and rows at random.

    Acharya, Sun and Zhang, "Hadamard response: estimating distributions privately, efficiently, and with little
    communication" (2019), with B blocks, the greatest power of two up to e. A report is a column of a block. With
    ``w = e + 2B - 1`` its estimate is ``w/(e - 1)`` if it lies in the string's block and supports it, the same below 0
    if it lies there and does not, and otherwise 0. Exact where no two strings share a row.

    Parameters
    ----------
    epsilon : number or str
        Of local differential privacy, above 0.

    Examples
    --------
    >>> round(hadamard_hashing("log(3/2)").error_of(0), 9)
    25.0
    """
    given, e = _checked(epsilon)
    B = 1 << (math.floor(e).bit_length() - 1)
    w = e + 2 * B - 1
    base, slope = w * (2 / (e - 1) + 1 / B) / (e - 1), w * (1 - 1 / B) / (e - 1)
    return StringBaseline(f"Hadamard response of {B} blocks", given, base, slope, "Acharya, Sun and Zhang (2019)")


def least_under_ldp(epsilon: object) -> StringBaseline:
    """Return the least error of many strings under local differential privacy, that of subset selection in the limit.

    Ye and Barg, "Optimal schemes for discrete distribution estimation under local differential privacy" (2018): the
    own string is in the reported set with probability 1/2, any other one with ``1/(e + 1)``. Pan (arXiv 2603.11523)
    shows that nothing is better.

    Parameters
    ----------
    epsilon : number or str
        Of local differential privacy, above 0.

    Examples
    --------
    >>> round(least_under_ldp("log(3)").error_of(0), 9)
    3.0
    """
    given, e = _checked(epsilon)
    source = "Ye and Barg (2018); Pan (arXiv 2603.11523)"
    return StringBaseline.of_supports("least error under LDP", given, 0.5, 1 / (e + 1), source)


STRING_BASELINES: Mapping[str, Callable[[object], StringBaseline]] = MappingProxyType(
    {
        "local-hashing": local_hashing,
        "hadamard-hashing": hadamard_hashing,
        "count-mean-sketch": count_mean_sketch,
        "least-under-ldp": least_under_ldp,
    }
)
"""The constructors by names."""


def _checked(epsilon: object) -> tuple[Epsilon, float]:
    given = Epsilon.of(epsilon)
    if given.exp_down == 1:
        raise InputError.epsilon_out_of_range(f"epsilon is {given.text}, for which reports may tell nothing; give more")
    return given, float(given.exp_down)
