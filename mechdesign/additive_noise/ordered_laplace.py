r"""Laplace and geometric noise on numbers, two or more of them, for any set of priors.

X is one of the numbers ``x_1 < ... < x_N``, and Y = X + noise, whose density at t is in proportion to ``r^|t|`` with
``r = exp(-1/b)``; geometric noise has that probability at each whole number t. Let v(y) be the column of the output y,
``v_i(y) = r^|y - x_i|``. Between two neighbours it is a mixture of theirs with weights that are not negative,

    v(y) = alpha v(x_k) + beta v(x_(k+1)),   alpha = (s - R t) / (1 - R^2),   beta = (t - R s) / (1 - R^2),
    s = r^(y - x_k),   t = r^(x_(k+1) - y),   R = s t,

and outside it is a multiple of the column of the first or the last number. No column leaks more than those that it is
mixed from, whatever the set, and ``max v(x_k) = 1``. So the greatest leakage over all outputs is that of the numbers:

    exp(epsilon(b)) = max_k 1 / h(v(x_k)),   h(v) = min over Q in the set of sum_i Q_i v_i.

The mechanism with the columns ``w_k v(x_k)`` alone has the same leakage, and Y follows from its report.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.data.checks import checked_scale, reachable_epsilon
from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import Floats, entries
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import arb_of, log_up, lower, rational, upper, working_precision
from mechdesign.numerics.outward import printed_above
from mechdesign.numerics.roots import bracketed_roots
from mechdesign.uncertainty.base import UncertaintySet, check_about_data
from mechdesign.uncertainty.prior_set import Numbers
from mechdesign.uncertainty.set_or_prior import set_or_prior

_BITS = 256  # of the entries of a column, beside those that its least entry needs
_MOST_BITS = 1_500  # smaller entries count as 0
_LEAST_EXCESS = Fraction(1, 2**100)  # of exp(epsilon) over 1, which is known to 128 bits
_RATIO_BITS = 48  # the ratio of geometric noise is a multiple of 2^-48
_WIDTH = 2.0**-45  # of the interval that holds the least scale, in units of the scale of local differential privacy


@dataclass(frozen=True)
class OrderedNumbers:
    """The numbers that the categories stand for, and the set of their priors."""

    values: tuple[Fraction, ...]
    known: UncertaintySet

    @classmethod
    def of(cls, positions: ArrayLike, uncertainty: UncertaintySet | Numbers) -> OrderedNumbers:
        """Return the numbers and their set, after checking that there is a different number for each category."""
        known = set_or_prior(uncertainty)
        check_about_data(known, "the leakage of noise on numbers")
        values = _different(positions)
        if len(values) != known.size:
            raise InputError.wrong_size(
                f"there are {len(values)} positions, and the set has {known.size} categories; give one number for each"
            )
        return cls(values, known)

    @property
    def range(self) -> Fraction:
        """The greatest distance of two numbers."""
        return max(self.values) - min(self.values)

    def greatest_ratio(self, rate: Any) -> Fraction | None:
        """Return a bound on ``1 / h(v(x_k))`` for all k, with the entries ``exp(-rate |x_i - x_k|)``; None if infinite.

        Entries are rounded down, but for the greatest, which is 1. Then no prior has a larger mean.
        """
        bits = _BITS + min(_MOST_BITS, math.ceil(upper(rate) * self.range * Fraction(3, 2)))
        one, entry, least = 1 << bits, {}, Fraction(1)
        for center in self.values:
            distances = [abs(value - center) for value in self.values]
            for distance in distances:
                if distance not in entry:
                    ball = (-rate * arb_of(distance)).exp() * one  # one itself, for the distance 0
                    entry[distance] = math.floor(lower(ball)) if ball > 1 else 0
            least = min(least, self.known.exact_support([entry[distance] for distance in distances]) / one)
        return 1 / least if least > 0 else None

    def ratio_without_noise(self) -> Fraction | None:
        """Return what the numbers themselves leak: ``1 / h(e_k)``, the greatest over all k; None if infinite."""
        size = len(self.values)
        least = min(self.known.exact_support([int(i == k) for i in range(size)]) for k in range(size))
        return 1 / least if least > 0 else None


def _different(positions: ArrayLike) -> tuple[Fraction, ...]:
    given = entries(positions, "the positions", "a list of numbers")
    values = tuple(rational(value, "a position") for value in given)
    if len(values) < 2:
        raise InputError.too_few_categories(f"there are {len(values)} positions; give at least two")
    if len(set(values)) < len(values):
        twice = next(shown for shown, value in zip(given, values, strict=True) if values.count(value) > 1)
        raise InputError.out_of_range(f"the position {shorten(twice)} stands twice; give each category its own number")
    return values


def ordered_laplace_epsilon(scale: object, positions: ArrayLike, uncertainty: UncertaintySet | Numbers) -> float:
    """Return the leakage of Y = X + Laplace(b), where X is one of N numbers, over a set of priors, in nats.

    It is the supremum of the leakage over all real outputs and all priors of the set, which is attained at one of the
    numbers: ``max_k -log min_Q sum_i Q_i exp(-|x_i - x_k| / b)``. For two numbers at a distance of 2 and an l1 ball it
    is `laplace_epsilon`; for the set of all priors the level of local differential privacy, ``range / b``.

    Parameters
    ----------
    scale : number or str
        Scale b of the noise, above 0, in the unit of the positions.
    positions : sequence of N numbers
        The number that each category stands for, in the order of the categories of the set; all different.
    uncertainty : UncertaintySet, or a prior
        The set of priors on N categories.

    Returns
    -------
    float
        Proved by rational bounds on every entry, and rounded up. Infinite where a prior excludes that an output occurs,
        and where the bounds do not tell so small a mean from 0, above a thousand nats.

    Raises
    ------
    InputError
        For a scale that is not above 0, positions that repeat or are not N numbers, and a promise about a secret.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> round(ordered_laplace_epsilon(2, [-1, 1], L1Ball([0.5, 0.5], radius="0.1")), 6)
    0.427199
    >>> round(ordered_laplace_epsilon(2, [0, 1, 2, 3], [0.1, 0.4, 0.4, 0.1]), 6)
    0.66928
    """
    numbers, b = OrderedNumbers.of(positions, uncertainty), checked_scale(scale)
    with working_precision(_BITS):
        return _log(numbers.greatest_ratio(1 / b.ball()))


def _log(ratio: Fraction | None) -> float:
    return math.inf if ratio is None else log_up(ratio)


def ordered_laplace_scale(epsilon: object, positions: ArrayLike, uncertainty: UncertaintySet | Numbers) -> float:
    """Return the least scale of Laplace noise on N numbers that is epsilon-PML for a set of priors.

    Leakage falls as the scale grows, so that the least scale is found by bisection; local differential privacy needs
    ``range / epsilon``, which is always enough. No noise is needed, and the scale is 0, if the numbers themselves leak
    epsilon at most.

    Parameters
    ----------
    epsilon : number or str
        Leakage to reach, in nats: a decimal, at least 1e-30 and at most 700, or ``"log(9/8)"``.
    positions, uncertainty
        As for `ordered_laplace_epsilon`.

    Returns
    -------
    float
        A scale for which `ordered_laplace_epsilon` is proved not to exceed epsilon, as a double and as the decimal that
        it prints. The least scale is less by at most ``1e-12 range / epsilon``.

    Raises
    ------
    InputError
        As `ordered_laplace_epsilon`, and for an epsilon outside these limits.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> ball = L1Ball([0.1, 0.4, 0.4, 0.1], radius="0.05")
    >>> round(ordered_laplace_scale(1, [0, 1, 2, 3], ball), 6), ordered_laplace_scale(3, [0, 1, 2, 3], ball)
    (1.339924, 0.0)
    """
    return _scale(OrderedNumbers.of(positions, uncertainty), reachable_epsilon(epsilon))


def _scale(numbers: OrderedNumbers, target: Epsilon) -> float:
    most, limit = target.exp_down, numbers.ratio_without_noise()
    if limit is not None and limit <= most:
        return 0.0
    private = printed_above(numbers.range / Fraction(float(target)) * (1 + Fraction(1, 2**20)))
    if most - 1 < _LEAST_EXCESS or math.isinf(private):
        raise InputError.epsilon_out_of_range(f"epsilon is {target.text}; accepted: at least 1e-30")

    def excess(scales: Floats) -> Floats:
        ratio = limit if scales[0] == 0 else numbers.greatest_ratio(1 / checked_scale(float(scales[0])).ball())
        if ratio is None:
            return np.array([1e3])
        found = log_up(ratio) - float(target)
        # The sign is that of the exact comparison.
        return np.array([min(found, 0.0) if ratio <= most else max(found, 1e-300)])

    with working_precision(_BITS):
        return float(bracketed_roots(excess, np.zeros(1), np.array([private]), _WIDTH * private)[1][0])


def ordered_laplace_matrix(scale: object, positions: ArrayLike) -> Floats:
    """Return the mechanism that reports one of N numbers, and leaks just as much as Laplace noise of the same scale.

    Its columns are ``w_k exp(-|x_i - x_k| / b)``: the truncated geometric mechanism, for numbers at any distances. Y =
    X + Laplace(b) is a post-processing of its report: of x_k, draw y between its neighbours with a density in
    proportion to the weight of v(x_k) in v(y). So no utility that falls under post-processing is greater for Y.
    ``Mechanism.from_matrix`` makes integers of it, whose promise is proved; floats that are added to data are not.

    Parameters
    ----------
    scale : number or str
        Scale b, above 0.
    positions : sequence of N numbers
        All different.

    Returns
    -------
    array, shape (N, N)
        Rows are inputs, columns reports, both in the order of the positions.

    Raises
    ------
    InputError
        For a scale that is not above 0, and positions that repeat or are fewer than two.

    Examples
    --------
    >>> ordered_laplace_matrix(1, [0, 1, 3]).round(4)
    array([[0.7311, 0.2251, 0.0439],
           [0.2689, 0.6119, 0.1192],
           [0.0364, 0.0828, 0.8808]])
    """
    b, values = checked_scale(scale).high, _different(positions)
    # In units of the scale; beyond 800 of them exp is 0 in floats.
    distances = np.array([[float(min(abs(x - y) / b, Fraction(800))) for y in values] for x in values])
    order = sorted(range(len(values)), key=values.__getitem__)
    # w_k = 1 / (1 + r) + 1 / (1 + r') - 1 with the ratios of both neighbours; those of the ends are infinitely far.
    halves = np.r_[1.0, np.tanh(distances[order[:-1], order[1:]] / 2), 1.0]
    weights = np.empty(len(values))
    weights[order] = (halves[:-1] + halves[1:]) / 2
    matrix = weights * np.exp(-distances)
    normalised: Floats = matrix / matrix.sum(axis=1, keepdims=True)
    return normalised


def ordered_geometric_epsilon(ratio: object, positions: ArrayLike, uncertainty: UncertaintySet | Numbers) -> float:
    """Return the leakage of Y = X + geometric noise, where X is one of N whole numbers, over a set of priors, in nats.

    The noise is m with probability ``(1 - r) / (1 + r) r^|m|`` (discrete Laplace). The leakage is that of Laplace noise
    of scale ``1 / log(1/r)``, and that of the truncated geometric mechanism.

    Parameters
    ----------
    ratio : number or str
        r, above 0 and below 1; a float is the decimal that it prints as.
    positions : sequence of N whole numbers
        All different, in the order of the categories of the set.
    uncertainty : UncertaintySet, or a prior
        The set of priors on N categories.

    Returns
    -------
    float
        Proved, and rounded up, as `ordered_laplace_epsilon`.

    Raises
    ------
    InputError
        As `ordered_laplace_epsilon`, for a ratio outside (0, 1) and for positions that are not whole.

    Examples
    --------
    >>> round(ordered_geometric_epsilon("1/2", [0, 1, 2], ["1/4", "1/2", "1/4"]), 6)  # log(16/9)
    0.575364
    """
    r = rational(ratio, "the ratio")
    if not 0 < r < 1:
        raise InputError.out_of_range(f"the ratio is {shorten(ratio)}; accepted: a number above 0 and below 1")
    numbers = _whole(OrderedNumbers.of(positions, uncertainty))
    with working_precision(_BITS):
        return _log(numbers.greatest_ratio(-arb_of(r).log()))


def ordered_geometric_ratio(epsilon: object, positions: ArrayLike, uncertainty: UncertaintySet | Numbers) -> Fraction:
    """Return the least ratio of geometric noise on N whole numbers that is epsilon-PML for a set of priors.

    Parameters
    ----------
    epsilon : number or str
        As for `ordered_laplace_scale`.
    positions, uncertainty
        As for `ordered_geometric_epsilon`.

    Returns
    -------
    Fraction
        A multiple of 2^-48, rounded up; 0 where no noise is needed. `ordered_geometric_epsilon` of it does not exceed
        epsilon.

    Raises
    ------
    InputError
        As `ordered_geometric_epsilon`, and for an epsilon outside its limits or so small that no such ratio is below 1.

    Examples
    --------
    >>> ratio = ordered_geometric_ratio("log(16/9)", [0, 1, 2], ["1/4", "1/2", "1/4"])
    >>> float(ratio), ratio >= 0.5
    (0.5000000000000036, True)
    """
    numbers, target = _whole(OrderedNumbers.of(positions, uncertainty)), reachable_epsilon(epsilon)
    scale = _scale(numbers, target)
    if scale == 0:
        return Fraction(0)
    with working_precision(_BITS):
        # A larger ratio leaks less, so that rounding up keeps the promise.
        ratio = Fraction(math.ceil(upper((-1 / arb_of(Fraction(scale))).exp()) * 2**_RATIO_BITS), 2**_RATIO_BITS)
    if ratio == 1:
        raise InputError.epsilon_out_of_range(
            f"epsilon is {target.text}, which needs a ratio above 1 - 2^-48; give a larger epsilon"
        )
    return ratio


def _whole(numbers: OrderedNumbers) -> OrderedNumbers:
    for value in numbers.values:
        if value.denominator != 1:
            raise InputError.not_a_whole_number(
                f"a position is {shorten(str(value))}; accepted: whole numbers, in units of the step of the noise"
            )
    return numbers
