"""Design, privatize, estimate: the way of a deployment, command by command."""

import csv
import json
import math
import os
from functools import partial
from pathlib import Path

import pytest
from command_options import replaced

import mechdesign as md

COUNTS = {"low": 5_000, "middle": 3_000, "high": 1_500, 'top, "rare"': 500}
ADULT = os.environ.get("MECHDESIGN_ADULT_DATA")  # the file of that name in the UCI repository


@pytest.fixture(scope="module")
def mechanism():
    ball = md.L1Ball.from_counts(COUNTS, delta=1e-9)
    return md.design(md.DesignProblem(ball, epsilon=1)).mechanism


@pytest.fixture
def here(here, mechanism):
    mechanism.save("m.json")
    with Path("records.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "level"])
        writer.writerows([i, label] for label, count in COUNTS.items() for i in range(count))
    return here


def privatize(command, *options, file="records.csv", column="level", mechanism="m.json", output="reports.csv"):
    given = ("--column", column, "--mechanism", mechanism, "-o", output)
    return command("privatize", file, *replaced(given, options))


def estimate(command, *options, file="reports.csv", column="level", mechanism="m.json"):
    return command("estimate", file, *replaced(("--column", column, "--mechanism", mechanism), options))


@pytest.mark.parametrize("output", ["reports.csv", "reports.parquet"])
def test_from_records_to_frequencies(command, here, output):
    status, out, err = privatize(command, output=output)
    assert (status, err) == (0, "")
    assert "10,000" in out
    status, out, err = estimate(command, "--json", "--of", "records", file=output)
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found["schema"] == "mechdesign/estimate/1"
    assert found["labels"] == list(COUNTS)
    assert found["reports"] == 10_000
    assert math.isclose(sum(found["frequencies"]), 1)
    for count, frequency, error in zip(COUNTS.values(), found["frequencies"], found["standard_errors"], strict=True):
        # Secure randomness: seven standard errors are passed once in 1e11.
        assert abs(frequency - count / 10_000) <= 7 * error + 1e-12  # a level that reports always tell has error 0
        assert error < 0.05


def test_the_reports_have_the_columns_asked_for(command, here):
    privatize(command, "--keep", "id")
    with Path("reports.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    mechanism = md.Mechanism.load("m.json")
    assert rows[0] == ["id", "level"]
    assert [row[0] for row in rows[1:6_001]] == [*map(str, range(5_000)), *map(str, range(1_000))]
    assert {row[1] for row in rows[1:]} <= set(mechanism.outputs)
    _, out, _ = privatize(command, "--keep", "id", "--json", "--overwrite")
    told = json.loads(out)
    assert told["schema"] == "mechdesign/privatization/1"
    assert (told["records"], told["keep"], told["column"]) == (10_000, ["id"], "level")
    assert told["leakage"] <= told["epsilon"] == 1


def test_what_is_kept_is_warned_of(command):
    assert "does not cover what these tell about the record" in privatize(command, "--keep", "id")[1]
    assert "does not cover" not in privatize(command, "--overwrite")[1]


def test_without_a_header(command, here):
    Path("plain.csv").write_text("1, low\n2, high \n\n3,middle")
    assert privatize(command, "--no-header", file="plain.csv", column="1")[0] == 0
    assert len(Path("reports.csv").read_text().splitlines()) == 3
    status, out, _ = estimate(command, "--no-header", "--json", column="0")
    assert (status, json.loads(out)["reports"]) == (0, 3)


def test_a_mechanism_that_does_not_prove_is_refused_before_anything_is_read(command, here):
    content = json.loads(Path("m.json").read_text())
    content["guarantee"]["epsilon"] = "0.5"
    Path("false.json").write_text(json.dumps(content))
    for run_it in (privatize, estimate):
        status, out, err = run_it(command, file="absent.csv", mechanism="false.json")
        assert (status, out) == (1, "")
        assert err.startswith("Error: the guarantee is false")
    assert not Path("reports.csv").exists()


@pytest.mark.parametrize(
    ("options", "change", "code", "shown"),
    [
        ([], "secret", "unknown-label", "record 3"),
        ([], "", "missing-value", "record 3"),
        (["--unknown", "secret"], "secret", "unknown-label", ""),
        (["--keep", "level"], "low", "column-twice", ""),
        (["--keep", "nothing"], "low", "unknown-column", ""),
        (["-o", "records.csv"], "low", "same-file", ""),
        (["-o", "reports.xls"], "low", "wrong-file-ending", ""),
        (["--mechanism", "nothing.json"], "low", "cannot-read", ""),
        (["--column", "nothing"], "low", "unknown-column", ""),
    ],
)
def test_bad_requests_end_in_one_line_and_leave_nothing(refused, options, change, code, shown):
    Path("records.csv").write_text(f"id,level\n1,low\n2,low\n3,{change}\n")
    privatize(partial(refused, code, shown=shown), *options)


def test_values_of_records_are_printed_only_if_asked_for(command):
    Path("records.csv").write_text("id,level\n1,low\n2,MYSSN-123\n")
    Path("people.csv").write_text("level,count\nlow,5\nMYSSN-123,MYSSN-123\n")
    long = "MYSSN-123" * 200
    Path("long.csv").write_text(f"level\nlow\n{long}\n")
    Path("told.csv").write_text("level\nMYSSN-123\n")
    reports = ("estimate", "told.csv", "--column", "level", "--mechanism", "m.json")
    asked = [
        ("privatize", "records.csv", "--column", "level", "--mechanism", "m.json", "-o", "reports.csv"),
        ("privatize", "records.csv", "--column", "MY", "--mechanism", "m.json", "-o", "reports.csv", "--no-header"),
        ("privatize", "people.csv", "--column", "2", "--mechanism", "m.json", "-o", "reports.csv"),
        reports,
        *(
            (name, "--data", "long.csv", "--column", "level", "--epsilon", "1", "--delta", "1e-3")
            for name in ("design", "compare")
        ),
        *((name, "--counts", "people.csv", "--epsilon", "1", "--delta", "1e-3") for name in ("design", "compare")),
        ("histogram", "discrete", "people.csv", "-k", "2", "--epsilon", "1", "--delta", "1e-3", "-o", "reports.csv"),
    ]
    shown = 0
    for arguments in asked:
        for option in ([], ["--show-values"]):
            status, out, err = command(*arguments, *option)
            assert (status, out, err.count("\n")) == (2, "", 1)
            assert option or "MYSSN" not in err
            shown += "MYSSN" in err
    assert shown == len(asked) - 2  # an index that is none, and names of columns, are no values of records


def test_unknown_and_missing_values_have_options(command):
    Path("records.csv").write_text("id,level\n1,low\n2,other\n3,\n")
    assert privatize(command, "--unknown", "low", "--missing", "middle")[0] == 0
    assert len(Path("reports.csv").read_text().splitlines()) == 4


def test_the_estimate_is_a_table_for_people_and_a_file_for_programs(command, here):
    privatize(command)
    status, out, _ = estimate(command, "-o", "frequencies.csv", "--confidence", "0.9")
    assert status == 0
    assert "90 % interval" in out
    for label in COUNTS:
        assert label in out
    with Path("frequencies.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["label"] for row in rows] == list(COUNTS)
    for row in rows:
        assert float(row["lower"]) <= float(row["frequency"]) <= float(row["upper"])
        assert row["identifiable"] in {"true", "false"}


def test_what_cannot_be_told_apart_is_said(command, here):
    ball = md.L1Ball([0.5, 0.3, 0.2], radius=2, labels=["a", "b", "c"])
    promise = md.Guarantee(md.Epsilon.of("log(3)"), ball)
    md.Mechanism.from_matrix([[0.75, 0.25], [0.25, 0.75], [0.25, 0.75]], promise, outputs=["y1", "y2"]).save(
        "pairs.json"
    )
    Path("reports.csv").write_text("level\n" + "y1\n" * 45 + "y2\n" * 55)
    status, out, _ = estimate(command, mechanism="pairs.json")
    assert status == 0
    assert out.count("not identifiable") == 2
    assert "Only the total of these can be estimated: b, c." in out
    found = json.loads(estimate(command, "--json", mechanism="pairs.json")[1])
    assert found["standard_errors"][1] is None
    assert found["groups"] == [["a"], ["b", "c"]]
    status, out, err = estimate(command, "--method", "least-squares", mechanism="pairs.json")
    assert (status, out) == (2, "")
    assert "maximum-likelihood" in err


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--confidence", "1"], "out-of-range"),
        (["--confidence", "nan"], "out-of-range"),
        (["-o", "nowhere/f.csv"], "cannot-write"),
        (["--column", "x"], "unknown-column"),
    ],
)
def test_bad_estimates_end_in_one_line(refused, options, code):
    Path("reports.csv").write_text("level\ny1\n")
    estimate(partial(refused, code), *options)


def test_reports_of_another_mechanism_are_refused(command):
    Path("reports.csv").write_text("level\nhigh\n")
    status, _, err = estimate(command)
    assert status == 2
    assert "record 1 is not among the categories (--show-values prints it)" in err


def test_no_reports_no_estimate(command):
    Path("reports.csv").write_text("level\n")
    status, _, err = estimate(command)
    assert status == 2
    assert err.count("\n") == 1


@pytest.mark.skipif(not ADULT, reason="MECHDESIGN_ADULT_DATA does not name the file adult.data")
def test_the_real_file(command):
    options = ["--no-header", "--column", "3"]
    status, _, err = command("design", "--data", ADULT, *options, "--epsilon", "1", "--delta", "1e-9", "-o", "e.json")
    assert (status, err) == (0, "")
    assert privatize(command, "--no-header", file=ADULT, column="3", mechanism="e.json")[0] == 0
    status, out, _ = estimate(command, "--no-header", "--json", "--of", "records", column="0", mechanism="e.json")
    found = json.loads(out)
    assert (status, found["reports"]) == (0, 32_561)
    truth = md.Mechanism.load("e.json").guarantee.uncertainty.prior
    for true, frequency, error in zip(truth, found["frequencies"], found["standard_errors"], strict=True):
        assert error is None or abs(frequency - true) < 8 * error


def test_messages_name_the_options_that_replace_values(command, here):
    for text, option in (("unheard of", "--unknown"), ("", "--missing")):
        Path("records.csv").write_text(f"id,level\n1,low\n2,{text}\n")
        status, _, err = privatize(command)
        assert status == 2
        assert f"values are taken for ({option})" in err
        assert privatize(command, option, "low")[0] == 0
        Path("reports.csv").unlink()
