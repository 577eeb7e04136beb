"""One view of each record: what the whole promises, and the theorem by brute force in rationals."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from mechdesign import Guarantee, L1Ball, Mechanism
from mechdesign.records import RecordMechanism, RecordPart, View
from mechdesign.records.record_views import join, split
from tests.records.made import HALF, both, raises, warner


@pytest.mark.parametrize("cases", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_the_leakage_of_the_whole_is_the_greatest_of_a_view_for_any_joint_law(cases):
    """Theorem 1, exactly: random joint laws with zeros over two attributes and their pair, random mechanisms."""
    rng = np.random.default_rng(cases)
    for _ in range(cases):
        sizes = rng.integers(2, 4, size=2)
        law = rng.integers(0, 5, size=sizes) * rng.integers(0, 2, size=sizes)
        if not law.any():
            continue
        records = [record for record in np.ndindex(*sizes) if law[record]]
        P = {record: Fraction(int(law[record]), int(law.sum())) for record in records}
        views = [lambda x: x[0], lambda x: x[1], lambda x, n=int(sizes[1]): x[0] * n + x[1]]
        weights = [Fraction(int(w)) for w in rng.integers(1, 9, size=3)]
        greatest_whole, greatest_part = Fraction(0), Fraction(0)
        for view, weight, N in zip(views, weights, (*sizes, sizes[0] * sizes[1]), strict=True):
            K = rng.integers(0, 4, size=(N, 3))
            K[:, 0] += 1
            K = [[Fraction(int(entry), int(row.sum())) for entry in row] for row in K]
            marginal = {}
            for x, p in P.items():
                marginal[view(x)] = marginal.get(view(x), 0) + p
            for r in range(3):
                column = {x: weight / sum(weights) * K[view(x)][r] for x in records}
                mean = sum(P[x] * column[x] for x in records)
                if mean == 0:
                    continue
                whole = max(column.values()) / mean
                own = max(K[z][r] for z in marginal) / sum(p * K[z][r] for z, p in marginal.items())
                assert whole == own
                greatest_whole, greatest_part = max(greatest_whole, whole), max(greatest_part, own)
        assert greatest_whole == greatest_part


def test_epsilon_is_the_greatest_and_deltas_add_exactly():
    first = RecordPart("a", ("a",), 1, warner(epsilon="log(3)", delta="1e-9"))
    second = RecordPart("b", ("b",), 3, warner(epsilon="1.2", delta="1/3"))
    found = RecordMechanism([first, second], weight_bits=2)
    assert str(found.guarantee.epsilon) == "1.2"
    assert found.guarantee.delta == Fraction(1, 10**9) + Fraction(1, 3)
    assert found.leakage == max(first.mechanism.leakage, second.mechanism.leakage)
    assert found.shares == (0.25, 0.75)


def test_local_differential_privacy_needs_no_delta():
    assert both().guarantee.delta is None
    assert "local differential privacy" in both().guarantee.in_words()
    mixed = [RecordPart("a", ("a",), 1, warner()), RecordPart("b", ("b",), 1, warner(epsilon=1.1, delta="1e-9"))]
    assert RecordMechanism(mixed, weight_bits=1).guarantee.delta == Fraction(1, 10**9)


def test_parts_that_are_no_record_mechanism_are_refused():
    part = RecordPart("a", ("a",), 1, warner())
    with raises("wrong-sum"):
        RecordMechanism([part], weight_bits=1)
    with raises("column-twice"):
        RecordMechanism([part, part], weight_bits=1)
    with raises("column-twice"):
        RecordMechanism([part, RecordPart("again", ("a",), 1, warner())], weight_bits=1)
    with raises("wrong-size"):
        RecordMechanism([])
    with raises("not-a-whole-number"):
        RecordPart("a", ("a",), 0, warner())
    with raises("labels-differ"):
        RecordPart("a+b", ("a", "b"), 1, warner())
    with raises("wrong-type"):
        RecordPart("a", ("a",), 1, both())
    with raises("wrong-type"):
        RecordPart("a", "a", 1, warner())


@pytest.mark.parametrize("verb", ["product", "repeated", "then"])
def test_what_has_no_bound_is_refused_by_name(verb):
    with raises("set-not-accepted"):
        getattr(both(), verb)(both())


def test_the_fingerprint_depends_on_all_that_reports_depend_on():
    prints = {both().fingerprint, both(labels=("nein", "ja")).fingerprint}
    uneven = [replace(part, weight=weight) for part, weight in zip(both().parts, (1, 3), strict=True)]
    prints.add(RecordMechanism(uneven, weight_bits=2).fingerprint)
    prints.add(RecordMechanism(both().parts[::-1], weight_bits=2).fingerprint)
    assert len(prints) == 4


def test_views_have_names_and_labels_of_groups_are_read_back():
    assert View(("sex", "salary"), {"f & low": 1, "m & high": 2}).name == "sex+salary"
    assert [split(label, 2) for label in join([("a", "b"), ("c", "d")])] == [("a", "b"), ("c", "d")]
    with raises("ambiguous-labels"):
        join([("a & b", "c"), ("a", "b & c")])
    with raises("label-twice"):
        View(("a", "a"), {"x": 1})
    with raises("out-of-range"):
        View(("a",), {"x": 1, "y": 2}, value=0)


def test_columns_whose_names_read_alike_together_are_different_views():
    grid = L1Ball([Fraction(1, 4)] * 4, radius=2, labels=join([(a, b) for a in ("no", "yes") for b in ("no", "yes")]))
    pair = Mechanism(np.ones((4, 4), dtype=int) + 4 * np.eye(4, dtype=int), 3, Guarantee("log(5)", grid))
    names = [("a and b", "c"), ("a", "b and c")]
    made = RecordMechanism([RecordPart("+".join(each), each, 1, pair) for each in names], weight_bits=1)
    assert len(made.parts) == 2
    with raises("column-twice"):
        RecordMechanism([RecordPart(name, of, 1, pair) for name, of in (("x", ("a", "b")), ("y", ("b", "a")))], 1)


def test_a_sum_of_deltas_that_a_known_law_hides_is_told():
    known = Mechanism(
        np.array([[3, 1], [1, 3]]), 2, Guarantee("log(3)", L1Ball(HALF, labels=["no", "yes"], radius="0.1"))
    )
    parts = [RecordPart("a", ("a",), 1, known), RecordPart("b", ("b",), 1, warner(epsilon=1.1, delta="1e-9"))]
    made = RecordMechanism(parts, weight_bits=1)
    assert made.guarantee.delta is None
    assert dict(made.facts())["delta"].startswith("none in all: of a ")
    assert "delta" not in dict(RecordMechanism([parts[0], RecordPart("b", ("b",), 1, known)], 1).facts())
