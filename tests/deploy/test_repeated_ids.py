"""Several reports about one id are not several records, and an id with several values is told."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from refusals import raises

import mechdesign as md
from mechdesign.cli.entry_point import run
from mechdesign.deploy import FirstReports, RecordFile, ReportFile, count_dataset, count_reports, privatize_file
from mechdesign.deploy.dataset import privatize_dataset
from mechdesign.deploy.repeated_ids import IdsSeen

KEY = md.Key(bytes(range(32)))
PERSONS, DAYS = 20_000, 10


def mechanism():
    ball = md.L1Ball([0.6, 0.4], radius=2, labels=["no", "yes"])
    return md.Mechanism(np.array([[11, 5], [5, 11]]), 4, md.Guarantee("log(11/5)", ball))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same persons with the same values in ten parts, privatized under one key."""
    folder = tmp_path_factory.mktemp("survey")
    (folder / "records").mkdir()
    values = np.where(np.random.default_rng(1).random(PERSONS) < 0.4, "yes", "no")
    for day in range(DAYS):
        order = np.random.default_rng(day).permutation(PERSONS)
        table = pd.DataFrame({"person": order, "answer": values[order], "day": day})
        table.to_csv(folder / "records" / f"{day}.csv", index=False)
    records = RecordFile(folder / "records", "answer")
    privatize_dataset(
        records, mechanism(), ReportFile(folder / "reports", keep=["person", "day"]), key=KEY, ids="person"
    )
    mechanism().save(folder / "m.json")
    return folder


def error_of(counts, of="records"):
    counted = dict(zip(mechanism().outputs, counts.tolist(), strict=True))
    return md.estimate_frequencies(counted, mechanism(), of=of, method="least-squares").standard_errors[0]


@pytest.mark.slow
def test_the_error_is_that_of_the_persons_and_not_of_the_rows(folder):
    # Of one record the report has variance p (1 - p); the textbook inverse divides by 1 - 2 p, with p = 5/16.
    p = 5 / 16
    true = math.sqrt(p * (1 - p) / PERSONS) / (1 - 2 * p)
    reports = RecordFile(folder / "reports", "answer")
    first = FirstReports("person")
    counted = count_dataset(reports, mechanism(), first=first)
    assert counted.counts.sum() == PERSONS
    assert counted.ids is None
    assert (first.seen.repeated, len(first.seen.changed)) == ((DAYS - 1) * PERSONS, 0)
    assert error_of(counted.counts) == pytest.approx(true, rel=1e-9)
    one_day = count_reports(RecordFile(folder / "reports" / "0.csv", "answer"), mechanism())
    assert counted.counts.tolist() == one_day.tolist()
    # Without ids the reports of ten days count as ten persons, and that is said.
    naive = count_dataset(reports, mechanism())
    assert error_of(naive.counts) == pytest.approx(true / math.sqrt(DAYS), rel=1e-9)
    assert naive.ids == "person"


@pytest.mark.slow
def test_errors_over_many_keys_are_those_of_first_reports():
    # A second side: how far estimates from keyed reports of the same persons are from the truth, over many keys.
    persons, made = 400, mechanism()
    values = ["yes"] * 160 + ["no"] * 240
    missed = []
    for seed in range(400):
        reports = made.privatize(values, key=md.Key(seed.to_bytes(32, "little")), ids=list(range(persons)))
        found = md.estimate_frequencies(reports, made, of="records", method="least-squares")
        missed.append(found.frequencies[1] - 0.4)
    ratio = np.std(missed) / found.standard_errors[1]
    assert 0.85 < ratio < 1.15  # four standard deviations of a standard deviation from 400


def test_each_group_has_its_own_first_reports(folder):
    reports, first = RecordFile(folder / "reports", "answer"), FirstReports("person")
    counted = count_dataset(reports, mechanism(), by=["day"], first=first).groups
    assert counted.counts.sum(axis=1).tolist() == [PERSONS] * DAYS
    assert first.seen.repeated == 0


def test_names_of_folders_tell_groups_apart(tmp_path):
    for day in (1, 2):
        (tmp_path / f"reports/day={day}").mkdir(parents=True)
        table = pd.DataFrame({"person": ["ann", "bob", "ann"], "answer": mechanism().outputs[0]})
        table.to_csv(tmp_path / f"reports/day={day}/p.csv", index=False)
    reports = RecordFile(tmp_path / "reports", "answer")
    by_day = count_dataset(reports, mechanism(), by=["day"], first=FirstReports("person"))
    assert by_day.groups.counts.sum(axis=1).tolist() == [2, 2]
    assert count_dataset(reports, mechanism(), first=FirstReports("person")).counts.sum() == 2


def test_which_report_counts_is_the_first_and_differences_are_counted():
    seen = IdsSeen()
    assert seen.first(["a", "b", "a", "a"], np.array([0, 1, 1, 1])).tolist() == [True, True, False, False]
    assert seen.first(["b", "c"], np.array([1, 0])).tolist() == [False, True]
    assert (seen.repeated, seen.changed) == (3, {"a"})
    few = IdsSeen(most=1)
    assert few.first(["a", "b", "b", "a"], np.array([0, 1, 0, 1])).tolist() == [True, True, True, False]
    assert (few.repeated, few.changed, few.are_all) == (1, {"a"}, False)


def test_ids_are_compared_in_one_process(folder):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool, raises("conflicting-arguments"):
        count_dataset(RecordFile(folder / "reports", "answer"), mechanism(), pool, first=FirstReports("person"))


def test_an_id_that_is_missing_or_is_the_report_is_refused(tmp_path):
    (tmp_path / "r.csv").write_text(f"person,answer\nann,{mechanism().outputs[0]}\n,{mechanism().outputs[0]}\n")
    reports = RecordFile(tmp_path / "r.csv", "answer")
    with raises("missing-value", "record 2: the id"):
        count_reports(reports, mechanism(), first=FirstReports("person"))
    with raises("column-twice", "'answer'"):
        count_reports(reports, mechanism(), first=FirstReports("answer"))


# Values that change


def test_a_file_in_which_an_id_has_two_values_says_how_many(tmp_path):
    rows = "ann,no\nbob,yes\nann,yes\nbob,yes\ncleo,no\nann,no\n"
    (tmp_path / "r.csv").write_text("person,answer\n" + rows)
    records = RecordFile(tmp_path / "r.csv", "answer")
    done = privatize_file(records, mechanism(), tmp_path / "o.csv", key=KEY, ids="person")
    assert (done.records, done.repeated, done.changed) == (6, 3, 1)
    fresh = privatize_file(records, mechanism(), tmp_path / "f.csv")
    assert (fresh.records, fresh.repeated, fresh.changed) == (6, 0, 0)
    (tmp_path / "parts").mkdir()
    for name in "ab":
        (tmp_path / "parts" / f"{name}.csv").write_text("person,answer\n" + rows)
    whole = privatize_dataset(
        RecordFile(tmp_path / "parts", "answer"), mechanism(), tmp_path / "out", key=KEY, ids="person"
    )
    assert (whole.records, whole.repeated, whole.changed_ids) == (12, 6, 2)


def test_fresh_reports_that_differ_are_not_called_changed_values(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "250")
    records = RecordFile(folder / "records", "answer")
    privatize_dataset(records, mechanism(), ReportFile(tmp_path / "fresh", keep=["person"]))
    estimate = ["estimate", str(tmp_path / "fresh"), "--column", "answer", "--mechanism", str(folder / "m.json")]
    assert run([*estimate, "--id", "person"]) == 0
    told = capsys.readouterr().out
    assert "ids whose reports differ: " in told
    assert "their values changed, or the reports are fresh, not permanent" in told


def test_a_folder_says_that_ids_of_its_parts_are_not_compared(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "250")
    assert run(["key", "-o", str(tmp_path / "k.key")]) == 0
    given = ["--column", "answer", "--mechanism", str(folder / "m.json")]
    permanent = ["--id", "person", "--key-file", str(tmp_path / "k.key")]
    said = "ids are compared within each part alone; estimate --id person compares those of all parts"
    for source, options, expected in [("records", permanent, True), ("records", [], False)]:
        capsys.readouterr()
        assert run(["privatize", str(folder / source), *given, *options, "-o", str(tmp_path / str(expected))]) == 0
        assert (said in " ".join(capsys.readouterr().out.split())) is expected
    capsys.readouterr()
    assert run(["privatize", str(folder / "records/0.csv"), *given, *permanent, "-o", str(tmp_path / "one.csv")]) == 0
    assert said not in " ".join(capsys.readouterr().out.split())


def test_the_commands_say_it(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "250")
    estimate = ["estimate", "reports", "--column", "answer", "--mechanism", "m.json", "--of", "records"]
    assert run(estimate) == 0
    told = capsys.readouterr().out
    assert "errors are then TOO SMALL; if ids repeat, keep the column person" in told
    assert run([*estimate, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ids"] == {"column": "person"}
    assert run([*estimate, "--id", "person"]) == 0
    told = capsys.readouterr().out
    assert "180,000 reports about an id that came before are not counted" in told
    assert "SMALL" not in told
    assert run([*estimate, "--id", "person", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ids"] == {"column": "person", "repeated": 180_000, "changed": 0}
    assert found["reports"] == PERSONS
    assert run([*estimate, "--id", "person", "--jobs", "2"]) == 2
    assert "ids are compared in one process" in capsys.readouterr().err
    monkeypatch.chdir(tmp_path)
    Path("r.csv").write_text("person,answer\nann,no\nann,yes\nbob,no\n")
    (tmp_path / "m.json").write_bytes((folder / "m.json").read_bytes())
    assert run(["key", "-o", "k"]) == 0
    privatize = ["privatize", "r.csv", "--column", "answer", "--mechanism", "m.json", "--key-file", "k"]
    options = ["--attribute", "answer", "--keep", "person"]
    capsys.readouterr()
    assert run([*privatize, "--id", "person", *options, "-o", "o.csv"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "repeated ids records about an id that came before: 1; the first" in told
    assert "SEVERAL VALUES ids with more than one value here: 1, which leak as said above" in told
    assert run([*privatize, "--id", "person", *options, "-o", "p.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["repeated_ids"], found["changed_ids"]) == (1, 1)


# The order of arguments


def test_arguments_in_another_order_are_refused_by_name(tmp_path):
    (tmp_path / "r.csv").write_text("answer\nno\n")
    records, output = RecordFile(tmp_path / "r.csv", "answer"), tmp_path / "o.csv"
    with raises("wrong-type", "mechanism in privatize_file(records, mech"):
        privatize_file(records, output, mechanism())
    with raises("wrong-type", "mechanism in privatize_dataset(records, mechanism, dest"):
        privatize_dataset(records, output, mechanism())
    for call in (privatize_file, privatize_dataset):
        with raises("wrong-type", "Mechanism"):
            call(mechanism(), records, output)
    assert not output.exists()
