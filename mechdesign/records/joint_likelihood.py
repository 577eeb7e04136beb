"""Tables that are not negative and agree: those of the joint law of greatest likelihood, with a certificate.

The likelihood of reports about views depends on the tables of the views alone, and is concave in them. It is maximised
over all joint laws of the possible records. Tables that maximise it are the best among all that some joint law has:
no model is assumed. (All positive tables that a joint law has are also those of a log-linear law with a factor a view,
so that the fit of this model is the same wherever it exists.)

With theta the joint law, w the fractions of all reports and ``p = A^T theta`` the conditions of the optimum are those
of `mechdesign.deploy.likelihood`. But the matrix A has a row for each record, and is never formed: ``A = Q K``, Q the
cells of each record and K the mechanisms of the views. The system ``diag(s / theta) + Q J Q^T`` of a Newton step, J the
information about cells, is solved in the number of cells (Woodbury).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InputError, LimitError, SolverError
from mechdesign.numerics.arrays import Floats
from mechdesign.records.table_space import TableSpace

MOST_RECORDS = 1_000_000
GAP = 1e-3
"""Nats by which the likelihood found may be below the greatest; its statistical error is of the order of the cells."""
_MOST_STEPS = 200
_TO_BORDER = 0.99
_LEAST_PRODUCT = 0.01  # p v stays above this multiple of w


@dataclass(frozen=True, eq=False)
class JointFit:
    """Tables of greatest likelihood.

    Attributes
    ----------
    tables : array, shape (cells,)
        Those of all views, one after another.
    gap : float
        The log-likelihood is within this of the greatest of any joint law, in nats.
    steps : int
        Of the search.
    """

    tables: Floats
    gap: float
    steps: int


class PossibleRecords:
    """The records that no view makes impossible, by their cell in each view.

    Raises
    ------
    LimitError
        If the attributes have more than 10^6 combinations.
    """

    def __init__(self, space: TableSpace) -> None:
        used = sorted({each for view in space.views for each in view.attributes})
        sizes = [space.sizes[each] for each in used]
        if math.prod(sizes) > MOST_RECORDS:
            raise LimitError.too_much_work(
                f"the {len(used)} attributes that views tie together have {math.prod(sizes):,} combinations; accepted "
                f"for tables that agree and are not negative: {MOST_RECORDS:,}, so take the linear estimates"
            )
        numbers = np.arange(math.prod(sizes))
        values = dict(zip(used, np.unravel_index(numbers, sizes), strict=True))
        cells = []
        for view in space.views:
            shape = [space.sizes[each] for each in view.attributes]
            table = np.full(shape, -1, dtype=np.intp)
            table[tuple(view.cells.T)] = np.arange(len(view))
            cells.append(table[tuple(values[each] for each in view.attributes)])
        possible = np.all([each >= 0 for each in cells], axis=0)
        self.cells: tuple[NDArray[np.intp], ...] = tuple(each[possible] for each in cells)
        self.starts = space.starts

    def __len__(self) -> int:
        return len(self.cells[0])

    def tables(self, law: Floats) -> Floats:
        """Return the tables of a joint law, or of any numbers, shape (records,) to (cells,)."""
        parts = zip(self.cells, np.diff(self.starts), strict=True)
        return np.concatenate([np.bincount(each, law, size) for each, size in parts])

    def spread(self, cells: Floats) -> Floats:
        """Return the sum over views of numbers of the cells of each record, shape (cells,) to (records,)."""
        total = np.zeros(len(self))
        for start, each in zip(self.starts, self.cells, strict=False):
            total += cells[start + each]
        return total

    def gram(self, law: Floats) -> Floats:
        """Return how much mass lies in each two cells at once, shape (cells, cells)."""
        result = np.zeros((self.starts[-1],) * 2)
        ends = list(zip(self.starts, self.starts[1:], strict=False))
        for one, (start, end) in enumerate(ends):
            for other, (low, high) in enumerate(ends[: one + 1]):
                codes = self.cells[one] * (high - low) + self.cells[other]
                block = np.bincount(codes, law, (end - start) * (high - low)).reshape(end - start, -1)
                result[start:end, low:high] = block
                result[low:high, start:end] = block.T
        return result


@dataclass(frozen=True, eq=False)
class _Reported:
    """Reports that came, with what each says of the cells: blocks of the mechanisms."""

    matrices: tuple[Floats, ...]
    fractions: Floats
    starts: NDArray[np.intp]

    @classmethod
    def of(cls, matrices: Sequence[Floats], counts: Sequence[Floats]) -> _Reported:
        seen = [np.asarray(each) > 0 for each in counts]
        kept = tuple(matrix[:, own] for matrix, own in zip(matrices, seen, strict=True))
        some = np.concatenate([np.asarray(each)[own] for each, own in zip(counts, seen, strict=True)])
        return cls(kept, some / some.sum(), np.cumsum([0, *(own.sum() for own in seen)]))

    def _blocks(self, numbers: Floats) -> list[Floats]:
        return np.split(numbers, self.starts[1:-1])

    def laws(self, tables: Floats, starts: Sequence[int]) -> Floats:
        """Return the laws of reports at tables."""
        blocks = zip(np.split(tables, starts[1:-1]), self.matrices, strict=True)
        return np.concatenate([table @ matrix for table, matrix in blocks])

    def means(self, prices: Floats) -> Floats:
        """Return the mean of prices of reports for each cell."""
        blocks = zip(self.matrices, self._blocks(prices), strict=True)
        return np.concatenate([matrix @ price for matrix, price in blocks])

    def roots(self, weights: Floats) -> list[Floats]:
        """Return for each view a square R with ``R R^T = K diag(weights) K^T``."""
        found = []
        for matrix, own in zip(self.matrices, self._blocks(weights), strict=True):
            rows = (matrix * np.sqrt(own)).T
            found.append(np.linalg.qr(rows)[1].T if len(rows) else np.zeros((len(matrix), 1)))
        return found


@dataclass(frozen=True, eq=False)
class _JointIterate:
    """A joint law, its slacks, and the prices of reports."""

    law: Floats
    slacks: Floats
    prices: Floats


def joint_fit(
    space: TableSpace,
    matrices: Sequence[Floats],
    counts: Sequence[Floats],
    gap: float = GAP,
    progress: Callable[[str], None] | None = None,
) -> JointFit:
    """Return the tables of greatest likelihood of all joint laws.

    Parameters
    ----------
    space : TableSpace
        The views.
    matrices : sequence of arrays, shapes (N, M)
        The mechanism of each view.
    counts : sequence of arrays, shapes (M,)
        How often each report about each view came.
    gap : float
        The search ends when the log-likelihood is proved to be within this of the greatest, in nats.
    progress : callable, optional
        Called with one line at each step.

    Raises
    ------
    InputError
        For reports that no record makes which all views take as possible.
    LimitError
        If the attributes have more than 10^6 combinations.
    SolverError
        If the gap is not reached in 200 steps.

    Notes
    -----
    The likelihood is concave, so that the greatest is at most ``n log max_x sum_r K(r | x) w_r / p_r`` above that at p.
    """
    records, reported = PossibleRecords(space), _Reported.of(matrices, counts)
    n, w = sum(float(np.sum(each)) for each in counts), reported.fractions
    law = np.full(len(records), 1 / len(records))
    tables = records.tables(law)
    p = reported.laws(tables, space.starts)
    if not (p > 0).all():
        raise InputError.labels_differ(
            "reports came that no record makes which all views take as possible; give the views the same values of "
            "each attribute, or take the linear estimates"
        )
    point = _JointIterate(law, np.ones(len(law)), w / p)
    best, least = tables, math.inf
    for step in range(_MOST_STEPS):
        total = float(point.law.sum())
        tables = records.tables(point.law)
        p = reported.laws(tables, space.starts)
        above = n * max(math.log(float(records.spread(reported.means(w / p)).max()) * total), 0.0)
        if above < least:
            best, least = tables / total, above
        if least <= gap:
            return JointFit(best, least, step)
        if progress is not None:
            progress(f"fitting tables of one joint law of {len(law):,} records: within {least:.2g} nats, to be {gap:g}")
        point = _step(records, reported, point, p)
    raise SolverError.not_converged(
        f"the likelihood found may be {least:.3g} nats below the greatest; accepted: {gap:g}; take the linear estimates"
    )


_Steps = tuple[Floats, Floats, Floats, Floats]


def _step(records: PossibleRecords, reported: _Reported, at: _JointIterate, p: Floats) -> _JointIterate:
    """Return the next point: a predictor step, then the step that corrects for its curvature."""
    theta, s, v, w = at.law, at.slacks, at.prices, reported.fractions
    residual = records.spread(reported.means(v)) + s - 1
    solved = _solver(records, reported.roots(v / p), theta / s)

    def direction(slack_target: Floats | float, price_target: Floats) -> _Steps:
        lack = (slack_target - theta * s) / theta
        pull = records.spread(reported.means((price_target - v * p) / p))
        d_theta = solved(residual + pull + lack)
        d_p = reported.laws(records.tables(d_theta), records.starts)
        d_v = (price_target - v * p - v * d_p) / p
        d_s = np.where(s > theta, -residual - records.spread(reported.means(d_v)), lack - s / theta * d_theta)
        return d_theta, d_s, d_p, d_v

    def lengths(steps: _Steps) -> tuple[float, float]:
        """Return how far the law and its reports may go, and how far slacks and prices may."""
        d_theta, d_s, d_p, d_v = steps
        return _reach((d_theta / theta, d_p / p)), _reach((d_s / s, d_v / v))

    ahead = direction(0.0, w)
    first, second = lengths(ahead)
    mean = float((theta * s).mean())
    left = float(((theta + first * ahead[0]) * (s + second * ahead[1])).mean())
    curved = first * second
    price_target = np.clip(w - curved * ahead[2] * ahead[3], 0.1 * w, 10 * w)
    steps = direction((left / mean) ** 3 * mean - curved * ahead[0] * ahead[1], price_target)
    first, second = lengths(steps)
    while ((v + second * steps[3]) * (p + first * steps[2]) < _LEAST_PRODUCT * w).any() and first > _LEAST_PRODUCT:
        first, second = 0.8 * first, 0.8 * second
    return _JointIterate(theta + first * steps[0], s + second * steps[1], v + second * steps[3])


def _reach(relative: tuple[Floats, Floats]) -> float:
    least = min(float(each.min()) for each in relative)
    return min(1.0, _TO_BORDER / max(-least, _TO_BORDER))


def _solver(records: PossibleRecords, roots: list[Floats], widths: Floats) -> Callable[[Floats], Floats]:
    """Return what solves ``diag(1 / widths) + Q R R^T Q^T``."""
    from scipy.linalg import block_diag, cho_factor, cho_solve

    inner, ends = records.gram(widths), np.cumsum([0, *(root.shape[1] for root in roots)])
    rows = [root.T @ inner[start : start + len(root)] for start, root in zip(records.starts, roots, strict=False)]
    half = np.concatenate(rows)
    inner = np.empty((len(half),) * 2)
    for start, root, first, end in zip(records.starts, roots, ends, ends[1:], strict=False):
        inner[:, first:end] = half[:, start : start + len(root)] @ root
    inner[np.diag_indices_from(inner)] += 1.0
    factor, root = cho_factor(inner, lower=True, overwrite_a=True, check_finite=False), block_diag(*roots)

    def solved(right: Floats) -> Floats:
        first = widths * right
        middle = root @ cho_solve(factor, root.T @ records.tables(first), check_finite=False)
        result: Floats = first - widths * records.spread(middle)
        return result

    return solved
