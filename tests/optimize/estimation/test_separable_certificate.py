"""Certificates of separable forms for many symbols, against optima over all rays and against each other."""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mechdesign as md
from mechdesign.optimize.estimation.certificate import lower_bound, root_trace_down, total_up
from mechdesign.optimize.estimation.listed import ListedForms, solve_listed
from mechdesign.optimize.estimation.separable import SeparablePricing
from mechdesign.optimize.estimation.separable_certificate import certificate_for_many
from mechdesign.optimize.estimation.separable_dual import RestrictedDual
from mechdesign.optimize.rays import Rays

PROBLEMS = Path(__file__).parents[3] / "problems"


def ball_of(name, **options):
    given = md.read_problem(PROBLEMS / f"adult-{name}.toml").problem.uncertainty
    return md.L1Ball.from_counts(given.evidence.counts, **options)


def certified(ball, epsilon=1.0, workload=None, **options):
    pricing = SeparablePricing(ball, float(np.exp(epsilon)))
    W = np.eye(ball.size) if workload is None else workload
    return certificate_for_many(pricing, W, np.empty((ball.size, 0)), None, **options)


@pytest.mark.parametrize(
    ("name", "options", "least", "optimum"),
    [
        ("workclass", {"radius": 0}, 6.0123, 6.01233327),
        ("workclass", {"delta": "1e-9", "bound": "weissman"}, 6.40, 6.42609648),
        ("relationship", {"radius": 0}, 2.9657, 3.00680154),
        ("relationship", {"delta": "1e-9", "bound": "weissman"}, 3.17, 3.20837010),
        ("occupation", {"radius": 0}, 7.8797, 7.90536109),
        ("education", {"radius": 0}, 9.3127, 9.32970308),
        ("education", {"delta": "1e-9", "bound": "weissman"}, 10.0546, 10.05671),
    ],
)
def test_reference_values_from_below(name, options, least, optimum):
    """The last column is the optimum over all rays; for education with a ball, that of separable forms."""
    found = certified(ball_of(name, **options))
    assert least <= found.lower_bound <= optimum
    assert found.lower_bound <= found.limit * (1 + 1e-6)


@pytest.mark.parametrize(
    ("name", "options", "close"),
    [
        ("native-country", {"radius": 0}, 1e-3),
        pytest.param("native-country", {"radius": 2}, 1e-2, marks=pytest.mark.slow),
        pytest.param("native-country", {"delta": "1e-9", "bound": "weissman"}, 1.5e-2, marks=pytest.mark.slow),
    ],
)
def test_many_symbols_come_close_to_what_separable_forms_can_prove(name, options, close):
    found = certified(ball_of(name, **options), close=close)
    assert found.lower_bound >= (1 - close) * found.limit


def test_the_bound_follows_from_the_stored_numbers():
    ball, e = ball_of("occupation", delta="1e-9"), float(np.exp(1.0))
    found = certified(ball, close=1e-2)
    again = SeparablePricing(ball, e)
    price = again.price(found.form, found.multipliers)
    root, eta = root_trace_down(found.form, ball.prior, np.eye(ball.size))
    assert found.lower_bound == lower_bound(root, total_up(found.multipliers, price.upper, eta, again.limits))


@pytest.mark.parametrize("seed", range(12))
def test_never_above_the_optimum_over_all_rays(seed):
    rng = np.random.default_rng(seed)
    N = int(rng.integers(3, 6))
    ball = md.L1Ball.from_counts((rng.integers(1, 40, N)).tolist(), radius=str(rng.choice([0, 0.05, 0.2, 2.0])))
    W = np.eye(N) if seed % 2 else np.tril(np.ones((N, N)))[:-1]
    pricing = SeparablePricing(ball, 2.0)
    found = certificate_for_many(pricing, W, np.empty((N, 0)), None)
    solution, _ = solve_listed(ListedForms(Rays(ball, 2.0)), W, pricing.limits, 1e-6, None, lambda _: None)
    J = solution.matrix @ (solution.matrix / (ball.prior @ solution.matrix)).T
    error = float(np.trace(W @ np.linalg.pinv(J) @ W.T) - ((W @ ball.prior) ** 2).sum())
    assert 0.5 * error < found.lower_bound <= error * (1 + 1e-9)


def test_symbols_without_mass_are_covered():
    ball = md.L1Ball.from_counts([50, 30, 20, 0], radius="0.1")
    found = certified(ball)
    assert 0 < found.lower_bound < np.inf


def test_queries_whose_answer_is_known_have_no_error():
    ball = md.L1Ball.from_counts([5, 3, 2])
    assert certified(ball, workload=np.ones((1, 3))).lower_bound <= 1e-12


def test_a_deadline_ends_the_search_with_a_bound_that_holds():
    ball = ball_of("education", delta="1e-9")
    pricing = SeparablePricing(ball, float(np.exp(1.0)))
    lines = []
    now = time.monotonic()
    found = certificate_for_many(pricing, np.eye(16), np.empty((16, 0)), now, lines.append)
    assert len(lines) == found.rounds == 1
    assert 9.3 < found.lower_bound <= 10.05671


def test_the_restricted_dual_satisfies_its_conditions_and_weighs_a_mechanism():
    ball = md.L1Ball.from_counts([5, 4, 3, 2], radius=2)
    held = np.hstack(list(Rays(ball, 2.5).of_kinds("D")))
    dual = RestrictedDual(ball.prior, np.eye(4), with_common=True)
    point = dual.solve(held, dual.joined(np.ones(4), 0.0, np.zeros(4)), 1e-7, room=1.0)
    assert point.converged
    assert point.form.common < 0
    assert (point.form.values(held - 1) <= point.multipliers @ held + 1e-9).all()
    np.testing.assert_allclose(held @ point.weights, 1, atol=1e-3)
    assert point.value <= point.limit <= point.value * (1 + 1e-6)
    pricing = ListedForms(Rays(ball, 2.5))
    assert pricing.price(point.form, point.multipliers).upper <= 1e-6 * point.value


@pytest.mark.parametrize("radius", [pytest.param("0.1", marks=pytest.mark.slow), "2"])
def test_the_search_ends_where_the_bound_no_longer_rises(radius):
    """Some bounds stay below their limit for ever; a bound that is enough already gets less patience."""
    ball = md.L1Ball.from_counts([round(20_000 / k) for k in range(1, 21)], radius=radius)
    rounds = {}
    for enough in (0.0, np.inf):
        pricing = SeparablePricing(ball, float(np.exp(1.0)))
        bounds = []
        found = certificate_for_many(
            pricing,
            np.eye(20),
            np.empty((20, 0)),
            None,
            lambda line, told=bounds: told.append(float(line.split()[4][:-1])),
            enough=enough,
        )
        rounds[enough] = found.rounds
        last = 3 if enough == 0 else 8
        assert found.rounds < 40
        assert found.lower_bound > 0
        assert bounds[-1] <= bounds[-1 - last] * (1 + 1e-4) or found.lower_bound >= (1 - 3e-4) * found.limit
    assert rounds[0.0] <= rounds[np.inf]


@pytest.mark.slow
def test_a_limit_below_the_bound_does_not_end_the_search(monkeypatch):
    """The restricted dual knows its limit up to its residuals; under LDP these can be great."""
    pricing = SeparablePricing(ball_of("occupation", radius=2), float(np.exp(1.0)))
    honest = certificate_for_many(pricing, np.eye(15), np.empty((15, 0)), None)
    solve = RestrictedDual.solve

    def too_low(self, *arguments):
        point = solve(self, *arguments)
        return replace(point, limit=0.8 * point.limit)

    monkeypatch.setattr(RestrictedDual, "solve", too_low)
    found = certificate_for_many(pricing, np.eye(15), np.empty((15, 0)), None)
    assert found.rounds > 1
    assert found.lower_bound >= 0.9995 * honest.lower_bound
