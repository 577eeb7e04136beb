"""Audit of a sampler: the leakage that its reports alone show, and whether they agree with the proved probabilities.

For every input i and output y the audit computes limits, lower and upper, of the probability that i is reported as y
(Clopper and Pearson, *The use of confidence or fiducial limits*, Biometrika 26, 1934). By Bonferroni, all of them
hold at once with probability 1 - failure at least, for any sampler that draws its reports independently.

The limits imply a lower bound on the leakage of each output, the greatest that they imply. Let l and u be the limits
of its column v, and L the greatest entry of l. Every prior is non-negative, so ``h(v) = min over Q of <Q, v>``
does not fall when entries of v rise, and ``h(s v) = s h(v)``. Let w have the entries ``min(u_i, L)``. As max v >= L,
``v <= min(u, max v) <= (max v / L) w`` in every entry, hence

    max v / h(v)  >=  L / h(w),

with equality for v = w, which lies within the limits. An output that was never seen has L = 0 and shows nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.data.checks import checked_samples
from mechdesign.display.html import Above, Below, facts
from mechdesign.display.numbers import text_below
from mechdesign.errors import GuaranteeError, InputError, shorten
from mechdesign.mechanism import Mechanism
from mechdesign.mechanism.mechanism import check_mechanism
from mechdesign.numerics.arrays import frozen, number_array
from mechdesign.numerics.exact import rational
from mechdesign.uncertainty.base import check_about_data

Codes = NDArray[np.intp]
Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
SamplerOfCodes = Callable[[Codes], Any]

_BLOCK = 1 << 20  # reports at a time
_MOST_SAMPLES = 10**10
_LEAST_FAILURE = Fraction(1, 10**50)
_TAIL_SHARE = 0.999  # of a tail is asked for, so that limits hold although they are computed in floats
_HALVINGS = 50  # of an interval of logarithms whose length is at most some 200


@dataclass(frozen=True, eq=False)
class Audit:
    """What the reports of a sampler show.

    If the reports are independent, all attributes hold at once with probability 1 - failure at least. A true sampler is
    therefore found inconsistent with probability failure at most.

    Attributes
    ----------
    lower_bound : float
        The leakage over the set of priors is at least this, in nats; 0 if the reports show no leakage.
    output, input : str or None
        The output that shows this bound, and the input that makes this output likeliest; None if the bound is 0.
    leakage : float
        The proved leakage of the mechanism's integers, in nats: the leakage of a true sampler is at most this.
    epsilon : float
        What the guarantee promises, in nats.
    outside : tuple of (str, str)
        Pairs of an input and an output whose proved probability lies outside its limits. A true sampler has no such
        pair.
    bounds : float array, shape (M,)
        The lower bound that each output shows, in nats.
    counts : int64 array, shape (N, M)
        How often each input was reported as each output.
    lower, upper : float array, shape (N, M)
        Limits of the probabilities.
    failure : float
        The probability that any limit does not hold.
    """

    lower_bound: float
    output: str | None
    input: str | None
    leakage: float
    epsilon: float
    outside: tuple[tuple[str, str], ...]
    bounds: Floats
    counts: Counts
    lower: Floats
    upper: Floats
    failure: float

    def __post_init__(self) -> None:
        for name in ("bounds", "counts", "lower", "upper"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    def __reduce__(self) -> tuple[Any, ...]:
        # The arrays of a copy are read-only too.
        return Audit, tuple(getattr(self, field.name) for field in fields(self))

    def __repr__(self) -> str:
        fit = "consistent" if self.consistent else f"NOT consistent, {len(self.outside)} cells outside"
        return f"Audit({self.counts.sum()} reports, leakage >= {text_below(self.lower_bound, 6)}, {fit})"

    def _repr_html_(self) -> str:
        pairs: list[tuple[str, object]] = [
            ("reports", int(self.counts.sum())),
            ("leakage shown, at least, in nats", Below(self.lower_bound)),
            ("by output", self.output),
            ("likeliest for input", self.input),
            ("leakage proved, at most, in nats", Above(self.leakage)),
            ("epsilon in nats", self.epsilon),
            ("probabilities outside their limits", len(self.outside)),
            ("failure probability", self.failure),
            ("the reports fit the mechanism", self.consistent),
        ]
        return facts(pairs, "Audit")

    @property
    def consistent(self) -> bool:
        """Whether the reports agree with the proved leakage and with every proved probability."""
        return self.lower_bound <= self.leakage and not self.outside

    @property
    def samples(self) -> Counts:
        """How many reports each input gave, shape (N,)."""
        return frozen(self.counts.sum(axis=1))


def audit(
    mechanism: Mechanism,
    samples: int,
    *,
    sampler: SamplerOfCodes | None = None,
    failure: object = 1e-9,
    rng: np.random.Generator | None = None,
    progress: Callable[[str], None] | None = None,
) -> Audit:
    """Draw reports from a sampler, and return the leakage that they show.

    A lower bound says what the sampler does; it never proves privacy, which `mechdesign.verify` does for the
    integers. A bound above the proved leakage, or a probability outside its limits, shows that the sampler is not
    the mechanism. Differences too small for the number of samples are not detected, nor is a dependence of reports on
    each other, on time, or on other things than the input.

    Parameters
    ----------
    mechanism : Mechanism
        What the sampler claims to be.
    samples : int
        Number of reports, N to 10^10; the inputs take turns.
    sampler : callable, optional
        A function from codes of inputs (an integer array of shape (n,), positions from 0) to as many codes of outputs,
        such as a deployment of your own; by default the mechanism's `privatize`.
    failure : number or str
        Probability in [1e-50, 1) that some attribute of the result does not hold.
    rng : numpy.random.Generator, optional
        For `privatize`, in experiments that are to be repeated; by default secure randomness.
    progress : callable, optional
        Called with one line before each block of reports.

    Returns
    -------
    Audit

    Raises
    ------
    InputError
        For values out of range, an rng beside a sampler, or a sampler that does not return one integer for each record.
    GuaranteeError
        If the sampler returns a code to which no output of the mechanism belongs.

    Examples
    --------
    >>> from mechdesign import Epsilon, Guarantee, L1Ball
    >>> promise = Guarantee(Epsilon.of("log(3)"), L1Ball([0.5, 0.5], radius=2))
    >>> warner = Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise)
    >>> found = audit(warner, 100_000, rng=np.random.default_rng(1))
    >>> found.consistent, 1 < found.lower_bound < warner.leakage
    (True, True)
    >>> audit(warner, 100_000, sampler=lambda codes: codes).consistent
    False
    """
    check_mechanism(mechanism)
    check_about_data(mechanism.guarantee.uncertainty, "an audit")
    N, M = mechanism.numerators.shape
    drawn = checked_samples(samples)
    if not N <= drawn <= _MOST_SAMPLES:
        raise InputError.not_a_whole_number(f"samples is {drawn}; accepted: {N} to 10^10, at least one for each input")
    allowed = checked_failure(failure)
    if sampler is None:

        def sampler(codes: Codes) -> Any:
            return mechanism.privatize(codes, rng, integers="codes")

    elif not callable(sampler):
        raise InputError.wrong_type(
            f"the sampler is {shorten(sampler)}; give a function from codes of inputs to codes of outputs"
        )
    elif rng is not None:
        raise InputError.needless_argument(
            "rng is given beside a sampler, which draws its own randomness; leave it out"
        )
    counts = np.zeros(N * M, dtype=np.int64)
    for start in range(0, drawn, _BLOCK):
        if progress is not None:
            progress(f"drawing reports: {start:,} of {drawn:,}")
        codes = np.arange(start, min(start + _BLOCK, drawn)) % N
        # The sampler gets a copy: it may work in place.
        cells = codes * M + _checked_reports(sampler(codes.copy()), codes.size, M)
        counts += np.bincount(cells, minlength=N * M)
    return _assessed(mechanism, counts.reshape(N, M), allowed)


def audit_counts(mechanism: Mechanism, counts: ArrayLike, *, failure: object = 1e-9) -> Audit:
    """Return the leakage of a sampler that the counts of its reports show.

    This is for samplers that cannot be called from Python. The number of reports of each input must not depend on the
    reports.

    Parameters
    ----------
    mechanism : Mechanism
        What the sampler claims to be.
    counts : integer array, shape (N, M)
        How often each input was reported as each output; every input at least once.
    failure : number or str
        As for `audit`.

    Raises
    ------
    InputError
        For counts of another shape or type, negative ones, or an input without reports.

    Examples
    --------
    >>> from mechdesign import Epsilon, Guarantee, L1Ball
    >>> promise = Guarantee(Epsilon.of("log(3)"), L1Ball([0.5, 0.5], radius=2))
    >>> warner = Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75]], promise, outputs=["y1", "y2"])
    >>> audit_counts(warner, [[75_000, 25_000], [25_000, 75_000]]).consistent
    True
    >>> audit_counts(warner, [[77_000, 23_000], [25_000, 75_000]]).outside
    (('x1', 'y1'), ('x1', 'y2'))
    """
    check_mechanism(mechanism)
    check_about_data(mechanism.guarantee.uncertainty, "an audit")
    shape = mechanism.numerators.shape
    seen = number_array(counts, "the table of counts", f"integers of shape {shape}")
    if seen.dtype.kind not in "iu" or seen.shape != shape:
        raise InputError.wrong_size(
            f"the counts are {seen.dtype} of shape {seen.shape}; accepted: integers of shape {shape}"
        )
    most = int(seen.max())
    if seen.min() < 0 or most > _MOST_SAMPLES:
        worst = int(seen.min()) if seen.min() < 0 else most
        raise InputError.not_counts(f"one of the counts is {worst}; accepted: whole numbers from 0 to 10^10")
    missing = np.flatnonzero(~seen.any(axis=1))
    if missing.size:
        label = mechanism.inputs[int(missing[0])]
        raise InputError.nothing_given(f"the input {shorten(label)} has no reports; give at least one for each input")
    return _assessed(mechanism, seen.astype(np.int64), checked_failure(failure))


def checked_failure(value: object) -> float:
    """Return a probability of failure, after checking that it lies in [1e-50, 1)."""
    failure = rational(value, "the failure probability")
    if not _LEAST_FAILURE <= failure < 1:
        raise InputError.out_of_range(f"the failure probability is {shorten(value)}; accepted: 1e-50 to 1, and below 1")
    return float(failure)


def clopper_pearson(hits: ArrayLike, trials: ArrayLike, tail: float) -> tuple[Floats, Floats]:
    """Return limits of probabilities, each of which is wrong with probability ``tail`` at most.

    The lower limit is the p at which as many hits or more have probability ``tail``, the upper limit the one at
    which as many or fewer have (Clopper and Pearson 1934): quantiles of beta distributions.

    Parameters
    ----------
    hits, trials : integer arrays
        Of shapes that broadcast, 0 <= hits <= trials.
    tail : float
        From 1e-60 to 1.

    Examples
    --------
    >>> lower, upper = clopper_pearson([0, 10], 10, 0.5**10)
    >>> lower.round(9), upper.round(9)
    (array([0. , 0.5]), array([0.5, 1. ]))
    """
    seen = np.asarray(hits, dtype=float)
    unseen = np.asarray(trials, dtype=float) - seen
    lower = np.where(seen > 0, _beta_quantile(np.maximum(seen, 1), unseen + 1, tail), 0.0)
    upper = np.where(unseen > 0, 1 - _beta_quantile(np.maximum(unseen, 1), seen + 1, tail), 1.0)
    # Rounded outward, which matters near 1, where doubles are coarse compared with the distance to 1.
    return np.nextafter(lower, 0.0), np.nextafter(upper, 1.0)


def _beta_quantile(a: Floats, b: Floats, tail: float) -> Floats:
    """Return x with ``I_x(a, b) = tail`` for whole numbers a and b, I being the regularised incomplete beta function.

    Found by bisection from below: the inverse in scipy is not faster, and wrong for some parameters (1000 and 10^9).
    """
    from scipy.special import betainc

    # With n = a + b - 1, I_x is at most binomial(n, a) x^a, and so at most (e n x / a)^a.
    low = np.log(a / (a + b - 1)) - 1 + np.log(tail) / a
    high = np.zeros_like(low)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        below = betainc(a, b, np.exp(middle)) <= tail
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    x: Floats = np.exp(low)
    return x


def shown_leakage(mechanism: Mechanism, lower: Floats, upper: Floats) -> tuple[Floats, Codes]:
    """Return the leakage that limits of the probabilities show, and the input that shows it, of each output.

    Parameters
    ----------
    mechanism : Mechanism
        Only its set of priors is used.
    lower, upper : arrays, shape (N, M)
        Limits of the probabilities.

    Returns
    -------
    bounds : float array, shape (M,)
        Lower bounds of the leakage over the set, in nats, 0 or more.
    inputs : int array, shape (M,)
        Positions of the inputs with the greatest lower limits.
    """
    most = lower.max(axis=0)
    # The bound needs priors without negative entries: those of the exact set.
    means = mechanism.guarantee.uncertainty.exact_set.support(np.minimum(upper, most))
    # Rounded up by more than the error of a sum of N terms; otherwise a leakage of 0 could come out positive.
    means = means + 4 * lower.shape[0] * np.finfo(float).eps * most
    ratios = np.divide(most, means, out=np.ones_like(most), where=most > 0)
    return np.maximum(np.log(ratios), 0.0), lower.argmax(axis=0)


def _checked_reports(reports: Any, size: int, outputs: int) -> Codes:
    """Return the reports of a sampler, after checking that they hold the code of an output for each record."""
    codes = np.asarray(reports)
    if codes.dtype.kind not in "iu" or codes.shape != (size,):
        raise InputError.function_fails(
            f"the sampler returned {codes.dtype} of shape {codes.shape} for {size} records; accepted: integers of "
            f"shape ({size},), codes of outputs"
        )
    strange = np.flatnonzero((codes < 0) | (codes >= outputs))
    if strange.size:
        raise GuaranteeError.sampler_wrong(
            f"the sampler returned the code {codes[strange[0]]}, of which nothing is proved; the outputs of the "
            f"mechanism have codes 0 to {outputs - 1}"
        )
    return codes.astype(np.intp)


def _assessed(mechanism: Mechanism, counts: Counts, failure: float) -> Audit:
    tail = failure / (2 * counts.size) * _TAIL_SHARE  # two limits for each cell
    lower, upper = clopper_pearson(counts, counts.sum(axis=1, keepdims=True), tail)
    bounds, inputs = shown_leakage(mechanism, lower, upper)
    best = int(bounds.argmax())
    shows = bounds[best] > 0
    proved = mechanism.matrix
    outside = np.argwhere((proved < lower) | (proved > upper)).tolist()
    return Audit(
        lower_bound=float(bounds[best]),
        output=mechanism.outputs[best] if shows else None,
        input=mechanism.inputs[int(inputs[best])] if shows else None,
        leakage=mechanism.leakage,
        epsilon=float(mechanism.guarantee.epsilon),
        outside=tuple((mechanism.inputs[i], mechanism.outputs[j]) for i, j in outside),
        bounds=bounds,
        counts=counts,
        lower=lower,
        upper=upper,
        failure=failure,
    )
