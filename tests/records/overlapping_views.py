"""Random views that overlap, with random mechanisms, and what their reports are about."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from mechdesign.records.combined_tables import CombinedEstimator, WhitenedView
from mechdesign.records.table_space import TableSpace, ViewCells


def all_cells(sizes):
    return np.indices(sizes).reshape(len(sizes), -1).T


def views_of(sizes, sets, lost=()):
    """Views of some sets of attributes, without the combinations that are lost: a set, and the values."""
    found = []
    for attributes in sets:
        cells = all_cells([sizes[each] for each in attributes])
        gone = [values for of, values in lost if tuple(of) == tuple(attributes)]
        kept = [cell for cell in cells.tolist() if tuple(cell) not in map(tuple, gone)]
        found.append(ViewCells(tuple(attributes), np.array(kept)))
    return TableSpace(tuple(sizes), tuple(found))


def pairs_of(sizes):
    return views_of(sizes, list(combinations(range(len(sizes)), 2)))


def tables_of(space, joint):
    """The tables of all views, one after another, of a joint law."""
    parts = []
    for view in space.views:
        others = tuple(each for each in range(joint.ndim) if each not in view.attributes)
        marginal = joint.sum(axis=others).transpose(np.argsort(np.argsort(view.attributes)))
        parts.append(marginal[tuple(view.cells.T)])
    return np.concatenate(parts)


def matrices_of(space, rng, outputs=2):
    """A random mechanism for each view, with a few more outputs than inputs."""
    return [
        0.2 / (len(view) + outputs) + 0.8 * rng.dirichlet(np.full(len(view) + outputs, 0.3), len(view))
        for view in space.views
    ]


def laws_of(space, matrices, tables):
    """The laws of reports of all views, one after another."""
    return np.concatenate([tables[space.part(at)] @ matrix for at, matrix in enumerate(matrices)])


def estimator_at(space, matrices, tables, sizes):
    views = [WhitenedView.at(matrix, tables[space.part(at)] @ matrix) for at, matrix in enumerate(matrices)]
    return CombinedEstimator(space, tuple(views), np.asarray(sizes, dtype=float))


def joint_of(sizes, rng):
    return rng.dirichlet(np.full(int(np.prod(sizes)), 0.7)).reshape(sizes)
