"""Tables that views share: exact agreement, differences, and tables that no joint law has."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

import mechdesign as md
from mechdesign import L1Ball
from mechdesign.records.shared_tables import shared_tables
from mechdesign.uncertainty import Box
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


def random_set(rng, labels):
    """A hull of laws, or limits of probabilities, with what linear programs need: rows and limits of a law's masses."""
    rows = rng.integers(1, 9, (3, len(labels)))
    if rng.random() < 0.5:
        laws = [[Fraction(int(one), int(row.sum())) for one in row] for row in rows[: rng.integers(1, 4)]]
        return md.ConvexHull(laws, labels=labels), np.array(laws, dtype=float).T, None
    known = Box.from_counts(dict(zip(labels, rows[0].tolist(), strict=True)), delta=0.9)
    return (
        known,
        np.eye(len(labels)),
        [(float(low), float(high)) for low, high in zip(known.lower, known.upper, strict=True)],
    )


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(60))
def test_two_sets_contradict_each_other_exactly_where_a_linear_program_finds_no_joint_law(seed):
    """They share a column of two values: two laws of it are one where its values have one probability in both."""
    rng = np.random.default_rng(seed)
    first, corners, limits = random_set(rng, CELLS)
    second, others, other_limits = random_set(rng, ["a", "b"])
    (found,) = shared_tables([("A+B", ("A", "B"), first), ("A", ("A",), second)])
    sizes = [corners.shape[1], others.shape[1]]
    a = np.array([cell.startswith("a") for cell in CELLS])
    rows = [[*np.ones(sizes[0]), *np.zeros(sizes[1])], [*np.zeros(sizes[0]), *np.ones(sizes[1])]]
    rows.append([*corners[a].sum(axis=0), *-others[0]])
    bounds = [*(limits or [(0, 1)] * sizes[0]), *(other_limits or [(0, 1)] * sizes[1])]
    program = linprog(np.zeros(sum(sizes)), A_eq=rows, b_eq=[1, 1, 0], bounds=bounds)
    assert found.contradicts == (program.status == 2)


def test_a_ball_and_limits_that_have_no_law_in_common_are_told_with_the_limits():
    ball = L1Ball([Fraction(9, 10), Fraction(1, 10)], "0.2", ["a", "b"])
    hull = md.ConvexHull([["0.2", "0.1", "0.1", "0.6", 0, 0], ["0.6", 0, 0, "0.1", "0.1", "0.2"]], labels=CELLS)
    (found,) = shared_tables([("A+B", ("A", "B"), hull), ("A", ("A",), ball)])
    assert (found.contradicts, found.limits) == (True, (Fraction(3, 5), Fraction(4, 5)))
    assert "at most 0.6, the other at least 0.8" in found.contradiction()
    views = [md.records.View(("A", "B"), hull), md.records.View(("A",), ball)]
    with raises("evidence-contradicts"):
        md.design_records(views, 1)
    nearer = L1Ball([Fraction(9, 10), Fraction(1, 10)], "0.6", ["a", "b"])
    assert not shared_tables([("A+B", ("A", "B"), hull), ("A", ("A",), nearer)])[0].contradicts
