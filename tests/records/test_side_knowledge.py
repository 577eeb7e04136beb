"""What reports leak to somebody who knows another attribute, and designs against it."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest

import mechdesign as md
from mechdesign.records import View, views_of
from mechdesign.records.side_knowledge import leakage_given, set_against, side_leakages
from tests.helpers.refusals import raises

ROOT = Path(__file__).parent.parent.parent
JOINT = md.read_problem(ROOT / "problems" / "adult-secret-sex-relationship.toml").problem.uncertainty.joint
RELATIONSHIP = {
    sex: dict(zip(JOINT.labels, row, strict=True)) for sex, row in zip(JOINT.values, JOINT.counts, strict=True)
}
SEX = dict(zip(JOINT.values, JOINT.of_values, strict=True))
RECORDS = ROOT.parent / "shared" / "data" / "adult.data"
COLUMNS = {"workclass": 1, "education": 3, "marital-status": 5, "occupation": 6, "relationship": 7, "race": 8, "sex": 9}
GIVEN = {  # leakage of the reports of a view to somebody who knows an attribute; epsilon 1, known laws
    ("relationship", "sex"): 9.29,
    ("marital-status", "sex"): 2.09,
    ("occupation", "sex"): 1.69,
    ("workclass", "sex"): 1.16,
    ("education", "sex"): 1.12,
    ("race", "sex"): 1.06,
    ("marital-status", "relationship"): 7.29,
    ("sex", "relationship"): 6.66,
}


def pooled(counts):
    return {label: sum(row[label] for row in counts.values()) for label in next(iter(counts.values()))}


def for_estimates(counts):
    return md.design(md.DesignProblem(md.L1Ball.from_counts(counts, known=True), 1, md.EstimationError())).mechanism


def test_reports_about_relationship_leak_to_somebody_who_knows_sex():
    """9.3 nats, where 1 is promised to somebody who knows nothing."""
    mechanism = for_estimates(pooled(RELATIONSHIP))
    found = leakage_given(mechanism, RELATIONSHIP)
    assert max(found.values()) == pytest.approx(9.29, abs=0.02)
    for sex, counts in RELATIONSHIP.items():
        Q = np.array([counts[label] for label in mechanism.inputs]) / sum(counts.values())
        assert found[sex] == pytest.approx(np.log(mechanism.matrix.max(axis=0) / (Q @ mechanism.matrix)).max())


@pytest.mark.slow
@pytest.mark.skipif(not RECORDS.exists(), reason="the records of Adult are not here")
def test_leakage_to_those_who_know_another_attribute_of_adult():
    with RECORDS.open(encoding="utf-8") as file:
        rows = [row for row in csv.reader(file, skipinitialspace=True) if row]
    for (view, given), leakage in GIVEN.items():
        counts = {}
        labels = sorted({row[COLUMNS[view]] for row in rows})
        for row in rows:
            counts.setdefault(row[COLUMNS[given]], dict.fromkeys(labels, 0))[row[COLUMNS[view]]] += 1
        found = leakage_given(for_estimates(pooled(counts)), counts)
        assert max(found.values()) == pytest.approx(leakage, abs=0.012)


def test_only_what_is_possible_given_the_value_counts():
    ball = md.L1Ball([0.5, 0.25, 0.25], labels=["a", "b", "c"])
    told = md.Mechanism(np.diag([4, 4, 4]).astype(np.int64), 2, md.Guarantee("log(4)", ball))
    assert leakage_given(told, {"x": {"a": 3, "b": 1, "c": 0}, "y": {"a": 0, "b": 0, "c": 5}}) == {
        "x": pytest.approx(math.log(4)),
        "y": 0,
    }
    with raises("unknown-label", "d"):
        leakage_given(told, {"x": {"a": 1, "d": 1}, "y": {"a": 1, "d": 2}})


@pytest.mark.parametrize("delta", [None, "1e-9"])
def test_a_design_against_side_knowledge_keeps_its_promise_there(delta):
    counts = {"relationship": RELATIONSHIP, "sex": SEX}
    found = md.design_records(counts, 1, delta=delta, known=delta is None)
    assert max(leakage_given(found.mechanism.parts[0].mechanism, RELATIONSHIP).values()) <= 1
    error = found.designs[0].value
    assert found.designs[0].certified
    if delta is None:
        assert error == pytest.approx(4.562, abs=1e-3)  # 3.009 where nobody knows sex
    else:
        assert error > 4.562
        assert found.mechanism.guarantee.delta == found.views[0].prior.delta + found.views[1].prior.delta
        assert str(found.mechanism.guarantee.delta) == "1/1000000000"
    law = np.array(list(pooled(RELATIONSHIP).values())) / JOINT.total
    assert found.views[0].prior.prior == pytest.approx(law)


def test_many_symbols_take_a_ball_around_the_reference_prior():
    rng = np.random.default_rng(1)
    counts = {name: {f"v{place:02}": int(c) for place, c in enumerate(rng.integers(300, 900, 12))} for name in "fm"}
    known = set_against(counts, delta=md.Epsilon.of("1e-9").exponent)
    assert known.cover is not None
    assert known.center == md.L1Ball.from_counts(pooled(counts), known=True).center
    found = md.design_records([View(("a",), counts)], 1, delta="1e-9")
    assert max(leakage_given(found.mechanism.parts[0].mechanism, counts).values()) <= 1
    assert found.mechanism.guarantee.delta == md.Epsilon.of("1e-9").exponent


def test_what_is_no_table_by_group_is_refused():
    with raises("never-occurs"):
        set_against({"f": {"a": 1, "b": 2}, "m": {"a": 0, "b": 0}}, known=True)
    with raises("too-few-categories"):
        set_against({"f": {"a": 1, "b": 2}}, known=True)


def test_all_views_and_attributes_are_compared():
    """Leakages to those who know sex, age or town are those of the counts by group; impossible pairs are left out."""
    rng = np.random.default_rng(3)
    sex, town = rng.choice(["f", "m"], 2000), rng.choice(list("abc"), 2000)
    wife = np.where((sex == "f") & (rng.random(2000) < 0.4), "y", "n")
    age = rng.integers(18, 80, 2000) + 20 * (wife == "y")
    records = {"sex": sex, "wife": wife, "age": age, "town": town}
    views = views_of(records, groups=["sex+wife"], bins={"age": 4}, unseen="impossible")
    mechanism = md.design_records(views, 1, known=True).mechanism
    found = side_leakages(mechanism, records)
    assert {(each.view, each.known) for each in found} == {
        ("sex+wife", "age"),
        ("sex+wife", "town"),
        *(("age", known) for known in ("sex", "wife", "town")),
        *(("town", known) for known in ("sex", "wife", "age")),
    }
    assert [each.leakage for each in found] == sorted((each.leakage for each in found), reverse=True)
    of_age = next(each for each in found if (each.view, each.known) == ("age", "wife"))
    labels = np.array(views.bins["age"].labels)[np.digitize(age, views.bins["age"].edges)]
    counts = {
        value: {label: int(((labels == label) & (wife == value)).sum()) for label in set(labels)} for value in "yn"
    }
    direct = leakage_given(mechanism.part("age").mechanism, counts)
    assert (of_age.leakage, of_age.value) == (max(direct.values()), max(direct, key=direct.get))
    assert max(each.leakage for each in found if "town" in (each.view, each.known)) < 1.5
    assert found[0].leakage > 1.05


def test_several_columns_beside_are_for_somebody_who_knows_one_of_them():
    """Whether two coins show the same tells nothing to those who see one, and everything to those who see both."""
    people = [(one, two, "same" if one == two else "other") for one in "ht" for two in "ht" for _ in range(99)]
    people += [(one, two, "other" if one == two else "same") for one in "ht" for two in "ht"]
    records = dict(zip(("one", "two", "equal"), map(list, zip(*people, strict=True)), strict=True))
    records["both"] = [one + two for one, two, _ in people]

    def counts(known):
        rows = list(zip(records[known], records["equal"], strict=True))
        return {one: {each: rows.count((one, each)) for each in ("same", "other")} for one in set(records[known])}

    leakages = {}
    for side in (("one", "two"), ("both",)):
        made = md.design_records(views_of(records, ["equal"], side=side), 0.5, known=True).mechanism
        found = {known: leakage_given(made.parts[0].mechanism, counts(known)) for known in ("one", "two", "both")}
        leakages[side] = {known: max(of_values.values()) for known, of_values in found.items()}
        assert max(leakages[side]["one"], leakages[side]["two"]) <= 0.5
    assert leakages["one", "two"]["both"] > 1
    assert leakages[("both",)]["both"] <= 0.5
