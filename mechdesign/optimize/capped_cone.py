"""Columns with a cap for everyone, as images of columns without one.

Let ``b = exp(epsilon)``, ``a = exp(-cap)`` below ``1/b``, and ``b' = (1 - a) / (1/b - a)``. For any set of priors the
map

    u  ->  (1 - a) u + a max(u) (1,...,1)

takes the cone ``{ u >= 0 : max u <= b' h(u) }`` onto ``{ v : max v <= b h(v), min v >= a max v }``, one to one. It
takes mechanisms for b' onto mechanisms with the cap, after scaling, and every extreme ray with the cap is the image of
an extreme ray for b', or of a set S with ``b' h(1_S) >= 1``. docs/mathematics.md proves it.
"""

from __future__ import annotations

from fractions import Fraction

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import float_down, float_up
from mechdesign.uncertainty.base import Floor

_NEAR = 1 - 2.0**-30  # a is at most so much of 1/b: less makes the cone wider


def raised_power(exp_epsilon: float, floor: Floor) -> tuple[float, float]:
    """Return b' and a in floats, of a cone that is not narrower; exp(epsilon) itself and 0 where there is no cap.

    Examples
    --------
    >>> raised_power(2.0, Floor(Fraction(1, 4), True)), raised_power(2.0, Floor(Fraction(0)))
    ((3.0, 0.25), (2.0, 0.0))
    """
    if not floor.for_everyone or floor.least_lift <= 0:
        return exp_epsilon, 0.0
    a = min(float_down(floor.least_lift), _NEAR / exp_epsilon)
    return float_up((1 - Fraction(a)) / (1 / Fraction(exp_epsilon) - Fraction(a))), a


def with_least(columns: Floats, prior: Floats, least: float) -> Floats:
    """Return the images of columns, shape (N, k), scaled to ``<P, v> = 1``.

    Examples
    --------
    >>> import numpy as np
    >>> with_least(np.array([[2.0], [0.0]]), np.array([0.5, 0.5]), 0.25)
    array([[1.6],
           [0.4]])
    """
    images = (1 - least) * columns + least * columns.max(axis=0)
    result: Floats = images / (prior @ images)
    return result
