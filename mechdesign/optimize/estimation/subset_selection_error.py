"""Subset selection under local differential privacy (Ye and Barg 2018), and its estimation error at any prior.

A report is a set S of d of the N symbols, exp(epsilon) times as likely if it contains the symbol of the record. With
``y(S) = 1 + (e - 1) P(S)`` the columns are ``1 + (e - 1) 1_S`` and, scaled to ``<P, v> = 1``, differ from (1,...,1) by
``(e - 1) (1_S - P(S)) / y(S)``. Let B be the mean of ``1_S 1_S' / y(S)`` over all sets of d symbols, and U an
orthonormal basis of the vectors of sum 0. Then the covariance ``J^-1 - P P'`` of the estimate from one report is

    (d e + N - d) / (N (e - 1)^2) U (U' B U)^-1 U'.

Sets are not listed for B: ``1 / y`` is the integral of ``exp(-s y)`` over s > 0, and for each s the sums over sets are
elementary symmetric polynomials in ``x_i = exp(-s (e - 1) P_i)``, coefficients of ``prod (1 + x_i z)``, which Cauchy's
formula gives as means over a circle. Both integrals are sums over equidistant points, whose errors are below rounding.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np

from mechdesign.errors import InputError, LimitError
from mechdesign.numerics.arrays import Floats
from mechdesign.optimize.closed_form.form import Numbers
from mechdesign.optimize.closed_form.least_errors import least_error_of_sets

MOST_OUTPUTS = 20_000
"""The most sets of which a matrix is written down."""

MOST_SYMBOLS = 500
"""The most symbols for which an error is computed, which takes N^2 operations for each of some thousand points."""

_STEP = 0.25  # of log s: the trapezoidal rule errs by |Gamma(1 + 2 pi i / step)| < 1e-15
_NEGLIGIBLE = 41.0  # exp(-41) is below rounding
_MOST = Fraction(10**15)  # exp(epsilon): a greater one lowers the error by less than rounding does


def mechanism(size: int, exp_epsilon: Fraction, members: int) -> Numbers:
    """Return subset selection as a matrix of Fractions, a column for each set in lexicographic order.

    Raises
    ------
    LimitError
        If there are more than 20,000 sets.

    Examples
    --------
    >>> mechanism(3, Fraction(2), 2)[0].tolist()
    [Fraction(2, 5), Fraction(2, 5), Fraction(1, 5)]
    """
    _check_members(size, members)
    count = math.comb(size, members)
    if count > MOST_OUTPUTS:
        raise LimitError.too_much_work(
            f"subset selection of {members} of {size} categories has {count} outputs; accepted: at most {MOST_OUTPUTS}"
        )
    low = 1 / (math.comb(size - 1, members - 1) * exp_epsilon + math.comb(size - 1, members))
    matrix = np.full((size, count), low, dtype=object)
    for column, chosen in enumerate(combinations(range(size), members)):
        matrix[list(chosen), column] *= exp_epsilon
    return matrix


def covariance(prior: Floats, exp_epsilon: Fraction | float, members: int) -> Floats:
    """Return the covariance of the frequencies estimated from one report, shape (N, N), at a prior.

    Parameters
    ----------
    prior : array, shape (N,)
        P.
    exp_epsilon : Fraction or float
        exp(epsilon), above 1.
    members : int
        d, from 1 to N - 1.

    Raises
    ------
    LimitError
        For more than 500 symbols.

    Examples
    --------
    At a uniform prior the sum of the variances is that of `least_error_of_sets`:

    >>> round(float(np.trace(covariance(np.full(4, 0.25), 3.0, 2))), 9)
    9.0
    >>> float(least_error_of_sets(4, Fraction(3), 2))
    9.0
    """
    N = prior.size
    _check_members(N, members)
    if N > MOST_SYMBOLS:
        raise LimitError.too_much_work(
            f"there are {N} categories; the error of subset selection is computed for at most {MOST_SYMBOLS}"
        )
    excess = float(min(exp_epsilon, _MOST) - 1)
    inverse = np.linalg.inv(_joint_membership(prior, excess, members))
    ones = inverse.sum(axis=1)
    projected = inverse - np.outer(ones, ones) / ones.sum()
    result: Floats = (members * excess + N) / (N * excess**2) * (projected + projected.T) / 2
    return result


def best_members(prior: Floats, exp_epsilon: Fraction, workload: Floats) -> tuple[int, Floats]:
    """Return the size d of the sets that estimates queries best at a prior, and the covariance of one report.

    From the size that is best at a uniform prior, sizes are tried upwards and downwards while the error falls.

    Parameters
    ----------
    prior : array, shape (N,)
        P.
    exp_epsilon : Fraction
        exp(epsilon), above 1.
    workload : array, shape (q, N)
        The queries.

    Examples
    --------
    >>> best_members(np.array([0.7, 0.1, 0.1, 0.05, 0.05]), Fraction(3), np.eye(5))[0]
    1
    """
    N = prior.size

    def at(members: int) -> tuple[float, int, Floats]:
        found = covariance(prior, exp_epsilon, members)
        return float(np.einsum("qi,ij,qj->", workload, found, workload)), members, found

    best = at(min(range(1, N), key=lambda members: least_error_of_sets(N, exp_epsilon, members)))
    for direction in (-1, 1):
        while 1 <= best[1] + direction < N and (other := at(best[1] + direction))[0] < best[0]:
            best = other
    return best[1], best[2]


def _check_members(size: int, members: int) -> None:
    if not 1 <= members < size:
        raise InputError.out_of_range(f"the sets have {members} of {size} categories; accepted: 1 to {size - 1}")


def _joint_membership(prior: Floats, excess: float, members: int) -> Floats:
    """Return B, the mean of ``1_S 1_S' / (1 + excess P(S))`` over all sets of so many members, shape (N, N)."""
    N = prior.size
    # s = exp(t): beyond the ends exp(t - y exp(t)) is negligible for all y from 1 to 1 + excess.
    times = np.exp(np.arange(-_NEGLIGIBLE - math.log1p(excess), math.log(_NEGLIGIBLE), _STEP))
    energies = times[:, None] * (excess * prior)
    tilts = _tilts(energies, members)
    logits = tilts[:, None] - energies
    # The sum over sets of prod x_i, apart from the mean over the circle, as a share of the number of sets.
    logs = np.logaddexp(0, logits).sum(axis=1) - members * tilts - times + np.log(_STEP * times) - _log_comb(N, members)
    result = np.zeros((N, N))
    once = np.zeros(N)
    for weight, inclusion in zip(np.exp(logs), _logistic(logits), strict=True):
        angles = _angles(inclusion, N)
        turned = np.exp(1j * angles)[:, None] * inclusion
        factors = 1 - inclusion + turned
        shares = turned / factors
        product = np.exp(np.log(factors).sum(axis=1) - 1j * members * angles)
        values = weight / angles.size * product
        result += ((shares * values[:, None]).T @ shares).real
        once += np.real(values @ shares)
    np.fill_diagonal(result, once)
    return result


def _logistic(numbers: Floats) -> Floats:
    """Return ``1 / (1 + exp(-number))`` of each."""
    with np.errstate(over="ignore"):
        result: Floats = 1 / (1 + np.exp(-numbers))
    return result


def _tilts(energies: Floats, members: int) -> Floats:
    """Return for each row the number to which ``sum 1 / (1 + exp(energy - number))`` is the number of members."""
    middle = math.log(members / (energies.shape[1] - members))
    low, high = middle + energies.min(axis=1), middle + energies.max(axis=1)
    for _ in range(60):
        half = (low + high) / 2
        few = _logistic(half[:, None] - energies).sum(axis=1) < members
        low, high = np.where(few, half, low), np.where(few, high, half)
    result: Floats = (low + high) / 2
    return result


def _angles(inclusion: Floats, size: int) -> Floats:
    """Return equidistant angles in (0, pi), over which a mean is the real part of the mean over the circle.

    It is exact but for the probability that the number of symbols included is off its mean by as many as there are
    angles on the circle, which Bernstein's inequality bounds. At the angle pi, which is left out, a factor may vanish.
    """
    spread = float((inclusion * (1 - inclusion)).sum())
    enough = _NEGLIGIBLE / 3 + math.sqrt((_NEGLIGIBLE / 3) ** 2 + 2 * _NEGLIGIBLE * spread)
    count = math.ceil(min(size + 2, enough + 2) / 2)
    return np.asarray((np.arange(count) + 0.5) * (math.pi / count), dtype=float)


def _log_comb(size: int, members: int) -> float:
    return math.lgamma(size + 1) - math.lgamma(members + 1) - math.lgamma(size - members + 1)
