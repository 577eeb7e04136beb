"""The exact delta of the correlated sparse histogram, one pair of neighbours at a time."""

from __future__ import annotations

from fractions import Fraction

from mechdesign.errors import InputError, LimitError, shorten
from mechdesign.histogram.calibration import Sparse, checked_epsilon, checked_tau
from mechdesign.histogram.csh_quadrature import Pair, pair_deltas
from mechdesign.histogram.csh_terms import EXTREMES, CshTerms
from mechdesign.histogram.hockey_stick import Ball, SplitBound, rounded_up
from mechdesign.numerics.epsilon import nats
from mechdesign.numerics.exact import arb_of

_MOST_PAIRS = 300  # pairs of neighbours, and bounds on them, each of which takes some milliseconds


class OpenPairs:
    """The pairs of a split that the proved bound leaves open: one for each number of shared counters that change."""

    def __init__(self, terms: CshTerms, proved: SplitBound, ends: float) -> None:
        self.terms, self.proved, self.best, self.left = terms, proved, ends, _MOST_PAIRS

    def bound(self, new: int, shared: int) -> float:
        """Return the proved bound of a split."""
        self._spend()
        return self.proved(new, shared)

    def _spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise LimitError.too_much_work(
                f"the exact delta for k = {self.terms.k} takes more than {_MOST_PAIRS} pairs of neighbours; give "
                f"analysis='proved' for a proved bound, or analysis={EXTREMES!r} for a value that is not proved"
            )

    def greatest(self, new: int, shared: int) -> float:
        """Return the greatest delta of the pairs of a split, or a greater one that was found before."""
        released = rounded_up(lambda: self.terms.released(new))
        for changed in range(shared + 1):
            if _pair_bound(self.terms, released, shared, changed) <= self.best:
                continue
            self._spend()
            self.best = max(self.best, *_pair(self.terms, shared, changed, new))
        return self.best


def _pair_sensitivity(k: int, shared: int, changed: int) -> Ball:
    return (changed - changed * changed / (arb_of(k).sqrt() + shared)).sqrt()


def _pair_bound(terms: CshTerms, released: float, shared: int, changed: int) -> float:
    """Return the proved bound of one pair."""
    return rounded_up(
        lambda: arb_of(Fraction(released)) + terms.gaussian(lambda: _pair_sensitivity(terms.k, shared, changed))
    )


def _pair(terms: CshTerms, shared: int, changed: int, new: int) -> tuple[float, float]:
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

    It is the supremum over the values of the shared counters, which is approached as these grow.

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
        counters, and with P and Q exchanged. Rounded up where there are no shared or no new counters. Elsewhere four
        times the estimated error of the quadrature and 1e-11 of the result are added; never above the proved bound.

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
    terms = CshTerms(Sparse.of(k, sigma), checked_tau(tau), checked_epsilon(epsilon))
    counts = {"shared": shared, "changed": changed, "new": new}
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise InputError.not_a_whole_number(f"{name} is {shorten(count)}; accepted: a whole number, at least 0")
    if changed > shared or shared + new > k:
        raise InputError.out_of_range(
            f"shared is {shared}, changed {changed} and new {new}; accepted: changed at most shared, and shared + new "
            f"at most k = {k}"
        )
    return _pair(terms, shared, changed, new)
