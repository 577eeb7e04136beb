"""A little randomized response in a design whose reports hardly tell what some query asks for.

A query of little weight, or a direction that no query asks for, gets columns of little weight in the optimum. A solver
drops the lightest columns, and rounding to integers may turn a direction of the queries a little out of what reports
tell. Randomized response tells every direction. A share s of it costs a share s of the information about all others at
most, and its columns are in every cone: what is private for every two symbols keeps every promise of the same epsilon
about priors. A ball that leaves the simplex holds vectors with entries below 0 too, and asks for a lesser epsilon.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.tolerances import RANK
from mechdesign.optimize.closed_form import randomized_response
from mechdesign.problem import DesignProblem

_SHARES = (1e-3, 1e-2, 1e-1)  # of the tolerance, in outputs of its own
_SHARES_WITHIN = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3)  # in outputs of the design, where what is told grows with their square
_UNITS = 2**10  # of the last bit, by which probabilities of randomized response have to differ at least
_MOST = 0.1  # a greater share is another mechanism


def private_response(problem: DesignProblem) -> Floats:
    """Return randomized response at the greatest epsilon of local differential privacy that implies the promise.

    Over a ball of radius 2t that leaves the simplex, a column with e' at x and 1 elsewhere has the least mean
    ``1 + (e' - 1)(P_x - t)``, so that ``e' = e (1 + a) / (1 + e a)`` keeps the promise, where a is how far the least
    probability is below t.

    Examples
    --------
    >>> import mechdesign as md
    >>> private_response(md.DesignProblem(md.L1Ball([0.5, 0.5]), "log(3)", md.EstimationError()))
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """
    known, e = problem.uncertainty, problem.local_epsilon.exp_down
    if known.l1_ball is not None and not known.l1_ball.within_simplex:
        beyond = max(known.l1_ball.radius / 2 - min(known.center), Fraction(0))
        e *= (1 + beyond) / (1 + e * beyond)
    return np.asarray(randomized_response.mechanism(known.size, e, in_floats=True), dtype=float)


def mixtures(problem: DesignProblem, matrix: Floats, tol: float, bits: int, most: int | None) -> Iterator[Floats]:
    """Yield mixtures of a mechanism with more and more randomized response, in outputs of its own where allowed.

    Where outputs are limited, randomized response is followed by a draw of one of the mechanism's outputs: of each as
    often as in the mechanism, but that a symbol's output turns a little in the directions that are not told.

    Parameters
    ----------
    problem : DesignProblem
        Whose promise the mechanism keeps.
    matrix : array, shape (N, M)
        The mechanism.
    tol : float
        The relative gap that counts as closed; shares are small beside it.
    bits : int
        Probabilities are rounded to multiples of 2^-bits later.
    most : int or None
        The most outputs; nothing is yielded where they are fewer than symbols.

    Examples
    --------
    >>> import mechdesign as md
    >>> problem = md.DesignProblem(md.L1Ball([0.5, 0.5], 2), "log(3)", md.EstimationError())
    >>> found = mixtures(problem, np.array([[0.75, 0.25], [0.25, 0.75]]), 0.01, 48, None)
    >>> next(found).round(7)
    array([[7.499925e-01, 2.499975e-01, 7.500000e-06, 2.500000e-06],
           [2.499975e-01, 7.499925e-01, 2.500000e-06, 7.500000e-06]])
    """
    N, M = matrix.shape
    e = problem.local_epsilon.exp_down
    added = private_response(problem)
    beside = most is None or most >= M + N
    if beside:
        wide = np.hstack([matrix, np.zeros((N, N))])
        added = np.hstack([np.zeros((N, M)), added])
    elif most is not None and most >= N:
        wide = _of_outputs(matrix, max(M, N))
        added = added @ _outputs_of_symbols(wide, problem.uncertainty.prior)
    else:
        return
    least = float(Fraction(_UNITS * N, 2**bits) / min(e - 1, Fraction(1)))
    wanted = [tol * part for part in _SHARES] if beside else _SHARES_WITHIN
    for share in sorted({max(part, least) for part in wanted}):
        if share < _MOST:
            yield (1 - share) * wide + share * added


def _of_outputs(matrix: Floats, count: int) -> Floats:
    """Return a mechanism with some number of outputs, of which the most frequent one is divided for what it lacks."""
    column = int(matrix.sum(axis=0).argmax())
    parts = 1 + count - matrix.shape[1]
    return np.hstack([np.delete(matrix, column, axis=1), np.tile(matrix[:, [column]] / parts, parts)])


def _outputs_of_symbols(matrix: Floats, prior: Floats) -> Floats:
    """Return probabilities of outputs for each symbol, shape (N, M), M >= N, in which untold directions differ.

    With masses m and the singular vectors y (left) and z (right) of ``V / sqrt(m)`` for the value 0 they are
    ``m_j + c sqrt(m_j) sum y_i z_j``, whose rows sum to 1 because sqrt(m) is orthogonal to z.
    """
    masses = prior @ matrix
    used = np.flatnonzero(masses > 0)
    roots = np.sqrt(masses[used])
    left, values, right = np.linalg.svd(matrix[:, used] / roots)
    rank = int((values > RANK * values[0]).sum())
    many = min(len(matrix), used.size) - rank
    turned = left[:, rank : rank + many] @ right[rank : rank + many]
    result = np.zeros(matrix.shape)
    result[:, used] = roots * (roots + turned * float((roots / np.abs(turned).max(axis=0, initial=1e-9)).min()))
    return result
