"""Tables that views share: exact agreement, differences, and tables that no joint law has."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import mechdesign as md
from mechdesign import L1Ball
from mechdesign.records.shared_tables import shared_tables
from tests.records.made import raises

CELLS = [" & ".join(pair) for pair in product("ab", "xyz")]


def known(counts, labels):
    return L1Ball.from_counts(dict(zip(labels, counts, strict=True)), known=True)


def test_tables_of_one_sample_agree_exactly():
    rng = np.random.default_rng(1)
    joint = rng.integers(0, 9, (2, 3, 2)) + 1
    views = [
        ("A+B", ("A", "B"), known(joint.sum(axis=2).ravel().tolist(), CELLS)),
        ("C+A", ("C", "A"), known(joint.sum(axis=1).T.ravel().tolist(), ["0 & a", "0 & b", "1 & a", "1 & b"])),
        ("B", ("B",), L1Ball.from_counts(dict(zip("xyz", joint.sum(axis=(0, 2)).tolist(), strict=True)), delta=0.01)),
    ]
    found = shared_tables(views)
    assert [table.attributes for table in found] == [("A",), ("B",)]
    assert [table.distance for table in found] == [0, 0]
    assert shared_tables(views[1:]) == ()


def test_one_person_more_is_seen():
    counts = [10_000_000, 3, 5, 7, 2, 10**9]
    pair = known(counts, CELLS)
    single = known([counts[0] + counts[3], counts[1] + counts[4], counts[2] + counts[5] + 1], "xyz")
    (found,) = shared_tables([("A+B", ("A", "B"), pair), ("B", ("B",), single)])
    total = sum(counts)
    exact = [abs(Fraction(a, total) - b) for a, b in zip((counts[0] + 7, 5, 5 + 10**9), single.center, strict=True)]
    assert found.distance == sum(exact) > 0
    assert found.contradicts  # both laws are taken as known
    assert "B 'z'" in found.in_words()


@pytest.mark.parametrize(("radius", "void"), [("0.19", True), ("0.2", False), ("0.21", False)])
def test_balls_contradict_each_other_exactly_where_no_law_is_in_both(radius, void):
    """The l1 distance of (1/2, 1/2) and (7/10, 3/10) is 2/5: two radii of 1/5 still touch."""
    views = [(name, ("A",), L1Ball(law, radius, ["a", "b"])) for name, law in (("1", [0.5, 0.5]), ("2", [0.7, 0.3]))]
    (found,) = shared_tables(views)
    assert (found.distance, found.contradicts) == (Fraction(2, 5), void)


def test_the_set_that_allows_least_is_compared():
    law, other, labels = [Fraction(1, 2)] * 2, [Fraction(7, 10), Fraction(3, 10)], ["a", "b"]
    views = [("wide", ("A",), L1Ball(law, 1, labels)), ("narrow", ("A",), L1Ball(law, "0.1", labels))]
    (found,) = shared_tables([*views, ("other", ("A",), L1Ball(other, "0.2", labels))])
    assert (found.views, found.contradicts) == (("narrow", "other"), True)


def test_views_for_every_prior_have_no_estimate():
    views = [("1", ("A",), L1Ball([0.5, 0.5], 2, ["a", "b"])), ("2", ("A",), L1Ball([0.7, 0.3], 0, ["a", "b"]))]
    assert shared_tables(views) == ()


def test_a_design_refuses_tables_that_no_joint_law_has():
    views = [
        md.records.View(("A", "B"), dict.fromkeys(CELLS, 10)),
        md.records.View(("B",), {"x": 30, "y": 20, "z": 10}),
    ]
    with raises("evidence-contradicts") as error:
        md.design_records(views, 1, known=True)
    assert "'A+B' and 'B'" in str(error.value)
    assert md.design_records(views, 1, delta="1e-9").mechanism.leakage <= 1  # other samples of one population may be so
