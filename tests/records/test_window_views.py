"""Views of any strings: their promise against enumerated laws, files, reports, estimates, and what they cannot do."""

import importlib
import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import mechdesign as md
from mechdesign.mechanism import Key
from mechdesign.mechanism.origin import text
from mechdesign.records import RecordMechanism, RecordPart, View, estimate_records, views_of, views_of_tables
from mechdesign.records.drawn_views import _fingerprint_of
from mechdesign.records.record_analysis import analyze_records
from mechdesign.records.record_audit import audit_records
from mechdesign.records.record_mechanism_files import from_content, record_json
from mechdesign.records.side_knowledge import side_leakages
from mechdesign.windows import design_windows, estimate_strings
from mechdesign.windows.columns_of_strings import StringColumn
from mechdesign.windows.drawn_windows import Drawing, keyed
from tests.records.made import raises, warner

WORDS = {f"word{k}": 4000 // k for k in range(1, 60)}


def designed(**windows):
    views = [View(("word",), WORDS, value=0.01, windows={"seeds": 30, **windows}), View(("sex",), {"f": 600, "m": 400})]
    return md.design_records(views, 1, delta="1e-6")


@pytest.fixture(scope="module")
def mechanism():
    return designed().mechanism


def table_of(windows, strings):
    """Return the probabilities of all windows for some strings, by enumeration of all draws."""
    drawing, heavy = Drawing(windows.layout, windows.windows), windows.layout.heavy
    units = dict(zip(heavy.strings, heavy.units.tolist(), strict=True))
    found = []
    for string in strings:
        row, U, M = [Fraction(0)] * len(windows.outputs), units.get(string, 1), len(windows.windows)
        print_of = StringColumn("nfc").codes([string])
        for seed, one in enumerate(windows.windows):
            R = one.rounds(windows.layout.buckets)
            for unit, turn in product(range(U), range(R)):
                at = (0, seed, unit, turn)
                (place,) = drawing.windows(print_of, lambda which, limits, at=at: np.full(len(limits), at[which]))
                row[place] += Fraction(1, M * R * U)
        found.append(row)
    assert all(sum(row) == 1 for row in found)
    return found


def test_the_whole_leaks_what_windows_leak_whatever_the_joint_law_is():
    """Theorem 1 with a view of windows, by brute force over joint laws of strings and of another attribute."""
    windows = design_windows({"a": 3, "b": 2, "c": 4, "d": 3}, "log(3)", known=True, seeds=3, buckets=8).mechanism
    strings = ["a", "b", "c", "d", "unseen"]
    rows, rng = table_of(windows, strings), np.random.default_rng(1)
    columns = range(len(windows.outputs))
    for _ in range(60):
        counts = rng.integers(0, 4, (len(strings), 2)) + (rng.random((len(strings), 2)) < 0.2)
        if not counts.any():
            continue
        law = [[Fraction(int(n), int(counts.sum())) for n in row] for row in counts]
        possible = [(i, j) for i in range(len(strings)) for j in range(2) if law[i][j]]
        alone = [sum(row) for row in law]
        for y in columns:
            mean = sum(law[i][j] * rows[i][y] for i, j in possible)
            of_view = sum(p * row[y] for p, row in zip(alone, rows, strict=True))
            assert mean == of_view
            if mean:
                whole = max(Fraction(1, 3) * rows[i][y] for i, j in possible) / (Fraction(1, 3) * mean)
                assert whole == max(rows[i][y] for i, p in enumerate(alone) if p) / of_view
    known = [Fraction(n, 12) for n in (3, 2, 4, 3, 0)]
    means = [sum(p * row[y] for p, row in zip(known, rows, strict=True)) for y in columns]
    worst = max(max(row[y] for row in rows) / means[y] for y in columns)
    assert math.log(worst) <= windows.leakage + 1e-12 <= math.log(3) + 1e-9


def test_what_is_promised_of_learnt_windows_is_for_all_laws_of_the_set(mechanism):
    windows = mechanism.part("word").mechanism
    share = windows.promise.least_share
    assert windows.leakage < windows.promised_leakage <= 1  # the sample is better than the worst law of the set
    assert windows.promised_leakage == pytest.approx(-math.log(share), abs=1e-9)
    assert mechanism.leakage == max(windows.promised_leakage, mechanism.part("sex").leakage)
    assert mechanism.guarantee.delta == Fraction(1, 10**6)
    assert "about the whole record for every joint law" in mechanism.guarantee.in_words()


def test_weights_follow_the_errors_and_values_of_views():
    found = designed()
    errors = [0.01 * found.designs[0].error, found.designs[1].value]
    roots = np.sqrt(errors)
    assert found.mechanism.shares == pytest.approx(roots / roots.sum(), rel=1e-6)
    assert found.error == pytest.approx(roots.sum() ** 2, rel=1e-6)
    assert found.bound is None
    assert "word is of windows" in found.no_bound
    assert found.certified
    assert found.queries == len(WORDS) + 2
    assert found.facts[0].cells is None
    assert found.facts[0].bound < found.facts[0].error < 2 * found.facts[0].bound
    assert "any" in str(found)


def test_files_come_back_and_lies_in_them_are_found(mechanism, monkeypatch, tmp_path):
    content = record_json(mechanism)
    again = from_content(content, "r.json", RecordMechanism)
    assert again.fingerprint == mechanism.fingerprint
    assert record_json(again) == content
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
    script = importlib.import_module("verify_records")
    file = tmp_path / "r.json"

    def told(table):
        file.write_text(json.dumps(table))
        return script.answer(file)[1]

    table = json.loads(content)
    assert told(table) == 0
    for change, code, status in (
        (lambda own: own.update(epsilon="0.2"), "bad-field", 2),
        (lambda own: own["evidence"].update(samples=own["evidence"]["samples"] - 5000), None, None),
        (lambda own: own["windows"].update(starts="AAAA"), "damaged-file", 2),
        (lambda own: own.update(schema="mechdesign/windows/2"), None, 2),
    ):
        changed = json.loads(content)
        change(changed["parts"][0]["mechanism"])
        with pytest.raises(md.errors.MechdesignError) as error:
            from_content(json.dumps(changed).encode(), "r.json", RecordMechanism)
        assert code is None or error.value.code == code
        assert "word" in str(error.value) or status != 2 or code is None
        assert told(changed) in {1, 2}
    table["epsilon"] = "0.5"
    with raises("guarantee-false"):
        from_content(json.dumps(table).encode(), "r.json", RecordMechanism)
    assert told(table) == 1


def test_the_shares_of_other_samples_are_no_reference(mechanism):
    reports = mechanism.privatize({"word": ["word1"] * 50, "sex": ["f"] * 50}, np.random.default_rng(1))
    shares = {name: n / sum(WORDS.values()) for name, n in WORDS.items()}
    swapped = shares | {"word1": shares["word2"], "word2": shares["word1"]}
    with raises("wrong-sample"):
        estimate_records(reports, mechanism, candidates={"word": ["word1"]}, references={"word": swapped})


def test_permanent_reports_are_those_of_the_windows_under_a_fingerprint_of_the_view(mechanism):
    key, ids = Key(bytes(range(32))), [f"p{k}" for k in range(400)]
    words = [f"w{k % 7}" for k in range(400)]
    made = mechanism.privatize({"word": words, "sex": ["f"] * 400}, key=key, ids=ids)
    other = mechanism.privatize({"word": ["x"] * 400, "sex": ["m"] * 400}, key=key, ids=ids)
    assert made["view"] == other["view"]  # the view does not depend on the record
    part = mechanism.part("word")
    windows, rows = part.mechanism, [k for k, view in enumerate(made["view"]) if view == "word"]
    start = keyed(key.secret, _fingerprint_of(part) + text(key.attribute))
    drawing = Drawing(windows.layout, windows.windows, windows.promise.floor)
    prints = StringColumn("nfc").codes([words[k] for k in rows])
    wanted = drawing.permanent(prints, [ids[k].encode() for k in rows], start) + windows.outputs.first
    assert [int(made["report"][k]) for k in rows] == wanted.tolist()


def test_shares_of_candidates_are_those_of_the_windows_alone(mechanism):
    rng, count = np.random.default_rng(3), 30_000
    words = rng.choice(["word1", "word2", "new"], count, p=[0.2, 0.5, 0.3])
    made = mechanism.privatize({"word": words, "sex": rng.choice(["f", "m"], count)}, rng)
    names, shares = ["word1", "word2", "new", "never"], {name: n / sum(WORDS.values()) for name, n in WORDS.items()}
    own = [int(report) for view, report in zip(*made.values(), strict=True) if view == "word"]
    for reference in (None, shares):
        wanted = estimate_strings(np.array(own), mechanism.part("word").mechanism, names, reference)
        references = None if reference is None else {"word": reference}
        found = estimate_records(made, mechanism, candidates={"word": names}, references=references)
        table = found["word"]
        assert table.frequencies == pytest.approx(wanted.shares)
        assert table.standard_errors == pytest.approx(wanted.standard_errors)
        assert (np.abs(table.frequencies - [0.2, 0.5, 0.3, 0]) < 5 * table.standard_errors).all()
        assert table.intervals == pytest.approx(wanted.intervals(0.95))
        assert (table.simultaneous_intervals[:, 0] < table.intervals[:, 0]).all()
        # The cells of sex, two of six rows, have a third of the error that is left for all rows at once.
        level = 1 - 0.05 * 4 / 6
        assert table.simultaneous_intervals == pytest.approx(wanted.intervals(level, simultaneous=True))
        assert found.family == 6
    plain = estimate_records(made, mechanism, candidates={"word": names}, consistent=True)["word"]
    assert plain.frequencies.min() >= 0
    assert plain.standard_errors is None
    assert [table.name for table in estimate_records(made, mechanism)] == ["sex"]
    months = estimate_records(made, mechanism, by=rng.choice(["jan", "feb"], count), candidates={"word": names})
    assert months.columns()["label"].count("never") == 2


def test_reports_of_windows_alone_are_estimated():
    alone = md.design_records([View(("word",), WORDS, windows={"seeds": 20})], 1, known=True).mechanism
    made = alone.privatize({"word": ["word1"] * 3000})
    found = estimate_records(made, alone, candidates={"word": ["word1"]})
    assert abs(found["word"].frequencies[0] - 1) < 5 * found["word"].standard_errors[0]
    assert found.fit.degrees == 0


def test_views_of_records_count_strings_in_their_normal_form():
    records = {"word": ["cafe\u0301", " caf\u00e9", None, "b", "b"], "sex": ["f", "m", "f", "f", "m"]}
    found = views_of(records, strings={"word": {"seeds": 5}}, missing="?")
    assert [view.name for view in found] == ["sex", "word"]
    assert found[1].prior == {"caf\u00e9": 2, "?": 1, "b": 2}
    tables = [{"sex": ["f", "m"], "count": [3, 2]}, {"word": ["b", "c", "b"], "count": [5, 1, 2]}]
    assert views_of_tables(tables, strings={"word": {}})[1].prior == {"b": 7, "c": 1}


def test_heavy_strings_are_chosen_by_a_part_of_the_records():
    made = designed(split="1/10").designs[0].mechanism
    assert made.layout.heavy is not None
    assert made.promise.samples < sum(WORDS.values())


def test_who_knows_an_attribute_meets_the_strings_of_those_who_have_it(mechanism):
    rng = np.random.default_rng(5)
    records = {"word": rng.choice(list(WORDS), 4000).tolist(), "sex": rng.choice(["f", "m"], 4000).tolist()}
    found = {each.view: each for each in side_leakages(mechanism, records)}
    windows = mechanism.part("word").mechanism
    leakages = {}
    for sex in ("f", "m"):
        words = [word for word, own in zip(*records.values(), strict=True) if own == sex]
        units = windows.layout.evidence({word: words.count(word) for word in set(words)}, 1)
        least = min(min(one.sums(row)) / len(words) for one, row in zip(windows.windows, units, strict=True))
        leakages[sex] = math.log(1 / least)
    assert found["word"].leakage == pytest.approx(max(leakages.values()))
    assert found["word"].known == "sex"
    worth = analyze_records(mechanism)
    assert worth.queries == 2
    assert worth.rivals == ()
    assert 0.4 < worth.views[0].typical < 1.5  # 1/(e - 1) is 0.58


def test_what_windows_cannot_be_is_refused_by_name(mechanism):
    windows = mechanism.part("word").mechanism
    one = RecordPart("word", ("word",), 1, windows)
    with raises("wrong-size"):
        RecordPart("both", ("word", "sex"), 1, windows)
    with raises("column-twice"):
        RecordMechanism([one, RecordPart("w", ("word", "sex"), 1, warner(("a & f", "b & f")))], weight_bits=1)
    with raises("column-twice"):
        RecordMechanism([one, RecordPart("s", ("s",), 1, warner())], weight_bits=1, bins={"word": [1]})
    reports = mechanism.privatize({"word": ["a"] * 10, "sex": ["f"] * 10})
    with raises("wrong-mechanism"):
        estimate_records(reports, mechanism, candidates={"sex": ["f"]})
    with raises("missing-argument"):
        estimate_records(reports, mechanism, references={"word": {}})
    with raises("unknown-choice"):
        estimate_records(reports, mechanism, candidates={"age": ["f"]})
    with raises("too-much-work"):
        audit_records(mechanism, 1000)
    with raises("conflicting-arguments"):
        View(("a", "b"), WORDS, windows={})
    with raises("unknown-choice"):
        View(("a",), WORDS, windows={"cap": 3})
    for options in ({"bins": {"word": [1]}}, {"groups": [("word", "sex")]}, {"columns": ["sex"]}, {"side": ["word"]}):
        with raises("conflicting-arguments"):
            views_of({"word": ["a"], "sex": ["f"]}, strings={"word": {}}, **options)
    with raises("missing-value"):
        mechanism.privatize({"word": ["a", None], "sex": ["f", "f"]})
    with raises("unknown-label"):
        mechanism.privatize({"word": ["a"], "sex": ["x"]})
