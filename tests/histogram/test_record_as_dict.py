"""A record has the parameters that its mechanism has, as exact text."""

from fractions import Fraction

import pytest

import mechdesign as md
from mechdesign.histogram import ReleaseRecord


def shown(**given):
    words = ("laplace", "a notion", md.Epsilon.of(1), 1e-9, "neighbours", "discrete", "an analysis", "a source", ())
    return ReleaseRecord(*words, **given).as_dict()


def test_what_a_mechanism_has_not_is_left_out():
    assert not {"k", "sigma", "tau", "value_sigma", "scale", "alpha"} & set(shown())
    assert shown(k=5)["k"] == 5
    assert set(shown(k=5, tau=Fraction(3))) - set(shown()) == {"k", "tau"}


@pytest.mark.parametrize(
    ("value", "text"), [((5, 2), "2.5"), ((1, 3), "1/3"), ((7, 1), "7"), ((10**20, 1), "1" + "0" * 20)]
)
def test_numbers_are_exact_text(value, text):
    found = shown(sigma=Fraction(*value))["sigma"]
    assert found == text
    assert Fraction(found) == Fraction(*value)
