"""Whether reports determine an answer is decided in rationals, and errors that floats cannot carry are computed."""

from __future__ import annotations

import random
import time
from fractions import Fraction

import numpy as np
import pytest
from refusals import raises

import mechdesign as md
from mechdesign.numerics.row_relations import row_relations
from mechdesign.utility.query_variances import variances_of_integers, variances_of_matrix
from tests.helpers.exact_errors import exact_error

EQUAL_ROWS = [[12, 2, 2], [2, 12, 2], [2, 2, 12], [2, 2, 12]]
UNIFORM = [Fraction(1, 4)] * 4


def _fractions(W: np.ndarray) -> list[list[Fraction]]:
    return [[Fraction(x) for x in row] for row in W.tolist()]


@pytest.mark.parametrize("heavy", [1.0, 2e8, 1e9, 1e30])
def test_no_query_hides_behind_a_heavy_one(heavy: float) -> None:
    error = md.EstimationError([[heavy, 0, 0, 0], [0, 0, 1, -1]])
    matrix = np.array(EQUAL_ROWS) / 16
    assert error.value(matrix, [0.25] * 4) == np.inf
    assert error.value_of_integers(EQUAL_ROWS, md.L1Ball(UNIFORM, "0")) == np.inf
    assert md.analyze(matrix, UNIFORM, error, optimum=False).value == np.inf
    light = md.EstimationError([[heavy, 0, 0, 0], [0, 0, 1, 1]])
    assert light.value(matrix, [0.25] * 4) < np.inf


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("baseline", "error"),
    [
        (md.baselines.geometric(4, "1e-6"), 1.62e20),
        (md.baselines.geometric(6, "1e-6"), 1.5e21),
        (md.baselines.geometric(8, "1e-6"), 6.2e21),
        (md.baselines.truncated_laplace(8, "1e-6"), 3.92e15),
        (md.baselines.geometric(5, "1e-12"), None),  # entries differ by less than floats tell
    ],
    ids=lambda given: given.name if isinstance(given, md.baselines.Baseline) else None,
)
def test_errors_that_floats_cannot_carry(baseline: md.baselines.Baseline, error: float | None) -> None:
    size = baseline.exact_matrix.size
    prior = [Fraction(1, size)] * size
    true = exact_error(baseline.exact_matrix.weights, prior, _fractions(np.eye(size)))
    assert true is not None
    found = md.analyze(baseline, md.L1Ball(prior, "0"), md.EstimationError(), optimum=False)
    assert found.value == pytest.approx(float(true), rel=1e-15)
    assert found.variances.sum() == pytest.approx(float(true), rel=1e-15)
    if error is not None:
        assert found.value == pytest.approx(error, rel=0.01)
        # The matrix of floats is one of other mechanisms, which differ by the rounding of its entries.
        assert md.EstimationError().value(baseline.matrix, prior) == pytest.approx(error, rel=0.01)


def test_a_finite_error_means_that_all_symbols_are_told_apart() -> None:
    found = md.analyze(md.baselines.geometric(6, "1e-6"), [Fraction(1, 6)] * 6, md.EstimationError(), optimum=False)
    assert len(found.groups) == 6
    assert np.isfinite(found.utilities["estimation-error"])
    equal = md.analyze([[3, 1], [2, 2], [3, 1]], [Fraction(1, 3)] * 3, md.EstimationError(), optimum=False)
    assert equal.groups == (("x1", "x3"), ("x2",))
    assert np.isinf(equal.variances).tolist() == [True, False, True]


def test_floats_that_rounding_alone_makes_independent_determine_nothing() -> None:
    rows = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.0, 0.0, 0.0]])
    rows[2] = (rows[0] + 2 * rows[1]) / 3
    rows[2, 2] = 1 - rows[2, :2].sum()
    assert md.EstimationError().value(rows, [0.3, 0.3, 0.4]) == np.inf
    found = md.analyze(rows, [0.3, 0.3, 0.4], md.EstimationError(), optimum=False)
    assert found.value == found.variances.max() == np.inf
    assert found.groups != (("x1",), ("x2",), ("x3",))


def _random_mechanism(draw: random.Random) -> tuple[list[list[int]], list[Fraction]]:
    """Whole numbers over 2^20: rows may be equal, or combinations of others, exactly or all but a unit."""
    N, M = draw.randint(2, 5), draw.randint(1, 6)
    rows = []
    for _ in range(N):
        cuts = sorted(draw.randrange(0, 2**20, 4) for _ in range(M - 1))
        rows.append([b - a for a, b in zip([0, *cuts], [*cuts, 2**20], strict=True)])
    for i in range(1, N):
        kind = draw.choice(["free", "equal", "between", "nearly"])
        if kind == "equal":
            rows[i] = list(rows[i - 1])
        elif kind in {"between", "nearly"} and i > 1:
            rows[i] = [(a + 3 * b) // 4 for a, b in zip(rows[i - 1], rows[i - 2], strict=True)]
            rows[i][0] += 2**20 - sum(rows[i])
        if kind == "nearly" and M > 1:
            j = draw.randrange(M)
            if rows[i][j]:
                rows[i][j] -= 1
                rows[i][j - 1] += 1
    counts = [draw.choice([1, 3, 10**6]) for _ in range(N)]
    return rows, [Fraction(count, sum(counts)) for count in counts]


def test_random_mechanisms_against_fractions() -> None:
    draw = random.Random(5)
    infinite = huge = 0
    for _ in range(150):
        rows, prior = _random_mechanism(draw)
        N = len(rows)
        W = np.array([[draw.choice([0.0, 1.0, -1.0, 0.1]) for _ in range(N)] for _ in range(draw.randint(1, 3))])
        W *= np.array([[draw.choice([1.0, 1e-9, 1e9])] for _ in W])
        each = variances_of_integers(rows, prior, W).each
        for query, variance in zip(_fractions(W), each.tolist(), strict=True):
            true = exact_error(rows, prior, [query])
            infinite += true is None
            if true is None:
                assert variance == np.inf
                continue
            huge += true > 10**12
            assert variance == pytest.approx(float(true), rel=1e-7, abs=1e-25)
    assert infinite > 40
    assert huge > 10


def test_relations_among_rows_are_exact() -> None:
    """The prime divides the determinant, so that the rank is lower modulo it than over the rationals."""
    prime = 2**63 - 25
    rows = [[1, 0, 2, 0], [0, 1, 0, 3], [1, 1, 2, 3 + prime]]
    found = row_relations(rows)
    assert found is not None
    assert found.relations == ()
    assert found.independent == (0, 1, 2)


def test_a_forged_claim_about_an_answer_that_reports_do_not_determine_is_refused() -> None:
    error = md.EstimationError([[1e9, 0, 0, 0], [0, 0, 1, -1]])
    solved = md.design(md.DesignProblem(md.L1Ball(UNIFORM, 2), "log(6)", error))
    assert md.verify(solved.mechanism).value == solved.value
    promised, claim = solved.mechanism.guarantee, solved.mechanism.optimality
    forged = md.Mechanism(np.array(EQUAL_ROWS) * 2**44, 48, promised, optimality=claim)
    with raises("optimality-false", "is inf"):
        md.verify(forged)


def test_a_hundred_symbols_take_no_more_than_seconds() -> None:
    draw = np.random.default_rng(3)
    weights = draw.integers(1, 2**40, size=(100, 300))
    weights[-1] = weights[0]
    weights[-2] = (weights[1] + weights[2]) // 2
    started = time.process_time()
    each = variances_of_integers(weights, [Fraction(1, 100)] * 100, np.eye(100)).each
    assert time.process_time() - started < 20
    assert np.flatnonzero(np.isinf(each)).tolist() == [0, 99]


def test_both_sides_agree_where_floats_are_enough() -> None:
    draw = np.random.default_rng(4)
    for N in (2, 5, 9):
        weights = draw.integers(1, 2**40, size=(N, 2 * N))
        prior = draw.dirichlet(np.ones(N))
        found = variances_of_integers(weights, [Fraction(p) for p in prior], np.tri(N))
        shares = weights / weights.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(found.each, variances_of_matrix(shares, prior, np.tri(N)), rtol=1e-9, atol=1e-12)
