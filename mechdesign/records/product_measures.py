"""What no mechanism for whole records falls below, from one probability vector for each attribute.

A record x has one value of each of d attributes, and q(x) is the vector of its answers to all queries: of each view the
column of its workload for the cell that shows x. Let P be any law of records in which every combination of values is
possible, ``m(x) = q(x) - E_P q`` and eta a measure on records. Columns v of a mechanism that is epsilon-PML for P have
``<P, v> = 1`` and ``0 <= v_x <= e``, with mean 1 under the law of the report; a convex function lies below its chord:
``E (v_x - 1)^2 <= e - 1``. So Theorem 6 of docs/mathematics.md with ``Theta = diag(eta)`` says that

    E >= (tr M^(1/2))^2 / ((e - 1) eta(all)),       M = sum_x eta(x) m(x) m(x)',

where E is n times the mean squared error, summed over the queries. (With a promise from below, ``v_x >= exp(-lower)``,
the mean is at most ``(e - 1)(1 - exp(-lower))``.) M depends on P through the laws of the views alone:
one bound for *every* joint law with these laws. For a product measure ``eta = D_1 x ... x D_d`` no record is listed:

    M = W (C - c c' + (c - p)(c - p)') W',

where p stacks the laws of the views, c those under eta, C holds the joint laws of two views under eta, and W the
workloads. Blocks of views without a common attribute cancel in ``C - c c'``.

The vectors D are found by an ascent, and are the certificate; whatever they are, they prove a bound. It is computed
from them with the rounding of every sum and product counted outward.

Reports about records are reports about the cell of each view too, and errors add up: E is also at least the sum of what
holds for the queries of each view alone, whose columns have ``g_z = E[v | z] <= min(e, 1/P_z)``. The bound is the
greater one. At large epsilon, where single values cannot be told e times as well as without a report, that is the sum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import LimitError
from mechdesign.numerics.arrays import Floats
from mechdesign.numerics.epsilon import Epsilon
from mechdesign.numerics.exact import float_up
from mechdesign.numerics.threads import one_thread
from mechdesign.optimize.estimation.caps import bound_of_caps, greatest_entries
from mechdesign.optimize.estimation.form_certificate import eigenvalues_down, lower_bound

_EPS = float(np.finfo(float).eps)
_TINY = float(np.finfo(float).tiny)
_MOST_TERMS = 20_000_000  # of sums over the combinations of two views
_MOST_CELLS = 3_000  # of all views: the size of the matrix that is decomposed
_SEARCHED_CELLS = 700  # of all views, up to which each attribute has a vector of its own found
_ENDS = {"maxiter": 500, "ftol": 1e-13, "gtol": 1e-8}  # of the search
_LEAST = 1e-14  # eigenvalue that counts, relative to the greatest, in the search

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ViewQueries:
    """The queries that one view answers.

    Attributes
    ----------
    attributes : tuple of int
        The attributes that the view shows, rising.
    cells : array of int, shape (the numbers of values of these attributes)
        The cell of each combination of values.
    law : array, shape (n,)
        The law of the cells.
    workload : array, shape (q, n)
        A row for each query.
    """

    attributes: tuple[int, ...]
    cells: Places
    law: Floats
    workload: Floats


@dataclass(frozen=True, eq=False)
class RecordQueries:
    """All queries over records, and the laws of the views that answer them.

    Attributes
    ----------
    sizes : tuple of int
        The number of values of each attribute.
    views : tuple of ViewQueries
        The views; every attribute is in one at least.

    Examples
    --------
    Two fair bits. Reports about one of them, drawn at random, attain twice this at a small epsilon.

    >>> bit = np.array([0.5, 0.5])
    >>> queries = RecordQueries.one_way([bit, bit])
    >>> round(queries.bound(queries.uniform(), Epsilon.of("log(2)")), 6)
    2.0
    """

    sizes: tuple[int, ...]
    views: tuple[ViewQueries, ...]

    def __post_init__(self) -> None:
        cells = sum(view.law.size for view in self.views)
        if cells > _MOST_CELLS:
            raise LimitError.too_much_work(f"the views have {cells} cells; accepted for a bound: at most {_MOST_CELLS}")
        terms = sum(self._combinations(one, other) for one, other in self._overlaps)
        if terms > _MOST_TERMS:
            raise LimitError.too_much_work(
                f"pairs of views have {terms} combinations of values; accepted for a bound: at most {_MOST_TERMS}"
            )

    @classmethod
    def one_way(cls, laws: Sequence[Floats], workloads: Sequence[Floats] | None = None) -> RecordQueries:
        """Return the queries of one view for each attribute.

        Parameters
        ----------
        laws : sequence of arrays, shapes (N_a,)
            The law of each attribute.
        workloads : sequence of arrays, shapes (q_a, N_a), optional
            By default the frequency of every value.
        """
        given = [np.eye(law.size) for law in laws] if workloads is None else workloads
        return cls(
            tuple(law.size for law in laws),
            tuple(
                ViewQueries((place,), np.arange(law.size), np.asarray(law, float), np.asarray(workload, float))
                for place, (law, workload) in enumerate(zip(laws, given, strict=True))
            ),
        )

    def uniform(self) -> tuple[Floats, ...]:
        """Return the uniform vectors, which need no search."""
        return tuple(np.full(size, 1 / size) for size in self.sizes)

    @one_thread()
    def bound(self, measures: Sequence[Floats], epsilon: Epsilon, lower: Epsilon | None = None) -> float:
        """Return the bound that vectors prove, or the views alone where that is more, rounded down.

        Parameters
        ----------
        measures : sequence of arrays, shapes (N_a,)
            A vector of each attribute, not negative and not zero; they are divided by their sums.
        epsilon : Epsilon
            The budget of pointwise maximal leakage.
        lower : Epsilon, optional
            The promise from below, which is epsilon itself under local differential privacy.
        """
        moment, error = self._moment_in_floats([each / each.sum() for each in measures])
        roots = np.sqrt(np.maximum(eigenvalues_down(moment, error), 0.0))
        root = math.fsum(roots.tolist()) * (1 - 8 * _EPS)
        share = Fraction(1) if lower is None else 1 - 1 / lower.exp_up
        whole = lower_bound(root, float_up((epsilon.exp_up - 1) * share))
        return max(whole, self._bound_of_views(epsilon) / float_up(share) * (1 - 2 * _EPS))

    def _bound_of_views(self, epsilon: Epsilon) -> float:
        """Return the sum of a bound for the queries of each view alone, rounded down."""
        bounds = []
        for view in self.views:
            limits = greatest_entries(view.law, float_up(epsilon.exp_up))
            bounds.append(bound_of_caps(limits**-2.0, view.law, limits, view.workload))
        return math.fsum(bounds) * (1 - _EPS)

    @one_thread()
    def best_measures(self) -> tuple[Floats, ...]:
        """Return vectors of about the greatest bound of all product measures that an ascent finds; uniform at worst.

        The bound depends on epsilon through its denominator alone, so that the vectors do for every epsilon. For many
        cells the search is among powers of one-way laws.
        """
        from scipy.optimize import minimize, minimize_scalar

        if self._stacked.size > _SEARCHED_CELLS:
            found = minimize_scalar(
                lambda power: -self._root(self._powers(power))[0],
                bounds=(-0.5, 1.0),
                method="bounded",
                options={"maxiter": 12},
            )
            candidate = self._powers(float(found.x))
        else:
            start = np.zeros(sum(self.sizes))
            found = minimize(self._descent, start, jac=True, method="L-BFGS-B", options=_ENDS)
            candidate = self._measures(found.x)
        uniform = self.uniform()
        return candidate if self._root(candidate)[0] > self._root(uniform)[0] else uniform

    @cached_property
    def _overlaps(self) -> tuple[tuple[int, int], ...]:
        """The pairs of different views with a common attribute."""
        shown = [set(view.attributes) for view in self.views]
        return tuple((i, j) for i, j in combinations(range(len(shown)), 2) if shown[i] & shown[j])

    def _combinations(self, one: int, other: int) -> int:
        return int(np.prod([self.sizes[place] for place in self._together(one, other)], dtype=float))

    def _together(self, one: int, other: int) -> tuple[int, ...]:
        return tuple(sorted({*self.views[one].attributes, *self.views[other].attributes}))

    @cached_property
    def _starts(self) -> list[int]:
        """Where the cells of each view begin, and their number."""
        return [0, *np.cumsum([view.law.size for view in self.views]).tolist()]

    @cached_property
    def _stacked(self) -> Floats:
        """The laws of all views, one after the other."""
        return np.concatenate([view.law for view in self.views])

    @cached_property
    def _workload(self) -> Floats:
        """All workloads as one matrix."""
        result = np.zeros((sum(len(view.workload) for view in self.views), self._stacked.size))
        row = 0
        for view, start in zip(self.views, self._starts, strict=False):
            result[row : row + len(view.workload), start : start + view.law.size] = view.workload
            row += len(view.workload)
        return result

    def _sums(self, measures: Sequence[Floats]) -> tuple[Floats, Floats]:
        """Return c, and C - c c' up to the rows and columns of views that do not overlap, where it is 0; as C and 0."""
        c = np.concatenate(
            [
                np.bincount(view.cells.ravel(), _product(measures, view.attributes).ravel(), view.law.size)
                for view in self.views
            ]
        )
        C = np.diag(c)
        for one, other in self._overlaps:
            rows, columns = self._span(one), self._span(other)
            shape = (self.views[one].law.size, self.views[other].law.size)
            masses = _product(measures, self._together(one, other)).ravel()
            joint = np.bincount(self._pairs(one, other), masses, shape[0] * shape[1]).reshape(shape)
            C[rows, columns], C[columns, rows] = joint, joint.T
        return c, C

    def _span(self, view: int) -> slice:
        return slice(self._starts[view], self._starts[view + 1])

    def _pairs(self, one: int, other: int) -> Places:
        """Return the number of the pair of cells of each combination of values that two views show."""
        together = self._together(one, other)
        shape = tuple(self.sizes[place] for place in together)
        first, second = (np.broadcast_to(_spread(self.views[each], together), shape) for each in (one, other))
        return np.asarray(first * self.views[other].law.size + second).ravel()

    @cached_property
    def _mask(self) -> Floats:
        """1 in the blocks of views that are the same or overlap, else 0."""
        result = np.zeros((self._stacked.size, self._stacked.size))
        for one in range(len(self.views)):
            result[self._span(one), self._span(one)] = 1
        for one, other in self._overlaps:
            result[self._span(one), self._span(other)] = result[self._span(other), self._span(one)] = 1
        return result

    def _moment_in_floats(self, measures: Sequence[Floats]) -> tuple[Floats, float]:
        """Return M, and an upper bound of the Frobenius norm of its error."""
        c, C = self._sums(measures)
        p, W = self._stacked, self._workload
        shift = c - p
        inner = C - self._mask * np.outer(c, c) + np.outer(shift, shift)
        # A sum of n positive products of d factors, each divided by a sum of N: n + d (N + 4) units of relative error.
        terms = max([view.cells.size for view in self.views] + [self._combinations(*pair) for pair in self._overlaps])
        unit = (terms + sum(size + 8 for size in self.sizes) + 32) * _EPS
        inner_error = 8 * unit * (C + np.outer(c + p, c + p))
        reach = np.abs(W)
        moment = W @ inner @ W.T
        error = reach @ (inner_error + 2 * (p.size + 16) * _EPS * np.abs(inner)) @ reach.T
        underflow = p.size**2 * _TINY * max(1.0, float(reach.max(initial=0.0)) ** 2)
        return (moment + moment.T) / 2, float(np.linalg.norm(error)) * (1 + 4 * p.size * _EPS) + underflow * len(W)

    def _root(self, measures: Sequence[Floats]) -> tuple[float, Floats, Floats]:
        """Return ``tr M^(1/2)``, c, and the derivative of the root by the entries of the matrix between W and W'."""
        c, C = self._sums(measures)
        shift = c - self._stacked
        W = self._workload
        values, vectors = np.linalg.eigh(W @ (C - self._mask * np.outer(c, c) + np.outer(shift, shift)) @ W.T)
        kept = values > _LEAST * max(values[-1], _TINY)
        roots = np.sqrt(values[kept])
        images = W.T @ vectors[:, kept]
        return float(roots.sum()), c, (images / (2 * roots)) @ images.T

    def _descent(self, exponents: Floats) -> tuple[float, Floats]:
        """Return minus the logarithm of the root, and its gradient, for measures that are softmax of exponents."""
        measures = self._measures(exponents)
        root, c, slope = self._root(measures)
        of_c = np.diag(slope) - 2 * (slope * self._mask) @ c + 2 * slope @ (c - self._stacked)
        gradient = [np.zeros(size) for size in self.sizes]
        for number, view in enumerate(self.views):
            _add(gradient, of_c[self._span(number)][view.cells], measures, view.attributes)
        for one, other in self._overlaps:
            block = 2 * slope[self._span(one), self._span(other)]
            together = self._together(one, other)
            shape = tuple(self.sizes[place] for place in together)
            _add(gradient, block.ravel()[self._pairs(one, other)].reshape(shape), measures, together)
        parts = [each * (by - each @ by) for each, by in zip(measures, gradient, strict=True)]
        return -float(np.log(root)), -np.concatenate(parts) / root

    def _measures(self, exponents: Floats) -> tuple[Floats, ...]:
        parts = np.split(exponents, np.cumsum(self.sizes)[:-1])
        powers = [np.exp(part - part.max()) for part in parts]
        return tuple(each / each.sum() for each in powers)

    def _powers(self, power: float) -> tuple[Floats, ...]:
        """Return one-way laws to a power."""
        masses = [np.maximum(law, 1e-9) ** power for law in self._one_way_laws]
        return tuple(each / each.sum() for each in masses)

    @cached_property
    def _one_way_laws(self) -> tuple[Floats, ...]:
        """A law of each attribute, from a view that shows it; the mass of a cell is parted equally."""
        found: dict[int, Floats] = {}
        for view in self.views:
            share = view.law / np.bincount(view.cells.ravel(), minlength=view.law.size)
            for axis, place in enumerate(view.attributes):
                others = tuple(each for each in range(len(view.attributes)) if each != axis)
                found.setdefault(place, share[view.cells].sum(axis=others))
        return tuple(found[place] for place in range(len(self.sizes)))


def _product(measures: Sequence[Floats], attributes: Sequence[int]) -> Floats:
    """Return the product measure on some attributes, an axis for each."""
    result: Floats = np.ones(())
    for place in attributes:
        result = np.multiply.outer(result, measures[place])
    return result


def _spread(view: ViewQueries, together: Sequence[int]) -> Places:
    """Return the cells of a view with an axis for each of some attributes, of length 1 where it does not show it."""
    shape = [view.cells.shape[view.attributes.index(place)] if place in view.attributes else 1 for place in together]
    return view.cells.reshape(shape)


def _add(gradient: Sequence[Floats], slopes: Floats, measures: Sequence[Floats], attributes: Sequence[int]) -> None:
    """Add to a gradient by measures that of a sum of slopes times the product measure on some attributes."""
    for axis, place in enumerate(attributes):
        rest = slopes
        for other in reversed(range(len(attributes))):  # the last axis first, so that axes keep their places
            if other != axis:
                rest = np.tensordot(rest, measures[attributes[other]], axes=(other, 0))
        gradient[place][:] += rest
