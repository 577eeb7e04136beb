"""Errors of strings against epsilon: their order, and ratios that theory gives."""

import csv
import math

import pytest

from figures import figure_windows as figure
from figures.lib.output import FOLDER


def by_epsilon(rows):
    found = {}
    for row in rows:
        found.setdefault(float(row["epsilon"]), {})[row["mechanism"]] = float(row["error"])
    return found


@pytest.fixture(scope="module")
def kept():
    with (FOLDER / "figure_windows.csv").open(encoding="utf-8") as file:
        return by_epsilon(csv.DictReader(file))


def check_order(found):
    for errors in found.values():
        assert errors[figure.BOUND] < errors[figure.KNOWN] < errors[figure.LEARNT] < errors[figure.LEAST]
        for name in (figure.HASHING, figure.HADAMARD, figure.SKETCH):
            assert errors[name] >= errors[figure.LEAST]


def test_windows_are_near_the_bound_and_ldp_costs_its_factor(kept):
    check_order(kept)
    assert len(kept) == len(figure.EPSILONS)
    for epsilon, errors in kept.items():
        assert errors[figure.KNOWN] < 1.015 * errors[figure.BOUND]
        c = math.exp(epsilon)
        assert errors[figure.LEAST] / errors[figure.BOUND] == pytest.approx(4 * c / (c - 1), rel=0.01)


@pytest.mark.slow
def test_the_order_is_computed_anew():
    check_order(by_epsilon(figure.compute(quick=True)))
