"""Whole records from the command line: design, verify, privatize, estimate, and what is refused on the way."""

import csv
import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from command_options import replaced

from mechdesign import L1Ball
from mechdesign.records import RecordMechanism

N = 6_000
DESIGN = ("design", "--data", "records.csv", "--columns", "sex,age", "--bins", "age=18:65", "--epsilon", "1", "--known")


@pytest.fixture
def here(here):
    rng = np.random.default_rng(4)
    sexes = rng.choice(["f", "m"], N)
    drivers = np.where(rng.random(N) < np.where(sexes == "f", 0.6, 0.8), "yes", "no")
    ages = rng.integers(10, 90, N)
    header = ["person", "sex", "driver", "age", "month"]
    rows = zip(range(N), sexes, drivers, ages, np.arange(N) % 2, strict=True)
    with Path("records.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return here


@pytest.fixture
def design(command):
    def run(*options, columns="sex+driver,age", output="records.json"):
        given = ("--columns", columns, "--bins", "age=18:65", "--epsilon", "1", "--delta", "1e-9")
        return command("design", "--data", "records.csv", *given, *options, *(["-o", output] if output else []))

    return run


def rows(path):
    return list(csv.DictReader(Path(path).read_text().splitlines()))


def shares(column):
    values = [row[column] for row in rows("records.csv")]
    return {value: values.count(value) / N for value in values}


@pytest.mark.parametrize("output", ["reports.csv", pytest.param("reports.parquet", marks=pytest.mark.slow)])
def test_from_records_to_tables(command, design, output):
    status, out, err = design()
    assert (status, err) == (0, "")
    assert "whole record" in out
    status, out, _ = command("verify", "records.json")
    assert (status, "all claims hold" in out, "\nlower bound" in out) == (0, True, True)
    assert "given what the file says" not in " ".join(out.split())
    given = ("--mechanism", "records.json")
    assert command("privatize", "records.csv", *given, "-o", output, "--keep", "month")[0] == 0
    status, out, _ = command("estimate", output, *given, "-o", "tables.csv", "--simultaneous")
    assert status == 0
    found = {(row["table"], row["label"]): row for row in rows("tables.csv")}
    assert {table for table, _ in found} == {"sex", "driver", "sex+driver", "age"}
    for value, share in shares("sex").items():
        row = found["sex", value]
        assert abs(float(row["frequency"]) - share) < 5 * float(row["standard_error"])
        assert float(row["simultaneous_lower"]) <= float(row["lower"]) <= float(row["upper"])
    assert sum(float(row["frequency"]) for (table, _), row in found.items() if table == "age") == pytest.approx(1)
    assert {label for table, label in found if table == "age"} == {"under 18", "18 to under 65", "65 or more"}


def test_every_output_as_json_fits_its_schema(command, design):
    found = json.loads(design("--json")[1])
    assert found["attributes"] == ["sex", "driver", "age"]
    assert found["certified"] is True
    assert found["error_of_all"] >= found["lower_bound"] > 0
    assert [view["name"] for view in found["views"]] == ["sex+driver", "age"]
    assert sum(view["weight"] for view in found["views"]) == 2 ** found["weight_bits"]
    checked = json.loads(command("verify", "records.json", "--json")[1])
    assert checked["optimality"]["recomputed_lower_bound"] == pytest.approx(found["lower_bound"])
    assert json.loads(command("verify", "records.json", "--guarantee-only", "--json")[1])["optimality"] == {
        "checked": False
    }
    given = ("--mechanism", "records.json", "--json")
    done = json.loads(command("privatize", "records.csv", *given, "-o", "reports.csv", "--keep", "month")[1])
    assert (done["records"], done["column"]) == (N, "view,report")
    tables = json.loads(command("estimate", "reports.csv", *given, "--by", "month", "--marginal", "driver+sex")[1])
    assert [group["group"] for group in tables["groups"]] == [["0"], ["1"]]
    assert tables["reports"] == N
    smooth = json.loads(command("estimate", "reports.csv", *given, "--consistent")[1])
    assert all(table["intervals"] is None for table in smooth["tables"])


def test_permanent_reports_keep_their_view_and_pairs_and_side_knowledge_are_options(command, design):
    assert design("--side", "sex", columns="driver,age")[0] == 0
    assert design("--pairs", columns="sex,driver,age", output="pairs.json")[0] == 0
    assert [part.name for part in RecordMechanism.load("pairs.json").parts] == ["sex+driver", "sex+age", "driver+age"]
    assert command("key", "-o", "key")[0] == 0
    given = ("--mechanism", "records.json", "--key-file", "key", "--id", "person")
    for output in ("first.csv", "again.csv"):
        assert command("privatize", "records.csv", *given, "-o", output)[0] == 0
    assert Path("first.csv").read_bytes() == Path("again.csv").read_bytes()
    text = Path("records.csv").read_text().replace(",yes,", ",no,")
    Path("changed.csv").write_text(text)
    assert command("privatize", "changed.csv", *given, "-o", "changed-reports.csv")[0] == 0
    assert [row["view"] for row in rows("first.csv")] == [row["view"] for row in rows("changed-reports.csv")]


def test_reports_have_other_names_where_these_clash(command, design, refused):
    assert design()[0] == 0
    given = ("privatize", "records.csv", "--mechanism", "records.json", "-o", "reports.csv")
    names = ("--report-columns", "person,report")
    refused("column-twice", *given, "--keep", "person", *names, shown="'person'")
    assert command(*given, "--keep", "person", "--report-columns", "shown,said")[0] == 0
    assert list(rows("reports.csv")[0]) == ["person", "shown", "said"]
    read = ("estimate", "reports.csv", "--mechanism", "records.json", "--report-columns", "shown,said")
    assert command(*read)[0] == 0


def test_impossible_combinations_are_declared(command, design, refused):
    Path("impossible.csv").write_text("sex,driver\nm,yes\n")
    refused("evidence-contradicts", "design", "--data", "records.csv", "--columns", "sex+driver", "--epsilon", "1",
            "--delta", "1e-9", "--impossible", "impossible.csv")  # fmt: skip
    text = Path("records.csv").read_text()
    Path("records.csv").write_text(text.replace(",m,yes,", ",m,no,"))
    status, out, _ = design("--impossible", "impossible.csv")
    assert status == 0
    assert "m & yes" in out
    Path("records.csv").write_text(text)
    line = refused("unknown-label", "privatize", "records.csv", "--mechanism", "records.json", "-o", "reports.csv")
    assert "'sex+driver'" in line


def test_what_views_do_not_do_is_refused(command, design, refused, two_levels):
    assert design()[0] == 0
    two_levels.save("m.json")
    Path("m.csv").write_text("a\n1\n")
    for code, arguments in (
        ("usage", ("audit", "records.json", "--plot", "x.png")),
        ("not-a-whole-number", ("audit", "records.json", "--samples", "2")),
        ("usage", ("analyze", "records.json", "--delta", "1e-9")),
        ("usage", ("report", "records.json", "-o", "page.html", "--time-limit", "3")),
        ("usage", ("report", "m.json", "-o", "page.html", "--data", "records.csv")),
        ("unknown-column", ("report", "records.json", "-o", "page.html", "--data", "m.csv")),
        ("usage", ("plan", "--reports", "--mechanism", "records.json", "--standard-error", "0.01", "--plot", "x.png")),
        ("set-not-accepted", ("verify", "records.json", "--tail", "0.5")),
        ("usage", ("verify", "records.json", "--data", "records.csv", "--column", "sex")),
        ("usage", ("privatize", "records.csv", "--column", "sex", "--mechanism", "records.json", "-o", "x.csv")),
        ("usage", ("privatize", "records.csv", "--mechanism", "m.json", "-o", "x.csv")),
        ("usage", ("estimate", "records.csv", "--mechanism", "m.json")),
        ("usage", ("estimate", "records.csv", "--column", "sex", "--mechanism", "m.json", "--marginal", "sex")),
        ("usage", ("estimate", "records.csv", "--mechanism", "records.json", "--method", "least-squares")),
        ("usage", ("estimate", "records.csv", "--mechanism", "records.json", "--consistent", "--simultaneous")),
        ("usage", ("estimate", "records.csv", "--mechanism", "records.json", "--consistent", "--confidence", "0.5")),
        ("unknown-column", ("estimate", "records.csv", "--mechanism", "records.json")),
        (
            "wrong-size",
            ("privatize", "records.csv", "--mechanism", "records.json", "-o", "x.csv", "--report-columns", "a"),
        ),
        ("usage", ("design", "--data", "records.csv", "--columns", "sex", "--delta", "1e-9")),
        ("usage", ("design", "--columns", "sex", "--epsilon", "1", "--delta", "1e-9")),
        (
            "usage",
            ("design", "--data", "records.csv", "--columns", "sex", "--epsilon", "1", "--known", "--bins", "sex"),
        ),
        (
            "usage",
            ("design", "--data", "records.csv", "--columns", "sex", "--epsilon", "1", "--known", "--plot", "x.png"),
        ),
        ("unknown-column", ("design", "--data", "records.csv", "--columns", "weight", "--epsilon", "1", "--known")),
        (
            "column-twice",
            ("design", "--data", "records.csv", "--columns", "sex+age,age+sex", "--epsilon", "1", "--known"),
        ),
    ):
        refused(code, *arguments)


def test_a_false_whole_is_refused_though_each_view_is_proved(command, design, refused):
    assert design()[0] == 0
    text = Path("records.json").read_text()
    whole = json.loads(text)
    for change, code in (({"epsilon": "0.9"}, "guarantee-false"), ({"delta": "1/2000000000"}, "delta-false")):
        Path("false.json").write_text(json.dumps(whole | change))
        refused(code, "verify", "false.json")
        refused(code, "privatize", "records.csv", "--mechanism", "false.json", "-o", "reports.csv")
        status, out, _ = command("verify", "false.json", "--json")
        assert (status, json.loads(out)["false"]) == (1, "guarantee")
    for key, value in (("lower_bound", 1e9), ("error", 1e-3)):
        Path("false.json").write_text(json.dumps(whole | {"optimality": whole["optimality"] | {key: value}}))
        refused("optimality-false", "verify", "false.json")
        assert command("verify", "false.json", "--guarantee-only")[0] == 0
    Path("missing.csv").write_text("sex,driver,age\nf,yes,\n")
    refused("missing-value", "privatize", "missing.csv", "--mechanism", "records.json", "-o", "reports.csv")
    refused("missing-value", "design", "--data", "missing.csv", "--columns", "age", "--epsilon", "1", "--known")


def test_a_cap_is_for_the_whole_record(command, design, refused):
    status, out, err = design("--cap", "2", "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["cap"] == 2
    made = RecordMechanism.load("records.json")
    assert {str(part.mechanism.guarantee.cap) for part in made.parts} == {"2"}
    status, out, _ = command("verify", "records.json")
    assert (status, "cap = 2" in out) == (0, True)
    verifier = Path(__file__).parents[2] / "examples" / "verify_records.py"
    assert subprocess.run([sys.executable, verifier, "records.json"], check=False, capture_output=True).returncode == 0
    status, out, _ = design("--cap", "2", "--secret", "driver", columns="sex,age", output="about.json")
    assert status == 0
    assert "as far as cap = 2 allows" in " ".join(out.split())
    for file, told in (
        ("records.json", "the promise does not hold against them, but the cap does"),
        ("about.json", "Only the cap is promised against them"),
    ):
        assert command("report", file, "-o", "page.html", "--no-compare")[0] == 0
        page = Path("page.html").read_text()
        assert told in page
        assert "more than 7.39 times" in page
        assert "Nothing is promised" not in page
    taken = ("--reports", "1000", "--json", *DESIGN[1:])
    errors = [json.loads(command("plan", *taken, *cap)[1])["mechanisms"][0]["error"] for cap in (("--cap", "2"), ())]
    assert errors[0] > errors[1]
    refused("usage", *DESIGN, "--groups", "auto", "--cap", "2", shown="groups")


def test_keys_may_stand_in_any_order(command, design):
    assert design()[0] == 0
    table = json.loads(Path("records.json").read_text())
    for name, content in (
        ("sorted.json", json.dumps(table, sort_keys=True)),
        ("backwards.json", "\ufeff" + json.dumps(dict(reversed(table.items())), indent=2)),
    ):
        Path(name).write_text(content)
        assert command("verify", name, "--guarantee-only")[0] == 0
        assert command("privatize", "records.csv", "--mechanism", name, "-o", f"{name}.csv")[0] == 0


def test_folders_and_pipes(command, design, monkeypatch):
    assert design()[0] == 0
    Path("parts").mkdir()
    for part in ("1", "2"):
        Path("parts", f"{part}.csv").write_text(Path("records.csv").read_text())
    given = ("--mechanism", "records.json")
    assert command("privatize", "parts", *given, "-o", "reports")[0] == 0
    status, out, _ = command("estimate", "reports", *given, "--json")
    assert (status, json.loads(out)["reports"]) == (0, 2 * N)
    status, out, err = command("privatize", "records.csv", *given, "-o", "-")
    assert (status, out.count("\n")) == (0, N + 1)
    assert "records" in err
    assert command("design", "--data", "parts", "--columns", "sex", "--epsilon", "1", "--known", "-q")[0] == 0


def test_groups_are_found(command, design):
    status, out, _ = design("--groups", "auto", "--unseen-combinations", "impossible", columns="sex,driver,age")
    assert status == 0
    assert len(RecordMechanism.load("records.json").parts) < 3
    assert out.count("\nview ") < 3
    for part in RecordMechanism.load("records.json").parts:  # of 7 groups that the records choose from
        ball = part.mechanism.guarantee.uncertainty
        assert (
            ball.radius
            == L1Ball.from_counts(ball.evidence.counts, delta=Fraction(1, 7 * 10**9)).radius
            > ball.evidence.radius()
        )
    for options, columns in ((("--pairs",), "sex,age"), (("--side", "sex"), "driver,age"), ((), "sex+driver,age")):
        status, _, err = design("--groups", "auto", *options, columns=columns, output="no.json")
        assert (status, "--groups auto" in err) == (2, True)


def test_reports_of_a_view_that_are_missing_are_told(command, design):
    assert design()[0] == 0
    given = ("--mechanism", "records.json")
    assert command("privatize", "records.csv", *given, "-o", "reports.csv")[0] == 0
    lines = Path("reports.csv").read_text().splitlines()
    assert "come from its weights" not in command("estimate", "reports.csv", *given)[1]
    half = [line for place, line in enumerate(lines) if place % 2 or not line.startswith("age,")]
    Path("half.csv").write_text("\n".join(half) + "\n")
    status, out, _ = command("estimate", "half.csv", *given)
    assert (status, "come from its weights" in " ".join(out.split())) == (0, True)


@pytest.mark.parametrize("columns", ["sex,sex", "sex,driver,sex+driver", "age+age"])
def test_a_column_is_named_once(command, columns):
    given = ("--columns", columns, "--epsilon", "1", "--known", "-o", "no.json")
    status, _, err = command("design", "--data", "records.csv", *given)
    assert (status != 0, "column-twice" in err, Path("no.json").exists()) == (True, True, False)


def test_views_of_other_records_are_seen_and_tables_of_no_law_refused(command, refused):
    def views(*options):
        given = ("--data", "records.csv", "--epsilon", "1", "--delta", "1e-9", "-o", "views.json")
        assert command("design", "--columns", *options, *given)[0] == 0
        return RecordMechanism.load("views.json").parts

    def together(name, *parts):
        rest = [replace(part, weight=1) for part in parts[1:]]
        RecordMechanism([replace(parts[0], weight=8 - len(rest)), *rest], 3).save(name)
        return command("verify", name)

    def written(name):
        return " ".join(command("verify", name)[1].split())

    sex, driver = views("sex,driver")
    (pair,) = views("sex,driver", "--pairs")
    assert together("same.json", pair, sex, driver)[0] == 0
    assert "the views agree exactly on sex, driver" in written("same.json")
    assert json.loads(command("verify", "same.json", "--json")[1])["shared_tables"][0]["distance"] == 0
    lines = Path("records.csv").read_text().splitlines()
    Path("records.csv").write_text("\n".join(lines[:-1]) + "\n")
    assert together("other.json", pair, *views("sex"))[0] == 0
    assert "shared tables 1 of 1 DIFFER: sex '" in written("other.json")
    Path("records.csv").write_text("\n".join(line for line in lines if ",m,yes" not in line) + "\n")
    assert together("none.json", pair, *views("sex"))[0] == 1
    assert "for nobody" in refused("guarantee-false", "verify", "none.json")
    assert json.loads(command("verify", "none.json", "--json")[1])["false"] == "guarantee"


def test_weights_that_were_moved_after_the_reports_are_told(command, design, refused):
    assert design()[0] == 0
    made = RecordMechanism.load("records.json")
    (first, second), some = made.parts, made.parts[0].weight // 2
    parts = [replace(first, weight=first.weight - some), replace(second, weight=second.weight + some)]
    RecordMechanism(parts, made.weight_bits, made.bins).save("moved.json")
    given = ("--mechanism", "records.json", "--keep", "month")
    for output in ("reports.csv", "reports.parquet"):
        assert command("privatize", "records.csv", *given, "-o", output)[0] == 0
    for by in ((), ("--by", "month")):
        status, out, _ = command("estimate", "reports.csv", "--mechanism", "moved.json", *by)
        assert (status, "weights in the file are not those" in " ".join(out.split())) == (0, True)
        p = []
        for name in ("records.json", "moved.json"):
            p.append(json.loads(command("estimate", "reports.csv", "--mechanism", name, "--json", *by)[1])["draw_p"])
        assert p[0] > 1e-6 > p[1]
    refused("wrong-mechanism", "estimate", "reports.parquet", "--mechanism", "moved.json")


def test_an_attribute_of_a_view_is_not_copied_beside_its_report(design, refused):
    assert design()[0] == 0
    given = ("--mechanism", "records.json", "-o", "reports.csv")
    assert "undo the privacy" in refused("column-twice", "privatize", "records.csv", *given, "--keep", "sex")


def test_edges_that_the_sample_chose_are_told(command):
    given = ("design", "--data", "records.csv", "--columns", "sex,age", "--epsilon", "1")
    for options, told in (
        (("--bins", "age=2", "--delta", "1e-9"), True),
        (("--bins", "age=40.5", "--delta", "1e-9"), False),
        (("--bins", "age=2", "--known"), False),
    ):
        status, out, _ = command(*given, *options)
        assert (status, "edges of 'age' that the sample chose" in " ".join(out.split())) == (0, told)


def test_a_mean_that_takes_nearly_all_reports_is_told_with_what_gives_it_fewer(command, refused):
    given = ("design", "--data", "records.csv", "--epsilon", "1", "--known", "--queries", "age=mean")
    told = "its view gets 9"
    means = {}
    for columns, options in (
        ("sex,age", ("--bins", "age=18:65")),
        ("age", ("--bins", "age=18:65")),
        ("sex,age", ("--bins", "age=18:65", "--value", "age=0.001")),
    ):
        status, out, _ = command(*given, "--columns", columns, *options)
        means[columns, len(options)] = " ".join(out.split())
        assert status == 0
    assert told in means["sex,age", 2]
    assert "--value age=NUMBER below 1 gives it fewer" in means["sex,age", 2]
    assert "mean age" not in means["age", 2]
    assert told not in means["sex,age", 4]
    assert "below 0.001 gives it fewer" in means["sex,age", 4]
    assert "--bins age=10" in refused("bad-workload", *given, "--columns", "sex,age")


def test_views_whose_designs_are_not_certified_are_counted_and_the_file_is_written(command, design):
    for columns, words in (
        ("sex+driver,age", "the designs of 2 views, such as sex+driver, are not certified as the best ones;"),
        ("age", "the design of the view age is not certified as the best one;"),
    ):
        status, _, err = design("--tol", "1e-300", "--time-limit", "0.2", columns=columns)
        assert (status, words in err) == (3, True)
        assert command("verify", "records.json")[0] == 0


def test_a_folder_keeps_the_designs_of_views(command, refused, monkeypatch):
    given = (*DESIGN, "-o", "records.json")
    assert command(*given)[0] == 0
    assert command(*given, "--cache", "kept")[0] == 0
    assert len(list(Path("kept/designs").iterdir())) == 2
    whole = Path("records.json").read_bytes()
    monkeypatch.setattr("mechdesign.records.view_designs.design", None)
    assert command(*given, "--cache", "kept")[0] == 0
    assert Path("records.json").read_bytes() == whole
    plan = ("plan", *DESIGN[1:], "--reports", "--standard-error", "0.01")
    assert command(*plan, "--cache", "kept")[0] == 0
    assert "folder" in refused("cannot-write", *given, "--cache", "records.csv")


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (("--bins", "age=3", "--bins", "age=6"), "--bins of 'age' is given twice"),
        (("--queries", "age=mean", "--queries", "age=prefix"), "--queries of 'age' is given twice"),
        (("--value", "sex=2", "--value", "sex=3"), "--value of 'sex' is given twice"),
        (("--bins", "age=1e1"), "accepted: a number of bins, such as age=15, or edges such as 18:65"),
        (("--bins", "age=1_0"), "accepted: a number of bins"),
        (("--bins", "age=1_0:65"), "accepted: a number of bins"),
        (("--bins", "age=１"), "accepted: a number of bins"),
        (("--columns", "sex,"), "--columns is 'sex,': a name is empty"),
        (("--columns", "sex+"), "--columns is 'sex+': a name is empty"),
        (("--no-merge",), "--no-merge: not accepted beside --columns"),
        (("--merge",), "--merge: not accepted beside --columns"),
    ],
)
def test_options_of_views_that_mean_nothing_are_named(refused, options, shown):
    given = ("design", "--data", "records.csv", "--columns", "sex,age", "--epsilon", "1", "--known")
    refused("usage", *replaced(given, options), shown=shown)


def test_what_a_view_counts_is_in_plain_digits(refused):
    assert "--value of 'sex'" in refused("not-a-number", *DESIGN, "--value", "sex=1_0")
    assert "the value of the view sex" in refused("out-of-range", *DESIGN, "--value", "sex=1e400")


def test_what_a_folder_holds_and_does_not_prove_is_told(command):
    assert command(*DESIGN, "--cache", "kept")[0] == 0
    for file in Path("kept/mechanisms").iterdir():
        file.write_bytes(file.read_bytes() + b" ")
    status, _, err = command(*DESIGN, "--cache", "kept")
    assert (status, err.count("was changed after it was written; solved again")) == (0, 2)


def test_names_bins_and_missing_values_that_can_be_read_in_two_ways_are_refused(command, refused):
    known = ("--epsilon", "1", "--known")
    Path("plus.csv").write_text("sex,driver,sex+driver\nf,yes,1\nm,no,2\n")
    line = refused("ambiguous-labels", "design", "--data", "plus.csv", "--columns", "sex+driver", *known)
    assert "rename the column" in line
    wrong = ("--data", "records.csv", "--columns", "age", "--bins", "age=30,45,60")
    assert "30:45:60" in refused("usage", "design", *wrong, *known)
    Path("missing.csv").write_text("sex,age\nf,20\nm,\n,30\nf,40\nm,50\n")
    given = ("design", "--data", "missing.csv", "--columns", "sex,age", "--bins", "age=30:45", *known, "-o", "m.json")
    line = refused("missing-value", *given)
    assert "1 record lacks a value of" in line
    assert "--missing" in line
    assert "a bin would hold" in refused("ambiguous-labels", *given, "--missing", "99")
    assert command(*given, "--missing", "?")[0] == 0
    assert RecordMechanism.load("m.json").alphabets["age"] == ("under 30", "30 to under 45", "45 or more", "?")
    assert command("privatize", "missing.csv", "--mechanism", "m.json", "--missing", "?", "-o", "reports.csv")[0] == 0


def test_a_page_an_analysis_an_audit_and_a_plan_of_views(command, design):
    assert design("--pairs", columns="sex,driver,age")[0] == 0
    assert design(columns="sex,driver,age", output="single.json")[0] == 0
    made = RecordMechanism.load("single.json")
    for data in ((), ("--data", "records.csv")):
        assert command("report", "single.json", "-o", "page.html", *data)[0] == 0
        page = Path("page.html").read_text()
        assert f'data-fact="leakage" value="{made.leakage!r}"' in page
        assert ("leakage-to-those-who-know" in page) is bool(data)
        assert "every attribute, with a part of epsilon" in page
    assert command("report", "single.json", "-o", "page.html", "--no-compare", "--guarantee-only")[0] == 0
    assert "with a part of epsilon" not in Path("page.html").read_text()
    known = json.loads(command("analyze", "single.json", "--data", "records.csv", "--json")[1])["known"]
    own = json.loads(command("analyze", "records.json", "--json")[1])
    assert own["known_from"] == "the tables of the views"
    assert {(each["view"], each["known"]) for each in known} >= {("sex", "driver"), ("age", "sex")}
    assert {(each["view"], each["known"]) for each in own["known"]} >= {("sex+driver", "sex"), ("sex+age", "age")}
    assert "those who know another" in command("analyze", "single.json", "--data", "records.csv")[1].lower()
    found = json.loads(command("audit", "records.json", "--samples", "20000", "--json")[1])
    assert (found["consistent"], found["dependent"], found["reports"]) == (True, [], 20_000)
    assert 0 < found["lower_bound"] <= found["leakage"]
    assert "drawn by its weight" in " ".join(command("audit", "single.json", "--samples", "20000")[1].split())
    plan = ("plan", "--mechanism", "single.json")
    wanted = json.loads(command(*plan, "--reports", "--standard-error", "0.01", "--json")[1])
    error = json.loads(design("--json", columns="sex,driver,age", output="")[1])
    assert wanted["mechanisms"][0]["reports"] == error["respondents"]
    left = json.loads(command(*plan, "--reports", str(error["respondents"]), "--json")[1])["mechanisms"][0]
    assert left["standard_error"] == pytest.approx(0.01, rel=1e-3)
    half = json.loads(command(*plan, "--reports", "--interval", "0.0196", "--json")[1])["views"]
    assert [view["reports"] for view in half] == pytest.approx([view["reports"] for view in wanted["views"]], rel=1e-3)
    assert "no mechanism" not in command(*plan, "--reports", "9000")[1]


def test_a_sampler_that_does_not_fit_the_file_ends_with_status_1(command, design, monkeypatch):
    assert design()[0] == 0
    right = RecordMechanism.drawing
    monkeypatch.setattr(RecordMechanism, "drawing", lambda *given: lambda codes, ids: right(*given)(codes * 0, ids))
    status, out, err = command("audit", "records.json", "--samples", "20000")
    assert (status, "do NOT fit" in out, "sampler-wrong" in err) == (1, True, True)
    found = json.loads(command("audit", "records.json", "--samples", "20000", "--json")[1])
    assert (found["consistent"], found["error"]["code"]) == (False, "sampler-wrong")


def table_of(path, *columns, changed=0):
    counts = Counter(tuple(row[name] for name in columns) for row in rows("records.csv"))
    lines = [[*values, count + changed] for values, count in counts.items()]
    with Path(path).open("w", newline="") as file:
        csv.writer(file).writerows([[*columns, "count"], *lines])


def test_tables_of_counts_stand_in_for_records(command, design, refused):
    """The views, and all that is designed from them, are those of the records."""
    table_of("pair.csv", "sex", "driver")
    table_of("age.csv", "age")
    tables = ("--columns", "sex+driver,age", "--table", "pair.csv", "--table", "age.csv", "--bins", "age=18:65")
    promise = ("--epsilon", "1", "--delta", "1e-9")
    for options in ((), ("--queries", "age=prefix")):
        assert design(*options)[0] == 0
        assert command("design", *tables, *promise, *options, "-o", "tables.json")[0] == 0
        assert Path("tables.json").read_text() == Path("records.json").read_text()
    assert design("--side", "driver", columns="sex")[0] == 2  # bins of a column in no view
    table_of("side.csv", "age", "driver")
    assert design("--side", "driver", columns="age")[0] == 0
    given = ("--columns", "age", "--table", "side.csv", "--bins", "age=18:65", "--side", "driver")
    assert command("design", *given, *promise, "-o", "tables.json")[0] == 0
    assert RecordMechanism.load("tables.json").fingerprint == RecordMechanism.load("records.json").fingerprint
    Path("wrong.csv").write_text("age,count\n20,3.5\n30,1\n")
    for code, arguments in (
        ("usage", (*tables[:4], *promise)),
        ("usage", (*tables, "--data", "records.csv", *promise)),
        ("usage", (*tables, "--groups", "auto", *promise)),
        ("usage", ("--columns", "age", "--table", "age.csv", "--count-column", "age", *promise)),
        ("out-of-range", ("--columns", "age", "--table", "age.csv", "--bins", "age=5", *promise)),
        ("unknown-column", ("--columns", "sex", "--table", "age.csv", *promise)),
        ("unknown-choice", (*tables, "--queries", "sex=mean", *promise)),
        ("not-counts", ("--columns", "age", "--table", "wrong.csv", *promise)),
    ):
        refused(code, "design", *arguments)
    table_of("other.csv", "sex", "month")
    pairs = ("--columns", "sex+driver,sex+month", "--table", "pair.csv", "--table", "other.csv", "--pairs")
    assert command("design", *pairs, "--epsilon", "1", "--known")[0] == 0
    table_of("other.csv", "sex", "month", changed=1)
    assert "no joint law" in refused("evidence-contradicts", "design", *pairs, "--epsilon", "1", "--known")
    assert command("design", *pairs, *promise)[0] == 0  # of other people


def test_columns_of_any_strings_are_reported_by_windows(here, command):
    words = [f"w{k % 9}" if k % 3 else "often" for k in range(N)]
    with Path("words.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["word", "sex"], *((word, "fm"[k % 2]) for k, word in enumerate(words))])
    Path("asked.txt").write_text("often\nw1\nnever\n")
    given = ("--data", "words.csv", "--columns", "word,sex", "--epsilon", "1", "--delta", "1e-6", "-o", "w.json")
    wanted = ("--strings", "word", "--split", "1/5", "--evidence", "e.csv", "--seeds", "20", "--value", "word=0.1")
    status, out, _ = command("design", *given, *wanted, "--json")
    printed = json.loads(out)
    assert status == 0
    windows, inputs = ({view["name"]: view.get(key) for view in printed["views"]} for key in ("windows", "inputs"))
    assert windows["sex"] is None is inputs["word"]
    assert windows["word"] > 20
    assert printed["lower_bound"] is None
    assert "windows" in printed["no_bound"]
    assert sum(int(row["count"]) for row in rows("e.csv")) < N
    status, out, _ = command("verify", "w.json")
    assert (status, "given what the file says that the samples held" in " ".join(out.split())) == (0, True)
    for path in ("w.csv", "w.parquet"):
        assert command("privatize", "words.csv", "--mechanism", "w.json", "-o", path)[0] == 0
    asked = ("--mechanism", "w.json", "--candidates", "asked.txt", "--reference", "e.csv")
    status, out, _ = command("estimate", "w.parquet", *asked, "--json")
    tables = {table["attributes"][0]: table for table in json.loads(out)["tables"]}
    assert status == 0
    assert [cell[0] for cell in tables["word"]["cells"]] == ["often", "w1", "never"]
    truths = [words.count(word) / N for word in ("often", "w1", "never")]
    for share, truth, error in zip(
        tables["word"]["frequencies"], truths, tables["word"]["standard_errors"], strict=True
    ):
        assert abs(share - truth) < 5 * error
    Path("e.csv").write_text(Path("e.csv").read_text().replace("w1,", "made up,"))
    assert "[wrong-sample]" in command("estimate", "w.csv", *asked)[2]
    assert "no table   of word" in command("estimate", "w.csv", "--mechanism", "w.json")[1]
    for command_line in (
        ("analyze", "w.json", "--data", "words.csv"),
        ("plan", "--reports", "--standard-error", "0.01", "--mechanism", "w.json"),
        ("report", "w.json", "-o", "page.html"),
    ):
        assert command(*command_line)[0] == 0
    assert "any strings" in Path("page.html").read_text()
    assert command("audit", "w.json")[0] == 3


def test_options_of_strings_are_refused_where_they_mean_nothing(here, command, design):
    for options in (
        ("--evidence", "e.csv"),
        ("--strings", "age"),
        ("--strings", "sex", "--groups", "auto"),
        ("--strings", "month"),
        ("--value", "age=much"),
        ("--value", "age"),
        ("--value", "age=-1"),
    ):
        assert design(*options)[0] == 2
    assert design("--strings", "month", "--split", "1/2", columns="month,age")[0] == 2
    assert design(columns="month,age")[0] == 0
    assert command("privatize", "records.csv", "--mechanism", "records.json", "-o", "r.csv")[0] == 0
    for options in (("--candidates", "records.csv"), ("--candidates", "age=records.csv"), ("--non-negative",)):
        assert command("estimate", "r.csv", "--mechanism", "records.json", *options)[0] == 2


def test_plans_take_what_designs_take(here, command, design):
    Path("pair.csv").write_text("sex,salary,count\nf,low,300\nf,high,100\nm,low,400\nm,high,250\n")
    Path("age.csv").write_text("age,count\n17,200\n40,700\n70,150\n")
    given = ("--columns", "sex+salary,age", "--table", "pair.csv", "--table", "age.csv", "--bins", "age=18:65")
    promise = ("--epsilon", "1", "--delta", "1e-6")
    assert command("design", *given, *promise, "-o", "tables.json")[0] == 0
    wanted = ("--reports", "--standard-error", "0.01", "--json")
    plans = [
        json.loads(command("plan", *options, *wanted)[1])
        for options in ((*given, *promise), ("--mechanism", "tables.json"))
    ]
    assert plans[0].pop("title") == "pair.csv, age.csv, columns sex+salary,age"
    assert plans[1].pop("title") == "tables.json"
    assert plans[0] == plans[1]
    assert plans[0]["queries"] == 7
    for options in (
        ("--reports", "100", "--columns", "sex"),
        ("--columns", "sex"),
        ("--pairs", "--reports", "100"),
        ("--reports", "100", "--columns", "sex", "--data", "records.csv", "--epsilon", "1", "--utility", "chi-square"),
        ("--reports", "100", "--columns", "sex", "--data", "records.csv", "--epsilon", "1", "--plot", "a.svg"),
    ):
        assert command("plan", *options)[0] == 2
    assert command("design", "--counts", "age.csv", "--epsilon", "1", "--known", "--side", "x")[0] == 2


def test_combinations_never_seen_may_be_one_category(here, command):
    Path("few.csv").write_text("sex,kin\n" + "f,wife\nm,husband\nf,single\nm,single\n" * 50)
    given = ("--data", "few.csv", "--columns", "sex+kin", "--epsilon", "1", "--delta", "1e-6", "-o", "m.json")
    assert "merged in sex+kin" in command("design", *given, "--unseen-combinations", "merge")[1]
    assert command("verify", "m.json")[0] == 0
    Path("more.csv").write_text("sex,kin\n" + "f,wife\nm,wife\n" * 500)
    assert command("privatize", "more.csv", "--mechanism", "m.json", "-o", "r.csv")[0] == 0
    tables = json.loads(command("estimate", "r.csv", "--mechanism", "m.json", "--json")[1])["tables"]
    (sex,) = (table for table in tables if table["attributes"] == ["sex"])
    share = dict(zip([cell[0] for cell in sex["cells"]], sex["frequencies"], strict=True))["(other combination)"]
    assert abs(share - 0.5) < 0.25
    for name in ("analyze", "audit"):
        assert command(name, "m.json")[0] == 0
