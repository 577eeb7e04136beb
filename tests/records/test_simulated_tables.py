"""Simulated reports about records of Adult: n times the mean squared error is that of the design, intervals cover.

The true law is that of the counts. Sets are learnt from the counts, or the counts are known. Seeds are fixed.
"""

from functools import cache

import numpy as np
import pytest

import mechdesign as md
from figures.lib.records_of_adult import ADULT
from mechdesign.records import RecordEstimation, View
from mechdesign.records.combined_weights import CombinedError
from mechdesign.records.joint_likelihood import joint_fit
from tests.records.made import both
from tests.records.overlapping_views import estimator_at, laws_of, views_of
from tests.records.pairs_of_adult import PAIRS

SIX = ("workclass", "marital-status", "relationship", "race", "sex", "salary")
SEPARATE, COMBINED = 255.030, 167.054


@cache
def one_way():
    return md.design_records({name: ADULT[name] for name in SIX}, 1, delta="1e-9")


@cache
def two_way():
    return md.design_records([View(pair, counts) for pair, counts in PAIRS.items()], 1, known=True)


def truth(design, tables):
    """The law of each view, in the order of its labels."""
    counts = [np.array([each[label] for label in view]) for each, view in zip(tables, labels_of(design), strict=True)]
    return [each / each.sum() for each in counts]


def labels_of(design):
    return [part.mechanism.inputs for part in design.mechanism.parts]


def drawn(design, laws, n, rng):
    """How often each report of each view comes from n people."""
    parts = design.mechanism.parts
    sizes = rng.multinomial(n, design.mechanism.shares)
    found = []
    for part, law, size in zip(parts, laws, sizes.tolist(), strict=True):
        reports = law @ part.mechanism.matrix
        found.append(rng.multinomial(size, reports / reports.sum()))
    return found


def near(values, expected, errors=3.5):
    """Whether a mean is what is expected, within its simulation error."""
    return abs(np.mean(values) - expected) < errors * np.std(values) / np.sqrt(len(values))


@pytest.mark.slow
@pytest.mark.parametrize(("n", "runs"), [(45_000, 80), (1_000_000, 80)])
def test_one_way_tables_err_as_designed_and_their_intervals_cover(n, runs):
    design = one_way()
    laws = truth(design, [ADULT[name] for name in SIX])
    estimation, flat = RecordEstimation(design.mechanism), np.concatenate(laws)
    hits, joint, squares = 0, 0, []
    for seed in range(runs):
        counts = np.concatenate(drawn(design, laws, n, np.random.default_rng([n, seed])))
        found = estimation.of_counts(counts.tolist())
        intervals = np.concatenate([table.intervals for table in found])
        wider = np.concatenate([table.simultaneous_intervals for table in found])
        hits += ((intervals[:, 0] <= flat) & (flat <= intervals[:, 1])).sum()
        joint += ((wider[:, 0] <= flat) & (flat <= wider[:, 1])).all()
        squares.append(n * sum(table.standard_errors @ table.standard_errors for table in found))
    assert 0.94 < hits / (runs * flat.size) < 0.965
    assert joint / runs > 0.9
    assert np.mean(squares) == pytest.approx(design.error, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("n", [45_000, 1_000_000])
def test_linear_one_way_tables_have_the_error_of_the_design(n):
    design, runs = one_way(), 400
    laws = truth(design, [ADULT[name] for name in SIX])
    space = views_of([len(law) for law in laws], [(place,) for place in range(6)])
    matrices, flat, squares = [part.mechanism.matrix for part in design.mechanism.parts], np.concatenate(laws), []
    for seed in range(runs):
        counts = drawn(design, laws, n, np.random.default_rng([n, seed, 1]))
        estimator = estimator_at(space, matrices, flat, [each.sum() for each in counts])
        found = estimator.tables(np.concatenate([each / each.sum() for each in counts]))
        squares.append(n * ((found - flat) ** 2).sum())
    assert near(squares, design.error)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "runs"), [(45_000, 100), (1_000_000, 60)])
def test_combined_two_way_tables_err_as_computed_and_their_intervals_cover(n, runs):
    design = two_way()
    assert design.error == pytest.approx(COMBINED, rel=1e-4)
    assert sum(np.sqrt(each.value) for each in design.designs) ** 2 == pytest.approx(SEPARATE, rel=1e-4)
    laws, estimation = truth(design, PAIRS.values()), RecordEstimation(design.mechanism)
    squares, alone, hits, cells = [], [], 0, 0
    for seed in range(runs):
        counts = np.concatenate(drawn(design, laws, n, np.random.default_rng([n, seed])))
        found, total, separate = estimation.of_counts(counts.tolist()), 0.0, 0.0
        for part, law in zip(design.mechanism.parts, laws, strict=True):
            table = found[part.name]
            own = dict(zip(table.labels, range(len(law)), strict=True))
            order = [own[label] for label in part.mechanism.inputs]
            total += ((table.frequencies[order] - law) ** 2).sum()
            separate += found.views[part.name].standard_errors @ found.views[part.name].standard_errors
            hits += ((table.intervals[order, 0] <= law) & (law <= table.intervals[order, 1])).sum()
            cells += len(law)
        squares.append(n * total)
        alone.append(n * separate)
    assert near(squares, COMBINED)
    assert 0.94 < hits / cells < 0.965
    # The weights are those of combined estimates, with which separate ones err a little more.
    shares = np.array(design.mechanism.shares)
    assert np.mean(alone) == pytest.approx(
        sum(d.value / w for d, w in zip(design.designs, shares, strict=True)), rel=0.03
    )


@pytest.mark.slow
def test_consistent_tables_err_less_where_cells_are_rare():
    design, n, runs = two_way(), 20_000, 60
    laws, squares = truth(design, PAIRS.values()), []
    ties = RecordEstimation(design.mechanism).ties
    matrices = [part.mechanism.matrix for part in design.mechanism.parts]
    for seed in range(runs):
        counts = drawn(design, laws, n, np.random.default_rng([n, seed]))
        found = joint_fit(ties[0].space, matrices, counts)
        assert found.gap <= 1e-3
        assert found.tables.min() >= 0
        squares.append(n * ((found.tables - np.concatenate(laws)) ** 2).sum())
    assert np.mean(squares) + 3 * np.std(squares) / np.sqrt(runs) < COMBINED


@pytest.mark.slow
def test_the_error_of_combined_tables_is_that_of_the_weights():
    design = two_way()
    laws = truth(design, PAIRS.values())
    space = RecordEstimation(design.mechanism).ties[0].space
    matrices, flat = [part.mechanism.matrix for part in design.mechanism.parts], np.concatenate(laws)
    shares = np.array(design.mechanism.shares)
    estimator = estimator_at(space, matrices, flat, shares)
    assert CombinedError(space, estimator.views).at(shares)[0] == pytest.approx(COMBINED, rel=1e-4)
    trace = np.trace(
        estimator.directions @ estimator.covariance(laws_of(space, matrices, flat)) @ estimator.directions.T
    )
    assert trace == pytest.approx(COMBINED, rel=1e-4)


def test_frequencies_among_those_who_reported_err_less_by_their_own_variance():
    """People are fixed: 30 of 100 smoke. n times the variance is that for a population less f (1 - f).

    Warner's reports of two views, each for half of the people: for a population n times the variance is
    ``2 (f (1 - f) + 3/4)``, with p = 3/4 of telling the truth.
    """
    made, n, runs, rng = both(), 100, 4000, np.random.default_rng(12)
    people = {"smokes": ["yes"] * 30 + ["no"] * 70, "drinks": ["no"] * n}
    reports = made.privatize({name: column * runs for name, column in people.items()}, rng)
    about = (np.array(reports["view"]) == "smokes").reshape(runs, n)
    output = made.part("smokes").mechanism.outputs[1]
    yes = (np.array(reports["report"]) == output).reshape(runs, n) & about
    found = 2 * (yes.sum(axis=1) / about.sum(axis=1) - 1 / 4)
    squares = n * (found - 0.3) ** 2
    population = 2 * (0.21 + 0.75) * n * np.mean(1 / about.sum(axis=1)) / 2  # as few people as each run drew
    assert near(found, 0.3)
    assert near(squares, population - 0.21)
    assert not near(squares, population)
