"""Laplace noise on a binary attribute (ED Section VI-A): its leakage, its scale, and the sign of the output.

The leakage of y is largest for y outside [-1, 1], where the two densities differ by the factor ``exp(2/b)``, on the
side of the rarer category (ED Appendix E). In the second form, with a negative exponent, nothing overflows:

    epsilon(b) = 2/b - log(p exp(2/b) + 1 - p) = -log(p + (1 - p) exp(-2/b)).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.checks import checked_p_min, checked_scale, least_probability, reachable_epsilon
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.epsilon import Epsilon, one_minus_exp
from mechdesign.numerics.exact import arb_of, working_precision
from mechdesign.numerics.outward import Interval, float_above, printed_above

_SMALL_EPSILON = Fraction(1, 2)  # below it 1 - exp(-epsilon) is far enough from 1 - p that nothing cancels


def laplace_epsilon(scale: object, p_min: object, radius: object = 0.0) -> float:
    """Return the leakage of Y = X + Laplace(b), X in {-1, 1}, over an l1 ball of priors, in nats (ED eq. 49 and 50).

    ``epsilon(b) = 2/b - log(p (exp(2/b) - 1) + 1)`` with ``p = max(0, p_min - radius/2)``. It is the supremum of the
    leakage over all outputs and over all priors in the ball, so that the mechanism is epsilon-PML for each of them.
    If ``radius >= 2 p_min``, the ball reaches the border of the simplex, p is 0, and the result is ``2/b``, the
    guarantee of local differential privacy (ED Remark 4).

    Parameters
    ----------
    scale : number or str
        Scale b of the noise, above 0; its density is ``exp(-|t|/b) / (2 b)``.
    p_min : number or str
        Probability of the rarer category under the prior or its estimate, in (0, 1/2].
    radius : number or str, optional
        l1 radius of the ball around the estimate, in [0, 2]; 0 is the known prior.

    Returns
    -------
    float
        Rounded up; infinite where it is too large for a float.

    Raises
    ------
    InputError
        For a value outside these ranges.

    Examples
    --------
    >>> round(laplace_epsilon(2, 0.5), 6), round(laplace_epsilon(2, 0.5, radius=0.1), 6)
    (0.379885, 0.427199)
    >>> laplace_epsilon(2, 0.5, radius=1)
    1.0
    """
    b, p = checked_scale(scale), least_probability(p_min, radius)
    if p == 0:
        return float_above(2 / b.low)
    with working_precision():
        return float_above(_leakage(b, p))


def _leakage(b: Interval, p: Fraction) -> Any:
    """Return an Arb ball that holds epsilon(b), by the one of two forms that loses fewer digits."""
    exponent, rest = -2 / b.ball(), arb_of(1 - p)
    small = -(rest * exponent.expm1()).log1p()
    if small < arb_of(_SMALL_EPSILON):
        return small
    return -(arb_of(p) + rest * exponent.exp()).log()


def laplace_scale(epsilon: object, p_min: object, radius: object = 0.0) -> float:
    """Return the least scale of Laplace noise on X in {-1, 1} that is epsilon-PML over an l1 ball (ED eq. 50, solved).

    ``b = 2 / log((1 - p) / (exp(-epsilon) - p))`` with ``p = max(0, p_min - radius/2)``. No mechanism leaks more than
    ``log(1/p)``, not even one that reports X itself. If epsilon is at least that, no noise is needed, and the scale is
    0.

    Parameters
    ----------
    epsilon : number or str
        Leakage to reach, in nats: a decimal above 0, at most 700, or ``"log(9/8)"``.
    p_min, radius
        As for `laplace_epsilon`.

    Returns
    -------
    float
        Rounded up, so that ``laplace_epsilon`` of it does not exceed epsilon; 0.0 where no noise is needed.

    Raises
    ------
    InputError
        For a value outside these ranges, and for an epsilon so small that its scale is too large for a float.

    Examples
    --------
    >>> round(laplace_scale(0.5, 0.5, radius=0.1), 6), laplace_scale(0.5, 0.5, radius=1)
    (1.591512, 4.0)
    >>> laplace_scale(0.7, 0.5)
    0.0
    """
    target, p = reachable_epsilon(epsilon), least_probability(p_min, radius)
    if p == 0 and target.exponent is not None:
        found = printed_above(2 / target.exponent)
    elif target.exp_down * p >= 1:
        return 0.0
    else:
        with working_precision():
            found = _scale(target, p)
    if math.isinf(found):
        raise InputError.epsilon_out_of_range(
            f"epsilon is {shorten(epsilon)}, whose scale is too large for a float; give a larger epsilon"
        )
    return found


def _scale(target: Epsilon, p: Fraction) -> float:
    if target.exponent is not None and target.exponent < _SMALL_EPSILON:
        return printed_above(-2 / (-one_minus_exp(target) / arb_of(1 - p)).log1p())
    # For a larger epsilon 1 - p e may be tiny; with a rational e it is computed exactly.
    e = target.exp_down
    return printed_above(2 / arb_of((e - 1) / (1 - p * e)).log1p())


def laplace_threshold_matrix(scale: object) -> NDArray[np.float64]:
    """Return the mechanism that reports the sign of Y = X + Laplace(b) (ED eq. 66).

    It reports X in {-1, 1} itself, except with probability ``exp(-1/b) / 2``. As post-processing of Y it leaks no more
    than Y: at most `laplace_epsilon`, and often much less.

    Parameters
    ----------
    scale : number or str
        Scale b of the noise, above 0.

    Returns
    -------
    array, shape (2, 2)
        Rows are the inputs -1 and 1, columns the reports -1 (Y < 0) and 1 (Y >= 0).

    Raises
    ------
    InputError
        For a scale that is not above 0.

    Examples
    --------
    >>> laplace_threshold_matrix(1).round(6)
    array([[0.81606, 0.18394],
           [0.18394, 0.81606]])
    """
    b = checked_scale(scale)
    with working_precision():
        flip = float_above((-1 / b.ball()).exp() / 2)
    return np.array([[1 - flip, flip], [flip, 1 - flip]])


def laplace_threshold_information(scale: object, p_min: object) -> float:
    """Return the mutual information between X and the sign of X + Laplace(b), in nats.

    With ``d = 1 - exp(-1/b)`` and ``g(u) = u atanh(u) + log(1 - u^2) / 2``, which is log 2 minus the binary entropy of
    ``(1 + u) / 2``, it is ``g(d) - g((1 - 2 p_min) d)``.

    Parameters
    ----------
    scale
        As for `laplace_threshold_matrix`.
    p_min : number or str
        Probability of the rarer category, in (0, 1/2].

    Raises
    ------
    InputError
        For a value outside these ranges.

    Examples
    --------
    >>> round(laplace_threshold_information(1, 0.5), 6)
    0.215832
    """
    b, p = checked_scale(scale), float(checked_p_min(p_min))
    with working_precision():
        d = min(1.0, float_above(-(-1 / b.ball()).expm1()))
    return max(0.0, _entropy_deficit(d) - _entropy_deficit((1 - 2 * p) * d))


def _entropy_deficit(u: float) -> float:
    return math.log(2) if u == 1 else u * math.atanh(u) + math.log1p(-u * u) / 2
