"""The tail of the leakage after any post-processing: the greatest probability that a report leaks more than epsilon.

Merging outputs may make more of the mass leak more than epsilon: an output far above epsilon, together with one a
little below, may still be above. So a mechanism that is (epsilon, delta)-PML by its own tail need not be so after
post-processing. With columns ``k_y``, ``q_y = <P, k_y>`` and the symbols X for which some output has
``k_y(x) > e q_y``, the supremum over all post-processings is the linear program

    max sum_(x,y) W_xy q_y,   sum_y W_xy (k_y(x) - e q_y) >= 0  for every x in X,   sum_x W_xy <= 1,   W >= 0,

whose dual is ``min over mu >= 0 of sum_y max(0, max_x [q_y + mu_x (k_y(x) - e q_y)])`` (docs/mathematics.md). Any mu
proves an upper bound, which is computed in rationals; any W is a post-processing, whose tail is.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import mul

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.data.labelled import together
from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.numerics.arrays import Floats, entries, frozen
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import float_up, over_common_denominator, rational
from mechdesign.numerics.linear_program import minimum
from mechdesign.pml.pointwise import check_shapes, checked_mechanism, exact_columns
from mechdesign.pml.tail import EpsilonLike, checked_probability, covering
from mechdesign.uncertainty.prior_set import exact_prior

_BITS = 52  # probabilities of a post-processing are multiples of 2^-52, which floats hold
_MOST_ENTRIES = 250_000  # of the mechanism: a linear program of so many variables takes minutes
_WIDTH = 1e-9  # of the last interval of a bisection


@dataclass(frozen=True, eq=False)
class TailAfterPostProcessing:
    """The greatest probability, over all post-processings, that a report leaks more than epsilon.

    Attributes
    ----------
    epsilon : Epsilon
        In nats.
    value : float
        The probability for `post_processing`, computed from rationals and rounded down.
    bound : float
        No post-processing has a greater one: what `multipliers` prove, rounded up.
    multipliers : tuple of Fraction
        mu, one for each symbol, 0 or more. `certify_tail` computes the bound again.
    post_processing : array, shape (M, K)
        Row y is the distribution of the new report after the report y, in multiples of 2^-52, as `Mechanism.then` takes
        it. Every new report but the last leaks more than epsilon, through the symbol at its place in `symbols`.
    symbols : tuple of int
        Positions of K - 1 symbols.
    """

    epsilon: Epsilon
    value: float
    bound: float
    multipliers: tuple[Fraction, ...]
    post_processing: Floats
    symbols: tuple[int, ...]


@dataclass(frozen=True)
class _Outputs:
    """The outputs of a mechanism at a prior, in integers: lifts are ``columns[y][x] / means[y]``.

    The probability of output y is ``means[y] / total``. The rows of the mechanism may be numerators over any number.
    """

    columns: list[list[int]]
    means: list[int]

    @classmethod
    def of(cls, matrix: ArrayLike, prior: Sequence[object]) -> _Outputs:
        """Return the outputs of a mechanism of numbers, after checking it and the prior."""
        matrix, prior, _ = together(matrix, prior)
        probabilities = checked_mechanism(matrix).size
        if probabilities > _MOST_ENTRIES:
            raise LimitError.too_much_work(
                f"the mechanism has {probabilities} probabilities; the tail after post-processing is computed for at "
                f"most {_MOST_ENTRIES}; merge outputs"
            )
        columns, P = exact_columns(matrix), exact_prior(prior)
        check_shapes((len(columns[0][0]), len(columns)), (len(P),))
        weights, whole = over_common_denominator(P)
        common = math.lcm(*(denominator for _, denominator in columns))
        scaled = [[entry * (common // denominator) for entry in v] for v, denominator in columns]
        means = [sum(map(mul, weights, v)) for v in scaled]
        return cls([[entry * whole for entry in v] for v in scaled], means)

    @cached_property
    def total(self) -> int:
        """The sum of the means."""
        return sum(self.means)

    @property
    def size(self) -> int:
        """Number N of symbols."""
        return len(self.columns[0])

    @cached_property
    def greatest_lift(self) -> Fraction | None:
        """The greatest lift of any output; None where an output without probability has some symbol."""
        if any(mean == 0 and any(v) for v, mean in zip(self.columns, self.means, strict=True)):
            return None
        return max(Fraction(max(v), mean) for v, mean in zip(self.columns, self.means, strict=True) if mean)

    def above(self, exp_epsilon: Fraction) -> list[list[int]]:
        """Return the outputs that leak more than epsilon through each symbol."""
        a, b = exp_epsilon.numerator, exp_epsilon.denominator
        levels = [a * mean for mean in self.means]
        return [[y for y, v in enumerate(self.columns) if b * v[x] > levels[y]] for x in range(self.size)]

    def excess(self, x: int, weights: Sequence[int], exp_epsilon: Fraction) -> int:
        """Return an integer of the sign of ``sum_y weights_y (k_y(x) - e q_y)``."""
        entry: int = sum(weight * v[x] for weight, v in zip(weights, self.columns, strict=True) if weight)
        mean: int = sum(map(mul, weights, self.means))
        return exp_epsilon.denominator * entry - exp_epsilon.numerator * mean

    def bound(self, symbols: Sequence[int], mu: Sequence[Fraction], exp_epsilon: Fraction) -> Fraction:
        """Return what mu proves: ``sum_y max(0, max_x [q_y + mu_x (k_y(x) - e q_y)])``, divided by the sum of q."""
        factors, common = over_common_denominator(mu[x] for x in symbols)
        a, b, value = exp_epsilon.numerator, exp_epsilon.denominator, 0
        for v, mean in zip(self.columns, self.means, strict=True):
            terms = (factor * (b * v[x] - a * mean) for x, factor in zip(symbols, factors, strict=True))
            value += max(0, common * b * mean + max(terms))
        return Fraction(value, common * b * self.total)


def tail_after_post_processing(
    matrix: ArrayLike, prior: Sequence[object], epsilon: EpsilonLike
) -> TailAfterPostProcessing:
    """Return the greatest probability that leakage exceeds epsilon, whatever is done to the reports.

    It is the supremum of ``P{ l(X -> Z) > epsilon }`` over all Z that depend on X through the report alone: the least
    delta for which the mechanism is (epsilon, delta)-PML (ED Definition 3) and stays so under post-processing.
    `leakage_tail` is the same probability for the reports as they are, and may be less. It is 0 for an epsilon of which
    the mechanism is PML, and never rises under post-processing.

    Parameters
    ----------
    matrix : array, shape (N, M)
        A mechanism; floats are read as the decimals that they print as. Give the ``numerators`` of a `Mechanism`.
    prior : sequence of N numbers
        The prior that gives the outputs their probabilities.
    epsilon : number or str
        In nats: a decimal or ``"log(9/8)"``.

    Returns
    -------
    TailAfterPostProcessing
        With a post-processing that nearly attains the supremum, and the multipliers that prove the bound.

    Raises
    ------
    InputError
        If the shapes do not fit, or the mechanism, the prior or epsilon is not accepted.
    LimitError
        For a mechanism of more than 250,000 probabilities.
    SolverError
        If the linear program cannot be solved.

    Examples
    --------
    >>> from mechdesign.pml import leakage_tail
    >>> matrix, prior = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]], [0.5, 0.3, 0.2]
    >>> found = tail_after_post_processing(matrix, prior, 0.5)
    >>> leakage_tail(matrix, prior, 0.5), round(found.value, 8), round(found.bound, 8)
    (0.26, 0.51159716, 0.51159716)
    """
    return _tail(_Outputs.of(matrix, prior), Epsilon.of(epsilon))


def certify_tail(
    matrix: ArrayLike, prior: Sequence[object], epsilon: EpsilonLike, multipliers: Sequence[object]
) -> float:
    """Return the bound that multipliers prove on the tail after any post-processing, in rationals and rounded up.

    Parameters
    ----------
    matrix, prior, epsilon
        As for `tail_after_post_processing`.
    multipliers : sequence of N numbers
        mu, 0 or more; poor ones give a weak bound, but never a false one.

    Raises
    ------
    InputError
        As `tail_after_post_processing`, and for multipliers that are negative or not N numbers.

    Examples
    --------
    >>> matrix, prior = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]], [0.5, 0.3, 0.2]
    >>> round(certify_tail(matrix, prior, 0.5, [0, 0, 1.5]), 6), certify_tail(matrix, prior, 0.5, [0, 0, 0])
    (0.516999, 1.0)
    """
    outputs, e = _Outputs.of(matrix, prior), Epsilon.of(epsilon).exp_down
    mu = [rational(value, "a multiplier") for value in entries(multipliers, "the multipliers", "a list of numbers")]
    if len(mu) != outputs.size or min(mu) < 0:
        raise InputError.wrong_size(
            f"the multipliers are {shorten(multipliers)}; accepted: {outputs.size} numbers, 0 or more"
        )
    symbols = [x for x, leaking in enumerate(outputs.above(e)) if leaking]
    return float_up(min(outputs.bound(symbols, mu, e), Fraction(1))) if symbols else 0.0


def epsilon_after_post_processing(matrix: ArrayLike, prior: Sequence[object], delta: object) -> TailAfterPostProcessing:
    """Return the least epsilon for which a mechanism is (epsilon, delta)-PML whatever is done to the reports.

    `epsilon_at` is the same for the reports as they are, and may be less. Found by bisection, to within 1e-9 nats.

    Parameters
    ----------
    matrix, prior
        As for `tail_after_post_processing`.
    delta : number or str
        Probability, in [0, 1], that the output leaks more than epsilon.

    Returns
    -------
    TailAfterPostProcessing
        At that epsilon: its bound is at most delta, which its multipliers prove.

    Raises
    ------
    InputError
        As `tail_after_post_processing`, for a delta outside [0, 1], and if no epsilon up to 512 is enough, because an
        output of probability 0 may come of a symbol of probability 0.

    Examples
    --------
    >>> matrix, prior = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]], [0.5, 0.3, 0.2]
    >>> found = epsilon_after_post_processing(matrix, prior, 0.3)
    >>> round(float(found.epsilon), 6), found.bound <= 0.3
    (0.755668, True)
    """
    allowed = checked_probability(delta)
    outputs = _Outputs.of(matrix, prior)
    low, found = 0.0, _enough_for(outputs, allowed)

    def enough(value: float) -> int:
        nonlocal low, found
        at_value = _tail(outputs, Epsilon.of(value))
        if at_value.bound <= allowed:
            found = at_value
            return 1
        low = value
        return 0

    # The least epsilon is at a jump of the tail, or where it falls steadily from one jump to the next.
    if not enough(low):
        bisect_left(_jumps(outputs), 1, key=enough)
        while (high := float(found.epsilon)) - low > _WIDTH and low < (middle := (low + high) / 2) < high:
            enough(middle)
    return found


def _enough_for(outputs: _Outputs, allowed: Fraction) -> TailAfterPostProcessing:
    """Return the tail at an epsilon that is large enough for a delta."""
    greatest = outputs.greatest_lift
    values = [2.0**power for power in range(10)] if greatest is None else [covering(greatest)]
    for value in values:
        found = _tail(outputs, Epsilon.of(value))
        if found.bound <= allowed:
            return found
    raise InputError.never_occurs(
        f"no epsilon up to {values[-1]:g} has delta = {float(allowed):g} after any post-processing: an output of "
        "probability 0 may come of a category of probability 0; leave out that category"
    )


def _jumps(outputs: _Outputs) -> list[float]:
    """Return the values of epsilon from which on a symbol is of no use any more, where the tail may jump, rising."""
    pairs = [(v, mean) for v, mean in zip(outputs.columns, outputs.means, strict=True) if mean]
    lifts = {max(Fraction(v[x], mean) for v, mean in pairs) for x in range(outputs.size)}
    return [covering(lift) for lift in sorted(lifts) if lift > 1]


def _tail(outputs: _Outputs, epsilon: Epsilon) -> TailAfterPostProcessing:
    above = outputs.above(epsilon.exp_down)
    symbols = [x for x, leaking in enumerate(above) if leaking]
    if not symbols:
        rest = frozen(np.ones((len(outputs.columns), 1)))
        return TailAfterPostProcessing(epsilon, 0.0, 0.0, (Fraction(0),) * outputs.size, rest, ())
    weights, prices = _solved(outputs, symbols, float(epsilon.exp_down))
    mu = [Fraction(0)] * outputs.size
    for x, price in zip(symbols, prices.tolist(), strict=True):
        mu[x] = Fraction(max(price, 0.0)) if math.isfinite(price) else Fraction(0)
    bound = min(outputs.bound(symbols, mu, epsilon.exp_down), Fraction(1))
    kept, value, post = _attained(outputs, dict(zip(symbols, weights, strict=True)), epsilon.exp_up)
    return TailAfterPostProcessing(epsilon, -float_up(-value), float_up(bound), tuple(mu), post, kept)


def _solved(outputs: _Outputs, symbols: Sequence[int], exp_epsilon: float) -> tuple[Floats, Floats]:
    """Return W, shape (symbols, outputs), and mu, shape (symbols,), up to a solver's errors."""
    from scipy.sparse import coo_array, eye_array, kron, vstack

    # The variables are W_xy q_y, probabilities; where q_y = 0, they are W_xy.
    likely = np.array([mean > 0 for mean in outputs.means])
    masses = np.array([mean / outputs.total for mean in outputs.means])
    scales = [mean or outputs.total for mean in outputs.means]
    lifts = np.array([[v[x] / scale for v, scale in zip(outputs.columns, scales, strict=True)] for x in symbols])
    X, M = lifts.shape
    excess = lifts - exp_epsilon * likely
    greatest = np.abs(excess).max(axis=1)
    excess /= greatest[:, None]
    rows = coo_array((-excess.ravel(), (np.repeat(np.arange(X), M), np.arange(X * M))), shape=(X, X * M))
    caps = kron(coo_array(np.ones((1, X))), eye_array(M))
    limits = np.r_[np.zeros(X), np.where(likely, masses, 1.0)]
    solution = minimum(-np.tile(likely.astype(float), X), at_most=(vstack([rows, caps]), limits))
    solution.required("the tail of a mechanism", "change epsilon a little")
    weights = solution.x.reshape(X, M) / np.where(likely, masses, 1.0)
    return weights, -solution.prices[:X] / greatest


def _attained(
    outputs: _Outputs, solved: dict[int, Floats], exp_up: Fraction
) -> tuple[tuple[int, ...], Fraction, Floats]:
    """Return symbols, and a post-processing whose reports leak more than epsilon through them, with its exact tail.

    What a solver returns is mixed with as little as is enough of the mechanism as it is: there every output that leaks
    more than epsilon is told apart by the symbols through which it does.
    """
    above = outputs.above(exp_up)
    through = [sum(y in leaking for leaking in above) for y in range(len(outputs.columns))]
    symbols = [x for x in solved if above[x]]
    plain = np.zeros((len(symbols), len(outputs.columns)))
    for row, x in zip(plain, symbols, strict=True):
        row[above[x]] = [1.0 / through[y] for y in above[x]]
    best = _strict(outputs, symbols, plain, exp_up)
    wanted = np.clip(np.array([solved[x] for x in symbols]).reshape(plain.shape), 0.0, None)
    wanted /= np.maximum(wanted.sum(axis=0), 1.0)
    share = 2.0**-44
    while share < 1:
        mixed = _strict(outputs, symbols, wanted + share * (plain - wanted), exp_up)
        if len(mixed[0]) == len(symbols):
            best = max(best, mixed, key=lambda found: found[1])
            break
        best = max(best, mixed, key=lambda found: found[1])
        share *= 4
    kept, value, numerators = best
    rest = 2**_BITS - np.sum(numerators, axis=0, dtype=np.int64)
    post = np.vstack([*numerators, rest]).T / 2.0**_BITS
    return kept, value, frozen(np.ascontiguousarray(post))


def _strict(
    outputs: _Outputs, symbols: Sequence[int], weights: Floats, exp_up: Fraction
) -> tuple[tuple[int, ...], Fraction, list[list[int]]]:
    """Return the symbols whose reports leak more than epsilon, their probability, and their weights over 2^52."""
    rounded = np.floor(weights * 2.0**_BITS).astype(np.int64)
    over = np.maximum(rounded.sum(axis=0) - 2**_BITS, 0)
    rounded = np.maximum(rounded - over, 0)
    kept, mass, numerators = [], 0, []
    for x, row in zip(symbols, rounded.tolist(), strict=True):
        if outputs.excess(x, row, exp_up) > 0:
            kept.append(x)
            mass += sum(map(mul, row, outputs.means))
            numerators.append(row)
    return tuple(kept), Fraction(mass, outputs.total << _BITS), numerators
