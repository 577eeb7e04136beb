"""Windows from the command line: design, verify, privatize, estimate, and what is refused on the way."""

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from command_options import replaced
from pages import well_made
from pyarrow import parquet

from mechdesign.windows import WindowMechanism
from mechdesign.windows.string_estimates import quantile
from tests.windows.worlds import COUNTS, EARLIER, moved_sample

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
    return command("design", *source, "--windows", *replaced(promise, options), *(["-o", output] if output else []))


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
        assert ("samples        counted anew" in out) == bool(sample)
        assert ("given what the file says that the samples held" in out) != bool(sample)
        assert json.loads(command("verify", "words.json", *sample, "--json")[1])["counted_anew"] == bool(sample)
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
        assert high - low == pytest.approx(2 * quantile(0.025, 20) * error)
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
        ((*source, "words.json", *candidates, "--confidence", "1"), "out-of-range"),
        ((*source, "words.json", *candidates[:3], "earlier.csv"), "wrong-sample"),
        (("verify", "m.json", "--counts", "counts.csv"), "usage"),
        (("verify", "words.json", "--tail", "0.5"), "set-not-accepted"),
    ):
        status, _, err = command(*arguments)
        assert status == 2, arguments
        assert f"[{code}]" in err, (arguments, err)
    status, _, err = privatize(command, "--unknown", "x", "--overwrite")
    assert status == 2
    assert "[needless-argument]" in err


def test_commands_that_do_not_take_windows_say_why_and_what_does(command):
    assert design(command)[0] == 0
    assert prefixes(command)[0] == 0
    for arguments, reason in (
        (("audit", "words.json"), "each value of a list"),
        (("analyze", "words.json"), "each value of a list"),
        (("audit", "prefixes.json"), "each value of a list"),
        (("compare", "prefixes.json"), "whole strings"),
        (("report", "prefixes.json", "-o", "page.html"), "whole strings"),
        (("plan", "--reports", "--mechanism", "prefixes.json", "--standard-error", "0.1"), "whole strings"),
    ):
        status, _, err = command(*arguments)
        assert (status, err.count("\n")) == (2, 1)
        assert "[wrong-file-format]" in err
        assert reason in err
        assert "mechdesign verify proves" in err


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
    Path("words.json").write_text(json.dumps(moved_sample(json.loads(text))))
    status, out, _ = command("verify", "words.json", "--json")
    assert (status, json.loads(out)["false"]) == (1, "guarantee")
    assert privatize(command)[0] == 1
    Path("words.json").write_text(text.replace(json.loads(text)["evidence"]["sha256"], "0" * 64))
    status, out, _ = command("verify", "words.json", "--json", "--counts", "counts.csv")
    assert (status, json.loads(out)["false"]) == (1, "guarantee")


HITTERS = ("--reference", "part.csv", "--characters", "s0123456789", "--kept", "20")


def prefixes(command, *options, output="prefixes.json"):
    wanted = ("--split", "1/5", "--evidence", "part.csv", "--prefixes", "1,2,3")
    return design(command, *replaced(wanted, options), source=("--counts", "counts.csv"), output=output)


def test_from_a_sample_to_frequent_strings(command):
    status, out, err = prefixes(command)
    assert (status, err) == (0, "")
    assert "prefixes of 1, 2, 3 characters" in out
    for sample in ((), ("--counts", "part.csv")):
        status, out, _ = command("verify", "prefixes.json", *sample)
        assert status == 0
        assert "all claims hold" in out
    records = ["s0"] * 2_000 + ["s33"] * 4_000 + ["s9876"] * 4_000
    Path("talk.csv").write_text("\n".join(["word", *records]) + "\n")
    assert privatize(command, file="talk.csv", mechanism="prefixes.json")[0] == 0
    search = ("heavy-hitters", "reports.csv", "--column", "word", "--mechanism", "prefixes.json", *HITTERS)
    status, out, err = command(*search, "-o", "found.csv")
    assert (status, err) == (0, "")
    assert "at most 1 of the found strings" in out
    found = {row["string"]: row for row in rows("found.csv")}
    assert {"s0", "s33", "s98…"} <= set(found)
    assert float(found["s33"]["lower"]) <= 0.4 <= float(found["s33"]["upper"])
    status, out, _ = command(*search, "-o", "-")
    assert out.startswith("string,share")
    without = (*search[:6], "--characters", "s0123456789")
    status, out, err = command(*without, "-o", "found.csv")
    assert (status, err) == (0, "")
    assert "lengths of windows alone" in out
    assert {"s0", "s33", "s98…"} & {row["string"] for row in rows("found.csv")}  # with 20 seeds some may be missed
    assert "sample_share" not in rows("found.csv")[0]
    assert "sample_shares" not in json.loads(command(*without, "--json")[1])
    status, _, err = command(*search[:6])
    assert (status, "[missing-argument]" in err) == (2, True)


def test_few_reports_find_nothing_and_say_so(command):
    assert prefixes(command)[0] == 0
    Path("talk.csv").write_text("word\n" + "s0\ns33\ns9876\n" * 20)
    assert privatize(command, file="talk.csv", mechanism="prefixes.json")[0] == 0
    search = ("heavy-hitters", "reports.csv", "--column", "word", "--mechanism", "prefixes.json", *HITTERS)
    status, out, err = command(*search, "--false", "1e-6", "-o", "found.csv")
    assert (status, err) == (0, "")
    assert "of which 0 were found" in out
    assert rows("found.csv") == []


def test_reports_of_prefixes_are_for_heavy_hitters_alone(command):
    assert prefixes(command)[0] == 0
    assert privatize(command, mechanism="prefixes.json")[0] == 0
    assert "heavy-hitters" in estimate(command, mechanism="prefixes.json")[2]
    assert design(command)[0] == 0
    search = ("heavy-hitters", "reports.csv", "--column", "word", "--mechanism")
    status, _, err = command(*search, "words.json", *HITTERS)
    assert status == 2
    assert "reports no prefixes" in err
    status, _, err = command(*search, "prefixes.json", "--reference", "counts.csv")
    assert status == 2
    assert "prove the mechanism" in err
    for wrong in ("2,,4", "four"):
        assert prefixes(command, "--prefixes", wrong)[0] == 2
    assert "rising" in prefixes(command, "--prefixes", "4,2")[2]


@pytest.mark.slow
def test_prefixes_in_a_folder_with_permanent_reports(command):
    assert prefixes(command)[0] == 0
    Path("parts").mkdir()
    for part in range(2):
        Path(f"parts/{part}.csv").write_text("person,word\n" + "".join(f"p{k},s{k % 3}\n" for k in range(500)))
    assert command("key", "-o", "k.key")[0] == 0
    permanent = ("--key-file", "k.key", "--id", "person", "--keep", "person", "--jobs", "2")
    assert privatize(command, *permanent, file="parts", output="reports", mechanism="prefixes.json")[0] == 0
    assert Path("reports/0.csv").read_text() == Path("reports/1.csv").read_text()
    search = ("heavy-hitters", "reports", "--column", "word", "--mechanism", "prefixes.json", *HITTERS)
    status, out, _ = command(*search, "--id", "person", "--json")
    assert status == 0
    assert json.loads(out)["reports"] == 500


def test_windows_are_compared_in_respondents(command):
    assert design(command)[0] == 0
    status, out, err = command("compare", "words.json")
    assert (status, err) == (0, "")
    assert "local hashing to 4 cells" in out
    status, out, _ = command("compare", "words.json", "--reference", "counts.csv", "--json")
    printed = json.loads(out)
    assert (status, printed["strings"]) == (0, 16)
    windows, bound, *others = printed["mechanisms"]
    assert bound["error"] < windows["error"] < min(row["error"] for row in others)
    assert bound["total"] < windows["total"] < min(row["total"] for row in others)
    for wrong in (("--with", "words.json"), ("--plot", "a.png"), ("--epsilon", "1")):
        assert command("compare", "words.json", *wrong)[0] == 2


def test_reports_of_strings_are_planned(command):
    assert design(command)[0] == 0
    plan = ("plan", "--mechanism", "words.json", "--reports")
    status, out, err = command(*plan, "--standard-error", "0.01", "--json")
    assert (status, err) == (0, "")
    windows = json.loads(out)["mechanisms"][0]
    assert windows["reports"] == -(-windows["error"] // 0.01**2)
    status, out, _ = command(*plan, str(windows["reports"]), "--json", "--drift", "0")
    assert json.loads(out)["mechanisms"][0]["standard_error"] == pytest.approx(0.01, rel=1e-3)
    status, out, _ = command(*plan, "10000", "--drift", "0.02", "--reference", "counts.csv")
    assert status == 0
    assert "keep collisions below a tenth" in out
    status, out, _ = command(*plan, "--standard-error", "1e-9", "--drift", "1e-12")
    assert status == 0
    assert "keep collisions" not in out, "more reports than there are people: seeds are not planned for them"
    status, _, err = command(*plan, "--interval", "0.001", "--drift", "1")
    assert status == 3
    assert "take more seeds" in err
    assert command(*plan, "--interval", "0.1", "--epsilon", "1")[0] == 2
    wide, near_1 = (
        json.loads(command(*plan, "--interval", "0.02", "--confidence", level, "--json")[1])["mechanisms"][0]["reports"]
        for level in ("0.95", "0.9999999999999999")
    )
    assert near_1 / wide == pytest.approx((quantile(2.0**-54, 20) / quantile(0.025, 20)) ** 2, rel=1e-3)


def test_the_counts_of_other_records_are_no_reference(command):
    """Of as many records, so that their number tells nothing; the estimates would be false."""
    for made, mechanism in ((design, "words.json"), (prefixes, "prefixes.json")):
        assert made(command, output=mechanism)[0] == 0
        assert privatize(command, mechanism=mechanism, output=f"{mechanism}.csv")[0] == 0
    for source, name in (("counts.csv", "changed.csv"), ("part.csv", "others.csv")):
        Path(name).write_text(Path(source).read_text().replace("s0,", "made up,"))
    search = ("heavy-hitters", "prefixes.json.csv", "--column", "word", "--mechanism", "prefixes.json")
    for arguments in (
        (
            "estimate",
            "words.json.csv",
            "--column",
            "word",
            "--mechanism",
            "words.json",
            "--candidates",
            "candidates.txt",
        ),
        ("compare", "words.json"),
        ("plan", "--mechanism", "words.json", "--reports", "100"),
        search,
    ):
        file = "others.csv" if arguments is search else "changed.csv"
        status, _, err = command(*arguments, "--reference", file)
        assert status == 2, arguments
        assert f"{file} has the counts of other records" in err
        assert "[wrong-sample]" in err


def test_evidence_of_strings_that_no_label_is_comes_back(here, command):
    odd = [
        "a\nb",
        "a\r\nb",
        "a\rb",
        "a\tb",
        "a\x85b",
        "\x7f",
        "x" * 5_000,
        'q"uo"te',
        "com,ma",
        "\ufeffbom",
        "=1",
        "01",
    ]
    with Path("odd.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["word"], *([word] for word in odd * 300)])
    columns = ("--data", "odd.csv", "--column", "word")
    wanted = ("--split", "1/5", "--evidence", "part.csv", "--epsilon", "2")
    assert design(command, *wanted, source=columns)[0] == 0
    assert command("verify", "words.json", "--counts", "part.csv")[0] == 0
    assert privatize(command, file="odd.csv")[0] == 0
    status, _, err = estimate(command, reference="part.csv")
    assert (status, err) == (0, "")
    again = design(command, "--heavy", "part.csv", source=("--counts", "part.csv"))
    assert "sample-proves-itself" in again[2]  # both are read


def test_evidence_that_no_csv_file_holds_is_refused_before_anything_is_written(here, command):
    parquet.write_table(pa.table({"word": ["s0", "s1", "a\0b"] * 400}), "nul.parquet")
    status, _, err = design(command, "--evidence", "part.csv", source=("--data", "nul.parquet", "--column", "word"))
    assert (status, "NUL character" in err) == (2, True)
    assert not Path("part.csv").exists()
    assert not Path("words.json").exists()


def test_a_missing_string_of_a_sample_has_advice_that_design_takes(here, command):
    Path("gap.csv").write_text('word\na\n""\n')
    status, _, err = design(command, source=("--data", "gap.csv", "--column", "word"))
    assert (status, "record 2: it is missing; leave such records out" in err) == (2, True)
    assert "--missing" not in err


def test_options_for_windows_are_refused_for_matrices(command):
    matrix = ("--counts", "counts.csv", "--epsilon", "1", "--delta", "1e-3")
    for options in (("compare", *matrix), ("plan", *matrix, "--reports", "100")):
        status, _, err = command(*options, "--reference", "counts.csv")
        assert status == 2
        assert "--reference is for windows" in err


def test_shares_without_a_reference(command):
    assert design(command)[0] == 0
    assert privatize(command)[0] == 0
    file = ("estimate", "reports.csv", "--column", "word", "--mechanism", "words.json")
    status, out, _ = command(*file, "--candidates", "candidates.txt")
    assert status == 0
    assert "lengths of windows alone" in out
    assert "lengths" not in estimate(command)[1]
    status, _, err = command(*file, "--reference", "counts.csv")
    assert (status, "give --candidates FILE" in err) == (2, True)


def test_strings_by_groups_with_a_picture(command):
    assert design(command)[0] == 0
    header, *lines = Path("records.csv").read_text().splitlines()
    months = ["2026-01" if k % 2 else "2026-02" for k in range(len(lines))]
    months[:5] = [""] * 5
    dated = [f"{header},month", *(f"{line},{month}" for line, month in zip(lines, months, strict=True))]
    Path("dated.csv").write_text("\n".join(dated) + "\n")
    assert privatize(command, "--keep", "month", file="dated.csv")[0] == 0
    status, out, err = estimate(command, "--by", "month", "--simultaneous", "-o", "g.csv", "--plot", "g.png")
    assert (status, err) == (0, "")
    assert "1 of 3 groups have too few" in out
    assert Path("g.png").read_bytes().startswith(b"\x89PNG")
    found = rows("g.csv")
    assert [row["month"] for row in found] == [month for month in ("2026-01", "2026-02", "") for _ in CANDIDATES]
    assert float(found[0]["simultaneous_lower"]) < float(found[0]["lower"]) < float(found[0]["upper"])
    status, out, _ = estimate(command, "--by", "month", "--json", "-o", "g.json")
    printed = json.loads(out)
    assert (status, printed["by"], printed["output"]) == (0, ["month"], "g.json")
    assert [group["group"] for group in printed["groups"]] == [["2026-01"], ["2026-02"], [None]]
    assert [group["few_reports"] for group in printed["groups"]] == [False, False, True]
    assert json.loads(Path("g.json").read_text())["groups"] == printed["groups"]
    status, out, _ = estimate(command, "--non-negative", "--plot", "s.svg", "--json")
    printed = json.loads(out)
    assert (status, printed["plot"], printed["non_negative"]) == (0, "s.svg", True)
    assert min(printed["shares"]) >= 0
    assert sum(printed["shares"]) <= 1 + 1e-12
    assert "s9" in Path("s.svg").read_text()
    status, _, err = command(
        "estimate", "reports.csv", "--column", "word", "--mechanism", "words.json", "--non-negative"
    )
    assert status == 2


@pytest.mark.parametrize("options", [("--heavy", "earlier.csv"), ("--cap", "3")])
def test_a_page_about_windows(command, options):
    assert design(command, *options)[0] == 0
    status, out, err = command("report", "words.json", "-o", "page.html", "--json")
    assert (status, err) == (0, "")
    page, mechanism = well_made(Path("page.html").read_text(encoding="utf-8")), WindowMechanism.load("words.json")
    assert json.loads(out)["sha256"] == page.facts["sha256"]
    facts = {name: page.facts[name] for name in ("epsilon", "samples", "fingerprint")}
    assert facts == {"epsilon": "1", "samples": "2224", "fingerprint": mechanism.fingerprint}
    assert float(page.facts["leakage"]) == mechanism.leakage
    assert float(page.facts["delta"]) >= 1e-3
    assert "at most 2.719 times as likely" in page.section("promise")
    assert ("rules out all strings" in page.section("limits")) == ("--cap" not in options)
    assert ("the file earlier.csv" in page.section("promise")) == ("--heavy" in options)
    assert "local hashing to 4 cells" in page.section("precision")
    for wrong in (("--no-compare",), ("--time-limit", "5")):
        assert command("report", "words.json", "-o", "other.html", *wrong)[0] == 2
    Path("false.json").write_text(json.dumps(moved_sample(json.loads(Path("words.json").read_text()))))
    assert command("report", "false.json", "-o", "other.html")[0] == 1
    assert not Path("other.html").exists()
