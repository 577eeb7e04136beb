"""How many reports tell two hypotheses about the population apart, and how well any mechanism can."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, inf, log

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import Floats
from mechdesign.optimize import Design, design
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.prior_set import exact_prior
from mechdesign.utility.distinguishing import distinguishing_gain


@dataclass(frozen=True)
class ReportsToTell:
    """Numbers of reports with which two hypotheses are told apart, computed in floats.

    Attributes
    ----------
    total_variation : float
        Of one report under the two hypotheses.
    necessary : int or float
        With fewer reports every test errs more often (Le Cam); inf where reports tell nothing.
    sufficient : int or float
        With so many the likelihood ratio test errs no more often (Chernoff).
    """

    total_variation: float
    necessary: float
    sufficient: float


def reports_to_tell(
    matrix: ArrayLike, first: Sequence[object], second: Sequence[object], error: float
) -> ReportsToTell:
    """Return how many reports of a mechanism tell two hypotheses about the population apart.

    With the Hellinger affinity ``rho = sum_y sqrt(p0(y) p1(y))`` and Chernoff's ``C``, the least
    ``sum_y p0(y)^s p1(y)^(1-s)`` over s, the errors of the best test of n reports sum to at least
    ``1 - sqrt(1 - rho^(2n))`` and at most ``C^n``.

    Parameters
    ----------
    matrix : array, shape (N, M)
        The probabilities p(y|x).
    first, second : sequence of N numbers or texts
        The hypotheses: distributions of the symbols.
    error : float
        How large the sum of both probabilities of error may be, in (0, 1).

    Raises
    ------
    InputError
        For an error outside (0, 1), or shapes that do not fit.

    Examples
    --------
    >>> import mechdesign as md
    >>> response = md.baselines.k_ary_randomized_response(2, "log(3)").matrix
    >>> found = reports_to_tell(response, [0.6, 0.4], [0.4, 0.6], 0.05)
    >>> found.necessary, found.sufficient
    (232, 597)
    """
    if not 0 < error < 1:
        raise InputError.out_of_range(f"error is {shorten(error)}; accepted: a number in (0, 1)")
    p0, p1 = _law(matrix, first), _law(matrix, second)
    affinity, chernoff = float(np.sqrt(p0 * p1).sum()), _chernoff(p0, p1)
    distance = float(np.abs(p0 - p1).sum() / 2)
    if chernoff >= 1 or affinity >= 1:
        return ReportsToTell(distance, inf, inf)
    necessary = ceil(log(1 - (1 - error) ** 2) / (2 * log(affinity))) if affinity > 0 else 1
    return ReportsToTell(distance, necessary, ceil(log(error) / log(chernoff)) if chernoff > 0 else 1)


def _law(matrix: ArrayLike, prior: Sequence[object]) -> Floats:
    """Return the distribution of reports."""
    V, P = np.asarray(matrix, dtype=np.float64), np.array([float(p) for p in exact_prior(prior)])
    if V.ndim != 2 or len(P) != len(V):
        raise InputError.wrong_size(
            f"the matrix has shape {V.shape} and a hypothesis {len(P)} probabilities; give a row for each"
        )
    return P @ V


def _chernoff(p0: Floats, p1: Floats) -> float:
    """Return the least ``sum p0^s p1^(1-s)``; any s bounds errors, so that a search that ends early is no error."""
    both = (p0 > 0) & (p1 > 0)
    a, b = p0[both], p1[both]
    found = minimize_scalar(lambda s: float((a**s * b ** (1 - s)).sum()), bounds=(0, 1), method="bounded")
    return min(float(found.fun), float(a.sum()), float(b.sum()))


@dataclass(frozen=True)
class Contraction:
    """How much of a difference between two people any mechanism with a promise lets through.

    Attributes
    ----------
    value : float
        The greatest total variation of the reports of two symbols, of the design.
    bound : float
        A certified bound for every mechanism with the promise.
    pair : tuple of str
        The two symbols.
    design : Design
        The mechanism that reaches the value.
    """

    value: float
    bound: float
    pair: tuple[str, str]
    design: Design


def largest_contraction(uncertainty: UncertaintySet, epsilon: object) -> Contraction:
    """Return the largest contraction coefficient of total variation among all mechanisms with a promise.

    No test tells two hypotheses apart by more than this factor of their own total variation (Dobrushin). There is one
    program for each pair of symbols; under local differential privacy it is ``(e - 1) / (e + 1)`` for every pair.

    Parameters
    ----------
    uncertainty : UncertaintySet
        The priors of the promise; each symbol has a positive probability at its centre.
    epsilon : number or str
        The promise in nats.

    Examples
    --------
    >>> import mechdesign as md
    >>> found = largest_contraction(md.L1Ball(["0.5", "0.3", "0.2"]), "log(2)")
    >>> found.pair, round(found.value, 9), round(found.bound, 9)
    (('x1', 'x2'), 1.0, 1.0)
    """
    best: list[tuple[Design, tuple[int, int]]] = []
    size = uncertainty.size
    for pair in combinations(range(size), 2):
        first, second = ([int(x == symbol) for x in range(size)] for symbol in pair)
        best.append(
            (design(DesignProblem(uncertainty, epsilon, distinguishing_gain(first, second, uncertainty))), pair)
        )
    solved, pair = max(best, key=lambda found: found[0].value)
    labels = uncertainty.labels
    bound = max(found.bound for found, _ in best)
    return Contraction(solved.value, bound, (labels[pair[0]], labels[pair[1]]), solved)
