"""What files hold of a promise about a secret, and which of their claims are refused."""

import json
from fractions import Fraction

import pytest

import mechdesign as md
from mechdesign.uncertainty.registry import guarantee_table, prior_table, set_of_guarantee, set_of_prior

JOINT = {"f": {"a": 20, "b": 10, "c": 5}, "m": {"a": 10, "b": 15, "c": 20}}
NAMES = {"secret": "sex", "useful": "job"}
KNOWN = md.SecretPromise(JOINT, **NAMES)
LABELS = KNOWN.labels
OWN = KNOWN.within(
    [
        md.L1Ball(["7/16", "9/16"], "0.1", ["f", "m"]),
        md.L1Ball(KNOWN.joint.conditional(0), "0.2", LABELS),
        md.L1Ball(KNOWN.joint.conditional(1), "0.1", LABELS),
    ]
)
SETS = [
    KNOWN,
    md.SecretPromise(JOINT, delta="0.01", **NAMES),
    md.SecretPromise(JOINT, delta="0.01", limits="l1-ball", **NAMES),
    OWN,
]


def read(table):
    return set_of_guarantee(table, LABELS, "m.json")


@pytest.mark.parametrize("known", SETS, ids=["known", "boxes", "balls", "own"])
def test_both_tables_are_read_as_they_were_written(known):
    guarantee = json.loads(json.dumps(guarantee_table(known)))
    assert read(guarantee) == known
    assert guarantee["secret"]["not_protected"].startswith("everything that does not pass through sex")
    assert set_of_prior(json.loads(json.dumps(prior_table(known)))) == known


def test_problem_files_hold_delta_where_limits_follow_from_it():
    assert set(prior_table(KNOWN)["secret"]) == {"name", "useful", "values", "counts"}
    for known, kind in zip(SETS[1:3], ("box", "l1-ball"), strict=True):
        table = prior_table(known)["secret"]
        assert (table["delta"], table["limits"]) == ("0.01", kind)
    assert len(prior_table(OWN)["secret"]["sets"]) == 3


def test_sharper_limits_than_counts_support_are_a_false_claim():
    table = guarantee_table(SETS[1])
    limit = table["secret"]["limits"][1]["box"]
    limit["lower"] = [str(Fraction(x) * Fraction(21, 20)) for x in limit["lower"]]
    with pytest.raises(md.GuaranteeError, match="the claimed delta is false"):
        read(table)
    table = guarantee_table(SETS[2])
    table["secret"]["limits"][0]["radius"] = "0.01"
    with pytest.raises(md.GuaranteeError, match="the claimed delta is false"):
        read(table)


def edited(known, edit):
    table = guarantee_table(known)
    edit(table["secret"])
    return table


@pytest.mark.parametrize(
    ("known", "edit", "part"),
    [
        (SETS[1], lambda t: t["counts"][0].__setitem__(0, 21), "derived from other counts than the joint counts"),
        (SETS[1], lambda t: t["limits"].pop(), "2 limits for a secret of 2 values; give 3"),
        (OWN, lambda t: t["counts"][0].__setitem__(0, 90), "does not hold what the counts show"),
        (OWN, lambda t: t["limits"].__setitem__(1, {"secret": {}}), "limits.1 has secret; give a set that is not made"),
        (OWN, lambda t: t["limits"].__setitem__(1, {"factors": []}), "limits.1 has factors"),
        (KNOWN, lambda t: t["counts"].pop(), "the secret has one value|labels"),
        (KNOWN, lambda t: t["counts"][1].__setitem__(2, "x"), "counts"),
        (KNOWN, lambda t: t["counts"].append([0, 0, 0]), "labels for 3|an empty row|2 labels"),
        (KNOWN, lambda t: t.pop("useful"), "useful"),
        (KNOWN, lambda t: t.__setitem__("more", 1), "more"),
        (KNOWN, lambda t: t["values"].__setitem__(1, "f"), "occurs twice"),
    ],
)
def test_tables_that_do_not_fit_are_refused(known, edit, part):
    with pytest.raises(md.InputError, match=part):
        read(edited(known, edit))


def test_a_prior_has_one_kind_of_limits():
    table = prior_table(OWN)
    table["secret"]["delta"] = "0.1"
    with pytest.raises(md.InputError, match="has sets beside delta or limits"):
        set_of_prior(table)
    table = prior_table(KNOWN)
    table["secret"]["limits"] = "box"
    with pytest.raises(md.InputError, match="has limits without delta"):
        set_of_prior(table)
    table = prior_table(OWN)
    table["secret"]["sets"][0] = {"secret": {}}
    with pytest.raises(md.InputError, match=r"sets\.0.* has secret"):
        set_of_prior(table)
    table = prior_table(KNOWN)
    del table["labels"]
    with pytest.raises(md.InputError, match="labels"):
        set_of_prior(table)


def test_mechanism_files_carry_the_promise(tmp_path):
    for known in SETS[:2]:
        solved = md.design(md.DesignProblem(known, "0.3", md.HammingAccuracy()))
        solved.mechanism.save(tmp_path / "m.json")
        loaded = md.Mechanism.load(tmp_path / "m.json")
        assert loaded.guarantee.uncertainty == known
        assert md.verify(loaded).optimal
        md.write_problem(tmp_path / "p.toml", md.ProblemFile("a secret", solved.problem))
        assert md.read_problem(tmp_path / "p.toml").problem == solved.problem
