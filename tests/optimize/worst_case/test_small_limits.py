"""Least gains over sets with limits near the least coefficient that a solver keeps, and within a time limit."""

from __future__ import annotations

import itertools
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

import mechdesign as md
from mechdesign.optimize.polyhedral import MechanismOptimum
from mechdesign.optimize.worst_case import gains
from mechdesign.uncertainty import Box

LEVELS = ["2e-9", "9.9e-10", "5e-10", "5e-11", "1e-12", "1e-13"]


def _corners(box):
    """The corners of a box in the simplex: all but one probability are at a limit."""
    lower, upper = ([float(x) for x in limits] for limits in (box.lower, box.upper))
    found = []
    for free in range(box.size):
        others = [i for i in range(box.size) if i != free]
        for sides in itertools.product((lower, upper), repeat=len(others)):
            corner = np.zeros(box.size)
            corner[others] = [side[i] for side, i in zip(sides, others, strict=True)]
            corner[free] = 1 - corner.sum()
            if lower[free] - 1e-15 <= corner[free] <= upper[free] + 1e-15:
                found.append(corner)
    return np.array(found)


def _greatest_least_accuracy(corners, e):
    """A program over all mechanisms and all corners: no support function, no dual."""
    N = corners.shape[1]
    costs = np.append(np.zeros(N * N), -1.0)
    rows = []
    for Q in corners:
        accuracy = np.append(-np.diag(Q).ravel(), 1.0)  # t <= sum_i Q_i p(i | i)
        rows.append(accuracy)
        for i, y in itertools.product(range(N), repeat=2):
            row = np.zeros((N, N))
            row[:, y] -= e * Q
            row[i, y] += 1
            rows.append(np.append(row.ravel(), 0.0))
    sums = np.array([np.append(np.kron(np.eye(N)[i], np.ones(N)), 0.0) for i in range(N)])
    found = linprog(costs, np.array(rows), np.zeros(len(rows)), sums, np.ones(N))
    return -found.fun


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("epsilon", ["0.3", "1"])
def test_limits_near_the_least_coefficient_of_the_solver(level, epsilon):
    rest = str(1 - 2 * Fraction(level))
    box = Box([level, level, "0.3"], ["0.5", "0.5", rest], center=["0.3", "0.3", "0.4"])
    found = md.design(md.DesignProblem(box, epsilon, md.WorstCaseUtility(md.HammingAccuracy())))
    assert found.certified
    expected = _greatest_least_accuracy(_corners(box), float(np.exp(float(epsilon))))
    assert found.value == pytest.approx(expected, abs=1e-7)


def test_a_secret_with_a_count_of_one_has_a_design():
    promise = md.SecretPromise([[20, 20, 20], [1, 0, 50], [50, 1, 1]], delta="1e-6")
    assert any(1e-12 < x < 1e-9 for given in promise.limits.given for x in given.lower)
    for utility in (md.HammingAccuracy(), md.WorstCaseUtility(md.HammingAccuracy())):
        assert md.design(md.DesignProblem(promise, 1, utility)).certified


def test_a_solver_that_stops_without_a_dual_ends_with_a_mechanism(monkeypatch):
    """The prior of the certificate is then the estimate."""
    box = Box(["0.1", "0.1", "0.3"], ["0.5", "0.5", "0.7"], center=["0.3", "0.3", "0.4"])
    mechanism = np.full((3, 3), 1 / 3)

    def stopped(_polytope, goal, _deadline):
        for row in goal(cp.Variable((3, 3)))[1]:
            row.save_dual_value(np.zeros(row.shape))
        return MechanismOptimum(mechanism, np.zeros(3), np.zeros((3, 3)), stopped=True)

    monkeypatch.setattr(gains, "solve_program", stopped)
    found = md.design(md.DesignProblem(box, 1, md.WorstCaseUtility(md.HammingAccuracy())), time_limit=9)
    assert (found.stopped, found.certificate.mixture.priors) == ("time limit", (box.center,))
    assert found.value <= found.bound


@pytest.mark.parametrize("limit", [0, 0.1, 0.3])
def test_a_time_limit_is_no_error_of_the_solver(limit):
    counts = np.random.default_rng(3).integers(1, 200, 20).tolist()
    problem = md.DesignProblem(Box.from_counts(counts, "1e-6"), "0.1", md.WorstCaseUtility(md.HammingAccuracy()))
    found = md.design(problem, time_limit=limit)
    assert found.certified or found.stopped == "time limit"
    assert found.value <= found.bound
