"""Rays around limits of a joint distribution, and estimates within them, against brute force in rationals."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from clocks import limit_work
from refusals import raises

import mechdesign as md
from mechdesign.numerics.quadratic_form import QuadraticForm
from mechdesign.optimize import limit_rays
from mechdesign.optimize.estimation.interior_point import solve
from mechdesign.optimize.estimation.solver import certify_error
from mechdesign.optimize.limit_rays import LimitCone, LimitRays
from mechdesign.optimize.pricing.listing import CUT, check_listable
from mechdesign.optimize.secret_search import ColumnsWithin
from mechdesign.uncertainty.base import NO_FLOOR
from tests.helpers.double_description import extreme_rays
from tests.helpers.extreme_priors import extreme_priors

JOINT = [[20, 10, 5, 5], [10, 15, 20, 15]]
CASES = [
    ([[5, 1, 5], [1, 1, 1]], "l1-ball", "0.5", None),
    ([[5, 2, 1], [1, 1, 3]], "box", "0.7", "0.6"),
    ([[50, 10, 10], [0, 10, 10], [20, 20, 1]], "l1-ball", "0.5", None),
]


def brute_force_rays(known, problem):
    """All extreme rays of the cone from its definition: a row for each joint law of extreme laws, and each value."""
    e = problem.epsilon.exp_down
    a = Fraction(0) if problem.lower is None else 1 / problem.lower.exp_down
    rows = set()
    for weights, *laws in product(*map(extreme_priors, (known.limits.of_secret, *known.limits.given))):
        of_data = [sum(w * law[x] for w, law in zip(weights, laws, strict=True)) for x in range(known.size)]
        for law in laws:
            rows.add(tuple(e * p - q for p, q in zip(of_data, law, strict=True)))
            rows.add(tuple(q - a * p for p, q in zip(of_data, law, strict=True)))
    rays = np.array(
        [[float(entry / max(ray)) for entry in map(Fraction, ray)] for ray in extreme_rays(rows, known.size)]
    )
    return rays.T / (known.prior @ rays.T)


@pytest.mark.sampled
@pytest.mark.parametrize(("counts", "limits", "epsilon", "lower"), CASES)
def test_the_least_error_is_that_over_all_rays_of_the_definition(counts, limits, epsilon, lower):
    known = md.SecretPromise(counts, delta="0.1", limits=limits)
    problem = md.DesignProblem(known, epsilon, md.EstimationError(), lower)
    solved = md.design(problem)
    best = solve(brute_force_rays(known, problem), known.prior, np.eye(known.size), 1e-9)
    assert solved.certified
    assert not solved.stopped
    assert solved.value == pytest.approx(best.value, rel=2e-6)
    assert solved.bound <= best.value * (1 + 1e-9)
    assert md.verify(solved.mechanism).optimal


@pytest.mark.sampled
@pytest.mark.parametrize(("counts", "limits", "epsilon", "lower"), CASES)
def test_convex_functions_are_greatest_where_they_are_over_the_definition(counts, limits, epsilon, lower):
    known = md.SecretPromise(counts, delta="0.1", limits=limits)
    problem = md.DesignProblem(known, epsilon, lower=lower)
    rays = brute_force_rays(known, problem)
    listed = check_listable(known, float(problem.epsilon.exp_down), problem.sides.floor_down)
    rng = np.random.default_rng(0)
    for _ in range(10):
        center = rng.uniform(0, 3, known.size)

        def value(columns, _errors=None, center=center):
            return ((columns.T - center) ** 2).sum(axis=1)

        found = listed.to_cut().greatest(value).max()
        assert found == pytest.approx(value(rays).max(), rel=1e-9)


def test_rays_of_a_cone_to_be_cut_are_around_every_mechanism_within_the_limits():
    """Whatever has been cut, no column that keeps the promise is greater than all rays."""
    known = md.SecretPromise(JOINT, delta="0.05")
    cone = LimitRays(known, 1.5).to_cut()
    rng = np.random.default_rng(1)
    inside = known.size * rng.dirichlet(np.ones(known.size), 3_000).T
    inside = inside / (known.prior @ inside)
    inside = inside[:, known.excess(inside, 1.5) <= 0]
    assert inside.shape[1] > 20
    for _ in range(30):
        direction = rng.standard_normal(known.size)
        greatest = cone.greatest(lambda columns, _, direction=direction: direction @ columns).max()
        assert greatest >= (direction @ inside).max() - 1e-9


def test_limits_of_one_joint_distribution_are_no_limits_for_estimates():
    known = md.SecretPromise(JOINT, known=True)
    laws = [md.L1Ball([Fraction(c, sum(row)) for c in row]) for row in ([40, 60], *JOINT)]
    exact, within = (
        md.design(md.DesignProblem(one, "0.3", md.EstimationError())) for one in (known, known.within(laws))
    )
    assert within.value == pytest.approx(exact.value, rel=1e-6)
    assert within.certified


def test_wider_limits_have_no_smaller_error():
    known = md.SecretPromise(JOINT, known=True)
    errors = [md.design(md.DesignProblem(known, "0.3", md.EstimationError())).value]
    for radius in ("0.02", "0.1", "0.3", "1"):
        laws = [md.L1Ball([Fraction(c, sum(row)) for c in row], radius) for row in ([40, 60], *JOINT)]
        errors.append(md.design(md.DesignProblem(known.within(laws), "0.3", md.EstimationError())).value)
    assert all(wide > narrow for narrow, wide in pairwise(errors))


@pytest.mark.parametrize("rounds", [50, pytest.param(200, marks=pytest.mark.slow)])
def test_the_error_is_that_of_simulated_estimates(rounds):
    known = md.SecretPromise(JOINT, delta="0.05")
    solved = md.design(md.DesignProblem(known, "0.7", md.EstimationError()))
    rng, n = np.random.default_rng(2), 3_000
    losses = []
    for _ in range(rounds):
        counts = rng.multinomial(n, known.prior)
        reports = sum(rng.multinomial(c, row) for c, row in zip(counts, solved.mechanism.matrix, strict=True))
        named = dict(zip(solved.mechanism.outputs, reports.tolist(), strict=True))
        found = md.estimate_frequencies(named, solved.mechanism, method="least-squares")
        losses.append(n * ((np.array(found.frequencies) - known.prior) ** 2).sum())
    assert np.mean(losses) == pytest.approx(solved.value, abs=4 * np.std(losses) / len(losses) ** 0.5)


@pytest.mark.slow
def test_where_there_are_too_many_rays_the_gap_is_said(monkeypatch):
    """The bound is then for some joint distributions, between that of the counts alone and the error."""
    known = md.SecretPromise(JOINT, delta="0.05")
    problem = md.DesignProblem(known, "0.2", md.EstimationError())
    best = md.design(problem)
    monkeypatch.setattr(limit_rays, "_MOST_RAYS", 9)
    solved = md.design(problem)
    counts_alone = md.design(md.DesignProblem(md.SecretPromise(JOINT, known=True), "0.2", md.EstimationError()))
    assert not solved.certified
    assert solved.stopped == "the bound is for some joint distributions within the limits, not for all"
    assert counts_alone.bound * (1 - 1e-6) <= solved.bound < best.value <= solved.value <= 1.02 * best.value
    assert md.verify(solved.mechanism).proof.holds
    information = md.design(problem.with_utility(md.MutualInformation()))
    assert not information.certified
    assert information.value <= information.bound
    monkeypatch.setattr(limit_rays, "_MOST_FIRST", 0)
    uncut = md.design(problem)
    assert uncut.bound == pytest.approx(counts_alone.bound, rel=1e-4)
    assert uncut.value <= 1.02 * best.value


@pytest.mark.sampled
@pytest.mark.parametrize("lower", [None, "0.4"])
def test_a_time_limit_leaves_a_mechanism_with_its_true_gap(lower, monkeypatch):
    limit_work(monkeypatch)
    counts = np.random.default_rng(4).integers(100, 900, (3, 12))
    problem = md.DesignProblem(md.SecretPromise(counts, delta="1e-6"), "0.2", md.EstimationError(), lower)
    solved = md.design(problem, time_limit=0.05)
    assert solved.stopped == "time limit"
    assert solved.mechanism.proof.holds
    assert 0 < solved.bound < solved.value < np.inf
    assert md.verify(solved.mechanism).gap <= solved.gap  # it has the time to cut


def test_a_time_limit_ends_the_search_for_the_greatest_information_too_and_is_named(monkeypatch):
    limit_work(monkeypatch)
    counts = np.random.default_rng(4).integers(100, 900, (3, 12))
    problem = md.DesignProblem(md.SecretPromise(counts, delta="1e-6"), "0.2", md.MutualInformation())
    solved = md.design(problem, time_limit=0.05)
    assert solved.stopped == "time limit"
    assert solved.mechanism.proof.holds
    assert 0 <= solved.value < solved.bound < np.inf


def test_few_outputs_and_other_workloads_keep_the_promise_within_the_limits():
    known = md.SecretPromise(JOINT, delta="0.05")
    problem = md.DesignProblem(known, "0.7", md.EstimationError())
    few = md.design(problem, outputs=4)
    assert few.mechanism.numerators.shape[1] <= 4
    assert few.mechanism.proof.holds
    assert few.value >= few.bound
    one_query = md.design(problem.with_utility(md.EstimationError([[1, 1, 0, 0]])))
    assert one_query.value < few.value
    assert md.verify(one_query.mechanism).optimal


def test_any_form_proves_a_bound_that_holds():
    known = md.SecretPromise(JOINT, delta="0.05")
    problem = md.DesignProblem(known, "0.5", md.EstimationError())
    best, rng = md.design(problem), np.random.default_rng(3)
    for _ in range(10):
        root = rng.standard_normal((4, 4))
        proved = certify_error(problem, QuadraticForm.of_matrix(root @ root.T), rng.standard_normal(4))
        assert proved.method == CUT
        assert proved.lower_bound <= best.value


def test_a_false_bound_within_limits_is_found():
    solved = md.design(md.DesignProblem(md.SecretPromise(JOINT, delta="0.05"), "0.5", md.EstimationError()))
    claim = solved.mechanism.optimality
    higher = replace(claim, bound=claim.value)
    with raises("optimality-false"):
        md.verify(replace(solved.mechanism, optimality=higher))


def test_a_cone_is_cut_apart_from_its_copies():
    rays = LimitRays(md.SecretPromise(JOINT, delta="0.05"), 1.3)
    before = rays.to_cut().count("V")
    assert rays.to_cut().greatest(lambda columns, _: columns.max(axis=0)).size != before
    assert rays.to_cut().count("V") == before
    assert LimitCone(rays.known, 1.3).to_cut() is None


def test_the_column_of_greatest_worth_does_not_depend_on_the_unit_of_worth():
    """A solver takes no costs above 1e20, and slopes of an error at a small epsilon are greater."""
    known = md.SecretPromise([[30, 20, 10], [10, 20, 30]], delta="1e-3")
    within = ColumnsWithin(known, 1.2, NO_FLOOR)
    for slope in np.random.default_rng(0).standard_normal((5, 3)):
        np.testing.assert_allclose(within.greatest(1e25 * slope), within.greatest(slope), atol=1e-9)
