"""The tail of the leakage after any post-processing: the greatest probability that a report leaks more than epsilon.

Merging outputs may make more of the mass leak more than epsilon: an output far above epsilon, together with one a
little below, may still be above. So a mechanism that is (epsilon, delta)-PML by its own tail need not be so after
post-processing. With columns ``k_y``, ``q_y = <P, k_y>`` and the categories X for which some output has
``k_y(x) > e q_y``, the supremum over all post-processings is the linear program

    max sum_(x,y) W_xy q_y,   sum_y W_xy (k_y(x) - e q_y) >= 0  for every x in X,   sum_x W_xy <= 1,   W >= 0,

whose dual is ``min over mu >= 0 of sum_y max(0, max_x [q_y + mu_x (k_y(x) - e q_y)])`` (docs/mathematics.md). Any mu
proves an upper bound, which is computed in rationals; any W is a post-processing, whose tail is.

For a set of priors a report counts if it leaks more than epsilon at some prior of the set, with its greatest
probability. `merged_outputs` has what changes.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import Floats, entries, frozen
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import float_up, rational
from mechdesign.numerics.linear_program import minimum
from mechdesign.pml.merged_outputs import MergedOutputs, Prior, Witness
from mechdesign.pml.tail import EpsilonLike, checked_probability, covering
from mechdesign.uncertainty.base import UncertaintySet

_BITS = 52  # probabilities of a post-processing are multiples of 2^-52, which floats hold
_MOST_PRIORS = 12  # at which the program is solved, for a set
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
        mu, 0 or more: one for each category; for some sets one for each category and each of some priors, or several
        such lists in a row. `certify_tail` computes the bound again.
    post_processing : array, shape (M, K)
        Row y is the distribution of the new report after the report y, in multiples of 2^-52, as `Mechanism.then` takes
        it. Every new report but the last leaks more than epsilon, through the category at its place in `symbols`.
    categories : tuple of int
        Positions of K - 1 categories.
    """

    epsilon: Epsilon
    value: float
    bound: float
    multipliers: tuple[Fraction, ...]
    post_processing: Floats
    symbols: tuple[int, ...]


def tail_after_post_processing(
    matrix: ArrayLike, prior: UncertaintySet | Sequence[object], epsilon: EpsilonLike
) -> TailAfterPostProcessing:
    """Return the greatest probability that leakage exceeds epsilon, whatever is done to the reports.

    At one prior P it is the supremum of ``P{ l(X -> Z) > epsilon }`` over all Z that depend on X through the report
    alone: the least delta for which the mechanism is (epsilon, delta)-PML (ED Definition 3) and stays so under
    post-processing. `leakage_tail` is the same probability for the reports as they are, and may be less. It is 0 for an
    epsilon of which the mechanism is PML, and never rises under post-processing. As there, a category of probability 0
    counts as possible; leave its row out where nobody can have it.

    For a set of priors a report counts if it leaks more than epsilon at *some* prior of the set, and the probability is
    the greatest over all priors of the set. If it is at most delta, the mechanism is (epsilon, delta)-PML at every
    prior of the set whatever is done to its reports. Value and bound are proved. They may differ where the corners of
    the set are not listed: those of small hulls and of small l1 balls are.

    Parameters
    ----------
    matrix : array, shape (N, M)
        A mechanism; floats are read as the decimals that they print as. Give the ``numerators`` of a `Mechanism`.
    prior : sequence of N numbers, or UncertaintySet
        The prior that gives the outputs their probabilities, or all that may do so.
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
    >>> from mechdesign import L1Ball
    >>> found = tail_after_post_processing(matrix, L1Ball(prior, radius="0.1"), 0.6)
    >>> round(found.value, 6), round(found.bound, 6)
    (0.496607, 0.496607)
    """
    return _tail(MergedOutputs.of(matrix, prior), Epsilon.of(epsilon))


def certify_tail(
    matrix: ArrayLike, prior: UncertaintySet | Sequence[object], epsilon: EpsilonLike, multipliers: Sequence[object]
) -> float:
    """Return the bound that multipliers prove on the tail after any post-processing, in rationals and rounded up.

    Parameters
    ----------
    matrix, prior, epsilon
        As for `tail_after_post_processing`.
    multipliers : sequence of numbers
        mu, 0 or more, as many as `tail_after_post_processing` returns. Poor ones give a weak bound, but never a false
        one.

    Raises
    ------
    InputError
        As `tail_after_post_processing`, and for multipliers that are negative or not as many.

    Examples
    --------
    >>> matrix, prior = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]], [0.5, 0.3, 0.2]
    >>> round(certify_tail(matrix, prior, 0.5, [0, 0, 1.5]), 6), certify_tail(matrix, prior, 0.5, [0, 0, 0])
    (0.516999, 1.0)
    """
    outputs, e = MergedOutputs.of(matrix, prior), Epsilon.of(epsilon).exp_down
    mu = [rational(value, "a multiplier") for value in entries(multipliers, "the multipliers", "a list of numbers")]
    count = len(outputs.witnesses)
    several = count if outputs.one_prior else len(mu) // count * count
    if not mu or len(mu) != several or min(mu) < 0:
        times = "" if outputs.one_prior else ", or a multiple of that"
        raise InputError.wrong_size(
            f"the multipliers are {shorten(multipliers)}; accepted: {count} numbers{times}, 0 or more"
        )
    used, proof = set(_of_use(outputs, outputs.witnesses, e)), _Proof(outputs, e)
    for start in range(0, len(mu) if used else 0, count):
        given = zip(outputs.witnesses, mu[start : start + count], strict=True)
        proof.add({witness: factor for witness, factor in given if witness in used})
    return float_up(min(proof.bound, Fraction(1))) if used else 0.0


def epsilon_after_post_processing(
    matrix: ArrayLike, prior: UncertaintySet | Sequence[object], delta: object
) -> TailAfterPostProcessing:
    """Return the least epsilon for which a mechanism is (epsilon, delta)-PML whatever is done to the reports.

    `epsilon_at` is the same for the reports as they are, and may be less. Found by bisection, to within 1e-9 nats.
    For a set whose corners are not listed it is from a bound of the tail, so that a smaller epsilon may do.

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
        output of probability 0 may come of a category of probability 0.

    Examples
    --------
    >>> matrix, prior = [[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]], [0.5, 0.3, 0.2]
    >>> found = epsilon_after_post_processing(matrix, prior, 0.3)
    >>> round(float(found.epsilon), 6), found.bound <= 0.3
    (0.755668, True)
    """
    allowed = checked_probability(delta)
    outputs = MergedOutputs.of(matrix, prior)
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


def _enough_for(outputs: MergedOutputs, allowed: Fraction) -> TailAfterPostProcessing:
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


def _jumps(outputs: MergedOutputs) -> list[float]:
    """Return the values of epsilon from which on a category is of no use any more, where the tail may jump, rising."""
    return [covering(lift) for lift in sorted(set(outputs.lifts)) if lift > 1]


def _tail(outputs: MergedOutputs, epsilon: Epsilon) -> TailAfterPostProcessing:
    witnesses = _of_use(outputs, outputs.witnesses, epsilon.exp_down)
    none, rest = (Fraction(0),) * len(outputs.witnesses), frozen(np.ones((len(outputs.columns), 1)))
    found = TailAfterPostProcessing(epsilon, 0.0, float(bool(witnesses)), none, rest, ())
    if not witnesses:
        return found
    e, prior, proof = float(epsilon.exp_down), outputs.known.center, _Proof(outputs, epsilon.exp_down)
    worst: set[tuple[int, Prior]] = set()
    solved_at: set[Prior] = set()
    for _ in range(_MOST_PRIORS):
        before = found
        solved_at.add(prior)
        weights, prices = _solved(outputs, witnesses, e, prior)
        proof.add({of: _multiplier(price) for of, price in zip(witnesses, prices.tolist(), strict=True)})
        found = replace(found, bound=float_up(min(proof.bound, Fraction(1))), multipliers=proof.multipliers)
        reports = witnesses
        if not outputs.one_prior:
            merged = _over_whole(weights)
            prior = proof.weakest_corner or outputs.mass([sum(shares) for shares in zip(*merged, strict=True)])[1]
            # Reports leak at one prior each: those at which the reports found, and the outputs, leak most.
            seen = [(x, row) for (x, _), row in zip(witnesses, merged, strict=True) if any(row)]
            seen += zip(outputs.likeliest_symbols, np.eye(len(outputs.columns), dtype=int).tolist(), strict=True)
            worst.update((x, outputs.worst_prior(row)) for x, row in seen)
            reports = _of_use(outputs, sorted(worst), epsilon.exp_up)
            weights, _ = _solved(outputs, reports, e, prior)
        kept, value, post = _attained(outputs, reports, weights, epsilon.exp_up)
        if value > Fraction(found.value):
            found = replace(found, value=-float_up(-value), post_processing=post, symbols=kept)
        # Of corners that are equally weak one is solved at a time, and the bound falls with the last of them.
        another = proof.weakest_corner is not None and prior not in solved_at
        if outputs.one_prior or not (another or found.value > before.value or found.bound < before.bound):
            break
    return found


def _of_use(outputs: MergedOutputs, witnesses: Sequence[Witness], exp_epsilon: Fraction) -> list[Witness]:
    """Return the witnesses by which some output leaks more than epsilon: merged outputs that do need one of them."""
    above = outputs.above(witnesses, exp_epsilon)
    return [witness for witness, leaking in zip(witnesses, above, strict=True) if leaking]


def _multiplier(price: float) -> Fraction:
    return Fraction(max(price, 0.0)) if math.isfinite(price) else Fraction(0)


class _Proof:
    """Multipliers, and the least of what they prove at each corner of a set."""

    def __init__(self, outputs: MergedOutputs, exp_epsilon: Fraction) -> None:
        self.outputs, self.exp_epsilon = outputs, exp_epsilon
        self.multipliers: tuple[Fraction, ...] = ()
        self.proved: list[Fraction] = []

    @property
    def bound(self) -> Fraction:
        return max(self.proved)

    @property
    def weakest_corner(self) -> Prior | None:
        """The corner at which the least is proved; None where corners are not listed."""
        corners = self.outputs.corners
        return corners[self.proved.index(self.bound)] if corners else None

    def add(self, mu: dict[Witness, Fraction]) -> None:
        """Take multipliers, where they prove more than is known."""
        proved = self.outputs.bounds(mu, self.exp_epsilon)
        better = list(map(min, proved, self.proved)) if self.proved else proved
        if better != self.proved:
            self.proved = better
            self.multipliers += tuple(mu.get(witness, Fraction(0)) for witness in self.outputs.witnesses)


def _solved(
    outputs: MergedOutputs, witnesses: Sequence[Witness], exp_epsilon: float, prior: Prior
) -> tuple[Floats, Floats]:
    """Return W, shape (witnesses, outputs), and mu, shape (witnesses,), up to a solver's errors."""
    from scipy.sparse import coo_array, eye_array, kron, vstack

    gains, excess, limits = outputs.program(witnesses, exp_epsilon, prior)
    X, M = excess.shape
    greatest = np.abs(excess).max(axis=1)
    excess /= greatest[:, None]
    rows = coo_array((-excess.ravel(), (np.repeat(np.arange(X), M), np.arange(X * M))), shape=(X, X * M))
    caps = kron(coo_array(np.ones((1, X))), eye_array(M))
    solution = minimum(-np.tile(gains, X), at_most=(vstack([rows, caps]), np.r_[np.zeros(X), limits]))
    solution.required("the tail of a mechanism", "change epsilon a little")
    return solution.x.reshape(X, M) / limits, -solution.prices[:X] / greatest


def _attained(
    outputs: MergedOutputs, witnesses: Sequence[Witness], solved: Floats, exp_up: Fraction
) -> tuple[tuple[int, ...], Fraction, Floats]:
    """Return categories, the exact tail, and a post-processing whose reports leak more than epsilon through them.

    What a solver returns is mixed with as little as is enough of the mechanism as it is: there every output that leaks
    more than epsilon is told apart by the witnesses of that.
    """
    above = outputs.above(witnesses, exp_up)
    places = [place for place, leaking in enumerate(above) if leaking]
    symbols, above = [witnesses[place][0] for place in places], [above[place] for place in places]
    through = [sum(y in leaking for leaking in above) for y in range(len(outputs.columns))]
    plain = np.zeros((len(symbols), len(outputs.columns)))
    for row, leaking in zip(plain, above, strict=True):
        row[leaking] = [1.0 / through[y] for y in leaking]
    best = _strict(outputs, symbols, plain, exp_up)
    wanted = np.clip(solved[places].reshape(plain.shape), 0.0, None)
    wanted /= np.maximum(wanted.sum(axis=0), 1.0)
    share = 2.0**-44
    while share < 1:
        mixed = _strict(outputs, symbols, wanted + share * (plain - wanted), exp_up)
        best = max(best, mixed, key=lambda found: found[1])
        if len(mixed[0]) == len(symbols):
            break
        share *= 4
    kept, value, numerators = best
    rest = 2**_BITS - np.sum(numerators, axis=0, dtype=np.int64)
    post = np.vstack([*numerators, rest]).T / 2.0**_BITS
    return kept, value, frozen(np.ascontiguousarray(post))


def _strict(
    outputs: MergedOutputs, symbols: Sequence[int], weights: Floats, exp_up: Fraction
) -> tuple[tuple[int, ...], Fraction, list[list[int]]]:
    """Return the categories whose reports leak more than epsilon, their probability, and their weights over 2^52."""
    rows = zip(symbols, _over_whole(weights), strict=True)
    leaking = [(x, row) for x, row in rows if outputs.leaks(x, row, exp_up)]
    numerators = [row for _, row in leaking]
    mass = outputs.mass([sum(shares) for shares in zip(*numerators, strict=True)])[0] if leaking else Fraction(0)
    return tuple(x for x, _ in leaking), mass / 2**_BITS, numerators


def _over_whole(weights: Floats) -> list[list[int]]:
    """Return weights as numerators over 2^52, which sum to that at most for every output."""
    rounded = np.floor(np.clip(weights, 0.0, None) * 2.0**_BITS).astype(np.int64)
    over = np.maximum(rounded.sum(axis=0) - 2**_BITS, 0)
    numerators: list[list[int]] = np.maximum(rounded - over, 0).tolist()
    return numerators
