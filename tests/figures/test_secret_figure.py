import csv
from pathlib import Path

import pytest

from figures import figure_secret
from figures.figure_secret import BOTH, ENTROPY, LIMITS, SECRET, WHOLE

FIGURES = Path(figure_secret.__file__).parent
KEPT = list(csv.DictReader((FIGURES / "out" / "figure_secret.csv").read_text(encoding="utf-8").splitlines()))


@pytest.fixture(scope="module")
def table():
    return figure_secret.compute(quick=True)


def values(table, column, name):
    rows = [row for row in table if (row["column"], row["protected"]) == (column, name)]
    return {row["epsilon"]: float(row["mutual_information"]) for row in rows}


def check_order(table, column):
    secret, both, limits, whole = (values(table, column, name) for name in (SECRET, BOTH, LIMITS, WHOLE))
    (entropy,) = values(table, column, ENTROPY).values()
    for epsilon, value in secret.items():
        assert whole[epsilon] <= float(epsilon) < 1e9
        assert max(both[epsilon], limits[epsilon], whole[epsilon]) <= value * (1 + 1e-6)
        assert value <= entropy
    for found in (secret, both, limits, whole):
        assert list(found.values()) == sorted(found.values())


@pytest.mark.slow
def test_the_secret_alone_allows_more_than_the_whole_column(table):
    check_order(table, "relationship")
    for column in figure_secret.COLUMNS:
        check_order(KEPT, column)


def test_all_but_the_limits_are_certified():
    for row in KEPT:
        assert row["certified"] == "True" or row["protected"] == LIMITS
    assert any(row["certified"] == "False" for row in KEPT)


def test_reference_values():
    occupation = values(KEPT, "occupation", SECRET)
    assert occupation["0.1"] == pytest.approx(2.090621700, abs=1e-9)
    assert occupation["1"] == pytest.approx(2.436778424, abs=1e-9)
    assert occupation["0.1"] > 20 * values(KEPT, "occupation", WHOLE)["0.1"]
    assert values(KEPT, "relationship", BOTH)["0.5"] == pytest.approx(1.188363592, abs=1e-9)


def test_the_table_that_is_kept_is_what_is_computed(table):
    kept = {(row["column"], row["protected"], row["epsilon"]): row for row in KEPT}
    for row in table:
        same = kept[row["column"], row["protected"], row["epsilon"]]
        assert float(same["mutual_information"]) == pytest.approx(row["mutual_information"], rel=1e-4)


def test_the_picture_has_a_panel_a_column(table):
    axes = figure_secret.draw(table).axes
    assert [axis.get_title() for axis in axes] == ["reports on relationship"]
    assert len(axes[0].lines) == 5
