"""What files hold of a promise about a secret, and which of their claims are refused."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from refusals import raises

import mechdesign as md
from mechdesign.uncertainty.codec import Place, TableKind
from mechdesign.uncertainty.registry import set_of, table_of, takes_as_known

JOINT = {"f": {"a": 20, "b": 10, "c": 5}, "m": {"a": 10, "b": 15, "c": 20}}
NAMES = {"secret": "sex", "useful": "job"}
KNOWN = md.SecretPromise(JOINT, **NAMES, known=True)
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


def guarantee_table(known):
    return table_of(known, TableKind.GUARANTEE)


def prior_table(known):
    return table_of(known, TableKind.PRIOR)


def read(table, labels=LABELS):
    return set_of(table, Place("guarantee", "m.json", labels))


@pytest.mark.parametrize("known", SETS, ids=["known", "boxes", "balls", "own"])
def test_both_tables_are_read_as_they_were_written(known):
    guarantee = json.loads(json.dumps(guarantee_table(known)))
    assert read(guarantee) == known
    assert guarantee["secret"]["not_protected"].startswith("everything that does not pass through sex")
    assert set_of(json.loads(json.dumps(prior_table(known))), Place()) == known


def test_problem_files_hold_delta_where_limits_follow_from_it():
    assert set(prior_table(KNOWN)["secret"]) == {"name", "useful", "values", "counts", "known"}
    assert not takes_as_known(prior_table(KNOWN))
    for known, kind in zip(SETS[1:3], ("box", "l1-ball"), strict=True):
        table = prior_table(known)["secret"]
        assert (table["delta"], table["limits"]) == ("0.01", kind)
    assert len(prior_table(OWN)["secret"]["sets"]) == 3


def test_sharper_limits_than_counts_support_are_a_false_claim():
    table = guarantee_table(SETS[1])
    limit = table["secret"]["limits"][1]["box"]
    limit["lower"] = [str(Fraction(x) * Fraction(21, 20)) for x in limit["lower"]]
    with raises("delta-false"):
        read(table)
    table = guarantee_table(SETS[2])
    table["secret"]["limits"][0]["radius"] = "0.01"
    with raises("delta-false"):
        read(table)


def edited(known, edit):
    table = guarantee_table(known)
    edit(table["secret"])
    return table


@pytest.mark.parametrize(
    ("known", "edit", "code"),
    [
        (SETS[1], lambda t: t["counts"][0].__setitem__(0, 21), "evidence-contradicts"),
        (SETS[1], lambda t: t["limits"].pop(), "wrong-size"),
        (OWN, lambda t: t["counts"][0].__setitem__(0, 90), "prior-outside-set"),
        (OWN, lambda t: t["limits"].__setitem__(1, {"secret": {}}), "set-not-accepted"),
        (OWN, lambda t: t["limits"].__setitem__(1, {"factors": []}), "set-not-accepted"),
        (KNOWN, lambda t: t["counts"].pop(), "wrong-size"),
        (KNOWN, lambda t: t["counts"][1].__setitem__(2, "x"), "bad-field"),
        (KNOWN, lambda t: t["counts"].append([0, 0, 0]), "wrong-size"),
        (KNOWN, lambda t: t.pop("useful"), "missing-key"),
        (KNOWN, lambda t: t.__setitem__("more", 1), "unknown-key"),
        (KNOWN, lambda t: t["values"].__setitem__(1, "f"), "label-twice"),
    ],
)
def test_tables_that_do_not_fit_are_refused(known, edit, code):
    with raises(code):
        read(edited(known, edit))


@pytest.mark.parametrize("delta", [None, "0.9"])
@pytest.mark.parametrize("kind", ["lower-limits", "box", "l1-ball"])
def test_limits_with_other_counts_are_refused_with_and_without_delta(kind, delta, tmp_path, monkeypatch):
    """As the second verifier refuses them; limits around a center say nothing of counts."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
    import verify

    def limit(counts):
        about = {"center": ["0.5", "0.5"]} if counts is None else {"counts": counts}
        about |= {} if delta is None or counts is None else {"samples": sum(counts), "delta": delta}
        if kind == "l1-ball":
            return {"radius": "1", **about}
        limits = {"lower": ["0.1", "0.1"]} | ({"upper": ["0.9", "0.9"]} if kind == "box" else {})
        return {kind: {**limits, **about}}

    own, others = [[50, 50], [30, 20], [20, 30]], [[50, 50], [60, 40], [20, 30]]
    for laws, status in ((own, 0), (others, 2), ([None] * 3, 0)):
        secret = {"name": "s", "useful": "u", "values": ["p", "q"], "counts": own[1:], "limits": list(map(limit, laws))}
        table = {"schema": "mechdesign/mechanism/1", "inputs": ["a", "b"], "outputs": ["a", "b"], "bits": 2}
        table |= {"numerators": [[3, 1], [1, 3]], "guarantee": {"epsilon": "log(3)", "secret": secret}}
        (tmp_path / "m.json").write_text(json.dumps(table))
        assert verify.answer(tmp_path / "m.json")[1] == status
        if status == 0:
            assert md.Mechanism.load(tmp_path / "m.json").guarantee.epsilon.text == "log(3)"
        else:
            with raises("evidence-contradicts"):
                md.Mechanism.load(tmp_path / "m.json")


def test_a_prior_has_one_kind_of_limits():
    table = prior_table(OWN)
    table["secret"]["delta"] = "0.1"
    with raises("conflicting-keys"):
        set_of(table, Place())
    table = prior_table(KNOWN)
    table["secret"]["limits"] = "box"
    with raises("missing-key"):
        set_of(table, Place())
    table = prior_table(OWN)
    table["secret"]["sets"][0] = {"secret": {}}
    with raises("set-not-accepted", "sets.0", "secret"):
        set_of(table, Place())
    table = prior_table(KNOWN)
    del table["labels"]
    with raises("missing-key"):
        set_of(table, Place())


def test_mechanism_files_carry_the_promise(tmp_path):
    for known in SETS[:2]:
        solved = md.design(md.DesignProblem(known, "0.3", md.HammingAccuracy()))
        solved.mechanism.save(tmp_path / "m.json")
        loaded = md.Mechanism.load(tmp_path / "m.json")
        assert loaded.guarantee.uncertainty == known
        assert md.verify(loaded).optimal
        md.write_problem(tmp_path / "p.toml", md.ProblemFile("a secret", solved.problem))
        assert md.read_problem(tmp_path / "p.toml").problem == solved.problem


def test_limits_that_would_take_minutes_to_derive_again_are_refused_before_any_is(monkeypatch):
    table = guarantee_table(SETS[1])
    values, labels = [f"v{k}" for k in range(49)], tuple(f"x{i}" for i in range(50))
    table["secret"] |= {"values": values, "counts": [[1] * 50] * 49, "limits": [table["secret"]["limits"][0]] * 50}
    monkeypatch.setattr("mechdesign.uncertainty.nested_codecs.set_of", {}.__getitem__)
    with pytest.raises(TypeError, match="takes exactly one argument"):  # limits of 2,499 symbols would be read
        read(table, labels)
    table["secret"] |= {"values": [*values, "w"], "counts": [[1] * 50] * 50, "limits": table["secret"]["limits"] * 2}
    table["secret"]["limits"] = table["secret"]["limits"][:51]
    with raises("too-many-given", "m.json", "2550", "2500"):
        read(table, labels)
    with raises("too-many-given", "2550"):
        md.SecretPromise([[1] * 50] * 50, delta="0.1")
