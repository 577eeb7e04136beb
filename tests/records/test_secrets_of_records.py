"""Whole records whose promise is about one secret: the theorem by brute force, files, commands, and refusals."""

import importlib
import json
import re
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from pages import well_made
from refusals import raises

import mechdesign as md
from mechdesign.cli.entry_point import run
from mechdesign.cli.records_report import records_page
from mechdesign.errors import InputError
from mechdesign.records import (
    RecordMechanism,
    RecordPart,
    View,
    estimate_records,
    views_of,
)
from mechdesign.records.record_analysis import analyze_records
from mechdesign.records.record_mechanism_files import from_content, record_json
from mechdesign.records.record_parts import RecordOptimality
from mechdesign.records.side_knowledge import side_leakages
from mechdesign.records.views_of_records import views_of_tables
from mechdesign.report import Origin
from tests.records.made import warner

SEX = "sex"
JOINT = {"f": {"cook": 10, "smith": 30}, "m": {"cook": 40, "smith": 20}}


def records(n=900, seed=3):
    rng = np.random.default_rng(seed)
    sexes = rng.choice(["f", "m"], n, p=[0.4, 0.6]).tolist()
    jobs = [
        str(rng.choice(["cook", "smith", "clerk"], p=[0.1, 0.3, 0.6] if s == "f" else [0.5, 0.3, 0.2])) for s in sexes
    ]
    kin = [str(rng.choice(["wife", "single"] if s == "f" else ["husband", "single"])) for s in sexes]
    return {"sex": sexes, "job": jobs, "kin": kin}


@pytest.fixture(scope="module")
def mechanism():
    return md.design_records(views_of(records(), ["job", "kin", "sex"], secret="sex"), "0.3", known=True).mechanism


def about(counts=JOINT, *, secret=SEX, useful="job", epsilon="log(2)", rows=((3, 1), (1, 3)), **known):
    """Return a mechanism of two symbols with a promise about a secret."""
    promise = md.SecretPromise(counts, secret=secret, useful=useful, **(known or {"known": True}))
    return md.Mechanism(np.array(rows), 2, md.Guarantee(epsilon, promise))


def pair(one, other, secret=SEX, names=("job", "town"), **more):
    """Return a mechanism of two views."""
    parts = [RecordPart(name, (name,), 1, each) for name, each in zip(names, (one, other), strict=True)]
    return RecordMechanism(parts, weight_bits=1, secret=secret, **more)


# The theorem


def random_joint(rng, sizes):
    """Return a random joint law of a secret and two attributes in whole numbers, zeros among them."""
    while True:
        law = rng.integers(0, 5, sizes) * rng.integers(0, 2, sizes)
        if all(law.sum(axis=tuple({0, 1, 2} - {k})).all() for k in range(3)):
            return law


def lift_of_secret(law, columns):
    """Return the greatest lift of a value of the secret by an output with a column over the other attributes."""
    total, mean = int(law.sum()), Fraction(0)
    means = []
    for s in range(law.shape[0]):
        own = sum(int(law[s, x, y]) * columns(x, y) for x, y in product(*map(range, law.shape[1:])))
        means.append((Fraction(int(own)), int(law[s].sum())))
        mean += own
    return None if not mean else max(own * total / (count * mean) for own, count in means if count)


def test_the_leakage_about_the_secret_is_the_greatest_of_the_views_for_every_joint_law():
    """Reports of the whole, enumerated over records in rationals, against each view by its own promise."""
    rng, tried = np.random.default_rng(5), 0
    for _ in range(150):
        sizes = (int(rng.integers(2, 4)), int(rng.integers(2, 4)), int(rng.integers(2, 4)))
        law = random_joint(rng, sizes)
        counts = {f"s{s}": {f"x{x}": int(n) for x, n in enumerate(row)} for s, row in enumerate(law.sum(axis=2))}
        promise = md.SecretPromise(counts, secret="S", useful="x", known=True)
        ball = md.L1Ball.from_counts({f"y{y}": int(n) for y, n in enumerate(law.sum(axis=(0, 1)))}, known=True)
        weights = [int(rng.integers(1, 8)), 0]
        weights[1] = 8 - weights[0]
        tables = [rng.multinomial(16, np.ones(3) / 3, size) for size in sizes[1:]]
        for r in range(3):
            of_x, of_y = ([int(n) for n in table[:, r]] for table in tables)
            for weight, column, own, view in (
                (weights[0], of_x, promise.exact_ratio(of_x) if any(of_x) else None, lambda x, y, c=of_x: c[x]),
                (weights[1], of_y, None, lambda x, y, c=of_y: c[y]),
            ):
                found = lift_of_secret(law, lambda x, y, w=weight, v=view: w * v(x, y))
                if found is None:
                    continue
                tried += 1
                if column is of_x:
                    assert found == own
                else:
                    assert found <= max(column) / Fraction(sum(p * v for p, v in zip(ball.center, column, strict=True)))
    assert tried > 500


def test_two_secrets_together_have_no_promise():
    """Each view keeps its promise about its own secret at epsilon 0.1, and gives the other one away."""
    law = np.zeros((2, 2, 2, 2), dtype=int)  # S, T, x, y: x is T and y is S, so that each view tells the other secret
    for s, t in product(range(2), range(2)):
        law[s, t, t, s] = 1
    of_x = {"0": {"a": 1, "b": 1}, "1": {"a": 1, "b": 1}}
    opened = md.Mechanism(
        np.array([[4, 0], [0, 4]]), 2, md.Guarantee("0.1", md.SecretPromise(of_x, secret="S", useful="x", known=True))
    )
    other = md.Mechanism(
        np.array([[4, 0], [0, 4]]), 2, md.Guarantee("0.1", md.SecretPromise(of_x, secret="T", useful="y", known=True))
    )
    tells_s = law.sum(axis=(1, 2))  # S and y: the second view tells S openly
    assert tells_s.tolist() == [[2, 0], [0, 2]]
    for secret in ("S", "T", None):
        with raises("set-not-accepted", "S", "T"):
            pair(opened, other, secret, ("x", "y"))


# What is refused


def test_the_secret_is_stated_and_is_that_of_the_views():
    assert pair(about(), warner(["a", "b"])).guarantee.secret == SEX
    with raises("set-not-accepted", "sex"):
        pair(about(), warner(["a", "b"]), None)
    with raises("set-not-accepted", "sex", "age"):
        pair(about(), warner(["a", "b"]), "age")
    with raises("needless-argument", "sex"):
        pair(warner(["a", "b"]), warner(["a", "b"]))
    others = {"f": JOINT["f"], "x": JOINT["m"]}
    with raises("labels-differ", "town"):
        pair(about(), about(others, useful="town"))
    with raises("labels-differ", "town"):
        pair(about(), about())  # the second view shows another column than its promise names


def test_there_is_no_bound_of_the_whole_and_nothing_for_who_knows_more(mechanism):
    assert mechanism.optimality is None
    claim = RecordOptimality(1.0, 0.5, (1.0, 1.0), ((1.0, 1.0), (1.0, 1.0)))
    with raises("conflicting-arguments", "sex"):
        pair(about(), warner(["a", "b"]), optimality=claim)
    assert analyze_records(mechanism).side == ()
    with raises("set-not-accepted", "sex"):
        side_leakages(mechanism, records())


def test_tables_that_contradict_each_other_are_refused():
    """The law of the secret, and the table of it and a view, belong to all views."""
    law, more = JOINT, {"f": {"cook": 20, "smith": 30}, "m": {"cook": 30, "smith": 20}}

    def view(counts, name):
        return View((name,), md.SecretPromise(counts, secret="sex", useful=name, known=True))

    assert md.design_records([view(law, "job"), view(law, "town")], "0.3").mechanism.secret == SEX
    with raises("evidence-contradicts", "'f' has 0.4 in 'job'"):
        md.design_records([view(law, "job"), view(more, "town")], "0.3")
    joint = {"f & cook": 20, "f & smith": 20, "m & cook": 30, "m & smith": 30}  # the law of each column is the same
    shown = View(("sex", "job"), md.L1Ball.from_counts(joint, known=True))
    with raises("evidence-contradicts", "0.1", "0.2"):
        md.design_records([view(law, "job"), shown], "0.3")


def test_known_tables_with_the_secret_must_have_a_joint_law_with_all_others():
    """Two columns that nearly tell the secret, and a table in which they differ: any two of the three agree."""
    near = {"f": {"a": 9, "b": 1}, "m": {"a": 1, "b": 9}}

    def view(name):
        return View((name,), md.SecretPromise(near, secret="sex", useful=name, known=True))

    differ = md.L1Ball.from_counts({"a & b": 9, "b & a": 9, "a & a": 1, "b & b": 1}, known=True)
    with raises("evidence-contradicts", "job", "town", "job+town"):
        md.design_records([view("job"), view("town"), View(("job", "town"), differ)], "0.3")
    agree = md.L1Ball.from_counts({"a & a": 9, "b & b": 9, "a & b": 1, "b & a": 1}, known=True)
    assert md.design_records([view("job"), view("town"), View(("job", "town"), agree)], "0.3").mechanism.secret == SEX


def test_the_secret_may_be_a_number_that_no_view_shows():
    given = {**records(), "age": np.random.default_rng(2).integers(10, 80, 900).tolist()}
    found = views_of(given, ["job", "kin"], secret="age", bins={"age": [30, 50]})
    assert found.bins == {}
    assert list(found[0].prior) == ["under 30", "30 to under 50", "50 or more"]
    assert md.design_records(found, "0.3", known=True).mechanism.secret == "age"  # noqa: S105 - a column


# Designs, files, commands


def test_a_view_of_the_secret_alone_keeps_its_promise_about_all_of_itself(mechanism):
    sets = {part.name: part.mechanism.guarantee.uncertainty.kind for part in mechanism.parts}
    assert sets == {"job": "secret", "kin": "secret", "sex": "l1-ball"}
    assert mechanism.secret == SEX
    assert "about the attribute 'sex' alone" in mechanism.guarantee.in_words()
    assert dict(mechanism.facts())["not protected"].startswith("everything else in the record")
    given = records()
    found = estimate_records(mechanism.privatize(given, np.random.default_rng(1)), mechanism)
    truth = given["kin"].count("single") / len(given["kin"])
    place = found["kin"].labels.index("single")
    assert abs(found["kin"].frequencies[place] - truth) < 5 * found["kin"].standard_errors[place]


def test_views_of_tables_have_the_secret_beside_their_column():
    jobs = {"sex": ["f", "f", "m", "m"], "job": ["cook", "smith"] * 2, "count": [10, 30, 40, 20]}
    found = views_of_tables([jobs, {"sex": ["f", "m"], "count": [40, 60]}], secret="sex")
    assert [view.name for view in found] == ["job", "sex"]
    assert found[0].prior == {"f": {"cook": 10, "smith": 30}, "m": {"cook": 40, "smith": 20}}
    assert [view.secret for view in found] == ["sex", None]
    assert md.design_records(found[:1], "0.3", known=True).mechanism.secret == SEX
    learnt = md.design_records(found, "0.3", delta="1e-6").mechanism
    assert (learnt.secret, learnt.guarantee.delta) == (SEX, Fraction(1, 10**6))
    with raises("conflicting-arguments", "job"):
        replace(found[0], prior=md.SecretPromise(found[0].prior, secret="sex", useful="job", known=True))
    for more in ({"side": ["job"]}, {"unseen": "merge"}):
        with raises("conflicting-arguments", "secret"):
            views_of(records(), ["kin"], secret="sex", **more)
    with raises("conflicting-arguments", "sex"):
        views_of(records(), ["sex", "kin"], groups=["sex+kin"], secret="sex")


def changed_files(table):
    """Yield names of changes of a file, the content, and the status of both verifiers; they are made in place."""

    def edited(change):
        copy = json.loads(json.dumps(table))
        change(copy, copy["parts"][0]["mechanism"]["guarantee"]["secret"], copy["parts"][1]["mechanism"]["guarantee"])
        return json.dumps(copy).encode()

    yield "as it is", edited(lambda *_: None), 0
    yield "no secret", edited(lambda t, *_: t.pop("secret")), 2
    yield "another secret", edited(lambda t, *_: t.update(secret="kin")), 2
    yield "secret of a number", edited(lambda t, *_: t.update(secret=3)), 2
    yield "empty secret", edited(lambda t, *_: t.update(secret="")), 2
    yield "another secret in a view", edited(lambda t, first, _: first.update(name="age")), 2
    yield "other data", edited(lambda t, first, _: first.update(useful="town")), 2
    yield "other values", edited(lambda t, first, _: first.update(values=["f", "x"])), 2
    yield "fewer values", edited(lambda t, first, _: first.update(values=["f"])), 2
    yield "attribute", edited(lambda t, *_: t["parts"][0].update(attributes=["town"])), 2
    yield "epsilon", edited(lambda t, *_: t.update(epsilon="0.2")), 1
    yield "epsilon of a view", edited(lambda t, _, second: second.update(epsilon="0.2")), 1
    yield "delta", edited(lambda t, *_: t.update(delta="1e-6")), 1
    counts = [[1, 1, 300], [300, 1, 1]]
    yield "another joint law", edited(lambda t, first, _: first.update(counts=counts)), 1
    claim = {"error": 1.0, "lower_bound": 0.5, "values": [1.0, 1.0, 1.0], "measures": [[1.0]]}
    yield "a bound", edited(lambda t, *_: t.update(optimality=claim)), 2


def test_both_verifiers_say_the_same_of_edited_files(mechanism, monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
    script = importlib.import_module("verify_records")
    for name, content, status in changed_files(json.loads(record_json(mechanism))):
        (tmp_path / "r.json").write_bytes(content)
        message, found = script.answer(tmp_path / "r.json")
        assert found == status, (name, message)
        if not status:
            assert from_content(content, "r.json", RecordMechanism).secret == SEX
            assert "about the attribute 'sex' alone, not about the rest of the record" in message
            continue
        with pytest.raises(md.errors.MechdesignError) as caught:
            from_content(content, "r.json", RecordMechanism)
        assert caught.value.exit_status == status, name


def test_limits_of_the_joint_law_have_their_delta_in_the_sum(monkeypatch, tmp_path):
    """A mechanism of one's own is proved, and so is a design; both verifiers add deltas."""
    large = {value: {label: 100 * n for label, n in row.items()} for value, row in JOINT.items()}
    learnt = about(large, delta="1e-6")
    made = pair(learnt, about(JOINT, useful="town"))
    assert made.guarantee.delta is None
    ball = md.L1Ball.from_counts({"a": 400, "b": 500}, delta="1e-7")
    ordinary = md.Mechanism(np.array([[5, 3], [3, 5]]), 3, md.Guarantee("1", ball))
    made = pair(learnt, ordinary)
    assert made.guarantee.delta == Fraction(11, 10**7)
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
    script = importlib.import_module("verify_records")
    table = json.loads(record_json(made))
    for delta, status in (("1.1e-6", 0), ("1e-6", 1), (None, 1)):
        table["delta"] = delta
        (tmp_path / "r.json").write_text(json.dumps(table))
        assert script.answer(tmp_path / "r.json")[1] == status
        if status:
            with pytest.raises(md.errors.GuaranteeError):
                from_content(json.dumps(table).encode(), "r", RecordMechanism)
    within = md.SecretPromise(large, secret="sex", useful="job", delta="1e-6")
    known = md.SecretPromise(large, secret="sex", useful="job", known=True)
    learnt, exact = (md.design_records([View(("job",), one)], "0.3") for one in (within, known))
    assert learnt.error > exact.error
    (tmp_path / "r.json").write_bytes(record_json(learnt.mechanism))
    assert script.answer(tmp_path / "r.json")[1] == 0


def test_commands_say_that_the_promise_is_about_the_secret_only(tmp_path, capsys):
    columns = records()
    lines = [",".join(columns), *map(",".join, zip(*columns.values(), strict=True))]
    data, file = tmp_path / "d.csv", tmp_path / "r.json"
    data.write_text("\n".join(lines) + "\n")
    design = ["design", "--data", str(data), "--columns", "job,kin,sex", "--secret", "sex", "--epsilon", "0.3"]
    assert run([*design, "--delta", "1e-6", "-o", str(file)]) == 0
    capsys.readouterr()
    assert run(["verify", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["delta"] == 1e-6
    file.unlink()
    assert run([*design, "--known", "--groups", "auto"]) == 2
    capsys.readouterr()
    assert run([*design, "--known", "-o", str(file)]) == 0
    assert "about the attribute 'sex' alone" in " ".join(capsys.readouterr().out.split())
    assert run(["verify", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["secret"] == SEX
    for command in (["verify", str(file)], ["analyze", str(file)]):
        assert run(command) == 0
        assert "'sex' alone" in " ".join(capsys.readouterr().out.split())
    assert run(["analyze", str(file), "--data", str(data)]) == 2
    assert run(["report", str(file), "--data", str(data), "-o", str(tmp_path / "p.html")]) == 2
    capsys.readouterr()
    privatize = ["privatize", str(data), "--mechanism", str(file), "-o", str(tmp_path / "reports.csv"), "--keep"]
    assert run([*privatize, "sex"]) == 2  # a view shows it
    assert run([*design[:4], "job,kin", *design[5:], "--known", "-o", str(file)]) == 0
    capsys.readouterr()
    assert run([*privatize, "sex"]) == 2  # no view shows it, and a copy would tell it
    assert "about it alone" in capsys.readouterr().err
    assert not (tmp_path / "reports.csv").exists()
    (tmp_path / "days" / "sex=f").mkdir(parents=True)
    (tmp_path / "days" / "sex=f" / "a.csv").write_text("job,kin\ncook,single\n")
    assert run(["privatize", str(tmp_path / "days"), "--mechanism", str(file), "-o", str(tmp_path / "out")]) == 2
    assert "names of folders" in capsys.readouterr().err
    assert not list((tmp_path / "out").rglob("*.csv"))
    assert run([*privatize, "job"]) == 2
    capsys.readouterr()
    assert run(["audit", str(file)]) == 2  # an audit is of promises about the data
    assert "sex" in capsys.readouterr().err


def test_the_page_says_that_the_promise_is_about_the_secret_only(mechanism):
    page = well_made(records_page(mechanism, Origin.of(record_json(mechanism), "records.json")))
    assert page.facts["secret"] == SEX
    told = " ".join(page.section("promise").split())
    assert "This promise is about the attribute sex only. Nothing is promised about the rest of the record." in told
    assert "whatever anyone wants to guess about the attribute sex of that person, the report" in told
    assert "the whole record" not in told.replace("of the whole record", "")
    assert float(page.facts["told-of-view"]) > 0.3
    assert "Everything but sex." in page.section("limits")
    assert "Nothing is promised against them." in page.section("known")


def test_views_need_no_secret_to_be_told_that_they_have_none():
    with pytest.raises(InputError):
        RecordMechanism([RecordPart("a", ("a",), 2, warner(["x", "y"]))], weight_bits=1, secret="")


def shown_secret(given, limits=False, **more):
    """A file that publishes the column of the secret, under this joint law of the secret and what the view shows."""
    labels = ["f & a", "f & b", "m & a", "m & b"]
    about = {"name": "sex", "useful": "sex+job", "values": ["f", "m"], "counts": given, "not_protected": "the rest"}
    if limits:
        given_laws = [{"counts": row, "radius": limits} for row in given]
        about["limits"] = [{"counts": [*map(sum, given)], "radius": "2"}, *given_laws]
    matrix = {"schema": "mechdesign/mechanism/1", "inputs": labels, "outputs": ["0", "1"], "bits": 1}
    matrix |= {"numerators": [[2, 0], [2, 0], [0, 2], [0, 2]], "guarantee": {"epsilon": "10", "secret": about}}
    part = {"name": "v", "attributes": ["sex", "job"], "weight": 2, "mechanism": matrix, **more}
    return {"schema": "mechdesign/records/1", "epsilon": "10", "secret": "sex", "weight_bits": 1, "parts": [part]}


def test_a_view_that_shows_the_secret_promises_for_laws_that_records_can_have(monkeypatch, tmp_path):
    """A promise for laws of nobody would let a report publish the secret at no epsilon."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
    script = importlib.import_module("verify_records")
    true, false, near = [[1, 1, 0, 0], [0, 0, 1, 1]], [[1, 1, 1, 1], [1, 1, 1, 1]], [[9, 10, 1, 0], [0, 1, 10, 9]]
    for table, status in (
        (shown_secret(true), 0),
        (shown_secret(false), 2),
        (shown_secret(near), 2),
        (shown_secret(near, "0.09"), 2),
        (shown_secret(near, "1"), 1),  # it holds laws of records, for which the secret is published
        (shown_secret([[1, 0, 0, 1], [0, 0, 1, 1]], merged="m & b"), 2),  # the merged cell shares a label
    ):
        content = json.dumps(table).encode()
        (tmp_path / "r.json").write_bytes(content)
        message, found = script.answer(tmp_path / "r.json")
        assert found == status, message
        if status:
            with pytest.raises(md.errors.MechdesignError) as caught:
                from_content(content, "r.json", RecordMechanism)
            assert caught.value.exit_status == status
        else:
            assert from_content(content, "r.json", RecordMechanism).secret == SEX


def test_views_of_any_set_may_promise_maximal_leakage(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
    script = importlib.import_module("verify_records")
    hull = md.ConvexHull([[0.5, 0.5], [0.4, 0.6]])
    made = md.Mechanism(np.array([[3, 1], [1, 3]]), 2, md.Guarantee("log(2)", hull, maximal_leakage="log(2)"))
    content = record_json(RecordMechanism([RecordPart("a", ("a",), 2, made)], weight_bits=1))
    (tmp_path / "r.json").write_bytes(content)
    message, status = script.answer(tmp_path / "r.json")
    assert status == 0, message


def test_pages_and_commands_say_what_a_secret_leaves_out(tmp_path, capsys):
    """No two views share a column: what their tables share is the secret."""
    path = tmp_path / "r.json"
    md.design_records(views_of(records(), ["job", "kin"], secret="sex"), "0.3", known=True).mechanism.save(path)
    (tmp_path / "d.csv").write_text("job,kin\ncook,wife\n")
    assert run(["report", str(path), "-o", str(tmp_path / "r.html")]) == 0
    told = re.sub("<[^>]*>", "", (tmp_path / "r.html").read_text())
    assert "Views that share columns" not in told
    assert "how common the categories of sex are, and agree exactly" in told
    capsys.readouterr()
    for command in (["report", "-o", str(tmp_path / "s.html")], ["analyze"]):
        assert run([command[0], str(path), *command[1:], "--data", str(tmp_path / "d.csv")]) == 2
        error = capsys.readouterr().err
        assert "--data" in error
        assert "set-not-accepted" in error
