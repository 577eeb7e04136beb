"""Numbers that others print: each agrees with ours, or differs for the reason that the atlas gives."""

from collections import Counter
from functools import cache

import pytest

from atlas.__main__ import FAMILIES, PAGE, compared, page
from atlas.numbers import Number, Ours, numbers


@cache
def rows():
    return compared()


def number(printed, **tolerance):
    return Number("a", "asserted", "b", "c", {}, printed, **tolerance)


def test_a_number_agrees_within_the_tolerance_of_its_source():
    assert number(1, absolute=0.1).agrees(Ours(1.05))
    assert not number(1, absolute=0.1).agrees(Ours(1.2))
    assert number([1, 2], relative=0.1).agrees(Ours([1.05, 2.1]))
    assert not number([1, 2], relative=0.1).agrees(Ours([1.05, 2.3]))
    assert not number(1).agrees(Ours(1 + 1e-8))
    assert number(float("inf"), absolute=1e-9).agrees(Ours(float("inf")))


def test_the_error_of_a_mechanism_is_held_against_the_bound():
    assert number(1).agrees(Ours(1.1, bound=0.9), not_below=True)
    assert not number(1).agrees(Ours(1.1, bound=1.05), not_below=True)
    assert not number(1).agrees(Ours(1.1), not_below=True)


def test_each_number_is_of_a_family_and_each_family_has_numbers():
    assert {each.family for each in numbers()} == set(FAMILIES)


def test_numbers_of_histograms_and_channels_agree():
    for name in ("gaussian-delta", "zcdp-delta", "posterior-bayes-vulnerability", "epsilon-of-a-kept-share"):
        assert all(row.agrees for row in compared(name)), name


@pytest.mark.slow
def test_a_number_differs_only_where_the_atlas_says_why():
    differing = Counter(row.number.family for row in rows() if not row.agrees)
    assert set(differing) == {name for name, family in FAMILIES.items() if family.differs}


@pytest.mark.slow
def test_numbers_that_differ_do_so_as_the_reason_says():
    for row in rows():
        family, printed, ours = row.number.family, row.number.printed, row.ours.value
        if family == "gaussian-variance":
            assert 1 <= printed / ours <= 1.001**2
        elif row.agrees:
            continue
        elif family == "partition-threshold":
            assert 1 <= (printed - 1) / (ours - 1) <= 1.001
        elif family == "epsilon-of-two-rounds":
            assert ours < printed
        elif family == "epsilon-of-fast-subset-selection":
            assert ours > printed
        else:
            assert family == "accuracy-of-top-k"
            assert row.ours.bound >= ours[1] > printed[1] - 1e-12


@pytest.mark.slow
def test_the_page_is_that_of_the_numbers():
    assert PAGE.read_text(encoding="utf-8") == page(rows())
