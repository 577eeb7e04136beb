"""The bound of a product measure: against a list of all records, random mechanisms, certified optima and Adult."""

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mechdesign as md
from figures.lib.records_of_adult import ADULT, EIGHT
from mechdesign.records import product_measures
from mechdesign.records.product_measures import RecordQueries, ViewQueries
from tests.helpers.refusals import raises

SIZES = (2, 3, 2)


def law(counts):
    numbers = np.array(list(counts.values()), dtype=float)
    return numbers / numbers.sum()


def tables(joint, shown, workloads=None):
    """The queries of all cells of some tables at a joint law."""
    views = []
    for place, attributes in enumerate(shown):
        rest = tuple(axis for axis in range(joint.ndim) if axis not in attributes)
        marginal = joint.sum(axis=rest)
        W = np.eye(marginal.size) if workloads is None else workloads[place]
        views.append(ViewQueries(attributes, np.arange(marginal.size).reshape(marginal.shape), marginal.ravel(), W))
    return RecordQueries(joint.shape, tuple(views))


def listed(queries, joint):
    """W of all records, a column for each."""
    columns = []
    for record in np.ndindex(*joint.shape):
        parts = []
        for view in queries.views:
            cell = view.cells[tuple(record[place] for place in view.attributes)]
            parts.append(view.workload[:, cell])
        columns.append(np.concatenate(parts))
    return np.array(columns).T


def bound_by_list(W, P, masses, e):
    m = W - (W @ P)[:, None]
    values = np.linalg.eigvalsh((m * masses) @ m.T)
    return np.sqrt(np.maximum(values, 0)).sum() ** 2 / (masses.sum() * (e - 1))


def of_views(queries, e):
    """What the views alone prove, each by its cells with the weights 1/u^2."""
    total = 0.0
    for view in queries.views:
        u = np.minimum(e, 1 / view.law)
        m = view.workload - (view.workload @ view.law)[:, None]
        values = np.linalg.eigvalsh((m / u**2) @ m.T)
        total += np.sqrt(np.maximum(values, 0)).sum() ** 2 / ((u - 1) / u**2).sum()
    return total


def error_of(columns, P, W):
    """E of mechanisms with columns, shape (k, N, M), whose rows sum to 1."""
    J = np.einsum("kim,kjm,km->kij", columns, columns, 1 / np.einsum("i,kim->km", P, columns))
    return np.einsum("qi,kij,qj->k", W, np.linalg.inv(J), W) - ((W @ P) ** 2).sum()


def private(matrices, P, e):
    """Mechanisms as far from the constant one as they are e-private at P, at a random distance from that."""
    constant = np.einsum("i,kim->km", P, matrices)[:, None, :]
    excess = (matrices.max(axis=1) / constant[:, 0, :]).max(axis=1)  # 1 + s (excess - 1) <= e
    share = np.minimum(1, (e - 1) / (excess - 1))[:, None, None]
    return share * matrices + (1 - share) * constant


SHOWN = {"one-way": [(0,), (1,), (2,)], "pairs": [(0, 1), (1, 2)], "mixed": [(0,), (0, 1), (0, 1, 2)]}


@pytest.mark.parametrize("name", SHOWN)
def test_the_bound_is_that_of_all_records_listed(name):
    rng = np.random.default_rng(1)
    for _ in range(5):
        joint = rng.dirichlet(np.ones(12)).reshape(SIZES)
        shown = SHOWN[name]
        sizes = [math.prod(SIZES[place] for place in attributes) for attributes in shown]
        queries = tables(joint, shown, [rng.normal(size=(rng.integers(1, 4), size)) for size in sizes])
        measures = [rng.dirichlet(np.ones(size)) for size in SIZES]
        masses = np.einsum("i,j,k->ijk", *measures).ravel()
        exact = max(bound_by_list(listed(queries, joint), joint.ravel(), masses, math.e), of_views(queries, math.e))
        found = queries.bound([3 * each for each in measures], md.Epsilon.of(1))
        assert exact * (1 - 1e-6) <= found <= exact * (1 + 1e-12)


@pytest.mark.parametrize("name", SHOWN)
def test_the_search_goes_along_the_gradient(name):
    rng = np.random.default_rng(2)
    queries = tables(rng.dirichlet(np.ones(12)).reshape(SIZES), SHOWN[name])
    x = rng.normal(size=sum(SIZES))
    _, gradient = queries._descent(x)
    steps = [(queries._descent(x + h)[0] - queries._descent(x - h)[0]) / 2e-6 for h in 1e-6 * np.eye(x.size)]
    assert np.abs(gradient - steps).max() < 1e-8


@pytest.mark.parametrize("cases", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_no_private_mechanism_is_below_the_bound(cases):
    """Random mechanisms on records of 2 x 2, 3 x 2 and 2 x 2 x 2 values, at random joint laws."""
    rng = np.random.default_rng(cases)
    for sizes in [(2, 2), (3, 2), (2, 2, 2)]:
        N = math.prod(sizes)
        for epsilon in ("0.5", "1", "2", "3"):
            e = math.exp(float(epsilon))
            joint = rng.dirichlet(np.ones(N)).reshape(sizes)
            shown = [(place,) for place in range(len(sizes))]
            if epsilon == "1":
                shown.append((0, 1))
            queries = tables(joint, shown)
            bound = queries.bound(queries.best_measures(), md.Epsilon.of(epsilon))
            matrices = rng.dirichlet(np.full(N + 2, 0.15), size=(math.ceil(cases / 9), N)) + 1e-9
            matrices /= matrices.sum(axis=2, keepdims=True)
            columns = private(matrices, joint.ravel(), e)
            assert (columns.max(axis=1) <= e * (1 + 1e-9) * np.einsum("i,kim->km", joint.ravel(), columns)).all()
            errors = error_of(columns, joint.ravel(), listed(queries, joint))
            assert (errors >= bound * (1 - 1e-6)).all()


@pytest.mark.combined
@pytest.mark.parametrize("epsilon", ["0.5", "1", "2", "3"])
@pytest.mark.parametrize("sizes", [(2, 2), (3, 2)])
def test_no_certified_optimum_is_below_the_bound(sizes, epsilon):
    rng = np.random.default_rng(sum(sizes))
    for joint in (np.full(sizes, 1 / math.prod(sizes)), rng.dirichlet(np.ones(math.prod(sizes))).reshape(sizes)):
        queries = tables(joint, [(0,), (1,)])
        bound = queries.bound(queries.best_measures(), md.Epsilon.of(epsilon))
        aim = md.EstimationError(md.Workload.marginals(sizes))
        best = md.design(md.DesignProblem(md.L1Ball(joint.ravel().tolist()), epsilon, aim))
        assert best.certified
        assert bound <= best.value


@pytest.mark.parametrize(("epsilon", "views", "whole"), [("0.5", 4.7524, 4.4278), ("1", 2, 1.7715), ("2", 2, 1)])
def test_two_fair_bits(epsilon, views, whole):
    """Views are not optimal where an attribute has too few values to spend epsilon on."""
    bit = md.DesignProblem(md.L1Ball([0.5, 0.5]), epsilon, md.EstimationError())
    assert (2 * math.sqrt(md.design(bit).value)) ** 2 == pytest.approx(views, abs=5e-5)
    aim = md.EstimationError(md.Workload.marginals([2, 2]))
    assert md.design(md.DesignProblem(md.L1Ball([0.25] * 4), epsilon, aim)).value == pytest.approx(whole, abs=5e-5)
    queries = RecordQueries.one_way([np.array([0.5, 0.5])] * 2)
    assert queries.bound(queries.uniform(), md.Epsilon.of(epsilon)) <= whole + 1e-9


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("epsilon", ["3", "5"])
def test_at_large_epsilon_the_bound_is_what_views_alone_prove(epsilon, lower):
    """More than the vectors of a product measure prove."""
    joint = np.random.default_rng(4).dirichlet(np.ones(4)).reshape(2, 2)
    queries, e = tables(joint, [(0,), (1,), (0, 1)]), math.exp(float(epsilon))
    alone = of_views(queries, e) / (1 - 1 / e if lower else 1)
    given = md.Epsilon.of(epsilon)
    found = queries.bound(queries.best_measures(), given, given if lower else None)
    assert alone * (1 - 1e-6) < found <= alone * (1 + 1e-12)
    masses = np.outer(*queries.best_measures()).ravel()
    assert bound_by_list(listed(queries, joint), joint.ravel(), masses, e) < 0.9 * found * (1 - math.exp(-3))


def test_two_fair_bits_at_large_epsilon_are_worth_no_more_than_what_is_proved():
    bits = RecordQueries.one_way([np.array([0.5, 0.5])] * 2)
    aim = md.EstimationError(md.Workload.marginals([2, 2]))
    best = md.design(md.DesignProblem(md.L1Ball([0.25] * 4), 2, aim)).value
    assert bits.bound(bits.uniform(), md.Epsilon.of(2)) == pytest.approx(best, rel=1e-6)


def test_uniform_attributes_attain_the_bound():
    """N_a/e whole: subset selection of N_a/e values in each view; nothing better whatever the joint law."""
    queries = RecordQueries.one_way([np.full(4, 0.25), np.full(6, 1 / 6)])
    attained = sum((N - 1) / math.sqrt(N) for N in (4, 6)) ** 2
    found = queries.bound(queries.best_measures(), md.Epsilon.of("log(2)"))
    assert attained * (1 - 1e-6) < found <= attained


def test_local_differential_privacy_raises_the_bound_and_no_optimum_is_below():
    joint = np.array([[0.3, 0.2, 0.1], [0.1, 0.1, 0.2]])
    queries = tables(joint, [(0,), (1,)])
    measures, epsilon = queries.best_measures(), md.Epsilon.of(1)
    bound = queries.bound(measures, epsilon, epsilon)
    assert bound == pytest.approx(queries.bound(measures, epsilon) / (1 - math.exp(-1)))
    aim = md.EstimationError(md.Workload.marginals([2, 3]))
    best = md.design(md.DesignProblem(md.L1Ball(joint.ravel().tolist(), 2), 1, aim))
    assert best.certified
    assert bound <= best.value


@pytest.mark.parametrize(
    ("columns", "at_uniform", "best"),
    [(EIGHT, (525.545, 198.414, 53.361), (534.2, 201.7, 54.24)), (tuple(ADULT), None, (984.6, 371.7, 99.97))],
)
def test_bounds_of_adult(columns, at_uniform, best):
    queries = RecordQueries.one_way([law(ADULT[name]) for name in columns])
    measures = queries.best_measures()
    for place, epsilon in enumerate(("0.5", "1", "2")):
        found = queries.bound(measures, md.Epsilon.of(epsilon))
        assert best[place] <= found < 1.001 * best[place]
        if at_uniform:
            assert queries.bound(queries.uniform(), md.Epsilon.of(epsilon)) == pytest.approx(
                at_uniform[place], abs=1e-3
            )


def test_values_scale_the_bound_and_many_cells_are_searched_among_powers(monkeypatch):
    monkeypatch.setattr(product_measures, "_SEARCHED_CELLS", 50)
    rng = np.random.default_rng(3)
    laws = [rng.dirichlet(np.ones(24)) for _ in range(3)]
    queries = RecordQueries.one_way(laws)
    found = queries.bound(queries.best_measures(), md.Epsilon.of(1))
    assert found >= queries.bound(queries.uniform(), md.Epsilon.of(1))
    doubled = RecordQueries.one_way(laws, [2 * np.eye(24)] * 3)
    assert doubled.bound(queries.uniform(), md.Epsilon.of(1)) == pytest.approx(
        4 * queries.bound(queries.uniform(), md.Epsilon.of(1)), rel=1e-9
    )


def test_too_many_cells_are_refused():
    with raises("too-much-work", "4000"):
        RecordQueries.one_way([np.full(2000, 1 / 2000)] * 2)
    big = np.full((20, 20, 20, 20), 20.0**-4)
    with raises("too-much-work"):
        tables(big, [pair for pair in itertools.combinations(range(4), 2) for _ in range(3)])


def test_rounding_is_counted_outward():
    """The bound in floats of 64 bits stays below the one in 60 digits, also for laws that differ by 12 decades."""
    import mpmath

    queries = RecordQueries.one_way([np.array([1 - 3e-12, 1e-12, 2e-12]), np.array([0.5, 0.3, 0.2])])
    measures = [np.array([1e-9, 0.7, 0.3]), np.array([0.2, 0.3, 0.5])]
    with mpmath.workdps(60):
        exact = [mpmath.matrix([mpmath.mpf(float(x)) for x in each]) for each in measures]
        exact = [each / sum(each) for each in exact]
        shift = [exact[a][i] - mpmath.mpf(float(queries.views[a].law[i])) for a in range(2) for i in range(3)]
        M = mpmath.matrix(6)
        for (a, i), (b, j) in itertools.product(itertools.product(range(2), range(3)), repeat=2):
            own = (exact[a][i] if i == j else 0) - exact[a][i] * exact[b][j] if a == b else 0
            M[3 * a + i, 3 * b + j] = own + shift[3 * a + i] * shift[3 * b + j]
        roots = [mpmath.sqrt(max(value, 0)) for value in mpmath.eigsy(M, eigvals_only=True)]
        true = float(sum(roots) ** 2 / (mpmath.e - 1))
    found = queries.bound(measures, md.Epsilon.of(1))
    assert true * (1 - 1e-5) < found <= true


@functools.cache
def attained():
    """The queries of two attributes, and the error of views of them."""
    laws = [np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.4, 0.1, 0.1])]
    errors = [md.design(md.DesignProblem(md.L1Ball(law.tolist()), 1, md.EstimationError())).value for law in laws]
    return RecordQueries.one_way(laws), sum(map(math.sqrt, errors)) ** 2


ENTRIES = st.one_of(st.just(0.0), st.floats(1e-90, 1e90), st.floats(0.01, 1))


@given(st.lists(ENTRIES, min_size=3, max_size=3), st.lists(ENTRIES, min_size=4, max_size=4))
def test_whatever_the_vectors_are_no_views_are_below_their_bound(first, second):
    queries, error = attained()
    if any(first) and any(second):
        assert 0 <= queries.bound([np.array(first), np.array(second)], md.Epsilon.of(1)) <= error
