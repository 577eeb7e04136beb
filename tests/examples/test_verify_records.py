"""The second verifier of views of whole records and the package say the same of every file, hostile ones included."""

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest

import mechdesign as md
from mechdesign.cli.entry_point import run
from mechdesign.errors import MechdesignError
from mechdesign.records import RecordMechanism, RecordPart, View
from mechdesign.records.record_mechanism_files import from_content, record_json
from mechdesign.uncertainty import Box, EventSet
from tests.fuzz.generators import damaged
from tests.records.made import both, survey, warner
from tests.records.test_record_files import HOSTILE, learnt

SCRIPT = Path(__file__).parents[2] / "examples" / "verify_records.py"


@pytest.fixture
def script(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    import verify_records

    def answer(content):
        (tmp_path / "r.json").write_bytes(content)
        return verify_records.answer(tmp_path / "r.json")

    return answer


def package(content):
    try:
        from_content(content, "r.json", RecordMechanism)
    except MechdesignError as error:
        return error.exit_status
    return 0


def other_sets():
    """Views whose sets are others than balls: limits, events, a hull, a prior that is known, two-sided promises."""
    labels, matrix = ("no", "yes"), np.array([[3, 1], [1, 3]])
    sets = {
        "box": Box.from_counts({"no": 500, "yes": 500}, delta="1e-9"),
        "events": EventSet.from_counts({"no": 500, "yes": 500}, delta="1e-9"),
        "all": md.L1Ball(["1/2", "1/2"], 2, labels),
    }
    promises = {name: md.Guarantee("1.1", known, lower="1.2") for name, known in sets.items()}
    parts = [RecordPart(name, (name,), 1, md.Mechanism(matrix, 2, promise)) for name, promise in promises.items()]
    yield RecordMechanism([*parts, RecordPart("last", ("last",), 1, warner(epsilon=1.1, delta="1e-9"))], weight_bits=2)
    half = md.L1Ball.from_counts({"no": 500, "yes": 500}, delta="1e-9")
    two, four = np.array([[3, 1], [1, 3]]), np.kron([[3, 1], [1, 3]], [[3, 1], [1, 3]])
    for union in (
        md.Union({"f": half, "m": half}),
        md.Union.from_counts({"f": [400, 600], "m": [500, 500]}, delta="1e-9"),
    ):
        made = md.Mechanism(two, 2, md.Guarantee("1.2", union))
        product = md.ProductSet(half, sets["all"])
        pair = md.Mechanism(four, 4, md.Guarantee("2.3", product))
        covered = md.Mechanism(two, 2, md.Guarantee("1.2", union.covered()))
        parts = [
            RecordPart("u", ("u",), 1, made),
            RecordPart("p", ("p",), 1, pair),
            RecordPart("c", ("c",), 2, covered),
        ]
        yield RecordMechanism(parts, weight_bits=2)
    hull = md.ConvexHull([["0.4", "0.6"], ["0.6", "0.4"]], labels=labels)
    known = md.L1Ball(["1/2", "1/2"], 0, labels)
    two = [md.Mechanism(matrix, 2, md.Guarantee(1, each, cap=cap)) for each, cap in ((hull, None), (known, 2))]
    yield RecordMechanism([RecordPart(str(k), (str(k),), 1, made) for k, made in enumerate(two)], weight_bits=1)
    two = [md.Mechanism(matrix, 2, md.Guarantee("1.1", each, cap="log(3)")) for each in (hull, sets["box"])]
    yield RecordMechanism([RecordPart(str(k), (str(k),), 1, made) for k, made in enumerate(two)], weight_bits=1)


def test_both_prove_what_is_true(script):
    for made in (both(), learnt(), survey(), *other_sets()):
        content = record_json(made)
        told, status = script(content)
        assert (package(content), status) == (0, 0), told
        assert told.startswith(f"proved: epsilon = {made.guarantee.epsilon} about the whole record")
        assert ("delta = " in told) == (made.guarantee.delta is not None)
        cap = made.guarantee.cap
        assert ("cap" in told) == (cap is not None)
        assert cap is None or f"; cap = {cap} for any two records" in told


def test_the_cap_is_the_greatest_of_the_views_and_one_that_is_false_is_refused(script):
    known, matrix = md.L1Ball(["1/2", "1/2"], 0, ("no", "yes")), np.array([[3, 1], [1, 3]])
    parts = [
        RecordPart(cap, (cap,), 1, md.Mechanism(matrix, 2, md.Guarantee(1, known, cap=cap))) for cap in ("log(3)", "2")
    ]
    made = RecordMechanism(parts, weight_bits=1)
    assert str(made.guarantee.cap) == "2"
    assert "; cap = 2 for any two records" in script(record_json(made))[0]
    file = json.loads(record_json(made))
    next(part for part in file["parts"] if part["name"] == "log(3)")["mechanism"]["guarantee"]["cap"] = "1.09"
    content = json.dumps(file).encode()
    assert (script(content)[1], package(content)) == (1, 1)  # log(3) is 1.0986


@pytest.mark.parametrize("name", HOSTILE)
def test_both_refuse_a_hostile_file_for_the_same_reason(script, name):
    file = json.loads(record_json(learnt()))
    HOSTILE[name][0](file)
    content = json.dumps(file).encode()
    assert script(content)[1] == package(content) == HOSTILE[name][1].exit_status


@pytest.mark.parametrize("files", [20, pytest.param(1500, marks=pytest.mark.slow)])
def test_both_say_the_same_of_damaged_files(script, files):
    rng = Random(files)
    whole = record_json(learnt())
    for _ in range(files):
        content = damaged(rng, whole)
        told, status = script(content)
        if status != 3:
            assert status == package(content), (told, content)


def test_both_compare_the_tables_that_two_views_share(script, tmp_path, capsys):
    """A view whose counts are of other people than those of the other view is false, up to what the radii allow."""
    tables = {
        "sex": {"f": 500, "m": 500},
        "sex+pay": {"f & low": 300, "f & high": 200, "m & low": 250, "m & high": 250},
    }
    matrices = {"sex": (np.array([[3, 1], [1, 3]]), 2), "sex+pay": (np.kron([[3, 1], [1, 3]], [[3, 1], [1, 3]]), 4)}
    sets = {name: md.L1Ball.from_counts(counts, radius="1/10") for name, counts in tables.items()}
    made = {name: md.Mechanism(*matrices[name], md.Guarantee("2.2", known)) for name, known in sets.items()}
    parts = [RecordPart(name, tuple(name.split("+")), 1, one) for name, one in made.items()]
    file = json.loads(record_json(RecordMechanism(parts, weight_bits=1)))
    (pair,) = (part["mechanism"]["guarantee"] for part in file["parts"] if part["name"] == "sex+pay")
    for more, expected in (
        (0, 0),
        (50, 0),
        (100, 0),
        (101, 1),
    ):  # of 1,000 people move: twice as much in the l1 distance
        pair["counts"] = [300 + more, 200, 250 - more, 250]
        (tmp_path / "r.json").write_text(json.dumps(file))
        told, status = script((tmp_path / "r.json").read_bytes())
        assert status == expected, told
        assert run(["verify", str(tmp_path / "r.json"), "--guarantee-only"]) == expected
    assert "no law has the tables of the views sex and sex+pay" in told
    assert "no joint law has the tables of the views 'sex' and 'sex+pay'" in capsys.readouterr().err


def test_both_compare_what_other_sets_say_of_a_table(script, tmp_path):
    """The hull gives a woman at most 0.6; the limits at least 0.66 and the ball at least 0.8, unless it is wider."""
    pairs = ["f & low", "f & high", "m & low", "m & high"]
    hull = md.ConvexHull([["0.1", "0.1", "0.4", "0.4"], ["0.3", "0.3", "0.2", "0.2"]], labels=pairs)
    box = Box.from_counts({"f": 800, "m": 200}, delta="1e-9")
    events = EventSet.from_counts({"f": 5, "m": 5}, delta="1e-1")
    balls = [md.L1Ball(["0.9", "0.1"], radius, ["f", "m"]) for radius in ("0.2", "0.7")]
    assert box.lower[0] > 0.66
    matrix = np.array([[3, 1], [1, 3]])
    for known, expected in ((box, 1), (balls[0], 1), (balls[1], 0), (events, 0)):
        both_views = [
            RecordPart("sex", ("sex",), 1, md.Mechanism(matrix, 2, md.Guarantee("2.2", known))),
            RecordPart("both", ("sex", "pay"), 1, md.Mechanism(np.kron(matrix, matrix), 4, md.Guarantee("2.2", hull))),
        ]
        content = record_json(RecordMechanism(both_views, weight_bits=1))
        (tmp_path / "r.json").write_bytes(content)
        assert script(content)[1] == expected, known
        assert run(["verify", str(tmp_path / "r.json"), "--guarantee-only"]) == expected


@pytest.mark.parametrize(("women", "expected"), [(500, 0), (501, 1)])
def test_both_compare_the_law_of_the_secret(script, tmp_path, women, expected):
    joint = {"f": {"low": 300, "high": 200}, "m": {"low": 100, "high": 400}}
    views = [View(("pay",), joint, secret="sex"), View(("sex",), {"f": 500, "m": 500})]
    file = json.loads(record_json(md.design_records(views, 1, known=True).mechanism))
    (alone,) = (part["mechanism"]["guarantee"] for part in file["parts"] if part["name"] == "sex")
    assert alone["counts"] == [1, 1] or alone["counts"] == [500, 500]
    alone["counts"] = [women, 1000 - women]
    file.pop("optimality", None)
    for part in file["parts"]:
        part["mechanism"].pop("optimality", None)
    alone["epsilon"] = file["epsilon"] = "1.1"
    content = json.dumps(file).encode()
    (tmp_path / "r.json").write_bytes(content)
    assert script(content)[1] == expected
    assert run(["verify", str(tmp_path / "r.json")]) == expected


def test_the_script_is_short_and_shares_nothing_with_the_package():
    text = SCRIPT.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 220  # 40 of them compare what other sets than balls, and secrets, say of tables
    assert "mechdesign import" not in text
    assert "import mechdesign" not in text
