"""Windows from the command line: design, verify, privatize, estimate, and what is refused on the way."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from mechdesign.windows import WindowMechanism
from mechdesign.windows.string_estimates import quantile
from tests.windows.worlds import COUNTS, EARLIER

CANDIDATES = ["s0", "s9", "never seen"]


@pytest.fixture
def here(here):
    def table(path, header, rows):
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *rows])

    records = [name for name, n in COUNTS.items() for _ in range(n)]
    table("counts.csv", ["string", "count"], COUNTS.items())
    table("earlier.csv", ["string", "count"], EARLIER.counts.items())
    table("records.csv", ["person", "word"], enumerate(records))
    Path("candidates.txt").write_text("\n".join(CANDIDATES) + "\n")
    return here


def rows(path):
    return list(csv.DictReader(Path(path).read_text(encoding="utf-8").splitlines()))


def design(command, *options, source=("--data", "records.csv", "--column", "word"), output="words.json"):
    promise = ("--epsilon", "1", "--delta", "1e-3", "--seeds", "20", "--buckets", "64")
    return command("design", *source, "--windows", *promise, *options, *(["-o", output] if output else []))


def privatize(command, *options, file="records.csv", output="reports.csv", mechanism="words.json"):
    return command("privatize", file, "--column", "word", "--mechanism", mechanism, "-o", output, *options)


def estimate(command, *options, file="reports.csv", mechanism="words.json", reference="counts.csv"):
    given = ("--candidates", "candidates.txt", "--reference", reference)
    return command("estimate", file, "--column", "word", "--mechanism", mechanism, *given, *options)


@pytest.mark.parametrize("output", ["reports.csv", "reports.parquet"])
def test_from_a_sample_to_shares(command, output):
    status, out, err = design(command, "--heavy", "earlier.csv")
    assert (status, err) == (0, "")
    assert "the file earlier.csv" in out
    for sample in ((), ("--counts", "counts.csv"), ("--data", "records.csv", "--column", "word")):
        status, out, _ = command("verify", "words.json", *sample)
        assert status == 0
        assert ("counted anew" in out) == bool(sample)
        assert "all claims hold" in out
    status, out, _ = privatize(command, output=output)
    assert status == 0
    status, out, _ = estimate(command, "--simultaneous", "--json", file=output)
    found = json.loads(out)
    assert (status, found["candidates"], found["reports"]) == (0, CANDIDATES, sum(COUNTS.values()))
    for share, error, (low, high), (wide_low, wide_high) in zip(
        found["shares"], found["standard_errors"], found["intervals"], found["simultaneous_intervals"], strict=True
    ):
        assert wide_low < low < share < high < wide_high
        assert high - low == pytest.approx(2 * quantile(0.975, 20) * error)
    truth = np.array([COUNTS.get(name, 0) for name in CANDIDATES]) / sum(COUNTS.values())
    assert (np.abs(found["shares"] - truth) < 6 * np.array(found["standard_errors"])).all()
    status, out, _ = estimate(command, "-o", "table.csv", file=output)
    assert status == 0
    assert [row["string"] for row in rows("table.csv")] == CANDIDATES


def test_what_a_design_prints_as_json(command):
    status, out, _ = design(command, "--split", "1/10", "--evidence", "evidence.csv", "--json")
    found = json.loads(out)
    assert (status, found["samples"], found["delta"], found["seeds"]) == (0, 2002, 1e-3, 20)
    assert found["heavy_source"].startswith("222 of 2224 records")
    assert found["bound"] < found["error_of_all"]
    assert command("verify", "words.json", "--counts", "evidence.csv")[0] == 0
    status, _, err = command("verify", "words.json", "--counts", "counts.csv")
    assert status == 1
    assert "2224" in err
    status, out, _ = command("verify", "words.json", "--json")
    assert (status, json.loads(out)["leakage"]) == (0, found["leakage"])


def test_a_design_writes_the_counts_that_prove_for_its_estimates(command):
    assert design(command, "--evidence", "evidence.csv")[0] == 0
    assert {row["string"]: int(row["count"]) for row in rows("evidence.csv")} == COUNTS
    assert command("verify", "words.json", "--counts", "evidence.csv")[0] == 0


def test_a_known_distribution_needs_no_delta(command):
    source = ("--counts", "counts.csv", "--epsilon", "0.5", "--known", "--seeds", "5", "--cap", "2")
    status, _, _ = command("design", "--windows", *source, "-o", "words.json")
    assert status == 0
    found = WindowMechanism.load("words.json")
    assert (found.promise.delta, str(found.promise.cap), found.layout.seeds.count) == (None, "2", 5)
    assert privatize(command)[0] == 0


def test_a_folder_is_reported_part_by_part_and_its_reports_are_permanent(command):
    Path("parts").mkdir()
    lines = Path("records.csv").read_text().splitlines(keepends=True)
    for part in range(2):
        Path("parts", f"{part}.csv").write_text("".join([lines[0], *lines[1 + part :: 2]]))
    assert design(command, source=("--data", "parts", "--column", "word"))[0] == 0
    assert command("key", "-o", "key")[0] == 0
    keyed = ("--key-file", "key", "--id", "person", "--keep", "person")
    status, out, _ = privatize(command, *keyed, file="parts", output="out")
    assert status == 0
    assert "2 written" in out
    assert privatize(command, *keyed)[0] == 0
    whole = {row["person"]: row["word"] for row in rows("reports.csv")}
    parts = [row for part in range(2) for row in rows(f"out/{part}.csv")]
    assert {row["person"]: row["word"] for row in parts} == whole
    assert len(set(whole.values())) > 20
    status, out, _ = estimate(command, "--id", "person", "--json", file="out")
    assert (status, json.loads(out)["reports"]) == (0, len(whole))
    status, out, _ = estimate(command, file="out")
    assert status == 0
    assert "person" in out  # reports of an id are counted as many


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--heavy", "counts.csv"], "sample-proves-itself"),
        (["--heavy", "earlier.csv", "--split", "1/10"], "usage"),
        (["--split", "2", "--evidence", "evidence.csv"], "out-of-range"),
        (["--alpha", "2"], "out-of-range"),  # also where no string is heavy
        (["--split", "1/10"], "usage"),  # estimates would lack the counts that prove
        (["--by", "person"], "usage"),
        (["--bits", "20"], "usage"),
        (["--known"], "radius-or-delta-missing"),
        (["--seeds", "0"], "not-a-whole-number"),
    ],
)
def test_designs_that_mean_nothing_are_refused(command, here, options, code):
    status, out, err = design(command, *options)
    assert (status, out) == (2, "")
    assert f"[{code}]" in err
    assert not (here / "words.json").exists()


def test_reports_of_another_file_are_refused(command):
    assert design(command)[0] == 0
    assert design(command, "--seeds", "21", output="other.json")[0] == 0
    for output in ("reports.csv", "reports.parquet"):
        assert privatize(command, output=output)[0] == 0
        status, _, err = estimate(command, file=output, mechanism="other.json")
        assert status == 2
        assert "[wrong-mechanism]" in err
    status, _, err = estimate(command, file="records.csv")
    assert status == 2
    assert "record 1 " in err
    assert "s0" not in err  # a record that is not shown


def test_what_windows_do_not_do_is_refused(command, two_levels):
    two_levels.save("m.json")
    assert design(command)[0] == 0
    assert privatize(command)[0] == 0
    source = ("estimate", "reports.csv", "--column", "word", "--mechanism")
    candidates = ("--candidates", "candidates.txt", "--reference", "counts.csv")
    for arguments, code in (
        ((*source, "words.json"), "usage"),
        ((*source, "m.json", *candidates), "usage"),
        ((*source, "words.json", "--candidates", "candidates.txt"), "usage"),
        ((*source, "words.json", *candidates, "--by", "word"), "usage"),
        ((*source, "words.json", *candidates, "--confidence", "1"), "out-of-range"),
        ((*source, "words.json", *candidates[:3], "earlier.csv"), "wrong-size"),
        (("verify", "m.json", "--counts", "counts.csv"), "usage"),
        (("verify", "words.json", "--tail", "0.5"), "set-not-accepted"),
        (("audit", "words.json"), "wrong-type"),
    ):
        status, _, err = command(*arguments)
        assert status == 2, arguments
        assert f"[{code}]" in err, (arguments, err)
    status, _, err = privatize(command, "--unknown", "x", "--overwrite")
    assert status == 2
    assert "[needless-argument]" in err


def test_records_that_are_missing_are_named_or_replaced(command):
    assert design(command)[0] == 0
    Path("gap.csv").write_text("person,word\n1,s1\n2,\n3, s1 \n")
    status, _, err = privatize(command, file="gap.csv")
    assert status == 2
    assert "record 2: it is missing" in err
    assert "(--missing)" in err
    assert privatize(command, "--missing", "none", file="gap.csv")[0] == 0
    assert len(Path("reports.csv").read_text().split()) == 4


def test_a_file_of_another_version_and_a_false_one_are_refused(command):
    assert design(command)[0] == 0
    text = Path("words.json").read_text()
    Path("words.json").write_text(text.replace("mechdesign/windows/1", "mechdesign/windows/2"))
    status, _, err = command("verify", "words.json")
    assert status == 2
    assert "mechdesign/windows/2" in err
    Path("words.json").write_text(text.replace('"epsilon": "1"', '"epsilon": "0.9"'))
    assert command("verify", "words.json")[0] == 2  # the threshold is not that of the promise
    Path("words.json").write_text(text.replace(json.loads(text)["evidence"]["sha256"], "0" * 64))
    status, out, _ = command("verify", "words.json", "--json")
    assert (status, json.loads(out)["false"]) == (1, "guarantee")
    assert privatize(command)[0] == 1
