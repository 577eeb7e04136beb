"""What no mechanism with the same promise of leakage falls below, for one string and for all strings together.

Reports are random vectors v of mean 1, ``v_x = K(y|x)/<P, K(y|.)>``. For every mechanism that is epsilon-PML for a set
that contains P, ``0 <= v_x <= u_x = min(exp(epsilon), 1/P_x)``. So ``E (v_x - 1)^2 <= r_x = u_x - 1``, by the chord.
Under local differential privacy with exp(E) as well, ``v_x >= exp(-E)``, and ``r_x = (u_x - 1)(1 - exp(-E))``.

**One string.** ``n Var >= (1 - P_x)^2 / r_x`` for estimates that are unbiased near P: along ``P + t (e_x - P)`` the
share moves by ``1 - P_x``, and the Fisher information of a report there is ``E (v_x - 1)^2`` (Cramer and Rao).

**All strings.** For every ``d >= 0`` the sum of n Var is at least ``(tr M^(1/2))^2 / sum d_x r_x``, where
``M = T diag(d) T'`` and ``T = I - P 1'`` (`mechdesign.optimize.estimation.caps`). M is diagonal but for rank two, so
that ``q(z) = tr M (M + z)^-1`` takes a few sums over the strings. And for every step h and all l > 0

    (2h/pi) * sum over integers k of  l t_k / (l + t_k^2)  <=  (1 + rho) l^(1/2),    t_k = exp(h k),

with ``rho = 2 * sum over m >= 1 of sech(pi^2 m / h)``: in x = log(l)/2 the left side over l^(1/2) is the sum of
``(h/pi) sech(h k - x)``, whose Fourier series Poisson's formula gives. Every term is positive, so a finite sum is below
too, and ``tr M^(1/2) >= (2h/pi)/(1 + rho) * sum over k of t_k q(t_k^2)``. Strings of about one share get one d, which
loses next to nothing, so that a search for the best d works on some hundred numbers, however many strings there are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import float_up

_UNIT = 2.0**-53
_BINS_PER_OCTAVE = 32
_POWER = 1.2  # of the ratio that each step multiplies d by
_CLOSE = 1e-6  # relative distance of the bound from the greatest one
_MOST_STEPS = 400
_LEAST = 1e-9  # of d, relative to the greatest one, and of the ratio
_SEARCH = (0.8, 9.0)  # step h, and how far beyond the roots of d the points reach, in log t
_FINAL = (0.4, 18.0)


def string_bounds(shares: Floats, epsilon: Epsilon, cap: Epsilon | None = None) -> Floats:
    """Return what n times the variance of the share of each string is at least, rounded down.

    Parameters
    ----------
    shares : ndarray, shape (n,)
        Shares of strings, in [0, 1].
    epsilon : Epsilon
        The budget of pointwise maximal leakage.
    cap : Epsilon, optional
        The budget of local differential privacy that holds as well.

    Examples
    --------
    >>> import numpy as np
    >>> string_bounds(np.array([0.1, 0.0]), Epsilon.of("log(5)")).round(9).tolist()
    [0.2025, 0.25]
    """
    room = _room(shares, epsilon, cap)
    return np.asarray(np.maximum(1 - shares - 8 * _UNIT, 0) ** 2 / room * (1 - 8 * _UNIT))


def error_bound(shares: Floats, epsilon: Epsilon, cap: Epsilon | None = None) -> float:
    """Return what the sum of n times the variances of the shares of all strings is at least, rounded down.

    Parameters
    ----------
    shares : ndarray, shape (N,)
        Shares of all strings, of sum 1 up to rounding; 0 for strings that do not occur. The bound is proved for what
        they are when they are divided by their sum.
    epsilon : Epsilon
        The budget of pointwise maximal leakage.
    cap : Epsilon, optional
        The budget of local differential privacy that holds as well.

    Examples
    --------
    Ten strings of equal shares, and exp(epsilon) = 5: reports of two strings of which one is the true one attain
    ``(N - 1)^2 / (N (e - 1))``.

    >>> import numpy as np
    >>> round(error_bound(np.array([0.1] * 10), Epsilon.of("log(5)")), 7)
    2.025
    """
    if len(shares) < 2:
        return 0.0
    found = _Bins.of(shares, _room(shares, epsilon, cap))
    return found.bound(found.best())


def _room(shares: Floats, epsilon: Epsilon, cap: Epsilon | None) -> Floats:
    """Return r of each string, rounded up, where shares have relative errors of a unit for each of them."""
    off = 2 * (len(shares) + 8) * _UNIT
    with np.errstate(divide="ignore"):
        own = (1 - shares * (1 - off)) / (shares * (1 - off))
    lost = 1.0 if cap is None else float_up(1 - 1 / cap.exp_up)
    return np.asarray(np.minimum(float_up(epsilon.exp_up - 1), own) * lost * (1 + 8 * _UNIT))


@dataclass(frozen=True, eq=False)
class _Bins:
    """Strings by their shares: of each bin how many there are, and the sums of their P, P^2 and r."""

    number: Floats
    first: Floats
    second: Floats
    room: Floats

    @classmethod
    def of(cls, shares: Floats, room: Floats) -> _Bins:
        with np.errstate(divide="ignore"):
            places = np.round(_BINS_PER_OCTAVE * np.log2(shares))
        _, bins = np.unique(places, return_inverse=True)
        ones = np.ones(len(shares))
        return cls(*(np.bincount(bins, each).astype(np.float64) for each in (ones, shares, shares**2, room)))

    @property
    def _off(self) -> float:
        """A bound of the relative error of every sum over strings, and of the products of a few of them."""
        return 16 * (float(self.number.sum()) + 64) * _UNIT

    def bound(self, d: Floats) -> float:
        """Return the bound that d proves: the root of the trace lowered, and the sum of d r raised, by rounding."""
        root = float(self._root(d, *_FINAL)[0])
        return root**2 / float(d @ self.room) * (1 - 4 * self._off)

    def best(self) -> Floats:
        """Return the d of about the greatest bound, by a multiplicative ascent, as for caps of few categories."""
        spread = self.number - 2 * self.first + self.number.sum() * self.second  # squared lengths of columns of T
        d = (spread / spread.max() + 1e-6) * self.number / self.room**2
        best, greatest = d, -math.inf
        for _ in range(_MOST_STEPS):
            d = d / (d @ self.room)
            root, slope = self._root(d, *_SEARCH)
            if root > greatest:
                best, greatest = d, root
            ratio = 2 * slope / (self.room * root)
            if ratio.max() <= 1 + _CLOSE:
                break
            d = np.maximum(d * np.maximum(ratio, _LEAST) ** _POWER, _LEAST * d.max())
        return np.asarray(best)

    def _root(self, d: Floats, step: float, reach: float) -> tuple[float, Floats]:
        """Return a lower bound of ``tr M^(1/2)``, and its derivatives by d, without those of roundings."""
        some = np.log(d[d > 0]) / 2
        first, last = (some.min() - reach) / step, (some.max() + math.log(self.number.sum()) / 2 + reach) / step
        t = np.exp(step * np.arange(math.floor(first), math.ceil(last) + 1))
        value, slope = self._trace(d, t[:, None] ** 2)
        ripple = 2 * sum(1 / math.cosh(math.pi**2 * m / step) for m in range(1, 5))
        weight = 2 * step / math.pi / (1 + ripple) * (1 - 256 * _UNIT)
        return float(weight * np.sum(t * value)), np.asarray(weight * (t @ slope))

    def _trace(self, d: Floats, z: Floats) -> tuple[Floats, Floats]:
        """Return ``tr M (M + z)^-1``, lowered by all roundings, and its derivatives by d, for points z in a column.

        With ``r = 1/(d + z)``, ``s = sum d r``, ``a = sum P^2 r``, ``b = sum P r``, ``A = sum P^2 r^2``,
        ``B = sum P d r^2`` and ``C = sum d^2 r^2`` it is ``s + (z s A - 2 z b B - a C) / (a s + z b^2)``.
        """
        r = 1 / (d + z)
        s, a, b = (r * d) @ self.number, r @ self.second, r @ self.first
        A, B, C = r**2 @ self.second, (r**2 * d) @ self.first, (r**2 * d**2) @ self.number
        y = z[:, 0]
        below = a * s + y * b**2
        parts = np.stack([y * s * A, -2 * y * b * B, -a * C]) / below
        value = s + parts.sum(axis=0) - self._off * (s + np.abs(parts).sum(axis=0))
        ds, da, db = z * r**2 * self.number, -(r**2) * self.second, -(r**2) * self.first
        dA, dB, dC = 2 * r * da, r**3 * (z - d) * self.first, 2 * d * r * ds
        s, a, b, A, B, C, below = (each[:, None] for each in (s, a, b, A, B, C, below))
        above = z * (ds * A + s * dA) - 2 * z * (db * B + b * dB) - da * C - a * dC
        change = above - parts.sum(axis=0)[:, None] * (da * s + a * ds + 2 * z * b * db)
        return value, ds + change / below
