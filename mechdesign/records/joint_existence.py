"""Whether any joint law has all views in their sets, where any two of them agree on what they share.

Three tables may agree two by two and belong to no joint law: of three fair bits each two of which always differ there
is no law. **Lemma.** *Let the set of view i lie in the l1 ball of radius r_i around c_i, and let vectors u_i on the
cells of the views have*

    ``sum_i <u_i, c_i> - r_i (max u_i - min u_i)/2  >  max over records x of  sum_i u_i(f_i(x))``.

*Then no joint law has all views in their sets.* Proof. For a joint law P with views q_i the mean of the right side is
``sum_i <u_i, q_i>``, and ``<u_i, q_i - c_i> >= -r_i (max u_i - min u_i)/2``, as q_i - c_i sums to 0. QED

A linear program over the records looks for such vectors; where it finds some, they are rounded to whole numbers, and
the inequality is checked in rationals. Where the balls are known tables this finds every contradiction beyond the
tolerance of the program (Farkas).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from mechdesign.numerics.linear_program import LinearProgram
from mechdesign.records.record_views import split
from mechdesign.uncertainty import L1Ball, UncertaintySet

MOST_RECORDS = 20_000
"""Combinations of the labels of views that are tied together, up to which a joint law is looked for."""
_LEAST = 1e-7  # of the inequality, in floats
_BITS = 24
_View = tuple[str, Sequence[str], UncertaintySet]
_Places = NDArray[np.int64]


@dataclass(frozen=True)
class NoJointLaw:
    """Views whose tables belong to no joint law, though any two of them may agree.

    Attributes
    ----------
    views : tuple of str
        Their names.
    """

    views: tuple[str, ...]

    def contradiction(self) -> str:
        """Return what is wrong."""
        return (
            f"no joint law has the tables of the views {', '.join(self.views)} together, though any two of them agree, "
            "so the promise is for nobody; count all views in the same records"
        )


def no_joint_law(views: Iterable[_View]) -> NoJointLaw | None:
    """Return views that no joint law has together in their sets; None where none are found.

    Parameters
    ----------
    views : iterable of (name, attributes, set of priors)
        As for `mechdesign.records.shared_tables.shared_tables`. Views that are tied together by attributes that they
        share are looked at if their records are at most 20,000; sets that are no l1 balls are left out.

    Examples
    --------
    >>> differ = L1Ball.from_counts({"0 & 1": 40, "1 & 0": 40, "0 & 0": 10, "1 & 1": 10}, known=True)
    >>> pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    >>> no_joint_law([("+".join(pair), pair, differ) for pair in pairs]).views
    ('a+b', 'a+c', 'b+c')
    >>> no_joint_law([("+".join(pair), pair, differ) for pair in pairs[:2]]) is None
    True
    """
    for tied in _tied([view for view in views if view[2].l1_ball is not None and not view[2].holds_every_prior]):
        if len(tied) > 2:  # what two say is compared exactly
            cells = _cells(tied)
            if cells is not None and (found := _contradiction(tied, cells)):
                return found
    return None


def _tied(views: Sequence[_View]) -> list[list[_View]]:
    """Return the views in parts that share no attribute."""
    found: list[list[_View]] = []
    for view in views:
        those = [part for part in found if any(set(view[1]) & set(other[1]) for other in part)]
        found = [part for part in found if part not in those] + [[other for part in those for other in part] + [view]]
    return found


def _cells(views: Sequence[_View]) -> _Places | None:
    """Return the cell of each view for each record that every view knows, (records, views); None for too many."""
    labels: dict[str, dict[str, None]] = {}
    cells = [{split(label, len(own)): k for k, label in enumerate(known.labels)} for _, own, known in views]
    for (_, attributes, _), own in zip(views, cells, strict=True):
        for combination in own:
            for name, label in zip(attributes, combination, strict=True):
                labels.setdefault(name, {})[label] = None
    if math.prod(map(len, labels.values())) > MOST_RECORDS:
        return None
    order = list(labels)
    places = [[order.index(name) for name in attributes] for _, attributes, _ in views]
    found = []
    for record in product(*labels.values()):
        shown = [own.get(tuple(record[k] for k in where), -1) for own, where in zip(cells, places, strict=True)]
        if min(shown) >= 0:
            found.append(shown)
    return np.array(found, dtype=np.int64).reshape(-1, len(views))


def _contradiction(views: Sequence[_View], cells: _Places) -> NoJointLaw | None:
    """Return the views, if vectors prove that no joint law has their tables."""
    names, balls = tuple(name for name, _, _ in views), [known.l1_ball for _, _, known in views]
    told = [ball for ball in balls if ball is not None]
    if not len(cells):
        return NoJointLaw(names)
    ends = [0, *np.cumsum([ball.size for ball in told]).tolist()]
    vectors = _vectors(told, cells, ends)
    if vectors is None:
        return None
    whole = np.rint(vectors * (1 << _BITS)).astype(np.int64)
    least = Fraction(-int(whole[cells + np.array(ends[:-1])].sum(axis=1).max()))
    for ball, (start, end) in zip(told, pairwise(ends), strict=True):
        own = whole[start:end].tolist()
        least += sum((mass * value for mass, value in zip(ball.center, own, strict=True)), Fraction(0))
        least -= Fraction(ball.radius) * (max(own) - min(own)) / 2
    used = tuple(name for name, (start, end) in zip(names, pairwise(ends), strict=True) if np.ptp(whole[start:end]))
    return NoJointLaw(used or names) if least > 0 else None


def _vectors(balls: Sequence[L1Ball], cells: _Places, ends: Sequence[int]) -> NDArray[np.float64] | None:
    """Return vectors in [-1, 1], one after another, that may prove it; None where there are none."""
    from scipy.sparse import csr_array

    total, views = ends[-1], len(balls)
    radii = np.array([float(ball.radius) for ball in balls])
    program = LinearProgram(greatest=True)
    # The vectors, then the greatest and the least entry of each, and the greatest sum over records.
    centers = np.concatenate([np.array(ball.center, dtype=float) for ball in balls])
    costs = np.concatenate([centers, -radii / 2, radii / 2, [-1.0]])
    program.add_columns(
        costs, np.append(-np.ones(total + 2 * views), -views), np.append(np.ones(total + 2 * views), views)
    )
    of = np.repeat(np.arange(views), np.diff(ends))
    each, ones, many = np.arange(total), np.ones(total), len(cells)
    for sign, first in ((1.0, total), (-1.0, total + views)):
        rows, columns = np.concatenate([each, each]), np.concatenate([each, first + of])
        limits = csr_array((np.concatenate([sign * ones, -sign * ones]), (rows, columns)), (total, len(costs)))
        program.add_rows(limits, -math.inf, 0.0)
    rows = np.repeat(np.arange(many), views + 1)
    columns = np.concatenate([cells + np.array(ends[:-1]), np.full((many, 1), len(costs) - 1)], axis=1).ravel()
    entries = np.tile(np.append(np.ones(views), -1.0), many)
    program.add_rows(csr_array((entries, (rows, columns)), (many, len(costs))), -math.inf, 0.0)
    found = program.solved()
    return found.x[:total] if found.optimal and found.value > _LEAST else None
