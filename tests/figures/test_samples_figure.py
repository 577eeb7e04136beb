import csv
import math
from pathlib import Path

import numpy as np
import pytest

import mechdesign as md
from figures import figure_samples
from figures.figure_samples import BALL, KNOWN, KRR, LDP

FIGURES = Path(figure_samples.__file__).parent
KEPT = list(csv.DictReader((FIGURES / "out" / "figure_samples.csv").read_text(encoding="utf-8").splitlines()))


@pytest.fixture(scope="module")
def table():
    return figure_samples.compute(quick=True)


def of(table, column, mechanism):
    rows = [row for row in table if (row["column"], row["mechanism"]) == (column, mechanism)]
    return rows if mechanism == BALL else rows[0]


def value(row):
    return float(row["mutual_information"])


def check_order(table, column):
    known, ldp, krr = (value(of(table, column, name)) for name in (KNOWN, LDP, KRR))
    ball = [value(row) for row in of(table, column, BALL)]
    # A value may miss its optimum by the tolerance of its certificate.
    slack = 1e-6 * known
    assert (np.diff(ball) >= -slack).all()
    assert ldp - slack <= ball[0]
    assert ball[-1] <= known + slack
    assert 0 < krr <= ldp + slack
    # All the way from the one to the other.
    assert ball[0] == pytest.approx(ldp, rel=1e-6)
    assert ball[-1] == pytest.approx(known, rel=0.005)


@pytest.mark.parametrize("column", ["relationship", "race"])
def test_information_rises_with_samples_from_ldp_to_the_known_prior(table, column):
    check_order(table, column)


def test_every_optimum_is_certified(table):
    for row in table:
        if row["mechanism"] != KRR:
            assert row["certified"]
            assert 0 <= row["upper_bound"] - row["mutual_information"] <= 1e-6 * row["mutual_information"]


def test_values_known_from_listing_all_rays(table):
    assert value(of(table, "relationship", KNOWN)) == pytest.approx(0.8912304568, abs=1e-9)
    assert value(of(table, "race", KNOWN)) == pytest.approx(0.1671911807, abs=1e-9)
    (at_all,) = [row for row in of(table, "race", BALL) if row["samples"] == figure_samples.RECORDS]
    assert value(at_all) == pytest.approx(0.16158838, abs=5e-9)


def test_only_the_radius_changes(table):
    for column, symbols in (("relationship", 6), ("race", 5)):
        for row in of(table, column, BALL):
            beta = math.sqrt(2 / row["samples"] * (math.log(2**symbols - 2) + 9 * math.log(10)))
            assert row["radius"] == pytest.approx(min(2, beta), rel=1e-12)


def test_randomized_response_by_its_formula(table):
    for column in ("relationship", "race"):
        counts = md.read_problem(FIGURES.parent / "problems" / f"adult-{column}.toml").problem.uncertainty
        P, e = counts.prior, math.e
        matrix = (np.ones((P.size, P.size)) + (e - 1) * np.eye(P.size)) / (e + P.size - 1)
        out = P @ matrix
        expected = float((P[:, None] * matrix * np.log(matrix / out)).sum())
        assert value(of(table, column, KRR)) == pytest.approx(expected, rel=1e-9)


def test_the_picture_has_a_panel_a_column(table):
    figure = figure_samples.draw(table)
    assert [axis.get_title() for axis in figure.axes] == ["relationship", "race"]
    for axis in figure.axes:
        assert axis.get_xscale() == "log"
        assert len(axis.lines) == 5
        assert axis.get_ylim()[1] > max(max(line.get_ydata()) for line in axis.lines[:4])


@pytest.mark.parametrize("column", figure_samples.COLUMNS)
def test_the_table_that_is_kept_says_the_same(column):
    check_order(KEPT, column)
    assert [int(row["samples"]) for row in of(KEPT, column, BALL)] == list(figure_samples.SAMPLES)
    assert {row["certified"] for row in KEPT if row["mechanism"] != KRR} == {"True"}


def test_the_table_that_is_kept_has_the_reference_values():
    expected = {KNOWN: 0.9939905941, LDP: 0.1232854303, KRR: 0.0424945648}
    for mechanism, number in expected.items():
        # Each to the tolerance of its certificate; randomized response by formula.
        assert value(of(KEPT, "education", mechanism)) == pytest.approx(number, rel=1e-6)
    for column, number in (("education", 0.9514301776), ("occupation", 0.952186783), ("race", 0.16158838)):
        (row,) = [row for row in of(KEPT, column, BALL) if row["samples"] == str(figure_samples.RECORDS)]
        assert value(row) == pytest.approx(number, rel=1e-6)
