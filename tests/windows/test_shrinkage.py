"""Estimates drawn toward the samples, against the risk that theory allows."""

import math

import numpy as np
import pytest
from refusals import raises

from mechdesign.windows import design_windows
from mechdesign.windows.shrinkage import shrunken
from tests.windows.test_string_estimates import COUNTS, NEW, UNSEEN, populations, reported


@pytest.mark.combined
@pytest.mark.parametrize("distance", [0, 0.5, 1, 3, 30])
@pytest.mark.parametrize("size", [3, pytest.param(10, marks=pytest.mark.slow), 60])
def test_the_risk_is_never_above_that_of_the_reports(size, distance):
    rng = np.random.default_rng(1)
    errors, toward = rng.uniform(0.5, 2, size), rng.normal(size=size)
    theta = toward + distance * errors * rng.normal(size=size)
    risks = []
    for _ in range(4_000):
        x = theta + errors * rng.normal(size=size)
        found = shrunken(x, errors, toward, np.full(size, "all"), math.inf)
        risks.append(np.sum((found - theta) ** 2 / errors**2))
    assert np.mean(risks) < size + 4 * np.std(risks) / math.sqrt(4_000)
    if distance == 0:
        assert np.mean(risks) < 2.2  # at most 2, that of James and Stein's estimate without the positive part


def test_no_share_moves_by_more_than_the_limit_and_small_groups_stay():
    rng = np.random.default_rng(2)
    x, errors, toward = rng.normal(size=30) * 3, rng.uniform(0.5, 2, 30), rng.normal(size=30)
    groups = np.array(["a"] * 20 + ["b"] * 8 + ["c"] * 2)
    for limit in (0, 0.3, 1):
        found = shrunken(x, errors, toward, groups, limit)
        assert (np.abs(found - x) <= limit * errors * (1 + 1e-12)).all()
        assert (np.abs(found - toward) <= np.abs(x - toward) * (1 + 1e-12)).all()
    assert (found[28:] == x[28:]).all()
    assert (found[:20] != x[:20]).all()
    for limit in (-1, math.nan):
        with raises("out-of-range"):
            shrunken(x, errors, toward, groups, limit)


def test_estimates_are_nearer_and_strings_that_moved_stay():
    found = design_windows(COUNTS, 1, known=True, seeds=100, buckets=128)
    Q, rng = populations(0.05), np.random.default_rng(3)
    names = [*COUNTS, *NEW, *UNSEEN]
    estimate = found.estimate(reported(found, Q, 40_000, rng), names)
    truth = np.array([*Q, *np.zeros(len(UNSEEN))])
    for limit, part in ((1, 0.5), (math.inf, 0.3)):
        nearer = estimate.toward_sample(limit)
        light = np.isin(estimate.groups, ("light", "unseen"))
        assert np.mean((nearer - truth)[light] ** 2) < part * np.mean((estimate.shares - truth)[light] ** 2)
        moved = estimate.groups == "moved"
        assert moved.sum() >= 4
        assert (nearer[moved] == estimate.shares[moved]).all()
    low, high = estimate.intervals().T
    assert ((low <= estimate.toward_sample()) & (estimate.toward_sample() <= high)).all()
