"""Mechanisms for categories in an order: the nearer an output is to the category, the likelier it is.

The levels are for every two categories (local differential privacy), also for the first and the last: with ratio ``r``
from one position to the next, ``r^(N-1) = exp(epsilon)``.
"""

from __future__ import annotations

from fractions import Fraction

from mechdesign.baselines.baseline import Baseline, checked
from mechdesign.errors import LimitError
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import root_down

_MOST_SYMBOLS = 200  # of numbers with 64 digits for each category


def geometric(size: int, epsilon: object) -> Baseline:
    """Return the truncated geometric mechanism: two-sided geometric noise, what falls outside moves to the nearest end.

    Ghosh, Roughgarden and Sundararajan, "Universally utility-maximizing privacy mechanisms" (2012), with
    ``alpha = exp(-epsilon / (N - 1))``, so that it is private for every two categories.

    Parameters
    ----------
    size : int
        Number N of categories, at most 200, in their order.
    epsilon : number or str
        Of local differential privacy.

    Raises
    ------
    LimitError
        For more categories.

    Examples
    --------
    >>> geometric(3, "log(4)").matrix.round(4)
    array([[0.6667, 0.1667, 0.1667],
           [0.3333, 0.3333, 0.3333],
           [0.1667, 0.1667, 0.6667]])
    """
    N, given, step = _step(size, epsilon)
    decays = _decays(N, step)
    ends, between = step.numerator, step.numerator - step.denominator
    weights = tuple(
        tuple(decays[abs(i - j)] * (ends if j in {0, N - 1} else between) for j in range(N)) for i in range(N)
    )
    return Baseline.of(
        "geometric mechanism", given, weights, "Ghosh, Roughgarden and Sundararajan (2012)", reports_symbols=True
    )


def truncated_laplace(size: int, epsilon: object) -> Baseline:
    """Return the discrete Laplace distribution around the category, cut to the categories and scaled to sum to 1.

    It is the exponential mechanism (McSherry and Talwar 2007) with the score ``-|i - j|``; Inusah and Kozubowski (2006)
    describe the distribution. With ``p(j|i)`` proportional to ``exp(-epsilon |i - j| / (N - 1))`` it is private for
    every two categories: the ends, furthest apart, have the same sum.

    Parameters
    ----------
    size : int
        Number N of categories, at most 200, in their order.
    epsilon : number or str
        Of local differential privacy.

    Raises
    ------
    LimitError
        For more categories.

    Examples
    --------
    >>> truncated_laplace(3, "log(4)").exact_matrix.weights
    ((4, 2, 1), (2, 4, 2), (1, 2, 4))
    """
    N, given, step = _step(size, epsilon)
    decays = _decays(N, step)
    weights = tuple(tuple(decays[abs(i - j)] for j in range(N)) for i in range(N))
    return Baseline.of("truncated discrete Laplace", given, weights, "McSherry and Talwar (2007)", reports_symbols=True)


def _step(size: object, epsilon: object) -> tuple[int, Epsilon, Fraction]:
    """Return the number of categories, epsilon, and the ratio of probabilities from one position to the next."""
    N, given = checked(size, epsilon)
    if N > _MOST_SYMBOLS:
        raise LimitError.too_much_work(
            f"there are {N} categories; accepted: at most {_MOST_SYMBOLS}, for exact numbers"
        )
    return N, given, root_down(given.exp_down, N - 1)


def _decays(size: int, step: Fraction) -> list[int]:
    """Return whole numbers in proportion to ``step^-k`` for k from 0 to N - 1."""
    return [step.numerator ** (size - 1 - k) * step.denominator**k for k in range(size)]
