"""Exact pricing of polyhedral utilities under a promise about a secret: weights of valid rows for each guess.

Every joint distribution within the limits gives a row ``g = e P - A_s`` for each value s of the secret, and the columns
that keep the promise have ``<g, v> >= 0`` for all of them. With ``a = P g_w - lambda`` for a guess w and any weights
``y_k >= 0`` of rows,

    <a, v>  <=  r <P, v>,    r = max over i of ( a_i + sum_k y_k g_ki ) / P_i,

for every v of the cone. A linear program over the rows found so far proposes the weights; the row that its best column
breaks most is added until none is broken. r is then computed from the weights in rationals: poor weights make the bound
weaker, but never false. A promise from below adds the rows ``A_s - a P``. With a cap, ``a = exp(-cap)``, all entries
lie between a times the greatest one and that, so that with ``d = a_w + sum_k y_k g_k``

    r = max over sets T of ( sum over T of d_i + a sum over the others of d_i ) / ( P(T) + a (1 - P(T)) ),

which is attained where T are the symbols of the greatest ``d_i / P_i``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from operator import mul

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.exact import float_down, over_common_denominator
from mechdesign.numerics.linear_program import minimum
from mechdesign.optimize.deadline import time_is_up
from mechdesign.uncertainty import SecretPromise
from mechdesign.uncertainty.base import Floor

_MOST_ROUNDS = 500
_BROKEN = 1e-11  # of <P, v>: a row that is broken by less is not added

Row = tuple[Fraction, ...]


class SecretLevels:
    """The greatest ``<a, v>`` with ``<P, v> = 1`` for one guess after the other; rows that were found are kept.

    Parameters
    ----------
    known : SecretPromise
        With limits or without.
    exp_epsilon : float
        exp(epsilon).
    floor : Floor
        What is asked from below.

    Examples
    --------
    >>> levels = SecretLevels(SecretPromise([[3, 1], [1, 3]], known=True), 1.25, Floor(Fraction(0)))
    >>> levels.level([Fraction(1), Fraction(0)])
    Fraction(3, 2)
    """

    def __init__(self, known: SecretPromise, exp_epsilon: float, floor: Floor) -> None:
        self._known, self._e, self._least_lift = known, Fraction(exp_epsilon), floor.of_lifts
        self._least = float_down(floor.of_entries)
        self._rows: list[Row] = []
        self._floats: Floats = np.empty((0, known.size))
        self._add(known.rows_at([1] * known.size, self._e, self._least_lift))

    def level(self, a: Sequence[Fraction], deadline: float | None = None) -> Fraction:
        """Return a level that ``<a, v>`` does not exceed for any column of the cone with ``<P, v> = 1``.

        After a deadline, a time of `time.monotonic`, no row is looked for, and then none is weighted.
        """
        P = self._known.center
        if time_is_up(deadline):
            return self._proved(a)
        objective = np.array([float(x / p) for x, p in zip(a, P, strict=True)])
        for _ in range(_MOST_ROUNDS):
            weights, posterior = self._solved(objective)
            column, _ = over_common_denominator(
                Fraction(w) / p for w, p in zip(np.maximum(posterior, 0.0).tolist(), P, strict=True)
            )
            mass = sum(map(mul, P, column))
            broken = [
                row
                for row in self._known.rows_at(column, self._e, self._least_lift)
                if sum(map(mul, row, column)) < -_BROKEN * mass
            ]
            if not self._add(broken) or time_is_up(deadline):
                break
        used = [(Fraction(y), self._rows[k]) for k, y in enumerate(weights.tolist()) if y > 0]
        return self._proved([x + sum((y * row[i] for y, row in used), Fraction(0)) for i, x in enumerate(a)])

    def _proved(self, weighted: Sequence[Fraction]) -> Fraction:
        """Return the greatest ``<d, v>`` with ``<P, v> = 1`` of all columns that keep the cap; without one, of all."""
        pairs = list(zip(weighted, self._known.center, strict=True))
        if self._least == 0:
            return max(d / p for d, p in pairs)
        pairs.sort(key=lambda pair: pair[0] / pair[1], reverse=True)
        a, levels = Fraction(self._least), []
        gain, mass = a * sum(weighted), a
        for d, p in pairs:
            gain, mass = gain + (1 - a) * d, mass + (1 - a) * p
            levels.append(gain / mass)
        return max(levels)

    def _add(self, rows: Sequence[Row]) -> bool:
        """Hold rows, and return whether there is a new one."""
        held = set(self._rows)
        new = [row for row in dict.fromkeys(rows) if row not in held]
        scaled = [[float(x / p) for x, p in zip(row, self._known.center, strict=True)] for row in new]
        self._rows += new
        self._floats = np.vstack([self._floats, *([np.array(scaled)] if scaled else [])])
        return bool(new)

    def _solved(self, objective: Floats) -> tuple[Floats, Floats]:
        """Return the weights of the rows, and the best column, as what each symbol has of its mass."""
        R, N = self._floats.shape
        rows, whole, costs = -self._floats, np.ones((1, N)), -objective
        if self._least > 0:  # the last variable is the greatest entry
            entries, tops = np.diag(1 / self._known.prior), np.ones((N, 1))
            rows = np.block([[rows, np.zeros((R, 1))], [entries, -tops], [-entries, self._least * tops]])
            whole, costs = np.append(whole, [[0.0]], axis=1), np.append(costs, 0.0)
        found = minimum(costs, at_most=(rows, np.zeros(len(rows))), equal=(whole, [1.0]))
        found.required("the price of a guess", "change epsilon a little")
        return np.maximum(-found.prices[:R], 0.0), found.x[:N]
