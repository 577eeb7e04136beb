"""Files that say that they hold a table: what is claimed of the integers is checked when they are read."""

import json
from fractions import Fraction

import numpy as np
import pytest
from refusals import raises
from tables import RELATIONSHIP

import mechdesign as md
from mechdesign.mechanism.table_claims import TableClaim, TableConstraints


@pytest.fixture(scope="module")
def found():
    return md.design_table(
        RELATIONSHIP, 2, delta=1e-9, floors={"Husband": "0.999"}, forbidden=[("Husband", "Wife")], title="six"
    )


@pytest.fixture
def edited(found, tmp_path):
    """Write the file of a table after an edit, and read it."""

    def edit(change):
        path = tmp_path / "table.json"
        found.mechanism.save(path)
        content = json.loads(path.read_text(encoding="utf-8"))
        change(content)
        path.write_text(json.dumps(content), encoding="utf-8")
        return md.Mechanism.load(path)

    return edit


@pytest.mark.parametrize("ending", ["json", "npz"])
def test_a_table_comes_back_from_its_file(found, ending, tmp_path):
    path = tmp_path / f"table.{ending}"
    found.mechanism.save(path)
    again = md.Mechanism.load(path)
    assert again.table == found.mechanism.table
    assert again.table.constraints.floors == (Fraction(999, 1000), 0, 0, 0, 0, 0)
    checked = md.verify(again)
    assert checked.optimal
    assert checked.value == found.value
    assert "unchanged-share" in repr(checked)


def moved(content, x, y, z, amount):
    row = content["numerators"][x]
    row[y] -= amount
    row[z] += amount


@pytest.mark.parametrize(
    ("change", "code", "shown"),
    [
        (lambda c: moved(c, 3, 3, 2, 1), "constraint-false", "not invariant"),
        (lambda c: moved(c, 0, 0, 4, 1), "constraint-false", "forbidden pair"),
        (lambda c: c["table"].update(floors={"Wife": "0.99"}), "constraint-false", "the floor of 'Wife' is 0.99"),
        (lambda c: c["table"].update(forbidden=[["Wife", "Unmarried"]]), "constraint-false", "'Unmarried'"),
        (lambda c: c["table"].update(floors={"Aunt": "0.1"}), "unknown-label", "'Aunt'"),
        (lambda c: c["table"].update(forbidden=[["Wife", "Wife"]]), "wrong-size", "two of them"),
        (lambda c: c["outputs"].reverse(), "labels-differ", "outputs"),
        (lambda c: c["table"]["optimality"]["lambda"].pop(), "wrong-size", "[5, 6]"),
        (lambda c: c["table"]["optimality"].update(lower_bound=0.5), "conflicting-keys", "upper_bound"),
        (lambda c: c["table"].update(margins=True), "unknown-key", "margins"),
        (lambda c: c["guarantee"].update(epsilon="0.5"), "guarantee-false", "epsilon = 0.5"),
    ],
)
def test_a_table_that_is_not_what_its_file_says_is_refused(edited, change, code, shown):
    with raises(code, shown):
        edited(change)


def test_a_moved_floor_is_another_problem_whose_bound_is_not_proved(edited):
    """A lower floor is kept all the same, and other tables may then be better than the bound."""
    mechanism = edited(lambda c: c["table"].update(floors={}))
    with raises("wrong-size"):
        edited(lambda c: c["table"]["optimality"]["sigma"].pop())
    with raises("optimality-false", "upper bound"):
        md.verify(mechanism)


def test_other_counts_are_another_promise(edited):
    """Invariance is about the counts of the promise: with others the integers are not invariant."""

    def change(content):
        content["guarantee"]["counts"][0] += 1
        content["guarantee"]["samples"] += 1
        content["guarantee"]["epsilon"] = "2.1"

    with raises("constraint-false", "not invariant"):
        edited(change)


def test_a_table_without_a_claim_about_others_is_verified(edited):
    checked = md.verify(edited(lambda c: c["table"].pop("optimality")))
    assert checked.proof.holds
    assert checked.value is None


def test_what_is_made_of_a_table_is_no_table(found):
    merged = found.mechanism.then(
        dict.fromkeys(found.mechanism.outputs[:2], "any") | {label: label for label in found.mechanism.outputs[2:]}
    )
    assert merged.table is None
    assert merged.optimality is None


def test_a_table_may_be_made_by_hand():
    half = md.L1Ball(["1/2", "1/2"], labels=["a", "b"])
    claim = TableClaim(TableConstraints((Fraction(1, 2), Fraction(1, 2))))
    made = md.Mechanism(np.array([[3, 1], [1, 3]]), 2, md.Guarantee("log(3/2)", half), ("a", "b"), table=claim)
    assert made.claim is None
    with raises("constraint-false", "'a'"):
        md.Mechanism(np.array([[3, 1], [2, 2]]), 2, md.Guarantee(1, half), ("a", "b"), table=claim)
