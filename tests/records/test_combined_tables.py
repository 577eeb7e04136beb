"""Reports about views that overlap, combined: against constrained least squares, a closed form and simulation."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechdesign.records.combined_weights import CombinedError
from mechdesign.records.table_space import TableSpace
from tests.helpers.refusals import raises
from tests.records.overlapping_views import (
    estimator_at,
    joint_of,
    laws_of,
    matrices_of,
    pairs_of,
    tables_of,
    views_of,
)

SIZES = (2, 3, 2)


def case(seed, sizes=SIZES, sets=None):
    rng = np.random.default_rng(seed)
    space = pairs_of(sizes) if sets is None else views_of(sizes, sets)
    matrices = matrices_of(space, rng)
    return rng, space, matrices, tables_of(space, joint_of(sizes, rng))


def covariance_of_views(space, matrices, tables, sizes):
    """That of estimates of each view from its own reports alone."""
    result = np.zeros((len(tables),) * 2)
    for at, (matrix, size) in enumerate(zip(matrices, sizes, strict=True)):
        own = tables[space.part(at)]
        information = matrix / (own @ matrix) @ matrix.T
        result[space.part(at), space.part(at)] = (np.linalg.inv(information) - np.outer(own, own)) / size
    return result


@given(st.integers(0, 2**32 - 1), st.sampled_from([((0, 1), (1, 2)), ((0, 1, 2), (0, 2)), ((0,), (0, 1)), ((0, 1),)]))
def test_tables_agree_and_sum_to_1_and_have_no_bias_whatever_the_joint_law(seed, sets):
    rng, space, matrices, reference = case(seed, sets=sets)
    estimator = estimator_at(space, matrices, reference, rng.integers(1, 100, len(space.views)))
    truth = tables_of(space, joint_of(SIZES, rng))
    assert estimator.tables(laws_of(space, matrices, truth)) == pytest.approx(truth, abs=1e-9)
    fractions = np.concatenate([rng.dirichlet(np.ones(matrix.shape[1])) for matrix in matrices])
    found = estimator.tables(fractions)
    assert all(found[space.part(at)].sum() == pytest.approx(1) for at in range(len(space.views)))
    for one, other in combinations(range(len(space.views)), 2):
        shared = sorted(set(space.views[one].attributes) & set(space.views[other].attributes))
        if shared:
            assert found @ space.sums(shared, one) == pytest.approx(found @ space.sums(shared, other), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_the_covariance_is_that_of_constrained_least_squares(seed):
    """The estimates of each view by itself, projected onto tables that agree, in the metric of their covariance."""
    rng, space, matrices, tables = case(seed)
    sizes = rng.integers(50, 100, len(space.views)).astype(float)
    estimator = estimator_at(space, matrices, tables, sizes)
    laws = laws_of(space, matrices, tables)
    found = estimator.directions @ estimator.covariance(laws) @ estimator.directions.T
    alone = covariance_of_views(space, matrices, tables, sizes)
    rows, _ = space._equations()
    across = rows @ alone @ rows.T
    expected = alone - alone @ rows.T @ np.linalg.pinv(across, rcond=1e-10) @ rows @ alone
    assert found == pytest.approx(expected, abs=1e-9 * alone.max())
    assert np.trace(found) < np.trace(alone)


def test_views_of_different_attributes_gain_nothing():
    """Theorem 3: the estimate of each table is that of its own reports, and so is the error."""
    _, space, matrices, tables = case(1, sets=((0,), (1,), (2,)))
    sizes = np.array([30.0, 40.0, 50.0])
    estimator = estimator_at(space, matrices, tables, sizes)
    found = estimator.directions @ estimator.covariance(laws_of(space, matrices, tables)) @ estimator.directions.T
    assert found == pytest.approx(covariance_of_views(space, matrices, tables, sizes), abs=1e-9)


def test_the_error_at_another_law_is_that_of_simulated_reports():
    rng, space, matrices, reference = case(3)
    truth, sizes = tables_of(space, joint_of(SIZES, rng)), np.array([3000, 2000, 4000])
    estimator = estimator_at(space, matrices, reference, sizes)
    laws = laws_of(space, matrices, truth)
    blocks = np.split(laws, estimator.starts[1:-1])
    runs = 4000
    drawn = [rng.multinomial(n, law / law.sum(), runs) / n for n, law in zip(sizes.tolist(), blocks, strict=True)]
    errors = np.array([estimator.tables(each) for each in np.concatenate(drawn, axis=1)]) - truth
    squares = (errors**2).sum(axis=1)
    covariance = estimator.covariance(laws)
    assert abs(squares.mean() - np.trace(covariance)) < 4 * squares.std() / np.sqrt(runs)
    along = errors @ estimator.directions
    assert along.T @ along / runs == pytest.approx(covariance, abs=0.1 * np.diag(covariance).max())


def test_a_view_without_reports_leaves_its_pair_open_and_not_its_marginals():
    _, space, matrices, tables = case(4)
    estimator = estimator_at(space, matrices, tables, [10, 0, 10])
    assert not estimator.identifiable(np.eye(space.starts[-1])[:, space.part(1)]).any()
    assert estimator.identifiable(space.sums((0,), 1)).all()
    assert estimator.identifiable(space.sums((2,), 1)).all()
    without = estimator_at(
        views_of(SIZES, ((0, 1), (1, 2))), [matrices[0], matrices[2]], np.delete(tables, space.part(1)), [10, 10]
    )
    laws = laws_of(space, matrices, tables)
    found = estimator.directions @ estimator.covariance(laws) @ estimator.directions.T
    assert np.trace(found[space.part(0), space.part(0)]) == pytest.approx(
        np.trace(
            (
                without.directions
                @ without.covariance(np.delete(laws, slice(*estimator.starts[1:3])))
                @ without.directions.T
            )[:6, :6]
        )
    )


def test_combinations_that_are_impossible_in_one_view_are_0_in_all():
    space = views_of(SIZES, ((0, 1), (1, 2)), lost=[((0, 1), (0, 2)), ((0, 1), (1, 2))])
    assert space.possible.tolist() == [True] * 4 + [True] * 4 + [False] * 2
    assert space.origin[~space.possible] == pytest.approx(0)
    assert np.abs(space.basis[~space.possible]).max() < 1e-12
    assert space.basis.shape == (10, 5)  # three attributes of two values, and two interactions


def test_views_with_nothing_in_common_are_refused():
    lost = [((0, 1), (a, b)) for a in range(2) for b in (0, 1)] + [((1, 2), (2, c)) for c in range(2)]
    space = views_of(SIZES, ((0, 1), (1, 2)), lost=lost)
    with raises("labels-differ"):
        _ = space.basis


def test_too_many_cells_are_refused_with_their_number():
    views = views_of((70, 60, 2), ((0, 1), (1, 2))).views
    with raises("too-much-work", "4,320", "4,000"):
        _ = TableSpace((70, 60, 2), views).basis


class TestWeights:
    def test_the_search_is_as_good_as_a_fine_grid_and_its_bound_is_below_all_weights(self):
        _, space, matrices, tables = case(6)
        estimator = estimator_at(space, matrices, tables, np.ones(3))
        error = CombinedError(space, estimator.views)
        found = error.least(np.ones(3), close=1e-7)
        grid = [np.array([a, b, 50 - a - b]) / 50 for a in range(1, 49) for b in range(1, 50 - a)]
        values = [error.at(weights)[0] for weights in grid]
        assert found.error == pytest.approx(min(values), rel=2e-3)
        assert found.error <= min(values)
        assert found.least <= found.error <= found.least * (1 + 1e-7)
        assert found.weights.sum() == pytest.approx(1)

    @given(st.integers(0, 2**32 - 1))
    def test_no_weights_are_better_than_the_bound_and_no_step_is_worse(self, seed):
        rng, space, matrices, tables = case(seed, sets=((0, 1), (1, 2), (0,)))
        error = CombinedError(space, estimator_at(space, matrices, tables, np.ones(3)).views)
        weights, other = rng.dirichlet(np.ones(3), 2) + 1e-3
        value, slopes = error.at(weights)
        assert weights @ slopes == pytest.approx(value)
        assert value**2 / slopes.max() <= error.at(other / other.sum())[0] * (1 + 1e-9)
        step = weights / weights.sum() * np.sqrt(slopes)
        assert error.at(step / step.sum())[0] <= error.at(weights / weights.sum())[0] * (1 + 1e-9)

    def test_the_error_is_the_trace_of_the_covariance(self):
        _, space, matrices, tables = case(7)
        weights = np.array([0.2, 0.5, 0.3])
        estimator = estimator_at(space, matrices, tables, weights)
        expected = np.trace(estimator.covariance(laws_of(space, matrices, tables)))
        assert CombinedError(space, estimator.views).at(weights)[0] == pytest.approx(expected)
        one = space.sums((1,), 0)
        along = estimator.directions.T @ one
        single = np.trace(along.T @ estimator.covariance(laws_of(space, matrices, tables)) @ along)
        assert CombinedError(space, estimator.views, one).at(weights)[0] == pytest.approx(single)

    def test_views_that_do_not_tell_their_tables_are_refused(self):
        _, space, matrices, tables = case(8, sets=((0, 1),))
        matrices[0][1] = matrices[0][0]
        with raises("not-identifiable"):
            CombinedError(space, estimator_at(space, matrices, tables, np.ones(1)).views).at(np.ones(1))
