"""Privacy regions: intervals of epsilon, by how many zeros a column may have (ED Definition 4; GSO Lemma 2).

All comparisons are made in rationals, because epsilon is often the end of a region, such as ``log(9/8)``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

import numpy as np

from mechdesign.data.labelled import vector
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import log_up
from mechdesign.uncertainty.prior_set import exact_prior


def _largest_masses(prior: Sequence[object]) -> list[Fraction]:
    """Return the mass of the N - k most probable categories for k = 0 to N - 1."""
    return list(accumulate(sorted(exact_prior(vector(prior, "the prior").values), reverse=True)))[::-1]


def epsilon_max(prior: Sequence[object]) -> float:
    """Return ``-log min P``: the leakage of releasing the data, which no mechanism exceeds (ED II-A1), in nats.

    Parameters
    ----------
    prior : sequence of N numbers
        The prior P.

    Returns
    -------
    float
        Rounded up; infinite where a category has probability 0.

    Raises
    ------
    InputError
        If the prior is not a distribution.

    Examples
    --------
    >>> round(epsilon_max([0.4, 0.2, 0.2, 0.2]), 6)
    1.609438
    """
    least = min(exact_prior(vector(prior, "the prior").values))
    return log_up(1 / least) if least > 0 else math.inf


def privacy_regions(prior: Sequence[object]) -> Floats:
    """Return where the privacy regions of a prior begin, in nats (ED Definition 4).

    With ``P_1 >= ... >= P_N`` and ``eps_k = -log sum(P_1, ..., P_{N-k})``, an epsilon in ``[eps_{k-1}, eps_k)`` is in
    the k-th region. ED has the regions k = 1 to N - 1, which end at ``eps_{N-1} = -log max P`` and so, except for the
    uniform prior, below `epsilon_max`. Here there is an N-th region, ``[-log max P, infinity)``, in which a column may
    be zero everywhere except at the most probable category.

    Parameters
    ----------
    prior
        As for `epsilon_max`.

    Returns
    -------
    array, shape (N,)
        ``eps_0 = 0`` to ``eps_{N-1}``, rounded up: element k - 1 is where the k-th region begins. To find the region
        of an epsilon use `privacy_region`, which does not round.

    Raises
    ------
    InputError
        As for `epsilon_max`.

    Examples
    --------
    >>> privacy_regions([0.4, 0.2, 0.2, 0.2]).round(6)
    array([0.      , 0.223144, 0.510826, 0.916291])
    """
    return np.array([log_up(1 / mass) for mass in _largest_masses(prior)])


def privacy_region(prior: Sequence[object], epsilon: object) -> int:
    """Return the k, from 1 to N, of the privacy region that epsilon lies in (ED Definition 4, see `privacy_regions`).

    The result is exact for ``"log(r)"`` and for 0. For other decimals exp(epsilon) is replaced by a rational that is
    proven not to exceed it; these decimals are never ends of regions. Give ``"log(9/8)"`` rather than the float nearest
    to it, which may lie in the neighbouring region.

    Parameters
    ----------
    prior : sequence of N numbers
        The prior P. If it has zeros, some regions are empty; a region that is not empty is returned.
    epsilon : number or str
        In nats: a decimal or ``"log(9/8)"``.

    Raises
    ------
    InputError
        If the prior is not a distribution, or epsilon is not accepted.

    Examples
    --------
    >>> privacy_region([0.4, 0.2, 0.2, 0.2], "log(9/8)"), privacy_region([0.4, 0.2, 0.2, 0.2], "log(5/4)")
    (1, 2)
    """
    e = Epsilon.of(epsilon).exp_down
    return sum(e * mass >= 1 for mass in _largest_masses(prior))


def most_zeros_in_a_column(prior: Sequence[object], epsilon: object) -> int:
    """Return the greatest number of zeros in a column of an epsilon-PML mechanism (GSO Lemma 2).

    A column v with its support in a set S has ``max v <= e <P, v> <= e P(S) max v``, so ``P(S) >= 1/e``; and the
    indicator of such a set is a column of an epsilon-PML mechanism. In the k-th privacy region this allows k - 1
    zeros, so none in the first region.

    Parameters
    ----------
    prior, epsilon
        As for `privacy_region`, which says what is refused.

    Returns
    -------
    int
        From 0 to N - 1.

    Examples
    --------
    >>> most_zeros_in_a_column(["1/10"] * 10, "log(5)")
    8
    """
    return privacy_region(prior, epsilon) - 1
