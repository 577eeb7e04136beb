"""A good separable certificate for many symbols: columns are priced, held, and the dual is solved again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize.deadline import time_is_up, with_time_for
from mechdesign.optimize.estimation.caps import best_caps, multipliers_of_caps
from mechdesign.optimize.estimation.form_certificate import lower_bound, root_trace_down, total_up
from mechdesign.optimize.estimation.linear_oracle import LinearOracle
from mechdesign.optimize.estimation.separable import SeparablePricing
from mechdesign.optimize.estimation.separable_dual import DualPoint, RestrictedDual
from mechdesign.optimize.master import Master, spread
from mechdesign.optimize.pricing.price import Price
from mechdesign.optimize.start import start_columns
from mechdesign.uncertainty import L1Ball
from mechdesign.utility import ChiSquare

_INWARD = 0.3  # how far points are moved to the best one so far before they are priced
_MOST_ROUNDS = 80
_MOST_SYMBOLS = 400
_CENTRAL = 0.5  # the tolerance of the restricted dual, relative to the gap: points inside give better prices
_FAR = 1.0  # room for the first point
_FIRST_GAP = 0.1  # relative, where the limit is not known
_MOST_QUICK = 3  # restricted duals between two prices
_ASCENTS = 6
_ENTERING = 3  # columns for each symbol
_CLOSE = 3e-4
_RISE = 1e-4  # relative: a bound that rises by less in some rounds has stalled
_PATIENCE, _PATIENCE_ENOUGH = 8, 5  # such rounds, and where the bound is enough already
_FOR_THE_BOUND = 1.0  # seconds after the deadline, in which the last price may improve the bound
_HELD = 12  # columns for each symbol that are held from round to round
_EACH_ITSELF = 150  # symbols up to which each has its own d and lambda
_KNOTS = 40  # masses between which both are linear in the logarithm of the mass, beyond
_NEW = 1e-9  # a column of which more than this share is outside the span of others adds a direction


@dataclass(frozen=True, eq=False)
class SeparableCertificate:
    """A form and multipliers, and the lower bound that they prove.

    Attributes
    ----------
    form : QuadraticForm
        Theta.
    multipliers : array, shape (N,)
        lambda.
    lower_bound : float
        Of the error of every mechanism; rounded down.
    limit : float
        About the greatest bound of any separable form, from above: more rounds cannot give more.
    price : Price
        Of the form and lambda.
    held : array, shape (N, k)
        The columns that are held at the end.
    rounds : int
        How often columns were priced.
    """

    form: QuadraticForm
    multipliers: Floats
    lower_bound: float
    limit: float
    price: Price
    held: Floats
    rounds: int


def certificate_for_many(
    pricing: SeparablePricing,
    workload: Floats,
    begin: Floats | SeparableCertificate,
    deadline: float | None,
    progress: Callable[[str], None] = lambda _: None,
    close: float = _CLOSE,
    enough: float = np.inf,
    error: float = np.inf,
) -> SeparableCertificate:
    """Return the best separable certificate that rounds of pricing find.

    Parameters
    ----------
    pricing : SeparablePricing
        Of the problem.
    workload : array, shape (q, N)
        W.
    begin : array, shape (N, k), or SeparableCertificate
        Columns of the cone with ``<P, v> = 1`` to begin with, best those of a good mechanism; there may be none. Or a
        certificate of the same problem to go on from, with the columns to begin with as those held.
    deadline : float or None
        No round, and no step of one, begins after this time of `time.monotonic`.
    progress : callable
        Called with one line for each round.
    close : float
        The relative distance of the bound from its limit at which to stop.
    enough : float
        A bound from which on the search stops as soon as it gains little. If a ball with a cap does not reach it,
        rounds with the wider cone for P alone follow.
    error : float
        Of a mechanism that is known: no bound is greater, and the search stops where one comes close to it.

    Examples
    --------
    >>> from mechdesign import L1Ball
    >>> pricing = SeparablePricing(L1Ball.from_counts([4, 3, 2, 1], known=True), 2.0)
    >>> found = certificate_for_many(pricing, np.eye(4), np.empty((4, 0)), None)
    >>> 0 < found.lower_bound <= found.limit * (1 + 1e-6)
    True
    """
    found = _Rounds(pricing, workload, progress, deadline, close, enough, error).run(begin)
    if not found.lower_bound < enough < np.inf or not pricing.has_wider or time_is_up(deadline):
        return found
    wider = replace(pricing, ball=L1Ball(pricing.ball.center))
    alone = _Rounds(wider, workload, progress, deadline, close, np.inf, error).run(found.held)
    return max(found, alone, key=lambda certificate: certificate.lower_bound)


def spanning(columns: Floats) -> Floats:
    """Return some of the columns that keep the restricted dual bounded.

    (1,...,1) is a sum of these with positive weights, and they span as many directions as all columns whose weights can
    be positive in such a sum. Each program looks for weights of columns outside of the span so far.

    Parameters
    ----------
    columns : array, shape (N, k)
        Some weights of theirs give the sum (1,...,1).

    Raises
    ------
    SolverError
        If a linear program fails.

    Examples
    --------
    >>> columns = np.array([[1.0, 1.0, 2.0, 0.0], [1.0, 0.5, 0.0, 2.0]])
    >>> spanning(columns)
    array([[2., 0.],
           [0., 2.]])
    """
    N = len(columns)
    chosen = np.zeros(columns.shape[1], dtype=bool)
    outside = columns
    for _ in range(N):
        program = Master(N)
        program.add(spread(columns), np.linalg.norm(outside, axis=0))
        program.solve()
        further = (program.weights > 0) & ~chosen
        if not further.any():
            break
        chosen |= further
        axes, sizes, _ = np.linalg.svd(columns[:, chosen], full_matrices=False)
        axes = axes[:, sizes > _NEW * sizes[0]]
        outside = columns - axes @ (axes.T @ columns)
        outside[:, np.linalg.norm(outside, axis=0) <= _NEW * np.linalg.norm(columns, axis=0)] = 0.0
        if axes.shape[1] == N or not outside.any():
            break
    result: Floats = columns[:, chosen]
    return result


def keep_bounded(columns: Floats, weights: Floats) -> bool:
    """Return whether columns keep the restricted dual bounded, as weights near the given ones show.

    They do if they span all directions, and (1,...,1) is a sum of them with positive weights: here the given weights
    changed by least squares, relative to their roots.
    """
    roots = np.sqrt(weights)
    change, _, rank, _ = np.linalg.lstsq(columns * roots, 1 - columns @ weights, rcond=_NEW)
    return bool(rank == len(columns) and (roots + change > 0).all())


class _Rounds:
    """Rounds of solving the restricted dual and of pricing."""

    def __init__(
        self,
        pricing: SeparablePricing,
        workload: Floats,
        progress: Callable[[str], None],
        deadline: float | None,
        close: float,
        enough: float,
        error: float,
    ) -> None:
        self.pricing, self.workload, self.progress = pricing, workload, progress
        self.deadline, self.close, self.enough, self.error = deadline, close, enough, error
        self.prior, self.N = pricing.ball.prior, pricing.ball.size
        self.dual = RestrictedDual(self.prior, workload, pricing.cone.only_d or pricing.cone.least > 0)
        self.oracle = LinearOracle(pricing.cone)
        self.rng = np.random.default_rng(0)

    def run(self, begin: Floats | SeparableCertificate) -> SeparableCertificate:
        """Return the best certificate: that of the caps where it is close, and otherwise the best of rounds."""
        diagonal = best_caps(self.prior, self.pricing.limits, self.workload, self.deadline)
        caps = self._proved(QuadraticForm(diagonal), multipliers_of_caps(diagonal, self.pricing.limits), self.deadline)
        best, held = caps, begin if isinstance(begin, np.ndarray) else begin.held
        if isinstance(begin, SeparableCertificate):
            known = self._of_price(begin.form, begin.multipliers, begin.price)
            best = max(caps, known, key=lambda proved: proved.bound)
        # Nothing is asked, nothing can be told, or a step of the restricted dual would take too long.
        hopeless = not 0 < best.bound < np.inf or self.N > _MOST_SYMBOLS
        if hopeless or time_is_up(self.deadline) or self.error - best.bound <= self.close * self.error < np.inf:
            best = best if hopeless else self._priced_again(best)
            return best.certificate(self.error, held, 0)
        if self.N > _EACH_ITSELF:
            self.dual = replace(self.dual, families=_families(self.prior, diagonal, self.pricing.limits))
        return self._searched(best, caps, held)

    def _searched(self, best: _Proved, caps: _Proved, held_columns: Floats) -> SeparableCertificate:
        """Return the best certificate of rounds that begin near the one of the caps."""
        center = best.parameters(self.dual)
        held = all_first = np.hstack([held_columns, self._start(), best.price.best])
        x = first = self._first(caps, held)
        if not self.dual.takes(first):  # numbers of the form are too far apart for floats
            return self._priced_again(best).certificate(self.error, held, 0)
        limit, gap, rounds = self.error, _FIRST_GAP, 0
        level, since = best.bound, 0
        for number in range(1, _MOST_ROUNDS + 1):
            for _ in range(_MOST_QUICK):
                room = _FAR if x is first else gap
                point = self.dual.solve(held, x, max(_CENTRAL * gap, 1e-6), room, self.deadline)
                if not point.converged:
                    break
                x, limit = point.parameters, min(limit, point.limit)
                entering = self._quick(point, held)
                if time_is_up(self.deadline) or entering.shape[1] == 0:
                    break
                held = np.hstack([_kept(self.dual, held, point.weights, all_first), entering])
            if time_is_up(self.deadline):
                break
            rounds = number
            y = (1 - _INWARD) * x + _INWARD * center
            found = self._proved(*self.dual.parts(y), self.deadline, 0.1 * gap)
            if found.bound > best.bound:
                best, center = found, found.parameters(self.dual)
            if limit < best.bound:  # the restricted dual knows its limit up to its own residuals only
                limit = self.error
            gap = max((limit - best.bound) / limit, 1e-6) if limit < np.inf else _FIRST_GAP
            self.progress(
                f"round {rounds}: lower bound {best.bound:.6g}, at most {limit:.6g}, {held.shape[1]} columns held"
            )
            if best.bound > level * (1 + _RISE):
                level, since = best.bound, rounds
            stalled = rounds - since >= (_PATIENCE_ENOUGH if best.bound >= self.enough else _PATIENCE)
            if gap < self.close or stalled or time_is_up(self.deadline):
                break
            if point.converged and point.weights.size == held.shape[1]:
                held = _kept(self.dual, held, point.weights, all_first)
            held = np.hstack([held, found.price.best])
            if not point.converged:
                x = first
        return self._priced_again(best).certificate(limit, held, rounds)

    def _priced_again(self, best: _Proved) -> _Proved:
        """Return what the price proves that anybody gets who has the form and lambda alone, if there is time for it."""
        whole = self._proved(best.form, best.multipliers, with_time_for(self.deadline, _FOR_THE_BOUND))
        return max(best, whole, key=lambda proved: proved.bound)

    def _first(self, caps: _Proved, held: Floats) -> Floats:
        """Return parameters inside the domain of the dual, to begin with.

        Their d is that of the caps. Their lambda too, unless a multiple of P has the lesser sum where held columns keep
        their conditions: columns that differ little from 1 are far below their caps.
        """
        diagonal = _floored(caps.form.diagonal)
        multipliers, scale = multipliers_of_caps(diagonal, self.pricing.limits), caps.root / caps.total
        values = QuadraticForm(diagonal).values(held - 1)
        highest = float(values.max())
        if highest < float(multipliers.sum() + (values - multipliers @ held).max()):
            multipliers, scale = highest * self.prior, (caps.root / highest) ** 2
        return self.dual.joined(scale * diagonal, 0.0, scale * multipliers)

    def _start(self) -> Floats:
        """Return columns whose weighted sum is (1,...,1), and others that differ at every symbol."""
        N, P = self.N, self.prior
        samples = self.rng.standard_normal((N, 6 * N)) * np.sqrt(P / (P + P.max()) + 1e-9)[:, None]
        functions = np.hstack([samples * np.sqrt(np.maximum(P, 1e-12))[:, None], np.eye(N), -np.eye(N)])
        pricing = self.pricing
        windows = start_columns(pricing.ball, pricing.exp_epsilon, ChiSquare(), pricing.floor)
        return np.hstack([windows, self.oracle.best(functions)])

    def _quick(self, point: DualPoint, held: Floats) -> Floats:
        """Return columns that violate their conditions, found by ascent from the columns in use.

        A convex form is greatest at a ray: each step goes to the ray that is best for the gradient.
        """
        form, lam = point.form, point.multipliers
        used = held[:, np.argsort(-point.weights, kind="stable")[: 4 * self.dual.size]]
        size = used.std(axis=1, keepdims=True)
        v = np.hstack([used, used + size * self.rng.standard_normal(used.shape)])
        for _ in range(_ASCENTS):
            moved = v - 1
            v = self.oracle.best(2 * (form.diagonal[:, None] * moved + form.common * moved.sum(axis=0)) - lam[:, None])
        values = form.values(v - 1) - lam @ v
        order = np.argsort(-values, kind="stable")
        _, once = np.unique(values[order].round(10), return_index=True)
        order = order[np.sort(once)]
        order = order[values[order] > 3e-2 * (point.limit - point.value) + 1e-6 * abs(point.value)]
        result: Floats = v[:, order[: _ENTERING * self.dual.size]]
        return result

    def _proved(
        self, form: QuadraticForm, multipliers: Floats, deadline: float | None, near: float | None = None
    ) -> _Proved:
        return self._of_price(form, multipliers, self.pricing.price(form, multipliers, 6 * self.N, near, deadline))

    def _of_price(self, form: QuadraticForm, multipliers: Floats, price: Price) -> _Proved:
        root, eta = root_trace_down(form, self.prior, self.workload)
        total = total_up(multipliers, price.upper, eta, self.pricing.limits)
        return _Proved(lower_bound(root, total), form, multipliers, total, root, price)


@dataclass(frozen=True, eq=False)
class _Proved:
    """A bound, and what it follows from."""

    bound: float
    form: QuadraticForm
    multipliers: Floats
    total: float
    root: float
    price: Price

    def certificate(self, limit: float, held: Floats, rounds: int) -> SeparableCertificate:
        """Return the same with what the search for it knows at its end."""
        return SeparableCertificate(self.form, self.multipliers, self.bound, limit, self.price, held, rounds)

    def parameters(self, dual: RestrictedDual) -> Floats:
        """Return the form and lambda as a point of the restricted dual.

        Points of rounds are at the best scale, where root and total are the same. That of the caps is not: at its best
        scale rounds were better for some small epsilons, and worse for others.

        lambda is moved along P until no column is above its condition, so that points between these parameters and
        others are as near to satisfying all conditions as can be.
        """
        scale, moved = self.root / self.total, self.multipliers + self.price.upper * dual.prior
        return scale * dual.joined(self.form.diagonal, self.form.common, moved)


def _floored(diagonal: Floats) -> Floats:
    """Return d with no entry far below the greatest."""
    result: Floats = np.maximum(diagonal, 1e-3 * diagonal.max())
    return result


def _families(prior: Floats, diagonal: Floats, limits: Floats) -> Floats:
    """Return an orthonormal basis of few functions of the mass of a symbol, each times the d of `best_caps`.

    The functions are linear in the logarithm of the mass between the masses of some symbols, which are close together
    where few symbols are heavy. P and the multipliers of the caps are in their span too.
    """
    logs = np.log(np.maximum(prior, 1e-12))
    ranks = np.unique(np.geomspace(1, prior.size, _KNOTS).round().astype(int)) - 1
    knots = np.unique(np.sort(logs)[::-1][ranks])
    hats = np.column_stack([np.interp(logs, knots, unit) for unit in np.eye(knots.size)])
    floored = _floored(diagonal)
    functions = np.column_stack([hats * floored[:, None], prior, multipliers_of_caps(floored, limits)])
    axes, sizes, _ = np.linalg.svd(functions / np.linalg.norm(functions, axis=0), full_matrices=False)
    result: Floats = axes[:, sizes > _NEW * sizes[0]]
    return result


def _kept(dual: RestrictedDual, held: Floats, weights: Floats, all_first: Floats) -> Floats:
    """Return the columns of the greatest weights, and those of the first round where the dual needs them."""
    most = _HELD * len(held)
    if held.shape[1] <= most:
        return held
    order = np.argsort(-weights, kind="stable")[:most]
    result: Floats = held[:, order]
    if dual.families is not None:  # few numbers are searched for, so that all first columns take no time
        return np.hstack([all_first, result])
    return result if keep_bounded(result, weights[order]) else np.hstack([spanning(all_first), result])
