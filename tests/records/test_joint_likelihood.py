"""Tables of greatest likelihood: against the method for matrices over all records, and by their certificate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repetitions import examples

from mechdesign.deploy.likelihood import maximum_likelihood
from mechdesign.records.joint_likelihood import PossibleRecords, joint_fit
from mechdesign.records.table_space import TableSpace, ViewCells
from tests.helpers.refusals import raises
from tests.records.overlapping_views import joint_of, matrices_of, pairs_of, tables_of, views_of

SIZES = (2, 3, 2)


def drawn(space, matrices, joint, rng, n=3000):
    tables = tables_of(space, joint)
    laws = [tables[space.part(at)] @ matrix for at, matrix in enumerate(matrices)]
    return [rng.multinomial(n, law / law.sum()).astype(float) for law in laws]


def over_records(space, matrices):
    """The mechanism of whole records, a row for each possible record."""
    cells = PossibleRecords(space).cells
    return np.concatenate([matrix[own] for matrix, own in zip(matrices, cells, strict=True)], axis=1)


def log_likelihood(space, matrices, counts, tables):
    laws = [tables[space.part(at)] @ matrix for at, matrix in enumerate(matrices)]
    return sum((own[own > 0] * np.log(law[own > 0])).sum() for own, law in zip(counts, laws, strict=True))


@settings(max_examples=examples(15))
@given(st.integers(0, 2**32 - 1), st.sampled_from([3, 30, 3000, 10**6]))
def test_no_joint_law_is_likelier(seed, n):
    rng = np.random.default_rng(seed)
    space = pairs_of(SIZES)
    matrices = matrices_of(space, rng)
    counts = drawn(space, matrices, joint_of(SIZES, rng), rng, n)
    found = joint_fit(space, matrices, counts)
    best = maximum_likelihood(over_records(space, matrices) / 3, np.concatenate(counts)).frequencies
    greatest = log_likelihood(space, matrices, counts, tables_of(space, best.reshape(SIZES)))
    value = log_likelihood(space, matrices, counts, found.tables)
    assert 0 <= found.gap <= 1e-3
    assert value <= greatest + 1e-6 + 1e-9 * n
    assert greatest - value <= found.gap + 1e-6 + 1e-9 * n


def test_tables_are_not_negative_and_those_of_a_joint_law():
    """Tables that no linear estimate keeps: three attributes that agree, and differ, at once."""
    space = pairs_of((2, 2, 2))
    matrices = [np.eye(4)] * 3
    counts = [np.array([0.0, 50, 50, 0])] * 3
    found = joint_fit(space, matrices, counts).tables
    assert found.min() >= 0
    assert found == pytest.approx(np.tile([1, 2, 2, 1], 3) / 6, abs=1e-4)  # two of three differ at most


def test_impossible_records_get_nothing_and_a_view_without_reports_is_filled():
    rng = np.random.default_rng(3)
    space = views_of(SIZES, ((0, 1), (1, 2)), lost=[((0, 1), (0, 2))])
    assert len(PossibleRecords(space)) == 10
    matrices = matrices_of(space, rng)
    counts = [np.zeros(matrices[0].shape[1]), rng.multinomial(500, matrices[1].mean(axis=0)).astype(float)]
    found = joint_fit(space, matrices, counts).tables
    assert found[space.part(0)].sum() == pytest.approx(1)
    assert found[space.part(0)] @ space.sums((1,), 0)[space.part(0)] == pytest.approx(
        found[space.part(1)] @ space.sums((1,), 1)[space.part(1)]
    )


def test_the_gram_of_cells_is_that_of_the_list_of_records():
    space = pairs_of(SIZES)
    records, weights = PossibleRecords(space), np.random.default_rng(4).random(12)
    cells = np.zeros((12, space.starts[-1]))
    for start, own in zip(space.starts, records.cells, strict=False):
        cells[np.arange(12), start + own] = 1
    assert records.gram(weights) == pytest.approx(cells.T @ (weights[:, None] * cells))
    assert records.tables(weights) == pytest.approx(weights @ cells)


def test_too_many_records_are_refused_with_their_number():
    space = views_of((200, 101, 50), ((0,), (1,), (2,)))
    with raises("too-much-work", "1,010,000", "1,000,000"):
        PossibleRecords(space)


def test_a_search_that_is_stopped_says_so():
    space = views_of((2,), ((0,),))
    with raises("not-converged", "-1"):
        joint_fit(space, [np.eye(2)], [np.array([3.0, 4.0])], gap=-1)


def test_reports_that_no_possible_record_makes_are_refused():
    space = TableSpace((2, 2), (ViewCells((0,), np.array([[0], [1]])), ViewCells((0, 1), np.array([[0, 0], [0, 1]]))))
    with raises("labels-differ"):
        joint_fit(space, [np.eye(2), np.eye(2)], [np.array([3.0, 4.0]), np.array([1.0, 1.0])])


def test_each_step_is_told_until_the_gap_is_reached():
    space, lines = pairs_of((2, 2, 2)), []
    found = joint_fit(space, [np.eye(4)] * 3, [np.array([0.0, 50, 50, 0])] * 3, progress=lines.append)
    assert len(lines) == found.steps > 0
    assert lines[0].startswith("fitting tables of one joint law of 8 records: within ")
