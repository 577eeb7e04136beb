"""Strings in groups of reports, and shares on the simplex."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import raises
from repetitions import examples

from mechdesign.windows import estimate_string_groups, estimate_strings
from mechdesign.windows.shrinkage import projected
from tests.windows.worlds import COUNTS, designed

CANDIDATES = ["s0", "s9", "unseen"]


@pytest.fixture(scope="module")
def world():
    design = designed(seeds=60)
    rng = np.random.default_rng(5)
    names, shares = list(COUNTS), np.array(list(COUNTS.values())) / sum(COUNTS.values())
    strings = [*rng.choice(names, 3_000, p=shares), *["s9"] * 2_000, "s0"]
    months = ["2026-01"] * 3_000 + ["2026-02"] * 2_000 + ["2026-03"]
    order = rng.permutation(len(strings))
    reports = design.mechanism.privatize([strings[k] for k in order], rng)
    return design, reports, [months[k] for k in order]


def test_groups_are_estimated_as_if_they_were_alone(world):
    design, reports, months = world
    found = estimate_string_groups(reports, months, design.mechanism, CANDIDATES, design.shares)
    assert found.groups == ("2026-01", "2026-02", "2026-03")
    assert found.few_reports == (False, False, True)
    for group, one in zip(found.groups, found.estimates, strict=True):
        alone = estimate_strings(reports[np.array(months) == group], design.mechanism, CANDIDATES, design.shares)
        assert one.shares.tolist() == alone.shares.tolist()
        assert one.standard_errors.tolist() == alone.standard_errors.tolist()
    low, high = found.intervals()[1, 1]
    assert low < 1 < high
    assert found.estimates[0].shares[1] == pytest.approx(COUNTS["s9"] / sum(COUNTS.values()), abs=0.1)


def test_intervals_of_all_groups_hold_at_once(world):
    design, reports, months = world
    found = estimate_string_groups(reports, months, design.mechanism, CANDIDATES, design.shares)
    joint, single = found.intervals(0.95, simultaneous=True), found.intervals(1 - 0.05 / 9)
    assert joint == pytest.approx(single, rel=1e-9)
    assert found.intervals(simultaneous=True).shape == (3, 3, 2)


def test_a_group_for_each_report(world):
    design, reports, months = world
    with raises("wrong-size"):
        estimate_string_groups(reports, months[1:], design.mechanism, CANDIDATES)
    assert estimate_string_groups(reports, months, design.mechanism, CANDIDATES).estimates[0].by_lengths


numbers = st.lists(st.tuples(st.floats(-2, 3), st.floats(0.01, 2)), min_size=1, max_size=8)


@given(numbers, st.integers(0, 1_000))
@settings(max_examples=examples(60))
def test_the_projection_is_nearer_to_everything_that_is_allowed(pairs, seed):
    """Against its definition: it is allowed, and no allowed point is on the other side (variational inequality)."""
    x, s = (np.array(each) for each in zip(*pairs, strict=True))
    found = projected(x, s)
    assert found.min() >= 0
    assert found.sum() <= 1 + 1e-9
    rng = np.random.default_rng(seed)
    for other in rng.dirichlet(np.ones(len(x) + 1), 5)[:, 1:]:
        assert ((x - found) / s**2) @ (other - found) <= 1e-7 * (1 + np.abs(x / s**2).max())
        assert (((found - other) / s) ** 2).sum() <= (((x - other) / s) ** 2).sum() * (1 + 1e-9) + 1e-9


def test_what_is_allowed_stays():
    x = np.array([0.2, 0.0, 0.5])
    assert projected(x, np.ones(3)).tolist() == x.tolist()


def test_estimates_on_the_simplex(world):
    design, reports, _ = world
    found = estimate_strings(reports[:400], design.mechanism, [*CANDIDATES, "another", "a third"], design.shares)
    assert found.on_simplex().min() >= 0
    assert found.on_simplex().sum() <= 1 + 1e-12
    assert (found.on_simplex()[found.shares > 0] <= found.shares[found.shares > 0]).all()
