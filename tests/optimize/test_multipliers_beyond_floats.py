"""Multipliers whose sums, times values of columns, no float holds are noticed before anything is computed from them."""

import math
from fractions import Fraction

import numpy as np
import pytest

import mechdesign as md
from mechdesign.optimize.pricing import pricing_for

WEIGHTS = [10**15 + 7 * i**2 for i in range(20)]
SETS = {
    "tables": md.L1Ball.from_counts(range(1, 21), known=True),
    "search": md.L1Ball([Fraction(weight, sum(WEIGHTS)) for weight in WEIGHTS]),
}


@pytest.mark.parametrize("known", SETS.values(), ids=SETS)
@pytest.mark.parametrize(
    ("exp_epsilon", "multipliers"),
    [
        (1e200, [1e120] * 20),  # times the greatest value of a column
        (1e200, [-1e120] * 20),
        (1.5, [3e307, *[0.0] * 19]),  # added up several times
        (1.5, [1e307] * 10 + [-1e307] * 10),
    ],
)
def test_nothing_is_looked_at(known, exp_epsilon, multipliers):
    price = pricing_for(known, exp_epsilon, md.MutualInformation()).price(np.array(multipliers))
    assert (price.upper, price.method, price.columns) == (math.inf, "multipliers beyond floats", 0)


@pytest.mark.parametrize("known", SETS.values(), ids=SETS)
def test_great_multipliers_that_floats_hold_are_priced(known):
    price = pricing_for(known, 1.5, md.MutualInformation()).price(np.array([-1e305, *[0.0] * 19]), thorough=False)
    assert price.method != "multipliers beyond floats"
    assert 1e305 <= price.upper < 1e307
