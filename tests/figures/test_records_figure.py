"""People needed for tables of whole records against epsilon: their order, and numbers of the tests of designs."""

import csv

import pytest

from figures import figure_records as figure
from figures.lib.output import FOLDER


def by_epsilon(rows):
    found = {}
    for row in rows:
        found.setdefault(float(row["epsilon"]), {})[row["mechanism"]] = int(row["respondents"])
    return found


@pytest.fixture(scope="module")
def kept():
    with (FOLDER / "figure_records.csv").open(encoding="utf-8") as file:
        return by_epsilon(csv.DictReader(file))


def check_order(found):
    for people in found.values():
        assert people[figure.BOUND] < people[figure.KNOWN] < people[figure.LEARNT] < people[figure.BEST]
        assert people[figure.BEST] < people[figure.SMP] < people[figure.WHOLE]
        assert people[figure.STATED] < people[figure.WHOLE]
        assert people[figure.SMP] < people[figure.SPL]


def test_views_need_the_fewest_people(kept):
    check_order(kept)
    assert len(kept) == len(figure.EPSILONS)
    assert kept[1.0][figure.KNOWN] == pytest.approx(38_589, abs=3)
    assert kept[1.0][figure.LEARNT] == pytest.approx(41_687, abs=3)
    assert kept[1.0][figure.SMP] == pytest.approx(266_882, abs=3)


@pytest.mark.slow
def test_the_order_is_computed_anew(kept):
    found = by_epsilon(figure.compute(quick=True))
    check_order(found)
    for epsilon, people in found.items():
        assert people == pytest.approx(kept[epsilon], rel=1e-3)
