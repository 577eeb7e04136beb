"""A cap for everyone on whole records: for any two records in integers, beside the leakage, and what it costs."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

import mechdesign as md
from mechdesign.records import RecordMechanism, View
from mechdesign.records.record_design import design_records
from tests.helpers.refusals import raises

THREE = {
    "smokes": {"yes": 25, "no": 75},
    "town": {"a": 50, "b": 30, "c": 20},
    "age": {"young": 10, "middle": 60, "old": 30},
}
BY_SEX = {"f": {"a": 20, "b": 10, "c": 5}, "m": {"a": 10, "b": 15, "c": 20}}


def columns_of_records(mechanism):
    """For each report the numerators of its probability given every record: ``w_i K_i(r | f_i(x))``."""
    views = [part.mechanism for part in mechanism.parts]
    records = list(product(*(range(len(view.inputs)) for view in views)))
    for i, (part, view) in enumerate(zip(mechanism.parts, views, strict=True)):
        scale = Fraction(part.weight, 1 << view.bits)
        for column in view.numerators.T.tolist():
            yield [scale * column[record[i]] for record in records]


@pytest.mark.parametrize("cap", ["log(3)", "2", "3.5"])
def test_no_two_records_are_told_apart_by_more_than_the_cap(cap):
    found = design_records(THREE, 1, cap=cap, known=True)
    promise = found.mechanism.guarantee
    least, ratios, lifts = 1 / promise.cap.exp_down, [], []
    laws = [np.array([*counts.values()]) / 100 for counts in THREE.values()]
    joint = np.einsum("i,j,k->ijk", *laws)
    tied = joint + 0.02 * np.einsum("i,j,k->ijk", [1, -1], [1, 0, -1], [0, 1, -1])  # with the same tables of one way
    assert (tied > 0).all()
    for column in columns_of_records(found.mechanism):
        assert min(column) >= least * max(column)
        ratios.append(max(column) / min(column))
        v = np.array(column, dtype=float)
        lifts += [max(column) / (law.ravel() @ v) for law in (joint, tied)]
    assert float(max(ratios)) > float(promise.cap.exp_down) ** 0.99
    assert max(lifts) <= np.e * (1 + 1e-12)
    assert f"cap = {cap}" in promise.in_words()
    assert float(found.mechanism.level) <= float(promise.cap) * (1 + 1e-12)


def test_errors_fall_with_the_cap_from_those_of_local_privacy():
    capped = [design_records(THREE, 1, cap=cap, known=True) for cap in (1, 1.5, 2, 4)]
    errors = [found.error for found in (*capped, design_records(THREE, 1, known=True))]
    assert all(one > other for one, other in pairwise(errors))
    assert all(found.bound <= errors[-1] for found in capped)
    ldp = [View((name,), md.L1Ball.from_counts(counts, radius=2)) for name, counts in THREE.items()]
    assert errors[0] == pytest.approx(design_records(ldp, 1).error, rel=1e-5)


def test_a_cap_is_promised_where_every_view_has_it():
    low, high, free = (design_records(THREE, 1, cap=cap, known=True).mechanism for cap in (2, 3, None))
    assert str(low.guarantee.cap) == "2"
    assert free.guarantee.cap is free.level is None

    def mixed(other):
        changed = replace(low.parts[0], mechanism=other.parts[0].mechanism)
        return RecordMechanism([changed, *low.parts[1:]], weight_bits=low.weight_bits).guarantee

    assert str(mixed(high).cap) == "3"
    assert mixed(free).cap is None
    assert "differential" not in mixed(free).in_words()


def test_beside_a_secret_the_rest_of_the_record_has_the_cap(tmp_path):
    view = View(("town",), BY_SEX, secret="sex")
    found = design_records([view], "0.3", cap=2, known=True)
    promise = found.mechanism.guarantee
    assert "about the attribute 'sex' alone" in promise.in_words()
    assert "cap = 2" in promise.in_words()
    assert "nothing is promised" not in promise.in_words()
    for column in columns_of_records(found.mechanism):
        assert min(column) * promise.cap.exp_down >= max(column)
    found.mechanism.save(tmp_path / "records.json")
    assert RecordMechanism.load(tmp_path / "records.json").guarantee == promise
    free = design_records([view], "0.3", known=True)
    assert free.error < found.error
    assert "nothing is promised" in free.mechanism.guarantee.in_words()


def test_a_view_of_any_strings_keeps_the_cap_too():
    words = {f"w{i}": 1000 - i for i in range(200)}
    views = [View(("word",), words, windows={"seeds": 20, "buckets": 64}), View(("town",), THREE["town"])]
    found = design_records(views, 1, cap=3, known=True)
    assert [str(part.mechanism.guarantee.cap) for part in found.mechanism.parts] == ["3", "3"]
    assert str(found.mechanism.guarantee.cap) == "3"
    with raises("out-of-range", "the view word"):
        design_records(views, 1, cap=1, known=True)


@pytest.mark.parametrize(("cap", "code"), [("-1", "epsilon-out-of-range"), ("inf", "epsilon-out-of-range")])
def test_caps_that_cannot_be_are_refused(cap, code):
    with raises(code):
        design_records(THREE, 1, cap=cap, known=True)
