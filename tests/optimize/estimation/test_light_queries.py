"""Designs whose queries have very different weights: each is estimated, and the error is the true one."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from refusals import raises

import mechdesign as md
from mechdesign.optimize import designer
from mechdesign.optimize.estimation.every_direction import mixtures
from mechdesign.optimize.every_method import solve
from tests.helpers.exact_errors import exact_error


def _true_error(design: md.Design, W: list[list[object]]) -> float:
    """The error of the integers in fractions, for the floats nearest to the queries."""
    queries = [[Fraction(float(x)) for x in row] for row in W]
    known = design.mechanism.guarantee.uncertainty
    found = exact_error(design.mechanism.numerators.tolist(), known.center, queries)
    assert found is not None
    return float(found)


@pytest.mark.sampled
@pytest.mark.parametrize("light", ["1e-2", "1e-5", "1e-7", "1e-8", "1e-9", "1e-12", "1e-30"])
def test_a_light_query_is_estimated_at_hardly_any_cost(light: str) -> None:
    W = [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, light, 0]]
    ball = md.L1Ball.from_counts([8, 28, 31, 2, 4], radius="0.1")
    found = md.design(md.DesignProblem(ball, "0.01", md.EstimationError(W)))
    assert found.certified
    assert found.value == pytest.approx(_true_error(found, W), rel=1e-9)
    assert md.verify(found.mechanism).optimal


@pytest.mark.sampled
@pytest.mark.parametrize("outputs", [pytest.param(4, marks=pytest.mark.slow), 5, 6, 20])
def test_light_queries_are_estimated_with_few_outputs(outputs: int) -> None:
    W = np.diag([1, 1, 1e-9, 1e-9]).tolist()
    problem = md.DesignProblem(md.L1Ball.from_counts([4, 3, 2, 1], radius="0.2"), 1, md.EstimationError(W))
    best = md.design(problem)
    found = md.design(problem, outputs=outputs)
    assert found.mechanism.numerators.shape[1] <= outputs
    assert found.value == pytest.approx(_true_error(found, W), rel=1e-9)
    assert found.unrestricted_value == pytest.approx(best.value, rel=1e-6)
    assert found.value < 1.5 * best.value


def test_random_designs_with_light_queries() -> None:
    draw = random.Random(1)
    for _ in range(12):
        N = draw.randint(3, 5)
        light, heavy = draw.choice(["1e-8", "1e-9", "1e-10"]), draw.randint(1, N - 1)
        rows = draw.choice([N - 1, N])
        W: list[list[object]] = [[(1 if i < heavy else light) if i == j else 0 for j in range(N)] for i in range(rows)]
        ball = md.L1Ball.from_counts([draw.randint(1, 40) for _ in range(N)], radius=draw.choice(["0", "0.2", "2"]))
        found = md.design(md.DesignProblem(ball, draw.choice(["0.01", "0.5", "2"]), md.EstimationError(W)))
        assert found.certified
        assert found.value == pytest.approx(_true_error(found, W), rel=1e-7)


def test_directions_that_no_query_asks_for_do_not_raise_the_error() -> None:
    """Rounding turns the queries out of what reports tell, where a design tells nothing about another direction."""
    W = [[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1]]
    ball = md.L1Ball(["4/22", "5/22", "1/22", "2/22", "3/22", "7/22"], radius="2")
    found = md.design(md.DesignProblem(ball, "0.1", md.EstimationError({"marginals": [2, 3]})))
    assert found.certified
    assert found.value == pytest.approx(_true_error(found, W), rel=1e-7)


def test_fewer_outputs_than_symbols_are_refused_where_rounding_loses_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a search for few outputs finds depends on its time: here it finds rows that differ by a hair."""
    ball = md.L1Ball.from_counts([4, 5, 1, 2, 3, 7], radius="0.5")
    problem = md.DesignProblem(ball, 1, md.EstimationError("marginals=2x3"))
    hair = 2.0**-52 * (np.eye(6, 5) - np.eye(6, 5)[::-1])

    def found(problem: md.DesignProblem, options: Any, method: None) -> tuple[Any, ...]:
        solution, *others = solve(problem, replace(options, outputs=None), method)
        return replace(solution, matrix=0.2 + hair), *others

    monkeypatch.setattr(designer, "solve", found)
    with raises("design-not-identifiable", "outputs = 5 are too few for 6 categories", "6 or more"):
        md.design(problem, outputs=5)


@pytest.mark.parametrize("most", [None, 3, 4, 10])
def test_mixtures_keep_the_promise_and_tell_every_direction(most: int | None) -> None:
    known = md.L1Ball([0.5, 0.3, 0.2], 2)
    problem = md.DesignProblem(known, "log(3)", md.EstimationError())
    matrix = np.array([[0.75, 0.25], [0.25, 0.75], [0.25, 0.75]])
    found = list(mixtures(problem, matrix, 1e-3, 48, most))
    assert found
    for mixed in found:
        np.testing.assert_allclose(mixed.sum(axis=1), 1, rtol=1e-14)
        assert mixed.shape[1] <= (most or 5)
        assert md.leakage_capacity(mixed, known) <= np.log(3) + 1e-12
        assert md.EstimationError().value(mixed, known.center) < np.inf


def test_no_mixture_has_fewer_outputs_than_symbols() -> None:
    problem = md.DesignProblem(md.L1Ball([0.5, 0.3, 0.2], 2), "log(3)", md.EstimationError())
    assert not list(mixtures(problem, np.array([[0.75, 0.25], [0.25, 0.75], [0.25, 0.75]]), 1e-3, 48, 2))
