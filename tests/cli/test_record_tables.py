"""Tables of whole records from the command line, and what is refused on the way."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import mechdesign as md
from mechdesign.records import views_of
from tests.records.test_record_estimation import PAIRS, VALUES, mechanism

N = 1500


@pytest.fixture
def here(here):
    made, rng = mechanism(*PAIRS), np.random.default_rng(1)
    made.save("records.json")
    reports = made.privatize({name: rng.choice(labels, N).tolist() for name, labels in VALUES.items()}, rng)
    rows = list(zip(*reports.values(), strict=True))
    Path("parts").mkdir()
    for file, some in (("reports.csv", rows), ("parts/a.csv", rows[:900]), ("parts/b.csv", rows[900:])):
        with Path(file).open("w", newline="", encoding="utf-8") as opened:
            writer = csv.writer(opened)
            writer.writerow(["month", "person", "view", "report"])
            writer.writerows([place % 2, place, *row] for place, row in enumerate(some))
    return here


def estimate(command, *options, file="reports.csv"):
    return command("estimate", file, "--mechanism", "records.json", *options)


def found(command, *options, **keys):
    status, out, _ = estimate(command, *options, "--json", **keys)
    assert status == 0
    return json.loads(out)


def test_files_and_folders_give_the_same_tables(command):
    whole = found(command)
    names = ["+".join(table["attributes"]) for table in whole["tables"]]
    assert names == ["sex", "pay", "smokes", "sex+pay", "pay+smokes", "smokes+sex"]
    assert whole["reports"] == sum(view["reports"] for view in whole["views"]) == N
    for table in whole["tables"]:
        assert sum(table["frequencies"]) == pytest.approx(1)
        assert all(low <= x <= high for x, (low, high) in zip(table["frequencies"], table["intervals"], strict=True))
    parts = found(command, file="parts")
    assert parts["tables"] == whole["tables"]
    assert parts["parts"] == {"counted": 2, "planned": 2}


def test_an_error_that_tells_nothing_is_said_to_be_one(command, here):
    """Combinations of a group that was designed for the tables of its columns, which hardly tell them apart."""
    rng = np.random.default_rng(5)
    people = {
        "region": rng.choice(["coast", "city", "hills"], 5000, p=[0.5, 0.3, 0.2]).tolist(),
        "smokes": rng.choice(["never", "former", "daily"], 5000, p=[0.6, 0.3, 0.1]).tolist(),
    }
    made = md.design_records(views_of(people, [], groups=["region+smokes"]), 1, delta="1e-9").mechanism
    made.save("records.json")
    reports = made.privatize(people, rng)
    lines = ["view,report", *map(",".join, zip(reports["view"], reports["report"], strict=True))]
    Path("reports.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (pair,) = found(command, "--marginal", "region+smokes")["tables"]
    large = sum(error is not None and error > 1 for error in pair["standard_errors"])
    _, out, _ = estimate(command, "--marginal", "region+smokes")
    assert 0 < large == out.count(" over 1 ")
    assert "--queries VIEW=frequencies" in " ".join(out.split())
    assert "--queries" not in estimate(command, "--marginal", "region")[1]


def test_a_table_is_chosen_by_the_names_of_its_attributes(command):
    (table,) = found(command, "--marginal", "pay+sex", "--simultaneous")["tables"]
    assert table["attributes"] == ["sex", "pay"]
    assert len(table["simultaneous_intervals"]) == 6
    status, _, err = estimate(command, "--marginal", "sex+height")
    assert (status, "[not-identifiable]" in err, "pay+smokes" in err) == (2, True, True)


def test_consistent_tables_have_no_errors(command):
    told = found(command, "--consistent")
    assert told["likelihood_gap"] < 1e-3
    assert all(table["intervals"] is table["standard_errors"] is None for table in told["tables"])
    assert min(x for table in told["tables"] for x in table["frequencies"]) >= 0
    status, out, _ = estimate(command, "--consistent")
    assert status == 0
    assert "one joint law of greatest likelihood" in " ".join(out.split())
    assert "standard error" not in out


def test_groups_files_and_pictures(command):
    status, out, _ = estimate(command, "--by", "month", "--simultaneous", "-o", "table.csv", "--plot", "table.png")
    assert status == 0
    assert "2 by month" in out
    assert "for all 46" in out
    rows = list(csv.DictReader(Path("table.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 2 * 23
    assert {row["month"] for row in rows} == {"0", "1"}
    assert Path("table.png").read_bytes().startswith(b"\x89PNG")
    import pyarrow.parquet as pq

    assert estimate(command, "-o", "table.parquet")[0] == 0
    assert pq.read_table("table.parquet").column_names[:3] == ["table", "label", "frequency"]
    assert estimate(command, "--by", "month", "-o", "table.json")[0] == 0
    assert [group["group"] for group in json.loads(Path("table.json").read_text())["groups"]] == [["0"], ["1"]]
    assert found(command, "--by", "month")["by"] == ["month"]


def test_an_id_counts_once(command):
    text = Path("reports.csv").read_text(encoding="utf-8")
    Path("twice.csv").write_text(text + text.split("\n", 1)[1], encoding="utf-8")
    told = found(command, "--id", "person", file="twice.csv")
    assert (told["reports"], told["ids"]["repeated"]) == (N, N)


def test_reports_that_the_mechanism_cannot_make_are_said_to_be_others(command):
    rows = ["sex+pay,says f & low", "pay+smokes,says high & yes", "smokes+sex,says no & m"] * 800
    Path("other.csv").write_text("view,report\n" + "\n".join(rows) + "\n", encoding="utf-8")
    status, out, _ = estimate(command, file="other.csv")
    assert status == 0
    assert "THE ESTIMATES ARE WORTHLESS" in out


@pytest.mark.parametrize(
    ("options", "code", "shown"),
    [
        (("--column", "report"), "usage", "--column"),
        (("--method", "least-squares"), "usage", "--method"),
        (("--of", "records"), "usage", "--of"),
        (("--by", "view"), "column-twice", "view"),
        (("--report-columns", "view"), "wrong-size", "view"),
        (("--report-columns", "view,nothing"), "unknown-column", "nothing"),
        (("--confidence", "2"), "out-of-range", "2"),
    ],
)
def test_what_means_nothing_is_refused(command, options, code, shown):
    status, _, err = estimate(command, *options)
    assert status == 2
    assert f"[{code}]" in err
    assert shown in err


def test_options_of_tables_are_refused_for_a_matrix(command):
    mechanism(("sex",)).parts[0].mechanism.save("matrix.json")
    for options in ((), ("--column", "report", "--consistent"), ("--column", "report", "--marginal", "sex")):
        status, _, err = command("estimate", "reports.csv", "--mechanism", "matrix.json", *options)
        assert status == 2
        assert "views of whole records" in err


def test_a_report_of_a_view_that_the_file_lacks_is_refused_with_its_row(command):
    Path("other.csv").write_text("view,report\nsex+pay,says f & low\nheight,says f\n", encoding="utf-8")
    status, _, err = estimate(command, file="other.csv")
    assert status == 2
    assert "record 2" in err
