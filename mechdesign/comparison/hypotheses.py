"""How many reports tell two hypotheses about the population apart, and how well any mechanism can."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import ceil, inf
from operator import mul

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from mechdesign.errors import InputError, shorten
from mechdesign.numerics.exact import arb_of, log_up, lower, over_common_denominator, rational, upper, working_precision
from mechdesign.optimize import Design, design
from mechdesign.pml.pointwise import check_shapes, exact_columns
from mechdesign.problem import DesignProblem
from mechdesign.uncertainty import UncertaintySet
from mechdesign.uncertainty.base import check_set
from mechdesign.uncertainty.prior_set import exact_prior
from mechdesign.utility.distinguishing import distinguishing_gain

_LEAST_BITS = 128
_GREATEST_LOG = 700.0  # whose exponential is a float
_Pairs = list[tuple[Fraction, Fraction]]


@dataclass(frozen=True)
class ReportsToTell:
    """Numbers of reports with which two hypotheses are told apart, rounded to the side on which they are true.

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
        The hypotheses: distributions of the categories.
    error : float
        How large the sum of both probabilities of error may be, in (0, 1).

    Raises
    ------
    InputError
        For an error outside (0, 1), entries that are no probabilities, or shapes that do not fit.

    Notes
    -----
    Both distributions of reports are exact fractions, and the logarithms are balls whose precision grows with the
    nearness of the hypotheses: those that differ by 1e-9 have an affinity that in floats is 1.

    Examples
    --------
    >>> import mechdesign as md
    >>> response = md.baselines.k_ary_randomized_response(2, "log(3)").matrix
    >>> found = reports_to_tell(response, [0.6, 0.4], [0.4, 0.6], 0.05)
    >>> found.necessary, found.sufficient
    (232, 597)
    """
    most = rational(error, "error")
    if not 0 < most < 1:
        raise InputError.out_of_range(f"error is {shorten(error)}; accepted: a number in (0, 1)")
    columns = exact_columns(matrix)
    p0, p1 = _law(columns, first, "the first hypothesis"), _law(columns, second, "the second hypothesis")
    distance = float(sum(abs(a - b) for a, b in zip(p0, p1, strict=True)) / 2)
    if p0 == p1:
        return ReportsToTell(distance, inf, inf)
    both = [(a, b) for a, b in zip(p0, p1, strict=True) if a and b]
    if not both:
        return ReportsToTell(distance, 1, 1)
    half = Fraction(1, 2)
    necessary = _reports(both, half, 1 - (1 - most) ** 2)[0] / 2
    ends = (Fraction(s) for s in (0, 1) if sum(pair[1 - s] for pair in both) < 1)
    sufficient = min(_reports(both, s, most)[1] for s in (half, _best_exponent(both), *ends))
    return ReportsToTell(distance, ceil(necessary), ceil(sufficient))


def _reports(both: _Pairs, s: Fraction, errors: Fraction) -> tuple[Fraction, Fraction]:
    """Return bounds on the n with ``(sum p0^s p1^(1-s))^n`` equal to ``errors``, from below and from above."""
    bits = _LEAST_BITS
    while True:
        with working_precision(bits):
            terms = (arb_of(a) ** arb_of(s) * arb_of(b) ** arb_of(1 - s) for a, b in both)
            n = arb_of(errors).log() / sum(terms, arb_of(0)).log()
            if n.rel_accuracy_bits() >= _LEAST_BITS // 2:
                return lower(n), upper(n)
        bits *= 2


def _best_exponent(both: _Pairs) -> Fraction:
    """Return an s for which ``sum p0^s p1^(1-s)`` is about least; any s bounds errors.

    The sum is ``sum r exp((s - 1/2) L)`` with ``r = sqrt(p0 p1)`` and ``L = log(p0 / p1)``; what is searched is its
    difference from ``sum r``, which does not cancel where the hypotheses are near each other.
    """
    r = np.sqrt([float(a * b) for a, b in both])
    logs = np.array([log_up(a / b) for a, b in both])

    def beyond(t: float) -> float:
        return float(r @ np.expm1(np.minimum(t * logs, _GREATEST_LOG)))

    return Fraction(0.5 + float(minimize_scalar(beyond, bounds=(-0.5, 0.5), method="bounded").x))


def _law(columns: list[tuple[list[int], int]], prior: Sequence[object], name: str) -> list[Fraction]:
    """Return the distribution of reports."""
    P = exact_prior(prior, name)
    check_shapes((len(columns[0][0]), len(columns)), (len(P),))
    weights, _ = over_common_denominator(P)
    means = [Fraction(sum(map(mul, weights, v)), denominator) for v, denominator in columns]
    everything = sum(means, Fraction(0))
    return [mean / everything for mean in means]


@dataclass(frozen=True)
class Contraction:
    """How much of a difference between two people any mechanism with a promise lets through.

    Attributes
    ----------
    value : float
        The greatest total variation of the reports of two categories, of the design.
    bound : float
        A certified bound for every mechanism with the promise; at most 1.
    pair : tuple of str
        The two categories.
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
    program for each pair of categories; under local differential privacy it is ``(e - 1) / (e + 1)`` for every pair.

    Parameters
    ----------
    uncertainty : UncertaintySet
        The priors of the promise; each category has a positive probability at its centre.
    epsilon : number or str
        The promise in nats.

    Raises
    ------
    InputError
        For what is not a set of priors, or has a category of probability 0 at its centre.

    Examples
    --------
    >>> import mechdesign as md
    >>> found = largest_contraction(md.L1Ball(["0.5", "0.3", "0.2"]), "log(2)")
    >>> found.pair, round(found.value, 9), round(found.bound, 9)
    (('x1', 'x2'), 1.0, 1.0)
    """
    check_set(uncertainty)
    best: list[tuple[Design, tuple[int, int]]] = []
    size = uncertainty.size
    for pair in combinations(range(size), 2):
        first, second = ([int(x == symbol) for x in range(size)] for symbol in pair)
        best.append(
            (design(DesignProblem(uncertainty, epsilon, distinguishing_gain(first, second, uncertainty))), pair)
        )
    solved, pair = max(best, key=lambda found: found[0].value)
    labels = uncertainty.labels
    bound = min(1.0, max(found.bound for found, _ in best))  # no total variation is above 1
    return Contraction(solved.value, bound, (labels[pair[0]], labels[pair[1]]), solved)
