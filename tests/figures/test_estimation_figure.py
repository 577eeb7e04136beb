"""Errors against epsilon and samples: their order, values computed apart, the two laws, and what the legend says."""

import csv
import itertools

import numpy as np
import pytest

from figures import figure_estimation as figure
from figures.lib.output import FOLDER
from figures.lib.style import WEAKER

# Relationship in Adult at epsilon = 1, computed apart by listing every ray, or from formulas.
AT_ONE = {
    figure.KNOWN: 3.00680154,
    figure.LDP: 15.25993074,
    figure.SUBSETS: 15.28,
    figure.KRR: 16.71,
    figure.BOUND: 2.965780,
}
WEISSMAN = 3.20837010  # for a ball of greater radius than the one of the figure
ORDER = (figure.BOUND, figure.KNOWN, figure.BALL, figure.LDP, figure.SUBSETS, figure.KRR)


@pytest.fixture(scope="module")
def table():
    return figure.compute(quick=True)


def kept():
    with (FOLDER / "figure_estimation.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    numbers = ("epsilon", "samples", "error", "lower_bound")
    return [row | {key: float(row[key]) if row[key] else None for key in numbers} for row in rows]


def against_epsilon(rows):
    """Return the errors by epsilon and mechanism, from all records."""
    found = {}
    for row in rows:
        if row["samples"] in (None, figure.RECORDS):
            found.setdefault(row["epsilon"], {})[row["mechanism"]] = row["error"]
    return found


@pytest.mark.sampled
@pytest.mark.parametrize("rows", ["table", "kept"])
def test_values_computed_apart(rows, table):
    found = against_epsilon(table if rows == "table" else kept())[1.0]
    for name, value in AT_ONE.items():
        places = len(str(value).split(".")[1])
        assert found[name] == pytest.approx(value, abs=0.6 * 10**-places, rel=1e-6)
    assert AT_ONE[figure.KNOWN] < found[figure.BALL] < WEISSMAN
    assert found[figure.BALL] < found[figure.INFORMATIVE]


@pytest.mark.parametrize("rows", ["table", "kept"])
def test_a_stronger_promise_never_has_less_error(rows, table):
    found = against_epsilon(table if rows == "table" else kept())
    assert set(found) >= {0.1, 1.0, 2.0}
    for errors in found.values():
        for less, more in itertools.pairwise(ORDER):
            assert errors[less] <= errors[more] * (1 + 1e-6)


@pytest.mark.parametrize("rows", ["table", "kept"])
def test_least_errors_are_certified(rows, table):
    for row in table if rows == "table" else kept():
        if row["mechanism"] in (figure.LDP, figure.BALL, figure.KNOWN):
            assert row["error"] * (1 - 1e-6) <= row["lower_bound"] <= row["error"]


@pytest.mark.parametrize("rows", ["table", "kept"])
def test_errors_fall_with_samples_to_that_of_the_known_prior(rows, table):
    rows = [row for row in (table if rows == "table" else kept()) if row["epsilon"] == 1.0]
    found = {row["samples"]: row["error"] for row in rows if row["mechanism"] == figure.BALL}
    errors = [error for size, error in sorted(found.items()) if size != figure.RECORDS]
    assert len(errors) >= 3
    assert (np.diff(errors) < 0).all()
    assert AT_ONE[figure.KNOWN] < errors[-1] < 1.02 * AT_ONE[figure.KNOWN]


def test_the_picture_has_the_laws_the_bound_as_a_line_and_the_weaker_promise(table):
    drawn = figure.draw(table)
    (legend,) = drawn.legends
    assert legend.get_title().get_text() == WEAKER
    for part in ("weaker", "priors in the set", "exclude categories", "fresh reports add up"):
        assert part in WEAKER
    left = drawn.axes[0]
    lines = {line.get_label(): line for line in left.get_lines()}
    assert set(lines) >= {*ORDER, figure.INFORMATIVE}
    assert lines[figure.BOUND].get_linestyle() != "None"
    for name, power, at_one in (("(N - 1)^2 / (N epsilon)", 1, 25 / 6), ("4 (N - 1)^2 / (N epsilon^2)", 2, 50 / 3)):
        x, y = lines[name].get_data()
        np.testing.assert_allclose(np.asarray(y) * np.asarray(x) ** power, at_one, rtol=1e-12)
    names = [text.get_text() for text in legend.get_texts()]
    assert all("(PML" in name or "(LDP)" in name for name in names if name in AT_ONE and name != figure.BOUND)
