"""Combinations of a group that were never seen, as one category: promise, files, reports, estimates, refusals."""

import importlib
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import refusals
from pages import well_made

import mechdesign as md
from mechdesign.cli.records_report import records_page
from mechdesign.records import RecordMechanism, RecordPart, View, estimate_records, views_of
from mechdesign.records.record_mechanism_files import from_content, record_json
from mechdesign.records.record_views import MERGED
from mechdesign.records.side_knowledge import side_leakages
from mechdesign.report import Origin
from tests.records.made import raises, warner

REST = f"{MERGED} & {MERGED}"
RECORDS = {
    "sex": ["f"] * 600 + ["m"] * 400,
    "kin": ["wife"] * 300 + ["single"] * 300 + ["husband"] * 250 + ["single"] * 150,
    "age": ["young", "old"] * 500,
}


@pytest.fixture(scope="module")
def mechanism():
    views = views_of(RECORDS, groups=["sex+kin"], unseen="merge")
    return md.design_records(views, 1, delta="1e-6").mechanism


def test_never_seen_combinations_are_one_category_of_the_group(mechanism):
    part = mechanism.part("sex+kin")
    assert part.mechanism.inputs == ("f & single", "f & wife", "m & single", "m & husband", REST)
    assert part.merged == REST
    assert mechanism.merged == {"sex+kin": 2}
    assert mechanism.ruled_out == {}
    told = f"2 combinations into one category, {MERGED}: f & husband, m & wife"
    assert ("merged in sex+kin", told) in mechanism.facts()
    assert mechanism.promised_keys()["views"][0]["merged"] == REST
    assert views_of(RECORDS, groups=["sex+age"], unseen="merge")[0].merged is None  # all were seen


def test_the_category_has_labels_of_its_own(mechanism):
    """Else tables of one column would count people there who have something else."""
    part = mechanism.part("sex+kin")
    with refusals.raises("unknown-label", "'f'", "sex+kin"):
        replace(part, merged="f & wife")


def test_the_page_says_what_the_category_holds(mechanism):
    page = well_made(records_page(mechanism, Origin.of(record_json(mechanism), "records.json")))
    assert page.facts["merged"] == "2"
    told = " ".join(page.section("views").split())
    assert f"the category {MERGED} holds 2 combinations that have no row of their own: f & husband, m & wife." in told
    seen = [[f"a{k}", f"b{k}", *([f"c{k}"] if k < 5 else ["c0"])] for k in range(20)]
    columns = dict(zip("abc", zip(*seen * 10, strict=True), strict=True))
    large = md.design_records(views_of(columns, groups=["a+b+c"], unseen="merge"), 1, delta="1e-6").mechanism
    told = " ".join(well_made(records_page(large, Origin.of(b"", "r.json"))).section("views").split())
    assert f"the category {MERGED} holds 1,980 combinations" in told
    assert "a0 & b0 & c1, " in told
    assert "and 1,968 more. People" in told


def test_the_leakage_of_records_is_that_of_their_category(mechanism):
    """Theorem 1, where the view is the combination or the category of all others, over random joint laws."""
    part, rng = mechanism.part("sex+kin"), np.random.default_rng(1)
    table = mechanism.tables[0]
    rows, symbols = part.mechanism.numerators.tolist(), table.symbols.tolist()
    assert symbols.count(4) == len(symbols) - 4
    for _ in range(100):
        law = [Fraction(int(n)) for n in rng.integers(0, 4, len(symbols))]
        if not any(law):
            continue
        of_view = [sum((p for p, s in zip(law, symbols, strict=True) if s == k), Fraction(0)) for k in range(5)]
        for y in range(len(rows[0])):
            mean = sum(p * rows[s][y] for p, s in zip(law, symbols, strict=True))
            assert mean == sum(p * rows[k][y] for k, p in enumerate(of_view))
            records = [rows[s][y] for p, s in zip(law, symbols, strict=True) if p]
            assert max(records) == max(rows[k][y] for k, p in enumerate(of_view) if p)


def test_files_keep_what_is_merged_and_it_is_part_of_the_fingerprint(mechanism, monkeypatch, tmp_path):
    content = record_json(mechanism)
    again = from_content(content, "r.json", RecordMechanism)
    assert (again.fingerprint, again.part("sex+kin").merged) == (mechanism.fingerprint, REST)
    without = [RecordPart(p.name, p.attributes, p.weight, p.mechanism) for p in mechanism.parts]
    assert RecordMechanism(without, mechanism.weight_bits).fingerprint != mechanism.fingerprint
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
    script, file = importlib.import_module("verify_records"), tmp_path / "r.json"
    for change, status in (({}, 0), ({"merged": "m & wife"}, 2), ({"merged": 3}, 2)):
        table = json.loads(content)
        table["parts"][0].update(change)
        file.write_text(json.dumps(table))
        assert script.answer(file)[1] == status
        if change:
            with pytest.raises(md.errors.InputError):
                from_content(file.read_bytes(), "r.json", RecordMechanism)


def test_tables_say_how_many_have_another_combination(mechanism):
    rng, new = np.random.default_rng(2), 200
    people = {"sex": RECORDS["sex"] + ["f"] * new, "kin": RECORDS["kin"] + ["husband"] * new}
    people = {name: values * 20 for name, values in (people | {"age": ["old"] * (1000 + new)}).items()}
    found = estimate_records(mechanism.privatize(people, rng), mechanism)
    truths = {
        "sex": {"f": 600, "m": 400, MERGED: new},
        "kin": {"wife": 300, "single": 450, "husband": 250, MERGED: new},
        "sex+kin": {"f & wife": 300, REST: new},
    }
    for name, truth in truths.items():
        table = found[name]
        for label, count in truth.items():
            k = table.labels.index(label)
            assert abs(table.frequencies[k] - count / (1000 + new)) < 5 * table.standard_errors[k]
    with raises("unknown-label"):
        mechanism.privatize({"sex": ["x"], "kin": ["wife"], "age": ["old"]})
    people["age"] = ["old", "young"] * (len(people["age"]) // 2)
    leakages = {each.view: each for each in side_leakages(mechanism, people)}
    assert leakages["sex+kin"].known == "age"


def test_what_cannot_be_merged_is_refused():
    for options in ({"pairs": True}, {"side": ["age"]}, {"impossible": [{"sex": "m", "kin": "wife"}]}):
        groups = {} if "pairs" in options else {"groups": ["sex+kin"]}
        with raises("conflicting-arguments"):
            views_of(RECORDS, unseen="merge", **groups, **options)
    with raises("bad-workload"):
        views_of(RECORDS, groups=["sex+kin"], unseen="merge", workloads={"sex+kin": "prefix"})
    four = warner(("a & b", REST))
    with raises("unknown-label"):
        RecordPart("x+y", ("x", "y"), 1, four, "a & c")
    with raises("unknown-label"):
        RecordPart("x", ("x",), 1, warner(), "no")
    merging = RecordPart("x+y", ("x", "y"), 1, four, REST)
    with raises("column-twice"):
        RecordMechanism([merging, RecordPart("x", ("x",), 1, warner(("a", MERGED)))], weight_bits=1)
    with raises("never-occurs"):
        md.design_records(views_of(RECORDS, groups=["sex+kin"], unseen="merge"), 1, known=True)
    assert View(("x", "y"), {"a & b": 1, REST: 0}, merged=REST).merged == REST


@pytest.mark.slow
def test_delta_covers_that_the_sample_chooses_what_is_merged():
    """Of 900 equally likely pairs 20 were seen, all of them far too often."""
    rng, values = np.random.default_rng(1), [str(k) for k in range(30)]
    columns = {name: [str(each) for each in rng.integers(0, 30, 20)] for name in "ab"}
    options = {"groups": ["a+b"], "alphabets": {"a": values, "b": values}}
    (part,) = md.design_records(views_of(columns, unseen="merge", **options), 1, delta="1e-9").mechanism.parts
    known = part.mechanism.guarantee.uncertainty
    seen = len(known.labels) - 1
    law = [Fraction(1, 900)] * seen + [Fraction(900 - seen, 900)]
    distance = sum(abs(p - q) for p, q in zip(law, known.center, strict=True))
    assert known.evidence.delta == Fraction(1, 10**9)
    assert md.L1Ball.from_counts(known.evidence.counts, delta="1e-9").radius < distance <= known.radius
    (apart,) = views_of(columns, **options).views
    assert known.radius == md.L1Ball.from_counts(apart.prior, delta="1e-9").radius


def test_a_radius_of_the_categories_alone_is_refused(tmp_path, monkeypatch):
    """A file that states the radius of the merged counts, as if nobody had chosen what is merged; both verifiers."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
    answer = importlib.import_module("verify_records").answer
    rng, path = np.random.default_rng(1), tmp_path / "records.json"
    columns = {name: [str(each) for each in rng.integers(0, 5, 12)] for name in "ab"}
    found = md.design_records(views_of(columns, unseen="merge", groups=["a+b"]), 1, delta="1e-3").mechanism
    (part,) = found.parts
    known = part.mechanism.guarantee.uncertainty
    narrow = md.L1Ball.from_counts(dict(zip(known.labels, known.evidence.counts, strict=True)), delta="1e-3")
    assert narrow.radius < known.radius
    path.write_bytes(record_json(found))
    assert answer(path)[1] == 0
    made = md.design(md.DesignProblem(narrow, 1, md.HammingAccuracy())).mechanism
    with refusals.raises("delta-false", "merges combinations by their counts"):
        replace(part, mechanism=made)
    made.save(tmp_path / "one.json")
    document = json.loads(record_json(found)) | {"optimality": None}
    document["parts"][0]["mechanism"] = json.loads((tmp_path / "one.json").read_text())
    content = json.dumps(document).encode()
    with refusals.raises("delta-false", "merges combinations by their counts"):
        from_content(content, "records.json", RecordMechanism)
    path.write_bytes(content)
    assert answer(path) == ("delta is false: the radius is not that of all combinations, of which some are merged", 1)


@pytest.mark.parametrize(("values", "folded"), [(2, False), (3, True)])
def test_a_page_names_all_combinations_that_are_impossible(values, folded):
    column = [f"v{place % values}" for place in range(600)]
    views = views_of({"a": column, "b": column}, groups=["a+b"], unseen="impossible")
    mechanism = md.design_records(views, 1, delta="1e-6").mechanism
    ruled_out = mechanism.ruled_out["a+b"]
    assert len(ruled_out) == values * (values - 1)
    page = well_made(records_page(mechanism, Origin.of(record_json(mechanism), "records.json")))
    rest = [each for each in page.all("details") if "All of them" in each.text]
    assert bool(rest) == folded
    assert all(label in rest[0].text for label in ruled_out if folded)
