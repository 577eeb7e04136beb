"""Intervals of estimated frequencies hold the truth as often as they say."""

from dataclasses import replace

import numpy as np
import pytest
from matrices import mechanism_of, randomized_response

from benchmarks import coverage, few_reports
from mechdesign.deploy.estimation import TARGETS

THETA = np.array([0.5, 0.3, 0.15, 0.05])


@pytest.mark.parametrize("reports", [1_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_coverage_of_randomized_response(reports):
    runs = 1_000
    found = coverage.Simulation(mechanism_of(randomized_response(4, 3.0)), THETA).measure(reports, runs)
    deviation = np.sqrt(0.95 * 0.05 / runs)
    for of in TARGETS:
        assert found[of].single.min() >= 0.95 - 3.5 * deviation
        assert found[of].single.max() <= 0.95 + 3.5 * deviation
        assert 0.95 - 3 * deviation <= found[of].joint <= 0.96 + 3 * deviation


@pytest.mark.slow
@pytest.mark.parametrize("reports", [1_000, 100_000])
def test_coverage_of_every_mechanism_within_one_per_cent(reports):
    """Where reports are few, half a report and a noisiest category that may be more frequent widen intervals.

    Both do so by a share that falls with the root of the number of reports.
    """
    most = 96 + 3 * np.sqrt(1_000 / reports)
    for line in list(coverage.table(sizes=[reports]))[2:]:
        cells = [cell.strip() for cell in line.strip("|").split("|")][3:]
        shares = [float(number) for cell in cells for number in cell.split(" to ")]
        assert 94 <= min(shares) <= max(shares) <= most, line


@pytest.mark.slow
def test_coverage_of_frequencies_that_are_mostly_0_among_the_records():
    runs, rare = 2_000, np.array([0.9996, 0.0002, 0.0002])
    simulation = coverage.Simulation(mechanism_of(randomized_response(3, 3.0)), rare)
    found = simulation.measure(100, runs)["records"].single
    # Limits that are cut at 0 and 1 would hold about 97.5 per cent.
    assert np.abs(found - 0.95).max() <= 0.01 + 3 * np.sqrt(0.95 * 0.05 / runs)


@pytest.mark.slow
def test_what_is_known_is_left_out():
    blocks = np.block([[np.ones((1, 1)), np.zeros((1, 2))], [np.zeros((2, 1)), randomized_response(2, 3.0)]])
    found = coverage.Simulation(mechanism_of(blocks), np.array([0.5, 0.3, 0.2])).measure(1_000, 20)
    assert {of: len(found[of].single) for of in TARGETS} == {"population": 3, "records": 2}


def test_the_runs_that_are_compared_bite():
    simulation = coverage.Simulation(mechanism_of(randomized_response(4, 3.0)), THETA)
    simulation.estimator = replace(simulation.estimator, weights=1.01 * simulation.estimator.weights)
    with pytest.raises(AssertionError):
        simulation.measure(10_000, 20)


def test_few_reports_are_counted_for_a_dozen_mechanisms_each(monkeypatch):
    assert len(few_reports.TWO) == len(few_reports.THREE) == 12
    for matrix in (few_reports.TWO["warner"], few_reports.THREE["skewed"]):
        law = few_reports.chances(np.array(matrix)[:1], 6)
        assert law.sum() == pytest.approx(1, abs=1e-13)
        given = list(few_reports.chances_given_records(np.array(matrix), np.array([[6, *[0] * (len(matrix) - 1)]]), 6))
        np.testing.assert_allclose(given[0], law[0], atol=1e-14)
    for size, name in ((2, "TWO"), (3, "THREE")):
        monkeypatch.setattr(few_reports, name, dict(list(getattr(few_reports, name).items())[:1]))
        lines = list(few_reports.table([size], 3))
        assert lines[2].startswith(f"| {size} | ")
        assert "| 1 to 3 |" in lines[2]


def test_records_of_two_categories_report_as_sums_of_their_own():
    """The law of counts given the records, from polynomials that are multiplied out."""
    matrix = np.array(few_reports.TWO["one row is noisy"])
    wanted = np.array([1.0])
    for row in (matrix[0], matrix[0], matrix[1]):
        wanted = np.convolve(wanted, row)  # the place is the number of reports of the second output
    found = next(few_reports.chances_given_records(matrix, np.array([[2, 1]]), 3))
    np.testing.assert_allclose(found, wanted, atol=1e-15)
