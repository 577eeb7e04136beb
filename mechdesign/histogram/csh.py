"""The correlated stability histogram (CSH Algorithm 2): the guarantee of noise with a common part, and a threshold.

Every counter that is not 0 gets its own N(0, sigma^2) and a common N(0, sigma^2 / sqrt(k)), and is released where the
sum exceeds ``1 + tau``. No data set has more than k counters that are not 0; neighbours differ by one user, who changes
counters by 1, all in the same direction. The analysis is for real numbers.

The proved bound. Let a user change l of s shared counters and make j new ones, ``s + j <= k``. R(j) is the probability
that one of j new counters is released, and ``Delta_s^2 = max over l <= s of l - l^2 / (sqrt(k) + s)`` the squared
sensitivity of s counters with a common noise. Then delta of the pair is at most ``R(j) + G(epsilon, Delta_s / sigma)``
in both directions. Write P for the output of the data set without, and Q for that with the new counters, of which w is
the probability that none is released, given what is shared.

- New counters appear: ``Q(S) <= R(j) + Q_shared(S)``, and Q_shared and P are a Gaussian mechanism.
- New counters vanish: ``P(S) <= E_P[1_S w] + E_P[1 - w]``. Since ``E_Q[1_S w] <= Q(S)``, the first term is at most
  ``exp(epsilon) Q(S) + G``. In w the common noise is what Q makes of the shared outputs; where these are those of P, it
  is too small by ``l / (sqrt(k) + s)``. So the second term is the probability that noise exceeds a threshold that is
  raised by as much, which is at most R(j).

All pairs with j = 0 have G alone, and all with s = 0 have R alone, which gives

    delta <= max( R(k), G(epsilon, Delta_k / sigma), max over 1 <= j < k of R(j) + G(epsilon, Delta_(k-j) / sigma) ).

The first two are attained. So wherever none of the mixed terms is greater than they are, the bound is the exact delta.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.histogram.calibration import (
    Sparse,
    best_pair,
    checked_epsilon,
    checked_sparsity,
    checked_tau,
    chosen,
    least_noise,
    least_tau,
    meets,
    reachable_delta,
    required_tau,
)
from mechdesign.histogram.csh_pair import Pair, pair_deltas
from mechdesign.histogram.hockey_stick import (
    Ball,
    SplitBound,
    gaussian_divergence,
    greatest_over_splits,
    release_probability,
    rounded_up,
)
from mechdesign.histogram.one_factor import common_release_probability
from mechdesign.numerics.epsilon import Epsilon, nats
from mechdesign.numerics.exact import arb_of

EXTREMES = "exact-extremes-unproved"
ANALYSES = ("proved", "theorem-11", "theorem-12", "exact", EXTREMES)
_PAPER = ("theorem-11", "theorem-12")
_STEPS = 400  # looks at splits
_FEW_STEPS = 100  # the same, where pairs are only compared
_MOST_PAIRS = 300  # of neighbours, and bounds on them, each of which takes some milliseconds
_UNLIMITED = 10**9  # looks: `_MOST_PAIRS` is the limit


def sensitivity(k: int, shared: int) -> Ball:
    """Return Delta_s: the sensitivity of s shared counters with a common noise, in units of 1 / sigma.

    ``Delta_s^2 = max over whole l <= s of l - l^2 / (sqrt(k) + s)``. It is at most ``(s + sqrt(k)) / 4`` (CSH Lemma 8).

    Examples
    --------
    >>> from mechdesign.numerics.exact import working_precision
    >>> with working_precision():
    ...     round(float(sensitivity(4, 4) ** 2), 12)
    1.5
    """
    total = arb_of(k).sqrt() + shared
    near = int(float(total) / 2)
    candidates = {min(shared, max(0, near + offset)) for offset in (-1, 0, 1, 2)}
    squares = [ell - ell * ell / total for ell in sorted(candidates)]
    greatest = squares[0]
    for square in squares[1:]:
        greatest = greatest.max(square)
    return greatest.sqrt()


@dataclass(frozen=True)
class _Terms:
    """The terms of all analyses, rounded up; those that release take the largest sigma, divergences the least."""

    noise: Sparse
    tau: Fraction
    epsilon: Epsilon

    @property
    def k(self) -> int:
        return self.noise.k

    def own(self) -> Ball:
        return arb_of(self.tau) / arb_of(self.noise.sigma.high)

    def _common(self) -> Ball:
        return 1 / arb_of(self.k).sqrt().sqrt()

    def jensen(self, new: int) -> Ball:
        """Bound R by releases of independent noise of the same variance: ``E[Phi^n] >= (E[Phi])^n``."""
        return release_probability(new, self.own() / (1 + self._common() ** 2).sqrt())

    def released(self, new: int) -> Ball:
        """R, exactly."""
        return common_release_probability(new, self.own(), self._common())

    def lemma_10(self, new: int) -> Ball:
        return release_probability(new + 1, self.own() / (1 + self._common()))

    def gaussian(self, mu: Callable[[], Ball]) -> Ball:
        return gaussian_divergence(nats(self.epsilon), mu() / arb_of(self.noise.sigma.low))

    def shared(self, shared: int) -> Ball:
        return self.gaussian(lambda: sensitivity(self.k, shared))

    def lemma_8(self) -> Ball:
        return self.gaussian(lambda: (self.k + arb_of(self.k).sqrt()).sqrt() / 2)


def csh_delta(k: int, sigma: object, tau: object, epsilon: object, analysis: str = "proved") -> float:
    """Return a delta of the correlated stability histogram (CSH Algorithm 2).

    Parameters
    ----------
    k : int
        Most counters that are not 0 in any data set, from 1 to 10^9.
    sigma : number or str
        Standard deviation of the noise of one counter's own, above 0. With the common noise a count has
        ``sigma sqrt(1 + 1 / sqrt(k))``.
    tau : number or str
        Threshold, at least 0: a count is released where it exceeds ``1 + tau`` with its noise.
    epsilon : number or str
        A decimal from 0 to 700, or ``"log(9/8)"``; nats.
    analysis : str, optional
        - ``"proved"``: the bound stated at the top of this module, in ball arithmetic throughout.
        - ``"theorem-11"``, ``"theorem-12"``: those of the paper. One term of Theorem 12 is not shown for its own pairs;
          no counterexample to the whole is known.
        - ``"exact"``: the supremum over all pairs of neighbours. Those that the proved bound leaves open are
          integrated, with an estimated error on top, which is not proved (see `csh_pair_delta`).
        - ``"exact-extremes-unproved"``: the greater of the two extreme pairs, all counters new and all shared. No pair
          was ever found that is worse, but this is not proved: it is a lower bound.

    Returns
    -------
    float
        Never below what the analysis says; releases take ``"proved"`` or ``"theorem-11"`` alone.

    Raises
    ------
    InputError
        For a value outside these ranges.
    LimitError
        If ``"exact"`` would take more than 300 pairs and bounds on them, which needs k above 12.

    Examples
    --------
    >>> round(csh_delta(10, 28.23253992, 153.962, 0.35), 9)
    9.999e-06
    >>> csh_delta(10, 28.23253992, 153.962, 0.35) == csh_delta(10, 28.23253992, 153.962, 0.35, "exact")
    True
    """
    terms = _Terms(Sparse.of(k, sigma), checked_tau(tau), checked_epsilon(epsilon))
    return _delta(terms, chosen(analysis, ANALYSES), _STEPS)


def _delta(terms: _Terms, analysis: str, steps: int, target: Fraction = Fraction(1)) -> float:
    """Return the delta, or something between the target and it where it is above the target."""
    k = terms.k
    if analysis == "theorem-11":
        return rounded_up(lambda: terms.lemma_10(k) + terms.lemma_8())
    if analysis == "theorem-12":
        return _theorem_12(terms, steps)
    ends = max(rounded_up(lambda: terms.released(k)), rounded_up(lambda: terms.shared(k)))
    if analysis == EXTREMES or not meets(ends, target):
        return ends
    coarse, fine = _by(terms, terms.jensen), _by(terms, terms.released)
    if analysis == "proved":
        return greatest_over_splits(k, ends, [coarse, fine], steps)
    pairs = _Pairs(terms, fine, ends)
    return greatest_over_splits(k, ends, [coarse, pairs.bound, pairs.greatest], _UNLIMITED)


def _by(terms: _Terms, release: Callable[[int], Ball]) -> Callable[[int, int], float]:
    return lambda new, shared: rounded_up(lambda: release(new) + terms.shared(shared))


def _theorem_12(terms: _Terms, steps: int) -> float:
    # The fourth case of the theorem, G(epsilon + log w, mu) with w = 1 - L and L the term of Lemma 10, never decides:
    # P(S) - w exp(epsilon) Q(S) = w (P(S) - exp(epsilon) Q(S)) + (1 - w) P(S), which is at most G(epsilon, mu) + L.
    k = terms.k

    def shift(shared: int) -> Ball:
        return arb_of(shared).sqrt().min((shared + arb_of(k).sqrt()).sqrt() / 2)

    def split(new: int, shared: int) -> float:
        return rounded_up(lambda: terms.lemma_10(new) + terms.gaussian(lambda: shift(shared)))

    ends = max(rounded_up(lambda: terms.lemma_10(k)), rounded_up(terms.lemma_8))
    return greatest_over_splits(k, ends, [split], steps)


class _Pairs:
    """The pairs of a split that the proved bound leaves open, one for each number of shared counters that change."""

    def __init__(self, terms: _Terms, proved: SplitBound, ends: float) -> None:
        self.terms, self.proved, self.best, self.left = terms, proved, ends, _MOST_PAIRS

    def bound(self, new: int, shared: int) -> float:
        """Return the proved bound of a split."""
        self._spend()
        return self.proved(new, shared)

    def _spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise LimitError(
                f"the exact delta for k = {self.terms.k} takes more than {_MOST_PAIRS} pairs of neighbours; give "
                f"analysis='proved' for a proved bound, or analysis={EXTREMES!r} for a value that is not proved"
            )

    def greatest(self, new: int, shared: int) -> float:
        """Return the greatest delta of the pairs of a split, or what is greater already."""
        released = rounded_up(lambda: self.terms.released(new))
        for changed in range(shared + 1):
            if _pair_bound(self.terms, released, shared, changed) <= self.best:
                continue
            self._spend()
            self.best = max(self.best, *_pair(self.terms, shared, changed, new))
        return self.best


def _pair_sensitivity(k: int, shared: int, changed: int) -> Ball:
    return (changed - changed * changed / (arb_of(k).sqrt() + shared)).sqrt()


def _pair_bound(terms: _Terms, released: float, shared: int, changed: int) -> float:
    """Return the proved bound of one pair."""
    return rounded_up(
        lambda: arb_of(Fraction(released)) + terms.gaussian(lambda: _pair_sensitivity(terms.k, shared, changed))
    )


def _pair(terms: _Terms, shared: int, changed: int, new: int) -> tuple[float, float]:
    released = rounded_up(lambda: terms.released(new)) if new else 0.0
    gaussian = (
        rounded_up(lambda: terms.gaussian(lambda: _pair_sensitivity(terms.k, shared, changed))) if shared else 0.0
    )
    if not new:
        return gaussian, gaussian
    if not shared:
        vanishes = rounded_up(lambda: (1 - nats(terms.epsilon).exp() * (1 - terms.released(new))).max(arb_of(0)))
        return released, vanishes
    bound = _pair_bound(terms, released, shared, changed)
    k, sigma, tau = terms.k, float(terms.noise.sigma.high), float(terms.tau)
    a, b = pair_deltas(Pair(k**0.5, sigma, tau, shared, changed, new), float(terms.epsilon), bound)
    return min(bound, max(a, released)), min(bound, b)


def csh_pair_delta(
    k: int, sigma: object, tau: object, epsilon: object, *, shared: int, changed: int, new: int
) -> tuple[float, float]:
    """Return the exact delta of one pair of neighbours, in both directions.

    The supremum over the values of the shared counters is meant, which is approached as these grow.

    Parameters
    ----------
    k, sigma, tau, epsilon
        As for `csh_delta`.
    shared : int
        Counters that are not 0 in both data sets.
    changed : int
        Those of them that differ, by 1.
    new : int
        Counters that are 0 in one data set and 1 in the other; ``shared + new`` is at most k.

    Returns
    -------
    appears, vanishes : float
        The least delta with ``Q(S) <= exp(epsilon) P(S) + delta`` for all S, Q being the data set with the new
        counters, and with P and Q exchanged. Rounded up where there are no shared or no new counters; elsewhere with
        four times the estimated error of the quadrature, and 1e-11 of the result, on top, and never above the proved
        bound.

    Raises
    ------
    InputError
        For a value outside its range.

    Examples
    --------
    >>> appears, vanishes = csh_pair_delta(3, 1, 2, 0.35, shared=2, changed=1, new=1)
    >>> round(appears, 9), round(vanishes, 9)
    (0.239352328, 0.228918101)
    """
    terms = _Terms(Sparse.of(k, sigma), checked_tau(tau), checked_epsilon(epsilon))
    counts = {"shared": shared, "changed": changed, "new": new}
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise InputError(f"{name} is {shorten(count)}; accepted: a whole number, at least 0")
    if changed > shared or shared + new > k:
        raise InputError(
            f"shared is {shared}, changed {changed} and new {new}; accepted: changed at most shared, and shared + new "
            f"at most k = {k}"
        )
    return _pair(terms, shared, changed, new)


def csh_threshold(k: int, sigma: object, epsilon: object, delta: object, analysis: str = "proved") -> float:
    """Return the least threshold tau with which the mechanism is (epsilon, delta)-private by an analysis.

    Parameters
    ----------
    k, sigma, epsilon, analysis
        As for `csh_delta`.
    delta : number or str
        From 5e-324 to 1, exclusive.

    Returns
    -------
    float
        Not negative. `csh_delta` of it is at most delta; that of ``tau (1 - 1e-13)`` is not.

    Raises
    ------
    InputError
        For a value outside these ranges, and where sigma is so small that no threshold reaches delta.
    LimitError
        As for `csh_delta`.

    Examples
    --------
    >>> [round(csh_threshold(10, 28.23253992, 0.35, 1e-5, name), 4) for name in ("proved", "theorem-12")]
    [153.9614, 210.5161]
    """
    noise, target = Sparse.of(k, sigma), reachable_delta(delta)
    e, name = checked_epsilon(epsilon), chosen(analysis, ANALYSES)
    return required_tau(
        lambda tau: _delta(_Terms(noise, checked_tau(tau), e), name, _STEPS, target),
        _gaussian_alone(noise, e, name),
        _deviation(noise.k, float(noise.sigma.high)),
        target,
        "csh_least_sigma",
    )


def _deviation(k: int, sigma: float) -> float:
    return float(sigma * (1 + k**-0.5) ** 0.5)


def _gaussian_alone(noise: Sparse, epsilon: Epsilon, analysis: str) -> float:
    terms = _Terms(noise, Fraction(0), epsilon)
    return rounded_up(terms.lemma_8 if analysis in _PAPER else lambda: terms.shared(noise.k))


def csh_least_sigma(k: int, epsilon: object, delta: object, analysis: str = "proved") -> float:
    """Return the least sigma for which any threshold is (epsilon, delta)-private by an analysis.

    It is that of the correlated Gaussian mechanism, rounded up: with the sensitivity ``sqrt(k + sqrt(k)) / 2`` of CSH
    Lemma 8 for the theorems of the paper, and with the exact one, which is at most that, for the others.

    Parameters
    ----------
    k, epsilon, analysis
        As for `csh_delta`.
    delta : number or str
        From 5e-324 to 1, exclusive.

    Returns
    -------
    float

    Raises
    ------
    InputError
        For a value outside these ranges, or a target that takes more than ``2^1000``.

    Examples
    --------
    >>> round(csh_least_sigma(10, 0.35, 1e-5), 6), round(csh_least_sigma(10, 0.35, 1e-5, "theorem-11"), 6)
    (17.659577, 17.695454)
    """
    counters, e, name = checked_sparsity(k), checked_epsilon(epsilon), chosen(analysis, ANALYSES)
    return least_noise(lambda sigma: _gaussian_alone(Sparse.of(counters, sigma), e, name), reachable_delta(delta))


def csh_best(k: int, epsilon: object, delta: object, analysis: str = "proved") -> tuple[float, float]:
    """Return the pair (sigma, tau) with the least tau among those that are (epsilon, delta)-private by an analysis.

    Parameters
    ----------
    k, epsilon, analysis
        As for `csh_delta`.
    delta : number or str
        From 5e-324 to 1, exclusive.

    Returns
    -------
    sigma, tau : float
        Private as they are; tau is least to about 1e-6 of it.

    Raises
    ------
    InputError
        As for `csh_least_sigma`.
    LimitError
        As for `csh_delta`.

    Examples
    --------
    >>> sigma, tau = csh_best(10, 0.35, 1e-5, "theorem-11")
    >>> round(sigma, 2), round(tau, 3)
    (18.26, 141.764)
    """
    counters, target = checked_sparsity(k), reachable_delta(delta)
    e, name = checked_epsilon(epsilon), chosen(analysis, ANALYSES)

    def rough(sigma: float, places: float) -> float | None:
        noise = Sparse.of(counters, sigma)

        def delta_of(tau: float) -> float:
            return _rough_delta(_Terms(noise, checked_tau(tau), e), name, target)

        return least_tau(delta_of, _deviation(counters, sigma), target, places)

    return best_pair(
        lambda sigma: csh_threshold(counters, sigma, e, target, name),
        rough,
        csh_least_sigma(counters, e, target, name),
    )


def _rough_delta(terms: _Terms, analysis: str, target: Fraction) -> float:
    """Return a delta that serves to compare thresholds, in a fraction of the time."""
    if analysis in _PAPER:
        return _delta(terms, analysis, _FEW_STEPS)
    ends = max(rounded_up(lambda: terms.jensen(terms.k)), rounded_up(lambda: terms.shared(terms.k)))
    if analysis != "proved" or not meets(ends, target):
        return ends
    return greatest_over_splits(terms.k, ends, [_by(terms, terms.jensen)], _FEW_STEPS)
