"""Tables that agree two by two and have no joint law, against a linear program of another package."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from scipy.optimize import linprog

import mechdesign as md
from mechdesign.cli.record_output import check_records
from mechdesign.records import RecordMechanism, RecordPart, View, joint_existence
from mechdesign.records.joint_existence import no_joint_law
from mechdesign.records.shared_tables import shared_tables
from tests.records.made import raises

PAIRS = tuple(combinations("abc", 2))


def counts_of(table):
    return {f"{i} & {j}": int(n) for (i, j), n in np.ndenumerate(table)}


def views(tables, **known):
    made = [md.L1Ball.from_counts(counts_of(table), **known) for table in tables]
    return [("+".join(pair), pair, ball) for pair, ball in zip(PAIRS, made, strict=True)]


def has_joint_law(tables, sizes):
    """Whether a law has these pairs, by scipy."""
    records = list(product(*map(range, sizes)))
    rows, right = [], []
    for (one, other), table in zip(combinations(range(3), 2), tables, strict=True):
        for (i, j), n in np.ndenumerate(table):
            rows.append([float(x[one] == i and x[other] == j) for x in records])
            right.append(n / table.sum())
    return linprog(np.zeros(len(records)), A_eq=rows, b_eq=right).status == 0


def bits(differ):
    """Three fair bits any two of which differ with this probability, in hundredths."""
    return [np.array([[100 - differ, differ], [differ, 100 - differ]])] * 3


def test_three_bits_any_two_of_which_differ_too_often_have_no_joint_law():
    for differ in (1, 50, 66):
        assert no_joint_law(views(bits(differ), known=True)) is None  # up to 2/3
    for differ in (67, 90, 99):
        assert no_joint_law(views(bits(differ), known=True)).views == ("a+b", "a+c", "b+c")
    assert no_joint_law(views(bits(90), known=True)[:2]) is None
    assert not any(shared.contradicts for shared in shared_tables(views(bits(90), known=True)))


def test_radii_leave_room_as_the_lemma_says():
    """The distance to the nearest tables with a joint law: each probability of differing falls to 2/3."""
    ball = [md.L1Ball([Fraction(1, 20), Fraction(9, 20), Fraction(9, 20), Fraction(1, 20)], radius, ("0 & 0", "0 & 1",
            "1 & 0", "1 & 1")) for radius in ("0.46", "0.47")]  # fmt: skip
    away = 2 * (Fraction(9, 10) - Fraction(2, 3))
    assert Fraction("0.46") < away < Fraction("0.47")
    found = [no_joint_law([("+".join(pair), pair, each) for pair in PAIRS]) for each in ball]
    assert found[0] is not None
    assert found[1] is None


def test_what_is_found_is_what_another_program_finds():
    rng, told = np.random.default_rng(2), []
    sizes = (2, 3, 2)
    for _ in range(60):
        joint = rng.integers(1, 40, sizes) ** 2
        real = [joint.sum(axis=2), joint.sum(axis=1), joint.sum(axis=0)]
        assert no_joint_law(views(real, known=True)) is None
        moved = [table * 10 for table in real]
        for table in moved:  # a square of moves leaves all single columns as they are
            step = int(rng.integers(0, table[:2, :2].min()))
            table[:2, :2] += step * np.array([[1, -1], [-1, 1]]) * rng.choice([-1, 1])
        if min(table.min() for table in moved) > 0:
            wanted = has_joint_law(moved, sizes)
            assert (no_joint_law(views(moved, known=True)) is None) == wanted
            told.append(wanted)
    assert 5 < sum(told) < len(told) - 5


def test_designs_and_files_without_a_joint_law_are_refused(tmp_path):
    tables = {pair: counts_of(table) for pair, table in zip(PAIRS, bits(90), strict=True)}
    with raises("evidence-contradicts") as error:
        md.design_records([View(pair, table) for pair, table in tables.items()], 1, known=True)
    assert "a+b, a+c, b+c together" in str(error.value)
    assert md.design_records([View(pair, table) for pair, table in list(tables.items())[:2]], 1, known=True).certified
    numerators = np.full((4, 4), 1, dtype=np.int64) + 4 * np.eye(4, dtype=np.int64)
    parts = []
    for pair, known in ((pair, md.L1Ball.from_counts(table, known=True)) for pair, table in tables.items()):
        parts.append(RecordPart("+".join(pair), pair, 1, md.Mechanism(numerators, 3, md.Guarantee("log(8)", known))))
    whole = RecordMechanism([*parts, RecordPart("d", ("d",), 1, parts[0].mechanism)], weight_bits=2)
    with raises("guarantee-false"):
        check_records(whole, lambda _: None, claims=False)


def test_large_views_and_other_sets_are_left_alone(monkeypatch):
    told = views(bits(90), known=True)
    hull = md.ConvexHull([[Fraction(1, 4)] * 4, ["0.3", "0.2", "0.2", "0.3"]], None, told[0][2].labels)
    assert no_joint_law([*told[:2], ("b+c", ("b", "c"), hull)]) is None
    monkeypatch.setattr(joint_existence, "MOST_RECORDS", 7)
    assert no_joint_law(told) is None


@pytest.mark.parametrize("samples", [100, 10_000_000])
def test_samples_contradict_each_other_where_there_are_enough(samples):
    found = no_joint_law(views([table * (samples // 100) for table in bits(70)], delta="1e-9"))
    assert (found is not None) == (samples > 100)
